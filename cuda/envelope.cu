// The lower envelope: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a band of four rows and lays the distances of its strip's contenders in shared memory.  Of two
// contenders the right one is nearer from a breakpoint on (Maurer, Qi & Raghavan 2003; Felzenszwalb & Huttenlocher
// 2012).  Where breakpoints ascend, the contenders are the envelope; where they do not, somebody between is never
// nearest.  Every thread drops such from its own stretch of contenders, and no more is asked: the first contender that
// is not overtaken before a tile of 8 pixels and the last that has overtaken another by its end bracket the nearest of
// its pixels in any case, and tightly where little is left to drop (band.cuh).  A thread then holds the 32 pixels of
// a tile in registers and tries the candidates of the bracket on all of them, in whole numbers.  The bracket holds all
// equally near ones, of which row, then column, settles the nearest site.
//
// Cost: 6 bytes a contender and band through the second cache; some 60 instructions a contender and band, and for each
// of a tile's pixels 2 a candidate, a row of 8 pixels having from 1 to 9 of them.
#include "band.cuh"
#include "launch.h"
#include "quads.h"
#include "rows.h"
#include "transforms.h"

namespace apsis {

namespace {

constexpr int PATCH_TILES = PATCH / TILE;
static_assert(TILE == 8, "a byte of Rows::solid a tile");
// What is added to costs, so that they fit signed numbers, of which sm_90 adds and compares two in one instruction; 64
// more than their least, since without the square of a way in the tile a cost may fall below 0.
constexpr uint32_t BIAS = 0x80000000u + 64;
constexpr int32_t UNKNOWN = INT32_MAX;
constexpr uint32_t NOTHING = ~0u;

/// What a candidate costs the pixels of a tile that begins at x: with BIAS, and without the square of a pixel's place
/// in the tile, (x + k - c)^2 = (x - c)^2 + 2 (x - c) k + k^2.
struct Candidate {
    int32_t first[BAND], slope;
    int32_t column;
    bool last;  // of its stretch

    __device__ Candidate(const Band &band, int32_t position, int32_t x) {
        const int32_t place = Band::place(position);
        const uint32_t word = band.distances[place];
        const uint32_t named = band.columns[place];
        last = named & LAST;
        column = static_cast<int32_t>(named & ~LAST);
        const int32_t d = x - column;
        const uint32_t base = static_cast<uint32_t>(d * d) + BIAS;
        slope = 2 * d;
#pragma unroll
        for (int r = 0; r < BAND; ++r) {
            const uint32_t down = static_cast<uint32_t>(unpack(word, r));
            first[r] = static_cast<int32_t>(down * down + base);
        }
    }
    __device__ int32_t cost(int r, int k) const { return first[r] + k * slope; }
};

/// The least costs of a tile's pixels.
struct Tile {
    int32_t cost[BAND][TILE];

    __device__ Tile() {
#pragma unroll
        for (auto &row : cost)
#pragma unroll
            for (int32_t &c : row) c = UNKNOWN;
    }
    __device__ void take(const Candidate &candidate) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const int32_t way = keep(k * candidate.slope);  // once for all rows
#pragma unroll
            for (int r = 0; r < BAND; ++r) cost[r][k] = __viaddmin_s32(candidate.first[r], way, cost[r][k]);
        }
    }
};

/// Of the sites that cost the pixels of a tile's row their least, the lowest indices in the image: tries a candidate.
__device__ void find_sites(const Rows &rows, const Candidate &candidate, int r, const int32_t (&least)[TILE], int64_t image,
                           int64_t y, uint32_t (&found)[TILE]) {
    bool wins = false;
#pragma unroll
    for (int k = 0; k < TILE; ++k) wins = wins || candidate.cost(r, k) == least[k];
    if (!wins) return;
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, at = columns.at(image, strip, candidate.column);
    const int32_t row = nearest_in_column(columns.words[at], columns.before[at], columns.after[at],
                                          static_cast<int32_t>(strip * STRIP), static_cast<int32_t>(y));
    const uint32_t site = static_cast<uint32_t>(row) * static_cast<uint32_t>(columns.count) + candidate.column;
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        if (candidate.cost(r, k) == least[k]) found[k] = min(found[k], site);
}

