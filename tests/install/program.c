/* A user's program, built against an installed apsis. */
#include <apsis.h>

#include <stdio.h>

int main(void) {
    const uint8_t mask[6] = {0, 0, 0, 0, 0, 1};
    float out[6];
    apsis_context *ctx = NULL;
    apsis_image set = {.data = (void *)mask, .type = APSIS_U8, .ndim = 2, .size = {6, 1}};
    apsis_image distance = {.data = out, .type = APSIS_F32, .ndim = 2, .size = {6, 1}};
    if (apsis_create(APSIS_VERSION, APSIS_CPU, &ctx) || apsis_distance(ctx, &set, &distance, NULL, NULL)) {
        fprintf(stderr, "%s\n", apsis_message(ctx));
        return 1;
    }
    apsis_destroy(ctx);
    return out[0] == 5 ? 0 : 1;
}
