// apsis_distance on the CPU, Euclidean and city-block: bit-packed columns with carries (core/columns.h), then one pass for each
// remaining axis over lines in cache (cpu/distance/lines.h).  The back end chooses it for these metrics, unless the job names a
// published method.  Time is n log n at worst; memory is 3/8 byte a pixel, and a few lines (2-D) or planes (3-D) a thread.  A
// slab's carries begin with the sites outside it.
#include "cpu/distance/cover.h"
#include "cpu/distance/distance.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/border.h"
#include "cpu/distance/columns.h"
#include "cpu/distance/label_lines.h"
#include "cpu/distance/line_buffers.h"
#include "cpu/distance/roots.h"
#include "cpu/runtime/pixel_writer.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::distance {
namespace {

constexpr int64_t BATCH = 16;          // lines along y that are transposed together: a cache line of 32-bit costs
constexpr int64_t SHORT_REACH = 1024;  // pixels that 32 bits must reach along each axis, to be tried where not all costs fit
constexpr int64_t UNTRIED = 15;        // rows after one that 32 bits did not do: a try costs half as much as 64 bits

/// Maps above this size, which no cache has room for, are written past the caches, so that memory is not read before it is
/// written.  16384^2, noise 50 %, 16 cores of an Intel Xeon: 25 ms, else 31.  Of smaller maps some stays in the caches.
constexpr int64_t STREAMED = int64_t(1) << 27;

bool is_streamed(const DistanceJob &job) {
    return job.distance && !job.is_signed && job.measure.unit == 1 && job.set.pixels() * int64_t(sizeof(float)) > STREAMED;
}

/// Of a label image: the costs of the nearest pixels of another value on a line.
template <class Cost>
struct RunEnds {
    Columns plane, row;  // bit columns: of a plane along y, and of a row
    Cost *cost, *at;     // of a line

    RunEnds(const DistanceJob &job, bool ordered, Carver &carver) {
        const int64_t width = job.set.size[0], height = job.set.size[1];
        const auto take_columns = [&](Columns &columns, int64_t count, int64_t length) {
            columns.count = count, columns.length = length, columns.batch = 1;
            columns.words = carver.take<uint32_t>(columns.total() + LINE_PAD);
            take_carries(columns, carver);
        };
        take_columns(row, 1, width);
        if (job.axes == 3) take_columns(plane, width, height);
        const int64_t longest = std::max(width, job.axes == 3 ? height : 0);
        cost = carver.take<Cost>(longest + LINE_PAD);
        at = ordered ? carver.take<Cost>(longest + LINE_PAD) : nullptr;
    }

    /// Packs plane z for its lines along y.
    void pack_plane(const DistanceJob &job, int64_t z) const {
        for (int64_t strip = 0; strip < plane.strips(); ++strip) {
            uint32_t *const words = plane.words + plane.at(0, strip, 0);
            std::fill_n(words, plane.count, 0u);
            for (int64_t y = std::max<int64_t>(strip * STRIP, 1); y < std::min((strip + 1) * STRIP, plane.length); ++y)
                pack_begins(job.set, job.set.row(y, z), job.set.row(y - 1, z), static_cast<int>(y % STRIP), words);
        }
        for (int64_t x = 0; x < plane.count; x += CARRY_CHUNK)
            carry_chunk({}, plane, 0, 0, x, std::min(x + CARRY_CHUNK, plane.count));
    }

    // Give a line, along y at x of the plane or along x, the ends of its runs; `order` is that of its pixels.  A line of
    // background needs none: a tenth of the time of a page of text.
    void give(const DistanceJob &job, Line<Cost> &line, int64_t x, int64_t order) const {
        if (!is_background(line)) give(job, line, 1, plane, x, order);
    }
    void give_row(const DistanceJob &job, Line<Cost> &line, int64_t y, int64_t z, int64_t order) const {
        if (is_background(line)) return;
        pack_row_begins(job.set, job.set.row(y, z), row.words);
        carry_chunk({}, row, 0, 0, 0, 1);
        give(job, line, 0, row, 0, order);
    }

