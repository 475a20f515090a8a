// Makes checked jobs from the arguments of the calls on components of slabs.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "api/jobs.h"
#include "api/options.h"
#include "runtime/parallel.h"

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
    if (options.delta > 0)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: delta is %g, but values in slabs must be equal in this version",
                    options.delta);
    return options;
}

/// The job of the slab that the call before has found.
ComponentsJob check_found_set(const apsis_context &context, const apsis_image *labels, const apsis_options &options) {
    if (!context.found || context.found->connectivity == 0)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "set is NULL, but the call before was no apsis_slab_parts of a set without periodic axes, or its workspace "
                    "is one that you set");
    const apsis_context::FoundSlab &found = *context.found;
    ComponentsJob job = check_components(context, &found.set, labels, &options, false);
    job.labels = check_image("labels", labels, Role::LABELS, true);
    job.set.data = nullptr;
    if (job.connectivity != found.connectivity || job.complement != found.complement)
        throw Error(APSIS_ERROR_ARGUMENT, "options: connectivity is %d%s, but that of apsis_slab_parts was %d%s",
                    job.connectivity, job.complement ? ", of the complement" : "", found.connectivity,
                    found.complement ? ", of the complement" : "");
    return job;
}

/// The job of a slab, which leaves no component out.  A slab that is to be labelled may be the one of the call before.
ComponentsJob check_slab_set(const apsis_context &context, const apsis_image *set, const apsis_image *labels,
                             const apsis_options *given) {
    apsis_options options = read_slab_options(given);
    open_cut(set ? set->ndim : labels ? labels->ndim : 0, options);
    options.flags &= ~uint32_t(APSIS_NO_BORDER | APSIS_NO_INNER);
    options.min_area = options.max_area = options.largest = 0;
    if (!set && labels) {
        options.flags &= ~uint32_t(APSIS_LABELS);  // what was found is of a set
        return check_found_set(context, labels, options);
    }
    const ComponentsJob job = check_components(context, set, labels, &options, true);
    if (job.set.type == APSIS_F32)
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "set: type is APSIS_F32, but labels in slabs are of integer types in this version");
    return job;
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

/// Throws unless the numbers in a face of a slab are from 0, or its negative, to `most`.
void check_face(const std::string &name, const int64_t *face, int64_t columns, int64_t most, bool may_be_negative) {
    const int64_t least = may_be_negative ? -most : 0;
    for (int64_t c = 0; c < columns; ++c)
        if (face[c] < least || face[c] > most) check_range(name + "[" + to_string(c) + "]", face[c], least, most);
}

/// Throws unless the numbers in a first row are in order: a component with a pixel there begins there.
void check_first(const std::string &name, const int64_t *face, int64_t columns) {
    for (int64_t c = 0, most = 0; c < columns; ++c) {
        const int64_t number = std::abs(face[c]);
        if (number > most + 1)
            throw Error(APSIS_ERROR_ARGUMENT, "%s[%lld] is %lld, but the largest number before it is %lld", name.c_str(),
                        static_cast<long long>(c), static_cast<long long>(face[c]), static_cast<long long>(most));
        most = std::max(most, number);
    }
}

/// Finds the first part of a slab, from number i on, that cannot be that of its local number: in order, in the slab, and of no
/// more pixels than are left.  Returns `end` if all can be.
int64_t find_misfit(const JoinJob &job, const apsis_slab_labels &slab, int64_t i, int64_t end, int64_t &left) {
    const int64_t begin = slab.start * job.columns(), pixels = slab.rows * job.columns();
    for (; i < end; ++i) {
        const apsis_part &part = slab.parts[i];
        const int64_t before = i > 0 ? slab.parts[i - 1].first : begin - 1;
        bool fits = part.first > before && part.first < begin + pixels && part.area >= 1 && part.area <= left;
        for (int a = 0; a < 3 && fits; ++a) {
            const bool is_cut = a == job.axes - 1;
            const int64_t low = is_cut ? slab.start : 0, high = is_cut ? slab.start + slab.rows : job.set.size[a];
            fits = part.lower[a] >= low && part.upper[a] < high && part.sum[a] >= __int128(part.lower[a]) * part.area &&
                   part.sum[a] <= __int128(part.upper[a]) * part.area;
        }
        if (!fits) return i;
        left -= part.area;
    }
    return end;
}

