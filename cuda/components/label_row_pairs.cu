// Finds the parts of a plane's tiles where labels do not wait for them: for what is known of components, or how many there
// are.  It tells what label_rows.cu tells, by strips (row_pairs.cuh).
//
// The root of a part may not have its first pixel: another run of the same strip may, if it alone has pixels of the upper row.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/4 out; less where components are only counted.
#include "cuda/components/load_tile.cuh"
#include "cuda/components/row_pairs.cuh"

namespace apsis::cuda::components {

namespace {

/// What is asked of a tile.
enum class Asked {
    COUNT,   // how many components there are
    FIRSTS,  // their first pixels too
    SUMS     // and what is known of them
};

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

/// Where a thread's words have roots, of these the ones without pixels of the upper row there, and other runs whose roots are
/// in the same strip.
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

/// Adds up what is known of parts that have numbers; all of them may.  What words have of the part that they begin with is
/// added by whole warps, as there most words are of the same one; the rest run by run, dealt out to all lanes.  Strips that are
/// alike are added as one.
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

}  // namespace apsis::cuda::components
