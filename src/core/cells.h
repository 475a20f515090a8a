// Finds and hides the exclaves in a map of Euclidean Voronoi cells: the pixels from which no path inside their cell leads to
// its site (Honda, Yamamoto, Honda, Nakano, Ito 2017, sections II and III.C; docs/methods.md has the proof).
//
// A move from a pixel towards its site changes each coordinate by one step that way, or not at all.  It makes no offset longer
// and at least one shorter.  So a walk of moves inside the cell ends at the site, or at a tip, a pixel without a further move.
// Tips are rare, and are found from the pixels beside them alone.  A pixel is cut off if all its walks end at tips.  There are
// three stages, each of which changes pixels until none is left to change:
//
//     CLOSE   tips are suspects; a pixel whose moves inside the cell all lead to suspects becomes a suspect
//     RESCUE  a suspect beside a pixel of its cell that is not a suspect has another way, and is cleared
//     HIDE    the other suspects are the exclaves; one beside a pixel that is not a suspect takes a cell there, and is cleared
//
// Along a periodic axis moves go the shorter way around, one way if both are as long, and neighbours lie across the seam.
//
// The first two end with the same suspects in any order of changes.  The third goes in rounds, so that there is one answer.
#pragma once

#include <type_traits>

#include "core/columns.h"
#include "core/measure.h"
#include "core/seam.h"
#include "core/steps.h"

namespace apsis {

enum class Stage { CLOSE, RESCUE, HIDE };

/// A pixel.
struct Place {
    int x, y, z;
};

/// The pixels that changed in one round, for the next: one bit a pixel, and a list of the words that have set bits, each once.
template <class Index>
struct Front {
    uint32_t *bits;  // [word]
    Index *list;     // words, in any order
    Index *count;    // how many are listed
};

/// A pixel of the map holds the index of its cell's site, or -1.  CLOSED: the image closes on itself along some axis.  (Told at
/// run time, maps that do not take up to 2.1x as long on an H100: 5.85 ms for noise of 16384^2, which took 2.77.)
template <class CellIndex, bool CLOSED>
struct Cells {
    using Cell = CellIndex;
    static constexpr int WORD = 32;  // pixels of a row whose bits are one word
    using Index = std::conditional_t<sizeof(Cell) == 4, uint32_t, unsigned long long>;  // atomicAdd takes these

    View view;
    Measure measure;
    Periodic periodic;
    bool is_volume;  // rows of different z are neighbours
    Index width, height;
    Index across;                  // words of a row
    uint32_t *suspects = nullptr;  // [word]

    Cells(const View &map, const Measure &costs, int axes, const Periodic &of_image)
        : view(map),
          measure(costs),
          periodic(of_image),
          is_volume(axes == 3),
          width(static_cast<Index>(map.size[0])),
          height(static_cast<Index>(map.size[1])),
          across((width + WORD - 1) / WORD) {}

    APSIS_BOTH Index rows() const { return height * static_cast<Index>(view.size[2]); }
    APSIS_BOTH Index words() const { return across * rows(); }
    APSIS_BOTH Index word_of(Place p) const { return row_number(p) * across + static_cast<Index>(p.x / WORD); }
    APSIS_BOTH Place place_of(Index word, int bit) const {
        const Index row = word / across, z = row / height;
        return place((word - row * across) * WORD + static_cast<Index>(bit), row - z * height, z);
    }

    APSIS_BOTH Cell at(Place p) const { return *pixel(p); }
    APSIS_BOTH bool is_suspect(Place p) const { return suspects[word_of(p)] >> p.x % WORD & 1; }

    /// Whether no pixel towards the site is of the same cell.  The one straight on mostly is, and takes no division to find.
    APSIS_BOTH bool is_tip(Place p, Cell cell) const {
        if (!has_way(p, cell)) return false;
        if (!CLOSED && at(straight_on(p, static_cast<Index>(cell))) == cell) return false;
        return !any_towards(p, cell, [&](Place q) { return at(q) == cell; });
    }

    /// Whether a stage changes this pixel.
    template <Stage STAGE>
    APSIS_BOTH bool wants(Place p) const {
        if (STAGE == Stage::CLOSE) return !is_suspect(p) && is_cut_off(p, at(p));
        if (!is_suspect(p)) return false;
        if (STAGE == Stage::RESCUE) return any_beside(p, [&](Place q) { return !is_suspect(q) && at(q) == at(p); });
        return any_beside(p, [&](Place q) { return !is_suspect(q) && at(q) >= 0; });
    }

    /// Gives an exclave the cell beside it whose site is nearest; of several, the lowest.  The cells of suspects are not read,
    /// so this cell may change while other exclaves choose.
    APSIS_BOTH void hide(Place p) const {
        Cell best = -1;
        int64_t least = 0;
        any_beside(p, [&](Place q) {
            const Cell cell = is_suspect(q) ? Cell(-1) : at(q);
            if (cell < 0 || cell == best) return false;
            const int64_t cost = cost_to(p, cell);
            if (best < 0 || cost < least || (cost == least && cell < best)) {
                best = cell;
                least = cost;
            }
            return false;
        });
        *pixel(p) = best;
    }

    /// Gives no cell to an exclave that no round has reached.  Only maps that are not exact have these, behind pixels of no
    /// cell.  In an exact map all pixels on the straight way to a site are nearer to it, and so are of some cell.
    APSIS_BOTH void forget(Place p) const { *pixel(p) = -1; }

