// Euclidean and city-block distance in images that close on themselves: of sets and of label images.  The back end takes it for
// every such map with a periodic axis.
//
// Axis by axis, from the last one on, every pixel takes the best candidate of its line, by the monotone search of lines.cuh.
// Beside a line along a periodic axis stand copies of it, half of one on each side: no nearest site is farther away.  A copy
// has the index of its original, and the lower index wins, so that copies change no tie.
//
// Of a label image the nearest pixel of another value on the line is one more candidate; docs/methods.md has the proof.  In a
// slab so are, along the last axis, the sites outside of it.
//
// Cost: 8 bytes a pixel, 16 with nearest pixels, read and written for each axis, and the search of lines twice as long.  Lines
// along y and z are read across rows.  Of a label image a thread has a line.
#include <utility>

#include "core/beyond.h"
#include "core/copies.h"
#include "cuda/distance/lines.cuh"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::distance {

namespace {

constexpr int64_t LONGEST_PERIODIC = LONGEST_AXIS / 2;  // so that 32 bits hold places on a line and its copies

/// The lines along an axis, and the copies beside each.
struct CopiedLines : Copies {
    int64_t width, slice;  // pixels of a row, and of a slice
    int64_t step;          // from a pixel to the next on a line
    int64_t lines;
    int axis;

    CopiedLines(const DistanceJob &job, int of_axis)
        : Copies(job.set.size[of_axis], job.is_closed(of_axis)),
          width(job.set.size[0]),
          slice(width * job.set.size[1]),
          step(of_axis == 0   ? 1
               : of_axis == 1 ? width
                              : slice),
          lines(job.set.pixels() / length),
          axis(of_axis) {
        if (job.is_closed(axis) && length > LONGEST_PERIODIC)
            throw Error(APSIS_ERROR_UNSUPPORTED, "set: size[%d] is %lld, too large for a periodic axis on a CUDA device", axis,
                        static_cast<long long>(length));
    }

    /// The first pixel of a line.
    __device__ int64_t first(int64_t line) const {
        return axis == 0 ? line * width : axis == 1 ? line / width * slice + line % width : line;
    }
    /// The pixel of a line of which there is a copy at some place.
    __device__ int64_t pixel(int64_t first, int64_t at) const { return first + original(at) * step; }
};

/// The best candidate of each pixel yet: its cost, and its index.
struct Candidates {
    int64_t *cost, *order;  // [pixel]

    /// Takes another one for a pixel, if it is better.
    __device__ void take(int64_t pixel, int64_t way, int64_t site) const {
        if (way > cost[pixel] || (way == cost[pixel] && (!order || site >= order[pixel]))) return;
        cost[pixel] = way;
        if (order) order[pixel] = site;
    }
};

template <class K>
struct PeriodicLines {
    static constexpr int64_t MOST_BLOCKS = cuda::MOST_BLOCKS;  // of a step
    CopiedLines copies;
    Candidates found;
    int64_t length;

    struct Line {
        const PeriodicLines &lines;
        int64_t first;

        __device__ Site<K> site(int32_t i) const {
            const int64_t pixel = lines.copies.pixel(first, i - lines.copies.before);
            if constexpr (K::ORDERED) return {lines.found.cost[pixel], lines.found.order[pixel]};
            return {lines.found.cost[pixel], 0};
        }
    };

