// Which way serves a distance map in the plane: all conditions, and what the launches ask for.
//
// Every way gives the same bytes, so that the conditions are about time and memory alone.  The ways, what each is for, and the
// time of a map without it (one H200, ten kinds of image):
//
// - Small images: one kernel does all rows, since every further launch costs as much again.  Without it: up to 3 times.
// - Narrow rows: a block holds a strip of 32 rows in shared memory, whether its sites are near or far.  Without it: up to 3.6
//   times.
// - Whole rows: the near search settles strips with sites nearby.  The envelope takes the other strips, and marked patches.
//   Without a longer reach in images of few blocks: up to twice the time.  Without one near search for both sides of a signed
//   map: up to twice.  Without bands in pairs: up to 29 % more.
// - Segmented rows: the same where a block cannot hold a row's candidates, or costs do not fit 32 bits.
// - Labels: the near search of a label image.  Lines take the strips with marks.
#include "cuda/distance/plane/layout.h"

#include "cuda/distance/plane/envelope_tiles.cuh"
#include "cuda/distance/plane/near_search.cuh"
#include "cuda/distance/plane/tuning.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

/// Whether any way of this folder may serve a map: its pixels are square, and its sizes fit the numbers of the kernels.
bool is_for_plane(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    const int64_t width = job.set.size[0], length = job.set.size[1], images = job.set.size[2] * (job.is_signed ? 2 : 1);
    const int64_t strips = ceil_div(length, STRIP) * images;
    // Blocks are numbered in 31 bits, and indices of an image whose rows are not cut fit them.
    return width <= LONGEST && job.slab.extent <= LONGEST && length * images <= MOST_BLOCKS &&
           strips * std::max((STRIP / BAND) * ceil_div(width, SEGMENT), ceil_div(width, WIDE_SPAN)) <= MOST_BLOCKS;
}

// Of a slab, costs and indices are those of the image, which is `extent` rows long.

bool are_small(const Columns &side, int64_t extent, bool nearest, const Limits &limits) {
    return side.count <= SMALL_WIDTH && extent <= columns::LONGEST_WHOLE &&
           side.batch * side.length * side.count <= SMALL_AREA &&
           small_images_bytes(side.count, nearest) + SMALL_IMAGES_DECLARED <= limits.dynamic();
}

bool are_narrow(const Columns &side, bool nearest) {
    return side.count <= (nearest ? NARROW_NEAREST_WIDTH : NARROW_WIDTH) && side.all().count >= MANY_STRIPS;
}

/// Rows are cut if they are too wide, or costs too large, for one block.
bool are_cut(int64_t width, int64_t extent, const Limits &limits) {
    if (width > WIDEST_ROW || extent > LONGEST_COLUMN) return true;
    // A tile may end beyond the row's end.
    if ((width + TILE) * (width + TILE) + extent * extent + 128 >= int64_t(NOTHING)) return true;
    return band_bytes(width, 1) > limits.dynamic();
}

bool has_long_reach(const Columns &side) {
    return side.count <= WIDE_SPAN / 2 || side.all().count * ceil_div(side.count, WIDE_SPAN) < FEW_NEAR_BLOCKS;
}

Way way_of(const Columns &side, int64_t extent, bool nearest, const Limits &limits) {
    if (are_small(side, extent, nearest, limits)) return Way::SMALL_IMAGES;
    if (nearest && near_search_bytes(nearest, has_long_reach(side)) > limits.dynamic()) return Way::NONE;
    if (are_narrow(side, nearest)) return Way::NARROW_ROWS;
    return are_cut(side.count, extent, limits) ? Way::SEGMENTED_ROWS : Way::WHOLE_ROWS;
}

/// From how many far groups on the envelope takes a strip.  Never, if a limit makes all far pixels the same, so that the near
/// search settles them.  In narrow rows it leaves no marks, so that one far group is enough.
uint32_t least_far_groups(const Layout &layout, Way way) {
    if (layout.output.measure.limit < Shape<WIDE_SPAN>::MOST_COST) return UINT32_MAX;
    if (way == Way::NARROW_ROWS) return 1;
    return static_cast<uint32_t>(ceil_div(ceil_div(layout.columns.count, GROUP), FAR_SHARE));
}

/// Threads for a row of the envelope, in so many blocks.
dim3 threads_for(int64_t width, int64_t blocks) {
    int threads = blocks < FEW_BANDS ? FEW_BANDS_THREADS : 2 * WARP;
    while (threads < THREADS && threads * TILES_EACH * TILE < width) threads *= 2;
    return threads;
}

Launch near_launch(const Plan &plan, const Layout &layout) {
    const int64_t spans = ceil_div(layout.columns.count, plan.has_long_reach ? SHORT_SPAN : WIDE_SPAN);
    const int64_t blocks = layout.count_strips() * spans;
    if (layout.output.nearest) return {"search_sites", blocks, BLOCK, near_search_bytes(true, plan.has_long_reach)};
    return {"search_costs", plan.is_paired ? blocks / layout.sides() : blocks, BLOCK};
}

Launch list_launch(const Plan &plan, const Layout &layout) {
    const int64_t lists = layout.count_strips() * layout.segments(), width = layout.columns.count;
    return {"list_strips", lists, LIST_THREADS, list_bytes(plan.is_cut ? std::min<int64_t>(width, SEGMENT) : width)};
}

void plan_whole_rows(Plan &plan, const Layout &layout, const Limits &limits) {
    const int64_t width = layout.columns.count;
    // The brackets of a pair are somewhat longer, but found once.  A second block must fit, to work while the first one waits.
    plan.halves = 2 * band_bytes(width, 2) <= limits.dynamic() ? 2 : 1;
    const int64_t blocks = layout.count_strips() * (STRIP / (BAND * plan.halves));
    plan.rows = {"search_bands", blocks, threads_for(width, blocks), band_bytes(width, plan.halves)};
}

