/* Laws that apsis_components obeys whatever the image: they need no oracle, so the images can be larger. */
#include "run_components.h"

enum { W = 1531, H = 947, BLOCKY = 4 };

/** Noise, or noise of larger pixels. */
static uint8_t *some_mask(int grain, double density, uint64_t seed) {
    const int64_t size[3] = {W, H, 1};
    chance c = {seed};
    uint8_t *noise = must_alloc(W * H), *mask = must_alloc(W * H);
    fill_mask(noise, size, NOISE, density, &c);
    for (int64_t i = 0; i < W * H; ++i) mask[i] = noise[i % W / grain + W * (i / W / grain)];
    free(noise);
    return mask;
}

static const struct {
    int grain;
    double density;
} kinds[] = {{1, 0.41}, {1, 0.6}, {BLOCKY, 0.5}};

static pieces pieces_of(bench *b, const problem *p) {
    asked how = LABELS;
    how.capacity = W * H / 2;
    return run_components(b, p, &how);
}

/** Turned, an image has as many components of the same areas, and two pixels are in one as before. */
static void turning(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k].grain, kinds[k].density, 1), *turned = must_alloc(W * H);
        problem p = new_problem(2, W, H, 1, mask);
        pieces as_it_is[2];
        for (int i = 0; i < 2; ++i) {
            p.options.connectivity = 1 + i;
            as_it_is[i] = pieces_of(b, &p);
        }
        for (int turn = 1; turn < 8; ++turn) { /* bits: flip x, flip y, transpose */
            const int64_t w = turn & 4 ? H : W, h = turn & 4 ? W : H;
            problem q = new_problem(2, w, h, 1, turned);
            q.options.connectivity = 1 + turn % 2;
            int64_t *place = must_alloc(W * H * sizeof *place);
            for (int64_t i = 0; i < W * H; ++i) {
                const int64_t x = turn & 1 ? W - 1 - i % W : i % W, y = turn & 2 ? H - 1 - i / W : i / W;
                place[i] = turn & 4 ? y + x * w : x + y * w;
                turned[place[i]] = mask[i];
            }
            pieces one = as_it_is[turn % 2], other = pieces_of(b, &q);
            assert_int_equal(one.count, other.count);
            const int32_t *straight = one.labels, *moved = other.labels;
            int32_t *becomes = must_alloc((size_t)(one.count + 1) * sizeof *becomes);
            for (int64_t i = 0; i < W * H; ++i) {
                if (!becomes[straight[i]]) becomes[straight[i]] = moved[place[i]];
                assert_int_equal(moved[place[i]], becomes[straight[i]]);
            }
            for (int64_t c = 0; c < one.count; ++c)
                assert_int_equal(one.component[c].area, other.component[becomes[c + 1] - 1].area);
            free(becomes);
            free(place);
            free_pieces(&other);
        }
        for (int i = 0; i < 2; ++i) free_pieces(&as_it_is[i]);
        free(mask);
        free(turned);
    }
}

/** Areas and centroids add up to those of the set, boxes hold their components, numbers rise with the first pixels. */
static void sums(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k].grain, kinds[k].density, 2);
        problem p = new_problem(2, W, H, 1, mask);
        pieces out = pieces_of(b, &p);
        const int32_t *label = out.labels;
        int64_t members = 0, area = 0;
        for (int64_t i = 0; i < W * H; ++i) {
            members += mask[i];
            if (!label[i]) continue;
            const apsis_component *c = &out.component[label[i] - 1];
            assert_true(c->first <= i && c->lower[0] <= i % W && i % W <= c->upper[0] && c->lower[1] <= i / W &&
                        i / W <= c->upper[1]);
        }
        for (int64_t c = 0; c < out.count; ++c) {
            area += out.component[c].area;
            assert_int_equal(label[out.component[c].first], c + 1);
            assert_true(c == 0 || out.component[c].first > out.component[c - 1].first);
        }
        assert_int_equal(area, members);
        free_pieces(&out);
        free(mask);
    }
}

