// Options: see options.h.
#include "api/options.h"

#include <algorithm>
#include <cfloat>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "api/chamfer.h"
#include "api/enums.h"
#include "api/spacing.h"
#include "runtime/error.h"

namespace apsis {
namespace {

constexpr uint32_t KNOWN_FLAGS = APSIS_COMPLEMENT | APSIS_SIGNED | APSIS_CONNECTED | APSIS_SLICES | APSIS_NO_BORDER |
                                 APSIS_NO_INNER | APSIS_MIXED | APSIS_LABELS | APSIS_BORDER | APSIS_DENSE | PERIODIC_FLAGS;
constexpr uint32_t FIRST_STRUCT_SIZE = 48;  // sizeof(apsis_options) in version 0.1

constexpr double MOST_ROUNDING = 0x1p-25;  // the largest part of itself by which a weight may be rounded
constexpr double MOST_COST = 0x1p61;       // of an image whose weights are rounded: half of what fits

/// Limits of spacings.  Doubles then hold every length, and the rounding error of the product of a length and a unit.
constexpr double LEAST_SPACING = 1e-270, MOST_SPACING = 1e270, DEFAULT_SPACING[3] = {1, 1, 1};

void check_spacing(const double spacing[3]) {
    const bool all_default = spacing[0] == 0 && spacing[1] == 0 && spacing[2] == 0;
    for (int a = 0; a < 3 && !all_default; ++a) {
        if (a == 2 && spacing[a] == 0) continue;  // 2-D: checked with the axes in make_measure
        if (!(spacing[a] >= LEAST_SPACING && spacing[a] <= MOST_SPACING))
            throw Error(APSIS_ERROR_ARGUMENT, "options: spacing[%d] is %g, but must be from %g to %g", a, spacing[a],
                        LEAST_SPACING, MOST_SPACING);
    }
}

void check_not_negative(const char *field, int64_t value) {
    if (value < 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: %s is %" PRId64 ", but must be positive, or 0 for no limit", field, value);
}

/// The cost between opposite corners, or -1 if it is too large.  An axis of one pixel counts as one step, because its weight
/// must be representable too.
int64_t corner_cost(const Measure &measure, const int64_t size[3], int axes) {
    __int128 cost = 0;
    for (int a = 0; a < axes; ++a) {
        const __int128 offset = std::max<int64_t>(size[a] - 1, 1);
        cost += measure.weight[a] * (measure.metric == APSIS_EUCLIDEAN ? offset * offset : offset);
    }
    return cost < NO_COST<int64_t> ? static_cast<int64_t>(cost) : -1;
}

/// For spacings that are in no ratio of whole numbers, or of numbers too large for the image: rounds weights to the finest unit
/// in which no cost of the image overflows.  It is the least spacing divided by a power of two, so that one weight is exact.
void round_weights(Measure &measure, const apsis_options &options, const Spacing &spacing, const int64_t size[3]) {
    const bool is_squared = measure.metric == APSIS_EUCLIDEAN;
    const auto power = [&](double length) { return is_squared ? length * length : length; };
    const auto root = [&](double cost) { return is_squared ? std::sqrt(cost) : cost; };
    const int thin = spacing.least();
    const double *const along = spacing.along, most = along[spacing.most()], least = along[thin];
    double corner = 0;  // the cost between opposite corners if the largest weight is 1
    for (int a = 0; a < spacing.axes; ++a)
        corner += power(along[a] / most * static_cast<double>(std::max<int64_t>(size[a] - 1, 1)));
    const double room = MOST_COST / corner * power(least / most);  // for the weight of the least spacing
    if (!(room >= 1))
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: spacing[%d] is %g, too small beside the others for this image: it must be at least %g", thin,
                    options.spacing[thin], root(corner / MOST_COST) * most * spacing.unit);
    const int shift = is_squared ? std::ilogb(room) & ~1 : std::ilogb(room);  // even: the unit is a root
    measure.unit = std::ldexp(least * spacing.unit, is_squared ? -shift / 2 : -shift);
    for (int a = 0; a < spacing.axes; ++a) {
        const double exact = std::ldexp(power(along[a] / least), shift), weight = std::nearbyint(exact);
        if (!(std::fabs(weight - exact) <= MOST_ROUNDING * exact))
            throw Error(APSIS_ERROR_UNSUPPORTED,
                        "options: spacing[%d] is %g, too small beside the others for this image: it must be at least %g, or a "
                        "whole multiple of spacing[%d]",
                        a, options.spacing[a], root(0.5 / MOST_ROUNDING) * measure.unit, thin);
        measure.weight[a] = static_cast<int64_t>(weight);
    }
}

// ---- Steps ----

constexpr double FINEST_STEP = 1 << 26;   // the least weight of a step whose length is rounded
constexpr double LONGEST_STEP = 1 << 12;  // the largest ratio of two steps

/// Steps of equal spacings, by the number of axes that they go along: sqrt(2) in whole numbers, and sqrt(2) together with
/// sqrt(3).
constexpr int64_t PLANE_STEPS[4] = {0, 5741, 8119, 9944}, SPACE_STEPS[4] = {0, 134421, 190100, 232824};

int axes_in(int kind) { return (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1); }

bool has_kind(int kind, int axes, int connectivity) { return kind > 0 && kind < 1 << axes && axes_in(kind) <= connectivity; }

/// The length of a step as a real number.
double step_length(apsis_metric metric, const double spacing[3], int kind) {
    double length = 0;
    for (int a = 0; a < 3; ++a) {
        if (!(kind >> a & 1)) continue;
        if (metric == APSIS_EUCLIDEAN) length += spacing[a] * spacing[a];
        if (metric == APSIS_CITY_BLOCK) length += spacing[a];
        if (metric == APSIS_CHESSBOARD) length = spacing[a];
    }
    return metric == APSIS_EUCLIDEAN ? std::sqrt(length) : length;
}

/// Weights of steps: whole numbers where lengths add up to such, and otherwise lengths of which the shortest is FINEST_STEP
/// or little less.
void set_steps(Steps &steps, const apsis_options &options, const Spacing &spacing, int connectivity) {
    double length[8], least = HUGE_VAL, most = 0;
    for (int kind = 1; kind < 8; ++kind) {
        length[kind] = step_length(options.metric, spacing.along, kind);
        if (!has_kind(kind, spacing.axes, connectivity)) continue;
        least = std::min(least, length[kind]);
        most = std::max(most, length[kind]);
    }
    if (!(most <= least * LONGEST_STEP))
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: spacing is %g, %g, %g, but for paths one step may be at most %g times as "
                    "long as another",
                    options.spacing[0], options.spacing[1], options.spacing[2], LONGEST_STEP);
    const bool adds_up = spacing.is_whole && (options.metric != APSIS_EUCLIDEAN || connectivity == 1);
    const double finest = FINEST_STEP / least;
    steps.divisor = adds_up ? 1 : spacing.is_whole ? std::floor(finest) : finest;  // so that whole steps stay exact
    for (int kind = 1; kind < 8; ++kind) steps.weight[kind] = std::llrint(length[kind] * steps.divisor);
    steps.unit = spacing.unit;
}

/// The largest length that, in the caller's unit in double precision, is within max_distance.
int64_t length_limit(const Steps &steps, double max_distance) {
    int64_t low = 0, high = INT64_MAX / 2;
    if (real_length(steps, static_cast<double>(high)) <= max_distance) return INT64_MAX;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (real_length(steps, static_cast<double>(middle)) <= max_distance)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void set_weights(Measure &measure, const apsis_options &options, const Spacing &spacing, const int64_t size[3]) {
    measure.unit = spacing.unit;
    for (int a = 0; a < spacing.axes && spacing.is_whole; ++a) {
        const auto whole = static_cast<int64_t>(spacing.along[a]);
        measure.weight[a] = measure.metric == APSIS_EUCLIDEAN ? whole * whole : whole;
    }
    if (!spacing.is_whole || corner_cost(measure, size, spacing.axes) < 0) round_weights(measure, options, spacing, size);
}

/// The largest cost whose length, in the caller's unit in double precision, is within max_distance.
int64_t cost_limit(const Measure &measure, double max_distance) {
    int64_t low = 0, high = NO_COST<int64_t> - 1;
    if (length_of<double>(measure, high) <= max_distance) return high;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (length_of<double>(measure, middle) <= max_distance)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/// The spacing along the axes that count.
Spacing read_spacing(const apsis_options &options, int axes) {
    const double *const spacing = options.spacing;
    if (spacing[0] == 0) return ratio_of(DEFAULT_SPACING, axes);
    for (int a = 0; a < axes; ++a)
        if (spacing[a] == 0)
            throw Error(APSIS_ERROR_ARGUMENT, "options: spacing[%d] is 0, but must be from %g to %g", a, LEAST_SPACING,
                        MOST_SPACING);
    return ratio_of(spacing, axes);
}

/// A float must not turn a long length into infinity, which stands for no way, and must not lose digits of a short length.
void check_float(const char *name, double least, double most) {
    if (most > FLT_MAX) throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_F32, but a length may be as large as %g", name, most);
    if (least < FLT_MIN)
        throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_F32, but a length may be as small as %g", name, least);
}

void check_equal(const char *metric, const apsis_options &options, const Spacing &spacing) {
    for (int a = 1; a < spacing.axes; ++a)
        if (spacing.along[a] != spacing.along[0])
            throw Error(APSIS_ERROR_UNSUPPORTED,
                        "options: spacing[%d] is %g and spacing[0] is %g, but for the %s metric they "
                        "must be equal",
                        a, options.spacing[a], options.spacing[0], metric);
}

}  // namespace

const char *name_of(apsis_method method) {
    switch (method) {
        case APSIS_AUTO: return "APSIS_AUTO";
        case APSIS_RASTER_SCAN: return "APSIS_RASTER_SCAN";
        case APSIS_SWEEP: return "APSIS_SWEEP";
        case APSIS_JUMP_FLOOD: return "APSIS_JUMP_FLOOD";
        case APSIS_TILE_FILL: return "APSIS_TILE_FILL";
        case APSIS_EVERY_SOURCE: return "APSIS_EVERY_SOURCE";
        case APSIS_SWEEP_BLOCKS: return "APSIS_SWEEP_BLOCKS";
        case APSIS_SWEEP_ROWS: return "APSIS_SWEEP_ROWS";
        case APSIS_SEQUENTIAL_SCAN: return "APSIS_SEQUENTIAL_SCAN";
        case APSIS_METHOD_FORCE_32: break;
    }
    return "no apsis_method";
}

apsis_options read_options(const apsis_options *given) {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (!given) return options;
    const uint32_t size = given->struct_size;
    if (size < FIRST_STRUCT_SIZE)
        throw Error(APSIS_ERROR_ARGUMENT, "options: struct_size is %" PRIu32 ", but must be sizeof(apsis_options), %zu", size,
                    sizeof options);
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(given);
    for (uint32_t i = sizeof options; i < size; ++i)
        if (bytes[i])
            throw Error(APSIS_ERROR_UNSUPPORTED,
                        "options: struct_size is %" PRIu32 ", and byte %" PRIu32
                        " sets a field that this version does not know",
                        size, i);
    std::memcpy(&options, given, std::min<size_t>(size, sizeof options));

    if (options.flags & ~KNOWN_FLAGS)
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%" PRIx32 ", but 0x%" PRIx32 " is unknown", options.flags,
                    options.flags & ~KNOWN_FLAGS);
    if (raw(options.metric) < APSIS_EUCLIDEAN || raw(options.metric) > APSIS_CHAMFER)
        throw Error(APSIS_ERROR_ARGUMENT, "options: metric is %d, which is no apsis_metric", raw(options.metric));
    const int method = raw(options.method);
    if (method < APSIS_AUTO || method > APSIS_SEQUENTIAL_SCAN)
        throw Error(APSIS_ERROR_ARGUMENT, "options: method is %d, but the last apsis_method is %s, %d", method,
                    name_of(APSIS_SEQUENTIAL_SCAN), APSIS_SEQUENTIAL_SCAN);
    if (!(options.max_distance >= 0))
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but must be positive, or 0 for no limit",
                    options.max_distance);
    check_spacing(options.spacing);
    if (options.connectivity < 0 || options.connectivity > 3)
        throw Error(APSIS_ERROR_ARGUMENT, "options: connectivity is %" PRId32 ", but must be 1, 2 or 3, or 0 for 1",
                    options.connectivity);
    check_not_negative("largest", options.largest);
    check_not_negative("min_area", options.min_area);
    check_not_negative("max_area", options.max_area);
    check_not_negative("budget", options.budget);
    if (!(options.delta >= 0 && options.delta <= DBL_MAX))
        throw Error(APSIS_ERROR_ARGUMENT, "options: delta is %g, but must be a number from 0 on", options.delta);
    for (int i = 0; i < 4; ++i)
        if (options.weights[i] != 0 && options.metric != APSIS_CHAMFER)
            throw Error(APSIS_ERROR_ARGUMENT, "options: weights[%d] is %" PRId32 ", but metric is not APSIS_CHAMFER", i,
                        options.weights[i]);
    return options;
}

