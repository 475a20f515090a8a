/* Distances in label images where other values are out of reach of a GPU's near searches, or just in it. */
#include <math.h>

#include "run_distance.h"

static const apsis_type label_types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};

/* A stripe 300 columns wide, a wide one beside it, and a speck there: some pixels have another value near, others only beyond
 * the reach of every search that does not go over whole rows. */
static void far_from_other_values(bench *b) {
    enum { WIDTH = 1800, HEIGHT = 36, END = 300, SPECK_X = 900, SPECK_Y = 20 };
    uint8_t *mask = must_alloc((size_t)WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) mask[i] = i % WIDTH < END ? 1 : 2;
    mask[SPECK_Y * WIDTH + SPECK_X] = 9;
    problem p = new_problem(2, WIDTH, HEIGHT, 1, mask);
    p.options.flags = APSIS_LABELS;
    for (int round = 0; round < 2; ++round) {
        const given how = {label_types[1 + round], APSIS_I32, round ? APSIS_I32 : (apsis_type)0, 0, 0, 0};
        outputs out = run_distance(b, &p, &how);
        for (int i = 0; i < WIDTH * HEIGHT; ++i) {
            const int x = i % WIDTH, dx = x - SPECK_X, dy = i / WIDTH - SPECK_Y, way = x < END ? END - x : x - END + 1;
            const int to_speck = x < END ? INT32_MAX : dx == 0 && dy == 0 ? 1 : dx * dx + dy * dy;
            const int least = way * way < to_speck ? way * way : to_speck, beside = x < END ? END : END - 1;
            assert_int_equal(((int32_t *)out.distance)[i], least);
            if (!round) continue;
            const int speck = SPECK_Y * WIDTH + SPECK_X, to_end = i - x + beside; /* of the speck, the pixel above it */
            const int of_speck = dx == 0 && dy == 0 ? speck - WIDTH : speck;
            const int other = way * way == to_speck && of_speck < to_end ? of_speck : way * way <= to_speck ? to_end : of_speck;
            assert_int_equal(((int32_t *)out.nearest)[i], other);
        }
        free_outputs(&out);
    }
    free(mask);
}

/* A square in a frame, with two specks: of many pixels several others are the nearest, beyond the reach of the first search. */
static void far_ties(bench *b) {
    enum { SIDE = 251, PIXELS = SIDE * SIDE, MIDDLE = SIDE / 2, OTHERS = 4 * (SIDE - 1) + 2 };
    uint8_t *mask = must_alloc(PIXELS);
    int others[OTHERS], count = 0;
    for (int i = 0; i < PIXELS; ++i) {
        const int x = i % SIDE, y = i / SIDE;
        const bool is_frame = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
        mask[i] = is_frame || (y == MIDDLE && (x == 20 || x == SIDE - 21)) ? (uint8_t)(2 + x % 2) : 1;
        if (mask[i] != 1) others[count++] = i;
    }
    assert_int_equal(count, OTHERS);
    problem p = new_problem(2, SIDE, SIDE, 1, mask);
    p.options.flags = APSIS_LABELS;
    for (int wide = 0; wide < 2; ++wide) {
        const given how = {APSIS_U16, wide ? APSIS_I64 : APSIS_I32, wide ? APSIS_I64 : APSIS_I32, 0, 0, 0};
        outputs out = run_distance(b, &p, &how);
        for (int i = 0; i < PIXELS; ++i) {
            if (mask[i] != 1) continue;
            int least = INT32_MAX, nearest = -1;
            for (int n = 0; n < OTHERS; ++n) {
                const int dx = others[n] % SIDE - i % SIDE, dy = others[n] / SIDE - i / SIDE, d = dx * dx + dy * dy;
                if (d < least) least = d, nearest = others[n];
            }
            assert_int_equal(wide ? ((int64_t *)out.distance)[i] : ((int32_t *)out.distance)[i], least);
            assert_int_equal(wide ? ((int64_t *)out.nearest)[i] : ((int32_t *)out.nearest)[i], nearest);
        }
        free_outputs(&out);
    }
    free(mask);
}

