// Calls of apsis.h that a fuzzer makes up: problems that may be answered, and arguments that break the rules.
#pragma once

#include "input.h"
#include "judge.h"

/// Prints what must not happen, and aborts, if it has.
void must(bool holds, const char *what);

/// A problem of few pixels that follows the rules, with two routes by which it is run.
soak::Problem draw_problem(Input &in);

/// One call with arguments of which any may be wrong, but for pointers and the sizes of what they point to.
void call_wildly(apsis_context *context, Input &in);
