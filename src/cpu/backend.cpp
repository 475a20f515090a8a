// The CPU back end: memory, threads, and where each transform lives.
#include <algorithm>
#include <string>

#include "cpu/components.h"
#include "cpu/distance.h"
#include "cpu/eccentricity.h"
#include "cpu/geodesic.h"
#include "cpu/parallel.h"
#include "cpu/rows.h"
#include "cpu/voronoi.h"
#include "image.h"
#include "platform.h"

namespace apsis {
namespace {

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
    void copy(const View &from, const View &to) override { copy_pixels(from, to); }

    void set_stream(CUstream_st *stream) override {
        if (stream) throw Error(APSIS_ERROR_ARGUMENT, "stream is not NULL, but the context is a CPU one");
    }
    CUstream_st *stream() const override { return nullptr; }
    void sync() override {}
    void set_threads(int threads) override {
        const int most = Arena::cores();
        arena_ = std::make_unique<Arena>(threads ? std::min(threads, most) : most);
    }

    size_t distance_scratch(const DistanceJob &job) const override {
        return cpu::distance_scratch(job, arena_->threads());
    }
    void distance(const DistanceJob &job, void *scratch, const Progress &progress) override {
        cpu::distance(job, scratch, *arena_, progress);
    }
    size_t summary_scratch(const SummaryJob &job) const override { return cpu::summary_scratch(job); }
    void summary(const SummaryJob &job, void *scratch, const Progress &progress) override {
        cpu::summary(job, scratch, *arena_, progress);
    }
    size_t voronoi_scratch(const VoronoiJob &job) const override {
        return std::max(distance_scratch(job), cpu::exclaves_scratch(job));
    }
    void voronoi(const VoronoiJob &job, void *scratch, const Progress &progress) override {
        distance(job, scratch, progress ? [&](double done) { progress(0.8 * done); } : Progress());
        cpu::hide_exclaves(job, scratch, *arena_, progress);
    }
    size_t components_scratch(const ComponentsJob &job) const override {
        return cpu::components_scratch(job, arena_->threads());
    }
    void components(const ComponentsJob &job, void *scratch, const Progress &progress) override {
        cpu::components(job, scratch, *arena_, progress);
    }
    size_t geodesic_scratch(const GeodesicJob &job) const override {
        return cpu::geodesic_scratch(job, arena_->threads());
    }
    void geodesic(const GeodesicJob &job, void *scratch, const Progress &progress) override {
        cpu::geodesic(job, scratch, *arena_, progress);
    }
    size_t eccentricity_scratch(const EccentricityJob &job) const override {
        return cpu::eccentricity_scratch(job, arena_->threads());
    }
    void eccentricity(const EccentricityJob &job, void *scratch, const Progress &progress) override {
        cpu::eccentricity(job, scratch, *arena_, progress);
    }

  private:
    std::string name_;
    std::unique_ptr<Arena> arena_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace apsis
