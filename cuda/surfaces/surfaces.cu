// The surface of a set in a box, and how many of its points have each cost and mark.
//
// A warp marks the points of a row, each from the pixels around it.  Cost and mark of a point are one key.  The keys are listed
// in any order, and sorted; where one begins that differs from the key before, it is told, with its place.  A box of many points
// goes piece by piece, so that the memory for keys has a bound.
//
// Cost: a pass over the box for its marks, one for its keys, and the sort of the points on the surface.
#include <algorithm>
#include <utility>

#include "cuda/runtime/scan_and_sort.h"
#include "cuda/transforms.h"
#include "runtime/surfaces.h"

namespace apsis::cuda::surfaces {

namespace {

constexpr int64_t PIECE = 1 << 24;  // points whose keys are listed at once: 20 bytes each

/// What of a key is the mark: all marks but those of corners are 1.
int mark_bits(const SurfaceJob &job) { return job.surface == APSIS_SURFACE_CORNERS ? 8 : 0; }
int key_bits(const SurfaceJob &job) {
    int bits = 1;
    while (job.measure.largest >> bits) ++bits;
    return bits + mark_bits(job);
}

template <class Pixel>
__device__ bool is_member(const SurfaceJob &job, int64_t x, int64_t y, int64_t z) {
    if (x < 0 || y < 0 || z < 0 || x >= job.size[0] || y >= job.size[1] || z >= job.size[2]) return false;
    const uint8_t *const row = job.image.row(job.lower[1] + y, job.lower[2] + z);
    const Pixel pixel = *reinterpret_cast<const Pixel *>(row + (job.lower[0] + x) * job.image.stride[0]);
    return (static_cast<int64_t>(pixel) == (job.by_value ? job.value : 0)) == job.by_value;
}

/// A corner's mark says which of the pixels around it are in the set, if not all are: bit 1 << (dx + 2 dy + 4 dz) is of the
/// pixel before it (0) or after it (1).
template <class Pixel>
__device__ uint8_t mark_of_corner(const SurfaceJob &job, int64_t x, int64_t y, int64_t z) {
    const int around = job.axes == 3 ? 8 : 4;
    int members = 0;
    for (int i = 0; i < around; ++i)
        members |= is_member<Pixel>(job, x - 1 + (i & 1), y - 1 + (i >> 1 & 1), around == 8 ? z - 1 + (i >> 2) : z) << i;
    return static_cast<uint8_t>(members == (1 << around) - 1 ? 0 : members);
}

template <class Pixel>
__device__ uint8_t mark_of_pixel(const SurfaceJob &job, int64_t x, int64_t y, int64_t z) {
    if (!is_member<Pixel>(job, x, y, z)) return 0;
    if (job.surface == APSIS_SURFACE_ALL) return 1;
    for (int step = -1; step <= 1; step += 2)
        if (!is_member<Pixel>(job, x + step, y, z) || !is_member<Pixel>(job, x, y + step, z) ||
            (job.axes == 3 && !is_member<Pixel>(job, x, y, z + step)))
            return 1;
    return 0;
}

template <class Pixel>
__global__ void __launch_bounds__(BLOCK) mark_rows(SurfaceJob job, uint32_t *has_points) {
    const int64_t width = job.marks.size[0], height = job.marks.size[1], rows = height * job.marks.size[2];
    for (int64_t row = first_item() / WARP; row < rows; row += item_step() / WARP) {
        const int64_t y = row % height, z = row / height;
        uint8_t *const to = job.marks.data + row * width;
        bool is_any = false;
        for (int64_t x = threadIdx.x % WARP; x < width; x += WARP) {
            to[x] =
                job.surface == APSIS_SURFACE_CORNERS ? mark_of_corner<Pixel>(job, x, y, z) : mark_of_pixel<Pixel>(job, x, y, z);
            is_any |= to[x] != 0;
        }
        if (is_any) *has_points = 1;
    }
}

/// Lists the keys of the points from `begin` to before `end`.
__global__ void __launch_bounds__(BLOCK)
    list_keys(SurfaceJob job, int64_t begin, int64_t end, int mark_bits, uint64_t *key, uint32_t *count) {
    const int lane = threadIdx.x % WARP;
    for (int64_t i = begin + first_item(); i - lane < end; i += item_step()) {
        const uint8_t mark = i < end ? job.marks.data[i] : uint8_t(0);
        const uint32_t place = take_places(count, mark != 0);
        if (!mark) continue;
        const uint64_t cost = job.costs ? static_cast<uint64_t>(value_at(job.costs, job.costs.data, i)) : 0;
        key[place] = mark_bits ? cost << mark_bits | mark : cost;
    }
}

/// Lists the keys that occur, and where each begins among those that are sorted.
__global__ void __launch_bounds__(BLOCK)
    list_kinds(const uint64_t *key, int64_t keys, uint64_t *kind, uint32_t *first, uint32_t *count) {
    const int lane = threadIdx.x % WARP;
    for (int64_t i = first_item(); i - lane < keys; i += item_step()) {
        const bool begins = i < keys && (i == 0 || key[i] != key[i - 1]);
        const uint32_t place = take_places(count, begins);
        if (begins) kind[place] = key[i], first[place] = static_cast<uint32_t>(i);
    }
}

struct Scratch {
    uint64_t *key[2];
    uint32_t *first;
    uint32_t *count;
    size_t sort_bytes;
    uint8_t *sort;

