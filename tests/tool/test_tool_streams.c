/*
 * Where the apsis command's words go, and when its files get their names: the report is out before they do, so that none is
 * there if it cannot be printed; and all get theirs, or none.
 */
#include "tool_tiff.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start_with_input(void **state) {
    start(state);
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    return 0;
}

/* What prints: `help` more than a buffer of standard output holds. */
static const char *const kLines[] = {
    "distance in.tif out.tif --json", "distance in.tif out.tif", "info in.tif", "help distance", "--version", "devices"};
enum { LINES = sizeof kLines / sizeof *kLines };

static void refused(const char *words, const char *redirection, const char *sentence) {
    char line[200];
    snprintf(line, sizeof line, "(@ %s %s)", words, redirection);
    if (shell(line) != 1) fail_msg("%s: should be exit code 1", line);
    assert_in(err_text, sentence);
    assert_files(1);
}

static void test_full(void **state) {
    (void)state;
    for (int i = 0; i < LINES; ++i) refused(kLines[i], ">/dev/full", "cannot write standard output: No space left on device");
}

static void test_closed(void **state) {
    (void)state;
    for (int i = 0; i < LINES; ++i) refused(kLines[i], ">&-", "cannot write standard output: it is closed");
    /* Without words there is nothing to write, and no file takes the place of a stream. */
    static const char *const streams[] = {">&-", "2>&-", "<&-", "<&- >&- 2>&-"};
    for (int i = 0; i < 4; ++i) {
        char line[200];
        snprintf(line, sizeof line, "(@ distance in.tif out.tif -q %s)", streams[i]);
        assert_int_equal(shell(line), 0);
        Result r = read_result("out.tif", 0);
        for (int x = 0; x < WIDTH * HEIGHT; ++x) assert_int_equal(r.values[x] == 0, samples[x] != 0);
        free(r.values);
        unlink("out.tif");
    }
    assert_int_equal(shell("(@ distance gone.tif out.tif 2>&-)"), 1);
}

/* Starts the command with its output in these pipes. */
static pid_t start_command(const char *const *words, const int out[2], const int err[2]) {
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int i = 0; i < 2; ++i) close(out[i]), close(err[i]);
        execv(command, (char *const *)words);
        _exit(99);
    }
    close(out[1]);
    close(err[1]);
    return child;
}

/* What ends without a reader of its output ends as any command does, and leaves nothing. */
static void test_no_reader(void **state) {
    (void)state;
    static const char *const lines[][5] = {
        {"apsis", "distance", "in.tif", "out.tif", NULL}, {"apsis", "help", "distance", NULL}, {"apsis", "--version", NULL}};
    for (int i = 0; i < 3; ++i) {
        int out[2], err[2], status;
        assert_int_equal(pipe(out) | pipe(err), 0);
        close(out[0]);
        out[0] = -1;
        const pid_t child = start_command(lines[i], out, err);
        waitpid(child, &status, 0);
        assert_int_equal(read(err[0], err_text, sizeof err_text), 0);
        close(err[0]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGPIPE);
        assert_files(1);
    }
}

/* A file comes between while the command waits for the reader of its report: its own files are all there, or none. */
static void test_late(void **state) {
    (void)state;
    static const char *const names[] = {"out.tif", "which.tif"};
    static const char *const line[] = {"apsis",     "distance", "in.tif",     "out.tif", "--nearest",
                                       "which.tif", "--json",   "--progress", "always",  NULL};
    for (int i = 0; i < 2; ++i) {
        int out[2], err[2], status;
        assert_int_equal(pipe(out) | pipe(err), 0);
        fcntl(out[1], F_SETFL, O_NONBLOCK);
        for (char byte = ' '; write(out[1], &byte, 1) == 1;) continue;
        fcntl(out[1], F_SETFL, 0);
        const pid_t child = start_command(line, out, err);
        size_t used = 0;
        err_text[0] = 0;
        for (ssize_t got; !strstr(err_text, "writing"); err_text[used += (size_t)got] = 0)
            assert_true((got = read(err[0], err_text + used, sizeof err_text - 1 - used)) > 0);
        FILE *late = fopen(names[i], "w");
        fputs("late", late);
        fclose(late);
        char bytes[1 << 12];
        while (read(out[0], bytes, sizeof bytes) > 0) continue;
        for (ssize_t got; (got = read(err[0], err_text + used, sizeof err_text - 1 - used)) > 0;) used += (size_t)got;
        err_text[used] = 0;
        close(out[0]);
        close(err[0]);
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_in(err_text, "it exists by now");
        assert_files(2);
        slurp(names[i], bytes, sizeof bytes);
        assert_string_equal(bytes, "late");
        unlink(names[i]);
    }
}

