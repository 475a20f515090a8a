/* Running the apsis command in a temporary folder: see tool.h. */
#include "tool.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tiffio.h>
#include <unistd.h>

/* ---- Running the command -------------------------------------------------- */

char command[PATH_MAX];
char out_text[1 << 16], err_text[1 << 16];
const char *preloaded;

void slurp(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

int shell(const char *line) {
    char whole[8192] = "";
    for (const char *c = line; *c; ++c) {
        size_t used = strlen(whole);
        if (*c == '@' && preloaded)
            snprintf(whole + used, sizeof whole - used, "LD_PRELOAD='%s' '%s'", preloaded, command);
        else if (*c == '@')
            snprintf(whole + used, sizeof whole - used, "'%s'", command);
        else
            snprintf(whole + used, sizeof whole - used, "%c", *c);
    }
    size_t used = strlen(whole);
    snprintf(whole + used, sizeof whole - used, " >.out 2>.err");
    int status = system(whole);
    slurp(".out", out_text, sizeof out_text);
    slurp(".err", err_text, sizeof err_text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int shell_limited(const char *line, size_t bytes) {
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    const int code = shell(line);
    setrlimit(RLIMIT_FSIZE, &before);
    return code;
}

int run(const char *format, ...) {
    char line[4096] = "@ ";
    va_list values;
    va_start(values, format);
    vsnprintf(line + 2, sizeof line - 2, format, values);
    va_end(values);
    return shell(line);
}

void succeed(const char *format, ...) {
    char line[4096] = "@ ";
    va_list values;
    va_start(values, format);
    vsnprintf(line + 2, sizeof line - 2, format, values);
    va_end(values);
    int code = shell(line);
    if (code || err_text[0]) fail_msg("%s\nexit code %d: %s", line, code, err_text);
}

void assert_in(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

/* ---- Its folder ----------------------------------------------------------- */

static char folder[4096];
static bool is_inside; /* of that folder */

bool exists(const char *path) { return access(path, F_OK) == 0; }

void assert_files(int expected) {
    int count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.' || strstr(entry->d_name, "apsis");
    closedir(directory);
    assert_int_equal(count, expected);
}

/* Takes every file out of the folder. */
static void clear_folder(void) {
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (unlink(entry->d_name)) rmdir(entry->d_name);
    }
    closedir(directory);
}

int start(void **state) {
    (void)state;
    clear_folder();
    return 0;
}

int enter_folder(void **state) {
    (void)state;
    const char *from = getenv("APSIS_COMMAND");
    if (!realpath(from ? from : APSIS_COMMAND, command)) return -1;
    TIFFSetWarningHandler(NULL);
    const char *const above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/apsis-test-XXXXXX", above && *above ? above : "/tmp");
    is_inside = mkdtemp(folder) && chdir(folder) == 0;
    return is_inside ? 0 : -1;
}

/* CMocka tears down a group whose set-up has failed, too: then the folder is another's. */
int leave_folder(void **state) {
    (void)state;
    if (!is_inside) return -1;
    clear_folder();
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}
