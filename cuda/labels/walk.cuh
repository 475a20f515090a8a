// A warp walks along a segment of a row, and emits an item for each stretch of pixels that have the same key.
#pragma once

#include "core/label_values.h"
#include "cuda/labels/plan.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::labels {

/// Adds up by atomic operations.
using Number = unsigned long long;

/// What is emitted: keys to be sorted, and what each item adds to the sums of its key.
struct Items {
    uint64_t *key, *added;
    uint32_t *count;  // of all that were to be emitted; those beyond the capacity are lost
    uint32_t capacity;
    uint64_t low = 0, high = ~uint64_t(0);  // the keys of items; others are left out
};

/// The segments that a launch takes.
struct Segments {
    int64_t first, count, across;
};

/// Warp: writes the items of the lanes that have one.
__device__ inline void emit(const Items &items, bool has_item, uint64_t key, uint64_t added) {
    has_item = has_item && key >= items.low && key <= items.high;
    const uint32_t at = take_places(items.count, has_item);
    if (!has_item || at >= items.capacity) return;
    items.key[at] = key;
    items.added[at] = added;
}

/// Warp: calls has_key(x, key) for the pixels from x = begin to end, and put(wants, key, begin, end), all lanes together, where
/// some of them have found the end of a stretch of pixels with equal keys.
template <class HasKey, class Put>
__device__ void walk(int64_t begin, int64_t end, HasKey has_key, Put put) {
    const int lane = threadIdx.x % WARP;
    uint64_t last_key = 0;  // of the lane before the first one
    int had_last = 0;
    int64_t start = begin;  // of the stretch that it is in
    for (int64_t x0 = begin; x0 < end; x0 += WARP) {
        const int64_t x = x0 + lane;
        uint64_t key = 0;
        const int has = x < end && has_key(x, key);
        if (!had_last && !__any_sync(ALL_LANES, has)) continue;  // as mostly, away from borders
        uint64_t before = __shfl_up_sync(ALL_LANES, key, 1);
        int had = __shfl_up_sync(ALL_LANES, has, 1);
        if (lane == 0) before = last_key, had = had_last;
        const bool breaks = has != had || key != before;  // without a key it is 0
        const unsigned all = __ballot_sync(ALL_LANES, breaks), below = all & ((1u << lane) - 1);
        put(breaks && had, before, below ? x0 + 31 - __clz(below) : start, x);
        if (all) start = x0 + 31 - __clz(all);
        last_key = __shfl_sync(ALL_LANES, key, WARP - 1);
        had_last = __shfl_sync(ALL_LANES, has, WARP - 1);
    }
    put(lane == 0 && had_last, last_key, start, end);
}

/// Warp: calls body(begin, end, y, z) for each of its segments.
template <class Body>
__device__ void for_segments(const Segments &segments, const View &image, Body body) {
    const int64_t warp = first_item() / WARP, warps = item_step() / WARP;
    for (int64_t i = warp; i < segments.count; i += warps) {
        const int64_t segment = segments.first + i, row = segment / segments.across,
                      begin = segment % segments.across * SEGMENT;
        body(begin, min(begin + SEGMENT, image.size[0]), row % image.size[1], row / image.size[1]);
    }
}

template <class Pixel>
__device__ Pixel pixel_at(const View &image, const uint8_t *row, int64_t x) {
    return *reinterpret_cast<const Pixel *>(row + x * image.stride[0]);
}

/// The number that sorts as a value does.
template <class Pixel>
APSIS_BOTH uint64_t biased(Pixel value) {
    if (Pixel(-1) > Pixel(0)) return static_cast<uint64_t>(value);
    const int bits = 8 * sizeof(Pixel);
    const uint64_t low = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << (bits % 64)) - 1;
    return (static_cast<uint64_t>(value) & low) ^ uint64_t(1) << (bits - 1);
}

/// The value of a biased number.
inline int64_t value_of(apsis_type type, uint64_t number) {
    if (type == APSIS_I32) return static_cast<int32_t>(static_cast<uint32_t>(number) ^ uint32_t(1) << 31);
    return static_cast<int64_t>(type == APSIS_I64 ? number ^ uint64_t(1) << 63 : number);
}

}  // namespace apsis::cuda::labels
