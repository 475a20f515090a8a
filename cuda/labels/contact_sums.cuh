// What is added up for a pair of values that touch, and the contact that is made of it.
#pragma once

#include <algorithm>

#include "cuda/labels/walk.cuh"

namespace apsis::cuda::labels {

constexpr int KIND_BITS = 2, CORNER = 3;  // of a stretch: the axis that its faces are across, or corners; above, its length

struct NoShape {};

struct FaceSums {
    Number count[4];

    __device__ void clear() {
        for (Number &each : count) each = 0;
    }
    __device__ void add(NoShape, uint64_t stretch) { count[stretch & CORNER] += stretch >> KIND_BITS; }
    __device__ void add(const FaceSums &sums) {
        for (int i = 0; i < 4; ++i) count[i] += sums.count[i];
    }
    __device__ void add_to(FaceSums &to) const {
        for (int i = 0; i < 4; ++i)
            if (count[i]) atomicAdd(&to.count[i], count[i]);
    }
};

/// A neighbour before a pixel, of 13, and the kind of their face.
struct Direction {
    int dx, dy, dz, axes;
    __device__ explicit Direction(int n)
        : dx(n % 3 - 1),
          dy(n / 3 % 3 - 1),
          dz(n / 9 - 1),
          axes((dx != 0) + (dy != 0) + (dz != 0)) {}
    __device__ int kind() const { return axes > 1 ? CORNER : dx ? 0 : dy ? 1 : 2; }
};

/// A contact without its area.
APSIS_BOTH inline apsis_contact contact_of(int64_t a, int64_t b, const FaceSums &sums) {
    apsis_contact contact = {};
    contact.a = a, contact.b = b;
    for (int axis = 0; axis < 3; ++axis) contact.faces[axis] = static_cast<int64_t>(sums.count[axis]);
    contact.corners = static_cast<int64_t>(sums.count[CORNER]);
    return contact;
}

/// The area of a face across each axis.
struct FaceAreas {
    double area[3];

    explicit FaceAreas(const ContactsJob &job) : area{} { std::copy_n(job.face, job.axes, area); }
};

}  // namespace apsis::cuda::labels
