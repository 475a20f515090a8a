// Measures of the values of a label image: what is counted of their pixels, and what follows from their outlines.
//
// Threads take pieces of whole rows, as for statistics, and add to the sums of values in a table of their own:
//   - runs of pixels: moments, and intensities pixel by pixel;
//   - windows of 2 x 2 pixels (core/windows.h) that hold several values: faces, diagonals, Euler numbers.  Others add nothing;
//   - pixels of which a neighbour has another value: the perimeter of Benkrid and Crookes (2000).
// Where outlines are wanted, each run is kept.  In the end tables are added up and sorted, runs are dealt out to their values,
// and threads take values (outlines.h).  Nothing but whole numbers is added up.
//
// Cost: one read of the image, and a look into a table for each run and for each value in a window.
#include "core/windows.h"
#include "cpu/labels/collect.h"
#include "cpu/labels/outlines.h"
#include "cpu/labels/padded_rows.h"
#include "cpu/labels/table.h"
#include "cpu/labels/value_sums.h"
#include "runtime/measures_job.h"

namespace apsis::cpu::labels {

namespace {

constexpr double GATHERED = 0.7;  // of the work, where outlines are wanted

struct Sums {
    ValueParts part;
    int64_t runs = 0;  // how many; then where the next one goes

    void add(const Sums &other) {
        part.add(other.part);
        runs += other.runs;
    }
};

struct ValueRun {
    int64_t value;
    Run run;
};

/// Sums of values that not every call wants, by the places of the values.
template <class Sums>
class Wanted {
  public:
    Sums &at(size_t place) {
        if (place >= sums_.size()) sums_.resize(place + 1);
        return sums_[place];
    }
    /// Adds those of another thread, which has the value in another place.
    void add(size_t place, const Wanted &other, size_t its_place) {
        if (its_place < other.sums_.size()) at(place).add(other.sums_[its_place]);
    }
    Sums found(size_t place) const { return place < sums_.size() ? sums_[place] : Sums(); }

  private:
    std::vector<Sums> sums_;
};

/// A thread's table, behind a small one that knows the places of the values around a row.
class Values {
  public:
    size_t place_of(int64_t value) {
        Recent &recent = recent_[static_cast<uint64_t>(value) % RECENT];
        if (recent.value != value) recent = {value, table.place_of(value)};
        return recent.place;
    }
    void add(const Values &other) {
        other.table.for_places([&](size_t its_place) {
            const auto &[value, sums] = other.table[its_place];
            const size_t place = table.place_of(value);
            table[place].sums.add(sums);
            shapes.add(place, other.shapes, its_place);
            intensities.add(place, other.intensities, its_place);
        });
        runs.insert(runs.end(), other.runs.begin(), other.runs.end());
    }

    Table<int64_t, Sums> table;
    Wanted<ShapeSums> shapes;
    Wanted<IntensitySums> intensities;
    std::vector<ValueRun> runs;

  private:
    static constexpr uint64_t RECENT = 256;
    struct Recent {
        int64_t value = 0;  // none
        size_t place = 0;
    };

    Recent recent_[RECENT];
};

struct ThreadScratch {
    PaddedRows rows;
    uint64_t *some, *across;  // where the pixels of a window differ, and where those of two planes do

    /// Windows have two rows of a plane, and the perimeter looks two rows back and forth.
    ThreadScratch(const View &image, Carver &carver, const MeasuresJob &job)
        : rows(image, job.wants(APSIS_PERIMETER) ? 8 : 2, job.axes == 3 ? 2 : 1, carver) {
        some = carver.take<uint64_t>(rows.words()), across = carver.take<uint64_t>(rows.words());
    }
};

/// Adds the intensities of pixels from x = begin to end of a row.
void add_intensities(const View &grey, int64_t begin, int64_t end, int64_t y, int64_t z, IntensitySums &sums) {
    const uint8_t *const row = grey.row(y, z);
    const auto add_whole = [&](auto pixel) {
        int64_t total = 0;
        int32_t lower = INT32_MAX, upper = INT32_MIN;
        for (int64_t x = begin; x < end; ++x) {
            const int32_t value = *reinterpret_cast<const decltype(pixel) *>(row + x * grey.stride[0]);
            total += value, lower = std::min(lower, value), upper = std::max(upper, value);
        }
        sums.add_whole(total, lower, upper);
    };
    if (grey.type == APSIS_U8) return add_whole(uint8_t());
    if (grey.type == APSIS_U16) return add_whole(uint16_t());
    for (int64_t x = begin; x < end; ++x) sums.add(*reinterpret_cast<const float *>(row + x * grey.stride[0]));
}

/// Adds rows of an image to the table of a thread.
template <class Pixel>
class Adder {
  public:
    Adder(const MeasuresJob &job, const Windows &windows, ThreadScratch &scratch, Values &values)
        : job_(job),
          windows_(windows),
          scratch_(scratch),
          rows_(scratch.rows),
          values_(values) {}