/// Throws unless the parts of a slab can be those of its local numbers.  There may be as many as a quarter of its pixels, so
/// threads look at them first, piece by piece.
void check_parts(const std::string &name, const apsis_slab_labels &slab, const JoinJob &job, Arena &arena) {
    constexpr int64_t PIECE = 1 << 16;
    const int64_t pixels = slab.rows * job.columns(), pieces = slab.count / PIECE;
    std::vector<int64_t> left(static_cast<size_t>(pieces));  // [piece]: pixels, or -1 if some part cannot be
    if (pieces > 0)
        parallel_for(arena, pieces, Progress(), 0, 1, [&](int64_t k) {
            int64_t rest = pixels;
            const int64_t end = (k + 1) * PIECE, misfit = find_misfit(job, slab, k * PIECE, end, rest);
            left[k] = misfit < end ? -1 : rest;
        });
    int64_t all_left = pixels, k = 0;
    for (; k < pieces && left[k] >= 0 && pixels - left[k] <= all_left; ++k) all_left -= pixels - left[k];
    const int64_t i = find_misfit(job, slab, k * PIECE, slab.count, all_left);
    if (i < slab.count)
        throw Error(APSIS_ERROR_ARGUMENT,
                    "%s[%lld] has area %lld and first pixel %lld, but is no part of these rows behind the one before it",
                    name.c_str(), static_cast<long long>(i), static_cast<long long>(slab.parts[i].area),
                    static_cast<long long>(slab.parts[i].first));
}

std::string name_of(int64_t slab, const char *field) { return "slabs[" + to_string(slab) + "]: " + field; }

/// Throws unless the slabs follow each other in the image, and are all of it if components are selected.
void check_places(const JoinJob &job) {
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
        check_range(name_of(k, "count"), slab.count, 0, job.by_value ? pixels : pixels / 2 + pixels % 2);
        end += slab.rows;
    }
    if (job.selects() && (begin > 0 || end < extent))
        throw Error(APSIS_ERROR_ARGUMENT,
                    "slabs are rows %lld to %lld of %lld, but options that leave components out need the whole image",
                    static_cast<long long>(begin), static_cast<long long>(end), static_cast<long long>(extent));
}

/// Throws unless a slab has the arrays that are needed.
void check_slab(const JoinJob &job, int64_t k) {
    const apsis_slab_labels &slab = job.slabs[k], &top = job.slabs[0], &bottom = job.slabs[job.slab_count - 1];
    if (slab.rows == 0 || job.columns() == 0) return;
    const char *const why = job.is_ring() ? "the image closes on itself" : "another slab lies there";
    if (job.is_ring() || slab.start > top.start) check_given(name_of(k, "first"), slab.first, why);
    if (job.is_ring() || slab.start + slab.rows < bottom.start + bottom.rows) check_given(name_of(k, "last"), slab.last, why);
    if (!job.needs_parts() || slab.count == 0) return;
    check_given(name_of(k, "parts"), slab.parts,
                job.by_value ? "they tell the values" : "parts are wanted, or options select by them");
    if (slab.capacity < slab.count)
        throw Error(APSIS_ERROR_ARGUMENT, "%s is %lld, but count is %lld, and all parts are needed",
                    name_of(k, "capacity").c_str(), static_cast<long long>(slab.capacity), static_cast<long long>(slab.count));
}

