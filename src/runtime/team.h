// A team: callers that make the distance fields of one image together, each a share of them.  They are devices of one context,
// or the contexts of apsis_set_allreduce.  All have the same image and take the same decisions, from what they tell each other.
#pragma once

#include <cstdint>

#include "runtime/error.h"

namespace apsis {

class Team {
  public:
    Team(int number, int members) : rank(number), size(members) {}
    virtual ~Team() = default;
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;

    const int rank, size;  // of this member, from 0; how many there are

    /// Makes of each number the largest that a member has in its place.  APSIS_I32 or APSIS_I64, in host memory.
    virtual void merge(apsis_type type, void *numbers, int64_t count) = 0;

    /// Waits for the other members, which are in this process.  Returns what each of them has passed, until the next time.
    virtual void *const *meet(void *mine) = 0;

    /// Of things that are dealt in turn: whether the i-th is this member's; its n-th one; and how many of so many it has.
    bool has(int64_t i) const { return i % size == rank; }
    int64_t mine(int64_t n) const { return rank + n * size; }
    int64_t share(int64_t count) const { return (count - rank + size - 1) / size; }
};

}  // namespace apsis
