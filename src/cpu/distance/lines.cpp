// The inner loops of the distance transform: see lines.h.  Compiled once for every instruction set.
//
// Outward search: after Saito and Toriwaki 1994, ended by the exact bound of Meijster et al. 2000, or at the limit.
// Monotone argmin: rows of a totally monotone matrix (Aggarwal et al. 1987) by divide and conquer.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/distance/lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/distance/bits-inl.h"
#include "cpu/distance/lines.h"

HWY_BEFORE_NAMESPACE();
namespace apsis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t SEGMENT = 1024;  // pixels searched in one way: enough to pay for a fresh bracket
constexpr int64_t NEAR = 32;       // outward steps before a segment counts as far: they cost about as much as a bracket

/// The best candidate so far, lane by lane.
template <class D>
struct Best {
    using V = hn::Vec<D>;
    V cost, order, arg;
};

/// Takes the candidates that are better: of lower cost, or of equal cost and lower order.
template <bool ORDERED, class D>
HWY_INLINE void take(D, Best<D> &best, hn::Vec<D> cost, hn::Vec<D> order, hn::Vec<D> arg) {
    if constexpr (ORDERED) {
        auto better = hn::Lt(cost, best.cost);
        better = hn::Or(better, hn::And(hn::Eq(cost, best.cost), hn::Lt(order, best.order)));
        best.order = hn::IfThenElse(better, order, best.order);
        best.arg = hn::IfThenElse(better, arg, best.arg);
        best.cost = hn::IfThenElse(better, cost, best.cost);
    } else {
        best.cost = hn::Min(cost, best.cost);
    }
}

/// As take(), for candidates from both sides: of equal cost and order the lower arg wins.
template <class D>
HWY_INLINE void take_outward(D, Best<D> &best, hn::Vec<D> cost, hn::Vec<D> order, hn::Vec<D> arg) {
    const auto same_cost = hn::Eq(cost, best.cost);
    const auto same_order = hn::And(same_cost, hn::Eq(order, best.order));
    auto better = hn::Lt(cost, best.cost);
    better = hn::Or(better, hn::And(same_cost, hn::Lt(order, best.order)));
    better = hn::Or(better, hn::And(same_order, hn::Lt(arg, best.arg)));
    best.order = hn::IfThenElse(better, order, best.order);
    best.arg = hn::IfThenElse(better, arg, best.arg);
    best.cost = hn::IfThenElse(better, cost, best.cost);
}

template <bool ORDERED, class T, class D>
HWY_INLINE void store(D d, const Line<T> &line, int64_t x, const Best<D> &best) {
    hn::StoreU(best.cost, d, line.least + x);
    if constexpr (ORDERED) {
        hn::StoreU(best.arg, d, line.arg + x);
        hn::StoreU(best.order, d, line.arg_order + x);
    }
}

/// Takes the pixels of another value beside the runs of a label image, if they are better.
template <bool ORDERED, class T, class D>
HWY_INLINE void take_end(D d, Best<D> &best, const Line<T> &line, int64_t x) {
    const auto cost = hn::LoadU(d, line.end_cost + x);
    if constexpr (ORDERED)
        take_outward(d, best, cost, hn::Set(d, line.end_order), hn::LoadU(d, line.end_arg + x));
    else
        best.cost = hn::Min(cost, best.cost);
}

/// The same for a segment that has been searched, unless some cost in it is too long for its type: that must be seen then.
template <bool ORDERED, class T, class D>
HWY_INLINE void take_ends(D d, const Line<T> &line, int64_t begin, int64_t end) {
    if (line.may_saturate && *std::max_element(line.least + begin, line.least + end) >= SATURATED<T>) return;
    for (int64_t x = begin; x < end; x += static_cast<int64_t>(hn::Lanes(d))) {
        Best<D> best;
        best.cost = hn::LoadU(d, line.least + x);
        if constexpr (ORDERED) {
            best.order = hn::LoadU(d, line.arg_order + x);
            best.arg = hn::LoadU(d, line.arg + x);
        }
        take_end<ORDERED>(d, best, line, x);
        store<ORDERED>(d, line, x, best);
    }
}

