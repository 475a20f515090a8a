// How an image is cut into tiles, and what a tile keeps in global memory from one kernel to the next.
//
// A part is the pixels of a component in one tile that are connected there.  A part that touches the rim of its tile may go on
// in the next tile; it is called a node.  Nodes are joined by a union-find (merge.cuh).  A component is represented by its
// lowest pixel: the first pixel of a part without a node, or of the root of joined nodes.  A scan over the counts of such first
// pixels, row by row of each tile, gives the numbers of the components in the order of the image, in whatever order the threads
// ran.
#pragma once

#include <cuda_runtime.h>

#include "cuda/components/plan.h"
#include "cuda/runtime/launch.h"
#include "runtime/backend.h"
#include "runtime/workspace.h"

namespace apsis::cuda::components {

/// Offset from a row to one before it whose pixels may be neighbours; with diagonals, also the pixels one column aside.
struct EarlierRow {
    int dy, dz;
    bool diagonals;
};

/// A rim row is a row of a tile that has neighbours in the next row or plane of tiles.  A run in a word of a rim row has a slot
/// for its node.  Two runs never begin side by side, so the slot is half the column of the run's first pixel.
constexpr int SLOTS_PER_WORD = 16;

constexpr int64_t MOST_MEASURING_BLOCKS = 512;  // as many as the largest devices run at once

/// A flag in the area of a component: it touches the border of the image.
constexpr unsigned long long TOUCHES_BORDER = 1ull << 63;

/// A tile of 2-D images.  Less than 1/60 of 128 x 128 pixels are at the rim, and their parents take 1/16 byte a pixel.
template <int CONNECTIVITY, int HEIGHT = 128>
struct PlaneTile {
    static constexpr int WORDS = 4, ROWS = HEIGHT, PLANES = 1, THREADS = WORDS * ROWS * PLANES;
    static constexpr int BLOCKS_PER_SM = 3 * 128 / HEIGHT;  // at least
    static constexpr int NODE_BITS = 8;                     // at most 254 of the 508 pixels of a rim are in runs of their own
    // Parts whose sums are kept: 1/4 byte a pixel.  Few tiles have more parts that are not small; they are measured again.
    static constexpr uint32_t MOST_KEPT_PARTS = 256;
    /// Up to so many tiles (2048 x 2048 pixels) joining waits for memory, and roots are linked in random order (merge.cuh).
    static constexpr int64_t RANDOM_LINKING_TILES = 256;
    static constexpr int COLUMN_BITS = 15;  // of a pixel's column, in a row of RANDOM_LINKING_TILES tiles
    static constexpr bool IS_SMALL = false;
    static constexpr int RIM_ROWS = 2, EARLIER_ROWS = 1;
    static constexpr int JOINING_RIM_ROWS = 1;  // the first rim rows: their earlier row is in another tile

    APSIS_BOTH static constexpr EarlierRow earlier_row(int) { return {-1, 0, CONNECTIVITY > 1}; }
    APSIS_BOTH static constexpr int row_of_rim(int i) { return i * (ROWS - 1); }
    APSIS_BOTH static constexpr int rim_of_row(int y, int) { return y / (ROWS - 1); }
};

/// A tile of small images (small_images.cuh): lower, so that there are more of them.
template <int CONNECTIVITY>
struct SmallTile : PlaneTile<CONNECTIVITY, 64> {
    static constexpr bool IS_SMALL = true;
    static constexpr int64_t RANDOM_LINKING_TILES = 0;
    static constexpr int64_t MOST_TILES = 128;  // 1024 x 1024 pixels
};

/// A tile of volumes.  A cube has the smallest rim.
template <int CONNECTIVITY>
struct VolumeTile {
    static constexpr int WORDS = 1, ROWS = 32, PLANES = 32, THREADS = WORDS * ROWS * PLANES;
    static constexpr int BLOCKS_PER_SM = 2;
    static constexpr int NODE_BITS = 12;                // at most 2884 of the 5768 voxels of a rim are in runs of their own
    static constexpr uint32_t MOST_KEPT_PARTS = 64;     // 1/32 byte a voxel: noise has more than 256 as well
    static constexpr int64_t RANDOM_LINKING_TILES = 0;  // trees are shallow in volumes
    static constexpr bool IS_SMALL = false;
    static constexpr int INNER_PLANES = PLANES - 2;
    static constexpr int RIM_ROWS = 2 * ROWS + 2 * INNER_PLANES, EARLIER_ROWS = CONNECTIVITY > 1 ? 4 : 2;
    static constexpr int JOINING_RIM_ROWS = RIM_ROWS;

