// Maps of sites: see site_map.h.
#include "cpu/published/site_map.h"

#include <algorithm>
#include <atomic>

#include "cpu/runtime/pixel_writer.h"
#include "runtime/parallel.h"

namespace apsis::cpu::published {
namespace {

/// Offers a site to a pixel, which takes it if it is nearer than the site that it holds.  Threads may offer at the same time.
/// Returns whether the pixel held `own` until now.
bool offer(Site &pixel, Site own, int x, int y, Site site) {
    const std::atomic_ref<Site> shared(pixel);
    Site held = shared.load(std::memory_order_relaxed);
    while (nearness(x, y, site) < nearness(x, y, held))
        if (shared.compare_exchange_weak(held, site, std::memory_order_relaxed)) return held == own;
    return false;
}

}  // namespace

void fill_map(const DistanceJob &job, Site *map, Arena &arena) {
    const Batch batch(job);
    parallel_for(arena, batch.rows(), {}, 0, 0, [&](int64_t i) {
        const int y = static_cast<int>(i % batch.height);
        const uint8_t *const row = job.set.row(y, i / batch.height);
        for (int x = 0; x < batch.width; ++x) map[i * batch.width + x] = first_site(job, row, x, y);
    });
}

int64_t complete_map(const Batch &batch, const Site *map, Site *complete, Arena &arena, const Progress &progress) {
    parallel_for(arena, batch.rows(), {}, 0, 0,
                 [&](int64_t i) { std::copy_n(map + i * batch.width, batch.width, complete + i * batch.width); });
    int64_t changed = 0;
    parallel_for(arena, batch.rows(), progress, MADE, COMPLETED, [&](int64_t i) {
        const int y = static_cast<int>(i % batch.height);
        if (y + 1 == batch.height) return;
        const int64_t first = i / batch.height * batch.image();
        const SiteMap image = {map + first, batch.width, batch.height};
        int64_t mine = 0;
        for (int x = 0; x + 1 < batch.width; ++x) {
            if (!may_hide({image.at(x, y), image.at(x + 1, y), image.at(x, y + 1), image.at(x + 1, y + 1)}, x, y)) continue;
            expose_exclaves(image, x, y, [&](int px, int py, Site site) {
                const int64_t at = first + static_cast<int64_t>(py) * batch.width + px;
                mine += offer(complete[at], map[at], px, py, site);
            });
        }
        if (mine) add_shared(changed, mine);
    });
    return changed;
}

void write_map(const DistanceJob &job, const Site *map, Arena &arena, const Progress &progress) {
    const Batch batch(job);
    parallel_for(arena, batch.rows(), progress, COMPLETED, WRITTEN, [&](int64_t i) {
        const int y = static_cast<int>(i % batch.height);
        const int64_t z = i / batch.height, first = z * batch.image();
        const Site *const row = map + i * batch.width;
        const RowTarget target{job, y, z, false};
        const auto cost_at = [&](int64_t x) { return static_cast<int64_t>(square_to(static_cast<int>(x), y, row[x])); };
        write_distances(target, cost_at);
        write_sites(target, cost_at,
                    [&](int64_t x) { return first + static_cast<int64_t>(y_of(row[x])) * batch.width + x_of(row[x]); });
    });
}

}  // namespace apsis::cpu::published