/// Outward search for one block of `B` vectors from x.  False if it did not end within NEAR steps.
template <bool ORDERED, int B, class T, class D>
HWY_INLINE bool search_block(D d, hn::Vec<D> lanes, const Line<T> &line, int64_t x) {
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    Best<D> best[B];
    for (int b = 0; b < B; ++b) {
        best[b].cost = hn::LoadU(d, line.cost + x + b * N);
        if constexpr (ORDERED) {
            best[b].order = hn::LoadU(d, line.order + x + b * N);
            best[b].arg = hn::Add(lanes, hn::Set(d, static_cast<T>(x + b * N)));
        }
        if (line.end_cost) take_end<ORDERED>(d, best[b], line, x + b * N);
    }
    for (int64_t k = 1; k <= NEAR; ++k) {
        const auto step = hn::Set(d, line.table[k]);
        auto worst = best[0].cost;
        for (int b = 1; b < B; ++b) worst = hn::Max(worst, best[b].cost);
        // A candidate k away costs at least table[k]; where order decides, an equal cost may still win.
        const bool more = ORDERED ? !hn::AllTrue(d, hn::Lt(worst, step)) : !hn::AllFalse(d, hn::Gt(worst, step));
        if (!more || line.table[k] > line.limit || k >= line.length) {
            for (int b = 0; b < B; ++b) store<ORDERED>(d, line, x + b * N, best[b]);
            return true;
        }
        for (int b = 0; b < B; ++b) {
            const int64_t at = x + b * N;
            if constexpr (ORDERED) {
                for (int64_t from : {at - k, at + k})
                    take_outward(d, best[b], hn::Add(hn::LoadU(d, line.cost + from), step), hn::LoadU(d, line.order + from),
                                 hn::Add(lanes, hn::Set(d, static_cast<T>(from))));
            } else {
                const auto near = hn::Min(hn::LoadU(d, line.cost + at - k), hn::LoadU(d, line.cost + at + k));
                best[b].cost = hn::Min(best[b].cost, hn::Add(near, step));
            }
        }
    }
    return false;
}

/// The best candidate of pixel x in [low, high].  A vector may read past high: no candidate there is better.
template <bool ORDERED, class T, class D>
HWY_INLINE int64_t best_for(D d, hn::Vec<D> lanes, const Line<T> &line, int64_t x, int64_t low, int64_t high) {
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    if (low == high) return low;
    Best<D> best{hn::Set(d, hwy::HighestValue<T>()), hn::Set(d, hwy::HighestValue<T>()), hn::Zero(d)};
    for (int64_t c = low; c <= high; c += N) {
        const auto cost = hn::Add(hn::LoadU(d, line.cost + c), hn::LoadU(d, line.table + (c - x)));
        const auto order = ORDERED ? hn::LoadU(d, line.order + c) : hn::Zero(d);
        if constexpr (ORDERED) {
            take<true>(d, best, cost, order, hn::Add(lanes, hn::Set(d, static_cast<T>(c))));
        } else {
            const auto better = hn::Lt(cost, best.cost);
            best.arg = hn::IfThenElse(better, hn::Add(lanes, hn::Set(d, static_cast<T>(c))), best.arg);
            best.cost = hn::Min(cost, best.cost);
        }
    }
    const auto highest = hn::Set(d, hwy::HighestValue<T>());
    auto wins = hn::Eq(best.cost, hn::MinOfLanes(d, best.cost));
    if constexpr (ORDERED) {
        const auto order = hn::IfThenElse(wins, best.order, highest);
        wins = hn::And(wins, hn::Eq(order, hn::MinOfLanes(d, order)));
    }
    return static_cast<int64_t>(hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(wins, best.arg, highest))));
}

/// The least costs of the parts of a line, for ranges of candidates that may be much too wide.
template <class T>
class Parts {
  public:
    /// Finds them, the first time.
    template <class D>
    void find(D d, const Line<T> &line) {
        if (size_) return;
        const int64_t N = static_cast<int64_t>(hn::Lanes(d));
        size_ = HWY_MAX(SEGMENT, (line.length / COUNT / N + 1) * N);
        for (int64_t begin = 0; begin < line.length; begin += size_) {
            auto least = hn::LoadU(d, line.cost + begin);
            for (int64_t x = begin + N; x < begin + size_ && x < line.length; x += N)
                least = hn::Min(least, hn::LoadU(d, line.cost + x));
            least_[begin / size_] = hn::GetLane(hn::MinOfLanes(d, least));
        }
    }

    /// Whether there is a candidate within the limit.
    bool any(const Line<T> &line) const {
        return *std::min_element(least_, least_ + (line.length + size_ - 1) / size_) <= line.limit;
    }

