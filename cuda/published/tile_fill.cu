// APSIS_TILE_FILL on CUDA: the image is cut into square tiles, each is flood-filled by one thread, and then tiles are
// merged along their borders through a map of colours ("Ultra fast image markup", habr.com/ru/post/120330, 2011).
//
// A tile's k-th fill takes the colour 1 + tile + k * tiles, so that no two tiles share a colour, and the data of a warp's k-th
// colours lie side by side.  As in the article a tile is swept until nothing changes.  But a row of a tile is the bits of one
// word here, whose runs are filled at once: down the rows, then up, until the way up adds nothing.  Colours that meet at the
// borders of tiles are joined by union-find without locks.  One compare-and-swap makes a root the child of another, always the
// root whose first pixel comes later.  So in the end each root has its component's lowest pixel, whatever the order of threads.
// Roots set a bit at these pixels, and the number of set bits before a root's numbers its component.
//
// A thread that painted all pixels of its tile would write them one by one, far from the pixels of its neighbours.  So it
// writes a colour at the first pixel of each run, and warps then paint the runs row by row.
//
// Cost: in bytes a pixel, 1 in, 4 out and in again for colours, 4 out for labels, and some more for the data of each colour.
// One thread for 1024 pixels is too few in a small image.  Memory: 4 for colours, 4 for their data, 3/8 for bits and counts;
// with 64-bit colours 16.5.
#include "core/columns.h"
#include "cuda/runtime/cub.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::published {

namespace {

constexpr int SIDE = 32;  // of a tile, as in the article; a row of it is one word, which a warp packs
static_assert(SIDE == WARP && SIDE == 8 * sizeof(uint32_t));
constexpr int STRETCH = 4;  // tiles side by side, rows of which a warp takes together, to load them at once
constexpr int WORD = 32;    // pixels whose marks are counted together

// The type of colours and of indices of pixels: the first if both fit; the second is a type that atomicCAS takes.
using Narrow = uint32_t;
using Wide = unsigned long long;

struct Place {
    int64_t x, y, z;
};

/// An image in tiles, and the data of their colours.
template <class Colour>
struct ColouredTiles {
    View set;
    bool complement, diagonal;
    int64_t width, height, depth, across, down, count;
    int64_t fills;     // of a tile, at most
    int64_t words;     // one more than hold a bit a pixel: `before` it is the number of all components
    uint32_t *row;     // [y in a tile][tile]: the pixels of a row of a tile that are in the set
    Colour *colour;    // [pixel]: 0 outside the set
    Colour *parent;    // [colour]: a colour of the same component whose first pixel is not later; finally, the label
    Colour *first;     // [colour]: the first of its pixels
    uint32_t *filled;  // [tile]: how many colours it has
    uint32_t *marks;   // [word]: a bit for each component, at its first pixel
    Colour *before;    // [word]: the components that begin before it
    uint8_t *sum;      // scratch memory of sum_marks
    size_t sum_bytes;

    ColouredTiles(const ComponentsJob &job, Carver &carver);

