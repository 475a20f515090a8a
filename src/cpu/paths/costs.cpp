// apsis_cost_distance and apsis_paths, on the host: a field of costs (cost_field.h) from all seeds of an image, and the paths
// from some pixels to their seeds, step by step back.  The slices of a batch are solved side by side, a thread each.
//
// Costs of paths have 64 bits where the longest path that the image has room for fits, and otherwise 128.
#include "cpu/paths/costs.h"

#include <algorithm>
#include <numeric>
#include <memory>

#include "cpu/paths/cost_field.h"
#include "cpu/runtime/labels.h"
#include "cpu/runtime/row_writer.h"
#include "runtime/parallel.h"

namespace apsis {
namespace cpu::paths {
namespace {

/// A path, in pixels from start to seed, and its cost and length as whole numbers in double precision.
struct Trace {
    std::vector<int64_t> pixels;
    double length = HUGE_VAL, cost = HUGE_VAL;
};

template <class Cost, class Length, bool BY_VALUE>
class CostMap {
    using Costs = CostField<Cost, Length, BY_VALUE>;

  public:
    CostMap(const CostJob &job, const CostScale &scale)
        : job_(job),
          scale_(scale),
          steps_(job.steps),
          grid_(job.size, job.axes, {}, reach_of(job.steps)),
          field_(grid_, job.steps, job.axes) {
        steps_.divisor *= 2;  // a step's cost is the sum of two, not their mean
        steps_.unit = std::ldexp(steps_.unit, scale.exponent);
    }

    /// Solves slice z of a batch, or the image.  each_row(from, to, body) must call body(y, z) for all its rows.
    template <class EachRow>
    void run(int64_t slice, const Progress &progress, EachRow each_row) {
        slice_ = slice;
        field_.clear();
        each_row(0.0, 0.1, [this](int64_t y, int64_t z) { start_row(y, z); });
        add_seeds();
        const double pixels = static_cast<double>(grid_.rows() * grid_.width);
        field_.run(
            scale_.least, job_.steps.least, [this](Length length) { return is_within(length); },
            [&](int64_t settled) {
                if (progress) progress(0.1 + 0.8 * static_cast<double>(settled) / pixels);
            });
        each_row(0.9, 1.0, [this](int64_t y, int64_t z) { write_row(y, z); });
    }

    /// The path from a pixel of the slice.
    Trace trace(int64_t start) const {
        Trace found;
        int64_t cell = cell_of(start);
        if (!is_reached(cell)) return found;
        found.cost = real_length(steps_, static_cast<double>(at(field_.length, cell)));
        Length length = 0;
        for (int64_t next; found.pixels.push_back(first_of_slice() + grid_.index(cell)), (next = field_.before(cell)) >= 0;
             cell = next)
            length += static_cast<Length>(field_.weight(next, cell));
        found.length = real_length(job_.steps, static_cast<double>(length));
        return found;
    }

  private:
    template <class T>
    static T at(const std::vector<T> &cells, int64_t cell) {
        return cells[static_cast<size_t>(cell)];
    }

    int64_t first_of_slice() const { return slice_ * grid_.width * grid_.height; }
    int64_t cell_of(int64_t pixel) const {
        const int64_t own = pixel - first_of_slice(), row = own / grid_.width;
        return grid_.row(row % grid_.height, row / grid_.height) + own % grid_.width;
    }
    bool is_within(Length length) const {
        return job_.max_distance == HUGE_VAL || real_length(steps_, static_cast<double>(length)) <= job_.max_distance;
    }
    bool is_reached(int64_t cell) const {
        return at(field_.length, cell) != Costs::UNSEEN && is_within(at(field_.length, cell));
    }

    void start_row(int64_t y, int64_t z) {
        Cost *const cost = field_.cost.data() + grid_.row(y, z);
        if constexpr (BY_VALUE)
            for (int64_t x = 0; x < grid_.width; ++x)
                field_.value[static_cast<size_t>(grid_.row(y, z) + x)] = value_at(job_.set, job_.set.row(y, z + slice_), x);
        for_passable(job_, y, z + slice_, [&](int64_t x, double real) {
            cost[x] = static_cast<Cost>(job_.costs.type == APSIS_F32 ? scale_.whole(real) : static_cast<uint64_t>(real));
        });
    }

    void add_seeds() {
        const auto add = [this](int64_t cell, int64_t pixel) {
            if (at(field_.cost, cell)) field_.add_source(cell, pixel);
        };
        if (job_.sources) {
            const int64_t first = first_of_slice(), end = first + grid_.rows() * grid_.width;
            const auto from = std::lower_bound(job_.sources->begin(), job_.sources->end(), first);
            for (auto i = from; i != job_.sources->end() && *i < end; ++i) add(cell_of(*i), *i);
            return;
        }
        for (int64_t row = 0; row < grid_.rows(); ++row) {
            const int64_t y = row % grid_.height, z = row / grid_.height;
            const uint8_t *const seeds = job_.seeds.row(y, z + slice_);
            for (int64_t x = 0; x < grid_.width; ++x)
                if (is_seed(seeds, x)) add(grid_.row(y, z) + x, first_of_slice() + row * grid_.width + x);
        }
    }
    bool is_seed(const uint8_t *row, int64_t x) const { return value_at(job_.seeds, row, x) != 0; }

