// Connected components of label images, in which neighbours are connected where their values are equal, and of grey images,
// where they are near.  The kernels of values.cu, after those of the tiles (value_tiles.cuh).
//
// A word is 32 pixels of a row.  Stretches of connected pixels in a word are segments; the first pixel of each is its head.
// Heads point at a part of their component in a tile, and parts at its lowest pixel.  A scan over the counts of such pixels
// numbers them in the order of the image; then parts have the numbers.
//
// Cost: of the writing, 3/8 byte a pixel and 4 for each head in, and the output.
#pragma once

#include "cuda/components/select.cuh"
#include "cuda/components/statistics.cuh"
#include "cuda/components/value_tiles.cuh"

namespace apsis::cuda::components {

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

/// Warp: calls body(pixel, word, bit) for the parts of its 32 words, each by one lane; the word is one of the warp's.
template <class Body>
__device__ void for_parts(const ValueImage &image, Body body) {
    const int64_t word = first_item();
    const uint32_t row = static_cast<uint32_t>(word) / image.words;
    const uint32_t first_pixel =
        row * static_cast<uint32_t>(image.set.size[0]) + (static_cast<uint32_t>(word) - row * image.words) * WARP;
    for_bits_of_warp(word < image.total ? image.parts[word] : 0, [&](int from, int x) {
        const uint32_t pixel = __shfl_sync(ALL_LANES, first_pixel, from) + x;
        if (x >= 0) body(pixel, from, x);
    });
}

/// Points parts at their roots, and finds the roots.
static __global__ void __launch_bounds__(BLOCK) find_value_roots(ValueImage image) {
    __shared__ uint32_t all_firsts[BLOCK];
    uint32_t *const firsts = all_firsts + threadIdx.x / WARP * WARP;  // of the warp
    const int64_t word = first_item();
    all_firsts[threadIdx.x] = word < image.total ? image.parts[word] : 0;
    __syncwarp();
    for_parts(image, [&](uint32_t own, int from, int x) {
        uint32_t root = __ldcg(image.parent + own);
        if (root == own) return;
        for (uint32_t next; (next = __ldcg(image.parent + root)) != root;) root = next;
        __stcg(image.parent + own, root);
        atomicAnd(firsts + from, ~(1u << x));
    });
    __syncwarp();
    if (word >= image.total) return;
    image.firsts[word] = all_firsts[threadIdx.x];
    image.before[word] = __popc(all_firsts[threadIdx.x]);
    if (word == 0) image.before[image.total] = 0;
}

/// The parent of the part of a head: a root, or its number once parts are numbered.
__device__ inline uint32_t parent_of_head(const ValueImage &image, uint32_t word, int64_t index) {
    const uint32_t up = image.parent[index];
    return image.parts[word] >> threadIdx.x % WARP & 1 ? up : image.parent[up];
}

/// Warp: calls body(pixel, length) for the segments of words, each by the lane of its head; other lanes are called with 0.
template <class Body>
__device__ void for_segments(const ValueImage &image, Body body) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const uint32_t heads = image.heads[at.word], ends = (heads | ~image.bits[at.word]) & ~up_to(lane);
        body(at, heads >> lane & 1 ? (ends ? __ffs(ends) - 1 : WARP) - lane : 0);
    });
}

// ---- Selections ----

