/* Numbers the components of a raw file of bytes, a slab of rows at a time, so that it need not fit in memory:
 * components_by_slabs WIDTH HEIGHT IN OUT.  Non-zero bytes are the set; OUT gets a 32-bit number for each byte. */
#include <apsis.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int is_right, const char *what, apsis_context *ctx) {
    if (!is_right) fprintf(stderr, "components_by_slabs: %s: %s\n", what, apsis_message(ctx)), exit(1);
}

int main(int argc, char **argv) {
    must(argc == 5, "WIDTH HEIGHT IN OUT are needed", NULL);
    const int64_t size[2] = {atoll(argv[1]), atoll(argv[2])}, rows = 1000, slabs = (size[1] + rows - 1) / rows;
    FILE *in = fopen(argv[3], "rb"), *out = fopen(argv[4], "wb");
    apsis_context *ctx = NULL;
    must(apsis_create(APSIS_VERSION, APSIS_BEST, &ctx) == APSIS_OK && in && out, "cannot begin", ctx);
    uint8_t *pixels = malloc((size_t)(rows * size[0]));
    int32_t *labels = malloc((size_t)(rows * size[0]) * sizeof *labels);
    apsis_slab_labels *slab = calloc((size_t)slabs + 1, sizeof *slab);
    must(slab != NULL, "cannot begin", ctx);  /* apsis says of the other arrays that they are NULL */
    for (int64_t k = 0; k < 2 * slabs; ++k) { /* the file is read twice */
        if (k == slabs) must(!apsis_slab_join(ctx, 2, size, slab, slabs, NULL, 0, NULL, NULL), "cannot join", ctx), rewind(in);
        apsis_slab_labels *s = &slab[k % slabs];
        s->start = k % slabs * rows;
        const int64_t height = size[1] - s->start < rows ? size[1] - s->start : rows;
        const apsis_image set = {.data = pixels, .type = APSIS_U8, .ndim = 2, .size = {size[0], height}};
        const apsis_image numbers = {.data = labels, .type = APSIS_I32, .ndim = 2, .size = {size[0], height}};
        const size_t count = (size_t)(size[0] * height);
        must(fread(pixels, 1, count, in) == count, "IN is too short", ctx);
        if (k < slabs) {
            s->first = malloc((size_t)size[0] * sizeof *s->first), s->last = malloc((size_t)size[0] * sizeof *s->last);
            must(s->first && s->last && !apsis_slab_parts(ctx, &set, s, NULL), "cannot number", ctx);
            continue;
        }
        must(!apsis_slab_components(ctx, &set, s, &numbers, NULL), "cannot label", ctx);
        must(fwrite(labels, sizeof *labels, count, out) == count, "cannot write", ctx);
        free(s->first), free(s->last);
    }
    free(pixels), free(labels), free(slab), fclose(in), apsis_destroy(ctx);
    return fclose(out) != 0;
}
