/* Allocations that fail on demand: see fail_alloc.h.  Memory itself is glibc's. */
#include "fail_alloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* glibc's own names: dlsym would allocate while it looks for the next malloc. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *data, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_int armed, lasting;
static atomic_long calls, failing;

void fail_alloc(long n, int for_good) {
    calls = 0;
    failing = n;
    lasting = for_good;
    armed = 1;
}

long fail_alloc_end(void) {
    armed = 0;
    return calls;
}

static int fails(void) {
    if (!armed) return 0;
    const long call = ++calls;
    if (call != failing && !(lasting && call > failing)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *data, size_t bytes) { return fails() ? NULL : __libc_realloc(data, bytes); }
void *memalign(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **data, size_t alignment, size_t bytes) {
    void *memory = memalign(alignment, bytes);
    if (!memory) return ENOMEM;
    *data = memory;
    return 0;
}
