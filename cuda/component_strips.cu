// Finds the parts of a plane's tiles where labels do not wait for them: for what is known of components, or how many there
// are.  It tells what component_parts.cu tells, from half as many words.
//
// Two rows are a strip.  In a column of a strip all pixels are of one part, and so what is connected within a strip fills an
// interval of columns: it is a run of the strip, and runs of strips are joined as those of rows are.  There are fewer of
// them, and of noise far fewer.  The lowest run of a part is its root, but may not have its first pixel: another one of the
// same strip may, if it alone has pixels of the upper row.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/4 out; less where components are only counted.
#include "part_sums.cuh"
#include "tile_pack.cuh"

namespace apsis {

namespace {

/// What is asked of a tile.
enum class Asked {
    COUNT,   // how many components there are
    FIRSTS,  // their first pixels too
    SUMS     // and what is known of them
};

/// A run is known by its entry among the parents, which meet many banks (see Labelled::entry).
__device__ uint32_t entry_of(uint32_t number) { return number + number / 32; }

/// The runs of a word of a strip.
struct Runs {
    uint32_t start, before;

    /// The one that holds a pixel of the last of some columns, from the first on; beside a run, the last one before it.
    __device__ uint32_t run_in(uint32_t columns) const { return entry_of(before + __popc(start & columns) - 1); }
    /// The same of a column.
    __device__ uint32_t run_at(int x) const { return run_in(up_to(x)); }
    /// The one that begins at a column, a bit.
    __device__ uint32_t run_from(uint32_t begin) const { return entry_of(before + __popc(start & (begin - 1))); }
};

template <class Tile_>
struct Strips {
    using Tile = Tile_;
    using Sums = PartSums<Tile, Tile::KEPT_PARTS>;
    static constexpr int WORDS = Tile::WORDS, THREADS = Tile::THREADS / 2;
    static constexpr bool REACH = Tile::step(0).reach;
    /// Of two columns side by side both may begin runs, but not with diagonals.
    static constexpr uint32_t RUNS = THREADS * (REACH ? 16 : 32), ENTRIES = RUNS + RUNS / 32;
    static constexpr int BLOCKS = REACH ? 6 : 5;  // that share a multiprocessor, as registers and memory allow

    /// The parent of a run is one of its part that is not higher.  A root may know more in the end: above, the number of its
    /// part, from 1, if it has one; and how far before the last pixel of the tile its own first one is, if others have told it.
    static constexpr int PART = 16;
    static constexpr uint32_t RUN = (1u << 14) - 1, TOLD = RUN + 1, LAST = Tile::THREADS * 32 - 1;
    static_assert(ENTRIES <= RUN && LAST <= RUN && TOLD < 1u << PART);

    /// The sums lie behind the parents.  With diagonals there is room for both; without them there is unless nearly every
    /// other column begins a run.
    static constexpr uint32_t SUMS = sizeof(Sums) / sizeof(uint32_t), SPACE = ENTRIES + (REACH ? SUMS : 0);

    static_assert(Tile::KEPT_PARTS == THREADS);  // a thread clears and keeps one

    uint32_t parents[SPACE];
    uint32_t word[Tile::THREADS], firsts[Tile::THREADS];
    uint32_t start[THREADS];   // the columns at which runs begin
    uint16_t before[THREADS];  // runs that begin before the word
    uint32_t of_warp[THREADS / WARP];
    uint32_t differs[THREADS / WARP];  // words that are not those of the strip before, a bit each
    uint32_t first[Tile::KEPT_PARTS];  // pixels of the parts that have numbers
    uint32_t nodes, parts, numbered;   // how many there are; and of those that are no nodes, how many have numbers
    static_assert(Tile::KEPT_PARTS >= 1u << Tile::NODE_BITS);

    __device__ Sums &sums() { return *reinterpret_cast<Sums *>(parents + SPACE - SUMS); }
    __device__ static bool has_sums(uint32_t runs) { return entry_of(runs) + SUMS <= SPACE; }

