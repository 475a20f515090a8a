// APSIS_RASTER_SCAN on CUDA: raster scans in tiles side by side (Elizondo-Leal et al., "Parallel raster scan for Euclidean
// distance transform", 2020, algorithms 2 and 3), and then the conversion of site_map.cuh, which adds the exclaves that the
// scans miss.
//
// A CUDA block has a square of the image in shared memory, with one pixel more on every side, and each of its threads has a
// tile of the square.  A thread scans its tile forwards, in which every pixel takes the nearest site of the pixels before it,
// and backwards.  The threads repeat this until nothing changes in the block.  Then the host launches the next instance, until
// no block has changed.  A block is finished when no pixel is farther from its site than `ctrl`, which grows from instance to
// instance, a little later than in the paper (core/raster_blocks.h).
//
// Threads and blocks read pixels while their neighbours change them.  A pixel is a number of 32 bits, read and written at once,
// and a site that is read too early is read again in the next round.  So the map settles whatever the order.  The order decides
// which exclaves the map lacks; the conversion finds them all.
//
// The paper stores distances beside the sites.  Here they are computed when they are compared, which costs less than reading
// and writing as many bytes again.  It costs least where all sites are near, since a distance and a site are one number of 32
// bits there.  A thread keeps its tile in registers, and skips its scans if nothing has changed around the tile.  A block that
// has settled does the same.
//
// Cost: bytes a pixel 1 in, 4 out in the first instance.  In a later one, half of 4 in for blocks that may change, and 4 in and
// out for blocks that change.  Then 4 in and out and in for the complete map, and the outputs.  Memory: 8 1/8 bytes a pixel.
#pragma once

#include "core/raster_blocks.h"
#include "cuda/published/site_map.cuh"

namespace apsis::cuda::published {

constexpr int SCAN_THREADS = BSIZE * BSIZE;  // each has a tile
// Blocks on a multiprocessor: leaves a thread 64 registers.  They are many since they often wait at barriers.
constexpr int SCAN_BLOCKS_PER_SM = 16;

/// A block's sites in shared memory, with the sites of one pixel more on every side.  The n-th pixels of adjacent tiles are
/// adjacent, so that a warp, which has four rows of tiles, uses 32 banks.
template <int TILERES>
struct SharedSites {
    static constexpr int SPAN = BSIZE * TILERES;  // without the overlap
    static constexpr int WHOLE = SPAN + 2;
    static constexpr int LINES = (BSIZE + 1) * TILERES;
    static constexpr int PITCH = TILERES == 2 ? 24 : 40;
    static_assert(PITCH >= LINES && PITCH % 16 == 8);

    volatile Site *sites;

    __device__ static constexpr int line(int at) { return at % TILERES * (BSIZE + 1) + at / TILERES; }
    __device__ volatile Site &operator()(int x, int y) const { return sites[line(y) * PITCH + line(x)]; }
};

/// The blocks of all slices.
struct ScanBlocks {
    View set;
    bool complement;
    SiteMaps maps;       // VD in the paper
    uint32_t *farthest;  // [block][warp]: the square of its greatest distance
    uint32_t *changed;   // [block]: the last instance, from 1, that has changed it
    uint32_t *flag;      // the last instance that has changed any block
    int across, down;

    ScanBlocks(const DistanceJob &job, int span)
        : set(job.set),
          complement(job.complement),
          maps(job.set),
          farthest(nullptr),
          changed(nullptr),
          flag(nullptr),
          across(static_cast<int>(ceil_div(maps.width, span))),
          down(static_cast<int>(ceil_div(maps.height, span))) {}
    __host__ __device__ int64_t count() const { return maps.slices * down * across; }
};

/// A block of an image: its number, its place among the others, and its first pixel.
struct BlockPlace {
    int64_t number;
    int column, row;
    int left, top;
    int64_t z;

    __device__ BlockPlace(const ScanBlocks &blocks, int64_t number, int span) : number(number) {
        const int64_t line = number / blocks.across;
        column = static_cast<int>(number - line * blocks.across);
        row = static_cast<int>(line % blocks.down);
        left = column * span, top = row * span;
        z = line / blocks.down;
    }
};

// ---- How blocks store sites ----

/// Stores sites as they are.  Pixels (x, y) count from the first one around the block.
struct FullSites {
    int left, top;  // of the first pixel around the block