    /// The place of item `item` in a box of this width and height.  A box has no more places than the image has pixels, which
    /// fit Colour, so that divisions need no wider type.
    __device__ static Place place(int64_t item, int64_t box_width, int64_t box_height) {
        const Colour at = static_cast<Colour>(item), across_box = static_cast<Colour>(box_width),
                     down_box = static_cast<Colour>(box_height), line = at / across_box, z = line / down_box;
        return {static_cast<int64_t>(at - line * across_box), static_cast<int64_t>(line - z * down_box),
                static_cast<int64_t>(z)};
    }
    __device__ int64_t pixel(const Place &at) const { return (at.z * height + at.y) * width + at.x; }
    /// The row of the tile that holds a pixel.
    __device__ int64_t row_at(int64_t x, int64_t y, int64_t z) const {
        return y % SIDE * count + (z * down + y / SIDE) * across + x / SIDE;
    }
};

template <class Colour>
struct CountBits {
    __device__ Colour operator()(uint32_t word) const { return static_cast<Colour>(__popc(word)); }
};

/// Counts the marks before each word.  Without memory it only says in `bytes` how much it needs.
template <class Colour>
cudaError_t sum_marks(const ColouredTiles<Colour> &tiles, void *memory, size_t &bytes, cudaStream_t stream) {
    const CallersError callers;
    const auto counts = thrust::make_transform_iterator(tiles.marks, CountBits<Colour>());
    return cub::DeviceScan::ExclusiveSum(memory, bytes, counts, tiles.before, tiles.words, stream);
}

template <class Colour>
ColouredTiles<Colour>::ColouredTiles(const ComponentsJob &job, Carver &carver)
    : set(job.set),
      complement(job.complement),
      diagonal(job.connectivity > 1),
      width(set.size[0]),
      height(set.size[1]),
      depth(set.size[2]),
      across(ceil_div(width, SIDE)),
      down(ceil_div(height, SIDE)),
      count(across * down * depth),
      fills((std::min<int64_t>(width, SIDE) * std::min<int64_t>(height, SIDE) + 1) / 2),
      words(ceil_div(set.pixels(), WORD) + 1) {
    row = carver.take<uint32_t>(count * SIDE);
    colour = carver.take<Colour>(set.pixels());
    parent = carver.take<Colour>(count * fills + 1);
    first = carver.take<Colour>(count * fills + 1);
    filled = carver.take<uint32_t>(count);
    marks = carver.take<uint32_t>(words);
    before = carver.take<Colour>(words);
    check(sum_marks(*this, nullptr, sum_bytes, nullptr), "asking what a sum takes");
    sum = carver.take<uint8_t>(static_cast<int64_t>(sum_bytes));
}

// ---- Filling ----

/// Warp: calls body(x, y, z) for stretches of rows.  x is the lane's first pixel; its others follow SIDE apart.
template <class Colour, class Body>
__device__ void for_stretches(const ColouredTiles<Colour> &tiles, Body body) {
    const int64_t stretches = (tiles.width + STRETCH * SIDE - 1) / (STRETCH * SIDE);
    const int64_t total = stretches * tiles.height * tiles.depth;
    for (int64_t item = first_item() / WARP; item < total; item += item_step() / WARP) {
        const Place at = tiles.place(item, stretches, tiles.height);
        body(at.x * (STRETCH * SIDE) + threadIdx.x % WARP, at.y, at.z);
    }
}

template <class Colour>
__global__ void pack_rows(ColouredTiles<Colour> tiles) {
    for_stretches(tiles, [&tiles](int64_t x, int64_t y, int64_t z) {
        const uint8_t *const from = tiles.set.row(y, z);
        bool is_in[STRETCH];
#pragma unroll
        for (int k = 0; k < STRETCH; ++k)
            is_in[k] = x + k * SIDE < tiles.width && is_set(tiles.set, from, x + k * SIDE) != tiles.complement;
#pragma unroll
        for (int k = 0; k < STRETCH; ++k) {
            const uint32_t row = __ballot_sync(ALL_LANES, is_in[k]);
            if (x % SIDE == 0 && x + k * SIDE < tiles.width) tiles.row[tiles.row_at(x + k * SIDE, y, z)] = row;
        }
    });
}

/// The rows of a thread's tile, a word each, in shared memory.
struct TileRows {
    uint32_t *column;
    __device__ uint32_t &operator[](int y) const { return column[y * WALKERS]; }
};

/// The runs of `mask` that have a bit of `seeds`.  An addition carries through a run to its highest bit, and with the bits
/// reversed to its lowest.
__device__ uint32_t fill_runs(uint32_t seeds, uint32_t mask) {
    const uint32_t seeds_back = __brev(seeds), mask_back = __brev(mask);
    const uint32_t up = mask & (~(mask + seeds) | seeds), down = mask_back & (~(mask_back + seeds_back) | seeds_back);
    return up | __brev(down);
}

/// Adds to the region the waiting pixels of row y that are connected in the row to neighbours of the region's pixels in row
/// `from`, or in row y itself.  Returns whether there are new ones.
__device__ bool grow(TileRows waiting, TileRows region, int y, int from, bool diagonal) {
    uint32_t near = region[from];
    if (diagonal) near |= near << 1 | near >> 1;
    const uint32_t old = region[y], now = fill_runs((old | near) & waiting[y], waiting[y]);
    region[y] = now;
    return now != old;
}

/// Grows the region from one pixel in row `top`.  Returns the end of its rows.
__device__ int flood(TileRows waiting, TileRows region, int top, int height, bool diagonal) {
    int end;
    bool grew;
    grow(waiting, region, top, top, false);
    do {
        for (end = top + 1; end < height; ++end) {
            grow(waiting, region, end, end - 1, diagonal);
            if (!region[end]) break;
        }
        grew = false;
        for (int y = end - 2; y >= top; --y) grew |= grow(waiting, region, y, y + 1, diagonal);
    } while (grew);
    return end;
}

/// Writes the colour at the first pixel of each of the region's runs.  Its pixels are removed from `waiting`, and the region
/// becomes empty.
template <class Colour>
__device__ void write_runs(TileRows waiting, TileRows region, int top, int end, Colour colour, Colour *corner, int64_t width) {
    for (int y = top; y < end; ++y) {
        const uint32_t row = region[y];
        waiting[y] ^= row;
        region[y] = 0;
        for (uint32_t starts = row & ~(row << 1); starts; starts &= starts - 1) corner[y * width + lowest_bit(starts)] = colour;
    }
}

/// A thread fills a tile.
template <class Colour>
__device__ void fill_tile(const ColouredTiles<Colour> &tiles, int64_t tile, TileRows waiting, TileRows region) {
    const Place at = tiles.place(tile, tiles.across, tiles.down);
    const int64_t corner = tiles.pixel({at.x * SIDE, at.y * SIDE, at.z});
    const int height = static_cast<int>(min(tiles.height - at.y * SIDE, int64_t(SIDE)));
    for (int y = 0; y < height; ++y) {
        waiting[y] = tiles.row[y * tiles.count + tile];
        region[y] = 0;
    }
    Colour colour = static_cast<Colour>(1 + tile);
    uint32_t filled = 0;
    for (int y = 0; y < height; ++y)
        for (; waiting[y]; colour += static_cast<Colour>(tiles.count), ++filled) {
            const int x = lowest_bit(waiting[y]);
            tiles.first[colour] = static_cast<Colour>(corner + y * tiles.width + x);
            tiles.parent[colour] = colour;
            region[y] = 1u << x;
            const int end = flood(waiting, region, y, height, tiles.diagonal);
            write_runs(waiting, region, y, end, colour, tiles.colour + corner, tiles.width);
        }
    tiles.filled[tile] = filled;
}

template <class Colour>
__global__ void __launch_bounds__(WALKERS) fill_tiles(ColouredTiles<Colour> tiles) {
    __shared__ uint32_t rows[2][SIDE][WALKERS];
    const TileRows waiting{&rows[0][0][threadIdx.x]}, region{&rows[1][0][threadIdx.x]};
    for (int64_t tile = first_item(); tile < tiles.count; tile += item_step()) fill_tile(tiles, tile, waiting, region);
}

/// Copies colours from the first pixels of runs to all their pixels.  Pixels outside the set get 0.
template <class Colour>
__global__ void paint_rows(ColouredTiles<Colour> tiles) {
    for_stretches(tiles, [&tiles](int64_t x, int64_t y, int64_t z) {
        const int lane = x % SIDE;
        Colour *const at = tiles.colour + tiles.pixel({x, y, z});
        uint32_t row[STRETCH];
        Colour left[STRETCH];
#pragma unroll
        for (int k = 0; k < STRETCH; ++k)
            row[k] = x - lane + k * SIDE < tiles.width ? tiles.row[tiles.row_at(x + k * SIDE, y, z)] : 0;
#pragma unroll
        for (int k = 0; k < STRETCH; ++k) left[k] = (row[k] & ~(row[k] << 1)) >> lane & 1 ? at[k * SIDE] : 0;
#pragma unroll
        for (int k = 0; k < STRETCH; ++k) {
            const uint32_t gaps = ~row[k] & ((1u << lane) - 1);
            const Colour colour = __shfl_sync(ALL_LANES, left[k], gaps ? highest_bit(gaps) + 1 : 0);
            if (x + k * SIDE < tiles.width) at[k * SIDE] = row[k] >> lane & 1 ? colour : 0;
        }
    });
}

// ---- Merging ----

/// The root of a colour.  Other threads may join roots meanwhile.  With `shorten` it shortens the path.
template <class Colour>
__device__ Colour root_of(volatile Colour *parent, Colour colour, bool shorten) {
    for (;;) {
        const Colour up = parent[colour];
        if (up == colour) return colour;
        const Colour next = parent[up];
        if (shorten && next != up) parent[colour] = next;
        colour = next;
    }
}

/// Joins the components of two colours, unless one is 0.
template <class Colour>
__device__ void join(const ColouredTiles<Colour> &tiles, Colour one, Colour other) {
    if (!one || !other) return;
    for (;;) {
        one = root_of(tiles.parent, one, true);
        other = root_of(tiles.parent, other, true);
        if (one == other) return;
        const bool is_earlier = tiles.first[one] < tiles.first[other];
        const Colour later = is_earlier ? other : one;
        if (atomicCAS(tiles.parent + later, later, is_earlier ? one : other) == later) return;
    }
}

/// The borders of tiles in one direction, and distances in indices of pixels.
struct Borders {
    int64_t lines, length, apart;  // borders; pixels of one; the distance from border to border
    int64_t across, along;         // the distance to the next pixel across a border, and along it
};

/// A thread takes a pixel a behind a border, with b across the border, and c and d before these along it:
///
///     d b
///     c a
///
/// For vertical borders this is transposed.  Colours that met already at c and d are joined there.
template <class Colour>
__global__ void merge_borders(ColouredTiles<Colour> tiles, Borders borders) {
    const int64_t total = borders.lines * borders.length * tiles.depth;
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const auto [i, line, z] = tiles.place(item, borders.length, borders.lines);
        const Colour *at = tiles.colour + tiles.pixel({0, 0, z}) + (line + 1) * borders.apart + i * borders.along;
        const Colour a = at[0], b = at[-borders.across];
        const Colour c = i > 0 ? at[-borders.along] : 0, d = i > 0 ? at[-borders.along - borders.across] : 0;
        if (a != c || b != d) join(tiles, a, b);
        if (!tiles.diagonal) continue;
        if (!b && !c) join(tiles, a, d);
        if (!a && !d) join(tiles, b, c);
    }
}

