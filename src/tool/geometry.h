// The grid that an image is taken for: how large its pixels are, and which of them are neighbours.
#pragma once

#include <string>
#include <vector>

#include "apsis.h"
#include "arguments.h"
#include "json.h"

namespace tool {

/// The size of a pixel along each axis.
class Spacing {
  public:
    /// `limits` is a sentence on what is not possible.
    void add_to(Arguments &arguments, const std::string &limits);
    /// Fails with a usage error unless there is a size for every axis.
    void check(bool volume);
    /// Fails with a usage error unless every size is 1, or all are equal; `why` names the option that wants it.
    void check_one(const std::string &why) const;
    void check_equal(const std::string &why) const;

    void fill_in(apsis_options &options) const;
    void print(Json &json, bool volume) const;

  private:
    bool all(double size) const;

    std::vector<double> sizes_;  // none: 1
};

/// How many neighbours a pixel has.
class Connectivity {
  public:
    /// `fallback` is a sentence on the default.
    void add_to(Arguments &arguments, const std::string &fallback);
    /// Takes all neighbours, or those along one axis, unless the user has said how many; fails with a usage error where
    /// the image cannot have as many.
    void check(bool volume, bool all);

    /// Axes along which neighbours may differ.
    int axes() const;
    void print(Json &json) const;

  private:
    int place_ = -1;  // among 4, 8, 6, 18, 26
};

}  // namespace tool
