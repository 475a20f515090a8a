// Selects components: by area, by whether they touch the border of the image, and the largest ones.  Chosen where the job
// selects().
//
// Tiles are labelled again.  Areas of parts are added up in shared memory, those of nodes at their roots.  To find the largest,
// each component has a rank of its own: the area in the high bits and the first pixel in the low ones, earlier pixels ranking
// higher.  A radix selection finds the rank of the last component to be kept, digit by digit from the highest.  A pass over the
// tiles counts, for each value of the next digit, the components with the digits found so far.
//
// Cost: 1/4 byte a pixel a pass: one pass, and some seven more if the largest are asked for.
#pragma once

#include "core/keys.h"
#include "cuda/components/label.cuh"

namespace apsis::cuda::components {

using Rank = unsigned __int128;

constexpr int DIGIT_BITS = 11;  // bits of a rank that a pass settles: shared memory has room for this many counters
constexpr int BINS = 1 << DIGIT_BITS;
constexpr int CHOOSE_THREADS = 1024;

/// Which components are to be kept.
struct Criteria {
    int64_t min_area, max_area;
    bool no_border, no_inner;
    bool is_volume;
    Periodic periodic;  // of label images; along such an axis there is no border
    int key_bits;

    explicit Criteria(const ComponentsJob &job)
        : min_area(job.min_area),
          max_area(job.max_area),
          no_border(job.no_border),
          no_inner(job.no_inner),
          is_volume(job.axes == 3),
          periodic(job.periodic),
          key_bits(bits_below(job.set.pixels())) {}

    __device__ bool accepts(unsigned long long area) const {
        const int64_t pixels = static_cast<int64_t>(area & ~TOUCHES_BORDER);
        return pixels >= min_area && pixels <= max_area && !(area & TOUCHES_BORDER ? no_border : no_inner);
    }
    /// Larger components rank higher; of equal ones, earlier ones do.
    __device__ Rank rank_of(unsigned long long area, int64_t first) const {
        return Rank(area & ~TOUCHES_BORDER) << key_bits | static_cast<uint64_t>((int64_t(1) << key_bits) - 1 - first);
    }
};

/// The state of the search for the rank of the last component to be kept.
struct RankSearch {
    Rank least_rank;
    unsigned long long kept;  // components that rank higher than those with the digits found so far
    uint32_t found;
    uint32_t bins[BINS];
};

/// A labelled tile whose roots hold NO_AREA plus the area of their part, with TOUCH_BIT, or NODE_BIT with the node.
template <class Tile>
struct TileAreas {
    static constexpr uint32_t TOUCH_BIT = 1u << 31, NODE_BIT = 1u << 30, NO_AREA = LabelledTile<Tile>::ENTRIES;

    LabelledTile<Tile> labelled;
    uint32_t bins[BINS];

    /// Warp: adds the lengths of the lanes' runs to the areas of their roots, at once if they have the same root.
    __device__ void add(bool has, uint32_t root, uint32_t length, bool touches) {
        const uint32_t all = __ballot_sync(ALL_LANES, has);
        if (!all) return;
        const int leader = __ffs(all) - 1;
        const uint32_t led = __shfl_sync(ALL_LANES, root, leader);
        const bool is_one = __all_sync(ALL_LANES, !has || root == led);
        const uint32_t total = is_one ? sum_of_warp(has ? length : 0) : length;
        if (has && (!is_one || threadIdx.x % WARP == leader)) atomicAdd(&labelled.parents[root], total);
        if (has && touches) atomicOr(&labelled.parents[root], TOUCH_BIT);
    }
    /// The area of a root that is no node.
    __device__ unsigned long long area_of(uint32_t root) const {
        const uint32_t area = labelled.parents[root];
        return (area & TOUCH_BIT ? TOUCHES_BORDER : 0) | ((area & ~TOUCH_BIT) - NO_AREA);
    }
    __device__ bool is_node(uint32_t root) const { return labelled.parents[root] & NODE_BIT; }
    __device__ uint32_t node_of(uint32_t root) const { return labelled.parents[root] & ~NODE_BIT; }
};

/// Block: labels a tile and adds up the areas of its parts; all threads see them.  Calls on_node(node, area) for its nodes,
/// each by one thread; afterwards their roots hold their node.
template <class Tile, class OnNode>
__device__ void sum_areas(TileAreas<Tile> &areas, const Criteria &criteria, const TilePlace &place, const Tiles &tiles,
                          OnNode on_node) {
    LabelledTile<Tile> &labelled = areas.labelled;
    const uint32_t runs = recall_tile(labelled, place, tiles), at = threadIdx.x, row = at / Tile::WORDS;
    labelled.for_runs(runs, [&](uint32_t run) {
        if (labelled.parents[run] == run) labelled.parents[run] = areas.NO_AREA;
    });
    __syncthreads();
    const int64_t x0 = place.x + at % Tile::WORDS * 32, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    const bool at_edge = y == 0 || y == tiles.height - 1 || (criteria.is_volume && (z == 0 || z == tiles.depth - 1));
    const uint32_t word = labelled.word[at];
    // A root grows while other threads read it.  They only check whether it is at least NO_AREA, which does not change.
    for (uint32_t rest = word & ~(word << 1); __any_sync(ALL_LANES, rest != 0); rest &= rest - 1) {
        const auto [x, length] = next_segment(word, rest);
        const uint32_t run = rest ? labelled.run_at(at, x) : 0, up = labelled.parents.load(run);
        areas.add(rest, up < areas.NO_AREA ? up : run, length, at_edge || x0 + x == 0 || x0 + x + length == tiles.width);
    }
    __syncthreads();
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
        const uint32_t root = labelled.root_of_node(tiles, node);
        on_node(node, areas.area_of(root));
        labelled.parents[root] = areas.NODE_BIT | (node & ((1u << Tile::NODE_BITS) - 1));
    });
    __syncthreads();
}

