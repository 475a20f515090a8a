// What follows from the sums of a value: apsis_measure.
//
// Central moments are exact up to their last division: the number of pixels times the sum of squares, less the square of the
// sum, is a whole number below 2^126.  Eigenvalues come from a formula in 2-D, and from Jacobi's rotations in 3-D, with no
// function but the square root, so that they have the same bits everywhere.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "api/value_measures.h"

namespace apsis {

namespace {

constexpr double QUARTER_PI = std::numbers::pi / 4, SQRT2 = std::numbers::sqrt2;

/// The second central moments.
void find_moments(const MeasuresJob &job, const ValueSums &sums, double *moment) {
    for (int i = 0; i < 6; ++i) {
        const auto [a, b] = MOMENT_AXES[i];
        if (a >= job.axes || b >= job.axes) continue;
        const __int128 whole =
            sums.part.area * sums.shape.product[i] - static_cast<__int128>(sums.part.sum[a]) * sums.part.sum[b];
        moment[i] = static_cast<double>(whole) / static_cast<double>(sums.part.area) * (job.spacing[a] * job.spacing[b]);
    }
}

/// Turns a symmetric matrix until its diagonal has the eigenvalues (Jacobi 1846), which are then sorted, the largest first.
void find_eigenvalues(double (&m)[3][3], double *value) {
    for (int round = 0; round < 60; ++round) {
        bool is_done = true;
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q) {
                const double off = m[p][q];
                if (off == 0 || std::fabs(off) < 1e-17 * std::fabs(m[p][p] + m[q][q])) continue;
                is_done = false;
                const double theta = (m[q][q] - m[p][p]) / (2 * off);
                const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                const int r = 3 - p - q;
                const double to_p = m[r][p], to_q = m[r][q];
                m[p][p] -= t * off, m[q][q] += t * off;
                m[p][q] = m[q][p] = 0;
                m[r][p] = m[p][r] = c * to_p - s * to_q;
                m[r][q] = m[q][r] = s * to_p + c * to_q;
            }
        if (is_done) break;
    }
    for (int a = 0; a < 3; ++a) value[a] = std::max(m[a][a], 0.0);
    std::sort(value, value + 3, [](double a, double b) { return a > b; });
}

void find_axes(const MeasuresJob &job, double area, apsis_measure &to) {
    const double *const moment = to.moments, xx = moment[0] / area, yy = moment[1] / area, xy = moment[3] / area;
    double value[3] = {};
    if (job.axes == 3) {
        const double zz = moment[2] / area, xz = moment[4] / area, yz = moment[5] / area;
        double matrix[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
        find_eigenvalues(matrix, value);
        for (int a = 0; a < 3; ++a) to.axes[a] = std::sqrt(20 * value[a]);
        return;
    }
    const double half = std::sqrt((xx - yy) * (xx - yy) + 4 * xy * xy) / 2;
    value[0] = (xx + yy) / 2 + half, value[1] = std::max((xx + yy) / 2 - half, 0.0);
    for (int a = 0; a < 2; ++a) to.axes[a] = 4 * std::sqrt(value[a]);
    to.eccentricity = value[0] > 0 ? std::sqrt(1 - value[1] / value[0]) : 0;
    to.orientation = xx == yy ? (xy > 0 ? QUARTER_PI : -QUARTER_PI) : 0.5 * std::atan2(2 * xy, yy - xx);
}

void find_surface(const MeasuresJob &job, const ShapeSums &shape, apsis_measure &to) {
    for (int a = 0; a < job.axes; ++a) {
        double face = 1;
        for (int other = 0; other < job.axes; ++other) face *= other == a ? 1 : job.spacing[other];
        to.faces[a] = shape.faces[a];
        to.surface += static_cast<double>(shape.faces[a]) * face;
    }
}

void find_perimeters(const MeasuresJob &job, const ShapeSums &shape, apsis_measure &to) {
    const auto straight = static_cast<double>(shape.steps[0]), diagonal = static_cast<double>(shape.steps[1]),
               both = static_cast<double>(shape.steps[2]);
    const auto faces = static_cast<double>(shape.faces[0] + shape.faces[1]), diagonals = static_cast<double>(shape.diagonals);
    to.perimeter = (straight + diagonal * SQRT2 + both * ((1 + SQRT2) / 2)) * job.spacing[0];
    to.crofton[0] = QUARTER_PI * faces * job.spacing[0];
    to.crofton[1] = QUARTER_PI / 2 * (faces + diagonals * (SQRT2 / 2)) * job.spacing[0];
}

bool touches_border(const MeasuresJob &job, const apsis_part &part) {
    for (int a = 0; a < job.axes; ++a)
        if (part.lower[a] == 0 || part.upper[a] == job.set.size[a] - 1) return true;
    return false;
}

}  // namespace

apsis_measure measure_of(const MeasuresJob &job, const ValueSums &sums) {
    apsis_measure to = {};
    apsis_slab_measure(1, &sums.part, &to.component);
    to.border = touches_border(job, sums.part);
    if (job.wants(APSIS_MOMENTS)) {
        find_moments(job, sums, to.moments);
        find_axes(job, static_cast<double>(sums.part.area), to);
    }
    if (job.wants(APSIS_PERIMETER)) find_perimeters(job, sums.shape, to);
    if (job.wants(APSIS_SURFACE)) find_surface(job, sums.shape, to);
    if (job.wants(APSIS_EULER)) to.euler = sums.shape.euler;
    const Outline &outline = sums.outline;
    if (job.wants(APSIS_FILLED)) to.filled = outline.filled;
    if (job.wants(APSIS_HULL)) to.convex = outline.convex, to.convex_area = outline.convex_area;
    if (job.wants(APSIS_FERET)) {
        std::copy(outline.feret, outline.feret + 2, to.feret);
        to.feret_contour = outline.feret_contour;
    }
    if (job.wants(APSIS_INTENSITY)) {
        to.intensity_sum = sums.intensity.total();
        to.intensity_mean = to.intensity_sum / static_cast<double>(sums.part.area);
        to.intensity_min = sums.intensity.of(sums.intensity.least);
        to.intensity_max = sums.intensity.of(sums.intensity.largest);
    }
    return to;
}

}  // namespace apsis
