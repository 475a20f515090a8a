// Writes a row of results: costs to pixels of whatever type, sites to indices.
#pragma once

#include "runtime/backend.h"

namespace apsis::cpu {

/// What one row of results is, and where it goes.
struct RowTarget {
    const DistanceJob &job;
    int64_t y, z;
    bool inside;  // of a signed map: the pixels of the set alone, negated
};

/// Calls put(x, cost, site) -> for every pixel of the row that the target wants, with the output's pixel type fixed.
/// `cost_at(x)` is the cost, `found` whether it stands for a site.
template <class CostAt>
void write_distances(const RowTarget &target, CostAt cost_at) {
    const View &out = target.job.distance;
    if (!out) return;
    uint8_t *const row = out.row(target.y, target.z);
    const Measure &measure = target.job.measure;
    const auto write = [&](auto pixel) {
        using Pixel = decltype(pixel);
        for (int64_t x = 0; x < out.size[0]; ++x) {
            const int64_t cost = cost_at(x);
            if (target.inside && cost == 0) continue;
            put<Pixel>(out, row, x, distance_pixel<Pixel>(measure, cost, cost <= measure.limit, target.inside));
        }
    };
    switch (out.type) {
        case APSIS_I32: return write(int32_t());
        case APSIS_I64: return write(int64_t());
        case APSIS_F32: return write(float());
        default: return write(double());
    }
}

template <class CostAt, class SiteAt>
void write_sites(const RowTarget &target, CostAt cost_at, SiteAt site_at) {
    const View &out = target.job.nearest;
    if (!out) return;
    uint8_t *const row = out.row(target.y, target.z);
    const int64_t limit = target.job.measure.limit;
    const auto write = [&](auto pixel) {
        using Pixel = decltype(pixel);
        for (int64_t x = 0; x < out.size[0]; ++x) {
            const int64_t cost = cost_at(x);
            if (target.inside && cost == 0) continue;
            put<Pixel>(out, row, x, static_cast<Pixel>(cost <= limit ? site_at(x) : -1));
        }
    };
    out.type == APSIS_I32 ? write(int32_t()) : write(int64_t());
}

}  // namespace apsis::cpu
