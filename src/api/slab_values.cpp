// The functions of apsis.h for statistics and contacts of the values of slabs: guard, check, dispatch.
//
// Contacts across a cut are those of the two rows beside it, as an image of two rows, but for those in either of them.
#include <algorithm>
#include <vector>

#include "api/guard.h"
#include "api/label_slabs.h"
#include "api/options.h"
#include "slabs/values.h"

using namespace apsis;

namespace {

/// Checks a label image that is a slab, and the array for what is told of it.
void check_slab(const apsis_image *labels, int64_t start, const char *name, const void *array, int64_t capacity,
                const apsis_options *given) {
    const apsis_options options = read_options(given);
    if (options.flags & (APSIS_SLICES | APSIS_DENSE))
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: %s is set, but slabs do not take it",
                    options.flags & APSIS_SLICES ? "APSIS_SLICES" : "APSIS_DENSE");
    check_place(start, LONGEST_AXIS, labels->size[labels->ndim - 1]);
    check_capacity(name, array, capacity);
}

/// What was found of the values of a slab, where it lies in the image.
std::vector<apsis_part> find_parts(apsis_context &context, StatisticsJob &job, int axes, int64_t start) {
    std::vector<apsis_part> found;
    job.found = &found;
    if (job.set.pixels() > 0) run(context, job);
    slabs::place_parts(job.set, axes, start, found);
    return found;
}

/// Packed rows in host memory, one behind the other along the axis that is cut.
View rows_of(const ContactsJob &job, std::vector<int64_t> &values, int64_t first, int64_t count) {
    View view = job.set;
    view.type = APSIS_I64, view.memory = APSIS_HOST;
    view.size[job.axes - 1] = count;
    view.stride[0] = sizeof(int64_t);
    for (int a = 1; a < 3; ++a) view.stride[a] = view.stride[a - 1] * view.size[a - 1];
    const auto row = static_cast<int64_t>(values.size()) / 2;
    view.data = reinterpret_cast<uint8_t *>(values.data() + first * row);
    return view;
}

/// Adds contacts of an image, or takes them away.
void add_contacts(apsis_context &context, ContactsJob job, const View &labels, int64_t sign, std::vector<apsis_contact> &all) {
    std::vector<apsis_contact> found;
    job.set = labels;
    job.found = &found;
    run(context, job);
    for (apsis_contact pair : found) {
        for (int64_t &faces : pair.faces) faces *= sign;
        pair.corners *= sign;
        all.push_back(pair);
    }
}

std::vector<apsis_contact> find_contacts(apsis_context &context, const ContactsJob &job, const int64_t *before) {
    std::vector<apsis_contact> all;
    if (job.set.pixels() == 0) return all;
    add_contacts(context, job, job.set, 1, all);
    if (!before) return all;
    const int64_t columns = job.set.pixels() / job.set.size[job.axes - 1];
    std::vector<int64_t> values(before, before + columns);
    values.resize(static_cast<size_t>(2 * columns));
    const std::vector<int64_t> own = runs_of_row(context, job.set, job.axes, 0, slabs::End::FIRST);
    for (int64_t c = 0; c < columns; ++c) values[columns + c] = own[c] == no_row(slabs::End::FIRST) ? 0 : own[2 * columns + c];
    add_contacts(context, job, rows_of(job, values, 0, 2), 1, all);
    for (int row = 0; row < 2; ++row) add_contacts(context, job, rows_of(job, values, row, 1), -1, all);
    all.resize(static_cast<size_t>(slabs::merge_contacts(static_cast<int64_t>(all.size()), all.data())));
    return all;
}

}  // namespace

apsis_status apsis_slab_statistics(apsis_context *context, const apsis_image *labels, int64_t start, apsis_part *parts,
                                   int64_t capacity, int64_t *count, const apsis_options *options) {
    return guard("slab_statistics", context, [&] {
        StatisticsJob job = check_statistics(*context, labels, options, true);
        check_slab(labels, start, "parts", parts, capacity, options);
        int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
        size[labels->ndim - 1] += start;
        check_sums("labels: with the rows before it the image", size);
        const std::vector<apsis_part> found = find_parts(*context, job, labels->ndim, start);
        const auto values = static_cast<int64_t>(found.size());
        std::copy_n(found.begin(), std::min(values, capacity), parts);
        if (count) *count = values;
    });
}

int64_t apsis_slab_merge_parts(int64_t count, apsis_part *parts) { return slabs::merge_parts(count, parts); }

apsis_status apsis_slab_contacts(apsis_context *context, const apsis_image *labels, const int64_t *before,
                                 apsis_contact *contacts, int64_t capacity, int64_t *count, const apsis_options *options) {
    return guard("slab_contacts", context, [&] {
        apsis_options of_slab = read_options(options);
        open_cut(labels ? labels->ndim : 0, of_slab);
        ContactsJob job = check_contacts(*context, labels, &of_slab, true);
        check_slab(labels, 0, "contacts", contacts, capacity, options);
        std::vector<apsis_contact> found = find_contacts(*context, job, before);
        job.found = &found;
        tell(job, contacts, capacity, count);
    });
}

apsis_status apsis_slab_merge_contacts(apsis_context *context, int32_t ndim, apsis_contact *contacts, int64_t *count,
                                       const apsis_options *options) {
    return guard("slab_merge_contacts", context, [&] {
        if (!count) throw Error(APSIS_ERROR_ARGUMENT, "count is NULL, but says how many contacts there are");
        check_capacity("contacts", contacts, *count);
        const apsis_image image = {nullptr, APSIS_U8, ndim, {1, 1, 1}, {}, APSIS_HOST, 0};
        apsis_options of_pairs = read_options(options);
        of_pairs.flags &= ~PERIODIC_FLAGS;
        ContactsJob job = check_contacts(*context, &image, &of_pairs, false);
        *count = slabs::merge_contacts(*count, contacts);
        std::vector<apsis_contact> found(contacts, contacts + *count);
        job.found = &found;
        tell(job, contacts, *count, count);
    });
}
