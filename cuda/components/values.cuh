// Connected components of label images: neighbours are connected where their values are equal.  The kernels of values.cu.
//
// A warp has a word: 32 pixels of a row.  Stretches of equal pixels in a word are segments; each pixel points at the first one
// of its segment, the head.  Heads are joined by a union-find without locks in global memory, in which the lowest pixel of a
// component is its root.  Of two neighbouring runs one pair of pixels is joined: in the first column that both have, or at a
// corner.  A scan over the counts of roots of words numbers them in the order of the image.
//
// Cost: 4 bytes a pixel of parents, written once and read about three times.
#pragma once

#include "cuda/components/select.cuh"
#include "cuda/components/statistics.cuh"

namespace apsis::cuda::components {

constexpr uint32_t NO_PIXEL = UINT32_MAX;  // the parent of a pixel that is 0

/// A label image, and what its components take in global memory.
struct ValueImage {
    View set;
    uint32_t words, height;    // of a row; of a plane
    uint32_t total;            // words
    uint32_t *parent;          // [pixel]
    uint32_t *heads, *firsts;  // [word]: bits of heads; of the lowest pixels of the components that are kept
    uint32_t *before;          // [word]: how many bits of firsts it has; after the scan, how many come before it
    unsigned long long *area;  // [pixel]: of roots, with TOUCHES_BORDER; null if none are selected
};

#if defined(__CUDACC__)

/// A lane's pixel.
struct ValuePixel {
    uint32_t word, y, z;
    int64_t x, index;
    bool is_inside;

    __device__ ValuePixel(const ValueImage &image, uint32_t word) : word(word) {
        const uint32_t row = word / image.words;
        z = row / image.height, y = row - z * image.height;
        x = int64_t(word - row * image.words) * WARP + threadIdx.x % WARP;
        is_inside = x < image.set.size[0];
        index = row * image.set.size[0] + x;
    }
};

/// Warp: calls body(pixel) for words `from` to `end`.
template <class Body>
__device__ void for_value_words(const ValueImage &image, uint32_t from, uint32_t end, Body body) {
    const int64_t step = item_step() / WARP;
    for (int64_t word = from + first_item() / WARP; word < end; word += step)
        body(ValuePixel(image, static_cast<uint32_t>(word)));
}

/// The value of a pixel, or 0 outside the image.
template <class Pixel>
__device__ Pixel value_at(const View &set, int64_t x, int64_t y, int64_t z) {
    if (x < 0 || y < 0 || z < 0 || x >= set.size[0] || y >= set.size[1]) return 0;
    return *reinterpret_cast<const Pixel *>(set.row(y, z) + x * set.stride[0]);
}

/// Warp: the value to the left of a lane's.
template <class Pixel>
__device__ Pixel value_before(const View &set, Pixel value, int64_t x, int64_t y, int64_t z) {
    const Pixel left = __shfl_up_sync(ALL_LANES, value, 1);
    return threadIdx.x % WARP ? left : value_at<Pixel>(set, x - 1, y, z);
}

/// Points every pixel at its head.
template <class Pixel>
__global__ void __launch_bounds__(BLOCK) link_values(ValueImage image) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const Pixel value = value_at<Pixel>(image.set, at.x, at.y, at.z), left = __shfl_up_sync(ALL_LANES, value, 1);
        const uint32_t heads = __ballot_sync(ALL_LANES, value && (lane == 0 || left != value));
        if (lane == 0) image.heads[at.word] = heads;
        if (!at.is_inside) return;
        const int head = 31 - __clz(static_cast<int>(heads & up_to(lane)));
        image.parent[at.index] = value ? static_cast<uint32_t>(at.index - lane + head) : NO_PIXEL;
    });
}

__device__ inline uint32_t root_of_pixel(uint32_t *parent, uint32_t pixel) {
    for (;;) {
        const uint32_t up = __ldcg(parent + pixel), next = __ldcg(parent + up);
        if (next == up) return up;
        __stcg(parent + pixel, next);
        pixel = next;
    }
}

__device__ inline void unite_pixels(uint32_t *parent, int64_t one, int64_t other) {
    uint32_t high = static_cast<uint32_t>(one), low = static_cast<uint32_t>(other);
    for (;;) {
        high = root_of_pixel(parent, high), low = root_of_pixel(parent, low);
        if (high == low) return;
        if (high < low) {
            const uint32_t lower = high;
            high = low, low = lower;
        }
        if (atomicCAS(parent + high, high, low) == high) return;
    }
}

