/*
 * What the tests of the apsis command share: a temporary folder to run in, and the command itself, run as its
 * users run it.  It is the one that the environment variable APSIS_COMMAND names, or the macro of that name.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <stdbool.h>

/* The command's path; what the last run said on standard output and standard error. */
extern char command[PATH_MAX];
extern char out_text[1 << 16], err_text[1 << 16];

/* What is loaded before the command's own libraries, or NULL; not into the shell that starts it, nor into what else this runs:
 * with a sanitizer in it each of them would take a tenth of a second more to start. */
extern const char *preloaded;

/** Runs a shell line in which @ stands for the command, and keeps what it said; its exit code. */
int shell(const char *line);

/** The same, where no file may grow beyond this many bytes. */
int shell_limited(const char *line, size_t bytes);

/** Runs the command with these arguments. */
int run(const char *format, ...);

/** Runs the command, which must succeed and complain of nothing. */
void succeed(const char *format, ...);

void slurp(const char *path, char *text, size_t size);
bool exists(const char *path);
void assert_in(const char *text, const char *part);

/** Neither outputs nor temporary files may be there: only `expected` files. */
void assert_files(int expected);

/* Set-up and tear-down: of a group, a folder of its own; of a test, nothing in it. */
int enter_folder(void **state);
int leave_folder(void **state);
int start(void **state);

#endif
