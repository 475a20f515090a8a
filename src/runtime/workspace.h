// Scratch memory.  The same code counts it and carves it, so that the two cannot differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/error.h"

namespace apsis {

class Carver {
  public:
    static constexpr size_t SLOT = 256;  // alignment of a slot: a multiple of a cache line and of a CUDA memory transaction

    /// With a null base it only counts.
    explicit Carver(void *base = nullptr) : base_(static_cast<uint8_t *>(base)) {}

    template <class T>
    T *take(int64_t count) {
        size_t bytes;
        if (__builtin_mul_overflow(static_cast<size_t>(count), sizeof(T), &bytes) || bytes > SIZE_MAX / 2 - used_)
            throw Error(APSIS_ERROR_MEMORY, "the workspace would exceed the address space");
        T *slot = base_ ? reinterpret_cast<T *>(base_ + used_) : nullptr;
        used_ += (bytes + SLOT - 1) / SLOT * SLOT;
        return slot;
    }

    size_t used() const { return used_; }

  private:
    uint8_t *base_;
    size_t used_ = 0;
};

}  // namespace apsis
