/* Components of slabs: however an image is cut and its slabs are joined, the bytes are those of apsis_components of all of
 * it. */
#include "cuts.h"
#include "run_components.h"

/* ---- An image cut into slabs ---- */

/** A slab, or several that are joined already, with arrays of its own. */
typedef struct told {
    apsis_slab_labels is;
    int64_t *first, *last;
    apsis_part *parts;
} told;

static int64_t *take_numbers(int64_t count) {
    int64_t *numbers = must_alloc((size_t)(count + 1) * sizeof *numbers);
    memset(numbers, POISON, (size_t)(count + 1) * sizeof *numbers);
    return numbers;
}

static told take_told(int64_t start, int64_t rows, int64_t columns) {
    told of = {.is = {.start = start, .rows = rows}, .first = take_numbers(columns), .last = take_numbers(columns)};
    of.is.first = of.first;
    of.is.last = of.last;
    return of;
}

static void free_told(told *of) {
    free(of->first);
    free(of->last);
    free(of->parts);
    free(of->is.numbers);
}

static frame open_slab(bench *b, const problem *p, const cut *at, int k, apsis_type type, unsigned layout) {
    int64_t size[3] = {p->size[0], p->size[1], p->size[2]};
    size[p->ndim - 1] = at->start[k + 1] - at->start[k];
    return frame_open(b, type, p->ndim, size, layout);
}

static frame open_set(bench *b, const problem *p, const asked *how, const cut *at, int k) {
    frame set = open_slab(b, p, at, k, how->set, how->set_layout);
    frame_put(&set, p->mask + at->start[k] * columns_of(p));
    return set;
}

/** What a slab tells; its parts too if they are wanted. */
static told ask_slab(bench *b, const problem *p, const asked *how, const cut *at, int k, bool wants_parts) {
    told of = take_told(at->start[k], at->start[k + 1] - at->start[k], columns_of(p));
    frame set = open_set(b, p, how, at, k);
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, of.is.start, of.first, of.last, NULL, 0, &of.is.count, &p->options));
    if (wants_parts) {
        of.is.parts = of.parts = must_alloc((size_t)(of.is.count + 1) * sizeof *of.parts);
        memset(of.parts, POISON, (size_t)(of.is.count + 1) * sizeof *of.parts);
        assert_ok(b->ctx,
                  apsis_slab_parts(b->ctx, &set.image, of.is.start, NULL, NULL, of.parts, of.is.count, NULL, &p->options));
        for (size_t i = 0; i < sizeof *of.parts; ++i) assert_int_equal(((uint8_t *)(of.parts + of.is.count))[i], POISON);
    }
    frame_assert_unchanged(&set);
    frame_close(&set);
    return of;
}

/** One slab of several that follow each other: its arrays, and `numbers` of theirs to each. */
static told join_some(bench *b, const problem *p, told *some, int count, bool wants_parts) {
    const int64_t columns = columns_of(p);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = p->options.connectivity;
    apsis_slab_labels slabs[MOST_SLABS];
    int64_t rows = 0, most = 0;
    for (int k = 0; k < count; ++k) {
        some[k].is.numbers = take_numbers(some[k].is.count);
        slabs[k] = some[k].is;
        rows += some[k].is.rows;
        most += some[k].is.count;
    }
    told of = take_told(some[0].is.start, rows, columns);
    if (wants_parts) of.is.parts = of.parts = must_alloc((size_t)(most + 1) * sizeof *of.parts);
    assert_ok(b->ctx, apsis_slab_join(b->ctx, p->ndim, p->size, slabs, count, of.parts, wants_parts ? most : 0, &of.is.count,
                                      &options));
    memset(of.first, 0, (size_t)columns * sizeof *of.first);
    memset(of.last, 0, (size_t)columns * sizeof *of.last);
    const told *top = NULL, *bottom = NULL;
    for (int k = 0; k < count; ++k)
        if (some[k].is.rows) {
            if (!top) top = some + k;
            bottom = some + k;
        }
    for (int64_t c = 0; top && c < columns; ++c) {
        if (top->first[c]) of.first[c] = top->is.numbers[top->first[c] - 1];
        if (bottom->last[c]) of.last[c] = bottom->is.numbers[bottom->last[c] - 1];
    }
    return of;
}

/* ---- Everything in slabs, and compared ---- */

typedef struct joined {
    int64_t *numbers[MOST_SLABS];
    int64_t count;
    apsis_component *component;
} joined;

