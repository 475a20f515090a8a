// Connected components of label images on the device, step by step: values.cuh has the method and its cost.
//
// Chosen for jobs by value, and for those with periodic axes, in which a set becomes a label image of one value: of a set only
// those parts of tiles are known that go on in another tile.

#include "cuda/components/values.h"

#include "core/label_values.h"
#include "cuda/components/seam.cuh"
#include "cuda/components/value_faces.cuh"
#include "cuda/runtime/progress.h"
#include "cuda/runtime/scan_and_sort.h"

namespace apsis::cuda::components {

namespace {

/// Calls body(values) with what says which values of a job are connected.
template <class Body>
void with_values(const ComponentsJob &job, Body body) {
    if (job.by_delta() && job.set.type == APSIS_F32) return body(Near<float>{job.delta});
    if (job.by_delta()) return body(Near<int32_t>{job.whole_delta()});
    with_label_type(job.set.type, [&](auto pixel) { body(Equal<decltype(pixel)>()); });
}

/// The scratch memory of a job, and its steps.
class ValueComponents {
  public:
    ValueComponents(const ComponentsJob &job, void *memory) : job_(job), carver_(memory) {
        constexpr int64_t SHARE = 32, LEAST = 1024;  // a component for so many pixels: 3 bytes a pixel
        plan_ = value_plan_of(job);
        if (!job.by_value) take_members();
        const int64_t pixels = job.set.pixels(), words = ceil_div(job.set.size[0], WARP);
        image_.set = job_.set;
        image_.words = static_cast<uint32_t>(words), image_.height = static_cast<uint32_t>(job.set.size[1]);
        image_.total = static_cast<uint32_t>(words * job.set.size[1] * job.set.size[2]);
        image_.across = plan_.across, image_.down = plan_.down;
        image_.tile = carver_.take<PartsOfTile>(plan_.label.blocks);
        image_.parent = carver_.take<uint32_t>(pixels);
        image_.first = carver_.take<uint32_t>(pixels);
        image_.back = carver_.take<uint16_t>(pixels);
        for (uint32_t **each : {&image_.bits, &image_.starts, &image_.runs, &image_.firsts})
            *each = carver_.take<uint32_t>(image_.total);
        image_.before = carver_.take<uint32_t>(scanned());
        image_.area = carver_.take<unsigned long long>(job.selects() ? pixels : 0);
        elsewhere_ = job.told.has_faces() ? carver_.take<uint32_t>(pixels) : nullptr;
        search_ = carver_.take<RankSearch>(job.largest < INT64_MAX ? 1 : 0);
        scan_bytes_ = scan_scratch(scanned());
        scan_ = carver_.take<uint8_t>(static_cast<int64_t>(scan_bytes_));
        window_size_ = std::max(pixels / SHARE, LEAST);
        window_ = carver_.take<apsis_component>(window_size_);
        unused_ = carver_.take<uint32_t>(1);
    }

    size_t bytes() const { return carver_.used(); }

    void run(cudaStream_t stream, const Progress &progress, HostNumber *number) {
        if (set_)
            launch("write_members", write_members, ceil_div(set_.pixels(), BLOCK), BLOCK, stream, set_, job_.complement,
                   image_.set);
        with_value_tile(job_.axes, job_.connectivity, [&](auto tile) {
            with_values(job_, [&](auto values) { find_parts<decltype(tile)>(values, stream); });
        });
        launch("find_value_roots", find_value_roots, plan_.label.blocks, BLOCK, stream, image_);
        if (job_.selects()) select(stream);
        const Told told(job_, elsewhere_);
        if (elsewhere_) leave_elsewhere(told, stream);
        report(progress, 0.5, stream);
        scan(scan_, scan_bytes_, image_.before, image_.before, scanned(), "scanning", stream);
        if (job_.components || job_.labels || job_.first || job_.last)
            launch("number_value_parts", number_value_parts, plan_.label.blocks, BLOCK, stream, image_, elsewhere_);
        if (job_.count || job_.components) number->ask(image_.before + scanned() - 1, stream);
        if (job_.components) measure(*number, stream);
        for (const bool is_last : {false, true})
            if (const View &face = is_last ? job_.last : job_.first) {
                const EndWords words(image_, is_volume(), is_last);
                launch("write_value_face", write_value_face, ceil_div(words.count, WARPS), BLOCK, stream, image_, words,
                       is_volume(), face);
            }
        if (job_.labels) job_.told.is_any ? write(told, stream) : write(OwnNumbers(), stream);
        if (job_.count) *job_.count = number->wait();
        report(progress, 1, stream);
    }

  private:
    /// Makes of the job's set a label image.
    void take_members() {
        set_ = job_.set;
        job_.set.type = APSIS_U8;
        job_.set.data = carver_.take<uint8_t>(set_.pixels());
        job_.set.stride[0] = 1, job_.set.stride[1] = set_.size[0], job_.set.stride[2] = set_.size[0] * set_.size[1];
        job_.by_value = true;
    }

    /// The words, and a count of components that begin in other slabs; behind it, after the scan, that of all.
    int64_t scanned() const { return int64_t(image_.total) + (job_.told.has_faces() ? 2 : 1); }
    bool is_volume() const { return job_.axes == 3; }

