/* Components of slabs: however an image is cut and its slabs are joined, the bytes are those of apsis_components of all of
 * it. */
#include "cuts.h"
#include "periodic.h"
#include "run_components.h"

/* ---- A slab ---- */

static int64_t *take_numbers(int64_t count) {
    int64_t *numbers = must_alloc((size_t)(count + 1) * sizeof *numbers);
    memset(numbers, POISON, (size_t)(count + 1) * sizeof *numbers);
    return numbers;
}

static void free_slab(apsis_slab_labels *slab) {
    free(slab->first);
    free(slab->last);
    free(slab->parts);
    free(slab->numbers);
}

/** What of the three calls is wanted, beside the faces. */
typedef struct wanted {
    bool parts, numbers;
} wanted;

static void take_results(apsis_slab_labels *slab, wanted wants) {
    if (wants.numbers) slab->numbers = take_numbers(slab->count);
    if (!wants.parts) return;
    slab->parts = must_alloc((size_t)(slab->count + 1) * sizeof *slab->parts);
    memset(slab->parts, POISON, (size_t)(slab->count + 1) * sizeof *slab->parts);
    slab->capacity = slab->count;
}

/** What a slab tells.  The image's ends may be left out. */
static apsis_slab_labels ask_slab(bench *b, const problem *p, const asked *how, const cut *at, int k, wanted wants, chance *c) {
    const problem slab = slab_of(p, at, k);
    apsis_slab_labels told = {.start = at->start[k], .rows = -7, .count = -7};
    const bool all = !c || is_periodic(p, p->ndim - 1);
    if (all || at->start[k] > 0 || roll_below(c, 2)) told.first = take_numbers(columns_of(p));
    if (all || at->start[k + 1] < rows_of(p) || roll_below(c, 2)) told.last = take_numbers(columns_of(p));
    frame set = frame_open(b, how->set, slab.ndim, slab.size, how->set_layout);
    frame_put(&set, slab.mask);
    assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &told, &p->options));
    assert_int_equal(told.rows, rows_of(&slab));
    take_results(&told, wants);
    if (wants.parts) {
        apsis_slab_labels again = {.start = told.start, .parts = told.parts, .capacity = told.capacity};
        assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &again, &p->options));
        assert_int_equal(again.count, told.count);
        for (size_t i = 0; i < sizeof *told.parts; ++i) assert_int_equal(((uint8_t *)(told.parts + told.count))[i], POISON);
    }
    frame_assert_unchanged(&set);
    frame_close(&set);
    return told;
}

/* ---- Slabs joined in any grouping ---- */

/** Some slabs that follow each other, which are joined to one. */
typedef struct group {
    apsis_slab_labels *slabs;
    int count;
} group;

/** A copy of the row that faces the slabs before, or behind, as far as there is one. */
static int64_t *copy_face(const group *of, bool is_last, int64_t columns) {
    for (int i = 0; i < of->count; ++i) {
        const apsis_slab_labels *slab = &of->slabs[is_last ? of->count - 1 - i : i];
        const int64_t *face = is_last ? slab->last : slab->first;
        if (!slab->rows) continue;
        return face ? memcpy(take_numbers(columns), face, (size_t)columns * sizeof *face) : NULL;
    }
    return take_numbers(columns);
}

static apsis_slab_labels become_one(bench *b, const problem *p, group *of, wanted wants) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = p->options.connectivity;
    options.flags = p->options.flags & (APSIS_LABELS | PERIODIC);
    apsis_slab_labels one = {.start = of->slabs[0].start};
    for (int k = 0; k < of->count; ++k) {
        one.rows += of->slabs[k].rows;
        one.count += of->slabs[k].count; /* at most */
    }
    take_results(&one, wants);
    assert_ok(b->ctx,
              apsis_slab_join(b->ctx, p->ndim, p->size, of->slabs, of->count, one.parts, one.capacity, &one.count, &options));
    one.first = copy_face(of, false, columns_of(p));
    one.last = copy_face(of, true, columns_of(p));
    return one;
}

static void pass_on(bench *b, const problem *p, apsis_slab_labels *one, group *of) {
    assert_ok(b->ctx, apsis_slab_renumber(b->ctx, columns_of(p), one, of->slabs, of->count));
    free_slab(one);
}

/** Joins what is the whole image.  Parts may end in the slabs' own, if these are one array. */
static int64_t join_whole(bench *b, const problem *p, group *all, apsis_part *parts, int64_t capacity) {
    int64_t count = -1;
    assert_ok(b->ctx, apsis_slab_join(b->ctx, p->ndim, p->size, all->slabs, all->count, parts, capacity, &count, &p->options));
    return count;
}

