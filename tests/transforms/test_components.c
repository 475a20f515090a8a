/* apsis_components against a flood fill: every small image, random ones of every kind, and shapes that are hard. */
#include "run_components.h"

/* ---- Every small image ---- */

static void every_4x4_image(bench *b) {
    int images;
    uint8_t *mask = every_4x4(&images);
    for (int connectivity = 1; connectivity <= 2; ++connectivity)
        for (int method = 0; method < 2; ++method) {
            problem p = new_problem(3, 4, 4, images, mask);
            p.options.flags = APSIS_SLICES;
            p.options.connectivity = connectivity;
            p.options.method = method ? APSIS_TILE_FILL : APSIS_AUTO;
            asked how = LABELS;
            how.capacity = method ? -1 : 400000;
            check_components(b, &p, &how);
        }
    for (int i = 0; i < images; i += 65536 / effort(1024)) {
        problem p = new_problem(2, 4, 4, 1, mask + 16 * i);
        p.options.connectivity = 1 + i / 64 % 2;
        check_components(b, &p, &LABELS);
    }
    free(mask);
}

static void every_3x2x2_volume(bench *b) {
    uint8_t mask[12];
    for (int i = 0; i < 4096; i += 4096 / effort(4096)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        problem p = new_problem(3, 3, 2, 2, mask);
        p.options.connectivity = 1 + i % 3;
        asked how = LABELS;
        how.capacity = 12;
        check_components(b, &p, &how);
    }
}

/* ---- Answers written by hand: they need no oracle ---- */

static void numbers_follow_the_lowest_index(bench *b) {
    uint8_t mask[6 * 5];
    draw(mask, ".#...#", "##.#..", "...##.", "#....#", "###..#", NULL);
    static const int32_t four[30] = {0, 1, 0, 0, 0, 2, 1, 1, 0, 3, 0, 0, 0, 0, 0, 3, 3, 0, 4, 0, 0, 0, 0, 5, 4, 4, 4, 0, 0, 5};
    static const int32_t eight[30] = {0, 1, 0, 0, 0, 2, 1, 1, 0, 3, 0, 0, 0, 0, 0, 3, 3, 0, 4, 0, 0, 0, 0, 3, 4, 4, 4, 0, 0, 3};
    problem p = new_problem(2, 6, 5, 1, mask);
    asked how = LABELS;
    how.capacity = 3;
    pieces out = run_components(b, &p, &how);
    assert_memory_equal(out.labels, four, sizeof four);
    assert_int_equal(out.count, 5);
    const apsis_component third = {9, 3, {3, 1, 0}, {4, 2, 0}, {10 / 3.0, 5 / 3.0, 0}, 1};
    assert_memory_equal(&out.component[2], &third, sizeof third);
    free_pieces(&out);
    p.options.connectivity = 2;
    out = run_components(b, &p, &how);
    assert_memory_equal(out.labels, eight, sizeof eight);
    assert_int_equal(out.count, 4);
    free_pieces(&out);
}

static void holes_are_filled(bench *b) {
    uint8_t mask[7 * 4], filled[7 * 4];
    draw(mask, "###...#", "#.#.###", "###.#.#", "....###", NULL);
    draw(filled, "###...#", "###.###", "###.###", "....###", NULL);
    problem p = new_problem(2, 7, 4, 1, mask);
    p.options.flags = APSIS_COMPLEMENT | APSIS_NO_INNER;
    asked how = {.set = APSIS_U8, .labels = APSIS_U8, .capacity = -1};
    pieces out = run_components(b, &p, &how);
    assert_memory_equal(out.labels, filled, sizeof filled);
    assert_int_equal(out.count, 1); /* the outside */
    free_pieces(&out);
}

