// Chessboard distance by sweeps, along z, then y, then x.  The back end takes it for every chessboard map (backend.cpp).
//
// The key of a pixel is (distance << shift) | index of a site.  The least key over all sites holds both the distance and the
// lowest index of a nearest site.  A step to any neighbour costs 1, so the keys are the fixpoint of
// key(p) = min over the 26 neighbours (8 in 2-D) of key + (1 << shift).
//
// The sweeps.  The steps of a shortest way from a site to a pixel can be put in this order: first the steps along z, each of
// which may also go one along y and x; then the remaining steps along y, each of which may also go one along x; then the
// remaining steps along x.  The way's length is the largest of the three offsets, and each axis needs no more steps than
// remain.  So every shortest way is found by a sweep down and up along z with the 3 x 3 stencil of the plane before, one along
// y with the 3-stencil of the row before, and a running minimum along x.  The sweep up begins with the keys of the sweep down,
// not with the sites alone.  This adds ways that go down and up again.  No way is shorter than the distance, so the least keys
// stay right.
//
// The keys are updated in place.  A block holds a tile with a halo, so that it can take several planes or rows a launch.  Other
// blocks write the pixels of its halo in the same launch, so a halo pixel may be read before or after that.  Both are right:
// the new key is the result of this same sweep, and min(min(s, w), w) = min(s, w).  The accesses are volatile, so that each is
// one of 8 (or 4) bytes.
//
// Along a periodic axis the neighbour of the last pixel is the first one, and a shortest way goes half way around at most.  So
// the sweeps along y and z go around once, and half once more, and along x a row has copies beside it (core/copies.h).  A tile
// has its halo across the seam.
//
// Of a slab all keys are stored first, those of its first and last row with their distances to the sites outside of it
// (core/chessboard.h).  The sweeps along the last axis then begin with these.
//
// Cost: linear.  In bytes a pixel, with a key of 8 (4 if nearest sites are not output): 2-D 1 + 8 + 16 + 8 + 8, and in 3-D 32
// more, plus the halos and the outputs.  A slab, whose keys have 4, has 8 more.
#include <utility>
#include <vector>

#include "core/copies.h"
#include "core/keys.h"
#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::distance {

using namespace columns;

namespace {

// Loads in flight, where each step waits for the step before.
constexpr int AHEAD = 8;

// Along y a block has SPAN pixels of a row, of which 7/8 are not halo, and takes ROW_HALO rows a launch.
constexpr int SPAN = 512;
constexpr int ROW_HALO = 32;

// Along z a block has SIDE x SIDE pixels, one warp a row, as many as a block can have, of which 9/16 are not halo.  It takes
// PLANE_HALO planes a launch, whose loads are all in flight at once.
constexpr int SIDE = 32;
constexpr int PLANE_HALO = 4;
static_assert(AHEAD % 2 == 0 && PLANE_HALO % 2 == 0, "the rows of a turn use two buffers in turn");

/// The keys of an image, and how they are formed.  A key of 4 bytes has no index.  CLOSED: the image closes on itself along
/// some axis.  (Told at run time, others took 7 % longer on an H100: 13.9 ms for 16384^2, which took 13.)
template <class Key, bool CLOSED>
struct Keys {
    Key *data;
    Columns columns;  // the sites
    int64_t width, height, depth;
    Periodic closed;
    Copies row = {1, false};
    int shift;
    bool slices;

    /// No site yet.  Any number of steps within an image can be added without overflow.
    static constexpr Key NONE = Key(1) << (8 * sizeof(Key) - 1);

