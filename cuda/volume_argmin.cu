// The monotone argmin along the lines of a volume where sites are far.
//
// A block takes a bundle of lines that lie side by side, lays their costs in shared memory, a column a line, and finds
// what costs least for every eighth voxel: the best candidate never moves left as the voxel moves right (Hirata 1996),
// so the best of two voxels bracket those between them, and brackets are halved.  While voxels are few, several threads
// share one.  Then a thread holds the TILE voxels between two bests in registers and tries the candidates of their
// bracket on all of them.  Ties at the ends of a tile go to the left, which keeps every equal candidate of its voxels in
// the bracket; the nearest site is the one of lowest z, then y, then x.
//
// Cost, of each of the two searches: log2(n) + 2 evaluations a voxel for every image; along y 12 bytes a voxel through
// the second cache and 4 out, along x 4 in and the outputs out.
#include <cuda_runtime.h>

#include "launch.h"
#include "volume.h"

namespace apsis {

namespace {

constexpr int THREADS = 512;
constexpr int MOST_LANES = 256;                 // lines of a bundle where they are short
constexpr int FEWEST_LANES = 4;                 // where they are long: fewer would waste most of every sector read
constexpr uint32_t NO_PLACE = 0xffffffffu;      // stored for the nearest site where there is none
constexpr int64_t LONGEST_LINE = 65535;         // places and candidates are 16 bits
constexpr int SKIPPED_STEP = 4;                 // steps up to which it pays to ask which voxels are wanted

/// Lines side by side in shared memory.
struct Bundle {
    int32_t *cost;      // [candidate][lane]
    uint16_t *best;     // [tile][lane]: the best candidate of the tile's first voxel; at the end that of the voxel after
    int32_t *rest_cost; // [thread]: what threads that share a voxel found
    uint16_t *rest_at;
    int32_t length, tiles, lanes_log2, weight;

    static size_t bytes(int64_t length, int lanes_log2) {
        const int64_t tiles = parts(length, TILE);
        return static_cast<size_t>((length * 4 + (tiles + 1) * 2) << lanes_log2) + THREADS * 6;
    }
    __device__ Bundle(int32_t *shared, int32_t length_, int lanes_log2_, int32_t weight_)
        : cost(shared), length(length_), tiles((length_ + TILE - 1) / TILE), lanes_log2(lanes_log2_), weight(weight_) {
        rest_cost = cost + (length << lanes_log2);
        best = reinterpret_cast<uint16_t *>(rest_cost + THREADS);
        rest_at = best + ((tiles + 1) << lanes_log2);
    }
    __device__ int32_t lanes() const { return 1 << lanes_log2; }
    __device__ int32_t place(int32_t i, int32_t lane) const { return (i << lanes_log2) + lane; }
};

struct Best {
    int32_t cost = INT32_MAX, at = 0;

