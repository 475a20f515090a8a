// A distance field by relaxation, as in "The Eccentricity Transform on CUDA" (A. Varchola): a mask, a cost and an updating
// cost a pixel, and two kernels in turn until no cost changes.  Chosen by APSIS_EVERY_SOURCE.
//
//     k1   every pixel of the mask leaves it, and lowers the updating costs of its neighbours
//     k2   every pixel whose updating cost is below its cost takes it, and joins the mask
//
// Here the mask is a list instead of a flag a pixel, and k2 goes through the pixels that k1 has lowered.  The article proposes
// to make fields only from the local maxima of a field; that is not exact, not even for a square, and is not done.
#pragma once

#include "cpu/paths/field.h"

namespace apsis::cpu::paths {

template <class Length, class Cell>
class Relaxation {
  public:
    static constexpr Length WALL = Field<Length>::WALL, UNSEEN = Field<Length>::UNSEEN;

    Relaxation(const Grid &grid, const Steps &steps, int axes, Carver &carver) : moves_(grid, steps, axes) {
        length = carver.take<Length>(grid.cells);
        updating_ = carver.take<Length>(grid.cells);
        mask_ = carver.take<Cell>(grid.cells);
        lowered_ = carver.take<Cell>(grid.cells);
    }

    Length *length;  // [cell]: the cost; WALL outside the set

    void run_from(int64_t cell, const Cell *members, int64_t count) {
        for (int64_t i = 0; i < count; ++i) length[members[i]] = updating_[members[i]] = UNSEEN;
        length[cell] = updating_[cell] = 0;
        mask_[0] = static_cast<Cell>(cell);
        for (int64_t masked = 1; masked > 0;) masked = k2(k1(masked));
    }

  private:
    int64_t k1(int64_t masked) const {
        int64_t lowered = 0;
        for (int64_t i = 0; i < masked; ++i) {
            const int64_t from = static_cast<int64_t>(mask_[i]);
            for (int k = 0; k < moves_.count; ++k) {
                if (!moves_.is_open(from, k, [this](int64_t cell) { return length[cell] >= 0; })) continue;
                const int64_t to = moves_.target(from, k);
                const Length sum = length[from] + static_cast<Length>(moves_.weight[k]);
                if (sum >= UNSEEN) throw TooLong();
                if (length[to] < 0 || updating_[to] <= sum) continue;
                if (updating_[to] == length[to]) lowered_[lowered++] = static_cast<Cell>(to);
                updating_[to] = sum;
            }
        }
        return lowered;
    }

    int64_t k2(int64_t lowered) const {
        for (int64_t i = 0; i < lowered; ++i) {
            length[lowered_[i]] = updating_[lowered_[i]];
            mask_[i] = lowered_[i];
        }
        return lowered;
    }

    Moves moves_;
    Length *updating_;
    Cell *mask_, *lowered_;
};

}  // namespace apsis::cpu::paths
