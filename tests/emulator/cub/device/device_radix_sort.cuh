// What apsis uses of CUB's sorts over the device, on the emulated one.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

namespace cub {

template <class Item>
struct DoubleBuffer {
    Item *d_buffers[2];
    int selector = 0;

    DoubleBuffer() = default;
    DoubleBuffer(Item *now, Item *other) : d_buffers{now, other} {}
    Item *Current() const { return d_buffers[selector]; }
    Item *Alternate() const { return d_buffers[1 - selector]; }
};

struct DeviceRadixSort {
    template <class Key, class Value, class Count>
    static cudaError_t SortPairs(void *memory, size_t &bytes, DoubleBuffer<Key> &key, DoubleBuffer<Value> &value, Count count,
                                 int = 0, int = 8 * sizeof(Key), cudaStream_t = nullptr) {
        if (!memory) return bytes = 1, cudaSuccess;
        std::vector<Count> order(static_cast<size_t>(count));
        for (Count i = 0; i < count; ++i) order[static_cast<size_t>(i)] = i;
        std::stable_sort(order.begin(), order.end(), [&](Count a, Count b) { return key.Current()[a] < key.Current()[b]; });
        for (Count i = 0; i < count; ++i) {
            key.Alternate()[i] = key.Current()[order[static_cast<size_t>(i)]];
            value.Alternate()[i] = value.Current()[order[static_cast<size_t>(i)]];
        }
        key.selector = value.selector = 1 - key.selector;
        return cudaSuccess;
    }

    template <class Key, class Count>
    static cudaError_t SortKeys(void *memory, size_t &bytes, DoubleBuffer<Key> &key, Count count, int = 0,
                                int = 8 * sizeof(Key), cudaStream_t = nullptr) {
        if (!memory) return bytes = 1, cudaSuccess;
        std::copy_n(key.Current(), count, key.Alternate());
        key.selector = 1 - key.selector;
        std::stable_sort(key.Current(), key.Current() + count);
        return cudaSuccess;
    }
};

}  // namespace cub
