// Euclidean and city-block distance in label images: from each pixel of a value other than 0 to the nearest pixel of another
// value.  Bit columns hold the begins of runs of equal values, of all axes.  A pixel beyond a run is never nearer than the one
// beside it, so lines are searched as those of sets (lines.cuh), and the pixel beside the run is one more candidate of each
// pixel: see docs/methods.md.  The back end takes it for every label image.
//
// In a plane with square pixels a near search comes first (plane/label_search.cu), and in a volume another one
// (volume/label_search.cu).  Lines take the patches that it leaves.  Without it a map takes 9 to 18 times as long (one
// H100, 16384^2).
//
// Cost: that of the search, and for each axis the pixels in, and 3/8 byte a pixel of words and carries.
#include "cuda/distance/label_lines.h"

#include "cuda/distance/lines.cuh"
#include "cuda/distance/plane/label_search.h"
#include "cuda/distance/volume/label_search.h"
#include "cuda/runtime/progress.h"

namespace apsis::cuda::distance {

namespace {

/// The nearest pixels of another value on the lines of an axis.
template <class K>
struct RunEnds {
    Columns columns;
    Ruler<K> ruler;
    bool along_x;

    /// Takes the one of pixel i of a line, if it is better.  `order` is that of the line's own pixels.
    __device__ void take(Best<K> &best, int64_t outer, int64_t inner, int64_t lines, int64_t i, int64_t order) const {
        const int64_t strip = i / STRIP;
        const int64_t at = along_x ? columns.at(0, strip, outer * lines + inner) : columns.at(outer, strip, inner);
        const int32_t place = nearest_beyond_run(columns.words[at], columns.before[at], columns.after[at],
                                                 static_cast<int32_t>(strip * STRIP), static_cast<int32_t>(i));
        if (place == NO_SITE_BEFORE) return;
        Best<K> end;
        end.cost = ruler(place - static_cast<int32_t>(i));
        end.order = static_cast<typename K::Order>(order);
        end.at = place;
        if (beats(end, best)) best = end;
    }
};

/// As ColumnLines, with the columns of a label image.
template <class K>
struct LabelColumnLines : ColumnLines<K> {
    View labels;
    RunEnds<K> ends;

    struct Line {
        typename ColumnLines<K>::Line columns;
        View labels;
        const uint8_t *pixels;
        int64_t step, column_step = 1;  // from one pixel of the line to the next one

        __device__ Site<K> site(int32_t i) const {
            if (value_at(labels, pixels + i * step, 0) == 0) return {0, columns.rows_before + columns.at};
            const int64_t at = i * column_step;
            const int32_t position =
                nearest_beyond_run(columns.words[at], columns.before[at], columns.after[at], columns.start, columns.at);
            if (position == NO_SITE_BEFORE) return {NO_COST<typename K::Cost>, 0};
            return {columns.ruler(position - columns.at), columns.rows_before + position};
        }
    };

    __device__ Line line(int64_t outer, int64_t inner) const {
        const uint8_t *const pixels =
            this->along_z ? labels.row(0, outer) + inner * labels.stride[0] : labels.row(inner, outer);
        return {ColumnLines<K>::line(outer, inner), labels, pixels, labels.stride[this->along_z ? 1 : 0]};
    }
    __device__ void take_end(Best<K> &best, int64_t outer, int64_t inner, int64_t lines, int64_t i) const {
        ends.take(best, outer, inner, lines, i, this->columns.start + (this->along_z ? outer : inner));
    }
};

constexpr int64_t MOST_UNSETTLED_BLOCKS = 1 << 12;  // which soon see that nothing is left, as is usual

/// The rows that a near search has left.
template <class K>
struct UnsettledLines : LabelColumnLines<K> {
    static constexpr int64_t MOST_BLOCKS = MOST_UNSETTLED_BLOCKS;

    plane::Layout searched;
    const uint32_t *is_left;

    __device__ bool is_settled() const { return !*is_left; }
    __device__ bool is_settled(int64_t z, int64_t y) const { return !searched.has_marks(z, y / STRIP); }
    __device__ bool is_settled(int64_t z, int64_t y, int64_t x) const {
        using namespace plane;
        return is_settled(z, y) || !searched.marks_of(z, y / BAND, x / PATCH)[y % BAND];
    }
};

/// As StoredLines likewise.
template <class K>
struct LabelStoredLines : StoredLines<K> {
    RunEnds<K> ends;
    int64_t start;  // the planes of the image before those of a slab

