// Packs the begins of runs of a label image into bit columns: a bit for each pixel that differs from the one before it.  Their
// carries are found as those of sets (carries.cu), and nearest_beyond_run() of core/columns.h reads them.
//
// A thread packs a word, 32 pixels of a column.  Neighbouring threads take columns side by side, and along x words side by
// side.
//
// Cost: the pixels in, along y and z once more for each strip's first row, and 1/8 byte a pixel out.  In a plane a warp packs
// 32 rows of 32 pixels along both axes, and reads them once; in a volume a block packs 32 such tiles along all three axes, and
// finds the pixels behind a tile in the caches.
#include <type_traits>

#include "core/label_values.h"
#include "cuda/columns/columns.h"
#include "cuda/columns/transpose.cuh"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::columns {

namespace {

/// A word of columns along an axis: its place, and the pixel where it begins.
struct Word {
    int64_t at;
    int64_t start[3];
};

__device__ Word word_of(const View &labels, int axis, const Columns &columns, int64_t item) {
    const int64_t width = labels.size[0], height = labels.size[1], strips = columns.strips();
    if (axis == 0) {  // a column is a row
        const int64_t strip = item % strips, row = item / strips;
        return {columns.at(0, strip, row), {strip * STRIP, row % height, row / height}};
    }
    const int64_t x = item % width, y = item / width % (axis == 2 ? height : 1);
    const int64_t strip = item / columns.count % strips, image = item / columns.count / strips;
    if (axis == 1) return {columns.at(image, strip, x), {x, strip * STRIP, image}};
    return {columns.at(0, strip, x * height + y), {x, y, strip * STRIP}};
}

template <class Pixel>
__global__ void pack_begins(View labels, int axis, Columns columns) {
    const int64_t step = labels.stride[axis], total = columns.total();
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const Word word = word_of(labels, axis, columns, item);
        const int64_t start = word.start[axis];
        const int count = static_cast<int>(min(columns.length - start, int64_t(STRIP)));
        const uint8_t *pixel = labels.row(word.start[1], word.start[2]) + word.start[0] * labels.stride[0];
        Pixel before = *reinterpret_cast<const Pixel *>(start > 0 ? pixel - step : pixel);
        uint32_t begins = 0;
        for (int bit = 0; bit < count; ++bit, pixel += step) {
            const Pixel value = *reinterpret_cast<const Pixel *>(pixel);
            begins |= static_cast<uint32_t>(value != before) << bit;
            before = value;
        }
        columns.words[word.at] = begins;
    }
}

constexpr int ROWS_AT_ONCE = 8;  // whose pixels a lane loads before it looks at them
constexpr int CUBES_PER_SM = 3;  // blocks: leaves a thread 80 registers, for the pixels behind these, too

/// A tile: 32 rows and 32 columns of a plane.
struct Tile {
    int64_t word, strip, image;
};

/// Warp: packs a tile along both axes: a lane has a column, and in the end a row.  IN_VOLUME: a lane gets its row's begins of
/// runs along z.
template <class Pixel, bool IN_VOLUME>
__device__ uint32_t pack_tile(const View &labels, const Tile &tile, const Columns &columns, const Columns &rows,
                              uint32_t *members) {
    using Number = std::conditional_t<sizeof(Pixel) == 8, unsigned long long, uint32_t>;
    const int lane = threadIdx.x % WARP;
    const int64_t left = tile.word * WARP, x = left + lane, y = tile.strip * STRIP;
    const int height = static_cast<int>(min(columns.length - y, int64_t(STRIP)));
    const bool is_inside = x < columns.count;
    const auto read = [](const uint8_t *pixel) { return Number(*reinterpret_cast<const Pixel *>(pixel)); };
    // Beyond the last column lanes have that one, and beyond the last row that one, where nothing begins.
    const uint8_t *pixel = labels.row(y, tile.image) + min(x, columns.count - 1) * labels.stride[0];
    const int64_t behind = tile.image > 0 ? labels.stride[2] : 0;
    Number above = read(y > 0 ? pixel - labels.stride[1] : pixel);
    // Of a lane's row: whether a run begins with the first pixel.  The lane before that one has no pixel.
    bool begins_first = false;
    if (tile.word > 0 && lane < height) {
        const uint8_t *const first = labels.row(y + lane, tile.image) + left * labels.stride[0];
        begins_first = read(first) != read(first - labels.stride[0]);
    }
    // Of a lane's column, a bit a row: the begins along y, x and z, and the pixels that have a value.
    uint32_t along_y = 0, along_x = 0, along_z = 0, have_values = 0;
    const auto pack_rows = [&](auto has_all) {  // std::true_type: all 32 rows
#pragma unroll 1
        for (int from = 0; from < height; from += ROWS_AT_ONCE) {
            Number values[ROWS_AT_ONCE], values_behind[ROWS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < ROWS_AT_ONCE; ++k) {
                values[k] = read(pixel);
                if (IN_VOLUME) values_behind[k] = read(pixel - behind);
                if (decltype(has_all)::value || from + k + 1 < height) pixel += labels.stride[1];
            }
            uint32_t y_bits = 0, x_bits = 0, z_bits = 0, value_bits = 0;
#pragma unroll
            for (int k = 0; k < ROWS_AT_ONCE; ++k) {
                const Number value = values[k], before = __shfl_up_sync(ALL_LANES, value, 1);
                const uint32_t bit = 1u << k;
                y_bits |= value != above ? bit : 0, x_bits |= value != before ? bit : 0, value_bits |= value != 0 ? bit : 0;
                if (IN_VOLUME) z_bits |= value != values_behind[k] ? bit : 0;
                above = value;
            }
            along_y |= y_bits << from, along_x |= x_bits << from, along_z |= z_bits << from, have_values |= value_bits << from;
        }
    };
    if (height == STRIP)
        pack_rows(std::true_type());
    else
        pack_rows(std::false_type());
    const uint32_t inside = __ballot_sync(ALL_LANES, is_inside);
    if (is_inside) columns.words[columns.at(tile.image, tile.strip, x)] = along_y & columns.valid(tile.strip);
    const uint32_t begins = (transpose_bits(along_x) & ~1u) | static_cast<uint32_t>(begins_first);
    const uint32_t of_row = transpose_bits(have_values), along_z_of_row = IN_VOLUME ? transpose_bits(along_z) : 0;
    if (lane >= height) return 0;
    const int64_t at = rows.at(0, tile.word, tile.image * columns.length + y + lane);
    rows.words[at] = begins & inside, members[at] = of_row & inside;
    return along_z_of_row & inside;
}

