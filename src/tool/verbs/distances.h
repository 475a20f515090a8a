// Settings that the verbs about straight distances share: the metric, the spacing, the largest distance and the method; and
// the library's report on the method.
#pragma once

#include <optional>
#include <string>

#include "tool/arguments.h"
#include "tool/device.h"
#include "tool/geometry.h"
#include "tool/io/json.h"
#include "tool/settings.h"

namespace tool {

struct DistanceSettings {
    apsis_metric metric = APSIS_EUCLIDEAN;
    Spacing spacing;
    Weights weights;
    std::optional<double> max_distance;
    int method = 0;  // a place among the words of --method

    /// `limits` is a sentence about spacings that are refused; `sequential`: whether the verb has the sequential scan.
    void add_to(Arguments &arguments, const std::string &limits, bool sequential);
    /// Fails with a usage error if the settings contradict each other.
    void check(bool volume);
    /// Fails with a usage error unless the method is the library's own; `why` names the option that requires it.
    void check_auto(const std::string &why) const;
    /// Fails with a usage error unless the library takes images that close on themselves, if this one does.
    void check_periodic(const InputSettings &reading) const;
    void fill_in(apsis_options &options) const;
    void print(Json &json, bool volume) const;
    /// Why maps must be computed at once, in words; "" if slabs will do.
    std::string why_whole(const apsis_options &options) const;

    std::string metric_word() const;
    std::string method_word() const;
};

/// The library's report on a published method: "raster scan: 17 instances, 12 pixels mended".
class MethodReport {
  public:
    /// Must outlive the device's work.
    void listen_to(const Device &device);
    /// Members of a JSON object: how many instances of its kernel there were, and how many pixels they left wrong.
    void print(Json &json) const;
    /// The line, as a clause to append to a sentence; "" if there is none.
    std::string clause() const { return line_.empty() ? "" : "; " + line_; }

  private:
    std::string line_;
};

}  // namespace tool
