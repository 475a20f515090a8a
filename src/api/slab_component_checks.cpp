// Makes checked jobs from the arguments of the calls on components of slabs.
#include <algorithm>
#include <string>

#include "api/jobs.h"
#include "api/options.h"

namespace apsis {
namespace {

using std::to_string;

/// Throws unless a number of the caller's is in its range.
void check_range(const std::string &name, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high)
        throw Error(APSIS_ERROR_ARGUMENT, "%s is %lld, but must be from %lld to %lld", name.c_str(),
                    static_cast<long long>(value), static_cast<long long>(low), static_cast<long long>(high));
}

void check_given(const std::string &name, const void *array, const char *why) {
    if (!array) throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but %s", name.c_str(), why);
}

apsis_options read_slab_options(const apsis_options *given) {
    const apsis_options options = read_options(given);
    if (options.flags & APSIS_SLICES)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_SLICES is set, but slabs have no slices");
    if (options.method != APSIS_AUTO)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is %s, but slabs are for APSIS_AUTO", name_of(options.method));
    return options;
}

/// The job of a slab, which leaves no component out.
ComponentsJob check_slab_set(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                             const apsis_options *given) {
    apsis_options options = read_slab_options(given);
    options.flags &= ~uint32_t(APSIS_NO_BORDER | APSIS_NO_INNER);
    options.min_area = options.max_area = options.largest = 0;
    return check_components(context, set, labels, &options, true);
}

/// An array in host memory as a view; without data if it is not wanted, or has no elements.
View view_of(const int64_t *array, int64_t width, int64_t height) {
    View view;
    view.type = APSIS_I64;
    view.size[0] = width, view.size[1] = height, view.size[2] = 1;
    view.stride[0] = sizeof *array, view.stride[1] = width * view.stride[0], view.stride[2] = height * view.stride[1];
    if (view.pixels() > 0) view.data = reinterpret_cast<uint8_t *>(const_cast<int64_t *>(array));
    return view;
}

// ---- Slabs to be joined ----

/// Throws unless the numbers in a row of a slab are local ones.
void check_row(const std::string &name, const int64_t *row, int64_t columns, int64_t count) {
    check_given(name, row, "another slab lies there");
    for (int64_t c = 0; c < columns; ++c)
        if (row[c] < 0 || row[c] > count) check_range(name + "[" + to_string(c) + "]", row[c], 0, count);
}

/// Throws unless the parts of a slab can be those of its local numbers: in their order, in the slab, and of no more pixels.
void check_parts(const std::string &name, const apsis_slab_labels &slab, const slabs::JoinJob &job) {
    int64_t left = slab.rows * job.columns(), next = slab.start * job.columns();
    const int64_t end = next + left;
    for (int64_t i = 0; i < slab.count; ++i) {
        const apsis_part &part = slab.parts[i];
        bool fits = part.first >= next && part.first < end && part.area >= 1 && part.area <= left;
        for (int a = 0; a < 3 && fits; ++a) {
            const bool is_cut = a == job.axes - 1;
            const int64_t low = is_cut ? slab.start : 0, high = is_cut ? slab.start + slab.rows : job.set.size[a];
            fits = part.lower[a] >= low && part.upper[a] < high && part.sum[a] / part.area >= part.lower[a] &&
                   part.sum[a] / part.area <= part.upper[a];
        }
        if (!fits)
            throw Error(APSIS_ERROR_ARGUMENT,
                        "%s[%lld] has area %lld and first pixel %lld, but is no part of these rows behind the one before it",
                        name.c_str(), static_cast<long long>(i), static_cast<long long>(part.area),
                        static_cast<long long>(part.first));
        left -= part.area;
        next = part.first + 1;
    }
}

std::string name_of(int64_t slab, const char *field) { return "slabs[" + to_string(slab) + "]: " + field; }

/// Throws unless the slabs follow each other in the image, and are all of it if components are selected.
void check_places(const slabs::JoinJob &job) {
    const int64_t extent = job.set.size[job.axes - 1], begin = job.slab_count > 0 ? job.slabs[0].start : 0;
    int64_t end = begin;
    for (int64_t k = 0; k < job.slab_count; ++k) {
        const apsis_slab_labels &slab = job.slabs[k];
        check_range(name_of(k, "start"), slab.start, 0, extent);
        check_range(name_of(k, "rows"), slab.rows, 0, extent - slab.start);
        if (slab.start != end)
            throw Error(APSIS_ERROR_ARGUMENT, "%s is %lld, but the slab before it ends at %lld", name_of(k, "start").c_str(),
                        static_cast<long long>(slab.start), static_cast<long long>(end));
        const int64_t pixels = slab.rows * job.columns();
        check_range(name_of(k, "count"), slab.count, 0, pixels / 2 + pixels % 2);
        end += slab.rows;
    }
    if (job.selects() && (begin > 0 || end < extent))
        throw Error(APSIS_ERROR_ARGUMENT,
                    "slabs are rows %lld to %lld of %lld, but options that leave components out need the whole image",
                    static_cast<long long>(begin), static_cast<long long>(end), static_cast<long long>(extent));
}

/// Throws unless the arrays of a slab can be its own.
void check_slab(const slabs::JoinJob &job, int64_t k) {
    const apsis_slab_labels &slab = job.slabs[k], &top = job.slabs[0], &bottom = job.slabs[job.slab_count - 1];
    if (slab.rows == 0 || job.columns() == 0) return;
    if (slab.start > top.start) check_row(name_of(k, "first"), slab.first, job.columns(), slab.count);
    if (slab.start + slab.rows < bottom.start + bottom.rows)
        check_row(name_of(k, "last"), slab.last, job.columns(), slab.count);
    if (!job.needs_parts() || slab.count == 0) return;
    check_given(name_of(k, "parts"), slab.parts, "parts are wanted, or options select by them");
    check_parts(name_of(k, "parts"), slab, job);
}

}  // namespace

