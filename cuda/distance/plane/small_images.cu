// Small images: all rows of 2-D Euclidean distance maps that leave most of a device idle, in one launch (plan.cu).
//
// The first column nearest to a pixel never lies left of a column nearest to a pixel farther left: the matrix of costs is
// totally monotone (Aggarwal, Klawe, Moran, Shor and Wilber, 1987).  So the first nearest columns of two pixels bracket those
// of the pixels between.  A block takes a band of four rows, lays the squares of its columns' distances in shared memory, and
// tries all columns for every 64th pixel, the first of a stretch.  Then it tries the columns of each bracket for every eighth
// pixel, the first of a tile, and the columns of each such bracket for the eight pixels of its tile.
//
// Each bracket of a level begins with the column that ends the bracket before.  So a column is inside of one bracket at most,
// wherever the sites are.  Every thread has eight columns, finds their brackets by bisection, and joins its least costs to
// those of other threads by atomics.  So the work is even however long a bracket is, while envelope.cu waits for its longest
// one.  But envelope.cu does less work in all, which counts more in large images.  The thread that has a tile tries the ends of
// its bracket, and the inside if that is short.
//
// The time goes to the units that add and compare integers.  So columns are tried in pairs, since the least of three numbers is
// one instruction, and costs are computed by multiplications, which other units do.
//
// Cost: 3 bytes a pixel in, through the second cache, and the outputs out.
#include "cuda/distance/plane/envelope_tiles.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/distance/plane/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

constexpr int STRETCH_TILES = 8;
constexpr int FEW_TILES = 16;      // a row with no more has no stretches: all columns are tried for each tile's first pixel
constexpr int MOST_POINTS = WARP;  // pixels of a row for which all columns are tried, at most: a lane each
constexpr int OWN_COLUMNS = 10;    // columns inside of a tile's bracket that its own thread tries: most have fewer
constexpr int64_t MOST_ROW_THREADS = SMALL_WIDTH / TILE;  // threads of a row: each tries 8 columns and writes a tile
static_assert(FEW_TILES <= MOST_POINTS && SMALL_WIDTH <= MOST_POINTS * STRETCH_TILES * TILE);
// A column beyond the row's end: it costs more than one without a site.
constexpr uint32_t BEYOND_ROW = ~0u - (SMALL_WIDTH + TILE) * (SMALL_WIDTH + TILE) - 4 * TILE * SMALL_WIDTH;
// Added to squares, so that costs stay above 0 when the square of a pixel's place in its tile is left out.
constexpr uint32_t SQUARE_BIAS = TILE * TILE;
static_assert((NO_SITE_DISTANCE + STRIP) * (NO_SITE_DISTANCE + STRIP) + SQUARE_BIAS + SMALL_WIDTH * SMALL_WIDTH < BEYOND_ROW &&
              LONGEST_WHOLE + STRIP < NO_SITE_DISTANCE);

/// The brackets of a row's tiles or stretches: each goes from the first column nearest to its first pixel to the first column
/// nearest to the next one's.
struct BracketLevel {
    uint16_t *lows;
    int32_t size, count;  // of brackets; of the row's columns

    __device__ int32_t low(int32_t t) const { return lows[t]; }
    __device__ int32_t high(int32_t t) const { return t + 1 < size ? lows[t + 1] : count - 1; }
    /// Whether a tile's own thread tries all of its bracket.
    __device__ bool is_short(int32_t t) const { return high(t) - low(t) <= OWN_COLUMNS + 1; }
};

/// A row in shared memory, and the threads that search it, eight columns each.
struct RowSearch {
    uint32_t *squares;          // [place of a column]: of the distance to its nearest site, and SQUARE_BIAS
    int32_t *least;             // [place in a tile][tile]: least costs, or UNKNOWN; earlier, [tile of a stretch][stretch]: keys
    uint32_t *sites;            // [place in a tile][tile]: the nearest sites of lowest index, if they are wanted
    uint16_t *tile_lows;        // [tile]: the first of the columns nearest to its first pixel
    uint16_t *stretch_lows;     // [stretch]: the same
    int32_t count;              // columns
    int32_t rank, row_threads;  // this thread's number in the row, and the row's threads: x of the block; its y is the row