    Scratch(const SurfaceJob &job, Carver &carver) {
        const int64_t keys = std::min(job.marks.pixels(), PIECE);
        for (uint64_t *&each : key) each = carver.take<uint64_t>(keys);
        first = carver.take<uint32_t>(keys);
        count = carver.take<uint32_t>(1);
        sort_bytes = sort_scratch_of_keys(keys, key_bits(job));
        sort = carver.take<uint8_t>(static_cast<int64_t>(sort_bytes));
    }
};

void clear(uint32_t *number, cudaStream_t stream) {
    check(cudaMemsetAsync(number, 0, sizeof *number, stream), "clearing a number");
}

/// The points of a piece, of which those that are alike are one.
void count_piece(const SurfaceJob &job, int64_t begin, int64_t end, const Scratch &scratch, cudaStream_t stream,
                 HostNumber &number) {
    clear(scratch.count, stream);
    launch("list_keys", list_keys, ceil_div(end - begin, BLOCK), BLOCK, stream, job, begin, end, mark_bits(job), scratch.key[0],
           scratch.count);
    number.ask(scratch.count, stream);
    const int64_t keys = number.wait();
    if (keys == 0) return;
    SortBuffers<uint64_t> key{scratch.key[0], scratch.key[1]};
    sort_keys(scratch.sort, scratch.sort_bytes, key, keys, key_bits(job), "sorting points", stream);
    clear(scratch.count, stream);
    launch("list_kinds", list_kinds, ceil_div(keys, BLOCK), BLOCK, stream, key.current, keys, key.other, scratch.first,
           scratch.count);
    number.ask(scratch.count, stream);
    const size_t kinds = number.wait(), before = job.found->size();
    std::vector<uint64_t> kind(kinds);
    std::vector<uint32_t> first(kinds);
    check(cudaMemcpyAsync(kind.data(), key.other, kinds * sizeof kind[0], cudaMemcpyDeviceToHost, stream), "reading points");
    check(cudaMemcpyAsync(first.data(), scratch.first, kinds * sizeof first[0], cudaMemcpyDeviceToHost, stream),
          "reading points");
    check(cudaStreamSynchronize(stream), "reading points");
    const int bits = mark_bits(job);
    for (size_t i = 0; i < kinds; ++i) {
        const auto mark = static_cast<int64_t>(bits ? kind[i] & ((1u << bits) - 1) : 1);
        job.found->push_back({static_cast<int64_t>(kind[i] >> bits), mark, first[i]});
    }
    std::sort(job.found->begin() + static_cast<std::ptrdiff_t>(before), job.found->end());
    int64_t behind = keys;
    for (size_t i = job.found->size(); i-- > before;)
        behind = std::exchange((*job.found)[i].count, behind - (*job.found)[i].count);
}

}  // namespace

size_t surface_scratch(const SurfaceJob &job) {
    if (key_bits(job) > 64) return 0;
    Carver count;
    Scratch(job, count);
    return count.used();
}

bool mark_surface(const SurfaceJob &job, void *memory, cudaStream_t stream, HostNumber &number) {
    Carver carver(memory);
    const Scratch scratch(job, carver);
    clear(scratch.count, stream);
    const int64_t rows = job.marks.size[1] * job.marks.size[2];
    with_label_type(job.image.type, [&](auto pixel) {
        launch("mark_rows", mark_rows<decltype(pixel)>, ceil_div(rows, WARPS), BLOCK, stream, job, scratch.count);
    });
    number.ask(scratch.count, stream);
    return number.wait() != 0;
}

bool count_points(const SurfaceJob &job, void *memory, cudaStream_t stream, HostNumber &number) {
    if (job.others && !job.costs) return false;
    Carver carver(memory);
    const Scratch scratch(job, carver);
    const int64_t all = job.marks.pixels();
    job.found->clear();
    for (int64_t begin = 0; begin < all; begin += PIECE)
        count_piece(job, begin, std::min(begin + PIECE, all), scratch, stream, number);
    if (all > PIECE) join_alike(*job.found);
    return true;
}

}  // namespace apsis::cuda::surfaces
