// The greatest of some balls that covers each pixel, by branch and bound over boxes.
//
// A box of pixels has a list of the balls that may decide there, the greatest first.  The list ends with the first ball that
// contains the box.  Left out are balls that do not meet the box, and those that are dominated: another one before it has, at
// every pixel of the box, at least its power R - |p - c|^2, where R is the square of the radius, and so covers what it covers.
// The difference of two powers is linear in p, so that one corner of the box decides.  The ball before it that is tried is the
// one with the greatest power in the middle of the box.  Then the box is halved.
//
// Time goes with the pixels times the balls that are left where boxes are small; memory is a list of balls for each part.
#pragma once

#include <memory>
#include <vector>

#include "cpu/balls/ball.h"
#include "cpu/balls/radii.h"

namespace apsis::cpu::balls {

template <class Cost>
class Cover {
    static constexpr size_t TASKS = 512;   // boxes that threads share; fewer are halved, level by level,
    static constexpr int64_t PART = 4096;  // but not those of so few pixels
    static constexpr int64_t LEAF = 8;     // pixels of a box that are done one by one

    /// A box and the balls that may decide there; all its pixels have at least the square `best`.
    struct Part {
        Box box;
        Cost best;
        std::vector<Ball<Cost>> list;
    };

  public:
    /// `found` receives the squares of the balls; 0 where there is none.
    Cover(const BallsJob &job, const Weights<Cost> &weights, Cost *found, Arena &arena)
        : axes_(job.axes),
          width_(job.squares.size[0]),
          height_(job.squares.size[1]),
          depth_(job.squares.size[2]),
          squares_(squares_of<Cost>(job)),
          weights_(weights),
          found_(found),
          arena_(arena) {}

    /// Covers the image with the balls of the pixels that are marked.
    void run(const uint8_t *is_centre, const Progress &progress, double from, double to) {
        std::vector<Part> parts(static_cast<size_t>(axes_ == 3 ? 1 : depth_));
        parallel_for(arena_, static_cast<int64_t>(parts.size()), {}, 0, 0,
                     [&](int64_t z) { parts[static_cast<size_t>(z)] = whole(is_centre, z); });
        while (!parts.empty() && parts.size() < TASKS && pixels_of(parts.front().box) > PART) halve(parts);
        parallel_for(arena_, static_cast<int64_t>(parts.size()), progress, from, to, [&](int64_t i) {
            Part &part = parts[static_cast<size_t>(i)];
            solve(part.box, part.list, 0, part.list.size(), part.best);
            std::vector<Ball<Cost>>().swap(part.list);
        });
    }

  private:
    /// The image, or slice z, with all its balls.
    Part whole(const uint8_t *is_centre, int64_t z) const {
        const int64_t end = axes_ == 3 ? depth_ : z + 1;
        Part part{{{0, 0, z}, {width_ - 1, height_ - 1, end - 1}}, 0, {}};
        const int64_t first = z * height_ * width_, last = end * height_ * width_;
        part.list.reserve(static_cast<size_t>(std::count(is_centre + first, is_centre + last, 1)));
        for (int64_t i = first; i < last; ++i)
            if (is_centre[i])
                part.list.push_back({squares_[i],
                                     {static_cast<int32_t>(i % width_), static_cast<int32_t>(i / width_ % height_),
                                      static_cast<int32_t>(i / width_ / height_)}});
        std::sort(part.list.begin(), part.list.end(), [](const auto &a, const auto &b) { return a.square > b.square; });
        return part;
    }

    /// Halves all parts.  Those that are done are left out.
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

    /// Solves a box with the balls of a list from `begin` to `end`, its last.
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
                        std::find_if(begin, end, [&](const Ball<Cost> &ball) { return weights_.meets(pixel, ball); });
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
            if (!weights_.meets(box, ball)) continue;
            if (weights_.contains(box, ball)) return ball.square;
            if (strongest.square > 0 && weights_.dominates(box, strongest, ball)) continue;
            to.push_back(ball);
            const Cost own = ball.square - weights_.nearest(middle, ball);
            if (strongest.square == 0 || own > power) strongest = ball, power = own;
        }
        return best;
    }

    void fill(const Box &box, Cost square) const {
        for (int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
            for (int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
                std::fill_n(found_ + (z * height_ + y) * width_ + box.lower[0], box.upper[0] - box.lower[0] + 1, square);
    }

    static int64_t pixels_of(const Box &box) {
        int64_t pixels = 1;
        for (int a = 0; a < 3; ++a) pixels *= box.upper[a] - box.lower[a] + 1;
        return pixels;
    }

    /// The first or the second half of a box, across the axis along which it is longest.
    Box half_of(const Box &box, int64_t second) const {
        int axis = 0;
        for (int a = 1; a < axes_; ++a)
            if (length(box, a) > length(box, axis)) axis = a;
        const int64_t middle = (box.lower[axis] + box.upper[axis]) / 2;
        Box half = box;
        (second ? half.lower[axis] : half.upper[axis]) = middle + second;
        return half;
    }
    double length(const Box &box, int a) const {
        const auto pixels = static_cast<double>(box.upper[a] - box.lower[a]);
        return static_cast<double>(weights_.along[a]) * pixels * pixels;
    }

    const int axes_;
    const int64_t width_, height_, depth_;
    const Cost *squares_;
    const Weights<Cost> weights_;
    Cost *found_;
    Arena &arena_;
};

}  // namespace apsis::cpu::balls
