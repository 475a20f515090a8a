// Joins the parts of tiles into components: a union-find without locks over nodes, whose roots have the lowest pixels.
//
// Cost: what the nodes take, less than 1/4 byte a pixel in 2-D.
#include "tiles.h"

namespace apsis {

namespace {

__device__ uint32_t root_of(const Tiles &tiles, uint32_t node) {
    for (;;) {
        const uint32_t parent = __ldcg(tiles.parent + node);
        if (parent == node) return node;
        const uint32_t next = __ldcg(tiles.parent + parent);
        if (next != parent) __stcg(tiles.parent + node, next);
        node = next;
    }
}

/// The index of a node's first pixel in the image.
template <class Tile>
__device__ int64_t first_of(const Tiles &tiles, uint32_t node) {
    const Place place = place_of<Tile>(tiles, node >> Tile::NODE_BITS);
    const int first = tiles.first[node], at = first / 32, row = at / Tile::WORDS;
    const int64_t x = place.x + at % Tile::WORDS * 32 + first % 32;
    return ((place.z + row / Tile::ROWS) * tiles.height + place.y + row % Tile::ROWS) * tiles.width + x;
}

template <class Tile>
__device__ void join(const Tiles &tiles, uint32_t one, uint32_t other) {
    for (;;) {
        one = root_of(tiles, one);
        other = root_of(tiles, other);
        if (one == other) return;
        if (first_of<Tile>(tiles, one) < first_of<Tile>(tiles, other)) {
            const uint32_t lower = one;
            one = other;
            other = lower;
        }
        if (atomicCAS(tiles.parent + one, one, other) == one) return;
    }
}

/// A word of a rim row: its tile, and its row there.
struct RimPlace {
    uint32_t tile;
    int y, z;
};

/// The row some rows and planes from another one, in its tile or the next.  Returns false outside the image.
template <class Tile>
__device__ bool find_row(const Tiles &tiles, const Place &place, int y, int z, RimPlace &found) {
    const int to_y = y < 0 ? -1 : y >= Tile::ROWS, to_z = z < 0 ? -1 : 0;
    if ((to_y < 0 && place.ty == 0) || (to_y > 0 && place.ty + 1 == tiles.down) || (to_z < 0 && place.tz == 0)) return false;
    found.tile = place.tile + to_y * static_cast<int>(tiles.across) + to_z * static_cast<int>(tiles.across * tiles.down);
    found.y = y - to_y * Tile::ROWS;
    found.z = z - to_z * Tile::PLANES;
    return true;
}

template <class Tile>
__device__ uint32_t word_in(const Tiles &tiles, const RimPlace &row, int column) {
    const uint32_t at = (row.z * Tile::ROWS + row.y) * Tile::WORDS + column;
    return at < tiles.kept ? tiles.bits[int64_t(row.tile) * tiles.kept + at] : 0;
}

template <class Tile>
__device__ uint32_t word_at(const Tiles &tiles, const Place &place, int y, int z, int column) {
    RimPlace row;
    return find_row<Tile>(tiles, place, y, z, row) ? word_in<Tile>(tiles, row, column) : 0;
}

/// A word of a rim row and the one to its left, and their nodes.
template <class Tile>
struct RimWord {
    RimPlace row;
    int column;
    uint32_t word, left_word;

    __device__ RimWord(const Tiles &tiles, const RimPlace &row, int column, bool goes_left)
        : row(row), column(column), word(word_in<Tile>(tiles, row, column)), left_word(0) {
        if (column > 0)
            left_word = word_in<Tile>(tiles, row, column - 1);
        else if (goes_left)
            left_word = word_in<Tile>(tiles, {row.tile - 1, row.y, row.z}, Tile::WORDS - 1);
    }
    __device__ uint32_t start() const { return word & ~(word << 1); }
    __device__ uint32_t left() const { return left_word >> 31; }