    __device__ void take_end(Best<K> &best, int64_t outer, int64_t inner, int64_t lines, int64_t i) const {
        ends.take(best, outer, inner, lines, i, (start + outer) * lines + inner);
    }
};

/// The lines along y of the planes where a near search has left patches.  An image of columns is what a y has.
template <class K>
struct UnsettledPlanes : LabelColumnLines<K> {
    static constexpr int64_t MOST_BLOCKS = MOST_UNSETTLED_BLOCKS;

    volume::LabelLayout searched;

    __device__ typename LabelColumnLines<K>::Line line(int64_t z, int64_t x) const {
        auto line = LabelColumnLines<K>::line(z, 0);
        const Columns &columns = searched.along_z;
        const int64_t first = columns.at(0, z / STRIP, x);
        line.columns.words = columns.words + first;
        line.columns.before = columns.before + first, line.columns.after = columns.after + first;
        line.pixels = this->labels.row(0, z) + x * this->labels.stride[0];
        line.column_step = columns.at(1, 0, 0);
        return line;
    }
    __device__ bool is_settled() const { return !searched.is_any_left(); }
    __device__ bool is_settled(int64_t z, int64_t) const { return !searched.is_left(z); }
};

/// The rows of these planes, and of them the patches.
template <class K>
struct UnsettledRows : LabelStoredLines<K> {
    static constexpr int64_t MOST_BLOCKS = MOST_UNSETTLED_BLOCKS;

    volume::LabelLayout searched;

    __device__ bool is_settled() const { return !searched.is_any_left(); }
    __device__ bool is_settled(int64_t z, int64_t) const { return !searched.is_left(z); }
    __device__ bool is_settled(int64_t z, int64_t y, int64_t x) const {
        return !searched.is_left(z) || !searched.mark(z, y, x);
    }
};

/// The job for columns along another axis than that of slabs.
DistanceJob across_slab(const DistanceJob &job) {
    DistanceJob own = job;
    own.slab = {};
    own.slab.extent = job.set.size[job.axes - 1];
    return own;
}

template <class K>
struct LabelScratch {
    Columns columns, along_y, rows;
    int32_t *winners = nullptr;
    StoredLines<K> stored = {};

    LabelScratch(const DistanceJob &job, Carver &carver)
        : columns(shape_columns(job.set, job.axes - 1)),
          along_y(shape_columns(job.set, 1)),
          rows(shape_rows(job.set)) {
        carve_words(columns, carver);
        carve_carries(columns, job, carver);
        if (job.axes == 3) {
            carve_words(along_y, carver);
            carve_carries(along_y, across_slab(job), carver);
        }
        carve_rows(job, carver);
        if (job.axes == 3) stored = carve_stored<K>(job, carver);
    }
    /// Of a plane whose columns are the near search's.
    LabelScratch(const DistanceJob &job, const Columns &columns, Carver &carver) : columns(columns), rows(shape_rows(job.set)) {
        carve_rows(job, carver);
    }

    void run(const DistanceJob &job, cudaStream_t stream, const Progress &progress) const {
        const int64_t width = job.set.size[0], height = job.set.size[1];
        const bool deep = job.axes == 3;
        const Output output(job, false);
        const auto pack = [&](int axis, const Columns &columns) {
            pack_runs(job.set, axis, columns, stream);
            carry_columns(columns, axis == job.axes - 1 ? job : across_slab(job), false, stream);
        };
        pack(job.axes - 1, this->columns);
        if (deep) pack(1, along_y);
        pack(0, rows);
        report(progress, 0.2, stream);

        const RunEnds<K> row_ends = {rows, ruler_of<K>(job, 0), true};
        const ColumnLines<K> columns = {this->columns, ruler_of<K>(job, job.axes - 1), deep, deep ? height : width};
        if (!deep) {
            const LabelColumnLines<K> lines = {columns, job.set, row_ends};
            finish<K>(lines, job, winners, true, output, stream);
        } else {
            const LabelColumnLines<K> lines = {columns, job.set, {along_y, ruler_of<K>(job, 1), false}};
            search_planes<K>(lines, job, winners, stored, stream);
            report(progress, 0.6, stream);
            finish<K>(LabelStoredLines<K>{stored, row_ends, job.slab.start}, job, winners, false, output, stream);
        }
        report(progress, 1, stream);
    }

  private:
    void carve_rows(const DistanceJob &job, Carver &carver) {
        carve_words(rows, carver);
        carve_carries(rows, across_slab(job), carver);
        winners = carver.take<int32_t>(most_winners(job));
    }
};

/// A near search, and what it leaves to lines.
template <class K>
struct NearSearch {
    plane::Plan plan;
    plane::Layout layout;
    LabelScratch<K> scratch;
    uint32_t *members, *is_left;