    __device__ Runs runs_of(int at) const { return {start[at], before[at]}; }

    /// The run of a pixel in a word of a row.
    __device__ uint32_t run_of_pixel(int at, int x) const { return runs_of(at / WORDS / 2 * WORDS + at % WORDS).run_at(x); }

    __device__ uint32_t load(uint32_t run) const { return *const_cast<const volatile uint32_t *>(parents + run); }
    __device__ void store(uint32_t run, uint32_t value) { *const_cast<volatile uint32_t *>(parents + run) = value; }

    /// The root of a run; a step away if trees are flat.
    template <bool FLAT>
    __device__ uint32_t root_of(uint32_t run) const {
        uint32_t up = load(run) & RUN;
        while (!FLAT && up != run) run = up, up = load(run) & RUN;
        return up;
    }
};

/// The first bits of a word from each separator on, before the next one.
__device__ uint32_t first_after(uint32_t word, uint32_t separators) {
    return word & ((~word + (separators & ~word)) | separators);
}

/// The last bits of a word up to each separator, after the one before.
__device__ uint32_t last_before(uint32_t word, uint32_t separators) {
    return __brev(first_after(__brev(word), __brev(separators)));
}

/// A thread's words of a strip, and its runs there.
struct Strip {
    uint32_t upper, lower;
    uint32_t start, before;
    bool is_copy;       // the strip before is alike, row by row: the runs are its runs
    uint32_t unlinked;  // where runs begin that have no link here: all roots are among them

