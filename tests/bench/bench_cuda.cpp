// Times apsis_distance on one GPU: device-resident images, kernels only (CUDA events, 3 warm-ups, median of 10), the
// copy ceiling in the same run.  One CSV line a case, with the fraction of the ceiling that the bytes which must be
// moved (each input and output pixel once) make of the time.  For the CPU see bench.c.
//
//     bench_cuda [--check] [--only MASK] GROUP...       2d 3d small nearest forms signed odd slices batches large volumes npp
//                                                       scale slabs named morphology
//                                             host
//
// The group host times whole calls on host images instead (a clock on the wall, 2 warm-ups, median of 5), page-locked and
// pageable, beside the copies of its set in and of its outputs out alone, from and to the same memory.
//
// Group npp times NPP beside apsis, and counts the pixels whose distances are not within a thousandth of ours; group
// scale goes from 64^2 to 65536^2, the small ones as graphs, since queueing would take longer than they do.
// Group morphology has sets changed by a ball of radius 50 beside their distance maps, as bytes and as bits.
// Group named is MASK alone, which may be one that a seed draws (random_masks.h).
// --check compares every output with the CPU back end's, byte for byte.  GROUP@SIDE runs one size of a group.
#include <apsis_measures.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu.h"
#include "masks.h"
#include "npp.h"

