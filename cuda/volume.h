// A 3-D Euclidean distance map on the device: columns of bits along z, then lines along y, then lines along x.
//
// Between the last two, what is best for every voxel in its own plane x is stored.  Two exact ways find it, and the
// outputs from it.  The outward search takes every voxel first, and marks the patches, TILE voxels of GROUP rows, that
// have one whose site is out of its reach, and all that the monotone argmin needs to know for those.
//
// Blocks are numbered in 32 bits: an image of so many would fit no memory.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "output.h"
#include "rows.h"

namespace apsis {

constexpr int TILE = 8;    // voxels of a line in a thread's registers: 32 bytes, a sector of memory
constexpr int GROUP = 32;  // rows, and voxels of a row, that share marks

struct Volume {
    Columns columns;  // along z: column x of image y
    int32_t weight[3];
    uint32_t *store;  // what the search along y found, as each of the two ways lays it out
    uint8_t *marks;   // [z][group of rows][tile]: not 0 where the outward search gave up
    uint8_t *needs;   // [z][group of rows][group of voxels]: not 0 where the search along y must know; at the end if anywhere
    Output output;
    bool plain;       // a tile of each output is two stores

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
    __device__ uint8_t &any_need() const { return needs[count_needs() - 1]; }
};

/// The words of the store that each way needs.
int64_t outward_store(const Volume &volume);
int64_t argmin_store(const Volume &volume);

/// Whether the outward search knows the costs of a map, on the current device; else all of it is far.
bool outward_serves(const Volume &volume);

/// Whether the monotone argmin's lines fit the shared memory of the current device.
bool argmin_serves(const Volume &volume);

/// Writes what is near, and marks what is far where nothing is marked yet.
void search_outward(const Volume &volume, cudaStream_t stream);

/// Writes what is marked.
void search_marked(const Volume &volume, cudaStream_t stream);

#if defined(__CUDACC__)
__device__ inline float root_of(uint32_t cost) {
    return cost < 1u << 24 ? small_root(static_cast<float>(cost)) : large_root(cost);
}

/// Writes a tile of row y: its voxels' costs, and their nearest sites, which site(k) finds.
template <class Root, class Site>
__device__ void write_tile(const Volume &volume, int64_t x, int64_t y, int64_t z, const int32_t (&cost)[TILE], Root root,
                           Site site) {
    const Output &output = volume.output;
    if (!volume.plain || x + TILE > volume.width()) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            if (x + k < volume.width())
                write_pixel(output, x + k, y, z, cost[k], true, output.nearest && cost[k] <= output.measure.limit ? site(k) : 0);
        return;
    }
    if (output.distance) {
        const auto length = [&](int k) { return cost[k] <= output.measure.limit ? root(cost[k]) : INFINITY; };
        float4 *const to = reinterpret_cast<float4 *>(output.distance.row(y, z) + x * 4);
        to[0] = make_float4(length(0), length(1), length(2), length(3));
        to[1] = make_float4(length(4), length(5), length(6), length(7));
    }
    if (output.nearest) {
        const auto index = [&](int k) { return cost[k] <= output.measure.limit ? static_cast<int32_t>(site(k)) : -1; };
        int4 *const to = reinterpret_cast<int4 *>(output.nearest.row(y, z) + x * 4);
        to[0] = make_int4(index(0), index(1), index(2), index(3));
        to[1] = make_int4(index(4), index(5), index(6), index(7));
    }
}
#endif

}  // namespace apsis