/** Joins slabs [begin, end), some of them in groups first. */
static void join_slabs(bench *b, const problem *p, told *slabs, int count, const asked *how, bool wants_parts, chance *c,
                       joined *out) {
    told group[MOST_SLABS];
    int group_of[MOST_SLABS], groups = 0;
    for (int k = 0; k < count;) {
        int some = c && roll_below(c, 2) ? 1 + (int)roll_below(c, count - k) : 1;
        group[groups] = join_some(b, p, slabs + k, some, wants_parts);
        for (; some > 0; --some) group_of[k++] = groups;
        ++groups;
    }
    apsis_slab_labels last[MOST_SLABS];
    for (int i = 0; i < groups; ++i) {
        group[i].is.numbers = take_numbers(group[i].is.count);
        last[i] = group[i].is;
        if (i == 0 && last[i].rows) last[i].first = NULL;
        if (i == groups - 1 && last[i].rows) last[i].last = NULL;
    }
    const int64_t capacity = how->capacity < 0 ? 0 : how->capacity;
    apsis_part *parts = must_alloc((size_t)(capacity + 1) * sizeof *parts);
    assert_ok(b->ctx, apsis_slab_join(b->ctx, p->ndim, p->size, last, groups, parts, capacity, &out->count, &p->options));
    const int64_t known = capacity < out->count ? capacity : out->count;
    out->component = must_alloc((size_t)(capacity + 1) * sizeof *out->component);
    apsis_slab_measure(known, parts, out->component);
    free(parts);
    for (int k = 0; k < count; ++k) {
        out->numbers[k] = take_numbers(slabs[k].is.count);
        for (int64_t i = 0; i < slabs[k].is.count; ++i)
            out->numbers[k][i] = group[group_of[k]].is.numbers[slabs[k].is.numbers[i] - 1];
    }
    for (int i = 0; i < groups; ++i) free_told(&group[i]);
}

static void fail_in(const problem *p, const cut *at, const char *what) {
    char text[256];
    describe(p, text, sizeof text);
    const apsis_options *o = &p->options;
    print_error("%s, connectivity %d, flags 0x%x, largest %d, area %lld to %lld\n", text, o->connectivity, (unsigned)o->flags,
                o->largest, (long long)o->min_area, (long long)o->max_area);
    fail_at(at, what);
}

/** The slabs in some order, each in one of the benches. */
static void check_cut(bench *const benches[2], const problem *p, const asked *how, const pieces *whole, const cut *at,
                      chance *c) {
    const apsis_options *o = &p->options;
    const bool selects = o->flags & (APSIS_NO_BORDER | APSIS_NO_INNER) || o->largest || o->min_area || o->max_area;
    const bool wants_parts = selects || how->capacity > 0;
    told slabs[MOST_SLABS];
    const int turn = c ? (int)roll_below(c, at->slabs) : 0;
    for (int i = 0; i < at->slabs; ++i) {
        const int k = (i + turn) % at->slabs;
        slabs[k] = ask_slab(benches[c ? roll_below(c, 2) : 0], p, how, at, k, wants_parts);
    }
    joined all = {.count = -1};
    join_slabs(benches[c ? roll_below(c, 2) : 0], p, slabs, at->slabs, how, wants_parts, c, &all);
    if (all.count != whole->count) fail_in(p, at, "the count");
    const int64_t known = how->capacity < all.count ? how->capacity : all.count;
    if (known > 0 && memcmp(all.component, whole->component, (size_t)known * sizeof *all.component))
        fail_in(p, at, "a component");
    const size_t row = (size_t)columns_of(p) * type_size(how->labels);
    uint8_t *labels = how->labels ? must_alloc((size_t)(pixels_of(p) + 8) * type_size(how->labels)) : NULL;
    for (int k = at->slabs - 1; labels && k >= 0; --k) {
        bench *b = benches[c ? roll_below(c, 2) : 0];
        frame set = open_set(b, p, how, at, k), out = open_slab(b, p, at, k, how->labels, how->labels_layout);
        assert_ok(b->ctx,
                  apsis_slab_components(b->ctx, &set.image, all.numbers[k], slabs[k].is.count, &out.image, &p->options));
        frame_assert_unchanged(&set);
        frame_get(&out, labels + (size_t)at->start[k] * row);
        frame_close(&set);
        frame_close(&out);
    }
    if (labels && memcmp(labels, whole->labels, (size_t)rows_of(p) * row)) fail_in(p, at, "a label");
    for (int k = 0; k < at->slabs; ++k) {
        free_told(&slabs[k]);
        free(all.numbers[k]);
    }
    free(all.component);
    free(labels);
}

/** The bench, and a CPU one: slabs of one image are on both. */
static void with_cpu(bench *b, void (*run)(bench *const benches[2])) {
    bench cpu = open_cpu();
    run((bench *const[2]){b, &cpu});
    apsis_destroy(cpu.ctx);
}

/* ---- Every cut of small images ---- */

static void choose_selection(chance *c, problem *p, int64_t most) {
    apsis_options *o = &p->options;
    if (roll_below(c, 3) == 0) o->flags |= APSIS_COMPLEMENT;
    if (roll_below(c, 2)) return;
    if (roll_below(c, 3) == 0) o->flags |= roll_below(c, 2) ? APSIS_NO_BORDER : APSIS_NO_INNER;
    if (roll_below(c, 3) == 0) o->min_area = 1 + roll_below(c, most);
    if (roll_below(c, 3) == 0) o->max_area = 1 + roll_below(c, most);
    if (roll_below(c, 3) == 0) o->largest = 1 + (int32_t)roll_below(c, 5);
}

