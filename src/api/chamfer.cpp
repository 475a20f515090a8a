// The weights of chamfer steps: see chamfer.h.
//
// A ball of weighted steps is the polytope whose corners are the steps, each divided by its weight.  Lengths are a norm if no
// step lies inside of the hull of the others (Borgefors 1986; Fouard, Strand, Borgefors 2007); here it may lie on it.
#include "api/chamfer.h"

#include <algorithm>
#include <cinttypes>

#include "runtime/error.h"

namespace apsis {
namespace {

constexpr int32_t DEFAULT_WEIGHTS[3] = {3, 4, 5};  // nearest to sqrt(2) and sqrt(3) in small numbers (Borgefors 1986)
constexpr int64_t MOST_WEIGHT = 1 << 20;           // as of spacings in a ratio of whole numbers

/// Throws unless a weight is in a range, which follows from those before it.
void check_weight(const apsis_options &options, int i, int64_t least, int64_t most, const char *what) {
    const int32_t weight = options.weights[i];
    if (weight >= least && weight <= most) return;
    throw Error(APSIS_ERROR_ARGUMENT,
                "options: weights[%d] is %" PRId32 " in %" PRId32 ", %" PRId32 ", %" PRId32 ", but must be from %" PRId64
                " to %" PRId64 ", for %s",
                i, weight, options.weights[0], options.weights[1], options.weights[2], least, most, what);
}

}  // namespace

ChamferWeights read_weights(const apsis_options &options, int axes) {
    const int32_t *const given = options.weights;
    if (std::all_of(given, given + 4, [](int32_t weight) { return weight == 0; }))
        return {{0, DEFAULT_WEIGHTS[0], DEFAULT_WEIGHTS[1], DEFAULT_WEIGHTS[2]}, 0};
    const int64_t a = given[0], b = given[1], c = given[2];
    check_weight(options, 0, 1, MOST_WEIGHT, "a step along one axis");
    check_weight(options, 1, a, std::min(2 * a, MOST_WEIGHT), "a step along two axes");
    if (axes == 3)
        check_weight(options, 2, b, std::min(3 * b / 2, MOST_WEIGHT), "a step along three axes");
    else if (c != 0)
        check_weight(options, 2, std::max(2 * a, (3 * b + 1) / 2), std::min(a + b, MOST_WEIGHT),
                     "a knight's move in 2-D, or 0 for none");
    if (given[3] != 0)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: weights[3] is %" PRId32 ", but must be 0 in this version", given[3]);
    if (axes == 2 && c != 0 && options.connectivity == 1)
        throw Error(
            APSIS_ERROR_ARGUMENT,
            "options: weights[2] is %" PRId64 ", for a knight's move, but connectivity is 1, and it goes across corners", c);
    return {{0, a, b, axes == 3 ? c : 0}, axes == 2 ? c : 0};
}

void refuse_knight(const char *what, int64_t knight) {
    if (knight != 0)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: weights[2] is %" PRId64 ", for a knight's move, but %s does not take it in this version", knight,
                    what);
}

}  // namespace apsis