    __device__ Key one() const { return Key(1) << shift; }
    /// Whether there is a pixel at a coordinate that may be as far outside of the image as it likes.  Then it is that pixel's.
    __device__ bool find(int axis, int64_t &at, int64_t extent) const {
        if (at >= 0 && at < extent) return true;
        if (!CLOSED || !closed.along[axis]) return false;
        at %= extent;
        if (at < 0) at += extent;
        return true;
    }
    __device__ volatile Key *at(int64_t x, int64_t y, int64_t z) const { return data + (z * height + y) * width + x; }
    /// The key of a site itself, or NONE.
    __device__ Key start(int64_t x, int64_t y, int64_t z) const {
        const uint32_t word = columns.words[columns.at(z, y / STRIP, x)];
        if (!(word >> (y % STRIP) & 1)) return NONE;
        return sizeof(Key) == 4 ? 0 : static_cast<Key>(x + width * (y + (slices ? 0 : height * z)));
    }
};

/// The planes or rows of a launch: `count` of them from `from` on, in steps of +1 or -1.
struct SweptLines {
    int64_t from, before;  // the first one, and the one before it; -1: the sweep begins there
    int32_t count, direction;
    int32_t halo;     // 0 if a block sees the whole image
    bool from_sites;  // no keys are stored yet: they start from the sites
};

template <class Key>
__device__ Key least(Key a, Key b, Key c) {
    return min(a, min(b, c));
}

/// The pixels that a block has across a sweep: along z a tile of SIDE x SIDE, a warp a row of it; along y a stretch of SPAN
/// pixels of the rows of one z.
template <bool ALONG_Z>
struct SweptBlock {
    static constexpr int WIDTH = ALONG_Z ? SIDE : SPAN, HEIGHT = ALONG_Z ? SIDE : 1, HALO = ALONG_Z ? PLANE_HALO : ROW_HALO;
    static constexpr int LOADS = ALONG_Z ? PLANE_HALO : AHEAD;  // in flight at once
    static constexpr int BLOCKS_PER_SM = ALONG_Z ? 1 : 2;
};

/// Sweeps along z or y.
template <bool ALONG_Z, class Key, bool CLOSED>
__global__ void __launch_bounds__(SweptBlock<ALONG_Z>::WIDTH *SweptBlock<ALONG_Z>::HEIGHT, SweptBlock<ALONG_Z>::BLOCKS_PER_SM)
    sweep_tiles(Keys<Key, CLOSED> keys, SweptLines sweep) {
    constexpr int WIDTH = SweptBlock<ALONG_Z>::WIDTH, HEIGHT = SweptBlock<ALONG_Z>::HEIGHT, LOADS = SweptBlock<ALONG_Z>::LOADS;
    __shared__ Key shared[2][HEIGHT][WIDTH];
    const int i = threadIdx.x, j = threadIdx.y, own = WIDTH - 2 * sweep.halo;
    const auto is_own = [&](int k, int size) { return k >= sweep.halo && k < size - sweep.halo; };
    const int64_t across = (keys.width + own - 1) / own;
    const int64_t tiles = across * (ALONG_Z ? (keys.height + own - 1) / own : keys.depth);
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int64_t x = tile % across * own + i - sweep.halo;
        int64_t other = ALONG_Z ? tile / across * own + j - sweep.halo : tile / across;  // y, or z
        const bool is_within = x >= 0 && x < keys.width && (!ALONG_Z || (other >= 0 && other < keys.height));
        const bool is_stored = is_within && is_own(i, WIDTH) && (!ALONG_Z || is_own(j, HEIGHT));
        const bool inside = CLOSED ? keys.find(0, x, keys.width) && (!ALONG_Z || keys.find(1, other, keys.height)) : is_within;
        const auto at = [&](int64_t k) -> volatile Key * { return ALONG_Z ? keys.at(x, other, k) : keys.at(x, k, other); };
        const auto load_start = [&](int64_t k) {  // before the sweep reaches it
            if (!sweep.from_sites) return static_cast<Key>(*at(k));
            return ALONG_Z ? keys.start(x, other, k) : keys.start(x, k, other);
        };
        Key key = keys.NONE;
        if (inside && sweep.before >= 0) key = *at(sweep.before);
        for (int32_t t = 0; t < sweep.count; t += LOADS) {
            const int64_t from = sweep.from + int64_t(t) * sweep.direction;
            Key start[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; ++k)
                start[k] = inside && t + k < sweep.count ? load_start(from + k * sweep.direction) : keys.NONE;
#pragma unroll
            for (int k = 0; k < LOADS; ++k) {
                if (t + k >= sweep.count) break;
                Key(&tile_keys)[HEIGHT][WIDTH] = shared[k % 2];
                Key before = key;  // the least key beside the pixel, in the plane or row before
                if (ALONG_Z) before = least(key, __shfl_up_sync(ALL_LANES, key, 1), __shfl_down_sync(ALL_LANES, key, 1));
                tile_keys[j][i] = before;
                __syncthreads();
                before = ALONG_Z ? least(tile_keys[max(j - 1, 0)][i], before, tile_keys[min(j + 1, HEIGHT - 1)][i])
                                 : least(tile_keys[0][max(i - 1, 0)], before, tile_keys[0][min(i + 1, WIDTH - 1)]);
                key = min(start[k], before + keys.one());
                if (is_stored) *at(from + k * sweep.direction) = key;
            }
        }
        __syncthreads();
    }
}

