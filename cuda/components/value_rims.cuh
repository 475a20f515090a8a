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

/// Joins two parts.
__device__ inline void unite_parts(const ValueImage &image, uint32_t high, uint32_t low) {
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
    struct Meeting {
        uint64_t own, other;  // position_of()
    };
    using Memory = Meeting[Tile::RIM_THREADS / WARP][2 * WARP];  // of a block, shared

    /// Warp.
    __device__ WaitingMeetings(const ValueImage &image, Memory &memory) : image_(image), waiting_(memory[threadIdx.x / WARP]) {}

    /// Warp: those of the lanes in which pixels meet.
    __device__ void add(bool meet, uint64_t own, uint64_t other) {
        const uint32_t all = __ballot_sync(ALL_LANES, meet);
        if (!all) return;
        if (meet) waiting_[count_ + __popc(all & below(threadIdx.x % WARP))] = {own, other};
        count_ += __popc(all);
        if (count_ >= WARP) join(WARP);
    }
    /// Warp: joins those that still wait.
    __device__ void finish() { join(count_); }

  private:
    __device__ void join(uint32_t count) {
        __syncwarp();
        count_ -= count;
        if (threadIdx.x % WARP < count) {
            const Meeting &next = waiting_[count_ + threadIdx.x % WARP];
            unite_parts(image_, part_at(image_, next.own), part_at(image_, next.other));
        }
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

/// Warp: adds the meetings of a row with an earlier one, unless they are straight and others imply them.
template <class Values, class Tile>
__device__ void add_rows(WaitingMeetings<Tile> &meetings, const Values &values, const RowPixel<Values> &own, uint64_t position,
                         const RowPixel<Values> &other, uint64_t other_position, bool diagonals, bool implied) {
    meetings.add(own.meets(other, values) && !implied, position, other_position);
    if (!diagonals) return;
    meetings.add(own.meets_left(other, values), position, other_position - 1);
    meetings.add(own.meets_right(other, values), position - 1, other_position);
}

/// Warp: joins the runs of a word of the first row of a tile of a plane with those of the row before.
template <class Values, class Tile>
__device__ void join_row_before(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place,
                                WaitingMeetings<Tile> &meetings, int word) {
    const View &set = image.set;
    const int64_t x = place.x + word * WARP + threadIdx.x % WARP;
    if (place.y == 0) return;
    const auto row = [&](int64_t y) {
        return RowPixel<Values>::at(set, set.row(y, place.z) + x * set.stride[0], x < set.size[0], word > 0);
    };
    const uint64_t position = position_of(image, x, place.y, place.z), above = position_of(image, x, place.y - 1, place.z);
    add_rows(meetings, values, row(place.y), position, row(place.y - 1), above, Tile::earlier_row(0).diagonals, false);
}

/// Warp: joins a row of a tile of a volume with the earlier rows in other tiles.  What joins of neighbouring rows imply is left
/// out: that of rows one plane on, or one row on, where all four pixels are connected; and that across both, where a pixel of
/// the one row or of the other is connected with both.
template <class Values, class Tile>
__device__ void join_earlier_rows(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place,
                                  WaitingMeetings<Tile> &meetings, int own_y, int own_z) {
    const int64_t x = place.x + threadIdx.x % WARP, y = place.y + own_y, z = place.z + own_z;
    if (y >= image.set.size[1] || z >= image.set.size[2]) return;
    const View &set = image.set;
    const uint8_t *const first = set.row(y, z) + x * set.stride[0];
    const bool is_inside = x < set.size[0];
    const auto load = [&](int dy, int dz) {
        if (y + dy < 0 || y + dy >= set.size[1] || z + dz < 0) return RowPixel<Values>();
        return RowPixel<Values>::at(set, first + dy * set.stride[1] + dz * set.stride[2], is_inside, false);
    };
    const uint64_t position = position_of(image, x, y, z);
    const auto join = [&](const RowPixel<Values> &own, const RowPixel<Values> &other, const EarlierRow &earlier, bool implied) {
        const uint64_t before = position_of(image, x, y + earlier.dy, z + earlier.dz);
        add_rows(meetings, values, own, position, other, before, earlier.diagonals, implied);
    };
    // Of equal values these follow, where they are needed.
    const auto also = [&](const RowPixel<Values> &one, const RowPixel<Values> &other) {
        return Values::IS_TRANSITIVE || one.connects(other, values);
    };
    const RowPixel<Values> own = load(0, 0), plane = load(0, -1);
    const bool row_is_outside = own_y == 0, plane_is_outside = own_z == 0;
    if (row_is_outside || plane_is_outside) {
        const RowPixel<Values> row = load(-1, 0), across = load(-1, -1);
        const bool all_connected = own.connects(row, values) && own.connects(plane, values) &&
                                   (Values::IS_TRANSITIVE ? own : row).connects(across, values) && also(plane, across);
        if (row_is_outside) join(own, row, Tile::earlier_row(0), all_connected && !plane_is_outside);
        if (plane_is_outside) join(own, plane, Tile::earlier_row(1), all_connected && !row_is_outside);
        if constexpr (Tile::EARLIER_ROWS > 2)
            join(own, across, Tile::earlier_row(2),
                 (own.connects(row, values) && also(row, across)) || (own.connects(plane, values) && also(plane, across)));
    }
    if constexpr (Tile::EARLIER_ROWS > 2)
        if (plane_is_outside || own_y == Tile::ROWS - 1) {
            const RowPixel<Values> next = load(1, -1);
            join(own, next, Tile::earlier_row(3), own.connects(plane, values) && also(plane, next));
        }
}

/// Warp: joins a lane's pixel of the first column of the tile with its neighbours to the left.  Two pixels side by side need no
/// join where both are connected with those a row or a plane before, in the same tiles, and these with each other; and no
/// diagonal one is needed where a pixel beside both is connected with both.
template <class Values, class Tile>
__device__ void join_left_side(const ValueImage &image, const Values &values, const ValuePlace<Tile> &place,
                               WaitingMeetings<Tile> &meetings, int row) {
    using Pixel = typename Values::Pixel;
    constexpr bool FOLLOWS = Values::IS_TRANSITIVE;
    const int own_y = row % Tile::ROWS, own_z = row / Tile::ROWS;
    const int64_t x = place.x, y = place.y + own_y, z = place.z + own_z;
    const uint64_t position = position_of(image, x, y, z);
    const Pixel own = value_at<Values>(image.set, x, y, z);
    const auto value = [&](int dx, int dy, int dz) {  // which is not needed where there is no pixel of the set
        return own ? value_at<Values>(image.set, x + dx, y + dy, z + dz) : Pixel(0);
    };
    const Pixel beside = value(-1, 0, 0);
    const bool is_beside = values.connect(own, beside);
    const auto goes_around = [&](int dy, int dz) {
        const Pixel up = value(0, dy, dz);
        if (!values.connect(own, up)) return false;
        const Pixel corner = value(-1, dy, dz);
        return FOLLOWS ? values.connect(own, corner) : values.connect(up, corner) && values.connect(corner, beside);
    };
    const bool is_implied = (own_y > 0 && goes_around(-1, 0)) || (own_z > 0 && goes_around(0, -1));
    meetings.add(is_beside && !is_implied, position, position - 1);
    if (FOLLOWS && !__any_sync(ALL_LANES, own && !is_beside)) return;
    for (int n = 0; n < 9; ++n) {
        const int dy = n % 3 - 1, dz = n / 3 - 1;
        if (n == 4 || (dy != 0) + (dz != 0) >= Tile::CONNECTIVITY || (Tile::PLANES == 1 && dz)) continue;
        const Pixel corner = value(-1, dy, dz), over = value(0, dy, dz);
        const bool goes_on = values.connect(own, over) && (FOLLOWS || values.connect(over, corner)),
                   comes_from = is_beside && (FOLLOWS || values.connect(beside, corner));
        meetings.add(values.connect(own, corner) && !goes_on && !comes_from, position,
                     position_of(image, x - 1, y + dy, z + dz));
    }
}

/// Joins a tile with those before it and to the left of it, a block each.
template <class Values, class Tile>
__global__ void __launch_bounds__(Tile::RIM_THREADS) join_value_tile(ValueImage image, Values values) {
    constexpr bool IS_PLANE = Tile::PLANES == 1;
    __shared__ typename WaitingMeetings<Tile>::Memory memory;
    const ValuePlace<Tile> place(image);
    const int warp = threadIdx.x / WARP;
    WaitingMeetings<Tile> meetings(image, memory);
    if constexpr (IS_PLANE) {
        if (warp < Tile::WORDS) join_row_before(image, values, place, meetings, warp);
    } else {
        using Rim = ValueRim<Tile>;
        for (int i = warp; i < Rim::COUNT; i += Tile::RIM_THREADS / WARP)
            join_earlier_rows(image, values, place, meetings, Rim::y(i), Rim::z(i));
    }
    const int row = static_cast<int>(threadIdx.x) - (IS_PLANE ? Tile::WORDS * WARP : 0);
    if (place.x > 0 && row >= 0) join_left_side(image, values, place, meetings, row);
    meetings.finish();
}

#endif

}  // namespace apsis::cuda::components
