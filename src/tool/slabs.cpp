// See slabs.h.  What is below a slab must be known before it is computed, and is gathered from the last slab up.  To keep all
// of that would take as much memory as an output if slabs are low and many.  So it is kept for the last slab of each group of
// slabs, and gathered again for the others when their group begins, with what is above them: for n slabs that is memory for
// 3 sqrt(n) rows of numbers.
//
// If the image closes on itself along the axis that is cut, what is above the first slab is below the last one.  So the first
// and the last pixels of all slabs are gathered before, and two more rows kept.
#include "tool/slabs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tool/failure.h"

namespace tool {
namespace {

/// Outputs of a slab, or without any its pixels: larger ones take more memory and no less time.
constexpr std::int64_t kSlabBytes = 256 << 20;

std::int64_t group_of(std::int64_t slabs) {
    return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(slabs))));
}

std::int64_t slabs_of(const Shape &shape, std::int64_t extent) { return (shape.extent() + extent - 1) / extent; }

Cut cut_of(const Demand &demand, std::int64_t extent, bool spilled, std::int64_t limit) {
    const Shape slab = demand.shape.cut_to(extent);
    const std::int64_t slabs = slabs_of(demand.shape, extent), at_once = std::min(demand.devices, slabs);
    const std::int64_t kept = spilled || demand.looks_once ? at_once * extent : demand.shape.extent();
    const std::int64_t row = (slab.width * bits_of(demand.set) + 7) / 8 + slab.width * demand.beside;
    const std::int64_t set = row * (slab.columns() / slab.width) * kept;
    const std::int64_t told = set + demand.scratch(slab) + demand.column(slabs) * slab.columns();
    const std::int64_t writing = demand.writing + (slabs > 1 ? demand.waiting : 0);
    // What is told is held while the next slab is read, if slabs are read one after another.
    const std::int64_t reading = (demand.looks_once ? told : set) + demand.reading + (spilled ? demand.spilling : 0);
    const std::int64_t memory = std::max(reading, told + at_once * slab.pixels() * demand.outputs + writing);
    return {extent, slabs, spilled, memory, told, limit};
}

/// Slices are numbered from the first one of the whole image.
void add_to_indices(const Raster &indices, std::int64_t extent, std::int64_t start) {
    with_type(indices.type(), [&](auto zero) {
        using Index = decltype(zero);
        auto *index = indices.row_of<Index>(0, 0);
        for (std::int64_t i = 0; i < extent * indices.shape().columns(); ++i)
            if (index[i] >= 0) index[i] += static_cast<Index>(start * indices.shape().columns());
    });
}

}  // namespace

void refuse_memory(const Shape &shape, const std::string &takes, std::int64_t limit, const std::string &why) {
    throw Failure{kStatus + APSIS_ERROR_MEMORY, "an image of " + shape.words() + " takes " + takes +
                                                    " bytes of memory, more than --memory, " + std::to_string(limit) + why};
}

Cut cut_to_fit(const Demand &demand, std::int64_t memory, std::int64_t limit) {
    const Shape &shape = demand.shape;
    const std::int64_t all = shape.extent();
    if (!demand.whole.empty()) {
        const Cut cut = cut_of(demand, all, false, limit);
        if (cut.memory > limit)
            refuse_memory(shape, std::to_string(cut.memory), limit, "; it is computed at once: " + demand.whole);
        return cut;
    }
    const std::int64_t step = std::min(demand.step, all);
    const std::int64_t share = (all + demand.devices - 1) / demand.devices;  // no device is to go without
    const std::int64_t pixel = demand.looks_once ? bits_of(demand.set) / 8 + demand.beside : demand.outputs;
    const std::int64_t useful = std::min(kSlabBytes / (shape.columns() * pixel), share);
    const auto multiple = [step](std::int64_t extent) { return std::max(extent / step * step, step); };
    const std::int64_t wanted = demand.looks_once ? memory / 2 : memory;  // a table may grow
    std::int64_t least = INT64_MAX;
    for (const bool spilled : {false, true}) {
        if (spilled && demand.looks_once) break;
        for (std::int64_t extent = useful >= all ? all : multiple(useful);; extent = multiple(extent / 2)) {
            const Cut cut = cut_of(demand, extent, spilled, limit);
            least = std::min(least, cut.memory);
            const bool is_least = extent <= step;
            if (cut.memory <= (is_least ? memory : wanted)) return cut;
            if (is_least) break;
        }
    }
    refuse_memory(shape, "at least " + std::to_string(least), memory, ", in slabs");
}

