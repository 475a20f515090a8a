// The eccentricities of the pixels of one component, exact and proved, from few of its fields: by pair bounds.
//
// Every field that is made, from a source s, raises the lower bounds L(v) to d(s,v), and to ecc(s) - d(s,v).  The fields
// of some sources, the hubs, are kept: by the triangle inequality no pixel q is farther from v than
//
//     B(v,q) = min over hubs h of d(h,v) + d(h,q)
//
// so v is proved, ecc(v) = L(v), as soon as B(v,q) <= L(v) for every q that has not been a source.  Pixels are in an order
// in which neighbours are close; the largest d(h,q) of 64 of them, and of 4096, settle most pairs at once.  An unproved v
// names the q with the largest bound as the next source; if the bound was loose, a pixel between v and q, where a shortest
// path passes, becomes a hub.  Some pixels do so in a turn (core/pair_turns.h).  Every turn makes a source of a pixel that was
// none, so it ends.  A pair that was closed stays so, because L never falls: each pixel goes through its pairs once.
//
// Where the farthest pixels are wanted too, L(v) is the length to a source that is known, and a q of lower index must lie
// below L(v), not only at it.
#pragma once

#include <cstring>

#include "cpu/bounds.h"
#include "cpu/field.h"

namespace apsis::cpu {

/// What is known of all pixels of the set, by rank: the pixels of a component follow each other, close ones too.
template <class Length, class Cell>
struct Ranks {
    static constexpr int MORE = 2 * BATCH<Length>;  // fields of a turn, beside hubs
    static constexpr int SLOTS = MOST_HUBS<Length> + MORE;

    Cell *cell;         // [rank]
    Length *lower;      // [rank]: the lower bound
    Cell *farthest;     // [rank]: the cell of the source that it comes from; null if not wanted
    Cell *witness;      // [rank]: all pairs with ranks below it, in the component, are closed; or PROVED
    uint8_t *is_source; // [rank]
    Length *lengths;    // [slot][rank]: from hubs, and behind them those of a turn
    int64_t pixels;
    int64_t members = 0; // pixels of the set, once they are counted

    /// `pairs` is false where bounds are not wanted, but every pixel's own field.
    Ranks(int64_t count, bool farthest_too, bool pairs, Carver &carver) : pixels(count) {
        cell = carver.take<Cell>(count);
        lower = carver.take<Length>(count);
        farthest = carver.take<Cell>(farthest_too ? count : 0);
        witness = carver.take<Cell>(pairs ? count : 0);
        is_source = carver.take<uint8_t>(pairs ? count : 0);
        lengths = carver.take<Length>(pairs ? (HUB_ROOM<Length> + MORE) * count : 0);
    }
};

/// The largest lengths from hubs to the pixels of a block, hubs side by side.
template <class Length, class Cell>
struct Tops {
    static constexpr int HUBS = MOST_HUBS<Length>;
    static constexpr int64_t BLOCK = 64, LARGE = BLOCK * BLOCK;
    static int64_t blocks(int64_t count) { return (count + BLOCK - 1) / BLOCK; }
    static int64_t large(int64_t count) { return (count + LARGE - 1) / LARGE; }

    Length *small, *wide;     // [block][hub]
    Cell *small_low, *wide_low;  // [block]: its lowest cell
    int64_t *open;            // [large block]: pixels that are not proved
    int64_t *weakest;         // [large block]: of them, the rank with the least lower bound

    Tops(int64_t count, Carver &carver) {
        small = carver.take<Length>(blocks(count) * HUBS);
        wide = carver.take<Length>(large(count) * HUBS);
        small_low = carver.take<Cell>(blocks(count));
        wide_low = carver.take<Cell>(large(count));
        open = carver.take<int64_t>(large(count));
        weakest = carver.take<int64_t>(large(count));
    }
};

/// What came of a component.
template <class Length>
struct Certificate {
    int64_t fields = 0;
    bool proved = true;
    Length gap = 0;  // by how much a lower bound may be too low
};

/// `Each` is called as each(count, body) and calls body(i, field) for 0 <= i < count, side by side or not, with a Field
/// that is the body's own meanwhile.
template <class Length, class Cell, bool FARTHEST, class Each>
class PairBounds {
    using Lengths = Field<Length, Cell, false>;
    using Memory = Ranks<Length, Cell>;
    using Maxima = Tops<Length, Cell>;
    static constexpr int HUBS = MOST_HUBS<Length>;
    static constexpr int64_t BLOCK = Maxima::BLOCK, LARGE = Maxima::LARGE;
    static constexpr Cell PROVED = std::numeric_limits<Cell>::max();

