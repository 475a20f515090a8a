/*
 * The library is loaded, used by several threads and unloaded a thousand times: each time it is right, and in the end there are
 * no more threads and not much more memory than in the beginning.
 *
 *     test_loading LIBRARY
 */
#include <apsis.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMES = 1000, WARM = 50, SIDE = 200, PAGES_MORE = 2000 };

static void stop(const char *what) {
    fprintf(stderr, "test_loading: %s\n", what);
    exit(1);
}

static long resident_pages(void) {
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) stop("no /proc/self/statm");
    fclose(file);
    return resident;
}

static int threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) stop("no /proc/self/task");
    for (const struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void use(const char *path) {
    static uint8_t set[SIDE * SIDE];
    static float distance[SIDE * SIDE];
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) stop(dlerror());
    __typeof__(&apsis_create) create;
    __typeof__(&apsis_distance) map;
    __typeof__(&apsis_destroy) destroy;
    *(void **)&create = dlsym(library, "apsis_create");
    *(void **)&map = dlsym(library, "apsis_distance");
    *(void **)&destroy = dlsym(library, "apsis_destroy");
    if (!create || !map || !destroy) stop("a function is missing");
    set[0] = 1;
    const apsis_image in = {.data = set, .type = APSIS_U8, .ndim = 2, .size = {SIDE, SIDE}},
                      out = {.data = distance, .type = APSIS_F32, .ndim = 2, .size = {SIDE, SIDE}};
    apsis_context *ctx;
    memset(distance, 0, sizeof distance);
    if (create(APSIS_VERSION, APSIS_CPU, &ctx) || map(ctx, &in, &out, NULL, NULL)) stop("a call fails");
    if (distance[4 * SIDE + 3] != 5) stop("a distance is wrong");
    destroy(ctx);
    if (dlclose(library)) stop(dlerror());
}

int main(int argc, char **argv) {
    if (argc != 2) stop("needs the library's path");
    long pages = 0;
    for (int i = 0; i < TIMES; ++i) {
        use(argv[1]);
        if (i == WARM) pages = resident_pages();
    }
    for (int wait = 0; threads() > 1 && wait < 100; ++wait) usleep(10000); /* oneTBB's leave by themselves */
    printf("loaded %d times: %ld pages more than after %d, %d threads\n", TIMES, resident_pages() - pages, WARM, threads());
    return resident_pages() - pages > PAGES_MORE;
}
