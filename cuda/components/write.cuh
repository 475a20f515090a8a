// Last step: writes the labels, or the selected set.  Every run gets the number of its component.  In a slab of an image a
// table gives it the number that it has there; and the numbers of the first and last row, in 3-D plane, are written by blocks
// for the tiles there.
//
// Cost: 1/4 byte a pixel in and the output.
#pragma once

#include "cuda/components/label.cuh"

namespace apsis::cuda::components {

/// What is written for the number of a component: itself, or what a table says of it.
struct OwnNumbers {
    __device__ uint32_t of(uint32_t number) const { return number; }
};
struct GivenNumbers {
    const int64_t *number;
    int64_t count;

    __device__ int64_t of(uint32_t own) const { return own > 0 && own <= count ? __ldg(number + (own - 1)) : 0; }
};

/// Block: gives every run the number of its root.
template <class Tile>
__device__ void number_runs(LabelledTile<Tile> &labelled, uint32_t runs) {
    labelled.for_runs(runs, [&](uint32_t run) {
        if (const uint32_t root = labelled.parents[run]; root < labelled.ENTRIES)
            labelled.parents[run] = labelled.parents[root];
    });
    __syncthreads();
}

/// The labels of four pixels side by side: of at most two runs.
template <class Tile, class Numbers>
__device__ uint4 labels_at(const LabelledTile<Tile> &labelled, int at, int bit, Numbers numbers) {
    const uint32_t word = labelled.word[at] >> bit & 15;
    if (!word) return make_uint4(0, 0, 0, 0);
    const uint32_t all = labelled.start[at], start = all >> bit & 15, goes_on = word & ~start & 1;
    const uint32_t first = labelled.runs_before[at] + __popc(all & below(bit)) - goes_on;
    const auto number_of = [&](uint32_t run) {
        return static_cast<uint32_t>(numbers.of(labelled.parents[entry_of(run)] - labelled.ENTRIES));
    };
    const uint32_t second = goes_on ? start : start & (start - 1);  // where the second run begins, if there is one
    const uint32_t one = number_of(first), other = second ? number_of(first + 1) : 0;
    const uint32_t later = word & -second;
    const auto label = [&](int i) { return later >> i & 1 ? other : word >> i & 1 ? one : 0; };
    return make_uint4(label(0), label(1), label(2), label(3));
}

/// Block: writes a tile's labels of 32 bits.  A thread writes four pixels at once, then four of another row or plane.
template <class Tile, class Numbers>
__device__ void write_quads(const LabelledTile<Tile> &labelled, const TilePlace &place, const View &labels, Numbers numbers) {
    constexpr int QUADS = 32 / 4, IN_ROW = Tile::WORDS * QUADS, DOWN = Tile::THREADS / IN_ROW;
    constexpr int AXIS = Tile::PLANES > 1 ? 2 : 1, STEP = Tile::PLANES > 1 ? DOWN / Tile::ROWS : DOWN;
    static_assert(Tile::PLANES == 1 || DOWN % Tile::ROWS == 0);
    const int row = threadIdx.x / IN_ROW, quad = threadIdx.x % IN_ROW, bit = quad % QUADS * 4;
    const int64_t x = place.x + quad * 4, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (x >= labels.size[0] || y >= labels.size[1] || z >= labels.size[2]) return;
    const int here = static_cast<int>(min(labels.size[0] - x, int64_t(4)));
    const int count = static_cast<int>(min(ceil_div(labels.size[AXIS] - (AXIS == 2 ? z : y), STEP), int64_t(QUADS)));
    uint8_t *to = labels.row(y, z) + x * 4;
    const int64_t step = STEP * labels.stride[AXIS];
    int at = row * Tile::WORDS + quad / QUADS;
#pragma unroll 2
    for (int k = 0; k < count; ++k, to += step, at += DOWN * Tile::WORDS) {
        const uint4 number = labels_at(labelled, at, bit, numbers);
        if (here == 4)
            __stcs(reinterpret_cast<uint4 *>(to), number);
        else
            for (int i = 0; i < here; ++i)
                reinterpret_cast<uint32_t *>(to)[i] = i == 0 ? number.x : i == 1 ? number.y : number.z;
    }
}

/// Block: writes a tile's labels of any type, or the selected set; a lane writes a pixel.
template <class Tile, class Numbers>
__device__ void write_pixels(const LabelledTile<Tile> &labelled, const TilePlace &place, const View &labels, bool complement,
                             Numbers numbers) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int i = 0; i < WARP; ++i) {
        const int at = warp * WARP + i, row = at / Tile::WORDS;
        const int64_t x = place.x + at % Tile::WORDS * 32 + lane;
        const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
        if (y >= labels.size[1] || z >= labels.size[2]) continue;
        const uint32_t own = labelled.word[at] >> lane & 1 ? labelled.parents[labelled.run_at(at, lane)] - labelled.ENTRIES : 0;
        const auto number = numbers.of(own);
        const bool is_inside = x < labels.size[0];
        uint8_t *const to = labels.row(y, z);
        if (labels.type == APSIS_BIT) {
            const uint32_t bits = __ballot_sync(ALL_LANES, is_inside && (number > 0) != complement);
            if (lane % 8 == 0 && is_inside) to[x / 8] = static_cast<uint8_t>(bits >> lane);
        } else if (is_inside) {
            if (labels.type == APSIS_I32) put(labels, to, x, static_cast<uint32_t>(number));
            if (labels.type == APSIS_I64) put(labels, to, x, int64_t(number));
            if (labels.type == APSIS_U8) put(labels, to, x, static_cast<uint8_t>((number > 0) != complement));
        }
    }
}