/** In the plane, components (8 neighbours) less holes (4 neighbours outside) is Euler's number, counted from 2x2 windows. */
static void euler(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k) {
        uint8_t *mask = some_mask(kinds[k].grain, kinds[k].density, 3);
        problem p = new_problem(2, W, H, 1, mask);
        asked how = {.set = APSIS_BIT, .capacity = -1};
        p.options.connectivity = 2;
        pieces solid = run_components(b, &p, &how);
        p.options.connectivity = 1;
        p.options.flags = APSIS_COMPLEMENT | APSIS_NO_BORDER;
        pieces holes = run_components(b, &p, &how);
        int64_t four = 0; /* four times the number: Gray 1971 */
        for (int64_t y = -1; y < H; ++y)
            for (int64_t x = -1; x < W; ++x) {
                int n = 0, corner[4];
                for (int i = 0; i < 4; ++i) {
                    const int64_t u = x + i % 2, v = y + i / 2;
                    n += corner[i] = u >= 0 && u < W && v >= 0 && v < H && mask[u + W * v];
                }
                if (n == 1) ++four;
                if (n == 3) --four;
                if (n == 2 && corner[0] == corner[3]) four -= 2;
            }
        assert_int_equal(4 * (solid.count - holes.count), four);
        free_pieces(&solid);
        free_pieces(&holes);
        free(mask);
    }
}

/** What is kept and what is left out make up the set; the largest k are a part of the largest k + 1. */
static void selections(bench *b) {
    uint8_t *mask = some_mask(2, 0.5, 4);
    problem p = new_problem(2, W, H, 1, mask);
    const asked how = {.set = APSIS_U8, .labels = APSIS_U8, .capacity = -1};
    pieces all = run_components(b, &p, &how);
    assert_memory_equal(all.labels, mask, W * H);
    static const struct {
        uint32_t flags;
        int64_t min_area, max_area;
    } halves[][2] = {{{APSIS_NO_BORDER, 0, 0}, {APSIS_NO_INNER, 0, 0}}, {{0, 50, 0}, {0, 0, 49}}};
    for (int h = 0; h < COUNT(halves); ++h) {
        pieces half[2];
        for (int i = 0; i < 2; ++i) {
            p.options.flags = halves[h][i].flags;
            p.options.min_area = halves[h][i].min_area;
            p.options.max_area = halves[h][i].max_area;
            half[i] = run_components(b, &p, &how);
        }
        assert_int_equal(half[0].count + half[1].count, all.count);
        const uint8_t *one = half[0].labels, *other = half[1].labels;
        for (int i = 0; i < W * H; ++i) assert_int_equal(one[i] + other[i], mask[i]);
        free_pieces(&half[0]);
        free_pieces(&half[1]);
    }
    p.options = (apsis_options)APSIS_OPTIONS_INIT;
    uint8_t *before = must_alloc(W * H);
    static const int32_t counts[] = {1, 2, 3, 50, 51, 700, 100000000};
    for (int k = 0; k < COUNT(counts); ++k) {
        p.options.largest = counts[k];
        pieces out = run_components(b, &p, &how);
        assert_int_equal(out.count, counts[k] < all.count ? counts[k] : all.count);
        for (int i = 0; i < W * H; ++i) assert_true(((uint8_t *)out.labels)[i] >= before[i]);
        memcpy(before, out.labels, W * H);
        free_pieces(&out);
    }
    assert_memory_equal(before, mask, W * H);
    free(before);
    free_pieces(&all);
    free(mask);
}