static void check_every_cut(bench *const benches[2], const problem *p, const asked *how, chance *c) {
    pieces whole = run_components(benches[0], p, how);
    for (unsigned cuts = 0; cuts < 1u << (rows_of(p) - 1); ++cuts) {
        const cut at = cut_of(cuts, rows_of(p));
        check_cut(benches, p, how, &whole, &at, c);
    }
    free_pieces(&whole);
}

static void every_cut_of_every_3x4_on(bench *const benches[2]) {
    const asked how = {.set = APSIS_U8, .labels = APSIS_I32, .capacity = 6};
    chance c = {1};
    uint8_t mask[12];
    for (int i = 0; i < 4096; i += mask_step(benches[0], 4096, 61)) {
        for (int k = 0; k < 12; ++k) mask[k] = i >> k & 1;
        problem p = new_problem(2, 3, 4, 1, mask);
        for (p.options.connectivity = 1; p.options.connectivity <= 2; ++p.options.connectivity) {
            check_every_cut(benches, &p, &how, NULL);
            problem some = p;
            choose_selection(&c, &some, 6);
            check_every_cut(benches, &some, &how, &c);
        }
    }
}
static void every_cut_of_every_3x4(bench *b) { with_cpu(b, every_cut_of_every_3x4_on); }

static void every_cut_of_volumes_on(bench *const benches[2]) {
    const asked how = {.set = APSIS_BIT, .labels = APSIS_I64, .capacity = 50};
    chance c = {2};
    uint8_t mask[3 * 3 * 5];
    for (int i = 0; i < effort(benches[0]->place == ON_CPU ? 300 : 50); ++i) {
        const int64_t size[3] = {1 + roll_below(&c, 3), 1 + roll_below(&c, 3), 1 + roll_below(&c, 5)};
        fill_mask(mask, size, NOISE, 0.2 + 0.5 * roll_real(&c), &c);
        problem p = new_problem(3, size[0], size[1], size[2], mask);
        p.options.connectivity = 1 + i % 3;
        choose_selection(&c, &p, 10);
        check_every_cut(benches, &p, &how, &c);
    }
}
static void every_cut_of_volumes(bench *b) { with_cpu(b, every_cut_of_volumes_on); }

/* ---- Random images and cuts, larger; slabs without rows among them ---- */

static asked choose_images(chance *c) {
    static const apsis_type types[] = {APSIS_I32, APSIS_I32, APSIS_I64, APSIS_U8, APSIS_BIT, 0};
    asked how = {.set = roll_below(c, 2) ? APSIS_U8 : APSIS_BIT,
                 .labels = types[roll_below(c, COUNT(types))],
                 .capacity = roll_below(c, 3)   ? -1
                             : roll_below(c, 2) ? 5
                                                : 20000};
    if (roll_below(c, 3) == 0) how.set_layout = (unsigned)roll_below(c, LAYOUTS);
    if (roll_below(c, 3) == 0) how.labels_layout = (unsigned)roll_below(c, LAYOUTS);
    return how;
}

static void random_cuts(bench *const benches[2], int ndim, int cases, uint64_t seed) {
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 31, 32, 33, 64, 65, 100, 127, 128, 129, 200, 300};
    static const double densities[] = {0, 0.01, 0.1, 0.4, 0.5, 0.6, 0.99};
    chance c = {seed};
    for (int i = 0; i < cases; ++i) {
        problem p = new_problem(ndim, 1, 1, 1, NULL);
        const bool is_small = roll_below(&c, 3);
        do
            for (int a = 0; a < ndim; ++a) p.size[a] = sizes[roll_below(&c, COUNT(sizes))];
        while (pixels_of(&p) > (is_small ? 3000 : 60000));
        uint8_t *mask = must_alloc((size_t)pixels_of(&p));
        const int kind = roll_below(&c, 2) ? NOISE : (int)roll_below(&c, MASK_KINDS);
        fill_mask(mask, p.size, kind, densities[roll_below(&c, COUNT(densities))], &c);
        p.mask = mask;
        p.options.connectivity = (int32_t)roll_below(&c, ndim + 1);
        choose_selection(&c, &p, roll_below(&c, 2) ? 5 : pixels_of(&p));
        const asked how = choose_images(&c);
        assert_ok(benches[0]->ctx, apsis_set_threads(benches[0]->ctx, (int)roll_below(&c, 4)));
        pieces whole = run_components(benches[0], &p, &how);
        for (int k = 0; k < 3; ++k) {
            const cut at = choose_cut(&c, rows_of(&p));
            check_cut(benches, &p, &how, &whole, &at, &c);
        }
        free_pieces(&whole);
        free(mask);
    }
}

static void random_planes_on(bench *const benches[2]) {
    random_cuts(benches, 2, effort(benches[0]->place == ON_CPU ? 700 : 150), 11);
}
static void random_planes(bench *b) { with_cpu(b, random_planes_on); }
static void random_volumes_on(bench *const benches[2]) {
    random_cuts(benches, 3, effort(benches[0]->place == ON_CPU ? 500 : 100), 12);
}
static void random_volumes(bench *b) { with_cpu(b, random_volumes_on); }

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_3x4, EVERYWHERE), TEST(every_cut_of_volumes, EVERYWHERE),
                                      TEST(random_planes, EVERYWHERE), TEST(random_volumes, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
