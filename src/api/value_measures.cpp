// apsis_measures: makes a checked job of the call, and from what was counted of each value what the caller is told.
//
// Central moments are exact up to their last division: the number of pixels times the sum of squares, less the square of the
// sum, is a whole number below 2^126.  Eigenvalues come from a formula in 2-D, and from Jacobi's rotations in 3-D, with no
// function but the square root, so that they have the same bits everywhere.
#include <apsis_measures.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/options.h"
#include "runtime/measures_job.h"
#include "runtime/parallel.h"
#include "runtime/staging.h"

namespace apsis {

namespace {

constexpr uint32_t ALL_MEASURES =
    APSIS_MOMENTS | APSIS_PERIMETER | APSIS_SURFACE | APSIS_EULER | APSIS_FILLED | APSIS_HULL | APSIS_FERET | APSIS_INTENSITY;
constexpr double QUARTER_PI = std::numbers::pi / 4, SQRT2 = std::numbers::sqrt2;
constexpr double LEAST_SPACING = 1e-60, MOST_SPACING = 1e60;  // so that squares of squared lengths are doubles

void take_options(const apsis_image *labels, const apsis_options *given, MeasuresJob &job) {
    const apsis_options options = read_options(given);
    if (options.flags & ~uint32_t(APSIS_DENSE | APSIS_LABELS))
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%x, but apsis_measures takes APSIS_DENSE and APSIS_LABELS alone",
                    unsigned(options.flags));
    check_taken("apsis_measures", {APSIS_AUTO}, options);
    refuse_delta("apsis_measures", options);
    job.is_dense = options.flags & APSIS_DENSE;
    job.axes = labels->ndim;
    job.connectivity = connectivity_of(options, job.axes, 1);
    if (job.wants(APSIS_EULER) && job.axes == 3 && job.connectivity == 2)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: connectivity is 2, but in 3-D an Euler number is for 1 and 3");
    if (options.spacing[0] == 0) return;
    for (int a = 0; a < job.axes; ++a) {
        job.spacing[a] = options.spacing[a];
        if (!(job.spacing[a] >= LEAST_SPACING && job.spacing[a] <= MOST_SPACING))
            throw Error(APSIS_ERROR_UNSUPPORTED, "options: spacing[%d] is %g, but apsis_measures takes %g to %g", a,
                        job.spacing[a], LEAST_SPACING, MOST_SPACING);
    }
    if (job.wants(APSIS_PERIMETER) && job.spacing[0] != job.spacing[1])
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: spacing is %g and %g, but for APSIS_PERIMETER they must be equal",
                    job.spacing[0], job.spacing[1]);
}

MeasuresJob check_measures(const apsis_context &context, const apsis_image *labels, const apsis_image *grey, uint32_t wanted,
                           const apsis_options *given) {
    MeasuresJob job;
    if (wanted & ~ALL_MEASURES)
        throw Error(APSIS_ERROR_ARGUMENT, "wanted is 0x%x, but 0x%x is unknown", unsigned(wanted),
                    unsigned(wanted & ~ALL_MEASURES));
    job.wanted = wanted;
    const Argument images[] = {{"labels", labels, job.set, Role::SET}, {"grey", grey, job.grey, Role::INTENSITY}};
    check_images(context, images, true);
    if (job.wants(APSIS_INTENSITY) && !grey) throw Error(APSIS_ERROR_ARGUMENT, "grey is NULL, but APSIS_INTENSITY is wanted");
    if (!job.wants(APSIS_INTENSITY)) job.grey = {};
    if (labels->ndim == 3 && job.wants(APSIS_PERIMETER | APSIS_HULL | APSIS_FERET))
        throw Error(APSIS_ERROR_UNSUPPORTED, "wanted has %s, which in this version is for images in 2-D, but ndim is 3",
                    job.wants(APSIS_PERIMETER) ? "APSIS_PERIMETER"
                    : job.wants(APSIS_HULL)    ? "APSIS_HULL"
                                               : "APSIS_FERET");
    take_options(labels, given, job);
    check_sums("labels: size", job.set.size);
    return job;
}

/// Makes of an image one that the CPU can take: in host memory, and not of bits.
std::unique_ptr<uint8_t[]> bring(apsis_context &context, View &image) {
    return bring_to_host(context, image, image.type == APSIS_BIT ? APSIS_U8 : image.type);
}