namespace {

/// The median time of work that is done when it returns, on the wall.
template <class Work>
double wall_ms(Work work) {
    constexpr int WARM_UPS = 2, RUNS = 5;
    std::vector<double> times;
    for (int i = 0; i < WARM_UPS + RUNS; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
        if (i >= WARM_UPS) times.push_back(ms.count());
    }
    std::sort(times.begin(), times.end());
    return times[RUNS / 2];
}

struct Case : Subject {
    apsis_type distance = APSIS_F32;
    bool nearest = false, beside_npp = false;
};

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        std::printf("group,mask,width,height,depth,outputs,ms,ns_per_pixel,times_floor,workspace_bytes_per_pixel\n");
    }

    void run(const Case &c) {
        if (is_left_out(c)) return;
        load_mask(c);
        apsis_image bytes = image(c, APSIS_U8), set = image(c, c.set), distance = image(c, c.distance),
                    nearest = image(c, c.pixels() > (int64_t(1) << 31) ? APSIS_I64 : APSIS_I32);
        apsis_image host = bytes;
        host.data = mask_.data();
        bool fits = allocate(set) && allocate(distance) && (!c.nearest || allocate(nearest));
        if (fits) check(gpu_, apsis_copy(gpu_, &host, &set));
        const apsis_image *const wanted = c.nearest ? &nearest : nullptr;
        const apsis_image *images[] = {&set, &distance, wanted};
        size_t workspace = 0;
        check(gpu_, apsis_workspace_size(gpu_, APSIS_DISTANCE, images, 3, &c.options, &workspace));
        const auto call = [&] { check(gpu_, apsis_distance(gpu_, &set, &distance, wanted, &c.options)); };
        fits = fits && has_memory(apsis_distance(gpu_, &set, &distance, wanted, &c.options));
        if (fits) {
            const double ms = call_ms(c.graph, call);
            report(c, outputs_of(c), ms, workspace, compare_ ? verdict(c, host, distance, wanted) : "");
            if (c.beside_npp) run_npp(c, set, distance);
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &distance, &nearest}) apsis_free(gpu_, each);
    }

    void run_host(const Case &c, bool page_locked) {
        if (is_left_out(c)) return;
        load_mask(c);
        std::vector<apsis_image> images = {image(c, c.set), image(c, c.distance)};
        if (c.nearest) images.push_back(image(c, APSIS_I32));
        for (apsis_image &i : images)
            if (page_locked)
                check(gpu_, apsis_alloc(gpu_, APSIS_HOST, &i));
            else if (!(i.data = std::malloc(bytes_of(i))))
                check(cudaErrorMemoryAllocation, "host memory");
        std::memcpy(images[0].data, mask_.data(), mask_.size());
        apsis_image *const nearest = c.nearest ? &images[2] : nullptr;
        const double ms = wall_ms([&] { check(gpu_, apsis_distance(gpu_, &images[0], &images[1], nearest, &c.options)); });
        const char *const same = compare_ ? host_verdict(c, images) ? ",same" : ",DIFFERENT" : "";
        const double in = crossing_ms({images[0]}, cudaMemcpyHostToDevice);
        const double out = crossing_ms({images.begin() + 1, images.end()}, cudaMemcpyDeviceToHost);
        std::printf("%s,%s,%lld,%lld,%s,f32%s,%.2f,%.2f,%.2f,%.2f%s\n", c.group.c_str(), c.mask.c_str(), (long long)c.size[0],
                    (long long)c.size[1], page_locked ? "page-locked" : "pageable", c.nearest ? "+nearest" : "", ms, in, out,
                    ms / std::max(in, out), same);
        std::fflush(stdout);
        for (apsis_image &i : images)
            if (page_locked)
                apsis_free(gpu_, &i);
            else
                std::free(i.data);
    }

    /// The set changed by a ball, beside its distance map.
    void run_morphology(const Case &c, apsis_operation operation, const char *name, apsis_type type) {
        constexpr double RADIUS = 50;
        if (is_left_out(c)) return;
        load_mask(c);
        apsis_image host = image(c, APSIS_U8), set = image(c, c.set), distance = image(c, c.distance), mask = image(c, type);
        host.data = mask_.data();
        if (allocate(set) && allocate(distance) && allocate(mask)) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            const auto map = [&] { check(gpu_, apsis_distance(gpu_, &set, &distance, NULL, NULL)); };
            const auto change = [&] { check(gpu_, apsis_morphology(gpu_, operation, RADIUS, &set, &mask, NULL)); };
            const double map_ms = call_ms(c.graph, map), ms = call_ms(c.graph, change);
            std::printf("%s,%s,%lld,%lld,%s,%s,%.4f,%.4f,%.2f%s\n", c.group.c_str(), c.mask.c_str(), (long long)c.size[0],
                        (long long)c.size[1], name, type == APSIS_BIT ? "bit" : "u8", ms, map_ms, ms / map_ms,
                        compare_ ? morphology_verdict(c, operation, RADIUS, host, mask) : "");
            std::fflush(stdout);
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &distance, &mask}) apsis_free(gpu_, each);
    }

    /// A map in slabs, one after the other, beside that of the whole image.  The slab that was asked last is not read again.
    void run_slabs(const Case &c) {
        if (is_left_out(c)) return;
        load_mask(c);
        apsis_image host = image(c, APSIS_U8), set = host, distance = image(c, c.distance), nearest = image(c, APSIS_I32);
        host.data = mask_.data();
        if (allocate(set) && allocate(distance) && (!c.nearest || allocate(nearest))) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            const double whole = call_ms(
                false, [&] { check(gpu_, apsis_distance(gpu_, &set, &distance, c.nearest ? &nearest : nullptr, NULL)); });
            for (const int slabs : {1, 8}) {
                Told told(slabs, static_cast<size_t>(c.size[0]));
                const double ms = call_ms(false, [&] { map_by_slabs(set, distance, c.nearest ? &nearest : nullptr, told); });
                std::printf("slabs,%s,%lld,%lld,%d,%s,%.4f,%.4f,%.2f\n", c.mask.c_str(), (long long)c.size[0],
                            (long long)c.size[1], slabs, outputs_of(c).c_str(), ms, whole, ms / whole);
            }
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &distance, &nearest}) apsis_free(gpu_, each);
    }

  private:
    /// What slabs tell and are told, in memory that is there before.
    struct Told {
        int slabs;
        std::vector<std::vector<int64_t>> first, above;  // [slab][column]
        std::vector<int64_t> last, below;

        Told(int slabs, size_t columns)
            : slabs(slabs),
              first(slabs, std::vector<int64_t>(columns)),
              above(slabs, std::vector<int64_t>(columns, -1)),
              last(columns),
              below(columns) {}
    };

    void map_by_slabs(const apsis_image &set, const apsis_image &distance, const apsis_image *nearest, Told &told) {
        const int64_t columns = set.size[0];
        int64_t start = 0;
        for (int k = 0; k < told.slabs; ++k) {
            const apsis_image slab = slab_of(set, k, told.slabs, start);
            check(gpu_, apsis_slab_summary(gpu_, &slab, start, told.first[k].data(), told.last.data(), NULL));
            if (k + 1 == told.slabs) break;
            told.above[k + 1] = told.above[k];
            apsis_slab_merge(columns, NULL, told.last.data(), NULL, told.above[k + 1].data());
        }
        for (int k = told.slabs - 1; k >= 0; --k) {
            const bool is_last = k + 1 == told.slabs;
            const apsis_image slab = slab_of(set, k, told.slabs, start), out = slab_of(distance, k, told.slabs, start);
            const apsis_image which = nearest ? slab_of(*nearest, k, told.slabs, start) : out;
            const apsis_slab place = {
                start, set.size[1], k > 0 ? told.above[k].data() : NULL, is_last ? NULL : told.below.data(), NULL, NULL};
            check(gpu_, apsis_slab_distance(gpu_, is_last ? NULL : &slab, &place, &out, nearest ? &which : NULL, NULL));
            if (k == 0) break;
            if (is_last)
                told.below = told.first[k];
            else
                apsis_slab_merge(columns, told.first[k].data(), NULL, told.below.data(), NULL);
        }
    }

    /// The time of copying images whole, as CUDA does it by itself.
    double crossing_ms(const std::vector<apsis_image> &images, cudaMemcpyKind kind) {
        void *device;
        size_t most = 0;
        for (const apsis_image &i : images) most = std::max(most, bytes_of(i));
        check(cudaMalloc(&device, most), "memory");
        const double ms = wall_ms([&] {
            for (const apsis_image &i : images) {
                const bool in = kind == cudaMemcpyHostToDevice;
                check(cudaMemcpyAsync(in ? device : i.data, in ? i.data : device, bytes_of(i), kind, stream_), "copy");
            }
            check(cudaStreamSynchronize(stream_), "synchronize");
        });
        cudaFree(device);
        return ms;
    }

    const char *morphology_verdict(const Case &c, apsis_operation operation, double radius, const apsis_image &host,
                                   const apsis_image &mask) {
        const auto got = download<uint8_t>(mask);
        apsis_image want = image(c, mask.type);
        const auto memory = std::make_unique<uint8_t[]>(bytes_of(want));
        want.data = memory.get();
        check(cpu_, apsis_morphology(cpu_, operation, radius, &host, &want, NULL));
        const bool same = !std::memcmp(got.get(), memory.get(), bytes_of(want));
        failed = failed || !same;
        return same ? ",same" : ",DIFFERENT";
    }

    bool host_verdict(const Case &c, const std::vector<apsis_image> &images) {
        std::vector<std::unique_ptr<uint8_t[]>> memory;
        std::vector<apsis_image> expected(images);
        for (size_t k = 1; k < images.size(); ++k) {
            memory.push_back(std::make_unique_for_overwrite<uint8_t[]>(bytes_of(images[k])));
            expected[k].data = memory.back().get();
        }
        check(cpu_, apsis_distance(cpu_, &expected[0], &expected[1], c.nearest ? &expected[2] : nullptr, &c.options));
        bool same = true;
        for (size_t k = 1; k < images.size(); ++k)
            same = same && !std::memcmp(images[k].data, expected[k].data, bytes_of(images[k]));
        failed = failed || !same;
        return same;
    }

    static std::string outputs_of(const Case &c) {
        return std::string(c.set == APSIS_BIT ? "bit:" : "") + (c.distance == APSIS_F32 ? "f32" : "i32") +
               (c.options.flags & APSIS_SIGNED ? " signed" : "") + (c.nearest ? "+nearest" : "");
    }

    void report(const Case &c, const std::string &outputs, double ms, size_t workspace, const std::string &remark) const {
        const double pixels = static_cast<double>(c.pixels());
        const size_t index = pixels > 2147483648.0 ? 8 : 4;
        const double moved = pixels * ((c.set == APSIS_BIT ? 0.125 : 1) + pixel_bytes(c.distance) + (c.nearest ? index : 0));
        std::printf("%s,%s,%lld,%lld,%lld,%s,%.4f,%.4f,%.2f,%.3f%s\n", c.group.c_str(), c.mask.c_str(), (long long)c.size[0],
                    (long long)c.size[1], (long long)c.size[2], outputs.c_str(), ms, 1e6 * ms / pixels,
                    1e-3 * ms * ceiling_ / moved, static_cast<double>(workspace) / pixels, remark.c_str());
        std::fflush(stdout);
    }

    /// NPP on the same set, and how many of its distances are not ours.
    void run_npp(const Case &c, const apsis_image &set, const apsis_image &ours) {
        const NppDistance npp = npp_distance(stream_, static_cast<int>(c.size[0]));
        if (!npp.call) return void(std::printf("# no NPP in this build\n"));
        apsis_image theirs = image(c, APSIS_F32);
        check(gpu_, apsis_alloc(gpu_, APSIS_DEVICE, &theirs));
        const double ms = timer_.median_ms(stream_, [&] { npp.call(set.data, theirs.data); });
        const auto mine = download<float>(ours), other = download<float>(theirs);
        int64_t wrong = 0;
        for (int64_t i = 0; i < c.size[0] * c.size[1]; ++i) wrong += !(std::abs(other[i] - mine[i]) <= 1e-3f * mine[i]);
        report(c, "npp f32", ms, npp.workspace, "," + std::to_string(wrong) + " differ");
        apsis_free(gpu_, &theirs);
    }

    /// ",same" if the CPU back end gives the same bytes.
    std::string verdict(const Case &c, const apsis_image &host, const apsis_image &distance, const apsis_image *nearest) {
        bool same = true;
        std::vector<apsis_image> expected;
        std::vector<std::unique_ptr<uint8_t[]>> memory;
        for (const apsis_image *output : {&distance, nearest}) {
            if (!output) continue;
            apsis_image copy = image(c, output->type);
            memory.push_back(std::make_unique_for_overwrite<uint8_t[]>(bytes_of(copy)));
            copy.data = memory.back().get();
            expected.push_back(copy);
        }
        check(cpu_, apsis_distance(cpu_, &host, &expected[0], nearest ? &expected[1] : nullptr, &c.options));
        size_t k = 0;
        for (const apsis_image *output : {&distance, nearest}) {
            if (!output) continue;
            const auto result = download<uint8_t>(*output);
            same = same && std::memcmp(result.get(), expected[k++].data, bytes_of(*output)) == 0;
        }
        failed = failed || !same;
        return same ? ",same" : ",DIFFERENT";
    }
};

