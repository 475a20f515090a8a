/* The programs of docs/examples, run as they are. */
#include "apsis_test.h"

static void write_file(const char *name, const void *bytes, size_t count) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/** Three slabs, and one row of a fourth. */
static void components_by_slabs(bench *b) {
    enum { W = 201, H = 3001 };
    chance c = {1};
    uint8_t *mask = must_alloc(W * H);
    int32_t *want = must_alloc(W * H * sizeof *want), *got = must_alloc((W * H + 1) * sizeof *got);
    fill_mask(mask, (const int64_t[3]){W, H, 1}, NOISE, 0.58, &c);
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {W, H}};
    const apsis_image labels = {.data = want, .type = APSIS_I32, .ndim = 2, .size = {W, H}};
    assert_ok(b->ctx, apsis_components(b->ctx, &set, &labels, NULL, 0, NULL, NULL));
    write_file("components_by_slabs.in", mask, W * H);
    assert_int_equal(system("\"" COMPONENTS_BY_SLABS "\" 201 3001 components_by_slabs.in components_by_slabs.out"), 0);
    FILE *file = fopen("components_by_slabs.out", "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, sizeof *got, W * H + 1, file), W * H);
    fclose(file);
    assert_memory_equal(got, want, W * H * sizeof *got);
    assert_int_not_equal(system("\"" COMPONENTS_BY_SLABS "\" 201 3002 components_by_slabs.in components_by_slabs.out"), 0);
    remove("components_by_slabs.in");
    remove("components_by_slabs.out");
    free(mask), free(want), free(got);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(components_by_slabs, ON_CPU)};
    return RUN_CASES(cases, argc, argv);
}
