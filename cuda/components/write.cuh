// Last step: writes the labels, or the selected set.  Every run gets the number of its component, in a slab the one that this
// has in the image (faces.cuh).
//
// Cost: 1/4 byte a pixel in and the output.
#pragma once

#include <type_traits>

#include "cuda/components/faces.cuh"
#include "cuda/components/merge.cuh"
#include "cuda/components/packs.cuh"

namespace apsis::cuda::components {

/// Four pixels side by side are of at most two runs, two pixels of one.
template <class Label, class Tile, class Numbers>
__device__ Pack<Label> labels_at(const LabelledTile<Tile> &labelled, int at, int bit, Numbers numbers) {
    constexpr int COUNT = Pack<Label>::COUNT;
    constexpr uint32_t ALL = (1u << COUNT) - 1;
    const uint32_t word = labelled.word[at] >> bit & ALL;
    if (!word) return {};
    const uint32_t all = labelled.start[at], start = all >> bit & ALL, goes_on = word & ~start & 1;
    const uint32_t first = labelled.runs_before[at] + __popc(all & below(bit)) - goes_on;
    const auto number_of = [&](uint32_t run) {
        return static_cast<Label>(numbers.of(labelled.parents[entry_of(run)] - labelled.ENTRIES));
    };
    // Where the second run begins, if there is one.
    const uint32_t second = COUNT <= 2 ? 0 : goes_on ? start : start & (start - 1);
    const Label one = number_of(first), other = second ? number_of(first + 1) : 0;
    const uint32_t later = word & -second;
    Pack<Label> pack;
    for (int i = 0; i < COUNT; ++i) pack.label[i] = later >> i & 1 ? other : word >> i & 1 ? one : 0;
    return pack;
}

/// Block: writes a tile's labels.  A thread writes a pack, then one of another row or plane.
template <class Label, class Tile, class Numbers>
__device__ void write_packs(const LabelledTile<Tile> &labelled, const TilePlace &place, const View &labels, Numbers numbers) {
    constexpr int COUNT = Pack<Label>::COUNT, PACKS = 32 / COUNT, IN_ROW = Tile::WORDS * PACKS, DOWN = Tile::THREADS / IN_ROW;
    constexpr int AXIS = Tile::PLANES > 1 ? 2 : 1, STEP = Tile::PLANES > 1 ? DOWN / Tile::ROWS : DOWN;
    static_assert(Tile::PLANES == 1 || DOWN % Tile::ROWS == 0);
    const int row = threadIdx.x / IN_ROW, pack = threadIdx.x % IN_ROW, bit = pack % PACKS * COUNT;
    const int64_t x = place.x + pack * COUNT, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (x >= labels.size[0] || y >= labels.size[1] || z >= labels.size[2]) return;
    const int here = static_cast<int>(min(labels.size[0] - x, int64_t(COUNT)));
    const int count = static_cast<int>(min(ceil_div(labels.size[AXIS] - (AXIS == 2 ? z : y), STEP), int64_t(PACKS)));
    uint8_t *to = labels.row(y, z) + x * sizeof(Label);
    const int64_t step = STEP * labels.stride[AXIS];
    int at = row * Tile::WORDS + pack / PACKS;
#pragma unroll 2
    for (int k = 0; k < count; ++k, to += step, at += DOWN * Tile::WORDS)
        labels_at<Label>(labelled, at, bit, numbers).put(to, here);
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

/// Writes the labels of a tile, a block each.
template <class Tile, class Numbers>
__global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS_PER_SM)
    write_tile(View labels, bool complement, Tiles tiles, Numbers numbers) {
    LabelledTile<Tile> &labelled = shared_tile<Tile>();
    const TilePlace place = place_of<Tile>(tiles, blockIdx.x);
    const uint32_t runs = recall_tile(labelled, place, tiles);  // from what label_tile has written
    wait_for_kernel_before();
    number_roots(labelled, runs, place, tiles, numbers.elsewhere);
    if constexpr (std::is_same_v<Numbers, Told>) mark_elsewhere(labelled, place, tiles, numbers, {true, true});
    number_runs(labelled, runs);
    if (tiles.packed_labels && labels.type == APSIS_I32)
        write_packs<uint32_t>(labelled, place, labels, numbers);
    else if (tiles.packed_labels)
        write_packs<int64_t>(labelled, place, labels, numbers);
    else
        write_pixels<Tile>(labelled, place, labels, complement, numbers);
}

template <class Tile>
void write_labels(const ComponentsJob &job, const Told &told, const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    if (!job.told.is_any)
        return launch(plan.write, write_tile<Tile, OwnNumbers>, early(stream), job.labels, job.complement, tiles, OwnNumbers());
    launch(plan.write, write_tile<Tile, Told>, early(stream), job.labels, job.complement, tiles, told);
}

}  // namespace apsis::cuda::components