    /// Words of a tile's columns: one more than there are, so that threads that walk their tiles use different banks.
    static constexpr int32_t PITCH = TILE + 1;
    __host__ __device__ static int32_t squares_of(int32_t tiles) { return (tiles * PITCH + QUAD - 1) / QUAD * QUAD; }
    __host__ __device__ static int32_t bytes(int32_t tiles, bool nearest) {
        return (squares_of(tiles) + tiles * (nearest ? 2 : 1) * TILE) * 4 + (tiles * 2 * 2 + 15) / 16 * 16;
    }
    __device__ RowSearch(uint32_t *shared, int32_t count, bool nearest)
        : count(count),
          rank(static_cast<int32_t>(threadIdx.x)),
          row_threads(static_cast<int32_t>(blockDim.x)) {
        const int32_t tiles = this->tiles();
        squares = shared + static_cast<int32_t>(threadIdx.y) * (bytes(tiles, nearest) / 4);
        least = reinterpret_cast<int32_t *>(squares + squares_of(tiles));
        sites = reinterpret_cast<uint32_t *>(least + tiles * TILE);
        tile_lows = reinterpret_cast<uint16_t *>(sites + (nearest ? tiles * TILE : 0));
        stretch_lows = tile_lows + tiles;
    }
    /// The square of one of this thread's own columns, for which column / TILE is `rank`.
    __device__ uint32_t own_square(int32_t column) const { return squares[column + rank]; }
    __device__ static uint32_t place(uint32_t column) { return column + column / TILE; }
    __device__ uint32_t square(int32_t column) const { return squares[place(column)]; }
    __device__ uint32_t cost(int32_t x, int32_t column) const {
        return square(column) + static_cast<uint32_t>((x - column) * (x - column));
    }
    __device__ int32_t tiles() const { return (count + TILE - 1) / TILE; }
    __device__ BracketLevel tile_brackets() const { return {tile_lows, tiles(), count}; }
    __device__ BracketLevel stretch_brackets() const {
        return {stretch_lows, (count + STRETCH_TILES * TILE - 1) / (STRETCH_TILES * TILE), count};
    }
};

