// Connected components on the device, step by step.  Tiles are labelled in shared memory (label_rows.cuh, label_row_pairs.cuh)
// and joined along their rims (merge.cuh); components are selected (select.cuh), numbered by a scan, measured (statistics.cuh),
// and their labels written (write.cuh).
//
// Chosen for every call on components, unless the job asks for a published method, is of a label image, has periodic axes
// (values.cu), or is for the labels of a small image (small_images.cu).
//
// Cost: 1 byte a pixel in (1/8 from bits) and the labels out.  In between 3/4 byte a pixel, most of it in the second cache.

#include "cuda/components/faces.cuh"
#include "cuda/components/label_row_pairs.cuh"
#include "cuda/components/label_rows.cuh"
#include "cuda/components/merge.cuh"
#include "cuda/components/select.cuh"
#include "cuda/components/small_images.h"
#include "cuda/components/statistics.cuh"
#include "cuda/components/values.h"
#include "cuda/components/write.cuh"
#include "cuda/runtime/progress.h"
#include "cuda/runtime/scan_and_sort.h"
#include "cuda/transforms.h"

namespace apsis::cuda::components {

namespace {

/// The scratch memory of a job, and its steps.
template <class Tile>
class Components {
  public:
    Components(const ComponentsJob &job, const Plan &plan, void *memory) : job_(job), plan_(plan) {
        constexpr int64_t SHARE = 1024, LEAST = 1024;  // a component for so many pixels: 1/11 byte a pixel
        Carver carver(memory);
        tiles_ = tiles_of<Tile>(job, plan, carver);
        if (plan.stores_roots) tiles_.root_store = job.labels;
        carve_parts(carver);
        search_ = carver.take<RankSearch>(job.largest < INT64_MAX ? 1 : 0);
        scan_bytes_ = scan_scratch(scanned());
        scan_ = carver.take<uint8_t>(static_cast<int64_t>(scan_bytes_));
        window_size_ = std::max(job.set.pixels() / SHARE, LEAST);
        window_ = carver.take<apsis_component>(window_size_);
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(cudaStream_t stream, const Progress &progress, HostNumber *number) {
        if (plan_.counts_alone) tiles_.count_only = tiles_.firsts_before + tiles_.tile_rows();
        if (!job_.is_found()) find(progress, stream);
        const Told told(job_, elsewhere_);
        if (job_.told.has_faces()) leave_elsewhere<Tile>(told, plan_, tiles_, stream);
        if (!plan_.counts_alone) scan(scan_, scan_bytes_, tiles_.firsts_before, numbers_before_, scanned(), "scanning", stream);
        tiles_.firsts_before = numbers_before_;
        report(progress, 0.6, stream);
        if (job_.count || job_.components) number->ask(tiles_.firsts_before + scanned() - 1, stream);
        if (job_.components) measure(*number, stream);
        if (job_.labels) write_labels<Tile>(job_, told, plan_, tiles_, stream);
        if (job_.first) write_end<Tile>(job_.first, false, plan_, tiles_, stream);
        if (job_.last) write_end<Tile>(job_.last, true, plan_, tiles_, stream);
        if (job_.count) *job_.count = number->wait();
        report(progress, 1, stream);
    }

  private:
    void carve_parts(Carver &carver) {
        const int64_t count = tiles_.count(), nodes = tiles_.has_nodes ? count << Tile::NODE_BITS : 0;
        tiles_.kept_part_count = carver.take<uint32_t>(count);
        tiles_.measured_again = carver.take<uint32_t>(count + 1);
        tiles_.sums = carver.take<PackedSums>(count * tiles_.most_kept_parts);
        // Taken even if it goes unused: components are found where their roots are.
        const auto lowest = carver.take<uint32_t>(plan_.links_at_random ? nodes : 0);
        tiles_.lowest = plan_.links_at_random && !job_.components ? lowest : nullptr;
        tiles_.area = job_.selects() ? carver.take<unsigned long long>(nodes) : nullptr;
        // A slab's memory up to here serves two jobs: to the second one faces tell what to leave out of the first one's counts.
        numbers_before_ = job_.is_slab() ? carver.take<uint32_t>(tiles_.tile_rows() + 2) : tiles_.firsts_before;
        elsewhere_ = job_.told.has_faces() ? carver.take<uint32_t>(nodes) : nullptr;
    }

    /// Finds and selects components: their first pixels, and how many there are in each row of a tile.
    void find(const Progress &progress, cudaStream_t stream) const {
        find_parts(stream);
        report(progress, 0.4, stream);
        if (tiles_.has_nodes) join_nodes<Tile>(plan_, tiles_, stream);
        if (job_.selects()) select_components<Tile>(job_, plan_, tiles_, search_, stream);
    }

    /// Labels the tiles and writes their nodes and first pixels; if components are wanted, also the sums of parts.
    void find_parts(cudaStream_t stream) const {
        if constexpr (Tile::PLANES == 1)
            if (plan_.by_row_pairs) return find_parts_by_row_pairs<Tile>(job_, plan_, tiles_, stream);
        find_parts_by_rows<Tile>(job_, plan_, tiles_, stream);
    }

    /// How many counts of first pixels of tile rows are scanned.
    int64_t scanned() const { return tiles_.tile_rows() + (job_.told.has_faces() ? 2 : 1); }

    /// Measures components, a window at a time.  The first window is measured while the host waits for the number of
    /// components.
    void measure(const HostNumber &count, cudaStream_t stream) const {
        int64_t end = job_.capacity;
        for (int64_t from = 0, next; from < end; from = next) {
            next = std::min(from + window_size_, end);
            measure_components<Tile>(job_, plan_, tiles_, window_, from, next - from, stream);
            end = std::min<int64_t>(end, count.wait());
            const int64_t here = std::min(next, end) - from;
            if (here > 0)
                check(cudaMemcpyAsync(job_.components + from, window_, static_cast<size_t>(here) * sizeof(apsis_component),
                                      cudaMemcpyDeviceToHost, stream),
                      "reading components");
        }
    }

    const ComponentsJob &job_;
    const Plan &plan_;
    Tiles tiles_ = {};
    uint32_t *numbers_before_;  // tiles_.firsts_before after the scan
    uint32_t *elsewhere_;       // (faces.cuh)
    RankSearch *search_;
    void *scan_;
    size_t scan_bytes_;
    apsis_component *window_;  // components that are measured at once
    int64_t window_size_;      // components in the window
    size_t bytes_;
};

}  // namespace

size_t components_scratch(const ComponentsJob &job) {
    if (job.by_value || job.periodic.any()) return value_components_scratch(job);
    const Plan plan = plan_of(job);
    const size_t bytes = with_tile(plan, [&](auto tile) { return Components<decltype(tile)>(job, plan, nullptr).bytes(); });
    return std::max(bytes, small_image_scratch(job));  // the same whatever is wanted of the image
}

void find_components(const ComponentsJob &job, void *memory, cudaStream_t stream, const Progress &progress,
                     HostNumber *number) {
    if (job.by_value || job.periodic.any()) return find_value_components(job, memory, stream, progress, number);
    if (const Plan small = small_image_plan_of(job); small.is_small_image && is_for_labels(job))
        return label_small_image(job, small, memory, stream, progress, number);
    const Plan plan = plan_of(job);
    with_tile(plan, [&](auto tile) { Components<decltype(tile)>(job, plan, memory).run(stream, progress, number); });
}

}  // namespace apsis::cuda::components