/// Throws if two faces, which are written to, share memory.
void check_faces_apart(const JoinJob &job) {
    const size_t bytes = static_cast<size_t>(job.columns()) * sizeof(int64_t);
    std::vector<std::pair<uintptr_t, std::string>> faces;
    for (int64_t k = 0; k < job.slab_count && bytes > 0; ++k)
        for (const auto &[face, field] : {std::pair(job.slabs[k].first, "first"), std::pair(job.slabs[k].last, "last")})
            if (face && job.slabs[k].rows > 0) faces.emplace_back(reinterpret_cast<uintptr_t>(face), name_of(k, field));
    std::sort(faces.begin(), faces.end());
    for (size_t i = 1; i < faces.size(); ++i)
        if (faces[i].first - faces[i - 1].first < bytes)
            throw Error(APSIS_ERROR_ARGUMENT, "%s overlaps %s", faces[i].second.c_str(), faces[i - 1].second.c_str());
}

// ---- Slabs that have been joined ----

constexpr int64_t MOST_COLUMNS = LONGEST_AXIS * LONGEST_AXIS;

/// Throws unless the numbers in the image of a slab can be those of components.
void check_told(const std::string &name, const apsis_slab_labels &slab, int64_t columns) {
    check_range(name + ": count", slab.count, 0, INT64_MAX);
    check_range(name + ": before", slab.before, 0, INT64_MAX - slab.count);
    if (slab.numbers) return check_face(name + ": numbers", slab.numbers, slab.count, INT64_MAX, false);
    if (slab.first) check_face(name + ": first", slab.first, columns, slab.before + slab.count, true);
    if (slab.last) check_face(name + ": last", slab.last, columns, slab.before + slab.count, true);
}

}  // namespace

View face_view(const apsis_context &context, const int64_t *face, int64_t width, int64_t height) {
    View view = view_of(face, width, height);
    if (view && context.backend->is_on_device(face)) view.memory = APSIS_DEVICE;
    return view;
}

void take_faces(const apsis_context &context, const ComponentsJob &job, const apsis_slab_labels &slab, View &first,
                View &last) {
    const int64_t width = job.set.size[0], height = job.axes == 3 ? job.set.size[1] : 1;
    if (job.set.size[job.axes - 1] == 0) return;
    first = face_view(context, slab.first, width, height);
    last = face_view(context, slab.last, width, height);
}

void take_numbers(const apsis_context &context, const apsis_slab_labels &slab, ComponentsJob &job) {
    job.told.is_any = true;
    job.told.before = slab.before, job.told.count = slab.count;
    if (slab.numbers)
        job.told.numbers = view_of(slab.numbers, slab.count, 1);
    else
        take_faces(context, job, slab, job.told.first, job.told.last);
}

ComponentsJob check_slab_parts(const apsis_context &context, const apsis_image *set, const apsis_slab_labels *slab,
                               const apsis_options *given) {
    check_given("slab", slab, "its start and arrays are needed");
    ComponentsJob job = check_slab_set(context, set, nullptr, given);
    const int axis = job.axes - 1;
    check_range("slab: start", slab->start, 0, LONGEST_AXIS - job.set.size[axis]);
    check_capacity("slab: parts", slab->parts, slab->capacity);
    int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
    size[axis] += slab->start;
    if (slab->parts) check_sums("set: size, with the rows before it,", size);
    take_faces(context, job, *slab, job.first, job.last);
    check_apart("set", job.set, "slab: first", job.first);
    check_apart("set", job.set, "slab: last", job.last);
    check_apart("slab: first", job.first, "slab: last", job.last);
    job.components = reinterpret_cast<apsis_component *>(slab->parts);
    job.as_parts = true;
    job.start = slab->start;
    job.capacity = slab->capacity;
    return job;
}

JoinJob check_slab_join(int32_t ndim, const int64_t *size, apsis_slab_labels *slabs, int64_t slab_count, apsis_part *parts,
                        int64_t capacity, const apsis_options *given) {
    JoinJob job;
    check_given("size", size, "that of the image is needed");
    apsis_image image = {};
    image.type = APSIS_U8;
    image.ndim = ndim;
    std::copy_n(size, ndim == 3 ? 3 : 2, image.size);
    job.set = check_image("image", &image, Role::SET, false);
    job.axes = ndim;
    const apsis_options options = read_slab_options(given);
    fill_in(options, job);
    job.by_value = options.flags & APSIS_LABELS;
    job.periodic = read_periodic("image", options, job.set.size, ndim);
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
    check_faces_apart(job);
    return job;
}