    /// As best_for().  Candidates are left out whose offset costs more than one of three candidates does, and so are parts that
    /// cannot have the best one.
    template <bool ORDERED, class D>
    int64_t best_for(D d, hn::Vec<D> lanes, const Line<T> &line, int64_t x, int64_t low, int64_t high) const {
        const auto cost_of = [&](int64_t c) { return line.cost[c] + line.table[c - x]; };
        T bound = HWY_MIN(line.cost[x], HWY_MIN(cost_of(low), cost_of(high)));
        int64_t reach = 0, beyond = line.length;  // the offset `reach` costs no more; `beyond` does, if there is one
        while (beyond - reach > 1) {
            const int64_t middle = (reach + beyond) / 2;
            (line.table[middle] <= bound ? reach : beyond) = middle;
        }
        low = HWY_MAX(low, x - reach), high = HWY_MIN(high, x + reach);
        int64_t best = low;
        for (int64_t part = low / size_; part <= high / size_; ++part) {
            const int64_t first = HWY_MAX(low, part * size_), last = HWY_MIN(high, (part + 1) * size_ - 1);
            const int64_t gap = HWY_MAX(int64_t(0), HWY_MAX(first - x, x - last));
            if (least_[part] + line.table[gap] > bound) continue;
            const int64_t c = HWY_NAMESPACE::best_for<ORDERED>(d, lanes, line, x, first, last);
            const bool is_lower = ORDERED && cost_of(c) == cost_of(best) && line.order[c] < line.order[best];
            if (cost_of(c) < cost_of(best) || is_lower) best = c;
            bound = HWY_MIN(bound, cost_of(best));
        }
        return best;
    }

  private:
    static constexpr int64_t COUNT = 256;
    int64_t size_ = 0;  // of a part; the last may be smaller.  0: nothing is found yet
    T least_[COUNT];
};

/// Solves one vector of pixels from x, whose best candidates lie in [low, high].  Each candidate is loaded once for all.
template <bool ORDERED, class T, class D>
HWY_INLINE void serve_tile(D d, const Line<T> &line, int64_t x, int64_t low, int64_t high) {
    Best<D> best{hn::Set(d, hwy::HighestValue<T>()), hn::Set(d, hwy::HighestValue<T>()), hn::Zero(d)};
    for (int64_t c = low; c <= high; ++c) {
        const auto cost = hn::Add(hn::Set(d, line.cost[c]), hn::LoadU(d, line.table + (x - c)));
        if constexpr (ORDERED)
            take<true>(d, best, cost, hn::Set(d, line.order[c]), hn::Set(d, static_cast<T>(c)));
        else
            best.cost = hn::Min(best.cost, cost);
    }
    store<ORDERED>(d, line, x, best);
}

/// Monotone argmin for pixels [begin, end), whose best candidates lie in [low, high]; the last one's is high.
template <bool ORDERED, class T, class D>
void bracket_segment(D d, hn::Vec<D> lanes, const Line<T> &line, const Parts<T> &parts, int64_t begin, int64_t end, int64_t low,
                     int64_t high) {
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    const int64_t tiles = (end - begin + N - 1) / N;
    T *const best = line.bracket;  // best[i]: of pixel begin + i * N; best[tiles]: of the last pixel
    const auto pixel = [&](int64_t i) { return i < tiles ? begin + i * N : end - 1; };
    best[0] = static_cast<T>(parts.template best_for<ORDERED>(d, lanes, line, begin, low, high));
    best[tiles] = static_cast<T>(high);
    int64_t stride = 1;
    while (stride < tiles) stride *= 2;
    for (stride /= 2; stride >= 1; stride /= 2)
        for (int64_t i = stride; i < tiles; i += 2 * stride) {
            const int64_t right = i + stride < tiles ? i + stride : tiles;
            best[i] = static_cast<T>(best_for<ORDERED>(d, lanes, line, pixel(i), best[i - stride], best[right]));
        }
    for (int64_t i = 0; i < tiles; ++i) serve_tile<ORDERED>(d, line, begin + i * N, best[i], best[i + 1]);
}

/// The best candidates of some pixels to come, which are ends of segments: the line's last pixel, one halfway there, and so on.
/// Each bounds those of the pixels before it.
template <bool ORDERED, class T, class D>
class Ends {
  public:
    explicit Ends(const Parts<T> &parts) : parts_(parts) {}