    __device__ explicit FullSites(const BlockPlace &block) : left(block.left - 1), top(block.top - 1) {}
    __device__ Site decode(Site kept) const { return kept; }
    __device__ uint32_t square_of(int x, int y, Site kept) const { return square_to(left + x, top + y, kept); }
    __device__ Site nearest(int x, int y, Site a, Site b, Site c, Site d, Site e) const {
        const auto near = [&](Site site) { return nearness(left + x, top + y, site); };
        return static_cast<Site>(min(min(near(a), near(b)), min(near(c), min(near(d), near(e)))));
    }
};

/// Stores sites as offsets of 7 bits a coordinate, if none is farther from the block than MARGIN pixels.  Then the square of a
/// distance and the offsets are one number of 32 bits, in the order of nearness.  The square is computed from offsets as bytes:
/// 128 is added so that no byte of the difference borrows from the next one, the bytes' sign bits are flipped back, and each
/// byte is multiplied by itself.  NOTHING has offsets in the upper bytes, too, 128 off in both.  So its square is 2^15 larger,
/// and no site's square reaches 2^14.
struct CompactSites {
    static constexpr int MARGIN = 46, OFFSETS = 128;
    static constexpr Site NOTHING = 0x7f800000;

    int left, top;  // where offsets are 0

    __device__ explicit CompactSites(const BlockPlace &block) : left(block.left - 1 - MARGIN), top(block.top - 1 - MARGIN) {}
    __device__ bool fits(Site site) const {
        return site == NO_SITE ||
               (static_cast<unsigned>(x_of(site) - left) < OFFSETS && static_cast<unsigned>(y_of(site) - top) < OFFSETS);
    }
    __device__ Site encode(Site site) const {
        return site == NO_SITE ? NOTHING : static_cast<Site>(y_of(site) - top) << 8 | static_cast<Site>(x_of(site) - left);
    }
    __device__ Site decode(Site kept) const {
        return kept == NOTHING ? NO_SITE : site_at(left + static_cast<int>(kept & 0xff), top + static_cast<int>(kept >> 8));
    }
    __device__ static uint32_t from(int x, int y) {
        return static_cast<uint32_t>(y + MARGIN + 128) << 8 | static_cast<uint32_t>(x + MARGIN + 128);
    }
    __device__ static uint32_t square_from(uint32_t pixel, Site kept) {
        const int offset = static_cast<int>((pixel - kept) ^ 0x8080);
        return static_cast<uint32_t>(__dp4a(offset, offset, 0));
    }
    __device__ uint32_t square_of(int x, int y, Site kept) const {
        return kept == NOTHING ? NO_SQUARE : square_from(from(x, y), kept);
    }
    __device__ Site nearest(int x, int y, Site a, Site b, Site c, Site d, Site e) const {
        const uint32_t pixel = from(x, y);
        const auto near = [&](Site kept) { return __byte_perm(kept, square_from(pixel, kept), 0x5410); };
        const uint32_t best = min(min(near(a), near(b)), min(near(c), min(near(d), near(e))));
        return best >> 31 ? NOTHING : best & 0xffff;
    }
};

// ---- Reading and writing ----

/// Whether a pixel of a block, or around it, is in the image.
__device__ inline bool is_inside(const ScanBlocks &blocks, const BlockPlace &block, int in_x, int in_y) {
    return static_cast<unsigned>(block.left + in_x - 1) < static_cast<unsigned>(blocks.maps.width) &&
           static_cast<unsigned>(block.top + in_y - 1) < static_cast<unsigned>(blocks.maps.height);
}

/// The site of a pixel before the first instance, and before a later one.
__device__ inline Site first_site(const ScanBlocks &blocks, const BlockPlace &block, int in_x, int in_y) {
    if (!is_inside(blocks, block, in_x, in_y)) return NO_SITE;
    const int x = block.left + in_x - 1, y = block.top + in_y - 1;
    return is_set(blocks.set, blocks.set.row(y, block.z), x) != blocks.complement ? site_at(x, y) : NO_SITE;
}
__device__ inline Site later_site(const ScanBlocks &blocks, const BlockPlace &block, int in_x, int in_y) {
    if (!is_inside(blocks, block, in_x, in_y)) return NO_SITE;
    return *static_cast<volatile Site *>(blocks.maps.at(block.left + in_x - 1, block.top + in_y - 1, block.z));
}

/// Block: calls body(in_x, in_y) for the pixels of a block and around it; unless IS_ALL, only for two pixels on either side of
/// its border.
template <int TILERES, bool IS_ALL, class Body>
__device__ void for_block_pixels(Body body) {
    constexpr int SPAN = SharedSites<TILERES>::SPAN, WHOLE = SharedSites<TILERES>::WHOLE, ROWS = IS_ALL ? WHOLE : 4;
    constexpr int COLUMNS = IS_ALL ? 2 : 4;
    const auto side = [](int i) { return i < 2 ? i : SPAN - 2 + i; };  // 0, 1, SPAN, SPAN + 1
#pragma unroll
    for (int i = threadIdx.x; i < SPAN * ROWS; i += SCAN_THREADS) {
        const int row = i / SPAN;
        body(i % SPAN + 1, IS_ALL ? row : side(row));
    }
    for (int i = threadIdx.x; i < WHOLE * COLUMNS; i += SCAN_THREADS) {
        const int column = i / WHOLE;
        body(IS_ALL ? column * (SPAN + 1) : side(column), i % WHOLE);
    }
}

/// Block: writes the map, and the greatest distances.
template <int TILERES, class Encoding>
__device__ void write_block(const ScanBlocks &blocks, const BlockPlace &block, const SharedSites<TILERES> &shared,
                            const Encoding &encoding) {
    constexpr int SPAN = SharedSites<TILERES>::SPAN;
    uint32_t most = 0;
#pragma unroll
    for (int i = threadIdx.x; i < SPAN * SPAN; i += SCAN_THREADS) {
        const int in_x = i % SPAN + 1, in_y = i / SPAN + 1, x = block.left + in_x - 1, y = block.top + in_y - 1;
        if (x >= blocks.maps.width || y >= blocks.maps.height) continue;
        const Site kept = shared(in_x, in_y);
        *static_cast<volatile Site *>(blocks.maps.at(x, y, block.z)) = encoding.decode(kept);
        most = max(most, encoding.square_of(in_x, in_y, kept));
    }
    most = greatest_of_warp(most);
    if (threadIdx.x % WARP == 0) blocks.farthest[block.number * (SCAN_THREADS / WARP) + threadIdx.x / WARP] = most;
}

// ---- Scans ----

/// A thread's tile and the pixels around it, in registers.
template <int TILERES, class Encoding>
class ThreadTile {
  public:
    __device__ ThreadTile(const SiteMaps &maps, const BlockPlace &block, const SharedSites<TILERES> &shared,
                          const Encoding &encoding)
        : shared_(shared),
          encoding_(encoding),
          in_x_(threadIdx.x % BSIZE * TILERES),
          in_y_(threadIdx.x / BSIZE * TILERES),
          columns_(maps.width - block.left - in_x_),
          rows_(maps.height - block.top - in_y_) {
        for_all([&](int c, int r) { held_[r][c] = shared_(in_x_ + c, in_y_ + r); });
    }

