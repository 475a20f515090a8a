// Which kernels find the components of an image: all conditions, and the launches of tiles.
//
// The loss without each choice was measured on an H200:
//
// - Rows or row pairs: in planes two rows at once take less time, but cannot store the roots of runs.  Stored roots save the
//   writing of labels more than that.  Statistics alone take up to 33 % more by rows.
// - A count alone, in planes: the number of the tiles' parts, less one for each join of nodes.  Nothing else is kept.  By rows
//   it takes 22 to 97 % more.
// - Linking at random: in planes of few tiles joining waits for memory, and trees that are linked by the lowest pixel grow
//   deep.  Without it a spiral of 2048 x 2048 takes 58 % more, most images 5 % less.
// - Small images, on an H100, as a graph: by the kernels of larger ones labels of up to 128 x 128 pixels take 49 to 120 % more,
//   of 256 x 256 and 512 x 512 11 to 62 %, and of 1024 x 1024 6 to 17 %.
#include "cuda/components/plan.h"

#include "cuda/components/label_row_pairs.cuh"
#include "cuda/components/label_rows.cuh"
#include "cuda/components/select.cuh"
#include "cuda/components/small_images.cuh"
#include "cuda/components/value_tiles.cuh"

namespace apsis::cuda::components {

namespace {

/// Whether labels side by side can be stored 16 bytes at once.  One by one, those of 64 bits take a fifth more (H200, 16384^2).
bool are_packed(const View &labels) {
    const int64_t bytes = labels.type == APSIS_I32 ? 4 : labels.type == APSIS_I64 ? 8 : 0;
    return bytes > 0 && labels.stride[0] == bytes && rows_begin_at(labels, sizeof(uint4));
}

template <class Tile>
Launch plan_label(const Plan &plan, int64_t count, bool measures) {
    if constexpr (Tile::PLANES == 1)
        if (plan.by_row_pairs) return {"label_tile_by_row_pairs", count, RowPairs<Tile>::THREADS, sizeof(RowPairs<Tile>)};
    return {"label_tile", count, Tile::THREADS, measures ? sizeof(MeasuredTileParts<Tile>) : sizeof(TileParts<Tile>)};
}

void check_size(const View &set, bool fits) {
    if (fits) return;
    throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for its components on a CUDA device",
                static_cast<long long>(set.size[0]), static_cast<long long>(set.size[1]), static_cast<long long>(set.size[2]));
}

template <class Tile>
void plan_tiles(const ComponentsJob &job, Plan &plan) {
    const int64_t width = job.set.size[0], height = job.set.size[1], depth = job.set.size[2];
    const int64_t across = ceil_div(width, Tile::WORDS * 32), down = ceil_div(height, Tile::ROWS),
                  deep = ceil_div(depth, Tile::PLANES), count = across * down * deep;
    plan.has_nodes = across * down > 1 || (plan.is_volume && deep > 1);
    const int64_t most = plan.has_nodes ? int64_t(1) << (32 - Tile::NODE_BITS) : MOST_BLOCKS;
    const int64_t codes = job.told.has_faces() ? 2 * job.columns() : 0;
    check_size(job.set, count <= most && job.set.pixels() / 2 + codes <= int64_t(UINT32_MAX) - LabelledTile<Tile>::ENTRIES);
    plan.across = static_cast<uint32_t>(across), plan.down = static_cast<uint32_t>(down);
    plan.deep = static_cast<uint32_t>(deep);
    const int64_t rows = std::min<int64_t>(height, Tile::ROWS), planes = std::min<int64_t>(depth, Tile::PLANES);
    plan.kept_words = static_cast<uint32_t>(Tile::WORDS * (plan.is_volume ? Tile::ROWS * planes : rows));
    plan.most_kept_parts = std::min(Tile::MOST_KEPT_PARTS, static_cast<uint32_t>(ceil_div(plan.kept_words, 2)));
    plan.links_at_random = plan.has_nodes && count <= Tile::RANDOM_LINKING_TILES && !job.selects() && !job.is_slab();
    plan.label = plan_label<Tile>(plan, count, job.components != nullptr);
    if (job.selects()) plan.areas = {"sum_tile_areas", count, Tile::THREADS, sizeof(TileAreas<Tile>)};
    if (job.components)
        plan.remeasure = {"remeasure_tiles", std::min(count, MOST_MEASURING_BLOCKS), Tile::THREADS, sizeof(LabelledTile<Tile>)};
    if (job.labels) plan.write = {"write_tile", count, Tile::THREADS, sizeof(LabelledTile<Tile>)};
    if (job.first || job.last || codes)
        plan.end = {"write_face", plan.is_volume ? across * down : across, Tile::THREADS, sizeof(LabelledTile<Tile>)};
}

template <class Tile>
void plan_small_image(const ComponentsJob &job, Plan &plan) {
    const int64_t across = ceil_div(job.set.size[0], Tile::WORDS * 32), down = ceil_div(job.set.size[1], Tile::ROWS),
                  deep = job.set.size[2];
    if (across > Tile::MOST_TILES || down > Tile::MOST_TILES || deep > Tile::MOST_TILES) return;
    const int64_t count = across * down * deep;
    if (count > Tile::MOST_TILES) return;
    plan.is_small_image = true;
    using Whole = PlaneTile<1>;
    plan.is_one_tile = job.set.size[0] <= Whole::WORDS * 32 && job.set.size[1] <= Whole::ROWS && deep == 1;
    if (plan.is_one_tile) {
        plan.label = {"label_one_tile", 1, Whole::THREADS, sizeof(LabelledTile<Whole>)};
        return;
    }
    plan.across = static_cast<uint32_t>(across), plan.down = static_cast<uint32_t>(down);
    plan.deep = static_cast<uint32_t>(deep);
    plan.has_nodes = across * down > 1;
    plan.kept_words = static_cast<uint32_t>(Tile::WORDS * std::min<int64_t>(job.set.size[1], Tile::ROWS));
    const WorkSplit split = split_joins<Tile>(count, across > 1);
    plan.label = {"label_tile", count, Tile::THREADS, sizeof(TileParts<Tile>)};
    plan.join = {"join_small_tiles", split.row_blocks + split.side_blocks, BLOCK};
    plan.write = {"write_tile", count, Tile::THREADS, sizeof(LabelledTile<Tile>)};
}

}  // namespace