  public:
    /// The pixels of ranks first to first + count - 1.
    PairBounds(const Memory &memory, const Maxima &tops, int64_t first, int64_t count, Each each)
        : tops_(tops), each_(each), count_(count), cell_(memory.cell + first), lower_(memory.lower + first),
          farthest_(FARTHEST ? memory.farthest + first : nullptr), witness_(memory.witness + first),
          is_source_(memory.is_source + first), room_(hub_room<Length>(memory.pixels, memory.members)) {
        for (int i = 0; i < room_ + Memory::MORE; ++i) slot_[i] = memory.lengths + i * memory.members + first;
    }

    /// Calls told(fields, proved pixels) now and then.  A budget is the number of fields to make at most.
    template <class Told>
    Certificate<Length> solve(int64_t budget, Told told) {
        start(budget);
        for (;;) {
            check();
            const int64_t unproved = total_open();
            told(fields_, count_ - unproved);
            if (unproved == 0) return {fields_, true, 0};
            if (fields_ >= budget) return {fields_, false, find_gap()};
            choose_targets(unproved, budget - fields_);
            make_fields(2 * targets_ <= budget - fields_);
        }
    }

  private:
    struct Made {
        int64_t source = -1;  // a rank
        int slot = 0;
        Length eccentricity = 0;
        int64_t farthest = -1;  // a rank
    };
    struct Target {
        int64_t from, witness;
        Length bound;
        Made field, hub;
    };

    // ---- Fields ----

    Made make_field(Lengths &field, int64_t source, int slot) const {
        field.run_from(static_cast<int64_t>(cell_[source]), cell_, count_);
        Made made{source, slot, 0, source};
        Length *const to = slot_[slot];
        for (int64_t i = 0; i < count_; ++i) {
            to[i] = field.length[cell_[i]];
            if (to[i] > made.eccentricity || (to[i] == made.eccentricity && cell_[i] < cell_[made.farthest]))
                made.eccentricity = to[i], made.farthest = i;
        }
        return made;
    }

    /// Three hubs far from each other, and one between them.
    void start(int64_t budget) {
        std::fill_n(lower_, count_, Length(-1));
        std::fill_n(witness_, count_, Cell(0));
        std::fill_n(is_source_, count_, uint8_t(0));
        for (int64_t i = 0; i < Maxima::blocks(count_); ++i) {
            const int64_t end = std::min((i + 1) * BLOCK, count_);
            tops_.small_low[i] = *std::min_element(cell_ + i * BLOCK, cell_ + end);
        }
        for (int64_t i = 0; i < Maxima::large(count_); ++i) {
            const int64_t end = std::min((i + 1) * BLOCK, Maxima::blocks(count_));
            tops_.wide_low[i] = *std::min_element(tops_.small_low + i * BLOCK, tops_.small_low + end);
        }
        std::fill_n(tops_.small, Maxima::blocks(count_) * HUBS, FAR<Length>);
        std::fill_n(tops_.wide, Maxima::large(count_) * HUBS, FAR<Length>);
        int64_t source = 0;
        for (int i = 0; i < FIRST_HUBS && fields_ < budget; ++i) {
            if (i == FIRST_HUBS - 1) source = centre();
            if (is_source_[source]) continue;
            Made made;
            each_(1, [&](int64_t, Lengths &field) { made = make_field(field, source, room_); });
            if (made.eccentricity > Lengths::UNSEEN / 4) throw TooLong();  // sums of two are to be lengths, too
            take(made, true);
            fold(&made, 1);
            source = made.farthest;
        }
    }

