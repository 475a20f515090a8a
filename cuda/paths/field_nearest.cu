// For every cell, the lowest name of a source that one of its shortest paths comes from.  Chosen for nearest seeds.
//
// Names spread along the steps of shortest paths; a lower name replaces a higher one.  The result is a least fixpoint too, so
// that tiles are visited as for lengths.  All waiting tasks count as near, since the order of names says nothing about when
// they arrive.
#include "cuda/paths/field_block.cuh"

namespace apsis::cuda::paths {

template <class Name, class Length>
void run_names(const FieldTasks<Name> &tasks, Name *names, const Length *lengths, const Steps &steps, DeviceCondition condition,
               cudaStream_t stream) {
    using Limits = Lengths<Name>;
    constexpr Name ALL = Limits::LONGEST, NEAR = Limits::NONE;
    Walk<LowestNames<Name, Length>> walk = {tasks, names, lengths, {}, ALL, ALL, NEAR, nullptr, condition};
    for (int kind = 0; kind < 8; ++kind) walk.step[kind] = static_cast<Length>(steps.weight[kind]);
    run_walk("walk_tiles", walk, steps.connectivity, stream);
}

template void run_names(const FieldTasks<int32_t> &, int32_t *, const int32_t *, const Steps &, DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int32_t> &, int32_t *, const int64_t *, const Steps &, DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int64_t> &, int64_t *, const int32_t *, const Steps &, DeviceCondition, cudaStream_t);
template void run_names(const FieldTasks<int64_t> &, int64_t *, const int64_t *, const Steps &, DeviceCondition, cudaStream_t);

}  // namespace apsis::cuda::paths
