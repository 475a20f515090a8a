// How much of a label image is collected at once.
//
// Items are few in segmentations, a run for each 30 pixels or less, and may be as many as 13 a pixel in noise.  So memory is
// for one item a 64 pixels, at least 2^20.  The whole image is tried first.  Where items are more, the device has counted
// them, and half as many segments are tried next.
//
// Statistics of values of at most 16 bits are made by tiles, in a table of all values.
#include "cuda/labels/plan.h"

#include <algorithm>

#include "cuda/runtime/launch.h"

namespace apsis::cuda::labels {

namespace {

constexpr int64_t LEAST_CAPACITY = int64_t(1) << 20, PIXELS_AN_ITEM = 64;

Plan plan_segments(const View &image, int64_t items_a_pixel, const char *kernel) {
    const int64_t most_of_segment = SEGMENT * items_a_pixel, pixels = image.pixels();
    Plan plan;
    plan.across = ceil_div(image.size[0], SEGMENT);
    plan.segments = plan.across * image.size[1] * image.size[2];
    plan.most_segments = std::min(plan.segments, int64_t(UINT32_MAX) / most_of_segment);
    const int64_t wanted = std::max(LEAST_CAPACITY, pixels / PIXELS_AN_ITEM);
    plan.capacity = std::min({pixels <= wanted ? pixels * items_a_pixel : wanted, wanted, int64_t(INT32_MAX)});
    plan.capacity = std::max(plan.capacity, std::min(most_of_segment, pixels * items_a_pixel));
    plan.emit = {kernel, std::min(ceil_div(plan.most_segments, WARPS), MOST_BLOCKS), BLOCK};
    plan.begin = {"begin_sums", ceil_div(plan.capacity, BLOCK), BLOCK};
    plan.add = {"add_items", ceil_div(plan.capacity, BLOCK * ITEMS_A_THREAD), BLOCK};
    return plan;
}

}  // namespace

int directions(int axes, int connectivity) {
    if (axes == 2) return connectivity == 1 ? 2 : 4;
    return connectivity == 1 ? 3 : connectivity == 2 ? 9 : 13;
}

Plan plan_of(const StatisticsJob &job) {
    Plan plan = plan_segments(job.set, 1, "emit_runs");
    if (job.set.type != APSIS_U8 && job.set.type != APSIS_U16) return plan;
    plan.table = int64_t(1) << 8 * (job.set.type == APSIS_U8 ? 1 : 2);
    plan.is_volume = job.set.size[2] > 1;
    plan.tile_count = ceil_div(job.set.size[0], TILE_WORDS[plan.is_volume] * WARP) *
                      ceil_div(job.set.size[1], TILE_ROWS[plan.is_volume]) *
                      ceil_div(job.set.size[2], TILE_PLANES[plan.is_volume]);
    plan.tiles = {"sum_tiles", std::min(plan.tile_count, MOST_BLOCKS), BLOCK};
    return plan;
}

Plan plan_of(const ContactsJob &job) {
    Plan plan = plan_segments(job.set, directions(job.axes, job.connectivity), "emit_faces");
    plan.has_ranks = job.set.type == APSIS_I64;
    return plan;
}

}  // namespace apsis::cuda::labels
