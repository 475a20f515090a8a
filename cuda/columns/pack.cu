// Packs a set into bit columns: the first step of a distance map.
//
// A thread packs four columns of a strip: it reads four pixels of each of 32 rows and holds four words in registers.  If
// columns are short, a block takes 32 whole ones and finds their carries in the same launch (pack_whole).  For longer columns
// that does not pay, since a warp then reads 32 bytes of a row at a time, while a warp of pack_strips reads 128.
//
// Cost: 1 byte a pixel in (1/8 from bits) and 1/8 out.
#include "cuda/columns/columns.h"

#include "cuda/columns/transpose.cuh"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::columns {

namespace {

constexpr int QUAD = 4;    // columns of a thread: their pixels in a row are one 32-bit load
constexpr int LINE = 128;  // bytes of a line of memory
constexpr int BYTE = 8;    // rows of four columns that a 32-bit word holds, a bit a pixel
constexpr int WHOLE_STRIPS = LONGEST_WHOLE / STRIP;
constexpr int TILE = 32;  // columns along x, and along y, that a block of pack_planes transposes: a warp stores 32 at a time

/// Four bytes: sets the highest bit of each that is not 0.  Other bits are undefined.
__device__ uint32_t mark_bytes(uint32_t bytes) { return bytes | ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu); }

/// How four pixels of a row are read: as an aligned word, from two aligned words, or one by one.
enum class Access : uint8_t { ALIGNED, UNALIGNED, OTHER };

/// A set and how its pixels are read.
struct Pixels {
    View set;
    Access access;
    const uint8_t *end;  // of its bytes
};

/// How many bytes lie before this one in its aligned word.
__device__ int count_before(const uint8_t *bytes) { return static_cast<int>(reinterpret_cast<uintptr_t>(bytes) % QUAD); }

/// Loads `count` bytes, up to four, by aligned words.  Further bytes are undefined.
__device__ uint32_t load_unaligned(const uint8_t *from, int count) {
    const int before = count_before(from);
    const uint32_t *const words = reinterpret_cast<const uint32_t *>(from - before);
    return __funnelshift_r(words[0], words[before + count > QUAD ? 1 : 0], 8 * static_cast<unsigned>(before));
}
/// Whether load_unaligned reads nothing beyond the set's end.
__device__ bool may_load(const Pixels &pixels, const uint8_t *from, int count) {
    const uint8_t *const last = from + count - 1;
    return last - count_before(last) + QUAD <= pixels.end;
}

/// Packs up to eight rows, `step` bytes apart, of up to four columns from x on.  Bit r of byte c is pixel x + c of the r-th
/// row.  Further columns are undefined.
__device__ uint32_t gather_bytes(const Pixels &pixels, const uint8_t *row, int64_t step, int rows, int64_t x, int columns) {
    const Access access = pixels.access;
    uint32_t bits = 0;
    if (rows <= 0 || columns <= 0) return bits;
    const uint8_t *const first = row + x, *const last = first + (min(rows, BYTE) - 1) * step;
    const auto gather = [&](auto load) {
        const auto take = [&](int r) { bits |= mark_bytes(load(row + r * step + x)) >> (BYTE - 1 - r) & 0x01010101u << r; };
        if (rows >= BYTE) {
#pragma unroll
            for (int r = 0; r < BYTE; ++r) take(r);
        } else {
            for (int r = 0; r < rows; ++r) take(r);
        }
    };
    if (access == Access::ALIGNED && columns == QUAD) {
        gather([](const uint8_t *from) { return *reinterpret_cast<const uint32_t *>(from); });
    } else if (access != Access::OTHER && may_load(pixels, first, columns) && may_load(pixels, last, columns)) {
        gather([=](const uint8_t *from) { return load_unaligned(from, columns); });
    } else {
        for (int r = 0; r < rows && r < BYTE; ++r) {
#pragma unroll
            for (int c = 0; c < QUAD; ++c)
                if (c < columns && is_set(pixels.set, row + r * step, x + c)) bits |= 1u << (BYTE * c + r);
        }
    }
    return bits;
}

/// Transposes four results of gather_bytes, eight rows each, into the words of four columns.
__device__ void transpose_quads(const uint32_t (&bytes)[STRIP / BYTE], uint32_t (&words)[QUAD]) {
#pragma unroll
    for (int c = 0; c < QUAD; c += 2) {
        const unsigned two = c == 0 ? 0x5140 : 0x7362;  // selects bytes of columns c and c + 1 alternately
        const uint32_t upper = __byte_perm(bytes[0], bytes[1], two), lower = __byte_perm(bytes[2], bytes[3], two);
        words[c] = __byte_perm(upper, lower, 0x5410), words[c + 1] = __byte_perm(upper, lower, 0x7632);
    }
}

