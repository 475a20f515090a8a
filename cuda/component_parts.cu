// Finds the parts of a set's tiles: packs a tile into bits, labels it, and tells its nodes, the first pixels of its parts,
// and what is known of them.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/4 out.
#include "part_sums.cuh"

namespace apsis {

namespace {

/// A labelled tile of which the roots at the rim know their nodes: one more, above a run, which whoever reads it meanwhile
/// finds unchanged.  If it is measured, the other roots know which parts they are, the nodes being the first.
template <class Tile>
struct Parts {
    static constexpr int ABOVE = 16;
    static_assert(Labelled<Tile>::ENTRIES < 1 << ABOVE);

    Labelled<Tile> labelled;
    uint32_t nodes;

    __device__ uint32_t root_at(int at, int x) const {
        return labelled.up(labelled.run_at(at, x)) & ((1u << ABOVE) - 1);
    }
    /// Gives the root of a run a node.  Which one it gets does not matter.
    __device__ void mark(int at, int x) {
        const uint32_t root = root_at(at, x);
        if (labelled.load(root) != root || atomicCAS(&labelled.up(root), root, root | ~0u << ABOVE) != root) return;
        labelled.store(root, root | (atomicAdd(&nodes, 1u) + 1) << ABOVE);
    }
    __device__ uint16_t node_at(int at, int x) const { return static_cast<uint16_t>((labelled.up(root_at(at, x)) >> ABOVE) - 1); }
};

/// One bit a byte: whether it is not 0.
__device__ uint32_t pack_four(uint32_t bytes, uint32_t places, uint32_t others) {
    const uint32_t marks = (bytes | ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu)) >> 7 & 0x01010101u;
    return __dp4a(marks, places, others);
}

__device__ uint32_t pack_sixteen(uint4 bytes) {
    constexpr uint32_t LOW = 0x08040201u, HIGH = 0x80402010u;
    return pack_four(bytes.x, LOW, pack_four(bytes.y, HIGH, 0)) | pack_four(bytes.z, LOW, pack_four(bytes.w, HIGH, 0)) << 8;
}

/// Of a word at x, the bits that are pixels of the image.
__device__ uint32_t inside(int64_t x, int64_t width) {
    return x >= width ? 0 : width - x >= 32 ? ~0u : (1u << static_cast<int>(width - x)) - 1;
}

/// Packs a tile from bytes of which 16 are one load.  A thread's two are in rows half a tile apart.
template <class Tile>
__device__ void pack_aligned(const View &set, const Place &place, uint32_t *word) {
    constexpr int IN_ROW = 2 * Tile::WORDS, ROWS = Tile::THREADS / IN_ROW, DOWN = ROWS % (Tile::ROWS * Tile::PLANES);
    const int row = threadIdx.x / IN_ROW;
    const int64_t x = place.x + threadIdx.x % IN_ROW * 16, left = set.size[0] - x;
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    constexpr int DY = Tile::PLANES > 1 ? 0 : DOWN, DZ = Tile::PLANES > 1 ? DOWN / Tile::ROWS : 0;
    const uint8_t *from = set.row(y, z) + x;
    uint4 bytes[2] = {};
    uint32_t bits[2] = {};
#pragma unroll
    for (int k = 0; k < 2; ++k, from += DY * set.stride[1] + DZ * set.stride[2]) {
        if (y + k * DY >= set.size[1] || z + k * DZ >= set.size[2]) continue;
        if (left >= 16)
            bytes[k] = __ldcs(reinterpret_cast<const uint4 *>(from));
        else
            for (int i = 0; i < left; ++i) bits[k] |= (from[i] ? 1u : 0u) << i;
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
        reinterpret_cast<uint16_t *>(word)[k * Tile::THREADS + threadIdx.x] = static_cast<uint16_t>(pack_sixteen(bytes[k]) | bits[k]);
}

/// Packs a tile from bytes, a lane one of 32.
template <class Tile>
__device__ void pack_bytes(const View &set, const Place &place, uint32_t *word) {
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll 8
    for (int i = 0; i < WARP; ++i) {
        const int at = warp * WARP + i, row = at / Tile::WORDS;
        const int64_t x = place.x + at % Tile::WORDS * 32 + lane;
        const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
        const bool is_inside = x < set.size[0] && y < set.size[1] && z < set.size[2];
        const unsigned bits = __ballot_sync(ALL_LANES, is_inside && set.row(y, z)[x * set.stride[0]] != 0);
        if (lane == 0) word[at] = bits;
    }
}

/// The word of a thread, from bits.
template <class Tile>
__device__ uint32_t gather_bits(const View &set, const Place &place) {
    const int at = threadIdx.x, row = at / Tile::WORDS;
    const int64_t x = place.x + at % Tile::WORDS * 32, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (y >= set.size[1] || z >= set.size[2]) return 0;
    const uint8_t *const from = set.row(y, z);
    uint32_t bits = 0;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte)
        if (x + byte * 8 < set.size[0]) bits |= static_cast<uint32_t>(from[x / 8 + byte]) << 8 * byte;
    return bits;
}

/// The word of a thread, which others will see after a barrier.
template <class Tile>
__device__ void pack_tile(const View &set, bool aligned, bool complement, const Place &place, uint32_t *word) {
    const int at = threadIdx.x, row = at / Tile::WORDS;
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    uint32_t bits;
    if (set.type == APSIS_BIT) {
        bits = gather_bits<Tile>(set, place);
    } else {
        if (aligned)
            pack_aligned<Tile>(set, place, word);
        else
            pack_bytes<Tile>(set, place, word);
        __syncthreads();
        bits = word[at];
    }
    const bool is_inside = y < set.size[1] && z < set.size[2];
    word[at] = (complement ? ~bits : bits) & (is_inside ? inside(place.x + at % Tile::WORDS * 32, set.size[0]) : 0);
}

/// Calls body(at, x, i) for the runs of words in rim rows, of which i counts the words, each by its own thread: a warp a word, a lane a pixel.
template <class Tile, class Body>
__device__ void for_rim_runs(const Labelled<Tile> &labelled, Body body) {
    const int lane = threadIdx.x % WARP;
    for (int i = threadIdx.x / WARP; i < Tile::RIM_ROWS * Tile::WORDS; i += Tile::THREADS / WARP) {
        const int at = Tile::row_of_rim(i / Tile::WORDS) * Tile::WORDS + i % Tile::WORDS;
        const uint32_t word = labelled.word[at];
        if ((word & ~(word << 1)) >> lane & 1) body(at, lane, i);
    }
}

/// Calls body(at, x, i) for the pixels of the first column and the last: i counts rows, and of both columns.
template <class Tile, class Body>
__device__ void for_side_pixels(const Labelled<Tile> &labelled, Body body) {
    constexpr int ROWS = Tile::ROWS * Tile::PLANES;
    for (int i = threadIdx.x; i < 2 * ROWS; i += Tile::THREADS) {
        const int at = i % ROWS * Tile::WORDS + (i < ROWS ? 0 : Tile::WORDS - 1), x = i < ROWS ? 0 : 31;
        body(at, x, i, (labelled.word[at] >> x & 1) != 0);
    }
}

/// Gives nodes to the parts at the rim, and writes who is where.
template <class Tile>
__device__ void find_nodes(Parts<Tile> &parts, uint32_t tile, const Tiles &tiles) {
    const Labelled<Tile> &labelled = parts.labelled;
    for_rim_runs(labelled, [&](int at, int x, int) { parts.mark(at, x); });
    for_side_pixels(labelled, [&](int at, int x, int, bool is_set) {
        if (is_set) parts.mark(at, x);
    });
    __syncthreads();
    uint16_t *const rim = tiles.rim + int64_t(tile) * (Tile::RIM_ROWS * Tile::WORDS * SLOTS);
    for_rim_runs(labelled, [&](int at, int x, int i) { rim[i * SLOTS + x / 2] = parts.node_at(at, x); });
    uint16_t *const side = tiles.side + int64_t(tile) * (2 * Tile::ROWS * Tile::PLANES);
    uint32_t *const side_bits = tiles.side_bits + int64_t(tile) * (2 * Tile::ROWS * Tile::PLANES / WARP);
    for_side_pixels(labelled, [&](int at, int x, int i, bool is_set) {
        const uint32_t bits = __ballot_sync(ALL_LANES, is_set);
        if (i % WARP == 0) side_bits[i / WARP] = bits;
        if (is_set) side[i] = parts.node_at(at, x);
    });
    if (threadIdx.x == 0) tiles.nodes[tile] = parts.nodes;
}

/// The first pixels in a thread's word, and of nodes where they are.
template <class Tile>
__device__ uint32_t find_firsts(const Parts<Tile> &parts, uint32_t tile, const Tiles &tiles) {
    const Labelled<Tile> &labelled = parts.labelled;
    const int at = threadIdx.x;
    uint32_t firsts = 0, number = labelled.before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++number) {
        const uint32_t run = labelled.entry(number), root = labelled.up(run), above = root >> Parts<Tile>::ABOVE;
        if (root != run && above == 0) continue;
        const int x = __ffs(rest) - 1;
        firsts |= 1u << x;
        if (above == 0) continue;
        const uint32_t node = tile << Tile::NODE_BITS | (above - 1);
        tiles.parent[node] = node;
        tiles.first[node] = static_cast<uint16_t>(at * 32 + x);
    }
    return firsts;
}

