// The staircase: all rows of a small image, whatever is in them, in one launch.
//
// Of the columns that are nearest to a pixel of a row, the first never lies left of one that is nearest to a pixel
// farther left: the matrix of costs is totally monotone (Aggarwal, Klawe, Moran, Shor and Wilber, 1987).  So the first
// columns of two pixels bracket all that are nearest to the pixels between.  A block takes a band of four rows, lays the
// squares of its columns' distances in shared memory, and tries all columns for a few pixels far apart.  Then it tries
// those of each stretch's bracket for the pixels that cut it into eight, until stretches are tiles of eight pixels, and
// at last for the pixels of the tiles.
//
// The cells of such a level, each a stretch and a column of its bracket, lie along a staircase, since a bracket begins
// where the one before ends: they are one for a column and one more for a stretch, wherever the sites are.  Every thread
// takes as many of them as the others, finds by halving where they begin, and tells the least costs by atomics.  So no
// bracket is too long: where the envelope of envelope.cu waits for the longest one, nobody waits here; but it does less
// in all, which is what counts in a large image.
//
// Cost: 3 bytes a pixel in, through the second cache, and the outputs out; some 250 instructions a pixel.
#include "launch.h"
#include "rows.h"
#include "band_tiles.cuh"

namespace apsis {

namespace {

constexpr int PARTS = 8;         // that a stretch is cut into
constexpr int MOST_POINTS = 16;  // for which all columns are tried
constexpr int64_t MOST_TEAM = SMALL_WIDTH / TILE;  // threads of a row: each tries 8 columns and writes a tile
// A column beyond the row's end: it costs more than one without a site.
constexpr uint32_t NOBODY = ~0u - (SMALL_WIDTH + TILE) * (SMALL_WIDTH + TILE) - 4 * TILE * SMALL_WIDTH;
static_assert((NOWHERE + STRIP) * (NOWHERE + STRIP) + SMALL_WIDTH * SMALL_WIDTH < NOBODY && LONGEST_WHOLE <= TALL);

/// How many pixels are between those for which all columns are tried; a power of two.
__host__ __device__ int32_t first_stride(int32_t count) {
    return count <= MOST_POINTS * TILE ? TILE : count <= MOST_POINTS * TILE * PARTS ? TILE * PARTS : 4 * TILE * PARTS;
}
static_assert(SMALL_WIDTH <= 4 * TILE * PARTS * MOST_POINTS);

/// A row in shared memory, and the team of threads that searches it.
struct Row {
    uint32_t *squares;  // [column]: of the distance to its nearest site
    int32_t *least;     // [part][stretch]: the least keys of a level, or the least costs; before, UNKNOWN
    uint32_t *sites;    // [part][tile]: the lowest of the nearest sites, if anybody wants them
    uint16_t *lows, *finer;  // [stretch]: the first of the columns nearest to its first pixel; and of the next level
    int32_t count;      // columns
    int32_t rank, team;

