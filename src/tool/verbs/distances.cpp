// Metrics and methods of distance and Voronoi maps.
#include "tool/verbs/distances.h"

#include <charconv>
#include <string_view>

#include "tool/failure.h"
#include "tool/verbs/metrics.h"

namespace tool {
namespace {

constexpr const char *kMethods[] = {"auto",       "raster-scan", "sweep",          "sweep-blocks",
                                    "sweep-rows", "jump-flood",  "sequential-scan"};
constexpr apsis_method kMethodOf[] = {APSIS_AUTO,       APSIS_RASTER_SCAN, APSIS_SWEEP,          APSIS_SWEEP_BLOCKS,
                                      APSIS_SWEEP_ROWS, APSIS_JUMP_FLOOD,  APSIS_SEQUENTIAL_SCAN};
constexpr std::string_view kInstances = " instance", kMended = " pixels mended";

/// The number that stands before some words of a line, if they are there.
std::optional<std::int64_t> number_before(std::string_view words, std::string_view line) {
    const size_t end = line.find(words);
    if (end == std::string_view::npos) return {};
    const size_t start = line.find_last_not_of("0123456789", end - 1) + 1;
    std::int64_t number = 0;
    const auto result = std::from_chars(line.data() + start, line.data() + end, number);
    return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

void DistanceSettings::add_to(Arguments &arguments, const std::string &limits, bool sequential) {
    const int fewer = sequential ? 0 : 1;  // the scan is the last method, and only it has chamfer, the last metric
    const std::string chamfer = "; chamfer: in steps of 3 and 4 thirds, or as --weights say, for --method sequential-scan";
    const std::string scan = "; sequential-scan, on the CPU, takes every metric, and is approximate if that is euclidean";
    add_metric(arguments, std::size(kMetrics) - fewer, "How length is measured" + (sequential ? chamfer : "") + ".", metric);
    if (sequential) weights.add_to(arguments);
    spacing.add_to(arguments, limits);
    arguments.number("--max-distance", "D", "Look no farther than D: beyond it, there is none. Default: no limit.",
                     max_distance);
    arguments.choice("--method", std::span(kMethods).first(std::size(kMethods) - fewer),
                     "A published method, for comparison, instead of the library's own; Euclidean and in 2-D. The answer is "
                     "the same, but for that of jump-flood, which is approximate" +
                         (sequential ? scan : "") +
                         ". The summary and the JSON object say how many instances of its kernel it took. Default: auto.",
                     method);
}

void DistanceSettings::check(bool volume) {
    spacing.check(volume);
    weights.check(volume, metric == APSIS_CHAMFER);
    if (metric == APSIS_CHAMFER && kMethodOf[method] != APSIS_SEQUENTIAL_SCAN)
        usage("--metric chamfer is for --method sequential-scan, but --method is " + method_word());
    if (metric == APSIS_CHESSBOARD || metric == APSIS_CHAMFER) spacing.check_equal("--metric " + metric_word());
}

void DistanceSettings::check_auto(const std::string &why) const {
    if (kMethodOf[method] != APSIS_AUTO) usage(why + " is for --method auto, but --method is " + method_word());
}

void DistanceSettings::check_periodic(const InputSettings &reading) const {
    if (reading.periodic) check_auto("--periodic");
}

void DistanceSettings::fill_in(apsis_options &options) const {
    spacing.fill_in(options);
    weights.fill_in(options);
    options.metric = metric;
    options.max_distance = max_distance.value_or(0);
    options.method = kMethodOf[method];
}

void DistanceSettings::print(Json &json, bool volume) const {
    spacing.print(json, volume);
    json.member("metric", metric_word());
    weights.print(json);
    json.member_or_null("max_distance", max_distance).member("method", method_word());
}

std::string DistanceSettings::why_whole(const apsis_options &options) const {
    if (options.flags & APSIS_SLICES) return "";  // a slab is some of the pages
    if (options.method != APSIS_AUTO) return "--method " + method_word() + " has no slabs";
    return metric == APSIS_EUCLIDEAN || metric == APSIS_CITY_BLOCK ? "" : "--metric " + metric_word() + " has no slabs";
}

std::string DistanceSettings::metric_word() const { return kMetrics[metric]; }
std::string DistanceSettings::method_word() const { return kMethods[static_cast<size_t>(method)]; }

void MethodReport::listen_to(const Device &device) {
    const auto keep = [](void *line, const char *text) {
        if (std::string_view(text).find(kInstances) != std::string_view::npos) *static_cast<std::string *>(line) = text;
    };
    device.check(apsis_set_log(device.context(), keep, &line_));
}

void MethodReport::print(Json &json) const {
    json.member_or_null("kernels", number_before(kInstances, line_));
    json.member_or_null("mended", number_before(kMended, line_));
}

}  // namespace tool
