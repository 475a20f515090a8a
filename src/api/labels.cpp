// Statistics and contacts of label images: makes a checked job from the arguments of a call, and writes what was found.
#include <algorithm>
#include <cfloat>

#include "api/jobs.h"
#include "api/options.h"

namespace apsis {

namespace {

long long ll(int64_t value) { return static_cast<long long>(value); }

/// The options of a call that takes some flags, and APSIS_LABELS, which says what is so anyway.
apsis_options take_options(const char *function, const apsis_options *given, uint32_t flags, const char *names) {
    const apsis_options options = read_options(given);
    if (options.flags & ~(flags | APSIS_LABELS))
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%x, but %s takes %s and APSIS_LABELS alone", options.flags,
                    function, names);
    check_taken(function, {APSIS_AUTO}, options);
    refuse_delta(function, options);
    return options;
}

View take_labels(const apsis_context &context, const apsis_image *labels, bool need_data) {
    const View view = check_image("labels", labels, Role::VALUES, need_data);
    check_reach(context, "labels", labels);
    return view;
}

/// Fills in the areas of faces.  Throws if a double does not hold that of an image full of faces, or one is 0.
void fill_in(const apsis_options &options, ContactsJob &job) {
    double spacing[3] = {1, 1, 1};
    for (int a = 0; a < job.axes && options.spacing[0] > 0; ++a) spacing[a] = options.spacing[a];
    if (job.axes == 3 && !(spacing[2] > 0))
        throw Error(APSIS_ERROR_ARGUMENT, "options: spacing[2] is %g, but must be positive, as those before it are",
                    spacing[2]);
    double most = 0;
    for (int a = 0; a < job.axes; ++a) {
        job.face[a] = 1;
        for (int other = 0; other < job.axes; ++other)
            if (other != a) job.face[a] *= spacing[other];
        most += job.face[a] * static_cast<double>(job.set.pixels());
        if (job.face[a] < DBL_MIN || most > DBL_MAX)
            throw Error(APSIS_ERROR_RANGE, "options: spacing is %g, %g, %g, but the area of a face must fit a double",
                        options.spacing[0], options.spacing[1], options.spacing[2]);
    }
}

}  // namespace

StatisticsJob check_statistics(const apsis_context &context, const apsis_image *labels, const apsis_options *given,
                               bool need_data) {
    StatisticsJob job;
    job.set = take_labels(context, labels, need_data);
    job.is_dense = take_options("apsis_statistics", given, APSIS_DENSE, "APSIS_DENSE").flags & APSIS_DENSE;
    check_sums("labels: size", job.set.size);
    return job;
}

ContactsJob check_contacts(const apsis_context &context, const apsis_image *labels, const apsis_options *given,
                           bool need_data) {
    ContactsJob job;
    job.set = take_labels(context, labels, need_data);
    const apsis_options options =
        take_options("apsis_contacts", given, APSIS_SLICES | PERIODIC_FLAGS, "APSIS_SLICES, APSIS_PERIODIC_X, _Y, _Z");
    job.axes = axes_of(labels, options);
    job.periodic = read_periodic("labels", options, job.set.size, labels->ndim);
    job.connectivity = connectivity_of(options, job.axes, 1);
    fill_in(options, job);
    return job;
}

void check_fit(const char *name, const std::vector<apsis_part> &parts, const int64_t *size, bool is_table, int64_t capacity) {
    const apsis_part *worst = nullptr;
    for (const apsis_part &part : parts)
        if ((part.value < 0 || (is_table && part.value >= capacity)) && (!worst || part.first < worst->first)) worst = &part;
    if (!worst) return;
    const int64_t x = worst->first % size[0], y = worst->first / size[0] % size[1], z = worst->first / size[0] / size[1];
    if (worst->value < 0)
        throw Error(APSIS_ERROR_RANGE, "%s: pixel (%lld, %lld, %lld) is %lld, but a table of APSIS_DENSE begins with 0", name,
                    ll(x), ll(y), ll(z), ll(worst->value));
    throw Error(APSIS_ERROR_RANGE, "%s: pixel (%lld, %lld, %lld) is %lld, but capacity is %lld, for values below that", name,
                ll(x), ll(y), ll(z), ll(worst->value), ll(capacity));
}

void tell(const StatisticsJob &job, apsis_component *components, int64_t capacity, int64_t *count) {
    const std::vector<apsis_part> &found = *job.found;
    const auto values = static_cast<int64_t>(found.size());
    if (!job.is_dense) {
        apsis_slab_measure(std::min(values, capacity), found.data(), components);
        if (count) *count = values;
        return;
    }
    check_fit("labels", found, job.set.size, components, capacity);
    for (int64_t i = 0; i < capacity; ++i) components[i] = {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, i};
    for (const apsis_part &part : found)
        if (components) apsis_slab_measure(1, &part, components + part.value);
    if (count) *count = values ? found.back().value + 1 : 0;
}

void tell(const ContactsJob &job, apsis_contact *contacts, int64_t capacity, int64_t *count) {
    const std::vector<apsis_contact> &found = *job.found;
    const auto pairs = static_cast<int64_t>(found.size());
    for (int64_t i = 0; i < std::min(pairs, capacity); ++i) {
        contacts[i] = found[i];
        contacts[i].area = 0;
        for (int a = 0; a < job.axes; ++a) contacts[i].area += static_cast<double>(found[i].faces[a]) * job.face[a];
    }
    if (count) *count = pairs;
}

}  // namespace apsis
