/* Measures of the values of a label image that is cut into slabs: those of the whole image, bit for bit. */
#include <math.h>

#include "cuts.h"
#include "run_measures.h"

enum { MOST = 256, ROOM = (MOST_SLABS + 1) * MOST };
enum { MEASURES = ALL & ~OUTLINES, AROUND = APSIS_PERIMETER | APSIS_SURFACE | APSIS_EULER };

/* ---- One image, cut ---- */

typedef struct question {
    problem p; /* a byte of its mask stands for a value of the type, as everywhere */
    apsis_type type, grey_type;
    uint32_t wanted;
    const uint8_t *grey; /* packed; NULL: intensities are not wanted */
    chance *c;           /* for layouts, and for the order in which slabs are merged */
} question;

static unsigned some_layout(const question *q) { return roll_below(q->c, 2) ? (unsigned)roll_below(q->c, LAYOUTS) : PACKED; }

/** Some rows of the image in a frame. */
static frame rows_in(bench *b, const question *q, int64_t begin, int64_t end) {
    const cut at = {.slabs = 1, .start = {begin, end}};
    const problem rows = slab_of(&q->p, &at, 0);
    frame f = frame_open(b, q->type, rows.ndim, rows.size, some_layout(q));
    put_set(&f, &rows);
    return f;
}

static frame grey_in(bench *b, const question *q, int64_t begin, int64_t end) {
    int64_t size[3] = {q->p.size[0], q->p.size[1], q->p.size[2]};
    size[q->p.ndim - 1] = end - begin;
    frame f = frame_open(b, q->grey_type, q->p.ndim, size, some_layout(q));
    frame_put(&f, q->grey + begin * columns_of(&q->p) * (int64_t)type_size(q->grey_type));
    return f;
}

/** What was not asked for is 0. */
static void assert_clear(const question *q, const apsis_sums *sums) {
    apsis_sums given = *sums;
    const uint32_t wanted = q->wanted;
    if (!(wanted & APSIS_MOMENTS)) memset(given.products_low, POISON, 2 * sizeof given.products_low);
    if (!(wanted & (APSIS_PERIMETER | APSIS_SURFACE))) memset(given.faces, POISON, sizeof given.faces);
    if (!(wanted & APSIS_EULER)) given.euler = -1;
    if (!(wanted & APSIS_PERIMETER)) memset(given.steps, POISON, sizeof given.steps), given.diagonals = -1;
    if (!(wanted & APSIS_INTENSITY)) memset(given.intensity_low, POISON, 2 * sizeof given.intensity_low);
    if (!(wanted & APSIS_INTENSITY)) given.least = given.largest = given.special = -1;
    memset(given.reserved, POISON, sizeof given.reserved);
    const int64_t *const is = (const int64_t *)sums, *const was = (const int64_t *)&given;
    for (size_t i = 0; i < sizeof given / sizeof *is; ++i) assert_true(is[i] == was[i] || is[i] == 0);
    assert_int_equal(sums->wanted, wanted);
}

/** What a slab tells, with as many rows before it as it needs, or more. */
static int64_t tell(bench *b, const question *q, const cut *at, int k, apsis_sums *sums) {
    const int64_t start = at->start[k],
                  needed = least(start, q->wanted & APSIS_PERIMETER ? 4
                                        : q->wanted & AROUND        ? 1
                                                                    : 0),
                  rows = roll_below(q->c, 2) ? needed : needed + roll_below(q->c, start - needed + 1);
    frame slab = rows_in(b, q, start, at->start[k + 1]), before = rows_in(b, q, start - rows, start), grey;
    if (q->grey) grey = grey_in(b, q, start, at->start[k + 1]);
    int64_t count = -1;
    memset(sums, POISON, MOST * sizeof *sums);
    assert_ok(b->ctx, apsis_slab_sums(b->ctx, &slab.image, q->grey ? &grey.image : NULL, rows ? &before.image : NULL, start,
                                      q->wanted, sums, MOST, &count, &q->p.options));
    for (int64_t i = 0; i < count; ++i) assert_clear(q, sums + i);
    frame_assert_unchanged(&slab);
    frame_assert_unchanged(&before);
    if (q->grey) frame_close(&grey);
    frame_close(&before);
    frame_close(&slab);
    return count;
}

