// The chessboard distance on the CPU: keys of (distance, site) relaxed along the axes (Rosenfeld and Pfaltz 1966, with sites).
// The back end chooses it for the chessboard metric, unless the job names a published method.
//
// The moves of a shortest path may come in any order.  So the moves along z can come first, each with its sideways moves, then
// the moves along y with theirs, then the moves along x.  One sweep along each axis, forwards and backwards, follows every
// path in that order.  Anything else that a sweep combines is also a path, and no shorter.  So the least key is the nearest
// site, of several the lowest.  Linear time; 8 bytes a pixel.
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
    KeyFormat format;
    Key *row(int64_t y, int64_t z) const { return data + (z * height + y) * width; }
};

/// Relaxes a row by its neighbour row: straight on, and one to either side.
void relax_row(const Keys &keys, Key *row, const Key *neighbour) {
    const Key step = keys.format.step();
    const int64_t last = keys.width - 1;
    row[0] = std::min(row[0], std::min(neighbour[0], neighbour[std::min<int64_t>(1, last)]) + step);
    for (int64_t x = 1; x < last; ++x)
        row[x] = std::min(row[x], std::min(std::min(neighbour[x - 1], neighbour[x]), neighbour[x + 1]) + step);
    if (last > 0) row[last] = std::min(row[last], std::min(neighbour[last - 1], neighbour[last]) + step);
}

/// Relaxes row (y, z) by the rows y - 1, y and y + 1 of plane `from`.
void relax_from_plane(const Keys &keys, int64_t y, int64_t z, int64_t from) {
    for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, keys.height - 1); ++v)
        relax_row(keys, keys.row(y, z), keys.row(v, from));
}

void sweep_along_y(const Keys &keys, int64_t z) {
    for (int64_t y = 1; y < keys.height; ++y) relax_row(keys, keys.row(y, z), keys.row(y - 1, z));
    for (int64_t y = keys.height - 2; y >= 0; --y) relax_row(keys, keys.row(y, z), keys.row(y + 1, z));
}

void sweep_along_x(const Keys &keys, Key *row) {
    const Key step = keys.format.step();
    for (int64_t x = 1; x < keys.width; ++x) row[x] = std::min(row[x], row[x - 1] + step);
    for (int64_t x = keys.width - 2; x >= 0; --x) row[x] = std::min(row[x], row[x + 1] + step);
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
    const Keys keys{carver.take<Key>(job.set.pixels()), width, height, depth,
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
        if (job.axes == 3) {
            const auto sweep = [&](int64_t z, int64_t by) {
                parallel_for(arena, height, {}, 0, 0, [&](int64_t y) { relax_from_plane(keys, y, z, z - by); });
            };
            for (int64_t z = 1; z < depth; ++z) sweep(z, 1);
            for (int64_t z = depth - 2; z >= 0; --z) sweep(z, -1);
        }
        parallel_for(arena, depth, progress, from + 0.4 * part, from + 0.6 * part, [&](int64_t z) { sweep_along_y(keys, z); });
        each_row(0.6, 1.0, [&](int64_t y, int64_t z) {
            sweep_along_x(keys, keys.row(y, z));
            finish_row(job, keys, side == 1, y, z);
        });
    }
}

}  // namespace apsis::cpu::distance