    /// The best candidate of pixel x, which is no farther left than `low`.
    HWY_INLINE int64_t best(D d, hn::Vec<D> lanes, const Line<T> &line, int64_t x, int64_t low) {
        while (count_ && pixel_[count_ - 1] < x) --count_;
        if (!count_) add(d, lanes, line, line.length - 1, low, line.length - 1);
        while (pixel_[count_ - 1] > x) {
            const int64_t segments = (pixel_[count_ - 1] - x + SEGMENT - 1) / SEGMENT;
            add(d, lanes, line, x + segments / 2 * SEGMENT, low, best_[count_ - 1]);
        }
        return best_[count_ - 1];
    }

  private:
    HWY_INLINE void add(D d, hn::Vec<D> lanes, const Line<T> &line, int64_t x, int64_t low, int64_t high) {
        pixel_[count_] = x;
        best_[count_++] = parts_.template best_for<ORDERED>(d, lanes, line, x, low, high);
    }

    const Parts<T> &parts_;
    int count_ = 0;
    int64_t pixel_[32], best_[32];  // the next one last
};

/// For a line that has no candidate within the limit: each pixel gets its own.
template <class T>
void give_up(const Line<T> &line) {
    std::copy_n(line.cost, line.length, line.least);
    if (line.order) std::fill_n(line.arg, line.length, T(0)), std::fill_n(line.arg_order, line.length, T(0));
}

template <bool ORDERED, class T>
void solve_line(const Line<T> &line) {
    const hn::ScalableTag<T> d;
    const auto lanes = hn::Iota(d, 0);  // made once, as it goes through memory
    constexpr int B = ORDERED ? 2 : 4;
    const int64_t block = B * static_cast<int64_t>(hn::Lanes(d));
    Parts<T> parts;
    Ends<ORDERED, T, decltype(d)> ends(parts);
    int64_t low = 0;  // no pixel from here on has its best candidate further left
    for (int64_t begin = 0; begin < line.length; begin += SEGMENT) {
        const int64_t end = begin + SEGMENT < line.length ? begin + SEGMENT : line.length;
        int64_t x = begin;
        while (x < end && search_block<ORDERED, B>(d, lanes, line, x)) x += block;
        if (x >= end) continue;
        parts.find(d, line);
        if (x == 0 && !line.end_cost && !parts.any(line)) return give_up(line);
        const int64_t high = ends.best(d, lanes, line, end - 1, low);
        bracket_segment<ORDERED>(d, lanes, line, parts, x, end, low, high);
        if (line.end_cost) take_ends<ORDERED>(d, line, x, end);
        low = high;
    }
}

void LeastOnLine32(const Line<int32_t> &line) { line.order ? solve_line<true>(line) : solve_line<false>(line); }
void LeastOnLine64(const Line<int64_t> &line) { line.order ? solve_line<true>(line) : solve_line<false>(line); }

template <class T>
void ColumnCosts(const Scale<T> &scale, const uint32_t *words, const int32_t *before, const int32_t *after, uint32_t flip,
                 int64_t count, int32_t start, int32_t at, T *cost, T *order) {
    const hn::ScalableTag<T> dc;
    const hn::Rebind<int32_t, decltype(dc)> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    const int bit = at - start;
    const auto zero = hn::Zero(d), here = hn::Set(d, at);
    const auto none = hn::Set(dc, NO_COST<T>), reach = hn::Set(dc, scale.reach), weight = hn::Set(dc, scale.weight);
    const auto widen = [&](auto v) {
        if constexpr (sizeof(T) == 8)
            return hn::PromoteTo(dc, v);
        else
            return v;
    };
    for (int64_t x = 0; x < count; x += N) {
        const auto word = hn::Xor(hn::LoadU(du, words + x), hn::Set(du, flip));
        const auto below = hn::BitCast(d, hn::ShiftRightSame(word, bit));
        const auto down =
            hn::IfThenElse(hn::Eq(below, zero), hn::LoadU(d, after + x), hn::Add(here, lowest_position(d, below)));
        const auto above = hn::ShiftLeftSame(word, 31 - bit);
        const auto up = hn::IfThenElse(hn::Eq(hn::BitCast(d, above), zero), hn::LoadU(d, before + x),
                                       hn::Sub(here, highest_from_top(d, above)));
        const auto to_up = hn::Sub(here, up), to_down = hn::Sub(down, here);
        const auto offset = widen(hn::Min(to_up, to_down));
        const auto length = scale.squared ? hn::Mul(offset, offset) : offset;
        const auto has_site = hn::Lt(offset, reach);
        hn::StoreU(hn::IfThenElse(has_site, hn::Mul(length, weight), none), dc, cost + x);
        if (order)
            hn::StoreU(hn::IfThenElseZero(has_site, widen(hn::IfThenElse(hn::Gt(to_up, to_down), down, up))), dc, order + x);
    }
}

