// A 3-D Euclidean distance map on the device: columns of bits along z, then lines along y, then along x.
//
// Between the last two, what is best for every voxel in its own plane x is stored.  Three exact ways find it, and the
// outputs from it.  Where a sample of voxels tells that nearly all sites are near the outward search takes the image, else
// the search in windows does.  Both mark the patches, TILE voxels of GROUP rows, that have one whose site is out of their
// reach, and all that the monotone argmin needs to know for those.
//
// Blocks are numbered in 32 bits: an image of so many would fit no memory.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::volume {

constexpr int TILE = 8;    // voxels of a line in a thread's registers: 32 bytes, a sector of memory
constexpr int GROUP = 32;  // rows, and voxels of a row, that share marks

// An image is far if the outward search would leave one voxel in FAR_PART: where all is near windows cost but a third more, and
// what that one leaves to the argmin costs far more.
constexpr int SAMPLES = 1024, FAR_PART = 64;

struct Volume {
    Columns columns;  // along z: column x of image y
    int32_t weight[3];
    uint32_t *store;  // what the search along y found, as each way lays it out
    uint8_t *marks;   // [z][group of rows][tile]: not 0 where the searches before gave up
    uint8_t *needs;   // [z][group of rows][group of voxels]: not 0 where marked tiles may have their sites;
                      // and a last one, not 0 if any is
    uint32_t *far;    // one: how many of SAMPLES voxels the outward search would leave
    Output output;
    float *lengths;  // of costs, which the searches before look up unless the unit is 1
    bool plain;      // outputs are packed numbers of 32 bits

    __host__ __device__ int64_t width() const { return columns.count; }
    __host__ __device__ int64_t height() const { return columns.batch; }
    __host__ __device__ int64_t depth() const { return columns.length; }
    __host__ __device__ int64_t tiles() const { return (width() + TILE - 1) / TILE; }
    __host__ __device__ int64_t groups() const { return (height() + GROUP - 1) / GROUP; }
    __host__ __device__ int64_t groups_across() const { return (width() + GROUP - 1) / GROUP; }
    __host__ __device__ int64_t count_marks() const { return depth() * groups() * tiles(); }
    __host__ __device__ int64_t count_needs() const { return depth() * groups() * groups_across() + 1; }
    __device__ uint8_t &mark(int64_t z, int64_t y, int64_t tile) const {
        return marks[(z * groups() + y / GROUP) * tiles() + tile];
    }
    __device__ uint8_t &need(int64_t z, int64_t y, int64_t x) const {
        return needs[(z * groups() + y / GROUP) * groups_across() + x / GROUP];
    }
    /// Whether the search in windows takes the image, not the outward one.
    __device__ bool is_far() const { return *far >= SAMPLES / FAR_PART; }
    __device__ uint8_t &any_need() const { return needs[count_needs() - 1]; }
};

/// The words of the store that each way needs.
int64_t outward_store(const Volume &volume);
int64_t window_store(const Volume &volume);
int64_t argmin_store(const Volume &volume);

/// The lengths that the outward search and that in windows look up.
int64_t outward_lengths(const Volume &volume);
int64_t window_lengths(const Volume &volume);

/// Whether the outward search knows the costs of a map, on the current device; else the image is far.
bool outward_serves(const Volume &volume);

/// Whether the outward search leaves nothing to the others: distances beyond its reach are not wanted.
bool outward_suffices(const Volume &volume);

/// Whether the search in windows knows the costs of a map and has room on the current device; else all is marked.
bool windows_serve(const Volume &volume);

/// Whether the monotone argmin's lines fit the shared memory of the current device.
bool argmin_serves(const Volume &volume);

/// Counts the voxels of a sample that the outward search would leave.
void count_far(const Volume &volume, cudaStream_t stream);

/// Writes what is near unless the image is far, and marks the rest.
void search_outward(const Volume &volume, cudaStream_t stream);

/// Writes what its windows reach if the image is far, and marks the rest.
void search_in_windows(const Volume &volume, cudaStream_t stream);

/// Writes what is marked.
void search_marked(const Volume &volume, cudaStream_t stream);

