// Makes a device current and restores the calling thread's CUDA context afterwards; and the driver functions that apsis calls.
//
// The driver's stack of contexts restores it exactly.  cudaSetDevice cannot: if the thread had no context, going back makes one
// on device 0, and if the thread had a context made by the driver API, going back replaces it.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>

#include "cuda/runtime/launch.h"
#include "runtime/platform.h"

namespace apsis::cuda {

/// The driver's functions.  They are looked up by name, so that apsis does not link with the driver.
class Driver {
  public:
    static const Driver &get() {
        static const Driver driver;
        refuse_fork();
        return driver;
    }

    /// Throws in a process that was forked from one that had loaded the driver.
    static void refuse_fork() {
        if (is_forked)
            throw Error(APSIS_ERROR_DEVICE, "this process was forked from one that has used CUDA, which does not go on in it");
    }

    decltype(&cuCtxGetCurrent) get_current;
    decltype(&cuCtxPushCurrent) push;
    decltype(&cuCtxPopCurrent) pop;
    decltype(&cuFuncSetAttribute) set_attribute;

    /// The device's primary context, which CUDA's runtime uses.  It is retained once and never released: the runtime does not
    /// release it either.
    CUcontext primary(int device) const {
        constexpr int MOST_DEVICES = 64;
        static std::atomic<CUcontext> kept[MOST_DEVICES];
        CUcontext context = device < MOST_DEVICES ? kept[device].load() : nullptr;
        if (context) return context;
        CUdevice handle;
        require(get_device_(&handle, device), "finding the device");
        require(retain_(&context, handle), "retaining the device's context");
        if (device < MOST_DEVICES) kept[device] = context;
        return context;
    }

    /// The runtime's error numbers are the driver's.
    static void require(CUresult result, const char *what) { check(static_cast<cudaError_t>(result), what); }

  private:
    Driver() {
        decltype(&cuInit) initialise;
        find("cuInit", initialise);
        find("cuCtxGetCurrent", get_current);
        find("cuCtxPushCurrent", push);
        find("cuCtxPopCurrent", pop);
        find("cuFuncSetAttribute", set_attribute);
        find("cuDeviceGet", get_device_);
        find("cuDevicePrimaryCtxRetain", retain_);
        require(initialise(0), "initialising the driver");
        call_after_fork([] { is_forked = true; });
    }

    template <class Function>
    static void find(const char *name, Function &function) {
        void *found = nullptr;
        cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
        constexpr unsigned VERSION = 12000;  // of the functions' signatures, as cuda.h declares them
        check(cudaGetDriverEntryPointByVersion(name, &found, VERSION, cudaEnableDefault, &result), name);
#else
        check(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result), name);
#endif
        if (result != cudaDriverEntryPointSuccess) throw Error(APSIS_ERROR_DEVICE, "the driver has no %s", name);
        function = reinterpret_cast<Function>(found);
    }

    decltype(&cuDeviceGet) get_device_;
    decltype(&cuDevicePrimaryCtxRetain) retain_;
    static inline std::atomic<bool> is_forked = false;
};

/// Makes a device's context current.  The destructor restores the previous context, or none.
class CurrentDevice {
  public:
    explicit CurrentDevice(int device) : driver_(Driver::get()) {
        const CUcontext wanted = driver_.primary(device);
        CUcontext before = nullptr;
        Driver::require(driver_.get_current(&before), "finding the current context");
        if (before == wanted) return;
        Driver::require(driver_.push(wanted), "selecting the device");
        is_pushed_ = true;
    }
    ~CurrentDevice() {
        CUcontext own;
        if (is_pushed_) driver_.pop(&own);
    }
    CurrentDevice(const CurrentDevice &) = delete;
    CurrentDevice &operator=(const CurrentDevice &) = delete;

  private:
    const Driver &driver_;
    bool is_pushed_ = false;
};

}  // namespace apsis::cuda
