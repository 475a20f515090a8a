// APSIS_RASTER_SCAN on the CPU: raster scans in blocks side by side (Elizondo-Leal, Ramirez-Torres, Barrón-Zambrano,
// Diaz-Manríquez, Nuño-Maganda and Saldivar-Alonso 2020), and then the conversion to the complete map, which adds the
// exclaves that they miss.
//
// In an instance every block scans its pixels forwards and backwards until nothing changes, with the sites that the pixels
// around it held before the instance.  Instances follow until none changes a block.  A block is finished, and not scanned
// again, when its distances are so short that no nearer site can still arrive.  Here a block is one tile, scanned by one
// thread: scans of its tiles side by side have the same result.
#include <algorithm>

#include "core/raster_blocks.h"
#include "cpu/published/published.h"
#include "cpu/published/site_map.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::published {
namespace {

constexpr int LARGEST_SIDE = BSIZE * LARGE_TILERES;  // of a block
constexpr int PITCH = LARGEST_SIDE + 2;              // with one pixel more on either side

/// A block and the pixels around it.
struct BlockWindow {
    int x0, y0, width, height;  // of the block, in its image
    Site site[PITCH * PITCH];   // NO_SITE for pixels beyond the image

    Site &at(int x, int y) { return site[(y + 1) * PITCH + x + 1]; }

    /// Gives a pixel the nearest of the sites that it and four of its neighbours hold.  Returns whether it has changed.
    bool improve(int x, int y, const int (&neighbours)[4]) {
        Site &held = at(x, y), best = held;
        for (const int by : neighbours)
            if (const Site other = (&held)[by]; other != best) best = nearer(x0 + x, y0 + y, best, other);
        const bool is_better = best != held;
        held = best;
        return is_better;
    }

    /// Scans until nothing changes.  Returns whether any pixel has changed.
    bool scan() {
        static constexpr int FORWARDS[4] = {-1, -PITCH - 1, -PITCH, -PITCH + 1};
        static constexpr int BACKWARDS[4] = {1, PITCH + 1, PITCH, PITCH - 1};
        bool has_changed = false;
        for (bool is_changing = true; is_changing; has_changed |= is_changing) {
            is_changing = false;
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) is_changing |= improve(x, y, FORWARDS);
            for (int y = height - 1; y >= 0; --y)
                for (int x = width - 1; x >= 0; --x) is_changing |= improve(x, y, BACKWARDS);
        }
        return has_changed;
    }
};

/// Calls body(i, x, y) for the i-th of the pixels around a block; x and y count from the block's first pixel.
template <class Body>
void for_ring(int side, Body body) {
    for (int k = 0, i = 0; k <= side; ++k) {
        body(i++, k - 1, -1);
        body(i++, side, k - 1);
        body(i++, k, side);
        body(i++, -1, k);
    }
}

class RasterScan {
  public:
    RasterScan(const DistanceJob &job, void *scratch) : job_(job), batch_(job) {
        side_ = BSIZE * tileres_of(job.set);
        across_ = (batch_.width + side_ - 1) / side_;
        down_ = (batch_.height + side_ - 1) / side_;
        Carver carver(scratch);
        map_ = carver.take<Site>(batch_.pixels());
        complete_ = carver.take<Site>(batch_.pixels());
        rings_ = carver.take<Site>(blocks() * ring());
        is_finished_ = carver.take<uint8_t>(blocks());
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(Arena &arena, const Progress &progress) {
        fill_map(job_, map_, arena);
        std::fill_n(is_finished_, blocks(), uint8_t(0));
        int64_t instances = 0, changes = 1, finished = 0;
        for (; changes > 0; ++instances) {
            const int64_t settled = settled_by(instances, side_);
            const double done = MADE * static_cast<double>(finished) / static_cast<double>(blocks());
            changes = finished = 0;
            parallel_for(arena, blocks(), {}, 0, 0, [&](int64_t i) {
                if (!is_finished_[i]) read_ring(i);
            });
            parallel_for(arena, blocks(), progress, done, done, [&](int64_t i) {
                if (!is_finished_[i] && scan_block(i, settled)) add_shared(changes, 1);
                if (is_finished_[i]) add_shared(finished, 1);
            });
        }
        const int64_t mended = complete_map(batch_, map_, complete_, arena, progress);
        report(job_, instances, mended);
        write_map(job_, complete_, arena, progress);
    }

  private:
    int64_t blocks() const { return batch_.images * across_ * down_; }
    int64_t ring() const { return 4 * (side_ + 1); }

    BlockWindow window_of(int64_t block) const {
        BlockWindow window;
        window.x0 = static_cast<int>(block % across_) * side_;
        window.y0 = static_cast<int>(block / across_ % down_) * side_;
        window.width = std::min(side_, batch_.width - window.x0);
        window.height = std::min(side_, batch_.height - window.y0);
        return window;
    }
    Site *image_of(int64_t block) const { return map_ + block / (across_ * down_) * batch_.image(); }

    /// Keeps the sites of the pixels around a block, before other blocks change them.
    void read_ring(int64_t block) const {
        const BlockWindow window = window_of(block);
        const Site *const image = image_of(block);
        Site *const to = rings_ + block * ring();
        for_ring(side_, [&](int i, int dx, int dy) {
            const int x = window.x0 + dx, y = window.y0 + dy;
            const bool is_inside = x >= 0 && y >= 0 && x < batch_.width && y < batch_.height;
            to[i] = is_inside ? image[static_cast<int64_t>(y) * batch_.width + x] : NO_SITE;
        });
    }

    /// Returns whether the block has changed.
    bool scan_block(int64_t block, int64_t settled) const {
        BlockWindow window = window_of(block);
        Site *const first = image_of(block) + static_cast<int64_t>(window.y0) * batch_.width + window.x0;
        int64_t farthest = 0;
        std::fill_n(window.site, PITCH * PITCH, NO_SITE);
        for (int y = 0; y < window.height; ++y)
            for (int x = 0; x < window.width; ++x) {
                const Site site = window.at(x, y) = first[static_cast<int64_t>(y) * batch_.width + x];
                farthest = std::max<int64_t>(farthest, square_to(window.x0 + x, window.y0 + y, site));
            }
        is_finished_[block] = farthest <= settled;
        if (is_finished_[block]) return false;
        const Site *const ring_sites = rings_ + block * ring();
        for_ring(side_, [&](int i, int dx, int dy) { window.at(dx, dy) = ring_sites[i]; });
        if (!window.scan()) return false;
        for (int y = 0; y < window.height; ++y)
            std::copy_n(&window.at(0, y), window.width, first + static_cast<int64_t>(y) * batch_.width);
        return true;
    }

    const DistanceJob &job_;
    Batch batch_;
    int side_;
    int64_t across_, down_;
    Site *map_, *complete_;
    Site *rings_;           // [block][for_ring's i]: the sites around it before the instance
    uint8_t *is_finished_;  // [block]: OB in the paper
    size_t bytes_;
};

}  // namespace

size_t raster_scan_scratch(const DistanceJob &job, int) { return RasterScan(job, nullptr).bytes(); }

void raster_scan(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    RasterScan(job, scratch).run(arena, progress);
}

}  // namespace apsis::cpu::published