    __device__ uint32_t pixels() const { return upper | lower; }
    __device__ Runs runs() const { return {start, before}; }
    /// The columns of some of the runs, of which this is where they begin; the first one may have begun before.
    __device__ uint32_t columns_of(uint32_t begins) const {
        const uint32_t others = start & ~begins;
        return first_after(others, begins) - first_after(begins, others | 1);
    }
    /// The columns from one on, a bit, in which no other run begins.
    __device__ uint32_t columns_from(uint32_t begin) const {
        const uint32_t later = start & ~(begin | (begin - 1));
        return ((later & -later) - 1) & ~(begin - 1);
    }
};

/// The word to the left, of which the last bit counts.
template <class S>
__device__ uint32_t left_of(uint32_t word) {
    const uint32_t left = __shfl_up_sync(ALL_LANES, word, 1);
    return threadIdx.x % S::WORDS ? left >> 31 : 0;
}

/// Tells the others which words are not those of the strip before, or not two rows that are alike.  Returns whether none of the
/// strip's are.
template <class S>
__device__ bool compare_strips(S &strips, uint32_t upper, uint32_t lower) {
    constexpr int WORDS = S::WORDS;
    constexpr uint32_t STRIP = (1u << WORDS) - 1;
    const int at = threadIdx.x, lane = at % WARP, above = at / WORDS * (2 * WORDS) + at % WORDS - 2 * WORDS;
    const bool differs =
        upper != lower || above < 0 || strips.word[above] != upper || strips.word[above + WORDS] != upper;
    const uint32_t others = __ballot_sync(ALL_LANES, differs);
    if (lane == 0) strips.differs[at / WARP] = others;
    return !(others >> lane / WORDS * WORDS & STRIP);
}

/// Finds the runs of a thread's words, each its own parent, for all threads to see.  Returns how many there are in `runs`.
template <class S>
__device__ Strip find_runs(S &strips, uint32_t &runs) {
    const int at = threadIdx.x, lane = at % WARP, first_word = at / S::WORDS * 2 * S::WORDS + at % S::WORDS;
    Strip own = {strips.word[first_word], strips.word[first_word + S::WORDS], 0, 0, false, 0};
    own.is_copy = compare_strips(strips, own.upper, own.lower);
    const uint32_t left_upper = left_of<S>(own.upper), left_lower = left_of<S>(own.lower);
    const uint32_t goes_on = S::REACH
                                 ? own.pixels() << 1 | left_upper | left_lower
                                 : (own.upper & (own.upper << 1 | left_upper)) | (own.lower & (own.lower << 1 | left_lower));
    own.start = own.pixels() & ~goes_on;
    uint32_t from_here = __popc(own.start), end = own.is_copy ? 0 : from_here;  // runs of the strip, and of the tile
#pragma unroll
    for (int step = 1; step < S::WORDS; step *= 2) {
        const uint32_t later = __shfl_down_sync(ALL_LANES, from_here, step);
        if (lane % S::WORDS + step < S::WORDS) from_here += later;
    }
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t before = __shfl_up_sync(ALL_LANES, end, step);
        if (lane >= step) end += before;
    }
    if (lane == WARP - 1) strips.of_warp[at / WARP] = end;
    __syncthreads();
    runs = 0;
    own.before = end - (own.is_copy ? from_here : __popc(own.start));
#pragma unroll
    for (int warp = 0; warp < S::THREADS / WARP; ++warp) {
        const uint32_t here = strips.of_warp[warp];
        if (warp < at / WARP) own.before += here;
        runs += here;
    }
    strips.start[at] = own.start;
    strips.before[at] = static_cast<uint16_t>(own.before);
    uint4 *const parents = reinterpret_cast<uint4 *>(strips.parents);
    for (uint32_t i = at; i * 4 < entry_of(runs); i += S::THREADS)
        parents[i] = make_uint4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    __syncthreads();
    return own;
}

/// Makes each run the child of the first one that it meets in the strip before, if that is in the word where it begins.
/// Returns the columns at which it does, and in `rest` those at which other runs meet.
template <class S>
__device__ uint32_t link(S &strips, Strip &own, Runs &above, uint32_t &rest) {
    const int at = threadIdx.x;
    uint32_t other = 0, left_other = 0;
    above = {0, 0};
    if (at >= S::WORDS && !own.is_copy) {
        const int there = (at / S::WORDS * 2 - 1) * S::WORDS + at % S::WORDS;
        other = strips.word[there];
        if (S::REACH && at % S::WORDS) left_other = strips.word[there - 1] >> 31;
        above = strips.runs_of(at - S::WORDS);
    }
    uint32_t meet = own.upper & other;
    if (S::REACH) meet = (own.upper | own.upper << 1 | left_of<S>(own.upper)) & (other | other << 1 | left_other);
    const uint32_t goes_on = left_of<S>(meet);  // two runs have met before this word
    const uint32_t linked = own.is_copy ? own.start : first_after(meet, own.start);
    rest = first_after(meet, own.start | above.start | (goes_on ^ 1)) & ~linked;
    const Runs runs = own.runs();
    for (uint32_t bits = own.is_copy ? 0 : linked; bits; bits &= bits - 1) {
        const uint32_t columns = bits ^ (bits - 1);
        strips.parents[runs.run_in(columns)] = above.run_in(columns);
    }
    own.unlinked = own.start & ~last_before(own.start, linked);
    return linked;
}

/// Every run points at its root, if nobody joins any.  All runs of a thread, and all steps up the trees, are one loop, so that
/// the lanes of a warp do not wait at every run for the one with the longest way.
template <class S>
__device__ void flatten(S &strips, uint32_t runs) {
    uint32_t run = entry_of(threadIdx.x), parent = strips.load(run);
    for (const uint32_t end = entry_of(runs); run < end;) {
        const uint32_t next = strips.load(parent);
        const bool is_root = next == parent;
        if (!is_root) strips.store(run, next);
        if (is_root) run += entry_of(S::THREADS);
        parent = next;
        if (is_root) parent = strips.load(run);  // beyond the last run, of other memory
    }
}

/// Joins runs that meet (see Labelled::climb).  Returns how many roots are roots no more.
template <class S>
__device__ uint32_t join_runs(S &strips, const Strip &own, const Runs &above, uint32_t rest) {
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
        const uint32_t up_one = strips.load(one), up_two = strips.load(two), high = up_one > up_two ? one : two;
        two = min(up_one, up_two);
        const uint32_t was = atomicMin(&strips.parents[high], two);
        joined += was == high && two < high;
        one = was == high ? two : was;
    }
}

