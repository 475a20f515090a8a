// APSIS_RASTER_SCAN on CUDA: raster scans in tiles side by side (Elizondo-Leal et al., "Parallel raster scan for Euclidean
// distance transform", 2020, algorithms 2 and 3), and then the conversion of site_map.h, which mends what they got wrong.
//
// A CUDA block has a square of the image, with one pixel more on every side, in shared memory, and each of its threads a
// tile of that.  A thread scans its tile forwards, every pixel taking the nearest site of those before it, and backwards;
// all do so again until nothing changes in the block.  Then the host launches the next instance, until no block has changed
// anything.  A block is done, and left alone, when no pixel is farther from its site than `ctrl`, which grows from one
// instance to the next, a little later than in the paper (core/raster_blocks.h).
//
// Threads and blocks read what their neighbours change at the same time.  A pixel is one number of 32 bits, which is read
// and written at once, and a site that is read too early is read again in the next round: so the map settles, whatever the
// order.  Which exclaves it lacks depends on it; the conversion finds them all.
//
// The paper keeps the distances beside the sites, in memory and in shared memory.  Here they are computed where they are
// compared: that costs less than to read and write as much again, above all where all sites are near, and a distance and a
// site are one number of 32 bits.  A thread keeps its tile in registers, and skips its scans where it sees nothing new
// beside it; and so does a block that has settled before.
//
// Cost: bytes a pixel 1 in, 4 out in the first instance; of the blocks that may change in another one half of 4 in, and if
// they do, 4 in and out; 4 in and out and in for the complete map, and the outputs.  Memory: 8 1/8 bytes a pixel.
#include "core/raster_blocks.h"
#include "cuda/published/site_map.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::published {

namespace {

constexpr int THREADS = BSIZE * BSIZE;  // a tile each
constexpr int RESIDENT = 16;            // blocks on a multiprocessor, of 64 registers a thread: they wait at barriers often

/// A block's pixels in shared memory, with one more on every side.  The same pixel of tiles side by side lies side by side, so
/// that a warp, which has four rows of tiles, meets 32 banks.
template <int TILERES>
struct Square {
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
struct Blocks {
    View set;
    bool complement;
    SiteMaps maps;       // VD in the paper
    uint32_t *farthest;  // for each warp of each block the square of its greatest distance
    uint32_t *changed;   // for each block the last instance, from 1, that has changed it
    uint32_t *flag;      // the last instance that has changed anything
    int across, down;

    Blocks(const DistanceJob &job, int span)
        : set(job.set), complement(job.complement), maps(job.set), farthest(nullptr), changed(nullptr), flag(nullptr),
          across(static_cast<int>(ceil_div(maps.width, span))), down(static_cast<int>(ceil_div(maps.height, span))) {}
    __host__ __device__ int64_t count() const { return maps.slices * down * across; }
};

/// A block: its number, its place among the others, and where it begins.
struct Corner {
    int64_t number;
    int column, row;
    int left, top;
    int64_t z;

    __device__ Corner(const Blocks &blocks, int64_t number, int span) : number(number) {
        const int64_t line = number / blocks.across;
        column = static_cast<int>(number - line * blocks.across);
        row = static_cast<int>(line % blocks.down);
        left = column * span, top = row * span;
        z = line / blocks.down;
    }
};

// ---- Places ----

/// How a block keeps sites, and compares them as seen from the pixel (x, y) of the square: as they are.
struct Far {
    int left, top;  // of the pixels around the block

