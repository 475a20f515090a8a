// Writes pixels of 2-D distance maps four or eight at once, where an output's pixels are packed numbers of 32 bits, or the
// bytes of a mask side by side.
#pragma once

#include <type_traits>

#include "cuda/runtime/launch.h"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/roots.h"

namespace apsis::cuda::plane {

constexpr int QUAD = 4;  // pixels: 16 bytes

/// What a kernel that writes four pixels at once is compiled for: floats, squares in whole numbers, either of these as the
/// format says, floats of a signed map, bytes of a mask, or any output.  (As any output masks took a quarter more time, on an
/// H100: more than the map of floats.)
enum class Form : uint8_t { OTHER, ROOTS, SQUARES, ROOTS_OR_SQUARES, SIGNED, MASK };

/// Whether write_plain serves a form.
template <Form FORM>
constexpr bool IS_PLAIN = FORM == Form::ROOTS || FORM == Form::SQUARES || FORM == Form::ROOTS_OR_SQUARES;

/// The form of a kernel that searches far longer than it writes: floats and squares share one, which asks once a row of a tile.
/// With nearest sites each has its own: one for both took 1.69 ms for blobs of 16384^2 on an H100, in place of 1.60.  Where a
/// block takes two bands they have, too: one for both took 2 % more for 100 slices of 2048^2.
template <Form FORM, bool NEAREST, int HALVES = 1>
constexpr Form SHARED_FORM = IS_PLAIN<FORM> && !NEAREST && HALVES == 1 ? Form::ROOTS_OR_SQUARES : FORM;

/// How the pixels of a map's outputs are stored.
struct OutputFormat {
    bool serves;   // whether every output that is wanted has packed numbers of 32 bits
    bool aligned;  // whether, besides, its rows begin at multiples of 16 bytes
    Form distance;
    bool is_mask;  // whether the output is a mask, with its bytes side by side, or of bits
    bool limited;  // whether a cost may be above the limit
    uint32_t limit;

    explicit OutputFormat(const Output &output)
        : distance(form_of(output)),
          is_mask(output.distance && !output.is_signed &&
                  (output.distance.type == APSIS_BIT || (output.distance.type == APSIS_U8 && output.distance.stride[0] == 1))),
          limited(output.measure.limit < output.measure.largest),
          limit(static_cast<uint32_t>(std::min<int64_t>(output.measure.limit, UINT32_MAX))) {
        serves = (!output.distance || distance != Form::OTHER) &&
                 (!output.nearest || (output.nearest.type == APSIS_I32 && are_aligned(output.nearest, 4)));
        aligned = serves && are_aligned(output.distance, 16) && are_aligned(output.nearest, 16);
    }

    /// The form of an unsigned map that write_plain serves; else OTHER.
    Form plain(const Output &output) const {
        if (!serves || output.is_signed) return Form::OTHER;
        return output.distance ? distance : Form::ROOTS;
    }
    /// Whether a map has Form::SIGNED.
    bool is_signed_float(const Output &output) const { return serves && output.is_signed && distance == Form::ROOTS; }