/// Packs the words of up to four columns from x on, `rows` rows of a strip.
__device__ void gather_words(const Pixels &pixels, const uint8_t *row, int64_t step, int rows, int64_t x, int columns,
                             uint32_t (&words)[QUAD]) {
    uint32_t bytes[STRIP / BYTE];
#pragma unroll
    for (int i = 0; i < STRIP / BYTE; ++i)
        bytes[i] = gather_bytes(pixels, row + i * BYTE * step, step, rows - i * BYTE, x, columns);
    transpose_quads(bytes, words);
}

/// The same for all 32 rows of a strip with aligned words, which are loaded together.
__device__ void gather_strip(const uint8_t *from, int64_t step, uint32_t (&words)[QUAD]) {
    uint32_t row[STRIP], bytes[STRIP / BYTE] = {};
#pragma unroll
    for (int r = 0; r < STRIP; ++r) row[r] = *reinterpret_cast<const uint32_t *>(from + r * step);
#pragma unroll
    for (int r = 0; r < STRIP; ++r) bytes[r / BYTE] |= mark_bytes(row[r]) >> (BYTE - 1 - r % BYTE) & 0x01010101u << r % BYTE;
    transpose_quads(bytes, words);
}

__device__ int rows_of(const Columns &columns, int64_t strip) {
    return static_cast<int>(min(columns.length - strip * STRIP, int64_t(STRIP)));
}

/// Sets a strip's count of far groups to 0.
__device__ void clear_far(const Columns &columns, int64_t image, int64_t strip) {
    if (!columns.far_groups) return;
    for (; image < columns.batch; image += columns.images()) columns.far_groups[columns.far_at(image, strip)] = 0;
}

// ---- Strips ----

/// The quad of a strip that a thread packs.
struct Item {
    int64_t image, strip, x;
    int here;  // columns of the quad inside the image

    /// Strips are numbered image by image.  If `across`, the first strips of all images come first, then the second ones.
    __device__ Item(const Columns &columns, const StripRange &range, bool across, int64_t item) {
        const int64_t quads = (columns.count + QUAD - 1) / QUAD, strips = columns.strips(), number = range.first + item / quads;
        x = item % quads * QUAD;
        strip = across ? number / columns.images() : number % strips;
        image = across ? number % columns.images() : number / strips;
        here = static_cast<int>(min(columns.count - x, int64_t(QUAD)));
    }
    __device__ void put(const Columns &columns, bool complement, const uint32_t (&words)[QUAD]) const {
        const uint32_t flip = complement ? columns.valid(strip) : 0;
        if (x == 0) clear_far(columns, image, strip);
        uint32_t *const to = columns.words + columns.at(image, strip, x);
#pragma unroll
        for (int c = 0; c < QUAD; ++c)
            if (c < here) to[c] = words[c] ^ flip;
    }
};

/// Packs columns along y.  A thread takes a quad of a strip.
__global__ void __launch_bounds__(BLOCK, PACK_BLOCKS_PER_SM)
    pack_strips(Pixels pixels, StripRange range, bool across, bool complement, Columns columns) {
    const View &set = pixels.set;
    const int64_t total = ceil_div(columns.count, QUAD) * range.count, step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t number = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; number < total; number += step) {
        const Item item(columns, range, across, number);
        uint32_t words[QUAD];
        const uint8_t *const row = set.row(item.strip * STRIP, item.image);
        const int rows = rows_of(columns, item.strip);
        if (pixels.access == Access::ALIGNED && item.here == QUAD && rows == STRIP)
            gather_strip(row + item.x, set.stride[1], words);
        else
            gather_words(pixels, row, set.stride[1], rows, item.x, item.here, words);
        item.put(columns, complement, words);
    }
}

/// Warp: four lanes, WARP / QUAD apart, hold eight rows each of the same four columns.  Each lane gets the word of one column.
__device__ uint32_t transpose_bytes(uint32_t bytes) {
    const int part = threadIdx.x % WARP / (WARP / QUAD);
    bytes = __byte_perm(bytes, __shfl_xor_sync(ALL_LANES, bytes, WARP / QUAD), part & 1 ? 0x3715 : 0x6240);
    return __byte_perm(bytes, __shfl_xor_sync(ALL_LANES, bytes, 2 * (WARP / QUAD)), part & 2 ? 0x3276 : 0x5410);
}