    __device__ explicit Far(const Corner &corner) : left(corner.left - 1), top(corner.top - 1) {}
    __device__ Site site(Site kept) const { return kept; }
    __device__ uint32_t square(int x, int y, Site kept) const { return square_to(left + x, top + y, kept); }
    __device__ Site nearest(int x, int y, Site a, Site b, Site c, Site d, Site e) const {
        const auto near = [&](Site site) { return nearness(left + x, top + y, site); };
        return static_cast<Site>(min(min(near(a), near(b)), min(near(c), min(near(d), near(e)))));
    }
};

/// By their places, of 7 bits a coordinate, if none of them is farther from the block than MARGIN pixels.  The square of a
/// distance and the place are one number then, of 32 bits, with the same order.  To get the square, take the places as
/// bytes, add 128 so that no byte of the difference borrows from the next one, take the sign bits back, and multiply the
/// bytes by themselves.  NOTHING has places of its own in the upper bytes, 128 off in both: it is farther by 2^15 than it
/// seems, so farther than anything else, of which no square is 2^14.
struct Near {
    static constexpr int MARGIN = 46, PLACES = 128;
    static constexpr Site NOTHING = 0x7f800000;

    int left, top;  // of the places

    __device__ explicit Near(const Corner &corner) : left(corner.left - 1 - MARGIN), top(corner.top - 1 - MARGIN) {}
    __device__ bool holds(Site site) const {
        return site == NO_SITE || (static_cast<unsigned>(x_of(site) - left) < PLACES &&
                                   static_cast<unsigned>(y_of(site) - top) < PLACES);
    }
    __device__ Site kept(Site site) const {
        return site == NO_SITE ? NOTHING : static_cast<Site>(y_of(site) - top) << 8 | static_cast<Site>(x_of(site) - left);
    }
    __device__ Site site(Site kept) const {
        return kept == NOTHING ? NO_SITE : site_at(left + static_cast<int>(kept & 0xff), top + static_cast<int>(kept >> 8));
    }
    __device__ static uint32_t from(int x, int y) {
        return static_cast<uint32_t>(y + MARGIN + 128) << 8 | static_cast<uint32_t>(x + MARGIN + 128);
    }
    __device__ static uint32_t square_from(uint32_t pixel, Site kept) {
        const int offset = static_cast<int>((pixel - kept) ^ 0x8080);
        return static_cast<uint32_t>(__dp4a(offset, offset, 0));
    }
    __device__ uint32_t square(int x, int y, Site kept) const {
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

/// Whether there is such a pixel of a square, which may reach beyond the image.
__device__ bool is_inside(const Blocks &blocks, const Corner &corner, int in_x, int in_y) {
    return static_cast<unsigned>(corner.left + in_x - 1) < static_cast<unsigned>(blocks.maps.width) &&
           static_cast<unsigned>(corner.top + in_y - 1) < static_cast<unsigned>(blocks.maps.height);
}

/// The site of a pixel, before the first instance and later.
__device__ Site first_site(const Blocks &blocks, const Corner &corner, int in_x, int in_y) {
    if (!is_inside(blocks, corner, in_x, in_y)) return NO_SITE;
    const int x = corner.left + in_x - 1, y = corner.top + in_y - 1;
    return is_set(blocks.set, blocks.set.row(y, corner.z), x) != blocks.complement ? site_at(x, y) : NO_SITE;
}
__device__ Site later_site(const Blocks &blocks, const Corner &corner, int in_x, int in_y) {
    if (!is_inside(blocks, corner, in_x, in_y)) return NO_SITE;
    return *static_cast<volatile Site *>(blocks.maps.at(corner.left + in_x - 1, corner.top + in_y - 1, corner.z));
}

/// Calls body(in_x, in_y) for the pixels of a block and around it: for all, or only for those at its border and beside them.
template <int TILERES, bool IS_ALL, class Body>
__device__ void for_square(Body body) {
    constexpr int SPAN = Square<TILERES>::SPAN, WHOLE = Square<TILERES>::WHOLE, ROWS = IS_ALL ? WHOLE : 4;
    constexpr int COLUMNS = IS_ALL ? 2 : 4;
    const auto side = [](int i) { return i < 2 ? i : SPAN - 2 + i; };  // 0, 1, SPAN, SPAN + 1
#pragma unroll
    for (int i = threadIdx.x; i < SPAN * ROWS; i += THREADS) {
        const int row = i / SPAN;
        body(i % SPAN + 1, IS_ALL ? row : side(row));
    }
    for (int i = threadIdx.x; i < WHOLE * COLUMNS; i += THREADS) {
        const int column = i / WHOLE;
        body(IS_ALL ? column * (SPAN + 1) : side(column), i % WHOLE);
    }
}

/// Writes a block, and how far its pixels are.
template <int TILERES, class Places>
__device__ void write_block(const Blocks &blocks, const Corner &corner, const Square<TILERES> &square, const Places &places) {
    constexpr int SPAN = Square<TILERES>::SPAN;
    uint32_t most = 0;
#pragma unroll
    for (int i = threadIdx.x; i < SPAN * SPAN; i += THREADS) {
        const int in_x = i % SPAN + 1, in_y = i / SPAN + 1, x = corner.left + in_x - 1, y = corner.top + in_y - 1;
        if (x >= blocks.maps.width || y >= blocks.maps.height) continue;
        const Site kept = square(in_x, in_y);
        *static_cast<volatile Site *>(blocks.maps.at(x, y, corner.z)) = places.site(kept);
        most = max(most, places.square(in_x, in_y, kept));
    }
    most = greatest_of_warp(most);
    if (threadIdx.x % WARP == 0) blocks.farthest[corner.number * (THREADS / WARP) + threadIdx.x / WARP] = most;
}

// ---- Scans ----

/// A thread's tile and the pixels around it, in registers.
template <int TILERES, class Places>
class Tile {
  public:
    __device__ Tile(const SiteMaps &maps, const Corner &corner, const Square<TILERES> &square, const Places &places)
        : square_(square), places_(places), in_x_(threadIdx.x % BSIZE * TILERES), in_y_(threadIdx.x / BSIZE * TILERES),
          columns_(maps.width - corner.left - in_x_), rows_(maps.height - corner.top - in_y_) {
        for_all([&](int c, int r) { held_[r][c] = square_(in_x_ + c, in_y_ + r); });
    }

    /// Reads the pixels around the tile again.  Returns whether one of them has changed.
    __device__ bool look_around() {
        bool is_new = false;
        for_all([&](int c, int r) {
            if (c > 0 && c <= TILERES && r > 0 && r <= TILERES) return;
            const Site site = square_(in_x_ + c, in_y_ + r);
            is_new |= site != held_[r][c];
            held_[r][c] = site;
        });
        return is_new;
    }

    /// The masks of the paper's figure 3: forwards a pixel sees the one on its left and the three above, DIRECTION = 1, and
    /// backwards their opposites, DIRECTION = -1.  Returns whether a pixel has changed.
    template <int DIRECTION>
    __device__ bool scan() {
        bool is_new = false;
#pragma unroll
        for (int i = 0; i < TILERES * TILERES; ++i) {
            const int at = DIRECTION > 0 ? i : TILERES * TILERES - 1 - i, c = at % TILERES + 1, r = at / TILERES + 1;
            if (c > columns_ || r > rows_) continue;
            const Site *const before = held_[r - DIRECTION];
            const Site site = places_.nearest(in_x_ + c, in_y_ + r, held_[r][c], held_[r][c - DIRECTION], before[c - 1],
                                              before[c], before[c + 1]);
            if (site == held_[r][c]) continue;
            square_(in_x_ + c, in_y_ + r) = held_[r][c] = site;
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

    const Square<TILERES> &square_;
    const Places places_;
    int in_x_, in_y_;     // where the pixels around the tile begin, in the square
    int columns_, rows_;  // of the image from the tile on
    Site held_[TILERES + 2][TILERES + 2];
};

/// The repeat loop of algorithm 3, and what comes of it.  Returns whether it has changed anything.
template <bool IS_FIRST, int TILERES, class Places>
__device__ bool scan_until_settled(const Blocks &blocks, const Corner &corner, const Square<TILERES> &square,
                                   const Places &places) {
    Tile<TILERES, Places> tile(blocks.maps, corner, square, places);
    bool any = false, is_new = true;
    do {
        const bool is_around = tile.look_around();
        if (is_new || is_around) {
            is_new = tile.template scan<1>();
            is_new |= tile.template scan<-1>();
            any |= is_new;
        }
    } while (__syncthreads_or(is_new));
    any = __syncthreads_or(any);
    if (any || IS_FIRST) write_block(blocks, corner, square, places);
    return any;
}

// ---- Blocks that rest ----

/// Whether a pixel at the border of a block has something nearer beside it.
template <int TILERES>
__device__ bool sees_nearer(const SiteMaps &maps, const Corner &corner, const Square<TILERES> &square) {
    constexpr int SPAN = Square<TILERES>::SPAN;
    bool sees = false;
    for (int i = threadIdx.x; i < 4 * SPAN; i += THREADS) {
        const int side = i / SPAN, along = i % SPAN + 1, across = side % 2 ? SPAN : 1;
        const int in_x = side < 2 ? along : across, in_y = side < 2 ? across : along;
        const int x = corner.left + in_x - 1, y = corner.top + in_y - 1;
        if (x >= maps.width || y >= maps.height) continue;
        const uint64_t held = nearness(x, y, square(in_x, in_y));
        for (int r = -1; r <= 1; ++r)
            for (int c = -1; c <= 1; ++c) sees |= nearness(x, y, square(in_x + c, in_y + r)) < held;
    }
    return sees;
}

/// Whether a block may change in an instance: no pixel of a block that is finished is farther than `ctrl`, and a block that has
/// settled rests until a block beside it has changed, in the last instance or in this one.
__device__ bool may_change(const Blocks &blocks, const Corner &corner, uint32_t ctrl, uint32_t instance) {
    constexpr int BESIDE = 9;
    bool is_far = false, is_woken = false;
    if (threadIdx.x < THREADS / WARP) {
        is_far = blocks.farthest[corner.number * (THREADS / WARP) + threadIdx.x] > ctrl;
    } else if (const int i = threadIdx.x - THREADS / WARP; i < BESIDE) {
        const int column = corner.column + i % 3 - 1, row = corner.row + i / 3 - 1;
        const int64_t beside = corner.number + (i / 3 - 1) * blocks.across + i % 3 - 1;
        is_woken = i != BESIDE / 2 && column >= 0 && column < blocks.across && row >= 0 && row < blocks.down &&
                   static_cast<volatile uint32_t *>(blocks.changed)[beside] + 1 >= instance;
    }
    return __syncthreads_or(is_far) && __syncthreads_or(is_woken);
}

/// The first instance for a block, and a later one.  Returns whether it has changed anything.
template <int TILERES>
__device__ bool scan_first(const Blocks &blocks, const Corner &corner, const Square<TILERES> &square) {
    const Near places(corner);
    for_square<TILERES, true>(
        [&](int in_x, int in_y) { square(in_x, in_y) = places.kept(first_site(blocks, corner, in_x, in_y)); });
    __syncthreads();
    return scan_until_settled<true>(blocks, corner, square, places);
}

template <int TILERES>
__device__ bool scan_again(const Blocks &blocks, const Corner &corner, const Square<TILERES> &square) {
    const Near near(corner);
    const Far far(corner);
    for_square<TILERES, false>(
        [&](int in_x, int in_y) { square(in_x, in_y) = later_site(blocks, corner, in_x, in_y); });
    __syncthreads();
    if (!__syncthreads_or(sees_nearer(blocks.maps, corner, square))) return false;
    bool is_far = false;
    for_square<TILERES, true>([&](int in_x, int in_y) {
        const Site site = later_site(blocks, corner, in_x, in_y);
        is_far |= !near.holds(site);
        square(in_x, in_y) = near.kept(site);
    });
    if (!__syncthreads_or(is_far)) return scan_until_settled<false>(blocks, corner, square, near);
    for_square<TILERES, true>(
        [&](int in_x, int in_y) { square(in_x, in_y) = later_site(blocks, corner, in_x, in_y); });
    __syncthreads();
    return scan_until_settled<false>(blocks, corner, square, far);
}

/// An instance of the paper's PRSEDTKernel.
template <int TILERES, bool IS_FIRST>
__global__ void __launch_bounds__(THREADS, RESIDENT) scan_blocks(Blocks blocks, uint32_t ctrl, uint32_t instance) {
    __shared__ Site sites[Square<TILERES>::LINES * Square<TILERES>::PITCH];
    const Square<TILERES> square{sites};
    for (int64_t number = blockIdx.x; number < blocks.count(); number += gridDim.x) {
        const Corner corner(blocks, number, Square<TILERES>::SPAN);
        bool any;
        if constexpr (IS_FIRST)
            any = scan_first(blocks, corner, square);
        else
            any = may_change(blocks, corner, ctrl, instance) && scan_again(blocks, corner, square);
        if (threadIdx.x == 0 && any) blocks.changed[number] = *blocks.flag = instance;
        __syncthreads();
    }
}

struct Scratch {
    bool is_small;
    Blocks blocks;
    SiteMaps complete;
    uint32_t *marks;
    unsigned long long *mended;

    Scratch(const DistanceJob &job, Carver &carver)
        : is_small(tileres_of(job.set) == SMALL_TILERES), blocks(job, span()), complete(job.set) {
        blocks.maps.sites = carver.take<Site>(job.set.pixels());
        complete.sites = carver.take<Site>(job.set.pixels());
        marks = carver.take<uint32_t>(count_marks(complete));
        blocks.farthest = carver.take<uint32_t>(blocks.count() * (THREADS / WARP));
        blocks.changed = carver.take<uint32_t>(blocks.count());
        blocks.flag = carver.take<uint32_t>(1);
        mended = carver.take<unsigned long long>(1);
    }
    int span() const { return is_small ? Square<SMALL_TILERES>::SPAN : Square<LARGE_TILERES>::SPAN; }
};

/// Launches an instance, from 1, and waits for it.  Returns whether it has changed anything.
template <int TILERES>
bool run_instance(const Scratch &scratch, uint32_t instance, cudaStream_t stream) {
    const Blocks &blocks = scratch.blocks;
    const uint32_t ctrl = settled_by(instance - 1, scratch.span());
    uint32_t flag;
    const auto kernel = instance == 1 ? scan_blocks<TILERES, true> : scan_blocks<TILERES, false>;
    launch("scan_blocks", kernel, blocks.count(), THREADS, stream, blocks, ctrl, instance);
    check(cudaMemcpyAsync(&flag, blocks.flag, sizeof flag, cudaMemcpyDeviceToHost, stream), "copying a flag");
    check(cudaStreamSynchronize(stream), "waiting for the device");
    return flag == instance;
}

}  // namespace

size_t raster_scan_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void raster_scan(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    Carver carver(memory);
    const Scratch scratch(job, carver);
    const SiteMaps &mixed = scratch.blocks.maps, &complete = scratch.complete;
    const size_t blocks = static_cast<size_t>(scratch.blocks.count());
    check(cudaMemsetAsync(scratch.blocks.changed, 0, blocks * sizeof(uint32_t), stream), "clearing marks");
    check(cudaMemsetAsync(scratch.blocks.flag, 0, sizeof(uint32_t), stream), "clearing a flag");
    const auto run = scratch.is_small ? run_instance<SMALL_TILERES> : run_instance<LARGE_TILERES>;
    uint32_t instances = 0;
    while (run(scratch, ++instances, stream)) report(progress, 0.8 * (1 - 1 / (1 + 0.25 * instances)), stream);
    complete_map(mixed, complete, scratch.marks, stream);
    if (job.report) *job.report = {int64_t(instances), count_mended(mixed, complete, scratch.mended, stream)};
    report(progress, 0.9, stream);
    write_map(job, complete, stream);
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::published