    /// Reads the pixels around the tile again.  Returns whether any has changed.
    __device__ bool look_around() {
        bool is_new = false;
        for_all([&](int c, int r) {
            if (c > 0 && c <= TILERES && r > 0 && r <= TILERES) return;
            const Site site = shared_(in_x_ + c, in_y_ + r);
            is_new |= site != held_[r][c];
            held_[r][c] = site;
        });
        return is_new;
    }

    /// Scans with the masks of the paper's figure 3.  Forwards, DIRECTION = 1, a pixel reads its left neighbour and the three
    /// above; backwards, DIRECTION = -1, the opposite ones.  Returns whether any pixel has changed.
    template <int DIRECTION>
    __device__ bool scan() {
        bool is_new = false;
#pragma unroll
        for (int i = 0; i < TILERES * TILERES; ++i) {
            const int at = DIRECTION > 0 ? i : TILERES * TILERES - 1 - i, c = at % TILERES + 1, r = at / TILERES + 1;
            if (c > columns_ || r > rows_) continue;
            const Site *const before = held_[r - DIRECTION];
            const Site site = encoding_.nearest(in_x_ + c, in_y_ + r, held_[r][c], held_[r][c - DIRECTION], before[c - 1],
                                                before[c], before[c + 1]);
            if (site == held_[r][c]) continue;
            shared_(in_x_ + c, in_y_ + r) = held_[r][c] = site;
            is_new = true;
        }
        return is_new;
    }

  private:
    template <class Body>
    __device__ static void for_all(Body body) {
#pragma unroll
        for (int r = 0; r < TILERES + 2; ++r)
#pragma unroll
            for (int c = 0; c < TILERES + 2; ++c) body(c, r);
    }