  private:
    /// Whether the rows of packed numbers of 32 bits begin at multiples of some bytes.
    static bool are_aligned(const View &view, uintptr_t bytes) {
        if (!view) return true;
        return view.stride[0] == 4 && rows_begin_at(view, bytes);
    }
    static Form form_of(const Output &output) {
        if (!output.distance || !are_aligned(output.distance, 4)) return Form::OTHER;
        if (output.distance.type == APSIS_I32) return Form::SQUARES;
        return output.distance.type == APSIS_F32 && output.measure.unit == 1 ? Form::ROOTS : Form::OTHER;
    }
};

/// Calls search(form) with what kernels are compiled for.
template <class Search>
void with_form(Form form, Search search) {
    switch (form) {
        case Form::ROOTS: return search(std::integral_constant<Form, Form::ROOTS>());
        case Form::SQUARES: return search(std::integral_constant<Form, Form::SQUARES>());
        default: return search(std::integral_constant<Form, Form::OTHER>());
    }
}

#if defined(__CUDACC__)

/// How many numbers of 32 bits lie from `to` to the next multiple of 16 bytes.
__device__ inline int count_head(const uint8_t *to) { return static_cast<int>(-reinterpret_cast<uintptr_t>(to) / 4 % QUAD); }

/// Calls store(head) with count_head(to), a constant.
template <class Store>
__device__ void with_head(const uint8_t *to, Store store) {
    switch (count_head(to)) {
        case 0: return store(std::integral_constant<int, 0>());
        case 1: return store(std::integral_constant<int, 1>());
        case 2: return store(std::integral_constant<int, 2>());
        default: return store(std::integral_constant<int, 3>());
    }
}

__device__ inline void store_quad(uint8_t *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    __stcs(reinterpret_cast<uint4 *>(to), make_uint4(a, b, c, d));
}
__device__ inline void store_one(uint8_t *to, uint32_t number) { __stcs(reinterpret_cast<uint32_t *>(to), number); }

/// Where rows begin that a kernel writes: anywhere; at multiples of 16 bytes; or anywhere, and lanes store for each other
/// (StoreAcross).
enum class RowStart { ANY, ALIGNED, ACROSS };

/// Stores the first `count` of some numbers one by one.
template <int COUNT>
__device__ void store_part(uint8_t *to, const uint32_t (&number)[COUNT], int count) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k)
        if (k < count) store_one(to + 4 * k, number[k]);
}

/// Stores the first `count` of a thread's numbers side by side.  Numbers that fill 16 bytes are stored together.
template <RowStart START = RowStart::ANY>
struct StoreAlone {
    int count;

    template <int HEAD, int COUNT>
    __device__ static void store_from(uint8_t *to, const uint32_t (&number)[COUNT]) {
#pragma unroll
        for (int k = 0; k < HEAD; ++k) store_one(to + 4 * k, number[k]);
#pragma unroll
        for (int k = HEAD; k + QUAD <= COUNT; k += QUAD)
            store_quad(to + 4 * k, number[k], number[k + 1], number[k + 2], number[k + 3]);
#pragma unroll
        for (int k = COUNT - (COUNT - HEAD) % QUAD; k < COUNT; ++k) store_one(to + 4 * k, number[k]);
    }
    template <int COUNT>
    __device__ void operator()(uint8_t *to, const uint32_t (&number)[COUNT]) const {
        if (count < COUNT) return store_part(to, number, count);
        if constexpr (START == RowStart::ALIGNED) return store_from<0>(to, number);
        with_head(to, [&](auto head) { store_from<head>(to, number); });
    }
};

/// Warp: stores four numbers a lane, side by side from lane to lane.  `count` of them are wanted from the lane's first on.
/// Where they are not aligned, a lane takes the numbers that it lacks of 16 bytes from the next lane.
struct StoreTogether {
    int count;

    template <int HEAD>
    __device__ void store_from(uint8_t *to, const uint32_t (&number)[QUAD]) const {
        const int lane = threadIdx.x % WARP;
        uint32_t quad[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; ++k)
            quad[k] = k + HEAD < QUAD ? number[k + HEAD] : __shfl_down_sync(ALL_LANES, number[k + HEAD - QUAD], 1);
        const bool whole = HEAD + QUAD <= count && (HEAD == 0 || lane < WARP - 1);
        const bool has_head = lane == 0 || HEAD > count;  // else the lane before has stored it
        if (whole) store_quad(to + 4 * HEAD, quad[0], quad[1], quad[2], quad[3]);
        if (HEAD == 0 && whole) return;
#pragma unroll
        for (int k = 0; k < QUAD; ++k)
            if (k < count && (k < HEAD ? has_head : !whole)) store_one(to + 4 * k, number[k]);
    }
    __device__ void operator()(uint8_t *to, const uint32_t (&number)[QUAD]) const {
        with_head(to, [&](auto head) { store_from<head>(to, number); });
    }
};

/// Stores eight numbers of a lane in each of some rows.  It holds their place in a row, how many of them the row has, and a bit
/// for each row in which they are wanted.
class PackedStore {
  protected:
    int32_t at_, count_;
    uint32_t wanted_;

    /// The rows in which all eight are wanted.
    __device__ uint32_t wholes() const { return count_ == 2 * QUAD ? wanted_ : 0; }
    /// Stores fewer than eight.
    __device__ void store_rest(uint8_t *row, const uint32_t (&number)[2 * QUAD], int r) const {
        if (wants(r) && count_ < 2 * QUAD) store_part(row + int64_t(at_) * 4, number, count_);
    }

