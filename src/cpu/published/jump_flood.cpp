// APSIS_JUMP_FLOOD on the CPU: 1+JFA (Rong and Tan 2006, 2007).  In each pass a pixel takes the nearest of the sites that it
// and the eight pixels at a step from it hold.  Steps are 1, and then powers of two, from half the image down to 1.
//
// It is approximate: the pixels that would hand on a pixel's site may have taken others.  A pass reads one map and writes
// another, so that the result does not depend on the order of pixels.
#include <algorithm>
#include <utility>

#include "cpu/published/published.h"
#include "cpu/published/site_map.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::published {
namespace {

/// Computes a row of a pass.
void jump_row(const SiteMap &from, int step, int y, Site *to) {
    for (int x = 0; x < from.width; ++x) {
        Site best = from.at(x, y);
        for (int v = y - step; v <= y + step; v += step) {
            if (v < 0 || v >= from.height) continue;
            for (int u = x - step; u <= x + step; u += step) {
                if (u < 0 || u >= from.width) continue;
                if (const Site site = from.at(u, v); site != best) best = nearer(x, y, best, site);
            }
        }
        to[x] = best;
    }
}

class JumpFlood {
  public:
    JumpFlood(const DistanceJob &job, void *scratch) : job_(job), batch_(job) {
        Carver carver(scratch);
        from_ = carver.take<Site>(batch_.pixels());
        to_ = carver.take<Site>(batch_.pixels());
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(Arena &arena, const Progress &progress) {
        fill_map(job_, from_, arena);
        const int passes = count_passes();
        for (int pass = 0; pass < passes; ++pass) {
            const int step = pass == 0 ? 1 : 1 << (passes - 1 - pass);
            parallel_for(arena, batch_.rows(), progress, COMPLETED * pass / passes, COMPLETED * (pass + 1) / passes,
                         [&](int64_t i) {
                             const Site *const image = from_ + i / batch_.height * batch_.image();
                             const int y = static_cast<int>(i % batch_.height);
                             jump_row({image, batch_.width, batch_.height}, step, y, to_ + i * batch_.width);
                         });
            std::swap(from_, to_);
        }
        report(job_, passes, 0);
        write_map(job_, from_, arena, progress);
    }

  private:
    /// The pass with step 1, and one for each power of two up to the first that is at least half of the image.
    int count_passes() const {
        int passes = 2;
        while (2 << (passes - 2) < std::max(batch_.width, batch_.height)) ++passes;
        return passes;
    }

    const DistanceJob &job_;
    Batch batch_;
    Site *from_, *to_;
    size_t bytes_;
};

}  // namespace

size_t jump_flood_scratch(const DistanceJob &job, int) { return JumpFlood(job, nullptr).bytes(); }

void jump_flood(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    JumpFlood(job, scratch).run(arena, progress);
}

}  // namespace apsis::cpu::published