void refuse_labels(const char *function, const apsis_options &options) {
    if (options.flags & APSIS_LABELS)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_LABELS is set, but %s does not take it in this version", function);
}

void refuse_complement_of_labels(const apsis_options &options) {
    if ((options.flags & APSIS_LABELS) && (options.flags & APSIS_COMPLEMENT))
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_LABELS and APSIS_COMPLEMENT are set, but values have no complement");
}

void refuse_border(const char *function, const apsis_options &options) {
    if (options.flags & APSIS_BORDER)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_BORDER is set, but %s does not take it", function);
}

void refuse_delta(const char *function, const apsis_options &options) {
    if (options.delta > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: delta is %g, but %s does not take it", options.delta, function);
}

void refuse_periodic(const char *what, const apsis_options &options) {
    if (options.flags & PERIODIC_FLAGS)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: %s is set, but %s does not take it in this version",
                    options.flags & APSIS_PERIODIC_X   ? "APSIS_PERIODIC_X"
                    : options.flags & APSIS_PERIODIC_Y ? "APSIS_PERIODIC_Y"
                                                       : "APSIS_PERIODIC_Z",
                    what);
}

void open_cut(int ndim, apsis_options &options) {
    if (ndim == 2 || ndim == 3) options.flags &= ~(uint32_t{APSIS_PERIODIC_X} << (ndim - 1));
}

