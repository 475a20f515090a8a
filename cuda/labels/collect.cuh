// Collects sums by key: items that kernels emit are sorted by key and added up, a part of the image after the other.  What has
// been found of earlier parts is kept in front of the next items, as items of its own.
//
// Where keys are more than may be kept, those beyond their median are left to later walks over the image: each walk has a range
// of keys, and the ranges are read by the host one after the other.  So nothing is ever merged on the host.  If it wants the
// first keys alone, the others are only counted.
//
// The sums are whole numbers, so that neither the order of the items nor that of atomic operations matters.  Cost: beside the
// emitting, a radix sort of the items, and two passes over them; and a walk for at least a quarter of the capacity in keys.
#pragma once

#include <vector>

#include "cuda/labels/walk.cuh"
#include "cuda/runtime/scan_and_sort.h"
#include "cuda/runtime/host_number.h"
#include "cuda/runtime/progress.h"
#include "runtime/workspace.h"

namespace apsis::cuda::labels {

constexpr uint64_t KEPT = uint64_t(1) << 63;  // of an item: it adds the kept sums of the number below

/// Scratch memory for as many items as the plan says.
template <class Sums>
struct CollectScratch {
    uint64_t *key[2], *added[2];
    uint32_t *is_first = nullptr,
             *before = nullptr;  // [item], sorted: whether it is the first of its key, and how many are before it
    uint32_t *number;
    Sums *sums;  // [key]
    Sums *kept;  // [key] of earlier segments
    uint8_t *cub;
    size_t cub_bytes;

