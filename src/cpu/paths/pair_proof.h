// The proof of pair bounds: finds which pixels of a component have no open pair left (see pair_bounds.h).
//
// The witness of a pixel is the other pixel of its first open pair.  The search for it goes on from the last witness: by large
// blocks, for all pixels of a large block together, then by small blocks, then pixel by pixel.  Of a team each member proves
// large blocks of its own, always the same, and tells the others how many of their pixels are open; witnesses stay with it.
#pragma once

#include <cstring>

#include "cpu/paths/pairs.h"

namespace apsis::cpu::paths {

template <class Length, class Cell>
class PairProof : protected Pairs<Length, Cell> {
  protected:
    using Base = Pairs<Length, Cell>;
    using Scratch = PairScratch<Length>;
    using Base::BLOCK, Base::HUBS, Base::LARGE, Base::PROVED;
    using Base::bound_, Base::slot_of, Base::room_, Base::taken_;
    using Base::bounds_of, Base::lengths_of;
    using Base::cell_, Base::count_, Base::farthest_, Base::hubs_, Base::is_source_, Base::lower_, Base::slot_, Base::maxima_,
        Base::witness_;
    using Base::has, Base::merge, Base::mine, Base::share;
    using typename Base::Maxima;

    PairProof(const Ranks<Length, Cell> &memory, const Maxima &maxima, int64_t first, int64_t count, const Each<Scratch> &each,
              Team *team)
        : Base(memory, maxima, first, count, team),
          each_(each) {}

    /// Searches for a witness of every pixel that is not proved.
    void prove() {
        farthest_ ? prove_claims<typename Base::template Claim<true>>() : prove_claims<typename Base::template Claim<false>>();
    }

    /// Calls body(large, scratch) for the large blocks of this member of the team.
    template <class Body>
    void for_own_blocks(Body body) {
        each(share(Maxima::large_blocks(count_)), [&](int64_t i, Scratch &scratch) { body(mine(i), scratch); });
    }

    int64_t total_open() const {
        int64_t open = 0;
        for (int64_t i = 0; i < Maxima::large_blocks(count_); ++i) open += maxima_.open[i];
        return open;
    }

    /// The n-th pixel that is not proved; -1 if another member of the team knows it.
    int64_t unproved(int64_t n) const {
        int64_t large = 0;
        for (; n >= maxima_.open[large]; ++large) n -= maxima_.open[large];
        if (!has(large)) return -1;
        for (int64_t v = large * LARGE;; ++v)
            if (witness_[v] != PROVED && n-- == 0) return v;
    }

    int64_t weakest() const {
        int64_t weakest = -1;
        for (int64_t i = 0; i < Maxima::large_blocks(count_); ++i)
            if (const int64_t v = maxima_.weakest[i]; v >= 0 && (weakest < 0 || lower_[v] < lower_[weakest])) weakest = v;
        return weakest;
    }

    /// Calls body(i, scratch) for 0 <= i < count.
    template <class Body>
    void each(int64_t count, Body body) {
        each_(count, std::ref(body));  // a reference takes no memory
    }

  private:
    const Each<Scratch> &each_;

    template <class Claim>
    void prove_claims() {
        list_fresh_hubs();
        const int64_t large_blocks = Maxima::large_blocks(count_);
        std::fill_n(maxima_.open, large_blocks, -1);
        std::fill_n(maxima_.weakest, large_blocks, -1);
        for_own_blocks([&](int64_t large, Scratch &own) {
            constexpr int64_t PART = Scratch::PART;
            const int64_t first = large * BLOCK, blocks = std::min(BLOCK, Maxima::blocks(count_) - first);
            uint64_t searching[BLOCK];
            int64_t closed = count_;
            Claim weakest;
            for (int64_t i = 0; i < blocks; ++i) searching[i] = find_searching(first + i, closed, weakest);
            for (int64_t part = closed / LARGE; part < Maxima::large_blocks(count_); part += PART) {
                int64_t others = 0;
                const int64_t count = std::min(PART, Maxima::large_blocks(count_) - part);
                least_sums(maxima_.large + large * HUBS, maxima_.large + part * HUBS, count, hubs_, own.sum);
                for (int64_t i = 0; i < count; ++i)
                    if (weakest.is_open(own.sum[i], maxima_.large_lowest[part + i])) own.other[others++] = part + i;
                for (int64_t i = 0; i < blocks && others; ++i)
                    if (searching[i]) searching[i] = search_all<Claim>(first + i, searching[i], own, others);
            }
            maxima_.open[large] = 0;
            for (int64_t i = 0; i < blocks; ++i) end_search(first + i, searching[i], large);
        });
        merge(maxima_.open, large_blocks);
        merge(maxima_.weakest, large_blocks);
    }

    /// Lists the hubs by which bounds may have changed: the new ones, or all if new hubs have replaced old ones.
    void list_fresh_hubs() {
        all_fresh_ = taken_ > room_ && taken_ > proved_by_;
        fresh_ = 0;
        const int64_t first = all_fresh_ ? 0 : proved_by_, last = all_fresh_ ? room_ : taken_;
        for (int64_t n = first; n < last; ++n) fresh_hub_[fresh_++] = slot_[slot_of(n)];
        proved_by_ = taken_;
    }

    /// The pixels of a block that still need a witness.
    template <class Claim>
    struct Search {
        Length *from_hubs;  // [pixel][hub]
        int count = 0;
        int64_t rank[BLOCK];
        int64_t closed = 0;  // pairs with ranks below it are closed
        Claim weakest;
    };