template <class Tile>
struct MeasuredParts : Parts<Tile> {
    PartSums<Tile, Tile::KEPT_PARTS> sums;
};

/// Numbers the parts of a tile that are no nodes after those, and keeps what is known of each, if there are not too many.
template <class Tile>
__device__ void measure_parts(MeasuredParts<Tile> &parts, uint32_t firsts, uint32_t tile, const Tiles &tiles) {
    constexpr int ABOVE = Parts<Tile>::ABOVE;
    Labelled<Tile> &labelled = parts.labelled;
    const int at = threadIdx.x;
    const auto for_roots = [&](auto body) {  // of which a thread has those where parts begin
        for (uint32_t rest = firsts; rest; rest &= rest - 1) {
            const int x = __ffs(rest) - 1;
            body(labelled.up(labelled.run_at(at, x)), at * 32 + x);
        }
    };
    uint32_t count = 0, place, total;
    for_roots([&](uint32_t root, int) { count += root >> ABOVE == 0; });
    typename Labelled<Tile>::Scan(labelled.scan).ExclusiveSum(count, place, total);
    place += parts.nodes;
    total += parts.nodes;
    if (at == 0) tiles.parts[tile] = total <= tiles.most_parts ? total : NOT_KEPT;
    if (total > tiles.most_parts) return;
    for_roots([&](uint32_t &root, int first) {
        if (root >> ABOVE == 0) root |= ++place << ABOVE;
        parts.sums.first[(root >> ABOVE) - 1] = first;
    });
    parts.sums.clear(total);
    __syncthreads();
    parts.sums.add_words(labelled, [&](uint32_t run) {
        const uint32_t up = labelled.up(run);
        return ((up >> ABOVE ? up : labelled.up(up)) >> ABOVE) - 1;
    });
    __syncthreads();
    KeptSums *const kept = tiles.sums + int64_t(tile) * tiles.most_parts;
    for (uint32_t i = at; i < total; i += Tile::THREADS) kept[i] = keep_sums(parts.sums, i);
}

