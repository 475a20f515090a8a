// apsis_distance on the CPU in images that close on themselves, Euclidean and city-block: of sets and of label images.  The
// back end chooses it where an axis is periodic.
//
// Axis by axis, from the last one on, every pixel takes the best candidate of its line (cpu/distance/lines.h), at the cost that
// this has from the axes before.  Beside a line along a periodic axis stand copies of it, half of one on each side: no nearest
// site is farther away.  A copy has the index of its original, and the lower index wins, so that copies change no tie.
//
// Of a label image the nearest pixel of another value on the line is one more candidate; docs/methods.md has the proof.  In a
// slab so are, along the last axis, the sites outside of it.
//
// Cost: 16 bytes a pixel, read and written for each axis, and a search with 64-bit costs of lines twice as long.
#include "core/beyond.h"
#include "core/copies.h"
#include "cpu/distance/distance.h"
#include "cpu/distance/line_buffers.h"
#include "cpu/runtime/pixel_writer.h"

namespace apsis::cpu::distance {
namespace {

constexpr int64_t BATCH = 8;  // lines side by side that are gathered together: a cache line
constexpr int64_t NONE = std::numeric_limits<int64_t>::min();

Copies copies_of(const DistanceJob &job, int axis) { return {job.set.size[axis], job.is_closed(axis)}; }

/// The scratch memory of one thread.
struct Bench {
    int64_t *cost, *order;  // BATCH lines with their copies
    int64_t *least, *arg, *arg_order, *bracket;
    int64_t *value, *left;  // of a line of a label image: its pixels, and the nearest one of another value before each

    Bench(const DistanceJob &job, Carver &carver) {
        int64_t longest = 0;
        for (int axis = 0; axis < job.axes; ++axis) longest = std::max(longest, copies_of(job, axis).all);
        const bool ordered = static_cast<bool>(job.nearest);
        const int64_t batch = BATCH * (longest + 2 * LINE_PAD) - 2 * LINE_PAD;
        cost = take_line<int64_t>(carver, batch);
        order = ordered ? take_line<int64_t>(carver, batch) : nullptr;
        least = take_line<int64_t>(carver, longest);
        bracket = take_line<int64_t>(carver, longest);
        arg = ordered ? take_line<int64_t>(carver, longest) : nullptr;
        arg_order = ordered ? take_line<int64_t>(carver, longest) : nullptr;
        value = job.labels ? carver.take<int64_t>(longest) : nullptr;
        left = job.labels ? carver.take<int64_t>(longest) : nullptr;
    }
};

class Transform {
  public:
    Transform(const DistanceJob &job, int threads, void *scratch) : job_(job), carver_(scratch) {
        if (job.is_found) found_ = columns_of(job, carver_);
        cost_ = carver_.take<int64_t>(job.set.pixels());
        order_ = job.nearest ? carver_.take<int64_t>(job.set.pixels()) : nullptr;
        for (int axis = 0; axis < job.axes; ++axis)
            table_[axis] = make_table<int64_t>(job.measure, axis, copies_of(job, axis).all, carver_, scratch != nullptr);
        Carver count;
        Bench(job, count);
        bench_bytes_ = count.used();
        benches_ = carver_.take<uint8_t>(static_cast<int64_t>(bench_bytes_) * threads);
    }

    size_t bytes() const { return carver_.used(); }

    void run(Arena &arena, const Progress &progress) const {
        const int sides = job_.is_signed ? 2 : 1;
        for (int side = 0; side < sides; ++side) {
            const auto done = [&](int steps) { return (side + steps / (job_.axes + 2.0)) / sides; };
            const auto rows = [&](int step, auto body) {
                const int64_t height = job_.set.size[1];
                parallel_for(arena, height * job_.set.size[2], progress, done(step), done(step + 1),
                             [&](int64_t i) { body(i % height, i / height); });
            };
            rows(0, [&](int64_t y, int64_t z) { start_row(side, y, z); });
            for (int step = 0; step < job_.axes; ++step) {
                const int axis = job_.axes - 1 - step;
                parallel_for(arena, batches(axis), progress, done(step + 1), done(step + 2),
                             [&](int64_t i) { solve_batch(side, axis, i); });
            }
            rows(job_.axes + 1, [&](int64_t y, int64_t z) { write_row(side, y, z); });
        }
    }

  private:
    int64_t index(int64_t y, int64_t z) const { return (z * job_.set.size[1] + y) * job_.set.size[0]; }
    int64_t step_along(int axis) const { return axis == 0 ? 1 : axis == 1 ? job_.set.size[0] : index(0, 1); }

    /// Each site, or pixel of the background, is nearest to itself.
    void start_row(int side, int64_t y, int64_t z) const {
        const auto start = [&](auto is_site_at) {
            for (int64_t x = 0; x < job_.set.size[0]; ++x) {
                const int64_t i = index(y, z) + x;
                cost_[i] = is_site_at(x) ? 0 : NO_COST<int64_t>;
                if (order_) order_[i] = job_.first_index() + i;
            }
        };
        if (job_.is_found) {
            const int64_t at = job_.axes == 3 ? z : y, first = job_.axes == 3 ? y * job_.set.size[0] : 0;
            return start([&](int64_t x) { return found_.has(0, at, first + x) == (side == 0); });
        }
        const uint8_t *const row = job_.set.row(y, z);
        if (job_.labels) return start([&](int64_t x) { return value_at(job_.set, row, x) == 0; });
        start([&](int64_t x) { return is_set(job_.set, row, x) != (job_.complement != (side == 1)); });
    }

    // A batch is a row, or some lines that begin side by side.
    int64_t each(int axis) const { return axis == 0 ? 1 : (job_.set.size[0] + BATCH - 1) / BATCH; }
    int64_t batches(int axis) const { return each(axis) * job_.set.size[axis == 1 ? 2 : 1] * (axis ? 1 : job_.set.size[2]); }

    void solve_batch(int side, int axis, int64_t number) const {
        Carver carver(benches_ + bench_bytes_ * static_cast<size_t>(Arena::thread()));
        const Bench bench(job_, carver);
        const Copies copies = copies_of(job_, axis);
        const int64_t row = number / each(axis), x = number % each(axis) * BATCH, step = step_along(axis);
        const int64_t first = axis == 0 ? row * job_.set.size[0] : axis == 1 ? index(0, row) + x : index(row, 0) + x;
        const int64_t count = axis == 0 ? 1 : std::min(BATCH, job_.set.size[0] - x), pitch = copies.all + 2 * LINE_PAD;
        for (int64_t i = 0; i < copies.length; ++i)
            for (int64_t k = 0; k < count; ++k) {
                bench.cost[k * pitch + copies.before + i] = cost_[first + k + i * step];
                if (order_) bench.order[k * pitch + copies.before + i] = order_[first + k + i * step];
            }
        for (int64_t k = 0; k < count; ++k) {
            solve_line(bench, copies, axis, k * pitch, first + k);
            if (axis == job_.axes - 1) take_beyond(Beyond(job_, side), bench, copies, k * pitch, first + k);
        }
        for (int64_t i = 0; i < copies.length; ++i)
            for (int64_t k = 0; k < count; ++k) {
                cost_[first + k + i * step] = bench.cost[k * pitch + i];
                if (order_) order_[first + k + i * step] = bench.order[k * pitch + i];
            }
    }

    /// Replaces the costs and orders of a line, which are in the scratch memory at `at`, by the least ones.
    void solve_line(const Bench &bench, const Copies &copies, int axis, int64_t at, int64_t first) const {
        int64_t *const cost = bench.cost + at, *const order = order_ ? bench.order + at : nullptr;
        copies.fill(cost);
        if (order) copies.fill(order);
        seal(cost, order, copies.all);
        least_on_line(
            Line<int64_t>{copies.all, cost, order, table_[axis], bench.least, bench.arg, bench.arg_order, bench.bracket});
        for (int64_t i = 0; i < copies.length; ++i) cost[i] = std::min(bench.least[copies.before + i], NO_COST<int64_t>);
        if (order) std::copy_n(bench.arg_order + copies.before, copies.length, order);
        if (job_.labels) take_ends(bench, copies, axis, cost, order, first);
    }

    /// Of a label image: takes the nearest pixels of another value on the line, if they are better.
    void take_ends(const Bench &bench, const Copies &copies, int axis, int64_t *cost, int64_t *order, int64_t first) const {
        const int64_t step = step_along(axis), width = job_.set.size[0], height = job_.set.size[1];
        int64_t *const value = bench.value + copies.before, *const left = bench.left + copies.before;
        for (int64_t i = -copies.before; i < copies.end(); ++i) {
            const int64_t pixel = first + copies.original(i) * step;
            value[i] = value_at(job_.set, job_.set.row(pixel / width % height, pixel / width / height), pixel % width);
            left[i] = i == -copies.before ? NONE : value[i] != value[i - 1] ? i - 1 : left[i - 1];
        }
        int64_t right = NONE;
        for (int64_t i = copies.end() - 1; i >= 0; --i) {
            if (i + 1 < copies.end() && value[i] != value[i + 1]) right = i + 1;
            if (i >= copies.length) continue;
            for (const int64_t end : {left[i], right}) {
                if (end == NONE) continue;
                const int64_t site = first + copies.original(end) * step;
                take_better(cost, order, i, table_[axis][end - i], job_.first_index() + site);
            }
        }
    }

    /// Takes the sites of a column outside of a slab, if they are better.
    void take_beyond(const Beyond &beyond, const Bench &bench, const Copies &copies, int64_t at, int64_t column) const {
        int64_t *const cost = bench.cost + at, *const order = order_ ? bench.order + at : nullptr;
        const int64_t weight = job_.measure.weight[job_.axes - 1];
        for (int64_t i = 0; beyond.any() && i < copies.length; ++i)
            for (const auto &[offset, site] : {beyond.before(column, i), beyond.after(column, i)})
                if (offset >= 0) take_better(cost, order, i, axis_cost<int64_t>(job_.measure.metric, weight, offset), site);
    }

    /// Takes a site for pixel i of a line, if it is better.
    static void take_better(int64_t *cost, int64_t *order, int64_t i, int64_t way, int64_t site) {
        if (way > cost[i] || (way == cost[i] && (!order || site >= order[i]))) return;
        cost[i] = way;
        if (order) order[i] = site;
    }

    void write_row(int side, int64_t y, int64_t z) const {
        const RowTarget target{job_, y, z, side == 1};
        const int64_t *const cost = cost_ + index(y, z), *const order = order_ ? order_ + index(y, z) : nullptr;
        const auto cost_at = [=](int64_t x) { return cost[x]; };
        write_distances(target, cost_at);
        write_sites(target, cost_at, [=](int64_t x) { return order[x]; });
    }

    const DistanceJob &job_;
    Carver carver_;
    Columns found_;           // if the set is found: its words
    int64_t *cost_, *order_;  // [pixel]: of the best candidate yet; its index
    int64_t *table_[3] = {};
    uint8_t *benches_;  // [thread]
    size_t bench_bytes_;
};

}  // namespace

size_t periodic_scratch(const DistanceJob &job, int threads) { return Transform(job, threads, nullptr).bytes(); }

void distance_in_periodic(const DistanceJob &job, void *scratch, Arena &arena, const Progress &progress) {
    Transform(job, arena.threads(), scratch).run(arena, progress);
}

}  // namespace apsis::cpu::distance
