// What is known of each component: area, box and sums of coordinates, added up run by run in shared memory, part by part, and
// then component by component.
//
// A part without a node is all of its component, and is written down once; the others meet in atomic additions, which are
// whole numbers and so do not depend on the order.  Of components the device holds a window at a time, however many there
// are; a tile that has none of a window's is passed over.
//
// Cost: 1/4 byte a pixel, and 88 bytes a component.
#include "tile.cuh"

namespace apsis {

namespace {

/// An apsis_component under way: sums where the centroid will be.
struct Sums {
    long long first, area, lower[3], upper[3], sum[3];
};
static_assert(sizeof(Sums) == sizeof(apsis_component));

/// Pixels of a row of a tile.
struct Stretch {
    uint32_t begin, end, y, z;
};

/// A labelled tile, and what is known of those of its parts whose roots are among ROUND runs.
template <class Tile>
struct Measured {
    // More parts would leave room for fewer tiles at once, and few tiles have more; in a volume all together takes less than
    // 99 KiB, which is what a block of most devices has at most.
    static constexpr uint32_t ROUND = Tile::PLANES > 1 ? 512 : 1024;
    static constexpr int AXES = Tile::PLANES > 1 ? 3 : 2;
    static constexpr uint32_t NOT_HERE = UINT32_MAX;

    Labelled<Tile> labelled;
    uint32_t is_node[Labelled<Tile>::RUNS / 32];
    uint32_t first[ROUND];  // the component's first pixel in the tile, or NOT_HERE
    uint32_t area[ROUND], sum[AXES][ROUND], lower[AXES][ROUND], upper[AXES][ROUND];

    __device__ void clear() {
        for (uint32_t i = threadIdx.x; i < ROUND; i += Tile::THREADS) {
            first[i] = NOT_HERE;
            area[i] = 0;
            for (int a = 0; a < AXES; ++a) sum[a][i] = 0, lower[a][i] = UINT32_MAX, upper[a][i] = 0;
        }
    }

    /// Adds stretches, each lane of a warp one or none, of parts at a place from 0 on.  Mostly they are of one part.
    __device__ void add(bool has, uint32_t part, const Stretch &stretch) {
        const uint32_t all = __ballot_sync(ALL_LANES, has);
        if (!all) return;
        const int leader = __ffs(all) - 1;
        const uint32_t led = __shfl_sync(ALL_LANES, part, leader);
        const bool is_one = __all_sync(ALL_LANES, !has || part == led);
        const uint32_t length = has ? stretch.end - stretch.begin : 0;
        const uint32_t low[3] = {stretch.begin, stretch.y, stretch.z}, high[3] = {stretch.end - 1, stretch.y, stretch.z};
        const uint32_t sums[3] = {length * (stretch.begin + stretch.end - 1) / 2, length * stretch.y, length * stretch.z};
        if (is_one) {
            const bool leads = threadIdx.x % WARP == leader;
            put(leads, part, sum_of_warp(length), [&](int a) { return sum_of_warp(has ? sums[a] : 0); },
                [&](int a) { return least_of_warp(has ? low[a] : UINT32_MAX); },
                [&](int a) { return greatest_of_warp(has ? high[a] : 0); });
        } else {
            put(has, part, length, [&](int a) { return sums[a]; }, [&](int a) { return low[a]; }, [&](int a) { return high[a]; });
        }
    }

    template <class Sum, class Lower, class Upper>
    __device__ void put(bool has, uint32_t part, uint32_t length, Sum sums, Lower low, Upper high) {
        if (has) atomicAdd(&area[part], length);
#pragma unroll
        for (int a = 0; a < AXES; ++a) {
            const uint32_t total = sums(a), least = low(a), greatest = high(a);
            if (!has) continue;
            atomicAdd(&sum[a][part], total);
            atomicMin(&lower[a][part], least);
            atomicMax(&upper[a][part], greatest);
        }
    }
};

/// Numbers of a window.
struct Window {
    Sums *sums;
    uint32_t from, count;  // of components, from 0