    APSIS_BOTH static constexpr EarlierRow earlier_row(int s) {
        constexpr bool DIAGONAL = CONNECTIVITY > 1, CORNER = CONNECTIVITY > 2;
        return s == 0   ? EarlierRow{-1, 0, DIAGONAL}
               : s == 1 ? EarlierRow{0, -1, DIAGONAL}
                        : EarlierRow{s == 2 ? -1 : 1, -1, CORNER};
    }
    /// Rim rows in order: the rows of the first plane, the rows of the last plane, and the first and then the last rows of
    /// planes between.
    APSIS_BOTH static constexpr int row_of_rim(int i) {
        if (i < 2 * ROWS) return i < ROWS ? i : (PLANES - 1) * ROWS + i - ROWS;
        const int side = i - 2 * ROWS;
        return side < INNER_PLANES ? (side + 1) * ROWS : (side - INNER_PLANES + 1) * ROWS + ROWS - 1;
    }
    APSIS_BOTH static constexpr int rim_of_row(int y, int z) {
        if (z == 0 || z == PLANES - 1) return (z ? ROWS : 0) + y;
        return 2 * ROWS + (y ? INNER_PLANES : 0) + z - 1;
    }
};

/// Where a tile lies: among the tiles, and its first pixel.
struct TilePlace {
    uint32_t tile, tx, ty, tz;
    int64_t x, y, z;
};

/// Area, box and sums of coordinates of a part.
struct PackedSums;

/// In place of the number of kept parts, for a tile with more parts than fit: it keeps the sums of its nodes if they are few,
/// or none.  Few nodes are mostly of large components, which are likely to be measured.
constexpr uint32_t NONE_KEPT = UINT32_MAX, ONLY_NODES_KEPT = NONE_KEPT - 1, FEW_NODES = 64;

/// The tiles of an image, and what they keep in global memory.
struct Tiles {
    int64_t width, height, depth;
    uint32_t across, down, deep;
    uint32_t kept_words;        // words of a tile that can hold pixels: fewer than WORDS * ROWS * PLANES in a small image
    uint32_t most_kept_parts;   // whose sums a tile has room for: MOST_KEPT_PARTS, or fewer where it has few words
    bool has_nodes;             // whether there are neighbouring tiles, and so nodes
    bool packed_labels;         // labels are stored 16 bytes at once
    uint32_t *bits;             // [tile][word]: the set
    uint32_t *firsts;           // [tile][word]: the first pixels of parts that represent a component
    uint32_t *firsts_before;    // [tile row]: [row of the image][column of tiles].  How many first pixels it has; after the
                                // scan, how many come before it; at the end, how many there are in all, and then that and
                                // how many a slab's faces leave out; in small images, how many blocks have joined nodes
    uint32_t *nodes;            // [tile]: how many
    uint32_t *parent;           // [node]: itself or another node of its component; in the end its root
    uint32_t *lowest;           // [node]: of a root, the first pixel of its component (position_of), where roots are linked in
                                // random order.  Else null: the root is the node with the lowest first pixel
    uint16_t *first;            // [node]: its first pixel in the tile
    uint16_t *rim;              // [tile][rim row][word][slot]: nodes
    uint16_t *side;             // [tile][left, right][row]: nodes of the first column and the last
    uint32_t *side_bits;        // [tile][left, right][32 rows]: which rows have such a node
    unsigned long long *area;   // [node]: of a root, the area of its component, with TOUCHES_BORDER; null if none are selected
    uint32_t *kept_part_count;  // [tile]: how many parts have kept sums, the nodes first; or ONLY_NODES_KEPT or NONE_KEPT
    uint32_t *measured_again;   // [0]: how many tiles are measured again; behind it, their numbers
    PackedSums *sums;           // [tile][part] (measure.cuh)
    uint32_t *count_only;       // where components are only counted: how many; there are no first pixels then
    View root_store;            // the labels, if they are packed: whole tiles store the roots of their runs there; or none

