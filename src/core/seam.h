// An image that closes on itself along some axes: behind its last pixel follows its first.  Pairs of neighbours that only this
// makes neighbours lie across its seam.
//
// Along an axis of two pixels the two are neighbours twice, inside the image and across the seam.
#pragma once

#include "core/view.h"

namespace apsis {

/// The axes along which an image closes on itself.
struct Periodic {
    bool along[3] = {};

    bool any() const { return along[0] || along[1] || along[2]; }
    /// Coordinate `at` of a pixel, or of one that is a step outside of an image of this extent; -1 if there is none.
    APSIS_BOTH int64_t wrap(int axis, int64_t at, int64_t extent) const {
        if (at >= 0 && at < extent) return at;
        return !along[axis] ? -1 : at < 0 ? at + extent : at - extent;
    }
};

/// The pairs of neighbours across the seam of one axis, and of none before it.  So those of all axes are each pair once.
struct Seam {
    int axis;
    Periodic periodic;
    int64_t size[3];
    int axes, connectivity;

    template <class Job>
    Seam(const Job &job, int of_axis)
        : axis(of_axis),
          periodic(job.periodic),
          size{job.set.size[0], job.set.size[1], job.set.size[2]},
          axes(job.axes),
          connectivity(job.connectivity) {}

    /// The pixels on its one side: the first ones along the axis.
    APSIS_BOTH int64_t pixels() const { return size[0] * size[1] * size[2] / size[axis]; }

    /// Calls body(at, to, kind) for pixel i of them with each neighbour on the other side; kind is the number of axes along
    /// which the step between them goes.
    template <class Body>
    APSIS_BOTH void for_neighbours(int64_t i, Body body) const {
        int64_t at[3];
        for (int a = 0; a < 3; ++a) {
            at[a] = a == axis ? 0 : i % size[a];
            if (a != axis) i /= size[a];
        }
        for (int n = 0; n < 27; ++n) {
            const int step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            const int kind = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
            bool is_there = step[axis] == -1 && kind <= connectivity && (axes == 3 || step[2] == 0);
            int64_t to[3];
            for (int a = 0; a < 3; ++a) {
                to[a] = periodic.wrap(a, at[a] + step[a], size[a]);
                is_there = is_there && to[a] >= 0 && (a >= axis || to[a] == at[a] + step[a]);
            }
            if (is_there) body(at, to, kind);
        }
    }
};

}  // namespace apsis
