// Maps of sites on CUDA, which the published methods of distance share: their initial state, the conversion to the complete map
// (Honda, Yamamoto, Honda, Nakano and Ito 2017, section III.B, in the form of core/exclaves.h), and the outputs.
//
// The conversion has two kernels.  The first one copies the map, and marks the few squares of 2 x 2 pixels behind which
// exclaves may be hidden.  The second one searches behind the marked squares.  It reads the mixed map alone and writes to the
// copy.  Of several sites that are offered to a pixel the nearest one stays, so that the result does not depend on the order of
// threads.
//
// The conversion follows raster scans, and sweeps unless the job asks for the mixed map.  Cost: bytes a pixel 4 in and out and
// in for the complete map, and the outputs.
#pragma once

#include "core/columns.h"
#include "core/exclaves.h"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/progress.h"
#include "cuda/runtime/roots.h"
#include "runtime/workspace.h"

namespace apsis::cuda::published {

/// The site that each pixel of each slice holds, or NO_SITE; packed.
struct SiteMaps {
    Site *sites = nullptr;
    int width = 0, height = 0;
    int64_t slices = 0;

    explicit SiteMaps(const View &set, Site *memory = nullptr)
        : sites(memory),
          width(static_cast<int>(set.size[0])),
          height(static_cast<int>(set.size[1])),
          slices(set.size[2]) {}

    APSIS_BOTH int64_t area() const { return int64_t(width) * height; }
    int64_t pixels() const { return area() * slices; }

    __device__ SiteMap slice(int64_t z) const { return {sites + z * area(), width, height}; }
    __device__ Site *at(int x, int y, int64_t z) const { return sites + z * area() + int64_t(y) * width + x; }
};

/// The side of a patch: the square of pixels that a block takes at a time, with its rows divided among warps.
constexpr int PATCH = WARP;

inline int64_t count_patches(const SiteMaps &maps) {
    return ceil_div(maps.width, PATCH) * ceil_div(maps.height, PATCH) * maps.slices;
}

struct Patch {
    int left, top;
    int64_t z;
};

/// Block: calls body(patch) for the patches that the block takes.
template <class Body>
__device__ void for_patches(const SiteMaps &maps, Body body) {
    const int64_t across = ceil_div(maps.width, PATCH), down = ceil_div(maps.height, PATCH),
                  total = across * down * maps.slices;
    for (int64_t item = blockIdx.x; item < total; item += gridDim.x) {
        const int64_t line = item / across;
        body(Patch{static_cast<int>(item - line * across) * PATCH, static_cast<int>(line % down) * PATCH, line / down});
    }
}

/// Block, of BLOCK threads: calls body(x, y, z) for every pixel that the block takes, each in one thread.
template <class Body>
__device__ void for_pixels(const SiteMaps &maps, Body body) {
    for_patches(maps, [&](const Patch &patch) {
        const int x = patch.left + static_cast<int>(threadIdx.x) % WARP;
#pragma unroll
        for (int row = 0; row < PATCH; row += WARPS) {
            const int y = patch.top + row + static_cast<int>(threadIdx.x) / WARP;
            if (x < maps.width && y < maps.height) body(x, y, patch.z);
        }
    });
}

constexpr int BEAM_BLOCKS_PER_SM = 2;  // blocks on a multiprocessor: beams take 84 registers

static __global__ void __launch_bounds__(BLOCK) fill(View set, bool complement, SiteMaps maps) {
    for_pixels(maps, [&](int x, int y, int64_t z) {
        *maps.at(x, y, z) = is_set(set, set.row(y, z), x) != complement ? site_at(x, y) : NO_SITE;
    });
}

/// Stores a site for a pixel if it is nearer than the site that the pixel holds.
__device__ inline void offer_site(Site *pixel, int x, int y, Site site) {
    Site held = *static_cast<volatile Site *>(pixel);
    while (nearness(x, y, site) < nearness(x, y, held)) {
        const Site before = atomicCAS(pixel, held, site);
        if (before == held) return;
        held = before;
    }
}

/// Copies a map, and marks its squares of 2 x 2 pixels that may hide exclaves.  A warp takes successive rows, so that it reads
/// most of them once.
static __global__ void __launch_bounds__(BLOCK) mark_squares(SiteMaps mixed, SiteMaps complete, uint32_t *marks) {
    constexpr int ROWS = PATCH / WARPS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t words = ceil_div(mixed.width, WARP);
    for_patches(mixed, [&](const Patch &patch) {
        const int x = patch.left + lane, top = patch.top + warp * ROWS;
        const int own = min(x, mixed.width - 1), next = min(x + 1, mixed.width - 1);
        Site sites[ROWS + 1][2];
#pragma unroll
        for (int r = 0; r <= ROWS; ++r) {
            const Site *const row = mixed.at(0, min(top + r, mixed.height - 1), patch.z);
            sites[r][0] = row[own], sites[r][1] = row[next];
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int y = top + r;
            if (y >= mixed.height) break;
            if (x < mixed.width) *complete.at(x, y, patch.z) = sites[r][0];
            const bool is_square = x + 1 < mixed.width && y + 1 < mixed.height;
            const uint32_t word = __ballot_sync(
                ALL_LANES, is_square && may_hide({sites[r][0], sites[r][1], sites[r + 1][0], sites[r + 1][1]}, x, y));
            if (lane == 0) marks[(patch.z * mixed.height + y) * words + patch.left / WARP] = word;
        }
    });
}

/// Exposes the exclaves behind the marked squares.  A thread takes a word of marks.
static __global__ void __launch_bounds__(BLOCK, BEAM_BLOCKS_PER_SM)
    expose_marked(SiteMaps mixed, SiteMaps complete, const uint32_t *marks, int64_t words) {
    const int64_t across = ceil_div(mixed.width, WARP);
    for (int64_t item = first_item(); item < words; item += item_step())
        for (uint32_t word = marks[item]; word; word &= word - 1) {
            const int64_t line = item / across, z = line / mixed.height;
            const int x = static_cast<int>(item % across) * WARP + lowest_bit(word);
            expose_exclaves(mixed.slice(z), x, static_cast<int>(line % mixed.height),
                            [&](int to_x, int to_y, Site site) { offer_site(complete.at(to_x, to_y, z), to_x, to_y, site); });
        }
}

static __global__ void __launch_bounds__(BLOCK) write(SiteMaps maps, Output output) {
    for_pixels(maps, [&](int x, int y, int64_t z) {
        const Site site = *maps.at(x, y, z);
        const int64_t cost = output.measure.weight[0] * square_to(x, y, site);
        write_pixel(output, x, y, z, cost, site != NO_SITE, z * maps.area() + int64_t(y_of(site)) * maps.width + x_of(site));
    });
}

/// The same for the most common outputs: packed, distances as float in pixels, and indices of 32 bits.
static __global__ void __launch_bounds__(BLOCK) write_common(SiteMaps maps, View distance, View nearest, uint32_t limit) {
    for_pixels(maps, [&](int x, int y, int64_t z) {
        const Site site = *maps.at(x, y, z);
        const uint32_t square = square_to(x, y, site);
        const bool found = square <= limit;
        if (distance) reinterpret_cast<float *>(distance.row(y, z))[x] = found ? root_of(square) : INFINITY;
        if (nearest)
            reinterpret_cast<int32_t *>(nearest.row(y, z))[x] =
                found ? static_cast<int32_t>(z * maps.area()) + y_of(site) * maps.width + x_of(site) : -1;
    });
}

inline bool is_common_output(const DistanceJob &job) {
    const auto is_plain = [](const View &to, apsis_type type) { return !to || (to.type == type && to.stride[0] == 4); };
    return job.measure.unit == 1 && job.measure.weight[0] == 1 && is_plain(job.distance, APSIS_F32) &&
           is_plain(job.nearest, APSIS_I32);
}

static __global__ void __launch_bounds__(BLOCK) count_changes(SiteMaps mixed, SiteMaps complete, unsigned long long *count) {
    uint32_t own = 0;
    for_pixels(mixed, [&](int x, int y, int64_t z) { own += *mixed.at(x, y, z) != *complete.at(x, y, z); });
    const uint32_t sum = sum_of_warp(own);
    if (sum && threadIdx.x % WARP == 0) atomicAdd(count, static_cast<unsigned long long>(sum));
}

/// Queues the initial map: every site holds itself, and other pixels NO_SITE.
inline void fill_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream) {
    launch("fill", fill, count_patches(maps), BLOCK, stream, job.set, job.complement, maps);
}

