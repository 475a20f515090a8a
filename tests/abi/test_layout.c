/* The layout of every structure and the value of every enumerator: bindings copy them, so they never change. */
#include <apsis_measures.h>

#include "apsis_test.h"

#define FIELD(type, field, offset, bytes)            \
    assert_int_equal(offsetof(type, field), offset); \
    assert_int_equal(sizeof(((type *)0)->field), bytes)

static void images(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_image), 72);
    FIELD(apsis_image, data, 0, 8);
    FIELD(apsis_image, type, 8, 4);
    FIELD(apsis_image, ndim, 12, 4);
    FIELD(apsis_image, size, 16, 24);
    FIELD(apsis_image, stride, 40, 24);
    FIELD(apsis_image, memory, 64, 4);
    FIELD(apsis_image, reserved, 68, 4);
}

static void options(void **state) {
    (void)state;
    const apsis_options o = APSIS_OPTIONS_INIT;
    assert_int_equal(sizeof(apsis_options), 104);
    assert_int_equal(o.struct_size, 104);
    FIELD(apsis_options, struct_size, 0, 4);
    FIELD(apsis_options, flags, 4, 4);
    FIELD(apsis_options, spacing, 8, 24);
    FIELD(apsis_options, max_distance, 32, 8);
    FIELD(apsis_options, metric, 40, 4);
    FIELD(apsis_options, method, 44, 4);
    FIELD(apsis_options, connectivity, 48, 4);
    FIELD(apsis_options, largest, 52, 4);
    FIELD(apsis_options, min_area, 56, 8);
    FIELD(apsis_options, max_area, 64, 8);
    FIELD(apsis_options, budget, 72, 8);
    FIELD(apsis_options, delta, 80, 8);
    FIELD(apsis_options, weights, 88, 16);
}

static void components(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_component), 96);
    FIELD(apsis_component, first, 0, 8);
    FIELD(apsis_component, area, 8, 8);
    FIELD(apsis_component, lower, 16, 24);
    FIELD(apsis_component, upper, 40, 24);
    FIELD(apsis_component, centroid, 64, 24);
    FIELD(apsis_component, value, 88, 8);
}

static void contacts(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_contact), 56);
    FIELD(apsis_contact, a, 0, 8);
    FIELD(apsis_contact, b, 8, 8);
    FIELD(apsis_contact, faces, 16, 24);
    FIELD(apsis_contact, corners, 40, 8);
    FIELD(apsis_contact, area, 48, 8);
}

static void extents(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_extent), 56);
    FIELD(apsis_extent, first, 0, 8);
    FIELD(apsis_extent, ends, 8, 16);
    FIELD(apsis_extent, centre, 24, 8);
    FIELD(apsis_extent, diameter, 32, 8);
    FIELD(apsis_extent, radius, 40, 8);
    FIELD(apsis_extent, gap, 48, 8);
}

static void slabs(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_slab), 48);
    FIELD(apsis_slab, start, 0, 8);
    FIELD(apsis_slab, extent, 8, 8);
    FIELD(apsis_slab, above, 16, 8);
    FIELD(apsis_slab, below, 24, 8);
    FIELD(apsis_slab, complement_above, 32, 8);
    FIELD(apsis_slab, complement_below, 40, 8);
    assert_int_equal(sizeof(apsis_slab_paths), 80);
    FIELD(apsis_slab_paths, start, 0, 8);
    FIELD(apsis_slab_paths, extent, 8, 8);
    FIELD(apsis_slab_paths, above, 16, 8);
    FIELD(apsis_slab_paths, below, 24, 8);
    FIELD(apsis_slab_paths, above_seeds, 32, 8);
    FIELD(apsis_slab_paths, below_seeds, 40, 8);
    FIELD(apsis_slab_paths, first, 48, 8);
    FIELD(apsis_slab_paths, last, 56, 8);
    FIELD(apsis_slab_paths, first_seeds, 64, 8);
    FIELD(apsis_slab_paths, last_seeds, 72, 8);
    assert_int_equal(sizeof(apsis_part), 96);
    FIELD(apsis_part, first, 0, 8);
    FIELD(apsis_part, area, 8, 8);
    FIELD(apsis_part, lower, 16, 24);
    FIELD(apsis_part, upper, 40, 24);
    FIELD(apsis_part, sum, 64, 24);
    FIELD(apsis_part, value, 88, 8);
    assert_int_equal(sizeof(apsis_slab_labels), 72);
    FIELD(apsis_slab_labels, start, 0, 8);
    FIELD(apsis_slab_labels, rows, 8, 8);
    FIELD(apsis_slab_labels, count, 16, 8);
    FIELD(apsis_slab_labels, before, 24, 8);
    FIELD(apsis_slab_labels, first, 32, 8);
    FIELD(apsis_slab_labels, last, 40, 8);
    FIELD(apsis_slab_labels, parts, 48, 8);
    FIELD(apsis_slab_labels, capacity, 56, 8);
    FIELD(apsis_slab_labels, numbers, 64, 8);
}

