// apsis_thickness: for each pixel the greatest ball that covers it, in two steps.
//
// 1. Of the balls of the medial axis, which cover the set, by branch and bound over boxes of pixels (cover.h).  That is what
//    most pixels have in the end.
// 2. Every other ball raises the pixels that it covers and that have less.  A pyramid of the least values of the first step,
//    in cells of 2, 4, 8, ... pixels, tells where: a cell with no less than the ball's radius is done.
//
// The second step is there because a ball that is not on the axis may lie in the union of smaller ones.
// Both steps take greatest numbers, so that their order does not matter.
//
// Time goes with the pixels, and with those that balls beside the axis look at where their surface is that of the first step:
// up to r^2 (3-D) or r (2-D) for each ball of the axis.  Memory is that of the medial axis, and its balls in lists.
#include <atomic>
#include <cmath>
#include <vector>

#include "cpu/balls/cover.h"
#include "cpu/balls/medial_axis.h"
#include "cpu/balls/radii.h"

namespace apsis::cpu::balls {
namespace {

template <class Cost>
class Thickness {
  public:
    Thickness(const BallsJob &job, Arena &arena)
        : job_(job),
          arena_(arena),
          size_{job.squares.size[0], job.squares.size[1], job.squares.size[2]},
          squares_(squares_of<Cost>(job)) {
        for (int a = 0; a < 3; ++a) weights_.along[a] = a < job.axes ? static_cast<Cost>(job.measure.weight[a]) : 0;
    }

    void run(const Progress &progress) {
        const Centres centres = find_centres(job_, arena_, progress, 0.3);
        found_ = std::make_unique_for_overwrite<Cost[]>(static_cast<size_t>(job_.squares.pixels()));
        Cover<Cost>(job_, weights_, found_.get(), arena_).run(centres.get(), progress, 0.3, 0.5);
        build_pyramid();
        parallel_for(arena_, size_[1] * size_[2], progress, 0.5, 1, [&](int64_t row) {
            for (int64_t x = 0; x < size_[0]; ++x) {
                const Cost square = squares_[row * size_[0] + x];
                if (square > 0 && square != INFINITE<Cost> && !centres[row * size_[0] + x])
                    raise({square,
                           {static_cast<int32_t>(x), static_cast<int32_t>(row % size_[1]),
                            static_cast<int32_t>(row / size_[1])}});
            }
        });
        write_radii<Cost>(job_, arena_, [&](int64_t i) { return squares_[i] == INFINITE<Cost> ? squares_[i] : found_[i]; });
    }

  private:
    /// The cells of a level.
    struct Level {
        int64_t size[3];
        std::unique_ptr<Cost[]> least;

        Cost &at(int64_t x, int64_t y, int64_t z) const { return least[x + size[0] * (y + size[1] * z)]; }
    };

    /// The least value of the pixels of the set in a cell; pixels outside count as the greatest number.
    Cost least(int level, int64_t x, int64_t y, int64_t z) const {
        if (level > 0) return levels_[level - 1].at(x, y, z);
        const int64_t i = x + size_[0] * (y + size_[1] * z);
        return squares_[i] > 0 ? found_[i] : INFINITE<Cost>;
    }

    void build_pyramid() {
        int64_t size[3] = {size_[0], size_[1], size_[2]};
        const auto is_one = [&] { return std::all_of(size, size + job_.axes, [](int64_t n) { return n == 1; }); };
        for (int below = 0; !is_one(); ++below) {
            int64_t was[3];
            std::copy_n(size, 3, was);
            for (int a = 0; a < job_.axes; ++a) size[a] = (size[a] + 1) / 2;
            Level level{{size[0], size[1], size[2]},
                        std::make_unique_for_overwrite<Cost[]>(static_cast<size_t>(size[0] * size[1] * size[2]))};
            parallel_for(arena_, size[1] * size[2], {}, 0, 0, [&](int64_t row) {
                const int64_t y = row % size[1], z = row / size[1];
                for (int64_t x = 0; x < size[0]; ++x) {
                    Cost value = INFINITE<Cost>;
                    for_cells_below(was, x, y, z,
                                    [&](int64_t i, int64_t j, int64_t k) { value = std::min(value, least(below, i, j, k)); });
                    level.at(x, y, z) = value;
                }
            });
            levels_.push_back(std::move(level));
        }
    }

