// See paths.h.
#include "tool/verbs/paths.h"

#include "tool/failure.h"
#include "tool/results.h"
#include "tool/verbs/metrics.h"

namespace tool {

void PathSettings::add_steps_to(Arguments &arguments) {
    add_metric(arguments, std::size(kMetrics), "How long a step is; chamfer: 3, 4 or 5 thirds, or as --weights say.", metric);
    weights.add_to(arguments);
    connectivity.add_to(arguments, "Default: all, or with --metric city-block 4, or 6.");
    spacing.add_to(arguments, "Chessboard and chamfer take the same for every axis, integer types only 1.");
}

void PathSettings::add_to(Arguments &arguments) {
    add_steps_to(arguments);
    arguments.choice("--type", kDistanceTypeWords,
                     "Type of the lengths. Default: f32. i32 and i64 are for all metrics but euclidean, and hold chamfer "
                     "lengths as sums of weights, by default in thirds.",
                     type);
}

void PathSettings::check(bool volume) {
    const std::string type_word = std::string("--type ") + kDistanceTypeWords[static_cast<size_t>(type)];
    const bool whole = type >= 2;
    connectivity.check(volume, metric != APSIS_CITY_BLOCK);
    weights.check(volume, metric == APSIS_CHAMFER);
    if (whole && metric == APSIS_EUCLIDEAN) usage(type_word + " cannot hold Euclidean lengths; use f32 or f64");
    spacing.check(volume);
    if (whole) spacing.check_one(type_word);
    if (metric == APSIS_CHESSBOARD || metric == APSIS_CHAMFER) spacing.check_equal(std::string("--metric ") + kMetrics[metric]);
}

void PathSettings::fill_in(apsis_options &options) const {
    spacing.fill_in(options);
    weights.fill_in(options);
    options.metric = metric;
    options.connectivity = connectivity.axes();
}

apsis_type PathSettings::pixel_type() const { return kDistanceTypes[type]; }

void PathSettings::print(Json &json, bool volume) const {
    spacing.print(json, volume);
    json.member("metric", kMetrics[metric]);
    weights.print(json);
    connectivity.print(json);
    json.member("type", kDistanceTypeWords[static_cast<size_t>(type)]);
}

}  // namespace tool
