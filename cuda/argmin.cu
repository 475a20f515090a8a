// The monotone argmin: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a row with marked patches and lays the squared column distances of its strip's contenders in shared
// memory.  The best candidate never moves left as x moves right (Hirata 1996), so the best ones of the ends of a
// stretch bracket those inside: the block halves stretches, from the whole row to tiles of 8 pixels, with many lanes a
// point while brackets are long and one when they are short.  A thread then holds the 8 pixels of a tile in registers and tries the candidates of its bracket
// on all of them.  Ties at the ends of a tile go to the left, which keeps every equal candidate of its pixels in the
// bracket; which of them is the nearest site is settled by row, then column.
//
// Cost: 3/8 of a byte a pixel and row of the strip, 12 bytes a pixel through the second cache; log2(n) + 2 evaluations.
#include "launch.h"
#include "rows.h"
#include "transforms.h"

namespace apsis {

namespace {

constexpr int THREADS = 768;      // two such blocks, of rows up to 16384, fill a multiprocessor
constexpr int TILE = 8;           // pixels in a thread's registers
constexpr int AHEAD = 4;          // contenders whose words a thread has on the way at once
constexpr int PATCH_TILES = PATCH / TILE;
constexpr int SHARE = 12;         // contenders that a lane is to try: of more, more lanes take shares
constexpr int MOST_LANES = 512;   // that share the contenders of one level's points
constexpr int ALONE = 40;         // contenders of a bracket, for every lane that serves it, from which its warp helps

/// The contenders of a row in shared memory.  They lie in groups of 32 with one in between that never wins, so that
/// threads that walk stretches of 8 or 16 words each meet different banks.
struct Row {
    uint32_t *cost;           // [place]: squared distance to the nearest site of the contender's column
    uint32_t *least;          // of these
    unsigned long long *keys; // costs and places of points that several warps serve
    uint16_t *column;         // [place]
    uint16_t *best;           // [i]: the place of the best of pixel i * TILE; at the end that of the pixel after the last
    const uint16_t *places;   // see Rows
    int32_t length, tiles, count;

    __device__ static int32_t place(int32_t number) { return number + number / GROUP; }
    __device__ int32_t pixel(int32_t tile) const { return min(tile * TILE, length); }
    __device__ int32_t last() const { return place(count - 1); }
    __device__ uint32_t at(int32_t candidate, int32_t x) const {
        const int32_t d = x - column[candidate];
        return cost[candidate] + static_cast<uint32_t>(d * d);
    }
};

int64_t row_places(int64_t length) { return parts(length, GROUP) * (GROUP + 1); }

size_t row_bytes(int64_t length) {
    return static_cast<size_t>(MOST_LANES / WARP * 8 + row_places(length) * 6 + (parts(length, TILE) + 1) * 2);
}

__device__ Row shape_row(unsigned long long *shared, uint32_t *least, int32_t length) {
    const int32_t places = (length + GROUP - 1) / GROUP * (GROUP + 1);
    Row row = {};
    row.keys = shared;
    row.least = least;
    row.cost = reinterpret_cast<uint32_t *>(shared + MOST_LANES / WARP);
    row.column = reinterpret_cast<uint16_t *>(row.cost + places);
    row.best = row.column + places;
    row.length = length;
    row.tiles = (length + TILE - 1) / TILE;
    return row;
}

/// A distance that no two pixels are apart.
uint32_t no_distance(const Measure &measure) { return static_cast<uint32_t>(sqrt(static_cast<double>(measure.largest))) + 1; }

/// The costs of the contenders of row y; `none` is the distance of a column without a site.
__device__ void load_row(const Row &row, const Rows &rows, int64_t image, int64_t y, uint32_t none) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    const uint16_t *const list = rows.contenders_of(image, strip);
    const uint32_t *const words = columns.words + first;
    const int32_t *const before = columns.before + first, *const after = columns.after + first;
    const int32_t at = static_cast<int32_t>(y), bit = at % STRIP;
    uint32_t least = ~0u;
    for (int32_t turn = threadIdx.x; turn < row.count; turn += AHEAD * THREADS) {
        uint32_t x[AHEAD], word[AHEAD];
        int32_t last[AHEAD], next[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) x[k] = list[min(turn + k * THREADS, row.count - 1)];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) word[k] = words[x[k]], last[k] = before[x[k]], next[k] = after[x[k]];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (turn + k * THREADS >= row.count) break;
            const uint32_t upper = word[k] << (STRIP - 1 - bit), lower = word[k] >> bit;
            const uint32_t up = upper ? __clz(static_cast<int>(upper)) : at - last[k];
            const uint32_t down = lower ? lowest_bit(lower) : next[k] - at;
            const uint32_t d = min(min(up, down), none), place = Row::place(turn + k * THREADS);
            row.cost[place] = d * d;
            row.column[place] = static_cast<uint16_t>(x[k]);
            least = min(least, d * d);
        }
    }
    for (int32_t group = threadIdx.x; group < row.count / GROUP; group += THREADS) {
        row.cost[group * (GROUP + 1) + GROUP] = none * none;
        row.column[group * (GROUP + 1) + GROUP] = 0;
    }
    least = least_of_warp(least);
    if (threadIdx.x % WARP == 0) atomicMin(row.least, least);
}

