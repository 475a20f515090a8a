// Joins the parts of tiles into components: a union-find over nodes without locks (path halving; a root is linked by
// compare-and-swap).  Chosen wherever an image has tiles with neighbours.
//
// Cost: reading the nodes, less than 1/4 byte a pixel in 2-D.
#pragma once

#include "cuda/components/tiles.h"

namespace apsis::cuda::components {

/// Goes from two nodes to their roots, or to where their paths meet, and halves the paths.  It follows both at once, since it
/// waits for memory.
__device__ inline void find_roots(const Tiles &tiles, uint32_t &one, uint32_t &other) {
    while (one != other) {
        const uint32_t up_one = __ldcg(tiles.parent + one), up_other = __ldcg(tiles.parent + other);
        if (up_one == one && up_other == other) return;
        const uint32_t next_one = __ldcg(tiles.parent + up_one), next_other = __ldcg(tiles.parent + up_other);
        if (next_one != up_one) __stcg(tiles.parent + one, next_one);
        if (next_other != up_other) __stcg(tiles.parent + other, next_other);
        one = next_one;
        other = next_other;
    }
}

/// The index of a node's first pixel in the image.
template <class Tile>
__device__ int64_t first_of(const Tiles &tiles, uint32_t node) {
    return index_at<Tile>(tiles, place_of<Tile>(tiles, node >> Tile::NODE_BITS), tiles.first[node]);
}

/// An order of nodes that is unrelated to where they lie (the last steps of MurmurHash3).
__device__ inline uint32_t random_order(uint32_t node) {
    node = (node ^ node >> 16) * 0x85ebca6bu;
    node = (node ^ node >> 13) * 0xc2b2ae35u;
    return node ^ node >> 16;
}

/// Which of two roots becomes the parent of the other.  If the lower first pixel decides, all nodes of a line through many
/// tiles may become one long path.  Randomized linking keeps paths short (Jayanti and Tarjan 2016), but then the lowest first
/// pixel has to be found afterwards.
template <class Tile>
__device__ bool is_parent_of(const Tiles &tiles, uint32_t one, uint32_t other) {
    if (tiles.lowest) return random_order(one) < random_order(other);
    if (tiles.count_only) return one < other;  // any order serves to count
    // Tiles a row or a plane of tiles apart, or more, have the order of their pixels, which need not be read.
    const uint32_t tile = one >> Tile::NODE_BITS, other_tile = other >> Tile::NODE_BITS;
    const uint32_t apart = Tile::PLANES > 1 ? tiles.across * tiles.down : tiles.across;
    if (max(tile, other_tile) - min(tile, other_tile) >= apart) return tile < other_tile;
    return first_of<Tile>(tiles, one) < first_of<Tile>(tiles, other);
}

/// Joins two nodes.  Returns how many roots have got a parent.  In small images these drop their first pixels at once.
template <class Tile>
__device__ uint32_t unite(const Tiles &tiles, uint32_t one, uint32_t other) {
    for (;;) {
        find_roots(tiles, one, other);
        if (one == other) return 0;
        if (is_parent_of<Tile>(tiles, one, other)) {
            const uint32_t above = one;
            one = other;
            other = above;
        }
        if (atomicCAS(tiles.parent + one, one, other) != one) continue;
        if (Tile::IS_SMALL) drop_first<Tile>(tiles, first_of_node<Tile>(tiles, one));
        return 1;
    }
}

/// A rim row: its tile, and where it is there.
struct RimRow {
    uint32_t tile;
    int y, z;
};

/// Finds the row at (y, z), counted from a tile, which may be in the tile before or after.  Returns false outside the image.
template <class Tile>
__device__ bool find_row(const Tiles &tiles, const TilePlace &place, int y, int z, RimRow &found) {
    const int to_y = y < 0 ? -1 : y >= Tile::ROWS, to_z = z < 0 ? -1 : 0;
    if ((to_y < 0 && place.ty == 0) || (to_y > 0 && place.ty + 1 == tiles.down) || (to_z < 0 && place.tz == 0)) return false;
    found.tile = place.tile + to_y * static_cast<int>(tiles.across) + to_z * static_cast<int>(tiles.across * tiles.down);
    found.y = y - to_y * Tile::ROWS;
    found.z = z - to_z * Tile::PLANES;
    return true;
}

template <class Tile>
__device__ uint32_t word_in(const Tiles &tiles, const RimRow &row, int column) {
    const uint32_t at = (row.z * Tile::ROWS + row.y) * Tile::WORDS + column;
    return at < tiles.kept_words ? tiles.bits[int64_t(row.tile) * tiles.kept_words + at] : 0;
}

template <class Tile>
__device__ uint32_t word_at(const Tiles &tiles, const TilePlace &place, int y, int z, int column) {
    RimRow row;
    return find_row<Tile>(tiles, place, y, z, row) ? word_in<Tile>(tiles, row, column) : 0;
}

/// A word of a rim row with the word to its left, and the nodes of their runs.
template <class Tile>
struct RimWord {
    RimRow row;
    int column;
    uint32_t word, left_word;