/// Joins the segments of runs that go on from word to word, and the runs of neighbouring rows.
template <class Pixel, class Tile>
__global__ void __launch_bounds__(BLOCK) join_values(ValueImage image) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const View &set = image.set;
        const Pixel value = value_at<Pixel>(set, at.x, at.y, at.z), left = value_before(set, value, at.x, at.y, at.z);
        const bool starts = value && left != value;
        if (threadIdx.x % WARP == 0 && value && left == value) unite_pixels(image.parent, at.index, at.index - 1);
#pragma unroll
        for (int s = 0; s < Tile::EARLIER_ROWS; ++s) {
            const EarlierRow earlier = Tile::earlier_row(s);
            const int64_t y = int64_t(at.y) + earlier.dy, z = int64_t(at.z) + earlier.dz;
            const int64_t there = at.index + (earlier.dz * set.size[1] + earlier.dy) * set.size[0];
            const Pixel other = value_at<Pixel>(set, at.x, y, z), other_left = value_before(set, other, at.x, y, z);
            const bool other_starts = other && other_left != other;
            if (value == other) {
                if (starts || (value && other_starts)) unite_pixels(image.parent, at.index, there);
            } else if (earlier.diagonals) {
                if (starts && value == other_left) unite_pixels(image.parent, at.index, there - 1);
                if (other_starts && other == left) unite_pixels(image.parent, at.index - 1, there);
            }
        }
    });
}

/// Points heads at their roots, and finds the roots.
static __global__ void __launch_bounds__(BLOCK) find_value_roots(ValueImage image) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        bool is_root = false;
        if (image.heads[at.word] >> lane & 1) {
            const uint32_t own = static_cast<uint32_t>(at.index);
            uint32_t root = __ldcg(image.parent + own);
            for (uint32_t next; (next = __ldcg(image.parent + root)) != root;) root = next;
            __stcg(image.parent + own, root);
            is_root = root == own;
        }
        const uint32_t firsts = __ballot_sync(ALL_LANES, is_root);
        if (lane) return;
        image.firsts[at.word] = firsts;
        image.before[at.word] = __popc(firsts);
        if (at.word == 0) image.before[image.total] = 0;
    });
}

/// Warp: calls body(pixel, length) for the segments of words, each by the lane of its head; other lanes are called with 0.
template <class Body>
__device__ void for_segments(const ValueImage &image, Body body) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const uint32_t heads = image.heads[at.word];
        const uint32_t set = __ballot_sync(ALL_LANES, at.is_inside && image.parent[at.index] != NO_PIXEL);
        const uint32_t ends = (heads | ~set) & ~up_to(lane);
        body(at, heads >> lane & 1 ? (ends ? __ffs(ends) - 1 : WARP) - lane : 0);
    });
}

// ---- Selections ----

static __global__ void __launch_bounds__(BLOCK) sum_value_areas(ValueImage image, Criteria criteria) {
    const View &set = image.set;
    for_segments(image, [&](const ValuePixel &at, int length) {
        if (length == 0) return;
        const bool at_edge = at.x == 0 || at.x + length == set.size[0] || at.y == 0 || at.y == set.size[1] - 1 ||
                             (criteria.is_volume && (at.z == 0 || at.z == set.size[2] - 1));
        unsigned long long *const area = image.area + image.parent[at.index];
        atomicAdd(area, static_cast<unsigned long long>(length));
        if (at_edge) atomicOr(area, TOUCHES_BORDER);
    });
}

/// Warp: keeps the first pixels for which keep(index) is true.
template <class Keep>
__device__ void filter_value_firsts(const ValueImage &image, uint32_t from, uint32_t end, Keep keep) {
    for_value_words(image, from, end, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const bool is_first = image.firsts[at.word] >> lane & 1;
        const uint32_t firsts = __ballot_sync(ALL_LANES, is_first && keep(at.index));
        if (lane == 0) image.firsts[at.word] = firsts, image.before[at.word] = __popc(firsts);
    });
}

static __global__ void __launch_bounds__(BLOCK) drop_unwanted_values(ValueImage image, Criteria criteria) {
    filter_value_firsts(image, 0, image.total, [&](int64_t index) { return criteria.accepts(image.area[index]); });
}

