// Joins parts across the seam of an image that closes on itself: the runs of its first rows with those of its last ones, and
// the first run of each row with the last ones.  Chosen for periodic axes, once parts are joined across blocks.
//
// Cost: some nanoseconds for each pair of neighbours across the seam.
#pragma once

#include "cpu/components/parts.h"
#include "cpu/components/slots.h"

namespace apsis::cpu::components {

class SeamRow {
  public:
    /// The row at (y, z), which is at a seam.
    SeamRow(const Blocks &blocks, const Parts &parts, const Slots &slots, const ThreadScratch &scratch, int64_t y, int64_t z)
        : blocks_(blocks),
          parts_(parts),
          slots_(slots),
          scratch_(scratch),
          row_(load(0, y, z)),
          y_(y),
          z_(z) {}

    void join() {
        for (int dz = blocks_.volume ? -1 : 0; dz <= (blocks_.volume ? 1 : 0); ++dz)
            for (int dy = -1; dy <= 1; ++dy) {
                const int64_t y = blocks_.periodic.wrap(1, y_ + dy, blocks_.height),
                              z = blocks_.periodic.wrap(2, z_ + dz, blocks_.depth);
                const int64_t more_axes = blocks_.connectivity - (dy != 0) - (dz != 0);
                if (y < 0 || z < 0 || more_axes < 0) continue;
                const bool is_across = y != y_ + dy || z != z_ + dz;
                if (!is_across && (!blocks_.periodic.along[0] || more_axes < 1)) continue;
                const ValueRow other = load(1, y, z);
                if (is_across) join_all(other, 0);
                if (is_across && more_axes > 0) join_all(other, -1), join_all(other, 1);
                if (!is_across) join_pixels(0, other, blocks_.width - 1);
            }
    }

  private:
    ValueRow load(int64_t j, int64_t y, int64_t z) const {
        const int64_t row = blocks_.row_at(y, z);
        parts_.count_row(scratch_, j, row);
        return parts_.value_row(scratch_, y, z, {j, slots_.first_of(row)}, j);
    }

    /// Joins all pixels with those one step along x from the same place in another row.
    void join_all(const ValueRow &other, int step) {
        joined_[0] = joined_[1] = NO_SLOT;
        for (int64_t x = 0; x < blocks_.width; ++x)
            if (const int64_t other_x = blocks_.periodic.wrap(0, x + step, blocks_.width); other_x >= 0)
                join_pixels(x, other, other_x);
    }

    void join_pixels(int64_t x, const ValueRow &other, int64_t other_x) {
        if (!parts_.connects(row_, x, other, other_x)) return;
        const uint32_t own_slot = slot_at(row_, x), other_slot = slot_at(other, other_x);
        if (own_slot != joined_[0] || other_slot != joined_[1]) slots_.join(own_slot, other_slot);
        joined_[0] = own_slot, joined_[1] = other_slot;
    }

    static uint32_t slot_at(const ValueRow &row, int64_t x) {
        const uint64_t to_here = ~uint64_t(0) >> (63 - (x & 63));
        return row.first + row.bits.before[x >> 6] - 1 +
               static_cast<uint32_t>(__builtin_popcountll(row.bits.start[x >> 6] & to_here));
    }

    const Blocks &blocks_;
    const Parts &parts_;
    const Slots &slots_;
    const ThreadScratch &scratch_;
    ValueRow row_;
    int64_t y_, z_;
    uint32_t joined_[2] = {NO_SLOT, NO_SLOT};  // the runs of the pixels before
};

}  // namespace apsis::cpu::components
