// See slab_components.h.  Slabs tell the numbers in their first and last rows, and are told what these are in the image.  What
// is wanted of the components themselves, statistics, a selection or the values of labels, takes memory for each one that a
// slab has.  How many that are is known when all slabs have been counted: an image that takes too much then is refused before
// anything is written.
//
// Slabs of whole images, and an image of one slab, are labelled as they are.
#include "tool/slab_components.h"

#include <algorithm>

#include "tool/failure.h"

namespace tool {
namespace {

// Bytes of memory that the library takes to join slabs: for a component in a face, and for each one to find the largest.
constexpr std::int64_t kNode = 32, kArea = 24;
constexpr std::int64_t kChunk = 512;  // components that are measured at once
constexpr std::int64_t kEntry = sizeof(apsis_part);
static_assert(kEntry == sizeof(apsis_component));

bool selects(const apsis_options &options) {
    return options.flags & (APSIS_NO_BORDER | APSIS_NO_INNER) || options.largest || options.min_area || options.max_area;
}

/// Adds to the numbers of components.
void add_to_labels(const Raster &labels, std::int64_t extent, std::int64_t before) {
    with_type(labels.type(), [&](auto zero) {
        using Label = decltype(zero);
        auto *label = labels.row_of<Label>(0, 0);
        for (std::int64_t i = 0; i < extent * labels.shape().columns(); ++i)
            if (label[i] > 0) label[i] += static_cast<Label>(before);
    });
}

[[noreturn]] void refuse(const Run &run, std::int64_t takes, std::int64_t components, bool measured) {
    refuse_memory(
        run.shape(), std::to_string(takes), run.cut().limit,
        ": its slabs have " + std::to_string(components) + " components" +
            (measured ? ", and statistics, selections and labels need " + std::to_string(kEntry) + " bytes for each" : ""));
}

/// How many runs of pixels of one component there are in a row: no fewer than components.
std::int64_t runs_in(const std::int64_t *face, std::int64_t columns) {
    std::int64_t runs = 0, before = 0;
    for (std::int64_t c = 0; c < columns; before = face[c++]) runs += face[c] > 0 && face[c] != before;
    return runs;
}

}  // namespace

std::int64_t SlabComponents::numbers(std::int64_t slabs, const Shape &, const apsis_options &options) {
    return slabs == 1 || options.flags & APSIS_SLICES ? 0 : 2 * slabs;
}

SlabComponents::SlabComponents(Run &run, const apsis_options &options, Take take)
    : run_(run),
      options_(options),
      take_(std::move(take)),
      joins_(numbers(run.cut().slabs, run.shape(), options) > 0),
      selects_(selects(options)),
      counts_(static_cast<size_t>(run.devices())) {
    if (!joins_) return;
    const std::int64_t columns = run.shape().columns(), slabs = run.cut().slabs;
    faces_ = allocate(8 * columns, 2 * slabs, "faces of slabs");
    auto *face = reinterpret_cast<std::int64_t *>(faces_.get());
    slabs_.resize(static_cast<size_t>(slabs), apsis_slab_labels{});
    for (std::int64_t k = 0; k < slabs; ++k, face += 2 * columns) {
        slabs_[static_cast<size_t>(k)].start = run.cut().start(k);
        slabs_[static_cast<size_t>(k)].first = face;
        slabs_[static_cast<size_t>(k)].last = face + columns;
    }
}

/// Finds the components of each slab; with their parts, if there is memory for those.
void SlabComponents::find_parts() {
    auto *part = reinterpret_cast<apsis_part *>(parts_.get());
    const std::int64_t columns = run_.shape().columns();
    for (apsis_slab_labels &slab : slabs_) {
        if (!part) break;
        slab.parts = part;
        slab.capacity = slab.count;
        part += slab.count;
    }
    run_.each_slab(
        parts_ ? "measuring" : "counting",
        [&](int device, std::int64_t k) {
            const apsis_image set = set_of(device, k);
            const Device &devices = run_.device();
            devices.check(apsis_slab_parts(devices.context(device), &set, &slabs_[static_cast<size_t>(k)], &options_), device);
        },
        [](int, std::int64_t) {});
    found_ = in_faces_ = 0;
    for (const apsis_slab_labels &slab : slabs_) {
        found_ += slab.count;
        in_faces_ += runs_in(slab.first, columns) + runs_in(slab.last, columns);
    }
}

/// Throws unless there is memory to join the slabs, and then to label them.
void SlabComponents::check_memory() const {
    const Cut &cut = run_.cut();
    const std::int64_t part = needs_parts() ? kEntry : 0, number = selects_ ? sizeof(std::int64_t) : 0;
    const std::int64_t area = options_.largest ? kArea : 0;
    const std::int64_t joining = cut.told + found_ * (part + number + area) + in_faces_ * (kNode + part);
    const std::int64_t most = std::max(joining, cut.memory + found_ * number);
    if (most > cut.limit) refuse(run_, most, found_, needs_parts());
}

void SlabComponents::join() {
    if (joins_)
        join_slabs();
    else if (take_)
        take_pages();
    else
        return;
    run_.end_of("number");
}

void SlabComponents::join_slabs() {
    find_parts();
    check_memory();
    if (needs_parts()) {
        parts_ = allocate(kEntry, found_, "parts of components");
        find_parts();
    }
    if (selects_) {
        numbers_ = allocate(sizeof(std::int64_t), found_, "numbers of components");
        auto *number = reinterpret_cast<std::int64_t *>(numbers_.get());
        for (apsis_slab_labels &slab : slabs_) slab.numbers = number, number += slab.count;
    }
    const Shape &shape = run_.shape();
    const std::int64_t size[] = {shape.width, shape.height, shape.depth};
    auto *const parts = take_ ? reinterpret_cast<apsis_part *>(parts_.get()) : nullptr;
    run_.device().check(apsis_slab_join(run_.device().context(), shape.dimensions, size, slabs_.data(), run_.cut().slabs, parts,
                                        parts ? found_ : 0, &count_, &options_));
    if (take_) take_parts();
    parts_.reset();
}

void SlabComponents::take_parts() {
    const auto *const parts = reinterpret_cast<const apsis_part *>(parts_.get());
    apsis_component components[kChunk];
    for (std::int64_t i = 0; i < count_; i += kChunk) {
        const std::int64_t some = std::min(kChunk, count_ - i);
        apsis_slab_measure(some, parts + i, components);
        std::for_each_n(components, some, take_);
    }
}

/// The components of pages that are images of their own, or of the whole image.
void SlabComponents::take_pages() {
    const Device &devices = run_.device();
    const auto take = [&](int device, std::int64_t slab) {
        const apsis_image set = set_of(device, slab);
        std::int64_t count = 0;
        const auto find = [&](apsis_component *to, std::int64_t room) {
            devices.check(apsis_components(devices.context(device), &set, nullptr, to, room, &count, &options_), device);
        };
        find(nullptr, 0);
        if (const std::int64_t most = run_.cut().told + count * kEntry; most > run_.cut().limit)
            refuse(run_, most, count, true);
        const Memory memory = allocate(kEntry, count, "statistics of components");
        auto *const components = reinterpret_cast<apsis_component *>(memory.get());
        find(components, count);
        const std::int64_t start = run_.cut().start(slab);
        for (std::int64_t i = 0; i < count; ++i) {
            components[i].first += start * run_.shape().columns();
            components[i].lower[2] += start, components[i].upper[2] += start;
            components[i].centroid[2] += static_cast<double>(start);
            take_(components[i]);
        }
    };
    run_.each_slab("measuring", [](int, std::int64_t) {}, take);
}

void SlabComponents::label(int device, std::int64_t slab, const Raster &labels) {
    const apsis_image set = set_of(device, slab), part = labels.part(0, run_.extent_of(slab));
    apsis_context *const context = run_.device().context(device);
    std::int64_t *const count = &counts_[static_cast<size_t>(device)];
    const apsis_status status = joins_
                                    ? apsis_slab_components(context, &set, &slabs_[static_cast<size_t>(slab)], &part, &options_)
                                    : apsis_components(context, &set, &part, nullptr, 0, count, &options_);
    run_.device().check(status, device);
}

void SlabComponents::go_on(int device, std::int64_t slab, const Raster &labels) {
    if (joins_) return;
    if (count_ > 0 && labels.type() != APSIS_U8) add_to_labels(labels, run_.extent_of(slab), count_);
    count_ += counts_[static_cast<size_t>(device)];
}

}  // namespace tool