static void check_image(bench *b, const question *q, const cut *at, const apsis_sums *sums, int64_t count) {
    static apsis_measure want[MOST], got[MOST];
    int64_t want_count;
    frame whole = rows_in(b, q, 0, rows_of(&q->p)), grey;
    if (q->grey) grey = grey_in(b, q, 0, rows_of(&q->p));
    assert_ok(b->ctx, apsis_measures(b->ctx, &whole.image, q->grey ? &grey.image : NULL, q->wanted, want, MOST, &want_count,
                                     &q->p.options));
    if (q->grey) frame_close(&grey);
    frame_close(&whole);
    if (count != want_count) fail_at(at, "the number of values");
    assert_ok(b->ctx, apsis_slab_measures(b->ctx, q->p.ndim, q->p.size, sums, count, got, &q->p.options));
    if (memcmp(got, want, (size_t)count * sizeof *got) != 0) fail_at(at, "what is known of a value");
}

/** Slabs tell in any order, and are merged in two groups, each at any time, which are merged then. */
static void check_cut(bench *b, const question *q, const cut *at) {
    static apsis_sums group[2][ROOM];
    int order[MOST_SLABS];
    int64_t count[2] = {0, 0};
    for (int k = 0; k < at->slabs; ++k) {
        const int other = (int)roll_below(q->c, k + 1);
        order[k] = order[other], order[other] = k;
    }
    for (int k = 0; k < at->slabs; ++k) {
        const int to = (int)roll_below(q->c, 2);
        count[to] += tell(b, q, at, order[k], group[to] + count[to]);
        if (roll_below(q->c, 2)) count[to] = apsis_slab_merge_sums(count[to], group[to]);
    }
    memcpy(group[0] + count[0], group[1], (size_t)count[1] * sizeof group[0][0]);
    check_image(b, q, at, group[0], apsis_slab_merge_sums(count[0] + count[1], group[0]));
}

/* ---- Problems ---- */

static uint32_t some_wanted(const question *q) {
    uint32_t wanted = roll_below(q->c, 2) ? MEASURES : (uint32_t)roll_below(q->c, 256) & ~(uint32_t)OUTLINES;
    if (q->p.ndim == 3) wanted &= ~(uint32_t)APSIS_PERIMETER;
    return wanted;
}

static void draw_grey(question *q, uint8_t *grey) {
    static const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_F32};
    q->grey_type = types[roll_below(q->c, 3)], q->grey = q->wanted & APSIS_INTENSITY ? grey : NULL;
    const bool unusual = roll_below(q->c, 8) == 0;
    for (int64_t i = 0; i < pixels_of(&q->p); ++i) {
        const int roll_of_kind = unusual ? (int)roll_below(q->c, 30) : 3;
        const float real = roll_of_kind == 0   ? (float)NAN
                           : roll_of_kind == 1 ? INFINITY
                           : roll_of_kind == 2 ? -INFINITY
                                               : (float)ldexp(roll_real(q->c) - 0.5, (int)roll_below(q->c, 250) - 126);
        const uint64_t whole = roll(q->c);
        const size_t bytes = type_size(q->grey_type);
        memcpy(grey + (size_t)i * bytes, q->grey_type == APSIS_F32 ? (const void *)&real : (const void *)&whole, bytes);
    }
}

static void draw_question(question *q, uint8_t *mask, uint8_t *grey) {
    static const apsis_type types[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    problem *p = &q->p;
    fill_cells(mask, p->size, q->c);
    p->mask = mask;
    q->type = types[roll_below(q->c, 5)], q->wanted = some_wanted(q);
    p->options.connectivity = roll_below(q->c, 2) ? p->ndim : 1;
    p->options.flags = roll_below(q->c, 2) ? APSIS_LABELS : 0;
    for (int a = 0; a < p->ndim; ++a) p->options.spacing[a] = 0;
    if (roll_below(q->c, 2))
        for (int a = 0; a < p->ndim; ++a) p->options.spacing[a] = q->wanted & APSIS_PERIMETER ? 0.3 : 0.1 + roll_real(q->c);
    draw_grey(q, grey);
}

static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 6, 1}, {4, 5, 1}, {3, 9, 1}, {2, 3, 5}, {3, 3, 3}};
    chance c = {2791};
    uint8_t mask[64], grey[64 * 4];
    for (int i = 0; i < effort(b->place == ON_CPU ? 100 : 20); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        question q = {.p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL), .c = &c};
        draw_question(&q, mask, grey);
        for (unsigned cuts = 0; cuts < 1u << (rows_of(&q.p) - 1); ++cuts) {
            const cut at = cut_of(cuts, rows_of(&q.p));
            check_cut(b, &q, &at);
        }
    }
}

