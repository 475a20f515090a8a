/*
 * A caller's deliberate faults, which tools must report: caller FAULT DEVICE, with the device's number, or -1 for the CPU.
 *
 * Where it can be, the fault is the caller's and the forbidden access is the library's: so it is seen that the tool looks at
 * the library's code, and not at that of the tests alone.  A fault that goes unreported ends with code 0.
 */
#include <apsis.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64 };

static apsis_context *ctx;
static apsis_memory memory;
static uint8_t mask[SIDE * SIDE] = {[99] = 1};
static float out[SIDE * SIDE];

static void must(apsis_status st) {
    if (st == APSIS_OK) return;
    fprintf(stderr, "caller: %s\n", apsis_message(ctx));
    _Exit(3); /* what is left behind is not looked for */
}

static apsis_image image(void *data, apsis_type type, int64_t rows) {
    return (apsis_image){.data = data, .type = type, .ndim = 2, .size = {SIDE, rows}};
}

static apsis_image allocated(apsis_type type, int64_t rows) {
    apsis_image made = image(NULL, type, rows);
    must(apsis_alloc(ctx, memory, &made));
    return made;
}

/* The array of the set ends a row before the image that it is said to be. */
static void too_short(void) {
    apsis_image set = allocated(APSIS_U8, SIDE - 1), host = image(mask, APSIS_U8, SIDE - 1), map = allocated(APSIS_F32, SIDE);
    must(apsis_copy(ctx, &host, &set));
    set.size[1] = SIDE;
    must(apsis_distance(ctx, &set, &map, NULL, NULL));
    must(apsis_sync(ctx));
}

/* Images are never freed: several, as the address of the last may lie about on the stack. */
static void leak(void) {
    for (int i = 0; i < 8; ++i) (void)allocated(APSIS_F32, SIDE);
}

/* The device's memory is read as if it were the host's. */
static void touch(void) {
    const apsis_image map = allocated(APSIS_U8, SIDE);
    fprintf(stderr, "caller: reading %p of the device from the host\n", map.data);
    printf("%d\n", *(volatile uint8_t *)map.data);
}

/* An image is freed while a transform of it is under way. */
static void stale(void) {
    apsis_image set = allocated(APSIS_U8, SIDE), map = allocated(APSIS_F32, SIDE);
    apsis_image copy = map;
    apsis_free(ctx, &map);
    must(apsis_distance(ctx, &set, &copy, NULL, NULL));
    must(apsis_sync(ctx));
}

/* The options lie at an odd address. */
static void misaligned(void) {
    static char bytes[sizeof(apsis_options) + 1];
    const apsis_options options = APSIS_OPTIONS_INIT;
    memcpy(bytes + 1, &options, sizeof options);
    const apsis_image set = image(mask, APSIS_U8, SIDE), map = image(out, APSIS_F32, SIDE);
    must(apsis_distance(ctx, &set, &map, NULL, (const apsis_options *)(void *)(bytes + 1)));
}

static void *stop_logging(void *unused) {
    apsis_set_log(ctx, NULL, NULL);
    return unused;
}

/* Two threads use one context at once. */
static void race(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        if (pthread_create(&threads[i], NULL, stop_logging, NULL) != 0) _Exit(3);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } faults[] = {{"too-short", too_short},   {"leak", leak}, {"touch", touch}, {"stale", stale},
                  {"misaligned", misaligned}, {"race", race}};
    const int device = argc == 3 ? atoi(argv[2]) : INT_MIN;
    memory = device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE;
    for (size_t i = 0; argc == 3 && i < sizeof faults / sizeof faults[0]; ++i) {
        if (strcmp(argv[1], faults[i].name) != 0) continue;
        must(apsis_create(APSIS_VERSION, device, &ctx));
        faults[i].run();
        apsis_destroy(ctx);
        return 0;
    }
    return 2;
}
