// The near search of a label image: rows of its distance map in the plane where every pixel of a value has one of another
// value within 96 pixels.  Patches with a pixel farther from all are marked.  A second search takes these, and reaches up to
// 448; what it leaves is for lines (cuda/distance/label_lines.cu).
//
// In a column, a pixel's distance to another value is that to the end of its run, which takes a scan as that of a set's sites
// (near_search.cu).  Along the row, the search is that of sets, too: a column beyond the end of the pixel's run may cost too
// little or too much, but the pixel beside the run is nearer than anything in that column, and is the first candidate.  So
// columns are searched whatever their values are: see docs/methods.md.  For nearest pixels label_search_nearest.cu does this.
//
// The second search knows how far it has to reach: no pixel is farther than the nearer one of the ends of its runs, along the
// row and the column.  A warp lays the squares of one row's columns in shared memory, or with nearest pixels the offsets.
//
// Cost: of the first search that of sets, of as many columns as its pixels need; and 1/2 byte a pixel of words and carries of
// rows, some 10 instructions.
#include "cuda/distance/plane/label_search.h"
#include "cuda/distance/plane/label_block.cuh"

namespace apsis::cuda::plane {

namespace {

/// The costs of a lane's candidates in two rows.
class LabelCosts : public OneSide {
  public:
    static constexpr bool HAVE_ENDS = true;

    /// Of the words of two rows.  may_be_far: columns are there as far as a search goes; else none will be hopeless.
    __device__ LabelCosts(const RowWord &low, const RowWord &high, int64_t x, bool may_be_far)
        : OneSide({}),
          may_be_far_(may_be_far) {
        find_ways(low, high, static_cast<int32_t>(x), LONGEST_WAY, ends_);
        const int shift = static_cast<int>(x % STRIP);
        const uint32_t have_values = (low.members >> shift & QUAD_BITS) | (high.members >> shift & QUAD_BITS) << 16;
#pragma unroll
        for (int c = 0; c < QUAD; ++c) ends_[c] = square_both(ends_[c] & (have_values >> c & BOTH) * 0xffff);
    }
    /// The cost of a pixel's own column, or of the end of its run in the row; 0 of a pixel without a value.
    __device__ uint32_t own(int c, uint32_t value) const { return __vminu2(value, ends_[c]); }

    template <int SPAN>
    __device__ uint32_t reached(const uint32_t *line, int column) const {
        return may_be_far_ ? OneSide::reached<SPAN>(line, column) : 0;
    }

  private:
    static constexpr uint32_t QUAD_BITS = (1u << QUAD) - 1;
    static constexpr uint32_t LONGEST_WAY = 255;  // its square fits 16 bits, and is not settled
    static_assert(LONGEST_WAY * LONGEST_WAY > uint32_t(Shape<LABEL_SPAN>::MOST_COST));

    uint32_t ends_[QUAD];
    bool may_be_far_;
};

/// A block takes a span of a strip.
template <Form FORM>
__global__ void __launch_bounds__(BLOCK, COSTS_RESIDENT) search_label_costs(Layout layout, NearOutput target, LabelRows rows) {
    __shared__ __align__(16) uint32_t squares[HALF_STRIP][Shape<LABEL_SPAN>::PITCH];
    __shared__ RowWord words[LABEL_SPAN / STRIP][STRIP];
    const BlockSpan<LABEL_SPAN> block(layout, blockIdx.x);
    lay_words(layout, block, rows, words);
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    const int reach =
        scan_columns(layout, block, [&](int c, int r, uint32_t, uint32_t nearest) { squares[r][c] = square_both(nearest); });
    const WarpPatch<LABEL_SPAN> patch(layout, block);
    const int height = patch.height();
    patch.each_row(min(height, HALF_STRIP), [&](int r) {
        const RowWord *const word = &words[(patch.x - block.left) / STRIP][r];
        const LabelCosts costs(word[0], word[HALF_STRIP], patch.x, reach == Shape<LABEL_SPAN>::REACH);
        const PatchCosts found = search_patch<LABEL_SPAN>(squares[r], patch.column, patch.out, target.limit, costs);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = r + half * HALF_STRIP;
            if (row >= height) break;
            patch.mark(row, !found.settled[half], block.image);
            if (!found.settled[half]) continue;
            uint32_t cost[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c) cost[c] = found.cost(c, half);
            if constexpr (FORM == Form::OTHER) {
                write_found<FORM, false>(layout, target, patch.x, start + row, block.image, cost, {});
            } else {
                uint32_t number[QUAD];
                costs.template to_numbers<FORM>(target.format, cost, half, number);
                patch.store(row, number);
            }
        }
    });
}

constexpr int32_t FARTHEST = 1 << 14;  // pixels: distances beyond count as this one, so that their squares fit

/// What the second search compares: costs alone; or keys of cost, row and column, from the highest bits down, of which the
/// least is that of the lowest index.
template <bool NEAREST>
struct Farther {
    using Value = uint32_t;