/// A thread's pixel of the rim, if there is one: `at` is its word.
struct RimPixel {
    bool is_there;
    int at, x;
};

/// Gives nodes to the parts at the rim, and writes who is where.
template <bool FLAT, class S>
__device__ void find_nodes(S &strips, uint32_t tile, const Tiles &tiles) {
    using Tile = typename S::Tile;
    static_assert(S::THREADS / WARP == Tile::RIM_ROWS * Tile::WORDS && S::THREADS == 2 * Tile::ROWS);
    const int lane = threadIdx.x % WARP, i = threadIdx.x / WARP, row = threadIdx.x % Tile::ROWS;
    const bool is_left = threadIdx.x < Tile::ROWS;
    RimPixel pixels[2] = {{false, Tile::row_of_rim(i / Tile::WORDS) * Tile::WORDS + i % Tile::WORDS, lane},
                          {false, row * Tile::WORDS + (is_left ? 0 : Tile::WORDS - 1), is_left ? 0 : 31}};
    const uint32_t rim_word = strips.word[pixels[0].at];
    pixels[0].is_there = (rim_word & ~(rim_word << 1)) >> lane & 1;
    pixels[1].is_there = strips.word[pixels[1].at] >> pixels[1].x & 1;
    uint32_t roots[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        if (!pixels[k].is_there) continue;
        const uint32_t root = roots[k] = strips.template root_of<FLAT>(strips.run_of_pixel(pixels[k].at, pixels[k].x));
        if (strips.load(root) != root || atomicCAS(&strips.parents[root], root, root | ~0u << S::PART) != root) continue;
        strips.store(root, root | (atomicAdd(&strips.nodes, 1u) + 1) << S::PART);
    }
    __syncthreads();
    const auto node_of = [&](uint32_t root) { return static_cast<uint16_t>((strips.parents[root] >> S::PART) - 1); };
    const uint32_t side_bits = __ballot_sync(ALL_LANES, pixels[1].is_there);
    if (pixels[0].is_there)
        tiles.rim[(int64_t(tile) * (Tile::RIM_ROWS * Tile::WORDS) + i) * SLOTS + lane / 2] = node_of(roots[0]);
    if (pixels[1].is_there) tiles.side[int64_t(tile) * (2 * Tile::ROWS) + threadIdx.x] = node_of(roots[1]);
    if (lane == 0) tiles.side_bits[int64_t(tile) * (2 * Tile::ROWS / WARP) + i] = side_bits;
    if (threadIdx.x == 0) tiles.nodes[tile] = strips.nodes;
}

/// A pixel of a thread's words; `row` is 0 or 1, and of its bits the first one counts.
__device__ uint32_t pixel_of(uint32_t row, uint32_t bits) {
    constexpr int WORDS = PlaneTile<1>::WORDS;
    const uint32_t at = threadIdx.x;
    return ((at / WORDS * 2 + row) * WORDS + at % WORDS) * 32 + __ffs(bits) - 1;
}

/// Where a thread's words have roots, of these the ones without pixels of the upper row there, and other runs whose roots are in
/// the same strip.
struct Begins {
    uint32_t roots, low, siblings;
};

/// The run of the strip that a thread's words begin with is one of those before.
__device__ bool goes_on(const Strip &own) { return own.pixels() & ((own.start & -own.start) - 1); }

