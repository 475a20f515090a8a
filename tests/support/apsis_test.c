#include "apsis_test.h"

#include <time.h>

enum { SKIPPED = 77 }; /* CTest's SKIP_RETURN_CODE */

/* ---- Places ---- */

typedef struct running {
    const test_case *test;
    bench bench;
    const char *outcome;
    char where[64], name[160];
} running;

/* Host images become device images before a kernel sees them.  So on the emulated device, which is slow, of the cases that run
 * with both the random ones alone run with host images, and of their problems one in so many. */
enum { STAGED_SHARE = 4 };
static int place_share = 1;

static int set_up(void **state) {
    running *r = *state;
    place_share = strcmp(r->where, "emulated, host images") == 0 ? STAGED_SHARE : 1;
    bench *b = &r->bench;
    r->outcome = "failed"; /* an assertion leaves the case in the middle */
    if (apsis_create(APSIS_VERSION, b->device, &b->ctx) == APSIS_OK) return 0;
    print_error("apsis_create: %s\n", apsis_message(NULL));
    return -1;
}

static int tear_down(void **state) {
    running *r = *state;
    apsis_destroy(r->bench.ctx);
    if (r->bench.skipped) r->outcome = "skipped";
    return 0;
}

static void run_one(void **state) {
    running *r = *state;
    r->test->run(&r->bench);
    r->outcome = "passed";
}

static int place(running *out, const test_case *cases, int count, bench where, const char *device) {
    static const char *const images[] = {[ON_CPU] = "", [ON_DEVICE_HOST] = ", host images", [ON_DEVICE] = ", device images"};
    int made = 0;
    const bool is_random_alone = where.place == ON_DEVICE_HOST && strcmp(device, "emulated") == 0;
    for (int i = 0; i < count; ++i) {
        if (!(cases[i].places & where.place)) continue;
        if (is_random_alone && (cases[i].places & ON_DEVICE) && strncmp(cases[i].name, "random_", 7) != 0) continue;
        running *r = &out[made++];
        r->test = &cases[i];
        r->bench = where;
        r->outcome = "skipped"; /* until it starts */
        snprintf(r->where, sizeof r->where, "%s%s", device, images[where.place]);
        snprintf(r->name, sizeof r->name, "%s [%s]", cases[i].name, r->where);
    }
    return made;
}

static int place_on_device(running *out, const test_case *cases, int count, int number, const char *device) {
    const bench host = {.place = ON_DEVICE_HOST, .device = number, .memory = APSIS_HOST};
    const bench own = {.place = ON_DEVICE, .device = number, .memory = APSIS_DEVICE};
    const int made = place(out, cases, count, host, device);
    return made + place(out + made, cases, count, own, device);
}

/** What kind of device this is.  One may be there and not be usable: then it is passed over, aloud. */
static bool is_usable(int device, char kind[32]) {
    apsis_context *ctx = NULL;
    const apsis_status st = apsis_create(APSIS_VERSION, device, &ctx);
    const char *name = st == APSIS_OK ? apsis_device_name(ctx) : "";
    if (strncmp(name, "fake", 4) == 0)
        strcpy(kind, "fake");
    else if (strncmp(name, "emulated", 8) == 0)
        strcpy(kind, "emulated");
    else
        snprintf(kind, 32, "gpu %d", device);
    apsis_destroy(ctx);
    if (st == APSIS_ERROR_NO_DEVICE) fprintf(stderr, "SKIPPED: %s\n", apsis_message(NULL));
    return st != APSIS_ERROR_NO_DEVICE;
}

/** A line for each case into the file $APSIS_OUTCOMES, for outcomes.py: program|case|where|passed, failed or skipped. */
static bool write_outcomes(const char *source, const running *all, int total) {
    const char *path = getenv("APSIS_OUTCOMES");
    if (!path) return true;
    FILE *file = fopen(path, "a");
    if (!file) {
        perror(path);
        return false;
    }
    const char *slash = strrchr(source, '/'), *program = slash ? slash + 1 : source;
    setvbuf(file, NULL, _IOFBF, 1 << 16); /* one write: other programs add to the file, too */
    for (int i = 0; i < total; ++i)
        fprintf(file, "%.*s|%s|%s%s|%s\n", (int)strcspn(program, "."), program, all[i].test->name, all[i].where,
                APSIS_TEST_BUILD, all[i].outcome);
    return fclose(file) == 0;
}

