// The functions of apsis.h for distance and Voronoi maps of slabs: guard, check, dispatch.
#include <algorithm>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/host_arrays.h"
#include "api/label_slabs.h"
#include "api/map_checks.h"
#include "api/options.h"
#include "slabs/sites.h"

using namespace apsis;

namespace {

long long ll(int64_t value) { return static_cast<long long>(value); }

/// Checks the set of a slab and its place in the image.
void check_slab(const apsis_image *set, int64_t start, int64_t extent, const apsis_options &options, DistanceJob &job) {
    refuse_delta("a slab", options);
    check_cells(options);
    if (options.flags & APSIS_SLICES)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_SLICES is set, but slabs are parts of one image");
    if (job.is_found && options.flags & APSIS_LABELS)
        throw Error(APSIS_ERROR_ARGUMENT, "set is NULL, but with APSIS_LABELS it is needed in each call");
    job.axes = set->ndim;
    job.complement = options.flags & APSIS_COMPLEMENT;
    job.slab.start = start;
    job.slab.extent = extent;
    check_place(start, extent, job.set.size[job.axes - 1]);
}

/// The set of a slab: the caller's, or, without one, what the summary before has found of it.
const apsis_image *slab_set(const apsis_context &context, const apsis_image *set) {
    if (set) return set;
    if (!context.found || context.found->connectivity)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "set is NULL, but the call before was no apsis_slab_summary, or its workspace is one that you set");
    return &context.found->set;
}

/// Checks the caller's sites on one side of a slab.
void check_sites(const apsis_context &context, const char *name, const int64_t *sites, const SiteRange &range) {
    Backend &backend = *context.backend;
    if (!sites || range.columns == 0) return;
    if (backend.is_on_device(sites) && backend.are_sites(sites, range)) return;
    HostArrays arrays(backend);
    sites = arrays.input(sites, range.columns);
    for (int64_t c = 0; c < range.columns; ++c)
        if (!range.has(sites[c]))
            throw Error(APSIS_ERROR_ARGUMENT, "slab: %s[%lld] is %lld, but must be from %lld to %lld, or %lld", name, ll(c),
                        ll(sites[c]), ll(range.begin), ll(range.end - 1), ll(range.none));
}

/// Throws unless each pixel beside a slab, in row `beside`, is said to be in the set, or in its complement, and not in both.
void check_beside(const char *name, const int64_t *const (&sites)[2], int64_t columns, int64_t none, int64_t beside) {
    for (int64_t c = 0; c < columns; ++c) {
        const int64_t of_set = sites[0] ? sites[0][c] : none, of_complement = sites[1] ? sites[1][c] : none;
        if ((of_set == beside) == (of_complement == beside))
            throw Error(APSIS_ERROR_ARGUMENT,
                        "slab: %s[%lld] is %lld and complement_%s[%lld] is %lld, but one of them must be %lld, the row beside "
                        "the slab",
                        name, ll(c), ll(of_set), name, ll(c), ll(of_complement), ll(beside));
    }
}

/// Checks the caller's runs on one side of a slab, beyond their rows: those rows have been checked as sites.
void check_runs(const char *name, const int64_t *runs, int64_t columns, slabs::End end, int64_t extent, bool is_ring) {
    for (int64_t c = 0; runs && c < columns; ++c) {
        if (runs[c] == no_row(end)) continue;
        const int64_t beyond = runs[columns + c];
        const bool is_last = end == slabs::End::LAST;
        const int64_t least = is_last ? -1 : is_ring ? 0 : runs[c] + 1;
        const int64_t most = !is_last ? extent : is_ring ? extent - 1 : runs[c] - 1;
        if (beyond < least || beyond > most)
            throw Error(APSIS_ERROR_ARGUMENT,
                        "slab: %s[%lld] is %lld, the row beyond the run of row %lld, but must be from %lld to %lld", name,
                        ll(columns + c), ll(beyond), ll(runs[c]), ll(least), ll(most));
        if (runs[2 * columns + c] == 0)
            throw Error(APSIS_ERROR_ARGUMENT, "slab: %s[%lld] is 0, but must be the label in row %lld", name,
                        ll(2 * columns + c), ll(runs[c]));
    }
}

