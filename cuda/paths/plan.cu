// Which numbers hold the lengths of paths, and how eccentricities are found.
//
// - 32 bits are tried where steps are small, and so are the lengths of paths that come into a slab: tiles of such lengths take
//   half the memory and time.  Where the device finds a path that is too long for that, all is done again with 64.  In small
//   images no path is too long.
// - Small components are solved many at a time, a field from each of their pixels: one launch for all of a class, where pair
//   bounds would need some turns of the host.  Without this, images of many small components take up to 32 times as long (one
//   H200).
#include "cuda/paths/plan.h"

#include "cuda/paths/field.h"
#include "cuda/paths/small_components.cuh"

namespace apsis::cuda::paths {

GeodesicPlan plan_of(const GeodesicJob &job) {
    using Short = Lengths<int32_t>;
    const auto longest =
        static_cast<double>(job.longest_entering) + static_cast<double>(job.steps.most) * static_cast<double>(job.set.pixels());
    GeodesicPlan plan;
    plan.may_be_short = job.steps.most <= Short::MOST_STEP && job.longest_entering <= Short::LONGEST - job.steps.most;
    plan.may_be_long =
        !plan.may_be_short || (job.steps.limit > Short::LONGEST && longest > static_cast<double>(Short::LONGEST));
    plan.has_long_names = job.indices > Short::LONGEST;
    return plan;
}

EccentricityPlan plan_of(const EccentricityJob &job) {
    using Short = Lengths<int32_t>;
    EccentricityPlan plan;
    plan.is_every_source = job.method == APSIS_EVERY_SOURCE;
    plan.may_be_short = job.steps.most <= Short::MOST_STEP;
    // Bounds add up to four lengths of paths.
    plan.may_be_long = !plan.may_be_short || job.set.pixels() >= INT32_MAX / 4 / job.steps.most;
    for (int i = 0; i < SIZE_CLASSES; ++i) {
        plan.small[0][i] = plan_small<int32_t>(job, SMALLEST_CLASS << i);
        plan.small[1][i] = plan_small<int64_t>(job, SMALLEST_CLASS << i);
    }
    return plan;
}

}  // namespace apsis::cuda::paths