/// A warp packs a tile.  32 bits count the tiles of 1024 pixels of any image that fits a memory.
template <class Pixel>
__global__ void __launch_bounds__(BLOCK) pack_tiles(View labels, Columns columns, Columns rows, uint32_t *members) {
    const uint32_t across = static_cast<uint32_t>(rows.strips()), strips = static_cast<uint32_t>(columns.strips());
    const int64_t total = columns.batch * strips * across;
    for (int64_t next = int64_t(blockIdx.x) * WARPS + warp_in_block(); next < total; next += item_step() / WARP) {
        const uint32_t item = static_cast<uint32_t>(next), row = item / across, image = row / strips;
        pack_tile<Pixel, false>(labels, {item - row * across, row - image * strips, image}, columns, rows, members);
    }
}

/// A block packs 32 tiles, one behind the other, and turns their begins along z into words.
template <class Pixel>
__global__ void __launch_bounds__(BLOCK, CUBES_PER_SM)
    pack_cubes(View labels, Columns along_y, Columns along_z, Columns rows, uint32_t *members) {
    __shared__ uint32_t begins[STRIP][STRIP + 1];  // [z][y]: a bit for each x
    const int lane = threadIdx.x % WARP, warp = warp_in_block();
    const int64_t across = rows.strips(), down = along_y.strips(), total = across * down * along_z.strips();
    for (int64_t item = blockIdx.x; item < total; item += gridDim.x) {
        const int64_t word = item % across, strip = item / across % down, deep = item / across / down;
#pragma unroll 1
        for (int i = warp; i < STRIP; i += WARPS) {
            const int64_t z = deep * STRIP + i;
            begins[i][lane] = z < along_z.length ? pack_tile<Pixel, true>(labels, {word, strip, z}, along_y, rows, members) : 0;
        }
        __syncthreads();
        for (int i = warp; i < STRIP; i += WARPS) {
            const int64_t x = word * WARP + lane, y = strip * STRIP + i;
            const uint32_t along = transpose_bits(begins[lane][i]);
            if (x < along_z.count && y < along_y.length) along_z.words[along_z.at(y, deep, x)] = along;
        }
        __syncthreads();
    }
}

}  // namespace

void pack_runs(const View &labels, int axis, const Columns &columns, cudaStream_t stream) {
    with_label_type(labels.type, [&](auto pixel) {
        launch("pack_begins", pack_begins<std::make_unsigned_t<decltype(pixel)>>, ceil_div(columns.total(), BLOCK), BLOCK,
               stream, labels, axis, columns);
    });
}

void pack_runs_of_planes(const View &labels, const Columns &columns, const Columns &rows, uint32_t *members,
                         cudaStream_t stream) {
    const int64_t tiles = columns.batch * columns.strips() * rows.strips();
    with_label_type(labels.type, [&](auto pixel) {
        launch("pack_tiles", pack_tiles<std::make_unsigned_t<decltype(pixel)>>, ceil_div(tiles, WARPS), BLOCK, stream, labels,
               columns, rows, members);
    });
    keep_words(columns, stream);
}

void pack_runs_of_volume(const View &labels, const Columns &along_y, const Columns &along_z, const Columns &rows,
                         uint32_t *members, cudaStream_t stream) {
    const int64_t cubes = rows.strips() * along_y.strips() * along_z.strips();
    with_label_type(labels.type, [&](auto pixel) {
        launch("pack_cubes", pack_cubes<std::make_unsigned_t<decltype(pixel)>>, cubes, BLOCK, stream, labels, along_y, along_z,
               rows, members);
    });
}

Columns shape_rows(const View &labels) {
    Columns rows;
    rows.length = labels.size[0];
    rows.count = labels.size[1] * labels.size[2];
    rows.batch = 1;
    return rows;
}

}  // namespace apsis::cuda::columns
