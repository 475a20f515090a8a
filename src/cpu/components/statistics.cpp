// See statistics.h.
#include "cpu/components/statistics.h"

#include <functional>

#include "core/label_values.h"
#include "cpu/components/parts.h"
#include "cpu/components/thread_scratch.h"

namespace apsis::cpu::components {
namespace {

constexpr int64_t CHUNK = 4096;  // components that a thread begins or finishes at once

template <class Better>
void choose_shared(int64_t &to, int64_t value, Better better) {
    std::atomic_ref<int64_t> shared(to);
    int64_t now = shared.load(std::memory_order_relaxed);
    while (better(value, now) && !shared.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
    }
}

void add_shared(ComponentSums &to, const ComponentSums &sums) {
    choose_shared(to.first, sums.first, std::less<int64_t>());
    apsis::add_shared(to.area, sums.area);
    for (int a = 0; a < 3; ++a) {
        choose_shared(to.lower[a], sums.lower[a], std::less<int64_t>());
        choose_shared(to.upper[a], sums.upper[a], std::greater<int64_t>());
        apsis::add_shared(to.sum[a], sums.sum[a]);
    }
}

/// Calls body(i) for the components of an array, on all threads.
template <class Body>
void for_components(Arena &arena, int64_t count, Body body) {
    parallel_for(arena, (count + CHUNK - 1) / CHUNK, {}, 0, 0, [&](int64_t i) {
        for (int64_t k = i * CHUNK; k < std::min((i + 1) * CHUNK, count); ++k) body(k);
    });
}

}  // namespace

void Statistics::begin(int64_t total, Arena &arena) {
    if (!job_.components) return;
    count_ = std::min(total - numbered_, job_.capacity);
    for_components(arena, count_, [this](int64_t k) { sums()[k].clear(); });
}

/// Runs of parts without slots are added to their components at once.  The runs of a part with slots are first summed by
/// themselves, so that a component shared by threads is accessed once a part.
void Statistics::add(const ThreadScratch &scratch, const Block &block, uint32_t parts) const {
    for (uint32_t part = 1; part <= parts; ++part)
        if (scratch.number[part] && scratch.area[part]) scratch.sums[scratch.area[part] - 1].clear();
    for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
        const int64_t row = blocks_.row_at(y, z), at_y = y + start_[1], at_z = z + start_[2];
        const int64_t first = (at_z * blocks_.height + at_y) * blocks_.width;
        const int64_t runs = parts_.find_runs_of(row, scratch.ends);
        for (int64_t i = 0; i < runs; ++i) {
            const uint32_t part = scratch.part[scratch.run[j] + i];
            const int64_t at = scratch.number[part] - numbered_ - 1;
            if (at < 0 || at >= count_) continue;
            ComponentSums &to = scratch.area[part] ? scratch.sums[scratch.area[part] - 1] : sums()[at];
            to.add(first + scratch.ends[2 * i], scratch.ends[2 * i], scratch.ends[2 * i + 1], at_y, at_z);
        }
    });
    for (uint32_t part = 1; part <= parts; ++part) {
        const int64_t at = scratch.number[part] - numbered_ - 1;
        if (at >= 0 && at < count_ && scratch.area[part]) add_shared(sums()[at], scratch.sums[scratch.area[part] - 1]);
    }
}

int64_t Statistics::value_at(int64_t index) const {
    if (!job_.by_value || job_.set.type == APSIS_F32) return 1;
    return LabelValues(job_.set).at(index - (start_[2] * blocks_.height + start_[1]) * blocks_.width);
}

void Statistics::finish(Arena &arena) const {
    for_components(arena, count_, [this](int64_t k) {
        const ComponentSums of = sums()[k];
        sums()[k].value = value_at(of.first);
        if (job_.as_parts) return;
        for (int a = 0; a < 3; ++a)
            job_.components[k].centroid[a] = static_cast<double>(of.sum[a]) / static_cast<double>(of.area);
    });
}

}  // namespace apsis::cpu::components
