// The library's contexts, made by the user's settings and freed at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apsis.h"
#include "tool/io/json.h"
#include "tool/progress.h"
#include "tool/settings.h"

namespace tool {

/// The device that computes; or several, with a context each, for the slabs of an image.  What has no slabs is computed by the
/// first one.
class Device {
  public:
    Device(const RunSettings &settings, Progress &progress);

    int count() const { return static_cast<int>(contexts_.size()); }
    apsis_context *context(int device = 0) const { return contexts_[static_cast<size_t>(device)].get(); }
    /// Throws unless a context's call succeeded: a Failure with the library's sentence, and the exit code of its status.
    void check(apsis_status status, int device = 0) const;

    int number(int device = 0) const { return apsis_device(context(device)); }
    std::string name(int device = 0) const { return apsis_device_name(context(device)); }
    /// The names of all.
    std::string names() const;
    /// Members of a JSON object: the first one and why it was chosen, and the numbers of all that are CUDA devices.
    void print(Json &json) const;

  private:
    struct Destroy {
        void operator()(apsis_context *context) const { apsis_destroy(context); }
    };
    void add(int number);

    std::vector<std::unique_ptr<apsis_context, Destroy>> contexts_;
    std::string why_;
};

/// Why there is no usable CUDA device, in the library's words; "" if there is one.
std::string why_no_device();

}  // namespace tool
