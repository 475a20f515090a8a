// apsis_eccentricity on the CPU.
//
// The pixels of the set are ranked by component, within a component by tile, and within a tile by smaller tile.  Large
// components are solved one after the other, each by pair bounds (pair_bounds.h) with several fields at a time.  A thread makes
// each of them, and idle threads help (field.h).
// Small components are solved side by side, each by pair bounds in one thread; the smallest by a field from every pixel.
// APSIS_EVERY_SOURCE makes a field from every pixel of all components (every_source.h).  A team shares out the fields of large
// components; each of its members makes all others.
//
// A field opens the pixels of its component alone.  Those of a label image are walls again when it is solved, as components
// of other values may lie beside it.
//
// Lengths have 32 bits where steps are small numbers.  If a path of some component is too long for 32 bits, the whole call is
// repeated with 64.
#include "cpu/paths/eccentricity.h"

#include <vector>

#include "cpu/components/components.h"
#include "cpu/paths/every_source.h"
#include "cpu/paths/pair_bounds.h"
#include "cpu/runtime/row_writer.h"
#include "runtime/parallel.h"

namespace apsis::cpu::paths {
namespace {

constexpr int64_t NARROW_STEP = 1 << 20;  // the longest step with which 32 bits are tried
constexpr int64_t CHUNK = 64;             // small components that a task solves

using Report = EccentricityJob::Report;

struct Box {
    int64_t low[3], high[3];
};

/// Calls body(box) for the tiles of a box, x first.
template <class Body>
void for_tiles(const Box &box, const int64_t side[3], Body body) {
    Box tile;
    const auto along = [&](int a, auto next) {
        for (int64_t at = box.low[a]; at < box.high[a]; at += side[a]) {
            tile.low[a] = at;
            tile.high[a] = std::min(at + side[a], box.high[a]);
            next();
        }
    };
    along(2, [&] { along(1, [&] { along(0, [&] { body(tile); }); }); });
}

template <class Length, class Cell>
class Eccentricity {
    using Lengths = Field<Length>;
    using Memory = Ranks<Length, Cell>;
    using Maxima = HubMaxima<Length, Cell>;

    /// The scratch memory and the report of one thread.
    struct ThreadScratch {
        PairScratch<Length> pair;
        Relaxation<Length, Cell> relaxation;
        Maxima maxima;
        Report report{};
    };

  public:
    Eccentricity(const EccentricityJob &job, int threads, Carver &carver)
        : job_(job),
          grid_(job.set.size, job.axes == 3 || job.set.size[2] > 1 ? 3 : 2, job.periodic, reach_of(job.steps)),
          pixels_(job.set.pixels()),
          memory_(pixels_, job.has_farthest, !is_every_source(), carver),
          maxima_(is_every_source() ? 0 : pixels_, carver) {
        label_ = carver.take<Cell>(pixels_);
        start_ = carver.take<Cell>(job.most_components() + 2);
        describe_components_job();
        components_scratch_ =
            carver.take<uint8_t>(static_cast<int64_t>(components::components_scratch(components_job_, threads)));
        const int64_t none[3] = {0, 0, 0};
        for (int i = 0; i < threads; ++i)
            scratch_.push_back(
                {PairScratch<Length>(is_every_source() ? Grid(none, 2) : grid_, job.steps, job.axes, carver),
                 Relaxation<Length, Cell>(is_every_source() ? grid_ : Grid(none, 2), job.steps, job.axes, carver),
                 Maxima(is_every_source() ? 0 : std::min(pixels_, Maxima::LARGE), carver)});
    }