    const SharedSites<TILERES> &shared_;
    const Encoding encoding_;
    int in_x_, in_y_;     // the first pixel around the tile, in the block
    int columns_, rows_;  // of the image from the tile on
    Site held_[TILERES + 2][TILERES + 2];
};

/// Block: the repeat loop of algorithm 3, and its results.  Returns whether any pixel has changed.
template <bool IS_FIRST, int TILERES, class Encoding>
__device__ bool scan_until_settled(const ScanBlocks &blocks, const BlockPlace &block, const SharedSites<TILERES> &shared,
                                   const Encoding &encoding) {
    ThreadTile<TILERES, Encoding> tile(blocks.maps, block, shared, encoding);
    bool any = false, is_new = true;
    do {
        const bool is_new_around = tile.look_around();
        if (is_new || is_new_around) {
            is_new = tile.template scan<1>();
            is_new |= tile.template scan<-1>();
            any |= is_new;
        }
    } while (__syncthreads_or(is_new));
    any = __syncthreads_or(any);
    if (any || IS_FIRST) write_block(blocks, block, shared, encoding);
    return any;
}

// ---- Blocks ----

/// Whether one of this thread's pixels at the border of a block has a neighbour that holds a nearer site.
template <int TILERES>
__device__ bool sees_nearer(const SiteMaps &maps, const BlockPlace &block, const SharedSites<TILERES> &shared) {
    constexpr int SPAN = SharedSites<TILERES>::SPAN;
    bool sees = false;
    for (int i = threadIdx.x; i < 4 * SPAN; i += SCAN_THREADS) {
        const int side = i / SPAN, along = i % SPAN + 1, across = side % 2 ? SPAN : 1;
        const int in_x = side < 2 ? along : across, in_y = side < 2 ? across : along;
        const int x = block.left + in_x - 1, y = block.top + in_y - 1;
        if (x >= maps.width || y >= maps.height) continue;
        const uint64_t held = nearness(x, y, shared(in_x, in_y));
        for (int r = -1; r <= 1; ++r)
            for (int c = -1; c <= 1; ++c) sees |= nearness(x, y, shared(in_x + c, in_y + r)) < held;
    }
    return sees;
}

/// Block: whether the block may change in an instance.  It may not if it is finished, with no pixel farther than `ctrl`, or if
/// no block beside it has changed in the last instance or in this one.
__device__ inline bool may_change(const ScanBlocks &blocks, const BlockPlace &block, uint32_t ctrl, uint32_t instance) {
    constexpr int BESIDE = 9;
    bool is_far = false, is_woken = false;
    if (threadIdx.x < SCAN_THREADS / WARP) {
        is_far = blocks.farthest[block.number * (SCAN_THREADS / WARP) + threadIdx.x] > ctrl;
    } else if (const int i = threadIdx.x - SCAN_THREADS / WARP; i < BESIDE) {
        const int column = block.column + i % 3 - 1, row = block.row + i / 3 - 1;
        const int64_t beside = block.number + (i / 3 - 1) * blocks.across + i % 3 - 1;
        is_woken = i != BESIDE / 2 && column >= 0 && column < blocks.across && row >= 0 && row < blocks.down &&
                   static_cast<volatile uint32_t *>(blocks.changed)[beside] + 1 >= instance;
    }
    return __syncthreads_or(is_far) && __syncthreads_or(is_woken);
}

/// Block: the first instance, and a later one.  Returns whether any pixel has changed.
template <int TILERES>
__device__ bool scan_first(const ScanBlocks &blocks, const BlockPlace &block, const SharedSites<TILERES> &shared) {
    const CompactSites encoding(block);
    for_block_pixels<TILERES, true>(
        [&](int in_x, int in_y) { shared(in_x, in_y) = encoding.encode(first_site(blocks, block, in_x, in_y)); });
    __syncthreads();
    return scan_until_settled<true>(blocks, block, shared, encoding);
}

template <int TILERES>
__device__ bool scan_again(const ScanBlocks &blocks, const BlockPlace &block, const SharedSites<TILERES> &shared) {
    const CompactSites compact(block);
    const FullSites full(block);
    for_block_pixels<TILERES, false>([&](int in_x, int in_y) { shared(in_x, in_y) = later_site(blocks, block, in_x, in_y); });
    __syncthreads();
    if (!__syncthreads_or(sees_nearer(blocks.maps, block, shared))) return false;
    bool is_far = false;
    for_block_pixels<TILERES, true>([&](int in_x, int in_y) {
        const Site site = later_site(blocks, block, in_x, in_y);
        is_far |= !compact.fits(site);
        shared(in_x, in_y) = compact.encode(site);
    });
    if (!__syncthreads_or(is_far)) return scan_until_settled<false>(blocks, block, shared, compact);
    for_block_pixels<TILERES, true>([&](int in_x, int in_y) { shared(in_x, in_y) = later_site(blocks, block, in_x, in_y); });
    __syncthreads();
    return scan_until_settled<false>(blocks, block, shared, full);
}

/// An instance of the paper's PRSEDTKernel.  A CUDA block takes blocks.
template <int TILERES, bool IS_FIRST>
__global__ void __launch_bounds__(SCAN_THREADS, SCAN_BLOCKS_PER_SM)
    scan_blocks(ScanBlocks blocks, uint32_t ctrl, uint32_t instance) {
    __shared__ Site sites[SharedSites<TILERES>::LINES * SharedSites<TILERES>::PITCH];
    const SharedSites<TILERES> shared{sites};
    for (int64_t number = blockIdx.x; number < blocks.count(); number += gridDim.x) {
        const BlockPlace block(blocks, number, SharedSites<TILERES>::SPAN);
        bool any;
        if constexpr (IS_FIRST)
            any = scan_first(blocks, block, shared);
        else
            any = may_change(blocks, block, ctrl, instance) && scan_again(blocks, block, shared);
        if (threadIdx.x == 0 && any) blocks.changed[number] = *blocks.flag = instance;
        __syncthreads();
    }
}

class RasterScan {
  public:
    RasterScan(const DistanceJob &job, Carver &carver)
        : job_(job),
          is_small_(tileres_of(job.set) == SMALL_TILERES),
          blocks_(job, span()),
          complete_(job.set) {
        blocks_.maps.sites = carver.take<Site>(job.set.pixels());
        complete_.sites = carver.take<Site>(job.set.pixels());
        marks_ = carver.take<uint32_t>(count_marks(complete_));
        blocks_.farthest = carver.take<uint32_t>(blocks_.count() * (SCAN_THREADS / WARP));
        blocks_.changed = carver.take<uint32_t>(blocks_.count());
        blocks_.flag = carver.take<uint32_t>(1);
        mended_ = carver.take<unsigned long long>(1);
    }

