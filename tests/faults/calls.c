/* The calls of calls.h: images in host memory, one of each kind of work that the library does. */
#include "calls.h"

#include <apsis_measures.h>

static const int64_t size[3] = {CALL_WIDTH, CALL_HEIGHT, CALL_DEPTH};
static const int64_t size_of_paths[3] = {13, 11, 3}; /* which take an emulated device long */

static apsis_image image_of(const int64_t pixels[3], void *data, apsis_type type, int ndim) {
    apsis_image i = {.data = data, .type = type, .ndim = ndim};
    for (int a = 0; a < ndim; ++a) i.size[a] = pixels[a];
    return i;
}
static apsis_image image(void *data, apsis_type type, int ndim) { return image_of(size, data, type, ndim); }

/** The same set each time: noise of some density. */
static uint8_t *noise_of(const int64_t pixels[3], double density) {
    static uint8_t mask[CALL_PIXELS];
    chance c = {11};
    fill_mask(mask, pixels, NOISE, density, &c);
    return mask;
}
static apsis_image noise(double density, int ndim) { return image(noise_of(size, density), APSIS_U8, ndim); }

static apsis_status map(apsis_context *ctx, call_outputs *out, int ndim, uint32_t flags, apsis_metric metric,
                        apsis_method method) {
    const apsis_image set = noise(0.02, ndim), real = image(out->real, APSIS_F32, ndim),
                      index = image(out->index, APSIS_I32, ndim);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = flags;
    o.metric = metric;
    o.method = method;
    return apsis_distance(ctx, &set, &real, &index, &o);
}
static apsis_status distance(apsis_context *ctx, call_outputs *out) { return map(ctx, out, 2, 0, APSIS_EUCLIDEAN, APSIS_AUTO); }
static apsis_status signed_volume(apsis_context *ctx, call_outputs *out) {
    return map(ctx, out, 3, APSIS_SIGNED, APSIS_EUCLIDEAN, APSIS_AUTO);
}
static apsis_status chessboard(apsis_context *ctx, call_outputs *out) {
    return map(ctx, out, 3, 0, APSIS_CHESSBOARD, APSIS_AUTO);
}
static apsis_status city_block(apsis_context *ctx, call_outputs *out) {
    return map(ctx, out, 2, 0, APSIS_CITY_BLOCK, APSIS_AUTO);
}
static apsis_status raster_scan(apsis_context *ctx, call_outputs *out) {
    return map(ctx, out, 2, 0, APSIS_EUCLIDEAN, APSIS_RASTER_SCAN);
}
static apsis_status sweep(apsis_context *ctx, call_outputs *out) { return map(ctx, out, 2, 0, APSIS_EUCLIDEAN, APSIS_SWEEP); }
static apsis_status jump_flood(apsis_context *ctx, call_outputs *out) {
    return map(ctx, out, 2, 0, APSIS_EUCLIDEAN, APSIS_JUMP_FLOOD);
}

static apsis_status slab_summary(apsis_context *ctx, call_outputs *out) {
    int64_t first[CALL_WIDTH], last[CALL_WIDTH];
    const apsis_image set = noise(0.02, 2);
    const apsis_status st = apsis_slab_summary(ctx, &set, 0, first, last, NULL);
    for (int x = 0; st == APSIS_OK && x < CALL_WIDTH; ++x)
        out->index[x] = first[x] == INT64_MAX ? -1 : (int32_t)(first[x] + last[x] * CALL_HEIGHT);
    return st;
}

/** The last planes of a signed volume, whose set is given once. */
static apsis_status found_slab(apsis_context *ctx, call_outputs *out) {
    enum { COLUMNS = CALL_WIDTH * CALL_HEIGHT };
    static int64_t first[COLUMNS], above[COLUMNS], complement_above[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) above[c] = c % 3 ? 9 : 4, complement_above[c] = c % 3 ? 2 : 9;
    const apsis_image set = noise(0.02, 3), real = image(out->real, APSIS_F32, 3), index = image(out->index, APSIS_I32, 3);
    const apsis_slab slab = {.start = 10, .extent = 10 + CALL_DEPTH, .above = above, .complement_above = complement_above};
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_COMPLEMENT;
    apsis_status st = apsis_slab_summary(ctx, &set, slab.start, first, NULL, &o);
    o.flags = APSIS_SIGNED;
    if (st == APSIS_OK) st = apsis_slab_summary(ctx, NULL, slab.start, first, NULL, &o);
    return st == APSIS_OK ? apsis_slab_distance(ctx, NULL, &slab, &real, &index, &o) : st;
}

