// Fields on the host: the memory of tasks, the start, and the choice of a kind of walk: of lengths, counted in 32 bits or not,
// or of names.
//
// Names spread along the steps of shortest paths; a lower name replaces a higher one.  The result is a least fixpoint too, so
// that tiles are visited as for lengths.  All waiting tasks count as near, since the order of names says nothing about when
// they arrive.
#include "cuda/paths/field_block.cuh"

namespace apsis::cuda::paths {

namespace {

/// How far the near tasks reach, in cells, along the longest steps.  More keep more of the device busy; fewer visit tiles less
/// often, which counts in 3-D, where there are many tiles.
constexpr int NEAR_CELLS[2] = {192, 16};  // in 2-D and 3-D

uint32_t power_above(int64_t least) {
    int64_t power = 1;
    while (power < least) power *= 2;
    return static_cast<uint32_t>(power);
}

/// Empties the queue and the lists.
template <class Value>
__global__ void __launch_bounds__(BLOCK) clear_waiting(FieldTasks<Value> tasks, DeviceCondition condition) {
    if (!condition.holds()) return;
    const int64_t count = tasks.tasks();
    for (int64_t i = first_item(); i < max(count, int64_t(tasks.queue_size)); i += item_step()) {
        if (i < count) tasks.pending[i] = Lengths<Value>::NONE;
        if (i < ceil_div(count, 32)) tasks.is_listed[i] = 0;
        if (i < tasks.queue_size) tasks.queue[i] = NO_TASK;
        if (i < tasks.fields) tasks.field[i] = {0, 1, 0, {0, 0}};
        if (i == 0) *tasks.counters = {0, 0, 0, tasks.fields};
    }
}

/// Fills all fields with UNSEEN and walls.
template <class Length>
__global__ void __launch_bounds__(BLOCK)
    fill_fields(FieldTasks<Length> tasks, const uint32_t *members, Length *lengths, DeviceCondition condition) {
    if (!condition.holds()) return;
    const int64_t cells = tasks.shape.cells();
    for (int64_t i = first_item(); i < cells; i += item_step()) {
        const Length start = members[i / 32] >> i % 32 & 1 ? Lengths<Length>::UNSEEN : Lengths<Length>::WALL;
        for (uint32_t field = 0; field < tasks.fields; ++field) lengths[field * cells + i] = start;
    }
}

/// Sets the sources to 0, and lets their tiles wait.
template <class Length>
__global__ void __launch_bounds__(BLOCK) plant_sources(FieldTasks<Length> tasks, Length *lengths, const FieldSource *sources,
                                                       int64_t count, DeviceCondition condition) {
    if (!condition.holds()) return;
    for (int64_t i = first_item(); i < count; i += item_step()) {
        if (sources[i].cell < 0) continue;
        const int64_t field = sources[i].field - tasks.first, at = field * tasks.shape.cells() + sources[i].cell;
        lengths[at] = 0;
        wake(tasks, static_cast<uint32_t>(field), static_cast<uint32_t>(at / tasks.shape.tile_cells()), Length(0));
    }
}

}  // namespace

FieldShape::FieldShape(const int64_t size[3], int axes) : axes(axes), width(size[0]), height(size[1]), depth(size[2]) {
    const int side = axes == 2 ? FieldTile<2>::WIDTH : FieldTile<3>::WIDTH;
    across = static_cast<uint32_t>(ceil_div(width, side));
    down = static_cast<uint32_t>(ceil_div(height, side));
    deep = static_cast<uint32_t>(ceil_div(depth, axes == 2 ? 1 : side));
}

template <class Value>
FieldTasks<Value>::FieldTasks(const FieldShape &shape, int64_t fields, Carver &carver)
    : shape(shape),
      fields(static_cast<uint32_t>(fields)) {
    if (fields > INT32_MAX || shape.tiles() > INT32_MAX || tasks() > INT32_MAX)
        throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for paths on a CUDA device",
                    static_cast<long long>(shape.width), static_cast<long long>(shape.height),
                    static_cast<long long>(shape.depth));
    pending = carver.take<Value>(tasks());
    far_tiles = carver.take<uint32_t>(2 * tasks());
    is_listed = carver.take<uint32_t>(ceil_div(tasks(), 32));
    queue_size = power_above(tasks() + MOST_RESIDENT);
    queue = carver.take<uint32_t>(queue_size);
    field = carver.take<Field>(fields);
    counters = carver.take<Counters>(1);
}

template <class Value>
void clear_tasks(const FieldTasks<Value> &tasks, DeviceCondition condition, cudaStream_t stream) {
    launch("clear_waiting", clear_waiting<Value>, ceil_div(tasks.queue_size, BLOCK), BLOCK, stream, tasks, condition);
}

