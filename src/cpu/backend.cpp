// The CPU back end: allocates memory, owns the threads, and passes every call to its transform.  The method and the metric of
// a job choose the transform.
#include <algorithm>
#include <string>

#include "cpu/components/components.h"
#include "cpu/distance/distance.h"
#include "cpu/distance/lines.h"
#include "cpu/labels/contacts.h"
#include "cpu/labels/statistics.h"
#include "cpu/paths/eccentricity.h"
#include "cpu/paths/geodesic.h"
#include "cpu/published/published.h"
#include "cpu/runtime/labels.h"
#include "cpu/surfaces/surfaces.h"
#include "cpu/voronoi/exclaves.h"
#include "runtime/packed.h"
#include "runtime/parallel.h"
#include "runtime/platform.h"

namespace apsis {

namespace cpu {

namespace {

constexpr int64_t PIECE = 1 << 16;  // pixels that a thread converts at a time

/// The transform that computes a distance map.
struct DistanceWay {
    size_t (*scratch)(const DistanceJob &, int threads);
    void (*run)(const DistanceJob &, void *scratch, Arena &, const Progress &);
};

DistanceWay way_of(const DistanceJob &job) {
    switch (job.method) {
        case APSIS_RASTER_SCAN: return {published::raster_scan_scratch, published::raster_scan};
        case APSIS_SWEEP:
        case APSIS_SWEEP_BLOCKS:
        case APSIS_SWEEP_ROWS: return {published::sweep_scratch, published::sweep};
        case APSIS_JUMP_FLOOD: return {published::jump_flood_scratch, published::jump_flood};
        case APSIS_SEQUENTIAL_SCAN: return {published::sequential_scan_scratch, published::sequential_scan};
        default: break;
    }
    if (job.measure.metric == APSIS_CHESSBOARD) return {distance::chessboard_scratch, distance::chessboard};
    if (job.periodic.any()) return {distance::periodic_scratch, distance::distance_in_periodic};
    return {distance::columns_scratch, distance::distance_by_columns};
}

class CpuBackend final : public Backend {
  public:
    CpuBackend() : name_(std::string("CPU, ") + row_instructions()) { set_threads(0); }

    int device() const override { return APSIS_CPU; }
    const char *name() const override { return name_.c_str(); }

    void *allocate(apsis_memory, size_t bytes) override {
        void *data = aligned_memory(Carver::SLOT, bytes);
        if (!data) throw Error(APSIS_ERROR_MEMORY, "no memory for %zu bytes", bytes);
        return data;
    }
    void release(apsis_memory, void *data, size_t) noexcept override { free_aligned_memory(data); }
    void copy(const View &from, const View &to) override {
        if (from.type == to.type) return copy_pixels(from, to);
        const int64_t rows = from.size[1] * from.size[2], each = std::max(PIECE / from.size[0], int64_t(1));
        parallel_for(*arena_, (rows + each - 1) / each, {}, 0, 1,
                     [&](int64_t i) { copy_rows(from, to, i * each, std::min(each, rows - i * each)); });
    }

    void set_stream(CUstream_st *stream) override {
        if (stream) throw Error(APSIS_ERROR_ARGUMENT, "stream is not NULL, but the context is a CPU one");
    }
    CUstream_st *stream() const override { return nullptr; }
    void sync() override {}
    void set_threads(int threads) override { arena_ = std::make_unique<Arena>(Arena::threads_for(threads)); }

    size_t distance_scratch(const DistanceJob &job) const override { return way_of(job).scratch(job, arena_->threads()); }
    void distance(const DistanceJob &job, void *scratch, const Progress &progress) override {
        way_of(job).run(job, scratch, *arena_, progress);
        if (job.border) distance::settle_border(job, *arena_);
    }
    size_t summary_scratch(const SummaryJob &job) const override { return distance::summary_scratch(job); }
    void summary(const SummaryJob &job, void *scratch, const Progress &progress) override {
        distance::summary(job, scratch, *arena_, progress);
    }
    size_t voronoi_scratch(const VoronoiJob &job) const override {
        return std::max(distance_scratch(job), voronoi::exclaves_scratch(job));
    }
    void voronoi(const VoronoiJob &job, void *scratch, const Progress &progress) override {
        VoronoiJob indices = job;
        indices.values = {};
        distance(indices, scratch, progress ? [&](double done) { progress(0.8 * done); } : Progress());
        voronoi::hide_exclaves(job, scratch, *arena_, progress);
        if (job.values) write_labels(job.nearest, job.values, *arena_);
    }
    size_t components_scratch(const ComponentsJob &job) const override {
        if (job.method == APSIS_TILE_FILL) return published::tile_fill_scratch(job);
        return components::components_scratch(job, arena_->threads());
    }
    void components(const ComponentsJob &job, void *scratch, const Progress &progress) override {
        if (job.method == APSIS_TILE_FILL) return published::tile_fill(job, scratch, *arena_, progress);
        components::find_components(job, scratch, *arena_, progress);
    }
    size_t geodesic_scratch(const GeodesicJob &job) const override { return paths::geodesic_scratch(job, arena_->threads()); }
    void geodesic(const GeodesicJob &job, void *scratch, const Progress &progress) override {
        paths::geodesic(job, scratch, *arena_, progress);
        if (job.values) write_labels(job.nearest, job.values, *arena_);
    }
    size_t eccentricity_scratch(const EccentricityJob &job) const override {
        return paths::eccentricity_scratch(job, arena_->threads());
    }
    void eccentricity(const EccentricityJob &job, void *scratch, const Progress &progress) override {
        paths::eccentricity(job, scratch, *arena_, progress);
    }
    size_t statistics_scratch(const StatisticsJob &job) const override {
        return labels::statistics_scratch(job, arena_->threads());
    }
    void statistics(const StatisticsJob &job, void *scratch, const Progress &progress) override {
        labels::statistics(job, scratch, *arena_, progress);
    }
    size_t contacts_scratch(const ContactsJob &job) const override { return labels::contacts_scratch(job, arena_->threads()); }
    void contacts(const ContactsJob &job, void *scratch, const Progress &progress) override {
        labels::contacts(job, scratch, *arena_, progress);
    }
    void keep_labels(const View &mask, const View &labels, const View &result) override {
        cpu::keep_labels(mask, labels, result, *arena_);
    }
    size_t surface_scratch(const SurfaceJob &job) const override { return surfaces::surface_scratch(job); }
    bool mark_surface(const SurfaceJob &job, void *scratch) override { return surfaces::mark_surface(job, scratch, *arena_); }
    bool count_points(const SurfaceJob &job, void *) override { return surfaces::count_points(job, *arena_); }

  private:
    std::string name_;
    std::unique_ptr<Arena> arena_;
};

}  // namespace

}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<cpu::CpuBackend>(); }

}  // namespace apsis