    void add_row(int64_t y, int64_t z) {
        add_runs(y, z);
        if (job_.wants(APSIS_PERIMETER)) add_perimeter(y, z);
        if (!job_.wants_windows()) return;
        const bool is_last = y == job_.set.size[1] - 1, is_last_plane = job_.axes == 3 && z == job_.set.size[2] - 1;
        for (int64_t at_z = z; at_z <= z + is_last_plane; ++at_z)
            for (int64_t at_y = y; at_y <= y + is_last; ++at_y)
                if (job_.axes == 3)
                    add_windows<3>(at_y, at_z);
                else
                    add_windows<2>(at_y, at_z);
    }

  private:
    void add_runs(int64_t y, int64_t z) {
        const PaddedRow row = rows_.template ends<Pixel>(y, z);
        const Pixel *const pixels = row.as<Pixel>();
        const int64_t *const size = job_.set.size;
        int64_t begin = 0;  // padded: the first pixel of a run is at begin + 1
        for_bits(row.ends, rows_.width() - 1, [&](int64_t end) {
            if (const int64_t value = pixels[end]) {
                const size_t place = values_.place_of(value);
                Sums &sums = values_.table[place].sums;
                sums.part.add((z * size[1] + y) * size[0] + begin, begin, end, y, z);
                if (job_.wants(APSIS_MOMENTS)) values_.shapes.at(place).add_run(begin, end, y, z);
                if (job_.grey) add_intensities(job_.grey, begin, end, y, z, values_.intensities.at(place));
                if (job_.wants_outlines()) {
                    ++sums.runs;
                    values_.runs.push_back({value, {int32_t(z), int32_t(y), int32_t(begin), int32_t(end)}});
                }
            }
            begin = end;
        });
    }

    /// Adds the pixels of a row that have a neighbour of another value, by how many of their 8 neighbours are such pixels, too.
    void add_perimeter(int64_t y, int64_t z) {
        // [neighbours along an axis][across a corner]: straight, diagonal, one and then the other; -1: not on the path.
        static constexpr int8_t KIND[5][5] = {
            {-1, -1, 1, -1, -1}, {-1, 2, 2, 1, -1}, {0, 0, 0, -1, -1}, {0, 0, 0, -1, -1}, {-1, -1, -1, -1, -1}};
        const PaddedRow rows[3] = {rows_.template edges<Pixel>(y - 1, z), rows_.template edges<Pixel>(y, z),
                                   rows_.template edges<Pixel>(y + 1, z)};
        const Pixel *const here = rows[1].as<Pixel>();
        for_bits(rows[1].edges, rows_.width() - 1, [&](int64_t i) {
            if (i == 0 || here[i] == 0) return;
            int found[2] = {0, 0};
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    const int64_t k = i + dx;
                    const bool is_alike =
                        rows[dy + 1].as<Pixel>()[k] == here[i] && (rows[dy + 1].edges[k >> 6] >> (k & 63) & 1);
                    if (dx || dy) found[dx && dy] += is_alike;
                }
            if (const int kind = KIND[found[0]][found[1]]; kind >= 0)
                ++values_.shapes.at(values_.place_of(here[i])).steps[kind];
        });
    }

