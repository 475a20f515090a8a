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
// compared: two multiplications cost less than to read and write as much again.  A thread keeps its tile in registers, and
// skips its scans where it sees nothing new beside it; and so does a block that has settled before.
//
// Cost: bytes a pixel 1 in, 4 out for the sites alone; 4 in and out for each instance; 8 for the copy, 4 in for the
// conversion, 4 in and the outputs.  Memory: 8 bytes a pixel.
#include "core/raster_blocks.h"
#include "site_map.h"
#include "transforms.h"

namespace apsis {

namespace {

constexpr int THREADS = BSIZE * BSIZE;  // a tile each

/// A block's pixels in shared memory.  The same pixel of tiles side by side lies side by side, so that a warp, which has
/// four rows of tiles, meets 32 banks.
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
    SiteMaps maps;   // VD in the paper
    uint32_t *done;  // OB: a number for each block
    uint32_t *flag;  // something has changed
    int across, down;

    Blocks(const DistanceJob &job, int span)
        : maps(job.set), done(nullptr), flag(nullptr), across(static_cast<int>(parts(maps.width, span))),
          down(static_cast<int>(parts(maps.height, span))) {}
    __host__ __device__ int64_t count() const { return maps.slices * down * across; }
};

/// Where a block begins.
struct Corner {
    int left, top;
    int64_t z;