#if defined(__CUDACC__)
/// Stores a tile of numbers, as many as lie inside the image: four at once, or two, as rows of an even width are aligned.
template <class Number>
__device__ void store_tile(Number *to, const Number (&number)[TILE], int64_t inside) {
    if (inside >= TILE && reinterpret_cast<uintptr_t>(to) % sizeof(uint4) == 0) {
        uint4 quad[2];
        memcpy(quad, number, sizeof(quad));
        reinterpret_cast<uint4 *>(to)[0] = quad[0];
        reinterpret_cast<uint4 *>(to)[1] = quad[1];
    } else if (inside % 2 == 0 && reinterpret_cast<uintptr_t>(to) % sizeof(uint2) == 0) {
#pragma unroll
        for (int k = 0; k < TILE; k += 2) {
            uint2 pair;
            memcpy(&pair, number + k, sizeof(pair));
            if (k < inside) reinterpret_cast<uint2 *>(to)[k / 2] = pair;
        }
    } else {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (k < inside) to[k] = number[k];
    }
}

/// Stores a whole tile of each lane of a warp, aligned: two lanes exchange halves, and so write 32 bytes together, a sector of
/// memory, not twice a part of it.
template <class Number>
__device__ void store_tiles(Number *to, const Number (&number)[TILE]) {
    constexpr int HALF_TILE = TILE / 2;
    const bool is_odd = threadIdx.x % 2;
    Number own[HALF_TILE], other[HALF_TILE];
#pragma unroll
    for (int k = 0; k < HALF_TILE; ++k) {
        own[k] = is_odd ? number[HALF_TILE + k] : number[k];
        other[k] = __shfl_xor_sync(ALL_LANES, is_odd ? number[k] : number[HALF_TILE + k], 1);
    }
    const auto there = reinterpret_cast<Number *>(__shfl_xor_sync(ALL_LANES, reinterpret_cast<unsigned long long>(to), 1));
    const auto store = [&](Number *row, const Number(&half)[HALF_TILE]) {
        reinterpret_cast<uint4 *>(row)[is_odd] = make_uint4(half[0], half[1], half[2], half[3]);
    };
    Number even[HALF_TILE], odd[HALF_TILE];  // of both lanes' rows
#pragma unroll
    for (int k = 0; k < HALF_TILE; ++k) even[k] = is_odd ? other[k] : own[k], odd[k] = is_odd ? own[k] : other[k];
    store(is_odd ? there : to, even);
    store(is_odd ? to : there, odd);
}

/// Moves a tile's numbers to the left by one, in registers.
template <class Number>
__device__ void shift(Number (&number)[TILE]) {
#pragma unroll
    for (int k = 1; k < TILE; ++k) number[k - 1] = number[k];
}

/// Writes a tile of row y voxel by voxel, into any outputs: its costs, and if somebody asks the nearest sites, which site(k)
/// finds.
template <bool NEAREST, class Site>
__device__ void write_voxels(const Volume &volume, int64_t x, int64_t y, int64_t z, int32_t (&cost)[TILE], Site site) {
    int64_t index[TILE] = {};
    if constexpr (NEAREST) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) index[k] = site(k);
    }
    const int64_t end = min(x + TILE, volume.width());
#pragma unroll 1
    for (; x < end; ++x, shift(cost), shift(index)) write_pixel(volume.output, x, y, z, cost[0], true, index[0]);
}

/// Writes a tile of row y into packed outputs: the lengths of its costs, which length(cost) tells and which take their place,
/// and if somebody asks the nearest sites, which site(k) finds.  TOGETHER by all lanes of a warp, each a whole tile.
template <bool NEAREST, bool TOGETHER = false, bool LIMITED = true, class Length, class Site>
__device__ void write_plain(const Volume &volume, int64_t x, int64_t y, int64_t z, int32_t (&cost)[TILE], Length length,
                            Site site) {
    const Output &output = volume.output;
    const int64_t inside = volume.width() - x;
    const int32_t limit = static_cast<int32_t>(output.measure.limit);
    const auto store = [&](int32_t *to, const int32_t(&number)[TILE]) {
        if constexpr (TOGETHER)
            store_tiles(to, number);
        else
            store_tile(to, number, inside);
    };
    if constexpr (NEAREST) {
        int32_t index[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const int32_t found = static_cast<int32_t>(site(k));  // by all voxels, which spares a branch each
            index[k] = !LIMITED || cost[k] <= limit ? found : -1;
        }
        store(reinterpret_cast<int32_t *>(output.nearest.row(y, z)) + x, index);
    }
    if (!output.distance) return;
#pragma unroll
    for (int k = 0; k < TILE; ++k) cost[k] = __float_as_int(!LIMITED || cost[k] <= limit ? length(cost[k]) : INFINITY);
    store(reinterpret_cast<int32_t *>(output.distance.row(y, z)) + x, cost);
}
#endif

}  // namespace apsis::cuda::volume
