// The grid of an image: the size of its pixels, and which of them are neighbours.
#pragma once

#include <string>
#include <vector>

#include "apsis.h"
#include "tool/arguments.h"
#include "tool/io/json.h"

namespace tool {

/// The size of a pixel along each axis.
class Spacing {
  public:
    /// `limits` is a sentence about spacings that are refused.
    void add_to(Arguments &arguments, const std::string &limits);
    /// Fails with a usage error unless there is a size for every axis.
    void check(bool volume);
    /// Fails with a usage error unless every size is 1, or all are equal; `why` names the option that requires it.
    void check_one(const std::string &why) const;
    void check_equal(const std::string &why) const;

    void fill_in(apsis_options &options) const;
    void print(Json &json, bool volume) const;

  private:
    bool all(double size) const;

    std::vector<double> sizes_;  // none: 1
};

/// How long the steps of --metric chamfer are.
class Weights {
  public:
    void add_to(Arguments &arguments);
    /// Fails with a usage error unless the metric has weights, and there are as many as it takes.
    void check(bool volume, bool is_chamfer) const;

    void fill_in(apsis_options &options) const;
    /// A member, if there are weights.
    void print(Json &json) const;

  private:
    std::vector<double> weights_;  // none: the library's default
};

/// How many neighbours a pixel has.
class Connectivity {
  public:
    /// `fallback` is a sentence on the default.
    void add_to(Arguments &arguments, const std::string &fallback);
    /// Sets the default if the option was not given: all neighbours, or with `all` false only along one axis.  Fails with a
    /// usage error if the number does not suit the image's dimensions.
    void check(bool volume, bool all);

    /// Axes along which neighbours may differ.
    int axes() const;
    void print(Json &json) const;

  private:
    int place_ = -1;  // among 4, 8, 6, 18, 26
};

}  // namespace tool
