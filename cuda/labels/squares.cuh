// What a warp finds of a value in a square of 32 x 32 pixels, of which a lane has a column as 32 bits.
//
// All is counted by the bits of a value's columns and of the columns beside them: there is a look at each pixel for each value
// of the square, and all else is by 32 pixels at a time.  Windows are those of core/windows.h: one of the corner before each
// pixel.  For the pixels around those that are counted, squares overlap.
//
// Cost: some 150 operations for each value of a square, and 100 more for windows.
#pragma once

#include "cuda/labels/records.cuh"
#include "cuda/runtime/positions.h"

namespace apsis::cuda::labels {

/// Warp: the pixels of a square, each lane's column; 0 outside of the image.
template <class Pixel>
__device__ void load_square(const View &image, int64_t x, int64_t y, int64_t z, Pixel (&value)[WARP]) {
    const bool is_inside = x >= 0 && x < image.size[0] && z >= 0 && z < image.size[2];
    const int64_t begin = x * image.stride[0] + y * image.stride[1] + z * image.stride[2];
    const int64_t first = is_inside ? max(-y, int64_t(0)) : WARP, end = image.size[1] - y;
#pragma unroll
    for (int row = 0; row < WARP; ++row)
        value[row] =
            row >= first && row < end ? *reinterpret_cast<const Pixel *>(image.data + begin + row * image.stride[1]) : Pixel(0);
}

/// The pixels of a column that have a value, as bits.
template <class Pixel>
__device__ uint32_t column_of(const Pixel (&pixel)[WARP], Pixel value) {
    uint32_t column = 0;
#pragma unroll
    for (int row = 0; row < WARP; ++row) column |= static_cast<uint32_t>(pixel[row] == value) << row;
    return column;
}

/// Each lane's number of a record.
struct OwnField {
    uint32_t number = 0;
    __device__ void put(int field, uint32_t value) {
        if (static_cast<int>(threadIdx.x) % WARP == field) number = value;
    }
};

/// Warp: adds the pixels of a value, of which there are some, where y and z are the square's place from the origin; `rows` are
/// those that have some.
__device__ inline void add_pixels(uint32_t column, uint32_t rows, uint32_t y, uint32_t z, const Origin &origin,
                                  bool wants_moments, OwnField &own) {
    const uint32_t lane = threadIdx.x % WARP, row = __ffs(rows) - 1;
    const unsigned columns = __ballot_sync(ALL_LANES, column != 0), first = __ballot_sync(ALL_LANES, column >> row & 1);
    own.put(FIRST, ~origin.place_of(__ffs(first) - 1, y + row, z));
    own.put(LOWER, ~uint32_t(__ffs(columns) - 1));
    own.put(LOWER + 1, ~(y + row));
    own.put(UPPER, WARP - __clz(static_cast<int>(columns)));
    own.put(UPPER + 1, y + WARP - __clz(static_cast<int>(rows)));
    own.put(UPPER + 2, z + 1);
    const uint32_t count = __popc(column), positions = sum_of_positions(column);
    const uint32_t area = sum_of_warp(count), both = sum_of_warp(count * lane | positions << 16);
    const uint32_t sum_x = both & 0xffff, sum_row = both >> 16;
    own.put(AREA, area);
    own.put(SUM, sum_x);
    own.put(SUM + 1, area * y + sum_row);
    own.put(SUM + 2, area * z);
    if (!wants_moments) return;
    own.put(PRODUCT, sum_of_warp(count * lane * lane));
    own.put(PRODUCT + 1, area * y * y + 2 * y * sum_row + sum_of_warp(sum_of_squares(column)));
    own.put(PRODUCT + 2, area * z * z);
    own.put(PRODUCT + 3, y * sum_x + sum_of_warp(lane * positions));
    own.put(PRODUCT + 4, z * sum_x);
    own.put(PRODUCT + 5, z * (area * y + sum_row));
}

/// Warp: adds the windows whose last pixel is among those that count, from the value's columns, and in 3-D from those of the
/// plane before.
template <int AXES>
__device__ void add_windows(uint32_t column, uint32_t column_before, uint32_t counts, int connectivity, OwnField &own) {
    // [dx + 2 dy + 4 dz]: the pixels so far before the last one.
    uint32_t pixel[1 << AXES];
#pragma unroll
    for (int dz = 0; dz < AXES - 1; ++dz) {
        const uint32_t here = dz ? column_before : column, left = __shfl_up_sync(ALL_LANES, here, 1);
        pixel[4 * dz] = here, pixel[4 * dz + 1] = left;
        pixel[4 * dz + 2] = here << 1, pixel[4 * dz + 3] = left << 1;
    }
    const auto count = [&](uint32_t bits) { return __popc(bits & counts); };
    uint32_t faces = 0;  // of both axes, at most 1024 each
    faces = count(pixel[0] ^ pixel[1]) | count(pixel[0] ^ pixel[2]) << 16;
    faces = sum_of_warp(faces);
    own.put(FACES, faces & 0xffff);
    own.put(FACES + 1, faces >> 16);
    own.put(FACES + 2, sum_of_warp(AXES == 3 ? count(pixel[0] ^ pixel[1 << (AXES - 1)])
                                             : count(pixel[0] ^ pixel[3]) + count(pixel[1] ^ pixel[2])));
    // Vertices less edges and so on, where pixels are vertices.  Where they are cells, so it is with the cells that are not
    // there, but for the sign.
    const uint32_t flip = connectivity == 1 ? 0 : ~0u;
    int euler = 0;
#pragma unroll
    for (int along = 0; along < 1 << AXES; ++along) {
        uint32_t all = ~0u;
        int dimension = 0;
#pragma unroll
        for (int k = 0; k < 1 << AXES; ++k)
            if ((k & along) == k) all &= pixel[k] ^ flip;
#pragma unroll
        for (int a = 0; a < AXES; ++a) dimension += along >> a & 1;
        euler += dimension % 2 ? -count(all) : count(all);
    }
    if (AXES == 2 && flip) euler = -euler;
    own.put(EULER, sum_of_warp(static_cast<uint32_t>(euler)));
}

/// Warp: adds the pixels of the perimeter among those that count, by how many of their 8 neighbours are at the value's border,
/// too: the table of the CPU's perimeter in bits.
__device__ inline void add_perimeter(uint32_t column, uint32_t counts, OwnField &own) {
    const auto left = [](uint32_t bits) { return __shfl_up_sync(ALL_LANES, bits, 1); };
    const auto right = [](uint32_t bits) { return __shfl_down_sync(ALL_LANES, bits, 1); };
    const uint32_t border = column & ~(left(column) & right(column) & column << 1 & column >> 1);
    const uint32_t before = left(border), behind = right(border);
    // Of four bits how many are set: 1 and 2 of the number; 4 is where both pairs are set.
    const auto add_up = [](uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t(&sum)[3]) {
        const uint32_t ab = a ^ b, cd = c ^ d;
        sum[0] = ab ^ cd, sum[1] = (a & b) ^ (c & d) ^ (ab & cd), sum[2] = a & b & c & d;
    };
    uint32_t straight[3], across[3];
    add_up(before, behind, border << 1, border >> 1, straight);
    add_up(before << 1, before >> 1, behind << 1, behind >> 1, across);
    const uint32_t none = ~(straight[0] | straight[1] | straight[2]), one = straight[0] & ~straight[1];
    const uint32_t some = border & counts;
    const uint32_t along = some & straight[1] & ~(across[0] & across[1]) & ~across[2];
    const uint32_t diagonal = some & ((none & across[1] & ~across[0]) | (one & across[0] & across[1]));
    const uint32_t mixed = some & one & (across[0] ^ across[1]);
    const uint32_t steps = sum_of_warp(__popc(along) | __popc(diagonal) << 10 | __popc(mixed) << 20);  // each below 1024
    own.put(STEPS, steps & 1023);
    own.put(STEPS + 1, steps >> 10 & 1023);
    own.put(STEPS + 2, steps >> 20);
}

/// Calls use(pixel, is_in) for the pixels of `grey` in some rows of a column; of those that are not in it, 0.
template <class Grey, class Use>
__device__ void for_grey(const View &grey, int64_t x, int64_t y, int64_t z, uint32_t column, uint32_t rows, Use use) {
    constexpr int AT_ONCE = 8;  // whose loads are under way together
    for (int begin = 0; begin < WARP; begin += AT_ONCE) {
        if (!(rows >> begin & ((1u << AT_ONCE) - 1))) continue;
        Grey pixel[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            pixel[i] = column >> (begin + i) & 1 ? pixel_at<Grey>(grey, grey.row(y + begin + i, z), x) : Grey(0);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) use(pixel[i], column >> (begin + i) & 1);
    }
}

/// Warp: adds intensities that are whole numbers.
template <class Grey>
__device__ void add_bright(const View &grey, int64_t x, int64_t y, int64_t z, uint32_t column, uint32_t rows, OwnField &own) {
    uint32_t sum = 0, least = UINT32_MAX, largest = 0;
    for_grey<Grey>(grey, x, y, z, column, rows, [&](uint32_t pixel, bool is_in) {
        sum += pixel;
        least = min(least, is_in ? pixel : UINT32_MAX), largest = max(largest, pixel);
    });
    own.put(LEAST, ~least_of_warp(least));
    own.put(LARGEST, greatest_of_warp(largest) + 1);
    own.put(BRIGHT, sum_of_warp(sum));
}

/// Warp: adds intensities that are floats.  Returns each lane's number of the second record.  The pieces of most pixels are of
/// one part of the sum, which is that of the first pixel; others take a pass each.
__device__ inline Number add_real(const View &grey, int64_t x, int64_t y, int64_t z, uint32_t column, uint32_t rows,
                                  OwnField &own) {
    const int lane = threadIdx.x % WARP, first_row = __ffs(rows) - 1;
    const int first_lane = __ffs(__ballot_sync(ALL_LANES, column >> first_row & 1)) - 1;
    int part = lane == first_lane ? ExactSum::piece_of(pixel_at<float>(grey, grey.row(y + first_row, z), x)).part : 0;
    part = __shfl_sync(ALL_LANES, part, first_lane);
    uint32_t others = 0, special = 0, least = UINT32_MAX, greatest = 0;
    int64_t sum = 0;  // below 2^60
    for_grey<float>(grey, x, y, z, column, rows, [&](float pixel, bool is_in) {
        const float size = fabsf(pixel);
        const bool is_number = is_in && size <= HUGE_VALF, is_finite = is_in && size < HUGE_VALF;
        const uint32_t key = static_cast<uint32_t>(IntensitySums::key_of(pixel)) ^ 1u << 31;
        least = min(least, is_number ? key : UINT32_MAX), greatest = max(greatest, is_number ? key : 0);
        const ExactSum::Piece piece = ExactSum::piece_of(pixel);
        const bool is_same = piece.part == part;
        sum += is_finite && is_same ? piece.whole : 0;
        others |= is_finite && !is_same && size > 0 ? 1u << piece.part : 0;
        if (is_in && !is_finite)
            special |= !is_number ? IntensitySums::NAN_FOUND : pixel > 0 ? IntensitySums::ABOVE : IntensitySums::BELOW;
    });
    least = least_of_warp(least), greatest = greatest_of_warp(greatest);
    if (least <= greatest) own.put(LEAST, ~least), own.put(LARGEST, greatest + 1);
    special = any_of_warp(special);
    Number number = lane >= SPECIAL && lane < SPECIAL + 3 ? special >> (lane - SPECIAL) & 1 : 0;
    for (others = any_of_warp(others);; others &= others - 1) {
        const int64_t upper = sum_of_warp(sum >> PIECE_BITS), lower = sum_of_warp(sum & ((1 << PIECE_BITS) - 1));
        if (lane == UPPER_BITS + part) number = static_cast<Number>(upper);
        if (lane == LOWER_BITS + part) number = static_cast<Number>(lower);
        if (!others) return number;
        part = __ffs(others) - 1;
        sum = 0;
        for_grey<float>(grey, x, y, z, column, rows, [&](float pixel, bool is_in) {
            const ExactSum::Piece piece = ExactSum::piece_of(pixel);
            sum += is_in && piece.part == part && fabsf(pixel) < HUGE_VALF ? piece.whole : 0;
        });
    }
}

}  // namespace apsis::cuda::labels
