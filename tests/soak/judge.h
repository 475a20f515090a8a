// Whether a problem is answered alike by all its routes, and rightly, and what is left of it when it is made small.
#pragma once

#include "bench.h"

namespace soak {

struct Verdict {
    std::string wrong;    ///< What is wrong, in words; empty if nothing is.
    int comparisons = 0;  ///< Of outcomes, with each other and with brute force.
    bool lost = false;    ///< The device has failed, and what it answers from now on means nothing.
};

Verdict judge(Bench &bench, const Problem &p);

/// What brute force says against an outcome; empty if it agrees, or the problem is not for it.
bool has_oracle(const Problem &p);
std::string ask_oracle(const Problem &p, const Outcome &out);

/// A problem with fewer pixels and more defaults that is still answered wrongly; *wrong says how.
Problem shrink(const Machine &machine, Problem p, std::string *wrong);

}  // namespace soak