void plan_segmented_rows(Plan &plan, const Layout &layout, const Limits &limits) {
    const int64_t width = layout.columns.count, segments = layout.segments(), bands = layout.count_bands();
    const int64_t tiles_of = segments > 1 ? SEGMENT : width;
    const int64_t room = static_cast<int64_t>((limits.dynamic() - segment_bytes(tiles_of, 0)) / 8);
    plan.most_candidates = static_cast<int32_t>(std::min({room, int64_t(MOST_CANDIDATES), segments == 1 ? width : room}));
    if (segments > 1)
        plan.brackets = {"find_segment_brackets", ceil_div(bands * layout.count_segment_brackets(), WARPS), BLOCK};
    plan.rows = {"search_pieces", bands * segments, threads_for(width, bands * segments),
                 segment_bytes(tiles_of, plan.most_candidates)};
}

}  // namespace

Layout carve_layout(const DistanceJob &job, const Plan &plan, Carver &carver) {
    Layout layout(columns::shape_columns(job.set, 1), Output(job, false));
    layout.is_paired = plan.is_paired, layout.is_cut = plan.is_cut;
    Columns &columns = layout.columns;
    carve_words(columns, carver);
    carve_carries(columns, job, carver);
    if (plan.way == Way::SMALL_IMAGES) return layout;
    columns.far_groups = carver.take<uint32_t>(columns.count_far());
    layout.least_far = plan.way == Way::LABELS ? UINT32_MAX : least_far_groups(layout, plan.way);
    layout.marks = carver.take<uint8_t>(layout.count_marks());
    if (plan.way == Way::NARROW_ROWS || plan.way == Way::LABELS) return layout;
    const int64_t strips = columns.all().count;
    layout.interior = carver.take<uint8_t>(layout.sides() * strips * layout.interior_bytes());  // and all_site_bands
    layout.candidates = carver.take<uint16_t>(columns.total());
    layout.summaries = carver.take<uint32_t>(strips * layout.segments());
    if (plan.is_cut) {
        layout.places = carver.take<uint16_t>(strips * layout.groups());
        layout.group_bounds = carver.take<GroupBounds>(strips * layout.groups());
        layout.segment_brackets = carver.take<int2>(columns.batch * layout.bands() * layout.count_segment_brackets());
    } else {
        layout.site_words = carver.take<uint32_t>(columns.total());
        layout.carry_distances = carver.take<uint32_t>(columns.total());
    }
    return layout;
}

Plan plan_of(const DistanceJob &job, const StripRange &range, const Limits &limits) {
    Plan plan;
    if (!is_for_plane(job)) return plan;
    const Columns side = columns::shape_columns(job.set, 1);
    const bool nearest = static_cast<bool>(job.nearest);
    plan.way = way_of(side, job.slab.extent, nearest, limits);
    if (plan.way == Way::NONE) return plan;
    plan.is_cut = plan.way == Way::SEGMENTED_ROWS;
    // Both sides of a signed map together take as little as half the time.  That search writes packed 32-bit numbers alone.
    const bool is_near_then_envelope = plan.way == Way::WHOLE_ROWS || plan.way == Way::SEGMENTED_ROWS;
    plan.is_paired = is_near_then_envelope && job.is_signed && !nearest && OutputFormat(Output(job, false)).serves;
    plan.has_long_reach = !plan.is_paired && has_long_reach(side);
    Carver carver;
    Layout layout = carve_layout(job, plan, carver);
    plan.scratch = carver.used();
    layout.take(range);
    switch (plan.way) {
        case Way::SMALL_IMAGES:
            plan.rows = {"search_small_images", layout.count_bands(),
                         dim3(static_cast<unsigned>(ceil_div(ceil_div(side.count, TILE), WARP) * WARP), BAND),
                         small_images_bytes(side.count, nearest)};
            break;
        case Way::NARROW_ROWS:
            if (nearest) plan.near = near_launch(plan, layout);
            plan.rows = {"search_narrow_rows", layout.count_strips(), static_cast<unsigned>(layout.groups() * WARP),
                         narrow_rows_bytes(side.count)};
            break;
        default:
            plan.near = near_launch(plan, layout);
            plan.list = list_launch(plan, layout);
            plan.is_cut ? plan_segmented_rows(plan, layout, limits) : plan_whole_rows(plan, layout, limits);
    }
    return plan;
}

Plan plan_of_labels(const DistanceJob &job) {
    Plan plan;
    if (!is_for_plane(job)) return plan;
    plan.way = Way::LABELS;
    plan.has_long_reach = true;
    Carver carver;
    Layout layout = carve_layout(job, plan, carver);
    plan.scratch = carver.used();
    layout.take(layout.columns.all());
    if (job.nearest)
        plan.near = {"search_label_sites", layout.count_strips() * ceil_div(layout.columns.count, SHORT_SPAN), BLOCK,
                     near_search_bytes(true, plan.has_long_reach)};
    else
        plan.near = {"search_label_costs", layout.count_strips() * ceil_div(layout.columns.count, LABEL_SPAN), BLOCK};
    plan.rows = {"search_marked_labels", layout.count_strips() * layout.patches(), BLOCK};
    if (std::max(plan.near.blocks, plan.rows.blocks) > MOST_BLOCKS) return {};
    return plan;
}

Plan plan_of(const DistanceJob &job, const Limits &limits) {
    return plan_of(job, columns::shape_columns(job.set, 1).all(), limits);
}

}  // namespace apsis::cuda::plane