Case plane(const char *group, const char *mask, int64_t width, int64_t height) {
    return plane_case<Case>(group, mask, width, height);
}
Case volume(const char *group, const char *mask, int64_t width, int64_t height, int64_t depth) {
    return volume_case<Case>(group, mask, width, height, depth);
}

void run_group(Bench &bench, const std::string &group) {
    const char *few[] = {"noise-0.01", "noise-0.5", "blobs", "disc"};
    if (group == "2d")
        for (int64_t side : {4096, 8192, 16384})
            for (auto mask = bench_masks_2d; *mask; ++mask) bench.run(plane("2d", *mask, side, side));
    if (group == "3d")
        for (int64_t side : {256, 512, 768})
            for (auto mask = bench_masks_3d; *mask; ++mask) bench.run(volume("3d", *mask, side, side, side));
    if (group == "small")
        for (int64_t side : {64, 256, 512, 1024, 2048})
            for (const char *mask : {"noise-0.01", "noise-0.5", "blobs", "disc", "text"}) {
                Case c = plane("small", mask, side, side);
                c.graph = true;
                bench.run(c);
            }
    if (group == "nearest")
        for (const char *mask : few) {
            Case c = plane("nearest", mask, 16384, 16384);
            c.nearest = true;
            bench.run(c);
        }
    if (group == "forms")
        for (const char *mask : few) {
            Case c = plane("bit", mask, 16384, 16384);
            c.set = APSIS_BIT;
            bench.run(c);
            c = plane("squared", mask, 16384, 16384);
            c.distance = APSIS_I32;
            bench.run(c);
            c = plane("signed", mask, 16384, 16384);
            c.options.flags = APSIS_SIGNED;
            bench.run(c);
            c = volume("spacing", mask, 512, 512, 512);
            c.options.spacing[0] = c.options.spacing[1] = 1;
            c.options.spacing[2] = 2.5;
            bench.run(c);
        }
    if (group == "signed")
        for (int64_t side : {4096, 16384})
            for (const char *mask : {"noise-0.01", "noise-0.5", "blobs", "disc", "text"})
                for (const uint32_t flags : {0u, static_cast<uint32_t>(APSIS_SIGNED)}) {
                    Case c = plane("signed", mask, side, side);
                    c.options.flags = flags;
                    bench.run(c);
                }
    if (group == "odd")
        for (const char *mask : few) {
            bench.run(plane("odd", mask, 16383, 16381));
            bench.run(plane("odd", mask, 100, 1000000));
            bench.run(plane("odd", mask, 1000000, 100));
            bench.run(volume("odd", mask, 2048, 2048, 30));
            bench.run(volume("odd", mask, 30, 2048, 2048));
        }
    if (group == "volumes")
        for (const char *mask : {"noise-0.01", "noise-0.5", "blobs", "disc", "single"}) {
            for (const int64_t side : {512, 768}) {
                Case c = volume("nearest", mask, side, side, side);
                c.nearest = true;
                bench.run(c);
            }
            Case c = volume("spacing", mask, 512, 512, 512);
            c.options.spacing[0] = c.options.spacing[1] = 1;
            c.options.spacing[2] = 2.5;
            bench.run(c);
            bench.run(volume("thin", mask, 2048, 2048, 30));
            bench.run(volume("thin", mask, 30, 2048, 2048));
        }
    if (group == "slices")
        for (const char *mask : few) {
            Case c = volume("slices", mask, 2048, 2048, 100);
            c.options.flags = APSIS_SLICES;
            bench.run(c);
            bench.run(plane("slices", mask, 20480, 20480));
        }
    if (group == "batches")
        for (const char *mask : {"noise-0.5", "blobs", "text"})
            for (const int64_t side : {256, 288})
                for (const int64_t across : {8, 32}) {  // as many images as fit into the one beside them
                    Case c = volume("batches", mask, side, side, across * across);
                    c.options.flags = APSIS_SLICES;
                    bench.run(c);
                    bench.run(plane("batches", mask, across * side, across * side));
                }
    if (group == "npp")
        for (int64_t side : {512, 1024, 2048, 4096, 8192, 16384})
            for (auto mask = bench_masks_2d; *mask; ++mask) {
                Case c = plane("npp", *mask, side, side);
                c.beside_npp = true;
                bench.run(c);
            }
    if (group == "scale")
        for (int64_t side = 64; side <= 65536; side *= 2)
            for (const char *mask : {"noise-0.01", "noise-0.5", "blobs", "row"}) {
                Case c = plane("scale", mask, side, side);
                c.graph = side <= 2048;
                bench.run(c);
            }
    if (group == "host") {
        std::printf("group,mask,width,height,memory,outputs,ms,in_alone_ms,out_alone_ms,times_longer_copy\n");
        for (int64_t edge : {1024, 4096, 16384})
            for (const char *mask : {"noise-0.5", "blobs"})
                for (const bool page_locked : {true, false}) {
                    Case c = plane("host", mask, edge, edge);
                    bench.run_host(c, page_locked);
                    c.nearest = true;
                    bench.run_host(c, page_locked);
                }
    }
    if (group == "slabs") {
        std::printf("group,mask,width,height,slabs,outputs,ms,ms_whole,times_whole\n");
        for (const char *mask : {"noise-0.5", "noise-0.001", "single", "blobs", "text"})
            for (const bool nearest : {false, true}) {
                Case c = plane("slabs", mask, 16384, 16384);
                c.nearest = nearest;
                bench.run_slabs(c);
            }
    }
    if (group == "morphology") {
        std::printf("group,mask,width,height,operation,result,ms,distance_ms,times_distance\n");
        for (const char *mask : {"noise-0.5", "blobs", "text"})
            for (const apsis_type type : {APSIS_U8, APSIS_BIT}) {
                const Case c = plane("morphology", mask, 16384, 16384);
                bench.run_morphology(c, APSIS_DILATE, "dilate", type);
                bench.run_morphology(c, APSIS_ERODE, "erode", type);
                bench.run_morphology(c, APSIS_OPEN, "open", type);
            }
    }
    if (group == "named")
        for (const bool nearest : {false, true}) {
            Case c = plane("named", bench.only.c_str(), bench.side ? bench.side : 16384, bench.side ? bench.side : 16384);
            c.nearest = nearest;
            bench.run(c);
        }
    if (group == "large")
        for (int64_t side : {32768, 65536})
            for (auto mask = bench_masks_2d; *mask; ++mask) bench.run(plane("large", *mask, side, side));
}

}  // namespace

int main(int argc, char **argv) { return run_groups(read_arguments(argc, argv), run_group); }