    __device__ void take(const Best &other) {
        if (other.cost < cost || (other.cost == cost && other.at < at)) *this = other;
    }
};

/// The leftmost best of every `step`-th candidate from `from` on for voxel x.
__device__ Best search_line(const Bundle &bundle, int32_t lane, int32_t x, int32_t from, int32_t to, int32_t step) {
    Best best;
    best.at = from;
#pragma unroll 4
    for (int32_t c = from; c <= to; c += step) {
        const int32_t d = x - c, cost = bundle.cost[bundle.place(c, lane)] + bundle.weight * d * d;
        if (cost < best.cost) best.cost = cost, best.at = c;
    }
    return best;
}

/// Finds the bests of `count` tiles, first, first + stride ..., between those `step` tiles to either side.
template <class Wanted>
__device__ void search_tiles(const Bundle &bundle, int32_t first, int32_t stride, int32_t count, int32_t step, Wanted wanted) {
    const int32_t items = count << bundle.lanes_log2;
    int32_t shares = 1;
    while (items * shares * 2 <= THREADS) shares *= 2;
    for (int32_t turn = threadIdx.x; turn < items * shares; turn += THREADS) {
        const int32_t item = turn % items, share = turn / items, lane = item & (bundle.lanes() - 1);
        const int32_t t = first + (item >> bundle.lanes_log2) * stride;
        if (!wanted(t, lane)) continue;
        const int32_t low = bundle.best[bundle.place(max(t - step, 0), lane)];
        const int32_t high = bundle.best[bundle.place(min(t + step, bundle.tiles), lane)];
        const Best best = search_line(bundle, lane, t * TILE, low + share, high, shares);
        if (shares == 1) {
            bundle.best[bundle.place(t, lane)] = static_cast<uint16_t>(best.at);
        } else {
            bundle.rest_cost[turn] = best.cost;
            bundle.rest_at[turn] = static_cast<uint16_t>(best.at);
        }
    }
    __syncthreads();
    if (shares == 1) return;
    if (const int32_t item = threadIdx.x; item < items) {
        const int32_t lane = item & (bundle.lanes() - 1), t = first + (item >> bundle.lanes_log2) * stride;
        Best best;
        if (wanted(t, lane)) {
            for (int32_t i = item; i < items * shares; i += items) {
                Best other;
                other.cost = bundle.rest_cost[i];
                other.at = bundle.rest_at[i];
                best.take(other);
            }
            bundle.best[bundle.place(t, lane)] = static_cast<uint16_t>(best.at);
        }
    }
    __syncthreads();
}

/// Finds the bests of all tiles' first voxels.
template <class Wanted>
__device__ void search_brackets(const Bundle &bundle, Wanted wanted) {
    for (int32_t lane = threadIdx.x; lane < bundle.lanes(); lane += THREADS) {
        bundle.best[bundle.place(0, lane)] = 0;
        bundle.best[bundle.place(bundle.tiles, lane)] = static_cast<uint16_t>(bundle.length - 1);
    }
    __syncthreads();
    if (bundle.tiles == 1) return;
    int32_t step = 1;
    while (step * 2 < bundle.tiles) step *= 2;
    for (; step >= 1; step /= 2) {
        // A best is needed where one of the tiles up to its neighbours is wanted.
        const auto needed = [&](int32_t t, int32_t lane) {
            bool found = step > SKIPPED_STEP;
            for (int32_t i = t - step; i < min(t + step, bundle.tiles) && !found; ++i) found = wanted(i, lane);
            return found;
        };
        search_tiles(bundle, step, 2 * step, (bundle.tiles - step - 1) / (2 * step) + 1, step, needed);
    }
    const auto at_ends = [&](int32_t t, int32_t lane) { return wanted(min(t, bundle.tiles - 1), lane); };
    search_tiles(bundle, 0, bundle.tiles, 2, 1, at_ends);
}

/// The least costs of a tile's voxels while they are being found: without that of the voxel's place in the tile.
template <bool NEAREST>
struct Tile {
    int32_t cost[TILE];
    int32_t at[TILE];  // if NEAREST

    /// w (x + k - c)^2 = w (x - c)^2 + 2 w (x - c) k + w k^2: one product serves all the voxels.
    template <class Lower>
    __device__ void take(const Bundle &bundle, int32_t lane, int32_t c, int32_t x, Lower lower) {
        const int32_t d = x - c, way = bundle.weight * d;
        int32_t here = bundle.cost[bundle.place(c, lane)] + way * d;
#pragma unroll
        for (int k = 0; k < TILE; ++k, here += 2 * way) {
            if constexpr (NEAREST) {
                if (here < cost[k] || (here == cost[k] && lower(c, at[k]))) cost[k] = here, at[k] = c;
            } else {
                cost[k] = min(cost[k], here);
            }
        }
    }
};

/// The lines along y: their costs come from columns along z.
template <bool NEAREST>
struct AlongY {
    Volume volume;

    __host__ __device__ int64_t length() const { return volume.height(); }
    __host__ __device__ int64_t lines() const { return volume.width(); }
    __device__ int32_t weight() const { return volume.weight[1]; }
    __device__ bool wanted(int64_t z, int64_t, int32_t tile) const { return volume.row_mark(z, int64_t(tile) * TILE); }