    /// Calls visit(x, y, z) for the cells that make up one of the level above, out of `size`.
    template <class Visit>
    void for_cells_below(const int64_t (&size)[3], int64_t x, int64_t y, int64_t z, Visit visit) const {
        const bool deep = job_.axes == 3;
        for (int64_t k = deep ? 2 * z : z; k < (deep ? std::min(2 * z + 2, size[2]) : z + 1); ++k)
            for (int64_t j = 2 * y; j < std::min(2 * y + 2, size[1]); ++j)
                for (int64_t i = 2 * x; i < std::min(2 * x + 2, size[0]); ++i) visit(i, j, k);
    }

    /// Raises the pixels of a ball to its own square, where they have less.
    void raise(const Ball<Cost> &ball) const {
        // Begins with cells as large as the ball.
        int level = 0;
        Box box;
        for (int a = 0; a < 3; ++a) {
            int64_t reach = 0;  // rounded to the next number, so that it is not too low
            if (a < job_.axes)
                reach = static_cast<int64_t>(
                    0.5 + std::sqrt(static_cast<double>(ball.square - 1) / static_cast<double>(weights_.along[a])));
            while (level < static_cast<int>(levels_.size()) && int64_t(1) << level <= reach) ++level;
            box.lower[a] = std::max<int64_t>(ball.at[a] - reach, 0);
            box.upper[a] = std::min(ball.at[a] + reach, size_[a] - 1);
        }
        const int deep = job_.axes == 3 ? level : 0;
        for (int64_t z = box.lower[2] >> deep; z <= box.upper[2] >> deep; ++z)
            for (int64_t y = box.lower[1] >> level; y <= box.upper[1] >> level; ++y)
                for (int64_t x = box.lower[0] >> level; x <= box.upper[0] >> level; ++x) raise(ball, level, x, y, z);
    }

    void raise(const Ball<Cost> &ball, int level, int64_t x, int64_t y, int64_t z) const {
        if (least(level, x, y, z) >= ball.square) return;
        if (level == 0) return raise_pixel(ball, x, y, z);
        const int64_t at[3] = {x, y, z};
        Box box;
        for (int a = 0; a < 3; ++a) {
            const int shift = a < job_.axes ? level : 0;
            box.lower[a] = at[a] << shift, box.upper[a] = ((at[a] + 1) << shift) - 1;
        }
        if (!weights_.meets(box, ball)) return;
        for_cells_below(level == 1 ? size_ : levels_[level - 2].size, x, y, z,
                        [&](int64_t i, int64_t j, int64_t k) { raise(ball, level - 1, i, j, k); });
    }

    void raise_pixel(const Ball<Cost> &ball, int64_t x, int64_t y, int64_t z) const {
        const std::atomic_ref<Cost> pixel(found_[x + size_[0] * (y + size_[1] * z)]);
        Cost was = pixel.load(std::memory_order_relaxed);
        if (was >= ball.square || !weights_.meets({{x, y, z}, {x, y, z}}, ball)) return;
        while (was < ball.square && !pixel.compare_exchange_weak(was, ball.square, std::memory_order_relaxed)) {
        }
    }

    const BallsJob &job_;
    Arena &arena_;
    const int64_t size_[3];
    const Cost *squares_;
    Weights<Cost> weights_;
    std::unique_ptr<Cost[]> found_;  // the greatest square of a ball that covers the pixel
    std::vector<Level> levels_;      // cells of 2, 4, 8, ... pixels along each axis
};

}  // namespace
}  // namespace apsis::cpu::balls

namespace apsis {

void find_thickness(const BallsJob &job, Arena &arena, const Progress &progress) {
    if (job.squares.type == APSIS_I32)
        cpu::balls::Thickness<int32_t>(job, arena).run(progress);
    else
        cpu::balls::Thickness<int64_t>(job, arena).run(progress);
}

}  // namespace apsis
