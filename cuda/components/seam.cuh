// Joins components across the seam of an image that closes on itself, and makes of a set the label image that this takes: with
// one value, 1.  Chosen for periodic axes, once the tiles are joined.
//
// Cost: for each pixel on one side of a seam its neighbours on the other side.  Of a set, 1 byte a pixel in and out.
#pragma once

#include "core/seam.h"
#include "cuda/components/value_rims.cuh"

namespace apsis::cuda::components {

#if defined(__CUDACC__)

template <class Values>
__global__ void __launch_bounds__(BLOCK) join_seam(ValueImage image, Values values, Seam seam) {
    const int64_t i = first_item();
    if (i >= seam.pixels()) return;
    seam.for_neighbours(i, [&](const int64_t(&at)[3], const int64_t(&to)[3], int) {
        if (values.connect(value_at<Values>(image.set, at[0], at[1], at[2]), value_at<Values>(image.set, to[0], to[1], to[2])))
            unite(image, {position_of(image, at[0], at[1], at[2]), position_of(image, to[0], to[1], to[2])});
    });
}

template <class Values>
void join_seams(const ComponentsJob &job, const ValueImage &image, const Values &values, cudaStream_t stream) {
    for (int axis = 0; axis < 3; ++axis)
        if (const Seam seam(job, axis); job.periodic.along[axis])
            launch("join_seam", join_seam<Values>, ceil_div(seam.pixels(), BLOCK), BLOCK, stream, image, values, seam);
}

/// Writes the members of a set as 1, side by side, and other pixels as 0.
static __global__ void __launch_bounds__(BLOCK) write_members(View set, bool complement, View labels) {
    const int64_t i = first_item();
    if (i >= set.pixels()) return;
    const int64_t row = i / set.size[0], x = i % set.size[0];
    labels.data[i] = is_set(set, set.row(row % set.size[1], row / set.size[1]), x) != complement;
}

#endif

}  // namespace apsis::cuda::components