SummaryJob check_slab_summary(const apsis_context &context, const apsis_image *set, int64_t start, const apsis_options *given) {
    SummaryJob job;
    job.is_found = !set;
    set = slab_set(context, set);
    check_distance_images(context, set, nullptr, nullptr, true, job);
    const apsis_options options = read_options(given);
    refuse_complement_of_labels(options);
    check_slab(set, start, LONGEST_AXIS, options, job);
    job.labels = options.flags & APSIS_LABELS;
    job.is_opposite = job.is_found && job.complement != context.found->complement;
    return job;
}

/// A slab of a map, and whether it is of labels.
struct SlabMap {
    explicit SlabMap(Backend &backend) : arrays(backend) {}

    DistanceJob job;
    apsis_options options = {};
    apsis_slab slab = {};  // the caller's, its arrays where they are looked at
    HostArrays arrays;

    bool by_labels() const { return options.flags & APSIS_LABELS; }
    /// Whether sites in device memory stay there: the host looks at none.
    bool leaves_sites() const { return !by_labels() && !job.is_signed && options.metric != APSIS_CHESSBOARD; }
    void take(const apsis_slab &callers) {
        slab = callers;
        if (leaves_sites()) return;
        const int64_t count = (by_labels() ? 3 : 1) * job.columns();
        for (const int64_t **array : {&slab.above, &slab.below}) *array = arrays.input(*array, count);
        for (const int64_t **array : {&slab.complement_above, &slab.complement_below})
            if (job.is_signed) *array = arrays.input(*array, count);
    }
};

/// The periodic axes of the image of a slab.
Periodic check_slab_periodic(const apsis_options &options, const DistanceJob &job) {
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    size[job.axes - 1] = job.slab.extent;
    const Periodic periodic = read_periodic("the image", options, size, job.axes);
    if (periodic.any()) check_periodic(options);
    return periodic;
}

/// Checks a slab of a map; `nearest` is called `cells` in a Voronoi map.
SlabMap check_slab_map(const apsis_context &context, const apsis_image *set, const apsis_slab *slab,
                       const apsis_image *distance, const char *name, const apsis_image *nearest, const apsis_options *given) {
    SlabMap map(*context.backend);
    DistanceJob &job = map.job;
    const apsis_options options = map.options = read_options(given);
    job.is_found = !set;
    set = slab_set(context, set);
    const Argument images[] = {{"set", set, job.set, Role::SET},
                               {"distance", distance, job.distance, Role::DISTANCE},
                               {name, nearest, job.nearest, Role::INDEX}};
    check_images(context, images, true);
    check_all_apart(images);
    if (!slab) throw Error(APSIS_ERROR_ARGUMENT, "slab is NULL, but its place is needed");
    check_background(options);
    check_slab(set, slab->start, slab->extent, options, job);
    job.periodic = check_slab_periodic(options, job);
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, but slabs are for APSIS_AUTO", name_of(options.method));
    if (options.metric == APSIS_CHESSBOARD && nearest)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "%s is not NULL, but the metric is APSIS_CHESSBOARD: of several sites as near, the lowest may be one "
                    "that is not told",
                    name);
    fill_in(options, job);
    job.border = options.flags & APSIS_BORDER;
    if (job.is_found && job.complement != context.found->complement)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "options: flags is 0x%x, %s APSIS_COMPLEMENT, but that of apsis_slab_summary was %s it",
                    unsigned(options.flags), job.complement ? "with" : "without", job.complement ? "without" : "with");
    if (job.is_found && job.border && job.is_signed)
        throw Error(APSIS_ERROR_ARGUMENT, "set is NULL, but with APSIS_SIGNED and APSIS_BORDER it is needed again");
    map.take(*slab);
    slab = &map.slab;
    const int64_t start = slab->start, end = start + job.set.size[job.axes - 1], extent = slab->extent;
    const bool is_ring = job.periodic.along[job.axes - 1];  // then the way to these sites may lead around the image
    const int64_t above_end = is_ring ? extent : start, below_begin = is_ring ? 0 : end;
    const SiteRange above = {job.columns(), -1, 0, above_end}, below = {job.columns(), INT64_MAX, below_begin, extent};
    check_sites(context, "above", slab->above, above);
    check_sites(context, "below", slab->below, below);
    if (map.by_labels())
        for (const Edge &edge : edges_of(*slab, job))
            check_runs(edge.name, edge.told, job.columns(), edge.end, slab->extent, is_ring);
    job.slab.above[0] = slab->above, job.slab.below[0] = slab->below;
    if (job.is_signed) {
        check_sites(context, "complement_above", slab->complement_above, above);
        check_sites(context, "complement_below", slab->complement_below, below);
        job.slab.above[1] = slab->complement_above, job.slab.below[1] = slab->complement_below;
        const bool has_more = is_ring && job.is_slab();
        if (has_more || start > 0) check_beside("above", job.slab.above, job.columns(), -1, (start > 0 ? start : extent) - 1);
        if (has_more || end < extent) check_beside("below", job.slab.below, job.columns(), INT64_MAX, end < extent ? end : 0);
    }
    if (!job.is_slab()) {  // what closes on itself does so in the slab
        job.slab = Slab();
        job.slab.extent = extent;
    }
    if (distance) check_fits("distance", distance->type, options, job.measure, job.axes);
    check_indices_fit(name, nearest, __int128(job.columns()) * slab->extent);
    return map;
}

