// Scans and sorts on the device, by CUB.  scan_and_sort.cu alone compiles its kernels, which takes as long as a room does.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace apsis::cuda {

/// The bytes of scratch memory that a scan of so many numbers needs.
size_t scan_scratch(int64_t count);

/// to[i] becomes the sum of from[0] to from[i - 1].  Both may be the same.  `what` is said to fail if it does.
void scan(void *scratch, size_t bytes, uint32_t *from, uint32_t *to, int64_t count, const char *what, cudaStream_t stream);

/// Numbers, and memory for as many, which a sort may exchange.
template <class Number>
struct SortBuffers {
    Number *current, *other;
};

/// The bytes of scratch memory that a sort of so many pairs needs.  Number is uint32_t or uint64_t.
template <class Number>
size_t sort_scratch(int64_t count, int key_bits);

/// Sorts pairs by the lowest bits of their keys; equal keys stay in order.
template <class Number>
void sort_pairs(void *scratch, size_t bytes, SortBuffers<Number> &key, SortBuffers<Number> &value, int64_t count, int key_bits,
                const char *what, cudaStream_t stream);

/// The same of keys alone.
size_t sort_scratch_of_keys(int64_t count, int key_bits);
void sort_keys(void *scratch, size_t bytes, SortBuffers<uint64_t> &key, int64_t count, int key_bits, const char *what,
               cudaStream_t stream);

}  // namespace apsis::cuda