/// All threads of a row: sets the entries that are read before they are written.
template <bool NEAREST>
__device__ void clear_row(const RowSearch &row) {
    const int32_t tiles = row.tiles();
    if (row.rank < tiles * TILE - row.count) row.squares[RowSearch::place(row.count + row.rank)] = BEYOND_ROW;
    for (int32_t i = row.rank; i < tiles * TILE / QUAD; i += row.row_threads) {
        reinterpret_cast<int4 *>(row.least)[i] = int4{UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
        if (NEAREST) reinterpret_cast<uint4 *>(row.sites)[i] = uint4{NOTHING, NOTHING, NOTHING, NOTHING};
    }
}

/// Block: lays the columns of a band in shared memory.
template <bool NEAREST, bool MAY_BE_SIGNED>
__device__ void load_rows(uint32_t *shared, const RowSearch &row, const Columns &columns, int64_t image, int32_t y) {
    const StripColumns<MAY_BE_SIGNED> strip(columns, image, y / STRIP);
    const int32_t start = y / STRIP * STRIP, pitch = RowSearch::bytes(row.tiles(), NEAREST) / 4;
#pragma unroll 2
    for (int32_t x = threadIdx.y * row.row_threads + row.rank; x < row.count; x += BAND * row.row_threads) {
        const Sites sites = strip.at(x);
        const uint32_t distances = measure_column(CarryDistances(sites, start, NO_SITE_DISTANCE), sites.word, y % STRIP);
#pragma unroll
        for (int r = 0; r < BAND; ++r) {
            const int32_t distance = unpack(distances, r);
            shared[r * pitch + RowSearch::place(x)] = static_cast<uint32_t>(distance * distance) + SQUARE_BIAS;
        }
    }
}

/// The least cost of a warp's columns for a pixel, and the rank of the first thread that has such a column.
struct LeastCost {
    uint32_t cost, rank;
};
using LeastCostsOfWarps = LeastCost[MOST_POINTS][MOST_ROW_THREADS / WARP];
static_assert(BAND * sizeof(LeastCostsOfWarps) <= SMALL_IMAGES_DECLARED);

/// Block: finds the first of the columns nearest to each of the pixels that begin a level's brackets, `stride` apart.  A thread
/// has eight columns c + k.  Its cost for pixel x is its square, (x - c)^2, which is the same for all k, and k^2 - 2 (x - c) k.
__device__ void search_points(const RowSearch &row, const BracketLevel &level, int32_t stride) {
    __shared__ LeastCostsOfWarps found[BAND];
    constexpr uint32_t LOW = 0x80000000u + 4 * TILE * SMALL_WIDTH;  // so that the numbers compared fit signed ones
    LeastCostsOfWarps &mine = found[threadIdx.y];
    const int32_t points = level.size, first = row.rank * TILE, warp = row.rank / WARP;
    const int32_t from = warp * WARP * TILE, to = from + WARP * TILE - 1;  // the warp's columns
    const int lane = threadIdx.x % WARP;
    uint32_t smallest = BEYOND_ROW;
    int32_t square[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        const uint32_t own = first < row.count ? row.own_square(first + k) : BEYOND_ROW;
        smallest = min(smallest, own), square[k] = static_cast<int32_t>(own + k * k + LOW);
    }
    smallest = least_of_warp(smallest);
    bool asked = false;  // a lane a pixel: false if its own column is nearer than all of the warp's
    if (lane < points) {
        const int32_t x = lane * stride, gap = max(max(from - x, x - to), 0);
        asked = smallest + static_cast<uint32_t>(gap * gap) <= row.square(x);
        if (!asked) mine[lane][warp] = {NOTHING, 0};
    }
    for (uint32_t left = __ballot_sync(ALL_LANES, asked); left; left &= left - 1) {
        const int32_t p = lowest_bit(left), d = p * stride - first;
        int32_t least = UNKNOWN;
#pragma unroll
        for (int k = 0; k < TILE; k += 2) least = __vimin3_s32(square[k] - 2 * k * d, square[k + 1] - 2 * (k + 1) * d, least);
        const uint32_t cost = static_cast<uint32_t>(least) - LOW + static_cast<uint32_t>(d * d);
        const uint32_t of_warp = least_of_warp(cost);
        const int winner = lowest_bit(__ballot_sync(ALL_LANES, cost == of_warp));
        if (lane == 0) mine[p][warp] = {of_warp, static_cast<uint32_t>(row.rank + winner)};
    }
    __syncthreads();
    // A thread takes one of the eight columns of a pixel's winning thread.
    for (int32_t turn = row.rank; turn - lane < points * TILE; turn += row.row_threads) {
        const int32_t p = min(turn / TILE, points - 1);
        LeastCost best = mine[p][0];
#pragma unroll 1
        for (int32_t w = 1; w < row.row_threads / WARP; ++w)
            if (mine[p][w].cost < best.cost) best = mine[p][w];
        const int32_t column = static_cast<int32_t>(best.rank) * TILE + turn % TILE;
        const bool wins = row.cost(p * stride, column) == best.cost;
        const uint32_t winners = __ballot_sync(ALL_LANES, wins) >> lane / TILE * TILE & ((1u << turn % TILE) - 1);
        if (wins && !winners) level.lows[p] = static_cast<uint16_t>(column);
    }
    __syncthreads();
}

/// Calls take(bracket, from, to) for those of a thread's columns that are inside of brackets.  A column that ends a bracket is
/// left out, so that each column is in one bracket.
template <class Take>
__device__ void each_inner_column(const RowSearch &row, const BracketLevel &level, Take take) {
    int32_t column = max(row.rank * TILE, level.low(0) + 1), t = 0;
    const int32_t end = min(row.rank * TILE + TILE, row.count);
    const auto pass = [&](int32_t jump) {
        if (t + jump >= level.size || level.low(t + jump) > column) return false;
        t += jump;
        return true;
    };
    int32_t jump = 1 << highest_bit(static_cast<uint32_t>(level.size));
    while (column < end) {
        for (; jump > 0; jump /= 2) pass(jump);
        const int32_t next = t + 1 < level.size ? level.low(t + 1) : row.count, stop = min(next, end);
        column += column == level.low(t);
        if (column < stop) take(t, column, stop - 1);
        column = next + 1;
        for (jump = 1; column < end && pass(jump);) jump *= 2;
    }
}

/// Keys of a column for the first pixels of a stretch's tiles: the cost above that of column `low`, the bracket's first, and
/// the column.  Let the column lie d right of `low`.  For the stretch's first pixel it costs `above` more than `low` does.
/// From tile to tile this difference falls by 2 TILE d.
struct StretchKey {
    int32_t first = UNKNOWN, drop = 0;

    __device__ StretchKey(uint32_t above, int32_t column, int32_t low, int column_bits) {
        const uint32_t gain = static_cast<uint32_t>(2 * TILE * (column - low));
        if (above >= gain * (STRETCH_TILES - 1)) return;  // it is nowhere nearer; the keys of others fit 32 bits
        first = static_cast<int32_t>(above << column_bits | static_cast<uint32_t>(column));
        drop = static_cast<int32_t>(gain << column_bits);
        asm("" : "+r"(drop));  // computed once: see ColumnCosts
    }
    __device__ bool wins() const { return drop != 0; }
    __device__ int32_t at(int k) const { return first - k * drop; }
};
static_assert(2 * TILE * SMALL_WIDTH * (STRETCH_TILES - 1) * SMALL_WIDTH <= INT32_MAX);

/// Block: finds the brackets of tiles from those of stretches.
__device__ void refine_brackets(const RowSearch &row) {
    const BracketLevel stretches = row.stretch_brackets();
    const int32_t tiles = row.tiles();
    const int column_bits = WARP - __clz(row.count - 1);
    each_inner_column(row, stretches, [&](int32_t t, int32_t from, int32_t to) {
        const int32_t low = stretches.low(t), x = t * (STRETCH_TILES * TILE);
        const uint32_t known = row.cost(x, low);
        const auto key = [&](int32_t column) {
            const uint32_t cost = row.own_square(column) + static_cast<uint32_t>((x - column) * (x - column));
            return StretchKey(cost - known, column, low, column_bits);
        };
        bool wins = false;
        int32_t best[STRETCH_TILES];
#pragma unroll
        for (int32_t &b : best) b = UNKNOWN;
#pragma unroll 1
        for (int32_t column = from; column <= to; column += 2) {
            const StretchKey one = key(column), other = key(min(column + 1, to));
            wins = wins || one.wins() || other.wins();
#pragma unroll
            for (int k = 1; k < STRETCH_TILES; ++k) best[k] = __vimin3_s32(one.at(k), other.at(k), best[k]);
        }
        if (!wins) return;
#pragma unroll
        for (int k = 1; k < STRETCH_TILES; ++k) atomicMin(row.least + k * tiles + t, best[k]);
    });
    __syncthreads();
    if (row.rank < stretches.size * STRETCH_TILES) {
        const int32_t t = row.rank / STRETCH_TILES, k = row.rank % STRETCH_TILES, x = t * (STRETCH_TILES * TILE);
        const int32_t low = stretches.low(t), high = stretches.high(t);
        const uint32_t above = row.cost(x, high) - row.cost(x, low), gain = static_cast<uint32_t>(2 * TILE * k * (high - low));
        int32_t &least = row.least[k * tiles + t], key = min(least, low);
        if (above < gain) key = min(key, static_cast<int32_t>((above - gain) << column_bits | static_cast<uint32_t>(high)));
        least = UNKNOWN;
        if (row.rank < tiles) row.tile_lows[row.rank] = static_cast<uint16_t>(k > 0 ? key & ((1 << column_bits) - 1) : low);
    }
    __syncthreads();
}

/// The costs of a column for the pixels of a tile, with SQUARE_BIAS, and without the square of a pixel's place in the tile.
struct ColumnCosts {
    uint32_t first, slope;

    __device__ ColumnCosts(uint32_t square, int32_t away)
        : first(square + static_cast<uint32_t>(away * away)),
          slope(static_cast<uint32_t>(2 * away)) {
        asm("" : "+r"(slope));  // computed once: else the compiler replaces the multiplications by additions
    }
    __device__ uint32_t cost(int k) const { return first + static_cast<uint32_t>(k) * slope; }
};

/// Tries two columns for a tile's pixels.
__device__ void try_two(const ColumnCosts &one, const ColumnCosts &other, uint32_t (&cost)[TILE]) {
#pragma unroll
    for (int k = 0; k < TILE; ++k) cost[k] = __vimin3_u32(one.cost(k), other.cost(k), cost[k]);
}

/// Block: finds the least costs for every tile's pixels of the columns inside of its bracket, if that is long.
__device__ void search_long_brackets(const RowSearch &row) {
    const BracketLevel tiles = row.tile_brackets();
    each_inner_column(row, tiles, [&](int32_t t, int32_t from, int32_t to) {
        if (tiles.is_short(t)) return;
        const auto costs_of = [&](int32_t column) { return ColumnCosts(row.own_square(column), t * TILE - column); };
        uint32_t cost[TILE];
#pragma unroll
        for (uint32_t &c : cost) c = UNKNOWN;
#pragma unroll 1
        for (int32_t column = from; column <= to; column += 2) try_two(costs_of(column), costs_of(min(column + 1, to)), cost);
        uint32_t *const least = reinterpret_cast<uint32_t *>(row.least) + t;
#pragma unroll
        for (int k = 0; k < TILE; ++k) atomicMin(least + k * tiles.size, cost[k]);
    });
    __syncthreads();
}

/// Finds the least costs of a tile's pixels.  If its bracket is long, search_long_brackets has tried the inside.
__device__ void find_least(const RowSearch &row, int32_t t, uint32_t (&cost)[TILE]) {
    const BracketLevel tiles = row.tile_brackets();
    const int32_t low = tiles.low(t), high = tiles.high(t), end = tiles.is_short(t) ? high : low;
    const auto costs_of = [&](int32_t column) { return ColumnCosts(row.square(column), t * TILE - column); };
#pragma unroll
    for (int k = 0; k < TILE; ++k) cost[k] = static_cast<uint32_t>(row.least[k * tiles.size + t]);
    try_two(costs_of(low), costs_of(high), cost);
#pragma unroll 1
    for (int32_t column = low + 1; column < end; column += 2) try_two(costs_of(column), costs_of(column + 1), cost);
}

/// Finds the nearest sites, of lowest index, of a tile's pixels whose least costs are known.
struct SiteFinder {
    const RowSearch &row;
    const Columns &columns;
    int64_t image, y;
    int32_t x;
    const uint32_t (&least)[TILE];
    uint32_t (&found)[TILE];

    __device__ void add(int32_t column) {
        const ColumnCosts costs(row.square(column), x - column);
        bool wins = false;
#pragma unroll
        for (int k = 0; k < TILE; ++k) wins = wins || costs.cost(k) == least[k];
        if (!wins) return;
        const uint32_t site = site_of<uint32_t>(columns, image, y, column);
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (costs.cost(k) == least[k]) found[k] = min(found[k], site);
    }
};

/// Block: finds the nearest sites, of lowest index, of every tile's pixels among the columns inside of its bracket, if that is
/// long.
__device__ void find_sites_of_long_brackets(const RowSearch &row, const Columns &columns, int64_t image, int64_t y) {
    const BracketLevel tiles = row.tile_brackets();
    each_inner_column(row, tiles, [&](int32_t t, int32_t from, int32_t to) {
        if (tiles.is_short(t)) return;
        uint32_t least[TILE], found[TILE];
        find_least(row, t, least);
#pragma unroll
        for (uint32_t &f : found) f = NOTHING;
        SiteFinder finder = {row, columns, image, y, t * TILE, least, found};
#pragma unroll 1
        for (int32_t column = from; column <= to; ++column) finder.add(column);
#pragma unroll
        for (int k = 0; k < TILE; ++k) atomicMin(row.sites + k * tiles.size + t, found[k]);
    });
    __syncthreads();
}

/// Writes a thread's tile.
template <Form FORM, bool NEAREST>
__device__ void write_tile(const Layout &layout, const OutputFormat &format, const RowSearch &row, int64_t image, int64_t y) {
    const BracketLevel tiles = row.tile_brackets();
    const int32_t t = row.rank;
    if (y >= layout.columns.length || t >= tiles.size) return;
    uint32_t least[TILE], cost[TILE], site[TILE];
    find_least(row, t, least);
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        cost[k] = least[k] - SQUARE_BIAS + k * k;
        site[k] = NEAREST ? row.sites[k * tiles.size + t] : NOTHING;
    }
    if (NEAREST) {
        SiteFinder finder = {row, layout.columns, image, y, t * TILE, least, site};
        const int32_t low = tiles.low(t), high = tiles.high(t), step = tiles.is_short(t) ? 1 : max(high - low, 1);
#pragma unroll 1
        for (int32_t column = low; column <= high; column += step) finder.add(column);
    }
    write_row<FORM, NEAREST>(layout, format, cost, true, site, image, y, t * TILE);
}