    SiteMaps run(cudaStream_t stream, const Progress &progress) {
        const size_t blocks = static_cast<size_t>(blocks_.count());
        check(cudaMemsetAsync(blocks_.changed, 0, blocks * sizeof(uint32_t), stream), "clearing marks");
        check(cudaMemsetAsync(blocks_.flag, 0, sizeof(uint32_t), stream), "clearing a flag");
        uint32_t instances = 0;
        while (is_small_ ? run_instance<SMALL_TILERES>(++instances, stream) : run_instance<LARGE_TILERES>(++instances, stream))
            report(progress, 0.8 * (1 - 1 / (1 + 0.25 * instances)), stream);
        complete_map(blocks_.maps, complete_, marks_, stream);
        if (job_.report) *job_.report = {int64_t(instances), count_mended(blocks_.maps, complete_, mended_, stream)};
        return complete_;
    }

  private:
    int span() const { return is_small_ ? SharedSites<SMALL_TILERES>::SPAN : SharedSites<LARGE_TILERES>::SPAN; }

    /// Launches an instance, from 1, and waits for it.  Returns whether any block has changed.
    template <int TILERES>
    bool run_instance(uint32_t instance, cudaStream_t stream) const {
        const uint32_t ctrl = settled_by(instance - 1, span());
        uint32_t flag;
        const auto kernel = instance == 1 ? scan_blocks<TILERES, true> : scan_blocks<TILERES, false>;
        launch("scan_blocks", kernel, blocks_.count(), SCAN_THREADS, stream, blocks_, ctrl, instance);
        check(cudaMemcpyAsync(&flag, blocks_.flag, sizeof flag, cudaMemcpyDeviceToHost, stream), "copying a flag");
        check(cudaStreamSynchronize(stream), "waiting for the device");
        return flag == instance;
    }

    const DistanceJob &job_;
    bool is_small_;
    ScanBlocks blocks_;
    SiteMaps complete_;
    uint32_t *marks_;
    unsigned long long *mended_;
};

}  // namespace apsis::cuda::published
