// apsis_thickness: for each pixel the greatest ball that covers it, by branch and bound over boxes.
//
// A box of pixels has a list of the balls that may decide there, the greatest first.  The list ends with the first ball that
// contains the box.  Left out are balls that do not meet the box, and those that are dominated: another one before it has, at
// every pixel of the box, at least its power R - |p - c|^2, where R is the square of the radius, and so covers what it covers.
// The difference of two powers is linear in p, so that one corner of the box decides.  The ball before it that is tried is the
// one with the greatest power in the middle of the box.  Then the box is halved.
//
// Before that, balls that lie in the ball of a neighbour are left out, exactly: |c - c'| <= sqrt(R') - sqrt(R), by whole
// numbers.
//
// Time goes with the pixels times the balls that are left where boxes are small, which are few; memory is a list of balls.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cpu/balls/radii.h"

namespace apsis::cpu::balls {
namespace {

constexpr size_t TASKS = 512;  // boxes that threads share; fewer are halved one level after the other
constexpr int64_t LEAF = 8;    // pixels of a box that are done one by one

template <class Cost>
struct Ball {
    Cost square;
    int32_t at[3];
};

/// Pixels from `lower` to `upper`, the latter included.
struct Box {
    int64_t lower[3], upper[3];
};

template <class Cost>
class Thickness {
    /// A box and the balls that may decide there; all its pixels have at least the radius of the square `best`.
    struct Part {
        Box box;
        Cost best;
        std::vector<Ball<Cost>> list;
    };

  public:
    Thickness(const BallsJob &job, Arena &arena)
        : job_(job),
          arena_(arena),
          width_(job.squares.size[0]),
          height_(job.squares.size[1]),
          depth_(job.squares.size[2]),
          squares_(squares_of<Cost>(job)) {
        for (int a = 0; a < 3; ++a) weight_[a] = a < job.axes ? static_cast<Cost>(job.measure.weight[a]) : 0;
    }

    void run(const Progress &progress) {
        list_balls(progress);
        std::vector<Part> parts(static_cast<size_t>(job_.axes == 3 ? 1 : depth_));
        parallel_for(arena_, static_cast<int64_t>(parts.size()), progress, 0.2, 0.25,
                     [&](int64_t z) { parts[static_cast<size_t>(z)] = whole(z); });
        balls_.reset();
        while (!parts.empty() && parts.size() < TASKS && pixels_of(parts.front().box) > LEAF) halve(parts);
        parallel_for(arena_, static_cast<int64_t>(parts.size()), progress, 0.3, 1, [&](int64_t i) {
            Part &part = parts[static_cast<size_t>(i)];
            solve(part.box, part.list, 0, part.list.size(), part.best);
            std::vector<Ball<Cost>>().swap(part.list);
        });
        write_radii<Cost>(job_, arena_, [&](int64_t i) { return squares_[i]; });
    }

  private:
    /// Lists the balls of all rows that lie in no neighbour's.
    void list_balls(const Progress &progress) {
        const int64_t rows = height_ * depth_;
        first_.assign(static_cast<size_t>(rows + 1), 0);
        const auto for_balls = [&](int64_t row, auto visit) {
            const int64_t y = row % height_, z = row / height_;
            for (int64_t x = 0; x < width_; ++x) {
                const Cost square = squares_[row * width_ + x];
                if (square > 0 && square != INFINITE<Cost> && !is_in_neighbours(square, x, y, z)) visit(x, y, z, square);
            }
        };
        parallel_for(arena_, rows, progress, 0, 0.1, [&](int64_t row) {
            int64_t count = 0;
            for_balls(row, [&](int64_t, int64_t, int64_t, Cost) { ++count; });
            first_[static_cast<size_t>(row + 1)] = count;
        });
        for (size_t row = 0; row < static_cast<size_t>(rows); ++row) first_[row + 1] += first_[row];
        balls_ = std::make_unique_for_overwrite<Ball<Cost>[]>(static_cast<size_t>(first_.back()));
        parallel_for(arena_, rows, progress, 0.1, 0.2, [&](int64_t row) {
            Ball<Cost> *to = &balls_[static_cast<size_t>(first_[static_cast<size_t>(row)])];
            for_balls(row, [&](int64_t x, int64_t y, int64_t z, Cost square) {
                *to++ = {square, {static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z)}};
            });
        });
    }

