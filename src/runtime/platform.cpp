// The calls that differ between operating systems: see platform.h.
#include "runtime/platform.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#else
#include <locale.h>
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace apsis {

void *aligned_memory(size_t alignment, size_t bytes) noexcept {
#if defined(_WIN32)
    return _aligned_malloc(bytes, alignment);
#else
    constexpr size_t PAGE = size_t(1) << 21;
    const bool large = bytes >= 4 * PAGE;
    void *data = nullptr;
    if (posix_memalign(&data, large ? std::max(alignment, PAGE) : alignment, bytes) != 0) return nullptr;
#if defined(MADV_HUGEPAGE)
    if (large) madvise(data, bytes, MADV_HUGEPAGE);  // a hint: it may fail
#endif
    return data;
#endif
}

void free_aligned_memory(void *data) noexcept {
#if defined(_WIN32)
    _aligned_free(data);
#else
    std::free(data);
#endif
}

#if defined(_WIN32)
void call_after_fork(void (*)()) noexcept {}

void print(char *to, size_t bytes, const char *format, va_list values) noexcept { std::vsnprintf(to, bytes, format, values); }
#else
void call_after_fork(void (*in_child)()) noexcept { pthread_atfork(nullptr, nullptr, in_child); }

namespace {

/// Made when the library is loaded, because later there may be no memory for it.
const locale_t plain_numbers = newlocale(LC_NUMERIC_MASK, "C", nullptr);

}  // namespace

void print(char *to, size_t bytes, const char *format, va_list values) noexcept {
    const locale_t callers = plain_numbers ? uselocale(plain_numbers) : nullptr;
    std::vsnprintf(to, bytes, format, values);
    if (callers) uselocale(callers);
}
#endif

}  // namespace apsis
