// apsis_thickness and apsis_medial_axis: the distance map to the complement on the context's device, then the balls on the
// host (runtime/balls.h).
#include <apsis_measures.h>

#include <climits>
#include <memory>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/stages.h"
#include "api/options.h"
#include "runtime/balls.h"
#include "runtime/staging.h"

namespace apsis {

namespace {

apsis_options take_options(const char *function, const apsis_options *given) {
    constexpr uint32_t TAKEN = APSIS_COMPLEMENT | APSIS_SLICES | APSIS_BORDER;
    const apsis_options options = read_options(given);
    refuse_labels(function, options);
    refuse_periodic(function, options);
    if (options.flags & ~TAKEN)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: flags is 0x%x, but %s takes APSIS_COMPLEMENT, APSIS_SLICES and APSIS_BORDER alone",
                    unsigned(options.flags), function);
    if (options.flags & APSIS_BORDER && options.flags & APSIS_COMPLEMENT)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: APSIS_BORDER is set with APSIS_COMPLEMENT, but then balls have centres beyond the border: leave "
                    "it out, or give the image a margin");
    if (options.metric != APSIS_EUCLIDEAN)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: metric is %s, but balls are those of APSIS_EUCLIDEAN in this version",
                    options.metric == APSIS_CITY_BLOCK   ? "APSIS_CITY_BLOCK"
                    : options.metric == APSIS_CHESSBOARD ? "APSIS_CHESSBOARD"
                                                         : "APSIS_CHAMFER");
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but is not for %s", options.max_distance, function);
    check_taken(function, {APSIS_AUTO}, options);
    refuse_delta(function, options);
    return options;
}

/// The distance job of a call, its output left out, and the view of the output.
struct Call {
    DistanceJob distances;
    View out;
};

Call check_call(const apsis_context &context, const char *function, const apsis_image *set, const char *name,
                const apsis_image *out, const apsis_options *given) {
    if (!out) throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but an image is needed", name);
    Call call;
    DistanceJob &job = call.distances;
    const Argument images[] = {{"set", set, job.set, Role::SET}, {name, out, call.out, Role::DISTANCE}};
    check_images(context, images, true);
    const apsis_options options = take_options(function, given);
    check_all_apart(images);
    fill_in(set, options, job);
    job.complement = !job.complement;  // distances are those to what is not in the set
    job.border = options.flags & APSIS_BORDER;
    check_fits(name, out->type, options, job.measure, job.axes);
    return call;
}

/// Whether squares, and places of pixels, fit in 32 bits.
bool is_narrow(const DistanceJob &job) {
    return apsis::is_narrow(job.measure) && (job.axes == 2 || job.set.size[1] * job.set.size[2] < INT_MAX);
}

void run_balls(apsis_context &context, Call &call, void (*find)(const BallsJob &, Arena &, const Progress &)) {
    DistanceJob &distances = call.distances;
    if (distances.set.pixels() == 0) return;
    Stages stages(context);
    BallsJob job;
    job.axes = distances.axes, job.measure = distances.measure;
    View like = distances.set;
    like.type = is_narrow(distances) ? APSIS_I32 : APSIS_I64;
    const auto squares = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(like)));
    distances.distance = job.squares = packed_like(like, squares.get(), APSIS_HOST);
    run(context, distances);
    stages.next();
    std::unique_ptr<uint8_t[]> copy;
    job.out = call.out;
    if (call.out.memory == APSIS_DEVICE) {
        copy = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(call.out)));
        job.out = packed_like(call.out, copy.get(), APSIS_HOST);
    }
    Arena arena(Arena::threads_for(context.threads));
    find(job, arena, context.progress());
    if (copy) copy_between(context, job.out, call.out);
}

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_thickness(apsis_context *context, const apsis_image *set, const apsis_image *thickness,
                             const apsis_options *options) {
    return guard("thickness", context, [&] {
        Call call = check_call(*context, "apsis_thickness", set, "thickness", thickness, options);
        run_balls(*context, call, find_thickness);
    });
}

apsis_status apsis_medial_axis(apsis_context *context, const apsis_image *set, const apsis_image *radii,
                               const apsis_options *options) {
    return guard("medial_axis", context, [&] {
        Call call = check_call(*context, "apsis_medial_axis", set, "radii", radii, options);
        run_balls(*context, call, find_medial_axis);
    });
}
