// Times apsis_components on one GPU as bench_cuda times apsis_distance: device-resident images, CUDA events, 3
// warm-ups, median of 10, the copy ceiling in the same run, one CSV line a case.  The workspace is set, of just the size
// that apsis asks for.
//
//     bench_components [--check] [--only MASK] GROUP...
//
//     plane        labels, 16384^2, with 4 and 8 neighbours
//     statistics   the same with what is known of each component
//     alone        statistics and count without labels; count
//     graph        labels, 2048^2, replayed as a CUDA graph
//     small        labels, 64^2 to 1024^2, replayed as a CUDA graph
//     small-calls  the same, each call by itself: without count and with it
//     volume       labels, 512^3 and 1024^3, with 6 and 26 neighbours
//     forms        sets of bits, labels of 64 bits, slices
//     selections   masks without small components, of the largest, with holes filled
//     slabs        labels in one slab and in eight, with statistics and without, beside those of the whole image
//     tile-fill    labels by APSIS_TILE_FILL, 2048^2, replayed as a CUDA graph, and 16384^2
//
// Statistics and counts are in host memory, and a call that gives them returns when it is done: its time has the way
// there in it.  The array is page-locked and takes 65536 components.  Times are in milliseconds; ms_less_copy is the
// time of the call less that of copying as many bytes of statistics into the same array, which is measured by itself
// right after it: nothing else of the call goes to the host but the count.  times_floor is how often moving each pixel
// of the set and of the labels once, at the ceiling, fits into the time of the call.
// --check compares every result with the CPU back end's, byte for byte.  GROUP@SIDE runs one size of a group.
#include <apsis.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu.h"