    NearSearch(const DistanceJob &job, const plane::Plan &plan, Carver &carver)
        : plan(plan),
          layout(plane::carve_layout(job, plan, carver)),
          scratch(job, layout.columns, carver),
          members(carver.take<uint32_t>(scratch.rows.total())),
          is_left(carver.take<uint32_t>(1)) {}

    void run(const DistanceJob &job, cudaStream_t stream, const Progress &progress) {
        layout.take(layout.columns.all());
        pack_runs_of_planes(job.set, layout.columns, scratch.rows, members, stream);
        carry_columns(layout.columns, job, false, stream);
        carry_columns(scratch.rows, across_slab(job), false, stream);
        report(progress, 0.3, stream);
        plane::search_labels(plan, layout, LabelRows{scratch.rows, members}, is_left, stream);
        const ColumnLines<K> columns = {layout.columns, ruler_of<K>(job, 1), false, job.set.size[0]};
        const UnsettledLines<K> lines = {{columns, job.set, {scratch.rows, ruler_of<K>(job, 0), true}}, layout, is_left};
        finish<K>(lines, job, scratch.winners, true, layout.output, stream);
        report(progress, 1, stream);
    }
};

/// A near search in a volume, and what it leaves to lines.
template <class K>
struct VolumeSearch {
    volume::LabelPlan plan;
    volume::LabelLayout layout;
    StoredLines<K> stored;
    int32_t *winners;
    uint32_t *members;

    VolumeSearch(const DistanceJob &job, const volume::LabelPlan &plan, Carver &carver) : plan(plan), layout(job) {
        for (Columns *each : {&layout.rows.begins, &layout.along_y, &layout.along_z}) {
            carve_words(*each, carver);
            carve_carries(*each, each == &layout.along_z ? job : across_slab(job), carver);
        }
        layout.rows.members = members = carver.take<uint32_t>(layout.rows.begins.total());
        layout.marks = carver.take<uint8_t>(layout.count_marks());
        layout.left = carver.take<uint32_t>(layout.count_left());
        winners = carver.take<int32_t>(most_winners(job));
        stored = carve_stored<K>(job, carver);
        layout.y_costs = reinterpret_cast<uint32_t *>(stored.cost);  // lines begin when it is read
    }

    void run(const DistanceJob &job, cudaStream_t stream, const Progress &progress) {
        pack_runs_of_volume(job.set, layout.along_y, layout.along_z, layout.rows.begins, members, stream);
        for (const Columns *each : {&layout.rows.begins, &layout.along_y, &layout.along_z})
            carry_columns(*each, each == &layout.along_z ? job : across_slab(job), false, stream);
        report(progress, 0.4, stream);
        volume::search_labels(plan, layout, stream);
        const ColumnLines<K> columns = {layout.along_z, ruler_of<K>(job, 2), true, job.set.size[1]};
        const UnsettledPlanes<K> planes = {{columns, job.set, {layout.along_y, ruler_of<K>(job, 1), false}}, layout};
        search_planes<K>(planes, job, winners, stored, stream);
        const UnsettledRows<K> rows = {{stored, {layout.rows.begins, ruler_of<K>(job, 0), true}, job.slab.start}, layout};
        finish<K>(rows, job, winners, false, layout.output, stream);
        report(progress, 1, stream);
    }
};

/// Calls take(way) with the way that a plan tells, its arrays carved.
template <class Take>
void with_way(const DistanceJob &job, const LabelPlan &plan, Carver &carver, Take take) {
    with_kind(job, [&](auto kind) {
        using K = decltype(kind);
        if (plan.plane.way == plane::Way::LABELS) return take(NearSearch<K>(job, plan.plane, carver));
        if (plan.volume.serves) return take(VolumeSearch<K>(job, plan.volume, carver));
        return take(LabelScratch<K>(job, carver));
    });
}

}  // namespace

LabelPlan plan_of_labels(const DistanceJob &job) {
    // Near searches end with the axis of slabs: what lies outside of one would have to be in planes that it has not.
    LabelPlan plan;
    if (!job.is_slab()) plan = {plane::plan_of_labels(job), volume::plan_of_labels(job)};
    Carver carver;
    with_way(job, plan, carver, [](auto &&) {});
    plan.scratch = carver.used();
    return plan;
}

void distance_of_labels(const DistanceJob &job, const LabelPlan &plan, void *memory, cudaStream_t stream,
                        const Progress &progress) {
    if (job.set.pixels() == 0) return;
    Carver carver(memory);
    with_way(job, plan, carver, [&](auto &&way) { way.run(job, stream, progress); });
}

}  // namespace apsis::cuda::distance
