// See spans.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/paths/spans.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "cpu/paths/spans.h"

HWY_BEFORE_NAMESPACE();
namespace apsis::cpu::paths {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Length, bool NAMES>
class TileSpans {
    using D = hn::CappedTag<Length, SPAN>;
    using V = hn::Vec<D>;
    using M = hn::Mask<D>;
    using Row = typename Pull<Length>::Row;

  public:
    HWY_INLINE TileSpans(const Pull<Length> &pull, const TileShape &shape, AwakeSpans<Length> &awake)
        : pull_(pull),
          shape_(shape),
          awake_(awake) {}

    /// Pulls forwards and backwards until all spans are asleep.
    HWY_INLINE void settle(int64_t first, int64_t right) {
        bool back = false;
        int span = 0;
        while (const uint64_t spans = awake_.spans[TileShape::SELF]) {
            const uint64_t ahead = back ? spans << (63 - span) >> (63 - span) : spans >> span << span;
            if (!ahead) {
                back = !back;
                continue;
            }
            span = back ? 63 - __builtin_clzll(ahead) : __builtin_ctzll(ahead);
            awake_.spans[TileShape::SELF] = spans & ~(uint64_t(1) << span);
            awake_.pulled |= uint64_t(1) << span;
            pull_span(first + shape_.at[span], right - shape_.x[span], span);
        }
    }

  private:
    /// A vector of cells in a row.  Where values are lengths, names are not used.
    struct CellVector {
        V length, name;
    };

    static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }
    static HWY_INLINE V unseen() { return hn::Set(D(), UNSEEN<Length>); }
    HWY_INLINE const Length *lengths() const { return NAMES ? pull_.length : pull_.value; }

    HWY_INLINE V name(int64_t cell) const { return NAMES ? hn::LoadU(D(), pull_.value + cell) : unseen(); }

    /// Loads cells; walls become UNSEEN.
    HWY_INLINE CellVector look(int64_t cell) const {
        const V raw = hn::LoadU(D(), lengths() + cell);
        return {hn::IfNegativeThenElse(raw, unseen(), raw), name(cell)};
    }

    /// The cells one before or one after the cells that start at `cell`.  They are moved, not loaded: an unaligned load of
    /// values that were just stored would stall.
    template <int BY>
    HWY_INLINE CellVector beside(const CellVector &cells, int64_t cell) const {
        const int64_t other = cell + (BY < 0 ? -1 : lanes());
        const Length length = lengths()[other];
        return {moved_in<BY>(cells.length, length < 0 ? UNSEEN<Length> : length),
                NAMES ? moved_in<BY>(cells.name, pull_.value[other]) : cells.name};
    }

    template <int BY>
    static HWY_INLINE V moved(V value) {
        const D d;
        const V from = hn::Add(hn::Iota(d, 0), hn::Set(d, Length(BY)));
        const V last = hn::Set(d, static_cast<Length>(lanes() - 1));
        return hn::TableLookupLanes(value, hn::IndicesFromVec(d, hn::Min(hn::Max(from, hn::Zero(d)), last)));
    }

    template <int BY>
    static HWY_INLINE V moved_in(V value, Length in) {
        const M inner = hn::FirstN(D(), static_cast<size_t>(BY < 0 ? 1 : lanes() - 1));
        const V all = moved<BY>(value), other = hn::Set(D(), in);
        return BY < 0 ? hn::IfThenElse(inner, other, all) : hn::IfThenElse(inner, all, other);
    }

    HWY_INLINE void pull_span(int64_t cell, int64_t right, int span) {
        HWY_ALIGN Length around[3 * SPAN];
        Length *const fresh = around + SPAN;  // the changed values, else UNSEEN
        fresh[-1] = fresh[SPAN] = UNSEEN<Length>;
        for (int64_t k = 0; k < SPAN; k += lanes()) hn::Store(unseen(), D(), fresh + k);
        V nearest = unseen();
        for (int64_t k = 0; k < SPAN; k += lanes()) pull(cell + k, right - k, fresh + k, nearest);
        for (int64_t k = SPAN - 2 * lanes(); k >= 0; k -= lanes()) pull(cell + k, right - k, fresh + k, nearest);
        if (hn::AllFalse(D(), hn::Lt(nearest, unseen()))) return;
        uint64_t woken = 0;
        const auto wake = [&](int neighbour, bool gains) HWY_ATTR {
            const TileShape::Place to = shape_.neighbour[span][neighbour];
            const bool inside = to.tile == TileShape::SELF;
            woken |= uint64_t(gains & inside) << to.span;
            if (gains & !inside) wake_outside(to, nearest);
        };
        for (const Row *row = pull_.row; row < pull_.row + pull_.rows; ++row) {
            if (row->offset) wake(row->neighbour, row_gains(cell, *row, fresh));
            if (!row->diagonal) continue;
            wake(row->neighbour - 1, cell_gains(fresh[0], cell, cell + row->offset - 1, row->diagonal));
            wake(row->neighbour + 1, cell_gains(fresh[SPAN - 1], cell + SPAN - 1, cell + row->offset + SPAN, row->diagonal));
        }
        awake_.spans[TileShape::SELF] |= woken;
    }

