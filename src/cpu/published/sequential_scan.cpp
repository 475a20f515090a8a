// APSIS_SEQUENTIAL_SCAN: two raster scans of the whole image, by one thread.  Only the CPU has this method.
//
// City-block, chessboard and chamfer distances are sums of steps between neighbours, or of knight's moves.  A shortest path can
// take its steps in the order of the scans, so that these distances are exact (Rosenfeld and Pfaltz 1966, 1968; Borgefors
// 1986).  For Euclidean distances pixels hand on sites, and each row is scanned back as well; this is approximate (8SED:
// Danielsson 1980).
#include <algorithm>
#include <cstdlib>

#include "cpu/published/published.h"
#include "cpu/published/site_map.h"
#include "cpu/runtime/pixel_writer.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::published {
namespace {

constexpr int TICK = 64;  // rows between reports of progress

/// Scans an image forwards and backwards, and calls improve(x, y, dx, dy) for every neighbour that comes before a pixel; with
/// `knights`, also for those a knight's move away.  With `returns`, each row is scanned back before the next one.
template <class Improve, class Tell>
void scan_image(const Batch &batch, bool returns, bool knights, Improve improve, Tell tell) {
    const int width = batch.width, height = batch.height;
    const auto improve_far = [&](int x, int y, int i, int k, int step) {
        for (const int side : {-1, 1})
            for (const int far : {1, 2}) {
                const int to = k + side * far;
                if (i >= 3 - far && to >= 0 && to < width) improve(x, y, side * far * step, (far - 3) * step);
            }
    };
    for (int turn = 0; turn < 2; ++turn) {
        const int step = turn == 0 ? 1 : -1;
        const auto nth = [&](int i, int count) { return turn == 0 ? i : count - 1 - i; };
        for (int i = 0; i < height; ++i) {
            const int y = nth(i, height);
            for (int k = 0; k < width; ++k) {
                const int x = nth(k, width);
                if (k > 0) improve(x, y, -step, 0);
                if (i > 0 && k > 0) improve(x, y, -step, -step);
                if (i > 0) improve(x, y, 0, -step);
                if (i > 0 && k + 1 < width) improve(x, y, step, -step);
                if (knights) improve_far(x, y, i, k, step);
            }
            for (int k = width - 2; returns && k >= 0; --k) improve(nth(k, width), y, step, 0);
            if (i % TICK == 0) tell((turn + static_cast<double>(i) / height) / 2);
        }
    }
}

/// The lengths of steps along one axis and along two, and of a knight's move.
struct Weights {
    int64_t straight, diagonal, knight;
};

Weights weights_of(const Measure &measure) {
    if (measure.metric == APSIS_CITY_BLOCK) return {1, 2, 0};
    if (measure.metric == APSIS_CHESSBOARD) return {1, 1, 0};
    return {measure.weight[0], measure.diagonal, measure.knight};
}

class SequentialScan {
  public:
    SequentialScan(const DistanceJob &job, void *scratch) : job_(job), batch_(job) {
        Carver carver(scratch);
        values_ = carver.take<uint32_t>(batch_.pixels());
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(Arena &arena, const Progress &progress) {
        fill_map(job_, values_, arena);
        for (int64_t image = 0; image < batch_.images; ++image) {
            const auto tell = [&](double share) {
                if (progress) progress(MADE * (static_cast<double>(image) + share) / static_cast<double>(batch_.images));
            };
            uint32_t *const values = values_ + image * batch_.image();
            is_euclidean() ? scan_sites(values, tell) : scan_costs(values, tell);
        }
        report(job_, 2, 0);
        is_euclidean() ? write_map(job_, values_, arena, progress) : write_costs(arena, progress);
    }

  private:
    bool is_euclidean() const { return job_.measure.metric == APSIS_EUCLIDEAN; }

    template <class Tell>
    void scan_sites(Site *sites, Tell tell) const {
        scan_image(
            batch_, true, false,
            [&](int x, int y, int dx, int dy) {
                Site &site = sites[static_cast<int64_t>(y) * batch_.width + x];
                site = nearer(x, y, site, (&site)[static_cast<int64_t>(dy) * batch_.width + dx]);
            },
            tell);
    }

    template <class Tell>
    void scan_costs(uint32_t *costs, Tell tell) const {
        const Weights weights = weights_of(job_.measure);
        for (int64_t i = 0; i < batch_.image(); ++i) costs[i] = costs[i] == NO_SITE ? NO_COST<int32_t> : 0;
        scan_image(
            batch_, false, weights.knight != 0,
            [&](int x, int y, int dx, int dy) {
                uint32_t &cost = costs[static_cast<int64_t>(y) * batch_.width + x];
                const int axes = (dx != 0) + (dy != 0), far = std::abs(dx) + std::abs(dy) - axes;
                const auto step = static_cast<uint32_t>(far ? weights.knight : axes == 2 ? weights.diagonal : weights.straight);
                cost = std::min(cost, (&cost)[static_cast<int64_t>(dy) * batch_.width + dx] + step);
            },
            tell);
    }

    void write_costs(Arena &arena, const Progress &progress) const {
        parallel_for(arena, batch_.rows(), progress, MADE, WRITTEN, [&](int64_t i) {
            const RowTarget target{job_, i % batch_.height, i / batch_.height, false};
            write_distances(target, [&](int64_t x) { return static_cast<int64_t>(values_[i * batch_.width + x]); });
        });
    }

    const DistanceJob &job_;
    Batch batch_;
    uint32_t *values_;  // sites, or costs
    size_t bytes_;
};

}  // namespace

size_t sequential_scan_scratch(const DistanceJob &job, int) { return SequentialScan(job, nullptr).bytes(); }

void sequential_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    SequentialScan(job, scratch).run(arena, progress);
}

}  // namespace apsis::cpu::published
