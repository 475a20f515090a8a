// Finds the carries of bit columns: the second step of a distance map, after pack.cu.  It is left out where pack_whole has
// found the carries already.  The shape of columns is also made here.
//
// A warp walks down and up a stretch of 32 columns, whose words it holds in registers.  A block joins the stretches of a
// column.  Longer columns are cut into chunks, one a block, and two kernels before find the sites around each chunk.  For
// mirrored columns the carries of both sides are found in one pass (SIDES).
//
// Cost: 1/8 byte a pixel in and 1/4 out, for one side or two.
#include "cuda/columns/columns.h"

#include "cuda/runtime/launch.h"

namespace apsis::cuda::columns {

namespace {

constexpr int64_t CHUNK = STRETCHES * STRETCH;  // strips of a chunk at most

/// The strips that a warp walks, of 32 columns of a chunk of an image.
struct Stretch {
    int64_t image, column, chunk;  // column: the lane's; chunk: the chunk's first strip
    int64_t first;                 // the stretch's first strip
    int strips;
    bool inside;  // whether the lane's column exists

    /// The `item`-th chunk of 32 columns has `chunk_strips` strips, cut into `stretches`, a power of two.
    __device__ Stretch(const Columns &columns, int64_t item, int64_t chunk_strips, int stretches, int stretch) {
        // There are fewer than 2^32 items in any memory, and a 32-bit division takes a third of the time.
        const uint32_t across = static_cast<uint32_t>((columns.count + WARP - 1) / WARP), own = static_cast<uint32_t>(item);
        const uint32_t each_chunk = static_cast<uint32_t>(chunk_strips);
        const uint32_t chunks = (static_cast<uint32_t>(columns.strips()) + each_chunk - 1) / each_chunk;
        column = int64_t(own % across) * WARP + threadIdx.x % WARP;
        image = own / across / chunks, chunk = own / across % chunks * chunk_strips;
        inside = image < columns.images() && column < columns.count;
        const int each = static_cast<int>(chunk_strips + stretches - 1) >> lowest_bit(stretches);
        first = chunk + stretch * each;
        const int64_t end = min(min(chunk + chunk_strips, first + each), columns.strips());
        strips = image < columns.images() ? static_cast<int>(max(end - first, int64_t(0))) : 0;
    }
    __device__ int64_t at(const Columns &columns) const { return columns.at(image, first, column); }
    /// The place where kernels store a chunk's own sites for the next kernel: that of the carries of its first strip.
    __device__ int64_t start(const Columns &columns) const { return columns.at(image, chunk, column); }
    __device__ int32_t row() const { return static_cast<int32_t>(first * STRIP); }

    template <int MOST>
    __device__ void load(const Columns &columns, uint32_t (&words)[MOST]) const {
        const uint32_t *from = columns.words + at(columns);
#pragma unroll
        for (int k = 0; k < MOST; ++k, from += columns.count) words[k] = inside && k < strips ? *from : 0;
    }
    /// Fills the last word beyond the image's end with its last pixel's side, so that no side begins there.  Returns the word.
    template <int MOST>
    __device__ uint32_t extend(const Columns &columns, uint32_t (&words)[MOST]) const {
        uint32_t last = 0;
#pragma unroll
        for (int k = 0; k < MOST; ++k) {
            if (k + 1 != strips) continue;
            const uint32_t valid = columns.filled(first + k);
            if (words[k] & ~(valid >> 1)) words[k] |= ~valid;
            last = words[k];
        }
        return last;
    }
    /// A side's sites in the k-th strip; 0 beyond the stretch.
    __device__ uint32_t sites(uint32_t word, int k, int side) const { return side == 0 ? word : k < strips ? ~word : 0; }
};

/// The carry of a column as a warp walks down, from above, or up, from below.  For one side it is the last site passed.  For
/// two it is the side of the pixel right beside the next strip, and the last pixel of the other side.  Outside of the image
/// there is no pixel, and the first pixel's side is taken.
template <int SIDES, bool DOWN>
struct Carry {
    int32_t site;
    bool is_site;

