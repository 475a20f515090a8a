// Which devices are usable.
//
// Device numbers are CUDA's own.  A device is usable if its compute capability is 7.5 or more.  device_count() is one more than
// the highest usable number.  An older device below that is refused, with the reason.
#include "cuda/runtime/devices.h"

#include <cuda_runtime.h>

#include "cuda/runtime/current_device.h"
#include "runtime/backend.h"

namespace apsis {

namespace cuda {

namespace {

constexpr int LEAST_CAPABILITY = 75;  // Turing: the oldest that CUDA 13 compiles for

/// The number of CUDA devices, usable or not.  Leaves no error behind.
cudaError_t count_devices(int &count) noexcept {
    count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cudaGetLastError();
        count = 0;
    }
    return error;
}

/// 10 * major + minor, or 0 if CUDA reports an error.
int capability(int device) noexcept {
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess)
        return 10 * major + minor;
    cudaGetLastError();
    return 0;
}

}  // namespace

void require_device(int device) {
    Driver::refuse_fork();
    int count;
    const cudaError_t error = count_devices(count);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        throw Error(APSIS_ERROR_NO_DEVICE, "device %d: there is no CUDA device", device);
    if (error != cudaSuccess)
        throw Error(APSIS_ERROR_NO_DEVICE, "device %d: no NVIDIA driver that CUDA %d.%d can use was found (%s)", device,
                    CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, cudaGetErrorString(error));
    if (device < 0 || device >= count) {
        if (count == 1) throw Error(APSIS_ERROR_NO_DEVICE, "device %d: there is 1 device, 0", device);
        throw Error(APSIS_ERROR_NO_DEVICE, "device %d: there are %d devices, 0 to %d", device, count, count - 1);
    }
    const int has = capability(device);
    if (has < LEAST_CAPABILITY)
        throw Error(APSIS_ERROR_NO_DEVICE, "device %d: its compute capability is %d.%d, and apsis needs %d.%d", device,
                    has / 10, has % 10, LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10);
}

}  // namespace cuda

int device_count() noexcept {
    int count;
    cuda::count_devices(count);
    while (count > 0 && cuda::capability(count - 1) < cuda::LEAST_CAPABILITY) --count;
    return count;
}

}  // namespace apsis
