// Every function of apsis_measures.h: guard, check, dispatch.
#include <apsis_measures.h>

#include <algorithm>

#include "api/arguments.h"
#include "api/enums.h"
#include "api/guard.h"
#include "api/stages.h"
#include "api/options.h"

namespace apsis {

namespace {

/// The options of a call of apsis_morphology.
apsis_options take_options(const apsis_options *given) {
    constexpr uint32_t TAKEN = APSIS_COMPLEMENT | APSIS_SLICES | APSIS_BORDER;
    const apsis_options options = read_options(given);
    if (options.flags & APSIS_LABELS)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: APSIS_LABELS is set, but apsis_morphology takes sets; labels grow by apsis_voronoi with "
                    "max_distance");
    if (options.flags & ~TAKEN)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: flags is 0x%x, but apsis_morphology takes APSIS_COMPLEMENT, APSIS_SLICES and APSIS_BORDER alone",
                    unsigned(options.flags));
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but apsis_morphology has its radius for that",
                    options.max_distance);
    check_taken("apsis_morphology", {APSIS_AUTO}, options);
    refuse_delta("apsis_morphology", options);
    return options;
}

}  // namespace

MorphologyJob check_morphology(const apsis_context &context, const apsis_operation &operation, double radius,
                               const apsis_image *set, const apsis_image *result, const apsis_options *given, bool need_data) {
    if (raw(operation) < APSIS_DILATE || raw(operation) > APSIS_CLOSE)
        throw Error(APSIS_ERROR_ARGUMENT, "operation is %d, which is no apsis_operation", raw(operation));
    if (!(radius >= 0)) throw Error(APSIS_ERROR_ARGUMENT, "radius is %g, but must be 0 or more", radius);
    if (!result) throw Error(APSIS_ERROR_ARGUMENT, "result is NULL, but an image is needed");
    MorphologyJob job;
    DistanceJob &first = job.first;
    const Argument images[] = {{"set", set, first.set, Role::SET}, {"result", result, first.distance, Role::MASK}};
    check_images(context, images, need_data);
    const apsis_options options = take_options(given);
    if (need_data) check_all_apart(images);
    fill_in(set, options, first);
    limit_to(first.measure, radius);
    first.beyond = operation == APSIS_ERODE || operation == APSIS_OPEN;
    first.complement = first.complement != first.beyond;
    job.has_second = operation == APSIS_OPEN || operation == APSIS_CLOSE;
    // Its sites are pixels of 0, and so is what lies outside; or it looks for others.
    const bool border = options.flags & APSIS_BORDER;
    first.border = border && first.complement;
    if (border && job.has_second && !first.complement)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: APSIS_BORDER is set, but to %s takes pixels beyond the border: leave it out, or give the image a "
                    "margin as wide as the radius",
                    operation == APSIS_OPEN ? "open a complement" : "close a set");
    return job;
}

size_t workspace_of(const apsis_context &context, const MorphologyJob &job) {
    return std::max(workspace_of(context, job.first), job.has_second ? workspace_of(context, job.second()) : 0);
}

void run(apsis_context &context, const MorphologyJob &job) {
    if (!job.has_second) return run(context, job.first);
    Stages stages(context);
    run(context, job.first);
    stages.next();
    run(context, job.second());
}

}  // namespace apsis

using namespace apsis;

apsis_status apsis_morphology(apsis_context *context, apsis_operation operation, double radius, const apsis_image *set,
                              const apsis_image *result, const apsis_options *options) {
    return guard("morphology", context, [&] {
        const MorphologyJob job = check_morphology(*context, operation, radius, set, result, options, true);
        if (job.first.set.pixels() > 0) run(*context, job);
    });
}
