/*
 * A program whose memory runs out: preloaded, it lets the allocation fail whose number is in APSIS_FAIL_ALLOCATION, and with a
 * '+' after it all that come later; APSIS_COUNT_ALLOCATIONS names a file for how many there were.  Memory itself is glibc's.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc's own names: dlsym would allocate while it looks for the next malloc. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *data, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long calls;
static long failing;
static int lasting;

__attribute__((constructor)) static void start(void) {
    const char *number = getenv("APSIS_FAIL_ALLOCATION");
    char *end;
    if (!number) return;
    failing = strtol(number, &end, 10);
    lasting = *end == '+';
    calls = 0;
}

__attribute__((destructor)) static void end(void) {
    const long made = calls;
    const char *name = getenv("APSIS_COUNT_ALLOCATIONS");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", made);
    fclose(file);
}

static int fails(void) {
    const long call = ++calls;
    if (!failing || (call != failing && !(lasting && call > failing))) return 0;
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
