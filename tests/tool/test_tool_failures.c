/*
 * What the apsis command does when it cannot: files that it does not read or write, a full disk, a signal.
 * It says why, and leaves nothing behind.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "tool_tiff.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_refused_inputs(void) {
    make_samples(8, 5);
    const Layout floats = {.bits = 32, .photometric = PHOTOMETRIC_MINISBLACK, .format = SAMPLEFORMAT_IEEEFP};
    const Layout palette = {.bits = 8, .photometric = PHOTOMETRIC_MASK};
    write_tiff("in.tif", &kBytes, WIDTH, HEIGHT, 1);
    write_tiff("float.tif", &floats, WIDTH, HEIGHT, 1);
    write_tiff("mask.tif", &palette, WIDTH, HEIGHT, 1);
    TIFF *tiff = TIFFOpen("rgb.tif", "w");
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    uint8_t row[3] = {1, 2, 3};
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    assert_int_equal(TIFFWriteEncodedStrip(tiff, 0, row, 3), 3);
    TIFFClose(tiff);
    assert_int_equal(shell("echo hello world >text.tif; : >empty.tif; mkdir dir; mkfifo fifo; true"), 0);
    assert_int_equal(shell("printf '\\211PNG' >a.png; printf '\\377\\330\\377' >a.jpg; printf 'P5\\n' >a.pgm;"
                           "printf '\\223NUMPY' >a.npy; printf 'P5' >short.tif"),
                     0);
}

static void test_inputs_refused(void **state) {
    (void)state;
    write_refused_inputs();
    static const struct {
        const char *words, *sentence;
        int code;
    } cases[] = {
        {"gone.tif", "cannot read 'gone.tif': No such file or directory", 1},
        {"empty.tif", "cannot read 'empty.tif': it is empty", 1},
        {"text.tif", "cannot read 'text.tif': Not a TIFF", 1},
        {"short.tif", "cannot read 'short.tif': ", 1},
        {"a.png", "cannot read 'a.png': it ", 1},
        {"a.jpg", "cannot read 'a.jpg': it is JPEG, not TIFF", 1},
        {"a.pgm", "cannot read 'a.pgm': it is PNM, not TIFF", 1},
        {"a.npy", "cannot read 'a.npy': it is NPY, not TIFF", 1},
        {"dir", "cannot read 'dir': it is a directory", 1},
        {"fifo", "cannot read 'fifo': it is a pipe, not a regular file", 1},
        {"-", "cannot read '-': standard input is not read", 1},
        {"float.tif", "'float.tif' has floating-point or complex samples", 1},
        {"rgb.tif", "'rgb.tif' has 3 samples a pixel", 1},
        {"mask.tif --sites black", "'mask.tif' does not say which samples are black", 1},
        {"in.tif --device 4000", "4000", 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *words = cases[i].words, *space = strchr(words, ' ');
        const int length = space ? (int)(space - words) : (int)strlen(words);
        assert_int_equal(run("distance %.*s out.tif %s", length, words, space ? space : ""), cases[i].code);
        assert_in(err_text, cases[i].sentence);
        assert_files(13);
    }
    succeed("info float.tif");
    assert_in(out_text, "floating-point");
    succeed("info rgb.tif --json");
    assert_in(out_text, "\"nonzero\": null");
}

static void test_outputs_refused(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    assert_int_equal(shell("echo precious >keep.tif; mkdir dir; ln -s nowhere dangling.tif; mkfifo fifo"), 0);
    static const struct {
        const char *words, *sentence;
    } cases[] = {
        {"keep.tif", "cannot write 'keep.tif': it exists; --overwrite replaces it"},
        {"in.tif", "cannot write 'in.tif': it exists"},
        {"out.tif --nearest keep.tif", "cannot write 'keep.tif': it exists"},
        {"out.tif --picture keep.tif", "cannot write 'keep.tif': it exists"},
        {"gone/out.tif", "cannot write 'gone/out.tif': directory 'gone': No such file or directory"},
        {"keep.tif/out.tif", "cannot write 'keep.tif/out.tif': Not a directory"},
        {"new/", "cannot write 'new/': it names a directory"},
        {"dir --overwrite", "cannot write 'dir': it is a directory"},
        {"dangling.tif --overwrite", "cannot write 'dangling.tif': it is a link to nothing"},
        {"/dev/null --overwrite", "cannot write '/dev/null': it is a device, not a regular file"},
        {"-", "cannot write '-': standard output takes no image"},
        {"fifo --overwrite", "cannot write 'fifo': it is a pipe, not a regular file"},
        {"/proc/out.tif", "cannot write '/proc/out.tif': "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(run("distance in.tif %s", cases[i].words), 1);
        assert_in(err_text, cases[i].sentence);
        assert_files(5);
    }
    char text[20];
    slurp("keep.tif", text, sizeof text);
    assert_string_equal(text, "precious\n");
    if (geteuid() != 0) {
        assert_int_equal(chmod("dir", 0555), 0);
        assert_int_equal(run("distance in.tif dir/out.tif"), 1);
        assert_in(err_text, "directory 'dir': Permission denied");
    }
    assert_int_equal(shell("(@ info in.tif >/dev/full)"), 1);
}

static void test_disk_full(void **state) {
    (void)state;
    uint32_t seed = 3;
    for (int i = 0; i < MOST; ++i) samples[i] = next_random(&seed) % 8 == 0;
    write_tiff("in.tif", &kBits, BIG_WIDTH, BIG_HEIGHT, 1);
    static const char *const words[] = {"", "--tiled", "--compress deflate", "--nearest which.tif --bigtiff"};
    for (int i = 0; i < 4; ++i) {
        char line[200];
        snprintf(line, sizeof line, "@ distance in.tif out.tif %s", words[i]);
        assert_int_equal(shell_limited(line, 4096), 1);
        assert_in(err_text, "cannot write 'out.tif': File too large");
        assert_files(1);
    }
    /* Where the distances fit but the picture does not, there is neither. */
    struct stat distance, picture;
    const char *both = "@ distance in.tif out.tif -q --compress deflate --picture-nearest p.tif";
    assert_int_equal(shell(both), 0);
    assert_int_equal(stat("out.tif", &distance) | stat("p.tif", &picture), 0);
    unlink("out.tif");
    unlink("p.tif");
    assert_true(picture.st_size > 2 * distance.st_size);
    assert_int_equal(shell_limited(both, (size_t)(distance.st_size + picture.st_size) / 2), 1);
    assert_in(err_text, "cannot write 'p.tif': File too large");
    assert_files(1);
}

