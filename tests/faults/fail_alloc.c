/* Allocations and threads that fail on demand: see fail_alloc.h.  Memory itself is glibc's. */
#define _GNU_SOURCE
#include "fail_alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* glibc's own names: dlsym would allocate while it looks for the next malloc. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *data, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *data);

static atomic_int armed, lasting, threads_left = -1;
static atomic_long calls, failing, live;
static atomic_size_t largest = SIZE_MAX;

void fail_alloc(long n, int for_good) {
    calls = 0;
    failing = n;
    lasting = for_good;
    armed = 1;
}

void fail_alloc_above(size_t bytes) {
    fail_alloc(0, 0);
    largest = bytes;
}

long fail_alloc_end(void) {
    armed = 0;
    largest = SIZE_MAX;
    return calls;
}

long fail_alloc_live(void) { return live; }

void fail_threads(int most) { threads_left = most; }

static int fails(size_t bytes) {
    if (!armed) return 0;
    const long call = ++calls;
    if (call != failing && !(lasting && call > failing) && bytes <= largest) return 0;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *data) {
    if (data) live += (long)malloc_usable_size(data);
    return data;
}

void *malloc(size_t bytes) { return fails(bytes) ? NULL : counted(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return fails(count * bytes) ? NULL : counted(__libc_calloc(count, bytes)); }
void *memalign(size_t alignment, size_t bytes) { return fails(bytes) ? NULL : counted(__libc_memalign(alignment, bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

void free(void *data) {
    if (data) live -= (long)malloc_usable_size(data);
    __libc_free(data);
}

void *realloc(void *data, size_t bytes) {
    if (fails(bytes)) return NULL;
    const long before = data ? (long)malloc_usable_size(data) : 0;
    void *moved = __libc_realloc(data, bytes);
    if (moved || bytes == 0) live -= before;
    return counted(moved);
}

int posix_memalign(void **data, size_t alignment, size_t bytes) {
    void *memory = memalign(alignment, bytes);
    if (!memory) return ENOMEM;
    *data = memory;
    return 0;
}

/* ---- Threads ---- */

typedef struct start {
    void *(*run)(void *);
    void *user;
} start;

static void thread_ends(void *user) {
    (void)user;
    ++threads_left;
}

static void *run_counted(void *user) {
    const start here = *(start *)user;
    free(user);
    void *result;
    pthread_cleanup_push(thread_ends, NULL);
    result = here.run(here.user);
    pthread_cleanup_pop(1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user) {
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left < 0) return next(thread, attributes, run, user);
    if (threads_left == 0) return EAGAIN;
    start *here = __libc_malloc(sizeof *here);
    *here = (start){run, user};
    counted(here);
    --threads_left;
    const int error = next(thread, attributes, run_counted, here);
    if (error) {
        free(here);
        thread_ends(NULL);
    }
    return error;
}