  private:
    static bool is_background(const Line<Cost> &line) {
        constexpr int64_t CHUNK = 64;
        for (int64_t begin = 0; begin < line.length; begin += CHUNK) {
            Cost any = 0;
            for (int64_t x = begin; x < std::min(begin + CHUNK, line.length); ++x) any |= line.cost[x];
            if (any) return false;
        }
        return true;
    }

    void give(const DistanceJob &job, Line<Cost> &line, int axis, const Columns &columns, int64_t column, int64_t order) const {
        line_end_costs(job.measure, axis, columns, column, cost, at);
        std::fill_n(cost + columns.length, LINE_PAD, Cost(0));
        line.end_cost = cost, line.end_arg = at, line.end_order = static_cast<Cost>(order);
    }
};

/// The scratch memory of one thread: the plane of a z (one row in 2-D), a batch of lines along y, and a line's results.
template <class Cost>
struct Bench {
    int64_t pitch;
    Cost *cost, *order;                // rows of the plane, each sealed
    Cost *turned_cost, *turned_order;  // BATCH lines along y
    Cost *least, *arg, *arg_order, *bracket;
    std::optional<RunEnds<Cost>> ends;  // of a label image

    Bench(const DistanceJob &job, bool ordered, Carver &carver) {
        const int64_t width = job.set.size[0], height = job.set.size[1];
        const int64_t rows = job.axes == 3 ? height : 1, longest = std::max(width, job.axes == 3 ? height : 0);
        pitch = width + 2 * LINE_PAD;
        const int64_t plane = pitch * rows - 2 * LINE_PAD, turned = BATCH * (height + 2 * LINE_PAD) - 2 * LINE_PAD;
        cost = take_line<Cost>(carver, plane);
        order = ordered ? take_line<Cost>(carver, plane) : nullptr;
        turned_cost = turned_order = nullptr;
        if (job.axes == 3) {
            turned_cost = take_line<Cost>(carver, turned);
            if (ordered) turned_order = take_line<Cost>(carver, turned);
        }
        least = take_line<Cost>(carver, longest);
        bracket = take_line<Cost>(carver, longest);
        arg = ordered ? take_line<Cost>(carver, longest) : nullptr;
        arg_order = ordered ? take_line<Cost>(carver, longest) : nullptr;
        if (job.labels) ends.emplace(job, ordered, carver);
    }
};

/// Solves lines of a set or of its complement, once their words and carries are there.
template <class Cost>
class Lines {
  public:
    Lines(const DistanceJob &job, const Sides &sides, Carver &carver, bool fill)
        : job_(job),
          sides_(sides),
          ordered_(static_cast<bool>(job.nearest)) {
        for (int axis = 0; axis < job.axes - 1; ++axis)
            table_[axis] = make_table<Cost>(job.measure, axis, job.set.size[axis], carver, fill);
    }

    /// The scratch memory that solve() needs.
    size_t bench_bytes() const {
        Carver count;
        Bench<Cost>(job_, ordered_, count);
        return count.used();
    }

    /// Solves row i, in 3-D plane i.  False if a distance in it is too long for these costs; it is to be solved again then.
    bool solve(uint8_t *scratch, int side, int64_t i) const {
        Carver carver(scratch);
        const Bench<Cost> mine(job_, ordered_, carver);
        const int64_t height = job_.set.size[1];
        return job_.axes == 3 ? solve_plane(mine, side, i) : solve_row(mine, side, i % height, i / height);
    }

