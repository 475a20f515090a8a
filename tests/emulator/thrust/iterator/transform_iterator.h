// What apsis uses of Thrust's iterators, on the emulated device.
#pragma once

#include <utility>

namespace thrust {

template <class Change, class At>
struct transform_iterator {
    At at;
    Change change;
    template <class Index>
    auto operator[](Index i) const {
        return change(at[i]);
    }
    auto operator*() const { return change(*at); }
};

template <class Change, class At>
transform_iterator<Change, At> make_transform_iterator(At at, Change change) {
    return {at, change};
}

}  // namespace thrust