    void run(Arena &arena, const Progress &progress) {
        arena_ = &arena;
        progress_ = &progress;
        components::find_components(components_job_, components_scratch_, arena,
                                    progress ? [&](double done) { progress(0.05 * done); } : Progress());
        order_pixels();
        memory_.members = members();
        parallel_for(arena, static_cast<int64_t>(scratch_.size()), {}, 0, 0, [this](int64_t i) {
            ThreadScratch &scratch = scratch_[static_cast<size_t>(i)];
            if (is_every_source())
                std::fill_n(scratch.relaxation.length, grid_.cells, Lengths::WALL);
            else
                scratch.pair.field.clear();
        });
        for (ThreadScratch &scratch : scratch_) scratch.pair.field.share_with(arena);
        report_proved(0);
        solve_small();
        for (int64_t k = 1; k <= count_; ++k)
            if (size(k) > Maxima::LARGE) solve_large(k);
        write();
        if (job_.count) *job_.count = count_;
        *job_.report = total();
    }

  private:
    bool is_every_source() const { return job_.method == APSIS_EVERY_SOURCE; }
    int64_t begin(int64_t k) const { return static_cast<int64_t>(start_[k - 1]); }
    int64_t size(int64_t k) const { return static_cast<int64_t>(start_[k]) - begin(k); }
    int64_t members() const { return static_cast<int64_t>(start_[count_]); }
    double progress_at(int64_t done) const {
        return 0.1 + 0.8 * static_cast<double>(done) / static_cast<double>(std::max<int64_t>(members(), 1));
    }

    /// Reports how many pixels are proved.  `fields` counts the fields that are not yet in a thread's report.
    void report_proved(int64_t proved, int64_t fields = 0) const {
        *job_.report = total();
        job_.report->fields += fields;
        job_.report->open = members() - proved;
        if (*progress_) (*progress_)(progress_at(proved));
    }
    Report total() const {
        Report all{};
        all.components = count_;
        for (const ThreadScratch &scratch : scratch_) add(all, scratch.report);
        return all;
    }

    static void add(Report &to, const Report &report) {
        to.fields += report.fields;
        to.most_fields = std::max(to.most_fields, report.most_fields);
        to.unproved += report.unproved;
        to.gap = std::max(to.gap, report.gap);
    }

    // ---- Components, and the order of their pixels ----

    void describe_components_job() {
        components_job_.set = components_job_.labels = job_.set;
        components_job_.axes = job_.axes;
        components_job_.connectivity = job_.connectivity;
        components_job_.periodic = job_.periodic;
        components_job_.complement = job_.complement;
        components_job_.by_value = job_.by_value;
        components_job_.count = &count_;
        components_job_.labels.data = reinterpret_cast<uint8_t *>(label_);
        components_job_.labels.type = sizeof(Cell) == 4 ? APSIS_I32 : APSIS_I64;
        components_job_.labels.stride[0] = sizeof(Cell);
        for (int a = 1; a < 3; ++a)
            components_job_.labels.stride[a] = components_job_.labels.stride[a - 1] * job_.set.size[a - 1];
    }

    /// Ranks the pixels.  Afterwards start_[k] is where the ranks of component k end.
    ///
    /// Parts of the image are ranked side by side.  Each has a rank for each component, which takes memory: if there are many
    /// components, there are few parts.
    void order_pixels() const {
        const bool deep = job_.axes == 3 && grid_.depth > 1;
        const int64_t side[3] = {deep ? 16 : 64, deep ? 16 : 64, deep ? 16 : 1};
        const int64_t rows = (grid_.height + side[1] - 1) / side[1], all = rows * ((grid_.depth + side[2] - 1) / side[2]);
        const int64_t parts = std::clamp<int64_t>(pixels_ / (8 * (count_ + 1)), 1, std::min<int64_t>(all, arena_->threads()));
        std::vector<Cell> ranks(static_cast<size_t>((parts - 1) * (count_ + 1)));
        const auto next = [&](int64_t part) { return part ? ranks.data() + (part - 1) * (count_ + 1) : start_; };
        const auto for_parts = [&](auto body) {  // body(box, next ranks) for the rows of large tiles
            parallel_for(*arena_, parts, {}, 0, 0, [&](int64_t part) {
                for (int64_t row = all * part / parts; row < all * (part + 1) / parts; ++row) {
                    const int64_t y = row % rows * side[1], z = row / rows * side[2];
                    body(Box{{0, y, z}, {grid_.width, std::min(y + side[1], grid_.height), std::min(z + side[2], grid_.depth)}},
                         next(part));
                }
            });
        };
        std::fill_n(start_, count_ + 1, Cell(0));
        for_parts([&](const Box &box, Cell *counts) {
            for_labels(box, [=](int64_t, int64_t, int64_t, Cell label) { ++counts[label]; });
        });
        Cell sum = 0;
        for (int64_t k = 1; k <= count_; ++k)
            for (int64_t part = 0; part < parts; ++part) sum += std::exchange(next(part)[k], sum);
        const int64_t small_side[3] = {deep ? 4 : 8, deep ? 4 : 8, deep ? 4 : 1};
        for_parts([&](const Box &box, Cell *ranks_of) {
            for_tiles(box, side, [&](const Box &large) {
                for_tiles(large, small_side, [&](const Box &tile) {
                    for_labels(tile, [&](int64_t x, int64_t y, int64_t z, Cell label) {
                        memory_.cell[ranks_of[label]++] = static_cast<Cell>(grid_.row(y, z) + x);
                    });
                });
            });
        });
        if (parts > 1) std::copy_n(next(parts - 1), count_ + 1, start_);
    }