    /// The pixel with the least lower bound.
    int64_t centre() const {
        int64_t centre = 0;
        for (int64_t i = 1; i < count_; ++i)
            if (lower_[i] < lower_[centre] || (lower_[i] == lower_[centre] && cell_[i] < cell_[centre])) centre = i;
        return centre;
    }

    /// Notes a field that is made: its source needs no more proof, and it may be kept as a hub.
    void take(Made &made, bool as_hub) {
        ++fields_;
        is_source_[made.source] = 1;
        if (!as_hub) return;
        const int hub = hubs_ < room_ ? hubs_++ : static_cast<int>(FIRST_HUBS + replaced_++ % (room_ - FIRST_HUBS));
        std::swap(slot_[hub], slot_[made.slot]);
        made.slot = hub;
    }

    /// Raises the lower bounds by some fields, and finds the maxima of those that are hubs.
    void fold(const Made *made, int count) {
        each_(Maxima::large(count_), [&](int64_t large, Lengths &) {
            const int64_t begin = large * LARGE, end = std::min(begin + LARGE, count_);
            for (int k = 0; k < count; ++k) {
                raise(made[k], begin, end);
                if (made[k].slot < room_) find_tops(made[k].slot, large);
            }
        });
        for (int k = 0; k < count; ++k) {
            lower_[made[k].source] = made[k].eccentricity;
            if constexpr (FARTHEST) farthest_[made[k].source] = cell_[made[k].farthest];
            witness_[made[k].source] = PROVED;
        }
    }

    void raise(const Made &made, int64_t begin, int64_t end) const {
        const Length *const length = slot_[made.slot], all = made.eccentricity;
        if constexpr (!FARTHEST) {
            for (int64_t i = begin; i < end; ++i)
                lower_[i] = std::max(lower_[i], std::max(length[i], static_cast<Length>(all - length[i])));
        } else {
            const Cell source = cell_[made.source];
            for (int64_t i = begin; i < end; ++i) {
                if (length[i] < lower_[i] || (length[i] == lower_[i] && farthest_[i] < source)) continue;
                lower_[i] = length[i];
                farthest_[i] = source;
            }
        }
    }

    void find_tops(int hub, int64_t large) const {
        Length most = 0;
        for (int64_t block = large * BLOCK; block < std::min((large + 1) * BLOCK, Maxima::blocks(count_)); ++block) {
            const int64_t end = std::min((block + 1) * BLOCK, count_);
            const Length top = *std::max_element(slot_[hub] + block * BLOCK, slot_[hub] + end);
            tops_.small[block * HUBS + hub] = top;
            most = std::max(most, top);
        }
        tops_.wide[large * HUBS + hub] = most;
    }

    // ---- Bounds ----

    void lengths_of(int64_t rank, Length *from_hubs) const {
        std::fill_n(from_hubs, HUBS, FAR<Length>);
        for (int h = 0; h < hubs_; ++h) from_hubs[h] = slot_[h][rank];
    }

    /// The bounds of a pixel and each of a block.
    void bounds_of(const Length *from_hubs, int64_t begin, int64_t end, Length *bound) const {
        pixel_bounds(from_hubs, slot_, begin, end - begin, hubs_, bound);
    }

    /// What a bound has to be compared with: a lower bound, and the cell of its source.
    struct Claim {
        Length lower;
        Cell farthest;
    };
    Claim claim_of(int64_t rank) const { return {lower_[rank], FARTHEST ? farthest_[rank] : Cell()}; }

    /// Whether a pixel at this bound, of this cell or a higher one, may be farther.
    static bool is_open(Length bound, Cell cell, const Claim &claim) {
        return bound > claim.lower || (FARTHEST && bound == claim.lower && cell < claim.farthest);
    }

    /// The weakest claim of pixels.
    static void weaken(Claim &all, const Claim &one) {
        all.lower = std::min(all.lower, one.lower);
        all.farthest = std::max(all.farthest, one.farthest);
    }
    static Claim strongest() { return {std::numeric_limits<Length>::max(), Cell()}; }