Periodic read_periodic(const char *name, const apsis_options &options, const int64_t size[3], int ndim) {
    Periodic periodic;
    for (int a = 0; a < 3; ++a) {
        const char axis = static_cast<char>('X' + a);
        if (!(options.flags & static_cast<uint32_t>(APSIS_PERIODIC_X) << a)) continue;
        periodic.along[a] = true;
        if (a == 2 && ndim == 2) throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_PERIODIC_Z is set, but ndim is 2");
        if (a == 2 && (options.flags & APSIS_SLICES))
            throw Error(APSIS_ERROR_ARGUMENT,
                        "options: APSIS_PERIODIC_Z is set with APSIS_SLICES, but every z is an image of its own");
        if (size[a] == 1)
            throw Error(APSIS_ERROR_ARGUMENT,
                        "options: APSIS_PERIODIC_%c is set, but %s: size[%d] is 1, and a periodic axis has at least 2 pixels",
                        axis, name, a);
    }
    return periodic;
}

Measure make_measure(const apsis_options &options, const int64_t size[3], int axes, const Periodic &periodic) {
    const bool is_chamfer = options.metric == APSIS_CHAMFER;
    if (is_chamfer && options.method != APSIS_SEQUENTIAL_SCAN)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: metric is APSIS_CHAMFER, which is for paths, and for APSIS_SEQUENTIAL_SCAN");
    Measure measure;
    measure.metric = options.metric;
    const Spacing spacing = read_spacing(options, axes);
    int64_t longest[3] = {}, nearest[3] = {};
    for (int a = 0; a < axes; ++a) {
        longest[a] = periodic.along[a] ? 2 * size[a] : size[a];
        nearest[a] = periodic.along[a] ? size[a] / 2 + 1 : size[a];
    }
    if (options.metric == APSIS_CHESSBOARD || is_chamfer) {
        check_equal(is_chamfer ? "chamfer" : "chessboard", options, spacing);
        measure.unit = spacing.unit;
        measure.largest =
            std::max<int64_t>(*std::max_element(nearest, nearest + axes) - 1, options.flags & APSIS_BORDER ? 1 : 0);
        if (is_chamfer) {
            const ChamferWeights weights = read_weights(options, axes);
            for (int a = 0; a < axes; ++a) measure.weight[a] = weights.step[1];
            measure.diagonal = weights.step[2], measure.knight = weights.knight;
            measure.largest *= measure.diagonal;
        }
    } else {
        set_weights(measure, options, spacing, longest);
        measure.largest = corner_cost(measure, nearest, axes);
    }
    measure.limit = measure.largest;
    if (options.max_distance > 0) limit_to(measure, options.max_distance);
    return measure;
}

