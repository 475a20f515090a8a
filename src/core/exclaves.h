// Exposes hidden exclaves: what a map of sites lacks of the complete Voronoi map, found from its squares of 2 x 2 pixels
// (after Honda, Yamamoto, Honda, Nakano and Ito 2017, section III.B; docs/methods.md has the proof).
//
// From its site a pixel is seen across edges, pairs of 4-neighbours.  Where the map names the site at an end of each, it
// does so in the pixel's own square as well, and the pixel is offered it there.  Otherwise there is an edge that does not
// name it behind a square that does, and a beam goes out through that edge.  Of each column that the beam passes, what is
// the site's own lies between two slopes, and what the map names in one column narrows them.  All of it is in whole numbers.
#pragma once

#include "core/columns.h"
#include "core/sites.h"

namespace apsis {

/// A site for every pixel of an image; packed.
struct SiteMap {
    const Site *sites;
    int width, height;

    APSIS_BOTH Site at(int x, int y) const { return sites[static_cast<int64_t>(y) * width + x]; }
};

/// Of a ray: `across` a beam over `along` it, both below 2^31, so that products of two are below 2^62.
struct Slope {
    int64_t across, along;
};

APSIS_BOTH inline bool operator<(const Slope &a, const Slope &b) { return a.across * b.along < b.across * a.along; }

/// A beam from a site.  Its column `along`, across the longer axis of its offsets, holds what is between `low` and `high`.
struct Beam {
    Site site;
    int right, down;  // 1 or -1: its direction in x and y
    bool is_upright;  // it is longer in y than in x
    int along;
    Slope low, high;  // from 0 to 1

    APSIS_BOTH int x_at(int across) const { return x_of(site) + right * (is_upright ? across : along); }
    APSIS_BOTH int y_at(int across) const { return y_of(site) + down * (is_upright ? along : across); }
    APSIS_BOTH bool is_empty() const { return !(low < high); }

    /// Leaves what is as near to the beam's site as to another one, or nearer: 2 place * other <= other * other.
    APSIS_BOTH void cut(Site other) {
        const int64_t x = right * (x_of(other) - x_of(site)), y = down * (y_of(other) - y_of(site));
        const int64_t room = x * x + y * y - 2 * along * (is_upright ? y : x), across = is_upright ? x : y;
        const Slope bound = {across < 0 ? -room : room, 2 * along * (across < 0 ? -across : across)};
        if (across > 0 && bound < high) high = bound;
        if (across < 0 && low < bound) low = bound;
        if (across == 0 && room < 0) high = low;
    }
};

/// Follows a beam until nothing is left of it, or the map names its site at each edge that it crosses: others go on there.
template <class Offer>
APSIS_BOTH inline void follow(const SiteMap &map, Beam beam, Offer offer) {
    const int columns = beam.right > 0 ? map.width - x_of(beam.site) : x_of(beam.site) + 1;
    const int rows = beam.down > 0 ? map.height - y_of(beam.site) : y_of(beam.site) + 1;
    const int length = beam.is_upright ? rows : columns, breadth = beam.is_upright ? columns : rows;
    for (bool is_open = true; is_open && !beam.is_empty() && beam.along < length; ++beam.along) {
        const int64_t first = beam.low.across * beam.along / beam.low.along;
        const int64_t end = (beam.high.across * beam.along + beam.high.along - 1) / beam.high.along + 1;
        Site before = beam.site;
        is_open = false;
        for (int across = static_cast<int>(first); across < end && across < breadth; ++across) {
            const int x = beam.x_at(across), y = beam.y_at(across);
            const Site held = map.at(x, y);
            if (nearness(x, y, beam.site) < nearness(x, y, held)) offer(x, y, beam.site);
            is_open |= before != beam.site && held != beam.site;
            beam.cut(held);
            before = held;
        }
    }
}

/// The beam from a site through the edge between two 4-neighbours, neither of which is the site.
APSIS_BOTH inline Beam beam_through(Site site, int x0, int y0, int x1, int y1) {
    const int right = x0 + x1 > 2 * x_of(site) ? 1 : -1, down = y0 + y1 > 2 * y_of(site) ? 1 : -1;
    x0 = right * (x0 - x_of(site)), x1 = right * (x1 - x_of(site));
    y0 = down * (y0 - y_of(site)), y1 = down * (y1 - y_of(site));
    const bool is_upright = y0 + y1 > x0 + x1;
    const Slope one = is_upright ? Slope{x0, y0} : Slope{y0, x0}, two = is_upright ? Slope{x1, y1} : Slope{y1, x1};
    const int along = static_cast<int>(one.along > two.along ? one.along : two.along);
    return {site, right, down, is_upright, along, one < two ? one : two, one < two ? two : one};
}

/// Whether a pixel is so near to what it holds that this is right, and that behind squares of such pixels nothing is hidden
/// (docs/methods.md).
APSIS_BOTH inline bool is_sure(int x, int y, Site site) {
    constexpr uint32_t NEAREST_HIDDEN = 144;  // the least square for which there are sites that hide an exclave
    return square_to(x, y, site) < NEAREST_HIDDEN;
}

/// 2 x 2 pixels from (x, y) on: corner 1 is on the right, 2 below, 3 both.
struct Square {
    int x, y;
    Site held[4];
    uint32_t reach[4][4];  // from what corner k holds to corner j, squared