    HWY_INLINE void wake_outside(TileShape::Place to, V nearest) {
        awake_.spans[to.tile] |= uint64_t(1) << to.span;
        awake_.least[to.tile] = std::min(awake_.least[to.tile], hn::GetLane(hn::MinOfLanes(D(), nearest)));
    }

    /// Takes the best offers for a vector of cells, of which `right` are in the image.
    HWY_INLINE void pull(int64_t cell, int64_t right, Length *fresh, V &nearest) {
        const CellVector here = look(cell);
        const V before = NAMES ? here.name : here.length;
        const M wall = hn::Lt(hn::LoadU(D(), lengths() + cell), hn::Zero(D()));
        V value = before;
        for (const Row *row = pull_.row; row < pull_.row + pull_.rows; ++row) {
            const CellVector there = look(cell + row->offset);
            if (row->straight) value = hn::Min(value, offer(there, row->straight, here.length));
            if (!row->diagonal) continue;
            value = hn::Min(value, offer(beside<-1>(there, cell + row->offset), row->diagonal, here.length));
            value = hn::Min(value, offer(beside<1>(there, cell + row->offset), row->diagonal, here.length));
        }
        value = along(cell, hn::IfThenElse(wall, before, value), here, wall);
        const M changed = hn::And(hn::Lt(value, before), hn::FirstN(D(), static_cast<size_t>(std::max<int64_t>(right, 0))));
        if (hn::AllFalse(D(), changed)) return;
        hn::StoreU(hn::IfThenElse(changed, value, hn::LoadU(D(), pull_.value + cell)), D(), pull_.value + cell);
        hn::Store(hn::IfThenElse(changed, value, hn::Load(D(), fresh)), D(), fresh);
        nearest = hn::Min(nearest, hn::IfThenElse(changed, NAMES ? here.length : value, unseen()));
        awake_.has_high |= !NAMES && !hn::AllFalse(D(), hn::And(changed, hn::Gt(value, hn::Set(D(), pull_.report_above))));
    }

    /// The offers of cells to neighbours whose lengths are `there`.
    static HWY_INLINE V offer(const CellVector &from, Length step, V there) {
        const V length = hn::Add(from.length, hn::Set(D(), step));
        return NAMES ? hn::IfThenElse(hn::Eq(length, there), from.name, unseen()) : length;
    }

    /// Offers along the row, in doubling strides.  A gate is 0 where nothing blocks the stride, else UNSEEN.
    HWY_INLINE V along(int64_t cell, V value, const CellVector &here, M wall) const {
        const Length step = pull_.row->diagonal;
        V right = hn::IfThenElseZero(wall, unseen()), left = right;
        if constexpr (NAMES) {
            const V by = hn::Set(D(), step);
            right = hn::IfThenZeroElse(hn::Eq(hn::Add(beside<-1>(here, cell).length, by), here.length), unseen());
            left = hn::IfThenZeroElse(hn::Eq(hn::Add(beside<1>(here, cell).length, by), here.length), unseen());
        }
        const V once = hn::Min(stride<-1>(value, right, step), stride<1>(value, left, step));
        if (hn::AllFalse(D(), hn::Lt(once, value))) return value;
        return hn::Min(strides<-1>(value, right, step), strides<1>(value, left, step));
    }

    template <int BY>
    static HWY_INLINE V stride(V value, V gate, Length step) {
        constexpr Length DISTANCE = BY < 0 ? -BY : BY;
        if constexpr (NAMES) return hn::Max(moved<BY>(value), gate);
        return hn::Max(hn::Add(moved<BY>(value), hn::Set(D(), static_cast<Length>(DISTANCE * step))), gate);
    }

    template <int BY>
    static HWY_INLINE V strides(V value, V gate, Length step) {
        value = hn::Min(value, stride<BY>(value, gate, step));
        if constexpr (BY * BY < SPAN * SPAN / 4) {
            if (2 * BY * BY < lanes() * lanes()) return strides<2 * BY>(value, hn::Max(gate, moved<BY>(gate)), step);
        }
        return value;
    }