    __device__ bool has(uint32_t number) const { return number - 1 - from < count; }
};

__global__ void __launch_bounds__(BLOCK) clear_window(Window window) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= window.count) return;
    constexpr long long NONE = INT64_MAX;
    window.sums[i] = {NONE, 0, {NONE, NONE, NONE}, {-1, -1, -1}, {0, 0, 0}};
}

/// From sums to centroids.
__global__ void __launch_bounds__(BLOCK) finish_window(Window window) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= window.count) return;
    const Sums sums = window.sums[i];
    double *const centroid = reinterpret_cast<apsis_component *>(window.sums)[i].centroid;
    for (int a = 0; a < 3; ++a) centroid[a] = static_cast<double>(sums.sum[a]) / static_cast<double>(sums.area);
}

/// Whether a tile may have components of a window.
template <class Tile>
__device__ bool meets(const Window &window, const Place &place, const Tiles &tiles) {
    const int64_t y = min(place.y + Tile::ROWS, tiles.height) - 1, z = min(place.z + Tile::PLANES, tiles.depth) - 1;
    const uint32_t begin = tiles.before[tiles.rank_at(place.y, place.z, place.tx)];
    const uint32_t end = tiles.before[tiles.rank_at(y, z, place.tx) + 1];
    bool has = begin < window.from + window.count && end > window.from;
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) { has = has || window.has(tiles.parent[node]); });
    return __syncthreads_or(has);
}

template <class Tile>
__device__ void mark_nodes(Measured<Tile> &measured, const Place &place, const Tiles &tiles) {
    for (int i = threadIdx.x; i < Labelled<Tile>::RUNS / 32; i += Tile::THREADS) measured.is_node[i] = 0;
    __syncthreads();
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
        const uint32_t root = measured.labelled.root_of_node(tiles, node);
        atomicOr(&measured.is_node[root / 32], 1u << root % 32);
    });
    __syncthreads();
}

/// Adds the segments of a tile whose parts are of a round.
template <class Tile>
__device__ void measure_round(Measured<Tile> &measured, uint32_t round, uint32_t firsts) {
    const Labelled<Tile> &labelled = measured.labelled;
    const uint32_t at = threadIdx.x, row = at / Tile::WORDS, word = labelled.word[at], left = at % Tile::WORDS * 32;
    for (uint32_t rest = word & ~(word << 1); __any_sync(ALL_LANES, rest != 0); rest &= rest - 1) {
        const auto [x, length] = next_segment(word, rest);
        const uint32_t run = rest ? labelled.run_at(at, x) : 0, up = labelled.up(run);
        const uint32_t root = up < Labelled<Tile>::RUNS ? up : run, part = root - round;
        const bool has = rest && part < Measured<Tile>::ROUND;
        if (has && firsts >> x & 1) measured.first[part] = at * 32 + x;
        measured.add(has, part, {left + x, left + x + length, row % Tile::ROWS, row / Tile::ROWS});
    }
}

/// What a tile knows of a part, with coordinates of the image.
template <class Tile>
__device__ Sums sums_of(const Measured<Tile> &measured, uint32_t part, const Place &place, const Tiles &tiles) {
    const long long origin[3] = {place.x, place.y, place.z}, area = measured.area[part];
    Sums sums = {INT64_MAX, area, {}, {}, {}};
    if (const uint32_t first = measured.first[part]; first != Measured<Tile>::NOT_HERE) {
        const uint32_t row = first / 32 / Tile::WORDS, x = first % (32 * Tile::WORDS);
        sums.first = ((place.z + row / Tile::ROWS) * tiles.height + place.y + row % Tile::ROWS) * tiles.width + place.x + x;
    }
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const bool known = a < Measured<Tile>::AXES;
        const int in = known ? a : 0;
        sums.lower[a] = origin[a] + (known ? measured.lower[in][part] : 0);
        sums.upper[a] = origin[a] + (known ? measured.upper[in][part] : 0);
        sums.sum[a] = origin[a] * area + (known ? measured.sum[in][part] : 0);
    }
    return sums;
}

