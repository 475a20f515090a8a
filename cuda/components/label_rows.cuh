// First step for volumes, and for planes whose labels are packed rows of 32 bits (find_parts() chooses): packs each tile into
// bits, labels it (label.cuh), and writes its nodes, the first pixels of its parts, and their sums if components are wanted.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/4 out.
#pragma once

#include "cuda/components/load_tile.cuh"
#include "cuda/components/measure.cuh"

namespace apsis::cuda::components {

/// A labelled tile whose parts get nodes and numbers.  The parent of a root holds, from bit PART_SHIFT on, 1 plus the number of
/// its part; the bits below stay as they are, so that reading threads still find the root.  Parts with nodes have the lowest
/// numbers; the others get theirs if the tile is measured.
template <class Tile>
struct TileParts {
    static constexpr int PART_SHIFT = 16;
    static_assert(LabelledTile<Tile>::ENTRIES < 1 << PART_SHIFT);

    LabelledTile<Tile> labelled;
    uint32_t nodes;

    __device__ uint32_t root_at(int at, int x) const {
        return labelled.parents.load(labelled.run_at(at, x)) & ((1u << PART_SHIFT) - 1);
    }
    /// Makes the root of a run a node.  The order of the nodes does not matter.
    __device__ void make_node(int at, int x) {
        const uint32_t root = root_at(at, x);
        if (labelled.parents.load(root) != root || atomicCAS(&labelled.parents[root], root, root | ~0u << PART_SHIFT) != root)
            return;
        labelled.parents.store(root, root | (atomicAdd(&nodes, 1u) + 1) << PART_SHIFT);
    }
    __device__ uint16_t node_at(int at, int x) const {
        return static_cast<uint16_t>((labelled.parents[root_at(at, x)] >> PART_SHIFT) - 1);
    }
};

/// Warp: calls body(at, x, i) for the runs that begin in word i of the rim rows; a lane has a pixel.
template <class Tile, class Body>
__device__ void for_rim_runs(const LabelledTile<Tile> &labelled, Body body) {
    const int lane = threadIdx.x % WARP;
    for (int i = threadIdx.x / WARP; i < Tile::RIM_ROWS * Tile::WORDS; i += Tile::THREADS / WARP) {
        const int at = Tile::row_of_rim(i / Tile::WORDS) * Tile::WORDS + i % Tile::WORDS;
        const uint32_t word = labelled.word[at];
        if ((word & ~(word << 1)) >> lane & 1) body(at, lane, i);
    }
}

/// Block: calls body(at, x, i, is_set) for the pixels of the first column and the last; i counts the rows of both columns.
template <class Tile, class Body>
__device__ void for_side_pixels(const LabelledTile<Tile> &labelled, Body body) {
    constexpr int ROWS = Tile::ROWS * Tile::PLANES;
    for (int i = threadIdx.x; i < 2 * ROWS; i += Tile::THREADS) {
        const int at = i % ROWS * Tile::WORDS + (i < ROWS ? 0 : Tile::WORDS - 1), x = i < ROWS ? 0 : 31;
        body(at, x, i, (labelled.word[at] >> x & 1) != 0);
    }
}

/// Block: makes the parts at the rim nodes, and writes which node each rim pixel has.
template <class Tile>
__device__ void find_nodes(TileParts<Tile> &parts, uint32_t tile, const Tiles &tiles) {
    const LabelledTile<Tile> &labelled = parts.labelled;
    for_rim_runs(labelled, [&](int at, int x, int) { parts.make_node(at, x); });
    for_side_pixels(labelled, [&](int at, int x, int, bool is_set) {
        if (is_set) parts.make_node(at, x);
    });
    __syncthreads();
    uint16_t *const rim = tiles.rim + int64_t(tile) * (Tile::RIM_ROWS * Tile::WORDS * SLOTS_PER_WORD);
    for_rim_runs(labelled, [&](int at, int x, int i) { rim[i * SLOTS_PER_WORD + x / 2] = parts.node_at(at, x); });
    uint16_t *const side = tiles.side + int64_t(tile) * (2 * Tile::ROWS * Tile::PLANES);
    uint32_t *const side_bits = tiles.side_bits + int64_t(tile) * (2 * Tile::ROWS * Tile::PLANES / WARP);
    for_side_pixels(labelled, [&](int at, int x, int i, bool is_set) {
        const uint32_t bits = __ballot_sync(ALL_LANES, is_set);
        if (i % WARP == 0) side_bits[i / WARP] = bits;
        if (is_set) side[i] = parts.node_at(at, x);
    });
    if (threadIdx.x == 0) tiles.nodes[tile] = parts.nodes;
}

/// The first pixels of parts in a thread's word.  Also writes the nodes that begin there.
template <class Tile>
__device__ uint32_t find_firsts(const TileParts<Tile> &parts, const TilePlace &place, const Tiles &tiles) {
    const LabelledTile<Tile> &labelled = parts.labelled;
    const int at = threadIdx.x;
    uint32_t firsts = 0, number = labelled.runs_before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++number) {
        const uint32_t run = entry_of(number), root = labelled.parents[run], part = root >> TileParts<Tile>::PART_SHIFT;
        if (root != run && part == 0) continue;
        const int x = __ffs(rest) - 1;
        firsts |= 1u << x;
        if (part > 0) begin_node<Tile>(tiles, place, part - 1, at * 32 + x);
    }
    return firsts;
}