  private:
    void fill_row(const Bench<Cost> &bench, int side, int64_t image, int64_t at, int64_t row) const {
        const Columns &columns = sides_.columns[side];
        const int64_t width = job_.set.size[0], strip = at / STRIP;
        const int64_t first = columns.at(image, strip, row * width);
        Cost *const cost = bench.cost + row * bench.pitch, *const order = ordered_ ? bench.order + row * bench.pitch : nullptr;
        const uint32_t *const words = columns.words + first;
        const int32_t *const before = columns.before + first, *const after = columns.after + first;
        const auto start = static_cast<int32_t>(strip * STRIP), here = static_cast<int32_t>(at);
        if (job_.labels) {
            const uint8_t *const labels = job_.axes == 3 ? job_.set.row(row, at) : job_.set.row(at, image);
            if (is_background(job_.set, labels)) {  // a page of text takes a tenth less time
                std::fill_n(cost, width, Cost(0));
                if (order) std::fill_n(order, width, Cost(here));
            } else {
                run_end_costs(job_.measure, job_.axes - 1, words, before, after, width, start, here, cost, order);
                clear_background(job_.set, labels, here, cost, order);
            }
        } else {
            column_costs(job_.measure, job_.axes - 1, words, before, after, sides_.flip(side, strip), width, start, here, cost,
                         order);
        }
        seal(cost, order, width);
    }

    bool solve_row(const Bench<Cost> &mine, int side, int64_t y, int64_t z) const {
        fill_row(mine, side, z, y, 0);
        return finish_row(mine, side, 0, y, z);
    }

    bool solve_plane(const Bench<Cost> &mine, int side, int64_t z) const {
        const int64_t width = job_.set.size[0], height = job_.set.size[1];
        for (int64_t y = 0; y < height; ++y) fill_row(mine, side, 0, z, y);
        if (mine.ends) mine.ends->pack_plane(job_, z);
        for (int64_t x = 0; x < width; x += BATCH)
            if (!solve_along_y(mine, x, std::min(BATCH, width - x), z)) return false;
        for (int64_t y = 0; y < height; ++y)
            if (!finish_row(mine, side, y, y, z)) return false;
        return true;
    }

    /// Whether the least costs of a line are right.  A sum with a saturated cost is no less than SATURATED; where the least is
    /// below, no such sum took part.  But where one is not, brackets that depend on it may be wrong beside it.
    bool is_exact(const Cost *least, int64_t length) const {
        return sizeof(Cost) == 8 || is_narrow(job_.measure) || *std::max_element(least, least + length) < SATURATED<Cost>;
    }

    /// A line along an axis, with the results of a thread's scratch memory.
    Line<Cost> line_of(const Bench<Cost> &bench, int axis, const Cost *cost, const Cost *order) const {
        Line<Cost> line{job_.set.size[axis], cost, order, table_[axis], bench.least, bench.arg, bench.arg_order, bench.bracket};
        line.limit = static_cast<Cost>(std::min<int64_t>(job_.measure.limit, std::numeric_limits<Cost>::max()));
        line.may_saturate = sizeof(Cost) == 4 && !is_narrow(job_.measure);
        return line;
    }

    /// The pass along y for `count` columns of plane z from x, in place.
    bool solve_along_y(const Bench<Cost> &bench, int64_t x, int64_t count, int64_t z) const {
        const int64_t height = job_.set.size[1], length = height + 2 * LINE_PAD;
        for (int64_t y = 0; y < height; ++y)
            for (int64_t k = 0; k < count; ++k) {
                bench.turned_cost[k * length + y] = bench.cost[y * bench.pitch + x + k];
                if (ordered_) bench.turned_order[k * length + y] = bench.order[y * bench.pitch + x + k];
            }
        for (int64_t k = 0; k < count; ++k) {
            Cost *const cost = bench.turned_cost + k * length;
            Cost *const order = ordered_ ? bench.turned_order + k * length : nullptr;
            seal(cost, order, height);
            Line<Cost> line = line_of(bench, 1, cost, order);
            if (bench.ends) bench.ends->give(job_, line, x + k, z);
            least_on_line(line);
            if (!is_exact(bench.least, height)) return false;
            std::copy_n(bench.least, height, cost);
            for (int64_t y = 0; ordered_ && y < height; ++y)
                order[y] = bench.arg_order[y] * static_cast<Cost>(height) + bench.arg[y];
        }
        for (int64_t y = 0; y < height; ++y)
            for (int64_t k = 0; k < count; ++k) {
                bench.cost[y * bench.pitch + x + k] = bench.turned_cost[k * length + y];
                if (ordered_) bench.order[y * bench.pitch + x + k] = bench.turned_order[k * length + y];
            }
        return true;
    }

