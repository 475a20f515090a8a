/* What of CUDA's runtime is the caller's: an error that was not asked for yet, and the context of the thread.  This program is
 * linked with the static library: so it shares the runtime with apsis, and its last error. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

#include "frame.h"

enum { W = 300, H = 201 };

/** It is neither reported by apsis nor taken. */
static void an_error_of_the_caller(bench *b) {
    static uint8_t mask[W * H];
    const int64_t size[3] = {W, H, 1};
    chance c = {1};
    fill_mask(mask, size, NOISE, 0.5, &c);
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), real = frame_open(b, APSIS_F32, 2, size, PACKED);
    frame index = frame_open(b, APSIS_I32, 2, size, PACKED);
    const apsis_image *const parts[] = {&set.image, &index.image}, *const far[] = {&set.image, &real.image, NULL};
    apsis_options fill = APSIS_OPTIONS_INIT;
    size_t bytes;
    int64_t count, other;
    void *memory;
    fill.method = APSIS_TILE_FILL;
    frame_put(&set, mask);
    cudaGetLastError();
    assert_int_equal(cudaMalloc(&memory, (size_t)1 << 60), cudaErrorMemoryAllocation);
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, parts, 2, NULL, &bytes));
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_ECCENTRICITY, far, 3, NULL, &bytes));
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &index.image, NULL, 0, &count, NULL));
    assert_ok(b->ctx, apsis_components(b->ctx, &set.image, &index.image, NULL, 0, &other, &fill));
    assert_int_equal(count, other);
    assert_ok(b->ctx, apsis_eccentricity(b->ctx, &set.image, &real.image, NULL, NULL, 0, &other, NULL));
    assert_ok(b->ctx, apsis_distance(b->ctx, &set.image, &real.image, &index.image, NULL));
    assert_ok(b->ctx, apsis_geodesic(b->ctx, &set.image, &set.image, &real.image, NULL, NULL));
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    frame_close(&set);
    frame_close(&real);
    frame_close(&index);
}

/* ---- Contexts ---- */

static struct {
    CUresult (*create)(CUcontext *context, unsigned flags, CUdevice device);
    CUresult (*destroy)(CUcontext context);
    CUresult (*get)(CUcontext *context);
    CUresult (*state)(CUdevice device, unsigned *flags, int *active);
} driver;

static bool find(const char *name, unsigned version, void *function) {
    enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    return cudaGetDriverEntryPointByVersion(name, function, version, cudaEnableDefault, &found) == cudaSuccess &&
           found == cudaDriverEntryPointSuccess;
#else
    (void)version;
    return cudaGetDriverEntryPoint(name, function, cudaEnableDefault, &found) == cudaSuccess &&
           found == cudaDriverEntryPointSuccess;
#endif
}

static bool find_driver(void) {
    return find("cuCtxCreate", 3020, &driver.create) && /* as it was before it took parameters */
           find("cuCtxDestroy", 12000, &driver.destroy) && find("cuCtxGetCurrent", 12000, &driver.get) &&
           find("cuDevicePrimaryCtxGetState", 12000, &driver.state);
}

typedef struct guest {
    int device;
    bool has_own; /* a context from the driver's interface */
    bool is_kept;
    apsis_status st;
} guest;

/** CMocka's assertions belong to the main thread. */
static void *visit(void *user) {
    guest *g = user;
    CUcontext own = NULL, now = NULL;
    uint8_t mask[64 * 64] = {1};
    int32_t squares[64 * 64];
    const apsis_image set = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {64, 64}};
    const apsis_image out = {.data = squares, .type = APSIS_I32, .ndim = 2, .size = {64, 64}};
    apsis_context *ctx;
    const bool is_made = !g->has_own || driver.create(&own, 0, g->device) == CUDA_SUCCESS; /* which makes it current */
    g->st = apsis_create(APSIS_VERSION, g->device, &ctx);
    if (g->st == APSIS_OK) g->st = apsis_distance(ctx, &set, &out, NULL, NULL);
    apsis_destroy(ctx);
    g->is_kept = is_made && driver.get(&now) == CUDA_SUCCESS && now == own && squares[64 * 64 - 1] == 2 * 63 * 63;
    if (own) driver.destroy(own);
    return NULL;
}

/** In a thread of its own. */
static bool send(guest *g) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, visit, g)) return false;
    pthread_join(thread, NULL);
    return g->st == APSIS_OK && g->is_kept;
}

/** In a thread that has none, and in one that has its own. */
static void the_context_of_the_thread(bench *b) {
    assert_true(find_driver());
    for (int own = 0; own < 2; ++own) {
        guest g = {.device = b->device, .has_own = own};
        assert_true(send(&g));
    }
}

/** What apsis does on the last device makes no context on the first.  It is seen before the cases, which use all devices. */
static struct {
    int devices;
    bool is_found, is_done;
    int first;
} look;

static void look_at_the_first_device(void) {
    unsigned flags;
    if (cudaGetDeviceCount(&look.devices) != cudaSuccess || look.devices < 2) return;
    guest g = {.device = look.devices - 1};
    look.is_found = find_driver();
    look.is_done = look.is_found && send(&g) && driver.state(0, &flags, &look.first) == CUDA_SUCCESS;
}

static void no_context_on_another_device(bench *b) {
    if (look.devices < 2) skip_case(b);
    assert_true(look.is_found && look.is_done);
    assert_int_equal(look.first, 0);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(an_error_of_the_caller, ON_DEVICE), TEST(the_context_of_the_thread, ON_DEVICE),
                                      TEST(no_context_on_another_device, ON_TWO_GPUS)};
    look_at_the_first_device();
    return RUN_CASES(cases, argc, argv);
}