static __global__ void __launch_bounds__(BLOCK) sum_value_areas(ValueImage image, Criteria criteria) {
    const View &set = image.set;
    for_segments(image, [&](const ValuePixel &at, int length) {
        if (length == 0) return;
        const bool at_edge = (!criteria.periodic.along[0] && (at.x == 0 || at.x + length == set.size[0])) ||
                             (!criteria.periodic.along[1] && (at.y == 0 || at.y == set.size[1] - 1)) ||
                             (criteria.is_volume && !criteria.periodic.along[2] && (at.z == 0 || at.z == set.size[2] - 1));
        unsigned long long *const area = image.area + parent_of_head(image, at.word, at.index);
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

/// Gives parts the numbers of their components, in place of their roots; or the codes of those that begin elsewhere (told.cuh).
static __global__ void __launch_bounds__(BLOCK) number_value_parts(ValueImage image, const uint32_t *elsewhere) {
    for_parts(image, [&](uint32_t part, int, int) {
        const uint32_t root = image.parent[part], number = number_of_root(image, root);
        image.parent[part] = number || !elsewhere ? number : elsewhere[root];
    });
}

constexpr int WRITTEN_WORDS = 8;  // of a row, by a warp: their loads are under way together

/// Writes the labels of any type, or the selected set; as its complement, if it is one.
template <class Numbers>
__global__ void __launch_bounds__(BLOCK, 4) write_values(ValueImage image, View labels, bool complement, Numbers numbers) {
    const int lane = threadIdx.x % WARP;
    const int64_t groups = ceil_div(image.words, WRITTEN_WORDS), rows = image.set.size[1] * image.set.size[2];
    const int64_t step = item_step() / WARP;
    for (int64_t group = first_item() / WARP; group < groups * rows; group += step) {
        const uint32_t row = static_cast<uint32_t>(group / groups), z = row / image.height, y = row - z * image.height;
        const uint32_t first = static_cast<uint32_t>(group - row * groups) * WRITTEN_WORDS;
        const int64_t x = int64_t(first) * WARP + lane, index = row * image.set.size[0] + x;
        uint32_t bits[WRITTEN_WORDS] = {}, heads[WRITTEN_WORDS] = {}, number[WRITTEN_WORDS] = {};
        uint32_t is_part = 0;  // a bit a word
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i) {
            const uint32_t word = row * image.words + first + i;
            if (first + i >= image.words) continue;
            bits[i] = image.bits[word], heads[i] = image.heads[word], is_part |= (image.parts[word] >> lane & 1) << i;
        }
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i)
            if (heads[i] >> lane & 1) number[i] = image.parent[index + i * WARP];
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i)
            if ((heads[i] >> lane & 1) && !(is_part >> i & 1)) number[i] = image.parent[number[i]];
        uint8_t *const to = labels.row(y, z);
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i) {
            const int head = 31 - __clz(static_cast<int>(heads[i] & up_to(lane)));
            const uint32_t of_head = __shfl_sync(ALL_LANES, number[i], head % WARP),
                           in_slab = bits[i] >> lane & 1 ? of_head : 0;
            const auto own = numbers.of(in_slab);
            const int64_t at = x + i * WARP;
            const bool is_inside = at < image.set.size[0];
            if (labels.type == APSIS_BIT) {
                const uint32_t all = __ballot_sync(ALL_LANES, (own > 0) != complement);
                if (lane % 8 == 0 && is_inside) to[at / 8] = static_cast<uint8_t>(all >> lane);
            } else if (is_inside) {
                if (labels.type == APSIS_I32) put(labels, to, at, static_cast<uint32_t>(own));
                if (labels.type == APSIS_I64) put(labels, to, at, int64_t(own));
                if (labels.type == APSIS_U8) put(labels, to, at, static_cast<uint8_t>((own > 0) != complement));
            }
        }
    }
}

/// Adds the segments of the components of a window.
static __global__ void __launch_bounds__(BLOCK) add_segments(ValueImage image, Window window) {
    if (window.is_empty()) return;
    WarpSums warp_sums = {0, ComponentSums::empty()};
    for_segments(image, [&](const ValuePixel &at, int length) {
        const uint32_t number = length ? parent_of_head(image, at.word, at.index) : 0;
        const long long first = at.x, last = at.x + length - 1, y = at.y, z = at.z, area = length;
        const ComponentSums sums = {
            at.index, area, {first, y, z}, {last, y, z}, {area * (first + last) / 2, area * y, area * z}, 1};
        warp_sums.add(number && window.contains(number), number, sums, window);
    });
    warp_sums.finish(window);
}

/// Tells the values of the components of a window, from their first pixels.
static __global__ void __launch_bounds__(BLOCK) tell_values(ValueImage image, Window window) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (!window.exists(i)) return;
    const int64_t first = window.sums[i].first, row = first / image.set.size[0], x = first % image.set.size[0];
    window.sums[i].value = apsis::value_at(image.set, image.set.row(row % image.set.size[1], row / image.set.size[1]), x);
}

#endif

}  // namespace apsis::cuda::components