ComponentsJob check_slab_parts(const apsis_context &context, const apsis_image *set, int64_t start, int64_t *first,
                               int64_t *last, apsis_part *parts, int64_t capacity, const apsis_options *given) {
    ComponentsJob job = check_slab_set(context, set, nullptr, given);
    const int axis = job.axes - 1;
    check_range("start", start, 0, LONGEST_AXIS - job.set.size[axis]);
    check_capacity("parts", parts, capacity);
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    size[axis] += start;
    if (parts) check_sums("set: size, with the rows before it,", size);
    const int64_t height = job.axes == 3 ? size[1] : 1;
    job.first = view_of(first, size[0], height);
    job.last = view_of(last, size[0], height);
    check_apart("set", job.set, "first", job.first);
    check_apart("set", job.set, "last", job.last);
    check_apart("first", job.first, "last", job.last);
    job.components = reinterpret_cast<apsis_component *>(parts);
    job.as_parts = true;
    job.capacity = capacity;
    return job;
}

slabs::JoinJob check_slab_join(int32_t ndim, const int64_t *size, const apsis_slab_labels *slabs, int64_t slab_count,
                               apsis_part *parts, int64_t capacity, const apsis_options *given) {
    slabs::JoinJob job;
    check_given("size", size, "that of the image is needed");
    apsis_image image = {};
    image.type = APSIS_U8;
    image.ndim = ndim;
    std::copy_n(size, ndim == 3 ? 3 : 2, image.size);
    job.set = check_image("image", &image, Role::SET, false);
    job.axes = ndim;
    fill_in(read_slab_options(given), job);
    check_capacity("parts", parts, capacity);
    job.components = reinterpret_cast<apsis_component *>(parts);
    job.capacity = capacity;
    if (job.needs_parts()) check_sums("size", job.set.size);
    if (slab_count < 0)
        throw Error(APSIS_ERROR_ARGUMENT, "slab_count is %lld, but cannot be negative", static_cast<long long>(slab_count));
    if (slab_count > 0) check_given("slabs", slabs, "slab_count is not 0");
    job.slabs = slabs;
    job.slab_count = slab_count;
    check_places(job);
    for (int64_t k = 0; k < slab_count; ++k) check_slab(job, k);
    return job;
}

ComponentsJob check_slab_components(const apsis_context &context, const apsis_image *set, const int64_t *numbers, int64_t count,
                                    const apsis_image *labels, const apsis_options *given) {
    check_given("labels", labels, "an image is needed");
    ComponentsJob job = check_slab_set(context, set, labels, given);
    const int64_t pixels = job.set.pixels();
    check_range("count", count, 0, pixels / 2 + pixels % 2);
    if (count > 0) check_given("numbers", numbers, "count is not 0");
    const int64_t most = labels->type == APSIS_I32 ? INT32_MAX : INT64_MAX;
    for (int64_t i = 0; i < count; ++i) {
        if (numbers[i] >= 0 && numbers[i] <= most) continue;
        const auto number = static_cast<long long>(numbers[i]);
        if (numbers[i] < 0)
            throw Error(APSIS_ERROR_ARGUMENT, "numbers[%lld] is %lld, but cannot be negative", static_cast<long long>(i),
                        number);
        throw Error(APSIS_ERROR_RANGE, "labels: type is APSIS_I32, but numbers[%lld] is %lld", static_cast<long long>(i),
                    number);
    }
    job.numbers = view_of(numbers, count, 1);
    check_apart("numbers", job.numbers, "labels", job.labels);
    return job;
}

}  // namespace apsis
