// The eccentricities of the pixels of one component, exact and proved, from few of its fields: by pair bounds.
//
// Every field that is made, from a source s, raises the lower bounds L(v) to d(s,v), and to ecc(s) - d(s,v).  The fields
// of some sources, the hubs, are kept: by the triangle inequality no pixel q is farther from v than
//
//     B(v,q) = min over hubs h of d(h,v) + d(h,q)
//
// A pair (v,q) is closed if B(v,q) <= L(v).  v is proved, ecc(v) = L(v), as soon as its pairs are closed for every q that has
// not been a source.  Pixels are in an order in which neighbours are close; the largest d(h,q) of 64 pixels, and of 4096, close
// most pairs at once.  For an unproved v, the q with the largest bound is the next source.  If the bound was loose, a pixel
// between v and q, where a shortest path passes, becomes a hub.  A turn does so for several v (core/pair_turns.h).  Every turn
// makes a source of a pixel that was not one, so the turns end.  A closed pair stays closed, because L never falls: each pixel
// goes through its pairs once.
//
// Where the farthest pixels are wanted too, L(v) is the length to a known source.  A q of lower index than this source is then
// closed only if B(v,q) < L(v).
//
// The members of a team share fields out, and blocks of pixels to prove; all have all hubs, and all lower bounds.  So a turn
// tells the lower bounds, which become the largest of any member, and the lengths from each new hub.
#pragma once

#include <mutex>
#include <vector>

#include "cpu/paths/pair_proof.h"

namespace apsis::cpu::paths {

/// The result for a component.
template <class Length>
struct Certificate {
    int64_t fields = 0;
    bool proved = true;
    Length gap = 0;  // by how much a lower bound may be too low
};

/// each(count, body) calls body(i, scratch) for 0 <= i < count with a PairScratch, as pairs.h tells.
template <class Length, class Cell>
class PairBounds : PairProof<Length, Cell> {
    using Base = PairProof<Length, Cell>;
    using Lengths = Field<Length>;
    using Memory = Ranks<Length, Cell>;
    using Base::BLOCK, Base::HUBS, Base::LARGE, Base::PROVED;
    using Base::bound_, Base::slot_of, Base::taken_;
    using Base::bounds_of, Base::lengths_of, Base::prove, Base::total_open, Base::unproved, Base::weakest;
    using Base::cell_, Base::count_, Base::each, Base::farthest_, Base::hubs_, Base::is_source_, Base::lower_, Base::room_,
        Base::slot_, Base::maxima_, Base::witness_;
    using Base::for_own_blocks, Base::has, Base::merge, Base::mine, Base::share, Base::team_;
    using typename Base::Scratch, typename Base::Maxima;

  public:
    /// The pixels of ranks first to first + count - 1.  With a team, which is nullptr otherwise, all its members do the same.
    PairBounds(const Memory &memory, const Maxima &maxima, int64_t first, int64_t count, const Each<Scratch> &run, Team *team)
        : Base(memory, maxima, first, count, run, team) {}

    /// Calls on_turn(fields, proved pixels) now and then.  Makes at most `budget` fields.
    Certificate<Length> solve(int64_t budget, const std::function<void(int64_t, int64_t)> &on_turn) {
        start(budget);
        for (;;) {
            prove();
            const int64_t open = total_open();
            on_turn(fields_, count_ - open);
            if (open == 0) return {fields_, true, 0};
            if (fields_ >= budget) return {fields_, false, find_gap()};
            choose_targets(open, budget - fields_);
            const bool hubs_too = 2 * targets_ <= budget - fields_;
            make_fields(hubs_too);
        }
    }

  private:
    struct MadeField {
        int64_t source = -1;  // a rank
        Length eccentricity = 0;
        int64_t farthest = -1;  // a rank
    };
    struct Target {
        int64_t from, witness;
        Length bound;
        int64_t hub_at;  // the rank of a new hub; -1: none
        MadeField field, hub;
    };

    // ---- Fields ----