    /// The node of the run at pixel x, or beside it of the one before.
    __device__ uint32_t node_at(const Tiles &tiles, int x) const {
        const bool is_here = word >> x & 1, is_left = !is_here && x == 0;
        const uint32_t run_word = is_left ? left_word : word;
        const int last = is_here ? x : (x + 31) % 32;
        const int begin = 31 - __clz(static_cast<int>(run_word & ~(run_word << 1) & up_to(last)));
        const uint32_t tile = is_left && column == 0 ? row.tile - 1 : row.tile;
        const int in = (column + Tile::WORDS - is_left) % Tile::WORDS;
        const int64_t rim = int64_t(tile) * Tile::RIM_ROWS + Tile::rim_of_row(row.y, row.z);
        return tile << Tile::NODE_BITS | tiles.rim[(rim * Tile::WORDS + in) * SLOTS + begin / 2];
    }
};

/// Joins what meets between a word of a rim row and a row a step before, in another row or plane of tiles.  A lane a pixel.
template <class Tile>
__device__ void join_rows(const Tiles &tiles, const Place &place, int rim, int column) {
    constexpr bool REACH = Tile::step(0).reach;
    const int row = Tile::row_of_rim(rim), y = row % Tile::ROWS, z = row / Tile::ROWS, lane = threadIdx.x % WARP;
    const RimWord<Tile> own(tiles, {place.tile, y, z}, column, place.tx > 0);
    if (!(own.word | own.left())) return;
#pragma unroll
    for (int s = 0; s < Tile::STEPS; ++s) {
        const Step step = Tile::step(s);
        const int to_y = y + step.dy, to_z = z + step.dz;
        RimPlace there;
        if (!find_row<Tile>(tiles, place, to_y, to_z, there) || there.tile == place.tile) continue;
        const RimWord<Tile> other(tiles, there, column, place.tx > 0);
        const Meetings meetings = meet(own.word, own.start(), own.left(), other.word, other.start(), other.left(), step.reach);
        uint32_t rest = meetings.own | meetings.others;
        if (own.left() & other.left()) rest &= ~1u;  // these meet there already
        if (rest && s == 0)
            rest &= ~(meetings.others & joined_before(own.word, other.word, word_at<Tile>(tiles, place, y - 2, z, column), REACH));
        if (rest && s > 0)
            rest &= ~joined_beside(word_at<Tile>(tiles, place, y + (step.dy ? step.dy : -1), z, column),
                                   word_at<Tile>(tiles, place, step.dy ? y : y - 1, z - 1, column), step.dy, REACH);
        if (rest >> lane & 1) join<Tile>(tiles, own.node_at(tiles, lane), other.node_at(tiles, lane));
    }
}

/// Joins what meets between a row of a tile and its left neighbour's, and across their diagonals.
template <class Tile>
__device__ void join_columns(const Tiles &tiles, const Place &place, int row) {
    constexpr int ROWS = Tile::ROWS * Tile::PLANES;
    const uint16_t *const own = tiles.side + int64_t(place.tile) * (2 * ROWS), *const left = own - ROWS;  // its last column
    const int y = row % Tile::ROWS, z = row / Tile::ROWS;
    const uint32_t base = place.tile << Tile::NODE_BITS, left_base = (place.tile - 1) << Tile::NODE_BITS;
    const uint16_t here = own[row], beside = left[row];
    bool is_new = here != NO_NODE && beside != NO_NODE;
    if (here == NO_NODE && beside == NO_NODE) return;
#pragma unroll
    for (int s = 0; s < Tile::STEPS; ++s) {
        const Step step = Tile::step(s);
        if (y + step.dy < 0 || y + step.dy >= Tile::ROWS || z + step.dz < 0) continue;
        const int other = row + step.dy + step.dz * Tile::ROWS;
        const uint16_t above = own[other], above_left = left[other];
        if (above != NO_NODE && above_left != NO_NODE) is_new = false;  // joined there, and both with this row
        if (!step.reach) continue;
        if (here != NO_NODE && above_left != NO_NODE && beside == NO_NODE && above == NO_NODE)
            join<Tile>(tiles, base | here, left_base | above_left);
        if (beside != NO_NODE && above != NO_NODE && here == NO_NODE && above_left == NO_NODE)
            join<Tile>(tiles, base | above, left_base | beside);
    }
    if (is_new) join<Tile>(tiles, base | here, left_base | beside);
}

/// A block takes a tile: first its rim rows, a warp a word, then its left side, a thread a row.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) join_tiles(Tiles tiles) {
    const Place place = place_of<Tile>(tiles, blockIdx.x);
    for (int i = threadIdx.x / WARP; i < Tile::BACK_ROWS * Tile::WORDS; i += WARPS)
        join_rows<Tile>(tiles, place, i / Tile::WORDS, i % Tile::WORDS);
    if (place.tx > 0)
        for (int row = threadIdx.x; row < Tile::ROWS * Tile::PLANES; row += BLOCK) join_columns<Tile>(tiles, place, row);
}

/// Calls body(node) for the nodes of a block's tile.
template <class Tile, class Body>
__device__ void for_nodes(const Tiles &tiles, Body body) {
    const uint32_t tile = blockIdx.x, count = tiles.nodes[tile];
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) body(tile << Tile::NODE_BITS | i);
}

