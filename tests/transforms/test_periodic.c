/* Images that close on themselves along some axes: against searches that step over their seams, and against tilings. */
#include "periodic.h"
#include "run_components.h"
#include "run_labels.h"

static void select_some(problem *p, int i) {
    leave_out(p, i);
    p->options.largest = i / 16 % 3;
}

/* ---- Components of every small image ---- */

static void every_3x4_set(bench *b) {
    int images;
    uint8_t *mask = every_3x4(&images);
    for (int i = 0; i < 6; ++i) {
        problem p = new_problem(3, 3, 4, images, mask);
        p.options.connectivity = 1 + i % 2;
        p.options.flags = APSIS_SLICES | periodic_flags(1 + i / 2) | (i % 4 == 3 ? APSIS_COMPLEMENT : 0);
        asked how = {.set = i % 3 ? APSIS_U8 : APSIS_BIT, .labels = i % 2 ? APSIS_I32 : APSIS_I64, .capacity = images};
        check_components(b, &p, &how);
        select_some(&p, 2 * i + 3);
        how.labels = i % 2 ? APSIS_U8 : APSIS_BIT;
        check_components(b, &p, &how);
    }
    free(mask);
}

static void every_3x3_label_image(bench *b) {
    int images;
    uint8_t *mask = every_3x3_of_three(&images);
    for (int i = 0; i < 6; ++i) {
        problem p = new_problem(3, 3, 3, images, mask);
        p.options.connectivity = 1 + i % 2;
        p.options.flags = APSIS_SLICES | APSIS_LABELS | periodic_flags(1 + i / 2);
        const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
        const asked how = {.set = types[i % 4], .labels = APSIS_I32, .capacity = images};
        check_components(b, &p, &how);
        select_some(&p, 2 * i + 3);
        check_components(b, &p, &how);
    }
    free(mask);
}

/** All 256 sets of 2 x 2 x 2, and some of 3 x 2 x 3, with every set of periodic axes and every connectivity. */
static void small_volumes(bench *b) {
    uint8_t mask[18];
    chance c = {91};
    const int step = effort(256) < 256 ? 37 : 1;
    for (int i = 0; i < 512; i += step)
        for (int which = 1; which < 8; ++which)
            for (int connectivity = 1; connectivity <= 3; ++connectivity) {
                const int width = i < 256 ? 2 : 3, pixels = 2 * width * width;
                for (int k = 0; k < pixels; ++k) mask[k] = i < 256 ? i >> k & 1 : (uint8_t)roll_below(&c, 3);
                problem p = new_problem(3, width, 2, width, mask);
                p.options.flags = periodic_flags(which) | (i % 2 ? APSIS_LABELS : 0);
                p.options.connectivity = connectivity;
                if (i % 3 == 2) select_some(&p, i / 3);
                const asked how = {.set = APSIS_U8, .labels = APSIS_I32, .capacity = pixels};
                check_components(b, &p, &how);
            }
}

/* ---- Random components ---- */

static void random_components(bench *b) {
    static const apsis_type sets[] = {APSIS_BIT, APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64};
    static const apsis_type labels[] = {APSIS_I32, APSIS_I64, APSIS_U8, APSIS_BIT};
    chance c = {2601};
    for (int i = 0; i < effort(600); ++i) {
        uint8_t *mask;
        problem p = draw_labels(&c, &mask);
        if (roll_below(&c, 2)) fill_mask(mask, p.size, (int)roll_below(&c, MASK_KINDS), roll_real(&c), &c);
        const bool by_value = roll_below(&c, 2);
        p.options.flags = by_value ? APSIS_LABELS : roll_below(&c, 4) ? 0 : APSIS_COMPLEMENT;
        if (p.ndim == 3 && !roll_below(&c, 3)) p.options.flags |= APSIS_SLICES;
        p.options.connectivity = (int32_t)roll_below(&c, (p.options.flags & APSIS_SLICES ? 2 : p.ndim) + 1);
        draw_periodic(&p, &c);
        if (!roll_below(&c, 3)) select_some(&p, (int)roll_below(&c, 48));
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        const asked how = {.set = sets[by_value + roll_below(&c, COUNT(sets) - by_value)],
                           .labels = labels[roll_below(&c, COUNT(labels))],
                           .set_layout = (unsigned)roll_below(&c, LAYOUTS),
                           .labels_layout = (unsigned)roll_below(&c, LAYOUTS),
                           .capacity = roll_below(&c, 3) ? pixels_of(&p) : -1,
                           .no_count = !roll_below(&c, 4)};
        if (how.set == APSIS_BIT)
            for (int64_t k = 0; k < pixels_of(&p); ++k) mask[k] = mask[k] != 0;
        check_components(b, &p, &how);
        free(mask);
    }
}

static void random_grey_components(bench *b) {
    static const apsis_type types[] = {APSIS_U8, APSIS_U16, APSIS_I32, APSIS_F32};
    chance c = {2602};
    for (int i = 0; i < effort(300); ++i) {
        uint8_t *mask;
        problem p = draw_labels(&c, &mask);
        double *grey = must_alloc((size_t)pixels_of(&p) * sizeof *grey);
        const int64_t most = 2 + roll_below(&c, 30);
        for (int64_t k = 0; k < pixels_of(&p); ++k) {
            grey[k] = (double)(mask[k] % most);
            mask[k] = grey[k] != 0;
        }
        p.grey = grey;
        p.options.flags = APSIS_LABELS;
        p.options.delta = 1 + (double)roll_below(&c, 3);
        p.options.connectivity = (int32_t)roll_below(&c, p.ndim + 1);
        draw_periodic(&p, &c);
        if (!roll_below(&c, 3)) select_some(&p, (int)roll_below(&c, 48));
        const asked how = {.set = types[roll_below(&c, 4)], .labels = APSIS_I32, .capacity = pixels_of(&p)};
        check_components(b, &p, &how);
        free(grey);
        free(mask);
    }
}