/// A pixel whose best candidate is sought, and its bracket, empty if nobody needs it.
struct Point {
    int32_t tile, x, low, high;
};

/// Narrows a bracket to candidates that lie near enough: all cost row.least or more, and some candidate costs `bound`.
__device__ void narrow(const Row &row, Point &point) {
    if (point.high - point.low < SHARE / 2) return;
    const int32_t own = Row::place(row.places[min(point.x, row.length - 1) / GROUP]);
    const uint32_t bound = min(min(row.at(point.low, point.x), row.at(point.high, point.x)),
                               row.at(min(max(own, point.low), point.high), point.x));
    const int32_t reach = static_cast<int32_t>(__fsqrt_ru(static_cast<float>(bound - *row.least)) * 1.000001f) + 1;
    const int32_t first = max(point.x - reach, 0) / GROUP, end = min(point.x + reach, row.length - 1) / GROUP + 1;
    point.low = max(point.low, Row::place(row.places[first]));
    point.high = min(point.high, Row::place(row.places[end] - 1));
}

/// The best of every `step`-th candidate from `low` to `high`, the leftmost of equals.
struct Best {
    uint32_t cost = ~0u;
    int32_t place;

    __device__ explicit Best(int32_t place) : place(place) {}
    __device__ void scan(const Row &row, int32_t x, int32_t low, int32_t high, int32_t step) {
#pragma unroll 4
        for (int32_t c = low; c <= high; c += step) {
            const uint32_t here = row.at(c, x);
            if (here < cost) cost = here, place = c;
        }
    }
    __device__ void join(uint32_t other_cost, int32_t other_place) {
        if (other_cost < cost || (other_cost == cost && other_place < place)) cost = other_cost, place = other_place;
    }
    /// With the lanes of its aligned group of `lanes`, at most a warp.
    __device__ void join_lanes(int lanes) {
        for (int step = lanes / 2; step > 0; step /= 2)
            join(__shfl_xor_sync(ALL_LANES, cost, step), __shfl_xor_sync(ALL_LANES, place, step));
    }
};

/// Finds the best candidates of points with as many lanes each as their brackets are long, several warps if need be.
/// A bracket that is much longer than most becomes its warp's.
template <class Ask>
__device__ void search_points(const Row &row, int32_t points, Ask ask) {
    const int lane = threadIdx.x % WARP;
    int32_t lanes = 1;
    while (lanes * points * SHARE < row.count && lanes * points * 2 <= MOST_LANES) lanes *= 2;
    while (lanes < WARP && lanes * points * SHARE < row.count) lanes *= 2;
    const int32_t units = THREADS / lanes, part = threadIdx.x % lanes;
    if (lanes > WARP) {
        const int32_t unit = threadIdx.x / lanes;
        if (static_cast<int32_t>(threadIdx.x) < points) row.keys[threadIdx.x] = ~0ull;
        __syncthreads();
        if (unit < points) {
            Point point = ask(unit);
            narrow(row, point);
            Best best(point.low);
            best.scan(row, point.x, point.low + part, point.high, lanes);
            best.join_lanes(WARP);
            if (lane == 0) atomicMin(&row.keys[unit], static_cast<unsigned long long>(best.cost) << 32 | best.place);
        }
        __syncthreads();
        if (static_cast<int32_t>(threadIdx.x) < points)  // so few that every patch needs them
            row.best[ask(threadIdx.x).tile] = static_cast<uint16_t>(row.keys[threadIdx.x]);
        return;
    }
    for (int32_t turn = threadIdx.x / WARP * (WARP / lanes); turn < points; turn += units) {
        const int32_t number = turn + lane / lanes;
        Point point = {-1, 0, 0, -1};
        if (number < points) point = ask(number);
        narrow(row, point);
        Best best(point.low);
        const bool is_long = point.high - point.low >= ALONE * lanes;
        if (!is_long) best.scan(row, point.x, point.low + part, point.high, lanes);
        for (uint32_t mask = __ballot_sync(ALL_LANES, is_long && part == 0); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t low = __shfl_sync(ALL_LANES, point.low, owner);
            Best share(low);
            share.scan(row, __shfl_sync(ALL_LANES, point.x, owner), low + lane, __shfl_sync(ALL_LANES, point.high, owner), WARP);
            share.join_lanes(WARP);
            if (lane == owner) best = share;
        }
        best.join_lanes(lanes);
        if (part == 0 && point.tile >= 0) row.best[point.tile] = static_cast<uint16_t>(best.place);
    }
}