    /// Adds the windows whose pixels are in a row, in the one before, and in 3-D in those of the plane before.
    template <int AXES>
    void add_windows(int64_t y, int64_t z) {
        constexpr int ROWS = 1 << (AXES - 1), PIXELS = 2 * ROWS;
        const Pixel *rows[ROWS];
        const int64_t words = rows_.words();
        uint64_t *const some = scratch_.some;
        std::fill(some, some + words, 0);
        const auto meet = [&](const uint64_t *bits) {
            for (int64_t i = 0; i < words; ++i) some[i] |= bits[i];
        };
        for (int dz = 0; dz < ROWS / 2; ++dz) {
            const int64_t at_z = z + dz - (AXES == 3);
            const PaddedRow row = rows_.template changes<Pixel>(y, at_z), before = rows_.template ends<Pixel>(y - 1, at_z);
            meet(row.ends), meet(row.changes), meet(before.ends);
            rows[2 * dz] = before.as<Pixel>(), rows[2 * dz + 1] = row.as<Pixel>();
        }
        if constexpr (AXES == 3) {
            mark_differences(rows[1], rows[3], sizeof(Pixel), rows_.width(), scratch_.across);
            meet(scratch_.across);
        }
        for_bits(some, rows_.width() - 1, [&](int64_t i) {
            Pixel pixel[PIXELS];
            for (int k = 0; k < PIXELS; ++k) pixel[k] = rows[k >> 1][i + (k & 1)];
            for (int k = 0, done = 0; k < PIXELS; ++k) {
                if (done >> k & 1 || pixel[k] == 0) continue;
                int alike = 0;
                for (int n = k; n < PIXELS; ++n) alike |= (pixel[n] == pixel[k]) << n;
                done |= alike;
                const Windows::Sums &sums = windows_.sums[alike];
                ShapeSums &shape = values_.shapes.at(values_.place_of(pixel[k]));
                for (int a = 0; a < AXES; ++a) shape.faces[a] += sums.faces[a];
                if constexpr (AXES == 2) shape.diagonals += sums.diagonals;
                shape.euler += sums.euler;
            }
        });
    }

    const MeasuresJob &job_;
    const Windows &windows_;
    const ThreadScratch &scratch_;
    PaddedRows &rows_;
    Values &values_;
};

/// Deals out the runs to their values, and finds what follows from them, for each value on one thread.
std::vector<Outline> find_outlines(const MeasuresJob &job, Values &values, const std::vector<size_t> &order, Arena &arena,
                                   const Progress &progress) {
    std::vector<int64_t> begin = {0};
    for (const size_t place : order) {
        int64_t &next = values.table[place].sums.runs;
        begin.push_back(begin.back() + next);
        next = begin[begin.size() - 2];
    }
    std::vector<Run> runs(static_cast<size_t>(begin.back()));
    for (const ValueRun &each : values.runs) runs[values.table[values.place_of(each.value)].sums.runs++] = each.run;
    std::vector<OutlineScratch> scratch(static_cast<size_t>(arena.threads()));
    std::vector<Outline> outlines(order.size());
    parallel_for(arena, static_cast<int64_t>(order.size()), progress, GATHERED, 1, [&](int64_t i) {
        OutlineScratch &own = scratch[static_cast<size_t>(Arena::thread())];
        const int64_t area = values.table[order[i]].sums.part.area;
        outlines[i] = own.outline_of(job, runs.data() + begin[i], begin[i + 1] - begin[i], area);
    });
    return outlines;
}

}  // namespace

}  // namespace apsis::cpu::labels

void apsis::measure_values(const MeasuresJob &job, Arena &arena, const Progress &progress) {
    using namespace cpu::labels;
    const Windows windows(job.axes, job.connectivity);
    std::vector<std::max_align_t> memory(
        scratch_of_threads<ThreadScratch>(job.set, arena.threads(), job) / sizeof(std::max_align_t) + 1);
    Progress gathering = progress;
    if (progress && job.wants_outlines()) gathering = [&](double done) { progress(GATHERED * done); };
    Values values = collect<ThreadScratch, Values>(
        job.set, memory.data(), arena, gathering,
        [&](auto pixel, int64_t y, int64_t z, ThreadScratch &own, Values &table) {
            Adder<decltype(pixel)>(job, windows, own, table).add_row(y, z);
        },
        job);
    const std::vector<size_t> order = values.table.order();
    std::vector<Outline> outlines;
    if (job.wants_outlines()) outlines = find_outlines(job, values, order, arena, progress);
    job.take(static_cast<int64_t>(order.size()), [&](int64_t i) {
        const size_t place = order[i];
        const auto &[value, sums] = values.table[place];
        return ValueSums{sums.part.part_of(value), values.shapes.found(place), values.intensities.found(place),
                         outlines.empty() ? Outline() : outlines[i]};
    });
}