/** A batch is its slices, one by one, and a volume of one slice is that slice. */
static void slices(bench *b) {
    enum { N = 5, SW = 197, SH = 166, SIZE = SW * SH };
    const int64_t size[3] = {SW, SH, N};
    chance c = {4};
    uint8_t *mask = must_alloc(SIZE * N);
    fill_mask(mask, size, NOISE, 0.5, &c);
    memset(mask + SIZE, 0, SIZE); /* one of them is empty */
    for (int largest = 0; largest < 20; largest += 9) {
        problem all = new_problem(3, SW, SH, N, mask);
        all.options.flags = APSIS_SLICES;
        all.options.largest = largest;
        asked how = LABELS;
        how.capacity = SIZE * N;
        pieces batch = run_components(b, &all, &how);
        int64_t before = 0;
        for (int z = 0; z < N; ++z) {
            problem one = new_problem(2 + z % 2, SW, SH, 1, mask + z * SIZE);
            one.options.largest = largest;
            pieces alone = run_components(b, &one, &how);
            for (int i = 0; i < SIZE; ++i) {
                const int32_t number = ((int32_t *)alone.labels)[i];
                assert_int_equal(((int32_t *)batch.labels)[z * SIZE + i], number ? number + before : 0);
            }
            for (int64_t k = 0; k < alone.count; ++k) {
                apsis_component want = alone.component[k];
                want.first += z * SIZE;
                want.lower[2] = want.upper[2] = z;
                want.centroid[2] = z;
                assert_memory_equal(&batch.component[before + k], &want, sizeof want);
            }
            before += alone.count;
            free_pieces(&alone);
        }
        assert_int_equal(batch.count, before);
        free_pieces(&batch);
    }
    free(mask);
}

/** The bytes are the same in every run and with any number of threads; how the set is stored does not matter. */
static void threads_and_storage(bench *b) {
    uint8_t *mask = some_mask(1, 0.41, 7);
    for (int64_t i = 0; i < W * H; ++i)
        if (mask[i]) mask[i] = (uint8_t)(1u << (i % 8));
    problem p = new_problem(2, W, H, 1, mask);
    pieces want = pieces_of(b, &p);
    static const int counts[] = {1, 2, 2, 2, 7, 64};
    for (int t = 0; t < COUNT(counts); ++t) {
        assert_ok(b->ctx, apsis_set_threads(b->ctx, counts[t]));
        asked how = {.set = t % 2 ? APSIS_BIT : APSIS_U8,
                     .labels = APSIS_I32,
                     .capacity = W * H / 2,
                     .set_layout = (unsigned)t % LAYOUTS,
                     .labels_layout = (unsigned)(5 * t) % LAYOUTS};
        pieces out = run_components(b, &p, &how);
        assert_int_equal(out.count, want.count);
        assert_memory_equal(out.labels, want.labels, W * H * sizeof(int32_t));
        assert_memory_equal(out.component, want.component, (size_t)want.count * sizeof(apsis_component));
        free_pieces(&out);
    }
    free_pieces(&want);
    free(mask);
}

static void check_methods(bench *b, problem p) {
    pieces one = run_components(b, &p, &LABELS);
    p.options.method = APSIS_TILE_FILL;
    pieces other = run_components(b, &p, &LABELS);
    assert_int_equal(one.count, other.count);
    assert_memory_equal(one.labels, other.labels, (size_t)pixels_of(&p) * sizeof(int32_t));
    free_pieces(&one);
    free_pieces(&other);
}

/** However they are found, components are the same. */
static void methods(bench *b) {
    for (int k = 0; k < COUNT(kinds); ++k)
        for (int connectivity = 1; connectivity <= 2; ++connectivity) {
            uint8_t *mask = some_mask(kinds[k].grain, kinds[k].density, 6);
            problem p = new_problem(2, W, H, 1, mask);
            p.options.connectivity = connectivity;
            check_methods(b, p);
            free(mask);
        }
}

/** More tiles than 2^22, whose pixels 32 bits cannot tell apart if each tile might have 32 x 32. */
static void many_tiles(bench *b) {
    const int64_t size[3] = {3, 3, effort(1 << 22) + 5};
    chance c = {6};
    uint8_t *mask = must_alloc((size_t)(9 * size[2]));
    fill_mask(mask, size, NOISE, 0.5, &c);
    problem p = new_problem(3, size[0], size[1], size[2], mask);
    p.options.flags = APSIS_SLICES;
    check_methods(b, p);
    free(mask);
}

static int told(void *user, double done) {
    double *last = user;
    assert_true(done >= *last && done <= 1);
    *last = done;
    return 0;
}

static int stop(void *user, double done) {
    (void)done;
    return ++*(int *)user == 3;
}

