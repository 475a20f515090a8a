/* Slabs on a device and on the CPU: of one image, and of images too long to be computed whole.  The CPU's are compared with the
 * whole image in test_slabs.c. */
#include "run_slabs.h"

/* ---- One image, some of its slabs here and some there ---- */

static void mixed_slabs(bench *b) {
    static const int64_t sizes[][3] = {{1, 9, 1}, {7, 8, 1}, {33, 7, 1}, {2, 3, 6}, {5, 2, 7}};
    bench cpu = open_cpu();
    bench *const places[] = {&cpu, b};
    chance c = {3};
    for (int i = 0; i < effort(50); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        uint8_t mask[512];
        fill_mask(mask, size, NOISE, i % 3 ? 0.03 : 0.3, &c);
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], mask);
        p.options.flags = roll_below(&c, 2) ? APSIS_SIGNED : 0;
        p.options.metric = (apsis_metric)roll_below(&c, 3);
        given how = PLAIN;
        if (p.options.metric == APSIS_CHESSBOARD) how.nearest = 0;
        check_every_cut(places, 2, &p, &how, &c);
    }
    apsis_destroy(cpu.ctx);
}

/* ---- Slabs of vast images ---- */

/** How the sites outside of a slab are drawn: each with a chance, `least` rows away or up to `spread` more. */
typedef struct surroundings {
    double density;
    int64_t least, spread;
} surroundings;

/** What is outside of a slab on one side of it: `rows` rows of the image, of which `beside` is next to the slab.  `sign` is -1
 *  above it and 1 below, and `none` stands for no site. */
typedef struct outside {
    int64_t rows, beside, sign, none;
} outside;

static int64_t draw_row(chance *c, const surroundings *s, const outside *o, int64_t least) {
    const int64_t distance = least + s->least + roll_below(c, s->spread + 1);
    return roll_real(c) < s->density && distance < o->rows ? o->beside + o->sign * distance : o->none;
}

/** The sites of a set, and if the map is signed those of its complement: one of both is beside the slab, in most columns or in
 *  half of them that of the set. */
static void draw_outside(chance *c, const surroundings *s, const outside *o, bool is_signed, int64_t columns, int64_t *of_set,
                         int64_t *of_complement) {
    const int64_t one_in = roll_below(c, 2) ? 2 : 1000;
    for (int64_t i = 0; i < columns; ++i) {
        of_complement[i] = o->none;
        of_set[i] = draw_row(c, s, o, is_signed);
        if (!is_signed || o->rows == 0) continue;
        int64_t *const beside = roll_below(c, one_in) ? of_set : of_complement, other = of_set[i];
        (beside == of_set ? of_complement : of_set)[i] = other;
        beside[i] = o->beside;
    }
}

/** Compares a slab on the device, where it may have been found, with that on the CPU. */
static void compare_slab(bench *b, bench *cpu, const problem *p, const given *how, const apsis_slab *slab, bool is_found) {
    outputs want = run_slab(cpu, p, how, slab, false), got = run_slab(b, p, how, slab, is_found);
    const void *const maps[2][2] = {{got.distance, want.distance}, {got.nearest, want.nearest}};
    const apsis_type types[2] = {how->distance, how->nearest};
    for (int i = 0; i < 2; ++i) {
        const size_t bytes = types[i] ? type_size(types[i]) : 0, pixels = (size_t)pixels_of(p);
        const char *mine = maps[i][0], *others = maps[i][1];
        if (!bytes || memcmp(mine, others, pixels * bytes) == 0) continue;
        size_t at = 0;
        while (memcmp(mine + at * bytes, others + at * bytes, bytes) == 0) ++at;
        char text[256];
        describe(p, text, sizeof text);
        print_error("%s, flags %u\n  from %lld of %lld: %s of type %d, pixel %zu is not the CPU's\n", text, p->options.flags,
                    (long long)slab->start, (long long)slab->extent, i ? "nearest" : "distance", (int)types[i], at);
        fail();
    }
    free_outputs(&want);
    free_outputs(&got);
}

