// The device back end of a build without CUDA: it has no devices.
#include "runtime/backend.h"

namespace apsis {

int device_count() noexcept { return 0; }

std::unique_ptr<Backend> make_device_backend(int device) {
    throw Error(APSIS_ERROR_NO_DEVICE, "device %d: this build of apsis has no CUDA back end", device);
}

}  // namespace apsis
