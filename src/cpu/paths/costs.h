// Costs of images as whole numbers.
#pragma once

#include <cmath>

#include "runtime/cost_job.h"

namespace apsis::cpu::paths {

/// The costs of the pixels where paths may go, as whole numbers of a power of two.
///
/// The power is 1, or for real costs the largest of which all are multiples.  Where that would make a number longer than
/// COST_BITS, it is that of so many bits, and the costs of more digits are rounded.
struct CostScale {
    static constexpr int COST_BITS = 53;

    int exponent = 0;  // of the power of two
    uint64_t least = UINT64_MAX, most = 0;

    explicit CostScale(const CostJob &job);

    /// The whole number of a cost.  0: no path leads there.
    uint64_t whole(double cost) const {
        return is_cost(cost) ? std::max<uint64_t>(static_cast<uint64_t>(std::llrint(std::ldexp(cost, -exponent))), 1) : 0;
    }
    static bool is_cost(double cost) { return cost > 0 && std::isfinite(cost); }
};

/// The cost of pixel x of a row.
inline double cost_at(const View &costs, const uint8_t *row, int64_t x) {
    const uint8_t *const pixel = row + x * costs.stride[0];
    switch (costs.type) {
        case APSIS_U8: return *pixel;
        case APSIS_U16: return *reinterpret_cast<const uint16_t *>(pixel);
        default: return *reinterpret_cast<const float *>(pixel);
    }
}

/// Calls body(x, cost) for the pixels of a row of a job where paths may go.
template <class Body>
void for_passable(const CostJob &job, int64_t y, int64_t z, Body body) {
    const uint8_t *const set = job.set ? job.set.row(y, z) : nullptr, *const costs = job.costs ? job.costs.row(y, z) : nullptr;
    for (int64_t x = 0; x < job.size[0]; ++x) {
        if (set && (value_at(job.set, set, x) != 0) == job.complement) continue;
        const double cost = costs ? cost_at(job.costs, costs, x) : 1;
        if (CostScale::is_cost(cost)) body(x, cost);
    }
}

inline CostScale::CostScale(const CostJob &job) {
    double low = HUGE_VAL, high = 0;
    int finest = INT32_MAX;  // the exponent of the lowest bit of all costs
    for (int64_t row = 0; row < job.size[1] * job.size[2]; ++row)
        for_passable(job, row % job.size[1], row / job.size[1], [&](int64_t, double cost) {
            low = std::min(low, cost);
            high = std::max(high, cost);
            if (job.costs.type != APSIS_F32) return;
            int power;
            const auto digits = static_cast<int64_t>(std::ldexp(std::frexp(cost, &power), 24));  // of a float: exact
            finest = std::min(finest, power - 24 + std::countr_zero(static_cast<uint64_t>(digits)));
        });
    if (high == 0) return;
    if (job.costs.type == APSIS_F32) exponent = std::max(finest, std::ilogb(high) - (COST_BITS - 1));
    least = whole(low);
    most = whole(high);
}

}  // namespace apsis::cpu::paths