void limit_to(Measure &measure, double distance) { measure.limit = std::min(measure.largest, cost_limit(measure, distance)); }

int connectivity_of(const apsis_options &options, int axes, int fallback) {
    if (options.connectivity > axes)
        throw Error(APSIS_ERROR_ARGUMENT, "options: connectivity is %d, but neighbours in 2-D differ along 1 or 2 axes",
                    int(options.connectivity));
    return options.connectivity ? options.connectivity : fallback;
}

Steps make_steps(const apsis_options &options, const int64_t size[3], int axes) {
    Steps steps;
    const Spacing spacing = read_spacing(options, axes);
    if (options.metric == APSIS_CHESSBOARD) check_equal("chessboard", options, spacing);
    if (options.metric == APSIS_CHAMFER) check_equal("chamfer", options, spacing);
    const int connectivity = connectivity_of(options, axes, options.metric == APSIS_CITY_BLOCK ? 1 : axes);
    const bool is_space = connectivity == 3 && size[0] > 1 && size[1] > 1 && size[2] > 1;
    const bool is_chamfer = options.metric == APSIS_CHAMFER;
    const ChamferWeights chamfer = is_chamfer ? read_weights(options, axes) : ChamferWeights{};
    const int64_t *const equal_steps = is_chamfer ? chamfer.step : is_space ? SPACE_STEPS : PLANE_STEPS;
    if (is_chamfer || (options.metric == APSIS_EUCLIDEAN && connectivity > 1 && spacing.is_equal())) {
        for (int kind = 1; kind < 8; ++kind) steps.weight[kind] = equal_steps[axes_in(kind)];
        steps.divisor = static_cast<double>(equal_steps[1]);
        steps.unit = spacing.unit;
    } else {
        set_steps(steps, options, spacing, connectivity);
    }
    steps.connectivity = connectivity;
    steps.knight = chamfer.knight;
    steps.least = INT64_MAX;
    steps.most = steps.knight;
    for (int kind = 1; kind < 8; ++kind) {
        if (!has_kind(kind, axes, connectivity)) {
            steps.weight[kind] = 0;
            continue;
        }
        steps.least = std::min(steps.least, steps.weight[kind]);
        steps.most = std::max(steps.most, steps.weight[kind]);
    }
    if (options.max_distance > 0) steps.limit = length_limit(steps, options.max_distance);
    return steps;
}

