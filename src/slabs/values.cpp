// Statistics and contacts of slabs, added up: see values.h.
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

}  // namespace

void place_parts(const View &labels, int axes, int64_t start, std::vector<apsis_part> &parts) {
    const int axis = axes - 1;
    const int64_t before = start * labels.size[0] * (axes == 3 ? labels.size[1] : 1);
    for (apsis_part &part : parts) {
        part.first += before;
        part.lower[axis] += start, part.upper[axis] += start;
        part.sum[axis] += start * part.area;
    }
}

int64_t merge_parts(int64_t count, apsis_part *parts) {
    return sort_and_add(
               parts, parts + count, [](const apsis_part &a, const apsis_part &b) { return a.value < b.value; },
               [](apsis_part &to, const apsis_part &from) {
                   to.first = std::min(to.first, from.first);
                   to.area += from.area;
                   for (int a = 0; a < 3; ++a) {
                       to.lower[a] = std::min(to.lower[a], from.lower[a]), to.upper[a] = std::max(to.upper[a], from.upper[a]);
                       to.sum[a] += from.sum[a];
                   }
               }) -
           parts;
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