int run_cases(const char *source, const test_case *cases, int count, int argc, char **argv) {
    const bool cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
    const bool device = argc < 2 || strcmp(argv[1], "device") == 0;
    const int devices = device ? apsis_device_count() : 0;
    running *all = must_alloc((size_t)count * (size_t)(3 + 2 * devices) * sizeof *all);
    int total = 0;
    if (cpu) total += place(all, cases, count, (bench){.place = ON_CPU, .device = APSIS_CPU, .memory = APSIS_HOST}, "cpu");
    bool has_device = false;
    for (int d = 0; d < devices; ++d) {
        char kind[32];
        if (!is_usable(d, kind)) continue;
        has_device = true;
        total += place_on_device(all + total, cases, count, d, kind);
    }
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    struct CMUnitTest *tests = must_alloc((size_t)total * sizeof *tests);
    for (int i = 0; i < total; ++i) tests[i] = (struct CMUnitTest){all[i].name, run_one, set_up, tear_down, &all[i]};
    int result = total == 0 ? SKIPPED : _cmocka_run_group_tests(source, tests, (size_t)total, NULL, NULL);
    if (device && !has_device) {
        fprintf(stderr, "SKIPPED: no CUDA device here\n");
        total += place_on_device(all + total, cases, count, 0, "gpu");
    }
    if (!write_outcomes(source, all, total)) result = 1;
    free(tests);
    free(all);
    return result;
}

static int share(void) {
    const char *text = getenv("APSIS_TEST_SHARE");
    const int share = text ? atoi(text) : 1;
    return (share > 1 ? share : 1) * place_share;
}

int effort(int full) { return full < share() ? 1 : full / share(); }

uint8_t *every_4x4(int *count) {
    const int step = share() > 16 ? 241 : share() > 1 ? 7 : 1; /* no power of two: so that every bit changes */
    *count = (65536 + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)*count * 16);
    for (int i = 0; i < *count * 16; ++i) mask[i] = (i / 16 * step) >> (i % 16) & 1;
    return mask;
}

uint8_t *every_3x4(int *count) {
    enum { PIXELS = 12 };
    const int step = share() > 16 ? 61 : share() > 1 ? 7 : 1;
    *count = ((1 << PIXELS) + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)*count * PIXELS);
    for (int i = 0; i < *count * PIXELS; ++i) mask[i] = (i / PIXELS * step) >> i % PIXELS & 1;
    return mask;
}

uint8_t *every_3x3_of_three(int *count) {
    enum { ALL = 19683, PIXELS = 9 };
    const int step = share() > 16 ? 50 : share() > 1 ? 7 : 1; /* no multiple of three */
    *count = (ALL + step - 1) / step;
    uint8_t *mask = must_alloc((size_t)*count * PIXELS);
    for (int i = 0; i < *count; ++i) draw_digits(mask + i * PIXELS, PIXELS, i * step);
    return mask;
}

void draw_digits(uint8_t *mask, int pixels, int digits) {
    for (int k = 0; k < pixels; ++k, digits /= 3) mask[k] = (uint8_t)(digits % 3);
}

/* ---- Assertions ---- */

void check_ok(const apsis_context *ctx, apsis_status got, const char *call, const char *file, int line) {
    if (got == APSIS_OK) return;
    print_error("%s\n  gave %s: \"%s\"\n", call, apsis_status_name(got), apsis_message(ctx));
    _fail(file, line);
}

static bool contains_all(const char *message, const char *words) {
    char word[64];
    while (*words) {
        const size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!strstr(message, word)) return false;
        words += length + (words[length] == '|');
    }
    return true;
}