/** Every set of 3 x 5 pixels in rows, of which a perimeter looks at all. */
static void every_3x5_set(bench *b) {
    enum { IMAGES = 1 << 15, PIXELS = 15 };
    uint8_t mask[PIXELS];
    chance c = {2792};
    const int images = effort(b->place == ON_CPU ? IMAGES : IMAGES / 16);
    for (int i = 0; i < images; ++i) {
        for (int k = 0; k < PIXELS; ++k) mask[k] = (uint8_t)(((int64_t)IMAGES * i / images) >> k & 1);
        question q = {.p = new_problem(2, 3, 5, 1, mask), .type = APSIS_U8, .wanted = AROUND, .c = &c};
        q.p.options.connectivity = 1 + i % 2;
        const cut at = cut_of((unsigned)i % 16, 5);
        check_cut(b, &q, &at);
    }
}

static void random_cuts(bench *b) {
    static const int64_t sizes[] = {1, 2, 5, 13, 32, 33, 70};
    chance c = {2793};
    static uint8_t mask[33 * 33 * 33], grey[33 * 33 * 33 * 4];
    for (int i = 0; i < effort(b->place == ON_CPU ? 400 : 60); ++i) {
        question q = {.p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL), .c = &c};
        do
            for (int a = 0; a < q.p.ndim; ++a) q.p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&q.p) > 33 * 33 * 33);
        draw_question(&q, mask, grey);
        const cut at = choose_cut(&c, rows_of(&q.p));
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 3)));
        check_cut(b, &q, &at);
    }
}

/* ---- Laws ---- */

/** The sums themselves are those of the whole image, and of the CPU, whatever slabs there are. */
static void sums_of_the_cpu(bench *b) {
    chance c = {2794};
    static uint8_t mask[21 * 40], grey[21 * 40 * 4];
    static apsis_sums got[ROOM], want[MOST];
    bench cpu = open_cpu();
    for (int i = 0; i < effort(60); ++i) {
        question q = {.p = i % 2 ? new_problem(2, 21, 40, 1, NULL) : new_problem(3, 7, 12, 10, NULL), .c = &c};
        draw_question(&q, mask, grey);
        const cut whole = {1, {0, rows_of(&q.p)}}, at = choose_cut(&c, rows_of(&q.p));
        int64_t count = 0;
        for (int k = 0; k < at.slabs; ++k) count += tell(k % 2 ? b : &cpu, &q, &at, k, got + count);
        count = apsis_slab_merge_sums(count, got);
        assert_int_equal(count, tell(&cpu, &q, &whole, 0, want));
        assert_memory_equal(got, want, (size_t)count * sizeof *got);
    }
    apsis_destroy(cpu.ctx);
}

/** Sums of squares of more than 64 bits, of squares of pixels that are far apart. */
static void far_apart(bench *b) {
    enum { SIDE = 8 };
    uint8_t ones[SIDE * SIDE];
    memset(ones, 1, sizeof ones);
    const int64_t square[3] = {SIDE, SIDE, 1}, size[2] = {SIDE, (int64_t)1 << 30}, start[2] = {0, size[1] - SIDE};
    frame f = frame_open(b, APSIS_U8, 2, square, PACKED);
    frame_put(&f, ones);
    apsis_sums sums[2];
    apsis_measure m;
    __int128 sum = 0, squares = 0;
    for (int k = 0; k < 2; ++k) {
        assert_ok(b->ctx, apsis_slab_sums(b->ctx, &f.image, NULL, NULL, start[k], APSIS_MOMENTS, sums + k, 1, NULL, NULL));
        for (int64_t y = start[k]; y < start[k] + SIDE; ++y) sum += SIDE * y, squares += (__int128)(SIDE * y) * y;
    }
    assert_true(squares >> 64 == 3);
    assert_int_equal(apsis_slab_merge_sums(2, sums), 1);
    assert_int_equal(sums[0].products_low[1], (int64_t)squares);
    assert_int_equal(sums[0].products_high[1], 3);
    assert_ok(b->ctx, apsis_slab_measures(b->ctx, 2, size, sums, 1, &m, NULL));
    const int64_t area = 2 * SIDE * SIDE;
    assert_true(m.moments[1] == (double)(area * squares - sum * sum) / (double)area && m.moments[3] == 0);
    assert_true(m.border == 1 && m.component.area == area && m.component.upper[1] == size[1] - 1);
    frame_close(&f);
}