/// Packs whole columns along y with their carries.  A block takes 32 columns, and a warp one strip of them at a time.  Blocks
/// are few, so each has a multiprocessor's registers for itself and issues all its loads at once.
template <bool MIRRORED>
__global__ void __launch_bounds__(WARP *WARP, 1) pack_whole_columns(Pixels pixels, bool complement, Columns columns) {
    constexpr int SIDES = MIRRORED ? 2 : 1;
    const View &set = pixels.set;
    __shared__ uint32_t words[WHOLE_STRIPS][WARP];
    __shared__ uint32_t filled[SIDES][WHOLE_STRIPS / WARP][WARP];  // [side][strip / 32][column]: bit strip % 32: it has sites
    const uint32_t across = static_cast<uint32_t>((columns.count + WARP - 1) / WARP);
    const int64_t image = blockIdx.x / across, left = blockIdx.x % across * WARP;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int part = lane / (WARP / QUAD), quad = lane % (WARP / QUAD) * QUAD;
    const int here = static_cast<int>(min(max(columns.count - left - quad, int64_t(0)), int64_t(QUAD)));
    const int strips = static_cast<int>(columns.strips());
    for (int w = warp; w < WHOLE_STRIPS / WARP; w += warps) filled[0][w][lane] = filled[SIDES - 1][w][lane] = 0;
    __syncthreads();
    for (int strip = warp; strip < strips; strip += warps) {
        const int first = strip * STRIP + part * BYTE, rows = here ? static_cast<int>(columns.length) - first : 0;
        const uint32_t bytes = gather_bytes(pixels, set.row(first, image), set.stride[1], rows, left + quad, here);
        const uint32_t valid = columns.valid(strip), word = transpose_bytes(bytes) ^ (complement ? valid : 0);
        words[strip][quad + part] = word;
        if (word) atomicOr(&filled[0][strip / WARP][quad + part], 1u << strip % WARP);
        if (MIRRORED && word != valid) atomicOr(&filled[SIDES - 1][strip / WARP][quad + part], 1u << strip % WARP);
    }
    __syncthreads();
    if (left + lane >= columns.count) return;
    for (int strip = warp; strip < strips; strip += warps) {
        int above = strip / WARP, below = above;
        // For mirrored columns: the carries of the side to which the pixel beside the strip does not belong.
        const bool up = MIRRORED && strip > 0 && words[strip - 1][lane] >> (STRIP - 1);
        const bool down = MIRRORED && strip + 1 < strips && (words[strip + 1][lane] & 1);
        uint32_t before = filled[up][above][lane] & ((1u << strip % WARP) - 1);
        uint32_t after = filled[down][below][lane] & (~1u << strip % WARP);
        while (!before && above > 0) before = filled[up][--above][lane];
        while (!after && below + 1 < (strips + WARP - 1) / WARP) after = filled[down][++below][lane];
        const int64_t at = columns.at(image, strip, left + lane);
        columns.words[at] = words[strip][lane];
        const int last = above * WARP + highest_bit(before | 1), next = below * WARP + lowest_bit(after | 1u << 31);
        const auto word_of = [&](int other, bool side) { return words[other][lane] ^ (side ? columns.valid(other) : 0); };
        const int32_t site_before = before ? last * STRIP + highest_bit(word_of(last, up)) : NO_SITE_BEFORE;
        const int32_t site_after = after ? next * STRIP + lowest_bit(word_of(next, down)) : NO_SITE_AFTER;
        columns.before[at] = MIRRORED ? stored_carry(site_before, up) : site_before;
        columns.after[at] = MIRRORED ? stored_carry(site_after, down) : site_after;
    }
}

/// The same of a set of bits.  A warp takes 32 columns of a strip, and a lane 32 bits of one row.
__global__ void pack_bits(View set, StripRange range, bool aligned, bool complement, Columns columns) {
    const int64_t across = (columns.count + WARP - 1) / WARP, strips = columns.strips(), total = across * range.count;
    const int lane = threadIdx.x % WARP;
    for (int64_t item = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / WARP; item < total;
         item += int64_t(gridDim.x) * blockDim.x / WARP) {
        const int64_t line = range.first + item / across, x = item % across * WARP, image = line / strips;
        const int64_t strip = line % strips;
        const int here = static_cast<int>(min(columns.count - x, int64_t(WARP)));
        uint32_t bits = 0;
        if (lane < rows_of(columns, strip)) {
            const uint8_t *const from = set.row(strip * STRIP + lane, image) + x / 8;
            if (aligned && here == WARP) {
                bits = *reinterpret_cast<const uint32_t *>(from);
            } else {
                for (int byte = 0; byte * 8 < here; ++byte) bits |= static_cast<uint32_t>(from[byte]) << 8 * byte;
            }
        }
        const uint32_t word = transpose_bits(bits) ^ (complement ? columns.valid(strip) : 0);
        if (x == 0 && lane == 0) clear_far(columns, image, strip);
        if (lane < here) columns.words[columns.at(image, strip, x + lane)] = word;
    }
}