    /// Whether the ball around a pixel lies in that of a pixel beside it.
    bool is_in_neighbours(Cost square, int64_t x, int64_t y, int64_t z) const {
        const int64_t deep = job_.axes == 3 ? 1 : 0;
        for (int64_t k = std::max<int64_t>(z - deep, 0); k <= std::min(z + deep, depth_ - 1); ++k)
            for (int64_t j = std::max<int64_t>(y - 1, 0); j <= std::min(y + 1, height_ - 1); ++j)
                for (int64_t i = std::max<int64_t>(x - 1, 0); i <= std::min(x + 1, width_ - 1); ++i) {
                    const Cost other = squares_[(k * height_ + j) * width_ + i];
                    const Cost apart = (i != x ? weight_[0] : 0) + (j != y ? weight_[1] : 0) + (k != z ? weight_[2] : 0);
                    if (other >= square + apart && apart > 0 && is_in(square, apart, other)) return true;
                }
        return false;
    }

    /// Whether sqrt(apart) <= sqrt(other) - sqrt(square), where other >= square + apart.
    static bool is_in(Cost square, Cost apart, Cost other) {
        const __int128 rest = other - square - apart;
        return rest * rest >= 4 * static_cast<__int128>(apart) * square;
    }

    /// The image, or slice z, with all its balls.
    Part whole(int64_t z) const {
        const int64_t from = job_.axes == 3 ? 0 : z * height_, to = job_.axes == 3 ? height_ * depth_ : from + height_;
        const Ball<Cost> *const balls = balls_.get();
        Part part{{{0, 0, z}, {width_ - 1, height_ - 1, job_.axes == 3 ? depth_ - 1 : z}}, 0, {}};
        part.list.assign(balls + first_[static_cast<size_t>(from)], balls + first_[static_cast<size_t>(to)]);
        std::sort(part.list.begin(), part.list.end(), [](const auto &a, const auto &b) { return a.square > b.square; });
        return part;
    }

    /// Halves all parts.  Those that are done, or small, are left out.
    void halve(std::vector<Part> &parts) const {
        std::vector<Part> halves(2 * parts.size());
        parallel_for(arena_, static_cast<int64_t>(halves.size()), {}, 0, 0, [&](int64_t i) {
            const Part &part = parts[static_cast<size_t>(i / 2)];
            Part &half = halves[static_cast<size_t>(i)];
            half.box = half_of(part.box, i % 2);
            half.best = keep(half.box, part.list, 0, part.list.size(), part.best, half.list);
            if (half.list.empty()) fill(half.box, half.best);
        });
        std::erase_if(halves, [](const Part &half) { return half.list.empty(); });
        parts.swap(halves);
    }

    /// Solves a box with the balls of a list from `begin` to `end`.  Behind them there is room.
    void solve(const Box &box, std::vector<Ball<Cost>> &list, size_t begin, size_t end, Cost best) const {
        if (pixels_of(box) <= LEAF) return solve_pixels(box, list.data() + begin, list.data() + end, best);
        for (int k = 0; k < 2; ++k) {
            const Box half = half_of(box, k);
            const Cost found = keep(half, list, begin, end, best, list);
            if (list.size() > end)
                solve(half, list, end, list.size(), found);
            else
                fill(half, found);
            list.resize(end);
        }
    }