namespace {

constexpr int64_t CAPACITY = 65536;  // of the array of components
constexpr int64_t EDGE = 16384;      // of an image, where nothing else is said
constexpr apsis_type NO_LABELS = apsis_type(0);

struct Case : Subject {
    apsis_type labels = APSIS_I32;
    bool statistics = false, count = false;
    std::string selection;  // in words
};

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        list_.type = APSIS_U8;
        list_.ndim = 2;
        list_.size[0] = CAPACITY * int64_t(sizeof(apsis_component));
        list_.size[1] = 1;
        check(gpu_, apsis_alloc(gpu_, APSIS_HOST, &list_));
        std::printf("# statistics of the first %lld components, into page-locked memory\n", (long long)CAPACITY);
        std::printf(
            "group,mask,width,height,depth,connectivity,outputs,components,ms,ms_less_copy,ns_per_pixel,"
            "times_floor,workspace_bytes_per_pixel\n");
    }

    void run(const Case &c) {
        if (is_left_out(c)) return;
        load_mask(c);
        apsis_image host = image(c, APSIS_U8), set = image(c, c.set), labels = image(c, c.labels), workspace = {};
        host.data = mask_.data();
        const apsis_image *const wanted = c.labels ? &labels : nullptr, *images[] = {&set, wanted};
        size_t bytes = 0;
        workspace.type = APSIS_U8;
        workspace.ndim = 2;
        workspace.size[0] = 1 << 20;
        bool fits = allocate(set) && (!wanted || allocate(labels));
        if (fits) {
            check(gpu_, apsis_workspace_size(gpu_, APSIS_COMPONENTS, images, 2, &c.options, &bytes));
            workspace.size[1] = (static_cast<int64_t>(bytes) >> 20) + 1;
            fits = allocate(workspace);
        }
        if (fits) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            check(gpu_, apsis_set_workspace(gpu_, workspace.data, bytes));
            const int64_t count = label(gpu_, c, set, wanted, nullptr);  // kernels are loaded when they first run
            const double ms = call_ms(c.graph, [&] { timed_call(c, set, wanted); });
            const double copy_ms = c.statistics ? copy_to_list_ms(workspace, count) : 0;
            report(c, count, ms, copy_ms, bytes, compare_ ? verdict(c, host, set, wanted) : "");
            check(gpu_, apsis_set_workspace(gpu_, nullptr, 0));
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &labels, &workspace}) apsis_free(gpu_, each);
    }

    /// Labels in slabs, one after the other, beside those of the whole image.  All statistics are taken, into memory that is
    /// not page-locked.
    void run_slabs(const Case &c) {
        if (is_left_out(c)) return;
        load_mask(c);
        apsis_image host = image(c, APSIS_U8), set = host, labels = image(c, c.labels);
        host.data = mask_.data();
        if (allocate(set) && allocate(labels)) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            int64_t count;
            check(gpu_, apsis_components(gpu_, &set, NULL, NULL, 0, &count, &c.options));
            // A slab has components that the whole image has not, but no more than columns at each cut.
            const int64_t most = c.statistics ? count + 8 * c.size[0] : 0;
            std::vector<apsis_component> known(static_cast<size_t>(most));
            std::vector<apsis_part> parts(static_cast<size_t>(most));
            const double whole = call_ms(false, [&] {
                check(gpu_,
                      apsis_components(gpu_, &set, &labels, known.data(), most, c.statistics ? &count : NULL, &c.options));
            });
            for (const int slabs : {1, 8}) {
                const double ms = call_ms(false, [&] {
                    label_by_slabs(c, set, labels, slabs, parts);
                    if (c.statistics)
                        apsis_slab_measure(count, parts.data(), reinterpret_cast<apsis_component *>(parts.data()));
                });
                std::printf("slabs,%s,%lld,%lld,%d,%d,%s,%lld,%.4f,%.4f,%.2f\n", c.mask.c_str(), (long long)c.size[0],
                            (long long)c.size[1], int(c.options.connectivity), slabs, outputs_of(c).c_str(), (long long)count,
                            ms, whole, ms / whole);
            }
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &labels}) apsis_free(gpu_, each);
    }

  private:
    void label_by_slabs(const Case &c, const apsis_image &set, const apsis_image &labels, int slabs,
                        std::vector<apsis_part> &parts) {
        const auto columns = static_cast<size_t>(set.size[0]);
        std::vector<int64_t> faces(2 * columns * static_cast<size_t>(slabs));
        std::vector<apsis_slab_labels> told(static_cast<size_t>(slabs));
        int64_t start = 0, used = 0;
        for (int k = 0; k < slabs; ++k) {
            const apsis_image slab = slab_of(set, k, slabs, start);
            int64_t *const first = faces.data() + 2 * columns * static_cast<size_t>(k);
            told[k] = {start, 0, 0, 0, k > 0 ? first : NULL, k + 1 < slabs ? first + columns : NULL, NULL, 0, NULL};
            if (c.statistics) told[k].parts = parts.data() + used, told[k].capacity = int64_t(parts.size()) - used;
            check(gpu_, apsis_slab_parts(gpu_, &slab, &told[k], &c.options));
            used += told[k].count;
        }
        int64_t count;
        const int64_t capacity = c.statistics ? used : 0;
        check(gpu_, apsis_slab_join(gpu_, 2, set.size, told.data(), slabs, parts.data(), capacity, &count, &c.options));
        for (int k = slabs - 1; k >= 0; --k) {  // the last one has just been found
            const apsis_image slab = slab_of(set, k, slabs, start), out = slab_of(labels, k, slabs, start);
            check(gpu_, apsis_slab_components(gpu_, k + 1 < slabs ? &slab : NULL, &told[k], &out, &c.options));
        }
    }

    apsis_component *list() const { return static_cast<apsis_component *>(list_.data); }

    void timed_call(const Case &c, const apsis_image &set, const apsis_image *labels) {
        int64_t count;
        check(gpu_, apsis_components(gpu_, &set, labels, c.statistics ? list() : nullptr, c.statistics ? CAPACITY : 0,
                                     c.statistics || c.count ? &count : nullptr, &c.options));
    }

    /// The time that the statistics of so many components take from the device to the array.
    double copy_to_list_ms(const apsis_image &from, int64_t count) {
        const size_t bytes = static_cast<size_t>(std::min(count, CAPACITY)) * sizeof(apsis_component);
        return timer_.median_ms(
            stream_, [&] { check(cudaMemcpyAsync(list_.data, from.data, bytes, cudaMemcpyDeviceToHost, stream_), "copy"); });
    }

    int64_t label(apsis_context *context, const Case &c, const apsis_image &set, const apsis_image *labels,
                  apsis_component *components) {
        int64_t count;
        const int64_t capacity = components ? CAPACITY : 0;
        check(context, apsis_components(context, &set, labels, components, capacity, &count, &c.options));
        return count;
    }

    static std::string outputs_of(const Case &c) {
        std::string words = c.set == APSIS_BIT ? "bit:" : "";
        if (c.labels) words += c.labels == APSIS_U8 ? "u8" : c.labels == APSIS_I32 ? "i32" : "i64";
        if (c.statistics) words += c.labels ? "+statistics" : "statistics+count";
        if (c.count) words += "count";
        if (c.options.method == APSIS_TILE_FILL) words += " tile fill";
        if (c.options.flags & APSIS_SLICES) words += " slices";
        return words + c.selection;
    }

    void report(const Case &c, int64_t count, double ms, double copy_ms, size_t workspace, const std::string &remark) const {
        const double pixels = static_cast<double>(c.pixels());
        const double moved = pixels * ((c.set == APSIS_BIT ? 0.125 : 1) + (c.labels ? pixel_bytes(c.labels) : 0));
        std::printf("%s,%s,%lld,%lld,%lld,%d,%s,%lld,%.4f,%.4f,%.4f,%.2f,%.3f%s\n", c.group.c_str(), c.mask.c_str(),
                    (long long)c.size[0], (long long)c.size[1], (long long)c.size[2], int(c.options.connectivity),
                    outputs_of(c).c_str(), (long long)count, ms, ms - copy_ms, 1e6 * ms / pixels, 1e-3 * ms * ceiling_ / moved,
                    static_cast<double>(workspace) / pixels, remark.c_str());
        std::fflush(stdout);
    }

    /// ",same" if the CPU back end, by its own method, gives the same bytes.
    std::string verdict(Case c, const apsis_image &host, const apsis_image &set, const apsis_image *labels) {
        apsis_image expected = image(c, c.labels);
        std::unique_ptr<uint8_t[]> memory, result;
        std::vector<apsis_component> ours(c.statistics ? CAPACITY : 0);
        if (labels) {
            result = download<uint8_t>(*labels);
            memory = std::make_unique_for_overwrite<uint8_t[]>(bytes_of(expected));
            expected.data = memory.get();
        }
        const int64_t count = label(gpu_, c, set, labels, c.statistics ? list() : nullptr);
        c.options.method = APSIS_AUTO;
        bool same = label(cpu_, c, host, labels ? &expected : nullptr, c.statistics ? ours.data() : nullptr) == count;
        if (labels) same = same && !std::memcmp(result.get(), memory.get(), bytes_of(expected));
        const size_t list_bytes = static_cast<size_t>(std::min(count, CAPACITY)) * sizeof(apsis_component);
        if (c.statistics) same = same && !std::memcmp(list(), ours.data(), list_bytes);
        failed = failed || !same;
        return same ? ",same" : ",DIFFERENT";
    }

    apsis_image list_ = {};
};

