// Writes the output pixels of a distance map, for every transform; and the types of output pixels.
#pragma once

#include <cuda_runtime.h>

#include "runtime/backend.h"

namespace apsis::cuda {

/// Calls body(pixel) with a pixel of the type of a map of lengths, or of indices.
template <class Body>
__device__ void with_pixel(apsis_type type, Body body) {
    switch (type) {
        case APSIS_F32: return body(float());
        case APSIS_F64: return body(double());
        case APSIS_I32: return body(int32_t());
        default: return body(int64_t());
    }
}
template <class Body>
__device__ void with_index(apsis_type type, Body body) {
    type == APSIS_I32 ? body(int32_t()) : body(int64_t());
}

struct Output {
    View distance, nearest;
    Measure measure;
    bool beyond = false;  // of a mask
    bool is_signed = false;
    bool is_inside = false;  // the second run of a signed map: the sites are the complement

    explicit Output(const DistanceJob &job, bool inside)
        : distance(job.distance),
          nearest(job.nearest),
          measure(job.measure),
          beyond(job.beyond),
          is_signed(job.is_signed),
          is_inside(inside) {}
};

/// Writes a pixel's cost, if there is a site, and the index of its nearest site.
///
/// Each of the two runs of a signed map writes only the pixels that are not its own sites, so together they write each once.
__device__ inline void write_pixel(const Output &output, int64_t x, int64_t y, int64_t z, int64_t cost, bool found,
                                   int64_t index) {
    if (output.is_signed && found && cost == 0) return;
    found = found && cost <= output.measure.limit;
    const bool negative = output.is_inside;
    if (const View &to = output.distance; to) {
        uint8_t *row = to.row(y, z);
        switch (to.type) {
            case APSIS_U8: put(to, row, x, static_cast<uint8_t>(found != output.beyond)); break;
            case APSIS_F32: put(to, row, x, distance_pixel<float>(output.measure, cost, found, negative)); break;
            case APSIS_F64: put(to, row, x, distance_pixel<double>(output.measure, cost, found, negative)); break;
            case APSIS_I32: put(to, row, x, distance_pixel<int32_t>(output.measure, cost, found, negative)); break;
            default: put(to, row, x, distance_pixel<int64_t>(output.measure, cost, found, negative)); break;
        }
    }
    if (const View &to = output.nearest; to) {
        uint8_t *row = to.row(y, z);
        if (to.type == APSIS_I32)
            put(to, row, x, static_cast<int32_t>(found ? index : -1));
        else
            put(to, row, x, found ? index : int64_t(-1));
    }
}

/// Writes pixels of row y from x up to `end` one by one, from the costs and indices of the first ones, which it moves through
/// registers.  The loop is not unrolled: the code for all forms of output is long.
template <int COUNT, class Cost, class Index>
__device__ void write_pixels(const Output &output, int64_t x, int64_t y, int64_t z, int64_t end, Cost (&cost)[COUNT],
                             bool found, Index (&index)[COUNT], int64_t first_index = 0) {
#pragma unroll 1
    for (; x < end; ++x) {
        write_pixel(output, x, y, z, static_cast<int64_t>(cost[0]), found, first_index + static_cast<int64_t>(index[0]));
#pragma unroll
        for (int k = 1; k < COUNT; ++k) cost[k - 1] = cost[k], index[k - 1] = index[k];
    }
}

}  // namespace apsis::cuda
