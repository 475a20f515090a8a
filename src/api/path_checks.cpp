// Makes a checked job from the images and options of a call: of paths, in whole images and in slabs.
#include <algorithm>

#include "api/arguments.h"
#include "api/chamfer.h"
#include "api/options.h"

namespace apsis {
namespace {

/// Longer paths do not come in: those that go on in the slab must fit 64 bits.
constexpr int64_t LONGEST_ENTERING = int64_t(1) << 60;

/// What is told of the row beside a slab.
struct Beside {
    const char *name;
    const int64_t *lengths, *seeds;
    bool is_there;  // whether the image has this row
};

void check_beside(const Beside &row, int64_t columns, bool wants_seeds, int64_t indices) {
    if (!row.lengths) return;
    if (wants_seeds && !row.seeds)
        throw Error(APSIS_ERROR_ARGUMENT, "slab: %s_seeds is NULL, but nearest seeds are wanted, and %s is not NULL", row.name,
                    row.name);
    for (int64_t c = 0; c < columns; ++c) {
        const int64_t length = row.lengths[c];
        if (length == slabs::NO_PATH) continue;
        if (!row.is_there)
            throw Error(APSIS_ERROR_ARGUMENT, "slab: %s[%lld] is %lld, but must be INT64_MAX: the image ends there", row.name,
                        static_cast<long long>(c), static_cast<long long>(length));
        if (length < 0 || length > LONGEST_ENTERING)
            throw Error(APSIS_ERROR_ARGUMENT, "slab: %s[%lld] is %lld, but must be from 0 to 2^60, or INT64_MAX", row.name,
                        static_cast<long long>(c), static_cast<long long>(length));
        if (wants_seeds && (row.seeds[c] < 0 || row.seeds[c] >= indices))
            throw Error(APSIS_ERROR_ARGUMENT, "slab: %s_seeds[%lld] is %lld, but must be from 0 to %lld", row.name,
                        static_cast<long long>(c), static_cast<long long>(row.seeds[c]), static_cast<long long>(indices - 1));
    }
}

}  // namespace

GeodesicJob check_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                           const apsis_image *distance, const apsis_image *nearest, const apsis_options *given,
                           bool need_data) {
    GeodesicJob job;
    const Argument images[] = {{"set", set, job.set, Role::SET},
                               {"seeds", seeds, job.seeds, Role::SET},
                               {"distance", distance, job.distance, Role::DISTANCE},
                               {"nearest", nearest, job.nearest, Role::INDEX}};
    check_images(context, images, need_data);
    const apsis_options options = read_options(given);
    if (need_data) check_all_apart(images);
    refuse_border("apsis_geodesic", options);
    refuse_delta("apsis_geodesic", options);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but lengths of paths have no sign");
    check_taken("apsis_geodesic", {APSIS_AUTO}, options);
    job.axes = axes_of(set, options);
    job.periodic = read_periodic("set", options, job.set.size, set->ndim);
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.steps = make_steps(options, job.set.size, job.axes);
    if (job.periodic.any()) refuse_knight("a periodic axis", job.steps.knight);
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (distance) check_lengths_fit("distance", distance->type, options, job.steps, image);
    check_indices_fit("nearest", nearest, job.set.pixels());
    if (options.flags & APSIS_LABELS && nearest) {
        check_labels_fit("nearest", nearest, "seeds", job.seeds.type);
        job.values = job.seeds;
    }
    job.indices = job.set.pixels();
    return job;
}

EccentricityJob check_eccentricity(const apsis_context &context, const apsis_image *set, const apsis_image *eccentricity,
                                   const apsis_image *farthest, const apsis_options *given, bool need_data) {
    EccentricityJob job;
    const Argument images[] = {{"set", set, job.set, Role::SET},
                               {"eccentricity", eccentricity, job.eccentricity, Role::DISTANCE},
                               {"farthest", farthest, job.farthest, Role::INDEX}};
    check_images(context, images, need_data);
    const apsis_options options = read_options(given);
    if (need_data) check_all_apart(images);
    refuse_border("apsis_eccentricity", options);
    refuse_delta("apsis_eccentricity", options);
    if (options.flags & APSIS_SIGNED)
        throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but lengths of paths have no sign");
    if (options.max_distance > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "options: max_distance is %g, but eccentricities have no limit",
                    options.max_distance);
    refuse_complement_of_labels(options);
    check_taken("apsis_eccentricity", {APSIS_AUTO, APSIS_EVERY_SOURCE}, options);
    if (options.method == APSIS_EVERY_SOURCE && options.budget)
        throw Error(APSIS_ERROR_ARGUMENT, "options: budget is %lld, but APSIS_EVERY_SOURCE makes a field from every pixel",
                    static_cast<long long>(options.budget));
    job.axes = axes_of(set, options);
    job.periodic = read_periodic("set", options, job.set.size, set->ndim);
    job.method = options.method;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.by_value = (options.flags & APSIS_LABELS) && set->type != APSIS_BIT;
    job.has_farthest = farthest;
    job.steps = make_steps(options, job.set.size, job.axes);
    if (job.periodic.any()) refuse_knight("a periodic axis", job.steps.knight);
    job.connectivity = job.steps.connectivity;
    if (options.budget) job.budget = options.budget;
    const int64_t image = job.axes == 3 ? job.set.pixels() : job.set.size[0] * job.set.size[1];
    if (eccentricity) check_lengths_fit("eccentricity", eccentricity->type, options, job.steps, image);
    check_indices_fit("farthest", farthest, job.set.pixels());
    return job;
}

void check_array(const EccentricityJob &job) { check_capacity("extents", job.extents, job.capacity); }

GeodesicJob check_slab_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                                const apsis_slab_paths *slab, const apsis_image *distance, const apsis_image *nearest,
                                const apsis_options *given) {
    const apsis_options options = read_options(given);
    apsis_options of_slab = options;
    open_cut(set ? set->ndim : 0, of_slab);
    GeodesicJob job = check_geodesic(context, set, seeds, distance, nearest, &of_slab, true);
    if (!slab) throw Error(APSIS_ERROR_ARGUMENT, "slab is NULL, but its place is needed");
    refuse_labels("a slab", options);
    refuse_border("a slab", options);
    if (options.flags & APSIS_SLICES)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_SLICES is set, but slabs are parts of one image");
    refuse_knight("a slab", job.steps.knight);
    const int axis = job.axes - 1;
    const int64_t rows = job.set.size[axis];
    check_place(slab->start, slab->extent, rows);
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    const int64_t columns = job.axes == 3 ? size[0] * size[1] : size[0];
    size[axis] = slab->extent;
    const bool is_ring = read_periodic("the image", options, size, set->ndim).along[axis];
    const __int128 pixels = __int128(columns) * slab->extent;
    job.steps = make_steps(options, size, job.axes);
    job.first_index = slab->start * columns;
    job.indices = static_cast<int64_t>(std::min<__int128>(pixels, INT64_MAX));
    if (distance) check_lengths_fit("distance", distance->type, options, job.steps, job.indices);
    check_indices_fit("nearest", nearest, pixels);
    const bool wants_seeds = nearest || slab->first_seeds || slab->last_seeds;
    check_beside({"above", slab->above, slab->above_seeds, is_ring || slab->start > 0}, columns, wants_seeds, job.indices);
    check_beside({"below", slab->below, slab->below_seeds, is_ring || slab->start + rows < slab->extent}, columns, wants_seeds,
                 job.indices);
    return job;
}

}  // namespace apsis
