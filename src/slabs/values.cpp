// Statistics, measures and contacts of slabs, added up: see values.h.
#include "slabs/values.h"

#include <algorithm>
#include <tuple>

namespace apsis::slabs {
namespace {

/// Sorts, and adds each element to the one before it, if they are alike.  Returns the end of those that are left.
template <class T, class Before, class Add>
T *sort_and_add(T *begin, T *end, Before before, Add add) {
    std::sort(begin, end, before);
    T *last = begin;
    for (T *each = begin; each < end; ++each) {
        if (each == begin) continue;
        if (before(*last, *each))
            *++last = *each;
        else
            add(*last, *each);
    }
    return begin == end ? end : last + 1;
}

void add_part(apsis_part &to, const apsis_part &from) {
    to.first = std::min(to.first, from.first);
    to.area += from.area;
    for (int a = 0; a < 3; ++a) {
        to.lower[a] = std::min(to.lower[a], from.lower[a]), to.upper[a] = std::max(to.upper[a], from.upper[a]);
        to.sum[a] += from.sum[a];
    }
}

void place_part(const View &labels, int axes, int64_t start, apsis_part &part) {
    const int axis = axes - 1;
    part.first += start * labels.size[0] * (axes == 3 ? labels.size[1] : 1);
    part.lower[axis] += start, part.upper[axis] += start;
    part.sum[axis] += start * part.area;
}

/// A number of 128 bits as its lower half and its upper one.
void put(__int128 number, int64_t &low, int64_t &high) {
    low = static_cast<int64_t>(number), high = static_cast<int64_t>(number >> 64);
}
__int128 get(int64_t low, int64_t high) {
    return static_cast<__int128>(static_cast<unsigned __int128>(high) << 64 | static_cast<uint64_t>(low));
}

}  // namespace

void place_parts(const View &labels, int axes, int64_t start, std::vector<apsis_part> &parts) {
    for (apsis_part &part : parts) place_part(labels, axes, start, part);
}

void place_sums(const View &labels, int axes, int64_t start, ValueSums &sums) {
    // Of the coordinate c along the axis that is cut: (c + start)^2, and d (c + start).
    static constexpr int PRODUCTS[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};  // of two axes
    const int cut = axes - 1;
    for (int a = 0; a < axes; ++a)
        sums.shape.product[PRODUCTS[a][cut]] += static_cast<__int128>(start) * sums.part.sum[a] * (a == cut ? 2 : 1);
    sums.shape.product[PRODUCTS[cut][cut]] += static_cast<__int128>(start) * start * sums.part.area;
    place_part(labels, axes, start, sums.part);
}

int64_t merge_parts(int64_t count, apsis_part *parts) {
    const auto before = [](const apsis_part &a, const apsis_part &b) { return a.value < b.value; };
    return sort_and_add(parts, parts + count, before, add_part) - parts;
}

int64_t merge_sums(int64_t count, apsis_sums *sums) {
    const auto before = [](const apsis_sums &a, const apsis_sums &b) { return a.part.value < b.part.value; };
    const auto add = [](apsis_sums &to, const apsis_sums &from) {
        ValueSums all = sums_of(to);
        const ValueSums more = sums_of(from);
        add_part(all.part, more.part);
        all.shape.add(more.shape);
        all.intensity.add(more.intensity);
        to = record_of(static_cast<uint32_t>(to.wanted & from.wanted), all);
    };
    return sort_and_add(sums, sums + count, before, add) - sums;
}

apsis_sums record_of(uint32_t wanted, const ValueSums &sums) {
    apsis_sums record = {};
    const ShapeSums &shape = sums.shape;
    record.part = sums.part, record.wanted = wanted;
    for (int i = 0; i < 6 && wanted & APSIS_MOMENTS; ++i)
        put(shape.product[i], record.products_low[i], record.products_high[i]);
    if (wanted & (APSIS_SURFACE | APSIS_PERIMETER)) std::copy(shape.faces, shape.faces + 3, record.faces);
    if (wanted & APSIS_EULER) record.euler = shape.euler;
    if (wanted & APSIS_PERIMETER) std::copy(shape.steps, shape.steps + 3, record.steps), record.diagonals = shape.diagonals;
    if (wanted & APSIS_INTENSITY) {
        const IntensitySums &intensity = sums.intensity;
        for (int i = 0; i < ExactSum::PARTS; ++i)
            put(intensity.sum.pieces(i), record.intensity_low[i], record.intensity_high[i]);
        record.least = intensity.least, record.largest = intensity.largest, record.special = intensity.special;
    }
    return record;
}

ValueSums sums_of(const apsis_sums &record) {
    ValueSums sums = {};
    ShapeSums &shape = sums.shape;
    sums.part = record.part;
    for (int i = 0; i < 6; ++i) shape.product[i] = get(record.products_low[i], record.products_high[i]);
    for (int i = 0; i < 3; ++i) shape.faces[i] = record.faces[i], shape.steps[i] = record.steps[i];
    shape.diagonals = record.diagonals, shape.euler = record.euler;
    for (int i = 0; i < ExactSum::PARTS; ++i)
        sums.intensity.sum.add_pieces(i, get(record.intensity_low[i], record.intensity_high[i]));
    sums.intensity.least = static_cast<int32_t>(record.least), sums.intensity.largest = static_cast<int32_t>(record.largest);
    sums.intensity.special = static_cast<uint32_t>(record.special);
    return sums;
}

int64_t merge_contacts(int64_t count, apsis_contact *contacts) {
    apsis_contact *const end = sort_and_add(
        contacts, contacts + count,
        [](const apsis_contact &a, const apsis_contact &b) { return std::tie(a.a, a.b) < std::tie(b.a, b.b); },
        [](apsis_contact &to, const apsis_contact &from) {
            for (int a = 0; a < 3; ++a) to.faces[a] += from.faces[a];
            to.corners += from.corners;
        });
    const auto is_none = [](const apsis_contact &pair) {
        return pair.faces[0] == 0 && pair.faces[1] == 0 && pair.faces[2] == 0 && pair.corners == 0;
    };
    return std::remove_if(contacts, end, is_none) - contacts;
}

}  // namespace apsis::slabs
