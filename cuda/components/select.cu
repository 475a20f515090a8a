// Which components are kept: by area, by whether they touch the border of the image, and the largest of them.
//
// A tile is labelled again and its parts are weighed in shared memory; nodes add up their areas at their roots.  The rank of
// a component, its area above and its first pixel below, later ones ranking lower, is its own; that of the last one to be
// kept is found digit by digit from the highest: a pass over the tiles counts the components that have the digits found so
// far, by the next one (a radix selection).
//
// Cost: 1/4 byte a pixel a pass; one without a number of largest ones, and some seven more with it.
#include "core/keys.h"
#include "cuda/components/label.cuh"

namespace apsis::cuda::components {

namespace {

using Wide = unsigned __int128;

constexpr int DIGIT = 11;  // bits of a rank that a pass settles: as many counters as shared memory has room for
constexpr int BINS = 1 << DIGIT;
constexpr int CHOOSERS = 1024;

/// What is asked for.
struct Wanted {
    int64_t min_area, max_area;
    bool no_border, no_inner;
    bool volume;
    int key_bits;

    explicit Wanted(const ComponentsJob &job)
        : min_area(job.min_area), max_area(job.max_area), no_border(job.no_border), no_inner(job.no_inner),
          volume(job.axes == 3), key_bits(bits_below(job.set.pixels())) {}

    __device__ bool takes(unsigned long long area) const {
        const int64_t pixels = static_cast<int64_t>(area & ~TOUCHES);
        return pixels >= min_area && pixels <= max_area && !(area & TOUCHES ? no_border : no_inner);
    }
    /// Larger components rank higher, and of equal ones those that come first.
    __device__ Wide rank_of(unsigned long long area, int64_t first) const {
        return Wide(area & ~TOUCHES) << key_bits | static_cast<uint64_t>((int64_t(1) << key_bits) - 1 - first);
    }
};

/// How far the search for the rank of the last component to be kept has come.
struct Search {
    Wide least;
    unsigned long long left;  // to be kept, of those with the digits found so far
    uint32_t found;
    uint32_t bins[BINS];
};

/// A labelled tile of which the roots have the areas of their parts instead of themselves, with TOUCH, or are known as nodes.
template <class Tile>
struct Weighed {
    static constexpr uint32_t TOUCH = 1u << 31, NODE = 1u << 30, NOTHING = Labelled<Tile>::ENTRIES;

    Labelled<Tile> labelled;
    uint32_t bins[BINS];

