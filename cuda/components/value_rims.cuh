// Joins the tiles of a label image, or of a grey one, with those before them: the second step of values.cu.
//
// Blocks join the pixels on both sides of the rims of tiles by a union-find without locks in global memory.  Its nodes are
// parts, the components of a tile; the root of a component is the part with its lowest pixel.
//
// Cost: the rims of tiles once more, with the rows before them, and an access or more to global memory for each meeting.
#pragma once

#include "cuda/components/value_tiles.cuh"

namespace apsis::cuda::components {

#if defined(__CUDACC__)

__device__ inline uint32_t root_of_part(uint32_t *parent, uint32_t part) {
    for (;;) {
        const uint32_t up = __ldcg(parent + part), next = __ldcg(parent + up);
        if (next == up) return up;
        __stcg(parent + part, next);
        part = next;
    }
}

/// The part of the run at the last of `columns` of a word, which are all columns up to there: a run has a pixel there.
__device__ inline uint32_t part_in(const ValueImage &image, uint32_t word, uint32_t columns) {
    const uint32_t run = image.runs[word] + __popc(image.starts[word] & columns) - 1;
    return run - image.back[run];
}

/// Where a pixel is among those of all words, in which there are WARP of each word, whether inside the image or not.
__device__ inline uint64_t position_of(const ValueImage &image, int64_t x, int64_t y, int64_t z) {
    return static_cast<uint64_t>((z * image.height + y) * image.words * WARP + x);
}

/// The part of a pixel of the set.
__device__ inline uint32_t part_at(const ValueImage &image, uint64_t position) {
    return part_in(image, static_cast<uint32_t>(position / WARP), up_to(static_cast<int>(position % WARP)));
}

/// Two pixels, as position_of() tells them.
struct Meeting {
    uint64_t own, other;
};

/// Joins the parts of two pixels.
__device__ inline void unite(const ValueImage &image, const Meeting &meeting) {
    uint32_t high = part_at(image, meeting.own), low = part_at(image, meeting.other);
    for (;;) {
        high = root_of_part(image.parent, high), low = root_of_part(image.parent, low);
        if (high == low) return;
        if (image.first[high] < image.first[low]) {
            const uint32_t lower = high;
            high = low, low = lower;
        }
        if (atomicCAS(image.parent + high, high, low) == high) return;
    }
}

/// Meetings of pixels of a tile with those of others.  They wait until there is one for each lane of a warp, as a lane that
/// joins two parts waits for memory again and again.
template <class Tile>
class WaitingMeetings {
  public:
    using Memory = Meeting[Tile::RIM_THREADS / WARP][2 * WARP];  // of a block, shared

    /// Warp.
    __device__ WaitingMeetings(const ValueImage &image, Memory &memory) : image_(image), waiting_(memory[threadIdx.x / WARP]) {}

    /// Warp: those of which a lane has a bit each.  where(bit) tells its pixels.
    template <class Where>
    __device__ void add(uint32_t bits, Where where) {
        for (;;) {
            const uint32_t lanes = __ballot_sync(ALL_LANES, bits != 0);
            if (!lanes) return;
            if (bits) waiting_[count_ + __popc(lanes & below(threadIdx.x % WARP))] = where(__ffs(bits) - 1);
            bits &= bits - 1;
            count_ += __popc(lanes);
            if (count_ >= WARP) join(WARP);
        }
    }
    /// Warp: joins those that still wait.
    __device__ void finish() { join(count_); }

  private:
    __device__ void join(uint32_t count) {
        __syncwarp();
        count_ -= count;
        if (threadIdx.x % WARP < count) unite(image_, waiting_[count_ + threadIdx.x % WARP]);
        __syncwarp();
    }

    const ValueImage &image_;
    Meeting *waiting_;
    uint32_t count_ = 0;
};

/// The rows of a tile of a volume that have earlier rows in other tiles: all of the first plane, of others the first, and the
/// last if the row after it is an earlier row.
template <class Tile>
struct ValueRim {
    static constexpr int LATER = Tile::PLANES - 1, COUNT = Tile::ROWS + LATER * (Tile::EARLIER_ROWS / 2);
    static_assert(Tile::WORDS == 1 && Tile::EARLIER_ROWS <= 4);

