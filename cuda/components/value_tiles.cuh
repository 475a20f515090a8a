// Labels the tiles of a label image in shared memory: the first step of values.cu.  And those of a grey image, in which values
// are connected that are near each other.
//
// A warp compares 32 pixels with those to the left and with those of earlier rows.  What it finds becomes words: where runs of
// connected pixels begin, and where they meet runs of earlier rows.  From there on a thread has a word, and runs are joined as
// in label.cuh.  Unlike there, two runs may begin side by side, so that tiles are smaller.  What comes of it are parts, the
// components of a tile, which value_rims.cuh joins with those of other tiles.
//
// The runs of a tile lie side by side in memory, in their order, and so do its parts: where there are few, little is read.
//
// Cost: 1 read of the image, 5/8 byte a pixel out, 2 bytes for each run, and 8 for each part.
#pragma once

#include "cuda/components/label.cuh"
#include "cuda/components/row_pixel.cuh"

namespace apsis::cuda::components {

/// A tile of a label image, 8192 pixels, with the earlier rows of a tile of sets.
template <class Set, int NEIGHBOURS, int WORDS_IN_ROW, int ROWS_OF_PLANE, int PLANES_OF_TILE>
struct ValueTile {
    static constexpr int CONNECTIVITY = NEIGHBOURS;
    static constexpr int WORDS = WORDS_IN_ROW, ROWS = ROWS_OF_PLANE, PLANES = PLANES_OF_TILE;
    static constexpr int THREADS = WORDS * ROWS * PLANES;
    static constexpr int RIM_THREADS = PLANES == 1 ? WORDS * WARP + ROWS : THREADS;  // a block's that joins it with others
    static constexpr int EARLIER_ROWS = Set::EARLIER_ROWS;
    static constexpr bool DIAGONALS = Set::earlier_row(0).diagonals;
    APSIS_BOTH static constexpr EarlierRow earlier_row(int s) { return Set::earlier_row(s); }
};
template <int CONNECTIVITY>
using PlaneValueTile = ValueTile<PlaneTile<CONNECTIVITY>, CONNECTIVITY, 4, 64, 1>;
template <int CONNECTIVITY>
using VolumeValueTile = ValueTile<VolumeTile<CONNECTIVITY>, CONNECTIVITY, 1, 16, 16>;

/// The parts of a tile lie side by side.
struct PartsOfTile {
    uint32_t begin, count;
};

/// A label image, and what its components take in global memory.  There is room for as many runs and parts as there are pixels,
/// tile by tile, and in a tile they are in the order of their first pixels.
struct ValueImage {
    View set;
    uint32_t words, height;    // of a row; of a plane
    uint32_t total;            // words
    uint32_t across, down;     // tiles
    PartsOfTile *tile;         // [tile]
    uint32_t *parent;          // [part]: another part of the component, or itself; in the end the number of the component
    uint32_t *first;           // [part]: its lowest pixel
    uint16_t *back;            // [run]: its number less that of its part
    uint32_t *bits, *starts;   // [word]: the set; the pixels at which runs begin
    uint32_t *runs;            // [word]: how many runs begin before it
    uint32_t *firsts;          // [word]: the lowest pixels of parts, and in the end of the components that are kept
    uint32_t *before;          // [word]: how many bits of firsts it has; after the scan, how many come before it
    unsigned long long *area;  // [part]: of roots, with TOUCHES_BORDER; null if none are selected
};

#if defined(__CUDACC__)

/// The first pixel of a block's tile.
template <class Tile>
struct ValuePlace {
    int64_t x, y, z;
    uint32_t first_word;  // of its row