void check_slab_arrays(const JoinJob &job, Arena &arena) {
    for (int64_t k = 0; k < job.slab_count && job.columns() > 0; ++k) {
        const apsis_slab_labels &slab = job.slabs[k];
        if (slab.rows == 0) continue;
        const std::string first = name_of(k, "first"), last = name_of(k, "last");
        if (slab.first) check_face(first, slab.first, job.columns(), slab.count, true);
        if (slab.last) check_face(last, slab.last, job.columns(), slab.count, true);
        if (slab.first) check_first(first, slab.first, job.columns());
        if (job.needs_parts() && slab.count > 0) check_parts(name_of(k, "parts"), slab, job, arena);
    }
}

void check_slab_renumber(int64_t columns, const apsis_slab_labels *joined, const apsis_slab_labels *slabs, int64_t slab_count) {
    check_range("columns", columns, 0, MOST_COLUMNS);
    check_given("joined", joined, "it has been told the numbers");
    check_range("slab_count", slab_count, 0, INT64_MAX);
    if (slab_count > 0) check_given("slabs", slabs, "slab_count is not 0");
}

void check_told_arrays(int64_t columns, const apsis_slab_labels &joined, const apsis_slab_labels *slabs, int64_t slab_count) {
    check_told("joined", joined, joined.rows > 0 ? columns : 0);
    for (int64_t k = 0; k < slab_count; ++k) {
        const apsis_slab_labels &slab = slabs[k];
        check_range(name_of(k, "before"), slab.before, 0, joined.count);
        if (slab.rows > 0 && slab.first) check_face(name_of(k, "first"), slab.first, columns, joined.count, true);
        if (slab.rows > 0 && slab.last) check_face(name_of(k, "last"), slab.last, columns, joined.count, true);
        if (slab.numbers) check_face(name_of(k, "numbers"), slab.numbers, slab.count, joined.count, false);
    }
}

ComponentsJob check_slab_components(const apsis_context &context, const apsis_image *set, const apsis_slab_labels *slab,
                                    const apsis_image *labels, const apsis_options *given) {
    check_given("slab", slab, "it has been told the numbers");
    check_given("labels", labels, "an image is needed");
    ComponentsJob job = check_slab_set(context, set, labels, given);
    const int64_t pixels = job.set.pixels();
    check_range("slab: count", slab->count, 0, job.by_value ? pixels : pixels / 2 + pixels % 2);
    take_numbers(context, *slab, job);
    apsis_slab_labels readable = *slab;  // kernels take whatever faces in the memory of a device hold
    if (job.told.first.memory == APSIS_DEVICE) readable.first = nullptr;
    if (job.told.last.memory == APSIS_DEVICE) readable.last = nullptr;
    check_told("slab", readable, pixels > 0 ? job.columns() : 0);
    ComponentsJob selection;
    selection.axes = job.axes;
    fill_in(read_options(given), selection);
    if (selection.selects() && slab->count > 0) check_given("slab: numbers", slab->numbers, "options leave components out");
    const int64_t most = labels->type == APSIS_I32 ? INT32_MAX : INT64_MAX;
    if (!slab->numbers && slab->before > most - slab->count)
        throw Error(APSIS_ERROR_RANGE, "labels: type is APSIS_I32, but numbers may go up to %lld",
                    static_cast<long long>(slab->before + slab->count));
    for (int64_t i = 0; slab->numbers && i < slab->count; ++i)
        if (slab->numbers[i] > most)
            throw Error(APSIS_ERROR_RANGE, "labels: type is APSIS_I32, but slab: numbers[%lld] is %lld",
                        static_cast<long long>(i), static_cast<long long>(slab->numbers[i]));
    check_apart("slab: first", job.told.first, "labels", job.labels);
    check_apart("slab: last", job.told.last, "labels", job.labels);
    check_apart("slab: numbers", job.told.numbers, "labels", job.labels);
    return job;
}

}  // namespace apsis
