// What memory there is.
#pragma once

#include <cstdint>

namespace tool {

/// Bytes of memory that this process may take: what the machine has, or its container.
std::int64_t physical_memory();
/// Those of them that are free, or can be made so.
std::int64_t free_memory();
/// The most that this process has held.
std::int64_t peak_memory();

}  // namespace tool
