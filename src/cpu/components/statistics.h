// Measures components (first pixel, area, bounding box, centroid, value), run by run, on all threads, in the caller's array.
#pragma once

#include <algorithm>

#include "cpu/components/blocks.h"
#include "runtime/parallel.h"

namespace apsis::cpu::components {

struct ThreadScratch;
class Parts;

/// An apsis_component being added up: sums of coordinates lie where the centroid will be.
struct ComponentSums {
    int64_t first, area, lower[3], upper[3], sum[3], value;

    void clear() { *this = {INT64_MAX, 0, {INT64_MAX, INT64_MAX, INT64_MAX}, {-1, -1, -1}, {0, 0, 0}, 0}; }
    void add(int64_t index, int64_t begin, int64_t end, int64_t y, int64_t z) {
        const int64_t length = end - begin;
        const int64_t low[3] = {begin, y, z}, high[3] = {end - 1, y, z};
        first = std::min(first, index);
        area += length;
        sum[0] += length * (begin + end - 1) / 2;
        sum[1] += length * y;
        sum[2] += length * z;
        for (int a = 0; a < 3; ++a) {
            lower[a] = std::min(lower[a], low[a]);
            upper[a] = std::max(upper[a], high[a]);
        }
    }
};
static_assert(sizeof(ComponentSums) == sizeof(apsis_component));

class Statistics {
  public:
    /// Measures the components numbered after `numbered`.  The first row is that of slice z of a batch, or that of a slab.
    Statistics(const ComponentsJob &job, const Blocks &blocks, const Parts &parts, int64_t numbered, int64_t z)
        : job_(job),
          blocks_(blocks),
          parts_(parts),
          numbered_(numbered),
          start_{0, job.axes == 2 ? job.start : 0, job.axes == 2 ? z : job.start} {}

    /// `total` is the last number that was given.
    void begin(int64_t total, Arena &arena);
    /// Adds a block whose parts have their numbers.
    void add(const ThreadScratch &scratch, const Block &block, uint32_t parts) const;
    void finish(Arena &arena) const;

  private:
    /// The value of a component, from its first pixel.
    int64_t value_at(int64_t index) const;
    ComponentSums *sums() const { return reinterpret_cast<ComponentSums *>(job_.components); }

    const ComponentsJob &job_;
    const Blocks &blocks_;
    const Parts &parts_;
    int64_t numbered_;
    int64_t start_[3];   // the first pixel in the image
    int64_t count_ = 0;  // components that the array has room for
};

}  // namespace apsis::cpu::components
