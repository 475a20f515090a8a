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

#include <atomic>
#include <mutex>

#include "cpu/pair_proof.h"

namespace apsis::cpu {

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
class PairBounds : PairProof<Length, Cell, FARTHEST, Each> {
    using Base = PairProof<Length, Cell, FARTHEST, Each>;
    using Lengths = Field<Length>;
    using Memory = Ranks<Length, Cell>;
    using typename Base::Maxima;
    using Base::BLOCK, Base::HUBS, Base::LARGE, Base::PROVED;
    using Base::bounds_of, Base::lengths_of, Base::check, Base::total_open, Base::unproved, Base::weakest;
    using Base::cell_, Base::count_, Base::each_, Base::farthest_, Base::hubs_, Base::is_source_, Base::lower_, Base::room_,
        Base::slot_, Base::tops_, Base::witness_;

  public:
    /// The pixels of ranks first to first + count - 1.
    PairBounds(const Memory &memory, const Maxima &tops, int64_t first, int64_t count, Each each)
        : Base(memory, tops, first, count, each) {}

    /// Calls told(fields, proved pixels) now and then.  A budget is the number of fields to make at most.
    template <class Told>
    Certificate<Length> solve(int64_t budget, Told told) {
        start(budget);
        for (;;) {
            check();
            const int64_t open = total_open();
            told(fields_, count_ - open);
            if (open == 0) return {fields_, true, 0};
            if (fields_ >= budget) return {fields_, false, find_gap()};
            choose_targets(open, budget - fields_);
            make_fields(2 * targets_ <= budget - fields_);
        }
    }

  private:
    struct Made {
        int64_t source = -1;  // a rank
        Length eccentricity = 0;
        int64_t farthest = -1;  // a rank
    };
    struct Target {
        int64_t from, witness;
        Length bound;
        Made field, hub;
        int place;  // of the hub
    };

    // ---- Fields ----