Case plane(const char *group, const char *mask, int64_t side, int connectivity) {
    Case c = plane_case<Case>(group, mask, side, side);
    c.options.connectivity = connectivity;
    return c;
}

const char *const masks_2d[] = {"noise-0.1",  "noise-0.3",  "noise-0.5",  "noise-0.7",  "noise-0.9", "grain4-0.1",
                                "grain4-0.3", "grain4-0.5", "grain4-0.7", "grain4-0.9", "spiral",    "comb",
                                "blobs",      "text",       "full",       "empty"};
const char *const masks_3d[] = {"noise-0.01", "noise-0.1", "noise-0.3", "noise-0.5", "blobs", "disc", "full"};
const char *const few[] = {"noise-0.5", "grain4-0.5", "blobs", "text"};

void run_forms(Bench &bench) {
    for (const char *mask : few) {
        Case c = plane("forms", mask, EDGE, 1);
        c.set = APSIS_BIT;
        bench.run(c);
        c = plane("forms", mask, EDGE, 1);
        c.labels = APSIS_I64;
        bench.run(c);
        c = volume_case<Case>("forms", mask, 1024, 1024, 256);
        c.options.flags = APSIS_SLICES;
        bench.run(c);
    }
}

void run_selections(Bench &bench) {
    for (const char *mask : few) {
        Case c = plane("selections", mask, EDGE, 1);
        c.labels = APSIS_U8;
        Case least = c, largest = c, filled = c;
        least.options.min_area = 20;
        least.selection = " min_area 20";
        largest.options.largest = 10;
        largest.selection = " largest 10";
        filled.options.flags = APSIS_COMPLEMENT | APSIS_NO_INNER;
        filled.selection = " fill holes";
        for (const Case &each : {least, largest, filled}) bench.run(each);
    }
}