/* Whether text has a word, or with two the one and then the other. */
static bool has(const char *text, const char *const words[2]) {
    const char *first = strstr(text, words[0]);
    return first && (!words[1] || strstr(first + 1, words[1]));
}

static const char *const kNearest[] = {"apsis",   "distance",   "in.tif", "out.tif",   "--nearest", "which.tif", "--compress",
                                       "deflate", "--progress", "always", "--threads", "1",         NULL};
static const char *const kPieces[] = {"apsis",  "components",   "in.tif",   "out.tif", "--stats",
                                      "t.csv",  "--fill-holes", "--memory", "7M",      "--progress",
                                      "always", "--threads",    "1",        NULL}; /* in slabs */

/* Starts a line, waits until it says these words on standard error, sends a signal; how it ended. */
static int signal_at(const char *const *line, const char *const words[2], int number) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execv(command, (char *const *)(uintptr_t)line);
        _exit(99);
    }
    close(ends[1]);
    char text[8192] = "";
    size_t used = 0;
    bool sent = false;
    for (ssize_t got; used < sizeof text - 1 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) {
        text[used += (size_t)got] = 0;
        if (!sent && has(text, words)) kill(child, number), sent = true;
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(sent);
    if (number != SIGKILL) assert_in(text, "interrupted; nothing was written\n");
    return status;
}

enum { SIDE = 2400 };

/* A file so large that there is time to interrupt the command. */
static void write_large_input(void) {
    TIFF *tiff = TIFFOpen("in.tif", "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    uint8_t strip[16 * SIDE];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof strip; ++i) strip[i] = next_random(&seed) % 1000 == 0;
    for (uint32_t s = 0; s < SIDE / 16; ++s) TIFFWriteEncodedStrip(tiff, s, strip, sizeof strip);
    TIFFClose(tiff);
}

static void send(const char *const *line, const char *first, const char *second, int number) {
    const int status = signal_at(line, (const char *[]){first, second}, number);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    assert_files(1);
}

static const char kWriting[] = "writing   0 %"; /* twice: then there is the first file, too */

static void test_signals(void **state) {
    (void)state;
    static const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* SIGQUIT */
    write_large_input();
    send(kNearest, "reading", NULL, SIGINT);
    send(kNearest, "computing", NULL, SIGTERM);
    send(kNearest, kWriting, NULL, SIGINT);
    static const char *const phases[] = {"counting", "measuring", "filling", "computing", "writing"};
    for (int i = 0; i < 5; ++i) {
        char second[40];
        snprintf(second, sizeof second, "slab 2 of 8, %s", phases[i]);
        send(kPieces, second, NULL, SIGTERM);
    }
    setenv("LD_PRELOAD", APSIS_NO_TMPFILE, 1);
    static const int numbers[] = {SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1};
    for (int i = 0; i < 4; ++i) send(kNearest, kWriting, kWriting, numbers[i]);
    unsetenv("LD_PRELOAD");
    const int nameless = open(".", O_TMPFILE | O_WRONLY, 0600);
    if (nameless < 0) return; /* then nothing takes the file away after SIGKILL */
    close(nameless);
    send(kNearest, kWriting, kWriting, SIGKILL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_inputs_refused, start),
        cmocka_unit_test_setup(test_outputs_refused, start),
        cmocka_unit_test_setup(test_disk_full, start),
        cmocka_unit_test_setup(test_signals, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