    __device__ ValuePlace(const ValueImage &image) {
        const uint32_t row = blockIdx.x / image.across;
        first_word = (blockIdx.x - row * image.across) * Tile::WORDS;
        x = int64_t(first_word) * WARP;
        y = int64_t(row % image.down) * Tile::ROWS, z = int64_t(row / image.down) * Tile::PLANES;
    }
    /// How many of its rows and planes are inside the image.
    __device__ int64_t rows(const View &set) const { return min(int64_t(Tile::ROWS), set.size[1] - y); }
    __device__ int64_t planes(const View &set) const { return min(int64_t(Tile::PLANES), set.size[2] - z); }
    /// How many pixels the tiles before it have.
    __device__ uint32_t pixels_before(const View &set) const {
        return static_cast<uint32_t>((z * set.size[1] + y * planes(set)) * set.size[0] + x * rows(set) * planes(set));
    }
    /// The row of a word of the tile, in the image.
    __device__ uint32_t row_of(const ValueImage &image, int at) const {
        return (static_cast<uint32_t>(z) + at / (Tile::WORDS * Tile::ROWS)) * image.height + static_cast<uint32_t>(y) +
               at / Tile::WORDS % Tile::ROWS;
    }
    __device__ bool is_inside(const ValueImage &image, int at) const {
        return first_word + at % Tile::WORDS < image.words && y + at / Tile::WORDS % Tile::ROWS < image.set.size[1] &&
               z + at / (Tile::WORDS * Tile::ROWS) < image.set.size[2];
    }
};

/// The shared memory of a block that labels a tile.
template <class Values, class Tile>
struct LabelledValues {
    using Pixel = RowPixel<Values>;
    static constexpr int RUNS = Tile::THREADS * WARP, ENTRIES = RUNS + RUNS / 32;
    static constexpr int KINDS_A_ROW = Tile::DIAGONALS ? 3 : 1, KINDS = Tile::EARLIER_ROWS * KINDS_A_ROW;
    static constexpr int LEFT = 1, RIGHT = 2;  // the second and the third kind of meeting
    /// Of a word.  They lie side by side, so that a lane writes them with few instructions.
    struct alignas(KINDS % 4 ? KINDS % 2 ? 4 : 8 : 16) WordMeetings {
        uint32_t kind[KINDS];
    };
    using Scan = cub::BlockScan<uint32_t, Tile::THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

    uint32_t start[Tile::THREADS], bits[Tile::THREADS];
    WordMeetings meetings[Tile::THREADS];
    RunParents<Tile::THREADS, ENTRIES> parents;
    uint16_t runs_before[Tile::THREADS];
    typename Scan::TempStorage scan;

    __device__ Runs runs_of(int at) const { return {start[at], runs_before[at]}; }

    /// Warp: a row of a word: its pixels, and where runs begin.
    struct Row {
        Pixel pixel;
        uint32_t begins = 0;

        Row() = default;
        __device__ Row(const Pixel &read, const Values &values) : pixel(read) {
            pixel.share();
            begins = __ballot_sync(ALL_LANES, pixel.starts(values));
        }
        __device__ uint32_t connected(const Row &other, const Values &values) const {
            return __ballot_sync(ALL_LANES, pixel.connects(other.pixel, values));
        }
    };

    /// Warp: tells a word's meetings with an earlier row, of which `connected` pixels are connected, except those at `implied`
    /// pixels, which other joins imply.  Equal values meet where a run begins.
    __device__ static void meet(const Values &values, int s, const Row &own, const Row &other, uint32_t connected,
                                uint32_t implied, WordMeetings &told) {
        constexpr bool FOLLOWS = Values::IS_TRANSITIVE;
        const uint32_t here =
            FOLLOWS ? connected & (own.begins | other.begins) : __ballot_sync(ALL_LANES, own.pixel.meets(other.pixel, values));
        told.kind[s * KINDS_A_ROW] = here & ~implied;
        if constexpr (Tile::DIAGONALS) {
            uint32_t left = 0, right = 0;
            if (Tile::earlier_row(s).diagonals) {
                left = __ballot_sync(ALL_LANES,
                                     FOLLOWS ? own.pixel.value == other.pixel.left : own.pixel.meets_left(other.pixel, values));
                right = __ballot_sync(
                    ALL_LANES, FOLLOWS ? own.pixel.left == other.pixel.value : own.pixel.meets_right(other.pixel, values));
                if (FOLLOWS) left &= own.begins & ~connected, right &= other.begins & ~connected;
            }
            told.kind[s * KINDS_A_ROW + LEFT] = left, told.kind[s * KINDS_A_ROW + RIGHT] = right;
        }
    }

