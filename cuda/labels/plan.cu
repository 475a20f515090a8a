// How much of a label image is collected at once.
//
// Items are few in segmentations, a run for each 30 pixels or less, and may be as many as 13 a pixel in noise.  So memory is
// for one item a 64 pixels, at least 2^20.  The whole image is tried first.  Where items are more, the device has counted
// them, and as many segments are tried next as may have room.
//
// Values of at most 16 bits are added up by tiles instead: statistics in a table of all values, contacts in a hash table.
// Where that one has no room for all pairs, they are first put into a set, if it is not larger than the image; otherwise
// contacts are collected after all.
//
// Measures have room for as many values as the job says, in a record each.
#include "cuda/labels/plan.h"

#include <algorithm>

#include "cuda/runtime/launch.h"

namespace apsis::cuda::labels {

namespace {

constexpr int64_t LEAST_CAPACITY = int64_t(1) << 20, PIXELS_AN_ITEM = 64;
constexpr int64_t MOST_RECORDS = int64_t(1) << 30, BATCH_RECORDS = 4096;
constexpr int64_t MOST_LENGTH = 16, WARPS_WANTED = int64_t(1) << 12;  // as many as a GPU runs at once
constexpr int64_t MOST_REALS = int64_t(1) << 36;                      // whose sums fit their numbers
constexpr int64_t LEAST_PAIRS = 256, MOST_PAIRS = int64_t(1) << 20, PIXELS_A_PAIR = 16;

Plan plan_segments(const View &image, int64_t items_a_pixel, const char *kernel) {
    const int64_t most_of_segment = SEGMENT * items_a_pixel, pixels = image.pixels();
    Plan plan;
    plan.across = ceil_div(image.size[0], SEGMENT);
    plan.segments = plan.across * image.size[1] * image.size[2];
    plan.most_segments = std::min(plan.segments, int64_t(INT32_MAX) / most_of_segment);
    const int64_t wanted = std::max(LEAST_CAPACITY, pixels / PIXELS_AN_ITEM);
    plan.capacity = std::min({pixels <= wanted ? pixels * items_a_pixel : wanted, wanted, int64_t(INT32_MAX)});
    plan.capacity = std::max(plan.capacity, std::min(2 * most_of_segment, pixels * items_a_pixel));
    plan.kept = plan.capacity / 2;
    plan.emit = {kernel, std::min(ceil_div(plan.most_segments, WARPS), MOST_BLOCKS), BLOCK};
    plan.begin = {"begin_sums", ceil_div(plan.capacity, BLOCK), BLOCK};
    plan.add = {"add_items", ceil_div(plan.capacity, BLOCK * ITEMS_A_THREAD), BLOCK};
    return plan;
}

/// Sums are to be made by tiles, in a table with so many entries.
void plan_tiles(const View &image, int64_t table, const char *kernel, Plan &plan) {
    plan.table = table;
    plan.is_volume = image.size[2] > 1;
    plan.tile_count = ceil_div(image.size[0], TILE_WORDS[plan.is_volume] * WARP) *
                      ceil_div(image.size[1], TILE_ROWS[plan.is_volume]) * ceil_div(image.size[2], TILE_PLANES[plan.is_volume]);
    plan.tiles = {kernel, std::min(plan.tile_count, MOST_BLOCKS), BLOCK};
}

}  // namespace

int directions(int axes, int connectivity) {
    if (axes == 2) return connectivity == 1 ? 2 : 4;
    return connectivity == 1 ? 3 : connectivity == 2 ? 9 : 13;
}

Plan plan_of(const StatisticsJob &job) {
    Plan plan = plan_segments(job.set, 1, "emit_runs");
    if (bits_of(job.set.type) <= 16) plan_tiles(job.set, int64_t(1) << bits_of(job.set.type), "sum_tiles", plan);
    return plan;
}

Plan plan_of(const ContactsJob &job) {
    Plan plan = plan_segments(job.set, directions(job.axes, job.connectivity), "emit_faces");
    plan.has_ranks = job.set.type == APSIS_I64;
    int64_t pairs = LEAST_PAIRS;
    while (pairs < MOST_PAIRS && pairs < job.set.pixels() / PIXELS_A_PAIR) pairs *= 2;
    if (bits_of(job.set.type) > 16) return plan;
    plan_tiles(job.set, pairs, "find_in_tiles", plan);
    const int64_t values = int64_t(1) << bits_of(job.set.type), words = ceil_div(values * (values - 1) / 2, WARP);
    if (words * int64_t(sizeof(uint32_t)) > job.set.pixels() * bits_of(job.set.type) / 8) return plan;
    plan.values = values, plan.set_words = words;
    plan.chunk = pairs / 2 / WARP;  // so that a table has room for all of its pairs
    plan.count = {"count_pairs", ceil_div(words, plan.chunk), BLOCK};
    return plan;
}

MeasuresPlan plan_of(const MeasuresJob &job) {
    MeasuresPlan plan;
    const bool is_real = job.wants(APSIS_INTENSITY) && job.grey.type == APSIS_F32;
    plan.axes = job.axes;
    plan.margin = job.wants(APSIS_PERIMETER) ? 2 : job.wants_windows();
    plan.step = WARP - (plan.margin == 2 ? 4 : plan.margin);
    const __int128 longest = *std::max_element(job.set.size, job.set.size + job.axes);
    plan.has_carries = longest * longest * job.set.pixels() > INT64_MAX;
    plan.is_direct = bits_of(job.set.type) <= 16;
    plan.records = WARP;
    while (!plan.is_direct && plan.records < std::min(job.room, MOST_RECORDS)) plan.records *= 2;
    if (plan.is_direct) plan.records = int64_t(1) << bits_of(job.set.type);
    plan.width = is_real ? 2 * WARP : WARP;
    plan.batch = std::min(plan.records, BATCH_RECORDS);
    // Windows are also around the corners behind the last pixels.
    int64_t squares[3] = {1, 1, 1};
    for (int a = 0; a < job.axes; ++a) {
        const int64_t extent = job.set.size[a] + (plan.margin > 0);
        squares[a] = a < 2 ? ceil_div(extent, plan.step) : extent;
    }
    const int last = job.axes - 1;
    plan.length = static_cast<int>(std::clamp(squares[0] * squares[1] * squares[2] / WARPS_WANTED, int64_t(1), MOST_LENGTH));
    plan.across = squares[0], plan.down = job.axes == 3 ? squares[1] : 1;
    plan.warps = plan.across * plan.down * ceil_div(squares[last], plan.length);
    plan.serves = !job.wants_outlines() && !(is_real && job.set.pixels() > MOST_REALS);
    plan.sum = {"sum_squares", std::min(ceil_div(plan.warps, WARPS), MOST_BLOCKS), BLOCK};
    plan.list = {"list_records", ceil_div(plan.records, BLOCK), BLOCK};
    plan.gather = {"gather_records", ceil_div(plan.batch, WARPS), BLOCK};
    return plan;
}

}  // namespace apsis::cuda::labels
