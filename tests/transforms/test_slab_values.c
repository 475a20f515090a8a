/* Statistics and contacts of the values of a label image that is cut into slabs: those of the whole image, bit for bit. */
#include "cuts.h"
#include "frame.h"

enum { MOST = 4096, VALUES = 6 };

/** The frame of some rows of a label image, and the values of a row. */
static frame rows_in(bench *b, const problem *slab, apsis_type type) {
    const size_t bytes = type_size(type);
    uint8_t *pixels = must_alloc((size_t)pixels_of(slab) * bytes + 8);
    memset(pixels, 0, (size_t)pixels_of(slab) * bytes);
    for (int64_t i = 0; i < pixels_of(slab); ++i) pixels[(size_t)i * bytes] = slab->mask[i]; /* the low byte */
    frame f = frame_open(b, type, slab->ndim, slab->size, PACKED);
    frame_put(&f, pixels);
    free(pixels);
    return f;
}

/** Compares what slabs tell, added up in one array, with what is known of the whole image. */
static void check_cut(bench *b, const problem *p, apsis_type type, const cut *at, chance *c) {
    static apsis_part parts[MOST];
    static apsis_component want[VALUES], got[VALUES];
    static apsis_contact contacts[MOST], want_contacts[VALUES * VALUES];
    int64_t part_count = 0, contact_count = 0, count, want_count;
    frame whole = rows_in(b, p, type);
    assert_ok(b->ctx, apsis_statistics(b->ctx, &whole.image, want, VALUES, &count, NULL));
    assert_ok(b->ctx, apsis_contacts(b->ctx, &whole.image, want_contacts, VALUES * VALUES, &want_count, &p->options));
    frame_close(&whole);
    for (int i = 0; i < at->slabs; ++i) {
        const int k = at->slabs - 1 - i;
        const problem slab = slab_of(p, at, k);
        frame f = rows_in(b, &slab, type);
        int64_t found, before[MOST];
        const bool has_before = at->start[k] > 0 || is_periodic(p, p->ndim - 1);
        const int64_t row = (at->start[k] + rows_of(p) - 1) % rows_of(p);
        for (int64_t x = 0; has_before && x < columns_of(p); ++x) before[x] = p->mask[row * columns_of(p) + x];
        assert_ok(b->ctx,
                  apsis_slab_statistics(b->ctx, &f.image, at->start[k], parts + part_count, MOST - part_count, &found, NULL));
        part_count += found;
        assert_ok(b->ctx, apsis_slab_contacts(b->ctx, &f.image, has_before ? before : NULL, contacts + contact_count,
                                              MOST - contact_count, &found, &p->options));
        contact_count += found;
        frame_assert_unchanged(&f);
        frame_close(&f);
        if (roll_below(c, 2)) part_count = apsis_slab_merge_parts(part_count, parts);
    }
    part_count = apsis_slab_merge_parts(part_count, parts);
    if (part_count != count) fail_at(at, "the number of values");
    apsis_slab_measure(count, parts, got);
    if (memcmp(got, want, (size_t)count * sizeof *got) != 0) fail_at(at, "what is known of a value");
    assert_ok(b->ctx, apsis_slab_merge_contacts(b->ctx, p->ndim, contacts, &contact_count, &p->options));
    if (contact_count != want_count) fail_at(at, "the number of contacts");
    if (memcmp(contacts, want_contacts, (size_t)want_count * sizeof *contacts) != 0) fail_at(at, "a contact");
}

static void draw_problem(chance *c, problem *p, uint8_t *mask) {
    const int values = 2 + (int)roll_below(c, VALUES - 2);
    for (int64_t i = 0; i < pixels_of(p); ++i)
        mask[i] = i > 0 && roll_below(c, 2) ? mask[i - 1] : (uint8_t)roll_below(c, values);
    p->mask = mask;
    p->options.connectivity = 1 + (int)roll_below(c, p->ndim);
    if (roll_below(c, 2)) draw_periodic(p, c);
    if (roll_below(c, 2)) set_spacing(p, 3, 2, 5, 0.1);
}

static void every_cut_of_small_ones(bench *b) {
    static const int64_t sizes[][3] = {{1, 6, 1}, {4, 5, 1}, {2, 3, 5}};
    chance c = {61};
    uint8_t mask[64];
    for (int i = 0; i < effort(b->place == ON_CPU ? 60 : 20); ++i) {
        const int64_t *size = sizes[i % COUNT(sizes)];
        problem p = new_problem(size[2] > 1 ? 3 : 2, size[0], size[1], size[2], NULL);
        draw_problem(&c, &p, mask);
        for (unsigned cuts = 0; cuts < 1u << (rows_of(&p) - 1); ++cuts) {
            const cut at = cut_of(cuts, rows_of(&p));
            check_cut(b, &p, (apsis_type[]){APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64}[i % 4], &at, &c);
        }
    }
}

static void random_cuts(bench *b) {
    static const int64_t sizes[] = {1, 2, 5, 13, 32, 33};
    chance c = {62};
    static uint8_t mask[33 * 33 * 33];
    for (int i = 0; i < effort(b->place == ON_CPU ? 300 : 50); ++i) {
        problem p = new_problem(2 + (int)roll_below(&c, 2), 1, 1, 1, NULL);
        for (int a = 0; a < p.ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        draw_problem(&c, &p, mask);
        const cut at = choose_cut(&c, rows_of(&p));
        check_cut(b, &p, (apsis_type[]){APSIS_U8, APSIS_U16, APSIS_I32, APSIS_I64}[roll_below(&c, 4)], &at, &c);
    }
}

static void refused(bench *b) {
    static uint8_t mask[12];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {4, 3}};
    apsis_options options = APSIS_OPTIONS_INIT;
    apsis_part part;
    apsis_contact contact;
    int64_t count = -1;
    assert_fails(b->ctx, apsis_slab_statistics(b->ctx, &set, -1, &part, 1, &count, NULL), APSIS_ERROR_ARGUMENT, "start is -1");
    assert_fails(b->ctx, apsis_slab_statistics(b->ctx, &set, 0, NULL, 1, &count, NULL), APSIS_ERROR_ARGUMENT, "parts is NULL");
    assert_fails(b->ctx, apsis_slab_contacts(b->ctx, &set, NULL, NULL, 1, &count, NULL), APSIS_ERROR_ARGUMENT,
                 "contacts is NULL");
    assert_fails(b->ctx, apsis_slab_merge_contacts(b->ctx, 2, &contact, &count, NULL), APSIS_ERROR_ARGUMENT, "capacity is -1");
    assert_fails(b->ctx, apsis_slab_merge_contacts(b->ctx, 2, &contact, NULL, NULL), APSIS_ERROR_ARGUMENT, "count is NULL");
    count = 0;
    assert_fails(b->ctx, apsis_slab_merge_contacts(b->ctx, 4, NULL, &count, NULL), APSIS_ERROR_ARGUMENT, "ndim is 4");
    options.flags = APSIS_DENSE;
    assert_fails(b->ctx, apsis_slab_statistics(b->ctx, &set, 0, &part, 1, &count, &options), APSIS_ERROR_UNSUPPORTED,
                 "APSIS_DENSE");
    options.flags = APSIS_PERIODIC_Z;
    assert_fails(b->ctx, apsis_slab_contacts(b->ctx, &set, NULL, &contact, 1, &count, &options), APSIS_ERROR_ARGUMENT,
                 "APSIS_PERIODIC_Z|ndim is 2");
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_small_ones, EVERYWHERE), TEST(random_cuts, EVERYWHERE),
                                      TEST(refused, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