void ColumnCosts32(const Scale<int32_t> &scale, const uint32_t *words, const int32_t *before, const int32_t *after,
                   uint32_t flip, int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *order) {
    ColumnCosts(scale, words, before, after, flip, count, start, at, cost, order);
}

void ColumnCosts64(const Scale<int64_t> &scale, const uint32_t *words, const int32_t *before, const int32_t *after,
                   uint32_t flip, int64_t count, int32_t start, int32_t at, int64_t *cost, int64_t *order) {
    ColumnCosts(scale, words, before, after, flip, count, start, at, cost, order);
}

void PackBytes(const uint8_t *row, int64_t count, int bit, uint32_t *words) {
    const hn::ScalableTag<uint32_t> d;
    const hn::Rebind<uint8_t, decltype(d)> d8;
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    const auto mark = hn::Set(d, 1u << bit);
    int64_t x = 0;
    for (; x + N <= count; x += N) {
        const auto pixels = hn::PromoteTo(d, hn::LoadU(d8, row + x));
        const auto word = hn::LoadU(d, words + x);
        hn::StoreU(hn::Or(word, hn::IfThenZeroElse(hn::Eq(pixels, hn::Zero(d)), mark)), d, words + x);
    }
    for (; x < count; ++x) words[x] |= uint32_t(row[x] != 0) << bit;
}

void PackBits(const uint8_t *row, int64_t count, int bit, uint32_t *words) {
    const hn::CappedTag<uint32_t, 8> d;
    const int64_t N = static_cast<int64_t>(hn::Lanes(d));
    const auto mark = hn::Set(d, 1u << bit);
    HWY_ALIGN static constexpr uint32_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const auto place = hn::Load(d, places);
    int64_t x = 0;
    for (; x + N <= count; x += N) {
        const auto pixels = hn::And(hn::Set(d, uint32_t(row[x >> 3]) >> (x & 7)), place);
        const auto word = hn::LoadU(d, words + x);
        hn::StoreU(hn::Or(word, hn::IfThenZeroElse(hn::Eq(pixels, hn::Zero(d)), mark)), d, words + x);
    }
    for (; x < count; ++x) words[x] |= uint32_t(row[x >> 3] >> (x & 7) & 1) << bit;
}

const char *Instructions() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace apsis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace apsis {

HWY_EXPORT(LeastOnLine32);
HWY_EXPORT(LeastOnLine64);
HWY_EXPORT(ColumnCosts32);
HWY_EXPORT(ColumnCosts64);
HWY_EXPORT(PackBytes);
HWY_EXPORT(PackBits);
HWY_EXPORT(Instructions);

void least_on_line(const Line<int32_t> &line) { HWY_DYNAMIC_DISPATCH(LeastOnLine32)(line); }
void least_on_line(const Line<int64_t> &line) { HWY_DYNAMIC_DISPATCH(LeastOnLine64)(line); }

void column_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                  uint32_t flip, int64_t count, int32_t start, int32_t at, int32_t *cost, int32_t *order) {
    HWY_DYNAMIC_DISPATCH(ColumnCosts32)(Scale<int32_t>(measure, axis), words, before, after, flip, count, start, at, cost,
                                        order);
}

void column_costs(const Measure &measure, int axis, const uint32_t *words, const int32_t *before, const int32_t *after,
                  uint32_t flip, int64_t count, int32_t start, int32_t at, int64_t *cost, int64_t *order) {
    HWY_DYNAMIC_DISPATCH(ColumnCosts64)(Scale<int64_t>(measure, axis), words, before, after, flip, count, start, at, cost,
                                        order);
}

void pack_bytes(const uint8_t *row, int64_t count, int bit, uint32_t *words) {
    HWY_DYNAMIC_DISPATCH(PackBytes)(row, count, bit, words);
}

void pack_bits(const uint8_t *row, int64_t count, int bit, uint32_t *words) {
    HWY_DYNAMIC_DISPATCH(PackBits)(row, count, bit, words);
}

const char *row_instructions() {
    const char *name = HWY_DYNAMIC_DISPATCH(Instructions)();
    return std::strncmp(name, "AVX3", 4) == 0 ? "AVX-512" : name;  // Highway calls AVX-512 AVX3
}

}  // namespace apsis
#endif