    /// Makes a field, of `fields` at a time.  With a slot it is a hub's field, whose lengths and maxima are kept.
    MadeField make_field(Lengths &field, int64_t source, int64_t fields, int hub_slot = -1) const {
        field.run_from(static_cast<int64_t>(cell_[source]), cell_, count_, fields);
        return measure_field(field, source, hub_slot, [&](int64_t rank) { return field.length[cell_[rank]]; });
    }

    template <class LengthAt>
    MadeField measure_field(const Lengths &field, int64_t source, int hub_slot, LengthAt length_at) const {
        const int64_t large_blocks = Maxima::large_blocks(count_), parts = (large_blocks + PART - 1) / PART;
        std::vector<MadeField> made(static_cast<size_t>(parts), {source, 0, source});
        field.side_by_side(parts, [&](int64_t i) {
            measure_part(made[static_cast<size_t>(i)], i * PART, std::min((i + 1) * PART, large_blocks), hub_slot, length_at);
        });
        const auto is_nearer = [this](const MadeField &a, const MadeField &b) {
            return a.eccentricity < b.eccentricity ||
                   (a.eccentricity == b.eccentricity && cell_[a.farthest] > cell_[b.farthest]);
        };
        return *std::max_element(made.begin(), made.end(), is_nearer);
    }

    template <class LengthAt>
    void measure_part(MadeField &made, int64_t first, int64_t last, int hub_slot, LengthAt length_at) const {
        Length seen[BLOCK];
        for (int64_t large = first; large < last; ++large) {
            Length most = 0;
            for (int64_t block = large * BLOCK; block < std::min((large + 1) * BLOCK, Maxima::blocks(count_)); ++block) {
                const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, count_);
                Length *const length = hub_slot < 0 ? seen : slot_[hub_slot] + begin;
                for (int64_t i = begin; i < end; ++i) length[i - begin] = length_at(i);
                const Length top = *std::max_element(length, length + (end - begin));
                if (top >= made.eccentricity) note_farthest(made, length, top, begin, end);
                if (hub_slot >= 0) maxima_.small[block * HUBS + hub_slot] = top;
                most = std::max(most, top);
            }
            if (hub_slot >= 0) maxima_.large[large * HUBS + hub_slot] = most;
        }
    }

    /// Records the farthest pixel of a block, of several the lowest cell; no pixel of the blocks before is farther.
    void note_farthest(MadeField &made, const Length *length, Length top, int64_t begin, int64_t end) const {
        for (int64_t i = begin; i < end; ++i)
            if (length[i - begin] == top && (top > made.eccentricity || cell_[i] < cell_[made.farthest]))
                made.eccentricity = top, made.farthest = i;
    }

    /// Makes the first fields: three hubs far from each other, and one between them.
    void start(int64_t budget) {
        each(Maxima::large_blocks(count_), [&](int64_t large, Scratch &) { start_block(large); });
        int64_t source = 0;
        for (int i = 0; i < FIRST_HUBS && fields_ < budget; ++i) {
            if (i == FIRST_HUBS - 1) source = centre();
            if (is_source_[source]) continue;
            MadeField made;
            each(1, [&](int64_t, Scratch &own) {
                made = make_field(own.field, source, 1, slot_of(taken_));
                if (made.eccentricity > NO_HUB<Length> / 2) throw TooLong();  // lengths from other pixels may be twice that
                raise_by_hub(own.field, made, slot_of(taken_), 0);
            });
            record(made);
            keep_hubs(1);
            source = made.farthest;
        }
    }