    __device__ explicit Carry(uint32_t first_word)
        : site(DOWN ? NO_SITE_BEFORE : NO_SITE_AFTER),
          is_site(DOWN ? first_word & 1 : first_word >> (STRIP - 1)) {}
    __device__ explicit Carry(const int32_t (&of)[SIDES])
        : site(DOWN ? min(of[0], of[SIDES - 1]) : max(of[0], of[SIDES - 1])),
          is_site(DOWN ? of[0] > of[SIDES - 1] : of[0] < of[SIDES - 1]) {}
    __device__ int32_t stored() const { return SIDES == 1 ? site : stored_carry(site, is_site); }
    /// Both sides' carries from the stored carry.  `beside` is the position of the pixel right beside the strip.
    __device__ static void read(int32_t stored, int32_t beside, int32_t (&of)[SIDES]) {
        const int32_t other = DOWN ? stored >> 1 : static_cast<int32_t>(static_cast<uint32_t>(stored) >> 1);
        for (int s = 0; s < SIDES; ++s) of[s] = SIDES == 1 ? stored : (stored & 1) == s ? other : beside;
    }
    /// Passes a strip that begins at row `start`.
    __device__ void pass(uint32_t word, int32_t start) {
        const uint32_t is_last_site = DOWN ? word >> (STRIP - 1) : word & 1;
        const uint32_t others = SIDES == 1 ? word : word ^ (0 - is_last_site);
        if (others)
            site = start + (DOWN ? highest_bit(others) : lowest_bit(others));
        else if (SIDES > 1 && is_site != (word != 0))
            site = DOWN ? start - 1 : start + STRIP;
        is_site = is_last_site;
    }
    /// Whether a strip, whose pixels are all on one side, has no site of the other side near it, where the carry comes from.
    __device__ bool is_far(uint32_t word, int32_t start) const {
        return (SIDES == 1 || is_site == (word != 0)) && (DOWN ? site < start - NEAR : site >= start + STRIP + NEAR);
    }
};

/// The first and the last site of a side in the stretches of a block.
struct StretchEnds {
    int32_t first[STRETCHES][WARP], last[STRETCHES][WARP];  // [stretch][column]
    uint32_t any[STRETCHES][WARP];                          // [a chunk's first warp][column]: bit k: stretch k has sites

