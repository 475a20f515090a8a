// apsis_morphology: guard, check, dispatch.
//
// A mask of a set is the last store of a distance map, and opening and closing are two of them.  Of a label image masks are
// scratch memory.  A pixel keeps its label where no other value is near, or in an opening where such a pixel is near, which is
// of the same label then.  The set of all labels is closed, and its new pixels have the nearest label.
#include <apsis_measures.h>

#include <algorithm>
#include <memory>

#include "api/arguments.h"
#include "api/enums.h"
#include "api/guard.h"
#include "api/host_runs.h"
#include "api/map_checks.h"
#include "api/options.h"
#include "api/stages.h"
#include "runtime/packed.h"

namespace apsis {

namespace {

/// The options of a call of apsis_morphology.
apsis_options take_options(const apsis_options *given) {
    constexpr uint32_t TAKEN = APSIS_COMPLEMENT | APSIS_SLICES | APSIS_BORDER | APSIS_LABELS;
    const apsis_options options = read_options(given);
    refuse_complement_of_labels(options);
    if (options.flags & ~TAKEN)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: flags is 0x%x, but apsis_morphology takes APSIS_COMPLEMENT, APSIS_SLICES, APSIS_BORDER and "
                    "APSIS_LABELS alone",
                    unsigned(options.flags));
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but apsis_morphology has its radius for that",
                    options.max_distance);
    check_taken("apsis_morphology", {APSIS_AUTO}, options);
    refuse_delta("apsis_morphology", options);
    return options;
}

bool erodes_first(apsis_operation operation) { return operation == APSIS_ERODE || operation == APSIS_OPEN; }
bool has_two(apsis_operation operation) { return operation == APSIS_OPEN || operation == APSIS_CLOSE; }

/// Whether an operation takes pixels beyond the border.  The second map's sites would be those of the first one there.
bool is_beyond_border(apsis_operation operation, const apsis_options &options) {
    const bool complement = options.flags & APSIS_COMPLEMENT;
    return options.flags & APSIS_BORDER && has_two(operation) && erodes_first(operation) == complement;
}

/// Whether the options allow an operation on some images.
bool is_allowed(apsis_operation operation, const apsis_options &options) {
    const bool measures_labels = options.flags & APSIS_LABELS && erodes_first(operation);
    return !is_beyond_border(operation, options) && !(measures_labels && options.metric == APSIS_CHESSBOARD);
}

/// A mask of the size of an image, in its kind of memory.
View mask_like(const View &image) {
    View mask = image;
    mask.type = APSIS_U8;
    return packed_like(mask, image.data, image.memory);
}

/// The maps for a label image: `job` has its set, options and limit.
void take_label_maps(const apsis_image *result, apsis_operation operation, const apsis_options &options, MorphologyJob &job) {
    const View labels = job.first.set;
    if (labels.memory != job.result.memory)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "result is in %s memory, but set is in %s memory: with APSIS_LABELS they are in one",
                    job.result.memory == APSIS_DEVICE ? "device" : "host", labels.memory == APSIS_DEVICE ? "device" : "host");
    job.kept = labels;
    if (erodes_first(operation)) {
        check_background(options);
        check_labels_fit("result", result, "set", labels.type);
        take_labels(job.first);
    } else {
        job.grown = job.first;
        job.grown.nearest = job.result;
        take_cell_labels("result", result, options, job.grown);
        // Then the set of all that has grown is eroded.
        job.kept = job.first.set = operation == APSIS_CLOSE ? job.result : View();
        job.first.beyond = job.first.complement = true;
        job.has_second = false;
    }
    job.first.distance = mask_like(job.result);  // the place of scratch memory
}

/// The bytes of scratch memory for the masks of a label image; in the host memory of a device's call there is none.
size_t mask_bytes(const apsis_context &context, const MorphologyJob &job) {
    Carver carver;
    if (job.kept && job.result.memory == context.own_memory()) carver.take<uint8_t>(job.result.pixels());
    return carver.used();
}

/// Runs the maps whose last one is a mask.
void run_masks(apsis_context &context, const MorphologyJob &job, Stages &stages) {
    run(context, job.first);
    if (!job.has_second) return;
    stages.next();
    run(context, job.second());
}

/// Keeps what is at the beginning of the scratch memory while further jobs run.
class Aside {
  public:
    Aside(apsis_context &context, size_t bytes) : context_(context) { context.put_aside(bytes); }
    ~Aside() { context_.put_aside(0); }
    Aside(const Aside &) = delete;
    Aside &operator=(const Aside &) = delete;

