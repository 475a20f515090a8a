// Writes four pixels side by side of a distance map at once, where they are plain numbers of 32 bits.
#pragma once

#include "output.h"
#include "roots.h"

namespace apsis {

constexpr int QUAD = 4;  // pixels: 16 bytes

/// What an output's pixels are to those who write four at once: floats, squares in whole numbers, or something else.
enum class Form : uint8_t { OTHER, ROOTS, SQUARES };

struct Quads {
    bool serve;     // whether every output that is wanted may be written so
    Form distance;
    bool limited;   // whether a cost may be above the limit
    uint32_t limit;

    explicit Quads(const Output &output)
        : distance(form_of(output)),
          limited(output.measure.limit < output.measure.largest),
          limit(static_cast<uint32_t>(output.measure.limit)) {
        serve = (!output.distance || distance != Form::OTHER) &&
                (!output.nearest || (output.nearest.type == APSIS_I32 && is_aligned(output.nearest)));
    }

    /// The form of an unsigned map that write_plain serves; else OTHER.
    Form plain(const Output &output) const {
        if (!serve || output.is_signed) return Form::OTHER;
        return output.distance ? distance : Form::ROOTS;
    }

  private:
    static bool is_aligned(const View &view) {
        const auto bits = reinterpret_cast<uintptr_t>(view.data) | static_cast<uintptr_t>(view.stride[1]) |
                          static_cast<uintptr_t>(view.size[2] > 1 ? view.stride[2] : 0);
        return view.stride[0] == 4 && bits % 16 == 0;
    }
    static Form form_of(const Output &output) {
        if (!output.distance || !is_aligned(output.distance)) return Form::OTHER;
        if (output.distance.type == APSIS_I32) return Form::SQUARES;
        return output.distance.type == APSIS_F32 && output.measure.unit == 1 ? Form::ROOTS : Form::OTHER;
    }
};

#if defined(__CUDACC__)

/// Writes COUNT pixels of a row of an unsigned map from x on, of which the costs are known, and with NEAREST the indices
/// of the nearest sites.  `root` takes the root of a cost.
template <Form FORM, bool NEAREST, int COUNT, class Root>
__device__ void write_plain(const Output &output, const Quads &quads, int64_t x, int64_t y, int64_t z,
                            const uint32_t (&cost)[COUNT], const int32_t (&site)[COUNT], Root root) {
    static_assert(FORM != Form::OTHER && COUNT % QUAD == 0);
    const auto found = [&](int k) { return !quads.limited || cost[k] <= quads.limit; };
    if (!NEAREST || output.distance) {
        uint8_t *const to = output.distance.row(y, z) + x * 4;
        if constexpr (FORM == Form::ROOTS) {
            float distance[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k) distance[k] = root(cost[k]);
            if (quads.limited)
#pragma unroll
                for (int k = 0; k < COUNT; ++k) distance[k] = found(k) ? distance[k] : INFINITY;
#pragma unroll
            for (int k = 0; k < COUNT; k += QUAD)
                __stcs(reinterpret_cast<float4 *>(to + k * 4),
                       make_float4(distance[k], distance[k + 1], distance[k + 2], distance[k + 3]));
        } else {
            const auto square = [&](int k) { return found(k) ? static_cast<int32_t>(cost[k]) : INT32_MAX; };
#pragma unroll
            for (int k = 0; k < COUNT; k += QUAD)
                __stcs(reinterpret_cast<int4 *>(to + k * 4), make_int4(square(k), square(k + 1), square(k + 2), square(k + 3)));
        }
    }
    if constexpr (NEAREST) {
        uint8_t *const to = output.nearest.row(y, z) + x * 4;
        const auto index = [&](int k) { return found(k) ? site[k] : -1; };
#pragma unroll
        for (int k = 0; k < COUNT; k += QUAD)
            __stcs(reinterpret_cast<int4 *>(to + k * 4), make_int4(index(k), index(k + 1), index(k + 2), index(k + 3)));
    }
}

/// Stores four numbers, or those of them that `wanted` has bits for.
template <class Four, class Number>
__device__ void store_four(uint8_t *to, const Number (&numbers)[QUAD], unsigned wanted) {
    if (wanted == (1u << QUAD) - 1) {
        __stcs(reinterpret_cast<Four *>(to), Four{numbers[0], numbers[1], numbers[2], numbers[3]});
    } else {
#pragma unroll
        for (int k = 0; k < QUAD; ++k)
            if (wanted >> k & 1) reinterpret_cast<Number *>(to)[k] = numbers[k];
    }
}

/// Writes four pixels of a row of any map that quads serve.  Of a signed map the first run writes all pixels, and the
/// second those whose own sites it has not.
template <class Root>
__device__ void write_quad(const Output &output, const Quads &quads, int64_t x, int64_t y, int64_t z,
                           const uint32_t *cost, const int32_t *site, Root root) {
    const bool negative = output.is_signed && output.is_inside;
    unsigned wanted = 0;
    bool found[QUAD];
#pragma unroll
    for (int k = 0; k < QUAD; ++k) {
        wanted |= (!negative || cost[k] ? 1u : 0u) << k;
        found[k] = !quads.limited || cost[k] <= quads.limit;
    }
    if (!wanted) return;
    if (quads.distance == Form::ROOTS) {
        float distance[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; ++k) {
            distance[k] = found[k] ? root(cost[k]) : INFINITY;
            if (negative) distance[k] = -distance[k];
        }
        store_four<float4>(output.distance.row(y, z) + x * 4, distance, wanted);
    } else if (quads.distance == Form::SQUARES) {
        int32_t square[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; ++k) {
            square[k] = found[k] ? static_cast<int32_t>(cost[k]) : INT32_MAX;
            if (negative) square[k] = -square[k];
        }
        store_four<int4>(output.distance.row(y, z) + x * 4, square, wanted);
    }
    if (output.nearest) {
        int32_t index[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; ++k) index[k] = found[k] ? site[k] : -1;
        store_four<int4>(output.nearest.row(y, z) + x * 4, index, wanted);
    }
}

#endif

}  // namespace apsis