    // ---- The proof ----

    /// The pixels of a block that look for a witness.
    struct Search {
        int count = 0;
        int64_t rank[BLOCK];
        Length from_hubs[BLOCK * HUBS];  // of each
        int64_t closed = 0;              // pairs with ranks below it are closed
        Claim weakest = strongest();
    };

    void check() {
        each_(Maxima::large(count_), [&](int64_t large, Lengths &) {
            constexpr int64_t PART = 2048;
            const int64_t first = large * BLOCK, blocks = std::min(BLOCK, Maxima::blocks(count_) - first);
            uint64_t searching[BLOCK];
            int64_t closed = count_;
            Claim weakest = strongest();
            for (int64_t i = 0; i < blocks; ++i) searching[i] = find_searching(first + i, closed, weakest);
            for (int64_t part = closed / LARGE; part < Maxima::large(count_); part += PART) {
                Length sum[PART];
                int64_t other[PART], others = 0;
                const int64_t count = std::min(PART, Maxima::large(count_) - part);
                least_sums(tops_.wide + large * HUBS, tops_.wide + part * HUBS, count, hubs_, sum);
                for (int64_t i = 0; i < count; ++i)
                    if (is_open(sum[i], tops_.wide_low[part + i], weakest)) other[others++] = part + i;
                for (int64_t i = 0; i < blocks && others; ++i)
                    if (searching[i]) searching[i] = search_all(first + i, searching[i], other, others);
            }
            tops_.open[large] = 0;
            tops_.weakest[large] = -1;
            for (int64_t i = 0; i < blocks; ++i) end_search(first + i, searching[i], large);
        });
    }

    /// Those of a block's pixels that have no witness, as bits.
    uint64_t find_searching(int64_t block, int64_t &closed, Claim &weakest) const {
        uint64_t searching = 0;
        for (int64_t v = block * BLOCK; v < std::min((block + 1) * BLOCK, count_); ++v) {
            if (witness_[v] == PROVED || has_witness(v)) continue;
            searching |= uint64_t(1) << (v % BLOCK);
            closed = std::min(closed, static_cast<int64_t>(witness_[v]));
            weaken(weakest, claim_of(v));
        }
        return searching;
    }

    /// Those that have found none are proved.
    void end_search(int64_t block, uint64_t searching, int64_t large) const {
        for (int64_t v = block * BLOCK; v < std::min((block + 1) * BLOCK, count_); ++v) {
            if (searching >> (v % BLOCK) & 1) witness_[v] = PROVED;
            if (witness_[v] == PROVED) continue;
            ++tops_.open[large];
            if (int64_t &weakest = tops_.weakest[large]; weakest < 0 || lower_[v] < lower_[weakest]) weakest = v;
        }
    }

    /// Searches for a block's pixels in some large blocks, and returns those that go on searching.
    uint64_t search_all(int64_t block, uint64_t searching, const int64_t *other, int64_t others) const {
        Search search;
        search.closed = count_;
        for (int64_t v = block * BLOCK; searching; ++v, searching >>= 1) {
            if (!(searching & 1)) continue;
            lengths_of(v, search.from_hubs + search.count * HUBS);
            search.rank[search.count++] = v;
            search.closed = std::min(search.closed, static_cast<int64_t>(witness_[v]));
            weaken(search.weakest, claim_of(v));
        }
        const Length *const here = tops_.small + block * HUBS;
        for (int64_t i = 0; i < others && search.count; ++i) {
            Length sum;
            least_sums(here, tops_.wide + other[i] * HUBS, 1, hubs_, &sum);
            if (is_open(sum, tops_.wide_low[other[i]], search.weakest)) search_large(search, here, other[i]);
        }
        for (int i = 0; i < search.count; ++i) searching |= uint64_t(1) << (search.rank[i] % BLOCK);
        return searching;
    }

    /// Whether the pair that was open is so still.
    bool has_witness(int64_t v) const {
        const int64_t q = static_cast<int64_t>(witness_[v]);
        if (is_source_[q]) return false;
        Length bound = std::numeric_limits<Length>::max();
        for (int h = 0; h < hubs_; ++h) bound = std::min(bound, static_cast<Length>(slot_[h][v] + slot_[h][q]));
        return is_open(bound, cell_[q], claim_of(v));
    }

