// Euclidean distance maps in the plane: columns of bits with carries, then rows.  rows_serve (envelope.cu) chooses this way for
// a job, and give_rows the kernels of a map: small images, narrow rows, or the near search, then whole or segmented rows.
//
// Sets and outputs may pass in parts: strips are packed one range after another.  Once all have carries, rows are written one
// range after another.
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

/// How many far groups leave a strip to the envelope.  No number does where the near search settles what is far, too.
uint32_t least_far_groups(const Layout &layout) {
    if ((layout.has_long_reach && !layout.is_narrow) || layout.output.measure.limit < NEAR * NEAR) return UINT32_MAX;
    return static_cast<uint32_t>(ceil_div(ceil_div(layout.columns.count, GROUP), FAR_SHARE));
}

/// The layout of a map, with memory carved for all that it needs.
struct Scratch {
    Layout layout;

    Scratch(const DistanceJob &job, Carver &carver) : layout(shape_columns(job.set, 1), Output(job, false)) {
        carve_words(layout.columns, carver);
        carve_carries(layout.columns, carver);
        if (!layout.is_small) layout.columns.far_groups = carver.take<uint32_t>(layout.columns.count_far());
        layout.least_far = least_far_groups(layout);
        if (!layout.is_small) carve_lists(carver);
    }

  private:
    void carve_lists(Carver &carver) {
        const Columns &columns = layout.columns;
        const int64_t strips = columns.all().count;
        layout.marks = carver.take<uint8_t>(layout.count_marks());
        if (!layout.is_listed()) return;
        layout.interior = carver.take<uint8_t>(layout.sides() * strips *
                                               layout.interior_bytes());  // of a signed map, and its all_site_bands
        layout.candidates = carver.take<uint16_t>(columns.total());
        layout.summaries = carver.take<uint32_t>(strips * layout.segments());
        if (layout.is_cut) {
            layout.places = carver.take<uint16_t>(strips * layout.groups());
            layout.group_bounds = carver.take<GroupBounds>(strips * layout.groups());
            layout.segment_brackets = carver.take<int2>(columns.batch * layout.bands() * layout.count_segment_brackets());
        } else {
            layout.site_words = carver.take<uint32_t>(columns.total());
            layout.carry_distances = carver.take<uint32_t>(columns.total());
        }
    }
};

}  // namespace

Layout::Layout(const Columns &side, const Output &output)
    : columns(side),
      images(side.batch),
      is_small(are_small(side, static_cast<bool>(output.nearest))),
      has_long_reach(plane::has_long_reach(side)),
      is_paired(!is_small && !has_long_reach && searches_both_sides(output)),
      is_narrow(are_narrow(side)),
      is_cut(!is_narrow && are_cut(side)),
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
    const Layout layout = Scratch(job, carver).layout;
    const int64_t strips = layout.images * layout.columns.strips();
    if (layout.is_small && range.count == strips) return pack_whole(job.set, job.complement, layout.columns, stream);
    pack_strips_of(job.set, range, job.complement, layout.columns, stream);
    if (range.end() == strips) carry_columns(layout.columns, stream);
}

void give_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    Scratch scratch(job, carver);
    Layout &layout = scratch.layout;
    layout.take(range);
    if (layout.is_small) return search_small_images(layout, stream);
    if (layout.is_narrow) return search_narrow_rows(layout, stream);
    if (layout.is_paired)
        search_near_signed(layout, stream);
    else
        search_near(layout, stream);
    if (layout.is_listed()) list_candidates(layout, stream);
    if (layout.is_cut)
        search_segmented_rows(layout, stream);
    else
        search_envelope(layout, stream);
}

void distance_by_rows(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const StripRange all = shape_columns(job.set, 1).all();
    take_rows(job, all, memory, stream);
    report(progress, 0.3, stream);
    give_rows(job, all, memory, stream);
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::plane