/** The upper half of an image of which columns change from one side to the other below, or go on with the set. */
static apsis_status signed_slab(apsis_context *ctx, call_outputs *out) {
    int64_t below[CALL_WIDTH], complement_below[CALL_WIDTH];
    for (int x = 0; x < CALL_WIDTH; ++x) {
        below[x] = CALL_HEIGHT + x % 5;
        complement_below[x] = x % 5 ? CALL_HEIGHT : INT64_MAX;
    }
    const apsis_image set = noise(0.02, 2), real = image(out->real, APSIS_F32, 2), index = image(out->index, APSIS_I32, 2);
    const apsis_slab slab = {.extent = 2 * CALL_HEIGHT, .below = below, .complement_below = complement_below};
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_SIGNED;
    return apsis_slab_distance(ctx, &set, &slab, &real, &index, &o);
}

static apsis_status chessboard_slab(apsis_context *ctx, call_outputs *out) {
    int64_t above[CALL_WIDTH];
    for (int x = 0; x < CALL_WIDTH; ++x) above[x] = x % 30 ? -1 : 70 - x;
    const apsis_image set = noise(0.002, 2), real = image(out->real, APSIS_F32, 2);
    const apsis_slab slab = {.start = 80, .extent = 80 + CALL_HEIGHT, .above = above};
    apsis_options o = APSIS_OPTIONS_INIT;
    o.metric = APSIS_CHESSBOARD;
    return apsis_slab_distance(ctx, &set, &slab, &real, NULL, &o);
}

static apsis_status voronoi(apsis_context *ctx, call_outputs *out) {
    const apsis_image set = noise(0.02, 2), index = image(out->index, APSIS_I32, 2);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.flags = APSIS_CONNECTED;
    return apsis_voronoi(ctx, &set, &index, &o);
}

static apsis_status components_by(apsis_context *ctx, call_outputs *out, int ndim, apsis_method method) {
    const apsis_image set = noise(0.5, ndim), labels = image(out->index, APSIS_I32, ndim);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.method = method;
    const bool all = method == APSIS_AUTO;
    return apsis_components(ctx, &set, &labels, all ? out->parts : NULL, all ? COUNT(out->parts) : 0, &out->count, &o);
}
static apsis_status components(apsis_context *ctx, call_outputs *out) { return components_by(ctx, out, 3, APSIS_AUTO); }
static apsis_status tile_fill(apsis_context *ctx, call_outputs *out) { return components_by(ctx, out, 2, APSIS_TILE_FILL); }

static apsis_status largest(apsis_context *ctx, call_outputs *out) {
    const apsis_image set = noise(0.4, 2), labels = image(out->index, APSIS_I32, 2);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.largest = 3;
    return apsis_components(ctx, &set, &labels, NULL, 0, &out->count, &o);
}

static apsis_status opening(apsis_context *ctx, call_outputs *out) {
    const apsis_image set = noise(0.9, 3), result = image(out->real, APSIS_BIT, 3);
    return apsis_morphology(ctx, APSIS_OPEN, 1.5, &set, &result, NULL);
}

static apsis_status surfaces(apsis_context *ctx, call_outputs *out) {
    static uint8_t corner[CALL_PIXELS] = {1};
    const apsis_image first = noise(0.9, 3), second = image(corner, APSIS_U8, 3);
    apsis_surface_distances found;
    const apsis_status status =
        apsis_surface_distance(ctx, &first, &second, APSIS_SURFACE_CORNERS, 95, 2, &found, 1, NULL, NULL);
    if (status == APSIS_OK) memcpy(out->parts, &found, sizeof found);
    return status;
}

/** Values of a few pixels each. */
static apsis_image label_image(void) {
    static uint16_t value[CALL_PIXELS];
    for (int i = 0; i < CALL_PIXELS; ++i) value[i] = (uint16_t)(i / 3 * i % 97);
    return image_of(size_of_paths, value, APSIS_U16, 3);
}
static apsis_status statistics(apsis_context *ctx, call_outputs *out) {
    const apsis_image labels = label_image();
    return apsis_statistics(ctx, &labels, out->parts, COUNT(out->parts), &out->count, NULL);
}
static apsis_status contacts(apsis_context *ctx, call_outputs *out) {
    const apsis_image labels = label_image();
    enum { CAPACITY = sizeof(out->parts) / (sizeof(apsis_contact)) };
    return apsis_contacts(ctx, &labels, (apsis_contact *)out->parts, CAPACITY, &out->count, NULL);
}

