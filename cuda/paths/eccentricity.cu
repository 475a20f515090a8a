// apsis_eccentricity on the device.
//
// Pixels get ranks by component (ranks.h).  Small components are solved many at a time, with a field from each of their pixels
// (small_components.cuh).  Other components are solved side by side by pair bounds (pair_bounds.cuh), and so are small ones if
// the budget of fields is too low.  APSIS_EVERY_SOURCE makes a field from every pixel instead (every_source.cuh).
//
// Lengths have 32 bits where steps are small numbers.  If a path of some component is too long for that, all is done again with
// 64.
//
// Memory: some 200 bytes a pixel, most of it for the lengths from hubs.
#include "cuda/paths/every_source.cuh"
#include "cuda/paths/pair_bounds.cuh"
#include "cuda/paths/small_components.cuh"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::paths {

namespace {

/// How components are solved: classes of small ones by size, and behind them the class for pair bounds.
struct SizeClasses {
    int64_t budget;
    uint32_t small;  // the largest size of a small component

    /// Pair bounds take at most twice as many fields as there are pixels: such a budget does not run out.
    __device__ bool is_small(uint32_t size) const {
        return size <= small && (size <= TINY_SIZE ? size : 2 * int64_t(size)) <= budget;
    }
    __device__ int class_of(uint32_t size) const {
        if (!is_small(size)) return SIZE_CLASSES;
        int of = 0;
        while (of < SIZE_CLASSES && size > SMALLEST_CLASS << of) ++of;
        return of;
    }
};

struct ClassCounts {
    uint32_t of[SIZE_CLASSES + 1], largest;  // components of each class; pixels of the largest small one
};

/// Counts the components of each class, or lists them, each class from its `next` on; those for pair bounds in `found`.
template <bool LISTS>
__global__ void __launch_bounds__(BLOCK) sort_components(const uint32_t *start, uint32_t components, SizeClasses classes,
                                                         ClassCounts *next, uint32_t *list, ComponentRange *found) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % WARP;
    const uint32_t begin = i < components ? start[i] : 0, size = i < components ? start[i + 1] - begin : 0;
    const int own = i < components ? classes.class_of(size) : -1;
    for (int each = 0; each <= SIZE_CLASSES; ++each) {
        const uint32_t place = take_places(&next->of[each], own == each);
        if (!LISTS || own != each) continue;
        if (each < SIZE_CLASSES)
            list[place] = i;
        else
            found[place] = {i, begin, size};
    }
    const uint32_t largest = greatest_of_warp(classes.is_small(size) ? size : 0);
    if (!LISTS && lane == 0 && largest > 0) atomicMax(&next->largest, largest);
}

/// Describes small components; a warp has one.
template <class Length>
__global__ void __launch_bounds__(BLOCK)
    describe_components(Ranks ranks, LowerBounds<Length> bounds, Steps steps, uint32_t first, uint32_t count,
                        SizeClasses classes, apsis_extent *extents) {
    const uint32_t i = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    if (i >= count) return;
    const uint32_t begin = ranks.start[first + i], end = ranks.start[first + i + 1];
    if (!classes.is_small(end - begin)) return;
    Largest<Length> longest, least;  // `least` is counted down
    uint32_t lowest = NO_PIXEL;
    for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) {
        const uint32_t pixel = ranks.pixel[rank];
        longest.raise({bounds.lower[rank], pixel});
        least.raise({counted_down(bounds.lower[rank]), pixel});
        lowest = min(lowest, pixel);
    }
    longest = longest.of_warp(), least = least.of_warp(), lowest = least_of_warp(lowest);
    if (threadIdx.x % WARP > 0) return;
    extents[i] = {lowest,
                  {longest.pixel, bounds.farthest[ranks.rank[longest.pixel]]},
                  least.pixel,
                  real_length(steps, static_cast<double>(longest.value)),
                  real_length(steps, static_cast<double>(counted_down(least.value))),
                  0};
}

/// Writes the outputs, a thread a pixel.
template <class Length>
__global__ void __launch_bounds__(BLOCK)
    write_pixels(Ranks ranks, LowerBounds<Length> bounds, View eccentricity, View farthest, Steps steps) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= ranks.raster.pixels()) return;
    const Raster::Place at = ranks.raster.place(i);
    const uint32_t rank = ranks.rank[i];
    const bool is_member = rank != NO_PIXEL;
    if (eccentricity)
        with_pixel(eccentricity.type, [&](auto pixel) {
            using Pixel = decltype(pixel);
            put(eccentricity, eccentricity.row(at.y, at.z), at.x,
                is_member ? length_pixel<Pixel>(steps, bounds.lower[rank]) : Pixel(-1));
        });
    if (farthest)
        with_index(farthest.type, [&](auto pixel) {
            put(farthest, farthest.row(at.y, at.z), at.x,
                static_cast<decltype(pixel)>(is_member ? int64_t(bounds.farthest[rank]) : -1));
        });
}

