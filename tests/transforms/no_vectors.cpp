// Preloaded, it has Highway see a CPU without vector instructions.
#include <hwy/targets.h>

static const struct NoVectors {
    NoVectors() { hwy::SetSupportedTargetsForTest(HWY_SCALAR | HWY_EMU128); }
} no_vectors;