/// Packs columns along z.  A block takes a tile of 32 x 32 columns of a strip, reads them along x and stores them along y.
__global__ void pack_planes(Pixels pixels, bool complement, Columns columns) {
    const View &set = pixels.set;
    __shared__ uint32_t tile[TILE][TILE + 1];  // padded, so that rows and columns both use 32 banks
    const int64_t width = set.size[0], height = set.size[1];
    const int64_t across = (width + TILE - 1) / TILE, along = (height + TILE - 1) / TILE;
    const int quad = threadIdx.x % (TILE / QUAD) * QUAD, line = threadIdx.x / (TILE / QUAD);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int64_t item = blockIdx.x; item < across * along * columns.strips(); item += gridDim.x) {
        const int64_t strip = item / (across * along), left = item % across * TILE, top = item / across % along * TILE;
        const int64_t x = left + quad, y = top + line;
        const int here = y < height ? static_cast<int>(min(max(width - x, int64_t(0)), int64_t(QUAD))) : 0;
        uint32_t words[QUAD];
        gather_words(pixels, set.row(y, strip * STRIP), set.stride[2], here ? rows_of(columns, strip) : 0, x, here, words);
#pragma unroll
        for (int c = 0; c < QUAD; ++c) tile[quad + c][line] = words[c];
        __syncthreads();
        const uint32_t flip = complement ? columns.valid(strip) : 0;
        for (int i = warp; i < TILE; i += WARPS)
            if (left + i < width && top + lane < height)
                columns.words[columns.at(0, strip, (left + i) * height + top + lane)] = tile[i][lane] ^ flip;
        __syncthreads();
    }
}

Access access_of(const View &set) {
    if (set.type != APSIS_U8 || set.stride[0] != 1) return Access::OTHER;
    return rows_begin_at(set, QUAD) ? Access::ALIGNED : Access::UNALIGNED;
}

Pixels pixels_of(const View &set) {
    const uint8_t *end = set.data + set.size[0];
    for (int axis = 1; axis < 3; ++axis) end += std::max<int64_t>((set.size[axis] - 1) * set.stride[axis], 0);
    return {set, access_of(set), end};
}

}  // namespace

void pack_columns(const View &set, int axis, bool complement, const Columns &columns, cudaStream_t stream) {
    if (axis == 1) return pack_strips_of(set, columns.all(), complement, columns, stream);
    static_assert(TILE * TILE / QUAD == BLOCK, "a thread gathers one quad of its block's tile");
    const int64_t tiles = ceil_div(set.size[0], TILE) * ceil_div(set.size[1], TILE) * columns.strips();
    launch("pack_planes", pack_planes, tiles, BLOCK, stream, pixels_of(set), complement, columns);
}

void pack_strips_of(const View &set, const StripRange &range, bool complement, const Columns &columns, cudaStream_t stream) {
    if (set.type == APSIS_BIT) {
        const int64_t warps = ceil_div(columns.count, WARP) * range.count;
        return launch("pack_bits", pack_bits, ceil_div(warps, WARPS), BLOCK, stream, set, range,
                      rows_begin_at(set, sizeof(uint32_t)), complement, columns);
    }
    const int64_t quads = ceil_div(columns.count, QUAD) * range.count;
    // Rows of many images may lie side by side, as along an axis of a volume.  If they are short, a line of memory has pixels
    // of many images, so neighbouring threads take the same strip of neighbouring images.
    const bool across = columns.count < LINE && std::abs(set.stride[2]) < std::abs(set.stride[1]) &&
                        range.count == columns.images() * columns.strips();
    launch("pack_strips", pack_strips, ceil_div(quads, BLOCK), BLOCK, stream, pixels_of(set), range, across, complement,
           columns);
}

void keep_words(const Columns &columns, cudaStream_t stream) {
    if (!columns.far_groups) return;
    const size_t bytes = static_cast<size_t>(columns.count_far()) * sizeof *columns.far_groups;
    check(cudaMemsetAsync(columns.far_groups, 0, bytes, stream), "clearing the counts of far groups");
}

void pack_whole(const View &set, bool complement, const Columns &columns, cudaStream_t stream) {
    const int64_t warps = std::min<int64_t>(columns.strips(), WARP);
    launch("pack_whole_columns", columns.is_mirrored ? pack_whole_columns<true> : pack_whole_columns<false>,
           ceil_div(columns.count, WARP) * columns.images(), warps * WARP, stream, pixels_of(set), complement, columns);
}

}  // namespace apsis::cuda::columns