    /// Block: fills in the ends of all its stretches.  `first_warp` is the first warp of this warp's chunk.
    template <int MOST>
    __device__ void find(const Stretch &stretch, const uint32_t (&words)[MOST], int first_warp, int side) {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        any[warp][lane] = 0;
        uint32_t upper = 0, lower = 0;  // the first word that has sites, and the last one
        int up = 0, down = 0;           // their strips
#pragma unroll
        for (int k = 0; k < MOST; ++k) {
            const uint32_t from_end = stretch.sites(words[MOST - 1 - k], MOST - 1 - k, side);
            if (from_end) upper = from_end, up = MOST - 1 - k;
            const uint32_t from_start = stretch.sites(words[k], k, side);
            if (from_start) lower = from_start, down = k;
        }
        first[warp][lane] = upper ? stretch.row() + up * STRIP + lowest_bit(upper) : NO_SITE_AFTER;
        last[warp][lane] = lower ? stretch.row() + down * STRIP + highest_bit(lower) : NO_SITE_BEFORE;
        __syncthreads();
        if (upper) atomicOr(&any[first_warp][lane], 1u << (warp - first_warp));
        __syncthreads();
    }
    /// The last and the first site in `some` stretches, a bit each; `unknown` if they have none.
    __device__ int32_t last_of(uint32_t some, int first_warp, int32_t unknown) const {
        some &= any[first_warp][threadIdx.x % WARP];
        return some ? last[first_warp + highest_bit(some)][threadIdx.x % WARP] : unknown;
    }
    __device__ int32_t first_of(uint32_t some, int first_warp, int32_t unknown) const {
        some &= any[first_warp][threadIdx.x % WARP];
        return some ? first[first_warp + lowest_bit(some)][threadIdx.x % WARP] : unknown;
    }
};

/// Finds the first and the last site of each chunk.  A block takes a chunk of 32 columns.
template <int SIDES>
__global__ void __launch_bounds__(STRETCHES *WARP) find_chunks(Columns columns, int64_t chunk_strips) {
    __shared__ StretchEnds ends[SIDES];
    const int warp = threadIdx.x / WARP;
    const Stretch stretch(columns, blockIdx.x, chunk_strips, STRETCHES, warp);
    uint32_t words[STRETCH];
    stretch.load(columns, words);
    if (SIDES > 1) stretch.extend(columns, words);
    for (int s = 0; s < SIDES; ++s) ends[s].find(stretch, words, 0, s);
    if (warp > 0 || !stretch.inside) return;
    int32_t last[SIDES], first[SIDES];
    for (int s = 0; s < SIDES; ++s)
        last[s] = ends[s].last_of(~0u, 0, NO_SITE_BEFORE), first[s] = ends[s].first_of(~0u, 0, NO_SITE_AFTER);
    columns.before[stretch.start(columns)] = Carry<SIDES, true>(last).stored();
    columns.after[stretch.start(columns)] = Carry<SIDES, false>(first).stored();
}

/// Block: replaces the sites that find_chunks has stored for each chunk of a lane's column by the last site before the chunk,
/// or the first one after it.  Each warp takes some of the chunks.  `stored` is that of the first chunk, `outside` the carry
/// that a slab begins with, if any, and `is_inside` tells whether the column exists.
template <int SIDES, bool DOWN>
__device__ void carry_chunks_along(const Columns &columns, int32_t *stored, const int32_t *outside, bool is_inside,
                                   int64_t chunk_strips) {
    __shared__ int32_t sites[SIDES][STRETCHES][WARP];  // of the warps' chunks
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int64_t chunks = (columns.strips() + chunk_strips - 1) / chunk_strips, each = (chunks + warps - 1) / warps;
    const int64_t from = min(warp * each, chunks), count = min(each, chunks - from);
    const int64_t step = chunk_strips * columns.count, rows = chunk_strips * STRIP;
    int32_t of[SIDES];
    const auto clear = [&] {
        for (int s = 0; s < SIDES; ++s) of[s] = DOWN ? NO_SITE_BEFORE : NO_SITE_AFTER;
    };
    const auto take = [&](int s, int32_t site) { of[s] = DOWN ? max(of[s], site) : min(of[s], site); };
    // A chunk's own sites are stored like a carry: one side's site is the chunk's last pixel, or its first one.
    const auto take_chunk = [&](int64_t c) {
        const int64_t beside = DOWN ? min((c + 1) * rows, columns.length) - 1 : c * rows;
        int32_t own[SIDES];
        Carry<SIDES, DOWN>::read(stored[c * step], static_cast<int32_t>(beside), own);
        for (int s = 0; s < SIDES; ++s) take(s, own[s]);
    };
    clear();
    for (int64_t c = from; c < from + count; ++c) take_chunk(c);
    for (int s = 0; s < SIDES; ++s) sites[s][warp][lane] = of[s];
    __syncthreads();
    if (!is_inside) return;
    clear();
    if (outside) Carry<SIDES, DOWN>::read(*outside, DOWN ? -1 : static_cast<int32_t>(columns.strips() * STRIP), of);
    for (int s = 0; s < SIDES; ++s)
        for (int w = DOWN ? 0 : warp + 1; w < (DOWN ? warp : warps); ++w) take(s, sites[s][w][lane]);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t c = from + (DOWN ? i : count - 1 - i);
        const int32_t known = Carry<SIDES, DOWN>(of).stored();
        take_chunk(c);
        stored[c * step] = known;
    }
}

/// Finds the sites around each chunk.  A block takes 32 columns.
template <int SIDES>
__global__ void __launch_bounds__(STRETCHES *WARP) carry_chunks(Columns columns, int64_t chunk_strips) {
    const int64_t item = int64_t(blockIdx.x) * WARP + threadIdx.x % WARP, all = columns.images() * columns.count;
    const int64_t here = min(item, all - 1), at = columns.at(here / columns.count, 0, here % columns.count);
    const auto of_column = [&](const int32_t *carries) { return carries ? carries + here : nullptr; };
    carry_chunks_along<SIDES, true>(columns, columns.before + at, of_column(columns.first_carries), item < all, chunk_strips);
    carry_chunks_along<SIDES, false>(columns, columns.after + at, of_column(columns.last_carries), item < all, chunk_strips);
}

/// Writes the carries of every strip, and counts groups of 32 columns without a near site.  A warp takes a stretch of at most
/// MOST strips.  If a chunk has more than one stretch, the block first finds the sites of all of them.
template <int MOST, int SIDES>
__global__ void __launch_bounds__(STRETCHES *WARP) carry_words(Columns columns, int stretches, int64_t chunk_strips) {
    wait_for_kernel_before();
    __shared__ StretchEnds ends[SIDES];
    const int lane = threadIdx.x % WARP, warp = warp_in_block(), shift = lowest_bit(stretches);
    const int number = warp & (stretches - 1), first_warp = warp - number;
    const int64_t item = int64_t(blockIdx.x) * (blockDim.x / WARP >> shift) + (warp >> shift);
    const Stretch stretch(columns, item, chunk_strips, stretches, number);
    uint32_t words[MOST];
    stretch.load(columns, words);
    const uint32_t last_word = SIDES > 1 ? stretch.extend(columns, words) : 0;
    int32_t last[SIDES], next[SIDES];
#pragma unroll
    for (int s = 0; s < SIDES; ++s) last[s] = NO_SITE_BEFORE, next[s] = NO_SITE_AFTER;
    const bool has_chunks = chunk_strips < columns.strips();
    const int64_t column = stretch.image * columns.count + stretch.column;
    if (stretch.inside && (has_chunks || columns.first_carries))
        Carry<SIDES, true>::read(has_chunks ? columns.before[stretch.start(columns)] : columns.first_carries[column],
                                 place_before(columns, stretch.chunk), last);
    if (stretch.inside && (has_chunks || columns.last_carries))
        Carry<SIDES, false>::read(has_chunks ? columns.after[stretch.start(columns)] : columns.last_carries[column],
                                  place_after(columns, min(stretch.chunk + chunk_strips, columns.strips())), next);
    if (stretches > 1) {
#pragma unroll
        for (int s = 0; s < SIDES; ++s) {
            ends[s].find(stretch, words, first_warp, s);
            last[s] = ends[s].last_of((1u << number) - 1, first_warp, last[s]);
            next[s] = ends[s].first_of(~1u << number, first_warp, next[s]);
        }
    }
    Carry<SIDES, true> above =
        stretch.first > 0 || columns.first_carries ? Carry<SIDES, true>(last) : Carry<SIDES, true>(words[0]);
    Carry<SIDES, false> below = stretch.first + stretch.strips < columns.strips() || columns.last_carries
                                    ? Carry<SIDES, false>(next)
                                    : Carry<SIDES, false>(last_word);
    uint32_t far_above = 0;           // one bit a strip
    uint32_t far_strips[SIDES] = {};  // [side]: one bit a strip, set if no column has a site near it
    int32_t *before = columns.before + stretch.at(columns), *const after = columns.after + stretch.at(columns);
#pragma unroll
    for (int k = 0; k < MOST; ++k, before += columns.count) {
        if (k >= stretch.strips) break;
        const int32_t start = stretch.row() + k * STRIP;
        if (stretch.inside) *before = above.stored();
        const bool is_one_side = !words[k] || (SIDES > 1 && !~words[k]);
        far_above |= static_cast<uint32_t>(is_one_side && above.is_far(words[k], start)) << k;
        above.pass(words[k], start);
    }
#pragma unroll
    for (int k = MOST - 1; k >= 0; --k) {
        if (k >= stretch.strips) continue;
        const int32_t start = stretch.row() + k * STRIP;
        if (stretch.inside) after[k * columns.count] = below.stored();
        if (columns.far_groups) {
            const bool far = (far_above >> k & 1) && below.is_far(words[k], start);
#pragma unroll
            for (int s = 0; s < SIDES; ++s) {
                const bool lacks_sites = SIDES == 1 || (words[k] != 0) == (s == 1);  // of side s
                far_strips[s] |= static_cast<uint32_t>(__all_sync(ALL_LANES, !stretch.inside || (far && lacks_sites))) << k;
            }
        }
        below.pass(words[k], start);
    }
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
        if (far_strips[s] >> lane & 1)
            atomicAdd(columns.far_groups + columns.far_at(stretch.image + s * columns.images(), stretch.first + lane), 1u);
}

/// How columns are cut into chunks, and how many there are, 32 columns side by side.
struct Chunks {
    int64_t strips, of_column, all;

