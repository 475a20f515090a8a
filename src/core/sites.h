// A site of a Voronoi cell as the published methods store it: the coordinates of a pixel of the set in one 32-bit number.
//
// Images are at most 32768 pixels wide and long, so squared distances are below 2^31.  Sites compare like their indices.  In
// each slice the numbers begin anew.
#pragma once

#include "core/view.h"

namespace apsis {

using Site = uint32_t;
constexpr Site NO_SITE = ~Site(0);            // of a pixel that no site has reached yet
constexpr uint32_t NO_SQUARE = ~uint32_t(0);  // the squared distance to NO_SITE

APSIS_BOTH inline Site site_at(int x, int y) { return static_cast<Site>(y) << 16 | static_cast<Site>(x); }
APSIS_BOTH inline int x_of(Site site) { return static_cast<int>(site & 0xffff); }
APSIS_BOTH inline int y_of(Site site) { return static_cast<int>(site >> 16); }

/// The square of the distance from a pixel to a site.
APSIS_BOTH inline uint32_t square_to(int x, int y, Site site) {
    const int dx = x - x_of(site), dy = y - y_of(site);
    return site == NO_SITE ? NO_SQUARE : static_cast<uint32_t>(dx * dx) + static_cast<uint32_t>(dy * dy);
}

/// A squared distance and its site in one number.  The smaller of two is the nearer site, and of equally near ones the lower.
APSIS_BOTH inline uint64_t nearness(int x, int y, Site site) {
    return static_cast<uint64_t>(square_to(x, y, site)) << 32 | site;
}

/// The nearer of two sites; of equally near ones, the lower.
APSIS_BOTH inline Site nearer(int x, int y, Site a, Site b) { return nearness(x, y, a) <= nearness(x, y, b) ? a : b; }

}  // namespace apsis