  public:
    __device__ PackedStore(int32_t at, int count, uint32_t wanted) : at_(at), count_(count), wanted_(wanted) {}
    __device__ bool wants(int r) const { return wanted_ >> r & 1; }
};

/// Warp: stores where rows begin anywhere.  A lane takes the numbers that it lacks of 16 bytes from the next lane, if that lane
/// has the next ones of the row.
class StoreAcross : public PackedStore {
    uint32_t on_left_, on_right_;  // a bit a row: whether a neighbouring lane's numbers are stored as well, beside its own

  public:
    __device__ StoreAcross(int32_t at, int count, uint32_t wanted) : PackedStore(at, count, wanted), on_left_(0), on_right_(0) {
        const int lane = threadIdx.x % WARP;
        const uint32_t left = __shfl_up_sync(ALL_LANES, wholes(), 1), right = __shfl_down_sync(ALL_LANES, wholes(), 1);
        const int32_t left_at = __shfl_up_sync(ALL_LANES, at, 1), right_at = __shfl_down_sync(ALL_LANES, at, 1);
        if (lane > 0 && left_at + 2 * QUAD == at) on_left_ = wholes() & left;
        if (lane < WARP - 1 && at + 2 * QUAD == right_at) on_right_ = wholes() & right;
    }
    /// Warp: stores the numbers in row r.
    __device__ void operator()(uint8_t *row, const uint32_t (&number)[2 * QUAD], int r) const {
        store_rest(row, number, r);
        uint8_t *to = row + int64_t(at_) * 4;
        const int head = count_head(to);
        uint32_t moved[3 * QUAD - 1];  // the numbers from the first aligned one on
#pragma unroll
        for (int k = 0; k < 2 * QUAD; ++k) moved[k] = number[k];
#pragma unroll
        for (int k = 0; k < QUAD - 1; ++k) moved[2 * QUAD + k] = __shfl_down_sync(ALL_LANES, number[k], 1);
#pragma unroll
        for (int k = 0; k + 1 < 3 * QUAD - 1; ++k) moved[k] = head & 1 ? moved[k + 1] : moved[k];
#pragma unroll
        for (int k = 0; k < 2 * QUAD; ++k) moved[k] = head & 2 ? moved[k + 2] : moved[k];
        if (!(wholes() >> r & 1)) return;
        const bool has_left = on_left_ >> r & 1, has_right = head == 0 || on_right_ >> r & 1;
#pragma unroll
        for (int k = 0; k < QUAD - 1; ++k)
            if (k < head && !has_left) store_one(to + 4 * k, number[k]);
        to += 4 * head;
        store_quad(to, moved[0], moved[1], moved[2], moved[3]);
        to += 4 * QUAD;
        if (has_right) return store_quad(to, moved[4], moved[5], moved[6], moved[7]);
#pragma unroll
        for (int k = 0; k < QUAD - 1; ++k)
            if (k + head < QUAD) store_one(to + 4 * k, moved[QUAD + k]);
    }
};

/// Warp: stores where rows are aligned.  A lane's eight numbers are 32 bytes, a sector of memory.  Two lanes write the sectors
/// of both, a half each, so that no sector is written in two parts.
class StorePairs : public PackedStore {
    uint32_t even_, odd_;        // a bit a row: whether the two write the even lane's sector; the odd lane's
    uint32_t even_at_, odd_at_;  // bytes from a row's first number to where this lane writes