    __device__ void add(bool has, uint32_t root, uint32_t length, bool touches) {
        const uint32_t all = __ballot_sync(ALL_LANES, has);
        if (!all) return;
        const int leader = __ffs(all) - 1;
        const uint32_t led = __shfl_sync(ALL_LANES, root, leader);
        const bool is_one = __all_sync(ALL_LANES, !has || root == led);
        const uint32_t total = is_one ? sum_of_warp(has ? length : 0) : length;
        if (has && (!is_one || threadIdx.x % WARP == leader)) atomicAdd(&labelled.up(root), total);
        if (has && touches) atomicOr(&labelled.up(root), TOUCH);
    }
    /// The area of a root that is no node.
    __device__ unsigned long long area_of(uint32_t root) const {
        const uint32_t area = labelled.up(root);
        return (area & TOUCH ? TOUCHES : 0) | ((area & ~TOUCH) - NOTHING);
    }
    __device__ bool is_node(uint32_t root) const { return labelled.up(root) & NODE; }
    __device__ uint32_t node_of(uint32_t root) const { return labelled.up(root) & ~NODE; }
};

/// Labels and weighs a tile, for all threads to see.
template <class Tile>
__device__ void weigh(Weighed<Tile> &weighed, const Wanted &wanted, const Place &place, const Tiles &tiles) {
    Labelled<Tile> &labelled = weighed.labelled;
    const uint32_t runs = recall_tile(labelled, place, tiles), at = threadIdx.x, row = at / Tile::WORDS;
    labelled.for_runs(runs, [&](uint32_t run) {
        if (labelled.up(run) == run) labelled.up(run) = weighed.NOTHING;
    });
    __syncthreads();
    const int64_t x0 = place.x + at % Tile::WORDS * 32, y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    const bool at_edge = y == 0 || y == tiles.height - 1 || (wanted.volume && (z == 0 || z == tiles.depth - 1));
    const uint32_t word = labelled.word[at];
    // What a root has may grow while others look at it; it is NOTHING or more before and after, which is all that they ask.
    for (uint32_t rest = word & ~(word << 1); __any_sync(ALL_LANES, rest != 0); rest &= rest - 1) {
        const auto [x, length] = next_segment(word, rest);
        const uint32_t run = rest ? labelled.run_at(at, x) : 0, up = labelled.load(run);
        weighed.add(rest, up < weighed.NOTHING ? up : run, length, at_edge || x0 + x == 0 || x0 + x + length == tiles.width);
    }
    __syncthreads();
}

/// Keeps of a thread's first pixels those for which keep(root, x) says so, and counts them again.
template <class Tile, class Keep>
__device__ void filter_firsts(const Labelled<Tile> &labelled, const Place &place, const Tiles &tiles, Keep keep) {
    const int at = threadIdx.x;
    uint32_t firsts = firsts_of<Tile>(place, tiles);
    for (uint32_t rest = firsts; rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        if (!keep(labelled.run_at(at, x), x)) firsts &= ~(1u << x);
    }
    count_firsts<Tile>(firsts, at, place, tiles);
    if (at < tiles.kept) tiles.firsts[int64_t(place.tile) * tiles.kept + at] = firsts;
}

template <class Tile>
__device__ Weighed<Tile> &shared_weighed() {
    extern __shared__ __align__(16) uint8_t memory[];
    return *reinterpret_cast<Weighed<Tile> *>(memory);
}

template <class Tile>
__global__ void __launch_bounds__(BLOCK) clear_areas(Tiles tiles) {
    for_nodes<Tile>(tiles, blockIdx.x, [&](uint32_t node) { tiles.area[node] = 0; });
}

/// Drops parts that are whole components and not wanted; the others add up at their roots.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) weigh_tile(Tiles tiles, Wanted wanted) {
    Weighed<Tile> &weighed = shared_weighed<Tile>();
    const Place place = place_of<Tile>(tiles, blockIdx.x);
    weigh(weighed, wanted, place, tiles);
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
        const uint32_t root = weighed.labelled.root_of_node(tiles, node);
        const unsigned long long area = weighed.area_of(root);
        atomicAdd(tiles.area + tiles.parent[node], area & ~TOUCHES);
        if (area & TOUCHES) atomicOr(tiles.area + tiles.parent[node], TOUCHES);
        weighed.labelled.up(root) = weighed.NODE;
    });
    __syncthreads();
    filter_firsts(weighed.labelled, place, tiles, [&](uint32_t root, int) {
        return weighed.is_node(root) || wanted.takes(weighed.area_of(root));
    });
}

template <class Tile>
__global__ void __launch_bounds__(BLOCK) drop_nodes(Tiles tiles, Wanted wanted) {
    for_nodes<Tile>(tiles, blockIdx.x, [&](uint32_t node) {
        if (tiles.parent[node] == node && !wanted.takes(tiles.area[node]))
            drop_first<Tile>(tiles, first_of_node<Tile>(tiles, node));
    });
}

/// Weighs a tile, after which its nodes say which ones they are.
template <class Tile>
__device__ void weigh_known(Weighed<Tile> &weighed, const Wanted &wanted, const Place &place, const Tiles &tiles) {
    weigh(weighed, wanted, place, tiles);
    for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
        weighed.labelled.up(weighed.labelled.root_of_node(tiles, node)) = weighed.NODE | (node & ((1u << Tile::NODE_BITS) - 1));
    });
    __syncthreads();
}

template <class Tile>
__device__ Wide rank_in(const Weighed<Tile> &weighed, const Wanted &wanted, const Place &place, const Tiles &tiles, uint32_t root,
                        int x) {
    const unsigned long long area = weighed.is_node(root) ? tiles.area[place.tile << Tile::NODE_BITS | weighed.node_of(root)]
                                                          : weighed.area_of(root);
    return wanted.rank_of(area, index_at<Tile>(tiles, place, static_cast<int>(threadIdx.x) * 32 + x));
}

