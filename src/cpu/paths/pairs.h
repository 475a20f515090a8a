// The state of a component while its eccentricities are proved: lower bounds, the fields of hubs, and the bounds that these
// give for pairs of its pixels (see pair_bounds.h).
#pragma once

#include <functional>

#include "cpu/paths/bounds.h"
#include "cpu/paths/field.h"
#include "runtime/team.h"

namespace apsis::cpu::paths {

/// The state of all pixels of the set, by rank.  The ranks of a component are contiguous, and near pixels have close ranks.
template <class Length, class Cell>
struct Ranks {
    Cell *cell;          // [rank]
    Length *lower;       // [rank]: the lower bound
    Cell *farthest;      // [rank]: the cell of the source at that distance; null if not wanted
    Cell *witness;       // [rank]: all pairs with ranks below it, in the component, are closed; or PROVED
    Length *bound;       // [rank]: the bound of it and its witness, by the hubs of the last proof
    uint8_t *is_source;  // [rank]
    Length *lengths;     // [slot][rank]: from hubs
    int64_t pixels;
    int64_t members = 0;  // pixels of the set; known after they are counted

    /// `pairs` is false where every pixel gets a field of its own, and bounds are not used.
    Ranks(int64_t count, bool farthest_too, bool pairs, Carver &carver) : pixels(count) {
        cell = carver.take<Cell>(count);
        lower = carver.take<Length>(count);
        farthest = farthest_too ? carver.take<Cell>(count) : nullptr;
        witness = carver.take<Cell>(pairs ? count : 0);
        bound = carver.take<Length>(pairs ? count : 0);
        is_source = carver.take<uint8_t>(pairs ? count : 0);
        lengths = carver.take<Length>(pairs ? HUB_ROOM<Length> * count : 0);
    }
};

/// The largest lengths from hubs to the pixels of a block.
template <class Length, class Cell>
struct HubMaxima {
    static constexpr int HUBS = MOST_HUBS<Length>;
    static constexpr int64_t BLOCK = 64, LARGE = BLOCK * BLOCK;
    static int64_t blocks(int64_t count) { return (count + BLOCK - 1) / BLOCK; }
    static int64_t large_blocks(int64_t count) { return (count + LARGE - 1) / LARGE; }

    Length *small, *large;              // [block][hub]
    Cell *small_lowest, *large_lowest;  // [block]: its lowest cell
    int64_t *open;                      // [large block]: pixels that are not proved
    int64_t *weakest;                   // [large block]: the rank of these with the least lower bound

    HubMaxima(int64_t count, Carver &carver) {
        small = carver.take<Length>(blocks(count) * HUBS);
        large = carver.take<Length>(large_blocks(count) * HUBS);
        small_lowest = carver.take<Cell>(blocks(count));
        large_lowest = carver.take<Cell>(large_blocks(count));
        open = carver.take<int64_t>(large_blocks(count));
        weakest = carver.take<int64_t>(large_blocks(count));
    }
};

/// The scratch memory of one thread.  It is not on the stack, which is the caller's and may be small.
template <class Length>
struct PairScratch {
    static constexpr int64_t PART = 2048;  // large blocks that are searched together

    Field<Length> field;
    Length *from_hubs;  // [pixel of a block][hub]
    Length *sum;        // [large block of a part]
    int64_t *other;     // the large blocks of a part that may hold a witness

    PairScratch(const Grid &grid, const Steps &steps, int axes, Carver &carver) : field(grid, steps, axes, false, carver) {
        from_hubs = carver.take<Length>(HubMaxima<Length, int64_t>::BLOCK * MOST_HUBS<Length>);
        sum = carver.take<Length>(PART);
        other = carver.take<int64_t>(PART);
    }
};

/// each(count, body) calls body(i, scratch) for 0 <= i < count, side by side or not, with scratch memory that only this call
/// uses.  A body makes a field, or proves thousands of pixels, so that it may be called through a pointer.
template <class Scratch>
using Body = std::function<void(int64_t, Scratch &)>;
template <class Scratch>
using Each = std::function<void(int64_t, const Body<Scratch> &)>;

/// The ranks and maxima of one component, its pixels numbered from 0.
template <class Length, class Cell>
class Pairs {
  protected:
    using Memory = Ranks<Length, Cell>;
    using Maxima = HubMaxima<Length, Cell>;
    static constexpr int HUBS = MOST_HUBS<Length>;
    static constexpr int64_t BLOCK = Maxima::BLOCK, LARGE = Maxima::LARGE;
    static constexpr Cell PROVED = std::numeric_limits<Cell>::max();

