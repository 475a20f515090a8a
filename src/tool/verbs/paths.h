// Settings that the verbs about paths share: the steps of paths, and the type of lengths.
#pragma once

#include <string>

#include "tool/arguments.h"
#include "tool/geometry.h"
#include "tool/io/json.h"

namespace tool {

struct PathSettings {
    apsis_metric metric = APSIS_EUCLIDEAN;
    Connectivity connectivity;
    Spacing spacing;
    Weights weights;
    int type = 0;  // a place in kDistanceTypes

    void add_to(Arguments &arguments);
    /// Without the type of lengths.
    void add_steps_to(Arguments &arguments);
    /// Fills in defaults, or fails with a usage error.
    void check(bool volume);
    void fill_in(apsis_options &options) const;
    apsis_type pixel_type() const;
    void print(Json &json, bool volume) const;
};

}  // namespace tool