    void search_large(Search &search, const Length *here, int64_t large) const {
        Length sum[BLOCK];
        const int64_t first = large * BLOCK, end = std::min(first + BLOCK, Maxima::blocks(count_));
        least_sums(here, tops_.small + first * HUBS, end - first, hubs_, sum);
        for (int64_t block = std::max(first, search.closed / BLOCK); search.count && block < end; ++block)
            if (is_open(sum[block - first], tops_.small_low[block], search.weakest)) search_block(search, block);
    }

    /// Those that find a witness in a block search no more.
    void search_block(Search &search, int64_t block) const {
        const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, count_);
        Length sum[BLOCK];
        least_sums(tops_.small + block * HUBS, search.from_hubs, search.count, hubs_, sum);
        int count = 0;
        for (int i = 0; i < search.count; ++i) {
            const int64_t v = search.rank[i];
            const Length *const from_hubs = search.from_hubs + i * HUBS;
            if (static_cast<int64_t>(witness_[v]) < end && is_open(sum[i], tops_.small_low[block], claim_of(v)) &&
                finds_witness(v, from_hubs, begin, end))
                continue;
            if (count < i) std::memcpy(search.from_hubs + count * HUBS, from_hubs, HUBS * sizeof(Length));
            search.rank[count++] = v;
        }
        if (count == search.count) return;
        search.count = count;
        search.weakest = strongest();
        for (int i = 0; i < count; ++i) weaken(search.weakest, claim_of(search.rank[i]));
    }

    bool finds_witness(int64_t v, const Length *from_hubs, int64_t begin, int64_t end) const {
        Length bound[BLOCK];
        const Claim claim = claim_of(v);
        bounds_of(from_hubs, begin, end, bound);
        for (int64_t q = std::max(begin, static_cast<int64_t>(witness_[v])); q < end; ++q)
            if (is_open(bound[q - begin], cell_[q], claim) && !is_source_[q]) {
                witness_[v] = static_cast<Cell>(q);
                return true;
            }
        return false;
    }

    // ---- The next sources ----

    int64_t total_open() const {
        int64_t open = 0;
        for (int64_t i = 0; i < Maxima::large(count_); ++i) open += tops_.open[i];
        return open;
    }

    /// The n-th pixel that is not proved.
    int64_t unproved(int64_t n) const {
        int64_t large = 0;
        for (; n >= tops_.open[large]; ++large) n -= tops_.open[large];
        for (int64_t v = large * LARGE;; ++v)
            if (witness_[v] != PROVED && n-- == 0) return v;
    }

    int64_t weakest() const {
        int64_t weakest = -1;
        for (int64_t i = 0; i < Maxima::large(count_); ++i)
            if (const int64_t v = tops_.weakest[i]; v >= 0 && (weakest < 0 || lower_[v] < lower_[weakest])) weakest = v;
        return weakest;
    }

    /// The pixel with the least lower bound, and others from all over; each names its witness.
    void choose_targets(int64_t unproved_pixels, int64_t most) {
        targets_ = 0;
        const int64_t batch = std::min({batch_of<Length>(count_, fields_), (most + 1) / 2, unproved_pixels});
        for (int64_t i = 0; i < batch; ++i) {
            const int64_t v = i == 0 ? weakest() : unproved(unproved_pixels * i / batch);
            Target target{v, -1, 0, {}, {}};
            target.witness = farthest_by_bound(v, target.bound);
            const auto names_it = [&](const Target &other) { return other.witness == target.witness; };
            if (std::none_of(target_, target_ + targets_, names_it)) target_[targets_++] = target;
        }
    }