/// Block: keeps the first pixels for which keep(root, x) is true, and counts them again.
template <class Tile, class Keep>
__device__ void filter_firsts(const LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles, Keep keep) {
    const int at = threadIdx.x;
    uint32_t firsts = firsts_of<Tile>(place, tiles);
    for (uint32_t rest = firsts; rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        if (!keep(labelled.run_at(at, x), x)) firsts &= ~(1u << x);
    }
    count_firsts<Tile>(firsts, at, place, tiles);
    if (at < tiles.kept_words) tiles.firsts[int64_t(place.tile) * tiles.kept_words + at] = firsts;
}

template <class Tile>
__device__ TileAreas<Tile> &shared_areas() {
    extern __shared__ __align__(16) uint8_t memory[];
    return *reinterpret_cast<TileAreas<Tile> *>(memory);
}

/// Drops parts that are whole components and not selected.  Areas of nodes are added at their roots.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) sum_tile_areas(Tiles tiles, Criteria criteria) {
    TileAreas<Tile> &areas = shared_areas<Tile>();
    const TilePlace place = place_of<Tile>(tiles, blockIdx.x);
    sum_areas(areas, criteria, place, tiles, [&](uint32_t node, unsigned long long area) {
        atomicAdd(tiles.area + tiles.parent[node], area & ~TOUCHES_BORDER);
        if (area & TOUCHES_BORDER) atomicOr(tiles.area + tiles.parent[node], TOUCHES_BORDER);
    });
    filter_firsts(areas.labelled, place, tiles,
                  [&](uint32_t root, int) { return areas.is_node(root) || criteria.accepts(areas.area_of(root)); });
}

/// Drops components of several parts that are not selected.
template <class Tile>
__global__ void __launch_bounds__(BLOCK) drop_unwanted_nodes(Tiles tiles, Criteria criteria) {
    for_nodes<Tile>(tiles, blockIdx.x, [&](uint32_t node) {
        if (tiles.parent[node] == node && !criteria.accepts(tiles.area[node]))
            drop_first<Tile>(tiles, first_of_node<Tile>(tiles, node));
    });
}

/// The rank of the component whose first pixel is at x of this thread's word.
template <class Tile>
__device__ Rank rank_of_part(const TileAreas<Tile> &areas, const Criteria &criteria, const TilePlace &place, const Tiles &tiles,
                             uint32_t root, int x) {
    const unsigned long long area =
        areas.is_node(root) ? tiles.area[place.tile << Tile::NODE_BITS | areas.node_of(root)] : areas.area_of(root);
    return criteria.rank_of(area, index_at<Tile>(tiles, place, static_cast<int>(threadIdx.x) * 32 + x));
}