  public:
    __device__ StorePairs(int32_t at, int count, uint32_t wanted) : PackedStore(at, count, wanted) {
        const uint32_t own = wholes(), others = __shfl_xor_sync(ALL_LANES, own, 1);
        const int32_t others_at = __shfl_xor_sync(ALL_LANES, at, 1), half = is_odd() ? QUAD : 0;
        even_ = is_odd() ? others : own, odd_ = is_odd() ? own : others;
        even_at_ = static_cast<uint32_t>((is_odd() ? others_at : at) + half) * 4;
        odd_at_ = static_cast<uint32_t>((is_odd() ? at : others_at) + half) * 4;
    }
    /// Warp: stores the numbers in row r.
    __device__ void operator()(uint8_t *row, const uint32_t (&number)[2 * QUAD], int r) const {
        store_rest(row, number, r);
        exchange(row, number, even_ >> r & 1, odd_ >> r & 1);
    }
    /// Whether all eight numbers of this lane are wanted in each of so many rows.
    __device__ bool are_whole(int height) const { return wholes() == (1u << height) - 1; }
    /// Warp: stores in a row where are_whole holds for all lanes.
    __device__ void store_whole(uint8_t *row, const uint32_t (&number)[2 * QUAD]) const { exchange(row, number, true, true); }

  private:
    __device__ void exchange(uint8_t *row, const uint32_t (&number)[2 * QUAD], bool store_even, bool store_odd) const {
        uint32_t even[QUAD], odd[QUAD];
#pragma unroll
        for (int k = 0; k < QUAD; ++k) {
            const uint32_t low = number[k], high = number[k + QUAD];
            const uint32_t others = __shfl_xor_sync(ALL_LANES, is_odd() ? low : high, 1);
            even[k] = is_odd() ? others : low, odd[k] = is_odd() ? high : others;
        }
        if (store_even) store_quad(row + even_at_, even[0], even[1], even[2], even[3]);
        if (store_odd) store_quad(row + odd_at_, odd[0], odd[1], odd[2], odd[3]);
    }
    __device__ static bool is_odd() { return threadIdx.x & 1; }
};

/// The bits of four bytes of 0 or 1.
__device__ inline uint32_t gather_bits(uint32_t four) { return four * 0x10204080u >> 28; }

/// Writes the first `count` of COUNT pixels of a mask, from x on, which is a multiple of COUNT; all of them in one store, where
/// that is aligned.  **Warp:** if COUNT is four, as two lanes share a byte of bits, of which the first one writes it.
template <int COUNT, class Cost>
__device__ void write_mask(const Output &output, int64_t x, int64_t y, int64_t z, const Cost (&cost)[COUNT], bool found,
                           int count) {
    static_assert((COUNT == QUAD || COUNT == 8) && std::is_unsigned_v<Cost>);
    const auto most = static_cast<Cost>(min(static_cast<uint64_t>(output.measure.limit), uint64_t(static_cast<Cost>(-1))));
    uint32_t four[COUNT / QUAD];
#pragma unroll
    for (int q = 0; q < COUNT / QUAD; ++q) {
        four[q] = output.beyond ? 0x01010101 : 0;
#pragma unroll
        for (int k = 0; k < QUAD; ++k) four[q] ^= found && cost[q * QUAD + k] <= most ? 1u << 8 * k : 0;
    }
    if (output.distance.type == APSIS_BIT) {
        uint32_t byte = gather_bits(four[0]);
        if constexpr (COUNT == QUAD)
            byte |= __shfl_down_sync(ALL_LANES, byte, 1) << QUAD;
        else
            byte |= gather_bits(four[1]) << QUAD;
        if (count > 0 && x % 8 == 0) output.distance.row(y, z)[x / 8] = static_cast<uint8_t>(byte);
        return;
    }
    uint8_t *const to = output.distance.row(y, z) + x;
    if (count >= COUNT && reinterpret_cast<uintptr_t>(to) % COUNT == 0) {
        if constexpr (COUNT == QUAD)
            __stcs(reinterpret_cast<uint32_t *>(to), four[0]);
        else
            __stcs(reinterpret_cast<uint2 *>(to), make_uint2(four[0], four[1]));
        return;
    }
#pragma unroll
    for (int k = 0; k < COUNT; ++k)
        if (k < count) to[k] = static_cast<uint8_t>(four[k / QUAD] >> 8 * (k % QUAD));
}