    /// The pass along x for a row of the plane, and its results to the outputs.
    bool finish_row(const Bench<Cost> &bench, int side, int64_t row, int64_t y, int64_t z) const {
        const int64_t width = job_.set.size[0];
        Cost *const order = ordered_ ? bench.order + row * bench.pitch : nullptr;
        Line<Cost> line = line_of(bench, 0, bench.cost + row * bench.pitch, order);
        const RowTarget target{job_, y, z, side == 1};
        if (write_cover(target, line)) return true;
        if (bench.ends) bench.ends->give_row(job_, line, y, z, job_.axes == 3 ? z * job_.set.size[1] + y : y);
        least_on_line(line);
        if (!is_exact(bench.least, width)) return false;
        const auto cost_at = [&](int64_t x) { return static_cast<int64_t>(bench.least[x]); };
        // The first index of the slice, or of the slab.
        const int64_t slice = job_.axes == 3 ? 0 : z * job_.set.size[1] * width;
        const int64_t image = job_.nearest ? slice + job_.slab.start * job_.columns() : 0;
        if (!write_lengths(target, bench.least)) write_distances(target, cost_at);
        write_sites(target, cost_at, [&](int64_t x) {
            return image + static_cast<int64_t>(bench.arg_order[x]) * width + static_cast<int64_t>(bench.arg[x]);
        });
        return true;
    }

    /// A mask: whether a pixel is within the limit is found without its distance.  False if the row is another one.  (4096^2, a
    /// radius of 50, one thread of an EPYC: 32 ms for every image; from distances 43 for noise, 83 for blobs.)
    bool write_cover(const RowTarget &target, const Line<Cost> &line) const {
        if constexpr (std::is_same_v<Cost, int32_t>) {
            if (!job_.is_mask() || ordered_ || job_.labels || line.limit >= SATURATED<Cost>) return false;
            cover_row(job_.measure, line.cost, line.length, line.limit, line.least, line.bracket);
            write_mask(target, [covered = line.least](int64_t x) { return covered[x] != 0; });
            return true;
        }
        return false;
    }

    /// The common case, in SIMD: Euclidean distances, packed.  False if it is another one.
    bool write_lengths(const RowTarget &target, const Cost *least) const {
        const View &out = job_.distance;
        if (!out || job_.is_mask() || job_.measure.metric != APSIS_EUCLIDEAN || !has_exact_roots(job_.measure)) return false;
        uint8_t *const row = out.row(target.y, target.z);
        if (out.type == APSIS_F32 && out.stride[0] == sizeof(float))
            write_lengths(target, least, reinterpret_cast<float *>(row));
        else if (out.type == APSIS_F64 && out.stride[0] == sizeof(double))
            write_lengths(target, least, reinterpret_cast<double *>(row));
        else
            return false;
        return true;
    }

    template <class Real>
    void write_lengths(const RowTarget &target, const Cost *least, Real *row) const {
        const Cost limit = static_cast<Cost>(std::min<int64_t>(job_.measure.limit, NO_COST<Cost> - 1));
        const int64_t width = job_.distance.size[0];
        if constexpr (std::is_same_v<Cost, int32_t> && std::is_same_v<Real, float>)
            if (is_streamed(job_)) return stream_lengths(least, width, limit, row);
        if (!target.inside) return lengths(job_.measure.unit, least, width, limit, row);
        constexpr int64_t CHUNK = 1024;
        Real chunk[CHUNK];
        for (int64_t begin = 0; begin < width; begin += CHUNK) {
            const int64_t count = std::min(CHUNK, width - begin);
            lengths(job_.measure.unit, least + begin, count, limit, chunk);
            for (int64_t x = 0; x < count; ++x) row[begin + x] = least[begin + x] ? -chunk[x] : row[begin + x];
        }
    }

