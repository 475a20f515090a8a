// The memory of the fake device: host memory that faults when it is touched while the device does not work.
//
// Every allocation has its own pages with guard pages around them, is filled with poison, and is inaccessible except
// while it is opened.  No address is ever used twice, so that a stale pointer stays one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace fake {

constexpr uint8_t POISON = 0xa5;

/// Null if the host has no more.  Aligned to 256 bytes.
void *allocate(size_t bytes);

/// Aborts, with a line on stderr, if `data` is no allocation of that size, or if the bytes behind it have changed.
void release(void *data, size_t bytes);

/// Whether all of [data, data + bytes) lies in one allocation.
bool owns(const void *data, size_t bytes);

/// Whether any of it may be the device's.
bool touches(const void *data, size_t bytes);

/// Makes the allocation around an address accessible, and inaccessible again; nests, and is safe in many threads.
class Opened {
  public:
    explicit Opened(const void *data);
    ~Opened();
    Opened(Opened &&other) noexcept : start_(other.start_) { other.start_ = 0; }
    Opened(const Opened &) = delete;

  private:
    uintptr_t start_;
};

/// Those of some arrays that are the device's.
std::vector<Opened> opened_arrays(std::initializer_list<const int64_t *> arrays);

}  // namespace fake