// ---- Numbering: a thread takes the colours of a tile ----

/// Calls body(colour) for the colours of all tiles.
template <class Colour, class Body>
__device__ void for_colours(const ColouredTiles<Colour> &tiles, Body body) {
    for (int64_t tile = first_item(); tile < tiles.count; tile += item_step())
        for (uint32_t k = 0; k < tiles.filled[tile]; ++k) body(static_cast<Colour>(1 + tile + k * tiles.count));
}

/// Makes every colour's parent its root, and marks the first pixels of roots.
template <class Colour>
__global__ void mark_roots(ColouredTiles<Colour> tiles) {
    for_colours(tiles, [&tiles](Colour colour) {
        const Colour root = root_of(tiles.parent, colour, false);
        if (root != colour) {
            tiles.parent[colour] = root;
            return;
        }
        const Colour first = tiles.first[colour];
        atomicOr(tiles.marks + first / WORD, 1u << first % WORD);
    });
}

/// Gives every colour the label of its component.
template <class Colour>
__global__ void number_colours(ColouredTiles<Colour> tiles) {
    for_colours(tiles, [&tiles](Colour colour) {
        const Colour first = tiles.first[tiles.parent[colour]], word = first / WORD;
        const uint32_t below = (1u << first % WORD) - 1;
        tiles.parent[colour] = tiles.before[word] + static_cast<Colour>(__popc(tiles.marks[word] & below)) + 1;
    });
}