static apsis_status measure(apsis_context *ctx, call_outputs *out, uint32_t wanted) {
    static uint8_t value[CALL_PIXELS];
    static float grey[CALL_PIXELS];
    for (int i = 0; i < CALL_PIXELS; ++i) value[i] = (uint8_t)(i / 3 * i % 7), grey[i] = 0.25f * (float)i;
    const apsis_image labels = image_of(size_of_paths, value, APSIS_U8, 2),
                      intensity = image_of(size_of_paths, grey, APSIS_F32, 2);
    enum { CAPACITY = sizeof(out->parts) / (sizeof(apsis_measure)) };
    return apsis_measures(ctx, &labels, &intensity, wanted, (apsis_measure *)out->parts, CAPACITY, &out->count, NULL);
}
static apsis_status measures(apsis_context *ctx, call_outputs *out) { return measure(ctx, out, 255); }
static apsis_status moments(apsis_context *ctx, call_outputs *out) {
    return measure(ctx, out, APSIS_MOMENTS | APSIS_PERIMETER | APSIS_INTENSITY);
}
static apsis_status slab_measures(apsis_context *ctx, call_outputs *out) {
    static uint8_t value[CALL_PIXELS];
    for (int i = 0; i < CALL_PIXELS; ++i) value[i] = (uint8_t)(i / 3 * i % 7);
    const apsis_image labels = image_of(size_of_paths, value, APSIS_U8, 2);
    const int64_t whole[2] = {labels.size[0], 2 * labels.size[1]};
    apsis_sums sums[2 * 6];
    apsis_status status = APSIS_OK;
    int64_t found = 0;
    for (int k = 0; k < 2 && status == APSIS_OK; ++k, found += out->count)
        status = apsis_slab_sums(ctx, &labels, NULL, k ? &labels : NULL, k * labels.size[1], APSIS_MOMENTS | APSIS_PERIMETER,
                                 sums + found, 6, &out->count, NULL);
    if (status != APSIS_OK) return status;
    out->count = apsis_slab_merge_sums(found, sums);
    return apsis_slab_measures(ctx, 2, whole, sums, out->count, (apsis_measure *)out->parts, NULL);
}

static apsis_image map_of_paths(void *data, apsis_type type, int ndim) { return image_of(size_of_paths, data, type, ndim); }
static apsis_status balls(apsis_context *ctx, call_outputs *out) {
    const apsis_image set = map_of_paths(noise_of(size_of_paths, 0.9), APSIS_U8, 3),
                      thickness = map_of_paths(out->real, APSIS_F32, 3), axis = map_of_paths(out->index, APSIS_I32, 3);
    const apsis_status status = apsis_thickness(ctx, &set, &thickness, NULL);
    return status == APSIS_OK ? apsis_medial_axis(ctx, &set, &axis, NULL) : status;
}

static apsis_status geodesic(apsis_context *ctx, call_outputs *out) {
    static uint8_t seed[CALL_PIXELS];
    const apsis_image set = map_of_paths(noise_of(size_of_paths, 0.7), APSIS_U8, 3), seeds = map_of_paths(seed, APSIS_U8, 3),
                      real = map_of_paths(out->real, APSIS_F32, 3), index = map_of_paths(out->index, APSIS_I32, 3);
    seed[0] = seed[300] = 1;
    return apsis_geodesic(ctx, &set, &seeds, &real, &index, NULL);
}

