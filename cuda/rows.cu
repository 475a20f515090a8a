// Euclidean distance maps in the plane: columns of bits with carries, then every row by the way that suits it.
//
// Sets and outputs may pass in parts: strips are packed one range after another, and once all are packed and carried,
// rows are written one range after another.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the outputs out; in between 1/2 byte a pixel of words, carries and marks,
// most of it in the second cache.
#include "rows.h"

#include <vector>

#include "columns.h"
#include "launch.h"
#include "transforms.h"

namespace apsis {

namespace {

/// How many far groups leave a strip to the envelope: none where the search settles what is far, too.
uint32_t least_far_groups(const Rows &rows) {
    if (rows.reaches_far || rows.output.measure.limit < NEAR * NEAR) return UINT32_MAX;
    return static_cast<uint32_t>(parts(parts(rows.columns.count, GROUP), FAR_SHARE));
}

int count_sides(const DistanceJob &job) { return job.is_signed ? 2 : 1; }

/// The rows of a map, and its complement's if it is signed, with memory carved for all that they need.
struct Scratch {
    std::vector<Rows> sides;

    Scratch(const DistanceJob &job, Carver &carver) {
        for (int side = 0; side < count_sides(job); ++side) {
            Columns columns = shape_columns(job.set, 1);
            carve_words(columns, carver);
            carve_carries(columns, carver);
            columns.far_groups = carver.take<uint32_t>(columns.all().count);
            sides.emplace_back(columns, Output(job, side == 1));
        }
        Rows shared = sides[0];  // one side is searched after the other
        carve(shared, carver);
        for (Rows &rows : sides) {
            const Columns columns = rows.columns;
            const bool is_inside = rows.output.is_inside;
            rows = shared;
            rows.columns = columns, rows.output.is_inside = is_inside;
            rows.least_far = least_far_groups(rows);
        }
        if (job.is_signed)
            for (int side = 0; side < 2; ++side) sides[side].others_far_groups = sides[1 - side].columns.far_groups;
    }
    /// Whether both sides are searched outward at once.
    bool are_paired() const {
        return sides.size() == 2 && !sides[0].is_small && !sides[0].reaches_far && searches_both(sides[0].output);
    }

  private:
    static void carve(Rows &rows, Carver &carver) {
        const Columns &columns = rows.columns;
        const int64_t strips = columns.all().count;
        if (rows.is_small) return;
        rows.marks = carver.take<uint8_t>(rows.count_marks());
        if (!rows.is_listed()) return;
        rows.solid = carver.take<uint8_t>(strips * rows.solid_bytes());
        rows.contenders = carver.take<uint16_t>(columns.total());
        rows.counts = carver.take<uint32_t>(strips * rows.segments());
        if (rows.is_cut) {
            rows.places = carver.take<uint16_t>(strips * rows.groups());
            rows.outlooks = carver.take<Outlook>(strips * rows.groups());
            rows.fences = carver.take<int2>(columns.batch * rows.bands() * rows.count_fences());
        } else {
            rows.insides = carver.take<uint32_t>(columns.total());
            rows.sights = carver.take<uint32_t>(columns.total());
        }
    }
};

}  // namespace

Rows::Rows(const Columns &columns, const Output &output)
    : columns(columns),
      is_small(are_small(columns, static_cast<bool>(output.nearest))),
      reaches_far(apsis::reaches_far(columns)),
      is_thin(are_thin(columns)),
      is_cut(!is_thin && are_cut(columns)),
      slack(slack_of(columns.count)),
      output(output) {}

size_t rows_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void take_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    const Scratch scratch(job, carver);
    const Columns &columns = scratch.sides[0].columns;
    if (scratch.sides[0].is_small && range.count == columns.all().count) {
        for (const Rows &rows : scratch.sides)
            pack_whole(job.set, job.complement != rows.output.is_inside, rows.columns, stream);
        return;
    }
    pack_strips_of(job.set, range, job.complement, columns, job.is_signed ? scratch.sides[1].columns : Columns(), stream);
    if (range.end() != columns.all().end()) return;
    for (const Rows &rows : scratch.sides) carry_columns(rows.columns, stream);
}

void give_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    Scratch scratch(job, carver);
    for (Rows &rows : scratch.sides) rows.range = range;
    if (scratch.are_paired()) search_both_outward(scratch.sides[0], scratch.sides[1], stream);
    for (const Rows &rows : scratch.sides) {
        if (rows.is_small) {
            search_staircase(rows, stream);
            continue;
        }
        if (!scratch.are_paired()) search_outward(rows, stream);
        if (rows.is_listed()) list_contenders(rows, stream);
        if (rows.is_thin)
            search_thin(rows, stream);
        else if (rows.is_cut)
            search_segments(rows, stream);
        else
            search_envelope(rows, stream);
    }
}

void distance_by_rows(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const StripRange all = shape_columns(job.set, 1).all();
    take_rows(job, all, memory, stream);
    report(progress, 0.3, stream);
    give_rows(job, all, memory, stream);
    report(progress, 1, stream);
}

}  // namespace apsis