void log_start(const apsis_context &context, const MeasuresJob &job, const char *where) {
    context.log("measures: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]), where);
}

enum class Outcome { FOUND, NO_ROOM, FOR_HOST };

/// Runs a job on the back end, with room for so many values as the job says.  Without kernels for it, or memory, it is for the
/// host.
Outcome run_on_backend(apsis_context &context, const MeasuresJob &job) {
    const auto stage = [&](Carver &carver, const auto &run) {
        Staging staging(context, carver);
        MeasuresJob own = job;
        own.set = staging.values(job.set);
        if (job.grey) own.grey = staging.input(job.grey);
        const size_t bytes = context.backend->measures_scratch(own);
        if (bytes == 0) return Outcome::FOR_HOST;
        return run(staging, own, carver.take<uint8_t>(static_cast<int64_t>(bytes)));
    };
    Carver count;
    const auto just_count = [](const Staging &, const MeasuresJob &, const void *) { return Outcome::FOUND; };
    if (stage(count, just_count) == Outcome::FOR_HOST) return Outcome::FOR_HOST;
    void *memory = nullptr;
    try {
        memory = context.scratch(count.used());
    } catch (const Error &error) {
        if (error.status != APSIS_ERROR_MEMORY && error.status != APSIS_ERROR_WORKSPACE) throw;
        return Outcome::FOR_HOST;
    }
    log_start(context, job, context.backend->name());
    Carver carver(memory);
    return stage(carver, [&](Staging &staging, const MeasuresJob &own, void *scratch) {
        bool is_found = false;
        staging.run([&] { is_found = context.backend->measures(own, scratch, context.progress()); });
        return is_found ? Outcome::FOUND : Outcome::NO_ROOM;
    });
}

/// Finds the sums on the host.
void run_on_host(apsis_context &context, MeasuresJob job, Arena &arena) {
    const std::unique_ptr<uint8_t[]> labels = bring(context, job.set), grey = bring(context, job.grey);
    log_start(context, job, "the CPU");
    measure_values(job, arena, context.progress());
}

/// Finds the sums on the back end; if it has no kernels for them, or not enough memory, on the host.
void run(apsis_context &context, MeasuresJob &job, Arena &arena) {
    constexpr int64_t LEAST_ROOM = 512, PIXELS_A_VALUE = 512, MORE = 4;  // of values there are fewer, mostly
    context.refuse_capture("measures are for the host");
    const int64_t pixels = job.set.pixels();
    job.room = std::max(LEAST_ROOM, pixels / PIXELS_A_VALUE);
    Outcome outcome = run_on_backend(context, job);
    while (outcome == Outcome::NO_ROOM && job.room < MORE * pixels) {
        job.room *= MORE;
        outcome = run_on_backend(context, job);
    }
    if (outcome != Outcome::FOUND) run_on_host(context, job, arena);
}

/* ---- From sums to measures ---- */

/// The second central moments.
void find_moments(const MeasuresJob &job, const ValueSums &sums, double *moment) {
    static constexpr int AXES[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 6; ++i) {
        const auto [a, b] = AXES[i];
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

/// Tells the caller what is found, as it comes; but a table when all is known to fit.
class Teller {
  public:
    Teller(const MeasuresJob &job, Arena &arena, apsis_measure *measures, int64_t capacity)
        : job_(job),
          arena_(arena),
          measures_(measures),
          capacity_(capacity) {}

    void take(int64_t count, const std::function<ValueSums(int64_t)> &of) {
        constexpr int64_t PIECE = 512;  // values that a thread takes at a time
        if (job_.is_dense) found_.resize(static_cast<size_t>(values_ + count));
        const int64_t wanted = job_.is_dense ? count : std::clamp(capacity_ - values_, int64_t(0), count);
        const auto tell_some = [&](int64_t piece) {
            for (int64_t i = piece * PIECE; i < std::min((piece + 1) * PIECE, wanted); ++i) tell(values_ + i, of(i));
        };
        if (wanted <= PIECE)
            tell_some(0);
        else
            parallel_for(arena_, (wanted + PIECE - 1) / PIECE, {}, 0, 1, tell_some);
        values_ += count;
    }

    void finish(int64_t *count) const {
        if (job_.is_dense) fill_table();
        if (count) *count = !job_.is_dense ? values_ : found_.empty() ? 0 : found_.back().part.value + 1;
    }

  private:
    void tell(int64_t place, const ValueSums &sums) {
        if (!job_.is_dense)
            measures_[place] = measure_of(job_, sums);
        else
            found_[static_cast<size_t>(place)] = {sums.part, measures_ ? measure_of(job_, sums) : apsis_measure{}};
    }

    void fill_table() const {
        std::vector<apsis_part> parts;
        for (const Found &each : found_) parts.push_back(each.part);
        check_fit("labels", parts, job_.set.size, measures_, capacity_);
        for (int64_t i = 0; i < capacity_; ++i) {
            measures_[i] = {};
            measures_[i].component = {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, i};
        }
        if (!measures_) return;
        for (const Found &each : found_) measures_[each.part.value] = each.measure;
    }

    struct Found {
        apsis_part part;
        apsis_measure measure;
    };

    const MeasuresJob &job_;
    Arena &arena_;
    apsis_measure *const measures_;
    const int64_t capacity_;
    int64_t values_ = 0;        // how many there were
    std::vector<Found> found_;  // for a table
};

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_measures(apsis_context *context, const apsis_image *labels, const apsis_image *grey, uint32_t wanted,
                            apsis_measure *measures, int64_t capacity, int64_t *count, const apsis_options *options) {
    return guard("measures", context, [&] {
        MeasuresJob job = check_measures(*context, labels, grey, wanted, options);
        check_capacity("measures", measures, capacity);
        Arena arena(Arena::threads_for(context->threads));
        Teller teller(job, arena, measures, capacity);
        job.take = [&](int64_t values, const auto &of) { teller.take(values, of); };
        if (job.set.pixels() > 0 && (measures || count)) run(*context, job, arena);
        teller.finish(count);
    });
}