/** Groups of slabs, each joined, then these. */
static int64_t join_by_groups(bench *b, const problem *p, group *all, apsis_part *parts, int64_t capacity, wanted wants,
                              chance *c) {
    apsis_slab_labels one[MOST_SLABS];
    group of[MOST_SLABS], whole = {one, 0};
    for (int k = 0; k < all->count; k += of[whole.count++].count) {
        of[whole.count] = (group){all->slabs + k, 1 + (int)roll_below(c, all->count - k)};
        one[whole.count] = become_one(b, p, &of[whole.count], wants);
    }
    const int64_t count = join_whole(b, p, &whole, parts, capacity);
    for (int i = 0; i < whole.count; ++i) pass_on(b, p, &one[i], &of[i]);
    return count;
}

/** Each slab is joined with what those before it have become, as if they came one by one. */
static int64_t join_one_by_one(bench *b, const problem *p, group *all, apsis_part *parts, int64_t capacity, wanted wants) {
    apsis_slab_labels pair[MOST_SLABS][2];
    const int last = all->count - 2;
    pair[0][0] = all->slabs[0];
    for (int k = 0; k <= last; ++k) {
        pair[k][1] = all->slabs[k + 1];
        if (k < last) pair[k + 1][0] = become_one(b, p, &(group){pair[k], 2}, wants);
    }
    const int64_t count = join_whole(b, p, &(group){pair[last], 2}, parts, capacity);
    for (int k = last; k >= 0; --k) {
        all->slabs[k + 1] = pair[k][1];
        if (k > 0) pass_on(b, p, &pair[k][0], &(group){pair[k - 1], 2});
    }
    all->slabs[0] = pair[0][0];
    return count;
}

/** The slabs' parts behind each other; their own arrays are freed. */
static apsis_part *gather_parts(group *all, int64_t least) {
    int64_t count = 0;
    for (int k = 0; k < all->count; ++k) count += all->slabs[k].count;
    apsis_part *parts = must_alloc((size_t)(count + least + 1) * sizeof *parts), *next = parts;
    for (int k = 0; k < all->count; ++k) {
        apsis_slab_labels *slab = &all->slabs[k];
        memcpy(next, slab->parts, (size_t)slab->count * sizeof *next);
        free(slab->parts);
        slab->parts = next;
        next += slab->count;
    }
    return parts;
}

typedef struct joined {
    int64_t count;
    apsis_component *component;
} joined;

static joined join_slabs(bench *b, const problem *p, group *all, const asked *how, wanted wants, chance *c) {
    const int64_t capacity = how->capacity < 0 ? 0 : how->capacity;
    const int way = c ? (int)roll_below(c, 4) : 0;
    const bool in_place = wants.parts && way == 1;
    apsis_part *parts = in_place ? gather_parts(all, capacity) : must_alloc((size_t)(capacity + 1) * sizeof *parts);
    joined out;
    if (way == 2)
        out.count = join_by_groups(b, p, all, parts, capacity, wants, c);
    else if (way == 3 && all->count > 1)
        out.count = join_one_by_one(b, p, all, parts, capacity, wants);
    else
        out.count = join_whole(b, p, all, parts, capacity);
    out.component = must_alloc((size_t)(capacity + 1) * sizeof *out.component);
    apsis_slab_measure(capacity < out.count ? capacity : out.count, parts, out.component);
    free(parts);
    for (int k = 0; in_place && k < all->count; ++k) all->slabs[k].parts = NULL;
    return out;
}

/* ---- Everything in slabs, and compared ---- */

static void fail_in(const problem *p, const cut *at, const char *what) {
    char text[256];
    describe(p, text, sizeof text);
    const apsis_options *o = &p->options;
    print_error("%s, connectivity %d, flags 0x%x, largest %d, area %lld to %lld\n", text, o->connectivity, (unsigned)o->flags,
                o->largest, (long long)o->min_area, (long long)o->max_area);
    fail_at(at, what);
}

/** The labels of slab k, to where they are in the image. */
static void label_slab(bench *b, const problem *p, const asked *how, const cut *at, int k, const apsis_slab_labels *told,
                       uint8_t *labels) {
    const problem slab = slab_of(p, at, k);
    frame set = frame_open(b, how->set, slab.ndim, slab.size, how->set_layout);
    frame out = frame_open(b, how->labels, slab.ndim, slab.size, how->labels_layout);
    frame_put(&set, slab.mask);
    assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, told, &out.image, &p->options));
    frame_assert_unchanged(&set);
    frame_get(&out, labels + (size_t)(at->start[k] * columns_of(p)) * type_size(how->labels));
    frame_close(&set);
    frame_close(&out);
}

