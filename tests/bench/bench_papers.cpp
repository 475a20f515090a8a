// The tables of two papers on one GPU: each published method of distance and Voronoi maps, APSIS_AUTO, and NPP if it is
// there, side by side.  Device-resident images, kernels only (CUDA events, 3 warm-ups, median of 10), one CSV line for an
// image and a method, in milliseconds; nothing stands for a map that a method is not asked for.
//
//     bench_papers [--check] [--only IMAGE] [GROUP[@SIDE]...]          both, if none is named
//
//     plane    one image, 512^2 to 16384^2: tables 4 to 7 of "Parallel Raster Scan for Euclidean Distance Transform"
//              (Elizondo-Leal et al. 2020), and table I of "Simple and Fast Parallel Algorithms for the Voronoi Map and the
//              Euclidean Distance Map" (Honda, Yamamoto, Honda, Nakano and Ito 2017)
//     batch    2 to 100 images of 2048^2 in one call: table II of the latter
//
// Instances are what the first paper counts in its tables 5 and 7; mended, the pixels that a method left wrong before its
// map was made complete.  With --check every map is compared with the CPU back end's, and wrong is the pixels whose
// distances differ from its own by more than a thousandth.
#include <apsis.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gpu.h"
#include "npp.h"

namespace {

enum Map { MIXED, CONNECTED, COMPLETE, DISTANCE, MAPS };
enum Maps : unsigned { NOT_MIXED = 1 << CONNECTED | 1 << COMPLETE | 1 << DISTANCE, EVERY_MAP = NOT_MIXED | 1 << MIXED };

struct Method {
    apsis_method method;
    const char *name;
    unsigned maps;  // a bit each
    bool is_exact = true;
};

const std::vector<Method> OF_PLANE = {{APSIS_AUTO, "auto", NOT_MIXED},
                                      {APSIS_RASTER_SCAN, "raster scan", 1 << COMPLETE | 1 << DISTANCE},
                                      {APSIS_SWEEP, "sweep", EVERY_MAP},
                                      {APSIS_SWEEP_ROWS, "sweep, rows", 1 << MIXED},
                                      {APSIS_JUMP_FLOOD, "jump flooding", 1 << DISTANCE, false}};
const std::vector<Method> OF_BATCH = {{APSIS_AUTO, "auto", NOT_MIXED},
                                      {APSIS_SWEEP_BLOCKS, "sweep, blocks", EVERY_MAP},
                                      {APSIS_SWEEP, "sweep", EVERY_MAP},
                                      {APSIS_JUMP_FLOOD, "jump flooding", 1 << DISTANCE, false}};

/// The images of a case, on the device or on the host.
struct Images {
    apsis_image set, distance, cells;

