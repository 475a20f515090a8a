// Ranks the pixels of a set: puts them in the order of tiles, then sorts them by component.  The sort is stable (a radix sort),
// and so keeps that order.
//
// Cost: that of the components, and 16 bytes a pixel for each 8 bits of the number of components.
#include "cuda/paths/ranks.h"

#include "core/keys.h"
#include "cuda/runtime/scan_and_sort.h"
#include "cuda/transforms.h"

namespace apsis::cuda::paths {

namespace {

/// A place in a box of pixels, and how many pixels come before the box.
struct NestedBox {
    uint32_t x, y, z;               // of the place, in the box
    uint32_t width, height, depth;  // of the box
    uint32_t before;                // pixels before the box

    /// The same place in the tile of the box in which it lies.
    __device__ NestedBox tile(uint32_t side, uint32_t deep) const {
        const uint32_t x0 = x / side * side, y0 = y / side * side, z0 = z / deep * deep;
        const uint32_t tall = min(side, height - y0), thick = min(deep, depth - z0);
        return {x - x0,
                y - y0,
                z - z0,
                min(side, width - x0),
                tall,
                thick,
                before + z0 * height * width + thick * (y0 * width + tall * x0)};
    }
    __device__ uint32_t place() const { return before + (z * height + y) * width + x; }
};

/// How many pixels come before one in the order of tiles.
__device__ uint32_t place_in_tiles(const Raster &raster, uint32_t pixel, bool is_deep) {
    const Raster::Place at = raster.place(pixel);
    const NestedBox image = {static_cast<uint32_t>(at.x),
                             static_cast<uint32_t>(at.y),
                             static_cast<uint32_t>(at.z),
                             raster.width,
                             raster.height,
                             raster.depth,
                             0};
    return (is_deep ? image.tile(16, 16).tile(4, 4) : image.tile(64, 1).tile(8, 1)).place();
}

/// Writes labels and pixels in the order of tiles.
__global__ void __launch_bounds__(BLOCK)
    order_by_tiles(Raster raster, bool is_deep, const uint32_t *label, uint32_t *key, uint32_t *pixel) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= raster.pixels()) return;
    const uint32_t place = place_in_tiles(raster, i, is_deep);
    key[place] = label[i];
    pixel[place] = i;
}

/// Turns sorted labels into ranks.  Pixels outside the set have label 0 and come first.
__global__ void __launch_bounds__(BLOCK) number_ranks(Ranks ranks, const uint32_t *label, uint32_t count) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, pixels = static_cast<uint32_t>(ranks.raster.pixels());
    if (i >= pixels) return;
    const uint32_t own = label[i];
    ranks.rank[ranks.pixel[i]] = own ? i : NO_PIXEL;
    if (own && (i == 0 || label[i - 1] != own)) ranks.start[own - 1] = i;
    if (i == 0) ranks.start[count] = pixels;
}

ComponentsJob components_job(const EccentricityJob &job, uint32_t *label, int64_t *count) {
    ComponentsJob components;
    components.set = components.labels = job.set;
    components.axes = job.axes;
    components.connectivity = job.connectivity;
    components.periodic = job.periodic;
    components.complement = job.complement;
    components.by_value = job.by_value;
    components.count = count;
    components.labels.data = reinterpret_cast<uint8_t *>(label);
    components.labels.type = APSIS_I32;
    components.labels.stride[0] = sizeof *label;
    for (int a = 1; a < 3; ++a) components.labels.stride[a] = components.labels.stride[a - 1] * job.set.size[a - 1];
    return components;
}

/// The scratch memory.  Components and the sort use the same memory, one after the other.
struct Scratch {
    uint32_t *key[2];
    void *sort, *components;
    size_t sort_bytes, bytes;

    Scratch(const EccentricityJob &job, void *memory) {
        uint32_t label;  // any address serves to count
        int64_t count;
        Carver classes(memory), labelling(memory);
        sort_bytes = sort_scratch<uint32_t>(job.set.pixels(), 32);
        for (uint32_t *&each : key) each = classes.take<uint32_t>(job.set.pixels());
        sort = classes.take<uint8_t>(static_cast<int64_t>(sort_bytes));
        components =
            labelling.take<uint8_t>(static_cast<int64_t>(components::components_scratch(components_job(job, &label, &count))));
        bytes = std::max(classes.used(), labelling.used());
    }
};

}  // namespace

Raster raster_of(const View &set) {
    if (set.pixels() > INT32_MAX)
        throw Error(
            APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for its eccentricities on a CUDA device",
            static_cast<long long>(set.size[0]), static_cast<long long>(set.size[1]), static_cast<long long>(set.size[2]));
    return {static_cast<uint32_t>(set.size[0]), static_cast<uint32_t>(set.size[1]), static_cast<uint32_t>(set.size[2])};
}

size_t ranking_bytes(const EccentricityJob &job) { return Scratch(job, nullptr).bytes; }

int64_t rank_pixels(const EccentricityJob &job, Ranks &ranks, uint32_t *&spare, void *memory, cudaStream_t stream,
                    const Progress &progress, HostNumber *number) {
    const Scratch scratch(job, memory);
    const int64_t pixels = job.set.pixels();
    int64_t count = 0;
    components::find_components(components_job(job, ranks.rank, &count), scratch.components, stream, progress, number);
    const bool is_deep = job.axes == 3 && ranks.raster.depth > 1;
    launch("order_by_tiles", order_by_tiles, ceil_div(pixels, BLOCK), BLOCK, stream, ranks.raster, is_deep, ranks.rank,
           scratch.key[0], ranks.pixel);
    SortBuffers<uint32_t> key{scratch.key[0], scratch.key[1]}, pixel{ranks.pixel, spare};
    sort_pairs(scratch.sort, scratch.sort_bytes, key, pixel, pixels, std::max(bits_below(count + 1), 1), "sorting pixels",
               stream);
    ranks.pixel = pixel.current;
    spare = pixel.other;
    launch("number_ranks", number_ranks, ceil_div(pixels, BLOCK), BLOCK, stream, ranks, key.current,
           static_cast<uint32_t>(count));
    return count;
}

}  // namespace apsis::cuda::paths