std::int64_t SlabMaps::numbers(std::int64_t slabs, const Shape &shape, const apsis_options &options) {
    if (slabs == 1 || options.flags & APSIS_SLICES) return 0;
    const std::int64_t group = group_of(slabs), ends = options.flags & shape.cut_axis() ? 2 : 0;
    const std::int64_t side = 2 * group + 1 + (slabs + group - 1) / group + ends;
    return side * (options.flags & APSIS_SIGNED ? 2 : 1) * told(options);
}

std::int64_t SlabMaps::told(const apsis_options &options) { return options.flags & APSIS_LABELS ? 3 : 1; }

SlabMaps::SlabMaps(const Device &device, const BinaryImage &image, const Shape &shape, const Cut &cut,
                   const apsis_options &options, Call whole)
    : device_(device),
      image_(image),
      shape_(shape),
      cut_(cut),
      options_(options),
      whole_(std::move(whole)),
      told_(told(options) * shape.columns()),
      group_(cut.slabs) {
    if (cut.slabs == 1 || options.flags & APSIS_SLICES) return;
    group_ = group_of(cut.slabs);
    const auto rows = [&](std::int64_t count) { return allocate(8 * told_, count, "columns of slabs"); };
    for (int side = 0; side < (options.flags & APSIS_SIGNED ? 2 : 1); ++side) {
        sides_.push_back(
            {options, rows(group_ + 1), rows(group_), rows((cut.slabs + group_ - 1) / group_), rows(is_ring() ? 2 : 0)});
        sides_.back().options.flags ^= side ? APSIS_COMPLEMENT : 0;
    }
}

void SlabMaps::summarize(const Side &side, std::int64_t slab, std::int64_t *first, std::int64_t *last) const {
    const apsis_image set = image_.slab(cut_.start(slab), cut_.extent_of(slab, shape_));
    device_.check(apsis_slab_summary(device_.context(), &set, cut_.start(slab), first, last, &side.options));
}

void SlabMaps::merge(const std::int64_t *first, const std::int64_t *last, std::int64_t *all) const {
    const auto merge_told = options_.flags & APSIS_LABELS ? apsis_slab_merge_labels : apsis_slab_merge;
    merge_told(shape_.columns(), first, last, all, all);
}

/// What is below the last slab of each group.
void SlabMaps::gather_corners(Side &side) {
    const std::int64_t groups = (cut_.slabs + group_ - 1) / group_;
    std::int64_t *corner = side.row(side.corners, groups - 1, told_), *const first = side.row(side.below, 0, told_);
    std::fill_n(corner, told_, INT64_MAX);
    for (std::int64_t slab = cut_.slabs - 1; slab >= group_; --slab) {
        if (slab % group_ == group_ - 1 || slab == cut_.slabs - 1) {
            std::copy_n(corner, told_, corner - told_);
            corner -= told_;
        }
        summarize(side, slab, first, nullptr);
        merge(first, nullptr, corner);
    }
}

