// The search of a row for nearest sites, by keys of cost, row and column, for near_search_nearest.cu and, of label images,
// label_search_nearest.cu.
#pragma once

#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

/// Keys, from the highest bits down: the cost, the row and the column of the site, both counted from the pixel's.
template <int SPAN>
struct SiteKeys {
    static constexpr int BITS = Shape<SPAN>::IS_SHORT ? 8 : 6;  // of a row, and of a column, each biased by ORIGIN
    static constexpr int ORIGIN = 1 << (BITS - 1), MASK = 2 * ORIGIN - 1, COST_SHIFT = 2 * BITS;
    // More than any key that may be settled.  The largest step added to it still fits 32 bits.
    static constexpr uint32_t NO_SITE = static_cast<uint32_t>(ORIGIN * ORIGIN) << COST_SHIFT;
    static_assert(Shape<SPAN>::REACH < ORIGIN, "a site ORIGIN rows away is never near");
    static_assert((uint64_t(ORIGIN * ORIGIN + Shape<SPAN>::MOST_COST) << COST_SHIFT) < uint64_t(1) << 32);

    /// The key of the nearest site of a column, from its distance and the distance to the site above, which is preferred at
    /// equality.
    __device__ static uint32_t of_column(uint32_t up, uint32_t distance) {
        const uint32_t row = up == distance ? ORIGIN - distance : ORIGIN + distance;
        return distance < ORIGIN ? distance * distance << COST_SHIFT | row << BITS : NO_SITE;
    }
    /// The number to add to the key of a column that is `offset` columns away.
    __device__ static uint32_t of_offset(int offset) {
        return static_cast<uint32_t>((offset * offset << COST_SHIFT) + ORIGIN + offset);
    }
    /// Lays the keys of a column of a strip for rows r and r + HALF_STRIP, from what scan_rows() finds.
    __device__ static void lay(uint32_t *keys, int c, int r, uint32_t up, uint32_t nearest) {
        keys[r * Shape<SPAN>::PITCH + c] = of_column(up & 0xffff, nearest & 0xffff);
        keys[(r + HALF_STRIP) * Shape<SPAN>::PITCH + c] = of_column(up >> 16, nearest >> 16);
    }
};

/// Warp: searches a row of a patch outward, from the least keys of the lanes' own columns.  `line` has the row's keys.  Returns
/// whether the row is settled.  HAVE_ENDS: `best` has what lies beside the pixels' runs, and no column costs 0.  A row that may
/// not be far is settled before it runs out of columns.
template <int SPAN, bool HAVE_ENDS>
__device__ bool search_row(const WarpPatch<SPAN> &patch, const uint32_t *line, int32_t limit, uint32_t (&best)[QUAD],
                           bool may_be_far = true) {
    using Key = SiteKeys<SPAN>;
    constexpr int REACH = Shape<SPAN>::REACH, COST_SHIFT = Key::COST_SHIFT;
    constexpr int32_t MOST_COST = Shape<SPAN>::MOST_COST;
    uint4 on_left = *reinterpret_cast<const uint4 *>(line + patch.column), on_right = on_left;
    int done = 0;
    const auto is_hopeless = [&] {
        const uint32_t reached = least_reached<SPAN>(line, patch.column, ~0u, [](uint32_t a, uint32_t b) { return min(a, b); });
        return !patch.out && reached >> COST_SHIFT > MOST_COST && limit >= MOST_COST;
    };
    const auto settled = [&] {
        const int32_t worst = max(max(best[0], best[1]), max(best[2], best[3])) >> COST_SHIFT;
        const int32_t next = (done + 1) * (done + 1);  // at equality a site of lower index may follow
        return patch.out || worst < next + (HAVE_ENDS ? 1 : 0) || next > limit;
    };
    bool near = __all_sync(ALL_LANES, settled());
    // A short reach is unrolled, so that the instructions hold the steps' numbers.
#pragma unroll(Shape<SPAN>::IS_SHORT ? 1 : REACH / QUAD)
    for (int from = 0; from < REACH; from += QUAD) {
        if (near) break;
        if (from == FIRST_STEPS && may_be_far && __any_sync(ALL_LANES, is_hopeless())) {
            if (!HAVE_ENDS) break;
            done = REACH;  // nothing in reach is nearer than MOST_COST: what is nearer lies beside a run
            near = __all_sync(ALL_LANES, settled());
            break;
        }
        step_quad(line, patch.column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
            best[c] = __viaddmin_u32(a, Key::of_offset(-from - k), best[c]);
            best[c] = __viaddmin_u32(b, Key::of_offset(from + k), best[c]);
        });
        done = from + QUAD;
        near = __all_sync(ALL_LANES, settled());
    }
    return near;
}

/// Warp: writes the pixels of a row of a patch from their least keys.
template <Form FORM, int SPAN>
__device__ void write_keys(const WarpPatch<SPAN> &patch, const NearOutput &target, int64_t y, const uint32_t (&best)[QUAD]) {
    using Key = SiteKeys<SPAN>;
    const Layout &layout = patch.layout;
    const Columns &columns = layout.columns;
    uint32_t cost[QUAD];
    int64_t site[QUAD];
#pragma unroll
    for (int c = 0; c < QUAD; ++c) {
        const int64_t down = static_cast<int64_t>(best[c] >> Key::BITS & Key::MASK) - Key::ORIGIN;
        const int64_t along = static_cast<int64_t>(best[c] & Key::MASK) - Key::ORIGIN;
        cost[c] = best[c] >> Key::COST_SHIFT;
        site[c] = (layout.slice_of(patch.block.image) * columns.length + columns.start + y + down) * columns.count + patch.x +
                  c + along;
    }
    write_found<FORM, true>(layout, target, patch.x, y, patch.block.image, cost, site);
}

}  // namespace apsis::cuda::plane