Plan plan_of(const ComponentsJob &job) {
    Plan plan;
    plan.is_volume = job.axes == 3, plan.connectivity = job.connectivity;
    plan.packed_labels = are_packed(job.labels);
    plan.stores_roots = plan.packed_labels && job.labels.type == APSIS_I32 && !job.is_found();
    plan.by_row_pairs = !plan.is_volume && !plan.stores_roots;
    plan.counts_alone = !plan.is_volume && !job.labels && !job.components && !job.selects() && !job.is_slab();
    with_tile(plan, [&](auto tile) { plan_tiles<decltype(tile)>(job, plan); });
    return plan;
}

bool is_for_labels(const ComponentsJob &job) {
    return job.labels.type == APSIS_I32 && are_packed(job.labels) && !job.components && !job.selects() && !job.is_slab();
}

Plan small_image_plan_of(const ComponentsJob &job) {
    Plan plan;
    plan.connectivity = job.connectivity;
    plan.packed_labels = true;
    if (job.axes == 2) with_small_tile(plan, [&](auto tile) { plan_small_image<decltype(tile)>(job, plan); });
    return plan;
}

ValuePlan value_plan_of(const ComponentsJob &job) {
    ValuePlan plan;
    plan.packed_labels = are_packed(job.labels);
    with_value_tile(job.axes, job.connectivity, [&](auto tile) {
        using Tile = decltype(tile);
        const int64_t across = ceil_div(job.set.size[0], Tile::WORDS * WARP), down = ceil_div(job.set.size[1], Tile::ROWS),
                      count = across * down * ceil_div(job.set.size[2], Tile::PLANES);
        check_size(job.set, count <= MOST_BLOCKS && job.set.pixels() <= int64_t(UINT32_MAX));
        plan.across = static_cast<uint32_t>(across), plan.down = static_cast<uint32_t>(down);
        plan.label = {"label_value_tile", count, Tile::THREADS};
        if (count > 1) plan.join = {"join_value_tile", count, Tile::RIM_THREADS};
    });
    return plan;
}

}  // namespace apsis::cuda::components
