// Which numbers hold the lengths of paths, and how eccentricities are found: chosen once a call, from the job alone (plan.cu).
// No choice depends on the device.
#pragma once

#include "cuda/paths/tuning.h"
#include "cuda/runtime/limits.h"
#include "runtime/backend.h"

namespace apsis::cuda::paths {

struct GeodesicPlan {
    bool may_be_short, may_be_long;  // lengths may have 32 bits; or may need 64
    bool has_long_names;             // indices of pixels need 64 bits
};

struct EccentricityPlan {
    bool may_be_short, may_be_long;
    bool is_every_source;           // a field from every pixel, as published
    Launch small[2][SIZE_CLASSES];  // of small components: with lengths of 32 bits and of 64; a class.  Blocks are counted
                                    // on the device, so that here there is one
};

/// Thrown where a path is too long for lengths of 32 bits, or of 64.
struct TooLong {};

/// Pure arithmetic: no call of CUDA.
GeodesicPlan plan_of(const GeodesicJob &job);
EccentricityPlan plan_of(const EccentricityJob &job);

}  // namespace apsis::cuda::paths