    explicit Chunks(const Columns &columns)
        : strips(std::min(columns.strips(), CHUNK)),
          of_column(ceil_div(columns.strips(), std::max(strips, int64_t(1)))),
          all(columns.images() * ceil_div(columns.count, WARP) * of_column) {}
};

template <int SIDES>
void carry_sides(const Columns &columns, cudaStream_t stream) {
    const Chunks chunks(columns);
    const int64_t chunk = chunks.strips;
    int stretches = 1;
    while (stretches < STRETCHES && chunk > stretches * STRETCH / 2) stretches *= 2;
    if (chunk < columns.strips()) {
        launch("find_chunks", find_chunks<SIDES>, chunks.all, STRETCHES * WARP, stream, columns, chunk);
        launch("carry_chunks", carry_chunks<SIDES>, ceil_div(columns.images() * columns.count, WARP),
               std::min<int64_t>(chunks.of_column, STRETCHES) * WARP, stream, columns, chunk);
    }
    const int64_t warps = std::max(stretches, WARPS);
    launch("carry_words", chunk <= stretches * STRETCH / 2 ? carry_words<STRETCH / 2, SIDES> : carry_words<STRETCH, SIDES>,
           ceil_div(chunks.all * stretches, warps), warps * WARP, early(stream), columns, stretches, chunk);
}

}  // namespace

View swap_y_z(View set) {
    std::swap(set.size[1], set.size[2]);
    std::swap(set.stride[1], set.stride[2]);
    return set;
}

Columns shape_columns(const View &set, int axis) {
    Columns columns;
    columns.length = set.size[axis];
    columns.count = axis == 1 ? set.size[0] : set.size[0] * set.size[1];
    columns.batch = axis == 1 ? set.size[2] : 1;
    return columns;
}

void carve_words(Columns &columns, Carver &carver) { columns.words = carver.take<uint32_t>(columns.stored()); }

void carve_carries(Columns &columns, const DistanceJob &job, Carver &carver) {
    columns.before = carver.take<int32_t>(columns.stored());
    columns.after = carver.take<int32_t>(columns.stored());
    if (job.is_slab()) carve_outside(columns, job, carver);
}

void carry_columns(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream) {
    if (job.is_slab()) take_outside(columns, job, inside, stream);
    columns.is_mirrored ? carry_sides<2>(columns, stream) : carry_sides<1>(columns, stream);
}

}  // namespace apsis::cuda::columns
