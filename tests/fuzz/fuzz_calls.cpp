// Fuzzes the C interface: on one context calls in any order.  Those that follow the rules are checked by brute force, in
// buffers of just their size and by two routes; others must be refused, and leave everything as it was.
#include <cstdio>
#include <cstdlib>

#include "calls.h"

using namespace soak;

void must(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz_calls: %s\n", what);
    std::abort();
}

namespace {

constexpr int MOST_CALLS = 12;

void solve(Bench &bench, Input &in) {
    const Problem p = draw_problem(in);
    const Verdict verdict = judge(bench, p);
    if (!verdict.wrong.empty()) must(false, (verdict.wrong + "\n" + describe(p)).c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input in(data, size);
    Bench bench({.device = APSIS_CPU, .slow = true});
    for (int i = 0; i < MOST_CALLS && !in.ended(); ++i) {
        if (in.below(2) == 0)
            solve(bench, in);
        else
            call_wildly(bench.context(false), in);
    }
    return 0;
}
