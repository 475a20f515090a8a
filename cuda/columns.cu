// The shape of bit columns, and their carries: the second step of a distance map, after pack.cu.
//
// Cost: carry 1/8 byte a pixel in and 1/4 out.
#include "columns.h"

#include "launch.h"

namespace apsis {

namespace {

constexpr int STRETCHES = 32;  // of columns, walked at once by the warps of a block: no more fit one
constexpr int STRETCH = 16;    // strips that a warp walks at most: their words are in registers; half of them if it can be
constexpr int64_t CHUNK = STRETCHES * STRETCH;  // strips that a block walks

/// Where a warp works: a stretch of 32 columns of a chunk of an image.
struct Stretch {
    int64_t image, column, chunk;  // a lane's column; the chunk's first strip
    int64_t first;                 // strip
    int strips;
    bool inside;

    /// The `item`-th chunk of 32 columns, of `chunk_strips` strips, is cut into `stretches`, a power of two.
    __device__ Stretch(const Columns &columns, int64_t item, int64_t chunk_strips, int stretches, int stretch) {
        // No memory holds 2^32 items: 32 bits divide in a third of the time.
        const uint32_t across = static_cast<uint32_t>((columns.count + WARP - 1) / WARP), own = static_cast<uint32_t>(item);
        const uint32_t each_chunk = static_cast<uint32_t>(chunk_strips);
        const uint32_t chunks = (static_cast<uint32_t>(columns.strips()) + each_chunk - 1) / each_chunk;
        column = int64_t(own % across) * WARP + threadIdx.x % WARP;
        image = own / across / chunks, chunk = own / across % chunks * chunk_strips;
        inside = image < columns.batch && column < columns.count;
        const int each = static_cast<int>(chunk_strips + stretches - 1) >> lowest_bit(stretches);
        first = chunk + stretch * each;
        const int64_t end = min(min(chunk + chunk_strips, first + each), columns.strips());
        strips = image < columns.batch ? static_cast<int>(max(end - first, int64_t(0))) : 0;
    }
    __device__ int64_t at(const Columns &columns) const { return columns.at(image, first, column); }
    /// What is known of a chunk is laid where its first strip's carries will be.
    __device__ int64_t start(const Columns &columns) const { return columns.at(image, chunk, column); }
    __device__ int32_t row() const { return static_cast<int32_t>(first * STRIP); }

    template <int MOST>
    __device__ void load(const Columns &columns, uint32_t (&words)[MOST]) const {
        const uint32_t *from = columns.words + at(columns);
#pragma unroll
        for (int k = 0; k < MOST; ++k, from += columns.count) words[k] = inside && k < strips ? *from : 0;
    }
};

/// The first and the last site of the stretches of a block, a lane a column.
struct Ends {
    int32_t first[STRETCHES][WARP], last[STRETCHES][WARP];
    uint32_t any[STRETCHES][WARP];  // [a chunk's first warp]: a bit a stretch that has sites

