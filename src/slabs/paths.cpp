// Paths across the borders of a slab: see paths.h.
//
// Of several paths the shortest is taken, and of several shortest ones that from the lowest seed.  A step keeps this order.  So
// the least fixpoint of all slabs is that of the image, whichever is computed first and however often.
#include "slabs/paths.h"

#include <algorithm>

namespace apsis::slabs {
namespace {

/// A view of rows, one behind the other along z.
View view_of(std::vector<int64_t> &rows, const GeodesicJob &job, int64_t count) {
    View view;
    view.type = APSIS_I64;
    view.size[0] = job.set.size[0], view.size[1] = job.axes == 3 ? job.set.size[1] : 1, view.size[2] = count;
    view.stride[0] = sizeof(int64_t);
    for (int a = 1; a < 3; ++a) view.stride[a] = view.stride[a - 1] * view.size[a - 1];
    if (!rows.empty()) view.data = reinterpret_cast<uint8_t *>(rows.data());
    return view;
}

}  // namespace

BorderPaths::BorderPaths(const apsis_slab_paths &slab, GeodesicJob &job)
    : slab_(slab),
      columns_(job.set.size[0] * (job.axes == 3 ? job.set.size[1] : 1)) {
    const int rows = job.nearest || slab.first_seeds || slab.last_seeds ? 4 : 2;
    const auto count = static_cast<size_t>(columns_);
    entering_.assign(2 * count, NO_PATH);
    entering_.resize(static_cast<size_t>(rows) * count, NO_SEED);
    told_ = entering_;
    job.entering = view_of(entering_, job, rows);
    job.told = view_of(told_, job, rows);
    const int64_t *const lengths[2] = {slab.above, slab.below}, *const seeds[2] = {slab.above_seeds, slab.below_seeds};
    for (int side = 0; side < 2; ++side) {
        if (!lengths[side]) continue;
        if (job.set.size[job.axes - 1] > 0) {
            enter(job, lengths[side], rows == 4 ? seeds[side] : nullptr, side);
            continue;
        }
        // Without rows of its own, a slab tells what it is told.
        std::copy_n(lengths[side], columns_, told_.data() + (1 - side) * columns_);
        if (rows == 4) std::copy_n(seeds[side], columns_, told_.data() + (3 - side) * columns_);
    }
}

/// Finds the shortest path to each pixel of the slab's first row, or last one, that comes from the row beside it.
void BorderPaths::enter(GeodesicJob &job, const int64_t *lengths, const int64_t *seeds, int side) {
    const int64_t width = job.entering.size[0], height = job.entering.size[1];
    const int across = job.axes == 3 ? 1 : 0;  // whether steps also go along y
    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
            int64_t length = NO_PATH, seed = NO_SEED;
            for (int dy = -across; dy <= across; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    const int64_t u = job.periodic.wrap(0, x + dx, width), v = job.periodic.wrap(1, y + dy, height);
                    if (u < 0 || v < 0) continue;
                    const int64_t from = v * width + u;
                    const int64_t step = job.steps.weight[across ? kind_of(dx, dy, 1) : kind_of(dx, 1, 0)];
                    if (step == 0 || lengths[from] == NO_PATH || lengths[from] + step > length) continue;
                    if (lengths[from] + step > job.steps.limit) continue;
                    const int64_t other = seeds ? seeds[from] : NO_SEED;
                    seed = lengths[from] + step < length ? other : std::min(seed, other);
                    length = lengths[from] + step;
                }
            entering(side)[y * width + x] = length;
            if (seeds) entering(2 + side)[y * width + x] = seed;
            if (length != NO_PATH) job.longest_entering = std::max(job.longest_entering, length);
        }
}

int64_t BorderPaths::tell() const {
    int64_t *const to[4] = {slab_.first, slab_.last, slab_.first_seeds, slab_.last_seeds};
    int64_t changed = 0;
    for (int i = 0; i < 4; ++i)
        for (int64_t c = 0; to[i] && c < columns_; ++c) {
            const int64_t now = told_[static_cast<size_t>(i * columns_ + c)];
            changed += to[i][c] != now;
            to[i][c] = now;
        }
    return changed;
}

}  // namespace apsis::slabs