/// Queues the conversion of a mixed map to the complete one.  It needs count_marks words for marks.
inline int64_t count_marks(const SiteMaps &maps) { return ceil_div(maps.width, WARP) * maps.height * maps.slices; }

inline void complete_map(const SiteMaps &mixed, const SiteMaps &complete, uint32_t *marks, cudaStream_t stream) {
    const int64_t words = count_marks(mixed);
    launch("mark_squares", mark_squares, count_patches(mixed), BLOCK, stream, mixed, complete, marks);
    launch("expose_marked", expose_marked, ceil_div(words, BLOCK), BLOCK, stream, mixed, complete, marks, words);
}

/// Queues the outputs.
inline void write_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream) {
    if (!is_common_output(job)) {
        launch("write", write, count_patches(maps), BLOCK, stream, maps, Output(job, false));
        return;
    }
    const auto limit = static_cast<uint32_t>(std::min<int64_t>(job.measure.limit, NO_SQUARE - 1));
    launch("write_common", write_common, count_patches(maps), BLOCK, stream, maps, job.distance, job.nearest, limit);
}

/// Counts the pixels in which two maps differ, in `count` on the device, and waits for the result.
inline int64_t count_mended(const SiteMaps &mixed, const SiteMaps &complete, unsigned long long *count, cudaStream_t stream) {
    unsigned long long mended;
    check(cudaMemsetAsync(count, 0, sizeof mended, stream), "clearing a count");
    launch("count_changes", count_changes, count_patches(mixed), BLOCK, stream, mixed, complete, count);
    check(cudaMemcpyAsync(&mended, count, sizeof mended, cudaMemcpyDeviceToHost, stream), "copying a count");
    check(cudaStreamSynchronize(stream), "waiting for the device");
    return static_cast<int64_t>(mended);
}

}  // namespace apsis::cuda::published
