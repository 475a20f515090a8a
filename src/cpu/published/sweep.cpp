// APSIS_SWEEP on the CPU: sweeps in four directions.  A sweep gives a pixel the nearest of the sites that its three neighbours
// in the line before hold (Schneider, Kraus and Westermann 2009; Honda, Yamamoto, Honda, Nakano and Ito 2017).
//
// A sweep carries a site no farther than 45 degrees from its direction.  The nearest of a pixel's four sites makes the mixed
// map, which may lack exclaves.  One thread makes a sweep, so that the schedules of a GPU are all the same here.  Lines of the
// sweeps right and left are columns, and their maps are transposed, so that each line is contiguous in memory.
#include <algorithm>

#include "cpu/published/published.h"
#include "cpu/published/site_map.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::published {
namespace {

enum Direction { DOWN, UP, RIGHT, LEFT, DIRECTIONS };

constexpr int BAND = 32;    // rows that are transposed together: their columns of sites fill two cache lines
constexpr int SHARES = 16;  // parts of a sweep, after each of which progress is reported

/// Computes a line of a sweep from the line before it.
template <bool IS_TRANSPOSED>
void sweep_line(const Site *before, Site *line, int at, int length) {
    const auto closer = [at](int k, Site a, Site b) { return IS_TRANSPOSED ? nearer(at, k, a, b) : nearer(k, at, a, b); };
    for (int k = 0; k < length; ++k) {
        if (line[k] != NO_SITE) continue;
        Site best = before[k];
        if (k > 0 && before[k - 1] != best) best = closer(k, best, before[k - 1]);
        if (k + 1 < length && before[k + 1] != best) best = closer(k, best, before[k + 1]);
        line[k] = best;
    }
}

class Sweep {
  public:
    Sweep(const DistanceJob &job, void *scratch) : job_(job), batch_(job) {
        Carver carver(scratch);
        for (Site *&map : maps_) map = carver.take<Site>(batch_.pixels());
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(Arena &arena, const Progress &progress) {
        for_bands(arena, [this](int64_t image, int y0, int y1) { fill(image, y0, y1); });
        for (int share = 0; share < SHARES; ++share)
            parallel_for(arena, DIRECTIONS * batch_.images, progress, MADE * share / SHARES, MADE * (share + 1) / SHARES,
                         [&](int64_t i) { sweep(static_cast<Direction>(i % DIRECTIONS), i / DIRECTIONS, share); });
        for_bands(arena, [this](int64_t image, int y0, int y1) { combine(image, y0, y1); });
        Site *const mixed = maps_[DOWN], *const complete = maps_[UP];
        const int64_t mended = job_.mixed ? 0 : complete_map(batch_, mixed, complete, arena, progress);
        report(job_, DIRECTIONS, mended);
        write_map(job_, job_.mixed ? mixed : complete, arena, progress);
    }

  private:
    template <class Body>
    void for_bands(Arena &arena, Body body) const {
        const int64_t bands = (batch_.height + BAND - 1) / BAND;
        parallel_for(arena, bands * batch_.images, {}, 0, 0, [&](int64_t i) {
            const int y = static_cast<int>(i % bands) * BAND;
            body(i / bands, y, std::min(y + BAND, batch_.height));
        });
    }

    /// The place of a pixel in the map of a sweep.
    Site &at(Direction direction, int64_t image, int x, int y) const {
        const int64_t place =
            direction < RIGHT ? static_cast<int64_t>(y) * batch_.width + x : static_cast<int64_t>(x) * batch_.height + y;
        return maps_[direction][image * batch_.image() + place];
    }

    void fill(int64_t image, int y0, int y1) const {
        for (int x = 0; x < batch_.width; ++x)
            for (int y = y0; y < y1; ++y) {
                const Site site = first_site(job_, job_.set.row(y, image), x, y);
                for (const Direction direction : {DOWN, UP, RIGHT, LEFT}) at(direction, image, x, y) = site;
            }
    }

    /// Computes a share of the lines of a sweep.
    void sweep(Direction direction, int64_t image, int share) const {
        const bool is_transposed = direction >= RIGHT, is_backward = direction == UP || direction == LEFT;
        const int lines = is_transposed ? batch_.width : batch_.height, length = is_transposed ? batch_.height : batch_.width;
        Site *const map = maps_[direction] + image * batch_.image();
        const auto nth = [&](int i) { return is_backward ? lines - 1 - i : i; };
        const int begin = std::max(static_cast<int>(int64_t(lines) * share / SHARES), 1);
        for (int i = begin; i < static_cast<int>(int64_t(lines) * (share + 1) / SHARES); ++i) {
            const Site *const before = map + static_cast<int64_t>(nth(i - 1)) * length;
            Site *const line = map + static_cast<int64_t>(nth(i)) * length;
            is_transposed ? sweep_line<true>(before, line, nth(i), length) : sweep_line<false>(before, line, nth(i), length);
        }
    }

    /// Writes the nearest of the four sites into the map of the sweep down.
    void combine(int64_t image, int y0, int y1) const {
        for (int x0 = 0; x0 < batch_.width; x0 += BAND)
            for (int y = y0; y < y1; ++y)
                for (int x = x0; x < std::min(x0 + BAND, batch_.width); ++x) {
                    Site &site = at(DOWN, image, x, y);
                    for (const Direction direction : {UP, RIGHT, LEFT})
                        if (const Site other = at(direction, image, x, y); other != site) site = nearer(x, y, site, other);
                }
    }

    const DistanceJob &job_;
    Batch batch_;
    Site *maps_[DIRECTIONS];  // the maps of RIGHT and LEFT are transposed
    size_t bytes_;
};

}  // namespace

size_t sweep_scratch(const DistanceJob &job, int) { return Sweep(job, nullptr).bytes(); }

void sweep(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    Sweep(job, scratch).run(arena, progress);
}

}  // namespace apsis::cpu::published
