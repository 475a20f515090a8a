// Tries out what docs/methods.md says of where exclaves are hidden: how near to its site one can be, and how near to theirs
// the pixels are among which a beam begins that finds one.  core/exclaves.h passes over squares of nearer ones.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/exclaves.h"

using namespace apsis;

namespace {

constexpr int CENTRE = 256;  // both coordinates of the site whose exclaves are looked for
constexpr int EDGES = 16;    // edges no farther away than this: a beam begins within 12 pixels, or is not needed
constexpr int BEHIND = 95;   // exclaves behind them: docs/methods.md shows that there are none beyond 82

/// As seen from that site.
struct Pixel {
    int x, y;
};

Site site_of(Pixel p) { return site_at(CENTRE + p.x, CENTRE + p.y); }
uint32_t square(Pixel a, Pixel b) { return square_to(CENTRE + a.x, CENTRE + a.y, site_of(b)); }
uint32_t square(Pixel p) { return square(p, {0, 0}); }
int64_t cross(Pixel a, Pixel b) { return int64_t(a.x) * b.y - int64_t(a.y) * b.x; }
bool is_taken(Pixel p, Pixel by) {
    return nearness(CENTRE + p.x, CENTRE + p.y, site_of(by)) < nearness(CENTRE + p.x, CENTRE + p.y, site_of({0, 0}));
}

/// The least square below `bound` from a pixel to another site that takes it, but not the pixel `kept`; else `bound`.
uint32_t taken_within(uint32_t bound, Pixel p, Pixel kept) {
    for (int y = p.y - EDGES; y <= p.y + EDGES; ++y)
        for (int x = p.x - EDGES; x <= p.x + EDGES; ++x) {
            const Pixel other = {x, y};
            if ((x || y) && square(p, other) < bound && is_taken(p, other) && !is_taken(kept, other)) bound = square(p, other);
        }
    return bound;
}

/// Whether others can have both parents of a pixel, the two pixels of the next column that its segment passes between.
bool can_be_exclave(Pixel p) {
    const bool is_upright = std::abs(p.y) > std::abs(p.x);
    const int along = is_upright ? std::abs(p.y) : std::abs(p.x), across = is_upright ? std::abs(p.x) : std::abs(p.y);
    const int right = p.x < 0 ? -1 : 1, down = p.y < 0 ? -1 : 1;
    for (const int place : {across * (along - 1) / along, (across * (along - 1) + along - 1) / along}) {
        const Pixel parent = {right * (is_upright ? place : along - 1), down * (is_upright ? along - 1 : place)};
        if (square(parent) == 0 || taken_within(square(parent) + 1, parent, p) > square(parent)) return false;
    }
    return true;
}

uint32_t nearest_exclave() {
    uint32_t least = EDGES * EDGES;
    for (int y = -EDGES; y <= EDGES; ++y)
        for (int x = -EDGES; x <= EDGES; ++x)
            if ((x || y) && square({x, y}) < least && can_be_exclave({x, y})) least = square({x, y});
    return least;
}

/// The square of the farthest of three corners, if a beam between u and v can find an exclave that is no nearer than
/// `exclave`, and if it is below `bound`; else `bound`.
uint32_t beam_within(uint32_t bound, Pixel u, Pixel v, uint32_t near, uint32_t exclave) {
    const bool is_level = u.y == v.y;
    for (int y = -BEHIND; y <= BEHIND; ++y)
        for (int x = -BEHIND; x <= BEHIND; ++x) {
            const Pixel p = {x, y};
            const bool is_behind = is_level ? std::abs(y) > std::abs(u.y) : std::abs(x) > std::abs(u.x);
            const bool is_ahead = x * (u.x + v.x) + y * (u.y + v.y) > 0;
            if (!is_behind || !is_ahead || square(p) < exclave || cross(u, p) * cross(v, p) >= 0) continue;
            const uint32_t first = taken_within(bound, u, p);
            if (first < bound) bound = std::min(bound, std::max({near, first, taken_within(bound, v, p)}));
        }
    return bound;
}

uint32_t nearest_beam(uint32_t exclave) {
    uint32_t least = exclave;
    for (int y = -EDGES; y <= EDGES; ++y)
        for (int x = -EDGES; x <= EDGES; ++x)
            for (const bool is_level : {true, false}) {
                const Pixel u = {x, y}, v = {x + is_level, y + !is_level};
                if (cross(u, v) == 0) continue;  // its line goes through the site: no ray crosses it
                const int dx = is_level ? 0 : x < 0 ? 1 : -1, dy = !is_level ? 0 : y < 0 ? 1 : -1;  // towards the site
                const uint32_t near = std::min(square({u.x + dx, u.y + dy}), square({v.x + dx, v.y + dy}));
                if (near < least) least = beam_within(least, u, v, near, exclave);
            }
    return least;
}

// ---- Maps ----

constexpr int SIDE = 160;

struct Map {
    std::vector<Site> sites = std::vector<Site>(SIDE * SIDE, NO_SITE);