void run_volumes(Bench &bench) {
    for (const int64_t side : {int64_t(512), int64_t(1024)})
        for (const char *mask : masks_3d)
            for (const int connectivity : {1, 3}) {
                Case c = volume_case<Case>("volume", mask, side, side, side);
                c.options.connectivity = connectivity;
                bench.run(c);
            }
}

void run_small(Bench &bench, const std::string &group) {
    for (int64_t side = 64; side <= 1024; side *= 2)
        for (const char *mask : {"noise-0.5", "grain4-0.5", "blobs", "text", "spiral", "comb"})
            for (const int connectivity : {1, 2}) {
                Case c = plane(group.c_str(), mask, side, connectivity);
                c.graph = group == "small";
                bench.run(c);
                if (c.graph) continue;
                c.count = true;
                bench.run(c);
            }
}

void run_tile_fills(Bench &bench) {
    for (const int64_t side : {int64_t(2048), EDGE})
        for (const char *mask : masks_2d)
            for (const int connectivity : {1, 2}) {
                Case c = plane("tile-fill", mask, side, connectivity);
                c.options.method = APSIS_TILE_FILL;
                c.graph = side < EDGE;
                bench.run(c);
            }
}

void run_slabs(Bench &bench) {
    std::printf("group,mask,width,height,connectivity,slabs,outputs,components,ms,ms_whole,times_whole\n");
    for (const char *mask : {"noise-0.5", "noise-0.001", "single", "blobs", "text"})
        for (const bool statistics : {false, true}) {
            Case c = plane("slabs", mask, EDGE, 1);
            c.statistics = statistics;
            bench.run_slabs(c);
        }
}

void run_group(Bench &bench, const std::string &group) {
    if (group == "slabs") return run_slabs(bench);
    if (group == "forms") return run_forms(bench);
    if (group == "selections") return run_selections(bench);
    if (group == "small" || group == "small-calls") return run_small(bench, group);
    if (group == "volume") return run_volumes(bench);
    if (group == "tile-fill") return run_tile_fills(bench);
    for (const char *mask : masks_2d)
        for (const int connectivity : {1, 2}) {
            Case c = plane(group.c_str(), mask, group == "graph" ? 2048 : EDGE, connectivity);
            c.graph = group == "graph";
            c.statistics = group == "statistics" || group == "alone";
            if (group == "alone") c.labels = NO_LABELS;
            bench.run(c);
            if (group != "alone") continue;
            c.statistics = false;
            c.count = true;
            bench.run(c);
        }
}

}  // namespace

int main(int argc, char **argv) { return run_groups(read_arguments(argc, argv), run_group); }
