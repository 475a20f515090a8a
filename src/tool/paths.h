// What the verbs about paths share: which steps there are, and how lengths are written, drawn and summed up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "json.h"
#include "results.h"
#include "set.h"
#include "settings.h"

namespace tool {

/// Which steps there are, and the type of lengths.
struct PathSettings {
    apsis_metric metric = APSIS_EUCLIDEAN;
    std::vector<double> spacing;
    int neighbours = -1;  // a place among 4, 8, 6, 18, 26
    int type = 0;         // a place among f32, f64, i32, i64

    void add_to(Arguments &arguments);
    /// Fills in defaults, or fails with a usage error.
    void check(bool volume);
    /// The options of a call on this image.
    apsis_options options(const BinaryImage &image, bool volume) const;
    apsis_type pixel_type() const;
    void print(Json &json, bool volume) const;
};

/// The lengths that are there: outside the set there is -1, and infinity, or the largest integer, where no path leads.
Statistics measure_lengths(const Raster &lengths);

/// What is said of lengths after "OUT.tif: ".
std::string sentence_of(const char *what, const Statistics &statistics);

}  // namespace tool
