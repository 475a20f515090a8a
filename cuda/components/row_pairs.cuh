// Labels a tile of a plane two rows at once, from half as many words as label.cuh.
//
// In a column of a pair of rows all set pixels are of one part.  So connected pixels of a pair fill an interval of columns,
// which is called a run of the pair.  Runs of pairs are linked and joined like runs of rows, but there are fewer of them, and
// far fewer in noise.  The lowest run of a part is its root.
//
// A pair that equals the pair before, and whose two rows are equal, has no runs of its own: it takes those of the pair before.
#pragma once

#include "cuda/components/measure.cuh"

namespace apsis::cuda::components {

/// The shared memory of a block that labels a tile by pairs of rows.
template <class Tile_>
struct RowPairs {
    using Tile = Tile_;
    using Sums = PartSums<Tile, Tile::MOST_KEPT_PARTS>;
    static constexpr int WORDS = Tile::WORDS, THREADS = Tile::THREADS / 2;
    static constexpr bool DIAGONALS = Tile::earlier_row(0).diagonals;
    /// Without diagonals two columns side by side may both begin runs.
    static constexpr uint32_t RUNS = THREADS * (DIAGONALS ? 16 : 32), ENTRIES = RUNS + RUNS / 32;
    static constexpr int BLOCKS_PER_SM = DIAGONALS ? 6 : 5;  // as registers and shared memory allow

    /// The parent of a run is itself or a lower run of its part.  In the end a root holds more: from bit PART_SHIFT on, 1 plus
    /// the number of its part, if it has one; and with HAS_FIRST, instead of the run, LAST_PIXEL minus the first pixel of the
    /// part.
    static constexpr int PART_SHIFT = 16;
    static constexpr uint32_t RUN_MASK = (1u << 14) - 1, HAS_FIRST = RUN_MASK + 1, LAST_PIXEL = Tile::THREADS * 32 - 1;
    static_assert(ENTRIES <= RUN_MASK && LAST_PIXEL <= RUN_MASK && HAS_FIRST < 1u << PART_SHIFT);

    /// The sums lie behind the parents.  With diagonals there is always room for both, without them unless nearly every other
    /// column begins a run.
    static constexpr uint32_t SUMS = sizeof(Sums) / sizeof(uint32_t), SPACE = ENTRIES + (DIAGONALS ? SUMS : 0);

    static_assert(Tile::MOST_KEPT_PARTS == THREADS);  // a thread clears and keeps one part

    RunParents<THREADS, SPACE> parents;
    uint32_t word[Tile::THREADS], firsts[Tile::THREADS];
    uint32_t start[THREADS];        // the columns at which runs begin
    uint16_t runs_before[THREADS];  // runs that begin before the word
    uint32_t runs_of_warp[THREADS / WARP];
    uint32_t differs[THREADS / WARP];       // a bit a word: it differs from the pair before, or its two rows differ
    uint32_t first[Tile::MOST_KEPT_PARTS];  // [part]: its first pixel
    uint32_t nodes, parts, numbered;        // how many; `numbered`: parts that are no nodes and have a number
    static_assert(Tile::MOST_KEPT_PARTS >= 1u << Tile::NODE_BITS);

    __device__ Sums &sums() { return *reinterpret_cast<Sums *>(&parents[SPACE - SUMS]); }
    __device__ static bool has_sums(uint32_t runs) { return entry_of(runs) + SUMS <= SPACE; }

    __device__ Runs runs_of(int at) const { return {start[at], runs_before[at]}; }

    /// The run of a pixel in a word of a row.
    __device__ uint32_t run_of_pixel(int at, int x) const { return runs_of(at / WORDS / 2 * WORDS + at % WORDS).run_at(x); }

    /// The root of a run; it is the parent if trees are flat.
    template <bool FLAT>
    __device__ uint32_t root_of(uint32_t run) const {
        uint32_t up = parents.load(run) & RUN_MASK;
        while (!FLAT && up != run) run = up, up = parents.load(run) & RUN_MASK;
        return up;
    }
};

/// The first set bit of a word in each stretch that begins at a separator.
__device__ inline uint32_t first_after(uint32_t word, uint32_t separators) {
    return word & ((~word + (separators & ~word)) | separators);
}

/// The last set bit of a word in each stretch that ends at a separator.
__device__ inline uint32_t last_before(uint32_t word, uint32_t separators) {
    return __brev(first_after(__brev(word), __brev(separators)));
}

/// The two words of a thread, one in each row of a pair, and their runs.
struct WordPair {
    uint32_t upper, lower;
    uint32_t start, runs_before;
    bool is_copy;       // the pair equals the one before: the runs are its runs
    uint32_t unlinked;  // where runs begin that are not linked here: all roots are among them