static void the_largest_of_equals_comes_first(bench *b) {
    uint8_t mask[9] = {1, 0, 1, 1, 0, 1, 1, 0, 1};
    static const int32_t two[9] = {0, 0, 1, 1, 0, 2, 2, 0, 0}, one[9] = {0, 0, 1, 1, 0, 0, 0, 0, 0};
    problem p = new_problem(2, 9, 1, 1, mask);
    p.options.largest = 2;
    pieces out = run_components(b, &p, &LABELS);
    assert_memory_equal(out.labels, two, sizeof two);
    free_pieces(&out);
    p.options.largest = 1;
    out = run_components(b, &p, &LABELS);
    assert_memory_equal(out.labels, one, sizeof one);
    free_pieces(&out);
}

/* ---- Random problems of every kind ---- */

static void choose_size(chance *c, problem *p) {
    static const int64_t sizes[] = {1,  1,  2,  3,  4,  5,  7,  8,   11,  13,  16,  17,  29,  31,
                                    32, 33, 47, 63, 64, 65, 97, 127, 128, 129, 211, 255, 256, 257};
    const int64_t most = roll_below(c, 8) ? 30000 : 200000;
    p->ndim = 2 + (int)roll_below(c, 2);
    do
        for (int a = 0; a < 3; ++a) p->size[a] = a < p->ndim ? sizes[roll_below(c, COUNT(sizes))] : 1;
    while (pixels_of(p) > most);
}

static void choose_options(chance *c, problem *p) {
    apsis_options *o = &p->options;
    o->flags = (roll_below(c, 3) ? 0 : APSIS_COMPLEMENT) | (p->ndim == 3 && !roll_below(c, 3) ? APSIS_SLICES : 0);
    o->connectivity = (int32_t)roll_below(c, (o->flags & APSIS_SLICES ? 2 : p->ndim) + 1);
    if (roll_below(c, 2)) return;
    if (!roll_below(c, 3)) o->min_area = 1 + roll_below(c, 12);
    if (!roll_below(c, 3)) o->max_area = 1 + roll_below(c, 300);
    if (!roll_below(c, 3)) o->flags |= APSIS_NO_BORDER;
    if (!roll_below(c, 4)) o->flags |= APSIS_NO_INNER;
    if (!roll_below(c, 2)) o->largest = 1 + (int32_t)roll_below(c, roll_below(c, 2) ? 4 : 300);
}

static asked choose_images(chance *c) {
    static const apsis_type types[] = {APSIS_I32, APSIS_I64, APSIS_BIT, APSIS_U8, APSIS_I32, 0};
    asked how = {.set = roll_below(c, 2) ? APSIS_BIT : APSIS_U8, .labels = types[roll_below(c, COUNT(types))]};
    if (roll_below(c, 2)) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 2)) how.labels_layout = (unsigned)roll_below(c, LAYOUTS);
    how.capacity = roll_below(c, 2) ? -1 : roll_below(c, 2) ? roll_below(c, 20) : 30000;
    how.no_count = !roll_below(c, 4);
    return how;
}

static void random_problems(bench *b) {
    static const double densities[] = {0, 0.001, 0.05, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 0.99, 1};
    chance c = {2027};
    for (int i = 0; i < effort(1500); ++i) {
        problem p = new_problem(2, 1, 1, 1, NULL);
        choose_size(&c, &p);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        choose_options(&c, &p);
        const asked how = choose_images(&c);
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_components(b, &p, &how);
        free(mask);
    }
}

