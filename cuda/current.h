// The calling thread's current CUDA device, left as it was.
#pragma once

#include <cuda_runtime.h>

#include "launch.h"

namespace apsis {

/// Makes a device current, and at the end the one that was so before.
class CurrentDevice {
  public:
    explicit CurrentDevice(int device) {
        check(cudaGetDevice(&before_), "finding the current device");
        if (before_ == device) return;
        check(cudaSetDevice(device), "selecting the device");
        changed_ = true;
    }
    ~CurrentDevice() {
        if (changed_ && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
    }
    CurrentDevice(const CurrentDevice &) = delete;
    CurrentDevice &operator=(const CurrentDevice &) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

}  // namespace apsis