    /// The pixels of a block that have no witness, as bits.
    template <class Claim>
    uint64_t find_searching(int64_t block, int64_t &closed, Claim &weakest) const {
        const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, count_);
        uint64_t searching = 0;
        for (int64_t v = begin; v < end; ++v) {
            const Cell witness = witness_[v];
            if (witness == PROVED) continue;
            if (!is_source_[witness] && Claim(*this, v).is_open(renewed_bound(v, witness), cell_[witness])) continue;
            searching |= uint64_t(1) << (v % BLOCK);
            closed = std::min(closed, static_cast<int64_t>(witness));
            weakest.weaken(Claim(*this, v));
        }
        return searching;
    }

    /// The bound of a pixel and its witness, by the present hubs.
    Length renewed_bound(int64_t v, Cell witness) const {
        Length bound = all_fresh_ ? std::numeric_limits<Length>::max() : bound_[v];
        for (int h = 0; h < fresh_; ++h)
            bound = std::min(bound, static_cast<Length>(fresh_hub_[h][witness] + fresh_hub_[h][v]));
        return bound_[v] = bound;
    }

    /// Marks the pixels without a witness as proved, and counts the others.
    void end_search(int64_t block, uint64_t searching, int64_t large) const {
        for (int64_t v = block * BLOCK; v < std::min((block + 1) * BLOCK, count_); ++v) {
            if (searching >> (v % BLOCK) & 1) witness_[v] = PROVED;
            if (witness_[v] == PROVED) continue;
            ++maxima_.open[large];
            if (int64_t &weakest = maxima_.weakest[large]; weakest < 0 || lower_[v] < lower_[weakest]) weakest = v;
        }
    }

    /// Searches large blocks for witnesses of a block's pixels.  Returns the pixels that still need one.
    template <class Claim>
    uint64_t search_all(int64_t block, uint64_t searching, const Scratch &own, int64_t others) const {
        Search<Claim> search;
        search.from_hubs = own.from_hubs;
        search.closed = count_;
        for (int64_t v = block * BLOCK; searching; ++v, searching >>= 1) {
            if (!(searching & 1)) continue;
            lengths_of(v, search.from_hubs + search.count * HUBS);
            search.rank[search.count++] = v;
            search.closed = std::min(search.closed, static_cast<int64_t>(witness_[v]));
            search.weakest.weaken(Claim(*this, v));
        }
        const Length *const here = maxima_.small + block * HUBS;
        for (int64_t i = 0; i < others && search.count; ++i) {
            Length sum;
            least_sums(here, maxima_.large + own.other[i] * HUBS, 1, hubs_, &sum);
            if (search.weakest.is_open(sum, maxima_.large_lowest[own.other[i]])) search_large(search, here, own.other[i]);
        }
        for (int i = 0; i < search.count; ++i) searching |= uint64_t(1) << (search.rank[i] % BLOCK);
        return searching;
    }

    template <class Claim>
    void search_large(Search<Claim> &search, const Length *here, int64_t large) const {
        Length sum[BLOCK];
        const int64_t first = large * BLOCK, end = std::min(first + BLOCK, Maxima::blocks(count_));
        least_sums(here, maxima_.small + first * HUBS, end - first, hubs_, sum);
        for (int64_t block = std::max(first, search.closed / BLOCK); search.count && block < end; ++block)
            if (search.weakest.is_open(sum[block - first], maxima_.small_lowest[block])) search_block(search, block);
    }

    /// Searches a block.  Pixels with a witness in it leave the search.
    template <class Claim>
    void search_block(Search<Claim> &search, int64_t block) const {
        const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, count_);
        Length sum[BLOCK];
        least_sums(maxima_.small + block * HUBS, search.from_hubs, search.count, hubs_, sum);
        int count = 0;
        for (int i = 0; i < search.count; ++i) {
            const int64_t v = search.rank[i];
            const Length *const from_hubs = search.from_hubs + i * HUBS;
            const Claim claim(*this, v);
            if (static_cast<int64_t>(witness_[v]) < end && claim.is_open(sum[i], maxima_.small_lowest[block]) &&
                finds_witness(claim, v, from_hubs, begin, end))
                continue;
            if (count < i) std::memcpy(search.from_hubs + count * HUBS, from_hubs, HUBS * sizeof(Length));
            search.rank[count++] = v;
        }
        if (count == search.count) return;
        search.count = count;
        search.weakest = Claim();
        for (int i = 0; i < count; ++i) search.weakest.weaken(Claim(*this, search.rank[i]));
    }

    template <class Claim>
    bool finds_witness(const Claim &claim, int64_t v, const Length *from_hubs, int64_t begin, int64_t end) const {
        const int64_t first = std::max(begin, static_cast<int64_t>(witness_[v]));
        for (int64_t at = first / STRETCH * STRETCH; at < end; at += STRETCH) {
            Length bound[STRETCH];
            const int64_t until = std::min(at + STRETCH, end);
            if (!claim.is_open(bounds_of(from_hubs, at, until, bound), maxima_.small_lowest[begin / BLOCK])) continue;
            for (int64_t q = std::max(first, at); q < until; ++q)
                if (claim.is_open(bound[q - at], cell_[q]) && !is_source_[q]) {
                    witness_[v] = static_cast<Cell>(q);
                    bound_[v] = bound[q - at];
                    return true;
                }
        }
        return false;
    }

    const Length *fresh_hub_[HUBS];
    int fresh_ = 0;
    bool all_fresh_ = false;
    int64_t proved_by_ = 0;  // hubs made before the last proof
};

}  // namespace apsis::cpu::paths