    const DistanceJob &job_;
    const Sides &sides_;
    bool ordered_;
    Cost *table_[2] = {};
};

/// Whether the numbers of sites, which decide ties, fit in 32 bits: in 2-D coordinates; in 3-D, along x, z * height + y.
bool has_narrow_orders(const DistanceJob &job) {
    return !job.nearest || job.axes == 2 || job.set.size[1] * (job.slab.extent + 1) < INT32_MAX;
}

/// Whether lines are first tried with 32-bit costs: unless all but the shortest distances would be too long.
bool may_be_narrow(const DistanceJob &job) {
    const auto reaches = [&](int axis) {
        return job.measure.weight[axis] < SATURATED<int32_t> / axis_cost<int64_t>(job.measure.metric, 1, SHORT_REACH);
    };
    return has_narrow_orders(job) && (is_narrow(job.measure) || (reaches(0) && reaches(1) && (job.axes == 2 || reaches(2))));
}

/// All of a job.  Costs have 32 bits, which is twice as fast as 64.  If the image is so large that some might not fit, lines
/// where one does not are solved again with 64 bits.
class Transform {
  public:
    Transform(const DistanceJob &job, int threads, void *scratch) : job_(job), carver_(scratch), sides_(job, carver_) {
        if (may_be_narrow(job)) narrow_.emplace(job, sides_, carver_, scratch != nullptr);
        if (!narrow_ || !is_narrow(job.measure)) wide_.emplace(job, sides_, carver_, scratch != nullptr);
        bench_bytes_ = wide_ ? wide_->bench_bytes() : narrow_->bench_bytes();
        benches_ = carver_.take<uint8_t>(static_cast<int64_t>(bench_bytes_) * threads);
        untried_ = carver_.take<int64_t>(2 * threads);
        if (scratch) std::fill_n(untried_, 2 * threads, 0);
    }

    size_t bytes() const { return carver_.used(); }

    void run(Arena &arena, const Progress &progress) {
        const Columns &set = sides_.columns[0];
        if (!job_.is_found) pack(job_, set, arena, progress, 0.1);
        for_chunks(set, sides_.count * set.batch, arena, progress, 0.1, 0.15, [&](int64_t i, int64_t begin, int64_t end) {
            const int side = static_cast<int>(i / set.batch);
            carry_chunk(job_.slab, sides_.columns[side], side, i % set.batch, begin, end);
        });
        const int64_t height = job_.set.size[1], depth = job_.set.size[2];
        parallel_for(arena, job_.axes == 3 ? depth : height * depth, progress, 0.15, 1.0, [&](int64_t i) {
            for (int side = 0; side < sides_.count; ++side) solve(side, i);
            if (is_streamed(job_)) hwy::FlushStream();
        });
    }

  private:
    /// Rows beside one whose distances are too long are likely to be like it: the next ones of this thread are not tried.
    void solve(int side, int64_t i) {
        const int thread = Arena::thread();
        uint8_t *const scratch = benches_ + bench_bytes_ * static_cast<size_t>(thread);
        int64_t &untried = untried_[2 * thread + side];
        if (narrow_ && untried == 0) {
            if (narrow_->solve(scratch, side, i)) return;
            untried = UNTRIED;
        } else if (untried > 0) {
            --untried;
        }
        wide_->solve(scratch, side, i);
    }

    const DistanceJob &job_;
    Carver carver_;
    Sides sides_;
    std::optional<Lines<int32_t>> narrow_;
    std::optional<Lines<int64_t>> wide_;
    uint8_t *benches_;  // [thread]: as large as those of 64 bits, if there may be such
    size_t bench_bytes_;
    int64_t *untried_;  // [thread][side]: how many rows are still solved with 64 bits at once
};

}  // namespace

size_t columns_scratch(const DistanceJob &job, int threads) { return Transform(job, threads, nullptr).bytes(); }

void distance_by_columns(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    Transform(job, arena.threads(), scratch).run(arena, progress);
}

void settle_border(const DistanceJob &job, Arena &arena) {
    const Border border(job);
    const int64_t width = job.set.size[0], height = job.set.size[1];
    parallel_for(arena, height * job.set.size[2], {}, 0, 0, [&](int64_t i) {
        for (int64_t x = 0; x < width; ++x) border.settle(x, i % height, i / height);
    });
}

}  // namespace apsis::cpu::distance
