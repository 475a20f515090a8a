// Makes a checked job from the arguments of apsis_slab_geodesic.
#include <algorithm>

#include "api/jobs.h"
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

GeodesicJob check_slab_geodesic(const apsis_context &context, const apsis_image *set, const apsis_image *seeds,
                                const apsis_slab_paths *slab, const apsis_image *distance, const apsis_image *nearest,
                                const apsis_options *given) {
    GeodesicJob job = check_geodesic(context, set, seeds, distance, nearest, given, true);
    if (!slab) throw Error(APSIS_ERROR_ARGUMENT, "slab is NULL, but its place is needed");
    const apsis_options options = read_options(given);
    refuse_labels("a slab", options);
    refuse_border("a slab", options);
    if (options.flags & APSIS_SLICES)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_SLICES is set, but slabs are parts of one image");
    const int axis = job.axes - 1;
    const int64_t rows = job.set.size[axis];
    check_place(slab->start, slab->extent, rows);
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    const int64_t columns = job.axes == 3 ? size[0] * size[1] : size[0];
    size[axis] = slab->extent;
    const __int128 pixels = __int128(columns) * slab->extent;
    job.steps = make_steps(options, size, job.axes);
    job.first_index = slab->start * columns;
    job.indices = static_cast<int64_t>(std::min<__int128>(pixels, INT64_MAX));
    if (distance) check_lengths_fit("distance", distance->type, options, job.steps, job.indices);
    check_indices_fit("nearest", nearest, pixels);
    const bool wants_seeds = nearest || slab->first_seeds || slab->last_seeds;
    check_beside({"above", slab->above, slab->above_seeds, slab->start > 0}, columns, wants_seeds, job.indices);
    check_beside({"below", slab->below, slab->below_seeds, slab->start + rows < slab->extent}, columns, wants_seeds,
                 job.indices);
    return job;
}

}  // namespace apsis