    __device__ static int y(int i) { return i < Tile::ROWS ? i : i < Tile::ROWS + LATER ? 0 : Tile::ROWS - 1; }
    __device__ static int z(int i) { return i < Tile::ROWS ? 0 : 1 + (i - Tile::ROWS) % LATER; }
};

/// The meetings of a lane with an earlier row, a bit each: straight, unless others imply it, to the left and to the right.
template <class Values>
__device__ uint32_t meetings_with(const RowPixel<Values> &other, const RowPixel<Values> &own, const Values &values,
                                  bool diagonals, bool implied) {
    const bool left = diagonals && own.meets_left(other, values), right = diagonals && own.meets_right(other, values);
    return (own.meets(other, values) && !implied) | left << 1 | right << 2;
}

/// Where such a meeting is, of a pixel with an earlier row.
__device__ inline Meeting meeting_with(const ValueImage &image, const EarlierRow &earlier, int64_t x, int64_t y, int64_t z,
                                       int bit) {
    return {position_of(image, x - (bit == 2), y, z), position_of(image, x - (bit == 1), y + earlier.dy, z + earlier.dz)};
}

/// Warp: joins the runs of a word of the first row of a tile of a plane with those of the row before.
template <class Values, class Tile>
__device__ void join_row_before(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place,
                                WaitingMeetings<Tile> &meetings, int word) {
    if (place.y == 0) return;
    const View &set = image.set;
    const int64_t x = place.x + word * WARP + threadIdx.x % WARP;
    const uint8_t *const first = set.row(place.y, place.z) + x * set.stride[0];
    RowPixel<Values> own, above;
    own.read(set, first, x < set.size[0], word > 0);
    above.read(set, first - set.stride[1], x < set.size[0], word > 0);
    own.share(), above.share();
    const EarlierRow earlier = Tile::earlier_row(0);
    meetings.add(meetings_with(above, own, values, earlier.diagonals, false),
                 [&](int bit) { return meeting_with(image, earlier, x, place.y, place.z, bit); });
}

/// Warp: joins a row of a tile of a volume with the earlier rows in other tiles.  What joins of neighbouring rows imply is left
/// out: that of rows one plane on, or one row on, where all four pixels are connected; and that across both, where a pixel of
/// the one row or of the other is connected with both.
template <class Values, class Tile>
__device__ void join_earlier_rows(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place,
                                  WaitingMeetings<Tile> &meetings, int own_y, int own_z) {
    const View &set = image.set;
    const int64_t x = place.x + threadIdx.x % WARP, y = place.y + own_y, z = place.z + own_z;
    if (y >= set.size[1] || z >= set.size[2]) return;
    const uint8_t *const first = set.row(y, z) + x * set.stride[0];
    const bool is_inside = x < set.size[0], has_row = y > 0, has_next = y + 1 < set.size[1], has_plane = z > 0;
    const bool row_is_outside = own_y == 0, plane_is_outside = own_z == 0,
               either_is_outside = row_is_outside || plane_is_outside;
    constexpr bool GOES_ON = Tile::EARLIER_ROWS > 2;
    const bool joins_next = GOES_ON && (plane_is_outside || own_y == Tile::ROWS - 1);
    RowPixel<Values> own, plane, row, across, next;  // the row; that of the plane before; those before the two; and after it
    const auto read = [&](RowPixel<Values> &pixel, int dy, int dz, bool is_there) {
        pixel.read(set, first + dy * set.stride[1] + dz * set.stride[2], is_inside && is_there, false);
    };
    read(own, 0, 0, true);
    read(plane, 0, -1, has_plane);
    read(row, -1, 0, either_is_outside && has_row);
    read(across, -1, -1, either_is_outside && has_row && has_plane);
    read(next, 1, -1, joins_next && has_next && has_plane);
    own.share(), plane.share(), row.share(), across.share(), next.share();
    uint32_t bits = 0;
    const auto meet = [&](int s, const RowPixel<Values> &other, bool implied) {
        bits |= meetings_with(other, own, values, Tile::earlier_row(s).diagonals, implied) << 3 * s;
    };
    // Of equal values these follow, where they are needed.
    const auto also = [&](const RowPixel<Values> &one, const RowPixel<Values> &other) {
        return Values::IS_TRANSITIVE || one.connects(other, values);
    };
    const bool in_row = own.connects(row, values), in_plane = own.connects(plane, values);
    const bool all_connected =
        in_row && in_plane && (Values::IS_TRANSITIVE ? own : row).connects(across, values) && also(plane, across);
    if (row_is_outside) meet(0, row, all_connected && !plane_is_outside);
    if (plane_is_outside) meet(1, plane, all_connected && !row_is_outside);
    if (GOES_ON && either_is_outside) meet(2, across, (in_row && also(row, across)) || (in_plane && also(plane, across)));
    if (joins_next) meet(3, next, in_plane && also(plane, next));
    meetings.add(bits, [&](int bit) { return meeting_with(image, Tile::earlier_row(bit / 3), x, y, z, bit % 3); });
}

/// The pixels of the first column of a tile and those to the left of them, with the rows and the planes next to the tile.
/// Neighbours of pixels in columns are in shared memory, as in global memory each would be a line of its own.
template <class Values, class Tile>
class LeftSide {
  public:
    using Pixel = typename Values::Pixel;
    static constexpr bool FOLLOWS = Values::IS_TRANSITIVE;
    static constexpr int NEXT_PLANES = Tile::PLANES > 1, ROWS = Tile::ROWS + 2, PLANES = Tile::PLANES + 2 * NEXT_PLANES;