template <class Length>
void start_fields(const FieldTasks<Length> &tasks, const uint32_t *members, Length *lengths, const FieldSource *sources,
                  int64_t count, DeviceCondition condition, cudaStream_t stream) {
    launch("fill_fields", fill_fields<Length>, ceil_div(tasks.shape.cells(), BLOCK), BLOCK, stream, tasks, members, lengths,
           condition);
    launch("plant_sources", plant_sources<Length>, ceil_div(count, BLOCK), BLOCK, stream, tasks, lengths, sources, count,
           condition);
}

namespace {

template <class Near, class Length>
void run_counted(const FieldTasks<Length> &tasks, Length *lengths, const Steps &steps, const Periodic &periodic,
                 uint32_t *too_long, DeviceCondition condition, cudaStream_t stream) {
    using Limits = Lengths<Length>;
    constexpr Length ALL = Limits::LONGEST;
    Walk<ShortestPaths<Length, Near>> walk = {tasks, lengths, nullptr, {}, ALL, ALL, 0, too_long, condition, periodic};
    for (int kind = 0; kind < 8; ++kind) walk.step[kind] = static_cast<Length>(steps.weight[kind]);
    if (steps.limit <= Limits::LONGEST)
        walk.longest = static_cast<Length>(steps.limit);
    else
        walk.near_end = static_cast<Length>(Limits::LONGEST - steps.most);
    walk.span = static_cast<Length>(std::min<int64_t>(NEAR_CELLS[tasks.shape.axes - 2] * steps.most, Limits::LONGEST));
    if constexpr (sizeof(Near) == sizeof(Length))
        if (periodic.any()) return run_closed_walk(walk, steps.connectivity, stream);
    launch_walk<false>(walk, steps.connectivity, stream);
}

}  // namespace

template <class Length>
void run_fields(const FieldTasks<Length> &tasks, Length *lengths, const Steps &steps, const Periodic &periodic,
                uint32_t *too_long, DeviceCondition condition, cudaStream_t stream) {
    if (steps.most <= LARGEST_LOCAL_STEP && !periodic.any())
        run_counted<int32_t>(tasks, lengths, steps, periodic, too_long, condition, stream);
    else
        run_counted<Length>(tasks, lengths, steps, periodic, too_long, condition, stream);
}

template <class Name, class Length>
void run_names(const FieldTasks<Name> &tasks, Name *names, const Length *lengths, const Steps &steps, const Periodic &periodic,
               DeviceCondition condition, cudaStream_t stream) {
    constexpr Name ALL = Lengths<Name>::LONGEST, NEAR = Lengths<Name>::NONE;
    Walk<LowestNames<Name, Length>> walk = {tasks, names, lengths, {}, ALL, ALL, NEAR, nullptr, condition, periodic};
    for (int kind = 0; kind < 8; ++kind) walk.step[kind] = static_cast<Length>(steps.weight[kind]);
    if (periodic.any()) return run_closed_walk(walk, steps.connectivity, stream);
    launch_walk<false>(walk, steps.connectivity, stream);
}

template struct FieldTasks<int32_t>;
template struct FieldTasks<int64_t>;
template void clear_tasks(const FieldTasks<int32_t> &, DeviceCondition, cudaStream_t);
template void clear_tasks(const FieldTasks<int64_t> &, DeviceCondition, cudaStream_t);
template void start_fields(const FieldTasks<int32_t> &, const uint32_t *, int32_t *, const FieldSource *, int64_t,
                           DeviceCondition, cudaStream_t);
template void start_fields(const FieldTasks<int64_t> &, const uint32_t *, int64_t *, const FieldSource *, int64_t,
                           DeviceCondition, cudaStream_t);
template void run_fields(const FieldTasks<int32_t> &, int32_t *, const Steps &, const Periodic &, uint32_t *, DeviceCondition,
                         cudaStream_t);
template void run_fields(const FieldTasks<int64_t> &, int64_t *, const Steps &, const Periodic &, uint32_t *, DeviceCondition,
                         cudaStream_t);
template void run_names(const FieldTasks<int32_t> &, int32_t *, const int32_t *, const Steps &, const Periodic &,
                        DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int32_t> &, int32_t *, const int64_t *, const Steps &, const Periodic &,
                        DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int64_t> &, int64_t *, const int32_t *, const Steps &, const Periodic &,
                        DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int64_t> &, int64_t *, const int64_t *, const Steps &, const Periodic &,
                        DeviceCondition, cudaStream_t);

}  // namespace apsis::cuda::paths
