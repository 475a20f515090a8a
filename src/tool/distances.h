// What the verbs about straight distances share: how length is measured, how far and by which method the nearest site is
// looked for, and what the library tells of that method.
#pragma once

#include <optional>
#include <string>

#include "arguments.h"
#include "device.h"
#include "geometry.h"
#include "json.h"

namespace tool {

struct DistanceSettings {
    apsis_metric metric = APSIS_EUCLIDEAN;
    Spacing spacing;
    std::optional<double> max_distance;
    int method = 0;  // a place among those of --method

    /// `limits` is a sentence on what spacing is not possible; `sequential` says whether there is that scan too.
    void add_to(Arguments &arguments, const std::string &limits, bool sequential);
    /// Fails with a usage error if they do not go together.
    void check(bool volume);
    void fill_in(apsis_options &options) const;
    void print(Json &json, bool volume) const;

    std::string metric_word() const;
    std::string method_word() const;
};

/// What the library tells of a published method: "raster scan: 17 instances, 12 pixels mended".
class MethodReport {
  public:
    /// Must outlive the device's work.
    void listen_to(const Device &device);
    /// Members of a JSON object: how many instances of its kernel there were, and how many pixels they left wrong.
    void print(Json &json) const;
    /// The line, to go on with after a sentence; "" if there is none.
    std::string clause() const { return line_.empty() ? "" : "; " + line_; }

  private:
    std::string line_;
};

}  // namespace tool