/// Finds the roots in a thread's words, and their first pixels there: where a root begins, unless it has some of the upper row.
/// Roots of nodes have the numbers of these; the others get some if all parts are to have them.
template <class S>
__device__ Begins find_firsts(S &strips, const Strip &own, bool all) {
    const uint32_t at = threadIdx.x, of_strip = entry_of(strips.before[at / S::WORDS * S::WORDS]);
    uint32_t roots = 0, numbered = 0, siblings = 0;
    for (uint32_t rest = own.unlinked; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest, run = own.runs().run_from(begin), up = strips.parents[run];
        if ((up & S::RUN) == run)
            roots |= begin, numbered |= all || up >> S::PART ? begin : 0;
        else if (up >= of_strip)
            siblings |= begin;
    }
    const uint32_t others = own.start & ~roots, high = first_after(own.upper | others, roots) & ~others;
    const uint32_t low = roots & ~last_before(roots, high);
    strips.firsts[at / S::WORDS * (2 * S::WORDS) + at % S::WORDS] = high;
    for (uint32_t rest = numbered; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest;
        uint32_t &up = strips.parents[own.runs().run_from(begin)];
        if (up >> S::PART == 0) up |= (strips.nodes + atomicAdd(&strips.numbered, 1u) + 1) << S::PART;
        strips.first[(up >> S::PART) - 1] = low & begin ? pixel_of(1, begin) : pixel_of(0, high & ~(begin - 1));
    }
    return {roots, low, siblings};
}

/// Tells roots about pixels of the upper row that other runs of the strip, or later words of the root, have.
template <class S>
__device__ void tell_roots(S &strips, const Strip &own, uint32_t siblings) {
    const auto tell = [&](uint32_t root, uint32_t columns) {
        const uint32_t high = own.upper & columns;
        if (!high) return;
        const uint32_t up = strips.load(root), told = (up & ~0u << S::PART) | S::TOLD | (S::LAST - pixel_of(0, high));
        if (up < told) atomicMax(&strips.parents[root], told);
    };
    for (uint32_t rest = siblings; rest; rest &= rest - 1)
        tell(strips.load(own.runs().run_from(rest & -rest)), own.columns_from(rest & -rest));
    if (own.is_copy || !goes_on(own)) return;
    const uint32_t run = entry_of(own.before - 1), up = strips.load(run), root = up > S::RUN ? run : up;
    if (root >= entry_of(strips.before[threadIdx.x / S::WORDS * S::WORDS])) tell(root, own.columns_from(1));
}

/// Finds the first pixels of roots that have none of the upper row where they begin: what they have been told, or there.
template <class S>
__device__ void find_low_firsts(S &strips, const Strip &own, uint32_t low) {
    const uint32_t at = threadIdx.x;
    uint32_t here = low;
    for (uint32_t rest = low; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest, up = strips.parents[own.runs().run_from(begin)];
        if (!(up & S::TOLD)) continue;
        const uint32_t first = S::LAST - (up & S::RUN);
        here &= ~begin;
        atomicOr(&strips.firsts[first / 32], 1u << first % 32);
        if (up >> S::PART) strips.first[(up >> S::PART) - 1] = first;
    }
    strips.firsts[at / S::WORDS * (2 * S::WORDS) + S::WORDS + at % S::WORDS] = here;
}

/// Writes the words of a tile, and how many first pixels its rows have.
template <class S>
__device__ void write_words(const S &strips, const Place &place, const Tiles &tiles) {
#pragma unroll
    for (uint32_t at = threadIdx.x; at < S::Tile::THREADS; at += S::THREADS) {
        const uint32_t firsts = strips.firsts[at];
        count_firsts<typename S::Tile>(firsts, static_cast<int>(at), place, tiles);
        if (at >= tiles.kept) continue;
        tiles.bits[int64_t(place.tile) * tiles.kept + at] = strips.word[at];
        tiles.firsts[int64_t(place.tile) * tiles.kept + at] = firsts;
    }
}