/** Progress rises to 1 in every kind of call, and a call that is stopped leaves the context good. */
static void progress(bench *b) {
    uint8_t *mask = some_mask(1, 0.5, 8);
    problem p = new_problem(2, W, H, 1, mask);
    for (int kind = 0; kind < 4; ++kind) {
        double last = 0;
        p.options = (apsis_options)APSIS_OPTIONS_INIT;
        if (kind == 1) p.options.largest = 3;
        if (kind == 2) p.options.method = APSIS_TILE_FILL;
        asked how = LABELS;
        if (kind == 3) how.labels = 0;
        assert_ok(b->ctx, apsis_set_progress(b->ctx, told, &last));
        pieces out = run_components(b, &p, &how);
        free_pieces(&out);
        assert_true(last == 1);
    }
    const apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {W, H}, .data = mask};
    int64_t count;
    int calls = 0;
    if (b->memory == APSIS_HOST) {
        assert_ok(b->ctx, apsis_set_progress(b->ctx, stop, &calls));
        assert_fails(b->ctx, apsis_components(b->ctx, &set, NULL, NULL, 0, &count, NULL), APSIS_ERROR_CANCELLED, "stop");
    }
    assert_ok(b->ctx, apsis_set_progress(b->ctx, NULL, NULL));
    check_components(b, &p, &LABELS);
    free(mask);
}

/** With exactly apsis_workspace_size bytes nothing is allocated, with one less it is refused; and it is not too large. */
static void the_workspace_is_enough(bench *b) {
    static const int64_t sizes[][3] = {{1531, 947, 1}, {61, 47, 34}, {300, 200, 20}};
    for (int i = 0; i < 2 * COUNT(sizes); ++i) {
        const int64_t *size = sizes[i / 2], pixels = size[0] * size[1] * size[2];
        uint8_t *mask = must_alloc((size_t)pixels);
        chance c = {9};
        fill_mask(mask, size, NOISE, 0.5, &c);
        frame set = frame_open(b, APSIS_U8, size[2] > 1 ? 3 : 2, size, PACKED);
        frame out = frame_open(b, APSIS_I32, size[2] > 1 ? 3 : 2, size, PACKED);
        frame_put(&set, mask);
        const apsis_image *images[2] = {&set.image, &out.image};
        apsis_options o = APSIS_OPTIONS_INIT;
        o.largest = i % 2 ? 5 : 0;
        size_t bytes = 0;
        assert_ok(b->ctx, apsis_set_threads(b->ctx, 2));
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, &o, &bytes));
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, b->device == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        apsis_component list[10];
        int64_t count;
        assert_ok(b->ctx, apsis_components(b->ctx, images[0], images[1], list, 10, &count, &o));
        assert_ok(b->ctx, apsis_sync(b->ctx));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes - 1));
        assert_fails(b->ctx, apsis_components(b->ctx, images[0], images[1], list, 10, &count, &o), APSIS_ERROR_WORKSPACE,
                     "workspace");
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
        frame_close(&set);
        frame_close(&out);
        free(mask);
    }
    const apsis_image set = {.type = APSIS_U8, .ndim = 2, .size = {4096, 4096}, .memory = b->memory};
    const apsis_image labels = {.type = APSIS_I32, .ndim = 2, .size = {4096, 4096}, .memory = b->memory};
    const apsis_image *images[2] = {&set, &labels};
    size_t bytes;
    assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, NULL, &bytes));
    const double staged = b->place == ON_DEVICE_HOST ? 5 : 0; /* the images themselves, on the device */
    assert_true((double)bytes <= (1.5 + staged) * 4096 * 4096);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(turning, EVERYWHERE),  TEST(sums, EVERYWHERE),
                                      TEST(euler, EVERYWHERE),    TEST(selections, EVERYWHERE),
                                      TEST(slices, EVERYWHERE),   TEST(threads_and_storage, EVERYWHERE),
                                      TEST(methods, EVERYWHERE),  TEST(many_tiles, ON_DEVICE),
                                      TEST(progress, EVERYWHERE), TEST(the_workspace_is_enough, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