    __host__ __device__ uint32_t count() const { return across * down * deep; }
    __host__ __device__ int64_t rows() const { return height * depth; }
    __host__ __device__ int64_t tile_rows() const { return rows() * across; }
    __host__ __device__ int64_t tile_row_at(int64_t y, int64_t z, uint32_t tx) const { return (z * height + y) * across + tx; }
};

#if defined(__CUDACC__)

/// The number of parts whose sums a tile with so many nodes and parts keeps.
__device__ inline uint32_t count_kept_parts(const Tiles &tiles, uint32_t nodes, uint32_t parts) {
    return parts <= tiles.most_kept_parts ? parts : nodes <= min(FEW_NODES, tiles.most_kept_parts) ? nodes : 0;
}

/// The bits of a word up to x, with it and without it.
__device__ inline uint32_t up_to(int x) { return (2u << x) - 1; }
__device__ inline uint32_t below(int x) { return (1u << x) - 1; }

template <class Tile>
__device__ TilePlace place_of(const Tiles &tiles, uint32_t tile) {
    const uint32_t line = tile / tiles.across, tx = tile - line * tiles.across, tz = line / tiles.down,
                   ty = line - tz * tiles.down;
    return {tile, tx, ty, tz, int64_t(tx) * (Tile::WORDS * 32), int64_t(ty) * Tile::ROWS, int64_t(tz) * Tile::PLANES};
}

/// Whether a tile stores the roots of its runs where its labels will be.
template <class Tile>
__device__ bool stores_roots(const Tiles &tiles, const TilePlace &place) {
    return tiles.root_store && place.x + Tile::WORDS * 32 <= tiles.width && place.y + Tile::ROWS <= tiles.height &&
           place.z + Tile::PLANES <= tiles.depth;
}

/// Block: calls body(run, root) for the runs of a tile with stored roots.  A thread's next run has its root in another row or
/// plane.
template <class Tile, class Body>
__device__ void for_stored_roots(const Tiles &tiles, const TilePlace &place, uint32_t runs, Body body) {
    constexpr int IN_ROW = Tile::WORDS * 32 * sizeof(uint32_t) / sizeof(uint16_t), ROWS = Tile::THREADS / IN_ROW;
    static_assert(Tile::PLANES > 1 ? ROWS <= Tile::ROWS && SLOTS_PER_WORD <= Tile::PLANES
                                   : ROWS * SLOTS_PER_WORD <= Tile::ROWS);
    uint8_t *row = tiles.root_store.row(place.y + threadIdx.x / IN_ROW, place.z) + place.x * 4;
    const int64_t step = Tile::PLANES > 1 ? tiles.root_store.stride[2] : ROWS * tiles.root_store.stride[1];
    for (uint32_t run = threadIdx.x; run < runs; run += Tile::THREADS, row += step)
        body(run, reinterpret_cast<uint16_t *>(row)[threadIdx.x % IN_ROW]);
}

/// The number of the component that the first pixel of a part represents, or 0 if the component is left out.
template <class Tile>
__device__ uint32_t number_of_first(const Tiles &tiles, const TilePlace &place, int first) {
    const int at = first / 32, row = at / Tile::WORDS;
    const uint32_t *const firsts = tiles.firsts + int64_t(place.tile) * tiles.kept_words + row * Tile::WORDS;
    const uint32_t own = firsts[at % Tile::WORDS];
    if (!(own >> first % 32 & 1)) return 0;
    uint32_t number = tiles.firsts_before[tiles.tile_row_at(place.y + row % Tile::ROWS, place.z + row / Tile::ROWS, place.tx)];
    for (int i = 0; i < at % Tile::WORDS; ++i) number += __popc(firsts[i]);
    return number + __popc(own & up_to(first % 32));
}

/// The first pixel of a part.
struct FirstPixel {
    uint32_t tile;
    int first;
};

template <class Tile>
__device__ FirstPixel first_of_node(const Tiles &tiles, uint32_t node) {
    return {node >> Tile::NODE_BITS, tiles.first[node]};
}

/// A pixel as a number in the order of the image, and back.  Only for few tiles.
template <class Tile>
__device__ uint32_t position_of(const Tiles &tiles, const FirstPixel &pixel) {
    constexpr int WIDTH = Tile::WORDS * 32;
    static_assert(Tile::PLANES == 1 && WIDTH <= Tile::ROWS &&
                  Tile::RANDOM_LINKING_TILES * Tile::ROWS <= 1 << Tile::COLUMN_BITS);
    const uint32_t ty = pixel.tile / tiles.across, tx = pixel.tile - ty * tiles.across;
    return (ty * Tile::ROWS + pixel.first / WIDTH) << Tile::COLUMN_BITS | (tx * WIDTH + pixel.first % WIDTH);
}
template <class Tile>
__device__ FirstPixel pixel_of_position(const Tiles &tiles, uint32_t position) {
    constexpr uint32_t WIDTH = Tile::WORDS * 32;
    const uint32_t y = position >> Tile::COLUMN_BITS, x = position & below(Tile::COLUMN_BITS);
    return {y / Tile::ROWS * tiles.across + x / WIDTH, static_cast<int>(y % Tile::ROWS * WIDTH + x % WIDTH)};
}

/// The first pixel of a root's component.
template <class Tile>
__device__ FirstPixel first_of_root(const Tiles &tiles, uint32_t root) {
    if constexpr (Tile::RANDOM_LINKING_TILES > 0)
        if (tiles.lowest) return pixel_of_position<Tile>(tiles, tiles.lowest[root]);
    return first_of_node<Tile>(tiles, root);
}

/// Points a node at its root, and returns the root.  No nodes are joined meanwhile.  A thread writes only the parent of its own
/// node: another node may have been pointed at its root already, and would be led back.
__device__ inline uint32_t flatten_node(const Tiles &tiles, uint32_t node) {
    uint32_t parent = __ldcg(tiles.parent + node);
    for (uint32_t next; (next = __ldcg(tiles.parent + parent)) != parent; parent = next) __stcg(tiles.parent + node, next);
    return parent;
}

/// The number of a node's component, or 0 if the component is left out.  In a slab that has been told of its faces these have a
/// code in place of a number, `elsewhere` (faces.cuh).
template <class Tile>
__device__ uint32_t number_of_node(const Tiles &tiles, uint32_t node, const uint32_t *elsewhere = nullptr) {
    const uint32_t root = Tile::IS_SMALL ? flatten_node(tiles, node) : tiles.parent[node];
    const FirstPixel pixel = first_of_root<Tile>(tiles, root);
    const uint32_t number = number_of_first<Tile>(tiles, place_of<Tile>(tiles, pixel.tile), pixel.first);
    return number || !elsewhere ? number : elsewhere[root];
}

/// The index in the image of a pixel of a tile.
template <class Tile>
__device__ int64_t index_at(const Tiles &tiles, const TilePlace &place, int pixel) {
    const int at = pixel / 32, row = at / Tile::WORDS;
    const int64_t x = place.x + at % Tile::WORDS * 32 + pixel % 32;
    return ((place.z + row / Tile::ROWS) * tiles.height + place.y + row % Tile::ROWS) * tiles.width + x;
}

/// Makes a node, with this first pixel, a root of the union-find.
template <class Tile>
__device__ void begin_node(const Tiles &tiles, const TilePlace &place, uint32_t i, int first) {
    const uint32_t node = place.tile << Tile::NODE_BITS | i;
    tiles.parent[node] = node;
    tiles.first[node] = static_cast<uint16_t>(first);
    if (tiles.area) tiles.area[node] = 0;
    if constexpr (Tile::RANDOM_LINKING_TILES > 0)
        if (tiles.lowest) tiles.lowest[node] = position_of<Tile>(tiles, {place.tile, first});
}

/// A first pixel no longer represents a component.
template <class Tile>
__device__ void drop_first(const Tiles &tiles, const FirstPixel &pixel) {
    const TilePlace place = place_of<Tile>(tiles, pixel.tile);
    const int at = pixel.first / 32, row = at / Tile::WORDS;
    atomicAnd(tiles.firsts + int64_t(place.tile) * tiles.kept_words + at, ~(1u << pixel.first % 32));
    atomicSub(tiles.firsts_before + tiles.tile_row_at(place.y + row % Tile::ROWS, place.z + row / Tile::ROWS, place.tx), 1u);
}

/// Block: calls body(node) for the nodes of a tile, each by one thread.
template <class Tile, class Body>
__device__ void for_nodes(const Tiles &tiles, uint32_t tile, Body body) {
    if (!tiles.has_nodes) return;
    const uint32_t count = tiles.nodes[tile];
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) body(tile << Tile::NODE_BITS | i);
}

