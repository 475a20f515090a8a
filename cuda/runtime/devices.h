// Which devices are usable.
#pragma once

namespace apsis::cuda {

/// Throws APSIS_ERROR_NO_DEVICE, with the reason, unless CUDA has this device and it is new enough.  Forks are refused first,
/// because in a forked process CUDA reports, wrongly, that there is no driver.
void require_device(int device);

}  // namespace apsis::cuda