/// Block: labels a tile once more, and gives every run the number of its component.
template <class Tile>
__device__ void number_tile(LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles) {
    const uint32_t runs = recall_tile(labelled, place, tiles);
    number_roots(labelled, runs, place, tiles);
    number_runs(labelled, runs);
}

/// Writes the labels of a tile, a block each.
template <class Tile, class Numbers>
__global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS_PER_SM)
    write_tile(View labels, bool complement, Tiles tiles, Numbers numbers) {
    extern __shared__ __align__(16) uint8_t memory[];
    LabelledTile<Tile> &labelled = *reinterpret_cast<LabelledTile<Tile> *>(memory);
    const TilePlace place = place_of<Tile>(tiles, blockIdx.x);
    number_tile(labelled, place, tiles);
    if (tiles.root_store)
        write_quads<Tile>(labelled, place, labels, numbers);
    else
        write_pixels<Tile>(labelled, place, labels, complement, numbers);
}

template <class Tile>
void write_labels(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    if (!job.numbers)
        return launch(plan.write, write_tile<Tile, OwnNumbers>, stream, job.labels, job.complement, tiles, OwnNumbers());
    const GivenNumbers numbers = {reinterpret_cast<const int64_t *>(job.numbers.data), job.numbers.size[0]};
    launch(plan.write, write_tile<Tile, GivenNumbers>, stream, job.labels, job.complement, tiles, numbers);
}

/// Writes the numbers of the first row of the image, or of the last one, or of its first or last plane; a block for each of the
/// tiles there.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) write_end(View end, bool is_last, Tiles tiles) {
    extern __shared__ __align__(16) uint8_t memory[];
    LabelledTile<Tile> &labelled = *reinterpret_cast<LabelledTile<Tile> *>(memory);
    const TilePlace place = place_of<Tile>(tiles, blockIdx.x + (is_last ? tiles.count() - gridDim.x : 0));
    number_tile(labelled, place, tiles);
    constexpr bool IS_VOLUME = Tile::PLANES > 1;
    constexpr int WORDS = IS_VOLUME ? Tile::ROWS * Tile::WORDS : Tile::WORDS;  // of the tile's row or plane
    const int64_t in_tile = is_last ? (IS_VOLUME ? tiles.depth - place.z : tiles.height - place.y) - 1 : 0;
    for (int i = threadIdx.x; i < WORDS * 32; i += Tile::THREADS) {
        const int word = i / 32, at = static_cast<int>(in_tile) * WORDS + word;
        const int64_t x = place.x + word % Tile::WORDS * 32 + i % 32, y = IS_VOLUME ? place.y + word / Tile::WORDS : 0;
        if (x >= end.size[0] || y >= end.size[1]) continue;
        const bool is_set = labelled.word[at] >> i % 32 & 1;
        put(end, end.row(y, 0), x, int64_t(is_set ? labelled.parents[labelled.run_at(at, i % 32)] - labelled.ENTRIES : 0));
    }
}

template <class Tile>
void write_row_or_plane(const View &end, bool is_last, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    launch(plan.write_end, write_end<Tile>, stream, end, is_last, tiles);
}

}  // namespace apsis::cuda::components
