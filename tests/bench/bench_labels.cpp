// Times what one GPU does with label images as bench_cuda times apsis_distance: device-resident images, CUDA events, 3
// warm-ups, median of 10, one CSV line a case.  A call that takes more than a second is timed once.
//
//     bench_labels [--check] [--only IMAGE] GROUP...
//
//     components   labels, with 4 and 8 neighbours, 6 and 26
//     statistics   of the values
//     contacts     of the values, with 4 and 6 neighbours
//     measures     of the values: moments, surfaces and Euler numbers, in 2-D perimeters
//     distance     to the nearest other value, beside that of a set whose sites are the pixels at the same borders
//     nearest      these pixels, likewise
//
// All images are of APSIS_U16, 16384^2 and 512^3: cells-10000, a Voronoi map of so many sites; cells-10000000, whose values are
// taken modulo 65535, so that few neighbours have the same one; text, a value for each letter; and values-4, noise of 0 to 3.
//
// Statistics, contacts and measures are in host memory, the first 65536 of them, and a call that gives them returns when it is
// done.
// --check compares every result with the CPU back end's, byte for byte, and tells the time of its one call.  GROUP@SIDE runs
// one size of a group.
#include <apsis_measures.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu.h"
#include "masks.h"

namespace {

constexpr int64_t CAPACITY = 65536;  // of the arrays of components and of contacts
constexpr int64_t VALUES = 65535;    // other than 0
constexpr double SLOW_MS = 1000;

using Case = Subject;

template <class Work>
double wall_ms(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        std::printf(
            "group,image,width,height,depth,connectivity,count,ms,ms_binary,ns_per_pixel,workspace_bytes_per_pixel,"
            "cpu_ms\n");
    }

