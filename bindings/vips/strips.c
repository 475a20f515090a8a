// Strips of a distance map.  Of the set there is a bit for each pixel, and what each strip must know of the others: in each
// column the last row of the set above it, and the first one below.
#include "strips.h"

typedef struct Strips {
    apsis_context *context;
    apsis_image set;
    apsis_options options;
    int rows, count;
    int64_t *above, *below;  // of strip 0, then of strip 1 ...
    GMutex lock;             // a context is for one thread at a time
} Strips;

static void free_strips(VipsImage *image, Strips *strips) {
    (void)image;
    apsis_destroy(strips->context);
    g_free(strips->set.data);
    g_free(strips->above);
    g_free(strips->below);
    g_mutex_clear(&strips->lock);
    g_free(strips);
}

static int64_t *columns(const Strips *strips, int64_t *array, int strip) {
    return strip >= 0 && strip < strips->count ? array + (size_t)strips->set.size[0] * (size_t)strip : NULL;
}

static apsis_image rows_of(const Strips *strips, int strip) {
    apsis_image part = strips->set;
    const int64_t top = (int64_t)strips->rows * strip;
    part.size[1] = MIN(strips->rows, strips->set.size[1] - top);
    part.data = (uint8_t *)part.data + (part.size[0] + 7) / 8 * top;
    return part;
}

// What one strip holds is told to its neighbours first, and then passed on.
static apsis_status summarise(Strips *strips) {
    const int64_t width = strips->set.size[0];
    for (int i = 0; i < strips->count; ++i) {
        const apsis_image part = rows_of(strips, i);
        const apsis_status status =
            apsis_slab_summary(strips->context, &part, (int64_t)strips->rows * i, columns(strips, strips->below, i - 1),
                               columns(strips, strips->above, i + 1), &strips->options);
        if (status != APSIS_OK) return status;
    }
    for (int i = 1; i + 1 < strips->count; ++i)
        apsis_slab_merge(width, NULL, columns(strips, strips->above, i), NULL, columns(strips, strips->above, i + 1));
    for (int i = strips->count - 2; i > 0; --i)
        apsis_slab_merge(width, columns(strips, strips->below, i), NULL, columns(strips, strips->below, i - 1), NULL);
    return APSIS_OK;
}

static int generate(VipsRegion *region, void *sequence, void *a, void *b, gboolean *stop) {
    (void)sequence, (void)b, (void)stop;
    Strips *strips = a;
    const int strip = region->valid.top / strips->rows;
    const apsis_image part = rows_of(strips, strip);
    if (region->valid.width != part.size[0] || region->valid.top % strips->rows || region->valid.height != part.size[1]) {
        vips_error("apsis_distance", "%s", "asked for a part of a strip");
        return -1;
    }
    const apsis_slab slab = {.start = region->valid.top,
                             .extent = strips->set.size[1],
                             .above = strip ? columns(strips, strips->above, strip) : NULL,
                             .below = strip + 1 < strips->count ? columns(strips, strips->below, strip) : NULL};
    apsis_image out = part;
    out.type = APSIS_F32;
    out.data = VIPS_REGION_ADDR_TOPLEFT(region);
    out.stride[0] = sizeof(float);
    out.stride[1] = (int64_t)VIPS_REGION_LSKIP(region);
    g_mutex_lock(&strips->lock);
    const apsis_status status = apsis_slab_distance(strips->context, &part, &slab, &out, NULL, &strips->options);
    if (status != APSIS_OK) vips_error("apsis_distance", "%s", apsis_message(strips->context));
    g_mutex_unlock(&strips->lock);
    return status == APSIS_OK ? 0 : -1;
}

// The set is the strips' from now on, and freed with the image that they make.
static Strips *new_strips(ApsisOperation *operation, int rows, VipsImage *map) {
    Strips *strips = g_new0(Strips, 1);
    g_mutex_init(&strips->lock);
    g_signal_connect(map, "postclose", G_CALLBACK(free_strips), strips);
    strips->set = operation->set;
    operation->set.data = NULL;
    strips->options = operation->options;
    strips->rows = rows;
    strips->count = (int)((strips->set.size[1] + rows - 1) / rows);
    strips->above = g_try_new(int64_t, (size_t)strips->set.size[0] * (size_t)strips->count);
    strips->below = g_try_new(int64_t, (size_t)strips->set.size[0] * (size_t)strips->count);
    return strips;
}

apsis_status apsis_operation_output_by_strips(ApsisOperation *operation, int rows) {
    VipsImage *map = vips_image_new(), *out = NULL;
    Strips *strips = new_strips(operation, rows, map);
    apsis_status status = strips->above && strips->below ? APSIS_OK : APSIS_ERROR_MEMORY;
    if (status == APSIS_OK) status = apsis_create(APSIS_VERSION, APSIS_CPU, &strips->context);  // devices know no strips
    if (status == APSIS_OK) status = apsis_set_threads(strips->context, vips_concurrency_get());
    if (status == APSIS_OK) status = summarise(strips);
    // The cache asks for whole strips, and keeps those that several threads are writing.
    if (status == APSIS_OK && (apsis_operation_describe(operation, map, VIPS_FORMAT_FLOAT) ||
                               vips_image_generate(map, NULL, generate, NULL, strips, NULL) ||
                               vips_tilecache(map, &out, "tile_width", map->Xsize, "tile_height", rows, "max_tiles", 3, NULL)))
        status = APSIS_ERROR_MEMORY;
    if (status == APSIS_OK) g_object_set(operation, "out", out, NULL);
    g_object_unref(map);
    return status;
}