/* ---- Contacts ---- */

static void every_contact(bench *b) {
    enum { ALL = 19683, PIXELS = 9 };
    uint8_t mask[PIXELS];
    for (int i = 0; i < ALL; i += ALL / effort(ALL)) {
        draw_digits(mask, PIXELS, i);
        problem p = new_problem(2, 3, 3, 1, mask);
        for (int which = 1; which < 4; ++which) {
            p.options.flags = periodic_flags(which);
            for (p.options.connectivity = 1; p.options.connectivity <= 2; ++p.options.connectivity)
                check_contacts(b, &p, label_types[i % 4], PACKED, 3);
        }
    }
}

static void small_volumes_in_contact(bench *b) {
    uint8_t mask[8];
    for (int i = 0; i < 6561; i += 6561 / effort(6561)) {
        draw_digits(mask, 8, i);
        for (int which = 1; which < 8; ++which) {
            problem p = new_problem(3, 2, 2, 2, mask);
            p.options.flags = periodic_flags(which);
            p.options.connectivity = 1 + i % 3;
            check_contacts(b, &p, label_types[(i + which) % 4], PACKED, 3);
        }
    }
}

static void random_contacts(bench *b) {
    chance c = {2603};
    for (int i = 0; i < effort(500); ++i) {
        uint8_t *mask;
        problem p = draw_labels(&c, &mask);
        if (p.ndim == 3 && !roll_below(&c, 3)) p.options.flags = APSIS_SLICES;
        p.options.connectivity = (int32_t)roll_below(&c, (p.options.flags & APSIS_SLICES ? 2 : p.ndim) + 1);
        draw_periodic(&p, &c);
        for (int a = 0; a < 3; ++a) p.options.spacing[a] = 1 + (double)roll_below(&c, 4) / 4;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, (int)roll_below(&c, 4)));
        check_contacts(b, &p, label_types[roll_below(&c, 4)], roll_below(&c, 2) ? (unsigned)roll_below(&c, LAYOUTS) : PACKED,
                       40000);
        free(mask);
    }
}

/* ---- Answers written by hand ---- */

/** An axis of two pixels: they touch inside the image and across its seam. */
static void two_pixels(bench *b) {
    const uint8_t image[2] = {1, 2};
    const int64_t size[3] = {2, 1, 1};
    frame labels = frame_open(b, APSIS_U8, 2, size, PACKED);
    frame_put(&labels, image);
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_contact got;
    int64_t count;
    for (int twice = 0; twice < 2; ++twice) {
        options.flags = twice ? APSIS_PERIODIC_X : 0;
        assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, &got, 1, &count, &options));
        assert_int_equal(count, 1);
        assert_int_equal(got.faces[0], 1 + twice);
    }
    frame_close(&labels);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t plane[3] = {1, 5, 1}, cube[3] = {3, 3, 3};
    frame flat = frame_open(b, APSIS_U8, 2, plane, PACKED), deep = frame_open(b, APSIS_U8, 3, cube, PACKED);
    apsis_options o = APSIS_OPTIONS_INIT;
    int64_t count;
    o.flags = APSIS_PERIODIC_X;
    assert_fails(b->ctx, apsis_components(b->ctx, &flat.image, NULL, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_X|set: size[0] is 1|at least 2");
    assert_fails(b->ctx, apsis_contacts(b->ctx, &flat.image, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_X|labels: size[0] is 1|at least 2");
    o.flags = APSIS_PERIODIC_Z;
    assert_fails(b->ctx, apsis_components(b->ctx, &flat.image, NULL, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|ndim is 2");
    o.flags = APSIS_PERIODIC_Z | APSIS_SLICES;
    assert_fails(b->ctx, apsis_components(b->ctx, &deep.image, NULL, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|APSIS_SLICES");
    assert_fails(b->ctx, apsis_contacts(b->ctx, &deep.image, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|APSIS_SLICES");
    o.flags = APSIS_PERIODIC_Y;
    assert_ok(b->ctx, apsis_components(b->ctx, &flat.image, NULL, NULL, 0, &count, &o));
    assert_fails(b->ctx, apsis_statistics(b->ctx, &flat.image, NULL, 0, &count, &o), APSIS_ERROR_ARGUMENT,
                 "flags is 0x800|apsis_statistics");
    o.method = APSIS_TILE_FILL;
    assert_fails(b->ctx, apsis_components(b->ctx, &flat.image, NULL, NULL, 0, &count, &o), APSIS_ERROR_UNSUPPORTED,
                 "APSIS_TILE_FILL|periodic");
    frame_close(&flat);
    frame_close(&deep);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {
        TEST(every_3x4_set, EVERYWHERE),
        TEST(every_3x3_label_image, EVERYWHERE),
        TEST(small_volumes, EVERYWHERE),
        TEST(random_components, EVERYWHERE),
        TEST(random_grey_components, EVERYWHERE),
        TEST(every_contact, EVERYWHERE),
        TEST(small_volumes_in_contact, EVERYWHERE),
        TEST(random_contacts, EVERYWHERE),
        TEST(two_pixels, EVERYWHERE),
        TEST(wrong_arguments, EVERYWHERE),
    };
    return RUN_CASES(cases, argc, argv);
}
