/*
 * A container: preloaded, it puts the process into control groups that may take two million bytes of memory, of version 1 or 2
 * as APSIS_CONTAINER says.  Half of that is in use, three fifths of which by files that nothing has looked at of late.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[][3] = {
    {"2", "/proc/self/cgroup", "0::/pod/app\n"},
    {"2", "/sys/fs/cgroup/pod/app/memory.max", "max\n"},
    {"2", "/sys/fs/cgroup/pod/memory.max", "2000000\n"},
    {"2", "/sys/fs/cgroup/pod/memory.current", "1000000\n"},
    {"2", "/sys/fs/cgroup/pod/memory.stat", "anon 400000\nfile 600000\nactive_file 0\ninactive_file 600000\n"},
    {"1", "/proc/self/cgroup", "5:cpuset:/\n4:cpu,memory:/docker/3f\n0::/\n"},
    {"1", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"},
    {"1", "/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n"},
    {"1", "/sys/fs/cgroup/memory/memory.stat", "inactive_file 0\ntotal_cache 600000\ntotal_inactive_file 600000\n"},
};

FILE *fopen(const char *path, const char *mode) {
    const char *const version = getenv("APSIS_CONTAINER");
    for (size_t i = 0; version && i < sizeof files / sizeof *files; ++i)
        if (!strcmp(version, files[i][0]) && !strcmp(path, files[i][1]))
            return fmemopen((void *)(size_t)files[i][2], strlen(files[i][2]), "r");
    if (!strncmp(path, "/sys/fs/cgroup", strlen("/sys/fs/cgroup"))) return errno = ENOENT, NULL;
    FILE *(*const real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }
