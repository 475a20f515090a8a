// apsis_medial_axis: the centres of the balls that the power diagram of all balls needs (Coeurjolly and Montanvert, "Optimal
// separable algorithms to compute the reverse Euclidean distance transformation and discrete medial axis in arbitrary
// dimension", 2007).
//
// A pixel p belongs to the centre c with the greatest R(c) - |p - c|^2, where R is the square of the radius.  That is a map of
// nearest sites with a start cost of most - R(c) at each site, most being the greatest R: one pass for each axis, last axis
// first, over the lines of cpu/distance/lines.h, as in a distance map.  A pixel of the set is in its own ball, so a partial
// cost of `most` or more is never the least, and is dropped.  Time is n log n at worst; memory is two costs and a byte a
// pixel.
#include "cpu/balls/medial_axis.h"

#include <algorithm>
#include <atomic>

#include "cpu/balls/radii.h"
#include "cpu/distance/line_buffers.h"

namespace apsis::cpu::balls {
namespace {

constexpr int64_t BATCH = 16;  // lines that are transposed together: a cache line of 32-bit costs

/// The buffers of the lines of one thread.
template <class Cost>
struct ThreadLines {
    int64_t pitch;
    Cost *cost, *order;  // BATCH lines, each sealed
    Cost *least, *arg, *arg_order, *bracket;

    ThreadLines(int64_t longest, Carver &carver) : pitch(longest + 2 * LINE_PAD) {
        cost = distance::take_line<Cost>(carver, BATCH * pitch - 2 * LINE_PAD);
        order = distance::take_line<Cost>(carver, BATCH * pitch - 2 * LINE_PAD);
        least = distance::take_line<Cost>(carver, longest);
        arg = distance::take_line<Cost>(carver, longest);
        arg_order = distance::take_line<Cost>(carver, longest);
        bracket = distance::take_line<Cost>(carver, longest);
    }
};

template <class Cost>
class MedialAxis {
  public:
    MedialAxis(const BallsJob &job, uint8_t *is_centre, Arena &arena)
        : job_(job),
          arena_(arena),
          is_centre_(is_centre),
          size_{job.squares.size[0], job.squares.size[1], job.squares.size[2]},
          squares_(squares_of<Cost>(job)) {
        const int64_t pixels = job.squares.pixels();
        for (int64_t i = 0; i < pixels; ++i)
            if (squares_[i] != INFINITE<Cost>) most_ = std::max(most_, squares_[i]);
        carve(nullptr);
        memory_.reset(new uint8_t[bytes_ + Carver::SLOT]);
        carve(reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(memory_.get()) + Carver::SLOT - 1) / Carver::SLOT *
                                          Carver::SLOT));
        std::fill_n(is_centre_, pixels, uint8_t(0));
    }

    void run(const Progress &progress, double to) {
        const int64_t width = size_[0], pixels = job_.squares.pixels();
        parallel_for(arena_, pixels / width, {}, 0, 0, [&](int64_t row) {
            for (int64_t i = row * width; i < (row + 1) * width; ++i) {
                const Cost square = squares_[i];
                cost_[i] = square > 0 && square <= most_ ? most_ - square : NO_COST<Cost>;
                order_[i] = 0;
            }
        });
        for (int axis = job_.axes - 1; axis >= 0; --axis) {
            const double done = 1 - static_cast<double>(axis + 1) / job_.axes;
            pass(axis, progress, to * done, to * (done + 1.0 / job_.axes));
        }
    }

  private:
    void carve(uint8_t *base) {
        const int64_t pixels = job_.squares.pixels(), longest = *std::max_element(size_, size_ + job_.axes);
        Carver carver(base);
        cost_ = carver.take<Cost>(pixels);
        order_ = carver.take<Cost>(pixels);
        for (int axis = 0; axis < job_.axes; ++axis)
            table_[axis] = distance::make_table<Cost>(job_.measure, axis, size_[axis], carver, base);
        Carver count;
        ThreadLines<Cost>(longest, count);
        thread_bytes_ = static_cast<int64_t>(count.used());
        threads_ = carver.take<uint8_t>(thread_bytes_ * arena_.threads());
        bytes_ = carver.used();
    }

    /// Solves all lines along an axis, in place; along x the centres that pixels belong to are marked.
    void pass(int axis, const Progress &progress, double from, double to) {
        const int64_t length = size_[axis], step = axis == 0 ? 1 : axis == 1 ? size_[0] : size_[0] * size_[1];
        // Lines begin side by side, at `across` places `next` apart; groups of them are a line's extent apart.
        const int64_t next = axis == 0 ? length : 1, across = axis == 0 ? size_[1] * size_[2] : step;
        const int64_t groups = job_.squares.pixels() / (across * length), batches = (across + BATCH - 1) / BATCH;
        parallel_for(arena_, groups * batches, progress, from, to, [&](int64_t i) {
            const int64_t first = i % batches * BATCH, count = std::min(BATCH, across - first);
            solve(axis, i / batches * across * length + first * next, next, count, step);
        });
    }

    void solve(int axis, int64_t begin, int64_t next, int64_t count, int64_t step) {
        Carver carver(threads_ + thread_bytes_ * Arena::thread());
        const ThreadLines<Cost> mine(*std::max_element(size_, size_ + job_.axes), carver);
        const int64_t length = size_[axis];
        for (int64_t at = 0; at < length; ++at)
            for (int64_t k = 0; k < count; ++k) {
                mine.cost[k * mine.pitch + at] = cost_[begin + k * next + at * step];
                mine.order[k * mine.pitch + at] = order_[begin + k * next + at * step];
            }
        for (int64_t k = 0; k < count; ++k) {
            Cost *const cost = mine.cost + k * mine.pitch, *const order = mine.order + k * mine.pitch;
            if (std::all_of(cost, cost + length, [](Cost each) { return each == NO_COST<Cost>; })) continue;
            distance::seal(cost, order, length);
            Line<Cost> line{length, cost, order, table_[axis], mine.least, mine.arg, mine.arg_order, mine.bracket};
            line.limit = most_ - 1;
            least_on_line(line);
            if (axis == 0)
                mark(begin + k * next, mine);
            else
                for (int64_t at = 0; at < length; ++at) {
                    cost[at] = mine.least[at] < most_ ? mine.least[at] : NO_COST<Cost>;
                    order[at] = mine.arg_order[at] * static_cast<Cost>(length) + mine.arg[at];
                }
        }
        for (int64_t at = 0; at < length && axis > 0; ++at)
            for (int64_t k = 0; k < count; ++k) {
                cost_[begin + k * next + at * step] = mine.cost[k * mine.pitch + at];
                order_[begin + k * next + at * step] = mine.order[k * mine.pitch + at];
            }
    }

    /// Marks the centres that the pixels of a row belong to.  Several threads may mark one.
    void mark(int64_t begin, const ThreadLines<Cost> &mine) {
        const int64_t width = size_[0], slice = job_.axes == 3 ? 0 : begin / (width * size_[1]) * (width * size_[1]);
        for (int64_t x = 0; x < width; ++x)
            if (squares_[begin + x] > 0 && squares_[begin + x] <= most_)
                std::atomic_ref<uint8_t>(is_centre_[slice + static_cast<int64_t>(mine.arg_order[x]) * width + mine.arg[x]])
                    .store(1, std::memory_order_relaxed);
    }

    const BallsJob &job_;
    Arena &arena_;
    uint8_t *const is_centre_;
    const int64_t size_[3];
    const Cost *squares_;
    Cost most_ = 0;
    std::unique_ptr<uint8_t[]> memory_;
    size_t bytes_ = 0;
    Cost *cost_ = nullptr;   // of the centre that a pixel belongs to, by the axes that are done
    Cost *order_ = nullptr;  // that centre's place along these axes; then its index, as the pixel's own place goes on
    Cost *table_[3] = {};
    uint8_t *threads_ = nullptr;
    int64_t thread_bytes_ = 0;
};

template <class Cost>
void write_axis(const BallsJob &job, Arena &arena, const Progress &progress) {
    const Centres centres = find_centres(job, arena, progress, 1);
    const Cost *const squares = squares_of<Cost>(job);
    write_radii<Cost>(job, arena, [&](int64_t i) { return centres[i] || squares[i] == INFINITE<Cost> ? squares[i] : Cost(0); });
}

}  // namespace

Centres find_centres(const BallsJob &job, Arena &arena, const Progress &progress, double to) {
    Centres centres(new uint8_t[static_cast<size_t>(job.squares.pixels())]);
    if (job.squares.type == APSIS_I32)
        MedialAxis<int32_t>(job, centres.get(), arena).run(progress, to);
    else
        MedialAxis<int64_t>(job, centres.get(), arena).run(progress, to);
    return centres;
}

}  // namespace apsis::cpu::balls

namespace apsis {

void find_medial_axis(const BallsJob &job, Arena &arena, const Progress &progress) {
    if (job.squares.type == APSIS_I32)
        cpu::balls::write_axis<int32_t>(job, arena, progress);
    else
        cpu::balls::write_axis<int64_t>(job, arena, progress);
}

}  // namespace apsis