/// Counts the components of tiles from `from` on that have the digits found so far, by the one at `shift`.
template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) count_digits(Tiles tiles, Wanted wanted, uint32_t from, int shift, Search *search) {
    if (search->found) return;
    Weighed<Tile> &weighed = shared_weighed<Tile>();
    const Place place = place_of<Tile>(tiles, from + blockIdx.x);
    for (int i = threadIdx.x; i < BINS; i += Tile::THREADS) weighed.bins[i] = 0;
    weigh_known(weighed, wanted, place, tiles);
    const Wide least = search->least;
    for (uint32_t rest = firsts_of<Tile>(place, tiles); rest; rest &= rest - 1) {
        const int x = __ffs(rest) - 1;
        const Wide rank = rank_in(weighed, wanted, place, tiles, weighed.labelled.run_at(threadIdx.x, x), x);
        if (rank >> shift >> DIGIT == least >> shift >> DIGIT)
            atomicAdd(&weighed.bins[static_cast<uint32_t>(rank >> shift) % BINS], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += Tile::THREADS)
        if (weighed.bins[i]) atomicAdd(&search->bins[i], weighed.bins[i]);
}

/// Settles a digit: the highest with which, and with all above it, there are as many as are to be kept.  One block.
__global__ void __launch_bounds__(CHOOSERS) choose_digit(int shift, Search *search) {
    using Scan = cub::BlockScan<uint32_t, CHOOSERS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage memory;
    constexpr int EACH = BINS / CHOOSERS;
    if (search->found) return;
    uint32_t counts[EACH], above[EACH];
    for (int i = 0; i < EACH; ++i) {
        uint32_t &bin = search->bins[BINS - 1 - (static_cast<int>(threadIdx.x) * EACH + i)];
        counts[i] = bin;
        bin = 0;
    }
    uint32_t total;
    Scan(memory).ExclusiveSum(counts, above, total);
    const unsigned long long left = search->left;
    __syncthreads();
    if (total <= left && threadIdx.x == 0) search->found = 1;  // there are no more than are wanted
    for (int i = 0; i < EACH; ++i) {
        if (total <= left || above[i] >= left || above[i] + counts[i] < left) continue;
        search->least |= Wide(BINS - 1 - (threadIdx.x * EACH + i)) << shift;
        search->left = left - above[i];
        search->found = above[i] + counts[i] == left;
    }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::THREADS) drop_lower(Tiles tiles, Wanted wanted, uint32_t from, const Search *search) {
    if (search->least == 0) return;
    Weighed<Tile> &weighed = shared_weighed<Tile>();
    const Place place = place_of<Tile>(tiles, from + blockIdx.x);
    weigh_known(weighed, wanted, place, tiles);
    filter_firsts(weighed.labelled, place, tiles, [&](uint32_t root, int x) {
        return rank_in(weighed, wanted, place, tiles, root, x) >= search->least;
    });
}

__global__ void begin_search(Search *search, unsigned long long largest) {
    if (threadIdx.x == 0) search->least = 0, search->left = largest, search->found = 0;
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) search->bins[i] = 0;
}

/// Keeps the largest of `count` tiles.
template <class Tile>
void keep_largest(const ComponentsJob &job, const Tiles &tiles, uint32_t from, uint32_t count, Search *search, cudaStream_t stream) {
    const Wanted wanted(job);
    launch("begin_search", begin_search, 1, BLOCK, stream, search, static_cast<unsigned long long>(job.largest));
    for (int shift = (wanted.key_bits + bits_below(job.set.pixels() + 1)) / DIGIT * DIGIT; shift >= 0; shift -= DIGIT) {
        launch_large("count_digits", count_digits<Tile>, count, Tile::THREADS, sizeof(Weighed<Tile>), stream, tiles, wanted, from,
                     shift, search);
        launch("choose_digit", choose_digit, 1, CHOOSERS, stream, shift, search);
    }
    launch_large("drop_lower", drop_lower<Tile>, count, Tile::THREADS, sizeof(Weighed<Tile>), stream, tiles, wanted, from, search);
}

}  // namespace

size_t select_bytes(const ComponentsJob &job) { return job.largest < INT64_MAX ? sizeof(Search) : 0; }

template <class Tile>
void select_components(const ComponentsJob &job, const Tiles &tiles, void *memory, cudaStream_t stream) {
    const Wanted wanted(job);
    if (tiles.joined) launch("clear_areas", clear_areas<Tile>, tiles.count(), BLOCK, stream, tiles);
    launch_large("weigh_tile", weigh_tile<Tile>, tiles.count(), Tile::THREADS, sizeof(Weighed<Tile>), stream, tiles, wanted);
    if (tiles.joined) launch("drop_nodes", drop_nodes<Tile>, tiles.count(), BLOCK, stream, tiles, wanted);
    if (job.largest == INT64_MAX) return;
    const uint32_t images = job.axes == 2 ? tiles.deep : 1, share = tiles.count() / images;
    for (uint32_t image = 0; image < images; ++image)
        keep_largest<Tile>(job, tiles, image * share, share, static_cast<Search *>(memory), stream);
}

template void select_components<PlaneTile<1>>(const ComponentsJob &, const Tiles &, void *, cudaStream_t);
template void select_components<PlaneTile<2>>(const ComponentsJob &, const Tiles &, void *, cudaStream_t);
template void select_components<VolumeTile<1>>(const ComponentsJob &, const Tiles &, void *, cudaStream_t);
template void select_components<VolumeTile<2>>(const ComponentsJob &, const Tiles &, void *, cudaStream_t);
template void select_components<VolumeTile<3>>(const ComponentsJob &, const Tiles &, void *, cudaStream_t);

}  // namespace apsis::cuda::components
