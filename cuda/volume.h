// A 3-D Euclidean distance map on the device: columns of bits along z, then lines along y, then lines along x.
//
// Between the last two every voxel's best in its own plane x is stored, transposed: lines side by side along x become
// neighbours along y.  So both searches have the lines of neighbouring lanes side by side in memory, and a lane's TILE
// results are whole sectors.  Two exact ways find what is near and what is far.  The outward search takes every voxel
// first and marks the patches, TILE voxels of GROUP rows, whose sites are out of its reach; the monotone argmin takes
// those.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "output.h"
#include "rows.h"

namespace apsis {

constexpr int TILE = 8;    // voxels of a line in a thread's registers: 32 bytes, a sector of memory
constexpr int GROUP = 32;  // rows that share their marks: one a lane

struct Volume {
    Columns columns;  // along z: column x of image y
    int32_t weight[3];
    uint32_t *store;  // [plane][x][y]: what the search along y found; up to a whole tile of y's
    uint8_t *marks;   // [z][group of rows][tile]: not 0 where the outward search gave up
    uint8_t *rows;    // [z][group of rows]: not 0 if one of them is
    Output output;

    __host__ __device__ int64_t width() const { return columns.count; }
    __host__ __device__ int64_t height() const { return columns.batch; }
    __host__ __device__ int64_t depth() const { return columns.length; }
    __host__ __device__ int64_t tiles() const { return (width() + TILE - 1) / TILE; }
    __host__ __device__ int64_t groups() const { return (height() + GROUP - 1) / GROUP; }
    __host__ __device__ int64_t pitch() const { return (height() + TILE - 1) / TILE * TILE; }
    __host__ __device__ int64_t count_marks() const { return depth() * groups() * tiles(); }
    __device__ uint32_t *stored(int64_t plane, int64_t x) const { return store + (plane * width() + x) * pitch(); }
    __device__ uint8_t &mark(int64_t z, int64_t y, int64_t tile) const {
        return marks[(z * groups() + y / GROUP) * tiles() + tile];
    }
    __device__ uint8_t &row_mark(int64_t z, int64_t y) const { return rows[z * groups() + y / GROUP]; }
};

/// Whether the outward search knows the costs and the outputs of a map; else all of it is far.
bool outward_serves(const Volume &volume);

/// The planes of the store that it needs.
int64_t outward_planes(const Volume &volume);

/// Writes what is near, and marks what is far.
void search_outward(const Volume &volume, cudaStream_t stream);

/// Whether the monotone argmin's lines fit the shared memory of the current device.
bool argmin_serves(const Volume &volume);

/// Writes what is marked.
void search_marked(const Volume &volume, cudaStream_t stream);

/// Where tiles of packed floats may be stored whole.
inline bool plain_distances(const Output &output) {
    const View &view = output.distance;
    const auto bits = reinterpret_cast<uintptr_t>(view.data) | static_cast<uintptr_t>(view.stride[1]) |
                      static_cast<uintptr_t>(view.stride[2]);
    return view.type == APSIS_F32 && view.stride[0] == 4 && bits % 16 == 0 && output.measure.unit == 1 && !output.is_signed;
}

#if defined(__CUDACC__)
__device__ inline float root_of(uint32_t cost) {
    return cost < 1u << 24 ? small_root(static_cast<float>(cost)) : large_root(cost);
}
#endif

}  // namespace apsis