    __device__ RimWord(const Tiles &tiles, const RimRow &row, int column, bool goes_left)
        : row(row),
          column(column),
          word(word_in<Tile>(tiles, row, column)),
          left_word(0) {
        if (column > 0)
            left_word = word_in<Tile>(tiles, row, column - 1);
        else if (goes_left)
            left_word = word_in<Tile>(tiles, {row.tile - 1, row.y, row.z}, Tile::WORDS - 1);
    }
    __device__ uint32_t start() const { return word & ~(word << 1); }
    __device__ uint32_t left() const { return left_word >> 31; }

    /// The node of the run at pixel x, or of the run that ends just before it.
    __device__ uint32_t node_at(const Tiles &tiles, int x) const {
        const bool is_here = word >> x & 1, is_left = !is_here && x == 0;
        const uint32_t run_word = is_left ? left_word : word;
        const int last = is_here ? x : (x + 31) % 32;
        const int begin = 31 - __clz(static_cast<int>(run_word & ~(run_word << 1) & up_to(last)));
        const uint32_t tile = is_left && column == 0 ? row.tile - 1 : row.tile;
        const int in = (column + Tile::WORDS - is_left) % Tile::WORDS;
        const int64_t rim = int64_t(tile) * Tile::RIM_ROWS + Tile::rim_of_row(row.y, row.z);
        return tile << Tile::NODE_BITS | tiles.rim[(rim * Tile::WORDS + in) * SLOTS_PER_WORD + begin / 2];
    }
};

/// The word of a thread, of all words of all tiles; each tile has COUNT.  The first lanes of a warp have words side by side.
template <class Tile, int COUNT>
struct WarpItem {
    bool is_there;
    TilePlace place;
    int i;