/** The same with sites outside of it that are drawn. */
static void check_slab(bench *b, bench *cpu, const problem *p, const given *how, int64_t start, int64_t extent,
                       const surroundings *around, chance *c) {
    const bool is_signed = p->options.flags & APSIS_SIGNED;
    const int64_t columns = columns_of(p), end = start + rows_of(p);
    int64_t *rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = must_alloc((size_t)columns * sizeof *rows[i]);
    draw_outside(c, around, &(outside){start, start - 1, -1, -1}, is_signed, columns, rows[0], rows[2]);
    draw_outside(c, around, &(outside){extent - end, end, 1, INT64_MAX}, is_signed, columns, rows[1], rows[3]);
    compare_slab(b, cpu, p, how, &(apsis_slab){start, extent, rows[0], rows[1], rows[2], rows[3]}, roll_below(c, 2));
    for (int i = 0; i < 4; ++i) free(rows[i]);
}

static surroundings choose_surroundings(chance *c, int64_t extent) {
    static const double densities[] = {0, 0.02, 0.5, 1, 1};
    const int64_t least[] = {0, 5, 40, 300, extent / 3}, spread[] = {2, 20, 300, extent};
    return (surroundings){densities[roll_below(c, COUNT(densities))], least[roll_below(c, COUNT(least))],
                          spread[roll_below(c, COUNT(spread))]};
}