/// What slabs `begin` to before `end` tell, to be merged; nothing if it is not wanted.
MergeJob check_gather(const apsis_context &context, int64_t columns, bool are_last, const int64_t *const *told, int64_t begin,
                      int64_t end, int64_t *merged) {
    MergeJob job;
    if (!merged || columns == 0) return job;
    const char *const name = are_last ? "last" : "first", *const merged_name = are_last ? "above" : "below";
    job.are_last = are_last;
    job.columns = columns;
    job.merged = merged;
    if (begin < end && !told)
        throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but that of %lld slabs is needed", name, ll(end - begin));
    const Backend &backend = *context.backend;
    const bool is_on_device = backend.is_on_device(merged);
    for (int64_t k = begin; k < end; ++k) {
        if (!told[k]) continue;
        if (backend.is_on_device(told[k]) != is_on_device)
            throw Error(APSIS_ERROR_ARGUMENT, "%s[%lld] is in %s memory, but %s is in %s memory", name, ll(k),
                        is_on_device ? "host" : "device", merged_name, is_on_device ? "device" : "host");
        job.told.push_back(told[k]);
    }
    return job;
}

void gather(apsis_context &context, const MergeJob &job) {
    if (!job.merged) return;
    if (context.backend->is_on_device(job.merged)) return context.backend->merge_sites(job);
    Arena arena(Arena::threads_for(context.threads));
    slabs::merge_sites(job, arena);
}

/// Throws unless a Voronoi map with these options is the complete one, of a set.
void check_complete(const apsis_options &options) {
    refuse_border("apsis_slab_voronoi", options);
    if (options.flags & APSIS_SIGNED) throw Error(APSIS_ERROR_ARGUMENT, "options: APSIS_SIGNED is set, but cells have no sign");
    if (options.flags & APSIS_CONNECTED)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_CONNECTED is set, but slabs are for complete maps");
}

/// Runs a map of distances between labels.
void run_between_labels(apsis_context &context, DistanceJob job, const apsis_slab &slab) {
    take_labels(job);
    const BeyondLabels beyond(context, slab, job);
    run(context, job);
}

/// Runs a map that has the labels of sites.
void run_to_labels(apsis_context &context, DistanceJob job, const apsis_slab &slab, const apsis_image *cells,
                   const apsis_options &options) {
    take_cell_labels("cells", cells, options, job);
    take_labels_beyond(slab, job);
    run(context, job);
}

}  // namespace