/// count_digits() of words `from` to `end`.
static __global__ void __launch_bounds__(BLOCK)
    count_value_digits(ValueImage image, Criteria criteria, uint32_t from, uint32_t end, int shift, RankSearch *search) {
    __shared__ uint32_t bins[BINS];
    if (search->found) return;
    for (int i = threadIdx.x; i < BINS; i += BLOCK) bins[i] = 0;
    __syncthreads();
    const Rank least_rank = search->least_rank;
    for_value_words(image, from, end, [&](const ValuePixel &at) {
        if (!(image.firsts[at.word] >> threadIdx.x % WARP & 1)) return;
        const Rank rank = criteria.rank_of(image.area[at.index], at.index);
        if (rank >> shift >> DIGIT_BITS == least_rank >> shift >> DIGIT_BITS)
            atomicAdd(&bins[static_cast<uint32_t>(rank >> shift) % BINS], 1u);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += BLOCK)
        if (bins[i]) atomicAdd(&search->bins[i], bins[i]);
}

static __global__ void __launch_bounds__(BLOCK)
    drop_lower_value_ranks(ValueImage image, Criteria criteria, uint32_t from, uint32_t end, const RankSearch *search) {
    if (search->least_rank == 0) return;
    filter_value_firsts(image, from, end,
                        [&](int64_t index) { return criteria.rank_of(image.area[index], index) >= search->least_rank; });
}

// ---- Results ----

/// The number of a root's component, or 0 if it is left out.
__device__ inline uint32_t number_of_root(const ValueImage &image, uint32_t root) {
    const uint32_t width = static_cast<uint32_t>(image.set.size[0]), row = root / width, x = root - row * width;
    const uint32_t word = row * image.words + x / WARP, firsts = image.firsts[word];
    return firsts >> x % WARP & 1 ? image.before[word] + __popc(firsts & up_to(x % WARP)) : 0;
}

/// Writes the labels of any type, or the selected set.
static __global__ void __launch_bounds__(BLOCK) write_values(ValueImage image, View labels) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const uint32_t heads = image.heads[at.word], parent = at.is_inside ? image.parent[at.index] : NO_PIXEL;
        const uint32_t of_head = heads >> lane & 1 ? number_of_root(image, parent) : 0;
        const uint32_t of_segment = __shfl_sync(ALL_LANES, of_head, (31 - __clz(static_cast<int>(heads & up_to(lane)))) % WARP);
        const uint32_t number = parent == NO_PIXEL ? 0 : of_segment;
        uint8_t *const to = labels.row(at.y, at.z);
        if (labels.type == APSIS_BIT) {
            const uint32_t bits = __ballot_sync(ALL_LANES, number > 0);
            if (lane % 8 == 0 && at.is_inside) to[at.x / 8] = static_cast<uint8_t>(bits >> lane);
        } else if (at.is_inside) {
            if (labels.type == APSIS_I32) put(labels, to, at.x, number);
            if (labels.type == APSIS_I64) put(labels, to, at.x, int64_t(number));
            if (labels.type == APSIS_U8) put(labels, to, at.x, static_cast<uint8_t>(number > 0));
        }
    });
}

/// Adds the segments of the components of a window.
static __global__ void __launch_bounds__(BLOCK) add_segments(ValueImage image, Window window) {
    if (window.is_empty()) return;
    WarpSums warp_sums = {0, ComponentSums::empty()};
    for_segments(image, [&](const ValuePixel &at, int length) {
        const uint32_t number = length ? number_of_root(image, image.parent[at.index]) : 0;
        const long long first = at.x, last = at.x + length - 1, y = at.y, z = at.z, area = length;
        const ComponentSums sums = {
            at.index, area, {first, y, z}, {last, y, z}, {area * (first + last) / 2, area * y, area * z}, 1};
        warp_sums.add(number && window.contains(number), number, sums, window);
    });
    warp_sums.finish(window);
}

/// Tells the values of the components of a window, from their first pixels.
template <class Signed>
__global__ void __launch_bounds__(BLOCK) tell_values(ValueImage image, Window window) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (!window.exists(i)) return;
    const int64_t first = window.sums[i].first, row = first / image.set.size[0], x = first % image.set.size[0];
    window.sums[i].value = value_at<Signed>(image.set, x, row % image.set.size[1], row / image.set.size[1]);
}

#endif

}  // namespace apsis::cuda::components
