// Times several devices at work on one image.
//
//     bench_devices [--check] [--devices N] [--only MASK] [--output NAME] GROUP@SIDE...
//
//     slabs         maps of SIDE^2 that are on the devices, a slab and a thread for each (the slab functions of apsis.h); what
//                   slabs of distances tell stays there, too
//     volume        the same of SIDE^3
//     host          page-locked host images of SIDE^2, by apsis_create_devices
//     eccentricity  the same, apsis_eccentricity
//
// On 1, 2, 4, ... devices, up to all, or up to N.  One CSV line each: the seconds are a clock's on the wall, 1 warm-up, the
// median of 5; `exchange_ms` is the part between what slabs tell and what they are told, and `exchanged` what goes from slab to
// slab, in bytes.  Labels alone are joined by the first device, those with statistics by the host.  One slab is the whole call.
// What is too large for a device is said to be.  --check compares some rows on both sides of every cut, and the first and the
// last, with the CPU back end's of a slab that is told what is around it, for which the mask is searched here, or which has
// joined its labels; host images, and labels that are not too many, with those of one device.
#include <apsis.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "slab_checks.h"
#include "whole_image.h"

namespace {

using Clock = std::chrono::steady_clock;
using Barrier = std::barrier<>;

constexpr int WARM_UPS = 1, RUNS = 5;
constexpr int64_t MOST_PARTS = int64_t(1) << 26;   // of components, with statistics: 5.9 GB of them
constexpr size_t MOST_COMPARED = size_t(1) << 33;  // bytes of labels
const char *const MASKS[] = {"noise-0.5", "blobs", "text"};

double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

struct Wanted {
    const char *name;
    bool distance, nearest, labels, statistics;
};

class Devices {
  public:
    explicit Devices(size_t most) {
        const auto all = static_cast<size_t>(apsis_device_count());
        workers_.resize(most ? most : all);
        if (workers_.empty()) {
            std::fprintf(stderr, "%s: no CUDA device here, nothing is measured\n", program_invocation_short_name);
            std::exit(0);
        }
        check(nullptr, apsis_create(APSIS_VERSION, APSIS_CPU, &cpu_));
        for (size_t i = 0; i < workers_.size(); ++i)  // without GPUs, on the CPU, to try the program
            check(nullptr, apsis_create(APSIS_VERSION, i < all ? static_cast<int>(i) : APSIS_CPU, &workers_[i].context));
        std::printf("# %zu of %s\n", workers_.size(), apsis_device_name(workers_[0].context));
        std::puts("group,mask,width,height,depth,set,outputs,devices,ms,exchange_ms,exchanged,times_one");
    }
    Devices(const Devices &) = delete;
    Devices &operator=(const Devices &) = delete;
    ~Devices() {
        for (Worker &worker : workers_) apsis_destroy(worker.context);
        apsis_destroy(cpu_);
    }

    bool checks = false, failed = false;
    std::string output;  // this one alone

    void run_slabs(const char *group, Whole &whole) {
        static constexpr Wanted outputs[] = {{"distance", true, false, false, false},
                                             {"distance+nearest", true, true, false, false},
                                             {"labels", false, false, true, false},
                                             {"labels+statistics", false, false, true, true}};
        for (const apsis_type type : {APSIS_BIT, APSIS_U8})
            for (const Wanted &wanted : outputs) {
                if (!output.empty() && output != wanted.name) continue;
                double one = 0;
                for (size_t devices = 1; devices <= workers_.size(); devices *= 2) {
                    const std::string set = type == APSIS_BIT ? "bit" : "u8";
                    std::printf("%s,%s,%lld,%lld,%lld,%s,%s,%zu,", group, whole.mask.c_str(), (long long)whole.size[0],
                                (long long)whole.size[1], (long long)whole.size[2], set.c_str(), wanted.name, devices);
                    if (const char *const why = prepare(whole, type, wanted, devices))
                        std::puts(why);
                    else
                        measure(whole, wanted, devices, one);
                    std::fflush(stdout);
                    for (size_t i = 0; i < devices; ++i) workers_[i].free_images();
                }
            }
    }

