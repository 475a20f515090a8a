// The calls that differ between operating systems, in one place.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace apsis {

/// Memory aligned to `alignment`, or nullptr; of large pages, which scattered reads want, if there is much of it.
void *aligned_memory(size_t alignment, size_t bytes) noexcept;
void free_aligned_memory(void *data) noexcept;

/// Has this called in the child whenever the process forks, where there is such a thing.
void call_after_fork(void (*in_child)()) noexcept;

/// vsnprintf with a decimal point, whatever the program's locale has.
void print(char *to, size_t bytes, const char *format, va_list values) noexcept;

}  // namespace apsis