// ---- Along x: the ends of tiles of 32 pixels, a walk over the tiles of a row, the minima within tiles ----

template <class Key>
struct Ends {
    Key *to_right;  // [tile][row]: the least key at the tile's last pixel; later at the pixel before the tile
    Key *to_left;   // at its first pixel; later at the pixel after the tile
};

template <class Key, bool CLOSED>
__device__ Key key_or_none(const Keys<Key, CLOSED> &keys, int64_t row, int64_t x) {
    if (CLOSED) return x < keys.row.all ? keys.data[row * keys.width + keys.row.original(x - keys.row.before)] : keys.NONE;
    return x < keys.width ? keys.data[row * keys.width + x] : keys.NONE;
}

/// Finds the ends of each tile from the tile's own keys.  A warp takes a tile.
template <class Key, bool CLOSED>
__global__ void __launch_bounds__(BLOCK) summarise_tiles(Keys<Key, CLOSED> keys, Ends<Key> ends) {
    const int lane = threadIdx.x % WARP;
    const int64_t tiles = ceil_div(keys.row.all, WARP), rows = keys.height * keys.depth;
    const int64_t step = int64_t(gridDim.x) * WARPS;
    for (int64_t item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; item < rows * tiles; item += step) {
        const int64_t row = item / tiles, tile = item % tiles;
        const Key key = key_or_none(keys, row, tile * WARP + lane);
        Key right = key + (WARP - 1 - lane) * keys.one(), left = key + lane * keys.one();
#pragma unroll
        for (int o = WARP / 2; o > 0; o /= 2) {
            right = min(right, __shfl_xor_sync(ALL_LANES, right, o));
            left = min(left, __shfl_xor_sync(ALL_LANES, left, o));
        }
        if (lane == 0) ends.to_right[tile * rows + row] = right;
        if (lane == 1) ends.to_left[tile * rows + row] = left;
    }
}

/// Walks over the tiles of a row, `step` apart, and replaces the key that each tile sends by the key that comes to it.
template <class Key, bool CLOSED>
__device__ void carry_along(const Keys<Key, CLOSED> &keys, Key *end, int64_t step, int64_t tiles) {
    Key carry = keys.NONE;
    for (int64_t tile = 0; tile < tiles; tile += AHEAD) {
        Key sent[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) sent[k] = tile + k < tiles ? end[(tile + k) * step] : keys.NONE;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (tile + k < tiles) end[(tile + k) * step] = carry;
            carry = min(sent[k], carry + WARP * keys.one());
        }
    }
}

/// Carries keys from tile to tile, both ways.  A thread takes a row.
template <class Key, bool CLOSED>
__global__ void __launch_bounds__(WALKERS) carry_tiles(Keys<Key, CLOSED> keys, Ends<Key> ends) {
    const int64_t tiles = ceil_div(keys.row.all, WARP), rows = keys.height * keys.depth;
    const int64_t step = int64_t(gridDim.x) * WALKERS;
    for (int64_t row = int64_t(blockIdx.x) * WALKERS + threadIdx.x; row < rows; row += step) {
        carry_along(keys, ends.to_right + row, rows, tiles);
        carry_along(keys, ends.to_left + (tiles - 1) * rows + row, -rows, tiles);
    }
}

/// Finds the running minima within tiles, both ways, and writes the outputs.  A warp takes a tile.
template <class Key, bool CLOSED>
__global__ void __launch_bounds__(BLOCK) finish_tiles(Keys<Key, CLOSED> keys, Ends<Key> ends, Output output) {
    const int lane = threadIdx.x % WARP;
    const int64_t tiles = ceil_div(keys.row.all, WARP), rows = keys.height * keys.depth;
    const int64_t step = int64_t(gridDim.x) * WARPS;
    for (int64_t item = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP; item < rows * tiles; item += step) {
        const int64_t row = item / tiles, tile = item % tiles, at = tile * WARP + lane, x = at - keys.row.before;
        Key key = least<Key>(key_or_none(keys, row, at), ends.to_right[tile * rows + row] + (lane + 1) * keys.one(),
                             ends.to_left[tile * rows + row] + (WARP - lane) * keys.one());
#pragma unroll
        for (int o = 1; o < WARP; o *= 2) {
            const Key left = __shfl_up_sync(ALL_LANES, key, o), right = __shfl_down_sync(ALL_LANES, key, o);
            key = least<Key>(key, left + o * keys.one(), right + o * keys.one());
        }
        if (x < 0 || x >= keys.width) continue;
        const int64_t y = row % keys.height, z = row / keys.height;
        const int64_t index = static_cast<int64_t>(key & (keys.one() - 1));
        write_pixel(output, x, y, z, static_cast<int64_t>(key >> keys.shift), key < keys.NONE,
                    index + (keys.slices ? z * keys.height * keys.width : 0));
    }
}

