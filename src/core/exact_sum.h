// The sum of numbers of APSIS_F32, exactly: of any number of them below 2^63, in any order.
//
// A float is a whole number of 24 bits times 2^-149 times 2^0 to 2^253.  So sums are kept of those that begin in the same 32 of
// these places: 8 whole numbers of 128 bits, none of which can overflow.  They are added up and rounded once.  (It is the long
// accumulator of Kulisch, in pieces that need no carries.)
#pragma once

#include <math.h>
#include <string.h>

#include "core/view.h"

namespace apsis {

class ExactSum {
  public:
    static constexpr int PARTS = 8;

    /// What a number adds to one of the parts: below 2^55.
    struct Piece {
        int part;
        int64_t whole;
    };
    APSIS_BOTH static Piece piece_of(float value) {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        const uint32_t exponent = bits >> 23 & 255, place = exponent ? exponent - 1 : 0;
        const int64_t whole = static_cast<int64_t>((bits & 0x7fffff) | (exponent ? 1u << 23 : 0)) << place % 32;
        return {static_cast<int>(place / 32), bits >> 31 ? -whole : whole};
    }

    APSIS_BOTH void add(float value) {
        const Piece piece = piece_of(value);
        part_[piece.part] += piece.whole;
    }
    /// Adds many pieces of a part.
    APSIS_BOTH void add_pieces(int part, __int128 sum) { part_[part] += sum; }
    APSIS_BOTH __int128 pieces(int part) const { return part_[part]; }
    APSIS_BOTH void add_whole(int64_t value) { part_[ONE / 32] += static_cast<__int128>(value) * (1 << ONE % 32); }
    APSIS_BOTH void add(const ExactSum &other) {
        for (int i = 0; i < PARTS; ++i) part_[i] += other.part_[i];
    }

    /// Rounded to the nearest double.
    double rounded() const {
        uint32_t limb[LIMBS];
        const bool negative = split(1, limb);
        if (negative) split(-1, limb);
        int top = LIMBS - 1;
        while (top > 2 && limb[top] == 0) --top;
        unsigned __int128 most = 0;  // at least 65 bits of the sum, or all; the last bit also stands for those below
        for (int i = top; i > top - 3; --i) most = most << 32 | limb[i];
        for (int i = 0; i < top - 2; ++i) most |= limb[i] != 0;
        const double size = ldexp(static_cast<double>(most), 32 * (top - 2) - ONE);
        return negative ? -size : size;
    }

  private:
    static constexpr int ONE = 149, LIMBS = 12;

    /// The sum, times a sign, in parts of 32 bits.  Returns whether it is negative.
    bool split(int sign, uint32_t *limb) const {
        __int128 carry = 0;
        for (int i = 0; i < LIMBS; ++i) {
            if (i < PARTS) carry += sign * part_[i];
            limb[i] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        return carry < 0;
    }

    __int128 part_[PARTS] = {};
};

}  // namespace apsis