    /// What is laid of a column, from the offset to the pixel there.
    __device__ static uint32_t laid(int32_t rows) { return static_cast<uint32_t>(rows * rows); }
    __device__ static Value at(uint32_t laid, int32_t columns) { return laid + static_cast<uint32_t>(columns * columns); }
    __device__ static Value nearer(uint32_t left, uint32_t right, int32_t columns) { return at(min(left, right), columns); }
    __device__ static uint32_t cost_of(Value value) { return value; }
};
template <>
struct Farther<true> {
    using Value = unsigned long long;
    static constexpr uint32_t ORIGIN = 1 << 15;  // of a row, and of a column, counted from the pixel's
    static_assert(FARTHEST < ORIGIN);

    __device__ static uint32_t laid(int32_t rows) { return static_cast<uint32_t>(rows); }
    __device__ static Value at(uint32_t laid, int32_t columns) {
        const int32_t rows = static_cast<int32_t>(laid);
        return Value(static_cast<uint32_t>(rows * rows + columns * columns)) << 32 |
               (ORIGIN + static_cast<uint32_t>(rows)) << 16 | (ORIGIN + static_cast<uint32_t>(columns));
    }
    __device__ static Value nearer(uint32_t left, uint32_t right, int32_t columns) {
        return min(at(left, -columns), at(right, columns));
    }
    __device__ static uint32_t cost_of(Value value) { return static_cast<uint32_t>(value >> 32); }
    __device__ static int64_t rows_of(Value value) { return int64_t(value >> 16 & 0xffff) - ORIGIN; }
    __device__ static int64_t columns_of(Value value) { return int64_t(value & 0xffff) - ORIGIN; }
};

/// The second search: a block takes a patch of a strip, a warp its marked rows.
template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(BLOCK, COSTS_RESIDENT)
    search_marked_labels(Layout layout, NearOutput target, LabelRows rows, uint32_t *is_left) {
    using Far = Farther<NEAREST>;
    __shared__ __align__(16) uint32_t lines[WARPS][PATCH + 2 * LABEL_REACH];
    const BlockSpan<PATCH> block(layout, blockIdx.x);
    if (!layout.has_marks(block.image, block.strip)) return;
    uint32_t *const line = lines[threadIdx.x / WARP];
    const int32_t start = static_cast<int32_t>(block.strip * STRIP);
    const StripColumns<false> strip(layout.columns, block.image, block.strip);
    const WarpPatch<PATCH> patch(layout, block);
    patch.each_row(patch.height(), [&](int r) {
        const int64_t y = start + r;
        if (!layout.marks_of(block.image, y / BAND, patch.x / PATCH)[y % BAND]) return;
        const auto rows_to = [&](int64_t x) {
            const Sites begins = strip.stored(x);
            const auto place = nearest_beyond_run(begins.word, begins.before, begins.after, start, start + r);
            return max(min(place - start - r, FARTHEST), -FARTHEST);
        };
        typename Far::Value best[QUAD] = {};
        uint32_t most = 0;
        if (!patch.out) {
            int32_t end[QUAD];
            RowWord(rows, patch.x, block.image * layout.columns.length + y).find_ends(patch.x, end);
#pragma unroll
            for (int c = 0; c < QUAD; ++c) {
                const int32_t own = rows_to(patch.x + c);
                end[c] = max(min(end[c], FARTHEST), -FARTHEST);
                best[c] = min(Far::at(Far::laid(own), 0), Far::at(Far::laid(0), end[c]));
                most = max(most, static_cast<uint32_t>(min(abs(own), abs(end[c]))));
            }
        }
        const uint32_t reach = (greatest_of_warp(most) + QUAD - 1) / QUAD * QUAD;
        if (reach > LABEL_REACH) {
            if (patch.lane() == 0) *is_left = 1;
            return;
        }
        const int64_t left = patch.x - patch.lane() * QUAD - reach;
        __syncwarp();
        for (int c = patch.lane(); c < PATCH + 2 * static_cast<int>(reach); c += WARP)
            line[c] = Far::laid(rows_to(max(min(left + c, layout.columns.count - 1), int64_t(0))));
        __syncwarp();
        const int column = static_cast<int>(reach) + patch.lane() * QUAD;
        uint4 on_left = *reinterpret_cast<const uint4 *>(line + column), on_right = on_left;
        for (uint32_t from = 0; from < reach; from += QUAD) {
            const auto worst = Far::cost_of(max(max(best[0], best[1]), max(best[2], best[3])));
            if (__all_sync(ALL_LANES, worst <= (from + 1) * (from + 1))) break;
            step_quad(line, column, static_cast<int>(from), on_left, on_right, [&](int c, int k, uint32_t a, uint32_t b) {
                best[c] = min(best[c], Far::nearer(a, b, static_cast<int32_t>(from) + k));
            });
        }
        patch.mark(r, false, block.image);
        uint32_t cost[QUAD];
#pragma unroll
        for (int c = 0; c < QUAD; ++c) cost[c] = Far::cost_of(best[c]);
        if constexpr (NEAREST) {
            int64_t site[QUAD];
#pragma unroll
            for (int c = 0; c < QUAD; ++c)
                site[c] = (block.image * layout.columns.length + y + Far::rows_of(best[c])) * layout.columns.count + patch.x +
                          c + Far::columns_of(best[c]);
            write_found<FORM, true>(layout, target, patch.x, y, block.image, cost, site);
        } else if constexpr (FORM == Form::OTHER) {
            write_found<FORM, false>(layout, target, patch.x, y, block.image, cost, {});
        } else {
            uint32_t number[QUAD];
            plane::to_numbers<FORM>(target.format, cost, number, [](uint32_t one) { return small_root_of(one); });
            patch.store(r, number);
        }
    });
}

}  // namespace

void search_labels(const Plan &plan, const Layout &layout, const LabelRows &rows, uint32_t *is_left, cudaStream_t stream) {
    check(cudaMemsetAsync(is_left, 0, sizeof *is_left, stream), "beginning a search of labels");
    const bool nearest = static_cast<bool>(layout.output.nearest);
    NearOutput target = target_of(layout.output);
    if (nearest) search_label_sites(plan, layout, rows, stream);
    with_form(target.format.plain(layout.output), [&](auto form) {
        target.format.limited = target.limit < Shape<LABEL_SPAN>::MOST_COST;  // else no cost above the limit is settled
        if (!nearest) launch(plan.near, search_label_costs<form>, stream, layout, target, rows);
        target.format.limited = target.limit < LABEL_REACH * LABEL_REACH;
        launch(plan.rows, nearest ? search_marked_labels<form, true> : search_marked_labels<form, false>, stream, layout,
               target, rows, is_left);
    });
}

}  // namespace apsis::cuda::plane