/// A block takes a band.
template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(BAND *MOST_ROW_THREADS) search_small_images(Layout layout, OutputFormat format) {
    extern __shared__ __align__(16) uint32_t shared[];
    const uint32_t line = static_cast<uint32_t>(layout.band_at(blockIdx.x)), bands = static_cast<uint32_t>(layout.bands());
    const int64_t image = line / bands;
    const int32_t y = static_cast<int32_t>(line % bands) * BAND, r = static_cast<int32_t>(threadIdx.y);
    const RowSearch row(shared, static_cast<int32_t>(layout.columns.count), NEAREST);
    clear_row<NEAREST>(row);
    wait_for_kernel_before();
    load_rows<NEAREST, FORM == Form::OTHER || FORM == Form::SIGNED>(shared, row, layout.columns, image, y);
    __syncthreads();
    const BracketLevel tiles = row.tile_brackets();
    const bool has_stretches = tiles.size > FEW_TILES;
    search_points(row, has_stretches ? row.stretch_brackets() : tiles, has_stretches ? STRETCH_TILES * TILE : TILE);
    if (has_stretches) refine_brackets(row);
    if (__syncthreads_count(row.rank < tiles.size && !tiles.is_short(row.rank))) {
        search_long_brackets(row);
        if (NEAREST) find_sites_of_long_brackets(row, layout.columns, image, min(int64_t(y + r), layout.columns.length - 1));
    }
    write_tile<FORM, NEAREST>(layout, format, row, image, y + r);
}

}  // namespace

size_t small_images_bytes(int64_t width, bool nearest) {
    return static_cast<size_t>(BAND) * RowSearch::bytes(static_cast<int32_t>(ceil_div(width, TILE)), nearest);
}

void search_small_images(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    OutputFormat format(layout.output);
    format.limited = true;  // there may be no site
    with_form_or_signed(format, layout.output, [&](auto form, auto with_nearest) {
        launch(plan.rows, search_small_images<form, with_nearest>, early(stream), layout, format);
    });
}

}  // namespace apsis::cuda::plane
