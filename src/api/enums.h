// Reads an enumerator that a C caller may have set to anything: C++ may assume that an enum holds one of its own values.
#pragma once

#include <cstring>

namespace apsis {

template <class Enum>
int raw(const Enum &value) {
    static_assert(sizeof(Enum) == sizeof(int));
    int number;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

}  // namespace apsis