// ---- Slabs ----

/// Stores the keys of the sites.
template <class Key, bool CLOSED>
__global__ void __launch_bounds__(BLOCK) start_keys(Keys<Key, CLOSED> keys) {
    const int64_t pixels = keys.width * keys.height * keys.depth;
    for (int64_t i = first_item(); i < pixels; i += item_step()) {
        const int64_t row = i / keys.width;
        keys.data[i] = keys.start(i % keys.width, row % keys.height, row / keys.height);
    }
}

/// Lowers the keys of a row, in 3-D plane, to the distances of sites outside of the slab.
template <class Key>
__global__ void __launch_bounds__(BLOCK) enter_distances(int shift, Key *row, const int32_t *distance, int64_t columns) {
    for (int64_t i = first_item(); i < columns; i += item_step())
        if (distance[i] != NO_CHESSBOARD) row[i] = min(row[i], static_cast<Key>(distance[i]) << shift);
}

// ---- The passes ----

template <class Key, bool CLOSED>
struct Scratch {
    Keys<Key, CLOSED> keys;
    Ends<Key> ends;
    int32_t *entering;  // [column]

    Scratch(const DistanceJob &job, Carver &carver) {
        keys.columns = shape_columns(job.set, 1);
        keys.width = job.set.size[0], keys.height = job.set.size[1], keys.depth = job.set.size[2];
        keys.closed = job.closed();
        keys.row = Copies(keys.width, keys.closed.along[0]);
        keys.slices = job.axes == 2;
        const int64_t sites = keys.width * keys.height * (keys.slices ? 1 : keys.depth);
        keys.shift = sizeof(Key) == 8 ? bits_below(sites) : 0;
        carve_words(keys.columns, carver);
        keys.data = carver.take<Key>(job.set.pixels());
        const int64_t ends_count = ceil_div(keys.row.all, WARP) * keys.height * keys.depth;
        ends.to_right = carver.take<Key>(ends_count);
        ends.to_left = carver.take<Key>(ends_count);
        entering = carver.take<int32_t>(job.is_slab() ? job.columns() : 0);
    }
};

/// Calls body with the Scratch of a job, as a type.
template <class Body>
auto with_scratch(const DistanceJob &job, Body body) {
    const auto with_key = [&](auto key) {
        using Key = decltype(key);
        return job.closed().any() ? body(static_cast<Scratch<Key, true> *>(nullptr))
                                  : body(static_cast<Scratch<Key, false> *>(nullptr));
    };
    return job.nearest ? with_key(uint64_t()) : with_key(uint32_t());
}

/// Queues the sweeps along z or y, down and up again: each in one launch if a block holds a whole plane or row, otherwise as
/// many planes or rows a launch as the halo allows.
template <bool ALONG_Z, class Key, bool CLOSED>
void run_sweeps(const Keys<Key, CLOSED> &keys, bool from_sites, cudaStream_t stream) {
    using Block = SweptBlock<ALONG_Z>;
    const int64_t length = ALONG_Z ? keys.depth : keys.height;
    const bool is_closed = keys.closed.along[ALONG_Z ? 2 : 1];
    const bool is_whole = keys.width <= Block::WIDTH && (!ALONG_Z || keys.height <= Block::HEIGHT) && !keys.closed.along[0] &&
                          (!ALONG_Z || !keys.closed.along[1]);
    const int32_t halo = is_whole ? 0 : Block::HALO;
    const int64_t own = Block::WIDTH - 2 * halo, most = is_whole ? length : halo;
    const int64_t blocks = ceil_div(keys.width, own) * (ALONG_Z ? ceil_div(keys.height, own) : keys.depth);
    const auto run = [&](bool is_down, bool is_again, int64_t end) {
        const int64_t first = is_down ? 0 : length - 1;
        for (int64_t done = 0; done < end; done += most) {
            SweptLines sweep;
            sweep.direction = is_down ? 1 : -1;
            sweep.from = first + done * sweep.direction;
            sweep.before = done > 0 ? sweep.from - sweep.direction : is_again ? length - 1 - first : -1;
            sweep.count = static_cast<int32_t>(std::min(most, end - done));
            sweep.halo = halo;
            sweep.from_sites = is_down && !is_again && from_sites;
            launch("sweep_tiles", sweep_tiles<ALONG_Z, Key, CLOSED>, blocks, dim3(Block::WIDTH, Block::HEIGHT), stream, keys,
                   sweep);
        }
    };
    for (const bool is_down : {true, false}) {
        run(is_down, false, length);
        if (is_closed) run(is_down, true, length / 2);
    }
}

