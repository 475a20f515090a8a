// What a device allows a launch, and what a launch asks for.  The plan of a call (plan.h of a room) depends on these limits and
// on nothing else of the device, so that tests make the plans of any device.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace apsis::cuda {

/// Left for what kernels declare where a way of computing is chosen by the dynamic shared memory that it takes.  A launch asks
/// the kernel itself; tests/emulator/test_plans.cpp adds what each kernel declares.
constexpr size_t DECLARED = 1024;

struct Limits {
    size_t shared;   // bytes that a block may have: those that its kernel declares, and those that its launch asks for
    int processors;  // multiprocessors

    /// Bytes that a launch may ask for.
    size_t dynamic() const { return shared - DECLARED; }
};

/// Of the current device.
Limits limits_of_device();

/// What a launch asks for.
struct Launch {
    const char *kernel = nullptr;  // nullptr: nothing is launched
    int64_t blocks = 0;
    dim3 threads = 0;
    size_t shared = 0;  // bytes, beside those that the kernel declares
};

}  // namespace apsis::cuda