/* The lowest index of a pixel's neighbours that are nearest to it. */
static int first_beside(int i, const int64_t *size, const int64_t *spacing) {
    const int64_t least = spacing[0] < spacing[1] ? spacing[0] : spacing[1];
    if (spacing[2] <= least) return i - (int)(size[0] * size[1]);
    return spacing[1] <= spacing[0] ? i - (int)size[0] : i - 1;
}

/* Near and far from other values in volumes, along each axis: the distance alone, which other code computes, and with the
   nearest pixels. */
static void far_from_other_values_in_volumes(bench *b) {
    enum { LENGTH = 330, WIDTH = 9, DEPTH = 11, END = 100, SPECK = 240, PIXELS = LENGTH * WIDTH * DEPTH };
    static const int64_t spacings[][3] = {{1, 1, 1}, {1, 1, 1}, {2, 1, 3}, {1, 60, 1}};
    static const double limits[] = {0, 20, 0, 0};
    uint8_t *mask = must_alloc(PIXELS);
    for (int axis = 0; axis < 3; ++axis)
        for (int call = 0; call < 2 * COUNT(spacings); ++call) {
            const int way = call / 2;
            const int64_t *const s = spacings[way];
            int64_t size[3] = {WIDTH, WIDTH, DEPTH};
            size[axis] = LENGTH;
            problem p = new_problem(3, size[0], size[1], size[2], mask);
            const int pixels = (int)pixels_of(&p);
            for (int i = 0; i < pixels; ++i) {
                const int64_t at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
                const bool is_speck = at[axis] == SPECK && at[(axis + 1) % 3] == 4 && at[(axis + 2) % 3] == 5;
                mask[i] = is_speck ? 9 : at[axis] < END ? 1 : 2;
            }
            p.options.flags = APSIS_LABELS;
            p.options.max_distance = limits[way];
            set_spacing(&p, s[0], s[1], s[2], 1);
            const given how = {label_types[way], way % 2 ? APSIS_F32 : APSIS_F64, call % 2 ? APSIS_I32 : 0, 0, 0, 0};
            outputs out = run_distance(b, &p, &how);
            const int64_t step[3] = {1, size[0], size[0] * size[1]};
            const int speck = (int)(SPECK * step[axis] + 4 * step[(axis + 1) % 3] + 5 * step[(axis + 2) % 3]);
            for (int i = 0; i < pixels; ++i) {
                const int64_t at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
                const int64_t to_end = at[axis] < END ? END - at[axis] : at[axis] - END + 1;
                int64_t least = to_end * to_end * s[axis] * s[axis], to_speck = 0, beside = INT64_MAX;
                for (int a = 0; a < 3; ++a) {
                    const int64_t d = at[a] - (a == axis ? SPECK : a == (axis + 1) % 3 ? 4 : 5);
                    to_speck += d * d * s[a] * s[a];
                    if (s[a] * s[a] < beside) beside = s[a] * s[a];
                }
                int nearest = i + (int)((at[axis] < END ? to_end : -to_end) * step[axis]);
                if (i == speck) {
                    least = beside, nearest = first_beside(i, size, s);
                } else if (at[axis] >= END && (to_speck < least || (to_speck == least && speck < nearest))) {
                    least = to_speck, nearest = speck;
                }
                const bool is_beyond = limits[way] > 0 && (double)least > limits[way] * limits[way];
                const double want = is_beyond ? INFINITY : sqrt((double)least);
                if (how.nearest) assert_int_equal(((int32_t *)out.nearest)[i], is_beyond ? -1 : nearest);
                if (way % 2)
                    assert_true(((float *)out.distance)[i] == (float)want);
                else
                    assert_true(((double *)out.distance)[i] == want);
            }
            free_outputs(&out);
        }
    free(mask);
}

static const test_case cases[] = {
    TEST(far_from_other_values, EVERYWHERE),
    TEST(far_from_other_values_in_volumes, EVERYWHERE),
    TEST(far_ties, EVERYWHERE),
};

int main(int argc, char **argv) { return RUN_CASES(cases, argc, argv); }