    /// All warps of a block together.
    template <int MOST>
    __device__ void find(const Stretch &stretch, const uint32_t (&words)[MOST], int ours) {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        any[warp][lane] = 0;
        uint32_t upper = 0, lower = 0;  // the first word that has sites, and the last one, and their strips
        int up = 0, down = 0;
#pragma unroll
        for (int k = 0; k < MOST; ++k) {
            if (words[MOST - 1 - k]) upper = words[MOST - 1 - k], up = MOST - 1 - k;
            if (words[k]) lower = words[k], down = k;
        }
        first[warp][lane] = upper ? stretch.row() + up * STRIP + lowest_bit(upper) : NO_SITE_AFTER;
        last[warp][lane] = lower ? stretch.row() + down * STRIP + highest_bit(lower) : NO_SITE_BEFORE;
        __syncthreads();
        if (upper) atomicOr(&any[ours][lane], 1u << (warp - ours));
        __syncthreads();
    }
    /// The last site of some stretches, and the first one.
    __device__ int32_t last_of(uint32_t some, int ours, int32_t unknown) const {
        some &= any[ours][threadIdx.x % WARP];
        return some ? last[ours + highest_bit(some)][threadIdx.x % WARP] : unknown;
    }
    __device__ int32_t first_of(uint32_t some, int ours, int32_t unknown) const {
        some &= any[ours][threadIdx.x % WARP];
        return some ? first[ours + lowest_bit(some)][threadIdx.x % WARP] : unknown;
    }
};

/// Of columns that are cut into chunks: finds the first and the last site of each.
__global__ void __launch_bounds__(STRETCHES *WARP) find_chunks(Columns columns, int64_t chunk_strips) {
    __shared__ Ends ends;
    const int warp = threadIdx.x / WARP;
    const Stretch stretch(columns, blockIdx.x, chunk_strips, STRETCHES, warp);
    uint32_t words[STRETCH];
    stretch.load(columns, words);
    ends.find(stretch, words, 0);
    if (warp > 0 || !stretch.inside) return;
    columns.before[stretch.start(columns)] = ends.last_of(~0u, 0, NO_SITE_BEFORE);
    columns.after[stretch.start(columns)] = ends.first_of(~0u, 0, NO_SITE_AFTER);
}

/// Then: the last site before each, and the first one after it.  A block takes 32 columns, a warp some chunks of them.
__global__ void __launch_bounds__(STRETCHES *WARP) carry_chunks(Columns columns, int64_t chunk_strips) {
    __shared__ int32_t lasts[STRETCHES][WARP], firsts[STRETCHES][WARP];  // of the warps' chunks
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int64_t item = int64_t(blockIdx.x) * WARP + lane, here = min(item, columns.batch * columns.count - 1);
    const int64_t chunks = (columns.strips() + chunk_strips - 1) / chunk_strips, each = (chunks + warps - 1) / warps;
    const int64_t step = chunk_strips * columns.count, from = min(warp * each, chunks), end = min(from + each, chunks);
    int32_t *const before = columns.before + columns.at(here / columns.count, 0, here % columns.count);
    int32_t *const after = columns.after + (before - columns.before);
    int32_t last = NO_SITE_BEFORE, next = NO_SITE_AFTER;
    for (int64_t c = from; c < end; ++c) last = max(last, before[c * step]), next = min(next, after[c * step]);
    lasts[warp][lane] = last, firsts[warp][lane] = next;
    __syncthreads();
    if (item != here) return;
    last = NO_SITE_BEFORE, next = NO_SITE_AFTER;
    for (int w = 0; w < warp; ++w) last = max(last, lasts[w][lane]);
    for (int w = warp + 1; w < warps; ++w) next = min(next, firsts[w][lane]);
    for (int64_t c = from; c < end; ++c) {
        const int32_t own = before[c * step];
        before[c * step] = last, last = max(last, own);
    }
    for (int64_t c = end - 1; c >= from; --c) {
        const int32_t own = after[c * step];
        after[c * step] = next, next = min(next, own);
    }
}

/// Every strip learns of the last site before it and the first one after it: a warp takes a stretch of 32 columns, learns of
/// the other stretches, which are its neighbours in the block, and walks down and up.  It counts where none of its columns
/// sees a site near.  A column of few strips is one stretch, and there is nothing to learn.  A stretch has MOST strips or less.
template <int MOST>
__global__ void __launch_bounds__(STRETCHES *WARP) carry_words(Columns columns, int stretches, int64_t chunk_strips) {
    wait_for_kernel_before();
    __shared__ Ends ends;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, shift = lowest_bit(stretches);
    const int number = warp & (stretches - 1), ours = warp - number;
    const int64_t item = int64_t(blockIdx.x) * (blockDim.x / WARP >> shift) + (warp >> shift);
    const Stretch stretch(columns, item, chunk_strips, stretches, number);
    uint32_t words[MOST];
    stretch.load(columns, words);
    int32_t last = NO_SITE_BEFORE, next = NO_SITE_AFTER;
    if (chunk_strips < columns.strips() && stretch.inside)
        last = columns.before[stretch.start(columns)], next = columns.after[stretch.start(columns)];
    if (stretches > 1) {
        ends.find(stretch, words, ours);
        last = ends.last_of((1u << number) - 1, ours, last), next = ends.first_of(~1u << number, ours, next);
    }
    uint32_t near = 0;        // a bit a strip that sees a site, inside or above it
    uint32_t far_strips = 0;  // of which none of the columns sees any
    int32_t *before = columns.before + stretch.at(columns), *const after = columns.after + stretch.at(columns);
#pragma unroll
    for (int k = 0; k < MOST; ++k, before += columns.count) {
        if (k >= stretch.strips) break;
        const int32_t start = stretch.row() + k * STRIP;
        if (stretch.inside) *before = last;
        near |= static_cast<uint32_t>(words[k] || last >= start - NEAR) << k;
        if (words[k]) last = start + highest_bit(words[k]);
    }
#pragma unroll
    for (int k = MOST - 1; k >= 0; --k) {
        if (k >= stretch.strips) continue;
        const int32_t start = stretch.row() + k * STRIP;
        if (stretch.inside) after[k * columns.count] = next;
        if (columns.far_groups) {
            const bool far = !stretch.inside || (!(near >> k & 1) && next >= start + STRIP + NEAR);
            far_strips |= static_cast<uint32_t>(__all_sync(ALL_LANES, far)) << k;
        }
        if (words[k]) next = start + lowest_bit(words[k]);
    }
    if (far_strips >> lane & 1) atomicAdd(columns.far_groups + columns.far_at(stretch.image, stretch.first + lane), 1u);
}

}  // namespace

Columns shape_columns(const View &set, int axis) {
    Columns columns;
    columns.length = set.size[axis];
    columns.count = axis == 1 ? set.size[0] : set.size[0] * set.size[1];
    columns.batch = axis == 1 ? set.size[2] : 1;
    return columns;
}

void carve_words(Columns &columns, Carver &carver) { columns.words = carver.take<uint32_t>(columns.total()); }

void carve_carries(Columns &columns, Carver &carver) {
    columns.before = carver.take<int32_t>(columns.total());
    columns.after = carver.take<int32_t>(columns.total());
}

void carry_columns(const Columns &columns, cudaStream_t stream) {
    const int64_t chunk = std::min(columns.strips(), CHUNK);
    int stretches = 1;
    while (stretches < STRETCHES && chunk > stretches * STRETCH / 2) stretches *= 2;
    const int64_t items = columns.batch * parts(columns.count, WARP) * parts(columns.strips(), std::max(chunk, int64_t(1)));
    if (chunk < columns.strips()) {
        launch("find_chunks", find_chunks, items, STRETCHES * WARP, stream, columns, chunk);
        const int64_t warps = std::min<int64_t>(parts(columns.strips(), chunk), STRETCHES);
        launch("carry_chunks", carry_chunks, parts(columns.batch * columns.count, WARP), warps * WARP, stream, columns, chunk);
    }
    const int64_t warps = std::max(stretches, WARPS);
    launch("carry_words", chunk <= stretches * STRETCH / 2 ? carry_words<STRETCH / 2> : carry_words<STRETCH>,
           parts(items * stretches, warps), warps * WARP, early(stream), columns, stretches, chunk);
}

}  // namespace apsis