    /// Calls body(x, y, z, label) for the pixels of the set in a box.
    template <class Body>
    void for_labels(const Box &box, Body body) const {
        for (int64_t z = box.low[2]; z < box.high[2]; ++z)
            for (int64_t y = box.low[1]; y < box.high[1]; ++y)
                for (int64_t x = box.low[0]; x < box.high[0]; ++x)
                    if (const Cell label = label_[(z * grid_.height + y) * grid_.width + x]) body(x, y, z, label);
    }

    // ---- Solving ----

    void solve_small() {
        int64_t small = 0;
        for (int64_t k = 1; k <= count_; ++k)
            if (size(k) <= Maxima::LARGE) small += size(k);
        parallel_for(*arena_, (count_ + CHUNK - 1) / CHUNK, *progress_, progress_at(0), progress_at(small), [&](int64_t i) {
            ThreadScratch &scratch = scratch_of_thread();
            const Each<ThreadScratch> each = [&scratch](int64_t count, const Body<ThreadScratch> &body) {
                for (int64_t k = 0; k < count; ++k) body(k, scratch);
            };
            for (int64_t k = i * CHUNK + 1; k <= std::min((i + 1) * CHUNK, count_); ++k)
                if (size(k) <= Maxima::LARGE) {
                    solve(k, scratch, scratch.maxima, each, nullptr, [](int64_t, int64_t) {});
                    close(k, scratch);
                }
        });
        done_ = small;
    }

    void solve_large(int64_t k) {
        const double from = progress_at(done_), to = progress_at(done_ + size(k));
        const Each<ThreadScratch> each = [&](int64_t count, const Body<ThreadScratch> &body) {
            // Between proofs nothing is known of how much is done, but a call may be stopped.
            parallel_for(*arena_, count, *progress_, from, is_every_source() ? to : from,
                         [&](int64_t i) { body(i, scratch_of_thread()); });
        };
        solve(k, scratch_[0], maxima_, each, job_.team,
              [&](int64_t fields, int64_t proved) { report_proved(done_ + proved, fields); });
        for (ThreadScratch &scratch : scratch_) close(k, scratch);
        done_ += size(k);
    }

    /// Makes walls of a component's cells again: those of other values may touch them.
    void close(int64_t k, ThreadScratch &scratch) const {
        if (!job_.by_value) return;
        Length *const length = is_every_source() ? scratch.relaxation.length : scratch.pair.field.length;
        for (int64_t i = begin(k); i < begin(k) + size(k); ++i) length[memory_.cell[i]] = Lengths::WALL;
    }

    ThreadScratch &scratch_of_thread() {
        const int thread = Arena::thread();
        return scratch_[thread < 0 ? 0 : static_cast<size_t>(thread)];
    }

