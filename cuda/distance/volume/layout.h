// Euclidean distance in 3-D on the device: what the three ways to compute it share, and when the plan chooses each.
//
// A map is made in three steps: columns of bits along z, then lines along y, then lines along x.  The search along y stores for
// every voxel its best site in its own plane x, or the cost of that site.  The search along x turns this into outputs.  Three
// exact ways do both searches, and plan.cu chooses:
//   near search (near_search.cu)  where in a sample of voxels nearly all have a site within 8 voxels;
//   windows (windows.cu)          elsewhere: sites within some 240 voxels;
//   monotone argmin (argmin.cu)   the rest: the other two mark patches, TILE voxels wide and MARK_GROUP rows high, where
//                                 some site is out of their reach, and the results along y that those patches need.
//
// Blocks are numbered in 32 bits: an image with more blocks would fit no memory.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "cuda/distance/volume/plan.h"
#include "cuda/distance/volume/tuning.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"
#include "runtime/workspace.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::volume {

constexpr int TILE = 8;         // voxels of a line in a thread's registers: 32 bytes, a sector of memory
constexpr int MARK_GROUP = 32;  // rows that share a mark; rows, and voxels of a row, that share a need

/// What the samples of an image found.
struct alignas(8) FarSamples {
    uint32_t of_near;  // how many of SAMPLES voxels have no site within the near search's reach
    uint32_t of_wide;  // how many of SPARSE_SAMPLES have none within SPARSE_REACH

    /// Whether windows take the image, not the near search.
    __device__ bool is_far() const { return of_near >= SAMPLES / FAR_ONE_IN; }
    /// Whether the argmin takes all of the image.
    __device__ bool is_sparse() const { return of_wide >= SPARSE_SAMPLES * 3 / 4; }
};

struct Layout {
    Columns columns;  // along z: column x of image y
    Output output;
    int32_t weight[3] = {};
    bool is_packed = false;         // whether outputs are packed numbers of 32 bits
    bool has_squares = false;       // whether distances are squared ones, whole numbers
    bool has_doubles = false;       // whether packed distances of 64 bits are all that is wanted
    uint32_t *y_results = nullptr;  // sites or costs that the search along y found; each way has its own order
    uint8_t *marks = nullptr;       // [z][group of rows][tile]: not 0 where near search or windows did not reach all sites
    uint8_t *needs = nullptr;       // [z][group of rows][group of voxels]: not 0 where sites of marked tiles may lie;
                                    // the last one is not 0 if any other is
    FarSamples *far = nullptr;
    float *length_table = nullptr;  // [cost]: the distance; near search and windows look it up unless the unit is 1

    __host__ __device__ int64_t width() const { return columns.count; }
    __host__ __device__ int64_t height() const { return columns.batch; }
    __host__ __device__ int64_t depth() const { return columns.length; }
    __host__ __device__ int64_t tiles() const { return (width() + TILE - 1) / TILE; }
    __host__ __device__ int64_t row_groups() const { return (height() + MARK_GROUP - 1) / MARK_GROUP; }
    __host__ __device__ int64_t groups_across() const { return (width() + MARK_GROUP - 1) / MARK_GROUP; }
    __host__ __device__ int64_t count_marks() const { return depth() * row_groups() * tiles(); }
    __host__ __device__ int64_t count_needs() const { return depth() * row_groups() * groups_across() + 1; }
    __device__ uint8_t &mark(int64_t z, int64_t y, int64_t tile) const {
        return marks[(z * row_groups() + y / MARK_GROUP) * tiles() + tile];
    }
    __device__ uint8_t &need(int64_t z, int64_t y, int64_t x) const {
        return needs[(z * row_groups() + y / MARK_GROUP) * groups_across() + x / MARK_GROUP];
    }
    __device__ uint8_t &any_need() const { return needs[count_needs() - 1]; }
    /// Threads of a whole launch: finds which groups of voxels across have sites, for mark_all().
    __device__ void find_groups() const {
        for (int64_t i = first_item(); i < width() * height(); i += item_step()) {
            const int64_t x = i % width(), at = columns.at(i / width(), 0, x);
            if (columns.words[at] || columns.before[at] != NO_SITE_BEFORE || columns.after[at] != NO_SITE_AFTER)
                need(0, 0, x) = 1;
        }
    }
    /// Threads of a whole launch: marks all tiles, for which the groups that have sites are needed.
    __device__ void mark_all() const {
        const int64_t tiles_all = count_marks(), needs_all = count_needs() - 1, across = groups_across();
        for (int64_t i = first_item(); i < tiles_all; i += item_step()) marks[i] = 1;
        for (int64_t i = first_item() + across; i < needs_all; i += item_step()) needs[i] = needs[i % across];
        if (first_item() == 0) any_need() = 1;
    }
    /// The plane of the image that is plane z of a slab.
    __device__ int32_t plane_of(int64_t z) const { return static_cast<int32_t>(columns.start + z); }
    /// The index in the image of a voxel, which may lie outside of its slab.
    __device__ int64_t index(int64_t x, int64_t y, int64_t z) const { return (plane_of(z) * height() + y) * width() + x; }
};

/// The arrays of a side, in scratch memory.
Layout carve_layout(const DistanceJob &job, const Plan &plan, bool inside, Carver &carver);

// ---- The launches of each way; each function stands beside its kernels, and returns whether the way serves. ----