apsis_status apsis_slab_summary(apsis_context *context, const apsis_image *set, int64_t start, int64_t *first, int64_t *last,
                                const apsis_options *options) {
    return guard("slab_summary", context, [&] {
        if (set) context->found.reset();
        SummaryJob job = check_slab_summary(*context, set, start, options);
        if (job.columns() == 0 || (!first && !last)) return;
        context->refuse_capture("what a slab tells is for the host");
        const bool is_hosts = job.labels || job.set.pixels() == 0;  // what the host writes
        HostArrays arrays(*context->backend);
        job.first = is_hosts ? arrays.output(first, job.told()) : first;
        job.last = is_hosts ? arrays.output(last, job.told()) : last;
        run(*context, job);
        arrays.finish();
    });
}

apsis_status apsis_slab_gather(apsis_context *context, int64_t columns, const int64_t *const *first, const int64_t *const *last,
                               int64_t slab_count, int64_t slab, int64_t *above, int64_t *below) {
    return guard("slab_gather", context, [&] {
        if (columns < 0) throw Error(APSIS_ERROR_ARGUMENT, "columns is %lld, but cannot be negative", ll(columns));
        if (slab < 0 || slab >= slab_count)
            throw Error(APSIS_ERROR_ARGUMENT, "slab is %lld, but slab_count is %lld", ll(slab), ll(slab_count));
        const MergeJob jobs[] = {check_gather(*context, columns, true, last, 0, slab, above),
                                 check_gather(*context, columns, false, first, slab + 1, slab_count, below)};
        for (const MergeJob &job : jobs) gather(*context, job);
    });
}

void apsis_slab_merge(int64_t columns, const int64_t *first, const int64_t *last, int64_t *all_first, int64_t *all_last) {
    for (int64_t c = 0; first && all_first && c < columns; ++c) all_first[c] = std::min(all_first[c], first[c]);
    for (int64_t c = 0; last && all_last && c < columns; ++c) all_last[c] = std::max(all_last[c], last[c]);
}

void apsis_slab_merge_labels(int64_t columns, const int64_t *first, const int64_t *last, int64_t *all_first,
                             int64_t *all_last) {
    if (first && all_first) slabs::merge_runs(columns, slabs::End::FIRST, first, all_first);
    if (last && all_last) slabs::merge_runs(columns, slabs::End::LAST, last, all_last);
}

void apsis_slab_close_labels(int64_t columns, int64_t extent, const int64_t *first, const int64_t *last, int64_t *all_first,
                             int64_t *all_last) {
    if (first && all_first) slabs::close_runs(columns, slabs::End::FIRST, extent, first, all_first);
    if (last && all_last) slabs::close_runs(columns, slabs::End::LAST, extent, last, all_last);
}

apsis_status apsis_slab_distance(apsis_context *context, const apsis_image *set, const apsis_slab *slab,
                                 const apsis_image *distance, const apsis_image *nearest, const apsis_options *options) {
    return guard("slab_distance", context, [&] {
        const SlabMap map = check_slab_map(*context, set, slab, distance, "nearest", nearest, options);
        if (map.job.set.pixels() == 0 || (!distance && !nearest)) return;
        context->refuse_capture("what is outside of a slab may be in host memory");
        map.by_labels() ? run_between_labels(*context, map.job, map.slab) : run(*context, map.job);
    });
}

apsis_status apsis_slab_voronoi(apsis_context *context, const apsis_image *set, const apsis_slab *slab,
                                const apsis_image *cells, const apsis_options *options) {
    return guard("slab_voronoi", context, [&] {
        if (!cells) throw Error(APSIS_ERROR_ARGUMENT, "cells is NULL, but an image is needed");
        check_complete(read_options(options));
        const SlabMap map = check_slab_map(*context, set, slab, nullptr, "cells", cells, options);
        if (map.job.set.pixels() == 0) return;
        context->refuse_capture("what is outside of a slab may be in host memory");
        map.by_labels() ? run_to_labels(*context, map.job, map.slab, cells, map.options) : run(*context, map.job);
    });
}
