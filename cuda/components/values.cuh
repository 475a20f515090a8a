// Connected components of label images, in which neighbours are connected where their values are equal, and of grey images,
// where they are near.  The kernels of values.cu, after those of the tiles (value_tiles.cuh, value_rims.cuh).
//
// Runs point at their parts, and parts at the root of their component.  A scan over the counts of the first pixels of roots in
// words, of 32 pixels of a row, numbers them in the order of the image; then parts have the numbers.
//
// Cost: of the writing, 3/8 byte a pixel, 2 for each run and 4 for each part in, and the output.
#pragma once

#include "cuda/components/packs.cuh"
#include "cuda/components/select.cuh"
#include "cuda/components/statistics.cuh"
#include "cuda/components/value_rims.cuh"

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

constexpr int AT_ONCE = 8;  // parts of a thread, whose loads are under way together

/// Block: calls body(parts) for the parts of its tile, some for each thread; NO_PART is none.
template <class Body>
__device__ void for_parts(const ValueImage &image, Body body) {
    const PartsOfTile parts = image.tile[blockIdx.x];
    for (uint32_t first = threadIdx.x; first < parts.count; first += AT_ONCE * BLOCK) {
        uint32_t own[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) own[i] = first + i * BLOCK < parts.count ? parts.begin + first + i * BLOCK : NO_PART;
        body(own);
    }
}

/// Where a pixel is: its word, and its bit there.
struct PixelBit {
    uint32_t word, x;

    __device__ PixelBit(const ValueImage &image, uint32_t pixel) {
        const uint32_t width = static_cast<uint32_t>(image.set.size[0]), row = pixel / width, column = pixel - row * width;
        word = row * image.words + column / WARP, x = column % WARP;
    }
};

/// Leaves out the component of a root: its first pixel is not counted any more.  Returns whether it was.
__device__ inline bool drop_first(const ValueImage &image, uint32_t root) {
    const PixelBit at(image, image.first[root]);
    if (!(atomicAnd(image.firsts + at.word, ~(1u << at.x)) >> at.x & 1)) return false;
    atomicSub(image.before + at.word, 1u);
    return true;
}

/// Points parts at their roots, and finds the roots.
static __global__ void __launch_bounds__(BLOCK) find_value_roots(ValueImage image) {
    for_parts(image, [&](const uint32_t(&own)[AT_ONCE]) {
        uint32_t up[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) up[i] = own[i] == NO_PART ? NO_PART : __ldcg(image.parent + own[i]);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (up[i] == own[i]) continue;
            uint32_t root = up[i];
            for (uint32_t next; (next = __ldcg(image.parent + root)) != root;) root = next;
            __stcg(image.parent + own[i], root);
            drop_first(image, own[i]);
        }
    });
}

/// The part of a lane's pixel.
__device__ inline uint32_t part_of(const ValueImage &image, const ValuePixel &at) {
    return part_in(image, at.word, up_to(threadIdx.x % WARP));
}

/// Warp: calls body(pixel, length) for the segments of words, stretches of a run, each by the lane of its first pixel; other
/// lanes are called with 0.
template <class Body>
__device__ void for_segments(const ValueImage &image, Body body) {
    for_value_words(image, 0, image.total, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const uint32_t bits = image.bits[at.word], begins = image.starts[at.word] | (bits & 1),
                       ends = (begins | ~bits) & ~up_to(lane);
        body(at, begins >> lane & 1 ? (ends ? __ffs(ends) - 1 : WARP) - lane : 0);
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
        unsigned long long *const area = image.area + image.parent[part_of(image, at)];
        atomicAdd(area, static_cast<unsigned long long>(length));
        if (at_edge) atomicOr(area, TOUCHES_BORDER);
    });
}

/// The area of the component that begins at a pixel.
__device__ inline unsigned long long area_of(const ValueImage &image, const ValuePixel &at) {
    return image.area[part_of(image, at)];
}

/// Warp: keeps the first pixels for which keep(index, area) is true.
template <class Keep>
__device__ void filter_value_firsts(const ValueImage &image, uint32_t from, uint32_t end, Keep keep) {
    for_value_words(image, from, end, [&](const ValuePixel &at) {
        const int lane = threadIdx.x % WARP;
        const bool is_first = image.firsts[at.word] >> lane & 1;
        const uint32_t firsts = __ballot_sync(ALL_LANES, is_first && keep(at.index, area_of(image, at)));
        if (lane == 0) image.firsts[at.word] = firsts, image.before[at.word] = __popc(firsts);
    });
}

static __global__ void __launch_bounds__(BLOCK) drop_unwanted_values(ValueImage image, Criteria criteria) {
    filter_value_firsts(image, 0, image.total, [&](int64_t, unsigned long long area) { return criteria.accepts(area); });
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
        const Rank rank = criteria.rank_of(area_of(image, at), at.index);
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
    filter_value_firsts(image, from, end, [&](int64_t index, unsigned long long area) {
        return criteria.rank_of(area, index) >= search->least_rank;
    });
}

// ---- Results ----

/// Gives parts the numbers of their components, in place of their roots, and 0 where one is left out; or the codes of those that
/// begin elsewhere (told.cuh).
static __global__ void __launch_bounds__(BLOCK) number_value_parts(ValueImage image, const uint32_t *elsewhere) {
    for_parts(image, [&](const uint32_t(&part)[AT_ONCE]) {
        uint32_t root[AT_ONCE], pixel[AT_ONCE] = {}, number[AT_ONCE] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) root[i] = part[i] == NO_PART ? NO_PART : image.parent[part[i]];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (part[i] != NO_PART) pixel[i] = image.first[root[i]];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (part[i] == NO_PART) continue;
            const PixelBit at(image, pixel[i]);
            const uint32_t firsts = image.firsts[at.word], before = image.before[at.word];
            if (firsts >> at.x & 1) number[i] = before + __popc(firsts & up_to(at.x));
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (part[i] != NO_PART) image.parent[part[i]] = number[i] || !elsewhere ? number[i] : elsewhere[root[i]];
    });
}