static void random_slabs(bench *b, int ndim, const int64_t sizes[][3], int count, const int64_t *extents, int extent_count,
                         int cases, uint64_t seed) {
    static const given forms[] = {{.set = APSIS_U8, .distance = APSIS_F32},
                                  {.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I32},
                                  {.set = APSIS_BIT, .distance = APSIS_F64, .nearest = APSIS_I64},
                                  {.set = APSIS_U8, .distance = APSIS_I64},
                                  {.set = APSIS_U8, .nearest = APSIS_I64}};
    bench cpu = open_cpu();
    chance c = {seed};
    for (int i = 0; i < effort(cases); ++i) {
        const int64_t *size = sizes[i % count], extent = size[ndim - 1] + extents[roll_below(&c, extent_count)];
        problem p = new_problem(ndim, size[0], size[1], size[2], NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        static const double densities[] = {0.0005, 0.01, 0.5};
        const int kind = roll_below(&c, 2) ? EMPTY : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        p.options.flags = (roll_below(&c, 2) ? APSIS_SIGNED : 0) | (roll_below(&c, 4) ? 0 : APSIS_COMPLEMENT);
        given how = forms[roll_below(&c, COUNT(forms))];
        if (how.nearest == APSIS_I32 && size[0] * (ndim == 3 ? size[1] : 1) * extent > INT32_MAX) how.nearest = APSIS_I64;
        if (ndim == 3 && roll_below(&c, 3) == 0) p.options.spacing[0] = p.options.spacing[1] = 1, p.options.spacing[2] = 2;
        if (p.options.spacing[0] && how.distance == APSIS_I64) how.distance = APSIS_F32;
        if (!p.options.spacing[0] && !how.nearest && roll_below(&c, 3) == 0) p.options.metric = APSIS_CHESSBOARD;
        const int64_t most = extent - rows_of(&p), places[] = {0, most, most / 2, roll_below(&c, most + 1)};
        const surroundings around = choose_surroundings(&c, extent);
        check_slab(b, &cpu, &p, &how, places[roll_below(&c, COUNT(places))], extent, &around, &c);
        free(mask);
    }
    apsis_destroy(cpu.ctx);
}

/** The ways of the plane: small images, whole rows, rows that are cut; and lines one by one where an image is too long. */
static void slabs_of_planes(bench *b) {
    static const int64_t sizes[][3] = {{40, 33, 1}, {300, 70, 1}, {2100, 40, 1}, {130, 100, 1}, {600, 1, 1}, {700, 95, 1}};
    static const int64_t extents[] = {0, 100, 3000, 5000, 60000, 70000, 4000000, 5000000};
    random_slabs(b, 2, sizes, COUNT(sizes), extents, COUNT(extents), 600, 4);
}

/** Narrow rows, of which a block takes a strip. */
static void slabs_of_narrow_rows(bench *b) {
    static const int64_t sizes[][3] = {{5, 32777, 1}, {12, 33000, 1}, {3, 600, 1}};
    static const int64_t extents[] = {100, 70000, 4100000};
    random_slabs(b, 2, sizes, COUNT(sizes), extents, COUNT(extents), 60, 5);
}

/** Rows wider than a block holds. */
static void slabs_of_wide_rows(bench *b) {
    static const int64_t sizes[][3] = {{33000, 3, 1}, {40000, 2, 1}};
    static const int64_t extents[] = {100, 70000};
    random_slabs(b, 2, sizes, COUNT(sizes), extents, COUNT(extents), 60, 6);
}

/** The ways of volumes: near search, windows, argmin, and lines one by one. */
static void slabs_of_volumes(bench *b) {
    static const int64_t sizes[][3] = {{20, 30, 40}, {9, 65, 33}, {70, 8, 5}, {33, 34, 32}, {130, 5, 1}, {5, 1, 70}};
    static const int64_t extents[] = {0, 3, 40, 300, 10000, 65400, 70000};
    random_slabs(b, 3, sizes, COUNT(sizes), extents, COUNT(extents), 600, 7);
}

/** Volumes small beside the distance of their sites, which the argmin searches. */
static void slabs_of_far_volumes(bench *b) {
    static const int64_t sizes[][3] = {{20, 10, 12}, {9, 12, 5}, {40, 3, 4}};
    static const int64_t extents[] = {10000, 20000};
    random_slabs(b, 3, sizes, COUNT(sizes), extents, COUNT(extents), 1500, 8);
}

/** The nearest of the sites above, by trying all. */
static int64_t nearest_above(const int64_t *above, int64_t width, int64_t x, int64_t row) {
    int64_t best = -1, least = INT64_MAX;
    for (int64_t k = 0; k < width; ++k) {
        const int64_t square = (k - x) * (k - x) + (above[k] - row) * (above[k] - row), index = above[k] * width + k;
        if (square < least || (square == least && index < best)) least = square, best = index;
    }
    return best;
}

/** Two sites right above the ends of long rows, and between them many that are a little farther away from the middle: more
 *  than a block of a device holds, so that it searches the pixels there one by one. */
static void a_crowded_middle(bench *b) {
    enum { SEGMENT = 8192, W = 4 * SEGMENT + 1, H = 3, CENTRE = W / 2, MIDDLE = 12 };
    const int64_t start = 70000;
    static uint8_t none[W * H];
    int64_t *above = must_alloc(W * sizeof *above);
    fill(above, W, -1);
    fill(above + SEGMENT, 2 * SEGMENT, start - CENTRE - 20);
    above[0] = above[W - 1] = start - 1;
    const problem p = new_problem(2, W, H, 1, none);
    const given how = {.set = APSIS_U8, .distance = APSIS_F32, .nearest = APSIS_I64};
    const apsis_slab slab = {.start = start, .extent = start + H, .above = above};
    outputs map = run_slab(b, &p, &how, &slab, false);
    for (int64_t y = 0; y < H; ++y)
        for (int64_t x = CENTRE - MIDDLE; x <= CENTRE + MIDDLE; ++x)
            assert_int_equal(((const int64_t *)map.nearest)[y * W + x], nearest_above(above, W, x, start + y));
    free_outputs(&map);
    bench cpu = open_cpu();
    compare_slab(b, &cpu, &p, &how, &slab, true);
    apsis_destroy(cpu.ctx);
    free(above);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(mixed_slabs, EVERYWHERE),           TEST(slabs_of_planes, WITH_DEVICE),
                                      TEST(slabs_of_narrow_rows, WITH_DEVICE), TEST(slabs_of_wide_rows, WITH_DEVICE),
                                      TEST(slabs_of_volumes, WITH_DEVICE),     TEST(slabs_of_far_volumes, WITH_DEVICE),
                                      TEST(a_crowded_middle, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