/** Rows that begin where several labels can be stored at once, and end anywhere. */
static void every_width_of_pitched_rows(bench *b) {
    chance c = {2029};
    for (int64_t w = 1; w <= 140; w += w == 70 ? 55 : 1)
        for (int ndim = 2; ndim <= 3; ++ndim) {
            problem p = new_problem(ndim, w, 5, ndim == 3 ? 4 : 1, NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            fill_mask(mask, p.size, NOISE, 0.6, &c);
            p.mask = mask;
            p.options.connectivity = 1 + (int)(w % ndim);
            for (int k = 0; k < 2; ++k) {
                const asked how = {APSIS_U8, k ? APSIS_I64 : APSIS_I32, .labels_layout = PITCHED, .capacity = -1};
                check_components(b, &p, &how);
            }
            free(mask);
        }
}

static void random_tile_fills(bench *b) {
    chance c = {2028};
    for (int i = 0; i < effort(150); ++i) {
        problem p = new_problem(2, 1 + roll_below(&c, 150), 1 + roll_below(&c, 100), 1, NULL);
        if (i % 4 == 0) p = new_problem(3, 1 + roll_below(&c, 70), 1 + roll_below(&c, 70), 1 + roll_below(&c, 4), NULL);
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        fill_mask(mask, p.size, NOISE, roll_real(&c), &c);
        p.mask = mask;
        p.options.flags = (p.ndim == 3 ? APSIS_SLICES : 0) | (i % 3 ? 0 : APSIS_COMPLEMENT);
        p.options.method = APSIS_TILE_FILL;
        p.options.connectivity = 1 + i % 2;
        asked how = choose_images(&c);
        how.labels = i % 5 ? i % 2 ? APSIS_I32 : APSIS_I64 : 0;
        how.capacity = -1;
        check_components(b, &p, &how);
        free(mask);
    }
}

/* ---- Shapes that are hard, over many blocks ---- */

enum { SPIRAL, COMB, UPSIDE_DOWN_COMB, RINGS, CHECKERBOARD, ALL, EVERY_OTHER_ROW, DOTS, HARD_SHAPES };

/** A one-pixel path that winds inward with one pixel between its turns: right, down, left, up, ... */
static void draw_spiral(uint8_t *mask, int64_t w, int64_t h) {
    int64_t x = 0, y = 0, left = 0, top = 2, right = w - 1, bottom = h - 1;
    memset(mask, 0, (size_t)(w * h));
    for (int turn = 0;; ++turn) {
        const int64_t to_x = turn % 4 == 0 ? right : turn % 4 == 2 ? left : x;
        const int64_t to_y = turn % 4 == 1 ? bottom : turn % 4 == 3 ? top : y;
        const bool onward = turn % 4 == 0 ? to_x > x : turn % 4 == 1 ? to_y > y : turn % 4 == 2 ? to_x < x : to_y < y;
        if (!onward) return;
        for (; x != to_x || y != to_y; x += (to_x > x) - (to_x < x), y += (to_y > y) - (to_y < y)) mask[x + w * y] = 1;
        mask[x + w * y] = 1;
        if (turn % 4 == 0) right -= 2;
        if (turn % 4 == 1) bottom -= 2;
        if (turn % 4 == 2) left += 2;
        if (turn % 4 == 3) top += 2;
    }
}

static void draw_hard(uint8_t *mask, const int64_t size[3], int shape) {
    const int64_t w = size[0], h = size[1];
    for (int64_t i = 0; i < w * h * size[2]; ++i) {
        const int64_t x = i % w, y = i / w % h, z = i / w / h;
        const int64_t in = x < w - 1 - x ? x : w - 1 - x, down = y < h - 1 - y ? y : h - 1 - y;
        switch (shape) {
            case COMB: mask[i] = x % 2 == 0 || y == h - 1; break;
            case UPSIDE_DOWN_COMB: mask[i] = x % 2 == 0 || y == 0; break;
            case RINGS: mask[i] = (in < down ? in : down) % 2 == 0; break;
            case CHECKERBOARD: mask[i] = (x + y + z) % 2 == 0; break;
            case ALL: mask[i] = 1; break;
            case EVERY_OTHER_ROW: mask[i] = y % 2 == 0; break;
            default: mask[i] = x % 2 == 0 && y % 2 == 0 && z % 2 == 0; break;
        }
    }
    for (int64_t z = 0; shape == SPIRAL && z < size[2]; ++z) draw_spiral(mask + z * w * h, w, h);
}

static void check_hard(bench *b, int64_t w, int64_t h, int64_t d, int shape, int connectivity, apsis_method method) {
    problem p = new_problem(d > 1 ? 3 : 2, w, h, d, NULL);
    uint8_t *mask = must_alloc((size_t)pixels_of(&p));
    draw_hard(mask, p.size, shape);
    p.mask = mask;
    p.options.connectivity = connectivity;
    p.options.method = method;
    asked how = LABELS;
    if (method == APSIS_AUTO) how.capacity = w * h * d;
    check_components(b, &p, &how);
    free(mask);
}

static void hard_shapes(bench *b) {
    for (int shape = 0; shape < HARD_SHAPES; ++shape)
        for (int connectivity = 1; connectivity <= 2; ++connectivity) {
            check_hard(b, 401, 307, 1, shape, connectivity, APSIS_AUTO);
            check_hard(b, 1030, 260, 1, shape, connectivity, APSIS_AUTO);
            check_hard(b, 201, 167, 1, shape, connectivity, APSIS_TILE_FILL);
            check_hard(b, 61, 67, 43, shape, connectivity, APSIS_AUTO);
        }
    for (int shape = 0; shape < HARD_SHAPES; ++shape) check_hard(b, 61, 67, 43, shape, 3, APSIS_AUTO);
}

/** A shape with spots, or noise. */
static uint8_t *draw_shape_or_noise(chance *c, const problem *p) {
    static const double dense[] = {0.02, 0.1, 0.3, 0.5, 0.6, 0.7, 0.9}, sparse[] = {0, 0.001, 0.003, 0.02};
    const int64_t pixels = pixels_of(p);
    uint8_t *mask = must_alloc((size_t)pixels), *spots = must_alloc((size_t)pixels);
    const bool is_noise = roll_below(c, 2);
    draw_hard(mask, p->size, (int)roll_below(c, HARD_SHAPES));
    const double density = is_noise ? dense[roll_below(c, COUNT(dense))] : sparse[roll_below(c, COUNT(sparse))];
    fill_mask(spots, p->size, NOISE, density, c);
    for (int64_t k = 0; k < pixels; ++k) mask[k] = is_noise ? spots[k] != 0 : (mask[k] != 0) != (spots[k] != 0);
    free(spots);
    return mask;
}

/** Planes of a few tiles of which no labels are wanted: devices have another way there. */
static void random_planes_without_labels(bench *b) {
    static const int64_t sizes[] = {128, 256, 384, 64, 100, 129, 250, 301};
    chance c = {2029};
    for (int i = 0; i < effort(1500); ++i) {
        problem p = new_problem(2, sizes[roll_below(&c, COUNT(sizes))], sizes[roll_below(&c, COUNT(sizes))], 1, NULL);
        uint8_t *mask = draw_shape_or_noise(&c, &p);
        p.mask = mask;
        p.options.connectivity = 1 + (int)roll_below(&c, 2);
        p.options.flags = roll_below(&c, 3) ? 0 : APSIS_COMPLEMENT;
        asked how = {.set = roll_below(&c, 4) ? APSIS_U8 : APSIS_BIT};
        how.capacity = roll_below(&c, 4) ? pixels_of(&p) : -1;
        check_components(b, &p, &how);
        free(mask);
    }
}

/** Planes of up to some hundred tiles of which labels are wanted, and no more: devices have another way there, too.  Their
 *  rows of labels begin at multiples of 16 bytes. */
static void random_planes_with_labels(bench *b) {
    static const int64_t largest[][3] = {{1024, 1024, 1}, {1024, 1023, 1}, {1024, 1025, 1}, {1028, 1024, 1},
                                         {16384, 64, 1},  {128, 8192, 1},  {128, 4096, 2},  {128, 128, 64}};
    static const int64_t widths[] = {4, 64, 100, 124, 128, 132, 256, 260, 384, 500, 1024};
    static const int64_t heights[] = {1, 2, 31, 32, 33, 63, 64, 65, 128, 200, 300};
    chance c = {2030};
    for (int i = 0; i < COUNT(largest) + effort(600); ++i) {
        const int64_t depth = i < COUNT(largest) ? largest[i][2] : roll_below(&c, 4) ? 1 : 1 + roll_below(&c, 4);
        problem p = new_problem(depth > 1 ? 3 : 2, widths[roll_below(&c, COUNT(widths))],
                                heights[roll_below(&c, COUNT(heights))], depth, NULL);
        if (i < COUNT(largest)) memcpy(p.size, largest[i], sizeof p.size);
        uint8_t *mask = draw_shape_or_noise(&c, &p);
        p.mask = mask;
        p.options.connectivity = 1 + (int)roll_below(&c, 2);
        p.options.flags = (depth > 1 ? APSIS_SLICES : 0) | (roll_below(&c, 3) ? 0 : APSIS_COMPLEMENT);
        asked how = {.set = roll_below(&c, 3) ? APSIS_U8 : APSIS_BIT, .labels = APSIS_I32, .capacity = -1};
        if (!roll_below(&c, 4)) how.set_layout = (unsigned)roll_below(&c, LAYOUTS);
        how.no_count = !roll_below(&c, 4);
        check_components(b, &p, &how);
        free(mask);
    }
}

static void long_and_thin(bench *b) {
    static const int64_t sizes[][3] = {{50000, 1, 1}, {1, 50000, 1}, {1, 1, 20000}, {20000, 3, 1},  {3, 20000, 1},
                                       {4, 3, 9000},  {4000, 4, 3},  {1, 4099, 3},  {140000, 3, 1}, {2, 2, 20000}};
    chance c = {12};
    for (int i = 0; i < COUNT(sizes); ++i)
        for (int connectivity = 1; connectivity <= 2; ++connectivity) {
            problem p = new_problem(sizes[i][2] > 1 ? 3 : 2, sizes[i][0], sizes[i][1], sizes[i][2], NULL);
            uint8_t *mask = must_alloc((size_t)pixels_of(&p));
            fill_mask(mask, p.size, NOISE, 0.7, &c);
            p.mask = mask;
            p.options.connectivity = connectivity;
            asked how = LABELS;
            how.capacity = 1000;
            check_components(b, &p, &how);
            free(mask);
        }
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {4, 3, 1};
    uint8_t mask[12] = {1};
    int64_t count;
    apsis_component list[2];
    apsis_options o = APSIS_OPTIONS_INIT;
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), out = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame real = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame_put(&set, mask);
    const apsis_image *in = &set.image, *to = &out.image;
#define REFUSES(labels, list, capacity, status, text) \
    assert_fails(b->ctx, apsis_components(b->ctx, in, labels, list, capacity, &count, &o), status, text)
    assert_fails(b->ctx, apsis_components(b->ctx, NULL, to, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT, "set|NULL");
    REFUSES(&real.image, NULL, 0, APSIS_ERROR_ARGUMENT, "labels|APSIS_F32|APSIS_I32");
    REFUSES(in, NULL, 0, APSIS_ERROR_ARGUMENT, "labels overlaps set");
    REFUSES(to, list, -1, APSIS_ERROR_ARGUMENT, "capacity|-1");
    REFUSES(to, NULL, 2, APSIS_ERROR_ARGUMENT, "components|NULL|capacity|2");
    o.connectivity = 3;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "connectivity|3|2-D");
    o.connectivity = 4;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "connectivity|4");
    o.connectivity = -1;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "connectivity|-1");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.largest = -2;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "largest|-2");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.min_area = -3;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "min_area|-3");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.max_area = -4;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "max_area|-4");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.flags = APSIS_SIGNED;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "APSIS_SIGNED");
    o.flags = APSIS_SLICES;
    REFUSES(to, NULL, 0, APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim");
    o = (apsis_options)APSIS_OPTIONS_INIT;
    o.method = APSIS_TILE_FILL;
    REFUSES(to, list, 2, APSIS_ERROR_UNSUPPORTED, "APSIS_TILE_FILL");
    assert_fails(b->ctx, apsis_distance(b->ctx, in, &real.image, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "method|APSIS_TILE_FILL|apsis_distance|APSIS_RASTER_SCAN");
    o.min_area = 2;
    REFUSES(to, NULL, 0, APSIS_ERROR_UNSUPPORTED, "APSIS_TILE_FILL");
    assert_int_equal(apsis_components(NULL, in, to, NULL, 0, NULL, NULL), APSIS_ERROR_ARGUMENT);
    frame_close(&set);
    frame_close(&out);
    frame_close(&real);
}

/** More components than an int32_t holds need more than 2^32 pixels: asked about, not made. */
static void too_many_to_number(bench *b) {
    apsis_image set = {.type = APSIS_BIT, .ndim = 2, .size = {65536, 65536}, .memory = b->memory};
    apsis_image labels = {.type = APSIS_I32, .ndim = 2, .size = {65536, 65536}, .memory = b->memory};
    const apsis_image *images[2] = {&set, &labels};
    apsis_options o = APSIS_OPTIONS_INIT;
    size_t bytes;
#define SIZE apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, &o, &bytes)
    assert_fails(b->ctx, SIZE, APSIS_ERROR_RANGE, "labels|APSIS_I32|2147483648");
    o.connectivity = 2; /* a quarter of the pixels at most */
    assert_ok(b->ctx, SIZE);
    o.connectivity = 1;
    o.min_area = 3;
    assert_ok(b->ctx, SIZE);
    o.min_area = 0;
    o.largest = 1000;
    assert_ok(b->ctx, SIZE);
    o.largest = 0;
    labels.type = APSIS_I64;
    assert_ok(b->ctx, SIZE);
}

static void nothing_to_label(bench *b) {
    const apsis_image set = {.type = APSIS_U8, .ndim = 3, .size = {5, 0, 3}, .memory = b->memory};
    int64_t count = 7;
    assert_ok(b->ctx, apsis_components(b->ctx, &set, NULL, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
    const uint8_t none[6] = {0};
    problem p = new_problem(2, 3, 2, 1, none);
    check_components(b, &p, &LABELS);
}

/** A program that was compiled with the options of version 0.1. */
static void options_of_the_past(bench *b) {
    struct {
        uint8_t bytes[48];
    } old;
    const apsis_options now = APSIS_OPTIONS_INIT;
    memcpy(&old, &now, sizeof old);
    const uint32_t size = sizeof old;
    memcpy(&old, &size, sizeof size);
    apsis_options *options = must_alloc(sizeof old); /* so that a sanitizer sees who reads beyond it */
    memcpy(options, &old, sizeof old);
    const int64_t extent[3] = {2, 2, 1};
    const uint8_t mask[4] = {1, 0, 0, 1};
    int64_t count = -1;
    frame set = frame_open(b, APSIS_U8, 2, extent, PACKED);
    frame_put(&set, mask);
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, NULL, NULL, 0, &count, options));
    assert_int_equal(count, 2);
    frame_close(&set);
    free(options);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(numbers_follow_the_lowest_index, EVERYWHERE),
                                      TEST(holes_are_filled, EVERYWHERE),
                                      TEST(the_largest_of_equals_comes_first, EVERYWHERE),
                                      TEST(every_4x4_image, EVERYWHERE),
                                      TEST(every_3x2x2_volume, EVERYWHERE),
                                      TEST(random_problems, EVERYWHERE),
                                      TEST(every_width_of_pitched_rows, EVERYWHERE),
                                      TEST(random_tile_fills, EVERYWHERE),
                                      TEST(hard_shapes, EVERYWHERE),
                                      TEST(random_planes_without_labels, EVERYWHERE),
                                      TEST(random_planes_with_labels, EVERYWHERE),
                                      TEST(long_and_thin, EVERYWHERE),
                                      TEST(wrong_arguments, EVERYWHERE),
                                      TEST(too_many_to_number, EVERYWHERE),
                                      TEST(nothing_to_label, EVERYWHERE),
                                      TEST(options_of_the_past, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