constexpr int WRITTEN_WORDS = 8;  // of a row, by a warp: their loads are under way together

/// Writes the labels of any type, or the selected set; as its complement, if it is one.
template <class Numbers>
__global__ void __launch_bounds__(BLOCK, 4) write_values(ValueImage image, View labels, bool complement, Numbers numbers) {
    const int lane = threadIdx.x % WARP;
    const uint32_t groups = (image.words - 1) / WRITTEN_WORDS + 1, all = groups * (image.total / image.words);
    for (int64_t next = first_item() / WARP; next < all; next += item_step() / WARP) {
        const uint32_t group = static_cast<uint32_t>(next), row = group / groups, z = row / image.height,
                       y = row - z * image.height;
        const uint32_t first = (group - row * groups) * WRITTEN_WORDS;
        const int64_t x = int64_t(first) * WARP + lane;
        uint32_t number[WRITTEN_WORDS] = {};  // first the run, then the part; 0 outside the set
        uint32_t is_member = 0;               // a bit a word
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i) {
            const uint32_t word = row * image.words + first + i;
            if (first + i >= image.words) continue;
            is_member |= (image.bits[word] >> lane & 1) << i;
            number[i] = image.runs[word] + __popc(image.starts[word] & up_to(lane)) - 1;
        }
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i)
            if (is_member >> i & 1) number[i] -= image.back[number[i]];
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i) number[i] = is_member >> i & 1 ? image.parent[number[i]] : 0;
        uint8_t *const to = labels.row(y, z);
#pragma unroll
        for (int i = 0; i < WRITTEN_WORDS; ++i) {
            const auto own = numbers.of(number[i]);
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

constexpr int LANE_PIXELS = 4;  // side by side: what 16 bytes hold of the smaller labels

/// Thread: writes its pixels, `count` of which are inside the image.
template <class Label, class LabelOf>
__device__ void put_packs(uint8_t *to, int count, LabelOf label_of) {
    constexpr int COUNT = Pack<Label>::COUNT;
    for (int first = 0; first < LANE_PIXELS; first += COUNT, to += sizeof(Pack<Label>)) {
        Pack<Label> pack;
        for (int i = 0; i < COUNT; ++i) pack.label[i] = static_cast<Label>(label_of(first + i));
        pack.put(to, count - first);
    }
}

/// Writes labels of 32 or 64 bits that can be stored 16 bytes at once.  A lane has four pixels side by side of some rows, whose
/// loads are under way together.
template <class Numbers>
__global__ void __launch_bounds__(BLOCK, 4) write_value_packs(ValueImage image, View labels, Numbers numbers) {
    constexpr int ROWS = 4, PIXELS = LANE_PIXELS;
    const uint32_t rows = image.total / image.words, across = (image.words - 1) / PIXELS + 1;
    const uint32_t groups = across * ((rows - 1) / ROWS + 1), lane = threadIdx.x % WARP, bit = lane * PIXELS % WARP;
    for (int64_t next = first_item() / WARP; next < groups; next += item_step() / WARP) {
        const uint32_t group = static_cast<uint32_t>(next);
        const uint32_t first_row = group / across * ROWS, column = group % across * PIXELS + lane * PIXELS / WARP;
        uint32_t number[ROWS][PIXELS] = {}, starts[ROWS] = {}, bits[ROWS] = {};  // first runs, then parts
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const uint32_t word = (first_row + i) * image.words + column;
            if (column >= image.words || first_row + i >= rows) continue;
            const uint32_t all = image.starts[word];
            bits[i] = image.bits[word] >> bit, starts[i] = all >> bit;
            number[i][0] = image.runs[word] + __popc(all & up_to(bit)) - 1;
        }
        // Others are like the one before.
        const auto is_loaded = [&](int i, int k) { return (k == 0 ? bits[i] : starts[i]) >> k & 1; };
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int k = 1; k < PIXELS; ++k) number[i][k] = number[i][k - 1] + (starts[i] >> k & 1);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int k = 0; k < PIXELS; ++k)
                if (is_loaded(i, k)) number[i][k] -= image.back[number[i][k]];
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int k = 0; k < PIXELS; ++k)
                if (is_loaded(i, k)) number[i][k] = image.parent[number[i][k]];
        const int64_t x = int64_t(column) * WARP + bit;
        const int here = static_cast<int>(min(int64_t(PIXELS), labels.size[0] - x));
        if (here <= 0) continue;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const uint32_t row = first_row + i, z = row / image.height;
            if (row >= rows) break;
#pragma unroll
            for (int k = 1; k < PIXELS; ++k)
                if (!is_loaded(i, k)) number[i][k] = number[i][k - 1];
            uint8_t *const to = labels.row(row - z * image.height, z);
            const auto label_of = [&](int k) { return numbers.of(bits[i] >> k & 1 ? number[i][k] : 0); };
            if (labels.type == APSIS_I32)
                put_packs<uint32_t>(to + x * sizeof(uint32_t), here, label_of);
            else
                put_packs<int64_t>(to + x * sizeof(int64_t), here, label_of);
        }
    }
}

/// Adds the segments of the components of a window.
static __global__ void __launch_bounds__(BLOCK) add_segments(ValueImage image, Window window) {
    if (window.is_empty()) return;
    WarpSums warp_sums = {0, ComponentSums::empty()};
    for_segments(image, [&](const ValuePixel &at, int length) {
        const uint32_t number = length ? image.parent[part_of(image, at)] : 0;
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
