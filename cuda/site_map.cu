// Maps of sites on CUDA: their beginning, the conversion to the complete map (Honda, Yamamoto, Honda, Nakano and Ito 2017,
// section III.B, in the form of core/exclaves.h), and the outputs.
//
// The conversion reads the mixed map alone, and writes to another one, where of several sites that are offered to a pixel
// the nearest stays: so whatever the order of the threads, the map is the same.
#include "site_map.h"

#include "output.h"

namespace apsis {

namespace {

constexpr int RESIDENT = 2;  // blocks on a multiprocessor: beams take 84 registers

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

/// A thread a square of 2 x 2 pixels.
__global__ void __launch_bounds__(BLOCK, RESIDENT) expose(SiteMaps mixed, SiteMaps complete) {
    for_pixels(mixed.width - 1, mixed.height - 1, mixed.slices, [&](int x, int y, int64_t z) {
        expose_exclaves(mixed.slice(z), x, y,
                        [&](int to_x, int to_y, Site site) { offer_site(complete.at(to_x, to_y, z), to_x, to_y, site); });
    });
}

__global__ void __launch_bounds__(BLOCK) write(SiteMaps maps, Output output) {
    for_pixels(maps.width, maps.height, maps.slices, [&](int x, int y, int64_t z) {
        const Site site = *maps.at(x, y, z);
        const int64_t cost = output.measure.weight[0] * square_to(x, y, site);
        write_pixel(output, x, y, z, cost, site != NO_SITE, z * maps.area() + int64_t(y_of(site)) * maps.width + x_of(site));
    });
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
    launch("write", write, patches(maps), BLOCK, stream, maps, Output(job, false));
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