/// The position of the n-th set bit of a word, n from 0.
__device__ inline int nth_bit(uint32_t word, int n) {
    int x = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const int here = __popc(word >> x & below(step));
        if (n >= here) n -= here, x += step;
    }
    return x;
}

/// Warp: calls body(lane, x) for all set bits of the words of all lanes, 32 at a time: each lane takes one of them, mostly of
/// another lane's word.  Lanes that get none are called with x = -1.
template <class Body>
__device__ void for_bits_of_warp(uint32_t word, Body body) {
    const int lane = threadIdx.x % WARP;
    const int end = sum_up_to(__popc(word)), count = __shfl_sync(ALL_LANES, end, WARP - 1);
    for (int n = lane; n - lane < count; n += WARP) {
        int from = 0;
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2)
            if (__shfl_sync(ALL_LANES, end, from + step - 1) <= n) from += step;
        const uint32_t bits = __shfl_sync(ALL_LANES, word, from % WARP);
        const int before = __shfl_sync(ALL_LANES, end, from % WARP) - __popc(bits);
        body(from % WARP, n < count ? nth_bit(bits, n - before) : -1);
    }
}

/// Which runs of two rows are neighbours, each pair once, within a word: either a run of the one row begins beside a run of the
/// other row, or a run of the other row begins beside a run that has begun before.  The bits to the left of both words tell
/// whether a run goes on from there.
struct Meetings {
    uint32_t own, others;  // where they begin
};