    /// Whether the span beside this one in another row gains from the changed values.
    HWY_INLINE bool row_gains(int64_t cell, const Row &row, const Length *fresh) const {
        M gain = hn::Lt(unseen(), hn::Zero(D()));
        for (int64_t k = 0; k < SPAN; k += lanes()) {
            const int64_t at = cell + k, to = at + row.offset;
            const V value = hn::Load(D(), fresh + k), length = NAMES ? look(at).length : value;
            const V there_length = NAMES ? hn::LoadU(D(), pull_.length + to) : unseen();
            const V there = hn::LoadU(D(), pull_.value + to);
            const auto add = [&](V value_from, V length_from, Length step) HWY_ATTR {
                const V sum = hn::Add(length_from, hn::Set(D(), step));
                const M gains = NAMES ? hn::And(hn::Lt(value_from, there), hn::Eq(sum, there_length)) : hn::Lt(sum, there);
                gain = hn::Or(gain, gains);
            };
            if (row.straight) add(value, length, row.straight);
            if (!row.diagonal) continue;
            const V before = moved_in<-1>(value, fresh[k - 1]), after = moved_in<1>(value, fresh[k + lanes()]);
            const CellVector here{length, value};
            add(before, NAMES ? beside<-1>(here, at).length : before, row.diagonal);
            add(after, NAMES ? beside<1>(here, at).length : after, row.diagonal);
        }
        return !hn::AllFalse(D(), gain);
    }

    /// Whether a single cell gains.
    HWY_INLINE bool cell_gains(Length fresh, int64_t from, int64_t to, Length step) const {
        const Length there = pull_.value[to];
        if constexpr (NAMES) return (fresh < there) & (pull_.length[from] + step == pull_.length[to]);
        return fresh + step < there;
    }

    const Pull<Length> &pull_;
    const TileShape &shape_;
    AwakeSpans<Length> &awake_;
};

template <class Length>
HWY_INLINE void settle_tile(const Pull<Length> &pull, const TileShape &shape, int64_t first, int64_t right,
                            AwakeSpans<Length> &awake) {
    if (pull.length)
        TileSpans<Length, true>(pull, shape, awake).settle(first, right);
    else
        TileSpans<Length, false>(pull, shape, awake).settle(first, right);
}

void Settle32(const Pull<int32_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int32_t> &awake) {
    settle_tile(pull, shape, first, right, awake);
}
void Settle64(const Pull<int64_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int64_t> &awake) {
    settle_tile(pull, shape, first, right, awake);
}

}  // namespace HWY_NAMESPACE
}  // namespace apsis::cpu::paths
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis::cpu::paths {

HWY_EXPORT(Settle32);
HWY_EXPORT(Settle64);

void settle(const Pull<int32_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int32_t> &awake) {
    HWY_DYNAMIC_DISPATCH(Settle32)(pull, shape, first, right, awake);
}

void settle(const Pull<int64_t> &pull, const TileShape &shape, int64_t first, int64_t right, AwakeSpans<int64_t> &awake) {
    HWY_DYNAMIC_DISPATCH(Settle64)(pull, shape, first, right, awake);
}

TileShape::TileShape(bool volume, int64_t pitch, int64_t plane) : side{volume ? 1 : 4, volume ? 8 : 16, volume ? 8 : 1} {
    const auto split = [this](int64_t i, int a) {  // a span's tile, 0 before, 1 itself or 2 after, and its place there
        const int64_t tile = i < 0 ? 0 : i < side[a] ? 1 : 2;
        return std::pair(tile, i - (tile - 1) * side[a]);
    };
    for (int s = 0; s < SPANS; ++s) {
        const int64_t i = s % side[0], y = s / side[0] % side[1], z = s / side[0] / side[1];
        x[s] = i * SPAN;
        at[s] = x[s] + y * pitch + z * plane;
        for (int n = 0; n < AROUND; ++n) {
            const auto [tile_x, to_x] = split(i + n % 3 - 1, 0);
            const auto [tile_y, to_y] = split(y + n / 3 % 3 - 1, 1);
            const auto [tile_z, to_z] = split(z + n / 9 - 1, 2);
            neighbour[s][n] = {static_cast<uint8_t>((tile_z * 3 + tile_y) * 3 + tile_x),
                               static_cast<uint8_t>((to_z * side[1] + to_y) * side[0] + to_x)};
        }
    }
}

}  // namespace apsis::cpu::paths
#endif
