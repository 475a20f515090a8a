// Writes a row of results to outputs of any pixel type: costs as distances, sites as indices.
#pragma once

#include <algorithm>

#include "core/label_values.h"
#include "runtime/backend.h"

namespace apsis::cpu {

/// The row of a job's outputs that results are written to.
struct RowTarget {
    const DistanceJob &job;
    int64_t y, z;
    bool inside;  // of a signed map: writes only the pixels of the set, negated
};

/// Writes a row of a mask.  is_within(x) says whether pixel x is within the limit.
template <class IsWithin>
void write_mask(const RowTarget &target, IsWithin is_within) {
    const View &out = target.job.distance;
    const int64_t width = out.size[0];
    uint8_t *const row = out.row(target.y, target.z);
    const bool beyond = target.job.beyond;
    const auto bit = [&](int64_t x) { return static_cast<uint8_t>(is_within(x) != beyond); };
    if (out.type == APSIS_U8 && out.stride[0] == 1) {
        for (int64_t x = 0; x < width; ++x) row[x] = bit(x);  // which compilers vectorize
        return;
    }
    if (out.type == APSIS_U8) {
        for (int64_t x = 0; x < width; ++x) put<uint8_t>(out, row, x, bit(x));
        return;
    }
    for (int64_t x = 0; x < width; x += 8) {
        uint8_t byte = 0;
        for (int64_t k = 0; k < std::min<int64_t>(8, width - x); ++k) byte |= static_cast<uint8_t>(bit(x + k) << k);
        row[x / 8] = byte;
    }
}

/// Writes the distances of a row, or their mask, if the job has this output.  cost_at(x) is the cost of pixel x.
template <class CostAt>
void write_distances(const RowTarget &target, CostAt cost_at) {
    const View &out = target.job.distance;
    if (!out) return;
    const Measure &measure = target.job.measure;
    if (target.job.is_mask()) return write_mask(target, [&](int64_t x) { return cost_at(x) <= measure.limit; });
    uint8_t *const row = out.row(target.y, target.z);
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

/// Writes the nearest sites of a row, if the job has this output: site_at(x) is the index of pixel x's, or the label there is
/// wanted in its place.
template <class CostAt, class SiteAt>
void write_sites(const RowTarget &target, CostAt cost_at, SiteAt site_at) {
    const View &out = target.job.nearest;
    if (!out) return;
    uint8_t *const row = out.row(target.y, target.z);
    const int64_t limit = target.job.measure.limit;
    const auto write = [&](auto pixel, int64_t none, auto index_at) {
        using Pixel = decltype(pixel);
        for (int64_t x = 0; x < out.size[0]; ++x) {
            const int64_t cost = cost_at(x);
            if (target.inside && cost == 0) continue;
            put<Pixel>(out, row, x, static_cast<Pixel>(cost <= limit ? index_at(x) : none));
        }
    };
    const auto write_any = [&](int64_t none, auto index_at) {
        out.type == APSIS_I32 ? write(int32_t(), none, index_at) : write(int64_t(), none, index_at);
    };
    if (!target.job.values) return write_any(-1, site_at);
    const auto labels = LabelValues::of_sites(target.job);
    write_any(0, [&](int64_t x) { return labels.at(site_at(x)); });
}

}  // namespace apsis::cpu