static apsis_status cost_distance(apsis_context *ctx, call_outputs *out) {
    static uint8_t cost[CALL_PIXELS], seed[CALL_PIXELS];
    for (int i = 0; i < CALL_PIXELS; ++i) cost[i] = (uint8_t)(i * 7 % 11 * (i % 5));
    const apsis_image costs = map_of_paths(cost, APSIS_U8, 3), seeds = map_of_paths(seed, APSIS_U8, 3),
                      real = map_of_paths(out->real, APSIS_F32, 3), index = map_of_paths(out->index, APSIS_I32, 3);
    seed[1] = seed[300] = 1;
    return apsis_cost_distance(ctx, NULL, &costs, &seeds, &real, &index, NULL);
}
static apsis_status longest_paths(apsis_context *ctx, call_outputs *out) {
    enum { CAPACITY = sizeof(out->parts) / (sizeof(apsis_path)), PIXELS = CALL_PIXELS / 2 };
    const apsis_image set = map_of_paths(noise_of(size_of_paths, 0.5), APSIS_U8, 2);
    int64_t pixels[PIXELS] = {0};
    const apsis_status status =
        apsis_longest_paths(ctx, &set, (apsis_path *)out->parts, CAPACITY, &out->count, pixels, PIXELS, NULL, NULL);
    if (status == APSIS_OK) memcpy(out->index, pixels, sizeof pixels);
    return status;
}

/** The upper planes of a volume, with a path that comes in from below. */
static apsis_status slab_paths(apsis_context *ctx, call_outputs *out) {
    enum { COLUMNS = 13 * 11 };
    static uint8_t seed[CALL_PIXELS];
    int64_t below[COLUMNS], below_seeds[COLUMNS], first[COLUMNS], seeds_of_first[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) below[c] = c % 7 ? INT64_MAX : 1000 * c, below_seeds[c] = 3 * COLUMNS + c;
    const apsis_image set = map_of_paths(noise_of(size_of_paths, 0.7), APSIS_U8, 3), seeds = map_of_paths(seed, APSIS_U8, 3),
                      real = map_of_paths(out->real, APSIS_F32, 3), index = map_of_paths(out->index, APSIS_I32, 3);
    const apsis_slab_paths slab = {
        .extent = 4, .below = below, .below_seeds = below_seeds, .first = first, .first_seeds = seeds_of_first};
    const apsis_status st = apsis_slab_geodesic(ctx, &set, &seeds, &slab, &real, &index, NULL, NULL);
    for (int c = 0; st == APSIS_OK && c < COLUMNS; ++c) out->index[3 * COLUMNS + c] = (int32_t)(first[c] ^ seeds_of_first[c]);
    return st;
}

static apsis_status farthest(apsis_context *ctx, call_outputs *out, double density, apsis_method method) {
    const apsis_image set = map_of_paths(noise_of(size_of_paths, density), APSIS_U8, 2),
                      real = map_of_paths(out->real, APSIS_F32, 2);
    apsis_options o = APSIS_OPTIONS_INIT;
    o.method = method;
    return apsis_eccentricity(ctx, &set, &real, NULL, NULL, 0, &out->count, &o);
}
static apsis_status eccentricity(apsis_context *ctx, call_outputs *out) { return farthest(ctx, out, 0.7, APSIS_AUTO); }
static apsis_status every_source(apsis_context *ctx, call_outputs *out) { return farthest(ctx, out, 0.4, APSIS_EVERY_SOURCE); }

const named_call calls[] = {{"distance", distance},
                            {"signed volume", signed_volume},
                            {"chessboard", chessboard},
                            {"city block", city_block},
                            {"raster scan", raster_scan},
                            {"sweep", sweep},
                            {"jump flood", jump_flood},
                            {"voronoi", voronoi},
                            {"components", components},
                            {"largest components", largest},
                            {"tile fill", tile_fill},
                            {"statistics", statistics},
                            {"contacts", contacts},
                            {"measures", measures},
                            {"moments", moments},
                            {"measures of slabs", slab_measures},
                            {"opening", opening},
                            {"surfaces", surfaces},
                            {"geodesic", geodesic},
                            {"eccentricity", eccentricity},
                            {"every source", every_source},
                            {"slab summary", slab_summary},
                            {"signed slab", signed_slab},
                            {"slab paths", slab_paths},
                            {"chessboard slab", chessboard_slab},
                            {"found slab", found_slab},
                            {"cost distance", cost_distance},
                            {"longest paths", longest_paths},
                            {"balls", balls}};
const int call_count = COUNT(calls);

void prepare_outputs(call_outputs *out) { memset(out, 0x5a, sizeof *out); }

static bool lives(const uint8_t *canary) {
    for (int i = 0; i < CANARY; ++i)
        if (canary[i] != 0x5a) return false;
    return true;
}

bool canaries_live(const call_outputs *out) {
    return lives(out->before_real) && lives(out->before_index) && lives(out->before_parts) && lives(out->after_parts);
}
