// The walk of fields in images that close on themselves: the kernels of field_block.cuh, whose tiles also offer their values
// across the seams.  Chosen for periodic axes.
//
// Long lengths are not counted in 32 bits here, which saves kernels, and takes up to twice as long.
#include "cuda/paths/field_block.cuh"

namespace apsis::cuda::paths {

template <class Rule>
void run_closed_walk(const Walk<Rule> &walk, int connectivity, cudaStream_t stream) {
    launch_walk<true>(walk, connectivity, stream);
}

template void run_closed_walk(const Walk<ShortestPaths<int32_t>> &, int, cudaStream_t);
template void run_closed_walk(const Walk<ShortestPaths<int64_t>> &, int, cudaStream_t);
template void run_closed_walk(const Walk<LowestNames<int32_t, int32_t>> &, int, cudaStream_t);
template void run_closed_walk(const Walk<LowestNames<int32_t, int64_t>> &, int, cudaStream_t);
template void run_closed_walk(const Walk<LowestNames<int64_t, int32_t>> &, int, cudaStream_t);
template void run_closed_walk(const Walk<LowestNames<int64_t, int64_t>> &, int, cudaStream_t);

}  // namespace apsis::cuda::paths