    void run(const Case &c) {
        if (is_left_out(c)) return;
        load_labels(c);
        apsis_image host = image(c, APSIS_U16), set = host;
        host.data = labels_.data();
        if (allocate(set)) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            if (c.group == "components") components(c, host, set);
            const apsis_image *const images[] = {&set};
            if (c.group == "statistics")
                tell<apsis_component>(c, workspace(c, APSIS_STATISTICS, images, 1), apsis_statistics, host, set);
            if (c.group == "contacts")
                tell<apsis_contact>(c, workspace(c, APSIS_CONTACTS, images, 1), apsis_contacts, host, set);
            if (c.group == "measures") tell<apsis_measure>(c, 0, measure, host, set);
            if (c.group == "distance" || c.group == "nearest") distance(c, host, set);
        } else {
            say_no_memory(c);
        }
        apsis_free(gpu_, &set);
    }

  private:
    void components(const Case &c, const apsis_image &host, const apsis_image &set) {
        apsis_image labels = image(c, APSIS_I32), expected = labels;
        if (allocate(labels)) {
            const apsis_image *const images[] = {&set, &labels};
            int64_t count;
            check(gpu_, apsis_components(gpu_, &set, &labels, NULL, 0, &count, &c.options));
            const double ms = steady_ms([&] { check(gpu_, apsis_components(gpu_, &set, &labels, NULL, 0, NULL, &c.options)); });
            report(c, count, ms, 0, workspace(c, APSIS_COMPONENTS, images, 2), verdict(labels, expected, [&] {
                       check(cpu_, apsis_components(cpu_, &host, &expected, NULL, 0, NULL, &c.options));
                   }));
        } else {
            say_no_memory(c);
        }
        apsis_free(gpu_, &labels);
    }

    /// All that is about the pixels of a value and those around them.
    static apsis_status measure(apsis_context *where, const apsis_image *labels, apsis_measure *measures, int64_t capacity,
                                int64_t *count, const apsis_options *options) {
        const uint32_t wanted = APSIS_MOMENTS | APSIS_SURFACE | APSIS_EULER | (labels->ndim == 2 ? APSIS_PERIMETER : 0);
        return apsis_measures(where, labels, NULL, wanted, measures, capacity, count, options);
    }

    /// Statistics, contacts or measures.
    template <class Record, class Call>
    void tell(const Case &c, size_t workspace_bytes, Call call, const apsis_image &host, const apsis_image &set) {
        std::vector<Record> records(CAPACITY), expected(compare_ ? CAPACITY : 0);
        apsis_options options = c.options;
        options.flags = 0;
        int64_t count = 0, cpu_count = 0;
        const double ms = steady_ms([&] { check(gpu_, call(gpu_, &set, records.data(), CAPACITY, &count, &options)); });
        std::string remark;
        if (compare_) {
            const double cpu_ms =
                wall_ms([&] { check(cpu_, call(cpu_, &host, expected.data(), CAPACITY, &cpu_count, &options)); });
            const size_t bytes = static_cast<size_t>(std::min(count, CAPACITY)) * sizeof(Record);
            remark = remark_of(cpu_ms, count == cpu_count && !std::memcmp(records.data(), expected.data(), bytes));
        }
        report(c, count, ms, 0, workspace_bytes, remark);
    }

    /// Distances, or the nearest pixels.
    void distance(const Case &c, const apsis_image &host, const apsis_image &set) {
        const bool nearest = c.group == "nearest";
        apsis_image map = image(c, nearest ? APSIS_I32 : APSIS_F32), expected = map, sites = image(c, APSIS_U8),
                    borders = sites;
        const auto find = [&](apsis_context *where, const apsis_image &from, const apsis_image &to,
                              const apsis_options *options) {
            check(where, apsis_distance(where, &from, nearest ? NULL : &to, nearest ? &to : NULL, options));
        };
        if (allocate(map) && allocate(sites)) {
            const std::vector<uint8_t> at_border = find_borders(c);
            borders.data = const_cast<uint8_t *>(at_border.data());
            check(gpu_, apsis_copy(gpu_, &borders, &sites));
            const apsis_image *const images[] = {&set, nearest ? NULL : &map, nearest ? &map : NULL};
            const double ms_binary = steady_ms([&] { find(gpu_, sites, map, NULL); });
            const double ms = steady_ms([&] { find(gpu_, set, map, &c.options); });
            report(c, 0, ms, ms_binary, workspace(c, APSIS_DISTANCE, images, 3),
                   verdict(map, expected, [&] { find(cpu_, host, expected, &c.options); }));
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&map, &sites}) apsis_free(gpu_, each);
    }

    template <class Call>
    double steady_ms(Call call) {
        const auto whole = [&] {
            call();
            check(cudaStreamSynchronize(stream_), "synchronize");
        };
        whole();
        const double first = wall_ms(whole);
        return first > SLOW_MS ? first : call_ms(false, call);
    }

    size_t workspace(const Case &c, apsis_transform transform, const apsis_image *const *images, int count) {
        size_t bytes = 0;
        apsis_options options = c.options;
        if (transform == APSIS_STATISTICS || transform == APSIS_CONTACTS) options.flags = 0;
        check(gpu_, apsis_workspace_size(gpu_, transform, images, count, &options, &bytes));
        return bytes;
    }

    std::string remark_of(double cpu_ms, bool same) {
        failed = failed || !same;
        char words[64];
        std::snprintf(words, sizeof words, ",%.1f,%s", cpu_ms, same ? "same" : "DIFFERENT");
        return words;
    }

    /// Whether the CPU back end, which is called to fill `expected`, gives the same bytes.
    template <class Call>
    std::string verdict(const apsis_image &result, apsis_image &expected, Call call) {
        if (!compare_) return "";
        const auto ours = download<uint8_t>(result);
        const auto memory = std::make_unique_for_overwrite<uint8_t[]>(bytes_of(expected));
        expected.data = memory.get();
        const double cpu_ms = wall_ms(call);
        return remark_of(cpu_ms, !std::memcmp(ours.get(), memory.get(), bytes_of(expected)));
    }

    void report(const Case &c, int64_t count, double ms, double ms_binary, size_t bytes, const std::string &remark) const {
        const double pixels = static_cast<double>(c.pixels());
        std::printf("%s,%s,%lld,%lld,%lld,%d,%lld,%.4f,%.4f,%.4f,%.3f%s\n", c.group.c_str(), c.mask.c_str(),
                    (long long)c.size[0], (long long)c.size[1], (long long)c.size[2], int(c.options.connectivity),
                    (long long)count, ms, ms_binary, 1e6 * ms / pixels, static_cast<double>(bytes) / pixels, remark.c_str());
        std::fflush(stdout);
    }

    // ---- The images ----

    /// Sets labels_ to the image of a case.
    void load_labels(const Case &c) {
        const std::string key = c.mask + "@" + std::to_string(c.size[0]) + "x" + std::to_string(c.size[2]);
        if (key == key_) return;
        labels_.resize(static_cast<size_t>(c.pixels()));
        Case base = c;
        const bool is_cells = c.mask.starts_with("cells-");
        if (is_cells) {
            const double sites = std::atof(c.mask.c_str() + std::strlen("cells-"));
            char noise[32];
            std::snprintf(noise, sizeof noise, "noise-%.12f", sites / static_cast<double>(c.pixels()));
            base.mask = noise;
        }
        load_mask(base);
        std::copy(mask_.begin(), mask_.end(), labels_.begin());
        if (is_cells) {
            int64_t sites = 0;
            for (uint16_t &label : labels_)
                if (label) label = static_cast<uint16_t>(sites++ % VALUES + 1);
            take(c, [&](const apsis_image &set, const apsis_image &numbers) {
                return apsis_voronoi(gpu_, &set, &numbers, &c.options);
            });
        } else if (c.mask == "text") {
            apsis_options options = c.options;
            options.flags = 0;
            take(c, [&](const apsis_image &set, const apsis_image &numbers) {
                return apsis_components(gpu_, &set, &numbers, NULL, 0, NULL, &options);
            });
        }
        key_ = key;
    }

    /// Calls find(set, numbers) for labels_ and an image of the same size, and takes what it gets modulo VALUES.
    template <class Find>
    void take(const Case &c, Find find) {
        apsis_image host = image(c, APSIS_U16), set = host, numbers = image(c, APSIS_I32);
        host.data = labels_.data();
        if (!allocate(set) || !allocate(numbers)) check(cudaErrorMemoryAllocation, "an image");
        check(gpu_, apsis_copy(gpu_, &host, &set));
        check(gpu_, find(set, numbers));
        const auto found = download<int32_t>(numbers);
        for (size_t i = 0; i < labels_.size(); ++i)
            labels_[i] = static_cast<uint16_t>(found[i] ? (found[i] - 1) % VALUES + 1 : 0);
        for (apsis_image *each : {&set, &numbers}) apsis_free(gpu_, each);
    }

    /// The pixels with another value after them along an axis.
    std::vector<uint8_t> find_borders(const Case &c) const {
        std::vector<uint8_t> borders(labels_.size());
        int64_t step = 1;
        for (int axis = 0; axis < c.ndim; step *= c.size[axis++])
            for (int64_t i = 0; i + step < c.pixels(); ++i)
                if (i / step % c.size[axis] + 1 < c.size[axis] && labels_[i] != labels_[i + step]) borders[i] = 1;
        return borders;
    }

    std::vector<uint16_t> labels_;
    std::string key_;
};

void run_group(Bench &bench, const std::string &group) {
    for (const char *mask : {"cells-10000", "cells-10000000", "text", "values-4"})
        for (const bool is_volume : {false, true}) {
            const int64_t side = is_volume ? 512 : 16384;
            Case c = is_volume ? volume_case<Case>(group.c_str(), mask, side, side, side)
                               : plane_case<Case>(group.c_str(), mask, side, side);
            c.options.flags = APSIS_LABELS;
            bench.run(c);
            c.options.connectivity = c.ndim;
            if (group == "components") bench.run(c);
        }
}

}  // namespace

int main(int argc, char **argv) { return run_groups(read_arguments(argc, argv), run_group); }