    __device__ Line line(int64_t number, int64_t) const { return {*this, copies.first(number)}; }
    __device__ static constexpr bool is_settled() { return false; }
    __device__ static constexpr bool is_settled(int64_t, int64_t) { return false; }
};

/// Makes each site, or pixel of the background of a label image, its own candidate.
static __global__ void __launch_bounds__(BLOCK)
    begin_candidates(View set, bool labels, bool complement, int64_t first_index, Candidates found) {
    const int64_t i = first_item();
    if (i >= set.pixels()) return;
    const int64_t row = i / set.size[0], x = i % set.size[0];
    const uint8_t *const pixels = set.row(row % set.size[1], row / set.size[1]);
    const bool is_site = labels ? value_at(set, pixels, x) == 0 : is_set(set, pixels, x) != complement;
    found.cost[i] = is_site ? 0 : NO_COST<int64_t>;
    if (found.order) found.order[i] = first_index + i;
}

/// Finds the best candidate of every pixel on its line.  A warp takes 32 pixels.
template <class K>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
    search_copies(PeriodicLines<K> lines, Ruler<K> ruler, Level level, Candidates best) {
    const int lane = threadIdx.x % WARP;
    const int64_t shares = level.shares(), total = level.lines() * shares, step = item_step() / WARP;
    for (int64_t item = first_item() / WARP; item < total; item += step) {
        const int64_t line = item / shares, number = item % shares, at = number * WARP + lane - lines.copies.before;
        const Best<K> own = search_share<K>(lines, ruler, level, line, 0, number, lane);
        if (at < 0 || at >= lines.copies.length) continue;
        const int64_t pixel = lines.copies.pixel(lines.copies.first(line), at);
        best.cost[pixel] = min(own.cost, NO_COST<int64_t>);
        if constexpr (K::ORDERED) best.order[pixel] = own.order;
    }
}

/// Takes for the pixels of a label image the nearest ones of another value on their lines, if they are better.  A thread takes
/// a line.
template <class K>
__global__ void __launch_bounds__(BLOCK)
    take_run_ends(CopiedLines copies, View labels, int64_t first_index, Ruler<K> ruler, Candidates best) {
    const int64_t line = first_item();
    if (line >= copies.lines) return;
    const int64_t first = copies.first(line), end = copies.end();
    const auto value = [&](int64_t at) {
        const int64_t pixel = copies.pixel(first, at), row = pixel / copies.width;
        return value_at(labels, labels.row(row % labels.size[1], row / labels.size[1]), pixel % copies.width);
    };
    const auto walk = [&](int64_t from, int64_t to, int64_t step) {
        int64_t last = value(from), beyond = from;  // beyond: the last pixel of another value
        bool has_beyond = false;
        for (int64_t at = from + step; at != to; at += step) {
            const int64_t own = value(at);
            if (own != last) beyond = at - step, has_beyond = true;
            last = own;
            if (!has_beyond || at < 0 || at >= copies.length) continue;
            best.take(copies.pixel(first, at), ruler(static_cast<int32_t>(at - beyond)),
                      first_index + copies.pixel(first, beyond));
        }
    };
    walk(-copies.before, end, 1);
    walk(end - 1, -copies.before - 1, -1);
}

/// Takes for the pixels of a slab the sites of their columns outside of it, if they are better.
static __global__ void __launch_bounds__(BLOCK)
    take_beyond(View set, Beyond beyond, Measure measure, int axis, Candidates best) {
    const int64_t i = first_item();
    if (i >= set.pixels()) return;
    const auto take = [&](const Beyond::Found &site) {
        if (site.offset >= 0) best.take(i, axis_cost<int64_t>(measure.metric, measure.weight[axis], site.offset), site.index);
    };
    take(beyond.before(i % beyond.columns, i / beyond.columns));
    take(beyond.after(i % beyond.columns, i / beyond.columns));
}

static __global__ void __launch_bounds__(BLOCK) write_candidates(View set, Candidates found, Output output) {
    const int64_t i = first_item();
    if (i >= set.pixels()) return;
    const int64_t row = i / set.size[0];
    write_pixel(output, i % set.size[0], row % set.size[1], row / set.size[1], found.cost[i], found.cost[i] < NO_COST<int64_t>,
                found.order ? found.order[i] : 0);
}

struct Scratch {
    Candidates found[2];  // of the axes before, and with the next one
    int32_t *winners;
    int64_t *outside;

    Scratch(const DistanceJob &job, Carver &carver) {
        for (Candidates &each : found) {
            each.cost = carver.take<int64_t>(job.set.pixels());
            each.order = job.nearest ? carver.take<int64_t>(job.set.pixels()) : nullptr;
        }
        int64_t most = 0;
        for (int axis = 0; axis < job.axes; ++axis) {
            const CopiedLines copies(job, axis);
            most = std::max(most, count_winners(copies.lines, copies.all));
        }
        winners = carver.take<int32_t>(most);
        outside = carver.take<int64_t>(numbers_outside(job));
    }
};

template <class K>
void run_once(const DistanceJob &job, bool inside, Scratch scratch, cudaStream_t stream, const Progress &progress, double begin,
              double end) {
    const int64_t blocks = ceil_div(job.set.pixels(), BLOCK);
    launch("begin_candidates", begin_candidates, blocks, BLOCK, stream, job.set, job.labels, job.complement != inside,
           job.first_index(), scratch.found[0]);
    for (int axis = job.axes - 1; axis >= 0; --axis) {
        const CopiedLines copies(job, axis);
        const PeriodicLines<K> lines = {copies, scratch.found[0], copies.all};
        const Ruler<K> ruler = ruler_of<K>(job, axis);
        const Level level = search_levels<K>(lines, ruler, copies.lines, 1, scratch.winners, stream);
        launch("search_copies", search_copies<K>, ceil_div(level.lines() * level.shares(), WARPS), BLOCK, stream, lines, ruler,
               level, scratch.found[1]);
        if (job.labels)
            launch("take_run_ends", take_run_ends<K>, ceil_div(copies.lines, BLOCK), BLOCK, stream, copies, job.set,
                   job.first_index(), ruler, scratch.found[1]);
        if (const Beyond beyond(job, inside); axis == job.axes - 1 && beyond.any())
            launch("take_beyond", take_beyond, blocks, BLOCK, stream, job.set, beyond, job.measure, axis, scratch.found[1]);
        std::swap(scratch.found[0], scratch.found[1]);
        report(progress, begin + (end - begin) * (job.axes - axis) / (job.axes + 1), stream);
    }
    launch("write_candidates", write_candidates, blocks, BLOCK, stream, job.set, scratch.found[0], Output(job, inside));
    report(progress, end, stream);
}

}  // namespace

size_t periodic_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void distance_in_periodic(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    Carver carver(memory);
    const Scratch scratch(job, carver);
    DistanceJob own = job;
    own.slab = outside_on_device(job, scratch.outside, false, stream);
    const auto run = [&](bool inside, double begin, double end) {
        job.nearest ? run_once<WideOrdered>(own, inside, scratch, stream, progress, begin, end)
                    : run_once<Wide>(own, inside, scratch, stream, progress, begin, end);
    };
    run(false, 0, job.is_signed ? 0.5 : 1);
    if (job.is_signed) run(true, 0.5, 1);
}

}  // namespace apsis::cuda::distance
