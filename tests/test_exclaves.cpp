// Tries out what docs/methods.md says of where exclaves are hidden: how near to its site one can be, and how near to theirs
// the pixels are among which a beam begins that finds one.  core/exclaves.h passes over squares of nearer ones.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

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

}  // namespace

int main() {
    const uint32_t exclave = nearest_exclave(), beam = nearest_beam(exclave);
    uint32_t sure = UINT32_MAX;
    for (int y = 0; y < EDGES; ++y)
        for (int x = 0; x < EDGES; ++x)
            if (!is_sure(CENTRE + x, CENTRE + y, site_of({0, 0}))) sure = std::min(sure, square({x, y}));
    std::printf("the nearest exclave: %u; the nearest beam: %u; not sure from %u on\n", exclave, beam, sure);
    return exclave == 169 && beam == 144 && sure == 144 ? 0 : 1;
}
