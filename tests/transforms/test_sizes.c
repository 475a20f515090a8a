/*
 * Every width: what a launch takes of a device depends on the size of an image and on the outputs, so each width up to 4200
 * is tried with each kind of output, and volumes and batches of random sizes.
 *
 * On a GPU all of it runs, and gives the CPU's bytes.  On the emulated device with $APSIS_EMULATED_ASKS nothing runs: the
 * launches are held against the limits of $APSIS_EMULATED_CAPABILITY, and every call must be accepted.
 */
#include "apsis_test.h"

enum { WIDEST = 4200, HIGHEST_RUN = 720, HIGHEST_ASKED = 4096, LONGEST_EDGE = 700 };
static const int64_t MOST_VOXELS = (int64_t)1 << 24;

typedef struct kind {
    bool components;
    apsis_type first, second; /* distance and nearest, or labels; 0: none */
    uint32_t flags;
    int32_t connectivity;
    double spacing; /* along y; 0: all the same */
} kind;

static const kind kinds[] = {
    {false, APSIS_F32, 0, 0, 0, 0},
    {false, APSIS_F32, APSIS_I32, 0, 0, 0},
    {false, APSIS_F32, 0, APSIS_SIGNED, 0, 0},
    {false, APSIS_F32, APSIS_I32, APSIS_SIGNED, 0, 0},
    {false, APSIS_I32, 0, 0, 0, 0},
    {false, APSIS_I64, APSIS_I64, 0, 0, 0},
    {false, APSIS_F64, APSIS_I64, APSIS_SIGNED, 0, 0},
    {false, 0, APSIS_I32, APSIS_COMPLEMENT, 0, 0},
    {false, APSIS_F32, APSIS_I32, 0, 0, 2},
    {true, APSIS_I32, 0, 0, 1, 0},
    {true, APSIS_I32, 0, 0, 2, 0},
    {true, APSIS_I64, 0, APSIS_COMPLEMENT, 2, 0},
    {true, APSIS_BIT, 0, APSIS_NO_BORDER, 1, 0},
};

static bool only_asks(void) { return getenv("APSIS_EMULATED_ASKS") != NULL; }

/** The tiles of volumes do not fit the 64 KiB of compute capability 7.5: the header says so. */
static bool is_refused(const kind *k, const apsis_image *set, uint32_t flags) {
    const char *capability = getenv("APSIS_EMULATED_CAPABILITY");
    return only_asks() && capability && strcmp(capability, "75") == 0 && k->components && set->ndim == 3 &&
           !(flags & APSIS_SLICES);
}

static apsis_status call(apsis_context *ctx, const kind *k, uint32_t flags, const apsis_image *set, const apsis_image *first,
                         const apsis_image *second) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = k->flags | flags;
    options.connectivity = k->connectivity;
    if (k->spacing > 0) options.spacing[0] = options.spacing[2] = 1, options.spacing[1] = k->spacing;
    return k->components ? apsis_components(ctx, set, first, NULL, 0, NULL, &options)
                         : apsis_distance(ctx, set, k->first ? first : NULL, k->second ? second : NULL, &options);
}

/* ---- Memory for the largest image, in which each one lies packed ---- */

typedef struct arena {
    bench *bench;
    apsis_context *cpu;
    int64_t room;
    apsis_image set, first, second;     /* the device's */
    uint8_t *mask, *wanted[2], *got[2]; /* the host's */
} arena;

static apsis_image device_room(bench *b, apsis_type type, int64_t bytes) {
    apsis_image image = {.type = type, .ndim = 2, .size = {bytes / 256, 256}};
    assert_ok(b->ctx, apsis_alloc(b->ctx, APSIS_DEVICE, &image));
    return image;
}

static arena open_arena(bench *b, int64_t room) {
    arena a = {.bench = b, .room = room};
    a.set = device_room(b, APSIS_U8, room);
    a.first = device_room(b, APSIS_U8, room * 8);
    a.second = device_room(b, APSIS_U8, room * 8);
    if (only_asks()) return a;
    const int64_t size[3] = {4096, room / 4096, 1};
    chance c = {1};
    assert_int_equal(apsis_create(APSIS_VERSION, APSIS_CPU, &a.cpu), APSIS_OK);
    a.mask = must_alloc((size_t)room);
    fill_mask(a.mask, size, NOISE, 0.003, &c);
    for (int64_t i = room / 3; i < room / 2; ++i) a.mask[i] = roll_below(&c, 2) == 0;
    for (int i = 0; i < 2; ++i) a.wanted[i] = must_alloc((size_t)room * 8), a.got[i] = must_alloc((size_t)room * 8);
    apsis_image from = a.set;
    from.data = a.mask, from.memory = APSIS_HOST;
    assert_ok(b->ctx, apsis_copy(b->ctx, &from, &a.set));
    return a;
}

static void close_arena(arena *a) {
    apsis_free(a->bench->ctx, &a->set);
    apsis_free(a->bench->ctx, &a->first);
    apsis_free(a->bench->ctx, &a->second);
    apsis_destroy(a->cpu);
    free(a->mask);
    for (int i = 0; i < 2; ++i) free(a->wanted[i]), free(a->got[i]);
}