static void sums(void **state) {
    (void)state;
    assert_int_equal(sizeof(apsis_sums), 448);
    FIELD(apsis_sums, part, 0, 96);
    FIELD(apsis_sums, wanted, 96, 8);
    FIELD(apsis_sums, products_low, 104, 48);
    FIELD(apsis_sums, products_high, 152, 48);
    FIELD(apsis_sums, faces, 200, 24);
    FIELD(apsis_sums, diagonals, 224, 8);
    FIELD(apsis_sums, euler, 232, 8);
    FIELD(apsis_sums, steps, 240, 24);
    FIELD(apsis_sums, intensity_low, 264, 64);
    FIELD(apsis_sums, intensity_high, 328, 64);
    FIELD(apsis_sums, least, 392, 8);
    FIELD(apsis_sums, largest, 400, 8);
    FIELD(apsis_sums, special, 408, 8);
    FIELD(apsis_sums, reserved, 416, 32);
}

static void values(void **state) {
    (void)state;
    static const int in_order[] = {APSIS_OK,           APSIS_ERROR_ARGUMENT,  APSIS_ERROR_UNSUPPORTED, APSIS_ERROR_NO_DEVICE,
                                   APSIS_ERROR_MEMORY, APSIS_ERROR_WORKSPACE, APSIS_ERROR_RANGE,       APSIS_ERROR_CANCELLED,
                                   APSIS_ERROR_DEVICE, APSIS_ERROR_INTERNAL,  APSIS_ERROR_BUDGET};
    for (int i = 0; i < COUNT(in_order); ++i) assert_int_equal(in_order[i], i);
    static const int types[] = {APSIS_BIT, APSIS_U8, APSIS_I32, APSIS_I64, APSIS_F32, APSIS_F64, APSIS_U16};
    for (int i = 0; i < COUNT(types); ++i) assert_int_equal(types[i], i + 1);
    assert_int_equal(APSIS_HOST, 0);
    assert_int_equal(APSIS_DEVICE, 1);
    assert_int_equal(APSIS_EUCLIDEAN, 0);
    assert_int_equal(APSIS_CITY_BLOCK, 1);
    assert_int_equal(APSIS_CHESSBOARD, 2);
    assert_int_equal(APSIS_CHAMFER, 3);
    static const int methods[] = {APSIS_AUTO,         APSIS_RASTER_SCAN, APSIS_SWEEP,
                                  APSIS_JUMP_FLOOD,   APSIS_TILE_FILL,   APSIS_EVERY_SOURCE,
                                  APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS,  APSIS_SEQUENTIAL_SCAN};
    for (int i = 0; i < COUNT(methods); ++i) assert_int_equal(methods[i], i);
    assert_int_equal(APSIS_COMPLEMENT, 1);
    assert_int_equal(APSIS_SIGNED, 2);
    assert_int_equal(APSIS_CONNECTED, 4);
    assert_int_equal(APSIS_SLICES, 8);
    assert_int_equal(APSIS_NO_BORDER, 16);
    assert_int_equal(APSIS_NO_INNER, 32);
    assert_int_equal(APSIS_MIXED, 64);
    assert_int_equal(APSIS_LABELS, 128);
    assert_int_equal(APSIS_DENSE, 512);
    assert_int_equal(APSIS_PERIODIC_X, 1024);
    assert_int_equal(APSIS_PERIODIC_Y, 2048);
    assert_int_equal(APSIS_PERIODIC_Z, 4096);
    assert_int_equal(APSIS_CPU, -1);
    assert_int_equal(APSIS_BEST, -2);
    assert_int_equal(APSIS_DISTANCE, 0);
    assert_int_equal(APSIS_VORONOI, 1);
    assert_int_equal(APSIS_COMPONENTS, 2);
    assert_int_equal(APSIS_GEODESIC, 3);
    assert_int_equal(APSIS_ECCENTRICITY, 4);
    assert_int_equal(APSIS_STATISTICS, 5);
    assert_int_equal(APSIS_CONTACTS, 6);
    assert_int_equal(APSIS_MORPHOLOGY, 7);
    assert_int_equal(APSIS_DILATE, 0);
    assert_int_equal(APSIS_ERODE, 1);
    assert_int_equal(APSIS_OPEN, 2);
    assert_int_equal(APSIS_CLOSE, 3);
    assert_int_equal(sizeof(apsis_operation), 4);
    assert_int_equal(sizeof(apsis_status), 4);
    assert_int_equal(sizeof(apsis_transform), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(images),   cmocka_unit_test(options), cmocka_unit_test(components),
                                       cmocka_unit_test(contacts), cmocka_unit_test(extents), cmocka_unit_test(slabs),
                                       cmocka_unit_test(sums),     cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
