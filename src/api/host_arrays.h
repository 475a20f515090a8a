// The caller's arrays of slabs, for work that is the host's: copies of those that are in device memory.
#pragma once

#include <deque>
#include <vector>

#include "runtime/backend.h"

namespace apsis {

class HostArrays {
  public:
    explicit HostArrays(Backend &backend) : backend_(&backend) {}

    /// An array to be read, NULL included.
    const int64_t *input(const int64_t *array, int64_t count);
    /// One to be written, and perhaps read: finish() writes it back.
    int64_t *output(int64_t *array, int64_t count);
    void finish();

  private:
    struct Copy {
        int64_t *array;
        std::vector<int64_t> numbers;
        bool is_output;
    };
    int64_t *bring(const int64_t *array, int64_t count, bool is_output);

    Backend *backend_;
    std::deque<Copy> copies_;
};

}  // namespace apsis