/// Counts the components that have the digits found so far, by their digit at `shift`, in tiles from `from` on.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS)
    count_digits(Tiles tiles, Criteria criteria, uint32_t from, int shift, RankSearch *search) {
    if (search->found) return;
    TileAreas<Tile> &areas = shared_areas<Tile>();
    const TilePlace place = place_of<Tile>(tiles, from + blockIdx.x);
    for (int i = threadIdx.x; i < BINS; i += Tile::THREADS) areas.bins[i] = 0;
    sum_areas(areas, criteria, place, tiles, [](uint32_t, unsigned long long) {});
    const Rank least_rank = search->least_rank;
    for (uint32_t rest = firsts_of<Tile>(place, tiles); rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        const Rank rank = rank_of_part(areas, criteria, place, tiles, areas.labelled.run_at(threadIdx.x, x), x);
        if (rank >> shift >> DIGIT_BITS == least_rank >> shift >> DIGIT_BITS)
            atomicAdd(&areas.bins[static_cast<uint32_t>(rank >> shift) % BINS], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += Tile::THREADS)
        if (areas.bins[i]) atomicAdd(&search->bins[i], areas.bins[i]);
}

/// Finds the lowest value of the digit that is kept, from the highest down.  One block.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) choose_digit(int shift, unsigned long long largest, RankSearch *search) {
    using Scan = cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage memory;
    constexpr int EACH = BINS / THREADS;
    if (search->found) return;
    uint32_t counts[EACH], above[EACH];
    for (int i = 0; i < EACH; ++i) {
        uint32_t &bin = search->bins[BINS - 1 - (static_cast<int>(threadIdx.x) * EACH + i)];
        counts[i] = bin;
        bin = 0;
    }
    uint32_t total;
    Scan(memory).ExclusiveSum(counts, above, total);
    const unsigned long long remaining = largest - search->kept;
    __syncthreads();
    if (total <= remaining && threadIdx.x == 0) search->found = 1;  // all remaining components are kept
    for (int i = 0; i < EACH; ++i) {
        if (total <= remaining || above[i] >= remaining || above[i] + counts[i] < remaining) continue;
        search->least_rank |= Rank(BINS - 1 - (threadIdx.x * EACH + i)) << shift;
        search->kept += above[i];
        search->found = above[i] + counts[i] == remaining;
    }
}

/// Drops components of a lower rank than the last one to be kept.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS)
    drop_lower_ranks(Tiles tiles, Criteria criteria, uint32_t from, const RankSearch *search) {
    if (search->least_rank == 0) return;
    TileAreas<Tile> &areas = shared_areas<Tile>();
    const TilePlace place = place_of<Tile>(tiles, from + blockIdx.x);
    sum_areas(areas, criteria, place, tiles, [](uint32_t, unsigned long long) {});
    filter_firsts(areas.labelled, place, tiles, [&](uint32_t root, int x) {
        return rank_of_part(areas, criteria, place, tiles, root, x) >= search->least_rank;
    });
}

/// Keeps the largest components of `count` tiles.
template <class Tile>
void keep_largest(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, uint32_t from, uint32_t count,
                  RankSearch *search, cudaStream_t stream) {
    const Criteria criteria(job);
    Launch pass = plan.areas;
    check(cudaMemsetAsync(search, 0, sizeof *search, stream), "beginning a search");
    for (int shift = (criteria.key_bits + bits_below(job.set.pixels() + 1)) / DIGIT_BITS * DIGIT_BITS; shift >= 0;
         shift -= DIGIT_BITS) {
        pass.kernel = "count_digits", pass.blocks = count;
        launch(pass, count_digits<Tile>, stream, tiles, criteria, from, shift, search);
        launch("choose_digit", choose_digit<CHOOSE_THREADS>, 1, CHOOSE_THREADS, stream, shift, job.largest, search);
    }
    pass.kernel = "drop_lower_ranks";
    launch(pass, drop_lower_ranks<Tile>, stream, tiles, criteria, from, search);
}

/// Drops the first pixels of components that are not selected, before the scan.
template <class Tile>
void select_components(const ComponentsJob &job, const Plan &plan, const Tiles &tiles, RankSearch *search,
                       cudaStream_t stream) {
    const Criteria criteria(job);
    launch(plan.areas, sum_tile_areas<Tile>, stream, tiles, criteria);
    if (tiles.has_nodes)
        launch("drop_unwanted_nodes", drop_unwanted_nodes<Tile>, tiles.count(), BLOCK, stream, tiles, criteria);
    if (job.largest == INT64_MAX) return;
    const uint32_t images = plan.is_volume ? 1 : tiles.deep, count = tiles.count() / images;
    for (uint32_t image = 0; image < images; ++image)
        keep_largest<Tile>(job, plan, tiles, image * count, count, search, stream);
}

}  // namespace apsis::cuda::components