template <class Tile, bool MEASURES>
__global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS) find_tile(View set, bool aligned, bool complement, Tiles tiles) {
    extern __shared__ __align__(16) uint8_t memory[];
    auto &parts = *reinterpret_cast<std::conditional_t<MEASURES, MeasuredParts<Tile>, Parts<Tile>> *>(memory);
    Labelled<Tile> &labelled = parts.labelled;
    const uint32_t tile = blockIdx.x, at = threadIdx.x;
    const Place place = place_of<Tile>(tiles, tile);
    if (at == 0) parts.nodes = 0;
    pack_tile<Tile>(set, aligned, complement, place, labelled.word);
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    labelled.label(runs);
    if (is_stored<Tile>(tiles, place))
        for_stored_roots<Tile>(tiles, place, runs, [&](uint32_t run, uint16_t &root) {
            root = static_cast<uint16_t>(labelled.up(labelled.entry(run)));
        });
    if (tiles.joined) find_nodes<Tile>(parts, tile, tiles);
    const uint32_t firsts = runs ? find_firsts<Tile>(parts, tile, tiles) : 0;
    count_firsts<Tile>(firsts, place, tiles);
    if (at < tiles.kept) {
        tiles.bits[int64_t(tile) * tiles.kept + at] = labelled.word[at];
        tiles.firsts[int64_t(tile) * tiles.kept + at] = firsts;
    }
    if (tile == 0 && at == 0) tiles.before[tiles.ranks()] = 0;
    if constexpr (MEASURES) measure_parts(parts, firsts, tile, tiles);
}

bool is_aligned(const View &set) {
    return set.type == APSIS_U8 && set.stride[0] == 1 && rows_begin_at(set, sizeof(uint4));
}

}  // namespace

template <class Tile>
void find_parts(const ComponentsJob &job, const Tiles &tiles, cudaStream_t stream) {
    const auto launch_tiles = [&](auto *kernel, size_t shared_bytes) {
        launch_large("find_tile", kernel, tiles.count(), Tile::THREADS, shared_bytes, stream, job.set, is_aligned(job.set),
                     job.complement, tiles);
    };
    if (job.components)
        launch_tiles(find_tile<Tile, true>, sizeof(MeasuredParts<Tile>));
    else
        launch_tiles(find_tile<Tile, false>, sizeof(Parts<Tile>));
}

template void find_parts<PlaneTile<1>>(const ComponentsJob &, const Tiles &, cudaStream_t);
template void find_parts<PlaneTile<2>>(const ComponentsJob &, const Tiles &, cudaStream_t);
template void find_parts<VolumeTile<1>>(const ComponentsJob &, const Tiles &, cudaStream_t);
template void find_parts<VolumeTile<2>>(const ComponentsJob &, const Tiles &, cudaStream_t);
template void find_parts<VolumeTile<3>>(const ComponentsJob &, const Tiles &, cudaStream_t);

}  // namespace apsis
