// The calls that differ between operating systems: see platform.h.
#include "platform.h"

#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace apsis {

void *aligned_memory(size_t alignment, size_t bytes) noexcept {
#if defined(_WIN32)
    return _aligned_malloc(bytes, alignment);
#else
    void *data = nullptr;
    return posix_memalign(&data, alignment, bytes) == 0 ? data : nullptr;
#endif
}

void free_aligned_memory(void *data) noexcept {
#if defined(_WIN32)
    _aligned_free(data);
#else
    std::free(data);
#endif
}

}  // namespace apsis
