// What is written for the number of a component: itself, or what a slab has been told of it.
//
// A component that goes on outside a slab, and begins there, has a code in place of a number: where a face tells its number in
// the image.  Codes are greater than all numbers of the slab.
#pragma once

#include "cuda/runtime/launch.h"
#include "runtime/backend.h"

namespace apsis::cuda::components {

/// What a slab has been told.
struct Told {
    const int64_t *face[2];  // [column]: of the first row and the last, or null
    const int64_t *numbers;  // [number]: then nothing else is used; or null
    uint32_t *elsewhere;  // [node; in label images, part]: of a root whose component begins in another slab, its code; nothing
                          // of other roots; null without faces
    int64_t before, columns;
    uint32_t count;

    Told(const ComponentsJob &job, uint32_t *codes)
        : face{data_of(job.told.first), data_of(job.told.last)},
          numbers(data_of(job.told.numbers)),
          elsewhere(codes),
          before(job.told.before),
          columns(job.columns()),
          count(static_cast<uint32_t>(job.told.count)) {}
    static const int64_t *data_of(const View &view) { return reinterpret_cast<const int64_t *>(view.data); }

    __device__ uint32_t code_of(int side, int64_t column) const {
        return static_cast<uint32_t>(count + 1 + side * columns + column);
    }
    /// The number in the image.  Of a set that has changed there may be more than `count`: then any number.
    __device__ int64_t of(uint32_t own) const {
        if (own == 0) return 0;
        if (numbers) return own <= count ? __ldg(numbers + (own - 1)) : 0;
        if (own <= count) return before + own;
        // Each face by name: a place in an array would move what a slab has been told into each thread's own memory.
        const int64_t at = own - count - 1;
        if (at < columns) return face[0] ? -face[0][at] : 0;
        return face[1] && at < 2 * columns ? -face[1][at - columns] : 0;
    }
};

/// In whole images.
struct OwnNumbers {
    static constexpr const uint32_t *elsewhere = nullptr;
    __device__ uint32_t of(uint32_t number) const { return number; }
};

}  // namespace apsis::cuda::components