    void run_host(const char *group, Whole &whole) {
        const bool paths = !std::strcmp(group, "eccentricity");
        for (int output_number = paths ? 2 : 0; output_number < (paths ? 3 : 2); ++output_number) {
            static const char *const names[] = {"distance", "labels", "eccentricity"};
            if (!output.empty() && output != names[output_number]) continue;
            double one = 0;
            std::unique_ptr<uint8_t[]> expected;
            for (size_t devices = 1; devices <= workers_.size(); devices *= 2) {
                std::vector<int> numbers;
                for (size_t i = 0; i < devices; ++i) numbers.push_back(static_cast<int>(i));
                apsis_context *context;
                check(nullptr, apsis_create_devices(APSIS_VERSION, numbers.data(), static_cast<int>(devices), &context));
                apsis_image set = whole.rows_of(APSIS_U8, whole.rows()),
                            out = whole.rows_of(output_number == 1 ? whole.index_type() : APSIS_F32, whole.rows());
                for (apsis_image *each : {&set, &out}) check(context, apsis_alloc(context, APSIS_HOST, each));
                std::memcpy(set.data, whole.pixels.data(), whole.pixels.size());
                const auto call = [&] {
                    if (output_number == 0) return apsis_distance(context, &set, &out, NULL, NULL);
                    if (output_number == 1) return apsis_components(context, &set, &out, NULL, 0, NULL, NULL);
                    return apsis_eccentricity(context, &set, &out, NULL, NULL, 0, NULL, NULL);
                };
                std::vector<double> times;
                for (int i = 0; i < WARM_UPS + RUNS; ++i) {
                    const auto begin = Clock::now();
                    check(context, call());
                    if (i >= WARM_UPS) times.push_back(ms_since(begin));
                }
                std::sort(times.begin(), times.end());
                const double ms = times[RUNS / 2];
                if (devices == 1) one = ms;
                const char *verdict = "";
                const size_t bytes = whole.pixels.size() * pixel_bytes(out.type);
                if (checks && devices == 1) {
                    expected = std::make_unique_for_overwrite<uint8_t[]>(bytes);
                    std::memcpy(expected.get(), out.data, bytes);
                } else if (checks) {
                    verdict = say(!std::memcmp(expected.get(), out.data, bytes));
                }
                std::printf("%s,%s,%lld,%lld,1,u8,%s,%zu,%.3f,,,%.2f%s\n", group, whole.mask.c_str(), (long long)whole.size[0],
                            (long long)whole.size[1], names[output_number], devices, ms, one / ms, verdict);
                std::fflush(stdout);
                for (apsis_image *each : {&set, &out}) apsis_free(context, each);
                apsis_destroy(context);
            }
        }
    }

  private:
    const char *say(bool is_same) {
        failed = failed || !is_same;
        return is_same ? ",same" : ",DIFFERENT";
    }

    CheckedRows rows_of(Whole &whole) const { return {cpu_, whole, workers_}; }

    /// Gives each device its slab.  Returns why it cannot, or nullptr.
    const char *prepare(Whole &whole, apsis_type type, const Wanted &wanted, size_t devices) {
        bool fits = true;
        for (size_t i = 0; i < devices; ++i) {
            Worker &w = workers_[i];
            w.start = whole.start_of(i, devices);
            w.rows = whole.start_of(i + 1, devices) - w.start;
            const auto allocate = [&](apsis_image &image, apsis_type pixels) {
                image = whole.rows_of(pixels, w.rows);
                fits = fits && apsis_alloc(w.context, w.memory(), &image) == APSIS_OK;
            };
            allocate(w.set, type);
            if (wanted.distance) allocate(w.distance, APSIS_F32);
            if (wanted.nearest) allocate(w.nearest, whole.index_type());
            if (wanted.labels) allocate(w.labels, whole.index_type());
            if (!fits) return "too large";
            const apsis_image from = whole.host(w.start, w.rows);
            if (!fits_in(w.context, apsis_copy(w.context, &from, &w.set))) return "too large";
            check(w.context, apsis_sync(w.context));
            for (Rows *told : {&w.first, &w.last})
                told->resize(w.context, wanted.statistics ? APSIS_HOST : w.memory(), whole.columns());
            for (Rows *told : {&w.above, &w.below})
                if (wanted.distance) told->resize(w.context, w.memory(), whole.columns());
            w.told = {};
            w.told.start = w.start;
            if (i > 0) w.told.first = w.first.data();
            if (i + 1 < devices) w.told.last = w.last.data();
            if (wanted.statistics) {
                if (!fits_in(w.context, apsis_slab_parts(w.context, &w.set, &w.told, NULL))) return "too large";
                if (w.told.count * static_cast<int64_t>(devices) > MOST_PARTS) return "too many components for statistics";
                w.parts.resize(static_cast<size_t>(w.told.count));
            }
        }
        return nullptr;
    }