/// The numbers that pixels of such costs have in an unsigned map.  `root` takes the root of a cost.
template <Form FORM, int COUNT, class Root>
__device__ void to_numbers(const OutputFormat &format, const uint32_t (&cost)[COUNT], uint32_t (&number)[COUNT], Root root) {
    static_assert(IS_PLAIN<FORM>);
    const bool are_roots = (FORM == Form::ROOTS_OR_SQUARES ? format.distance : FORM) == Form::ROOTS;
    if (are_roots) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) number[k] = __float_as_uint(root(cost[k]));
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) number[k] = cost[k];
    }
    if (!format.limited) return;
    const uint32_t none = are_roots ? __float_as_uint(INFINITY) : INT32_MAX;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) number[k] = cost[k] <= format.limit ? number[k] : none;
}
/// The indices that pixels of such costs have in a map of nearest sites.
template <int COUNT>
__device__ void to_indices(const OutputFormat &format, const uint32_t (&cost)[COUNT], const int32_t (&site)[COUNT],
                           uint32_t (&number)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k)
        number[k] = static_cast<uint32_t>(!format.limited || cost[k] <= format.limit ? site[k] : -1);
}

/// Writes COUNT pixels of a row of an unsigned map from x on, from their costs and with NEAREST the indices of their nearest
/// sites.
template <Form FORM, bool NEAREST, int COUNT, class Root, class Store>
__device__ void write_plain(const Output &output, const OutputFormat &format, int64_t x, int64_t y, int64_t z,
                            const uint32_t (&cost)[COUNT], const int32_t (&site)[COUNT], Root root, Store store) {
    static_assert(COUNT % QUAD == 0);
    uint32_t number[COUNT];
    if (!NEAREST || output.distance) {
        to_numbers<FORM>(format, cost, number, root);
        store(output.distance.row(y, z) + x * 4, number);
    }
    if constexpr (NEAREST) {
        to_indices(format, cost, site, number);
        store(output.nearest.row(y, z) + x * 4, number);
    }
}

/// The same for one side of a signed map, which writes the pixels that are not its sites.  If FORM is not SIGNED, `format`
/// tells what the distances are.
template <Form FORM, bool NEAREST, int COUNT, class Root>
__device__ void write_side(const Output &output, const OutputFormat &format, int64_t x, int64_t y, int64_t z,
                           const uint32_t (&cost)[COUNT], const int32_t (&site)[COUNT], Root root, StoreAlone<> store) {
    const uint32_t sign = output.is_inside ? 1u << 31 : 0;
    bool whole = true;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) whole = whole && cost[k];
    const auto found = [&](int k) { return !format.limited || cost[k] <= format.limit; };
    const auto put = [&](const View &view, const uint32_t(&number)[COUNT]) {
        uint8_t *const to = view.row(y, z) + x * 4;
        const bool by_quads = store.count == COUNT && count_head(to) == 0;
        if (whole && !by_quads) return store(to, number);
#pragma unroll
        for (int q = 0; q < COUNT; q += QUAD) {
            if (by_quads && cost[q] && cost[q + 1] && cost[q + 2] && cost[q + 3]) {
                store_quad(to + 4 * q, number[q], number[q + 1], number[q + 2], number[q + 3]);
                continue;
            }
#pragma unroll
            for (int k = q; k < q + QUAD; ++k)
                if (k < store.count && cost[k]) store_one(to + 4 * k, number[k]);
        }
    };
    uint32_t number[COUNT];
    if (FORM == Form::SIGNED || format.distance == Form::ROOTS) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) number[k] = __float_as_uint(found(k) ? root(cost[k]) : INFINITY) | sign;
        put(output.distance, number);
    } else if (output.distance) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const uint32_t square = found(k) ? cost[k] : INT32_MAX;
            number[k] = output.is_inside ? 0 - square : square;
        }
        put(output.distance, number);
    }
    if constexpr (NEAREST) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) number[k] = static_cast<uint32_t>(found(k) ? site[k] : -1);
        put(output.nearest, number);
    }
}

/// The numbers that pixels of such costs have in a signed map.  `sign` has the highest bit for pixels inside.
template <Form FORM, int COUNT, class Root>
__device__ void to_signed_numbers(const OutputFormat &format, const uint32_t (&cost)[COUNT], const uint32_t (&sign)[COUNT],
                                  uint32_t (&number)[COUNT], Root root) {
    to_numbers<FORM>(format, cost, number, root);
#pragma unroll
    for (int k = 0; k < COUNT; ++k) number[k] = FORM == Form::ROOTS ? number[k] | sign[k] : sign[k] ? 0 - number[k] : number[k];
}

#endif

}  // namespace apsis::cuda::plane