    Site &at(int x, int y) { return sites[y * SIDE + x]; }
    Site at(int x, int y) const { return sites[y * SIDE + x]; }
};

Map complete_map_of(const std::vector<Site> &sites) {
    Map map;
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x)
            for (const Site site : sites) map.at(x, y) = nearer(x, y, map.at(x, y), site);
    return map;
}

/// Whether both parents of a pixel are in other cells.
bool is_exclave(const Map &map, int x, int y) {
    const Site site = map.at(x, y);
    const int dx = x - x_of(site), dy = y - y_of(site), right = dx < 0 ? -1 : 1, down = dy < 0 ? -1 : 1;
    const bool is_upright = std::abs(dy) > std::abs(dx);
    const int along = is_upright ? std::abs(dy) : std::abs(dx), across = is_upright ? std::abs(dx) : std::abs(dy);
    if (along == 0) return false;
    for (const int place : {across * (along - 1) / along, (across * (along - 1) + along - 1) / along}) {
        const int px = is_upright ? place : along - 1, py = is_upright ? along - 1 : place;
        if (map.at(x_of(site) + right * px, y_of(site) + down * py) == site) return false;
    }
    return true;
}

/// Hides some exclaves behind what is beside them.
Map with_hidden(const Map &complete, std::mt19937 &random, int *hidden) {
    Map map = complete;
    for (int y = 1; y + 1 < SIDE; ++y)
        for (int x = 1; x + 1 < SIDE; ++x) {
            if (!is_exclave(complete, x, y) || random() % 4 == 0) continue;
            map.at(x, y) = complete.at(x + static_cast<int>(random() % 3) - 1, y + static_cast<int>(random() % 3) - 1);
            *hidden += map.at(x, y) != complete.at(x, y);
        }
    return map;
}

Map exposed(const Map &mixed) {
    Map map = mixed;
    const SiteMap from = {mixed.sites.data(), SIDE, SIDE};
    const auto offer = [&](int x, int y, Site site) { map.at(x, y) = nearer(x, y, map.at(x, y), site); };
    for (int y = 0; y + 1 < SIDE; ++y)
        for (int x = 0; x + 1 < SIDE; ++x)
            if (may_hide({from.at(x, y), from.at(x + 1, y), from.at(x, y + 1), from.at(x + 1, y + 1)}, x, y))
                expose_exclaves(from, x, y, offer);
    return map;
}

/// Sites that are as near to a pixel as each other, or almost, and one anywhere.
std::vector<Site> draw_sites(std::mt19937 &random) {
    const int x = static_cast<int>(random() % SIDE), y = static_cast<int>(random() % SIDE), count = 3 + random() % 6;
    const int squares[] = {1105, 1625, 4225, 5525}, square = squares[random() % 4], slack = random() % 2 ? 0 : 40;
    std::vector<Site> near, sites = {site_at(static_cast<int>(random() % SIDE), static_cast<int>(random() % SIDE))};
    for (int v = 0; v < SIDE; ++v)
        for (int u = 0; u < SIDE; ++u)
            if (std::abs((u - x) * (u - x) + (v - y) * (v - y) - square) <= slack) near.push_back(site_at(u, v));
    const size_t first = near.empty() ? 0 : random() % near.size();  // in a part of the circle
    for (int i = 0; i < count && !near.empty(); ++i) sites.push_back(near[(first + random() % (slack ? 24 : 6)) % near.size()]);
    return sites;
}

/// Completes such maps.  Returns how many exclaves were hidden in them, or -1 if one still is.
int expose_hidden() {
    constexpr int MAPS = 1500;
    std::mt19937 random(1);
    int hidden = 0;
    for (int i = 0; i < MAPS; ++i) {
        const Map complete = complete_map_of(draw_sites(random));
        if (exposed(with_hidden(complete, random, &hidden)).sites != complete.sites) return -1;
    }
    return hidden;
}

}  // namespace

int main() {
    const uint32_t exclave = nearest_exclave(), beam = nearest_beam(exclave);
    uint32_t sure = UINT32_MAX;
    for (int y = 0; y < EDGES; ++y)
        for (int x = 0; x < EDGES; ++x)
            if (!is_sure(CENTRE + x, CENTRE + y, site_of({0, 0}))) sure = std::min(sure, square({x, y}));
    std::printf("the nearest exclave: %u; the nearest beam: %u; not sure from %u on\n", exclave, beam, sure);
    const int hidden = expose_hidden();
    std::printf("exclaves hidden and exposed: %d\n", hidden);
    return exclave == 169 && beam == 144 && sure == 144 && hidden > 200 ? 0 : 1;
}