/** The same without the set, of the slab whose parts were found last. */
static void label_found_slab(bench *b, const problem *p, const asked *how, const cut *at, int k, const apsis_slab_labels *told,
                             uint8_t *labels) {
    const problem slab = slab_of(p, at, k);
    frame out = frame_open(b, how->labels, slab.ndim, slab.size, how->labels_layout);
    assert_ok(b->ctx, apsis_slab_components(b->ctx, NULL, told, &out.image, &p->options));
    frame_get(&out, labels + (size_t)(at->start[k] * columns_of(p)) * type_size(how->labels));
    frame_close(&out);
}

/** The slabs in some order, each in one of the benches. */
static void check_cut(bench *const benches[2], const problem *p, const asked *how, const pieces *whole, const cut *at,
                      chance *c) {
    const apsis_options *o = &p->options;
    const bool selects = o->flags & (APSIS_NO_BORDER | APSIS_NO_INNER) || o->largest || o->min_area || o->max_area;
    const bool by_value = o->flags & APSIS_LABELS;
    const bool is_kept = !by_value && !(o->flags & PERIODIC & ~((uint32_t)APSIS_PERIODIC_X << (p->ndim - 1)));
    const wanted wants = {selects || by_value || how->capacity > 0, selects || (c && roll_below(c, 3) == 0)};
    apsis_slab_labels slabs[MOST_SLABS];
    group all = {slabs, at->slabs};
    const int turn = c ? (int)roll_below(c, at->slabs) : 0;
    int last[2] = {-1, -1}; /* the slab that each bench was asked last */
    for (int i = 0; c && i < 2; ++i)
        if (roll_below(c, 4) == 0) assert_ok(benches[i]->ctx, apsis_set_workspace(benches[i]->ctx, NULL, 0)); /* it grows */
    for (int i = 0; i < at->slabs; ++i) {
        const int k = (i + turn) % at->slabs, on = c ? (int)roll_below(c, 2) : 0;
        slabs[k] = ask_slab(benches[on], p, how, at, k, wants, c);
        last[on] = k;
    }
    joined out = join_slabs(benches[c ? roll_below(c, 2) : 0], p, &all, how, wants, c);
    if (out.count != whole->count) fail_in(p, at, "the count");
    const int64_t known = how->capacity < out.count ? how->capacity : out.count;
    if (known > 0 && memcmp(out.component, whole->component, (size_t)known * sizeof *out.component))
        fail_in(p, at, "a component");
    uint8_t *labels = how->labels ? must_alloc((size_t)(pixels_of(p) + 8) * type_size(how->labels)) : NULL;
    bool is_labelled[MOST_SLABS] = {false};
    for (int i = 0; labels && i < at->slabs + 2; ++i) { /* first, in every second cut, those that were found last */
        const int k = i < 2 ? last[i] : at->slabs + 1 - i;
        if (i < 2 ? k < 0 || !is_kept || (c ? roll_below(c, 2) : at->slabs % 2) : is_labelled[k]) continue;
        apsis_slab_labels told = slabs[k];
        if (!selects && c && roll_below(c, 2)) told.numbers = NULL; /* the faces say as much */
        bench *const b = benches[i < 2 ? i : c ? roll_below(c, 2) : 0];
        (i < 2 ? label_found_slab : label_slab)(b, p, how, at, k, &told, labels);
        is_labelled[k] = true;
    }
    if (labels && memcmp(labels, whole->labels, (size_t)pixels_of(p) * type_size(how->labels))) fail_in(p, at, "a label");
    for (int k = 0; k < at->slabs; ++k) free_slab(&slabs[k]);
    free(out.component);
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
            (i % 2 ? &p : &some)->options.flags |= periodic_flags(1 + i / 2 % 3);
            check_every_cut(benches, i % 2 ? &p : &some, &how, &c);
            p.options.flags = 0;
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
        if (i % 2) draw_periodic(&p, &c);
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

/** Some values in the place of ones, in cells. */
static void fill_values(uint8_t *mask, const int64_t size[3], chance *c) {
    const int64_t values = 1 + roll_below(c, 4), grain = 1 + roll_below(c, 3), w = size[0], h = size[1];
    const uint64_t seed = roll(c);
    for (int64_t i = 0; i < w * h * size[2]; ++i) {
        chance cell = {seed + (uint64_t)(i % w / grain + 1000 * (i / w % h / grain) + 1000000 * (i / w / h / grain))};
        if (mask[i]) mask[i] = (uint8_t)(1 + roll_below(&cell, values));
    }
}

static void random_cuts(bench *const benches[2], int ndim, int cases, uint64_t seed, bool by_value) {
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
        if (i % 3 == 2) draw_periodic(&p, &c);
        asked how = choose_images(&c);
        if (by_value) {
            fill_values(mask, p.size, &c);
            p.options.flags = (p.options.flags | APSIS_LABELS) & ~(uint32_t)APSIS_COMPLEMENT;
            how.set = APSIS_U8;
        }
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
    random_cuts(benches, 2, effort(benches[0]->place == ON_CPU ? 700 : 150), 11, false);
}
static void random_planes(bench *b) { with_cpu(b, random_planes_on); }
static void random_volumes_on(bench *const benches[2]) {
    random_cuts(benches, 3, effort(benches[0]->place == ON_CPU ? 500 : 100), 12, false);
}
static void random_volumes(bench *b) { with_cpu(b, random_volumes_on); }
static void random_labels_on(bench *const benches[2]) {
    const int cases = effort(benches[0]->place == ON_CPU ? 500 : 120);
    random_cuts(benches, 2, cases, 13, true);
    random_cuts(benches, 3, cases, 14, true);
}
static void random_labels(bench *b) { with_cpu(b, random_labels_on); }

/** Values are told by parts. */
static void labels_without_parts(bench *b) {
    const int64_t size[2] = {2, 2};
    int64_t above[2] = {1, 2}, below[2] = {1, 2};
    apsis_slab_labels slabs[2] = {{.rows = 1, .count = 2, .last = above}, {.start = 1, .rows = 1, .count = 2, .first = below}};
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_LABELS;
    assert_fails(b->ctx, apsis_slab_join(b->ctx, 2, size, slabs, 2, NULL, 0, NULL, &options), APSIS_ERROR_ARGUMENT,
                 "slabs[0]|parts|values");
}

/* ---- Memory ---- */

/** That of apsis_components; and for what a slab is told 32 bytes a column or 8 a number, and on a device at most 3/32 byte a
 *  pixel. */
static void the_scratch_memory(bench *b) {
    enum { W = 300, H = 100 };
    chance c = {5};
    const int64_t size[3] = {W, H, 1};
    uint8_t *mask = must_alloc(W * H);
    fill_mask(mask, size, NOISE, 0.3, &c);
    frame set = frame_open(b, APSIS_U8, 2, size, PACKED), labels = frame_open(b, APSIS_I32, 2, size, PACKED);
    frame_put(&set, mask);
    int64_t first[W], last[W], *numbers = must_alloc(W * H * sizeof *numbers);
    apsis_part *parts = must_alloc(W * H * sizeof *parts);
    apsis_slab_labels slab = {.start = 9, .first = first, .last = last, .parts = parts, .capacity = W * H};
    const apsis_memory own = b->place == ON_CPU ? APSIS_HOST : APSIS_DEVICE;
    for (int step = 0; step < 3; ++step) {
        const apsis_image *images[2] = {&set.image, step ? &labels.image : NULL};
        size_t bytes;
        assert_ok(b->ctx, apsis_workspace_size(b->ctx, APSIS_COMPONENTS, images, 2, NULL, &bytes));
        if (step == 0 && own == APSIS_DEVICE) bytes += 2 * (W * 8 + 255) / 256 * 256;
        if (step == 1) bytes += 32 * W + (own == APSIS_DEVICE ? 128 * 128 * 3 / 16 : 0) + 1024;
        if (step == 2 && own == APSIS_DEVICE) bytes += ((size_t)slab.count * 8 + 255) / 256 * 256;
        apsis_image memory = {.type = APSIS_U8, .ndim = 2, .size = {(int64_t)bytes, 1}};
        assert_ok(b->ctx, apsis_alloc(b->ctx, own, &memory));
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, memory.data, bytes));
        if (step == 0)
            assert_ok(b->ctx, apsis_slab_parts(b->ctx, &set.image, &slab, NULL));
        else
            assert_ok(b->ctx, apsis_slab_components(b->ctx, &set.image, &slab, &labels.image, NULL));
        for (int64_t i = 0; i < slab.count; ++i) numbers[i] = i + 1;
        if (step == 1) slab.numbers = numbers;
        assert_ok(b->ctx, apsis_set_workspace(b->ctx, NULL, 0));
        apsis_free(b->ctx, &memory);
    }
    frame_close(&set), frame_close(&labels);
    free(mask), free(numbers), free(parts);
}

int main(int argc, char **argv) {
    static const test_case cases[] = {TEST(every_cut_of_every_3x4, EVERYWHERE), TEST(every_cut_of_volumes, EVERYWHERE),
                                      TEST(random_planes, EVERYWHERE),          TEST(random_volumes, EVERYWHERE),
                                      TEST(random_labels, EVERYWHERE),          TEST(labels_without_parts, ON_CPU),
                                      TEST(the_scratch_memory, EVERYWHERE)};
    return RUN_CASES(cases, argc, argv);
}