/// Writes the words that other tiles look at: those of the first row and the last two.
template <class S>
__device__ void write_rim(const S &strips, uint32_t tile, const Tiles &tiles) {
    constexpr uint32_t LAST = S::Tile::THREADS - 2 * S::WORDS;
    const uint32_t at = threadIdx.x < S::WORDS ? threadIdx.x : LAST - S::WORDS + threadIdx.x;
    if (at < S::Tile::THREADS && at < tiles.kept) tiles.bits[int64_t(tile) * tiles.kept + at] = strips.word[at];
}

/// How many strips, from a thread's on, have the same word there; 0 if the one before has it too.
template <class S>
__device__ uint32_t strips_alike(const S &strips) {
    constexpr int WORDS = S::WORDS, DOWN = WARP / WORDS;
    constexpr uint32_t COLUMN = 0x11111111u;
    static_assert(WORDS == 4);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (!(strips.differs[warp] >> lane & 1)) return 0;
    uint32_t later = lane + WORDS < WARP ? strips.differs[warp] >> (lane + WORDS) & COLUMN : 0;
    int count = 1, left = DOWN - 1 - lane / WORDS;
    for (int next = warp + 1; !later && next < S::THREADS / WARP; ++next, left = DOWN) {
        count += left;
        later = strips.differs[next] >> lane % WORDS & COLUMN;
    }
    return count + (later ? (__ffs(later) - 1) / WORDS : left);
}

/// Adds up what is known of parts that have numbers; all of them may.  What words have of the part that they begin with is added by whole warps, as
/// there most words are of the same one; the rest run by run, dealt out to all lanes.  Strips that are alike are added as one.
template <class S>
__device__ void add_strips(S &strips, const Strip &own, bool all) {
    using Tile = typename S::Tile;
    const uint32_t alike = strips_alike(strips);
    const auto part_of = [&](uint32_t run) {
        const uint32_t up = strips.load(run);
        return ((up > S::RUN ? up : strips.load(up)) >> S::PART) - 1;  // NO_PLACE without a number
    };
    const auto add = [&](uint32_t part, const Share &share) { strips.sums().add(part, share); };
    uint32_t main = NO_PLACE, columns = 0, others = 0;
    if (alike && own.pixels()) {
        const bool is_left = goes_on(own);
        const uint32_t begin = is_left ? 1 : own.start & -own.start;
        uint32_t number = own.before - is_left, mains = begin;
        const uint32_t first = entry_of(number), up = strips.load(first), root = up > S::RUN ? first : up;
        main = (strips.load(root) >> S::PART) - 1;
        others = own.start & ~begin;
        for (uint32_t rest = others; rest; rest &= rest - 1) {
            const uint32_t next = rest & -rest, run = entry_of(++number);
            if (run == root || strips.load(run) == root)
                mains |= next;
            else if (!all && part_of(run) == NO_PLACE)
                others &= ~next;
        }
        others &= ~mains;
        columns = own.columns_of(mains);
    }
    add_together<Tile>(main, Share::of_strips<Tile>(threadIdx.x, alike, own.upper & columns, own.lower & columns), add);
    for_bits(others, [&](int from, int x) {
        const Strip there = {__shfl_sync(ALL_LANES, own.upper, from), __shfl_sync(ALL_LANES, own.lower, from),
                             __shfl_sync(ALL_LANES, own.start, from), __shfl_sync(ALL_LANES, own.before, from), false, 0};
        const uint32_t strips_there = __shfl_sync(ALL_LANES, alike, from);
        if (x < 0) return;
        const uint32_t here = there.columns_from(1u << x);
        add(part_of(there.runs().run_at(x)), Share::of_strips<Tile>(threadIdx.x - threadIdx.x % WARP + from, strips_there,
                                                                    there.upper & here, there.lower & here));
    });
}

