// Exposes hidden exclaves: makes a map of sites the complete Voronoi map, from its squares of 2 x 2 pixels (after Honda,
// Yamamoto, Honda, Nakano and Ito 2017, section III.B; docs/methods.md has the proof).
//
// The segment from a site to a pixel of its cell crosses edges, pairs of 4-neighbours.  If the map names the site at an end of
// each, it also names it in the pixel's own square, where the pixel is offered the site.  Otherwise the segment leaves a square
// that names the site through an edge that does not, and a beam goes out through that edge.  In each column that the beam
// crosses, the site's own pixels lie between two slopes.  The sites that the map names in the column narrow the slopes.  All
// numbers are whole.
//
// Nearly all beams would end before the next line of pixels.  A square is skipped if its four sites show that of its beams.
#pragma once

#include "core/sites.h"

namespace apsis {

/// A site for every pixel of an image, packed.
struct SiteMap {
    const Site *sites;
    int width, height;

    APSIS_BOTH Site at(int x, int y) const { return sites[static_cast<int64_t>(y) * width + x]; }
};

/// The slope of a ray: `across` a beam over `along` it, both below 2^31, so that products of two are below 2^62.
struct Slope {
    int64_t across, along;
};

APSIS_BOTH inline bool operator<(const Slope &a, const Slope &b) { return a.across * b.along < b.across * a.along; }

/// A beam from a site.  In the column at `along`, across the longer axis of its offsets, it is the part from `low` to `high`.
struct Beam {
    Site site;
    int right, down;  // 1 or -1: its direction in x and y
    bool is_upright;  // it is longer in y than in x
    int along;
    Slope low, high;  // from 0 to 1

    APSIS_BOTH int x_at(int across) const { return x_of(site) + right * (is_upright ? across : along); }
    APSIS_BOTH int y_at(int across) const { return y_of(site) + down * (is_upright ? along : across); }
    APSIS_BOTH bool is_empty() const { return !(low < high); }

    /// Keeps the places that are not farther from the beam's site than from another one: 2 place * other <= other * other.
    APSIS_BOTH void cut(Site other) {
        const int64_t x = right * (x_of(other) - x_of(site)), y = down * (y_of(other) - y_of(site));
        const int64_t room = x * x + y * y - 2 * along * (is_upright ? y : x), across = is_upright ? x : y;
        const Slope bound = {across < 0 ? -room : room, 2 * along * (across < 0 ? -across : across)};
        if (across > 0 && bound < high) high = bound;
        if (across < 0 && low < bound) low = bound;
        if (across == 0 && room < 0) high = low;
    }
};

/// Follows a beam until it is empty, or the map names its site at each edge that it crosses: other squares take over there.
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

// ---- Squares ----

/// Whether a pixel is so near to the site it holds that the site is right, and that squares of four such pixels hide nothing
/// behind them (docs/methods.md).  This holds for maps in which only exclaves are wrong.
APSIS_BOTH inline bool is_sure(int x, int y, Site site) {
    constexpr uint32_t NEAREST_HIDDEN = 144;  // the least squared distance for which there are sites that hide an exclave
    return square_to(x, y, site) < NEAREST_HIDDEN;
}

/// A site that a square names, relative to the first pixel of the square.
struct Named {
    Site site;
    int x, y;

    APSIS_BOTH Named turned() const { return {site, y, x}; }
    APSIS_BOTH int square_to(int at_x, int at_y) const { return (x - at_x) * (x - at_x) + (y - at_y) * (y - at_y); }
    APSIS_BOTH uint64_t nearness_to(int at_x, int at_y) const {
        return static_cast<uint64_t>(square_to(at_x, at_y)) << 32 | site;
    }
};

/// Whether the cell of a site may have pixels behind an edge of a square, if each pixel of the square holds the nearest of the
/// sites that the square names.  The edge goes from (side, 0), which holds `first`, to (side, 1), which holds `second`.
APSIS_BOTH inline bool reaches_behind(const Named &own, const Named &first, const Named &second, int side) {
    const int above = own.y - first.y, below = second.y - own.y;
    if (above <= 0 || below <= 0 || (own.x <= 0) != (side == 1)) return false;
    const auto room = [&](int x) {  // left of the column by the bisectors with the two others
        const int square = own.square_to(x, 0);
        return static_cast<int64_t>(above) * (second.square_to(x, 0) - square) +
               static_cast<int64_t>(below) * (first.square_to(x, 0) - square);
    };
    return room(side) > 0 && room(3 * side - 1) >= 0;
}

/// Whether a square that holds these sites at (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1) must be examined.
APSIS_BOTH inline bool may_hide(const Site (&sites)[4], int x, int y) {
    bool are_sure = true;
    for (int k = 0; k < 4; ++k) are_sure &= is_sure(x + (k & 1), y + (k >> 1), sites[k]);
    if (are_sure) return false;
    if (sites[0] == sites[1] && sites[0] == sites[2] && sites[0] == sites[3]) return false;
    Named named[4], turned[4];
    for (int k = 0; k < 4; ++k) {
        named[k] = {sites[k], x_of(sites[k]) - x, y_of(sites[k]) - y};
        turned[k] = named[k].turned();
    }
    bool is_nearer = false;
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 4; ++j)
            if (j != k) is_nearer |= named[j].nearness_to(k & 1, k >> 1) < named[k].nearness_to(k & 1, k >> 1);
    return is_nearer || reaches_behind(named[0], named[1], named[3], 1) || reaches_behind(named[2], named[1], named[3], 1) ||
           reaches_behind(named[1], named[0], named[2], 0) || reaches_behind(named[3], named[0], named[2], 0) ||
           reaches_behind(turned[0], turned[2], turned[3], 1) || reaches_behind(turned[1], turned[2], turned[3], 1) ||
           reaches_behind(turned[2], turned[0], turned[1], 0) || reaches_behind(turned[3], turned[0], turned[1], 0);
}

/// Looks for exclaves of a site behind an edge of a square that names it.
template <class Offer>
APSIS_BOTH inline void look_behind(const SiteMap &map, Site site, int x0, int y0, int x1, int y1, Offer offer) {
    if (map.at(x0, y0) == site || map.at(x1, y1) == site) return;
    follow(map, beam_through(site, x0, y0, x1, y1), offer);
}

/// Calls offer(x, y, site) for pixels of the square that begins at (x, y), and for pixels behind it, if they are nearer to a
/// site that the square names than to the site that the map holds.
template <class Offer>
APSIS_BOTH inline void expose_exclaves(const SiteMap &map, int x, int y, Offer offer) {
    const Site corners[4] = {map.at(x, y), map.at(x + 1, y), map.at(x, y + 1), map.at(x + 1, y + 1)};
    for (int k = 0; k < 4; ++k) {
        const Site site = corners[k];
        bool is_new = k > 0 || site != corners[1] || site != corners[2] || site != corners[3];
        for (int j = 0; j < k; ++j) is_new &= corners[j] != site;
        if (!is_new) continue;
        for (int j = 0; j < 4; ++j) {
            const int px = x + (j & 1), py = y + (j >> 1);
            if (nearness(px, py, site) < nearness(px, py, corners[j])) offer(px, py, site);
        }
        const int far_x = x_of(site) <= x ? x + 1 : x, far_y = y_of(site) <= y ? y + 1 : y;
        look_behind(map, site, far_x, y, far_x, y + 1, offer);
        look_behind(map, site, x, far_y, x + 1, far_y, offer);
    }
}

}  // namespace apsis
