/* Calls of apsis_statistics and apsis_contacts: without pixels, with wrong arguments, in a workspace of the size that is
 * told. */
#include "run_labels.h"

static void images_without_pixels(bench *b) {
    const apsis_image none = {.type = APSIS_U16, .ndim = 2, .size = {0, 7}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_DENSE;
    apsis_component got[2];
    int64_t count = -1;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &none, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
    count = -1;
    assert_ok(b->ctx, apsis_statistics(b->ctx, &none, got, 2, &count, &options));
    assert_int_equal(count, 0);
    assert_int_equal(got[1].area, 0);
    count = -1;
    assert_ok(b->ctx, apsis_contacts(b->ctx, &none, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
}

/* ---- What is refused ---- */

static void wrong_arguments(bench *b) {
    const int64_t size[3] = {8, 8, 1};
    frame bits = frame_open(b, APSIS_BIT, 2, size, PACKED), real = frame_open(b, APSIS_F32, 2, size, PACKED),
          labels = frame_open(b, APSIS_U16, 2, size, PACKED);
    const apsis_image *const set = &labels.image;
    apsis_options o = APSIS_OPTIONS_INIT;
    apsis_component part;
    apsis_contact contact;
    const struct {
        apsis_status status;
        const char *text;
    } none = {APSIS_ERROR_ARGUMENT, "labels is NULL"};
    assert_fails(b->ctx, apsis_statistics(b->ctx, NULL, &part, 1, NULL, NULL), none.status, none.text);
    assert_fails(b->ctx, apsis_contacts(b->ctx, NULL, &contact, 1, NULL, NULL), none.status, none.text);
    assert_fails(b->ctx, apsis_statistics(b->ctx, &bits.image, &part, 1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "labels: type is APSIS_BIT");
    assert_fails(b->ctx, apsis_contacts(b->ctx, &real.image, &contact, 1, NULL, NULL), APSIS_ERROR_ARGUMENT,
                 "labels: type is APSIS_F32");
    assert_fails(b->ctx, apsis_statistics(b->ctx, set, NULL, 1, NULL, NULL), APSIS_ERROR_ARGUMENT, "components is NULL");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, NULL, 1, NULL, NULL), APSIS_ERROR_ARGUMENT, "contacts is NULL");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, -1, NULL, NULL), APSIS_ERROR_ARGUMENT, "capacity is -1");
    o.flags = APSIS_SLICES;
    assert_fails(b->ctx, apsis_statistics(b->ctx, set, &part, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "flags|apsis_statistics");
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "APSIS_SLICES|ndim is 2");
    o.flags = APSIS_DENSE;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "flags|apsis_contacts");
    o.flags = 0;
    o.connectivity = 3;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "connectivity is 3");
    o.connectivity = 0;
    o.method = APSIS_SWEEP;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT,
                 "APSIS_SWEEP|apsis_contacts");
    o.method = APSIS_AUTO;
    o.spacing[0] = 2;
    assert_fails(b->ctx, apsis_contacts(b->ctx, set, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "spacing[1] is 0");
    const apsis_image volume = {.data = set->data, .type = APSIS_U16, .ndim = 3, .size = {4, 4, 4}, .memory = set->memory};
    o.spacing[1] = 2;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_ARGUMENT, "spacing[2] is 0");
    for (int a = 0; a < 3; ++a) o.spacing[a] = 1e200;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_RANGE, "spacing|1e+200");
    for (int a = 0; a < 3; ++a) o.spacing[a] = 1e-200;
    assert_fails(b->ctx, apsis_contacts(b->ctx, &volume, &contact, 1, NULL, &o), APSIS_ERROR_RANGE, "spacing|1e-200");
    frame_close(&bits);
    frame_close(&real);
    frame_close(&labels);
}

/** A workspace of the size that is told is enough. */
static void workspaces(bench *b) {
    const int64_t size[3] = {100, 50, 3};
    uint8_t *mask = must_alloc(100 * 50 * 3);
    chance c = {5};
    fill_cells(mask, size, &c);
    frame labels = frame_open(b, APSIS_U8, 3, size, PADDED | STEPPED);
    frame_put(&labels, mask);
    const apsis_image *const images[] = {&labels.image};
    static const apsis_transform transforms[] = {APSIS_STATISTICS, APSIS_CONTACTS};
    for (int t = 0; t < 2; ++t) {
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, transforms[t], images, 1, NULL, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        if (bytes) assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        if (bytes) assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        int64_t count;
        if (t == 0) assert_ok(b->ctx, apsis_statistics(b->ctx, &labels.image, NULL, 0, &count, NULL));
        if (t == 1) assert_ok(b->ctx, apsis_contacts(b->ctx, &labels.image, NULL, 0, &count, NULL));
        assert_true(count > 0);
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
    }
    frame_close(&labels);
    free(mask);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(images_without_pixels, EVERYWHERE), TEST(wrong_arguments, EVERYWHERE),
                                      TEST(workspaces, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