__device__ void add_shared(Sums &to, const Sums &sums) {
    const auto add = [](long long &field, long long value) {
        atomicAdd(reinterpret_cast<unsigned long long *>(&field), static_cast<unsigned long long>(value));
    };
    if (sums.first != INT64_MAX) to.first = sums.first;
    add(to.area, sums.area);
    for (int a = 0; a < 3; ++a) {
        add(to.sum[a], sums.sum[a]);
        atomicMin(&to.lower[a], sums.lower[a]);
        atomicMax(&to.upper[a], sums.upper[a]);
    }
}

template <class Tile>
__device__ void write_round(const Measured<Tile> &measured, uint32_t round, const Place &place, const Tiles &tiles,
                            const Window &window) {
    for (uint32_t part = threadIdx.x; part < Measured<Tile>::ROUND; part += Tile::THREADS) {
        if (measured.area[part] == 0) continue;
        const uint32_t root = round + part, number = measured.labelled.up(root) - Labelled<Tile>::RUNS;
        if (!window.has(number)) continue;
        Sums &to = window.sums[number - 1 - window.from];
        const Sums sums = sums_of(measured, part, place, tiles);
        if (measured.is_node[root / 32] >> root % 32 & 1)
            add_shared(to, sums);
        else
            to = sums;
    }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) measure_tile(Tiles tiles, Window window, bool is_only) {
    extern __shared__ __align__(16) uint8_t memory[];
    Measured<Tile> &measured = *reinterpret_cast<Measured<Tile> *>(memory);
    const Place place = place_of<Tile>(tiles, blockIdx.x);
    if (!is_only && !meets<Tile>(window, place, tiles)) return;
    const uint32_t runs = recall_tile(measured.labelled, place, tiles);
    mark_nodes(measured, place, tiles);
    name_roots(measured.labelled, runs, place, tiles);
    const uint32_t firsts = firsts_of<Tile>(place, tiles);
    for (uint32_t round = 0; round < runs; round += Measured<Tile>::ROUND) {
        measured.clear();
        __syncthreads();
        measure_round(measured, round, firsts);
        __syncthreads();
        write_round(measured, round, place, tiles, window);
        __syncthreads();
    }
}

static_assert(sizeof(Measured<PlaneTile<1>>) < 99 << 10 && sizeof(Measured<VolumeTile<1>>) < 99 << 10);

}  // namespace

template <class Tile>
void measure_components(const Tiles &tiles, void *memory, int64_t room, apsis_component *to, int64_t count, cudaStream_t stream) {
    for (int64_t from = 0; from < count; from += room) {
        const int64_t here = std::min(room, count - from);
        const Window window = {static_cast<Sums *>(memory), static_cast<uint32_t>(from), static_cast<uint32_t>(here)};
        launch("clear_window", clear_window, parts(here, BLOCK), BLOCK, stream, window);
        launch_large("measure_tile", measure_tile<Tile>, tiles.count(), Tile::THREADS, sizeof(Measured<Tile>), stream, tiles,
                     window, here == count);
        launch("finish_window", finish_window, parts(here, BLOCK), BLOCK, stream, window);
        check(cudaMemcpyAsync(to + from, memory, static_cast<size_t>(here) * sizeof(Sums), cudaMemcpyDeviceToHost, stream),
              "reading components");
    }
}

template void measure_components<PlaneTile<1>>(const Tiles &, void *, int64_t, apsis_component *, int64_t, cudaStream_t);
template void measure_components<PlaneTile<2>>(const Tiles &, void *, int64_t, apsis_component *, int64_t, cudaStream_t);
template void measure_components<VolumeTile<1>>(const Tiles &, void *, int64_t, apsis_component *, int64_t, cudaStream_t);
template void measure_components<VolumeTile<2>>(const Tiles &, void *, int64_t, apsis_component *, int64_t, cudaStream_t);
template void measure_components<VolumeTile<3>>(const Tiles &, void *, int64_t, apsis_component *, int64_t, cudaStream_t);

}  // namespace apsis