    void solve_pixels(const Box &box, const Ball<Cost> *begin, const Ball<Cost> *end, Cost best) const {
        for (int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
            for (int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
                for (int64_t x = box.lower[0]; x <= box.upper[0]; ++x) {
                    const Box pixel = {{x, y, z}, {x, y, z}};
                    const auto found =
                        std::find_if(begin, end, [&](const Ball<Cost> &ball) { return nearest(pixel, ball) < ball.square; });
                    fill(pixel, found == end ? best : found->square);
                }
    }

    /// Appends to `to` those balls of a list that may decide in a box.  Returns the square of the next one, which contains the
    /// box, or else `best`.
    Cost keep(const Box &box, const std::vector<Ball<Cost>> &list, size_t begin, size_t end, Cost best,
              std::vector<Ball<Cost>> &to) const {
        Box middle;
        for (int a = 0; a < 3; ++a) middle.lower[a] = middle.upper[a] = (box.lower[a] + box.upper[a]) / 2;
        Ball<Cost> strongest{0, {0, 0, 0}};
        Cost power = 0;
        for (size_t i = begin; i < end; ++i) {
            const Ball<Cost> ball = list[i];
            if (nearest(box, ball) >= ball.square) continue;
            if (farthest(box, ball) < ball.square) return ball.square;
            if (strongest.square > 0 && dominates(box, strongest, ball)) continue;
            to.push_back(ball);
            const Cost own = ball.square - nearest(middle, ball);
            if (strongest.square == 0 || own > power) strongest = ball, power = own;
        }
        return best;
    }

    /// Whether a ball has, at every pixel of a box, at least the power of another one.
    bool dominates(const Box &box, const Ball<Cost> &ball, const Ball<Cost> &other) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost from = ball.at[a], to = other.at[a], at = static_cast<Cost>(to > from ? box.upper[a] : box.lower[a]);
            cost += weight_[a] * (to - from) * (2 * at - from - to);
        }
        return cost <= ball.square - other.square;
    }

    void fill(const Box &box, Cost best) const {
        for (int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
            for (int64_t y = box.lower[1]; y <= box.upper[1]; ++y) {
                Cost *const row = squares_ + (z * height_ + y) * width_;
                for (int64_t x = box.lower[0]; x <= box.upper[0]; ++x)
                    if (row[x] != INFINITE<Cost>) row[x] = best;
            }
    }

    // The costs of the pixels of a box that are nearest to the centre of a ball, and farthest from it.
    Cost nearest(const Box &box, const Ball<Cost> &ball) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost lower = static_cast<Cost>(box.lower[a]) - ball.at[a], upper = ball.at[a] - static_cast<Cost>(box.upper[a]);
            const Cost offset = std::max(std::max(lower, upper), Cost(0));
            cost += weight_[a] * offset * offset;
        }
        return cost;
    }
    Cost farthest(const Box &box, const Ball<Cost> &ball) const {
        Cost cost = 0;
        for (int a = 0; a < 3; ++a) {
            const Cost offset = std::max(static_cast<Cost>(box.upper[a]) - ball.at[a], ball.at[a] - static_cast<Cost>(box.lower[a]));
            cost += weight_[a] * offset * offset;
        }
        return cost;
    }

    static int64_t pixels_of(const Box &box) {
        int64_t pixels = 1;
        for (int a = 0; a < 3; ++a) pixels *= box.upper[a] - box.lower[a] + 1;
        return pixels;
    }

    /// The first or the second half of a box, across the axis along which it is longest.
    Box half_of(const Box &box, int64_t second) const {
        int axis = 0;
        for (int a = 1; a < job_.axes; ++a)
            if (length(box, a) > length(box, axis)) axis = a;
        const int64_t middle = (box.lower[axis] + box.upper[axis]) / 2;
        Box half = box;
        (second ? half.lower[axis] : half.upper[axis]) = middle + second;
        return half;
    }
    double length(const Box &box, int a) const {
        const auto pixels = static_cast<double>(box.upper[a] - box.lower[a]);
        return static_cast<double>(weight_[a]) * pixels * pixels;
    }

    const BallsJob &job_;
    Arena &arena_;
    const int64_t width_, height_, depth_;
    Cost *squares_;
    Cost weight_[3];
    std::vector<int64_t> first_;  // [row]: of its balls in the list
    std::unique_ptr<Ball<Cost>[]> balls_;
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
