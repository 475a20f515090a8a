// The weights of chamfer steps, from the options.
#pragma once

#include <apsis.h>

namespace apsis {

struct ChamferWeights {
    int64_t step[4];  // by the number of axes along which it goes
    int64_t knight;   // of a step by (1, 2), in the plane; 0: there is none
};

/// The weights over so many axes.  Throws unless they make a norm.
ChamferWeights read_weights(const apsis_options &options, int axes);

/// Throws if there is a knight's move, for what does not take it.
void refuse_knight(const char *what, int64_t knight);

}  // namespace apsis