bool plan_near_search(Plan &plan, const Layout &layout, const Limits &limits);
bool plan_windows(Plan &plan, const Layout &layout, const Limits &limits);
/// `extent` is that of the image along z, of which the layout may be a slab.
bool plan_argmin(Plan &plan, const Layout &layout, int64_t extent, const Limits &limits);

/// Whether the near search leaves nothing to the others: the limit on distances is within its reach.
bool near_search_suffices(const Layout &layout);

/// Words that the near search stores between the search along y and that along x.
int64_t near_search_words(const Layout &layout);

// ---- The steps of a map: each queues what its plan says ----

/// Counts the voxels of a sample that have no site within the near search's reach, and those of another that have none far
/// beyond it.
void count_far_samples(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Near search: unless the image is far, writes tiles whose sites are near, and marks the rest.
void search_near(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Windows: if the image is far, writes tiles whose sites are in reach, and marks the rest.
void search_in_windows(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Monotone argmin: writes the marked tiles.
void search_marked(const Plan &plan, const Layout &layout, cudaStream_t stream);

/// Rows of y are stored padded to whole tiles: [plane][x][y].
APSIS_BOTH inline int64_t y_pitch(const Layout &layout) { return ceil_div(layout.height(), TILE) * TILE; }

#if defined(__CUDACC__)
__device__ inline int64_t stored_line(const Layout &layout, int64_t plane, int64_t x) {
    return (plane * layout.width() + x) * y_pitch(layout);
}

/// Stores the first `inside` numbers of a tile: four at once if aligned, or two, as rows of an even width are.
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

/// Warp: each lane stores a whole tile, aligned.  Two lanes exchange halves, so that together they write whole sectors of
/// memory (32 bytes).
template <class Number>
__device__ void store_warp_tiles(Number *to, const Number (&number)[TILE]) {
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

/// Writes the distances of a tile of row y as doubles, two at once if aligned.  Overwrites `cost`.
__device__ inline void write_doubles(const Layout &layout, int64_t x, int64_t y, int64_t z, int32_t (&cost)[TILE]) {
    const Output &output = layout.output;
    double *const to = reinterpret_cast<double *>(output.distance.row(y, z)) + x;
    const int64_t inside = layout.width() - x;
    const bool is_aligned = reinterpret_cast<uintptr_t>(to) % sizeof(double2) == 0;
    const auto length = [&](int32_t c) { return c <= output.measure.limit ? length_of<double>(output.measure, c) : INFINITY; };
#pragma unroll 1
    for (int k = 0; k < TILE && k < inside; k += 2) {  // the code of a root is long: costs move through registers
        const double one = length(cost[0]), two = length(cost[1]);
        if (is_aligned && k + 1 < inside) {
            *reinterpret_cast<double2 *>(to + k) = double2{one, two};
        } else {
            to[k] = one;
            if (k + 1 < inside) to[k + 1] = two;
        }
#pragma unroll
        for (int i = 2; i < TILE; ++i) cost[i - 2] = cost[i];
    }
}

/// Writes a tile of row y voxel by voxel, into outputs of any type: its costs, and with NEAREST the indices of its nearest
/// sites, which site(k) finds.
template <bool NEAREST, class Site>
__device__ void write_voxels(const Layout &layout, int64_t x, int64_t y, int64_t z, int32_t (&cost)[TILE], Site site) {
    if (!NEAREST && layout.has_doubles) return write_doubles(layout, x, y, z, cost);
    int64_t index[TILE] = {};
    if constexpr (NEAREST) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) index[k] = site(k);
    }
    write_pixels(layout.output, x, y, z, min(x + TILE, layout.width()), cost, true, index);
}

/// The square of a distance is its cost.
struct OwnCost {
    __device__ int32_t operator()(int32_t cost) const { return cost; }
};

/// Writes a tile of row y into packed outputs: length(cost) of each cost, or square(cost) where squared distances are wanted,
/// and with NEAREST the indices that site(k) finds.  Overwrites `cost`.  Warp: with WHOLE_WARP, where each lane has a whole
/// tile.
template <bool NEAREST, bool WHOLE_WARP = false, bool LIMITED = true, class Length, class Square, class Site>
__device__ void write_packed(const Layout &layout, int64_t x, int64_t y, int64_t z, int32_t (&cost)[TILE], Length length,
                             Square square, Site site) {
    const Output &output = layout.output;
    const int64_t inside = layout.width() - x;
    const int32_t limit = static_cast<int32_t>(output.measure.limit);
    const auto store = [&](int32_t *to, const int32_t(&number)[TILE]) {
        if constexpr (WHOLE_WARP)
            store_warp_tiles(to, number);
        else
            store_tile(to, number, inside);
    };
    if constexpr (NEAREST) {
        int32_t index[TILE];
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const int32_t found = static_cast<int32_t>(site(k));  // for every voxel, which saves a branch each
            index[k] = !LIMITED || cost[k] <= limit ? found : -1;
        }
        store(reinterpret_cast<int32_t *>(output.nearest.row(y, z)) + x, index);
    }
    if (!output.distance) return;
    if (layout.has_squares) {
#pragma unroll
        for (int k = 0; k < TILE; ++k) cost[k] = !LIMITED || cost[k] <= limit ? square(cost[k]) : INT32_MAX;
    } else {
#pragma unroll
        for (int k = 0; k < TILE; ++k) cost[k] = __float_as_int(!LIMITED || cost[k] <= limit ? length(cost[k]) : INFINITY);
    }
    store(reinterpret_cast<int32_t *>(output.distance.row(y, z)) + x, cost);
}
#endif

}  // namespace apsis::cuda::volume