template <class Colour, class Pixel>
__global__ void write_labels(ColouredTiles<Colour> tiles, View labels) {
    for_stretches(tiles, [&tiles, &labels](int64_t x, int64_t y, int64_t z) {
        const Colour *const from = tiles.colour + tiles.pixel({x, y, z});
        uint8_t *const to = labels.row(y, z);
        Colour colour[STRETCH], number[STRETCH];
#pragma unroll
        for (int k = 0; k < STRETCH; ++k) colour[k] = x + k * SIDE < tiles.width ? from[k * SIDE] : 0;
#pragma unroll
        for (int k = 0; k < STRETCH; ++k) number[k] = colour[k] ? tiles.parent[colour[k]] : 0;
#pragma unroll
        for (int k = 0; k < STRETCH; ++k)
            if (x + k * SIDE < tiles.width) put(labels, to, x + k * SIDE, static_cast<Pixel>(number[k]));
    });
}

// ---- The call ----

template <class Colour>
void run(const ComponentsJob &job, const ColouredTiles<Colour> &tiles, cudaStream_t stream, const Progress &progress) {
    const int64_t walkers = ceil_div(tiles.count, WALKERS),
                  warps = ceil_div(tiles.width, STRETCH * SIDE) * tiles.height * tiles.depth, painters = ceil_div(warps, WARPS);
    launch("pack_rows", pack_rows<Colour>, painters, BLOCK, stream, tiles);
    launch("fill_tiles", fill_tiles<Colour>, walkers, WALKERS, stream, tiles);
    launch("paint_rows", paint_rows<Colour>, painters, BLOCK, stream, tiles);
    report(progress, 0.4, stream);
    const Borders rows{tiles.down - 1, tiles.width, SIDE * tiles.width, tiles.width, 1};
    const Borders columns{tiles.across - 1, tiles.height, SIDE, 1, tiles.width};
    for (const Borders &borders : {rows, columns})
        launch("merge_borders", merge_borders<Colour>, ceil_div(borders.lines * borders.length * tiles.depth, BLOCK), BLOCK,
               stream, tiles, borders);
    check(cudaMemsetAsync(tiles.marks, 0, static_cast<size_t>(tiles.words) * sizeof *tiles.marks, stream), "clearing marks");
    launch("mark_roots", mark_roots<Colour>, walkers, WALKERS, stream, tiles);
    size_t bytes = tiles.sum_bytes;
    check(sum_marks(tiles, tiles.sum, bytes, stream), "summing marks");
    report(progress, 0.8, stream);
    if (job.labels) {
        launch("number_colours", number_colours<Colour>, walkers, WALKERS, stream, tiles);
        const auto write = job.labels.type == APSIS_I32 ? write_labels<Colour, int32_t> : write_labels<Colour, int64_t>;
        launch("write_labels", write, painters, BLOCK, stream, tiles, job.labels);
    }
    if (job.count) {
        Colour count;
        check(cudaMemcpyAsync(&count, tiles.before + tiles.words - 1, sizeof count, cudaMemcpyDeviceToHost, stream),
              "copying the count");
        check(cudaStreamSynchronize(stream), "waiting for the device");
        *job.count = static_cast<int64_t>(count);
    }
    report(progress, 1, stream);
}

/// Calls body(tiles) with the tiles of a job in its scratch memory.
template <class Body>
void with_tiles(const ComponentsJob &job, Carver &carver, Body body) {
    const int64_t tiles = ceil_div(job.set.size[0], SIDE) * ceil_div(job.set.size[1], SIDE) * job.set.size[2];
    if (tiles <= (int64_t(1) << 32) / (SIDE * SIDE))
        body(ColouredTiles<Narrow>(job, carver));
    else
        body(ColouredTiles<Wide>(job, carver));
}

}  // namespace

size_t tile_fill_scratch(const ComponentsJob &job) {
    Carver carver;
    with_tiles(job, carver, [](const auto &) {});
    return carver.used();
}

void tile_fill(const ComponentsJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    Carver carver(memory);
    with_tiles(job, carver, [&](const auto &tiles) { run(job, tiles, stream, progress); });
}

}  // namespace apsis::cuda::published
