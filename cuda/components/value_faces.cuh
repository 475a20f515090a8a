// The faces of a slab of a label image: what it tells, and what it is told of them, as of sets (faces.cuh).  After values.cuh.
//
// Cost: the words of the first and the last row, in 3-D plane.
#pragma once

#include "cuda/components/told.cuh"
#include "cuda/components/values.cuh"

namespace apsis::cuda::components {

#if defined(__CUDACC__)

/// The words of a face.
struct EndWords {
    uint32_t first, count;

    EndWords(const ValueImage &image, bool is_volume, bool is_last) : count(image.words * (is_volume ? image.height : 1)) {
        first = is_last ? image.total - count : 0;
    }
};

/// Warp: calls body(pixel, parent) for the pixels of a face, with the parent of its part: a root, or its number once parts are
/// numbered; for those outside the set with 0 and false.
template <class Body>
__device__ void for_value_end(const ValueImage &image, const EndWords &words, Body body) {
    for_value_words(image, words.first, words.first + words.count, [&](const ValuePixel &at) {
        const bool is_member = image.bits[at.word] >> threadIdx.x % WARP & 1;
        if (at.is_inside) body(at, is_member ? image.parent[part_of(image, at)] : 0, is_member);
    });
}

/// Writes the numbers in a face.
static __global__ void __launch_bounds__(BLOCK) write_value_face(ValueImage image, EndWords words, bool is_volume, View face) {
    for_value_end(image, words, [&](const ValuePixel &at, uint32_t number, bool is_member) {
        put(face, face.row(is_volume ? at.y : 0, 0), at.x, int64_t(is_member ? number : 0));
    });
}

/// Leaves out the components that begin elsewhere, as a face says; before the scan.
static __global__ void __launch_bounds__(BLOCK)
    leave_marked_values(ValueImage image, EndWords words, bool is_volume, bool is_last, Told told) {
    for_value_end(image, words, [&](const ValuePixel &at, uint32_t root, bool is_member) {
        const int64_t column = (is_volume ? at.y * image.set.size[0] : 0) + at.x;
        if (!is_member || told.face[is_last][column] >= 0) return;
        told.elsewhere[root] = told.code_of(is_last, column);
        if (drop_first(image, root)) atomicAdd(image.before + image.total, 1u);
    });
}

#endif

}  // namespace apsis::cuda::components
