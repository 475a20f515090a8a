// The calls that differ between operating systems, in one place.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace apsis {

/// Memory aligned to `alignment`, or nullptr.  Large blocks are of large pages, with which scattered reads are faster.
void *aligned_memory(size_t alignment, size_t bytes) noexcept;
void free_aligned_memory(void *data) noexcept;

/// Registers a function to be called in the child whenever the process forks, on systems that fork.
void call_after_fork(void (*in_child)()) noexcept;

/// vsnprintf with a decimal point in any locale.
void print(char *to, size_t bytes, const char *format, va_list values) noexcept;

}  // namespace apsis
