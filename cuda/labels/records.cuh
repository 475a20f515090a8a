// The sums of values in records of 32 numbers, of which each lane of a warp has one.
//
// A warp keeps the records of the values that it met last in shared memory, with coordinates from a place of its own, so that
// 32 bits hold them.  A record that makes way for another goes to that of its value in global memory, by an atomic operation a
// lane.  Values of at most 16 bits have a record each.  Others have theirs in a hash table (open addressing), in which a warp
// looks at 32 keys at once.
//
// All begin at 0: a least number is kept as the greatest complement.
//
// Cost: of a value that was met just now, an addition in shared memory; of another one, the atomic operations on a record.
#pragma once

#include "core/value_sums.h"
#include "cuda/labels/walk.cuh"

namespace apsis::cuda::labels {

/// The numbers of a record.  Those before AREA are greatest numbers, others are sums.
enum Field {
    FIRST = 0,     // complement
    LOWER = 1,     // along x and y, complements: along z it is that of the first pixel
    UPPER = 3,     // along x, y, z: one more
    LEAST = 6,     // the least intensity, complement
    LARGEST = 7,   // one more
    AREA = 8,      //
    BRIGHT = 9,    // the sum of intensities, if they are whole numbers
    PRODUCT = 10,  // xx, yy, zz, xy, xz, yz: the lower half
    SUM = 16,      // x, y, z
    FACES = 19,    // across x, y, z; in 2-D in place of the last the pairs across corners
    EULER = 22,
    STEPS = 23,  // of the perimeter
    HIGH = 26,   // of each product, the upper half
    FIELDS = WARP
};
constexpr int PRODUCTS = 6;
static_assert(HIGH == PRODUCT + 16 && HIGH + PRODUCTS == FIELDS);

/// The numbers of a second record, of intensities that are floats.
enum RealField {
    UPPER_BITS = 0,                 // of the pieces of each part of a sum: pieces / 2^28, rounded down
    LOWER_BITS = ExactSum::PARTS,   // and the rest
    SPECIAL = 2 * ExactSum::PARTS,  // how often each of IntensitySums was seen
};
constexpr int PIECE_BITS = 28;

/// All records, in global memory.
struct Records {
    static constexpr int TRIES = 16;

    Number *number;  // [record][width]
    uint64_t *key;   // [record]: a value as a number of 64 bits; 0: none
    uint32_t *lost;  // whether there was no room for some
    int64_t count;
    int width;       // FIELDS, or twice as many
    bool is_direct;  // a value is the number of its record

    __device__ Number *at(int64_t record) const { return number + record * width; }
    __device__ bool has_lost() const { return *const_cast<const volatile uint32_t *>(lost) != 0; }

    /// Warp: the record of a value, or -1 if there is no room for it.
    __device__ int64_t record_of(uint64_t value) const {
        const int lane = threadIdx.x % WARP;
        if (is_direct) {
            if (lane == 0) key[value] = value;
            return static_cast<int64_t>(value);
        }
        const int64_t groups = count / WARP;
        uint64_t spread = (value ^ value >> 31) * 0xbf58476d1ce4e5b9u;  // of splitmix64
        spread ^= spread >> 29;
        int64_t group = static_cast<int64_t>(spread & static_cast<uint64_t>(groups - 1));
        for (int i = 0; i < TRIES;) {
            uint64_t *const own = key + group * WARP + lane;
            const uint64_t found = *const_cast<const volatile uint64_t *>(own);
            if (const unsigned same = __ballot_sync(ALL_LANES, found == value)) return group * WARP + __ffs(same) - 1;
            const unsigned free = __ballot_sync(ALL_LANES, found == 0);
            if (free == 0) {
                group = (group + 1) & (groups - 1), ++i;
                continue;
            }
            Number before = 0;
            if (lane == __ffs(free) - 1) before = atomicCAS(reinterpret_cast<Number *>(own), Number(0), Number(value));
            before = __shfl_sync(ALL_LANES, before, __ffs(free) - 1);
            if (before == 0 || before == value) return group * WARP + __ffs(free) - 1;
        }
        if (lane == 0) *lost = 1;
        return -1;
    }
};

/// Where a warp's coordinates begin, and what image they are of.
struct Origin {
    int64_t at[3];
    int64_t width, height;
    bool is_volume;

    /// The place of a pixel, so that their order is that of the image.
    __device__ uint32_t place_of(uint32_t x, uint32_t y, uint32_t z) const { return (is_volume ? z * WARP + y : y) * WARP + x; }
    __device__ int64_t index_of(uint32_t place) const {
        const uint32_t x = place % WARP, row = place / WARP, y = is_volume ? row % WARP : row, z = is_volume ? row / WARP : 0;
        return ((at[2] + z) * height + at[1] + y) * width + at[0] + x;
    }
};

/// The records that a warp keeps.
class Recent {
  public:
    static constexpr int ENTRIES = 8;

