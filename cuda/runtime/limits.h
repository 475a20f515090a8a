// The limits of a device, and the parameters of a launch.  The plan of a call (the plan.h of its folder) depends on these
// limits and on nothing else of the device, so that tests can make the plans of any device.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace apsis::cuda {

/// Bytes reserved for the shared memory that kernels declare, where a plan chooses by the dynamic shared memory of a way.  A
/// launch reads the exact number from the kernel; tests/emulator/test_plans.cpp adds what each kernel declares.
constexpr size_t DECLARED = 1024;

struct Limits {
    size_t shared;   // bytes that a block may have: those that its kernel declares, and the dynamic ones of its launch
    int processors;  // multiprocessors

    /// Dynamic bytes that a launch may have.
    size_t dynamic() const { return shared - DECLARED; }
};

/// Of the current device.
Limits limits_of_device();

/// The parameters of a launch.
struct Launch {
    const char *kernel = nullptr;  // nullptr: nothing is launched
    int64_t blocks = 0;
    dim3 threads = 0;
    size_t shared = 0;  // dynamic bytes, beside those that the kernel declares
};

}  // namespace apsis::cuda