/// The distances from a row of a slab, in 3-D plane, to sites outside of it.
struct Entering {
    int64_t row;
    std::vector<int32_t> distance;  // [column]
};

/// Stores the keys of a slab, and those that come in from outside.  Waits until these are copied.
template <class Key, bool CLOSED>
void start_slab(const std::vector<Entering> &entering, const Scratch<Key, CLOSED> &scratch, int64_t pixels,
                cudaStream_t stream) {
    launch("start_keys", start_keys<Key, CLOSED>, ceil_div(pixels, BLOCK), BLOCK, stream, scratch.keys);
    for (const Entering &from : entering) {
        const auto columns = static_cast<int64_t>(from.distance.size());
        check(cudaMemcpyAsync(scratch.entering, from.distance.data(), from.distance.size() * sizeof(int32_t),
                              cudaMemcpyHostToDevice, stream),
              "copying the distances to sites outside of a slab");
        check(cudaStreamSynchronize(stream), "waiting for the distances to sites outside of a slab");
        launch("enter_distances", enter_distances<Key>, ceil_div(columns, BLOCK), BLOCK, stream, scratch.keys.shift,
               scratch.keys.data + from.row * columns, static_cast<const int32_t *>(scratch.entering), columns);
    }
}

/// Computes one map.  Its progress goes from `begin` to `end`.
template <class Key, bool CLOSED>
void run_once(const DistanceJob &job, bool inside, const std::vector<Entering> &entering, Scratch<Key, CLOSED> &scratch,
              cudaStream_t stream, const Progress &progress, double begin, double end) {
    const Keys<Key, CLOSED> &keys = scratch.keys;
    const Ends<Key> &ends = scratch.ends;
    const auto tell = [&](double done) { report(progress, begin + (end - begin) * done, stream); };
    pack_columns(job.set, 1, job.complement != inside, keys.columns, stream);
    tell(0.1);

    if (job.is_slab()) start_slab(entering, scratch, job.set.pixels(), stream);
    if (!keys.slices) run_sweeps<true>(keys, !job.is_slab(), stream);
    tell(0.5);
    run_sweeps<false>(keys, keys.slices && !job.is_slab(), stream);
    tell(0.8);

    const int64_t rows = keys.height * keys.depth, tiles = ceil_div(keys.row.all, WARP) * rows;
    launch("summarise_tiles", summarise_tiles<Key, CLOSED>, ceil_div(tiles, WARPS), BLOCK, stream, keys, ends);
    launch("carry_tiles", carry_tiles<Key, CLOSED>, ceil_div(rows, WALKERS), WALKERS, stream, keys, ends);
    launch("finish_tiles", finish_tiles<Key, CLOSED>, ceil_div(tiles, WARPS), BLOCK, stream, keys, ends, Output(job, inside));
    tell(1);
}

}  // namespace

size_t chessboard_scratch(const DistanceJob &job) {
    return with_scratch(job, [&](auto *scratch) {
        Carver carver;
        std::remove_pointer_t<decltype(scratch)>(job, carver);
        return carver.used();
    });
}

void chessboard(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    with_scratch(job, [&](auto *type) {
        Carver carver(memory);
        std::remove_pointer_t<decltype(type)> scratch(job, carver);
        std::vector<Entering> entering[2];  // before any work is queued
        for (int side = 0; side < (job.is_signed ? 2 : 1); ++side)
            job.for_chessboard_beyond(side, [&](int64_t row, std::vector<int32_t> distance) {
                entering[side].push_back({row, std::move(distance)});
            });
        run_once(job, false, entering[0], scratch, stream, progress, 0, job.is_signed ? 0.5 : 1);
        if (job.is_signed) run_once(job, true, entering[1], scratch, stream, progress, 0.5, 1);
    });
}

}  // namespace apsis::cuda::distance
