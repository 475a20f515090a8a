// Labels of pixels side by side, which are stored at once: 16 bytes, where rows begin at multiples of them.
#pragma once

#include "cuda/runtime/launch.h"

namespace apsis::cuda::components {

#if defined(__CUDACC__)

template <class Label>
struct alignas(16) Pack {
    static constexpr int COUNT = 16 / sizeof(Label);
    Label label[COUNT];

    /// Thread: writes the first `count` labels, or all.
    __device__ void put(uint8_t *to, int count) const {
        if (count >= COUNT) return __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(this));
#pragma unroll
        for (int i = 0; i < COUNT - 1; ++i)
            if (i < count) reinterpret_cast<Label *>(to)[i] = label[i];
    }
};

#endif

}  // namespace apsis::cuda::components