    __device__ WarpItem(const Tiles &tiles, int64_t warp, int words_per_warp) {
        const int lane = threadIdx.x % WARP;
        const int64_t item = warp * words_per_warp + lane;
        is_there = lane < words_per_warp && item < int64_t(tiles.count()) * COUNT;
        place = place_of<Tile>(tiles, is_there ? static_cast<uint32_t>(item / COUNT) : 0);
        i = is_there ? static_cast<int>(item % COUNT) : 0;
    }
};

/// Warp: joins the runs of rim rows with those of their earlier rows, where these are in other rows or planes of tiles.
template <class Tile>
__device__ uint32_t join_rows(const Tiles &tiles, int64_t warp, int words_per_warp) {
    constexpr bool DIAGONALS = Tile::earlier_row(0).diagonals;
    const WarpItem<Tile, Tile::JOINING_RIM_ROWS * Tile::WORDS> own_item(tiles, warp, words_per_warp);
    const TilePlace &place = own_item.place;
    const int row = Tile::row_of_rim(own_item.i / Tile::WORDS), column = own_item.i % Tile::WORDS;
    const int y = row % Tile::ROWS, z = row / Tile::ROWS;
    const RimWord<Tile> own(tiles, {place.tile, y, z}, column, place.tx > 0);
    uint32_t joined = 0;
#pragma unroll
    for (int s = 0; s < Tile::EARLIER_ROWS; ++s) {
        const EarlierRow earlier = Tile::earlier_row(s);
        RimRow there = {place.tile, y, z};
        uint32_t rest = 0;
        if (own_item.is_there && find_row<Tile>(tiles, place, y + earlier.dy, z + earlier.dz, there) &&
            there.tile != place.tile) {
            const RimWord<Tile> other(tiles, there, column, place.tx > 0);
            const Meetings meetings =
                find_meetings(own.word, own.start(), own.left(), other.word, other.start(), other.left(), earlier.diagonals);
            rest = meetings.own | meetings.others;
            if (own.left() & other.left()) rest &= ~1u;  // these have met in the word to the left
            if (s == 0)
                rest &= ~(meetings.others &
                          joined_before(own.word, other.word, word_at<Tile>(tiles, place, y - 2, z, column), DIAGONALS));
            else
                rest &= ~joined_beside(
                    own.word & other.word, word_at<Tile>(tiles, place, y + (earlier.dy ? earlier.dy : -1), z, column),
                    word_at<Tile>(tiles, place, earlier.dy ? y : y - 1, z - 1, column), earlier.dy, DIAGONALS);
        }
        for_bits_of_warp(rest, [&](int lane, int x) {
            const RimRow from = {__shfl_sync(ALL_LANES, place.tile, lane), __shfl_sync(ALL_LANES, y, lane),
                                 __shfl_sync(ALL_LANES, z, lane)};
            const RimRow to = {__shfl_sync(ALL_LANES, there.tile, lane), __shfl_sync(ALL_LANES, there.y, lane),
                               __shfl_sync(ALL_LANES, there.z, lane)};
            const int at = __shfl_sync(ALL_LANES, column, lane);
            const bool goes_left = __shfl_sync(ALL_LANES, place.tx, lane) > 0;
            if (x < 0) return;
            joined += unite<Tile>(tiles, RimWord<Tile>(tiles, from, at, goes_left).node_at(tiles, x),
                                  RimWord<Tile>(tiles, to, at, goes_left).node_at(tiles, x));
        });
    }
    return joined;
}

/// The first column of a tile and the last of its left neighbour, 32 rows of a plane.
struct SideWords {
    uint32_t own, left;
};

/// Warp: joins the pixels of first columns with those of the last columns of tiles to the left.
template <class Tile>
__device__ uint32_t join_columns(const Tiles &tiles, int64_t warp, int words_per_warp) {
    constexpr int ROWS = Tile::ROWS * Tile::PLANES, COUNT = ROWS / 32, DOWN = Tile::ROWS / 32;
    const WarpItem<Tile, COUNT> own_item(tiles, warp, words_per_warp);
    const uint32_t tile = own_item.place.tile;
    const int i = own_item.i, y = i % DOWN, z = i / DOWN;
    const bool is_there = own_item.is_there && own_item.place.tx > 0;
    const auto words_at = [&](int dy, int dz) {
        if (!is_there || y + dy < 0 || z + dz < 0) return SideWords{0, 0};
        const uint32_t *const own = tiles.side_bits + int64_t(tile) * (2 * COUNT) + i + dz * DOWN + dy;
        return SideWords{*own, *(own - COUNT)};
    };
    uint32_t joined = 0;
    // Joins pixels of the first column, `own`, and pixels of the last column; both lie so many rows before the bits of `own`.
    const auto join_all = [&](uint32_t own, int own_back, int left_back) {
        for_bits_of_warp(own, [&](int lane, int bit) {
            const uint32_t of = __shfl_sync(ALL_LANES, tile, lane);
            const int at = __shfl_sync(ALL_LANES, i, lane) * 32 + bit;
            if (bit < 0) return;
            const uint16_t *const side = tiles.side + int64_t(of) * (2 * ROWS) + at;
            joined += unite<Tile>(tiles, of << Tile::NODE_BITS | side[-own_back],
                                  (of - 1) << Tile::NODE_BITS | side[-ROWS - left_back]);
        });
    };
    const SideWords here = words_at(0, 0), above = words_at(-1, 0), plane = words_at(0, -1);
    const auto shifted = [](uint32_t word, uint32_t before) { return word << 1 | before >> 31; };
    const uint32_t both = here.own & here.left;
    join_all(both & ~shifted(both, above.own & above.left) & ~(plane.own & plane.left), 0, 0);
    if (!Tile::earlier_row(0).diagonals) return joined;
    const SideWords up = {shifted(here.own, above.own), shifted(here.left, above.left)};
    const auto across = [](const SideWords &one, const SideWords &other) {
        return one.own & other.left & ~one.left & ~other.own;
    };
    join_all(across(here, up), 0, 1);
    join_all(across(up, here), 1, 0);
    if (Tile::PLANES == 1) return joined;
    join_all(across(here, plane), 0, Tile::ROWS);
    join_all(across(plane, here), Tile::ROWS, 0);
    if (Tile::EARLIER_ROWS < 4 || !Tile::earlier_row(Tile::EARLIER_ROWS - 1).diagonals) return joined;
    const SideWords up_plane = {plane.own << 1, plane.left << 1}, down_plane = {plane.own >> 1, plane.left >> 1};
    join_all(across(here, up_plane), 0, Tile::ROWS + 1);
    join_all(across(up_plane, here), Tile::ROWS + 1, 0);
    join_all(across(here, down_plane), 0, Tile::ROWS - 1);
    join_all(across(down_plane, here), Tile::ROWS - 1, 0);
    return joined;
}

/// How the words of rim rows and of sides are dealt out.  Joining waits for memory; so in a small image a warp has fewer words,
/// and there are more warps.
struct WorkSplit {
    int64_t row_blocks, side_blocks;
    int words_per_warp;