    /// The pixel with the largest bound of those that are no sources, the lowest of several, by branch and bound.
    int64_t farthest_by_bound(int64_t v, Length &most) const {
        Length from_hubs[HUBS], sum;
        lengths_of(v, from_hubs);
        int64_t best = -1, start = 0;
        most = -1;
        for (int64_t i = 0; i < Maxima::large(count_); ++i) {
            least_sums(from_hubs, tops_.wide + i * HUBS, 1, hubs_, &sum);
            if (sum > most) most = sum, start = i;
        }
        most = -1;
        look_into(from_hubs, start, best, most);
        for (int64_t i = 0; i < Maxima::large(count_); ++i) {
            least_sums(from_hubs, tops_.wide + i * HUBS, 1, hubs_, &sum);
            if (i != start && sum >= most) look_into(from_hubs, i, best, most);
        }
        return best;
    }

    void look_into(const Length *from_hubs, int64_t large, int64_t &best, Length &most) const {
        Length sum[BLOCK], bound[BLOCK];
        const int64_t first = large * BLOCK, last = std::min(first + BLOCK, Maxima::blocks(count_));
        least_sums(from_hubs, tops_.small + first * HUBS, last - first, hubs_, sum);
        for (int64_t block = first; block < last; ++block) {
            if (sum[block - first] < most) continue;
            const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, count_);
            bounds_of(from_hubs, begin, end, bound);
            for (int64_t q = begin; q < end; ++q) {
                const Length b = bound[q - begin];
                if (is_source_[q] || b < most || (b == most && best >= 0 && cell_[best] < cell_[q])) continue;
                best = q;
                most = b;
            }
        }
    }

    /// The fields of the witnesses, and where bounds were loose those of new hubs.
    void make_fields(bool hubs_too) {
        each_(targets_, [&](int64_t i, Lengths &field) {
            Target &target = target_[i];
            target.field = make_field(field, target.witness, room_ + 2 * static_cast<int>(i));
            if (!hubs_too || slot_[target.field.slot][target.from] == target.bound) return;
            const int64_t hub = walk(field, target.from, slot_[target.field.slot][target.from]);
            target.hub = make_field(field, hub, target.field.slot + 1);
        });
        Made made[2 * BATCH<Length>];
        int count = 0;
        for (int i = 0; i < targets_; ++i) {
            Target &target = target_[i];
            take(target.field, false);
            made[count++] = target.field;
            if (target.hub.source < 0) continue;
            take(target.hub, true);
            made[count++] = target.hub;
        }
        fold(made, count);
    }

    /// Goes from a pixel down the field, and says where it is when ALONG of the way is left.
    int64_t walk(const Lengths &field, int64_t from, Length length) const {
        int64_t cell = static_cast<int64_t>(cell_[from]);
        const Moves &moves = field.moves();
        while (static_cast<double>(field.length[cell]) > ALONG * static_cast<double>(length))
            for (int k = 0; k < moves.count; ++k) {
                const int64_t to = cell + moves.by[k];
                if (field.length[to] < 0 || field.length[to] + moves.weight[k] != field.length[cell]) continue;
                cell = to;
                break;
            }
        return std::find(cell_, cell_ + count_, static_cast<Cell>(cell)) - cell_;
    }

    /// The largest difference between the bounds of a pixel that is not proved.
    Length find_gap() {
        each_(Maxima::large(count_), [&](int64_t large, Lengths &) {
            tops_.weakest[large] = 0;
            for (int64_t v = large * LARGE; v < std::min((large + 1) * LARGE, count_); ++v) {
                Length bound = 0;
                if (witness_[v] == PROVED || farthest_by_bound(v, bound) < 0) continue;
                tops_.weakest[large] = std::max<int64_t>(tops_.weakest[large], bound - lower_[v]);
            }
        });
        return static_cast<Length>(*std::max_element(tops_.weakest, tops_.weakest + Maxima::large(count_)));
    }

    Maxima tops_;
    Each each_;
    int64_t count_;
    const Cell *cell_;
    Length *lower_;
    Cell *farthest_, *witness_;
    uint8_t *is_source_;
    Length *slot_[Memory::SLOTS];
    int room_, hubs_ = 0;
    int64_t replaced_ = 0, fields_ = 0;
    Target target_[BATCH<Length>];
    int targets_ = 0;
};

}  // namespace apsis::cpu
