// The words of --metric.
#pragma once

#include <span>
#include <string>

#include "tool/arguments.h"

namespace tool {

/// In the order of apsis_metric.
constexpr const char *kMetrics[] = {"euclidean", "city-block", "chessboard", "chamfer"};

/// What other software calls them.
constexpr Synonym kOtherMetrics[] = {{"cityblock", "city-block"}, {"taxicab", "city-block"}, {"manhattan", "city-block"}};

/// The option, with the first `count` metrics.
inline void add_metric(Arguments &arguments, size_t count, const std::string &help, apsis_metric &metric) {
    arguments.choice("--metric", std::span(kMetrics).first(count),
                     help + " city-block is also cityblock, taxicab or manhattan. Default: euclidean.", metric, kOtherMetrics);
}

}  // namespace tool