    void measure(Whole &whole, const Wanted &wanted, size_t devices, double &one) {
        std::vector<double> times, exchanges;
        bool fits = true;
        if (devices == 1) one_.clear();
        Barrier all(static_cast<std::ptrdiff_t>(devices));
        const auto work = [&](size_t i) {
            for (int run = 0; run < WARM_UPS + RUNS && fits; ++run) {
                all.arrive_and_wait();
                const auto begin = Clock::now();
                double exchange = 0;
                const bool done = wanted.labels ? label(whole, wanted, i, devices, all, exchange)
                                                : map(whole, wanted, i, devices, all, exchange);
                if (!done) fits = false;
                all.arrive_and_wait();
                if (i == 0 && run >= WARM_UPS) times.push_back(ms_since(begin)), exchanges.push_back(exchange);
                all.arrive_and_wait();
            }
        };
        std::vector<std::thread> threads;
        for (size_t i = 1; i < devices; ++i) threads.emplace_back(work, i);
        work(0);
        for (std::thread &thread : threads) thread.join();
        if (!fits) return void(std::puts("too large"));
        std::sort(times.begin(), times.end()), std::sort(exchanges.begin(), exchanges.end());
        const double ms = times[RUNS / 2];
        if (devices == 1) one = ms;
        // Of labels each cut has two faces, to be told and to be told again; of distances a slab reads a row of each other one.
        const auto others = static_cast<int64_t>(devices - 1), slabs = static_cast<int64_t>(devices);
        const int64_t told = whole.columns() * 8 * others * (wanted.labels ? 4 : slabs);
        std::printf("%.3f,%.3f,%lld,", ms, exchanges[RUNS / 2], (long long)told);
        if (one > 0) std::printf("%.2f", one / ms);
        std::puts(!checks         ? ""
                  : wanted.labels ? same_as_one(whole, devices)
                                  : say(rows_of(whole).are_rows_right(wanted.nearest, devices)));
    }

    /// Keeps the labels of one device, unless they are too large, and compares those of several with them.
    const char *same_as_one(Whole &whole, size_t devices) {
        const size_t row = static_cast<size_t>(whole.columns()) * pixel_bytes(workers_[0].labels.type);
        if (row * static_cast<size_t>(whole.rows()) > MOST_COMPARED) return say(rows_of(whole).are_labels_right(devices));
        if (devices == 1) one_.resize(row * static_cast<size_t>(whole.rows()));
        if (one_.empty()) return ",nothing to compare with";
        bool same = true;
        for (size_t i = 0; i < devices; ++i) {
            const Worker &w = workers_[i];
            uint8_t *const here = one_.data() + row * static_cast<size_t>(w.start);
            std::vector<uint8_t> other(devices == 1 ? 0 : row * static_cast<size_t>(w.rows));
            apsis_image to = whole.rows_of(w.labels.type, w.rows);
            to.data = devices == 1 ? here : other.data();
            check(w.context, apsis_copy(w.context, &w.labels, &to));
            same = same && (other.empty() || !std::memcmp(other.data(), here, other.size()));
        }
        return devices == 1 ? "" : say(same);
    }

    /// Whether a call on a device went well, and not too much was asked of it: memory, or components of so large a slab.
    static bool fits_in(apsis_context *context, apsis_status status) {
        if (status != APSIS_ERROR_MEMORY && status != APSIS_ERROR_UNSUPPORTED) check(context, status);
        return status == APSIS_OK;
    }

    bool map(const Whole &whole, const Wanted &wanted, size_t i, size_t devices, Barrier &all, double &exchange) {
        Worker &w = workers_[i];
        const apsis_image *const nearest = wanted.nearest ? &w.nearest : nullptr;
        if (devices == 1)
            return fits_in(w.context, apsis_distance(w.context, &w.set, &w.distance, nearest, NULL)) &&
                   fits_in(w.context, apsis_sync(w.context));
        bool fits = fits_in(w.context, apsis_slab_summary(w.context, &w.set, w.start, i > 0 ? w.first.data() : NULL,
                                                          i + 1 < devices ? w.last.data() : NULL, NULL));
        all.arrive_and_wait();
        const auto begin = Clock::now();
        std::vector<const int64_t *> first, last;
        for (size_t k = 0; k < devices; ++k) first.push_back(workers_[k].first.data()), last.push_back(workers_[k].last.data());
        check(w.context, apsis_slab_gather(w.context, whole.columns(), first.data(), last.data(), static_cast<int64_t>(devices),
                                           static_cast<int64_t>(i), w.above.data(), w.below.data()));
        check(w.context, apsis_sync(w.context));
        exchange = ms_since(begin);
        const apsis_slab place = {w.start, whole.rows(), w.above.data(), w.below.data(), NULL, NULL};
        fits = fits && fits_in(w.context, apsis_slab_distance(w.context, NULL, &place, &w.distance, nearest, NULL));
        return fits_in(w.context, apsis_sync(w.context)) && fits;
    }