/// Finds the best candidates of all tiles' first pixels in marked patches.
__device__ void bracket_tiles(const Row &row, const uint8_t *marks) {
    search_points(row, 2, [&](int32_t i) { return Point{i ? row.tiles : 0, i ? row.length : 0, 0, row.last()}; });
    __syncthreads();
    int32_t step = 1;
    while (step * 2 < row.tiles) step *= 2;
    for (; step >= 1; step /= 2) {
        search_points(row, ((row.tiles - 1) / step + 1) / 2, [&](int32_t i) {
            const int32_t tile = step * (1 + 2 * i);
            if (step < PATCH_TILES && !marks[tile / PATCH_TILES]) return Point{-1, 0, 0, -1};
            return Point{tile, row.pixel(tile), row.best[tile - step], row.best[min(tile + step, row.tiles)]};
        });
        __syncthreads();
    }
}

/// The least costs of a tile's pixels while they are being found: without the square of the pixel's place in the tile,
/// and with a bias that keeps the rest positive.
struct Tile {
    static constexpr uint32_t BIAS = TILE * TILE;
    uint32_t cost[TILE];

    __device__ Tile() {
#pragma unroll
        for (uint32_t &c : cost) c = ~0u;
    }
    /// (x + k - c)^2 = (x - c)^2 + 2 (x - c) k + k^2: one product serves all the pixels.
    __device__ void take(const Row &row, int32_t candidate, int32_t x) {
        const int32_t d = x - row.column[candidate];
        const uint32_t slope = static_cast<uint32_t>(2 * d);
        uint32_t here = row.cost[candidate] + static_cast<uint32_t>(d * d) + BIAS;
#pragma unroll
        for (int k = 0; k < TILE; ++k, here += slope) cost[k] = min(cost[k], here);
    }
    __device__ uint32_t result(int k) const { return cost[k] - BIAS + k * k; }
};

/// Above the cost of every site.
__device__ uint32_t no_cost(const Rows &rows) { return static_cast<uint32_t>(rows.output.measure.largest) + 1; }

/// Of the candidates that a pixel has the same least cost with, the site of lowest index.
__device__ int64_t lowest_site(const Rows &rows, const Row &row, int64_t image, int64_t y, int32_t x, uint32_t cost,
                               int32_t low, int32_t high) {
    const Columns &columns = rows.columns;
    const int64_t strip = y / STRIP, first = columns.at(image, strip, 0);
    int64_t lowest = INT64_MAX;
    for (int32_t c = low; c <= high; ++c) {
        if (row.at(c, x) != cost) continue;
        const int64_t column = row.column[c], at = first + column;
        const int64_t site = nearest_in_column(columns.words[at], columns.before[at], columns.after[at],
                                               static_cast<int32_t>(strip * STRIP), static_cast<int32_t>(y));
        lowest = min(lowest, site * columns.count + column);
    }
    return image * columns.length * columns.count + lowest;
}

__device__ float root_of(uint32_t cost) {
    return cost < 1u << 24 ? small_root(static_cast<float>(cost)) : large_root(cost);
}