    __device__ uint32_t pixels() const { return upper | lower; }
    __device__ Runs runs() const { return {start, runs_before}; }
    /// The columns of the runs that begin at these bits; the first run may have begun in a word before.
    __device__ uint32_t columns_of(uint32_t begins) const {
        const uint32_t others = start & ~begins;
        return first_after(others, begins) - first_after(begins, others | 1);
    }
    /// The columns from a bit on, up to where the next run begins.
    __device__ uint32_t columns_from(uint32_t begin) const {
        const uint32_t later = start & ~(begin | (begin - 1));
        return ((later & -later) - 1) & ~(begin - 1);
    }
};

/// Warp: the last bit of the word to the left.
template <class Pairs>
__device__ uint32_t left_of(uint32_t word) {
    const uint32_t left = __shfl_up_sync(ALL_LANES, word, 1);
    return threadIdx.x % Pairs::WORDS ? left >> 31 : 0;
}

/// Warp: marks the words that differ from the pair before, or whose two rows differ.  Returns whether no word of the pair is
/// marked.
template <class Pairs>
__device__ bool is_copy_of_pair_before(Pairs &pairs, uint32_t upper, uint32_t lower) {
    constexpr int WORDS = Pairs::WORDS;
    constexpr uint32_t PAIR = (1u << WORDS) - 1;
    const int at = threadIdx.x, lane = at % WARP, above = at / WORDS * (2 * WORDS) + at % WORDS - 2 * WORDS;
    const bool differs = upper != lower || above < 0 || pairs.word[above] != upper || pairs.word[above + WORDS] != upper;
    const uint32_t others = __ballot_sync(ALL_LANES, differs);
    if (lane == 0) pairs.differs[at / WARP] = others;
    return !(others >> lane / WORDS * WORDS & PAIR);
}

/// Block: finds the runs of all words, each its own parent; all threads see them.  `runs` becomes their number.
template <class Pairs>
__device__ WordPair find_runs(Pairs &pairs, uint32_t &runs) {
    const uint32_t at = threadIdx.x, lane = at % WARP, first_word = at / Pairs::WORDS * 2 * Pairs::WORDS + at % Pairs::WORDS;
    WordPair own = {pairs.word[first_word], pairs.word[first_word + Pairs::WORDS], 0, 0, false, 0};
    own.is_copy = is_copy_of_pair_before(pairs, own.upper, own.lower);
    const uint32_t left_upper = left_of<Pairs>(own.upper), left_lower = left_of<Pairs>(own.lower);
    const uint32_t goes_on = Pairs::DIAGONALS
                                 ? own.pixels() << 1 | left_upper | left_lower
                                 : (own.upper & (own.upper << 1 | left_upper)) | (own.lower & (own.lower << 1 | left_lower));
    own.start = own.pixels() & ~goes_on;
    uint32_t from_here = __popc(own.start),
             end = own.is_copy ? 0 : from_here;  // runs of the pair from this word on, and of the warp up to it
#pragma unroll
    for (uint32_t step = 1; step < Pairs::WORDS; step *= 2) {
        const uint32_t later = __shfl_down_sync(ALL_LANES, from_here, step);
        if (lane % Pairs::WORDS + step < Pairs::WORDS) from_here += later;
    }
    end = sum_up_to(end);
    if (lane == WARP - 1) pairs.runs_of_warp[at / WARP] = end;
    __syncthreads();
    runs = 0;
    own.runs_before = end - (own.is_copy ? from_here : __popc(own.start));
#pragma unroll
    for (uint32_t warp = 0; warp < Pairs::THREADS / WARP; ++warp) {
        const uint32_t here = pairs.runs_of_warp[warp];
        if (warp < at / WARP) own.runs_before += here;
        runs += here;
    }
    pairs.start[at] = own.start;
    pairs.runs_before[at] = static_cast<uint16_t>(own.runs_before);
    uint4 *const parents = reinterpret_cast<uint4 *>(&pairs.parents[0]);
    for (uint32_t i = at; i * 4 < entry_of(runs); i += Pairs::THREADS)
        parents[i] = make_uint4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    __syncthreads();
    return own;
}

/// Block: makes each run the child of the first run of the pair above that it meets, if they meet in the word where it begins.
/// Returns where linked runs begin; `rest` are the columns at which other runs meet.
template <class Pairs>
__device__ uint32_t link(Pairs &pairs, WordPair &own, Runs &above, uint32_t &rest) {
    const uint32_t at = threadIdx.x;
    uint32_t other = 0, left_other = 0;
    above = {0, 0};
    if (at >= Pairs::WORDS && !own.is_copy) {
        const uint32_t there = (at / Pairs::WORDS * 2 - 1) * Pairs::WORDS + at % Pairs::WORDS;
        other = pairs.word[there];
        if (Pairs::DIAGONALS && at % Pairs::WORDS) left_other = pairs.word[there - 1] >> 31;
        above = pairs.runs_of(at - Pairs::WORDS);
    }
    uint32_t meet = own.upper & other;
    if (Pairs::DIAGONALS) meet = (own.upper | own.upper << 1 | left_of<Pairs>(own.upper)) & (other | other << 1 | left_other);
    const uint32_t goes_on = left_of<Pairs>(meet);  // two runs meet already in the word before
    const uint32_t linked = own.is_copy ? own.start : first_after(meet, own.start);
    rest = first_after(meet, own.start | above.start | (goes_on ^ 1)) & ~linked;
    const Runs runs = own.runs();
    for (uint32_t bits = own.is_copy ? 0 : linked; bits; bits &= bits - 1) {
        const uint32_t columns = bits ^ (bits - 1);
        pairs.parents[runs.run_in(columns)] = above.run_in(columns);
    }
    own.unlinked = own.start & ~last_before(own.start, linked);
    return linked;
}

/// Joins runs that meet.  Returns how many roots have got a parent.
template <class Pairs>
__device__ uint32_t join_runs(Pairs &pairs, const WordPair &own, const Runs &above, uint32_t rest) {
    const Runs runs = own.runs();
    uint32_t one = 0, two = 0, joined = 0;
    for (;;) {
        if (one == two) {
            if (!rest) return joined;
            const uint32_t columns = rest ^ (rest - 1);
            rest &= rest - 1;
            one = runs.run_in(columns);
            two = above.run_in(columns);
        }
        joined += pairs.parents.rem_step(one, two);
    }
}

}  // namespace apsis::cuda::components
