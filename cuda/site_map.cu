// Maps of sites on CUDA: their beginning, the conversion to the complete map (Honda, Yamamoto, Honda, Nakano and Ito 2017,
// section III.B, in the form of core/exclaves.h), and the outputs.
//
// The conversion reads the mixed map alone, and writes to another one, where of several sites that are offered to a pixel
// the nearest stays: so whatever the order of the threads, the map is the same.
#include "site_map.h"

#include "output.h"
#include "roots.h"

namespace apsis {

namespace {

constexpr int RESIDENT = 4;  // blocks on a multiprocessor, of 64 registers a thread: more wait for memory at once
constexpr int DEEP = PATCH / WARPS;  // squares of a thread

__global__ void __launch_bounds__(BLOCK) fill(View set, bool complement, SiteMaps maps) {
    for_pixels(maps.width, maps.height, maps.slices, [&](int x, int y, int64_t z) {
        *maps.at(x, y, z) = is_set(set, set.row(y, z), x) != complement ? site_at(x, y) : NO_SITE;
    });
}

/// Offers a site to a pixel, which takes it if it is nearer than what it holds.
__device__ void offer_site(Site *pixel, int x, int y, Site site) {
    Site held = *static_cast<volatile Site *>(pixel);
    while (nearness(x, y, site) < nearness(x, y, held)) {
        const Site before = atomicCAS(pixel, held, site);
        if (before == held) return;
        held = before;
    }
}

/// Which squares of 2 x 2 pixels, of DEEP below each other, have a pixel that is not sure: a bit each.
__device__ uint32_t unsure_squares(const SiteMap &map, int x, int top) {
    const int rows = min(DEEP + 1, map.height - top);
    uint32_t unsure = 0;
#pragma unroll
    for (int r = 0; r <= DEEP; ++r)
        if (r < rows && !(is_sure(x, top + r, map.at(x, top + r)) && is_sure(x + 1, top + r, map.at(x + 1, top + r))))
            unsure |= 1u << r;
    return rows > 1 ? (unsure | unsure >> 1) & ((1u << (rows - 1)) - 1) : 0;
}

/// A thread some squares, of which it looks at few: the pixels of all are on their way at once.
__global__ void __launch_bounds__(BLOCK, RESIDENT) expose(SiteMaps mixed, SiteMaps complete) {
    for_patches(mixed.width - 1, mixed.height - 1, mixed.slices, [&](const Patch &patch) {
        const SiteMap map = mixed.slice(patch.z);
        const int x = patch.left + static_cast<int>(threadIdx.x) % WARP;
        const int top = patch.top + static_cast<int>(threadIdx.x) / WARP * DEEP;
        if (x + 1 >= map.width) return;
        for (uint32_t left = unsure_squares(map, x, top); left; left &= left - 1)
            expose_exclaves(map, x, top + lowest_bit(left), [&](int to_x, int to_y, Site site) {
                offer_site(complete.at(to_x, to_y, patch.z), to_x, to_y, site);
            });
    });
}

__global__ void __launch_bounds__(BLOCK) write(SiteMaps maps, Output output) {
    for_pixels(maps.width, maps.height, maps.slices, [&](int x, int y, int64_t z) {
        const Site site = *maps.at(x, y, z);
        const int64_t cost = output.measure.weight[0] * square_to(x, y, site);
        write_pixel(output, x, y, z, cost, site != NO_SITE, z * maps.area() + int64_t(y_of(site)) * maps.width + x_of(site));
    });
}

/// The same for what is asked for most, distances as float in pixels and indices of 32 bits, side by side.
__global__ void __launch_bounds__(BLOCK) write_narrow(SiteMaps maps, View distance, View nearest, uint32_t limit) {
    for_pixels(maps.width, maps.height, maps.slices, [&](int x, int y, int64_t z) {
        const Site site = *maps.at(x, y, z);
        const uint32_t square = square_to(x, y, site);
        const bool found = square <= limit;
        if (distance) reinterpret_cast<float *>(distance.row(y, z))[x] = found ? root_of(square) : INFINITY;
        if (nearest)
            reinterpret_cast<int32_t *>(nearest.row(y, z))[x] =
                found ? static_cast<int32_t>(z * maps.area()) + y_of(site) * maps.width + x_of(site) : -1;
    });
}

bool is_narrow_output(const DistanceJob &job) {
    const auto is_plain = [](const View &to, apsis_type type) { return !to || (to.type == type && to.stride[0] == 4); };
    return job.measure.unit == 1 && job.measure.weight[0] == 1 && is_plain(job.distance, APSIS_F32) &&
           is_plain(job.nearest, APSIS_I32);
}

__global__ void __launch_bounds__(BLOCK) count_changes(SiteMaps mixed, SiteMaps complete, unsigned long long *count) {
    uint32_t own = 0;
    for_pixels(mixed.width, mixed.height, mixed.slices,
               [&](int x, int y, int64_t z) { own += *mixed.at(x, y, z) != *complete.at(x, y, z); });
    const uint32_t sum = sum_of_warp(own);
    if (sum && threadIdx.x % WARP == 0) atomicAdd(count, static_cast<unsigned long long>(sum));
}

int64_t patches(const SiteMaps &maps) { return count_patches(maps.width, maps.height, maps.slices); }

}  // namespace

void fill_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream) {
    launch("fill", fill, patches(maps), BLOCK, stream, job.set, job.complement, maps);
}

void complete_map(const SiteMaps &mixed, const SiteMaps &complete, cudaStream_t stream) {
    const int64_t squares = count_patches(mixed.width - 1, mixed.height - 1, mixed.slices);
    launch("expose", expose, squares, BLOCK, stream, mixed, complete);
}

void write_map(const DistanceJob &job, const SiteMaps &maps, cudaStream_t stream) {
    if (!is_narrow_output(job)) {
        launch("write", write, patches(maps), BLOCK, stream, maps, Output(job, false));
        return;
    }
    const auto limit = static_cast<uint32_t>(std::min<int64_t>(job.measure.limit, NO_SQUARE - 1));
    launch("write_narrow", write_narrow, patches(maps), BLOCK, stream, maps, job.distance, job.nearest, limit);
}

int64_t count_mended(const SiteMaps &mixed, const SiteMaps &complete, unsigned long long *count, cudaStream_t stream) {
    unsigned long long mended;
    check(cudaMemsetAsync(count, 0, sizeof mended, stream), "clearing a count");
    launch("count_changes", count_changes, patches(mixed), BLOCK, stream, mixed, complete, count);
    check(cudaMemcpyAsync(&mended, count, sizeof mended, cudaMemcpyDeviceToHost, stream), "copying a count");
    check(cudaStreamSynchronize(stream), "waiting for the device");
    return static_cast<int64_t>(mended);
}

}  // namespace apsis
