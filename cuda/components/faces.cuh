// The faces of a slab, its first and last rows, in 3-D planes: the numbers there, which the slab tells, and what it is told of
// them.  Blocks take the tiles at an end of the slab.
//
// A face tells of each component that goes on outside, and begins there, its number in the image.  Such a component is left out
// before the scan, like one that is not selected, so that the numbers of all others follow each other in the image, too.  In
// place of a number it gets a code (told.cuh).  A face tells one number of all its pixels, so any of their codes serves,
// whichever thread writes it last.
//
// Cost: the tiles at the ends of the slab are labelled once more.
#pragma once

#include "cuda/components/label.cuh"
#include "cuda/components/told.cuh"

namespace apsis::cuda::components {

template <class Tile>
__device__ LabelledTile<Tile> &shared_tile() {
    extern __shared__ __align__(16) uint8_t memory[];
    return *reinterpret_cast<LabelledTile<Tile> *>(memory);
}

/// Block: gives every run the number of its root.
template <class Tile>
__device__ void number_runs(LabelledTile<Tile> &labelled, uint32_t runs) {
    labelled.for_runs(runs, [&](uint32_t run) {
        if (const uint32_t root = labelled.parents[run]; root < labelled.ENTRIES)
            labelled.parents[run] = labelled.parents[root];
    });
    __syncthreads();
}

/// Block: calls body(word, bit, x, y) for the pixels of a tile in the first row or plane of the image, or in the last, if it
/// has some; each by one thread.
template <class Tile, class Body>
__device__ void for_end(const TilePlace &place, const Tiles &tiles, bool is_last, Body body) {
    constexpr bool IS_VOLUME = Tile::PLANES > 1;
    constexpr int WORDS = IS_VOLUME ? Tile::ROWS * Tile::WORDS : Tile::WORDS;  // of the tile's row or plane
    const int64_t begin = IS_VOLUME ? place.z : place.y, extent = IS_VOLUME ? tiles.depth : tiles.height;
    const int64_t in_tile = is_last ? extent - begin - 1 : -begin;
    if (in_tile < 0 || in_tile >= (IS_VOLUME ? Tile::PLANES : Tile::ROWS)) return;
    for (int i = threadIdx.x; i < WORDS * 32; i += Tile::THREADS) {
        const int word = i / 32;
        const int64_t x = place.x + word % Tile::WORDS * 32 + i % 32, y = IS_VOLUME ? place.y + word / Tile::WORDS : 0;
        if (x < tiles.width && y < tiles.height) body(static_cast<int>(in_tile) * WORDS + word, i % 32, x, y);
    }
}

/// The tile of a block that is at an end.
template <class Tile>
__device__ TilePlace place_at_end(const Tiles &tiles, bool is_last) {
    return place_of<Tile>(tiles, blockIdx.x + (is_last ? tiles.count() - gridDim.x : 0));
}

/// Writes the numbers in a face; a block for each of the tiles there.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) write_face(View face, bool is_last, Tiles tiles) {
    LabelledTile<Tile> &labelled = shared_tile<Tile>();
    const TilePlace place = place_at_end<Tile>(tiles, is_last);
    const uint32_t runs = recall_tile(labelled, place, tiles);
    number_roots(labelled, runs, place, tiles);
    number_runs(labelled, runs);
    for_end<Tile>(place, tiles, is_last, [&](int at, int bit, int64_t x, int64_t y) {
        const bool is_set = labelled.word[at] >> bit & 1;
        put(face, face.row(y, 0), x, int64_t(is_set ? labelled.parents[labelled.run_at(at, bit)] - labelled.ENTRIES : 0));
    });
}

template <class Tile>
void write_end(const View &face, bool is_last, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    launch(plan.end, write_face<Tile>, stream, face, is_last, tiles);
}

/// Block: points the roots of parts that begin elsewhere, as some faces say, at ENTRIES plus a code; all threads see it.  Roots
/// point at themselves, or at ENTRIES plus a number.
template <class Tile>
__device__ void mark_elsewhere(LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles, const Told &told,
                               const bool (&sides)[2]) {
    constexpr uint32_t ENTRIES = LabelledTile<Tile>::ENTRIES;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
        if (!sides[side] || !told.face[side]) continue;
        for_end<Tile>(place, tiles, side, [&](int at, int bit, int64_t x, int64_t y) {
            const int64_t column = y * tiles.width + x;
            if (!(labelled.word[at] >> bit & 1) || told.face[side][column] >= 0) return;
            const uint32_t run = labelled.run_at(at, bit), up = labelled.parents.load(run);
            atomicMax(&labelled.parents[up < ENTRIES ? up : run], ENTRIES + told.code_of(side, column));
        });
    }
    __syncthreads();
}

/// A first pixel no longer represents a component, if it has done so.
template <class Tile>
__device__ void leave_first(const Tiles &tiles, const FirstPixel &pixel) {
    const uint32_t bit = 1u << pixel.first % 32;
    const TilePlace place = place_of<Tile>(tiles, pixel.tile);
    const int at = pixel.first / 32, row = at / Tile::WORDS;
    if (!(atomicAnd(tiles.firsts + int64_t(place.tile) * tiles.kept_words + at, ~bit) & bit)) return;
    atomicSub(tiles.firsts_before + tiles.tile_row_at(place.y + row % Tile::ROWS, place.z + row / Tile::ROWS, place.tx), 1u);
    atomicAdd(tiles.firsts_before + tiles.tile_rows(), 1u);
}

/// Leaves out the components that begin elsewhere, as a face says; a block for each of the tiles there.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) leave_marked(bool is_last, Tiles tiles, Told told) {
    constexpr uint32_t ENTRIES = LabelledTile<Tile>::ENTRIES;
    LabelledTile<Tile> &labelled = shared_tile<Tile>();
    const TilePlace place = place_at_end<Tile>(tiles, is_last);
    recall_tile(labelled, place, tiles);
    mark_elsewhere(labelled, place, tiles, told, {!is_last, is_last});
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
        const uint32_t up = labelled.parents[labelled.root_of_node(tiles, node)], root = tiles.parent[node];
        if (up < ENTRIES) return;
        told.elsewhere[root] = up - ENTRIES;
        leave_first<Tile>(tiles, first_of_root<Tile>(tiles, root));
    });
    for (uint32_t rest = firsts_of<Tile>(place, tiles); rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        if (labelled.parents[labelled.run_at(threadIdx.x, x)] >= ENTRIES)
            leave_first<Tile>(tiles, {place.tile, static_cast<int>(threadIdx.x) * 32 + x});
    }
}

/// The same for both faces, before the scan.
template <class Tile>
void leave_elsewhere(const Told &told, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    Launch end = plan.end;
    end.kernel = "leave_marked";
    for (const bool is_last : {false, true})
        if (told.face[is_last]) launch(end, leave_marked<Tile>, stream, is_last, tiles, told);
}

}  // namespace apsis::cuda::components