__device__ inline Meetings find_meetings(uint32_t word, uint32_t start, uint32_t left, uint32_t other, uint32_t other_start,
                                         uint32_t other_left, bool diagonals) {
    const uint32_t here = diagonals ? word | word << 1 | left : word;
    const uint32_t there = diagonals ? other | other << 1 | other_left : other;
    return {start & there, other_start & here & ~start};
}

/// Takes the meetings where a run v of the row above begins beside a run w of this row.  Returns those in which w also meets
/// the run u just before v, and u and v are joined in the row before (`top`).  Then w and v need no union of their own.
__device__ inline uint32_t joined_before(uint32_t word, uint32_t above, uint32_t top, bool diagonals) {
    return diagonals ? above << 2 & top << 1 : word << 2 & above << 2 & top & top << 1 & top << 2;
}

/// The meetings with a row of the plane before that other joins imply.  If that row is at another y, the row of this plane at
/// its y (`row`) and the row of its plane at this y (`plane`) touch both runs: a pixel in either joins them.  If it is at the
/// same y, `row` and `plane` are the rows before, one in each plane: joins need pixels in both.  Where two runs meet, each has
/// the pixel at x or the one before; `both` are the x at which both runs have it.
__device__ inline uint32_t joined_beside(uint32_t both, uint32_t row, uint32_t plane, bool other_y, bool diagonals) {
    if (!diagonals) return other_y ? row | plane : row & plane;
    const uint32_t row_left = row | row << 1, plane_left = plane | plane << 1;
    const uint32_t row_right = row | row >> 1, plane_right = plane | plane >> 1;
    return other_y ? row_left | plane_left | (both & (row_right | plane_right))
                   : (row_left & plane_left) | (both & row_right & plane_right);
}

#endif

/// The tiles of a job, with what every way keeps of them.
template <class Tile>
Tiles tiles_of(const ComponentsJob &job, const Plan &plan, Carver &carver) {
    Tiles tiles = {};
    tiles.width = job.set.size[0], tiles.height = job.set.size[1], tiles.depth = job.set.size[2];
    tiles.across = plan.across, tiles.down = plan.down, tiles.deep = plan.deep;
    tiles.kept_words = plan.kept_words, tiles.most_kept_parts = plan.most_kept_parts, tiles.has_nodes = plan.has_nodes;
    tiles.packed_labels = plan.packed_labels;
    const int64_t count = tiles.count(), of_nodes = tiles.has_nodes ? count : 0,
                  sides = of_nodes * 2 * Tile::ROWS * Tile::PLANES;
    tiles.bits = carver.take<uint32_t>(count * tiles.kept_words);
    tiles.firsts = carver.take<uint32_t>(count * tiles.kept_words);
    tiles.firsts_before = carver.take<uint32_t>(tiles.tile_rows() + 2);
    tiles.nodes = carver.take<uint32_t>(of_nodes);
    tiles.parent = carver.take<uint32_t>(of_nodes << Tile::NODE_BITS);
    tiles.first = carver.take<uint16_t>(of_nodes << Tile::NODE_BITS);
    tiles.rim = carver.take<uint16_t>(of_nodes * Tile::RIM_ROWS * Tile::WORDS * SLOTS_PER_WORD);
    tiles.side = carver.take<uint16_t>(sides);
    tiles.side_bits = carver.take<uint32_t>(sides / WARP);
    return tiles;
}

/// Calls body(tile) with the kind of tile that a plan has chosen.
template <class Body>
auto with_tile(const Plan &plan, Body body) {
    if (!plan.is_volume) return plan.connectivity == 1 ? body(PlaneTile<1>()) : body(PlaneTile<2>());
    if (plan.connectivity == 1) return body(VolumeTile<1>());
    return plan.connectivity == 2 ? body(VolumeTile<2>()) : body(VolumeTile<3>());
}
template <class Body>
auto with_small_tile(const Plan &plan, Body body) {
    return plan.connectivity == 1 ? body(SmallTile<1>()) : body(SmallTile<2>());
}

}  // namespace apsis::cuda::components
