// See scan_and_sort.h.
#include "cuda/runtime/scan_and_sort.h"

#include "cuda/runtime/cub.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda {

size_t scan_scratch(int64_t count) {
    const CallersError callers;
    uint32_t *const none = nullptr;
    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, count), "asking for a scan");
    return bytes;
}

void scan(void *scratch, size_t bytes, uint32_t *from, uint32_t *to, int64_t count, const char *what, cudaStream_t stream) {
    const CallersError callers;
    check(cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, count, stream), what);
}

template <class Number>
size_t sort_scratch(int64_t count, int key_bits) {
    const CallersError callers;
    cub::DoubleBuffer<Number> none, nothing;
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, nothing, count, 0, key_bits), "asking for a sort");
    return bytes;
}

template <class Number>
void sort_pairs(void *scratch, size_t bytes, SortBuffers<Number> &key, SortBuffers<Number> &value, int64_t count, int key_bits,
                const char *what, cudaStream_t stream) {
    const CallersError callers;
    cub::DoubleBuffer<Number> keys(key.current, key.other), values(value.current, value.other);
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, 0, key_bits, stream), what);
    key = {keys.Current(), keys.Alternate()};
    value = {values.Current(), values.Alternate()};
}

template size_t sort_scratch<uint32_t>(int64_t, int);
template size_t sort_scratch<uint64_t>(int64_t, int);
template void sort_pairs(void *, size_t, SortBuffers<uint32_t> &, SortBuffers<uint32_t> &, int64_t, int, const char *,
                         cudaStream_t);
template void sort_pairs(void *, size_t, SortBuffers<uint64_t> &, SortBuffers<uint64_t> &, int64_t, int, const char *,
                         cudaStream_t);

size_t sort_scratch_of_keys(int64_t count, int key_bits) {
    const CallersError callers;
    cub::DoubleBuffer<uint64_t> none;
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, none, count, 0, key_bits), "asking for a sort");
    return bytes;
}

void sort_keys(void *scratch, size_t bytes, SortBuffers<uint64_t> &key, int64_t count, int key_bits, const char *what,
               cudaStream_t stream) {
    const CallersError callers;
    cub::DoubleBuffer<uint64_t> keys(key.current, key.other);
    check(cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count, 0, key_bits, stream), what);
    key = {keys.Current(), keys.Alternate()};
}

}  // namespace apsis::cuda