    const apsis_image &output(Map map) const { return map == DISTANCE ? distance : cells; }
};

/// What the log says that a method took: "raster scan: 17 instances, 12 pixels mended".
struct Taken {
    long long instances = -1, mended = 0;
};

void listen(void *taken, const char *line) {
    Taken t;
    if (std::sscanf(line, "%*[^:]: %lld instances, %lld", &t.instances, &t.mended) == 2) *static_cast<Taken *>(taken) = t;
}

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        std::printf("group,image,side,images,method,mixed_ms,connected_ms,complete_ms,distance_ms,instances,mended%s\n",
                    compare ? ",wrong,maps" : "");
    }

    void run(const Subject &s, const std::vector<Method> &methods) {
        if (is_left_out(s)) return;
        load_mask(s);
        Images own = {image(s, APSIS_U8), image(s, APSIS_F32), image(s, APSIS_I32)}, host = own;
        host.set.data = mask_.data();
        if (allocate(own.set) && allocate(own.distance) && allocate(own.cells)) {
            check(gpu_, apsis_copy(gpu_, &host.set, &own.set));
            if (compare_) expect(s, host);
            for (const Method &method : methods) run_method(s, method, own);
            run_npp(s, own);
        } else {
            say_no_memory(s);
        }
        for (apsis_image *each : {&own.set, &own.distance, &own.cells}) apsis_free(gpu_, each);
    }

  private:
    static apsis_options options_of(const Subject &s, apsis_method method, Map map) {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.method = method;
        if (s.ndim == 3) options.flags |= APSIS_SLICES;
        if (map == CONNECTED) options.flags |= APSIS_CONNECTED;
        if (map == MIXED) options.flags |= APSIS_MIXED;
        return options;
    }

    static apsis_status ask(apsis_context *context, const Images &images, Map map, const apsis_options &options) {
        return map == DISTANCE ? apsis_distance(context, &images.set, &images.distance, nullptr, &options)
                               : apsis_voronoi(context, &images.set, &images.cells, &options);
    }

    /// The maps of the CPU back end.
    void expect(const Subject &s, const Images &host) {
        for (const Map map : {CONNECTED, COMPLETE, DISTANCE}) {
            expected_[map].resize(bytes_of(host.output(map)));
            Images images = host;
            images.distance.data = images.cells.data = expected_[map].data();
            check(cpu_, ask(cpu_, images, map, options_of(s, APSIS_AUTO, map)));
        }
    }

    void run_method(const Subject &s, const Method &method, const Images &own) {
        std::string times, remark = method.is_exact ? "same" : "";
        for (const Map map : {MIXED, CONNECTED, COMPLETE, DISTANCE}) {
            times += ",";
            if (!(method.maps >> map & 1)) continue;
            const apsis_options options = options_of(s, method.method, map);
            if (!has_memory(ask(gpu_, own, map, options))) continue;
            times += in_words(call_ms(false, [&] { check(gpu_, ask(gpu_, own, map, options)); }));
            if (compare_ && method.is_exact && map != MIXED && !is_expected(own, map)) remark = "DIFFERENT";
        }
        failed = failed || remark == "DIFFERENT";
        Taken taken;
        apsis_set_log(gpu_, listen, &taken);  // not while it is timed: to log, it waits
        check(gpu_, ask(gpu_, own, DISTANCE, options_of(s, method.method, DISTANCE)));
        apsis_set_log(gpu_, nullptr, nullptr);
        report(s, method.name, times, taken, own, remark);
    }

    /// One image after another, where there are several.
    void run_npp(const Subject &s, const Images &own) {
        const NppDistance npp = npp_distance(stream_, static_cast<int>(s.size[0]));
        if (!npp.call) return;
        const int64_t pixels = s.size[0] * s.size[1];
        const double ms = call_ms(false, [&] {
            for (int64_t z = 0; z < s.size[2]; ++z)
                npp.call(static_cast<uint8_t *>(own.set.data) + z * pixels,
                         static_cast<float *>(own.distance.data) + z * pixels);
        });
        report(s, "NPP", ",,,," + in_words(ms), Taken(), own, "");
    }

    static std::string in_words(double ms) {
        char text[32];
        std::snprintf(text, sizeof text, ms < 1 ? "%.4f" : "%.3f", ms);
        return text;
    }

    void report(const Subject &s, const char *method, const std::string &times, const Taken &taken, const Images &own,
                const std::string &remark) {
        std::printf("%s,%s,%lld,%lld,\"%s\"%s", s.group.c_str(), s.mask.c_str(), (long long)s.size[0], (long long)s.size[2],
                    method, times.c_str());
        if (taken.instances < 0)
            std::printf(",,");
        else
            std::printf(",%lld,%lld", taken.instances, taken.mended);
        if (compare_) std::printf(",%lld,%s", (long long)count_wrong(own.distance), remark.c_str());
        std::printf("\n");
        std::fflush(stdout);
    }

    bool is_expected(const Images &own, Map map) {
        const auto result = download<uint8_t>(own.output(map));
        return std::memcmp(result.get(), expected_[map].data(), expected_[map].size()) == 0;
    }

    int64_t count_wrong(const apsis_image &distance) {
        const auto result = download<float>(distance);
        const float *const expected = reinterpret_cast<const float *>(expected_[DISTANCE].data());
        const auto is_wrong = [](float a, float b) { return int64_t(a != b && !(std::fabs(a - b) <= 1e-3f)); };
        return std::transform_reduce(result.get(), result.get() + expected_[DISTANCE].size() / sizeof(float), expected,
                                     int64_t(0), std::plus<>(), is_wrong);
    }

    std::vector<uint8_t> expected_[MAPS];
};

void run_group(Bench &bench, const std::string &group) {
    if (group == "plane")
        for (int64_t side = 512; side <= 16384; side *= 2)
            for (const char *image : {"noise-0.0001", "noise-0.01", "noise-0.1", "noise-0.3", "noise-0.5", "noise-0.7",
                                      "noise-0.9", "photograph", "vessels", "disc"})
                bench.run(plane_case<Subject>("plane", image, side, side), OF_PLANE);
    if (group == "batch")
        for (int64_t images : {2, 4, 8, 16, 32, 64, 100})
            for (const char *image : {"photograph", "noise-0.5", "noise-0.01", "noise-0.0001"})
                bench.run(volume_case<Subject>("batch", image, 2048, 2048, images), OF_BATCH);
}

}  // namespace

int main(int argc, char **argv) {
    Arguments arguments = read_arguments(argc, argv);
    if (arguments.groups.empty()) arguments.groups = {"plane", "batch"};
    return run_groups(arguments, run_group);
}