    APSIS_BOTH static int x_of_corner(int k) { return k & 1; }
    APSIS_BOTH static int y_of_corner(int k) { return k >> 1; }

    APSIS_BOTH Square(const SiteMap &map, int left, int top) : x(left), y(top) {
        for (int k = 0; k < 4; ++k) held[k] = map.at(x + x_of_corner(k), y + y_of_corner(k));
    }
    APSIS_BOTH bool is_even() const { return held[0] == held[1] && held[0] == held[2] && held[0] == held[3]; }
    APSIS_BOTH bool is_sure() const {
        bool all = true;
        for (int k = 0; k < 4; ++k) all &= apsis::is_sure(x + x_of_corner(k), y + y_of_corner(k), held[k]);
        return all;
    }
    APSIS_BOTH void measure() {
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 4; ++j) reach[k][j] = square_to(x + x_of_corner(j), y + y_of_corner(j), held[k]);
    }

    /// Whether no corner before holds the same.
    APSIS_BOTH bool is_new(int k) const {
        bool is = true;
        for (int j = 0; j < k; ++j) is &= held[j] != held[k];
        return is;
    }
    APSIS_BOTH bool is_nearer(int k, int j) const {
        return reach[k][j] < reach[j][j] || (reach[k][j] == reach[j][j] && held[k] < held[j]);
    }
    /// Whether the cell of what corner k holds may cross the edge from i to j, and neither names it: it does not cross where
    /// one of the sites that they hold is as near to both.
    APSIS_BOTH bool is_open(int k, int i, int j) const {
        return held[i] != held[k] && held[j] != held[k] && !(reach[i][i] <= reach[k][i] && reach[i][j] <= reach[k][j]) &&
               !(reach[j][i] <= reach[k][i] && reach[j][j] <= reach[k][j]);
    }
    /// The edges of the square behind which a site's cell goes on.
    APSIS_BOTH int far_x(Site site) const { return x_of(site) <= x; }
    APSIS_BOTH int far_y(Site site) const { return y_of(site) <= y; }

    /// A bit 4 k + j where what corner k holds is to be offered to corner j, and a bit 16 + 2 k + (the edge lies along x) where
    /// a beam from it is to be followed.
    APSIS_BOTH uint32_t wants() const {
        uint32_t bits = 0;
        for (int k = 0; k < 4; ++k) {
            if (!is_new(k)) continue;
            for (int j = 0; j < 4; ++j) bits |= static_cast<uint32_t>(is_nearer(k, j)) << (4 * k + j);
            const bool is_open_across = far_x(held[k]) ? is_open(k, 1, 3) : is_open(k, 0, 2);
            const bool is_open_along = far_y(held[k]) ? is_open(k, 2, 3) : is_open(k, 0, 1);
            bits |= static_cast<uint32_t>(is_open_across | is_open_along << 1) << (16 + 2 * k);
        }
        return bits;
    }
};

/// Calls offer(x, y, site) for the pixels of the square that begins at (x, y), and for those behind it, that are nearer to a
/// site which the square names than to what the map holds.
template <class Offer>
APSIS_BOTH inline void expose_exclaves(const SiteMap &map, int x, int y, Offer offer) {
    Square square(map, x, y);
    if (square.is_even() || square.is_sure()) return;
    square.measure();
    for (uint32_t bits = square.wants(); bits; bits &= bits - 1) {
        const int bit = lowest_bit(bits), k = bit < 16 ? bit / 4 : (bit - 16) / 2;
        const Site site = map.at(x + Square::x_of_corner(k), y + Square::y_of_corner(k));
        const int right = x + square.far_x(site), below = y + square.far_y(site);
        if (bit < 16)
            offer(x + Square::x_of_corner(bit % 4), y + Square::y_of_corner(bit % 4), site);
        else if (bit % 2)
            follow(map, beam_through(site, x, below, x + 1, below), offer);
        else
            follow(map, beam_through(site, right, y, right, y + 1), offer);
    }
}

}  // namespace apsis