    __device__ int32_t position(int64_t z, int64_t x, int32_t y) const {
        const int64_t at = volume.columns.at(y, z / STRIP, x);
        return nearest_in_column(__ldg(volume.columns.words + at), __ldg(volume.columns.before + at),
                                 __ldg(volume.columns.after + at), static_cast<int32_t>(z / STRIP * STRIP),
                                 static_cast<int32_t>(z));
    }
    __device__ int32_t cost(int64_t z, int64_t x, int32_t y) const {
        const int32_t at = position(z, x, y), d = at - static_cast<int32_t>(z);
        return at == NO_SITE_BEFORE ? NO_COST<int32_t> : volume.weight[2] * d * d;
    }
    __device__ uint32_t site(int64_t z, int64_t x, int32_t y) const {
        const int32_t at = position(z, x, y);
        return at == NO_SITE_BEFORE ? NO_PLACE : static_cast<uint32_t>(at) << 16 | static_cast<uint32_t>(y);
    }
    __device__ void write(int64_t z, int64_t x, int32_t y, const Tile<NEAREST> &tile) const {
        uint32_t value[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            value[k] = NEAREST ? site(z, x, tile.at[k]) : static_cast<uint32_t>(tile.cost[k]);
        uint4 *const to = reinterpret_cast<uint4 *>(volume.stored(z, x) + y);
        to[0] = make_uint4(value[0], value[1], value[2], value[3]);
        to[1] = make_uint4(value[4], value[5], value[6], value[7]);
    }
};

/// The lines along x: what the search along y stored, a cost or a site in the plane of its x.
template <bool NEAREST>
struct AlongX {
    Volume volume;
    bool plain;  // a tile of distances is two stores

    __host__ __device__ int64_t length() const { return volume.width(); }
    __host__ __device__ int64_t lines() const { return volume.height(); }
    __device__ int32_t weight() const { return volume.weight[0]; }
    __device__ bool wanted(int64_t z, int64_t y, int32_t tile) const { return volume.mark(z, y, tile); }

