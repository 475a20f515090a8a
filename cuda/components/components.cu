// Connected components on the device, step by step.  Tiles are labelled in shared memory (label_rows.cu, label_row_pairs.cu)
// and joined along their rims (merge.cu); components are selected (select.cu), numbered by a scan, measured (statistics.cu),
// and their labels written (write.cu).
//
// Chosen for every call on components, unless the job asks for a published method.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the labels out.  In between 3/4 byte a pixel, most of it in the second cache.
#include <optional>

#include "cuda/runtime/cub.h"  // before CUB's other headers

#include "cuda/components/measure.cuh"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::components {

namespace {

/// The sizes of a job's tiles; their memory is still missing.
Tiles shape_tiles(const ComponentsJob &job, const Plan &plan) {
    Tiles tiles = {};
    tiles.width = job.set.size[0], tiles.height = job.set.size[1], tiles.depth = job.set.size[2];
    tiles.across = plan.across, tiles.down = plan.down, tiles.deep = plan.deep;
    tiles.kept_words = plan.kept_words, tiles.most_kept_parts = plan.most_kept_parts, tiles.has_nodes = plan.has_nodes;
    if (plan.stores_roots) tiles.root_store = job.labels;
    return tiles;
}

template <class Tile>
void carve_tiles(const ComponentsJob &job, const Plan &plan, Tiles &tiles, Carver &carver) {
    const int64_t count = tiles.count(), nodes = tiles.has_nodes ? count << Tile::NODE_BITS : 0;
    tiles.bits = carver.take<uint32_t>(count * tiles.kept_words);
    tiles.firsts = carver.take<uint32_t>(count * tiles.kept_words);
    tiles.firsts_before = carver.take<uint32_t>(tiles.tile_rows() + 1);
    tiles.nodes = carver.take<uint32_t>(tiles.has_nodes ? count : 0);
    tiles.kept_part_count = carver.take<uint32_t>(count);
    tiles.measured_again = carver.take<uint32_t>(count + 1);
    tiles.sums = carver.take<PackedSums>(count * tiles.most_kept_parts);
    tiles.parent = carver.take<uint32_t>(nodes);
    const auto lowest = carver.take<uint32_t>(plan.links_at_random ? nodes : 0);  // taken even if it goes unused: components
    tiles.lowest = plan.links_at_random && !job.components ? lowest : nullptr;    // are found where their roots are
    tiles.area = carver.take<unsigned long long>(job.selects() ? nodes : 0);
    tiles.first = carver.take<uint16_t>(nodes);
    tiles.rim = carver.take<uint16_t>(tiles.has_nodes ? count * Tile::RIM_ROWS * Tile::WORDS * SLOTS_PER_WORD : 0);
    tiles.side = carver.take<uint16_t>(tiles.has_nodes ? count * 2 * Tile::ROWS * Tile::PLANES : 0);
    tiles.side_bits = carver.take<uint32_t>(tiles.has_nodes ? count * 2 * Tile::ROWS * Tile::PLANES / WARP : 0);
}

/// Scans the counts of first pixels of tile rows: each becomes the number of first pixels before.  Without memory, returns the
/// bytes that it needs.
size_t scan_firsts(const Tiles &tiles, void *memory, size_t bytes, cudaStream_t stream) {
    const CallersError callers;
    check(cub::DeviceScan::ExclusiveSum(memory, bytes, tiles.firsts_before, tiles.firsts_before, tiles.tile_rows() + 1, stream),
          "scanning");
    return bytes;
}

/// The scratch memory of a job.
struct Scratch {
    Tiles tiles;
    void *select;
    void *scan;
    size_t scan_bytes;
    apsis_component *window;  // components that are measured at once
    int64_t window_size;      // components in the window
    size_t bytes;

    Scratch(const ComponentsJob &job, const Plan &plan, void *memory) : tiles(shape_tiles(job, plan)) {
        constexpr int64_t SHARE = 1024, LEAST = 1024;  // a component for so many pixels: 1/11 byte a pixel
        Carver carver(memory);
        with_tile(plan, [&](auto tile) { carve_tiles<decltype(tile)>(job, plan, tiles, carver); });
        select = carver.take<uint8_t>(static_cast<int64_t>(select_bytes(job)));
        scan_bytes = scan_firsts(tiles, nullptr, 0, nullptr);
        scan = carver.take<uint8_t>(static_cast<int64_t>(scan_bytes));
        window_size = std::max(job.set.pixels() / SHARE, LEAST);
        window = carver.take<apsis_component>(window_size);
        bytes = carver.used();
    }
};

/// The number of components, on its way from the device.
class ComponentCount {
  public:
    ComponentCount(const Tiles &tiles, HostNumber *number, cudaStream_t stream)
        : from_(tiles.firsts_before + tiles.tile_rows()),
          number_(number),
          stream_(stream) {
        if (number_) number_->ask(from_, stream_);
    }
    /// Waits for the number.
    int64_t read() const {
        if (number_) return number_->wait();
        uint32_t count = 0;
        check(cudaMemcpyAsync(&count, from_, sizeof count, cudaMemcpyDeviceToHost, stream_), "reading the count");
        check(cudaStreamSynchronize(stream_), "waiting for the count");
        return count;
    }

  private:
    const uint32_t *from_;
    HostNumber *number_;
    cudaStream_t stream_;
};

/// Measures components, a window at a time.  The first window is measured while the host waits for the number of components.
void measure(const ComponentsJob &job, const Plan &plan, const Scratch &scratch, const ComponentCount &count,
             cudaStream_t stream) {
    int64_t end = job.capacity;
    for (int64_t from = 0, next; from < end; from = next) {
        next = std::min(from + scratch.window_size, end);
        measure_components(plan, scratch.tiles, scratch.window, from, next - from, stream);
        end = std::min(end, count.read());
        const int64_t here = std::min(next, end) - from;
        if (here > 0)
            check(cudaMemcpyAsync(job.components + from, scratch.window, static_cast<size_t>(here) * sizeof(apsis_component),
                                  cudaMemcpyDeviceToHost, stream),
                  "reading components");
    }
}

}  // namespace

size_t components_scratch(const ComponentsJob &job) { return Scratch(job, plan_of(job), nullptr).bytes; }

void find_components(const ComponentsJob &job, void *memory, cudaStream_t stream, const Progress &progress,
                     HostNumber *number) {
    const Plan plan = plan_of(job);
    const Scratch scratch(job, plan, memory);
    Tiles tiles = scratch.tiles;
    if (plan.counts_alone) tiles.count_only = tiles.firsts_before + tiles.tile_rows();
    find_parts(job, plan, tiles, stream);
    report(progress, 0.4, stream);
    if (tiles.has_nodes) join_nodes(plan, tiles, stream);
    if (job.selects()) select_components(job, plan, tiles, scratch.select, stream);
    if (!plan.counts_alone) scan_firsts(tiles, scratch.scan, scratch.scan_bytes, stream);
    report(progress, 0.6, stream);
    std::optional<ComponentCount> count;
    if (job.count || job.components) count.emplace(tiles, number, stream);
    if (job.components) measure(job, plan, scratch, *count, stream);
    if (job.labels) write_labels(job, plan, tiles, stream);
    if (job.count) *job.count = count->read();
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::components