template <class S, Asked ASKED>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS) find_strips(View set, bool aligned, bool complement, Tiles tiles) {
    using Tile = typename S::Tile;
    extern __shared__ __align__(16) uint8_t memory[];
    auto &strips = *reinterpret_cast<S *>(memory);
    const uint32_t tile = blockIdx.x, at = threadIdx.x;
    const Place place = place_of<Tile>(tiles, tile);
    if (at == 0) strips.nodes = strips.parts = strips.numbered = 0;
    pack_tile<Tile, S::THREADS>(set, aligned, complement, place, strips.word);
    __syncthreads();
    uint32_t runs, rest, joined = 0;
    Strip own = find_runs<S>(strips, runs);
    Runs above;
    const uint32_t linked = link<S>(strips, own, above, rest);
    const bool joins = __syncthreads_or(rest != 0);
    flatten<S>(strips, runs);
    __syncthreads();
    if (joins) {
        joined = join_runs<S>(strips, own, above, rest);
        __syncthreads();
        if constexpr (ASKED != Asked::COUNT) {
            flatten<S>(strips, runs);
            __syncthreads();
        }
    }
    const uint32_t parts_of_warp = sum_of_warp(__popc(own.start) - __popc(linked) - joined);
    if (at % WARP == 0) atomicAdd(&strips.parts, parts_of_warp);
    if constexpr (ASKED == Asked::COUNT) write_rim(strips, tile, tiles);
    if (tiles.joined) find_nodes<ASKED != Asked::COUNT>(strips, tile, tiles);
    __syncthreads();
    const uint32_t nodes = strips.nodes, parts = strips.parts;
    if constexpr (ASKED == Asked::COUNT) {
        if (at == 0) atomicAdd(tiles.total, parts);
        if (at < nodes) tiles.parent[tile << Tile::NODE_BITS | at] = tile << Tile::NODE_BITS | at;
    } else {
        uint32_t limit = 0;
        if constexpr (ASKED == Asked::SUMS) {
            limit = S::has_sums(runs) ? kept_parts(tiles, nodes, parts) : 0;
            if (at == 0) tiles.parts[tile] = limit == parts ? parts : limit > 0 ? NODES_KEPT : NOT_KEPT;
            if (at < limit) strips.sums().clear(at);
        }
        const Begins begins = find_firsts<S>(strips, own, limit == parts);
        __syncthreads();
        tell_roots<S>(strips, own, begins.siblings);
        if constexpr (ASKED == Asked::SUMS)
            if (limit > 0) add_strips<S>(strips, own, limit == parts);
        __syncthreads();
        find_low_firsts<S>(strips, own, begins.low);
        __syncthreads();
        write_words<S>(strips, place, tiles);
        if (at < nodes) begin_node<Tile>(tiles, place, at, static_cast<int>(strips.first[at]));
        if (tile == 0 && at == 0) tiles.before[tiles.ranks()] = 0;
        if constexpr (ASKED == Asked::SUMS)
            if (at < limit) tiles.sums[int64_t(tile) * tiles.most_parts + at] = keep_sums(strips.sums(), at, strips.first[at]);
    }
}

}  // namespace

template <class Tile>
void find_parts_by_strips(const ComponentsJob &job, const Tiles &tiles, cudaStream_t stream) {
    using S = Strips<Tile>;
    const auto launch_tiles = [&](auto *kernel, size_t shared_bytes) {
        launch_large("find_strips", kernel, tiles.count(), S::THREADS, shared_bytes, stream, job.set, is_aligned(job.set),
                     job.complement, tiles);
    };
    if (tiles.total) check(cudaMemsetAsync(tiles.total, 0, sizeof *tiles.total, stream), "clearing the count");
    if (tiles.total)
        launch_tiles(find_strips<S, Asked::COUNT>, sizeof(S));
    else if (job.components)
        launch_tiles(find_strips<S, Asked::SUMS>, sizeof(S));
    else
        launch_tiles(find_strips<S, Asked::FIRSTS>, sizeof(S));
}

template void find_parts_by_strips<PlaneTile<1>>(const ComponentsJob &, const Tiles &, cudaStream_t);
template void find_parts_by_strips<PlaneTile<2>>(const ComponentsJob &, const Tiles &, cudaStream_t);

}  // namespace apsis