    __device__ uint32_t site(int64_t z, int64_t y, int32_t x) const { return volume.stored(z, x)[y]; }
    __device__ int32_t cost(int64_t z, int64_t y, int32_t x) const {
        const uint32_t stored = __ldcs(volume.stored(z, x) + y);
        if (!NEAREST) return static_cast<int32_t>(stored);
        const int32_t down = static_cast<int32_t>(stored >> 16) - static_cast<int32_t>(z);
        const int32_t along = static_cast<int32_t>(stored & 0xffff) - static_cast<int32_t>(y);
        return stored == NO_PLACE ? NO_COST<int32_t> : volume.weight[2] * down * down + volume.weight[1] * along * along;
    }
    __device__ void write(int64_t z, int64_t y, int32_t x, const Tile<NEAREST> &tile) const {
        const Output &output = volume.output;
        if (!NEAREST && plain && x + TILE <= volume.width()) {
            float distance[TILE];
#pragma unroll
            for (int k = 0; k < TILE; ++k)
                distance[k] = tile.cost[k] <= output.measure.limit ? root_of(tile.cost[k]) : INFINITY;
            float4 *const to = reinterpret_cast<float4 *>(output.distance.row(y, z) + int64_t(x) * 4);
            to[0] = make_float4(distance[0], distance[1], distance[2], distance[3]);
            to[1] = make_float4(distance[4], distance[5], distance[6], distance[7]);
            return;
        }
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            if (x + k >= volume.width()) break;
            int64_t index = 0;
            if (NEAREST) {
                const uint32_t place = site(z, y, tile.at[k]);
                index = ((place >> 16) * volume.height() + (place & 0xffff)) * volume.width() + tile.at[k];
            }
            write_pixel(output, x + k, y, z, tile.cost[k], tile.cost[k] < NO_COST<int32_t>, index);
        }
    }
};

/// Tries the candidates of every wanted tile, and hands on what costs least.
template <bool NEAREST, class Lines, class Wanted>
__device__ void finish_tiles(const Bundle &bundle, const Lines &lines, int64_t z, int64_t first, Wanted wanted) {
    for (int32_t item = threadIdx.x; item < bundle.tiles << bundle.lanes_log2; item += THREADS) {
        const int32_t lane = item & (bundle.lanes() - 1), t = item >> bundle.lanes_log2, x = t * TILE;
        const int64_t line = first + lane;
        if (line >= lines.lines() || !wanted(t, lane)) continue;
        const int32_t low = bundle.best[bundle.place(t, lane)], high = bundle.best[bundle.place(t + 1, lane)];
        Tile<NEAREST> tile;
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[k] = INT32_MAX, tile.at[k] = low;
#pragma unroll 1
        for (int32_t c = low; c <= high; ++c)
            tile.take(bundle, lane, c, x, [&](int32_t a, int32_t b) { return lines.site(z, line, a) < lines.site(z, line, b); });
#pragma unroll
        for (int k = 0; k < TILE; ++k) tile.cost[k] += bundle.weight * k * k;
        lines.write(z, line, x, tile);
    }
}

template <bool NEAREST, class Lines>
__global__ void __launch_bounds__(THREADS, NEAREST ? 2 : 3) search_bundles(Lines lines, int lanes_log2) {
    extern __shared__ __align__(16) int32_t shared[];
    const Bundle bundle(shared, static_cast<int32_t>(lines.length()), lanes_log2, lines.weight());
    const int64_t across = (lines.lines() + bundle.lanes() - 1) >> lanes_log2;
    for (int64_t number = blockIdx.x; number < across * lines.volume.depth(); number += gridDim.x) {
        const int64_t z = number / across, first = number % across << lanes_log2, last = lines.lines() - 1;
        const auto wanted = [&](int32_t tile, int32_t lane) { return lines.wanted(z, min(first + lane, last), tile); };
        bool any = false;
        for (int32_t t = threadIdx.x; t < bundle.tiles; t += THREADS)
            for (int32_t lane = 0; lane < bundle.lanes(); lane += GROUP) any = any || wanted(t, lane);
        if (!__syncthreads_or(any)) continue;
#pragma unroll 4
        for (int32_t i = threadIdx.x; i < bundle.length << lanes_log2; i += THREADS)
            bundle.cost[i] = lines.cost(z, min(first + (i & (bundle.lanes() - 1)), last), i >> lanes_log2);
        search_brackets(bundle, wanted);
        finish_tiles<NEAREST>(bundle, lines, z, first, wanted);
        __syncthreads();
    }
}

/// The logarithm of the most lanes whose lines leave room for a second block on a multiprocessor, or -1.
int choose_lanes(int64_t length, int64_t lines) {
    int device, room;
    check(cudaGetDevice(&device), "finding the current device");
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking for shared memory");
    if (length > LONGEST_LINE) return -1;
    int lanes_log2 = 8;
    static_assert(MOST_LANES == 1 << 8);
    while (1 << lanes_log2 >= FEWEST_LANES) {
        const bool fits = Bundle::bytes(length, lanes_log2) <= static_cast<size_t>(room) / 2;
        const bool filled = lanes_log2 <= 5 || (int64_t(1) << lanes_log2) < 2 * lines;
        const bool small = lanes_log2 <= 5 || Bundle::bytes(length, lanes_log2) <= static_cast<size_t>(room) / 4;
        if (fits && filled && small) return lanes_log2;
        --lanes_log2;
    }
    return -1;
}

template <bool NEAREST, class Lines>
void search(const char *name, const Lines &lines, cudaStream_t stream) {
    const int lanes_log2 = choose_lanes(lines.length(), lines.lines());
    launch_large(name, search_bundles<NEAREST, Lines>, (parts(lines.lines(), int64_t(1) << lanes_log2)) * lines.volume.depth(),
                 THREADS, Bundle::bytes(lines.length(), lanes_log2), stream, lines, lanes_log2);
}

}  // namespace

bool argmin_serves(const Volume &volume) {
    // Voxels up to a tile beyond the end of a line are searched too: their ways must fit above the cost of no site.
    const auto fits = [](int64_t weight, int64_t length) { return weight * (length + TILE) * (length + TILE) < NO_COST<int32_t>; };
    return fits(volume.weight[0], volume.width()) && fits(volume.weight[1], volume.height()) &&
           volume.depth() <= LONGEST_LINE && choose_lanes(volume.height(), volume.width()) >= 0 &&
           choose_lanes(volume.width(), volume.height()) >= 0;
}

void search_marked(const Volume &volume, cudaStream_t stream) {
    const bool plain = plain_distances(volume.output);
    if (volume.output.nearest) {
        search<true>("search_bundles", AlongY<true>{volume}, stream);
        search<true>("search_bundles", AlongX<true>{volume, plain}, stream);
    } else {
        search<false>("search_bundles", AlongY<false>{volume}, stream);
        search<false>("search_bundles", AlongX<false>{volume, plain}, stream);
    }
}

}  // namespace apsis