    CollectScratch(const Plan &plan, Carver &carver) {
        cub_bytes = std::max(sort_scratch<uint64_t>(plan.capacity, 64), scan_scratch(plan.capacity));
        for (uint64_t *&each : key) each = carver.take<uint64_t>(plan.capacity);
        for (uint64_t *&each : added) each = carver.take<uint64_t>(plan.capacity);
        is_first = carver.take<uint32_t>(plan.capacity);
        before = carver.take<uint32_t>(plan.capacity);
        number = carver.take<uint32_t>(1);
        sums = carver.take<Sums>(plan.capacity), kept = carver.take<Sums>(plan.kept);
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
__global__ void __launch_bounds__(BLOCK) add_items(Shape shape, const uint64_t *added, const Sums *kept, int64_t count,
                                                   const uint32_t *is_first, const uint32_t *before, Sums *sums) {
    const int64_t begin = first_item() * ITEMS_A_THREAD, end = min(begin + ITEMS_A_THREAD, count);
    if (begin >= end) return;
    Sums own;
    own.clear();
    for (int64_t i = begin; i < end; ++i) {
        if (added[i] & KEPT)
            own.add(kept[added[i] ^ KEPT]);
        else
            own.add(shape, added[i]);
        if (i + 1 < end && !is_first[i + 1]) continue;
        own.add_to(sums[before[i] + is_first[i] - 1]);
        own.clear();
    }
}

/// Puts what is kept in front of the items to be emitted.
template <class Sums>
__global__ void __launch_bounds__(BLOCK)
    keep_sums(const Sums *sums, int64_t count, Sums *kept, uint64_t *added, uint32_t *number) {
    const int64_t i = first_item();
    if (i == 0) *number = static_cast<uint32_t>(count);
    if (i < count) kept[i] = sums[i], added[i] = KEPT | static_cast<uint64_t>(i);
}

/// Reads what the device has found, in the order of keys.
template <class Sums>
struct Found {
    std::vector<uint64_t> keys;
    std::vector<Sums> sums;

    void read(const uint64_t *key, const Sums *sum, int64_t count, cudaStream_t stream) {
        const auto size = static_cast<size_t>(count);
        keys.resize(size), sums.resize(size);
        check(cudaMemcpyAsync(keys.data(), key, size * sizeof keys[0], cudaMemcpyDeviceToHost, stream), "reading keys");
        check(cudaMemcpyAsync(sums.data(), sum, size * sizeof sums[0], cudaMemcpyDeviceToHost, stream), "reading sums");
        check(cudaStreamSynchronize(stream), "reading sums");
    }
};

/// Collects the items of an image.
template <class Sums, class Shape>
class Collection {
  public:
    Collection(const Plan &plan, const Shape &shape, int key_bits, const CollectScratch<Sums> &scratch, cudaStream_t stream,
               HostNumber &number)
        : plan_(plan),
          shape_(shape),
          key_bits_(key_bits),
          last_key_(~uint64_t(0) >> (64 - key_bits)),
          scratch_(scratch),
          stream_(stream),
          number_(number),
          key_(scratch.key[0]),
          spare_(scratch.key[1]),
          most_(plan.most_segments) {}

    /// Calls emit(items, segments) for as many segments as fit, and take(found) with ranges of keys in ascending order, up to
    /// so many keys as are wanted.  Returns how many there are.
    template <class Emit, class Take>
    int64_t run(const Progress &progress, Emit emit, Take take, int64_t wanted = INT64_MAX) {
        Found<Sums> found;
        int64_t keys = 0;
        low_ = 0, high_ = last_key_;
        while (true) {
            walk(progress, emit);
            if (const int64_t more = std::min(count_, wanted - keys); more > 0) {
                found.read(key_, scratch_.sums, more, stream_);
                take(found);
            }
            keys += count_;
            if (high_ == last_key_) return keys;
            // The next range is as wide as this one, or twice as wide if that had few keys.
            const uint64_t width = high_ - low_, rest = last_key_ - high_ - 1;
            low_ = high_ + 1;
            high_ = low_ + std::min(count_ < plan_.kept / 2 ? width + std::min(width, ~width) : width, rest);
        }
    }

  private:
    /// Finds the sums of the range, or of its lower keys: then it ends earlier.
    template <class Emit>
    void walk(const Progress &progress, Emit emit) {
        count_ = 0;
        for (int64_t done = 0; done < plan_.segments;) {
            const Segments segments = {done, std::min(most_, plan_.segments - done), plan_.across};
            launch("keep_sums", keep_sums<Sums>, ceil_div(std::max(count_, int64_t(1)), BLOCK), BLOCK, stream_, scratch_.sums,
                   count_, scratch_.kept, scratch_.added[0], scratch_.number);
            emit(Items{key_, scratch_.added[0], scratch_.number, static_cast<uint32_t>(plan_.capacity), low_, high_}, segments);
            number_.ask(scratch_.number, stream_);
            const int64_t items = number_.wait(), emitted = items - count_;
            if (items <= plan_.capacity) {
                done += segments.count;
                if (emitted > 0) add_up(items);
                if (count_ > plan_.kept && done < plan_.segments) drop_upper_half();
                report(progress, done);
            }
            // As many as have room, if they have as many items.
            most_ = emitted > 0 ? segments.count * (plan_.capacity - count_) / emitted : plan_.most_segments;
            most_ = std::clamp(most_, int64_t(1), plan_.most_segments);
        }
    }

    /// Sorts items and adds them up: key_ has the keys, as many as count_ says.
    void add_up(int64_t items) {
        SortBuffers<uint64_t> key{key_, spare_}, added{scratch_.added[0], scratch_.added[1]};
        sort_pairs(scratch_.cub, scratch_.cub_bytes, key, added, items, key_bits_, "sorting items", stream_);
        launch("mark_first", mark_first, ceil_div(items, BLOCK), BLOCK, stream_, key.current, items, scratch_.is_first);
        scan(scratch_.cub, scratch_.cub_bytes, scratch_.is_first, scratch_.before, items, "numbering keys", stream_);
        launch(plan_.begin.kernel, begin_sums<Sums>, ceil_div(items, BLOCK), plan_.begin.threads, stream_, key.current, items,
               scratch_.is_first, scratch_.before, key.other, scratch_.sums, scratch_.number);
        launch(plan_.add.kernel, add_items<Sums, Shape>, ceil_div(items, BLOCK * ITEMS_A_THREAD), plan_.add.threads, stream_,
               shape_, added.current, scratch_.kept, items, scratch_.is_first, scratch_.before, scratch_.sums);
        key_ = key.other, spare_ = key.current;
        number_.ask(scratch_.number, stream_);
        count_ = number_.wait();
    }

    void drop_upper_half() {
        count_ /= 2;
        uint64_t first = 0;
        check(cudaMemcpyAsync(&first, key_ + count_, sizeof first, cudaMemcpyDeviceToHost, stream_), "reading a key");
        check(cudaStreamSynchronize(stream_), "reading a key");
        high_ = first - 1;
    }

    /// Keys are taken to be spread evenly.
    void report(const Progress &progress, int64_t done) {
        const double walked = static_cast<double>(done) / static_cast<double>(plan_.segments);
        const double keys = static_cast<double>(low_) + static_cast<double>(high_ - low_) * walked;
        const bool is_end = high_ == last_key_ && done == plan_.segments;
        told_ = is_end ? 1 : std::max(told_, std::min(keys / static_cast<double>(last_key_), 1.0));
        if (progress) progress(told_);
    }

    const Plan &plan_;
    const Shape shape_;
    const int key_bits_;
    const uint64_t last_key_;
    const CollectScratch<Sums> &scratch_;
    const cudaStream_t stream_;
    HostNumber &number_;
    uint64_t *key_, *spare_;       // keys of what has been found, and then those of items
    uint64_t low_ = 0, high_ = 0;  // the range of keys
    int64_t count_ = 0;            // of keys that have been found in it
    int64_t most_;                 // segments to be tried at once
    double told_ = 0;
};

}  // namespace apsis::cuda::labels