/// The same with the sums of the parts.
template <class Tile>
struct MeasuredTileParts : TileParts<Tile> {
    PartSums<Tile, Tile::MOST_KEPT_PARTS> sums;
    uint32_t first[Tile::MOST_KEPT_PARTS];
};

/// Block: numbers the parts that are no nodes, after the nodes.  Keeps the sums of all parts, of the nodes, or of none.
template <class Tile>
__device__ void measure_parts(MeasuredTileParts<Tile> &parts, uint32_t firsts, uint32_t tile, const Tiles &tiles) {
    constexpr int PART_SHIFT = TileParts<Tile>::PART_SHIFT;
    LabelledTile<Tile> &labelled = parts.labelled;
    const int at = threadIdx.x;
    const auto for_roots = [&](auto body) {  // each root by the thread in whose word its part begins
        for (uint32_t rest = firsts; rest; rest &= rest - 1) {
            const int x = __ffs(rest) - 1;
            body(labelled.parents[labelled.run_at(at, x)], at * 32 + x);
        }
    };
    uint32_t count = 0, next_part, total;
    for_roots([&](uint32_t root, int) { count += root >> PART_SHIFT == 0; });
    typename LabelledTile<Tile>::Scan(labelled.scan).ExclusiveSum(count, next_part, total);
    next_part += parts.nodes;
    total += parts.nodes;
    const uint32_t limit = count_kept_parts(tiles, parts.nodes, total);
    if (at == 0) tiles.kept_part_count[tile] = limit == total ? total : limit > 0 ? ONLY_NODES_KEPT : NONE_KEPT;
    if (limit == 0) return;
    for_roots([&](uint32_t &root, int first) {
        if (root >> PART_SHIFT == 0 && limit == total) root |= ++next_part << PART_SHIFT;
        if (root >> PART_SHIFT) parts.first[(root >> PART_SHIFT) - 1] = first;
    });
    static_assert(Tile::MOST_KEPT_PARTS <= Tile::THREADS);
    if (at < static_cast<int>(limit)) parts.sums.clear(at);
    __syncthreads();
    add_words<Tile>(
        labelled,
        [&](uint32_t run) {
            const uint32_t up = labelled.parents[run];
            return ((up >> PART_SHIFT ? up : labelled.parents[up]) >> PART_SHIFT) - 1;  // NO_PART without a number
        },
        [&](uint32_t part, const PixelSums &added) { parts.sums.add(part, added); });
    __syncthreads();
    PackedSums *const kept = tiles.sums + int64_t(tile) * tiles.most_kept_parts;
    for (uint32_t i = at; i < limit; i += Tile::THREADS) kept[i] = pack_sums(parts.sums, i, parts.first[i]);
}

/// Labels a tile, a block each; MEASURES its parts if components are wanted.
template <class Tile, bool MEASURES>
__global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS_PER_SM)
    label_tile(View set, bool aligned, bool complement, Tiles tiles) {
    extern __shared__ __align__(16) uint8_t memory[];
    auto &parts = *reinterpret_cast<std::conditional_t<MEASURES, MeasuredTileParts<Tile>, TileParts<Tile>> *>(memory);
    LabelledTile<Tile> &labelled = parts.labelled;
    const uint32_t tile = blockIdx.x, at = threadIdx.x;
    const TilePlace place = place_of<Tile>(tiles, tile);
    start_kernel_behind();
    if (at == 0) parts.nodes = 0;
    pack_tile<Tile, Tile::THREADS>(set, aligned, complement, place, labelled.word);
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    labelled.label(runs);
    if (stores_roots<Tile>(tiles, place))
        for_stored_roots<Tile>(tiles, place, runs, [&](uint32_t run, uint16_t &root) {
            root = static_cast<uint16_t>(labelled.parents[entry_of(run)]);
        });
    if (tiles.has_nodes) find_nodes<Tile>(parts, tile, tiles);
    const uint32_t firsts = runs ? find_firsts<Tile>(parts, place, tiles) : 0;
    count_firsts<Tile>(firsts, static_cast<int>(at), place, tiles);
    if (at < tiles.kept_words) {
        tiles.bits[int64_t(tile) * tiles.kept_words + at] = labelled.word[at];
        tiles.firsts[int64_t(tile) * tiles.kept_words + at] = firsts;
    }
    if (tile == 0 && at == 0) tiles.firsts_before[tiles.tile_rows()] = 0;
    if (Tile::IS_SMALL && tile == 0 && at == 0) tiles.firsts_before[tiles.tile_rows() + 1] = 0;
    if constexpr (MEASURES) measure_parts(parts, firsts, tile, tiles);
}

template <class Tile>
void find_parts_by_rows(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    launch(plan.label, job.components ? label_tile<Tile, true> : label_tile<Tile, false>, stream, job.set, is_aligned(job.set),
           job.complement, tiles);
}

}  // namespace apsis::cuda::components