void check_fails(const apsis_context *ctx, apsis_status got, apsis_status status, const char *text, const char *call,
                 const char *file, int line) {
    const char *message = apsis_message(ctx);
    if (got == status && contains_all(message, text) && message[0] && !strchr(message, '\n')) return;
    print_error("%s\n  gave %s: \"%s\"\n  want %s: \"…%s…\"\n", call, apsis_status_name(got), message,
                apsis_status_name(status), text);
    _fail(file, line);
}

/* ---- Chance: splitmix64 ---- */

uint64_t roll(chance *c) {
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t roll_below(chance *c, int64_t bound) { return (int64_t)(roll(c) % (uint64_t)bound); }

double roll_real(chance *c) { return (double)(roll(c) >> 11) / 9007199254740992.0; }

int disturb(void *dice, double done) {
    (void)done;
    const struct timespec while_others_work = {0, 100000};
    if (roll_below(dice, 8) == 0) nanosleep(&while_others_work, NULL);
    return 0;
}

int stop_at_once(void *calls, double done) {
    assert_true(done >= 0 && done <= 1);
    ++*(int *)calls;
    return 1;
}

/* ---- Masks ---- */

const char *const mask_name[MASK_KINDS] = {"empty", "full",     "single",  "noise",    "blobs",     "disc",
                                           "ring",  "diagonal", "corners", "checkers", "left strip"};

/** Whether pixel (x, y, z) belongs to a shape of this size. */
static bool in_shape(int kind, const int64_t size[3], int64_t x, int64_t y, int64_t z) {
    const int64_t radius = (size[0] < size[1] ? size[0] : size[1]) / 3 + 1;
    const int64_t dx = x - size[0] / 2, dy = y - size[1] / 2, dz = z - size[2] / 2;
    const int64_t square = dx * dx + dy * dy + dz * dz;
    switch (kind) {
        case FULL: return true;
        case DISC: return square <= radius * radius;
        case RING: return square <= radius * radius && square > (radius - 2) * (radius - 2);
        case DIAGONAL: return x * size[1] / size[0] == y;
        case CORNERS: return (x == 0 || x == size[0] - 1) && (y == 0 || y == size[1] - 1);
        case CHECKERS: return (x + y + z) & 1;
        default: return false;
    }
}

static void add_blobs(uint8_t *mask, const int64_t size[3], chance *c) {
    for (int blob = 0; blob < 12; ++blob) {
        const int64_t at[3] = {roll_below(c, size[0]), roll_below(c, size[1]), roll_below(c, size[2])};
        const int64_t r = 1 + roll_below(c, 1 + (size[0] + size[1]) / 24);
        for (int64_t z = 0; z < size[2]; ++z)
            for (int64_t y = 0; y < size[1]; ++y)
                for (int64_t x = 0; x < size[0]; ++x) {
                    const int64_t dx = x - at[0], dy = y - at[1], dz = z - at[2];
                    if (dx * dx + dy * dy + dz * dz <= r * r) mask[x + size[0] * (y + size[1] * z)] = 1;
                }
    }
}

void fill_mask(uint8_t *mask, const int64_t size[3], int kind, double density, chance *c) {
    const int64_t pixels = size[0] * size[1] * size[2];
    memset(mask, 0, (size_t)pixels);
    if (pixels == 0) return;
    if (kind == SINGLE) mask[roll_below(c, pixels)] = 1;
    if (kind == BLOBS) add_blobs(mask, size, c);
    for (int64_t i = 0; i < pixels; ++i) {
        const int64_t x = i % size[0], y = i / size[0] % size[1], z = i / size[0] / size[1];
        if (kind == NOISE) mask[i] = roll_real(c) < density;
        if (kind == LEFT_STRIP) mask[i] = x * 8 <= size[0] && roll_real(c) < density;
        if (in_shape(kind, size, x, y, z)) mask[i] = 1;
    }
}

void draw(uint8_t *mask, ...) {
    va_list rows;
    va_start(rows, mask);
    for (const char *row; (row = va_arg(rows, const char *)) != NULL;)
        while (*row) *mask++ = *row++ == '#';
    va_end(rows);
}

void *must_alloc(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "the tests have run out of memory\n");
        abort();
    }
    return memory;
}
