// Convex hulls of points of a grid, from the first and the last one of each row, in whole numbers, exactly.
//
// The rows are in order, so that the left and the right side of the hull are one pass each, in which a point is dropped where
// the side would bend inwards (Andrew 1979).  Widths and diameters are found by two parallel lines that turn around the hull
// (rotating calipers: Shamos 1978, Toussaint 1983).  Cost: linear in the number of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace apsis {

/// The points of a row from the first to the last.  Coordinates are below 2^32.
struct HullRow {
    int64_t y, first, last;
};

struct HullPoint {
    int64_t x, y;

    HullPoint operator-(const HullPoint &other) const { return {x - other.x, y - other.y}; }
};
inline __int128 cross(const HullPoint &a, const HullPoint &b) { return __int128(a.x) * b.y - __int128(a.y) * b.x; }

class Hull {
  public:
    /// Of rows in ascending order, at least one.
    void make(const std::vector<HullRow> &rows) {
        make_side(rows, -1, left_);
        make_side(rows, 1, right_);
        // Around the hull: up on the right, down on the left.
        around_ = right_;
        for (size_t i = left_.size(); i-- > 0;)
            if (!is_same(left_[i], around_.back()) && !is_same(left_[i], around_[0])) around_.push_back(left_[i]);
    }

    __int128 twice_area() const {
        __int128 area = 0;
        for (size_t i = 0; i < around_.size(); ++i) area += cross(around_[i], around_[next(i)]);
        return area;
    }

    /// Calls body(y, first, last) for each row with an even y, with the first and last even x in the hull, if there are any.
    template <class Body>
    void for_even_rows(Body body) const {
        size_t l = 0, r = 0;
        for (int64_t y = left_[0].y + (left_[0].y & 1); y <= left_.back().y; y += 2) {
            while (l + 2 < left_.size() && left_[l + 1].y < y) ++l;
            while (r + 2 < right_.size() && right_[r + 1].y < y) ++r;
            const int64_t first = -half_below(left_, l, y, -1), last = half_below(right_, r, y, 1);
            if (first <= last) body(y, 2 * first, 2 * last);
        }
    }

    /// The least and the largest distance of two parallel lines that hold the hull, which has an area, between them.  Steps
    /// along an axis are so long.
    void diameters(double x, double y, double &least, double &largest) const {
        const size_t n = around_.size();
        const auto length = [&](const HullPoint &d) {
            const double dx = x * static_cast<double>(d.x), dy = y * static_cast<double>(d.y);
            return std::sqrt(dx * dx + dy * dy);
        };
        least = HUGE_VAL, largest = 0;
        size_t far = 1;
        for (size_t i = 0; i < n; ++i) {
            const HullPoint edge = around_[next(i)] - around_[i];
            const auto height = [&](size_t k) { return cross(edge, around_[k] - around_[i]); };
            const auto meet = [&] {
                largest = std::max({largest, length(around_[far] - around_[i]), length(around_[far] - around_[next(i)])});
            };
            meet();
            while (height(next(far)) > height(far)) far = next(far), meet();
            if (height(next(far)) == height(far))  // an edge that is parallel
                largest =
                    std::max({largest, length(around_[next(far)] - around_[i]), length(around_[next(far)] - around_[next(i)])});
            least = std::min(least, x * y * static_cast<double>(height(far)) / length(edge));
        }
    }

  private:
    static bool is_same(const HullPoint &a, const HullPoint &b) { return a.x == b.x && a.y == b.y; }
    size_t next(size_t i) const { return i + 1 == around_.size() ? 0 : i + 1; }

    static void make_side(const std::vector<HullRow> &rows, int sign, std::vector<HullPoint> &side) {
        side.clear();
        for (const HullRow &row : rows) {
            const HullPoint point = {sign < 0 ? row.first : row.last, row.y};
            while (side.size() > 1 && sign * cross(side.back() - side[side.size() - 2], point - side[side.size() - 2]) <= 0)
                side.pop_back();
            side.push_back(point);
        }
    }

    /// The greatest whole number that is at most half of sign * x of a side at y, between its points i and i + 1.
    static int64_t half_below(const std::vector<HullPoint> &side, size_t i, int64_t y, int sign) {
        const HullPoint a = side[i], b = side[std::min(i + 1, side.size() - 1)];
        const int64_t height = 2 * std::max(b.y - a.y, int64_t(1));
        const int64_t x = sign * (a.x * (height / 2 - (y - a.y)) + b.x * (y - a.y));  // in height / 2-ths; below 2^63
        return x >= 0 ? x / height : -((height - 1 - x) / height);
    }

    std::vector<HullPoint> left_, right_, around_;
};

}  // namespace apsis
