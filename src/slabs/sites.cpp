// Merges what slabs tell of their columns: see sites.h.  Cost: each array is read once, on all threads.
#include "slabs/sites.h"

#include <algorithm>

namespace apsis::slabs {

void merge_sites(const MergeJob &job, Arena &arena) {
    constexpr int64_t AT_ONCE = 1 << 14;  // columns: what has been merged of them stays in a cache
    parallel_for(arena, (job.columns + AT_ONCE - 1) / AT_ONCE, Progress(), 0, 1, [&](int64_t i) {
        const int64_t from = i * AT_ONCE, to = std::min(from + AT_ONCE, job.columns);
        std::fill(job.merged + from, job.merged + to, job.none());
        for (const int64_t *told : job.told)
            for (int64_t c = from; c < to; ++c)
                job.merged[c] = job.are_last ? std::max(job.merged[c], told[c]) : std::min(job.merged[c], told[c]);
    });
}

}  // namespace apsis::slabs
