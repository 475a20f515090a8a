// The near search for nearest sites (near_search.cu): a row at a time, by keys of cost, row and column.  The least key is the
// nearest site of the lowest index.
#include "cuda/distance/plane/near_search.cuh"

namespace apsis::cuda::plane {

namespace {

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
};

/// A block takes a span of a strip: distances and nearest sites, a row at a time.
template <Form FORM, int SPAN>
__global__ void __launch_bounds__(BLOCK, 3) search_sites(Layout layout, NearOutput target) {
    wait_for_kernel_before();
    extern __shared__ __align__(16) uint32_t keys[];  // [STRIP][PITCH]
    using Key = SiteKeys<SPAN>;
    constexpr int PITCH = Shape<SPAN>::PITCH, REACH = Shape<SPAN>::REACH, COST_SHIFT = Key::COST_SHIFT;
    constexpr int32_t MOST_COST = Shape<SPAN>::MOST_COST;
    const Columns &columns = layout.columns;
    const BlockSpan<SPAN> block(layout, blockIdx.x);
    const int64_t image = block.image, strip = block.strip;
    if (layout.is_far(image, strip)) return;
    const bool is_near = scan_block < false,
               FORM == Form::OTHER > (columns, block, target, [&](int c, int r, uint32_t up, uint32_t nearest) {
                           keys[r * PITCH + c] = Key::of_column(up & 0xffff, nearest & 0xffff);
                           keys[(r + HALF_STRIP) * PITCH + c] = Key::of_column(up >> 16, nearest >> 16);
                       });
    if (!is_near) return mark_block(layout, block);

    const WarpPatch<SPAN> patch(layout, block);
    const int column = patch.column;
    patch.each_row(patch.height(), [&](int r) {
        const uint32_t *const line = keys + r * PITCH;
        uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
        uint32_t best[QUAD] = {on_left.x + Key::ORIGIN, on_left.y + Key::ORIGIN, on_left.z + Key::ORIGIN,
                               on_left.w + Key::ORIGIN};
        int done = 0;
        const auto is_hopeless = [&] {
            const uint32_t reached = least_reached<SPAN>(line, column, ~0u, [](uint32_t a, uint32_t b) { return min(a, b); });
            return !patch.out && reached >> COST_SHIFT > MOST_COST && target.limit >= MOST_COST;
        };
        const auto settled = [&] {
            const int32_t worst = max(max(best[0], best[1]), max(best[2], best[3])) >> COST_SHIFT;
            const int32_t next = (done + 1) * (done + 1);  // at equality a site of lower index may follow
            return patch.out || worst < next || next > target.limit;
        };
        bool near = __all_sync(ALL_LANES, settled());
        // A short reach is unrolled, so that the instructions hold the steps' numbers.
#pragma unroll(Shape<SPAN>::IS_SHORT ? 1 : REACH / QUAD)
        for (int from = 0; from < REACH; from += QUAD) {
            if (near || (from == FIRST_STEPS && __any_sync(ALL_LANES, is_hopeless()))) break;
            step_quad(line, column, from, on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
                best[c] = __viaddmin_u32(a, Key::of_offset(-from - k), best[c]);
                best[c] = __viaddmin_u32(b, Key::of_offset(from + k), best[c]);
            });
            done = from + QUAD;
            near = __all_sync(ALL_LANES, settled());
        }
        patch.mark(r, !near, image);
        if (!near) return;
        const int64_t y = strip * STRIP + r;
        uint32_t cost[QUAD];
        int64_t site[QUAD];
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
            const int64_t down = static_cast<int64_t>(best[c] >> Key::BITS & Key::MASK) - Key::ORIGIN;
            const int64_t along = static_cast<int64_t>(best[c] & Key::MASK) - Key::ORIGIN;
            cost[c] = best[c] >> COST_SHIFT;
            site[c] =
                (layout.slice_of(image) * columns.length + columns.start + y + down) * columns.count + patch.x + c + along;
        }
        write_found<FORM, true>(layout, target, patch.x, y, image, cost, site);
    });
}

}  // namespace

size_t near_search_bytes(bool nearest, bool has_long_reach) {
    return nearest ? STRIP * (has_long_reach ? Shape<SHORT_SPAN>::PITCH : Shape<WIDE_SPAN>::PITCH) * sizeof(uint32_t) : 0;
}

void search_near_nearest(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    with_span(plan, layout, [&](auto form, auto span, const NearOutput &target) {
        launch(plan.near, search_sites<form, span>, early(stream), layout, target);
    });
}

}  // namespace apsis::cuda::plane