    /// Whether test(q) holds for any neighbour q, of 8 or 26.
    template <class Test>
    APSIS_BOTH bool any_beside(Place p, Test test) const {
        const auto first = [](int at, bool has) { return has && (CLOSED || at > 0) ? at - 1 : at; };
        const auto last = [this](int at, bool has, int axis) {
            return has && (CLOSED || at + 1 < view.size[axis]) ? at + 1 : at;
        };
        for (int z = first(p.z, is_volume); z <= last(p.z, is_volume, 2); ++z)
            for (int y = first(p.y, true); y <= last(p.y, true, 1); ++y)
                for (int x = first(p.x, true); x <= last(p.x, true, 0); ++x) {
                    const Place q = around({x, y, z});
                    if ((x != p.x || y != p.y || z != p.z) && (!CLOSED || is_pixel(q)) && test(q)) return true;
                }
        return false;
    }

  private:
    /// The pixel at a place that may be a step outside of an image that closes on itself; -1 along axes where it does not.
    APSIS_BOTH Place around(Place p) const {
        if constexpr (!CLOSED) return p;
        const auto along = [this](int axis, int at) { return static_cast<int>(periodic.wrap(axis, at, view.size[axis])); };
        return {along(0, p.x), along(1, p.y), along(2, p.z)};
    }
    APSIS_BOTH static bool is_pixel(Place p) { return p.x >= 0 && p.y >= 0 && p.z >= 0; }
    /// The offset from one coordinate to another, the shorter way.
    APSIS_BOTH int offset(int axis, int from, int to) const {
        const int straight = to - from, extent = static_cast<int>(view.size[axis]);
        if (!CLOSED || !periodic.along[axis] || (straight <= extent / 2 && straight >= -(extent / 2))) return straight;
        return straight > 0 ? straight - extent : straight + extent;
    }

    APSIS_BOTH static Place place(Index x, Index y, Index z) {
        return {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
    }
    APSIS_BOTH Cell *pixel(Place p) const { return reinterpret_cast<Cell *>(view.row(p.y, p.z) + p.x * view.stride[0]); }
    APSIS_BOTH Index row_number(Place p) const { return static_cast<Index>(p.z) * height + static_cast<Index>(p.y); }
    /// The index of the first pixel of its row.
    APSIS_BOTH Index first_of(Place p) const { return row_number(p) * width; }

    /// Whether there is a site that is not the pixel itself.
    APSIS_BOTH bool has_way(Place p, Cell cell) const {
        return cell >= 0 && static_cast<Index>(cell) != first_of(p) + static_cast<Index>(p.x);
    }

    /// The pixel's neighbour towards the site along the last axis in which they differ.
    APSIS_BOTH Place straight_on(Place p, Index site) const {
        const Index row = first_of(p), plane = static_cast<Index>(p.z) * height * width;
        if (is_volume && site < plane) return {p.x, p.y, p.z - 1};
        if (is_volume && site - plane >= height * width) return {p.x, p.y, p.z + 1};
        if (site < row) return {p.x, p.y - 1, p.z};
        if (site - row >= width) return {p.x, p.y + 1, p.z};
        return {site - row < static_cast<Index>(p.x) ? p.x - 1 : p.x + 1, p.y, p.z};
    }

    APSIS_BOTH Place site_of(Place p, Cell cell) const {
        const Index row = static_cast<Index>(cell) / width, z = is_volume ? row / height : static_cast<Index>(p.z);
        return place(static_cast<Index>(cell) - row * width, row - z * height, z);
    }

    APSIS_BOTH int64_t cost_to(Place p, Cell cell) const {
        const Place site = site_of(p, cell);
        const auto along = [this](int axis, int from, int to) {
            return axis_cost<int64_t>(measure.metric, measure.weight[axis], offset(axis, from, to));
        };
        return along(0, p.x, site.x) + along(1, p.y, site.y) + along(2, p.z, site.z);
    }

    /// Whether test(q) holds for any neighbour q towards the site, of up to 7.
    template <class Test>
    APSIS_BOTH bool any_towards(Place p, Cell cell, Test test) const {
        const Place site = site_of(p, cell);
        const auto sign = [](int way) { return (way > 0) - (way < 0); };
        const int dx = sign(offset(0, p.x, site.x)), dy = sign(offset(1, p.y, site.y)), dz = sign(offset(2, p.z, site.z));
        const int all = kind_of(dx, dy, dz);
        for (int axes = 1; axes <= all; ++axes)  // of the move, as bits
            if ((axes & ~all) == 0 &&
                test(around({axes & 1 ? p.x + dx : p.x, axes & 2 ? p.y + dy : p.y, axes & 4 ? p.z + dz : p.z})))
                return true;
        return false;
    }

    APSIS_BOTH bool is_cut_off(Place p, Cell cell) const {
        return has_way(p, cell) && !any_towards(p, cell, [&](Place q) { return at(q) == cell && !is_suspect(q); });
    }
};

/// Calls body with the Cells of a map, as a type.
template <class Body>
auto with_cells(apsis_type type, bool is_closed, Body body) {
    const auto with_index = [&](auto index) {
        using Cell = decltype(index);
        return is_closed ? body(static_cast<Cells<Cell, true> *>(nullptr)) : body(static_cast<Cells<Cell, false> *>(nullptr));
    };
    return type == APSIS_I32 ? with_index(int32_t()) : with_index(int64_t());
}

}  // namespace apsis
