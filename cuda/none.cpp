// What a build without CUDA links in place of its back end: no devices, and a sentence that says why.
#include "backend.h"

namespace apsis {

int device_count() noexcept { return 0; }

std::unique_ptr<Backend> make_device_backend(int device) {
    throw Error(APSIS_ERROR_NO_DEVICE, "device is %d, but this build of apsis has no CUDA back end", device);
}

}  // namespace apsis