/* Where the file system knows no files without names, too. */
static void test_late_named(void **state) {
    setenv("LD_PRELOAD", APSIS_NO_TMPFILE, 1);
    test_late(state);
    succeed("distance in.tif out.tif --nearest which.tif");
    succeed("distance in.tif out.tif --nearest which.tif --overwrite");
    unsetenv("LD_PRELOAD");
    assert_files(3);
}

#define ESCAPES "\x1b[31m\n\t\xc2\x9b\xff"
#define SHOWN "\\x1b[31m\\n\\t\\xc2\\x9b\\xff"

/* No line but those that the command has made, and nothing that a terminal obeys. */
static void assert_harmless(const char *text, int lines) {
    for (const char *c = text; *c; ++c) {
        lines -= *c == '\n';
        const unsigned char first = (unsigned char)c[0], second = (unsigned char)c[1];
        if ((first < 0x20 && first != '\n') || first == 0x7F || (first == 0xC2 && second < 0xA0))
            fail_msg("control in: %s", text);
    }
    if (lines) fail_msg("%d lines too few in:\n%s", lines, text);
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *words, *sentence;
        int code;
    } cases[] = {
        {"info '" ESCAPES "' ", "cannot read '" SHOWN "'", 1},
        {"distance in.tif '" ESCAPES "/x'", "cannot write '" SHOWN "/x': directory '" SHOWN "'", 1},
        {"distance in.tif '" ESCAPES "' --nearest '" ESCAPES "'", "'" SHOWN "' is named for two outputs", 2},
        {"'" ESCAPES "'", "unknown verb '" SHOWN "'", 2},
        {"help '" ESCAPES "'", "unknown verb '" SHOWN "'", 2},
        {"distance '--" ESCAPES "'", "unknown option '--" SHOWN "'", 2},
        {"distance in.tif out.tif --spacing '" ESCAPES "'", "--spacing is '" SHOWN "'", 2},
        {"distance in.tif out.tif --device '" ESCAPES "'", "--device is '" SHOWN "'", 2},
        {"distance in.tif out.tif --metric '" ESCAPES "'", "--metric is '" SHOWN "'", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(run("%s", cases[i].words), cases[i].code);
        assert_in(err_text, cases[i].sentence);
        assert_harmless(err_text, 1);
    }
    assert_int_equal(rename("in.tif", ESCAPES), 0);
    succeed("distance '" ESCAPES "' '" ESCAPES ".tif'");
    assert_in(out_text, SHOWN ": 37 x 23 pixels");
    assert_in(out_text, SHOWN ".tif: distance 0 to ");
    assert_harmless(out_text, 2);
    succeed("info '" ESCAPES "'");
    assert_in(out_text, SHOWN ": TIFF, ");
    assert_harmless(out_text, 7);
    succeed("info '" ESCAPES "' --json");
    assert_in(out_text, "\"input\": \"\\u001b[31m\\u000a\\u0009\\u009b\xef\xbf\xbd\"");
    assert_harmless(out_text, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_full, start_with_input),       cmocka_unit_test_setup(test_closed, start_with_input),
        cmocka_unit_test_setup(test_no_reader, start_with_input),  cmocka_unit_test_setup(test_late, start_with_input),
        cmocka_unit_test_setup(test_late_named, start_with_input), cmocka_unit_test_setup(test_names, start_with_input),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