    struct Memory {
        uint32_t field[ENTRIES][FIELDS];
        Number real[ENTRIES][WARP];
    };

    /// `has_carries` says whether sums of products may have more than 64 bits.
    __device__ Recent(Memory &memory, const Records &records, const Origin &origin, bool has_moments, bool has_carries)
        : memory_(memory),
          records_(records),
          origin_(origin),
          has_moments_(has_moments),
          has_carries_(has_carries) {}

    /// Warp: adds to a value each lane's numbers.
    __device__ void add(uint64_t value, uint32_t field, Number real) {
        const int lane = threadIdx.x % WARP;
        const unsigned same = __ballot_sync(ALL_LANES, value_ == value);
        int entry = next_;
        if (same) {
            entry = __ffs(same) - 1;
        } else {
            flush(entry);
            if (lane == entry) value_ = value;
            memory_.field[entry][lane] = 0, memory_.real[entry][lane] = 0;
            next_ = (entry + 1) % ENTRIES;
        }
        uint32_t &own = memory_.field[entry][lane];
        own = lane < AREA ? max(own, field) : own + field;
        if (records_.width > FIELDS) memory_.real[entry][lane] += real;
    }

    /// Warp: all that is left.
    __device__ void finish() {
        for (int entry = 0; entry < ENTRIES; ++entry) flush(entry);
    }

  private:
    /// Warp: brings an entry to its record.
    __device__ void flush(int entry) {
        const int lane = threadIdx.x % WARP;
        const uint64_t value = __shfl_sync(ALL_LANES, value_, entry);
        if (value == 0) return;
        if (lane == entry) value_ = 0;
        const int64_t record = records_.record_of(value);
        __syncwarp();
        if (record >= 0) {
            Number *const to = records_.at(record) + lane;
            if (lane < AREA)
                raise(*to, greatest_of(lane, memory_.field[entry][lane]));
            else if (lane >= PRODUCT && lane < PRODUCT + PRODUCTS)
                add_product(lane - PRODUCT, memory_.field[entry], to);
            else
                add_to(*to, sum_of(lane, memory_.field[entry]));
            if (records_.width > FIELDS) add_to(to[FIELDS], memory_.real[entry][lane]);
        }
        __syncwarp();
    }

    // Nothing waits for these operations.
    __device__ static void raise(Number &to, Number number) {
        if (number) atomicMax(&to, number);
    }
    __device__ static void add_to(Number &to, Number number) {
        if (number) atomicAdd(&to, number);
    }

    __device__ Number greatest_of(int field, uint32_t own) const {
        if (own == 0 || field >= LEAST) return own;
        if (field == FIRST) return ~static_cast<Number>(origin_.index_of(~own));
        return field < UPPER ? ~static_cast<Number>(origin_.at[field - LOWER] + static_cast<int64_t>(~own))
                             : static_cast<Number>(origin_.at[field - UPPER] + own);
    }
    __device__ Number sum_of(int field, const uint32_t *fields) const {
        if (field == EULER) return static_cast<Number>(static_cast<int64_t>(static_cast<int32_t>(fields[field])));
        if (field < SUM || field >= FACES) return fields[field];
        return static_cast<Number>(coordinates_of(field - SUM, fields));
    }
    __device__ int64_t coordinates_of(int axis, const uint32_t *fields) const {
        return origin_.at[axis] * static_cast<int64_t>(fields[AREA]) + static_cast<int64_t>(fields[SUM + axis]);
    }
    __device__ void add_product(int i, const uint32_t *fields, Number *to) const {
        if (!has_moments_) return;
        const int a = i < 3 ? i : i == 5 ? 1 : 0, b = i < 3 ? i : i == 3 ? 1 : 2;
        const __int128 sum =
            static_cast<__int128>(origin_.at[a]) * coordinates_of(b, fields) +
            (origin_.at[b] * static_cast<int64_t>(fields[SUM + a]) + static_cast<int64_t>(fields[PRODUCT + i]));
        const Number low = static_cast<Number>(sum);
        if (!has_carries_) return add_to(*to, low);
        Number high = static_cast<Number>(sum >> 64);
        if (low) high += atomicAdd(to, low) > ~low;
        add_to(to[HIGH - PRODUCT], high);
    }

    Memory &memory_;
    const Records &records_;
    const Origin &origin_;
    const bool has_moments_, has_carries_;
    uint64_t value_ = 0;  // of the entry of a lane; 0: none
    int next_ = 0;        // the entry that makes way
};

}  // namespace apsis::cuda::labels