    /// The field is kept in a slot, if one is given.
    Made make_field(Lengths &field, int64_t source, Length *slot = nullptr) const {
        field.run_from(static_cast<int64_t>(cell_[source]), cell_, count_);
        Made made{source, 0, source};
        for (int64_t i = 0; i < count_; ++i) {
            const Length length = field.length[cell_[i]];
            if (slot) slot[i] = length;
            if (length > made.eccentricity || (length == made.eccentricity && cell_[i] < cell_[made.farthest]))
                made.eccentricity = length, made.farthest = i;
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
            Length *const slot = slot_[place_of(taken_)];
            each_(1, [&](int64_t, Lengths &field) { made = make_field(field, source, slot); });
            if (made.eccentricity > FAR<Length> / 2) throw TooLong();  // others' may be twice that
            raise(made, 0, [slot](int64_t rank) { return slot[rank]; });
            take(made);
            keep_hubs(1);
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

    /// Notes a field that is made: its source needs no more proof.
    void take(const Made &made) {
        ++fields_;
        is_source_[made.source] = 1;
        lower_[made.source] = made.eccentricity;
        if constexpr (FARTHEST) farthest_[made.source] = cell_[made.farthest];
        witness_[made.source] = PROVED;
    }

    /// Where the n-th hub is kept: when there is no more room, in place of an old one.
    int place_of(int64_t n) const {
        return static_cast<int>(n < room_ ? n : FIRST_HUBS + (n - room_) % (room_ - FIRST_HUBS));
    }

    /// Takes so many hubs more, which are in their places, and finds their maxima.
    void keep_hubs(int count) {
        each_(Maxima::large(count_), [&](int64_t large, Lengths &) {
            for (int i = 0; i < count; ++i) find_tops(place_of(taken_ + i), large);
        });
        taken_ += count;
        hubs_ = static_cast<int>(std::min<int64_t>(taken_, room_));
    }

    /// Raises the lower bounds by a field.  Several threads may do so, each beginning at a gate of its own.
    template <class LengthAt>
    void raise(const Made &made, int64_t first, LengthAt length_at) {
        for (int64_t i = 0; i < GATES; ++i) {
            const int64_t part = (first + i) % GATES;
            const std::lock_guard<std::mutex> lock(gate_[part]);
            raise_part(made, count_ * part / GATES, count_ * (part + 1) / GATES, length_at);
        }
    }

    template <class LengthAt>
    void raise_part(const Made &made, int64_t begin, int64_t end, LengthAt length_at) const {
        const Cell source = cell_[made.source];
        for (int64_t i = begin; i < end; ++i) {
            const Length length = length_at(i);
            if constexpr (!FARTHEST) {
                lower_[i] = std::max({lower_[i], length, static_cast<Length>(made.eccentricity - length)});
            } else {
                if (length < lower_[i] || (length == lower_[i] && farthest_[i] < source)) continue;
                lower_[i] = length;
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

    // ---- The next sources ----

    /// The pixel with the least lower bound, and others from all over; each names its witness.
    void choose_targets(int64_t unproved_pixels, int64_t most) {
        targets_ = 0;
        const int64_t batch = std::min({batch_of<Length>(count_, fields_), (most + 1) / 2, unproved_pixels});
        for (int64_t i = 0; i < batch; ++i) {
            const int64_t v = i == 0 ? weakest() : unproved(unproved_pixels * i / batch);
            Target target{v, -1, 0, {}, {}, 0};
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
        Length sum[BLOCK], bound[STRETCH];
        const int64_t first = large * BLOCK, last = std::min(first + BLOCK, Maxima::blocks(count_));
        least_sums(from_hubs, tops_.small + first * HUBS, last - first, hubs_, sum);
        for (int64_t block = first; block < last; ++block) {
            if (sum[block - first] < most) continue;
            const int64_t end = std::min((block + 1) * BLOCK, count_);
            for (int64_t at = block * BLOCK; at < end; at += STRETCH) {
                const int64_t until = std::min(at + STRETCH, end);
                if (bounds_of(from_hubs, at, until, bound) < most) continue;
                for (int64_t q = at; q < until; ++q) {
                    const Length b = bound[q - at];
                    if (is_source_[q] || b < most || (b == most && best >= 0 && cell_[best] < cell_[q])) continue;
                    best = q;
                    most = b;
                }
            }
        }
    }

    /// The fields of the witnesses, and where bounds were loose those of new hubs, which take places as they come.
    void make_fields(bool hubs_too) {
        std::atomic<int> hubs = 0;
        each_(targets_, [&](int64_t i, Lengths &field) {
            Target &target = target_[i];
            target.field = make_field(field, target.witness);
            const auto length_at = [this, length = field.length](int64_t rank) { return length[cell_[rank]]; };
            raise(target.field, 2 * i, length_at);
            const Length length = length_at(target.from);
            if (!hubs_too || length == target.bound) return;
            target.place = place_of(taken_ + hubs++);
            Length *const slot = slot_[target.place];
            target.hub = make_field(field, walk(field, target.from, length), slot);
            raise(target.hub, 2 * i, [slot](int64_t rank) { return slot[rank]; });
        });
        Length *made[BATCH<Length>];
        int count = 0;
        for (int i = 0; i < targets_; ++i) {
            take(target_[i].field);
            if (target_[i].hub.source < 0) continue;
            take(target_[i].hub);
            made[count++] = slot_[target_[i].place];
        }
        for (int i = 0; i < count; ++i) slot_[place_of(taken_ + i)] = made[i];  // in the order of targets
        keep_hubs(count);
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

    static constexpr int64_t GATES = 2 * BATCH<Length>;  // so that threads seldom wait
    std::mutex gate_[GATES];                             // to parts of the lower bounds
    int64_t taken_ = 0, fields_ = 0;      // hubs, and fields
    Target target_[BATCH<Length>];
    int targets_ = 0;
};

}  // namespace apsis::cpu
