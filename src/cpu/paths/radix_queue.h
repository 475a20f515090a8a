// A queue of cells by length, from which the least is taken, and which no length less than the last one taken enters: a radix
// heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990).  Each level has a bucket for each value of a digit.  A cell is in the level of
// the highest digit in which its length differs from the last one taken.  When the levels below are empty, the first bucket of
// a level is dealt out to them, so that a cell moves at most once for each level.
//
// Digits below `shift` are not looked at: lengths that differ in these alone leave in any order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace apsis::cpu::paths {

/// Length is an unsigned type, of up to 128 bits.
template <class Length>
class RadixQueue {
  public:
    struct Entry {
        Length length;
        int64_t cell;
    };

    /// The queue is empty: it has not been used, or all has been taken.
    void start(int shift) {
        shift_ = shift;
        last_ = 0;
    }

    void push(const Entry &entry) {
        const Length key = entry.length >> shift_;
        const int level = level_of(key ^ last_);
        const int digit = digit_of(key, level);
        bucket_[level][digit].push_back(entry);
        filled_[level] |= uint64_t(1) << digit;
    }

    /// Takes an entry, if there is one.
    bool pop(Entry &entry) {
        if (!filled_[0] && !deal()) return false;
        const int digit = std::countr_zero(filled_[0]);
        std::vector<Entry> &bucket = bucket_[0][digit];
        entry = bucket.back();
        bucket.pop_back();
        if (bucket.empty()) filled_[0] &= filled_[0] - 1;
        last_ = entry.length >> shift_;
        return true;
    }

  private:
    static constexpr int BITS = 6;  // of a digit, so that a word has a bit for each bucket of a level
    static constexpr int LEVELS = (8 * int(sizeof(Length)) + BITS - 1) / BITS;

    static int bits_of(Length number) {
        if constexpr (sizeof(Length) == 16)
            if (const uint64_t high = static_cast<uint64_t>(number >> 64)) return 64 + std::bit_width(high);
        return std::bit_width(static_cast<uint64_t>(number));
    }
    static int level_of(Length difference) { return difference ? (bits_of(difference) - 1) / BITS : 0; }
    static int digit_of(Length key, int level) { return static_cast<int>(static_cast<uint64_t>(key >> (BITS * level)) & 63); }

    /// Fills the lowest level from the others.  Returns whether there was anything.
    bool deal() {
        const auto level = std::find_if(filled_ + 1, filled_ + LEVELS, [](uint64_t filled) { return filled != 0; });
        if (level == filled_ + LEVELS) return false;
        dealt_.swap(bucket_[level - filled_][std::countr_zero(*level)]);
        *level &= *level - 1;
        const auto by_length = [](const Entry &a, const Entry &b) { return a.length < b.length; };
        last_ = std::min_element(dealt_.begin(), dealt_.end(), by_length)->length >> shift_;
        for (const Entry &entry : dealt_) push(entry);
        dealt_.clear();
        return true;
    }

    std::vector<Entry> bucket_[LEVELS][64], dealt_;
    uint64_t filled_[LEVELS] = {};  // the buckets that are not empty, as bits
    Length last_ = 0;               // without the digits below shift
    int shift_ = 0;
};

}  // namespace apsis::cpu::paths
