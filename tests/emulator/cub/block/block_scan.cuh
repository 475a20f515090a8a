// What apsis uses of CUB's scans over a block, on the emulated device.
#pragma once

#include <cuda_runtime.h>

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_WARP_SCANS };

template <class Number, int THREADS, BlockScanAlgorithm = BLOCK_SCAN_RAKING>
class BlockScan {
  public:
    struct TempStorage {
        Number of_warp[THREADS / 32];
    };
    explicit BlockScan(TempStorage &storage) : storage_(storage) {}

    void ExclusiveSum(Number value, Number &before) {
        Number all;
        ExclusiveSum(value, before, all);
    }
    void ExclusiveSum(Number value, Number &before, Number &all) {
        const unsigned lane = threadIdx.x % 32;
        Number sum = value;
        for (unsigned by = 1; by < 32; by *= 2) {
            const Number left = __shfl_up_sync(~0u, sum, by);
            if (lane >= by) sum += left;
        }
        if (lane == 31) storage_.of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        before = sum - value;
        all = 0;
        for (unsigned i = 0; i < THREADS / 32; ++i) {
            if (i < threadIdx.x / 32) before += storage_.of_warp[i];
            all += storage_.of_warp[i];
        }
    }
    template <int EACH>
    void ExclusiveSum(Number (&value)[EACH], Number (&before)[EACH], Number &all) {
        Number own = 0, sum;
        for (const Number one : value) own += one;
        ExclusiveSum(own, sum, all);
        for (int i = 0; i < EACH; ++i) {
            const Number one = value[i];
            before[i] = sum;
            sum += one;
        }
    }
    void InclusiveSum(Number value, Number &sum) {
        ExclusiveSum(value, sum);
        sum += value;
    }
    void InclusiveSum(Number value, Number &sum, Number &all) {
        ExclusiveSum(value, sum, all);
        sum += value;
    }

  private:
    TempStorage &storage_;
};

}  // namespace cub