/// Points a node at its root and returns that.  Nobody joins any, and each thread writes only its own node: another's would
/// be led back to where it has been.
__device__ uint32_t flatten(const Tiles &tiles, uint32_t node) {
    uint32_t parent = __ldcg(tiles.parent + node);
    for (uint32_t next; (next = __ldcg(tiles.parent + parent)) != parent; parent = next) __stcg(tiles.parent + node, next);
    return parent;
}

/// The first pixels of nodes that are no roots count no more.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) flatten_nodes(Tiles tiles) {
    for_nodes<Tile>(tiles, [&](uint32_t node) {
        if (flatten(tiles, node) == node) return;
        const Place place = place_of<Tile>(tiles, node >> Tile::NODE_BITS);
        const int first = tiles.first[node], at = first / 32, row = at / Tile::WORDS;
        atomicAnd(tiles.firsts + int64_t(place.tile) * tiles.kept + at, ~(1u << first % 32));
        atomicSub(tiles.before + tiles.rank_at(place.y + row % Tile::ROWS, place.z + row / Tile::ROWS, place.tx), 1u);
    });
}

/// The number of the component whose first pixel is that of a root, or 0 if it is left out.
template <class Tile>
__device__ uint32_t number_of(const Tiles &tiles, uint32_t root) {
    const Place place = place_of<Tile>(tiles, root >> Tile::NODE_BITS);
    const int first = tiles.first[root], at = first / 32, row = at / Tile::WORDS;
    const uint32_t *const firsts = tiles.firsts + int64_t(place.tile) * tiles.kept + row * Tile::WORDS;
    const uint32_t own = firsts[at % Tile::WORDS];
    if (!(own >> first % 32 & 1)) return 0;
    uint32_t number = tiles.before[tiles.rank_at(place.y + row % Tile::ROWS, place.z + row / Tile::ROWS, place.tx)];
    for (int i = 0; i < at % Tile::WORDS; ++i) number += __popc(firsts[i]);
    return number + __popc(own & up_to(first % 32));
}

template <class Tile>
__global__ void __launch_bounds__(BLOCK) number_tile(Tiles tiles) {
    for_nodes<Tile>(tiles, [&](uint32_t node) { tiles.parent[node] = number_of<Tile>(tiles, tiles.parent[node]); });
}

}  // namespace

template <class Tile>
void join_nodes(const Tiles &tiles, cudaStream_t stream) {
    launch("join_tiles", join_tiles<Tile>, tiles.count(), BLOCK, stream, tiles);
    launch("flatten_nodes", flatten_nodes<Tile>, tiles.count(), BLOCK, stream, tiles);
}

template <class Tile>
void number_nodes(const Tiles &tiles, cudaStream_t stream) {
    launch("number_tile", number_tile<Tile>, tiles.count(), BLOCK, stream, tiles);
}

template void join_nodes<PlaneTile<1>>(const Tiles &, cudaStream_t);
template void join_nodes<PlaneTile<2>>(const Tiles &, cudaStream_t);
template void join_nodes<VolumeTile<1>>(const Tiles &, cudaStream_t);
template void join_nodes<VolumeTile<2>>(const Tiles &, cudaStream_t);
template void join_nodes<VolumeTile<3>>(const Tiles &, cudaStream_t);
template void number_nodes<PlaneTile<1>>(const Tiles &, cudaStream_t);
template void number_nodes<PlaneTile<2>>(const Tiles &, cudaStream_t);
template void number_nodes<VolumeTile<1>>(const Tiles &, cudaStream_t);
template void number_nodes<VolumeTile<2>>(const Tiles &, cudaStream_t);
template void number_nodes<VolumeTile<3>>(const Tiles &, cudaStream_t);

}  // namespace apsis
