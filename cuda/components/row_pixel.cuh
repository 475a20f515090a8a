// Which values are connected, and where the runs of two rows begin to meet: what a lane finds from its pixel, the one to the
// left of it, and those of another row (value_tiles.cuh).
//
// Of equal values much follows: two runs begin to meet where one of them begins.  Of near ones nothing does, as a may be
// near b, and b near c, but not a near c.  There a meeting is left out only where the same two runs meet one pixel before.
#pragma once

#include "cuda/components/tiles.h"

namespace apsis::cuda::components {

#if defined(__CUDACC__)

/// Labels are connected where they are equal.  They have whole registers, which compare without a conversion.
template <class Label>
struct Equal {
    using Pixel = std::conditional_t<sizeof(Label) == 8, uint64_t, uint32_t>;
    static constexpr bool IS_TRANSITIVE = true;

    __device__ static Pixel value(const View &, const uint8_t *pixel) {
        return static_cast<Pixel>(*reinterpret_cast<const Label *>(pixel));
    }
    __device__ bool connect(Pixel one, Pixel other) const { return one && one == other; }
};

/// Pixels of a grey image, where they differ by at most delta.  All types of whole numbers are one here.
template <class Value>
struct Near;

template <>
struct Near<int32_t> {
    using Pixel = int32_t;
    static constexpr bool IS_TRANSITIVE = false;
    uint32_t delta;

    __device__ static Pixel value(const View &set, const uint8_t *pixel) {
        if (set.type == APSIS_U8) return *pixel;
        return set.type == APSIS_U16 ? *reinterpret_cast<const uint16_t *>(pixel) : *reinterpret_cast<const int32_t *>(pixel);
    }
    __device__ bool connect(Pixel one, Pixel other) const {
        const uint32_t least = static_cast<uint32_t>(min(one, other)), most = static_cast<uint32_t>(max(one, other));
        return one && other && most - least <= delta;
    }
};

template <>
struct Near<float> {
    using Pixel = float;
    static constexpr bool IS_TRANSITIVE = false;
    double delta;

    __device__ static Pixel value(const View &, const uint8_t *pixel) { return *reinterpret_cast<const float *>(pixel); }
    __device__ bool connect(Pixel one, Pixel other) const {
        return one != 0 && other != 0 && (one == other || fabs(static_cast<double>(one) - static_cast<double>(other)) <= delta);
    }
};

/// The value of a pixel, or 0 outside the image.
template <class Values>
__device__ typename Values::Pixel value_at(const View &set, int64_t x, int64_t y, int64_t z) {
    if (x < 0 || y < 0 || z < 0 || x >= set.size[0] || y >= set.size[1] || z >= set.size[2]) return 0;
    return Values::value(set, set.row(y, z) + x * set.stride[0]);
}

/// A lane's pixel, and the one to the left of it; 0 outside the tile.
template <class Values>
struct RowPixel {
    using Pixel = typename Values::Pixel;
    Pixel value = 0, left = 0;

    /// Reads the pixel of a lane, in a row of the image, and for the first lane, if it `goes_left`, the one to the left.  The
    /// other lanes get theirs from share(), so that a warp can read some rows before it waits for any.
    __device__ void read(const View &set, const uint8_t *pixel, bool is_inside, bool goes_left) {
        if (is_inside) value = Values::value(set, pixel);
        if (is_inside && goes_left && threadIdx.x % WARP == 0) left = Values::value(set, pixel - set.stride[0]);
    }
    /// Warp: gives each lane the pixel to the left.
    __device__ void share() {
        const Pixel before = __shfl_up_sync(ALL_LANES, value, 1);
        if (threadIdx.x % WARP > 0) left = before;
    }
    __device__ bool goes_on(const Values &values) const { return values.connect(value, left); }
    __device__ bool starts(const Values &values) const {
        return Values::IS_TRANSITIVE ? value && left != value : value && !goes_on(values);
    }
    __device__ bool connects(const RowPixel &other, const Values &values) const { return values.connect(value, other.value); }

    /// Whether a run begins to meet one of an earlier row here: pixels above each other; this pixel and the one to the left
    /// there; or the one to the left here and that one.
    __device__ bool meets(const RowPixel &other, const Values &values) const {
        if constexpr (Values::IS_TRANSITIVE)
            return connects(other, values) && (starts(values) || other.starts(values));
        else
            return connects(other, values) && !(goes_on(values) && other.goes_on(values) && values.connect(left, other.left));
    }
    __device__ bool meets_left(const RowPixel &other, const Values &values) const {
        if constexpr (Values::IS_TRANSITIVE)
            return value != other.value && starts(values) && value == other.left;
        else
            return values.connect(value, other.left) && !(connects(other, values) && other.goes_on(values)) &&
                   !(values.connect(left, other.left) && goes_on(values));
    }
    __device__ bool meets_right(const RowPixel &other, const Values &values) const { return other.meets_left(*this, values); }
};

#endif

}  // namespace apsis::cuda::components