    void start_block(int64_t large) const {
        const int64_t first = large * LARGE, count = std::min(LARGE, count_ - first), block = large * BLOCK,
                      blocks = Maxima::blocks(count);
        std::fill_n(lower_ + first, count, Length(-1));
        std::fill_n(witness_ + first, count, Cell(0));
        std::fill_n(bound_ + first, count, std::numeric_limits<Length>::max());
        std::fill_n(is_source_ + first, count, uint8_t(0));
        for (int64_t i = block; i < block + blocks; ++i)
            maxima_.small_lowest[i] = *std::min_element(cell_ + i * BLOCK, cell_ + std::min((i + 1) * BLOCK, count_));
        maxima_.large_lowest[large] = *std::min_element(maxima_.small_lowest + block, maxima_.small_lowest + block + blocks);
        std::fill_n(maxima_.small + block * HUBS, blocks * HUBS, NO_HUB<Length>);
        std::fill_n(maxima_.large + large * HUBS, HUBS, NO_HUB<Length>);
        maxima_.open[large] = LARGE;
    }

    /// The pixel with the least lower bound.
    int64_t centre() const {
        int64_t centre = 0;
        for (int64_t i = 1; i < count_; ++i)
            if (lower_[i] < lower_[centre] || (lower_[i] == lower_[centre] && cell_[i] < cell_[centre])) centre = i;
        return centre;
    }

    /// Records a field: its source needs no proof any more.
    void record(const MadeField &made) {
        ++fields_;
        is_source_[made.source] = 1;
        lower_[made.source] = made.eccentricity;
        if (farthest_) farthest_[made.source] = cell_[made.farthest];
        witness_[made.source] = PROVED;
    }

    /// Counts new hubs, whose lengths are in their slots already.
    void keep_hubs(int count) {
        taken_ += count;
        hubs_ = static_cast<int>(std::min<int64_t>(taken_, room_));
    }

    /// Raises the lower bounds by a field, where some are not proved.  Several threads may do so at once; each begins at a
    /// different section.
    template <class LengthAt>
    void raise(const Lengths &field, const MadeField &made, int64_t first, LengthAt length_at) {
        const int64_t blocks = Maxima::large_blocks(count_);
        field.side_by_side(SECTIONS, [&](int64_t i) {
            const int64_t part = (first + i) % SECTIONS;
            const std::lock_guard<std::mutex> lock(section_[part]);
            for (int64_t large = blocks * part / SECTIONS; large < blocks * (part + 1) / SECTIONS; ++large)
                if (maxima_.open[large]) raise_part(made, large * LARGE, std::min((large + 1) * LARGE, count_), length_at);
        });
    }

    template <class LengthAt>
    void raise_part(const MadeField &made, int64_t begin, int64_t end, LengthAt length_at) const {
        if (!farthest_) {
            for (int64_t i = begin; i < end; ++i) {
                const Length length = length_at(i);
                lower_[i] = std::max({lower_[i], length, static_cast<Length>(made.eccentricity - length)});
            }
            return;
        }
        const Cell source = cell_[made.source];
        for (int64_t i = begin; i < end; ++i) {
            const Length length = length_at(i);
            if (length < lower_[i] || (length == lower_[i] && farthest_[i] < source)) continue;
            lower_[i] = length;
            farthest_[i] = source;
        }
    }

    void raise_by_hub(const Lengths &field, const MadeField &made, int hub_slot, int64_t first) {
        raise(field, made, first, [slot = slot_[hub_slot]](int64_t rank) { return slot[rank]; });
    }

    // ---- The next sources ----

    /// Chooses targets: the pixel with the least lower bound, and others evenly spaced among the unproved pixels.  No two of
    /// them have the same witness.
    void choose_targets(int64_t unproved_pixels, int64_t most) {
        const int64_t batch = std::min({batch_of<Length>(count_, fields_), (most + 1) / 2, unproved_pixels});
        int64_t from[BATCH<Length>], named[2][BATCH<Length>];  // the witness, and its bound
        for (int64_t i = 0; i < batch; ++i) from[i] = i == 0 ? weakest() : unproved(unproved_pixels * i / batch);
        merge(from, batch);
        for (int64_t i = 0; i < batch; ++i) {
            Length bound = -1;
            named[0][i] = has(i) ? farthest_by_bound(from[i], bound) : -1;
            named[1][i] = bound;
        }
        for (int64_t(&numbers)[BATCH<Length>] : named) merge(numbers, batch);
        targets_ = 0;
        for (int64_t i = 0; i < batch; ++i) {
            const Target target{from[i], named[0][i], static_cast<Length>(named[1][i]), -1, {}, {}};
            const auto names_it = [&](const Target &other) { return other.witness == target.witness; };
            if (std::none_of(target_, target_ + targets_, names_it)) target_[targets_++] = target;
        }
    }