void check_lengths_fit(const char *name, apsis_type type, const apsis_options &options, const Steps &steps, int64_t pixels) {
    const double most = std::min(static_cast<double>(std::max<int64_t>(pixels - 1, 0)) * static_cast<double>(steps.most),
                                 static_cast<double>(steps.limit));
    if (type == APSIS_F32)
        return check_float(name, real_length(steps, static_cast<double>(steps.least)), real_length(steps, most));
    if (type == APSIS_F64) return;
    if (options.metric == APSIS_EUCLIDEAN)
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is an integer, but the metric is Euclidean", name);
    const int64_t straight = options.metric == APSIS_CHAMFER ? steps.weight[1] : 1;
    for (int along : {1, 2, 4})
        if (steps.unit != 1 || (steps.weight[along] != 0 && steps.weight[along] != straight))
            throw Error(APSIS_ERROR_ARGUMENT, "%s: type is an integer, but spacing is not 1", name);
    if (type == APSIS_I32 && most >= INT32_MAX)
        throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_I32, but a length may be as large as %.0f", name, most);
}

void check_fits(const char *name, apsis_type type, const apsis_options &options, const Measure &measure, int axes) {
    if (type == APSIS_F32) {
        const Spacing spacing = read_spacing(options, axes);
        check_float(name, spacing.along[spacing.least()] * spacing.unit, length_of<double>(measure, measure.limit));
    }
    if (type != APSIS_I32 && type != APSIS_I64) return;
    const bool is_plain = measure.weight[0] == 1 && measure.weight[1] == 1 && measure.weight[2] == 1;
    if (measure.unit != 1 || !(is_plain || measure.metric == APSIS_CHAMFER))
        throw Error(APSIS_ERROR_ARGUMENT, "%s: type is an integer, but spacing is not 1", name);
    if (type == APSIS_I32 && measure.limit >= INT32_MAX)
        throw Error(APSIS_ERROR_RANGE, "%s: type is APSIS_I32, but a result may be as large as %" PRId64, name, measure.limit);
}

}  // namespace apsis