    /// Block: compares the pixels of a tile, which is WHOLE if all are inside the image.  A warp has 32 words of a column of
    /// words, and loads some rows at once.
    template <bool WHOLE>
    __device__ void compare(const View &set, const ValuePlace<Tile> &place, const Values &values) {
        constexpr int AT_ONCE = Tile::PLANES > 1 ? 4 : 8;
        constexpr bool HAS_NEXT = Tile::EARLIER_ROWS > 2;
        static_assert(Tile::ROWS % AT_ONCE == 0);
        const int lane = threadIdx.x % WARP, warp = warp_in_block(), column = warp % Tile::WORDS;
        const int64_t x = place.x + column * WARP + lane;
        const uint8_t *const first = set.row(place.y, place.z) + x * set.stride[0];
        const bool is_inside = WHOLE || x < set.size[0];
        const int rows = static_cast<int>(place.rows(set)), planes = static_cast<int>(place.planes(set));
        const auto read = [&](Pixel &pixel, const uint8_t *at, int y, int z) {
            pixel.read(set, at, WHOLE || (is_inside && y < rows && z < planes), column > 0);
        };
        Row above;
        uint32_t in_plane_above = 0;
#pragma unroll 1
        for (int row = warp / Tile::WORDS * WARP, end = row + WARP; row < end; row += AT_ONCE) {
            const int y0 = row % Tile::ROWS, z = row / Tile::ROWS;
            const bool begins_inside = y0 > 0 && row % WARP == 0;  // the first row of a warp, after that of another
            Pixel above_pixel, own_pixels[AT_ONCE], behind_pixels[AT_ONCE + 2];  // behind: from the row before on
            const uint8_t *own_at = first + y0 * set.stride[1] + z * set.stride[2];
            const uint8_t *behind_at = own_at - set.stride[2] - set.stride[1];
            if (y0 == 0) above = {}, in_plane_above = 0;
            if (begins_inside) read(above_pixel, own_at - set.stride[1], y0 - 1, z);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i, own_at += set.stride[1]) read(own_pixels[i], own_at, y0 + i, z);
            if (Tile::PLANES > 1 && z > 0)
#pragma unroll
                for (int i = 0; i < AT_ONCE + 2; ++i, behind_at += set.stride[1])
                    if (y0 + i > 0 && y0 + i <= Tile::ROWS) read(behind_pixels[i], behind_at, y0 + i - 1, z - 1);
            if (begins_inside) above = Row(above_pixel, values);
            // In the plane before: of the row before, this row, and the next, if that is an earlier row.
            Row behind[3];
            if (HAS_NEXT || (Tile::PLANES > 1 && !Values::IS_TRANSITIVE)) behind[1] = Row(behind_pixels[0], values);
            if (HAS_NEXT) behind[2] = Row(behind_pixels[1], values);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int at = (row + i) * Tile::WORDS + column;
                const Row own(own_pixels[i], values);
                const uint32_t all = __ballot_sync(ALL_LANES, own.pixel.value != 0), in_row = own.connected(above, values);
                if (lane == 0) bits[at] = all, start[at] = own.begins;
                WordMeetings told;
                meet(values, 0, own, above, in_row, 0, told);
                if constexpr (Tile::EARLIER_ROWS > 1) {
                    behind[0] = behind[1], behind[1] = behind[2];
                    behind[1 + HAS_NEXT] = Row(behind_pixels[i + 1 + HAS_NEXT], values);
                    const uint32_t in_plane = own.connected(behind[1], values);
                    // Those of the plane before: with the row before, and with the next.  Of equal values they follow.
                    const uint32_t across = Values::IS_TRANSITIVE ? ALL_LANES : behind[1].connected(behind[0], values);
                    meet(values, 1, own, behind[1], in_plane, in_row & in_plane & in_plane_above & across, told);
                    if constexpr (Tile::EARLIER_ROWS > 2) {
                        const uint32_t by_row = Values::IS_TRANSITIVE ? in_row : in_row & in_plane_above;
                        const uint32_t next = Values::IS_TRANSITIVE ? ALL_LANES : behind[1].connected(behind[2], values);
                        meet(values, 2, own, behind[0], own.connected(behind[0], values), by_row | (in_plane & across), told);
                        meet(values, 3, own, behind[2], own.connected(behind[2], values), in_plane & next, told);
                    }
                    in_plane_above = in_plane;
                }
                if (lane == 0) meetings[at] = told;
                above = own;
            }
        }
        __syncthreads();
    }

    /// Block: labels the runs; all threads see the result.  Returns how many there are.
    __device__ uint32_t label() {
        uint32_t first, runs;
        Scan(scan).ExclusiveSum(__popc(start[threadIdx.x]), first, runs);
        runs_before[threadIdx.x] = static_cast<uint16_t>(first);
        __syncthreads();
        link();
        __syncthreads();
        parents.flatten(runs);
        __syncthreads();
        join();
        __syncthreads();
        parents.flatten(runs);
        __syncthreads();
        return runs;
    }

    /// The word of an earlier row.
    __device__ static int word_of(int s) {
        const EarlierRow earlier = Tile::earlier_row(s);
        return static_cast<int>(threadIdx.x) + (earlier.dy + earlier.dz * Tile::ROWS) * Tile::WORDS;
    }

    /// Makes each run of a thread's word the child of the first run that it meets in the row before, or else in the plane
    /// before.  Their meetings are done.
    __device__ void link() {
        const int at = threadIdx.x;
        constexpr int PLANE = Tile::EARLIER_ROWS > 1, FIRST_LEFT = Tile::DIAGONALS ? LEFT : 0;  // 0: there is none
        uint32_t *const kind = meetings[at].kind;
        const uint32_t all = start[at], here = kind[0] & all, all_left = FIRST_LEFT ? kind[FIRST_LEFT] : 0;
        const uint32_t left = Values::IS_TRANSITIVE ? all_left : all_left & all & ~here;  // of equal values it is the same
        const uint32_t plane = PLANE ? kind[PLANE * KINDS_A_ROW] & all & ~here & ~left : 0;
        const Runs above = here | left ? runs_of(word_of(0)) : Runs{0, 0};
        const Runs behind = plane ? runs_of(word_of(PLANE)) : Runs{0, 0};
        uint32_t number = runs_before[at];
        for (uint32_t rest = all; rest; rest &= rest - 1, ++number) {
            const int x = __ffs(rest) - 1;
            const uint32_t run = entry_of(number);
            parents[run] = here >> x & 1    ? above.run_at(x)
                           : left >> x & 1  ? above.run_in(below(x))
                           : plane >> x & 1 ? behind.run_at(x)
                                            : run;
        }
        kind[0] &= ~all;
        if (FIRST_LEFT) kind[FIRST_LEFT] = all_left ^ left;
        if (PLANE) kind[PLANE * KINDS_A_ROW] &= ~plane;
    }

    /// Joins the runs that still are to meet, all of a thread in one loop.
    __device__ void join() {
        const Runs own = runs_of(threadIdx.x);
        uint32_t rest = meetings[threadIdx.x].kind[0], one = 0, two = 0;
        for (int kind = 0;;) {
            if (one == two) {
                while (!rest && ++kind < KINDS) rest = meetings[threadIdx.x].kind[kind];
                if (!rest) return;
                const int x = __ffs(rest) - 1, where = kind % KINDS_A_ROW;
                rest &= rest - 1;
                one = own.run_in(where == RIGHT ? below(x) : up_to(x));
                two = runs_of(word_of(kind / KINDS_A_ROW)).run_in(where == LEFT ? below(x) : up_to(x));
            }
            parents.rem_step(one, two);
        }
    }
};