template <class Length>
class Eccentricity {
  public:
    Eccentricity(const EccentricityJob &job, const EccentricityPlan &plan, void *memory)
        : job_(job),
          plan_(plan),
          ranks_{raster_of(job.set)} {
        constexpr int64_t SHARE = 1024, LEAST = 1024;  // an extent for so many pixels: 1/18 byte a pixel
        const int64_t pixels = job.set.pixels(), starts = job.most_components() + 1;
        Carver carver(memory);
        ranks_.pixel = carver.take<uint32_t>(pixels);
        ranks_.rank = carver.take<uint32_t>(pixels);
        ranks_.start = carver.take<uint32_t>(starts);
        list_ = carver.take<uint32_t>(starts);
        spare_ = carver.take<uint32_t>(pixels);
        bounds_ = {carver.take<Length>(pixels), carver.take<uint32_t>(pixels)};
        room_ = std::max(pixels / SHARE, LEAST);
        extents_ = carver.take<apsis_extent>(room_);
        counts_ = carver.take<ClassCounts>(1);
        const size_t pairs = PairBounds<Length, false>(job, ranks_, bounds_, nullptr, nullptr, nullptr).bytes(),
                     own = plan.is_every_source
                               ? every_source_bytes<Length>(job)
                               : std::max({pairs, sizeof(ComponentRange) * static_cast<size_t>(starts), classes_bytes(job)});
        memory_ = carver.take<uint8_t>(static_cast<int64_t>(std::max(ranking_bytes(job), own)));
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    void run(cudaStream_t stream, const Progress &progress, HostNumber *number) {
        stream_ = stream;
        progress_ = &progress;
        number_ = number;
        components_ = rank_pixels(job_, ranks_, spare_, memory_, stream, within(0, 0.05), number);
        report(progress, 0.1, stream);
        *job_.report = {components_, 0, 0, 0, 0, 0};
        if (plan_.is_every_source)
            solve_every_pixel();
        else
            solve();
        launch("write_pixels", write_pixels<Length>, ceil_div(job_.set.pixels(), BLOCK), BLOCK, stream, ranks_, bounds_,
               job_.eccentricity, job_.farthest, job_.steps);
        if (job_.count) *job_.count = components_;
        report(progress, 1, stream);
    }

  private:
    uint32_t count() const { return static_cast<uint32_t>(components_); }

    /// The progress of a part of the work.
    Progress within(double from, double to) const {
        if (!*progress_) return {};
        return [this, from, to](double done) { (*progress_)(from + done * (to - from)); };
    }

    template <class Item>
    void read(Item *to, const Item *from, size_t items) const {
        check(cudaMemcpyAsync(to, from, items * sizeof(Item), cudaMemcpyDeviceToHost, stream_), "reading components");
        check(cudaStreamSynchronize(stream_), "waiting for components");
    }

    void solve_every_pixel() {
        const SizeClasses all = {INT64_MAX, UINT32_MAX};
        const uint32_t largest = count_classes(all).largest;
        solve_every_source(job_, ranks_, count(), largest, bounds_, memory_, stream_, within(0.1, 0.9));
        job_.report->most_fields = largest;
        job_.report->fields = count_members();
        describe_small(all);
    }

    int64_t count_members() const {
        uint32_t first = 0;
        read(&first, ranks_.start, 1);
        return job_.set.pixels() - first;
    }

    // ---- Small components, and pair bounds ----

    void solve() {
        const SizeClasses classes = {job_.budget, MOST_SMALL<Length>};
        const ClassCounts counts = count_classes(classes);
        std::vector<ComponentRange> found = list_classes(classes, counts);
        uint32_t first = 0;
        for (int i = 0; i < SIZE_CLASSES; first += counts.of[i++])
            solve_small(job_, plan_.small[sizeof(Length) == 8][i], ranks_, list_ + first, counts.of[i], SMALLEST_CLASS << i,
                        bounds_, stream_);
        describe_small(classes);
        int64_t rest = 0;
        for (const ComponentRange &each : found) rest += each.size;
        const int64_t members = count_members();
        *job_.report = {components_, members - rest, counts.largest, rest, 0, 0};
        const std::vector<size_t> ends = sort_by_class(job_, ranks_, found, memory_, stream_, *number_);
        job_.has_farthest ? solve_pairs<true>(found, ends, members - rest, members)
                          : solve_pairs<false>(found, ends, members - rest, members);
    }

    template <bool LISTS>
    void sort(const SizeClasses &classes) {
        launch("sort_components", sort_components<LISTS>, ceil_div(components_, BLOCK), BLOCK, stream_, ranks_.start, count(),
               classes, counts_, list_, reinterpret_cast<ComponentRange *>(memory_));
    }

    ClassCounts count_classes(const SizeClasses &classes) {
        ClassCounts counts;
        check(cudaMemsetAsync(counts_, 0, sizeof counts, stream_), "counting components");
        sort<false>(classes);
        read(&counts, counts_, 1);
        return counts;
    }

    /// Lists the small components by class, and returns the others.
    std::vector<ComponentRange> list_classes(const SizeClasses &classes, const ClassCounts &counts) {
        ClassCounts next = {};
        for (int i = 1; i < SIZE_CLASSES; ++i) next.of[i] = next.of[i - 1] + counts.of[i - 1];
        check(cudaMemcpyAsync(counts_, &next, sizeof next, cudaMemcpyHostToDevice, stream_), "listing components");
        sort<true>(classes);
        std::vector<ComponentRange> found(counts.of[SIZE_CLASSES]);
        read(found.data(), reinterpret_cast<const ComponentRange *>(memory_), found.size());
        std::sort(found.begin(), found.end(),
                  [](const ComponentRange &a, const ComponentRange &b) { return a.component < b.component; });
        return found;
    }

    template <bool FARTHEST>
    void solve_pairs(const std::vector<ComponentRange> &found, const std::vector<size_t> &ends, int64_t done, int64_t members) {
        EccentricityJob::Report &report = *job_.report;
        const int64_t before = report.fields;
        const auto on_turn = [&](int64_t fields, int64_t proved) {
            report.fields = before + fields;
            report.open = members - done - proved;
            cuda::report(*progress_, 0.1 + 0.8 * static_cast<double>(done + proved) / static_cast<double>(members), stream_);
        };
        const auto real = [&](Length length) { return real_length(job_.steps, static_cast<double>(length)); };
        const auto on_done = [&](uint32_t number, const ComponentState<Length> &component) {
            report.most_fields = std::max(report.most_fields, component.fields);
            report.unproved += component.stage != PROVEN;
            report.gap = std::max(report.gap, real(component.gap));
            if (number >= job_.capacity) return;
            job_.extents[number] = {component.lowest,
                                    {component.end.pixel, component.other_end},
                                    component.centre.pixel,
                                    real(component.end.value),
                                    real(component.centre.value),
                                    real(component.gap)};
        };
        PairBounds<Length, FARTHEST>(job_, ranks_, bounds_, spare_, memory_, stream_)
            .solve(found, ends, members, on_turn, on_done);
    }

    void describe_small(const SizeClasses &classes) {
        const int64_t wanted = std::min(components_, job_.capacity);
        for (int64_t first = 0; first < wanted; first += room_) {
            const int64_t here = std::min(room_, wanted - first);
            launch("describe_components", describe_components<Length>, ceil_div(here, WARPS), BLOCK, stream_, ranks_, bounds_,
                   job_.steps, static_cast<uint32_t>(first), static_cast<uint32_t>(here), classes, extents_);
            read(job_.extents + first, extents_, static_cast<size_t>(here));
        }
    }

    EccentricityJob job_;
    EccentricityPlan plan_;
    Ranks ranks_;
    LowerBounds<Length> bounds_;
    uint32_t *list_, *spare_;
    apsis_extent *extents_;
    int64_t room_;  // extents that memory has room for
    ClassCounts *counts_;
    uint8_t *memory_;
    size_t bytes_;
    cudaStream_t stream_ = nullptr;
    const Progress *progress_ = nullptr;
    HostNumber *number_ = nullptr;
    int64_t components_ = 0;
};

}  // namespace

size_t eccentricity_scratch(const EccentricityJob &job) {
    const EccentricityPlan plan = plan_of(job);
    return std::max(plan.may_be_short ? Eccentricity<int32_t>(job, plan, nullptr).bytes() : 0,
                    plan.may_be_long ? Eccentricity<int64_t>(job, plan, nullptr).bytes() : 0);
}

void eccentricity(const EccentricityJob &job, void *scratch, cudaStream_t stream, const Progress &progress,
                  HostNumber *number) {
    const EccentricityPlan plan = plan_of(job);
    double most = 0;  // does not go back when all is done again
    const Progress forward = [&](double done) { progress(most = std::max(most, done)); };
    const Progress forward_progress = progress ? forward : Progress();
    if (plan.may_be_short) {
        try {
            return Eccentricity<int32_t>(job, plan, scratch).run(stream, forward_progress, number);
        } catch (const TooLong &) {
        }
    }
    try {
        Eccentricity<int64_t>(job, plan, scratch).run(stream, forward_progress, number);
    } catch (const TooLong &) {
        throw Error(APSIS_ERROR_UNSUPPORTED, "a path is longer than 2^60 units of length");
    }
}

}  // namespace apsis::cuda::paths
