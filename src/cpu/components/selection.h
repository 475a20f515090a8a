// Selects components: by area, by whether they touch the border of the image, and the largest ones (a radix selection by rank).
#pragma once

#include "runtime/backend.h"

namespace apsis::cpu::components {

class Selection {
  public:
    static constexpr int DIGIT_BITS = 11;  // bits of a rank that one pass over the image settles
    static constexpr int64_t BINS = int64_t(1) << DIGIT_BITS;

    /// A component's key is less than 2^key_bits; earlier components have lower keys.
    Selection(const ComponentsJob &job, int key_bits) : job_(job), key_bits_(key_bits) {}

    bool keeps(int64_t area, bool touches, int64_t key) const {
        return area >= job_.min_area && area <= job_.max_area && !(touches ? job_.no_border : job_.no_inner) &&
               (job_.largest == INT64_MAX || rank_of(area, key) >= least_rank_);
    }

    /// The digit at `shift` of a component's rank, or -1 if its higher digits differ from the digits found so far.
    int digit_of(int64_t area, int64_t key, int shift) const {
        const Rank rank = rank_of(area, key);
        if (rank >> shift >> DIGIT_BITS != least_rank_ >> shift >> DIGIT_BITS) return -1;
        return static_cast<int>(static_cast<unsigned>(rank >> shift) & (BINS - 1));
    }

    /// Finds the rank of the last component to be kept, digit by digit from the highest.  count(shift) makes a pass over the
    /// image.  Then bin(digit) is the number of components whose ranks have the digits found so far, followed by `digit`.
    /// Areas have at most area_bits bits.
    template <class Count, class Bin>
    void find_least_rank(int area_bits, Count count, Bin bin) {
        int64_t left = job_.largest;
        for (int shift = (key_bits_ + area_bits) / DIGIT_BITS * DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
            count(shift);
            int digit = BINS - 1;
            for (; digit >= 0 && bin(digit) < left; --digit) left -= bin(digit);
            if (digit < 0) return;  // all that are left are kept
            least_rank_ |= Rank(static_cast<unsigned>(digit)) << shift;
            if (bin(digit) == left) return;
        }
    }

  private:
    using Rank = unsigned __int128;

    /// Larger components rank higher; of equal ones, earlier ones do.
    Rank rank_of(int64_t area, int64_t key) const {
        const int64_t earliness = (int64_t(1) << key_bits_) - 1 - key;
        return Rank(static_cast<uint64_t>(area)) << key_bits_ | static_cast<uint64_t>(earliness);
    }

    const ComponentsJob &job_;
    int key_bits_;
    Rank least_rank_ = 0;
};

}  // namespace apsis::cpu::components
