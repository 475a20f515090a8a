// Chessboard distances that come into a slab: from its first or last row, in 3-D plane, to the nearest site of the rows beyond.
//
// Of each column only the nearest site matters.  The distance from (x, y) is the least of max(|x - u|, |y - v|, along(u, v)),
// where along(u, v) is the distance along column (u, v) to its site.  So it is found along x first, and then along y; in linear
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace apsis {

constexpr int32_t NO_CHESSBOARD = 1 << 30;  // no site: above every distance in an image

/// Makes of a line, whose elements are `step` apart, the least of max(|x - u|, line[u]) for every x.  `least` and `waiting`
/// have room for it.
inline void spread_chessboard(int32_t *line, int64_t length, int64_t step, int32_t *least, int64_t *waiting) {
    for (const bool is_back : {false, true}) {  // over all u up to x, then over all from x on
        const auto place = [=](int64_t x) { return is_back ? length - 1 - x : x; };
        const auto cost = [=](int64_t x) { return line[place(x) * step]; };
        int64_t first = 0, end = 0;  // of the u that wait: each costs less than those behind it, and lies farther back
        for (int64_t x = 0; x < length; ++x) {
            while (end > first && cost(waiting[end - 1]) >= cost(x)) --end;
            waiting[end++] = x;
            while (end - first > 1 && x - waiting[first] >= cost(waiting[first + 1])) ++first;  // from here on no better
            const int32_t found = std::max(static_cast<int32_t>(x - waiting[first]), cost(waiting[first]));
            least[place(x)] = is_back ? std::min(least[place(x)], found) : found;
        }
    }
    for (int64_t x = 0; x < length; ++x) line[x * step] = least[x];
}

/// The distances from all pixels of a row to the sites in their columns, `none` where there is none.
inline std::vector<int32_t> entering_chessboard(const int64_t *sites, int64_t none, int64_t row, int64_t width,
                                                int64_t height) {
    std::vector<int32_t> distance(static_cast<size_t>(width * height));
    for (size_t c = 0; c < distance.size(); ++c)
        distance[c] = sites[c] == none ? NO_CHESSBOARD : static_cast<int32_t>(sites[c] < row ? row - sites[c] : sites[c] - row);
    const auto longest = static_cast<size_t>(std::max(width, height));
    std::vector<int32_t> least(longest);
    std::vector<int64_t> waiting(longest);
    for (int64_t y = 0; y < height; ++y) spread_chessboard(distance.data() + y * width, width, 1, least.data(), waiting.data());
    for (int64_t x = 0; x < width && height > 1; ++x)
        spread_chessboard(distance.data() + x, height, width, least.data(), waiting.data());
    return distance;
}

}  // namespace apsis