/// As many as shared memory has room for.  Values of 64 bits take more registers.
template <class Values, class Tile>
constexpr int LABEL_BLOCKS_PER_SM = (Tile::PLANES > 1 ? 4 : 5) - (sizeof(typename Values::Pixel) == 8);

template <class Values, class Tile>
__global__ void __launch_bounds__(Tile::THREADS, LABEL_BLOCKS_PER_SM<Values, Tile>)
    label_value_tile(ValueImage image, Values values) {
    using Labelled = LabelledValues<Values, Tile>;
    __shared__ Labelled labelled;
    const ValuePlace<Tile> place(image);
    const bool is_whole = place.x + Tile::WORDS * WARP <= image.set.size[0] && place.y + Tile::ROWS <= image.set.size[1] &&
                          place.z + Tile::PLANES <= image.set.size[2];
    if (is_whole)
        labelled.template compare<true>(image.set, place, values);
    else
        labelled.template compare<false>(image.set, place, values);
    const uint32_t runs = labelled.label(), begin = place.pixels_before(image.set);
    const int at = threadIdx.x;
    uint32_t firsts = 0, number = labelled.runs_before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++number)
        if (labelled.parents[entry_of(number)] == entry_of(number)) firsts |= rest & -rest;
    const uint32_t row = place.row_of(image, at), column = place.first_word + at % Tile::WORDS;
    uint32_t part, parts;
    typename Labelled::Scan(labelled.scan).ExclusiveSum(__popc(firsts), part, parts);
    if (place.is_inside(image, at)) {
        const uint32_t word = row * image.words + column;
        image.bits[word] = labelled.bits[at], image.starts[word] = labelled.start[at];
        image.runs[word] = begin + labelled.runs_before[at];
        image.firsts[word] = firsts, image.before[word] = __popc(firsts);
    }
    if (at == 0) image.tile[blockIdx.x] = {begin, parts};
    if (at == 0 && blockIdx.x == 0) image.before[image.total] = 0;
    // From here on the parent of a root is ENTRIES plus the number of its part.
    const Runs own = labelled.runs_of(at);
    for (uint32_t rest = firsts, next = part; rest; rest &= rest - 1)
        labelled.parents[own.run_from(rest & -rest)] = Labelled::ENTRIES + next++;
    __syncthreads();
    for (uint32_t run = at; run < runs; run += Tile::THREADS) {
        const uint32_t up = labelled.parents[entry_of(run)];
        const uint32_t of_run = (up < Labelled::ENTRIES ? labelled.parents[up] : up) - Labelled::ENTRIES;
        image.back[begin + run] = static_cast<uint16_t>(run - of_run);
    }
    __syncthreads();
    // And from here on the place of the parents has the first pixels of parts, so that neighbours are written side by side.
    const uint32_t first_pixel = row * static_cast<uint32_t>(image.set.size[0]) + column * WARP;
    for (uint32_t rest = firsts; rest; rest &= rest - 1) labelled.parents[part++] = first_pixel + __ffs(rest) - 1;
    __syncthreads();
    for (uint32_t i = at; i < parts; i += Tile::THREADS)
        image.parent[begin + i] = begin + i, image.first[begin + i] = labelled.parents[i];
}

#endif

/// Calls body(tile) with the kind of tile that has such neighbours.
template <class Body>
void with_value_tile(int axes, int connectivity, Body body) {
    if (axes == 2) return connectivity == 1 ? body(PlaneValueTile<1>()) : body(PlaneValueTile<2>());
    if (connectivity == 1) return body(VolumeValueTile<1>());
    return connectivity == 2 ? body(VolumeValueTile<2>()) : body(VolumeValueTile<3>());
}

}  // namespace apsis::cuda::components
