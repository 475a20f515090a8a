// The library's context, made by the user's settings and freed at the end.
#pragma once

#include <string>

#include "apsis.h"
#include "tool/progress.h"
#include "tool/settings.h"

namespace tool {

class Device {
  public:
    Device(const RunSettings &settings, Progress &progress);
    ~Device() { apsis_destroy(context_); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    apsis_context *context() const { return context_; }
    /// Throws unless the call succeeded: a Failure with the library's sentence, and the exit code of its status.
    void check(apsis_status status) const;

    int number() const { return apsis_device(context_); }
    std::string name() const { return apsis_device_name(context_); }
    /// Why this device was chosen, in words.
    const std::string &why() const { return why_; }

  private:
    apsis_context *context_ = nullptr;
    std::string why_;
};

/// Why there is no usable CUDA device, in the library's words; "" if there is one.
std::string why_no_device();

}  // namespace tool