template <bool NEAREST>
__device__ void write_tile(const Rows &rows, const Row &row, const Tile &tile, bool floats, int64_t image, int64_t y,
                           int32_t x, int32_t low, int32_t high) {
    const uint32_t none = no_cost(rows);
    const int64_t limit = rows.output.measure.limit;
    if (!NEAREST && floats && x + TILE <= row.length) {
        float distance[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const uint32_t cost = tile.result(k);
            distance[k] = cost <= limit ? root_of(cost) : INFINITY;
        }
        float4 *const to = reinterpret_cast<float4 *>(rows.output.distance.row(y, image) + int64_t(x) * 4);
        __stcs(to, make_float4(distance[0], distance[1], distance[2], distance[3]));
        __stcs(to + 1, make_float4(distance[4], distance[5], distance[6], distance[7]));
        return;
    }
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
        if (x + k >= row.length) break;
        const uint32_t cost = tile.result(k);
        const int64_t site = NEAREST && cost < none ? lowest_site(rows, row, image, y, x + k, cost, low, high) : 0;
        write_pixel(rows.output, x + k, y, image, cost, cost < none, site);
    }
}

/// Tries the candidates of every marked tile, a thread a tile, and writes its pixels.
template <bool NEAREST>
__device__ void finish_tiles(const Rows &rows, const Row &row, const uint8_t *marks, bool floats, int64_t image,
                             int64_t y) {
    const int lane = threadIdx.x % WARP;
    for (int32_t turn = threadIdx.x / WARP * WARP; turn < row.tiles; turn += THREADS) {
        const int32_t t = turn + lane;
        const bool wanted = t < row.tiles && marks[t / PATCH_TILES];
        const int32_t low = wanted ? row.best[t] : 0, high = wanted ? row.best[t + 1] : 0, x = t * TILE;
        Tile tile;
        if (wanted && high - low < ALONE)
            for (int32_t c = low; c <= high; ++c) tile.take(row, c, x);
        for (uint32_t mask = __ballot_sync(ALL_LANES, high - low >= ALONE); mask; mask &= mask - 1) {
            const int owner = __ffs(static_cast<int>(mask)) - 1;
            const int32_t from = __shfl_sync(ALL_LANES, low, owner), to = __shfl_sync(ALL_LANES, high, owner);
            Tile share;
            for (int32_t c = from + lane; c <= to; c += WARP) share.take(row, c, (turn + owner) * TILE);
#pragma unroll
            for (int k = 0; k < TILE; ++k) {
                const uint32_t least = least_of_warp(share.cost[k]);
                if (lane == owner) tile.cost[k] = min(tile.cost[k], least);
            }
        }
        if (wanted) write_tile<NEAREST>(rows, row, tile, floats, image, y, x, low, high);
    }
}

template <bool NEAREST>
__global__ void __launch_bounds__(THREADS, NEAREST ? 1 : 2) search_rows(Rows rows, bool floats, uint32_t none) {
    extern __shared__ __align__(16) unsigned long long shared[];
    __shared__ uint32_t least;
    Row row = shape_row(shared, &least, static_cast<int32_t>(rows.columns.count));
    for (int64_t item = blockIdx.x; item < rows.columns.batch * rows.columns.length; item += gridDim.x) {
        const int64_t image = item / rows.columns.length, y = item % rows.columns.length;
        const uint8_t *const marks = rows.marks_of(image, y);
        bool marked = false;
        for (int64_t p = threadIdx.x; p < rows.patches(); p += THREADS) marked = marked || marks[p];
        least = ~0u;
        if (!__syncthreads_or(marked)) continue;
        row.places = rows.places_of(image, y / STRIP);
        row.count = row.places[rows.groups()];
        load_row(row, rows, image, y, none);
        __syncthreads();
        bracket_tiles(row, marks);
        finish_tiles<NEAREST>(rows, row, marks, floats, image, y);
        __syncthreads();
    }
}

}  // namespace

bool rows_serve(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    // A candidate without a site costs a square above the largest cost, and the way to it; with a tile's bias that must
    // fit 32 bits.
    const int64_t width = job.set.size[0], way = (width - 1) * (width - 1);
    const int64_t none = no_distance(measure);
    return width <= WIDEST_ROW && none * none + way + 2 * Tile::BIAS < (int64_t(1) << 32);
}

void search_marked(const Rows &rows, cudaStream_t stream) {
    const auto search = [&](auto kernel) {
        launch_large("search_rows", kernel, rows.columns.batch * rows.columns.length, THREADS,
                     row_bytes(rows.columns.count), stream, rows, rows.plain_distances(), no_distance(rows.output.measure));
    };
    rows.output.nearest ? search(search_rows<true>) : search(search_rows<false>);
}

}  // namespace apsis