    __host__ __device__ static int32_t bytes(int32_t tiles, bool nearest) {
        return tiles * (nearest ? 3 : 2) * TILE * 4 + (tiles * 2 * 2 + 15) / 16 * 16;
    }
    __device__ Row(uint32_t *shared, int32_t count, bool nearest)
        : count(count), team(static_cast<int32_t>(blockDim.x) / BAND) {
        const int32_t tiles = (count + TILE - 1) / TILE, me = static_cast<int32_t>(threadIdx.x);
        rank = me % team;
        squares = shared + me / team * (bytes(tiles, nearest) / 4);
        least = reinterpret_cast<int32_t *>(squares + tiles * TILE);
        sites = reinterpret_cast<uint32_t *>(least + tiles * TILE);
        lows = reinterpret_cast<uint16_t *>(sites + (nearest ? tiles * TILE : 0));
        finer = lows + tiles;
    }
    __device__ uint32_t cost(int32_t x, int32_t column) const {
        return squares[column] + static_cast<uint32_t>((x - column) * (x - column));
    }
    __device__ int32_t stretches(int32_t stride) const { return (count + stride - 1) / stride; }
};

/// Lays the columns of a band in shared memory, and makes the rest ready.
template <bool NEAREST>
__device__ void load_rows(uint32_t *shared, const Row &row, const Columns &columns, int64_t image, int64_t y) {
    const int64_t strip = y / STRIP, from = columns.at(image, strip, 0);
    const int32_t start = static_cast<int32_t>(strip * STRIP), tiles = row.stretches(TILE);
    const int32_t pitch = Row::bytes(tiles, NEAREST) / 4;
    Columns line = columns;
    line.words += from, line.before += from, line.after += from;
#pragma unroll 2
    for (int32_t x = threadIdx.x; x < row.count; x += blockDim.x) {
        int32_t distance[BAND];
        find_distances(Sight(line, x, start, NOWHERE), line.words[x], static_cast<int>(y % STRIP), distance);
#pragma unroll
        for (int r = 0; r < BAND; ++r) shared[r * pitch + x] = static_cast<uint32_t>(distance[r] * distance[r]);
    }
    if (row.rank < tiles * TILE - row.count) row.squares[row.count + row.rank] = NOBODY;
    for (int32_t i = row.rank; i < tiles * TILE / QUAD; i += row.team) {
        reinterpret_cast<int4 *>(row.least)[i] = int4{UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
        if (NEAREST) reinterpret_cast<uint4 *>(row.sites)[i] = uint4{NOTHING, NOTHING, NOTHING, NOTHING};
    }
}

/// What a warp has found for a pixel: the least cost among its lanes' columns, and the first lane that has it.
struct Found {
    uint32_t cost, rank;
};

/// Finds the first of the columns nearest to every pixel `stride` apart.  Of a thread's eight columns c + k, all
/// cost pixel x (x - c)^2 and -2 (x - c) k + k^2 more than their squares.
__device__ void search_points(const Row &row, int32_t stride) {
    __shared__ Found found[BAND][MOST_POINTS][MOST_TEAM / WARP];
    constexpr uint32_t LOW = 0x80000000u + 4 * TILE * SMALL_WIDTH;  // so that what is compared fits signed numbers
    Found(*const mine)[MOST_TEAM / WARP] = found[threadIdx.x / row.team];
    const int32_t points = row.stretches(stride), first = min(row.rank * TILE, row.count), warp = row.rank / WARP;
    const int32_t from = warp * WARP * TILE, to = from + WARP * TILE - 1;  // the warp's columns
    int32_t square[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k)
        square[k] = static_cast<int32_t>((row.rank * TILE < row.count ? row.squares[first + k] : NOBODY) + k * k + LOW);
    for (int32_t p = 0; p < points; ++p) {
        const int32_t x = p * stride, d = x - first, gap = max(max(from - x, x - to), 0);
        if (static_cast<uint32_t>(gap * gap) > row.squares[x]) {  // the pixel's own column is nearer than any of them
            if (row.rank % WARP == 0) mine[p][warp] = {NOTHING, 0};
            continue;
        }
        int32_t least = UNKNOWN;
#pragma unroll
        for (int k = 0; k < TILE; ++k) least = __viaddmin_s32(square[k], -2 * d * k, least);
        const uint32_t cost = static_cast<uint32_t>(least) - LOW + static_cast<uint32_t>(d * d);
        const uint32_t of_warp = least_of_warp(cost);
        const int lane = lowest_bit(__ballot_sync(ALL_LANES, cost == of_warp));
        if (row.rank % WARP == 0) mine[p][warp] = {of_warp, static_cast<uint32_t>(row.rank + lane)};
    }
    __syncthreads();
    if (row.rank < points) {
        Found best = mine[row.rank][0];
        for (int32_t w = 1; w < row.team / WARP; ++w)
            if (mine[row.rank][w].cost < best.cost) best = mine[row.rank][w];
        int32_t column = static_cast<int32_t>(best.rank) * TILE;
        while (row.cost(row.rank * stride, column) != best.cost) ++column;
        row.lows[row.rank] = static_cast<uint16_t>(column);
    }
    __syncthreads();
}

/// Calls take(stretch, from, to) for a thread's share of the cells: columns of brackets.
template <class Take>
__device__ void share_cells(const Row &row, int32_t stretches, Take take) {
    const int32_t start = row.lows[0], total = row.count - 1 - start + stretches;
    const int32_t each = (total + row.team - 1) / row.team | 1;  // odd: a warp's threads meet 32 banks
    int32_t cell = row.rank * each, t = 0;
    const int32_t end = min(cell + each, total);
    if (cell >= end) return;
    for (int32_t jump = 1 << highest_bit(static_cast<uint32_t>(stretches)); jump > 0; jump /= 2)
        if (t + jump < stretches && row.lows[t + jump] - start + t + jump <= cell) t += jump;
    for (int32_t column = start + cell - t;; ++t) {
        const int32_t high = t + 1 < stretches ? row.lows[t + 1] : row.count - 1;
        const int32_t stop = min(high, column + end - cell - 1);
        take(t, column, stop);
        cell += stop - column + 1;
        if (cell >= end) return;
        column = stop;
    }
}

/// Finds the first of the columns nearest to every pixel `step` apart, where those of every pixel `stride` apart are known.
///
/// What a column costs is counted from what the bracket's first one, `low`, costs: with d columns more to the right it is
/// `above` for the stretch's first pixel, and 2 step d less for every part, the same squares being left out.  A key is
/// that and the column.
__device__ void refine(const Row &row, int32_t stride, int32_t step) {
    const int32_t stretches = row.stretches(stride), parts = stride / step;
    const int bits = WARP - __clz(row.count - 1);
    share_cells(row, stretches, [&](int32_t t, int32_t from, int32_t to) {
        const int32_t low = row.lows[t], x = t * stride;
        const uint32_t known = row.cost(x, low);
        int32_t best[PARTS];
#pragma unroll
        for (int k = 1; k < PARTS; ++k) best[k] = low;
#pragma unroll 1
        for (int32_t column = from; column <= to; ++column) {
            const uint32_t above = row.cost(x, column) - known, drop = static_cast<uint32_t>(2 * step * (column - low));
            if (above >= drop * (PARTS - 1)) continue;  // never nearer; and others' keys fit 32 bits
            int32_t key = static_cast<int32_t>(above << bits | static_cast<uint32_t>(column));
#pragma unroll
            for (int k = 1; k < PARTS; ++k) {
                key -= static_cast<int32_t>(drop << bits);
                best[k] = min(best[k], key);
            }
        }
#pragma unroll
        for (int k = 1; k < PARTS; ++k) atomicMin(row.least + k * stretches + t, best[k]);
    });
    __syncthreads();
    const int32_t t = row.rank, finer = row.stretches(step);
    if (t < stretches) {
        row.finer[t * parts] = row.lows[t];
#pragma unroll
        for (int k = 1; k < PARTS; ++k) {
            const int32_t key = row.least[k * stretches + t];
            row.least[k * stretches + t] = UNKNOWN;
            if (k < parts && t * parts + k < finer)
                row.finer[t * parts + k] = static_cast<uint16_t>(key & ((1 << bits) - 1));
        }
    }
    __syncthreads();
}

/// What a column costs the pixels of a tile, with BIAS, and without the square of a pixel's place in the tile.
struct Ramp {
    int32_t first, slope;

    __device__ Ramp(const Row &row, int32_t x, int32_t column)
        : first(static_cast<int32_t>(row.cost(x, column) + BIAS)), slope(2 * (x - column)) {}
    __device__ int32_t cost(int k) const { return first + k * slope; }
};

/// Finds the least cost of every pixel.
__device__ void search_tiles(const Row &row) {
    const int32_t tiles = row.stretches(TILE);
    share_cells(row, tiles, [&](int32_t t, int32_t from, int32_t to) {
        int32_t cost[TILE];
#pragma unroll
        for (int32_t &c : cost) c = UNKNOWN;
#pragma unroll 1
        for (int32_t column = from; column <= to; ++column) {
            const Ramp ramp(row, t * TILE, column);
#pragma unroll
            for (int k = 0; k < TILE; ++k) cost[k] = __viaddmin_s32(ramp.first, k * ramp.slope, cost[k]);
        }
#pragma unroll
        for (int k = 0; k < TILE; ++k) atomicMin(row.least + k * tiles + t, cost[k]);
    });
    __syncthreads();
}

/// Finds the lowest of the sites that cost every pixel its least.
__device__ void search_tiles_sites(const Row &row, const Columns &columns, int64_t image, int64_t y) {
    const int32_t tiles = row.stretches(TILE);
    share_cells(row, tiles, [&](int32_t t, int32_t from, int32_t to) {
        int32_t least[TILE];
        uint32_t found[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) least[k] = row.least[k * tiles + t], found[k] = NOTHING;
#pragma unroll 1
        for (int32_t column = from; column <= to; ++column) {
            const Ramp ramp(row, t * TILE, column);
            bool wins = false;
#pragma unroll
            for (int k = 0; k < TILE; ++k) wins = wins || ramp.cost(k) == least[k];
            if (!wins) continue;
            const uint32_t site = site_of<uint32_t>(columns, image, y, column);
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                if (ramp.cost(k) == least[k]) found[k] = min(found[k], site);
        }
#pragma unroll
        for (int k = 0; k < TILE; ++k) atomicMin(row.sites + k * tiles + t, found[k]);
    });
    __syncthreads();
}

/// A block takes a band.
template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(BAND *MOST_TEAM) search_staircase(Rows rows, Quads quads) {
    wait_for_kernel_before();
    extern __shared__ __align__(16) uint32_t shared[];
    const int64_t line = rows.band_at(blockIdx.x);
    const int64_t image = line / rows.bands(), y = line % rows.bands() * BAND;
    Row row(shared, static_cast<int32_t>(rows.columns.count), NEAREST);
    load_rows<NEAREST>(shared, row, rows.columns, image, y);
    __syncthreads();
    int32_t stride = first_stride(row.count);
    search_points(row, stride);
    while (stride > TILE) {
        const int32_t step = max(stride / PARTS, TILE);
        refine(row, stride, step);
        uint16_t *const before = row.lows;
        row.lows = row.finer, row.finer = before, stride = step;
    }
    search_tiles(row);
    const int r = static_cast<int>(threadIdx.x) / row.team;
    if (NEAREST) search_tiles_sites(row, rows.columns, image, min(y + r, rows.columns.length - 1));
    const int32_t tiles = row.stretches(TILE), t = row.rank;
    if (y + r >= rows.columns.length || t >= tiles) return;
    uint32_t cost[TILE], site[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        cost[k] = static_cast<uint32_t>(row.least[k * tiles + t]) - BIAS + k * k;
        site[k] = NEAREST ? row.sites[k * tiles + t] : NOTHING;
    }
    write_row<FORM, NEAREST>(rows, quads, cost, true, site, image, y + r, t * TILE);
}

}  // namespace

bool are_small(const Columns &columns, bool nearest) {
    const int32_t tiles = static_cast<int32_t>(parts(std::min(columns.count, SMALL_WIDTH), TILE));
    return columns.count <= SMALL_WIDTH && columns.length <= LONGEST_WHOLE &&
           columns.batch * columns.length * columns.count <= SMALL_AREA &&
           static_cast<size_t>(BAND) * Row::bytes(tiles, nearest) <= most_shared();
}

void search_staircase(const Rows &rows, cudaStream_t stream) {
    const int32_t tiles = static_cast<int32_t>(parts(rows.columns.count, TILE));
    const bool nearest = static_cast<bool>(rows.output.nearest);
    Quads quads(rows.output);
    quads.limited = true;  // there may be no site
    with_form_or_signed(quads, rows.output, [&](auto form, auto with_nearest) {
        launch_large("search_staircase", search_staircase<form, with_nearest>, rows.count_bands(),
                     BAND * parts(tiles, WARP) * WARP, static_cast<size_t>(BAND) * Row::bytes(tiles, nearest), early(stream),
                     rows, quads);
    });
}

}  // namespace apsis
