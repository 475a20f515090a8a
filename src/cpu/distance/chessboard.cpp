// The chessboard distance on the CPU: keys of (distance, site) relaxed along the axes (Rosenfeld and Pfaltz 1966, with sites).
// The back end chooses it for the chessboard metric, unless the job names a published method.
//
// The moves of a shortest path may come in any order.  So the moves along z can come first, each with its sideways moves, then
// the moves along y with theirs, then the moves along x.  One sweep along each axis, forwards and backwards, follows every
// path in that order.  Anything else that a sweep combines is also a path, and no shorter.  So the least key is the nearest
// site, of several the lowest.  Linear time; 8 bytes a pixel.
//
// Along a periodic axis the neighbour of the last pixel is the first one, and a shortest path goes half way around at most.  So
// a sweep goes around once, and half once more: a path that begins anywhere is followed to its end.
//
// A slab's first and last row begin with their distances to the sites outside of it, of which only distances are known
// (core/chessboard.h).
#include <algorithm>

#include "core/keys.h"
#include "cpu/distance/distance.h"
#include "cpu/runtime/pixel_writer.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::distance {
namespace {

/// The keys of an image, and how they are formed.
struct Keys {
    Key *data;
    int64_t width, height, depth;
    Periodic closed;
    KeyFormat format;
    Key *row(int64_t y, int64_t z) const { return data + (z * height + y) * width; }
};

/// Relaxes a row by its neighbour row: straight on, and one to either side.
void relax_row(const Keys &keys, Key *row, const Key *neighbour) {
    const Key step = keys.format.step();
    const int64_t last = keys.width - 1;
    const bool is_closed = keys.closed.along[0];
    const Key before = neighbour[is_closed ? last : 0], after = neighbour[is_closed ? 0 : last];
    row[0] = std::min(row[0], std::min(std::min(before, neighbour[0]), neighbour[std::min<int64_t>(1, last)]) + step);
    for (int64_t x = 1; x < last; ++x)
        row[x] = std::min(row[x], std::min(std::min(neighbour[x - 1], neighbour[x]), neighbour[x + 1]) + step);
    if (last > 0) row[last] = std::min(row[last], std::min(std::min(neighbour[last - 1], neighbour[last]), after) + step);
}

/// Relaxes row (y, z) by the rows y - 1, y and y + 1 of plane `from`.
void relax_from_plane(const Keys &keys, int64_t y, int64_t z, int64_t from) {
    for (int64_t v = y - 1; v <= y + 1; ++v)
        if (const int64_t there = keys.closed.wrap(1, v, keys.height); there >= 0)
            relax_row(keys, keys.row(y, z), keys.row(there, from));
}

/// Calls relax(at, from) for places side by side along an axis, forwards and backwards.
template <class Relax>
void sweep(int64_t length, bool is_closed, Relax relax) {
    for (const int64_t by : {1, -1}) {
        const int64_t first = by > 0 ? 0 : length - 1, last = length - 1 - first;
        for (int64_t i = 1; i < length; ++i) relax(first + i * by, first + (i - 1) * by);
        if (!is_closed) continue;
        relax(first, last);
        for (int64_t i = 1; i < length / 2; ++i) relax(first + i * by, first + (i - 1) * by);
    }
}

void sweep_along_y(const Keys &keys, int64_t z) {
    sweep(keys.height, keys.closed.along[1],
          [&](int64_t y, int64_t from) { relax_row(keys, keys.row(y, z), keys.row(from, z)); });
}

void sweep_along_x(const Keys &keys, Key *row) {
    const Key step = keys.format.step();
    sweep(keys.width, keys.closed.along[0], [=](int64_t x, int64_t from) { row[x] = std::min(row[x], row[from] + step); });
}

/// Starts a row: every site has itself at distance 0.  Sites are numbered within their image.  Those of a set that is found are
/// in words.
void start_row(const DistanceJob &job, const Keys &keys, const Columns &found, bool inside, int64_t y, int64_t z) {
    const int64_t index = ((job.axes == 3 ? z * keys.height : 0) + y) * keys.width;
    Key *const row = keys.row(y, z);
    const auto start = [&](bool sites_are_set, auto is_set_at) {
        for (int64_t x = 0; x < keys.width; ++x) row[x] = is_set_at(x) == sites_are_set ? static_cast<Key>(index + x) : NO_KEY;
    };
    if (!job.is_found) {
        const uint8_t *const pixels = job.set.row(y, z);
        return start(inside == job.complement, [&](int64_t x) { return is_set(job.set, pixels, x); });
    }
    const int64_t at = job.axes == 3 ? z : y, first = job.axes == 3 ? y * keys.width : 0;
    start(!inside, [&](int64_t x) { return found.has(0, at, first + x); });
}

/// Starts the first and the last row of a slab, in 3-D plane.
void start_border(const DistanceJob &job, const Keys &keys, int side) {
    job.for_chessboard_beyond(side, [&](int64_t row, const std::vector<int32_t> &distance) {
        Key *const to = job.axes == 3 ? keys.row(0, row) : keys.row(row, 0);
        for (size_t c = 0; c < distance.size(); ++c)
            if (distance[c] != NO_CHESSBOARD) to[c] = std::min(to[c], static_cast<Key>(distance[c]) * keys.format.step());
    });
}

void finish_row(const DistanceJob &job, const Keys &keys, bool inside, int64_t y, int64_t z) {
    const Key *const row = keys.row(y, z);
    const int64_t image = job.axes == 3 ? 0 : z * keys.height * keys.width;
    const RowTarget target{job, y, z, inside};
    const auto cost_at = [&](int64_t x) { return row[x] == NO_KEY ? NO_COST<int64_t> : keys.format.distance(row[x]); };
    write_distances(target, cost_at);
    write_sites(target, cost_at, [&](int64_t x) { return image + keys.format.site(row[x]); });
}

}  // namespace

size_t chessboard_scratch(const DistanceJob &job, int) {
    Carver count;
    if (job.is_found) columns_of(job, count);
    count.take<Key>(job.set.pixels());
    return count.used();
}

void chessboard(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    const int64_t width = job.set.size[0], height = job.set.size[1], depth = job.set.size[2];
    Carver carver(scratch);
    const Columns found = job.is_found ? columns_of(job, carver) : Columns();
    const Keys keys{carver.take<Key>(job.set.pixels()),
                    width,
                    height,
                    depth,
                    job.closed(),
                    KeyFormat(job.axes == 3 ? job.set.pixels() : width * height)};
    const int sides = job.is_signed ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        const double from = double(side) / sides, part = 1.0 / sides;
        const auto each_row = [&](double begin, double end, auto body) {
            parallel_for(arena, height * depth, progress, from + begin * part, from + end * part,
                         [&](int64_t i) { body(i % height, i / height); });
        };
        each_row(0.0, 0.2, [&](int64_t y, int64_t z) { start_row(job, keys, found, side == 1, y, z); });
        start_border(job, keys, side);
        if (job.axes == 3)
            sweep(depth, keys.closed.along[2], [&](int64_t z, int64_t beside) {
                parallel_for(arena, height, {}, 0, 0, [&](int64_t y) { relax_from_plane(keys, y, z, beside); });
            });
        parallel_for(arena, depth, progress, from + 0.4 * part, from + 0.6 * part, [&](int64_t z) { sweep_along_y(keys, z); });
        each_row(0.6, 1.0, [&](int64_t y, int64_t z) {
            sweep_along_x(keys, keys.row(y, z));
            finish_row(job, keys, side == 1, y, z);
        });
    }
}

}  // namespace apsis::cpu::distance
