// Chessboard distances that come into a slab: from its first or last row, in 3-D plane, to the nearest site of the rows beyond.
//
// Of each column only the nearest site matters.  The distance from (x, y) is the least of max(|x - u|, |y - v|, along(u, v)),
// where along(u, v) is the distance along column (u, v) to its site.  So it is found along x first, and then along y; in linear
// time.  Along a periodic axis lines have copies beside them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/copies.h"

namespace apsis {

constexpr int32_t NO_CHESSBOARD = 1 << 30;  // no site: above every distance in an image

/// Finds for every x of a line the least of max(|x - u|, line[u]).  `waiting` has room for it.
inline void spread_line(const std::vector<int32_t> &line, std::vector<int32_t> &least, std::vector<int64_t> &waiting) {
    const auto length = static_cast<int64_t>(line.size());
    for (const bool is_back : {false, true}) {  // over all u up to x, then over all from x on
        const auto place = [=](int64_t x) { return is_back ? length - 1 - x : x; };
        const auto cost = [&](int64_t x) { return line[place(x)]; };
        int64_t first = 0, end = 0;  // of the u that wait: each costs less than those behind it, and lies farther back
        for (int64_t x = 0; x < length; ++x) {
            while (end > first && cost(waiting[end - 1]) >= cost(x)) --end;
            waiting[end++] = x;
            while (end - first > 1 && x - waiting[first] >= cost(waiting[first + 1])) ++first;  // from here on no better
            const int32_t found = std::max(static_cast<int32_t>(x - waiting[first]), cost(waiting[first]));
            least[place(x)] = is_back ? std::min(least[place(x)], found) : found;
        }
    }
}

/// The distances from all pixels of a row, in 3-D plane, to the sites in their columns become those to any of these sites.
inline void spread_chessboard(std::vector<int32_t> &distance, int64_t width, int64_t height, bool is_closed_x,
                              bool is_closed_y) {
    std::vector<int32_t> line, least;
    std::vector<int64_t> waiting;
    const auto spread = [&](const Copies &copies, int64_t lines, int64_t apart, int64_t step) {
        const auto room = static_cast<size_t>(copies.all);
        line.resize(room), least.resize(room), waiting.resize(room);
        for (int64_t i = 0; i < lines; ++i) {
            int32_t *const pixels = distance.data() + i * apart;
            for (int64_t x = -copies.before; x < copies.end(); ++x) line[x + copies.before] = pixels[copies.original(x) * step];
            spread_line(line, least, waiting);
            for (int64_t x = 0; x < copies.length; ++x) pixels[x * step] = least[x + copies.before];
        }
    };
    spread(Copies(width, is_closed_x), height, width, 1);
    if (height > 1) spread(Copies(height, is_closed_y), width, 1, width);
}

}  // namespace apsis