    Pairs(const Memory &memory, const Maxima &maxima, int64_t first, int64_t count, Team *team)
        : team_(team),
          maxima_(maxima),
          count_(count),
          cell_(memory.cell + first),
          lower_(memory.lower + first),
          farthest_(memory.farthest ? memory.farthest + first : nullptr),
          witness_(memory.witness + first),
          bound_(memory.bound + first),
          is_source_(memory.is_source + first),
          room_(hub_room<Length>(memory.pixels, memory.members)) {
        for (int i = 0; i < room_; ++i) slot_[i] = memory.lengths + i * memory.members + first;
    }

    /// The slot of the n-th hub.  When all are in use, it replaces an old hub, but none of the first ones.
    int slot_of(int64_t n) const { return static_cast<int>(n < room_ ? n : FIRST_HUBS + (n - room_) % (room_ - FIRST_HUBS)); }

    void lengths_of(int64_t rank, Length *from_hubs) const {
        std::fill_n(from_hubs, HUBS, NO_HUB<Length>);
        for (int h = 0; h < hubs_; ++h) from_hubs[h] = slot_[h][rank];
    }

    /// The bounds of a pixel and each pixel of a stretch.  Returns the largest.
    Length bounds_of(const Length *from_hubs, int64_t begin, int64_t end, Length *bound) const {
        return pixel_bounds(from_hubs, slot_, begin, end - begin, hubs_, bound);
    }

    /// A claim about a pixel: no other pixel is farther than its lower bound, and with FARTHEST none as far has a lower cell
    /// than `farthest`.
    template <bool FARTHEST>
    struct Claim {
        Length lower = std::numeric_limits<Length>::max();
        Cell farthest = 0;

        Claim() = default;
        Claim(const Pairs &pairs, int64_t rank)
            : lower(pairs.lower_[rank]),
              farthest(FARTHEST ? pairs.farthest_[rank] : Cell()) {}

        /// Whether a pixel might refute it.  Its distance is at most `bound`, its cell at least `cell`.
        bool is_open(Length bound, Cell cell) const { return bound > lower || (FARTHEST && bound == lower && cell < farthest); }

        /// Becomes the weaker claim of both: a pixel that refutes either refutes that.
        void weaken(const Claim &one) {
            lower = std::min(lower, one.lower);
            farthest = std::max(farthest, one.farthest);
        }
    };

    /// Of large blocks, or fields: whether the i-th is this member's; its n-th one; and how many of so many it has.
    bool has(int64_t i) const { return !team_ || team_->has(i); }
    int64_t mine(int64_t n) const { return team_ ? team_->mine(n) : n; }
    int64_t share(int64_t count) const { return team_ ? team_->share(count) : count; }

    /// Tells the team numbers, of which those of other members are less here, -1.
    template <class Number>
    void merge(Number *numbers, int64_t count) const {
        if (team_) team_->merge(sizeof(Number) == 4 ? APSIS_I32 : APSIS_I64, numbers, count);
    }

    Team *team_;  // nullptr: this call alone
    Maxima maxima_;
    int64_t count_;
    const Cell *cell_;
    Length *lower_;
    Cell *farthest_, *witness_;
    Length *bound_;
    uint8_t *is_source_;
    Length *slot_[HUBS];
    int room_, hubs_ = 0;
    int64_t taken_ = 0;  // hubs so far, including replaced ones
};

}  // namespace apsis::cpu::paths
