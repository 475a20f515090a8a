// Euclidean distance maps in the plane: columns of bits with carries, then every row by the way that suits it.
//
// Sets and outputs may pass in parts: strips are packed one range after another, and once all are packed and carried,
// rows are written one range after another.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the outputs out; in between 1/2 byte a pixel of words, carries and marks,
// most of it in the second cache.
#include "cuda/distance/plane/layout.h"

#include "cuda/columns/columns.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::plane {

namespace {

/// How many far groups leave a strip to the envelope: no number where the search settles what is far, too.
uint32_t least_far_groups(const Rows &rows) {
    if ((rows.reaches_far && !rows.is_thin) || rows.output.measure.limit < NEAR * NEAR) return UINT32_MAX;
    return static_cast<uint32_t>(ceil_div(ceil_div(rows.columns.count, GROUP), FAR_SHARE));
}

/// The rows of a map, with memory carved for all that they need.
struct Scratch {
    Rows rows;

    Scratch(const DistanceJob &job, Carver &carver) : rows(shape_columns(job.set, 1), Output(job, false)) {
        carve_words(rows.columns, carver);
        carve_carries(rows.columns, carver);
        if (!rows.is_small) rows.columns.far_groups = carver.take<uint32_t>(rows.columns.count_far());
        rows.least_far = least_far_groups(rows);
        if (!rows.is_small) carve_lists(carver);
    }

  private:
    void carve_lists(Carver &carver) {
        const Columns &columns = rows.columns;
        const int64_t strips = columns.all().count;
        rows.marks = carver.take<uint8_t>(rows.count_marks());
        if (!rows.is_listed()) return;
        rows.solid = carver.take<uint8_t>(rows.sides() * strips * rows.solid_bytes());  // of a signed map, and what is full
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

Rows::Rows(const Columns &side, const Output &output)
    : columns(side),
      images(side.batch),
      is_small(are_small(side, static_cast<bool>(output.nearest))),
      reaches_far(plane::reaches_far(side)),
      is_paired(!is_small && !reaches_far && searches_both(output)),
      is_thin(are_thin(side)),
      is_cut(!is_thin && are_cut(side)),
      slack(slack_of(side.count)),
      output(output) {
    columns.batch *= sides(), columns.is_mirrored = output.is_signed;
}

size_t rows_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void take_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    const Rows rows = Scratch(job, carver).rows;
    const int64_t strips = rows.images * rows.columns.strips();
    if (rows.is_small && range.count == strips) return pack_whole(job.set, job.complement, rows.columns, stream);
    pack_strips_of(job.set, range, job.complement, rows.columns, stream);
    if (range.end() == strips) carry_columns(rows.columns, stream);
}

void give_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    Scratch scratch(job, carver);
    Rows &rows = scratch.rows;
    rows.take(range);
    if (rows.is_small) return search_staircase(rows, stream);
    if (rows.is_thin) return search_thin(rows, stream);
    if (rows.is_paired)
        search_both_outward(rows, stream);
    else
        search_outward(rows, stream);
    if (rows.is_listed()) list_contenders(rows, stream);
    if (rows.is_cut)
        search_segments(rows, stream);
    else
        search_envelope(rows, stream);
}

void distance_by_rows(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const StripRange all = shape_columns(job.set, 1).all();
    take_rows(job, all, memory, stream);
    report(progress, 0.3, stream);
    give_rows(job, all, memory, stream);
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::plane