    /// Block: reads them.  Returns whether pixels may meet across a corner; only then those next to the tile are there.
    /// `at` is a thread's row in the tile, negative if it has none.
    __device__ bool read(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place, int at) {
        const auto read = [&](int y, int z) {
            for (int dx = -1; dx <= 0; ++dx)
                pixel(dx, y, z) = value_at<Values>(image.set, place.x + dx, place.y + y, place.z + z);
        };
        const int own_y = at % Tile::ROWS, own_z = at / Tile::ROWS;
        if (at >= 0) read(own_y, own_z);
        const auto is_alone = [&] {
            return pixel(0, own_y, own_z) != 0 && !values.connect(pixel(0, own_y, own_z), pixel(-1, own_y, own_z));
        };
        if (!__syncthreads_or(Tile::CONNECTIVITY > 1 && at >= 0 && (!FOLLOWS || is_alone()))) return false;
        for (int i = threadIdx.x; i < ROWS * PLANES; i += Tile::RIM_THREADS) {
            const int y = i % ROWS - 1, z = i / ROWS - NEXT_PLANES;
            if (y < 0 || y >= Tile::ROWS || z < 0 || z >= Tile::PLANES) read(y, z);
        }
        __syncthreads();
        return true;
    }

    /// Warp: joins a lane's pixel with its neighbours to the left.  Two pixels side by side need no join where both are
    /// connected with those a row or a plane before, in the same tiles, and these with each other; and no diagonal one is
    /// needed where a pixel beside both is connected with both.
    __device__ void join(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place, int at, bool corners,
                         WaitingMeetings<Tile> &meetings) {
        const int own_y = at % Tile::ROWS, own_z = at / Tile::ROWS;
        const Pixel own = pixel(0, own_y, own_z), beside = pixel(-1, own_y, own_z);
        const bool is_beside = values.connect(own, beside);
        const auto goes_around = [&](int dy, int dz) {
            const Pixel over = pixel(0, own_y + dy, own_z + dz), corner = pixel(-1, own_y + dy, own_z + dz);
            return values.connect(own, over) && values.connect(over, corner) && (FOLLOWS || values.connect(corner, beside));
        };
        const bool is_implied = (own_y > 0 && goes_around(-1, 0)) || (own_z > 0 && goes_around(0, -1));
        uint32_t bits = (is_beside && !is_implied) << 4;  // of 3 x 3 rows, the own in the middle
        if (corners)
            for (int n = 0; n < 9; ++n) {
                const int dy = n % 3 - 1, dz = n / 3 - 1;
                if (n == 4 || (dy != 0) + (dz != 0) >= Tile::CONNECTIVITY || (Tile::PLANES == 1 && dz)) continue;
                const Pixel corner = pixel(-1, own_y + dy, own_z + dz), over = pixel(0, own_y + dy, own_z + dz);
                const bool goes_on = values.connect(own, over) && (FOLLOWS || values.connect(over, corner)),
                           comes_from = is_beside && (FOLLOWS || values.connect(beside, corner));
                bits |= (values.connect(own, corner) && !goes_on && !comes_from) << n;
            }
        meetings.add(bits, [&](int n) {
            const int64_t y = place.y + own_y, z = place.z + own_z;
            return Meeting{position_of(image, place.x, y, z), position_of(image, place.x - 1, y + n % 3 - 1, z + n / 3 - 1)};
        });
    }

  private:
    /// That of a row and a plane of the tile, or next to it; dx is 0 or -1.
    __device__ Pixel &pixel(int dx, int y, int z) { return pixels_[dx + 1][z + NEXT_PLANES][y + 1]; }

    Pixel pixels_[2][PLANES][ROWS];
};

/// Joins a tile with those before it and to the left of it, a block each.
template <class Values, class Tile>
__global__ void __launch_bounds__(Tile::RIM_THREADS) join_value_tile(ValueImage image, Values values) {
    constexpr bool IS_PLANE = Tile::PLANES == 1;
    __shared__ typename WaitingMeetings<Tile>::Memory memory;
    __shared__ LeftSide<Values, Tile> left_side;
    const ValuePlace<Tile> place(image);
    const int warp = warp_in_block();
    const int row = static_cast<int>(threadIdx.x) - (IS_PLANE ? Tile::WORDS * WARP : 0);
    const bool corners = place.x > 0 && left_side.read(image, values, place, row);
    WaitingMeetings<Tile> meetings(image, memory);
    if constexpr (IS_PLANE) {
        if (warp < Tile::WORDS) join_row_before(image, values, place, meetings, warp);
    } else {
        using Rim = ValueRim<Tile>;
        for (int i = warp; i < Rim::COUNT; i += Tile::RIM_THREADS / WARP)
            join_earlier_rows(image, values, place, meetings, Rim::y(i), Rim::z(i));
    }
    if (place.x > 0 && row >= 0) left_side.join(image, values, place, row, corners, meetings);
    meetings.finish();
}

#endif

}  // namespace apsis::cuda::components