    void write_row(int64_t y, int64_t z) const {
        const int64_t first = grid_.row(y, z);
        const auto all = [](int64_t) { return true; };
        write_pixels(job_.distance, y, z + slice_, all, [&](int64_t x, auto pixel) {
            using Pixel = decltype(pixel);
            if (!at(field_.cost, first + x)) return static_cast<Pixel>(-1);
            return is_reached(first + x) ? length_pixel<Pixel>(steps_, at(field_.length, first + x)) : no_path<Pixel>();
        });
        write_pixels(job_.nearest, y, z + slice_, all, [&](int64_t x, auto pixel) {
            return static_cast<decltype(pixel)>(is_reached(first + x) ? at(field_.source, first + x) : -1);
        });
    }

    const CostJob &job_;
    CostScale scale_;
    Steps steps_;  // of costs
    Grid grid_;
    Costs field_;
    int64_t slice_ = 0;
};

int64_t slices_of(const CostJob &job) { return job.axes == 2 ? job.size[2] : 1; }

/// The paths of a job, in the order of their starts.
class Traces {
  public:
    explicit Traces(const CostJob &job) : job_(job), traces_(job.starts ? job.starts->size() : 0), by_pixel_(traces_.size()) {
        std::iota(by_pixel_.begin(), by_pixel_.end(), size_t(0));
        std::sort(by_pixel_.begin(), by_pixel_.end(), [&](size_t a, size_t b) { return start(a) < start(b); });
    }

    /// Finds those that begin in a slice.  Slices may be side by side.
    template <class Map>
    void find(const Map &map, int64_t slice) {
        const int64_t pixels = job_.size[0] * job_.size[1] * (job_.axes == 3 ? job_.size[2] : 1);
        const auto from = std::lower_bound(by_pixel_.begin(), by_pixel_.end(), slice * pixels,
                                           [&](size_t i, int64_t pixel) { return start(i) < pixel; });
        for (auto i = from; i != by_pixel_.end() && start(*i) / pixels == slice; ++i) traces_[*i] = map.trace(start(*i));
    }

    /// Passes them on, one after the other.
    void tell() {
        if (!job_.starts) return;
        for (size_t i = 0; i < traces_.size(); ++i) {
            const Trace trace = std::move(traces_[i]);
            const auto first = static_cast<int64_t>(job_.pixels->size()), count = static_cast<int64_t>(trace.pixels.size());
            const int64_t seed = count ? trace.pixels.back() : -1;
            job_.paths->push_back({start(i), seed, first, count, trace.length, trace.cost, NAN, NAN});
            job_.pixels->insert(job_.pixels->end(), trace.pixels.begin(), trace.pixels.end());
        }
    }

  private:
    int64_t start(size_t i) const { return (*job_.starts)[i]; }

    const CostJob &job_;
    std::vector<Trace> traces_;
    std::vector<size_t> by_pixel_;
};

template <class Map>
void solve(const CostJob &job, const CostScale &scale, Arena &arena, const Progress &progress, Traces &traces) {
    const int64_t height = job.size[1], slices = slices_of(job);
    if (slices == 1) {
        const auto map = std::make_unique<Map>(job, scale);  // too large for the stack
        map->run(0, progress, [&](double from, double to, auto body) {
            const int64_t rows = height * job.size[2];
            parallel_for(arena, rows, progress, from, to, [&](int64_t i) { body(i % height, i / height); });
        });
        traces.find(*map, 0);
        return;
    }
    std::vector<std::unique_ptr<Map>> maps(static_cast<size_t>(arena.threads()));
    parallel_for(arena, slices, progress, 0, 1, [&](int64_t z) {
        auto &map = maps[static_cast<size_t>(arena.threads() > 1 ? Arena::thread() : 0)];
        if (!map) map = std::make_unique<Map>(job, scale);
        map->run(z, {}, [&](double, double, auto body) {
            for (int64_t y = 0; y < height; ++y) body(y, int64_t(0));
        });
        traces.find(*map, z);
    });
}

}  // namespace
}  // namespace cpu::paths

void find_costs(const CostJob &job, Arena &arena, const Progress &progress) {
    using namespace cpu::paths;
    const CostScale scale(job);
    Traces traces(job);
    const double most = 2.0 * static_cast<double>(scale.most) * static_cast<double>(job.steps.most);
    const double pixels =
        static_cast<double>(job.size[0]) * static_cast<double>(job.size[1]) * static_cast<double>(job.size[2]);
    const auto solve_with = [&](auto cost, auto length) {
        using Cost = decltype(cost);
        using Length = decltype(length);
        if (job.by_value)
            solve<CostMap<Cost, Length, true>>(job, scale, arena, progress, traces);
        else
            solve<CostMap<Cost, Length, false>>(job, scale, arena, progress, traces);
    };
    using Wide = unsigned __int128;
    scale.most <= UINT16_MAX &&most *pixels < 0x1p63 ? solve_with(uint16_t(), uint64_t()) : solve_with(uint64_t(), Wide());
    traces.tell();
    if (job.values) cpu::write_labels(job.nearest, job.values, arena);
    if (progress) progress(1);
}

}  // namespace apsis