/* ---- What is refused ---- */

static void bad_slabs(bench *b) {
    uint8_t pixels[64] = {1};
    apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {4, 3}}, before = set, other = set;
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_sums sums;
    other.type = APSIS_U16;
#define REFUSED(labels, grey, before, start, wanted, capacity, status, text)                                            \
    assert_fails(b->ctx, apsis_slab_sums(b->ctx, labels, grey, before, start, wanted, &sums, capacity, NULL, &options), \
                 status, text)
    REFUSED(NULL, NULL, NULL, 0, 0, 1, APSIS_ERROR_ARGUMENT, "slab_sums: |labels is NULL");
    REFUSED(&set, NULL, NULL, 0, 256, 1, APSIS_ERROR_ARGUMENT, "wanted is 0x100");
    REFUSED(&set, NULL, NULL, 0, APSIS_FILLED, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_FILLED|slabs");
    REFUSED(&set, NULL, NULL, 0, APSIS_HULL, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_HULL|slabs");
    REFUSED(&set, NULL, NULL, 0, APSIS_FERET | APSIS_MOMENTS, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_FERET|slabs");
    REFUSED(&set, NULL, NULL, 0, APSIS_INTENSITY, 1, APSIS_ERROR_ARGUMENT, "grey is NULL");
    REFUSED(&set, NULL, NULL, -1, 0, 1, APSIS_ERROR_ARGUMENT, "start is -1");
    REFUSED(&set, NULL, NULL, 1 << 30, 0, 1, APSIS_ERROR_ARGUMENT, "start is 1073741824");
    REFUSED(&set, NULL, NULL, 0, 0, -1, APSIS_ERROR_ARGUMENT, "capacity is -1");
    REFUSED(&set, NULL, NULL, 7, APSIS_SURFACE, 1, APSIS_ERROR_ARGUMENT, "before is NULL|1 of the rows");
    REFUSED(&set, NULL, NULL, 7, APSIS_PERIMETER, 1, APSIS_ERROR_ARGUMENT, "before is NULL|4 of the rows");
    REFUSED(&set, NULL, &before, 7, APSIS_PERIMETER, 1, APSIS_ERROR_ARGUMENT, "before: size[1] is 3|from 4 to 7");
    REFUSED(&set, NULL, &before, 2, APSIS_PERIMETER, 1, APSIS_ERROR_ARGUMENT, "before: size[1] is 3|from 2 to 2");
    REFUSED(&set, NULL, &other, 7, APSIS_EULER, 1, APSIS_ERROR_ARGUMENT, "before: type is APSIS_U16|APSIS_U8");
    other = set, other.size[0] = 5;
    REFUSED(&set, NULL, &other, 7, APSIS_EULER, 1, APSIS_ERROR_ARGUMENT, "before: size[0] is 5");
    other.ndim = 3, other.size[2] = 1;
    REFUSED(&set, NULL, &other, 7, APSIS_EULER, 1, APSIS_ERROR_ARGUMENT, "before: ndim is 3");
    options.flags = APSIS_DENSE;
    REFUSED(&set, NULL, NULL, 0, 0, 1, APSIS_ERROR_UNSUPPORTED, "APSIS_DENSE");
    options.flags = APSIS_PERIODIC_X;
    REFUSED(&set, NULL, NULL, 0, 0, 1, APSIS_ERROR_ARGUMENT, "flags is 0x400");
    const apsis_image empty = {.type = APSIS_U8, .ndim = 2, .size = {4, 0}};
    int64_t count = -1;
    assert_ok(b->ctx, apsis_slab_sums(b->ctx, &empty, NULL, &before, 7, APSIS_EULER, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
#undef REFUSED
}

static void bad_sums(bench *b) {
    uint8_t pixels[12] = {1, 1, 2, 0, 1, 1, 2, 0, 1};
    float grey[12] = {0};
    const int64_t size[3] = {4, 3, 1};
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED), bright = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame_put(&labels, pixels);
    frame_put(&bright, grey);
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_sums good[2], sums[2];
    apsis_measure m[2];
    const uint32_t wanted = APSIS_MOMENTS | APSIS_PERIMETER | APSIS_INTENSITY;
    assert_ok(b->ctx, apsis_slab_sums(b->ctx, &labels.image, &bright.image, NULL, 0, wanted, good, 2, NULL, NULL));
#define REFUSED(ndim, size, to, count, change, status, text)                                                    \
    do {                                                                                                        \
        memcpy(sums, good, sizeof good);                                                                        \
        memset(m, POISON, sizeof m);                                                                            \
        change;                                                                                                 \
        assert_fails(b->ctx, apsis_slab_measures(b->ctx, ndim, size, sums, count, to, &options), status, text); \
        for (size_t i = 0; i < sizeof m; ++i) assert_int_equal(((uint8_t *)m)[i], POISON);                      \
    } while (0)
#define BAD(change) REFUSED(2, size, m, 2, change, APSIS_ERROR_ARGUMENT, "sums[1] cannot be|4 x 3 x 1")
    REFUSED(2, NULL, m, 2, , APSIS_ERROR_ARGUMENT, "slab_measures: |size is NULL");
    REFUSED(4, size, m, 2, , APSIS_ERROR_ARGUMENT, "ndim is 4");
    REFUSED(2, ((int64_t[]){4, -3}), m, 2, , APSIS_ERROR_ARGUMENT, "size[1] is -3");
    REFUSED(2, size, m, -1, , APSIS_ERROR_ARGUMENT, "count is -1");
    REFUSED(2, size, NULL, 2, , APSIS_ERROR_ARGUMENT, "measures is NULL");
    REFUSED(3, size, m, 2, , APSIS_ERROR_UNSUPPORTED, "APSIS_PERIMETER|ndim is 3");
    REFUSED(2, size, m, 2, sums[0].wanted = APSIS_HULL, APSIS_ERROR_UNSUPPORTED, "APSIS_HULL");
    REFUSED(2, size, m, 2, sums[0].wanted = 1 << 20, APSIS_ERROR_ARGUMENT, "wanted is 0x100000");
    REFUSED(2, size, m, 2, sums[1].wanted = 1, APSIS_ERROR_ARGUMENT, "sums[1]: wanted is 0x1|0x83");
    BAD(sums[1].part.area = 0);
    BAD(sums[1].part.area = 13);
    BAD(sums[1].part.lower[0] = -1);
    BAD(sums[1].part.upper[1] = 3);
    BAD(sums[1].part.sum[0] = INT64_MIN);
    BAD(sums[1].products_high[3] = INT64_MAX);
    BAD(sums[1].intensity_high[7] = INT64_MIN);
    options.spacing[0] = 1, options.spacing[1] = 2;
    REFUSED(2, size, m, 2, , APSIS_ERROR_UNSUPPORTED, "spacing is 1 and 2|APSIS_PERIMETER");
    options.spacing[0] = options.spacing[1] = 0, options.flags = APSIS_DENSE;
    REFUSED(2, size, m, 2, , APSIS_ERROR_UNSUPPORTED, "APSIS_DENSE");
    assert_ok(b->ctx, apsis_slab_measures(b->ctx, 2, size, NULL, 0, NULL, NULL));
    frame_close(&labels);
    frame_close(&bright);
#undef BAD
#undef REFUSED
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_small_ones, EVERYWHERE),
                                      TEST(every_3x5_set, WITH_HOST_IMAGES),
                                      TEST(random_cuts, EVERYWHERE),
                                      TEST(sums_of_the_cpu, EVERYWHERE),
                                      TEST(far_apart, EVERYWHERE),
                                      TEST(bad_slabs, WITH_HOST_IMAGES),
                                      TEST(bad_sums, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
