// Collects sums by key: items that kernels emit are sorted by key, added up, and read by the host, which merges what it gets.
//
// The sums are whole numbers, so that neither the order of the items nor that of atomic operations matters.  Cost: beside the
// emitting, a radix sort of the items, and two passes over them.
#pragma once

#include <vector>

#include "cuda/labels/walk.cuh"
#include "cuda/runtime/cub.h"
#include "cuda/runtime/host_number.h"
#include "cuda/runtime/progress.h"
#include "runtime/workspace.h"

namespace apsis::cuda::labels {

/// Adds up by atomic operations.
using Number = unsigned long long;

/// Scratch memory for as many items as the plan says.
template <class Sums>
struct CollectScratch {
    uint64_t *key[2], *added[2];
    uint32_t *is_first = nullptr,
             *before = nullptr;  // [item], sorted: whether it is the first of its key, and how many are before it
    uint32_t *number;
    Sums *sums;  // [key]
    uint8_t *cub;
    size_t cub_bytes;

    CollectScratch(const Plan &plan, Carver &carver) {
        cub::DoubleBuffer<uint64_t> no_keys, nothing;
        size_t sort = 0, scan = 0;
        const CallersError callers;
        check(cub::DeviceRadixSort::SortPairs(nullptr, sort, no_keys, nothing, plan.capacity, 0, 64), "asking for a sort");
        check(cub::DeviceScan::ExclusiveSum(nullptr, scan, is_first, before, plan.capacity), "asking for a scan");
        cub_bytes = std::max(sort, scan);
        for (uint64_t *&each : key) each = carver.take<uint64_t>(plan.capacity);
        for (uint64_t *&each : added) each = carver.take<uint64_t>(plan.capacity);
        is_first = carver.take<uint32_t>(plan.capacity);
        before = carver.take<uint32_t>(plan.capacity);
        number = carver.take<uint32_t>(1);
        sums = carver.take<Sums>(plan.capacity);
        cub = carver.take<uint8_t>(static_cast<int64_t>(cub_bytes));
    }
};

static __global__ void __launch_bounds__(BLOCK) mark_first(const uint64_t *key, int64_t count, uint32_t *is_first) {
    const int64_t i = first_item();
    if (i < count) is_first[i] = i == 0 || key[i] != key[i - 1];
}

/// Writes each key once, clears its sums, and counts the keys.
template <class Sums>
__global__ void __launch_bounds__(BLOCK) begin_sums(const uint64_t *key, int64_t count, const uint32_t *is_first,
                                                    const uint32_t *before, uint64_t *keys, Sums *sums, uint32_t *number) {
    const int64_t i = first_item();
    if (i >= count) return;
    if (is_first[i]) {
        keys[before[i]] = key[i];
        sums[before[i]].clear();
    }
    if (i == count - 1) *number = before[i] + is_first[i];
}

template <class Sums, class Shape>
__global__ void __launch_bounds__(BLOCK)
    add_items(Shape shape, const uint64_t *added, int64_t count, const uint32_t *is_first, const uint32_t *before, Sums *sums) {
    const int64_t begin = first_item() * ITEMS_A_THREAD, end = min(begin + ITEMS_A_THREAD, count);
    if (begin >= end) return;
    Sums own;
    own.clear();
    for (int64_t i = begin; i < end; ++i) {
        own.add(shape, added[i]);
        if (i + 1 < end && !is_first[i + 1]) continue;
        own.add_to(sums[before[i] + is_first[i] - 1]);
        own.clear();
    }
}

/// Calls take(keys, sums) with what the device has found.
template <class Sums, class Take>
void read_sums(const uint64_t *key, const Sums *sum, size_t count, cudaStream_t stream, Take take) {
    std::vector<uint64_t> keys(count);
    std::vector<Sums> sums(count);
    check(cudaMemcpyAsync(keys.data(), key, count * sizeof(uint64_t), cudaMemcpyDeviceToHost, stream), "reading keys");
    check(cudaMemcpyAsync(sums.data(), sum, count * sizeof(Sums), cudaMemcpyDeviceToHost, stream), "reading sums");
    check(cudaStreamSynchronize(stream), "reading sums");
    take(keys, sums);
}

/// Calls emit(items, segments) for as many segments as fit, and take(keys, sums) with what they have, in the order of keys.
template <class Sums, class Shape, class Emit, class Take>
void collect(const Plan &plan, const Shape &shape, int key_bits, const CollectScratch<Sums> &scratch, cudaStream_t stream,
             HostNumber &number, const Progress &progress, Emit emit, Take take) {
    int64_t most = plan.most_segments;
    for (int64_t done = 0; done < plan.segments;) {
        const Segments segments = {done, std::min(most, plan.segments - done), plan.across};
        const Items items = {scratch.key[0], scratch.added[0], scratch.number, static_cast<uint32_t>(plan.capacity)};
        check(cudaMemsetAsync(scratch.number, 0, sizeof *scratch.number, stream), "clearing a number");
        emit(items, segments);
        number.ask(scratch.number, stream);
        const int64_t count = number.wait();
        if (count > plan.capacity) {
            most = ceil_div(segments.count, 2);
            continue;
        }
        done += segments.count;
        if (count > 0) {
            cub::DoubleBuffer<uint64_t> key(scratch.key[0], scratch.key[1]), added(scratch.added[0], scratch.added[1]);
            size_t bytes = scratch.cub_bytes;
            {
                const CallersError callers;
                check(cub::DeviceRadixSort::SortPairs(scratch.cub, bytes, key, added, count, 0, key_bits, stream),
                      "sorting items");
            }
            launch("mark_first", mark_first, ceil_div(count, BLOCK), BLOCK, stream, key.Current(), count, scratch.is_first);
            {
                const CallersError callers;
                check(cub::DeviceScan::ExclusiveSum(scratch.cub, bytes, scratch.is_first, scratch.before, count, stream),
                      "numbering keys");
            }
            launch(plan.begin.kernel, begin_sums<Sums>, ceil_div(count, BLOCK), plan.begin.threads, stream, key.Current(),
                   count, scratch.is_first, scratch.before, key.Alternate(), scratch.sums, scratch.number);
            launch(plan.add.kernel, add_items<Sums, Shape>, ceil_div(count, BLOCK * ITEMS_A_THREAD), plan.add.threads, stream,
                   shape, added.Current(), count, scratch.is_first, scratch.before, scratch.sums);
            number.ask(scratch.number, stream);
            const size_t keys = number.wait();
            read_sums(key.Alternate(), scratch.sums, keys, stream, take);
        }
        if (progress) progress(static_cast<double>(done) / static_cast<double>(plan.segments));
    }
}

/// Merges records into others; both are in order, and so is what they become.  add(to, record) is for equal ones.
template <class Record, class IsLess, class Add>
void merge_into(std::vector<Record> &all, const std::vector<Record> &more, IsLess is_less, Add add) {
    if (all.empty()) {
        all = more;
        return;
    }
    std::vector<Record> merged;
    merged.reserve(all.size() + more.size());
    auto at = all.begin();
    for (const Record &record : more) {
        while (at != all.end() && is_less(*at, record)) merged.push_back(*at++);
        merged.push_back(record);
        if (at != all.end() && !is_less(record, *at)) add(merged.back(), *at++);
    }
    merged.insert(merged.end(), at, all.end());
    all = std::move(merged);
}

}  // namespace apsis::cuda::labels