    void solve(int64_t k, ThreadScratch &scratch, const Maxima &maxima, const Each<ThreadScratch> &each, Team *team,
               const std::function<void(int64_t, int64_t)> &on_turn) {
        Certificate<Length> certificate{size(k)};
        if (is_every_source()) {
            each(size(k), [&](int64_t i, ThreadScratch &own) { measure(own.relaxation, k, i); });
        } else if (size(k) <= std::min(TINY_SIZE, job_.budget)) {
            for (int64_t i = 0; i < size(k); ++i) measure(scratch.pair.field, k, i);
        } else {
            const Each<PairScratch<Length>> fields = [&each](int64_t count, const Body<PairScratch<Length>> &body) {
                each(count, [&body](int64_t i, ThreadScratch &own) { body(i, own.pair); });
            };
            PairBounds<Length, Cell> bounds(memory_, maxima, begin(k), size(k), fields, team);
            certificate = bounds.solve(job_.budget, on_turn);
        }
        const double gap = real_length(job_.steps, static_cast<double>(certificate.gap));
        add(scratch.report, {0, certificate.fields, certificate.fields, 0, !certificate.proved, gap});
        if (k <= job_.capacity) describe_component(scratch, k, gap);
    }

    /// The eccentricity of the i-th pixel of a component, from its own field.
    template <class Source>
    void measure(Source &source, int64_t k, int64_t i) const {
        const Cell *const cell = memory_.cell + begin(k);
        source.run_from(static_cast<int64_t>(cell[i]), cell, size(k));
        const int64_t far = farthest_of(source, k);
        memory_.lower[begin(k) + i] = source.length[far];
        if (job_.has_farthest) memory_.farthest[begin(k) + i] = static_cast<Cell>(far);
    }

    /// The farthest cell of a field, the lowest of several.
    template <class Source>
    int64_t farthest_of(const Source &source, int64_t k) const {
        const Cell *const cell = memory_.cell + begin(k);
        Cell best = cell[0];
        for (int64_t i = 1; i < size(k); ++i) {
            const Length length = source.length[cell[i]], most = source.length[best];
            if (length > most || (length == most && cell[i] < best)) best = cell[i];
        }
        return static_cast<int64_t>(best);
    }

    void describe_component(ThreadScratch &scratch, int64_t k, double gap) const {
        const Cell *const cell = memory_.cell + begin(k);
        const Length *const length = memory_.lower + begin(k);
        int64_t centre = 0, end = 0, first = 0;
        for (int64_t i = 1; i < size(k); ++i) {
            if (cell[i] < cell[first]) first = i;
            if (length[i] < length[centre] || (length[i] == length[centre] && cell[i] < cell[centre])) centre = i;
            if (length[i] > length[end] || (length[i] == length[end] && cell[i] < cell[end])) end = i;
        }
        const auto real = [&](int64_t i) { return real_length(job_.steps, static_cast<double>(length[i])); };
        job_.extents[k - 1] = {grid_.index(static_cast<int64_t>(cell[first])),
                               {grid_.index(static_cast<int64_t>(cell[end])), grid_.index(other_end(scratch, k, end))},
                               grid_.index(static_cast<int64_t>(cell[centre])),
                               real(end),
                               real(centre),
                               gap};
    }

    int64_t other_end(ThreadScratch &scratch, int64_t k, int64_t end) const {
        if (job_.has_farthest) return static_cast<int64_t>(memory_.farthest[begin(k) + end]);
        const Cell *const cell = memory_.cell + begin(k);
        const auto look = [&](auto &source) {
            source.run_from(static_cast<int64_t>(cell[end]), cell, size(k));
            return farthest_of(source, k);
        };
        return is_every_source() ? look(scratch.relaxation) : look(scratch.pair.field);
    }

    // ---- Writing ----