/** An image at the beginning of some memory. */
static apsis_image at(void *data, apsis_memory memory, apsis_type type, const int64_t size[3]) {
    return (apsis_image){
        .data = data, .type = type, .ndim = size[2] > 1 ? 3 : 2, .size = {size[0], size[1], size[2]}, .memory = memory};
}

static void fail_at(const kind *k, const int64_t size[3], uint32_t flags, const char *what) {
    print_error("%s of %lld x %lld x %lld, kind %d, flags %u: %s\n", k->components ? "components" : "distance",
                (long long)size[0], (long long)size[1], (long long)size[2], (int)(k - kinds), (unsigned)(k->flags | flags),
                what);
    fail();
}

/** What the device gave, as the CPU gives it: the bytes of all pixels. */
static void compare(arena *a, const kind *k, const int64_t size[3], uint32_t flags, const apsis_image *device, int which,
                    apsis_type type) {
    const int64_t pixels = size[0] * size[1] * size[2];
    const int64_t bytes =
        type == APSIS_BIT ? (size[0] + 7) / 8 * size[1] * size[2] : pixels * (type == APSIS_I64 || type == APSIS_F64 ? 8 : 4);
    apsis_image from = *device, to;
    from.type = APSIS_U8, from.ndim = 2, from.size[0] = bytes, from.size[1] = 1;
    to = from;
    to.data = a->got[which], to.memory = APSIS_HOST;
    assert_ok(a->bench->ctx, apsis_copy(a->bench->ctx, &from, &to));
    if (memcmp(a->got[which], a->wanted[which], (size_t)bytes) != 0) fail_at(k, size, flags, "not the CPU's bytes");
}

static void check_size(arena *a, const kind *k, const int64_t size[3], uint32_t flags) {
    bench *b = a->bench;
    const apsis_image set = at(a->set.data, APSIS_DEVICE, APSIS_U8, size),
                      first = at(a->first.data, APSIS_DEVICE, k->first, size),
                      second = at(a->second.data, APSIS_DEVICE, k->second, size);
    const apsis_status status = call(b->ctx, k, flags, &set, &first, &second);
    const apsis_status expected = is_refused(k, &set, flags) ? APSIS_ERROR_UNSUPPORTED : APSIS_OK;
    if (status != expected) fail_at(k, size, flags, apsis_message(b->ctx));
    if (only_asks()) return;
    const apsis_image mask = at(a->mask, APSIS_HOST, APSIS_U8, size), one = at(a->wanted[0], APSIS_HOST, k->first, size),
                      two = at(a->wanted[1], APSIS_HOST, k->second, size);
    if (k->first == APSIS_BIT) memset(a->wanted[0], 0, (size_t)((size[0] + 7) / 8 * size[1] * size[2]));
    assert_ok(a->cpu, call(a->cpu, k, flags, &mask, &one, &two));
    if (k->first) compare(a, k, size, flags, &first, 0, k->first);
    if (k->second) compare(a, k, size, flags, &second, 1, k->second);
}

/* ---- The sizes ---- */

static void every_width(bench *b) {
    static const int64_t heights[] = {1, 3, 7, 64, HIGHEST_RUN, HIGHEST_ASKED};
    arena a = open_arena(b, WIDEST * (int64_t)(only_asks() ? HIGHEST_ASKED : HIGHEST_RUN) / 4096 * 4096 + 4096);
    for (int h = 0; h < COUNT(heights) - !only_asks(); ++h)
        for (int64_t width = 1; width <= WIDEST; ++width)
            for (int k = 0; k < COUNT(kinds); ++k) {
                /* most of the time goes into the highest: there the kinds take turns */
                if (!only_asks() && heights[h] == HIGHEST_RUN && (width + k) % 3 != 0) continue;
                check_size(&a, &kinds[k], (int64_t[3]){width, heights[h], 1}, 0);
            }
    close_arena(&a);
}

static void random_sizes(bench *b, uint32_t flags) {
    arena a = open_arena(b, MOST_VOXELS);
    chance c = {2};
    for (int i = 0; i < effort(only_asks() ? 4000 : 300); ++i) {
        int64_t size[3];
        do
            for (int axis = 0; axis < 3; ++axis)
                size[axis] = roll_below(&c, 3) ? 1 + roll_below(&c, LONGEST_EDGE) : 1 + roll_below(&c, 40);
        while (size[0] * size[1] * size[2] > MOST_VOXELS || size[2] == 1);
        for (int k = 0; k < COUNT(kinds); ++k) check_size(&a, &kinds[k], size, flags);
    }
    close_arena(&a);
}

static void random_volumes(bench *b) { random_sizes(b, 0); }
static void random_batches(bench *b) { random_sizes(b, APSIS_SLICES); }

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_width, ON_DEVICE), TEST(random_volumes, ON_DEVICE),
                                      TEST(random_batches, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