/// Calls take(candidate) for every candidate of a tile.
template <class Take>
__device__ void try_bracket(const Band &band, int32_t t, Take take) {
    if (band.count == 0) return;
    const int32_t low = static_cast<int32_t>(band.lows[t] & 0xffff), high = static_cast<int32_t>(band.lows[t] >> 16);
    for (int32_t p = low; p <= high;) {
        const Candidate candidate(band, p, t * TILE);
        take(candidate);
        p = band.next(p, candidate.last);
    }
}

/// Writes a row of a tile.
template <Form FORM, bool NEAREST>
__device__ void write_row(const Rows &rows, const Quads &quads, const int32_t (&least)[TILE], const uint32_t (&found)[TILE],
                          int64_t image, int64_t y, int32_t x) {
    const int32_t length = static_cast<int32_t>(rows.columns.count);
    const int64_t before = image * rows.columns.length * rows.columns.count;  // pixels of other images
    uint32_t cost[TILE], bits = 0;  // beyond every limit where there is no site
    int32_t site[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        bits |= cost[k] = static_cast<uint32_t>(least[k]) - BIAS + k * k;
        site[k] = static_cast<int32_t>(before + found[k]);
    }
    const auto write = [&](auto root) {
        if constexpr (FORM != Form::OTHER) {
            write_plain<FORM, NEAREST>(rows.output, quads, x, y, image, cost, site, root);
        } else {
            write_quad(rows.output, quads, x, y, image, cost, site, root);
            write_quad(rows.output, quads, x + QUAD, y, image, cost + QUAD, site + QUAD, root);
        }
    };
    if (!(FORM != Form::OTHER || quads.serve) || x + TILE > length) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (x + k < length) write_pixel(rows.output, x + k, y, image, cost[k], least[k] != UNKNOWN, before + found[k]);
    } else if (bits < 1u << 24) {
        write([](uint32_t number) { return small_root(static_cast<float>(number)); });
    } else {
        write([](uint32_t number) { return large_root(number); });
    }
}

/// Finds and writes a tile.  `marks` has a byte for each row that is wanted, `solid` a bit for each column that is nobody's
/// contender because all its pixels are sites.
template <Form FORM, bool NEAREST>
__device__ void finish_tile(const Rows &rows, const Quads &quads, const Band &band, uint32_t marks, uint32_t solid,
                            int64_t image, int64_t y, int32_t t) {
    Tile tile;
    if (solid != (1u << TILE) - 1) try_bracket(band, t, [&](const Candidate &candidate) { tile.take(candidate); });
#pragma unroll
    for (int r = 0; r < BAND; ++r) {
        if (y + r >= rows.columns.length || !(marks >> 8 * r & 0xff)) continue;
        uint32_t found[TILE];
#pragma unroll
        for (uint32_t &site : found) site = NOTHING;
        if (NEAREST && solid != (1u << TILE) - 1)
            try_bracket(band, t, [&](const Candidate &candidate) {
                find_sites(rows, candidate, r, tile.cost[r], image, y + r, found);
            });
        if (solid) {
            const uint32_t own = static_cast<uint32_t>(y + r) * static_cast<uint32_t>(band.length) + t * TILE;
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                if (solid >> k & 1) tile.cost[r][k] = static_cast<int32_t>(BIAS - k * k), found[k] = own + k;
        }
        write_row<FORM, NEAREST>(rows, quads, tile.cost[r], found, image, y + r, t * TILE);
    }
}