    void write() {
        const int64_t height = grid_.height;
        parallel_for(*arena_, grid_.rows(), *progress_, 0.9, 0.9, [&](int64_t row) {
            const Cell *const label = label_ + row * grid_.width;
            for (const View &out : {job_.eccentricity, job_.farthest})
                write_pixels(
                    out, row % height, row / height, [=](int64_t x) { return label[x] == 0; },
                    [](int64_t, auto pixel) { return static_cast<decltype(pixel)>(-1); });
        });
        constexpr int64_t PART = 1 << 14;
        parallel_for(*arena_, (members() + PART - 1) / PART, *progress_, 0.9, 1, [&](int64_t i) {
            const int64_t from = i * PART, to = std::min(from + PART, members());
            write_ranks(job_.eccentricity, from, to, [&](int64_t rank, auto pixel) {
                return length_pixel<decltype(pixel)>(job_.steps, memory_.lower[rank]);
            });
            if (job_.has_farthest)
                write_ranks(job_.farthest, from, to, [&](int64_t rank, auto pixel) {
                    return static_cast<decltype(pixel)>(grid_.index(static_cast<int64_t>(memory_.farthest[rank])));
                });
        });
    }

    template <class ValueAt>
    void write_ranks(const View &out, int64_t from, int64_t to, ValueAt value_at) const {
        if (!out) return;
        with_pixel_type(out, [&](auto pixel) {
            for (int64_t rank = from; rank < to; ++rank) {
                const Grid::Place at = grid_.place(static_cast<int64_t>(memory_.cell[rank]));
                put(out, out.row(at.y, at.z), at.x, value_at(rank, pixel));
            }
        });
    }

    EccentricityJob job_;
    Grid grid_;
    int64_t pixels_;
    Memory memory_;
    Maxima maxima_;
    Cell *label_;  // [pixel]
    Cell *start_;  // [component]: where its ranks end
    ComponentsJob components_job_;
    uint8_t *components_scratch_;
    std::vector<ThreadScratch> scratch_;
    int64_t count_ = 0, done_ = 0;
    Arena *arena_ = nullptr;
    const Progress *progress_ = nullptr;
};

/// Whether cells have numbers of 32 bits.
bool has_few_cells(const EccentricityJob &job) { return Grid(job.set.size, 3, {}, reach_of(job.steps)).cells < UINT32_MAX; }

/// Calls body with a pointer to the type Eccentricity of a job, for 32-bit lengths or for 64-bit ones.
template <class Body>
auto with_types(const EccentricityJob &job, bool narrow, Body body) {
    if (narrow) return body(static_cast<Eccentricity<int32_t, uint32_t> *>(nullptr));
    return has_few_cells(job) ? body(static_cast<Eccentricity<int64_t, uint32_t> *>(nullptr))
                              : body(static_cast<Eccentricity<int64_t, int64_t> *>(nullptr));
}

bool may_be_narrow(const EccentricityJob &job) { return job.steps.most <= NARROW_STEP && has_few_cells(job); }

/// Whether no path can be too long for 32 bits.
bool is_narrow(const EccentricityJob &job) { return may_be_narrow(job) && job.set.pixels() < INT32_MAX / 4 / job.steps.most; }

}  // namespace

size_t eccentricity_scratch(const EccentricityJob &job, int threads) {
    const auto bytes = [&](bool narrow) {
        return with_types(job, narrow, [&](auto *type) {
            Carver count;
            std::remove_pointer_t<decltype(type)>(job, threads, count);
            return count.used();
        });
    };
    return std::max(may_be_narrow(job) ? bytes(true) : 0, is_narrow(job) ? 0 : bytes(false));
}

void eccentricity(const EccentricityJob &job, void *scratch, Arena &arena, const Progress &progress) {
    double most = 0;  // progress does not go back when the call is repeated
    const Progress forward = [&](double done) { progress(most = std::max(most, done)); };
    const auto run = [&](bool narrow) {
        with_types(job, narrow, [&](auto *type) {
            Carver carver(scratch);
            std::remove_pointer_t<decltype(type)>(job, arena.threads(), carver).run(arena, progress ? forward : Progress());
        });
    };
    if (!may_be_narrow(job)) return run(false);
    try {
        run(true);
    } catch (const TooLong &) {
        run(false);
    }
}

}  // namespace apsis::cpu::paths