    __device__ Corner(const Blocks &blocks, int64_t number, int span) {
        const int64_t line = number / blocks.across;
        left = static_cast<int>(number - line * blocks.across) * span;
        top = static_cast<int>(line % blocks.down) * span;
        z = line / blocks.down;
    }
};

/// Reads a block and the pixels around it.  Returns whether the thread has read one of the block that is farther from its
/// site than `ctrl`.
template <int TILERES>
__device__ bool read_block(const SiteMaps &maps, const Corner &corner, uint32_t ctrl, const Square<TILERES> &square) {
    constexpr int SPAN = Square<TILERES>::SPAN, WHOLE = Square<TILERES>::WHOLE;
    bool is_far = false;
    for (int i = threadIdx.x; i < WHOLE * WHOLE; i += THREADS) {
        const int in_x = i % WHOLE, in_y = i / WHOLE, x = corner.left + in_x - 1, y = corner.top + in_y - 1;
        const bool inside = x >= 0 && y >= 0 && x < maps.width && y < maps.height;
        Site site = NO_SITE;
        if (inside) site = *static_cast<volatile Site *>(maps.at(x, y, corner.z));
        square(in_x, in_y) = site;
        if (inside && in_x > 0 && in_y > 0 && in_x <= SPAN && in_y <= SPAN) is_far |= square_to(x, y, site) > ctrl;
    }
    return is_far;
}

template <int TILERES>
__device__ void write_block(const SiteMaps &maps, const Corner &corner, const Square<TILERES> &square) {
    constexpr int SPAN = Square<TILERES>::SPAN;
    for (int i = threadIdx.x; i < SPAN * SPAN; i += THREADS) {
        const int in_x = i % SPAN, in_y = i / SPAN, x = corner.left + in_x, y = corner.top + in_y;
        if (x < maps.width && y < maps.height)
            *static_cast<volatile Site *>(maps.at(x, y, corner.z)) = square(in_x + 1, in_y + 1);
    }
}

/// A thread's tile and the pixels around it, in registers.
template <int TILERES>
class Tile {
  public:
    __device__ Tile(const SiteMaps &maps, const Corner &corner, const Square<TILERES> &square)
        : square_(square), in_x_(threadIdx.x % BSIZE * TILERES), in_y_(threadIdx.x / BSIZE * TILERES),
          x_(corner.left + in_x_), y_(corner.top + in_y_), columns_(maps.width - x_), rows_(maps.height - y_) {
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
            const auto near = [&](Site site) { return nearness(x_ + c - 1, y_ + r - 1, site); };
            const uint64_t above = min(near(held_[r - DIRECTION][c - 1]),
                                       min(near(held_[r - DIRECTION][c]), near(held_[r - DIRECTION][c + 1])));
            const Site site = static_cast<Site>(min(min(near(held_[r][c]), near(held_[r][c - DIRECTION])), above));
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
    int in_x_, in_y_;     // where the pixels around the tile begin, in the block
    int x_, y_;           // where the tile does, in the image
    int columns_, rows_;  // of the image from there on
    Site held_[TILERES + 2][TILERES + 2];
};

/// The repeat loop of algorithm 3.  Returns whether the thread has changed anything.
template <int TILERES>
__device__ bool scan_until_settled(const SiteMaps &maps, const Corner &corner, const Square<TILERES> &square) {
    Tile<TILERES> tile(maps, corner, square);
    bool any = false, is_new = true;
    do {
        const bool is_around = tile.look_around();
        if (is_new || is_around) {
            is_new = tile.template scan<1>();
            is_new |= tile.template scan<-1>();
            any |= is_new;
        }
    } while (__syncthreads_or(is_new));
    return any;
}

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

/// An instance of the paper's PRSEDTKernel.
template <int TILERES>
__global__ void __launch_bounds__(THREADS) scan_blocks(Blocks blocks, uint32_t ctrl, bool is_first) {
    __shared__ Site sites[Square<TILERES>::LINES * Square<TILERES>::PITCH];
    const Square<TILERES> square{sites};
    for (int64_t number = blockIdx.x; number < blocks.count(); number += gridDim.x) {
        if (blocks.done[number]) continue;
        const Corner corner(blocks, number, Square<TILERES>::SPAN);
        if (!__syncthreads_or(read_block(blocks.maps, corner, ctrl, square))) {
            if (threadIdx.x == 0) blocks.done[number] = 1;
            continue;
        }
        if (!is_first && !__syncthreads_or(sees_nearer(blocks.maps, corner, square))) continue;
        if (__syncthreads_or(scan_until_settled(blocks.maps, corner, square))) {
            write_block(blocks.maps, corner, square);
            if (threadIdx.x == 0) *blocks.flag = 1;
        }
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
        blocks.done = carver.take<uint32_t>(blocks.count());
        blocks.flag = carver.take<uint32_t>(1);
        mended = carver.take<unsigned long long>(1);
    }
    int span() const { return is_small ? Square<SMALL_TILERES>::SPAN : Square<LARGE_TILERES>::SPAN; }
};

/// Launches instance `number`, from 0, and waits for it.  Returns whether it has changed anything.
bool run_instance(const Scratch &scratch, int64_t number, cudaStream_t stream) {
    const Blocks &blocks = scratch.blocks;
    const uint32_t ctrl = settled_by(number, scratch.span());
    uint32_t flag;
    check(cudaMemsetAsync(blocks.flag, 0, sizeof flag, stream), "clearing a flag");
    const auto kernel = scratch.is_small ? scan_blocks<SMALL_TILERES> : scan_blocks<LARGE_TILERES>;
    launch("scan_blocks", kernel, blocks.count(), THREADS, stream, blocks, ctrl, number == 0);
    check(cudaMemcpyAsync(&flag, blocks.flag, sizeof flag, cudaMemcpyDeviceToHost, stream), "copying a flag");
    check(cudaStreamSynchronize(stream), "waiting for the device");
    return flag;
}

/// The host asks the device what it has found, which cannot be recorded.
void refuse_capture(cudaStream_t stream) {
    cudaStreamCaptureStatus status;
    check(cudaStreamIsCapturing(stream, &status), "asking whether the stream is captured");
    if (status != cudaStreamCaptureStatusNone)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is APSIS_RASTER_SCAN, whose number of kernels depends on the "
                                             "image, and the stream is being captured");
}

}  // namespace

size_t raster_scan_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void raster_scan(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    refuse_capture(stream);
    Carver carver(memory);
    const Scratch scratch(job, carver);
    const SiteMaps &mixed = scratch.blocks.maps, &complete = scratch.complete;
    fill_map(job, mixed, stream);
    check(cudaMemsetAsync(scratch.blocks.done, 0, static_cast<size_t>(scratch.blocks.count()) * sizeof(uint32_t), stream),
          "clearing marks");
    int64_t instances = 0;
    while (run_instance(scratch, instances++, stream))
        report(progress, 0.8 * (1 - 1 / (1 + 0.25 * static_cast<double>(instances))), stream);
    complete_map(mixed, complete, scratch.marks, stream);
    if (job.report) *job.report = {instances, count_mended(mixed, complete, scratch.mended, stream)};
    report(progress, 0.9, stream);
    write_map(job, complete, stream);
    report(progress, 1, stream);
}

}  // namespace apsis