template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(THREADS, 2) search_bands(Rows rows, Quads quads) {
    extern __shared__ __align__(16) uint32_t shared[];
    const int32_t length = static_cast<int32_t>(rows.columns.count);
    const int64_t line = rows.bands_before(rows.range.first) + blockIdx.x;
    const int64_t image = line / rows.bands(), number = line % rows.bands(), y = number * BAND;
    const bool far = rows.is_far(image, y / STRIP);
    const uint32_t *const marks = reinterpret_cast<const uint32_t *>(rows.marks_of(image, number, 0));
    if (!far) {
        bool marked = false;
        for (int32_t p = threadIdx.x; p < static_cast<int32_t>(rows.patches()); p += blockDim.x) marked = marked || marks[p];
        if (!__syncthreads_or(marked)) return;
    }
    const bool listed = rows.is_listed();
    const uint32_t count = listed ? *rows.count_of(image, y / STRIP) : WORTH_PRUNING | length;
    const Band band = shape_band(shared, length, static_cast<int32_t>(count & ~WORTH_PRUNING));
    quads.limited = quads.limited || !listed || band.count == 0;  // there may be no site
    if (listed)
        load_band(band, rows, image, y);
    else
        load_columns(band, rows.columns, image, y);
    __syncthreads();
    prune(band, count & WORTH_PRUNING);
    clear_tiles(band);
    __syncthreads();
    scatter_breaks(band);
    __syncthreads();
    bracket_tiles(band);
    __syncthreads();
    const uint8_t *const solid = rows.solid_of(image, y / STRIP);
    const auto wanted = [&](int32_t t) { return far ? ~0u : marks[t / PATCH_TILES]; };
    __shared__ int32_t next;  // a warp takes 32 when it is done with others
    if (threadIdx.x == 0) next = 0;
    const int32_t total = order_tiles(band, wanted), lane = threadIdx.x % WARP;
    for (int32_t i;;) {
        if (lane == 0) i = atomicAdd(&next, WARP);
        i = __shfl_sync(ALL_LANES, i, 0) + lane;
        if (i - lane >= total) break;
        if (i >= total) continue;
        const int32_t t = band.order()[i];
        finish_tile<FORM, NEAREST>(rows, quads, band, wanted(t), listed ? solid[t] : 0, image, y, t);
    }
}

/// The shared memory that a block of the current device may have.
size_t most_shared() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    return static_cast<size_t>(bytes);
}

}  // namespace

bool rows_serve(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    const int64_t width = job.set.size[0], length = job.set.size[1];
    // A tile may end behind the row's end; indices in an image fit 31 bits.
    if (width > WIDEST_ROW || length > LONGEST_COLUMN || length * job.set.size[2] > MOST_BLOCKS) return false;
    if ((width + TILE) * (width + TILE) + length * length + 128 >= int64_t(NOTHING)) return false;
    constexpr size_t STATIC = 1024;  // more than a block has besides
    return std::max(band_bytes(width) + STATIC, outward_bytes(static_cast<bool>(job.nearest))) <= most_shared();
}

void search_envelope(const Rows &rows, cudaStream_t stream) {
    int threads = 2 * WARP;
    const int each = rows.is_listed() ? TILES_EACH : 1;  // of narrow images' bands there are few
    while (threads < THREADS && threads * each * TILE < rows.columns.count) threads *= 2;
    const int64_t bands = rows.bands_before(rows.range.end()) - rows.bands_before(rows.range.first);
    const Quads quads(rows.output);
    const auto search = [&](auto alone, auto with_nearest) {
        launch_large("search_bands", rows.output.nearest ? with_nearest : alone, bands, threads,
                     band_bytes(rows.columns.count), stream, rows, quads);
    };
    switch (quads.plain(rows.output)) {
        case Form::ROOTS: return search(search_bands<Form::ROOTS, false>, search_bands<Form::ROOTS, true>);
        case Form::SQUARES: return search(search_bands<Form::SQUARES, false>, search_bands<Form::SQUARES, true>);
        default: return search(search_bands<Form::OTHER, false>, search_bands<Form::OTHER, true>);
    }
}

}  // namespace apsis
