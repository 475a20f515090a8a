// First step for planes without packed 32-bit labels (find_parts() chooses): does the work of label_rows.cuh by pairs of rows
// (row_pairs.cuh).
//
// The first pixel of a part may not be in its root: it is in another run of the same pair if that run alone has pixels of the
// upper row.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/4 out; less where components are only counted.
#pragma once

#include "cuda/components/load_tile.cuh"
#include "cuda/components/row_pairs.cuh"

namespace apsis::cuda::components {

/// The results to find for a tile.
enum class Result {
    COUNT,   // the number of its parts
    FIRSTS,  // also their first pixels
    SUMS     // also their sums
};

/// A thread's pixel of the rim, if `is_there`; `at` is its word.
struct RimPixel {
    bool is_there;
    int at, x;
};

/// Block: makes the parts at the rim nodes, and writes which node each rim pixel has.
template <bool FLAT, class Pairs>
__device__ void find_nodes(Pairs &pairs, uint32_t tile, const Tiles &tiles) {
    using Tile = typename Pairs::Tile;
    static_assert(Pairs::THREADS / WARP == Tile::RIM_ROWS * Tile::WORDS && Pairs::THREADS == 2 * Tile::ROWS);
    const int lane = threadIdx.x % WARP, i = threadIdx.x / WARP, row = threadIdx.x % Tile::ROWS;
    const bool is_left = threadIdx.x < Tile::ROWS;
    RimPixel pixels[2] = {{false, Tile::row_of_rim(i / Tile::WORDS) * Tile::WORDS + i % Tile::WORDS, lane},
                          {false, row * Tile::WORDS + (is_left ? 0 : Tile::WORDS - 1), is_left ? 0 : 31}};
    const uint32_t rim_word = pairs.word[pixels[0].at];
    pixels[0].is_there = (rim_word & ~(rim_word << 1)) >> lane & 1;
    pixels[1].is_there = pairs.word[pixels[1].at] >> pixels[1].x & 1;
    uint32_t roots[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        if (!pixels[k].is_there) continue;
        const uint32_t root = roots[k] = pairs.template root_of<FLAT>(pairs.run_of_pixel(pixels[k].at, pixels[k].x));
        if (pairs.parents.load(root) != root || atomicCAS(&pairs.parents[root], root, root | ~0u << Pairs::PART_SHIFT) != root)
            continue;
        pairs.parents.store(root, root | (atomicAdd(&pairs.nodes, 1u) + 1) << Pairs::PART_SHIFT);
    }
    __syncthreads();
    const auto node_of = [&](uint32_t root) { return static_cast<uint16_t>((pairs.parents[root] >> Pairs::PART_SHIFT) - 1); };
    const uint32_t side_bits = __ballot_sync(ALL_LANES, pixels[1].is_there);
    if (pixels[0].is_there)
        tiles.rim[(int64_t(tile) * (Tile::RIM_ROWS * Tile::WORDS) + i) * SLOTS_PER_WORD + lane / 2] = node_of(roots[0]);
    if (pixels[1].is_there) tiles.side[int64_t(tile) * (2 * Tile::ROWS) + threadIdx.x] = node_of(roots[1]);
    if (lane == 0) tiles.side_bits[int64_t(tile) * (2 * Tile::ROWS / WARP) + i] = side_bits;
    if (threadIdx.x == 0) tiles.nodes[tile] = pairs.nodes;
}

/// The first pixel with a bit in a thread's words; `row` is 0 or 1.
__device__ inline uint32_t pixel_of(uint32_t row, uint32_t bits) {
    constexpr int WORDS = PlaneTile<1>::WORDS;
    const uint32_t at = threadIdx.x;
    return ((at / WORDS * 2 + row) * WORDS + at % WORDS) * 32 + __ffs(bits) - 1;
}

/// Where a thread's words have roots; the roots without pixels of the upper row; and other runs whose root is in the same pair
/// of rows.
struct PairRoots {
    uint32_t roots, lower_only, siblings;
};

/// Whether the first pixels of a thread's words are of a run that has begun in a word before.
__device__ inline bool continues_run(const WordPair &own) { return own.pixels() & ((own.start & -own.start) - 1); }

/// Block: finds the roots in a thread's words, and their first pixels: the first pixel of the upper row, or if there is none,
/// the pixel at which the root begins.  Parts without a node get numbers if `all` are to have some.
template <class Pairs>
__device__ PairRoots find_firsts(Pairs &pairs, const WordPair &own, bool all) {
    const uint32_t at = threadIdx.x, first_of_pair = entry_of(pairs.runs_before[at / Pairs::WORDS * Pairs::WORDS]);
    uint32_t roots = 0, numbered = 0, siblings = 0;
    for (uint32_t rest = own.unlinked; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest, run = own.runs().run_from(begin), up = pairs.parents[run];
        if ((up & Pairs::RUN_MASK) == run)
            roots |= begin, numbered |= all || up >> Pairs::PART_SHIFT ? begin : 0;
        else if (up >= first_of_pair)
            siblings |= begin;
    }
    const uint32_t others = own.start & ~roots, high = first_after(own.upper | others, roots) & ~others;
    const uint32_t lower_only = roots & ~last_before(roots, high);
    pairs.firsts[at / Pairs::WORDS * (2 * Pairs::WORDS) + at % Pairs::WORDS] = high;
    for (uint32_t rest = numbered; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest;
        uint32_t &up = pairs.parents[own.runs().run_from(begin)];
        if (up >> Pairs::PART_SHIFT == 0) up |= (pairs.nodes + atomicAdd(&pairs.numbered, 1u) + 1) << Pairs::PART_SHIFT;
        pairs.first[(up >> Pairs::PART_SHIFT) - 1] = lower_only & begin ? pixel_of(1, begin) : pixel_of(0, high & ~(begin - 1));
    }
    return {roots, lower_only, siblings};
}

/// Block: offers to roots the pixels of the upper row in other runs of their pair, or in later words of their own.
template <class Pairs>
__device__ void offer_firsts(Pairs &pairs, const WordPair &own, uint32_t siblings) {
    const auto offer = [&](uint32_t root, uint32_t columns) {
        const uint32_t high = own.upper & columns;
        if (!high) return;
        const uint32_t up = pairs.parents.load(root),
                       offered = (up & ~0u << Pairs::PART_SHIFT) | Pairs::HAS_FIRST | (Pairs::LAST_PIXEL - pixel_of(0, high));
        if (up < offered) atomicMax(&pairs.parents[root], offered);
    };
    for (uint32_t rest = siblings; rest; rest &= rest - 1)
        offer(pairs.parents.load(own.runs().run_from(rest & -rest)), own.columns_from(rest & -rest));
    if (own.is_copy || !continues_run(own)) return;
    const uint32_t run = entry_of(own.runs_before - 1), up = pairs.parents.load(run), root = up > Pairs::RUN_MASK ? run : up;
    if (root >= entry_of(pairs.runs_before[threadIdx.x / Pairs::WORDS * Pairs::WORDS])) offer(root, own.columns_from(1));
}

/// Block: writes the first pixels of roots without pixels of the upper row in this word: a pixel that was offered, or their own
/// first pixel.
template <class Pairs>
__device__ void find_lower_firsts(Pairs &pairs, const WordPair &own, uint32_t lower_only) {
    const uint32_t at = threadIdx.x;
    uint32_t here = lower_only;
    for (uint32_t rest = lower_only; rest; rest &= rest - 1) {
        const uint32_t begin = rest & -rest, up = pairs.parents[own.runs().run_from(begin)];
        if (!(up & Pairs::HAS_FIRST)) continue;
        const uint32_t first = Pairs::LAST_PIXEL - (up & Pairs::RUN_MASK);
        here &= ~begin;
        atomicOr(&pairs.firsts[first / 32], 1u << first % 32);
        if (up >> Pairs::PART_SHIFT) pairs.first[(up >> Pairs::PART_SHIFT) - 1] = first;
    }
    pairs.firsts[at / Pairs::WORDS * (2 * Pairs::WORDS) + Pairs::WORDS + at % Pairs::WORDS] = here;
}

/// Block: writes the words of a tile, and counts the first pixels of its rows.
template <class Pairs>
__device__ void write_words(const Pairs &pairs, const TilePlace &place, const Tiles &tiles) {
#pragma unroll
    for (uint32_t at = threadIdx.x; at < Pairs::Tile::THREADS; at += Pairs::THREADS) {
        const uint32_t firsts = pairs.firsts[at];
        count_firsts<typename Pairs::Tile>(firsts, static_cast<int>(at), place, tiles);
        if (at >= tiles.kept_words) continue;
        tiles.bits[int64_t(place.tile) * tiles.kept_words + at] = pairs.word[at];
        tiles.firsts[int64_t(place.tile) * tiles.kept_words + at] = firsts;
    }
}

/// Block: writes the words that other tiles read: in the first row and the last two.
template <class Pairs>
__device__ void write_rim(const Pairs &pairs, uint32_t tile, const Tiles &tiles) {
    constexpr uint32_t LAST = Pairs::Tile::THREADS - 2 * Pairs::WORDS;
    const uint32_t at = threadIdx.x < Pairs::WORDS ? threadIdx.x : LAST - Pairs::WORDS + threadIdx.x;
    if (at < Pairs::Tile::THREADS && at < tiles.kept_words) tiles.bits[int64_t(tile) * tiles.kept_words + at] = pairs.word[at];
}

/// How many pairs, from this thread's on, have the same word; 0 if the pair before has it too.
template <class Pairs>
__device__ uint32_t pairs_alike(const Pairs &pairs) {
    constexpr int WORDS = Pairs::WORDS, DOWN = WARP / WORDS;
    constexpr uint32_t COLUMN = 0x11111111u;
    static_assert(WORDS == 4);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (!(pairs.differs[warp] >> lane & 1)) return 0;
    uint32_t later = lane + WORDS < WARP ? pairs.differs[warp] >> (lane + WORDS) & COLUMN : 0;
    int count = 1, left = DOWN - 1 - lane / WORDS;
    for (int next = warp + 1; !later && next < Pairs::THREADS / WARP; ++next, left = DOWN) {
        count += left;
        later = pairs.differs[next] >> lane % WORDS & COLUMN;
    }
    return count + (later ? (__ffs(later) - 1) / WORDS : left);
}

/// Warp: adds up the sums of the parts that have numbers; `all` is set if every part has one.  In most words the first part is
/// also that of the words beside it: whole warps add its pixels together.  The rest is added run by run, dealt out to all
/// lanes.  Pairs with equal words are added as one.
template <class Pairs>
__device__ void add_pairs(Pairs &pairs, const WordPair &own, bool all) {
    using Tile = typename Pairs::Tile;
    const uint32_t alike = pairs_alike(pairs);
    const auto part_of = [&](uint32_t run) {
        const uint32_t up = pairs.parents.load(run);
        return ((up > Pairs::RUN_MASK ? up : pairs.parents.load(up)) >> Pairs::PART_SHIFT) - 1;  // NO_PART without a number
    };
    const auto add = [&](uint32_t part, const PixelSums &added) { pairs.sums().add(part, added); };
    uint32_t main_part = NO_PART, columns = 0, others = 0;
    if (alike && own.pixels()) {
        const bool is_left = continues_run(own);
        const uint32_t begin = is_left ? 1 : own.start & -own.start;
        uint32_t number = own.runs_before - is_left, main_begins = begin;
        const uint32_t first = entry_of(number), up = pairs.parents.load(first), root = up > Pairs::RUN_MASK ? first : up;
        main_part = (pairs.parents.load(root) >> Pairs::PART_SHIFT) - 1;
        others = own.start & ~begin;
        for (uint32_t rest = others; rest; rest &= rest - 1) {
            const uint32_t next = rest & -rest, run = entry_of(++number);
            if (run == root || pairs.parents.load(run) == root)
                main_begins |= next;
            else if (!all && part_of(run) == NO_PART)
                others &= ~next;
        }
        others &= ~main_begins;
        columns = own.columns_of(main_begins);
    }
    add_by_warp<Tile>(main_part, PixelSums::of_row_pairs<Tile>(threadIdx.x, alike, own.upper & columns, own.lower & columns),
                      add);
    for_bits_of_warp(others, [&](int from, int x) {
        const WordPair there = {__shfl_sync(ALL_LANES, own.upper, from),
                                __shfl_sync(ALL_LANES, own.lower, from),
                                __shfl_sync(ALL_LANES, own.start, from),
                                __shfl_sync(ALL_LANES, own.runs_before, from),
                                false,
                                0};
        const uint32_t pairs_there = __shfl_sync(ALL_LANES, alike, from);
        if (x < 0) return;
        const uint32_t here = there.columns_from(1u << x);
        add(part_of(there.runs().run_at(x)), PixelSums::of_row_pairs<Tile>(threadIdx.x - threadIdx.x % WARP + from, pairs_there,
                                                                           there.upper & here, there.lower & here));
    });
}

/// Labels a tile, a block each, and finds the results that RESULT names.
template <class Pairs, Result RESULT>
__global__ void __launch_bounds__(Pairs::THREADS, Pairs::BLOCKS_PER_SM)
    label_tile_by_row_pairs(View set, bool aligned, bool complement, Tiles tiles) {
    using Tile = typename Pairs::Tile;
    extern __shared__ __align__(16) uint8_t memory[];
    auto &pairs = *reinterpret_cast<Pairs *>(memory);
    const uint32_t tile = blockIdx.x, at = threadIdx.x;
    const TilePlace place = place_of<Tile>(tiles, tile);
    if (at == 0) pairs.nodes = pairs.parts = pairs.numbered = 0;
    pack_tile<Tile, Pairs::THREADS>(set, aligned, complement, place, pairs.word);
    __syncthreads();
    uint32_t runs, rest, joined = 0;
    WordPair own = find_runs<Pairs>(pairs, runs);
    Runs above;
    const uint32_t linked = link<Pairs>(pairs, own, above, rest);
    const bool joins = __syncthreads_or(rest != 0);
    pairs.parents.flatten(runs);
    __syncthreads();
    if (joins) {
        joined = join_runs<Pairs>(pairs, own, above, rest);
        __syncthreads();
        if constexpr (RESULT != Result::COUNT) {
            pairs.parents.flatten(runs);
            __syncthreads();
        }
    }
    const uint32_t parts_of_warp = sum_of_warp(__popc(own.start) - __popc(linked) - joined);
    if (at % WARP == 0) atomicAdd(&pairs.parts, parts_of_warp);
    if constexpr (RESULT == Result::COUNT) write_rim(pairs, tile, tiles);
    if (tiles.has_nodes) find_nodes<RESULT != Result::COUNT>(pairs, tile, tiles);
    __syncthreads();
    const uint32_t nodes = pairs.nodes, parts = pairs.parts;
    if constexpr (RESULT == Result::COUNT) {
        if (at == 0) atomicAdd(tiles.count_only, parts);
        if (at < nodes) tiles.parent[tile << Tile::NODE_BITS | at] = tile << Tile::NODE_BITS | at;
    } else {
        uint32_t limit = 0;
        if constexpr (RESULT == Result::SUMS) {
            limit = Pairs::has_sums(runs) ? count_kept_parts(tiles, nodes, parts) : 0;
            if (at == 0) tiles.kept_part_count[tile] = limit == parts ? parts : limit > 0 ? ONLY_NODES_KEPT : NONE_KEPT;
            if (at < limit) pairs.sums().clear(at);
        }
        const PairRoots begins = find_firsts<Pairs>(pairs, own, limit == parts);
        __syncthreads();
        offer_firsts<Pairs>(pairs, own, begins.siblings);
        if constexpr (RESULT == Result::SUMS)
            if (limit > 0) add_pairs<Pairs>(pairs, own, limit == parts);
        __syncthreads();
        find_lower_firsts<Pairs>(pairs, own, begins.lower_only);
        __syncthreads();
        write_words<Pairs>(pairs, place, tiles);
        if (at < nodes) begin_node<Tile>(tiles, place, at, static_cast<int>(pairs.first[at]));
        if (tile == 0 && at == 0) tiles.firsts_before[tiles.tile_rows()] = 0;
        if constexpr (RESULT == Result::SUMS)
            if (at < limit)
                tiles.sums[int64_t(tile) * tiles.most_kept_parts + at] = pack_sums(pairs.sums(), at, pairs.first[at]);
    }
}

/// Stores no roots.  Only counts components where tiles.count_only is set.
template <class Tile>
void find_parts_by_row_pairs(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    using Pairs = RowPairs<Tile>;
    if (tiles.count_only) check(cudaMemsetAsync(tiles.count_only, 0, sizeof *tiles.count_only, stream), "clearing the count");
    launch(plan.label,
           plan.counts_alone ? label_tile_by_row_pairs<Pairs, Result::COUNT>
           : job.components  ? label_tile_by_row_pairs<Pairs, Result::SUMS>
                             : label_tile_by_row_pairs<Pairs, Result::FIRSTS>,
           stream, job.set, is_aligned(job.set), job.complement, tiles);
}

}  // namespace apsis::cuda::components