  private:
    apsis_context &context_;
};

/// Runs the maps of masks in scratch memory, and keeps the labels in the last one.
void keep_labels(apsis_context &context, MorphologyJob job, Stages &stages) {
    if (job.result.memory == context.own_memory()) {
        job.first.distance.data = static_cast<uint8_t *>(context.scratch(workspace_of(context, job)));
        const Aside aside(context, mask_bytes(context, job));
        run_masks(context, job, stages);
        return context.backend->keep_labels(job.first.distance, job.kept, job.result);
    }
    const auto mask = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(job.result.pixels()));
    job.first.distance.data = mask.get();
    run_masks(context, job, stages);
    host_context_like(context)->backend->keep_labels(job.first.distance, job.kept, job.result);
}

}  // namespace

MorphologyJob check_morphology(const apsis_context &context, const apsis_operation &operation, double radius,
                               const apsis_image *set, const apsis_image *result, const apsis_options *given, bool need_data) {
    if (raw(operation) < APSIS_DILATE || raw(operation) > APSIS_CLOSE)
        throw Error(APSIS_ERROR_ARGUMENT, "operation is %d, which is no apsis_operation", raw(operation));
    if (!(radius >= 0)) throw Error(APSIS_ERROR_ARGUMENT, "radius is %g, but must be 0 or more", radius);
    if (!result) throw Error(APSIS_ERROR_ARGUMENT, "result is NULL, but an image is needed");
    const apsis_options options = take_options(given);
    const bool labels = options.flags & APSIS_LABELS;
    MorphologyJob job;
    DistanceJob &first = job.first;
    const Argument images[] = {{"set", set, first.set, Role::SET},
                               {"result", result, job.result, labels ? Role::INDEX : Role::MASK}};
    check_images(context, images, need_data);
    if (need_data) check_all_apart(images);
    fill_in(set, options, first);
    limit_to(first.measure, radius);
    first.beyond = erodes_first(operation);
    first.complement = first.complement != first.beyond;
    job.has_second = has_two(operation);
    // Its sites are pixels of 0, and so is what lies outside; or it looks for others.
    first.border = options.flags & APSIS_BORDER && first.complement;
    if (is_beyond_border(operation, options))
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "options: APSIS_BORDER is set, but to %s takes pixels beyond the border: leave it out, or give the image a "
                    "margin as wide as the radius",
                    operation == APSIS_OPEN ? "open a complement"
                    : labels                ? "close labels"
                                            : "close a set");
    if (labels)
        take_label_maps(result, operation, options, job);
    else
        first.distance = job.result;
    return job;
}

size_t workspace_of(const apsis_context &context, const MorphologyJob &job) {
    const auto bytes_of = [&](const DistanceJob &map) { return map.set ? workspace_of(context, map) : 0; };
    const size_t masks = std::max(bytes_of(job.first), job.has_second ? bytes_of(job.second()) : 0);
    return std::max(mask_bytes(context, job) + masks, bytes_of(job.grown));
}

size_t morphology_workspace(const apsis_context &context, const apsis_image *set, const apsis_image *result,
                            const apsis_options *given) {
    const apsis_options options = take_options(given);
    size_t most = 0;
    for (const apsis_operation each : {APSIS_DILATE, APSIS_ERODE, APSIS_OPEN, APSIS_CLOSE})
        if (is_allowed(each, options))
            most = std::max(most, workspace_of(context, check_morphology(context, each, 0, set, result, &options, false)));
    return most;
}

void run(apsis_context &context, const MorphologyJob &job) {
    Stages stages(context, (job.grown.set ? 1 : 0) + (job.first.set ? job.has_second + 1 : 0));
    if (job.grown.set) {
        run(context, job.grown);
        stages.next();
    }
    if (!job.first.set) return;
    job.kept ? keep_labels(context, job, stages) : run_masks(context, job, stages);
}

}  // namespace apsis

using namespace apsis;

apsis_status apsis_morphology(apsis_context *context, apsis_operation operation, double radius, const apsis_image *set,
                              const apsis_image *result, const apsis_options *options) {
    return guard("morphology", context, [&] {
        const MorphologyJob job = check_morphology(*context, operation, radius, set, result, options, true);
        if (job.result.pixels() > 0) run(*context, job);
    });
}