    bool label(const Whole &whole, const Wanted &wanted, size_t i, size_t devices, Barrier &all, double &exchange) {
        Worker &w = workers_[i];
        if (devices == 1) {
            const auto parts = static_cast<int64_t>(w.parts.size());
            auto *const components = reinterpret_cast<apsis_component *>(w.parts.data());  // of one size
            return fits_in(w.context, apsis_components(w.context, &w.set, &w.labels, wanted.statistics ? components : NULL,
                                                       wanted.statistics ? parts : 0, NULL, NULL)) &&
                   fits_in(w.context, apsis_sync(w.context));
        }
        w.told.parts = wanted.statistics ? w.parts.data() : NULL;
        w.told.capacity = wanted.statistics ? static_cast<int64_t>(w.parts.size()) : 0;
        w.fits = fits_in(w.context, apsis_slab_parts(w.context, &w.set, &w.told, NULL));
        all.arrive_and_wait();
        for (size_t k = 0; k < devices; ++k)
            if (!workers_[k].fits) return false;
        const auto begin = Clock::now();
        if (i == 0) join(whole, wanted, devices);
        all.arrive_and_wait();
        exchange = ms_since(begin);
        return fits_in(w.context, apsis_slab_components(w.context, NULL, &w.told, &w.labels, NULL)) &&
               fits_in(w.context, apsis_sync(w.context));
    }

    void join(const Whole &whole, const Wanted &wanted, size_t devices) {
        apsis_context *const context = wanted.statistics ? cpu_ : workers_[0].context;
        std::vector<apsis_slab_labels> told;
        int64_t room = 0, count = 0;
        for (size_t k = 0; k < devices; ++k) told.push_back(workers_[k].told), room += told.back().count;
        if (!wanted.statistics) room = 0;
        if (static_cast<int64_t>(joined_.size()) < room) joined_.resize(static_cast<size_t>(room));
        check(context, apsis_slab_join(context, whole.ndim, whole.size, told.data(), static_cast<int64_t>(devices),
                                       room ? joined_.data() : NULL, room, &count, NULL));
        for (size_t k = 0; k < devices; ++k) workers_[k].told = told[k];
    }

    std::vector<Worker> workers_;
    std::vector<apsis_part> joined_;
    std::vector<uint8_t> one_;  // the labels of one device
    apsis_context *cpu_ = nullptr;
};

}  // namespace

int main(int argc, char **argv) {
    bool checks = false;
    size_t most = 0;
    std::string only, output;
    std::vector<std::string> groups;
    for (int i = 1; i < argc; ++i)
        if (!std::strcmp(argv[i], "--check"))
            checks = true;
        else if (!std::strcmp(argv[i], "--devices") && i + 1 < argc)
            most = static_cast<size_t>(std::atoll(argv[++i]));
        else if (!std::strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!std::strcmp(argv[i], "--output") && i + 1 < argc)
            output = argv[++i];
        else
            groups.push_back(argv[i]);
    Devices devices(most);
    devices.checks = checks;
    devices.output = output;
    for (const std::string &group : groups) {
        const size_t at = group.find('@');
        if (at == std::string::npos) die("a group is GROUP@SIDE");
        const std::string name = group.substr(0, at);
        const int64_t side = std::atoll(group.c_str() + at + 1);
        const std::vector<std::string> masks = !only.empty()            ? std::vector<std::string>{only}
                                               : name == "eccentricity" ? std::vector<std::string>{"noise-0.8", "disc"}
                                                                        : std::vector<std::string>(MASKS, MASKS + 3);
        for (const std::string &mask : masks) {
            Whole whole(mask, name == "volume" ? 3 : 2, side);
            if (name == "slabs" || name == "volume")
                devices.run_slabs(name.c_str(), whole);
            else if (name == "host" || name == "eccentricity")
                devices.run_host(name.c_str(), whole);
            else
                die("groups are slabs, volume, host and eccentricity");
        }
    }
    return devices.failed;
}
