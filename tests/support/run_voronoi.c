#include "run_voronoi.h"

int64_t *run_voronoi(bench *b, const problem *p, const given *how) {
    const size_t pixels = (size_t)pixels_of(p);
    frame set = frame_open(b, how->set, p->ndim, p->size, how->set_layout);
    frame out = frame_open(b, how->nearest, p->ndim, p->size, how->nearest_layout);
    frame_put(&set, p->mask);
    assert_ok(b->ctx, apsis_voronoi(b->ctx, &set.image, &out.image, &p->options));
    frame_assert_unchanged(&set);
    frame_close(&set);
    int64_t *cells = must_alloc((pixels + 1) * sizeof *cells);
    frame_get(&out, cells);
    const int32_t *narrow = (const int32_t *)cells;
    for (size_t i = pixels; how->nearest == APSIS_I32 && i-- > 0;) cells[i] = narrow[i];
    frame_close(&out);
    return cells;
}

/* ---- Neighbours ---- */

/** The indices of a pixel's neighbours, and how many. */
static int neighbours(const problem *p, int64_t i, int64_t near[26]) {
    const int64_t deep = p->ndim == 3 && !(p->options.flags & APSIS_SLICES);
    int count = 0;
    for (int64_t dz = -deep; dz <= deep; ++dz)
        for (int64_t dy = -1; dy <= 1; ++dy)
            for (int64_t dx = -1; dx <= 1; ++dx) {
                const int64_t offset[3] = {dx, dy, dz};
                if ((dx || dy || dz) && neighbour_at(p, i, offset, &near[count])) ++count;
            }
    return count;
}

/* ---- Exclaves ---- */

uint8_t *find_exclaves(const problem *p, const int64_t *cells, int64_t *count) {
    const int64_t pixels = pixels_of(p);
    uint8_t *cut = must_alloc((size_t)pixels);
    int64_t *stack = must_alloc((size_t)pixels * sizeof *stack), depth = 0, near[26];
    for (int64_t i = 0; i < pixels; ++i) {
        cut[i] = cells[i] >= 0 && cells[i] != i;
        if (cells[i] == i) stack[depth++] = i;
    }
    while (depth > 0) {
        const int64_t i = stack[--depth];
        for (int n = neighbours(p, i, near); n-- > 0;)
            if (cells[near[n]] == cells[i] && cut[near[n]]) {
                cut[near[n]] = 0;
                stack[depth++] = near[n];
            }
    }
    *count = 0;
    for (int64_t i = 0; i < pixels; ++i) *count += cut[i];
    free(stack);
    return cut;
}

/* ---- Rounds ---- */

/** What an exclave takes from the neighbours that are resolved; -1 if there is none. */
static int64_t choose(const problem *p, const int64_t *cells, const uint8_t *waits, int64_t i) {
    int64_t best = -1, near[26];
    for (int n = neighbours(p, i, near); n-- > 0;) {
        const int64_t cell = waits[near[n]] ? -1 : cells[near[n]];
        if (cell < 0) continue;
        const int64_t cost = best < 0 ? 0 : cost_between(p, i, cell), least = best < 0 ? 0 : cost_between(p, i, best);
        if (best < 0 || cost < least || (cost == least && cell < best)) best = cell;
    }
    return best;
}

void hide_exclaves(const problem *p, int64_t *cells, const uint8_t *exclaves) {
    const int64_t pixels = pixels_of(p);
    uint8_t *waits = must_alloc((size_t)pixels);
    int64_t *choice = must_alloc((size_t)pixels * sizeof *choice), *list = must_alloc((size_t)pixels * sizeof *list);
    int64_t count = 0, left;
    memcpy(waits, exclaves, (size_t)pixels);
    for (int64_t i = 0; i < pixels; ++i)
        if (waits[i]) list[count++] = i;
    do {
        left = 0;
        for (int64_t k = 0; k < count; ++k) choice[k] = choose(p, cells, waits, list[k]);
        for (int64_t k = 0; k < count; ++k) {
            cells[list[k]] = choice[k];
            waits[list[k]] = choice[k] < 0;
            if (choice[k] < 0) list[left++] = list[k];
        }
    } while (left < count && (count = left) > 0);
    free(waits);
    free(choice);
    free(list);
}

/* ---- Comparing ---- */

int64_t check_voronoi(bench *b, const problem *p, const given *how) {
    int64_t *got = run_voronoi(b, p, how), count;
    answer want = solve(p);
    uint8_t *exclaves = find_exclaves(p, want.nearest, &count);
    if (p->options.flags & APSIS_CONNECTED) hide_exclaves(p, want.nearest, exclaves);
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        if (got[i] == want.nearest[i]) continue;
        char text[256];
        describe(p, text, sizeof text);
        print_error("%s%s\n  the cell of (%lld, %lld, %lld)%s is %lld, but should be %lld\n", text,
                    p->options.flags & APSIS_CONNECTED ? ", connected" : "", (long long)(i % p->size[0]),
                    (long long)(i / p->size[0] % p->size[1]), (long long)(i / p->size[0] / p->size[1]),
                    exclaves[i] ? ", an exclave," : "", (long long)got[i], (long long)want.nearest[i]);
        fail();
    }
    free(got);
    free(exclaves);
    free_answer(&want);
    return count;
}
