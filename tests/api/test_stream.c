/* Calls on a stream of the user's own: captured into a graph and replayed, and on two streams at once. */
#include <apsis_measures.h>
#include <cuda_runtime_api.h>

#include "flood.h"
#include "run_geodesic.h"

#define assert_cuda(call) assert_string_equal(cudaGetErrorName(call), "cudaSuccess")

enum { SET, DISTANCE, INDEX, SEEDS, IMAGES }; /* of a lane */

/** A context on a stream of its own, with one problem's images and workspace on the device. */
typedef struct lane {
    bench bench;
    cudaStream_t stream;
    problem problem;
    uint8_t *mask, *seeds;
    apsis_image images[IMAGES], workspace;
} lane;

static void allocate(lane *l, apsis_type type, int i) {
    const int64_t *size = l->problem.size;
    l->images[i] = (apsis_image){.type = type, .ndim = l->problem.ndim, .size = {size[0], size[1], size[2]}};
    assert_ok(l->bench.ctx, apsis_alloc(l->bench.ctx, APSIS_DEVICE, &l->images[i]));
}

static lane open_lane(bench *b, const problem *p) {
    const size_t pixels = (size_t)pixels_of(p);
    lane l = {.bench = *b, .problem = *p, .mask = must_alloc(pixels), .seeds = must_alloc(pixels)};
    l.problem.mask = l.mask;
    assert_cuda(cudaSetDevice(b->device));
    assert_cuda(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
    assert_ok(NULL, apsis_create(APSIS_VERSION, b->device, &l.bench.ctx));
    assert_ok(l.bench.ctx, apsis_set_stream(l.bench.ctx, l.stream));
    allocate(&l, APSIS_U8, SET);
    allocate(&l, APSIS_F32, DISTANCE);
    allocate(&l, APSIS_I32, INDEX);
    allocate(&l, APSIS_U8, SEEDS);
    const apsis_image *images[3] = {&l.images[0], &l.images[1], &l.images[2]};
    size_t bytes = 0;
    assert_ok(l.bench.ctx, apsis_workspace_size(l.bench.ctx, APSIS_DISTANCE, images, 3, &p->options, &bytes));
    l.workspace = (apsis_image){.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
    assert_ok(l.bench.ctx, apsis_alloc(l.bench.ctx, APSIS_DEVICE, &l.workspace));
    assert_ok(l.bench.ctx, apsis_set_workspace(l.bench.ctx, l.workspace.data, bytes));
    return l;
}

static void close_lane(lane *l) {
    assert_ok(l->bench.ctx, apsis_set_workspace(l->bench.ctx, NULL, 0));
    apsis_free(l->bench.ctx, &l->workspace);
    for (int i = 0; i < IMAGES; ++i) apsis_free(l->bench.ctx, &l->images[i]);
    apsis_destroy(l->bench.ctx);
    assert_cuda(cudaStreamDestroy(l->stream));
    free(l->mask);
    free(l->seeds);
}

/** Another mask in the same memory. */
static void put_image(lane *l, int i, uint8_t *pixels, int kind, double density, uint64_t seed) {
    chance c = {seed};
    apsis_image host = l->images[i];
    fill_mask(pixels, l->problem.size, kind, density, &c);
    host.data = pixels;
    host.memory = APSIS_HOST;
    assert_ok(l->bench.ctx, apsis_copy(l->bench.ctx, &host, &l->images[i]));
}

static void put_mask(lane *l, int kind, double density, uint64_t seed) { put_image(l, SET, l->mask, kind, density, seed); }

static void map(lane *l) {
    assert_ok(l->bench.ctx, apsis_distance(l->bench.ctx, &l->images[0], &l->images[1], &l->images[2], &l->problem.options));
}

static outputs get_outputs(lane *l) {
    outputs out = {must_alloc((size_t)pixels_of(&l->problem) * 4), must_alloc((size_t)pixels_of(&l->problem) * 4)};
    for (int i = DISTANCE; i <= INDEX; ++i) {
        apsis_image host = l->images[i];
        host.data = i == DISTANCE ? out.distance : out.nearest;
        host.memory = APSIS_HOST;
        assert_ok(l->bench.ctx, apsis_copy(l->bench.ctx, &l->images[i], &host));
    }
    return out;
}

static void check_outputs(lane *l) {
    outputs out = get_outputs(l);
    answer want = solve(&l->problem);
    compare_outputs(&l->problem, &PLAIN, &out, &want);
    free_answer(&want);
    free_outputs(&out);
}

/* ---- Graphs ---- */

static cudaGraphExec_t capture(lane *l, void (*call)(lane *l)) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_cuda(cudaStreamBeginCapture(l->stream, cudaStreamCaptureModeThreadLocal));
    call(l);
    assert_cuda(cudaStreamEndCapture(l->stream, &graph));
    assert_cuda(cudaGraphInstantiate(&exec, graph, 0));
    assert_cuda(cudaGraphDestroy(graph));
    return exec;
}

/** A call captured while one mask was there answers for every mask that comes after: what it launches may depend on
 *  sizes and options only. */
static void check_replays(bench *b, const problem *p) {
    static const struct {
        int kind;
        double density;
    } masks[] = {{NOISE, 0.3}, {SINGLE, 0}, {BLOBS, 0}, {EMPTY, 0}, {NOISE, 0.002}};
    lane l = open_lane(b, p);
    put_mask(&l, FULL, 0, 1);
    map(&l); /* kernels are loaded when they first run */
    check_outputs(&l);
    cudaGraphExec_t exec = capture(&l, map);
    for (int i = 0; i < COUNT(masks); ++i) {
        put_mask(&l, masks[i].kind, masks[i].density, (uint64_t)i);
        for (int times = 0; times < 2; ++times) assert_cuda(cudaGraphLaunch(exec, l.stream));
        check_outputs(&l);
    }
    assert_cuda(cudaGraphExecDestroy(exec));
    close_lane(&l);
}

static void replayed_from_a_graph(bench *b) {
    static const int64_t sizes[][3] = {{700, 301, 1}, {64, 64, 1}, {70, 61, 35}, {130, 66, 9}};
    static const apsis_metric metrics[] = {APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD};
    for (int s = 0; s < COUNT(sizes); ++s)
        for (int m = 0; m < COUNT(metrics); ++m) {
            problem p = new_problem(sizes[s][2] > 1 ? 3 : 2, sizes[s][0], sizes[s][1], sizes[s][2], NULL);
            p.options.metric = metrics[m];
            p.options.flags = (s + m) % 2 ? APSIS_SIGNED : 0;
            if (s == 3) p.options.flags |= APSIS_SLICES;
            check_replays(b, &p);
        }
}

static void sweeps_replayed_from_a_graph(bench *b) {
    static const apsis_method methods[] = {APSIS_SWEEP, APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS};
    for (int m = 0; m < COUNT(methods); ++m) {
        problem p = new_problem(m == 1 ? 3 : 2, 170, 131, m == 1 ? 3 : 1, NULL);
        p.options.method = methods[m];
        p.options.flags = m == 1 ? APSIS_SLICES : 0;
        check_replays(b, &p);
    }
}

/** It is approximate, so what it gives is compared with what it gives without a graph, after other masks. */
static void jump_flooding_replayed_from_a_graph(bench *b) {
    static const struct {
        int kind;
        double density;
    } masks[] = {{NOISE, 0.01}, {RING, 0}, {SINGLE, 0}, {EMPTY, 0}, {NOISE, 0.5}};
    outputs plain[COUNT(masks)];
    problem p = new_problem(2, 170, 131, 1, NULL);
    p.options.method = APSIS_JUMP_FLOOD;
    lane l = open_lane(b, &p);
    for (int i = 0; i < COUNT(masks); ++i) {
        put_mask(&l, masks[i].kind, masks[i].density, (uint64_t)i);
        map(&l);
        plain[i] = get_outputs(&l);
    }
    cudaGraphExec_t exec = capture(&l, map);
    for (int i = 0; i < COUNT(masks); ++i) {
        put_mask(&l, masks[i].kind, masks[i].density, (uint64_t)i);
        for (int times = 0; times < 2; ++times) assert_cuda(cudaGraphLaunch(exec, l.stream));
        outputs replayed = get_outputs(&l);
        assert_memory_equal(replayed.distance, plain[i].distance, (size_t)pixels_of(&p) * sizeof(float));
        assert_memory_equal(replayed.nearest, plain[i].nearest, (size_t)pixels_of(&p) * sizeof(int32_t));
        free_outputs(&replayed);
        free_outputs(&plain[i]);
    }
    assert_cuda(cudaGraphExecDestroy(exec));
    close_lane(&l);
}

/** It asks the device whether it is done: that is refused, and neither the capture nor the context is the worse for it. */
static void no_raster_scan_in_a_graph(bench *b) {
    problem p = new_problem(2, 170, 131, 1, NULL);
    p.options.method = APSIS_RASTER_SCAN;
    lane l = open_lane(b, &p);
    cudaGraph_t graph;
    put_mask(&l, NOISE, 0.1, 1);
    assert_cuda(cudaStreamBeginCapture(l.stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(apsis_distance(l.bench.ctx, &l.images[0], &l.images[1], &l.images[2], &l.problem.options),
                     APSIS_ERROR_UNSUPPORTED);
    assert_cuda(cudaStreamEndCapture(l.stream, &graph));
    assert_cuda(cudaGraphDestroy(graph));
    map(&l);
    check_outputs(&l);
    close_lane(&l);
}

static void label(lane *l) {
    assert_ok(l->bench.ctx, apsis_components(l->bench.ctx, &l->images[0], &l->images[2], NULL, 0, NULL, &l->problem.options));
}

static void check_labels(lane *l) {
    int32_t *labels = must_alloc((size_t)pixels_of(&l->problem) * sizeof *labels);
    apsis_image host = l->images[2];
    host.data = labels;
    host.memory = APSIS_HOST;
    assert_ok(l->bench.ctx, apsis_copy(l->bench.ctx, &l->images[2], &host));
    flooded want = flood(&l->problem);
    for (int64_t i = 0; i < pixels_of(&l->problem); ++i) assert_int_equal(labels[i], want.label[i]);
    free_flooded(&want);
    free(labels);
}

/** Labels alone are queued, and nothing waits. */
static void components_replayed_from_a_graph(bench *b) {
    static const struct {
        int64_t size[3];
        int connectivity;
        apsis_method method;
    } kinds[] = {{{700, 301, 1}, 1, APSIS_AUTO},
                 {{700, 301, 1}, 2, APSIS_AUTO},
                 {{70, 61, 35}, 3, APSIS_AUTO},
                 {{700, 301, 1}, 1, APSIS_TILE_FILL},
                 {{700, 301, 1}, 2, APSIS_TILE_FILL}};
    static const struct {
        int kind;
        double density;
    } masks[] = {{NOISE, 0.5}, {SINGLE, 0}, {RING, 0}, {EMPTY, 0}, {NOISE, 0.02}};
    for (int k = 0; k < COUNT(kinds); ++k) {
        problem p = new_problem(kinds[k].size[2] > 1 ? 3 : 2, kinds[k].size[0], kinds[k].size[1], kinds[k].size[2], NULL);
        lane l = open_lane(b, &p);
        l.problem.options.connectivity = kinds[k].connectivity;
        l.problem.options.method = kinds[k].method;
        assert_ok(l.bench.ctx, apsis_set_workspace(l.bench.ctx, NULL, 0)); /* the first call allocates one, and keeps it */
        put_mask(&l, FULL, 0, 1);
        label(&l);
        cudaGraphExec_t exec = capture(&l, label);
        for (int i = 0; i < COUNT(masks); ++i) {
            put_mask(&l, masks[i].kind, masks[i].density, (uint64_t)i);
            for (int times = 0; times < 2; ++times) assert_cuda(cudaGraphLaunch(exec, l.stream));
            check_labels(&l);
        }
        assert_cuda(cudaGraphExecDestroy(exec));
        close_lane(&l);
    }
}

static void find_paths(lane *l) {
    assert_ok(l->bench.ctx, apsis_geodesic(l->bench.ctx, &l->images[SET], &l->images[SEEDS], &l->images[DISTANCE],
                                           &l->images[INDEX], &l->problem.options));
}

static void check_paths(lane *l) {
    outputs out = get_outputs(l);
    answer want = solve_paths(&l->problem, l->seeds);
    compare_geodesic(&l->problem, &PLAIN, l->seeds, &out, &want);
    free_answer(&want);
    free_outputs(&out);
}

/** How long paths are, and so how far tiles wake each other, only the device knows. */
static void paths_replayed_from_a_graph(bench *b) {
    static const int64_t sizes[][3] = {{300, 201, 1}, {35, 41, 27}};
    static const struct {
        int kind;
        double density;
    } masks[] = {{NOISE, 0.7}, {SINGLE, 0}, {RING, 0}, {NOISE, 0.4}};
    for (int s = 0; s < COUNT(sizes); ++s) {
        problem p = new_problem(sizes[s][2] > 1 ? 3 : 2, sizes[s][0], sizes[s][1], sizes[s][2], NULL);
        lane l = open_lane(b, &p);
        assert_ok(l.bench.ctx, apsis_set_workspace(l.bench.ctx, NULL, 0)); /* the first call allocates one, and keeps it */
        put_mask(&l, FULL, 0, 1);
        put_image(&l, SEEDS, l.seeds, SINGLE, 0, 1);
        find_paths(&l);
        check_paths(&l);
        cudaGraphExec_t exec = capture(&l, find_paths);
        for (int i = 0; i < COUNT(masks); ++i) {
            put_mask(&l, masks[i].kind, masks[i].density, (uint64_t)i);
            put_image(&l, SEEDS, l.seeds, NOISE, i % 2 ? 0.3 : 0.001, (uint64_t)(9 - i));
            for (int times = 0; times < 2; ++times) assert_cuda(cudaGraphLaunch(exec, l.stream));
            check_paths(&l);
        }
        assert_cuda(cudaGraphExecDestroy(exec));
        close_lane(&l);
    }
}

/* ---- Two streams ---- */

/** Many calls on each, without waiting, so that they overlap; what one does must not reach the other. */
static void two_streams_at_once(bench *b) {
    enum { ROUNDS = 50 };
    problem p = new_problem(2, 1400, 603, 1, NULL), q = new_problem(3, 150, 97, 34, NULL);
    q.options.flags = APSIS_SIGNED;
    lane first = open_lane(b, &p), second = open_lane(b, &q);
    put_mask(&first, BLOBS, 0, 1);
    put_mask(&second, NOISE, 0.01, 2);
    for (int i = 0; i < ROUNDS; ++i) {
        map(&first);
        map(&second);
    }
    check_outputs(&second);
    check_outputs(&first);
    close_lane(&first);
    close_lane(&second);
}

/** What is queued on the stream before a call happens before it, and what is queued after it, after it. */
static void in_the_order_of_the_stream(bench *b) {
    problem p = new_problem(2, 900, 400, 1, NULL);
    lane l = open_lane(b, &p);
    chance c = {3};
    const size_t bytes = (size_t)pixels_of(&p);
    void *later;
    fill_mask(l.mask, p.size, NOISE, 0.02, &c);
    assert_cuda(cudaMalloc(&later, bytes));
    assert_cuda(cudaMemcpy(later, l.mask, bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < 20; ++i) {
        assert_cuda(cudaMemsetAsync(l.images[0].data, i % 2, bytes, l.stream));
        map(&l);
        assert_cuda(cudaMemcpyAsync(l.images[0].data, later, bytes, cudaMemcpyDeviceToDevice, l.stream));
        map(&l);
        assert_cuda(cudaMemsetAsync(l.images[0].data, 0, bytes, l.stream));
    }
    check_outputs(&l);
    assert_cuda(cudaFree(later));
    close_lane(&l);
}

/* ---- What cannot be captured ---- */

static int go_on(void *user, double done) { return (void)user, (void)done, 0; }
static void ignore(void *user, const char *line) { (void)user, (void)line; }

#define REFUSED(call, text) assert_fails(ctx, call, APSIS_ERROR_UNSUPPORTED, "stream is being captured|" text)

/** What waits is refused before anything is queued: then the capture is whole, and so is the context. */
static void refused_in_a_graph(bench *b) {
    problem p = new_problem(2, 170, 131, 1, NULL);
    lane l = open_lane(b, &p);
    apsis_context *const ctx = l.bench.ctx;
    const apsis_image *const set = &l.images[SET], *const distance = &l.images[DISTANCE], *const index = &l.images[INDEX];
    apsis_options sweep = APSIS_OPTIONS_INIT;
    apsis_image host = l.images[SET], more = {.type = APSIS_U8, .ndim = 2, .size = {5, 5}};
    int64_t count = 0;
    apsis_component component;
    apsis_slab_labels slab = {.start = 0};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    sweep.method = APSIS_SWEEP;
    host.data = l.mask;
    host.memory = APSIS_HOST;
    put_mask(&l, NOISE, 0.3, 1);
    assert_ok(ctx, apsis_set_workspace(ctx, NULL, 0));
    assert_ok(ctx, apsis_eccentricity(ctx, set, distance, NULL, NULL, 0, NULL, NULL)); /* the workspace serves all now */
    assert_cuda(cudaStreamBeginCapture(l.stream, cudaStreamCaptureModeThreadLocal));
    REFUSED(apsis_eccentricity(ctx, set, distance, NULL, NULL, 0, NULL, NULL), "eccentricities");
    REFUSED(apsis_components(ctx, set, index, NULL, 0, &count, NULL), "count");
    REFUSED(apsis_components(ctx, set, index, &component, 1, NULL, NULL), "components");
    REFUSED(apsis_measures(ctx, set, NULL, 0, NULL, 0, &count, NULL), "measures are for the host");
    REFUSED(apsis_slab_parts(ctx, set, &slab, NULL), "slabs|host memory");
    REFUSED(apsis_slab_components(ctx, set, &slab, index, NULL), "slabs|host memory");
    REFUSED(apsis_distance(ctx, &host, distance, NULL, NULL), "host memory");
    REFUSED(apsis_slab_summary(ctx, set, 0, &count, NULL, NULL), "a slab tells");
    REFUSED(apsis_slab_distance(ctx, set, &(apsis_slab){.extent = 131}, distance, NULL, NULL), "outside of a slab");
    REFUSED(apsis_slab_geodesic(ctx, set, set, &(apsis_slab_paths){.extent = 131}, distance, NULL, NULL, NULL),
            "slabs|host memory");
    REFUSED(apsis_copy(ctx, &host, set), "host memory");
    REFUSED(apsis_alloc(ctx, APSIS_DEVICE, &more), "memory");
    REFUSED(apsis_sync(ctx), "waited for");
    assert_ok(ctx, apsis_set_log(ctx, ignore, NULL));
    REFUSED(apsis_distance(ctx, set, distance, index, &sweep), "log");
    assert_ok(ctx, apsis_set_log(ctx, NULL, NULL));
    assert_ok(ctx, apsis_set_progress(ctx, go_on, NULL));
    REFUSED(apsis_distance(ctx, set, distance, index, NULL), "progress");
    REFUSED(apsis_geodesic(ctx, set, set, distance, index, NULL), "progress");
    assert_ok(ctx, apsis_set_progress(ctx, NULL, NULL));
    map(&l);
    assert_cuda(cudaStreamEndCapture(l.stream, &graph));
    assert_cuda(cudaGraphInstantiate(&exec, graph, 0));
    assert_cuda(cudaGraphLaunch(exec, l.stream));
    check_outputs(&l);
    assert_cuda(cudaGraphExecDestroy(exec));
    assert_cuda(cudaGraphDestroy(graph));
    close_lane(&l);
}

/** Onto a stream that is captured, and back: neither joins the other. */
static void onto_a_captured_stream(bench *b) {
    problem p = new_problem(2, 170, 131, 1, NULL);
    lane l = open_lane(b, &p);
    cudaStream_t captured;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_cuda(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    put_mask(&l, NOISE, 0.1, 1);
    map(&l);
    assert_cuda(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
    assert_ok(l.bench.ctx, apsis_set_stream(l.bench.ctx, captured));
    map(&l);
    assert_ok(l.bench.ctx, apsis_set_stream(l.bench.ctx, l.stream));
    map(&l);
    assert_cuda(cudaStreamEndCapture(captured, &graph));
    assert_cuda(cudaGraphInstantiate(&exec, graph, 0));
    put_mask(&l, NOISE, 0.01, 2);
    assert_cuda(cudaGraphLaunch(exec, captured));
    assert_cuda(cudaStreamSynchronize(captured));
    check_outputs(&l);
    assert_cuda(cudaGraphExecDestroy(exec));
    assert_cuda(cudaGraphDestroy(graph));
    assert_cuda(cudaStreamDestroy(captured));
    close_lane(&l);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(replayed_from_a_graph, ON_DEVICE),
                                      TEST(sweeps_replayed_from_a_graph, ON_DEVICE),
                                      TEST(jump_flooding_replayed_from_a_graph, ON_DEVICE),
                                      TEST(no_raster_scan_in_a_graph, ON_DEVICE),
                                      TEST(components_replayed_from_a_graph, ON_DEVICE),
                                      TEST(paths_replayed_from_a_graph, ON_DEVICE),
                                      TEST(two_streams_at_once, ON_DEVICE),
                                      TEST(in_the_order_of_the_stream, ON_DEVICE),
                                      TEST(refused_in_a_graph, ON_DEVICE),
                                      TEST(onto_a_captured_stream, ON_DEVICE)};
    return RUN_CASES(cases, argc, argv);
}
