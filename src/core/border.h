// Outputs of a distance map, pixel by pixel: the border of the image taken into account, and labels in place of indices.
//
// With APSIS_BORDER what lies outside the image is background.  The nearest pixel outside is straight along an axis, so that
// its cost is known from a pixel's place alone.  It is compared with the output after the map is there: nearest pixels tell
// costs as whole numbers, and where they are not wanted, a rounded length is as good, because rounding keeps the order.
#pragma once

#include "core/measure.h"
#include "core/seam.h"

namespace apsis {

/// The cost of the nearest pixel outside the image; INT64_MAX if there is none, because all axes are periodic.
APSIS_BOTH inline int64_t border_cost(const Measure &measure, const int64_t (&size)[3], int axes, const Periodic &periodic,
                                      const int64_t (&at)[3]) {
    int64_t least = INT64_MAX;
    for (int a = 0; a < axes; ++a) {
        if (periodic.along[a]) continue;
        const int64_t offset = at[a] + 1 < size[a] - at[a] ? at[a] + 1 : size[a] - at[a];
        const int64_t cost = axis_cost<int64_t>(measure.metric, measure.weight[a], offset);
        if (cost < least) least = cost;
    }
    return least;
}

/// The outputs of a job with APSIS_BORDER.
struct Border {
    View set, distance, nearest;
    Measure measure;
    int axes;
    int64_t size[3], start[3] = {};  // of the image, and where in it the set begins
    Periodic periodic;
    bool is_signed, complement, beyond;

    template <class Job>
    explicit Border(const Job &job)
        : set(job.set),
          distance(job.distance),
          nearest(job.nearest),
          measure(job.measure),
          axes(job.axes),
          size{job.set.size[0], job.set.size[1], job.set.size[2]},
          periodic(job.periodic),
          is_signed(job.is_signed),
          complement(job.complement),
          beyond(job.beyond) {
        size[axes - 1] = job.slab.extent;
        start[axes - 1] = job.slab.start;
    }

    /// Takes the border into account at a pixel.  Background is never nearer to what lies outside than to itself; in a signed
    /// map its pixels are left alone, since they look for the set.
    APSIS_BOTH void settle(int64_t x, int64_t y, int64_t z) const {
        if (is_signed && !is_set(set, set.row(y, z), x)) return;
        const int64_t at[3] = {x, y, z}, place[3] = {x + start[0], y + start[1], z + start[2]};
        const int64_t cost = border_cost(measure, size, axes, periodic, place);
        if (cost > measure.limit) return;
        if (nearest ? !settle_nearest(at, place, cost) : false) return;
        if (!distance) return;
        switch (distance.type) {
            case APSIS_BIT: return settle_bit(at);
            case APSIS_U8: return put<uint8_t>(distance, distance.row(y, z), x, !beyond);
            case APSIS_I32: return settle_distance<int32_t>(at, cost);
            case APSIS_I64: return settle_distance<int64_t>(at, cost);
            case APSIS_F32: return settle_distance<float>(at, cost);
            default: return settle_distance<double>(at, cost);
        }
    }

  private:
    APSIS_BOTH int64_t cost_to(const int64_t (&place)[3], int64_t index) const {
        const int64_t from[3] = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
        int64_t cost = 0;
        for (int a = 0; a < axes; ++a) {
            int64_t offset = place[a] < from[a] ? from[a] - place[a] : place[a] - from[a];
            if (periodic.along[a] && offset > size[a] - offset) offset = size[a] - offset;
            const int64_t along = axis_cost<int64_t>(measure.metric, measure.weight[a], offset);
            cost = measure.metric != APSIS_CHESSBOARD ? cost + along : along > cost ? along : cost;
        }
        return cost;
    }

    /// Whether no pixel of the image is nearer.
    APSIS_BOTH bool settle_nearest(const int64_t (&at)[3], const int64_t (&place)[3], int64_t cost) const {
        uint8_t *const row = nearest.row(at[1], at[2]);
        const int64_t index = value_at(nearest, row, at[0]);
        if (index >= 0 && cost_to(place, index) < cost) return false;
        if (nearest.type == APSIS_I32)
            put<int32_t>(nearest, row, at[0], -1);
        else
            put<int64_t>(nearest, row, at[0], -1);
        return true;
    }

    /// The byte's other pixels must be settled by the same thread.
    APSIS_BOTH void settle_bit(const int64_t (&at)[3]) const {
        uint8_t &byte = distance.row(at[1], at[2])[at[0] >> 3];
        const auto bit = static_cast<uint8_t>(1 << (at[0] & 7));
        byte = static_cast<uint8_t>(beyond ? byte & ~bit : byte | bit);
    }

    template <class Pixel>
    APSIS_BOTH void settle_distance(const int64_t (&at)[3], int64_t cost) const {
        const bool negative = is_signed && !complement;
        uint8_t *const row = distance.row(at[1], at[2]);
        const Pixel was = *reinterpret_cast<const Pixel *>(row + at[0] * distance.stride[0]);
        const Pixel length = distance_pixel<Pixel>(measure, cost, true, negative);
        if (negative ? length > was : length < was) put(distance, row, at[0], length);
    }
};

}  // namespace apsis