    WorkSplit(int64_t row_words, int64_t side_words) {
        constexpr int64_t MANY = 16384;  // warps, twice as many as the largest devices run at once
        words_per_warp = static_cast<int>(std::clamp<int64_t>((row_words + side_words) / MANY, 1, WARP));
        row_blocks = ceil_div(ceil_div(row_words, words_per_warp), WARPS);
        side_blocks = ceil_div(ceil_div(side_words, words_per_warp), WARPS);
    }
};

template <class Tile>
WorkSplit split_joins(int64_t tiles, bool has_sides) {
    return {tiles * (Tile::JOINING_RIM_ROWS * Tile::WORDS), has_sides ? tiles * (Tile::ROWS * Tile::PLANES / WARP) : 0};
}

/// Blocks that share a multiprocessor: as many as fit.  In volumes a thread needs more registers.
template <class Tile>
constexpr int JOIN_BLOCKS_PER_SM = Tile::PLANES > 1 ? 4 : 8;

/// Warp: the first blocks take the rim rows, the others the sides.
template <class Tile>
__device__ uint32_t join_rims(const Tiles &tiles, const WorkSplit &split) {
    const int64_t warp = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
    return blockIdx.x < split.row_blocks ? join_rows<Tile>(tiles, warp, split.words_per_warp)
                                         : join_columns<Tile>(tiles, warp - split.row_blocks * WARPS, split.words_per_warp);
}

template <class Tile>
__global__ void __launch_bounds__(BLOCK, JOIN_BLOCKS_PER_SM<Tile>) join_tiles(Tiles tiles, WorkSplit split) {
    wait_for_kernel_before();
    const uint32_t joined = join_rims<Tile>(tiles, split);
    if (!tiles.count_only) return;
    const uint32_t joined_by_warp = sum_of_warp(joined);
    if (joined_by_warp && threadIdx.x % WARP == 0) atomicSub(tiles.count_only, joined_by_warp);
}

/// Threads for the nodes of a tile: in planes these are few.
template <class Tile>
constexpr int FLATTEN_THREADS = Tile::PLANES > 1 ? BLOCK : WALKERS;

/// Drops the first pixels of nodes that are no roots.
template <class Tile>
__global__ void __launch_bounds__(FLATTEN_THREADS<Tile>) flatten_nodes(Tiles tiles) {
    wait_for_kernel_before();
    for_nodes<Tile>(tiles, blockIdx.x, [&](uint32_t node) {
        if (flatten_node(tiles, node) != node) drop_first<Tile>(tiles, first_of_node<Tile>(tiles, node));
    });
}

/// The same after randomized linking.  A node brings its first pixel to its root: the lower one stays, the other is dropped.
/// Most nodes of a warp have the same root; of these only the lowest updates it.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) find_lowest(Tiles tiles) {
    static_assert(1 << Tile::NODE_BITS <= BLOCK);
    wait_for_kernel_before();
    const bool is_there = threadIdx.x < tiles.nodes[blockIdx.x];
    const uint32_t node = blockIdx.x << Tile::NODE_BITS | threadIdx.x, root = is_there ? flatten_node(tiles, node) : node;
    const uint32_t own = is_there ? position_of<Tile>(tiles, first_of_node<Tile>(tiles, node)) : UINT32_MAX;
    const bool is_usual = root == __shfl_sync(ALL_LANES, root, 0);
    const uint32_t least = least_of_warp(is_usual && root != node ? own : UINT32_MAX);
    if (root == node) return;
    const uint32_t other = is_usual && own != least ? 0 : atomicMin(tiles.lowest + root, own);
    drop_first<Tile>(tiles, pixel_of_position<Tile>(tiles, max(own, other)));
}

/// Joins nodes of neighbouring tiles, and drops the first pixels of nodes that are no roots.
template <class Tile>
void join_nodes(const Plan &plan, const Tiles &tiles, cudaStream_t stream) {
    const int64_t count = tiles.count();
    const WorkSplit split = split_joins<Tile>(count, tiles.across > 1);
    launch("join_tiles", join_tiles<Tile>, split.row_blocks + split.side_blocks, BLOCK, early(stream), tiles, split);
    if (plan.counts_alone) return;
    if constexpr (Tile::RANDOM_LINKING_TILES > 0)
        if (tiles.lowest) return launch("find_lowest", find_lowest<Tile>, count, BLOCK, early(stream), tiles);
    launch("flatten_nodes", flatten_nodes<Tile>, count, FLATTEN_THREADS<Tile>, early(stream), tiles);
}

}  // namespace apsis::cuda::components