/// The first pixels of all slabs, and the last ones.
void SlabMaps::gather_ends(Side &side) {
    std::int64_t *const first = side.row(side.below, 0, told_), *const last = side.row(side.above, 0, told_);
    std::int64_t *const all_first = side.row(side.ends, 0, told_), *const all_last = side.row(side.ends, 1, told_);
    std::fill_n(all_first, told_, INT64_MAX);
    std::fill_n(all_last, told_, -1);
    for (std::int64_t slab = 0; slab < cut_.slabs; ++slab) {
        summarize(side, slab, first, last);
        merge(first, nullptr, all_first);
        merge(nullptr, last, all_last);
    }
}

/// Around the image lies its last pixel where there is none above a slab, and its first one where there is none below.
void SlabMaps::go_around(const Side &side, std::int64_t *above, std::int64_t *below) const {
    const std::int64_t *const first = side.row(side.ends, 0, told_), *const last = side.row(side.ends, 1, told_);
    const std::int64_t columns = shape_.columns();
    if (options_.flags & APSIS_LABELS) return apsis_slab_close_labels(columns, shape_.extent(), first, last, below, above);
    for (std::int64_t c = 0; c < columns; ++c) {
        if (above[c] < 0) above[c] = last[c];
        if (below[c] == INT64_MAX) below[c] = first[c];
    }
}

/// What is above and below each slab of a group.
void SlabMaps::gather_group(Side &side, std::int64_t first) {
    const std::int64_t slabs = std::min(group_, cut_.slabs - first);
    const auto above = [&](std::int64_t i) { return side.row(side.above, i, told_); };
    const auto below = [&](std::int64_t i) { return side.row(side.below, i, told_); };
    if (first == 0)
        std::fill_n(above(0), told_, -1);
    else
        std::copy_n(above(group_), told_, above(0));
    std::copy_n(side.row(side.corners, first / group_, told_), told_, below(slabs - 1));
    for (std::int64_t i = slabs - 1; i >= 0; --i) {
        summarize(side, first + i, i > 0 ? below(i - 1) : nullptr, above(i + 1));
        if (i > 0) merge(below(i), nullptr, below(i - 1));
    }
    for (std::int64_t i = 0; i < slabs; ++i) merge(nullptr, above(i), above(i + 1));
    for (std::int64_t i = 0; i < slabs && is_ring(); ++i) go_around(side, above(i), below(i));
}

void SlabMaps::gather(std::int64_t first) {
    for (Side &side : sides_) {
        if (first == 0) gather_corners(side);
        if (first == 0 && is_ring()) gather_ends(side);
        gather_group(side, first);
    }
}

void SlabMaps::compute(int device, std::int64_t slab, const Raster &distance, const Raster &nearest) const {
    const std::int64_t extent = cut_.extent_of(slab, shape_);
    const apsis_image set = image_.slab(cut_.start(slab), extent, device);
    apsis_image part, indices;
    const apsis_image *const to = distance ? &(part = distance.part(0, extent)) : nullptr;
    const apsis_image *const which = nearest ? &(indices = nearest.part(0, extent)) : nullptr;
    const bool are_labels = options_.flags & APSIS_LABELS && !distance;  // in place of indices
    if (sides_.empty()) {
        device_.check(whole_(device_.context(device), &set, to, which), device);
        if (nearest && slab > 0 && !are_labels) add_to_indices(nearest, extent, cut_.start(slab));
        return;
    }
    apsis_slab place = {cut_.start(slab), shape_.extent(), nullptr, nullptr, nullptr, nullptr};
    place.above = sides_[0].row(sides_[0].above, slab % group_, told_);
    place.below = sides_[0].row(sides_[0].below, slab % group_, told_);
    if (sides_.size() > 1) {
        place.complement_above = sides_[1].row(sides_[1].above, slab % group_, told_);
        place.complement_below = sides_[1].row(sides_[1].below, slab % group_, told_);
    }
    apsis_context *const context = device_.context(device);
    device_.check(to ? apsis_slab_distance(context, &set, &place, to, which, &options_)
                     : apsis_slab_voronoi(context, &set, &place, which, &options_),
                  device);
}

}  // namespace tool