    /// The pixel with the largest bound that is not a source, the lowest of several, by branch and bound.
    int64_t farthest_by_bound(int64_t v, Length &most) const {
        Length from_hubs[HUBS], sum;
        lengths_of(v, from_hubs);
        int64_t best = -1, start = 0;
        most = -1;
        for (int64_t i = 0; i < Maxima::large_blocks(count_); ++i) {
            least_sums(from_hubs, maxima_.large + i * HUBS, 1, hubs_, &sum);
            if (sum > most) most = sum, start = i;
        }
        most = -1;
        search_large_block(from_hubs, start, best, most);
        for (int64_t i = 0; i < Maxima::large_blocks(count_); ++i) {
            least_sums(from_hubs, maxima_.large + i * HUBS, 1, hubs_, &sum);
            if (i != start && sum >= most) search_large_block(from_hubs, i, best, most);
        }
        return best;
    }

    void search_large_block(const Length *from_hubs, int64_t large, int64_t &best, Length &most) const {
        Length sum[BLOCK], bound[STRETCH];
        const int64_t first = large * BLOCK, last = std::min(first + BLOCK, Maxima::blocks(count_));
        least_sums(from_hubs, maxima_.small + first * HUBS, last - first, hubs_, sum);
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

    /// Makes the fields of the witnesses and, where bounds were loose, of new hubs, in slots in the order of targets.  A member
    /// of a team makes its share of both.
    void make_fields(bool hubs_too) {
        each(share(targets_), [&](int64_t i, Scratch &own) { make_witness(own.field, static_cast<int>(mine(i)), hubs_too); });
        if (team_) merge_witnesses();
        int hub[BATCH<Length>], hubs = 0;
        for (int i = 0; i < targets_; ++i)
            if (target_[i].hub_at >= 0) hub[hubs++] = i;
        each(hubs, [&](int64_t i, Scratch &own) {
            Target &target = target_[hub[i]];
            const int slot = slot_of(taken_ + i);
            if (!has(i)) {
                std::fill_n(slot_[slot], count_, Length(-1));
                return;
            }
            target.hub = make_field(own.field, target.hub_at, hubs, slot);
            raise_by_hub(own.field, target.hub, slot, i);
        });
        if (team_) merge_hubs(hub, hubs);
        for (int i = 0; i < targets_; ++i) record(target_[i].field);
        for (int i = 0; i < hubs; ++i) record(target_[hub[i]].hub);
        keep_hubs(hubs);
    }

    void merge_witnesses() {
        int64_t found[3][BATCH<Length>];  // the eccentricity, the farthest pixel, where the hub will be
        for (int i = 0; i < targets_; ++i) {
            const Target &target = target_[i];
            found[0][i] = has(i) ? target.field.eccentricity : -1;
            found[1][i] = has(i) ? target.field.farthest : -1;
            found[2][i] = has(i) ? target.hub_at : -1;
        }
        for (int64_t(&numbers)[BATCH<Length>] : found) merge(numbers, targets_);
        for (int i = 0; i < targets_; ++i) {
            target_[i].field = {target_[i].witness, static_cast<Length>(found[0][i]), found[1][i]};
            target_[i].hub_at = found[2][i];
        }
    }

    void merge_hubs(const int *hub, int hubs) {
        for (int i = 0; i < hubs; ++i) merge(slot_[slot_of(taken_ + i)], count_);
        each(hubs, [&](int64_t i, Scratch &own) {
            Target &target = target_[hub[i]];
            const int slot = slot_of(taken_ + i);
            const auto length_at = [lengths = slot_[slot]](int64_t rank) { return lengths[rank]; };
            if (!has(i)) target.hub = measure_field(own.field, target.hub_at, slot, length_at);
        });
        merge_lower();
    }

    /// Raises the lower bounds to the largest of any member of the team, whose farthest pixel is the lowest of several.
    void merge_lower() {
        constexpr int64_t PIECE = int64_t(1) << 20;
        std::vector<Length> before(farthest_ ? static_cast<size_t>(std::min(PIECE, count_)) : 0);
        for (int64_t begin = 0; begin < count_; begin += PIECE) {
            const int64_t count = std::min(PIECE, count_ - begin);
            std::copy_n(lower_ + begin, before.empty() ? 0 : count, before.begin());
            merge(lower_ + begin, count);
            if (farthest_) {
                using Number = std::make_signed_t<Cell>;
                constexpr Cell TOP = static_cast<Cell>(std::numeric_limits<Number>::max()),
                               NONE = std::numeric_limits<Cell>::max();
                Cell *const cell = farthest_ + begin;  // TOP - cell, as a signed number, is the larger, the lower the cell is
                for (int64_t i = 0; i < count; ++i)
                    cell[i] = TOP - (lower_[begin + i] == before[static_cast<size_t>(i)] ? cell[i] : NONE);
                merge(reinterpret_cast<Number *>(cell), count);
                for (int64_t i = 0; i < count; ++i) cell[i] = TOP - cell[i];
            }
        }
    }

    /// Makes the field of a witness, and finds where the new hub will be.
    void make_witness(Lengths &field, int number, bool hub_too) {
        Target &target = target_[number];
        target.field = make_field(field, target.witness, share(targets_));
        const Length length = field.length[cell_[target.from]];
        if (hub_too && length != target.bound) target.hub_at = walk(field, target.from, length);
        raise(field, target.field, number, [this, length = field.length](int64_t rank) { return length[cell_[rank]]; });
    }

    /// Follows a shortest path from a pixel towards the field's source.  Returns the pixel there that becomes a hub.
    int64_t walk(const Lengths &field, int64_t from, Length length) const {
        int64_t cell = static_cast<int64_t>(cell_[from]);
        const Moves &moves = field.moves();
        const double until = along(moves.axes) * static_cast<double>(length);
        while (static_cast<double>(field.length[cell]) > until)
            for (int k = 0; k < moves.count; ++k) {
                if (!moves.is_open(cell, k, [&field](int64_t over) { return field.length[over] >= 0; })) continue;
                const int64_t to = moves.target(cell, k);
                if (field.length[to] < 0 || field.length[to] + moves.weight[k] != field.length[cell]) continue;
                cell = to;
                break;
            }
        return std::find(cell_, cell_ + count_, static_cast<Cell>(cell)) - cell_;
    }

    /// Finds the largest difference between the upper and the lower bound of an unproved pixel.
    Length find_gap() {
        std::fill_n(maxima_.weakest, Maxima::large_blocks(count_), 0);
        for_own_blocks([&](int64_t large, Scratch &) {
            for (int64_t v = large * LARGE; v < std::min((large + 1) * LARGE, count_); ++v) {
                Length bound = 0;
                if (witness_[v] == PROVED || farthest_by_bound(v, bound) < 0) continue;
                maxima_.weakest[large] = std::max<int64_t>(maxima_.weakest[large], bound - lower_[v]);
            }
        });
        int64_t gap = *std::max_element(maxima_.weakest, maxima_.weakest + Maxima::large_blocks(count_));
        merge(&gap, 1);
        return static_cast<Length>(gap);
    }

    static constexpr int64_t PART = 16;                     // large blocks that a thread measures at a time
    static constexpr int64_t SECTIONS = 2 * BATCH<Length>;  // as many as fields in a turn, so that threads seldom wait
    std::mutex section_[SECTIONS];                          // each guards a section of the lower bounds
    int64_t fields_ = 0;
    Target target_[BATCH<Length>];
    int targets_ = 0;
};

}  // namespace apsis::cpu::paths