    /// Leaves out the components that begin in other slabs.
    void leave_elsewhere(const Told &told, cudaStream_t stream) const {
        for (const bool is_last : {false, true}) {
            const EndWords words(image_, is_volume(), is_last);
            if (told.face[is_last])
                launch("leave_marked_values", leave_marked_values, ceil_div(words.count, WARPS), BLOCK, stream, image_, words,
                       is_volume(), is_last, told);
        }
    }

    template <class Numbers>
    void write(const Numbers &numbers, cudaStream_t stream) const {
        if (plan_.packed_labels)
            return launch("write_value_packs", write_value_packs<Numbers>, ceil_div(blocks(), WRITTEN_WORDS), BLOCK, stream,
                          image_, job_.labels, numbers);
        launch("write_values", write_values<Numbers>, ceil_div(blocks(), WRITTEN_WORDS), BLOCK, stream, image_, job_.labels,
               job_.complement, numbers);
    }

    int64_t blocks() const { return ceil_div(image_.total, WARPS); }

    /// Labels the tiles and joins them.
    template <class Tile, class Values>
    void find_parts(const Values &values, cudaStream_t stream) const {
        launch(plan_.label, label_value_tile<Values, Tile>, stream, image_, values);
        launch(plan_.join, join_value_tile<Values, Tile>, stream, image_, values);
        join_seams(job_, image_, values, stream);
    }

    void select(cudaStream_t stream) const {
        const Criteria criteria(job_);
        const size_t bytes = static_cast<size_t>(job_.set.pixels()) * sizeof *image_.area;
        check(cudaMemsetAsync(image_.area, 0, bytes, stream), "clearing areas");
        launch("sum_value_areas", sum_value_areas, blocks(), BLOCK, stream, image_, criteria);
        launch("drop_unwanted_values", drop_unwanted_values, blocks(), BLOCK, stream, image_, criteria);
        if (job_.largest == INT64_MAX) return;
        const int64_t images = job_.axes == 2 ? job_.set.size[2] : 1;
        const uint32_t each = static_cast<uint32_t>(image_.total / images);
        for (int64_t i = 0; i < images; ++i) keep_largest_values(criteria, static_cast<uint32_t>(i) * each, each, stream);
    }

    /// Keeps the largest components of `count` words, those of an image.
    void keep_largest_values(const Criteria &criteria, uint32_t from, uint32_t count, cudaStream_t stream) const {
        const uint32_t end = from + count;
        const int64_t few = std::min(ceil_div(count, WARPS), MOST_MEASURING_BLOCKS);
        check(cudaMemsetAsync(search_, 0, sizeof *search_, stream), "beginning a search");
        for (int shift = (criteria.key_bits + bits_below(job_.set.pixels() + 1)) / DIGIT_BITS * DIGIT_BITS; shift >= 0;
             shift -= DIGIT_BITS) {
            launch("count_value_digits", count_value_digits, few, BLOCK, stream, image_, criteria, from, end, shift, search_);
            launch("choose_digit", choose_digit<CHOOSE_THREADS>, 1, CHOOSE_THREADS, stream, shift, job_.largest, search_);
        }
        launch("drop_lower_value_ranks", drop_lower_value_ranks, ceil_div(count, WARPS), BLOCK, stream, image_, criteria, from,
               end, search_);
    }

    /// Measures components, a window at a time.  The first one is measured while the host waits for their number.
    void measure(const HostNumber &count, cudaStream_t stream) const {
        int64_t end = job_.capacity;
        for (int64_t from = 0, next; from < end; from = next) {
            next = std::min(from + window_size_, end);
            measure_window(from, next - from, stream);
            end = std::min<int64_t>(end, count.wait());
            const int64_t here = std::min(next, end) - from;
            if (here > 0)
                check(cudaMemcpyAsync(job_.components + from, window_, static_cast<size_t>(here) * sizeof(apsis_component),
                                      cudaMemcpyDeviceToHost, stream),
                      "reading components");
        }
    }

    void measure_window(int64_t from, int64_t count, cudaStream_t stream) const {
        const Window window = {reinterpret_cast<ComponentSums *>(window_), static_cast<uint32_t>(from),
                               static_cast<uint32_t>(count), image_.before + image_.total};
        launch("clear_window", clear_window, ceil_div(count * ComponentSums::FIELDS, BLOCK), BLOCK, stream, window, unused_);
        launch("add_segments", add_segments, std::min(blocks(), MOST_MEASURING_BLOCKS), BLOCK, stream, image_, window);
        if (job_.set.type != APSIS_F32)  // then all are 1
            launch("tell_values", tell_values, ceil_div(count, BLOCK), BLOCK, stream, image_, window);
        end_window(job_, window, count, stream);
    }

    ComponentsJob job_;
    View set_;  // that of the job, if it is not by value; otherwise without data
    Carver carver_;
    ValueImage image_ = {};
    ValuePlan plan_;
    uint32_t *elsewhere_;  // [part]: codes of roots; null if no faces are told
    RankSearch *search_;
    void *scan_;
    size_t scan_bytes_;
    apsis_component *window_;  // components that are measured at once
    int64_t window_size_;
    uint32_t *unused_;  // clear_window() clears a count of tiles, too
};

}  // namespace

size_t value_components_scratch(const ComponentsJob &job) { return ValueComponents(job, nullptr).bytes(); }

void find_value_components(const ComponentsJob &job, void *memory, cudaStream_t stream, const Progress &progress,
                           HostNumber *number) {
    ValueComponents(job, memory).run(stream, progress, number);
}

}  // namespace apsis::cuda::components
