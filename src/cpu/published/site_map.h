// Maps of sites (core/sites.h), one site for every pixel: published methods make them, and distances and cells are written from
// them.  The images of a batch lie one after the other, packed.
#pragma once

#include "core/exclaves.h"
#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace apsis::cpu::published {

struct Batch {
    int width, height;
    int64_t images;

    explicit Batch(const DistanceJob &job)
        : width(static_cast<int>(job.set.size[0])),
          height(static_cast<int>(job.set.size[1])),
          images(job.set.size[2]) {}
    int64_t rows() const { return images * height; }  // of all images, one after the other
    int64_t image() const { return static_cast<int64_t>(width) * height; }
    int64_t pixels() const { return images * image(); }
};

/// The site of a pixel in the initial map: itself, or none.
inline Site first_site(const DistanceJob &job, const uint8_t *row, int x, int y) {
    return is_set(job.set, row, x) != job.complement ? site_at(x, y) : NO_SITE;
}
void fill_map(const DistanceJob &job, Site *map, Arena &arena);

/// Makes the complete map from a map that lacks only exclaves.  Returns how many pixels it has changed.
int64_t complete_map(const Batch &batch, const Site *map, Site *complete, Arena &arena, const Progress &progress);

/// Writes the outputs of a job from its map.
void write_map(const DistanceJob &job, const Site *map, Arena &arena, const Progress &progress);

/// Fills in the caller's report, if there is one.
inline void report(const DistanceJob &job, int64_t kernels, int64_t mended) {
    if (job.report) *job.report = {kernels, mended};
}

// The progress of a call when its map is made, when that is complete, and when outputs are written.
constexpr double MADE = 0.8, COMPLETED = 0.9, WRITTEN = 1.0;

}  // namespace apsis::cpu::published
