#include "flood.h"

#include <math.h>

static bool member(const problem *p, int64_t i) { return (p->mask[i] != 0) != ((p->options.flags & APSIS_COMPLEMENT) != 0); }

static bool by_value(const problem *p) { return (p->options.flags & APSIS_LABELS) != 0; }

/** Whether two neighbours in the set are connected.  Differences of 32 bits are exact in double; NaN is as far as can be. */
static bool connected(const problem *p, int64_t i, int64_t j) {
    if (!by_value(p)) return true;
    if (!p->grey) return p->mask[i] == p->mask[j];
    return p->grey[i] == p->grey[j] || fabs(p->grey[i] - p->grey[j]) <= p->options.delta;
}

static bool volume(const problem *p) { return p->ndim == 3 && !(p->options.flags & APSIS_SLICES); }

/** Whether an offset leads to a neighbour. */
static bool adjacent(const problem *p, int dx, int dy, int dz) {
    const int axes = abs(dx) + abs(dy) + abs(dz), most = p->options.connectivity ? p->options.connectivity : 1;
    return axes > 0 && axes <= most && (dz == 0 || volume(p));
}

static void note(apsis_component *c, const int64_t at[3], int64_t i) {
    if (c->area == 0) c->first = i;
    for (int a = 0; a < 3; ++a) {
        if (c->area == 0 || at[a] < c->lower[a]) c->lower[a] = at[a];
        if (c->area == 0 || at[a] > c->upper[a]) c->upper[a] = at[a];
        c->centroid[a] += (double)at[a]; /* whole numbers: exact */
    }
    ++c->area;
}

static apsis_component fill(const problem *p, flooded *f, int64_t first, int64_t number, int64_t *stack) {
    const int64_t w = p->size[0], h = p->size[1];
    apsis_component c = {.value = by_value(p) ? p->mask[first] : 1};
    int64_t depth = 0;
    stack[depth++] = first;
    f->label[first] = number;
    while (depth > 0) {
        const int64_t i = stack[--depth], at[3] = {i % w, i / w % h, i / w / h};
        note(&c, at, i);
        if (i < c.first) c.first = i;
        for (int n = 0; n < 27; ++n) {
            const int64_t d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            int64_t j;
            if (!adjacent(p, (int)d[0], (int)d[1], (int)d[2]) || !neighbour_at(p, i, d, &j)) continue;
            if (f->label[j] || !member(p, j) || !connected(p, i, j)) continue;
            f->label[j] = number;
            stack[depth++] = j;
        }
    }
    for (int a = 0; a < 3; ++a) c.centroid[a] /= (double)c.area;
    return c;
}

static bool touches(const problem *p, const apsis_component *c) {
    for (int a = 0; a < (volume(p) ? 3 : 2); ++a)
        if (!is_periodic(p, a) && (c->lower[a] == 0 || c->upper[a] == p->size[a] - 1)) return true;
    return false;
}

static bool wanted(const problem *p, const apsis_component *c) {
    const apsis_options *o = &p->options;
    if (o->min_area && c->area < o->min_area) return false;
    if (o->max_area && c->area > o->max_area) return false;
    return !(o->flags & (uint32_t)(touches(p, c) ? APSIS_NO_BORDER : APSIS_NO_INNER));
}

/** How many wanted components of the same image are larger, or as large and earlier. */
static int64_t above(const problem *p, const flooded *f, int64_t k) {
    const apsis_component *c = &f->component[k];
    int64_t better = 0;
    for (int64_t i = 0; i < f->count; ++i) {
        const apsis_component *other = &f->component[i];
        if (!wanted(p, other) || (!volume(p) && other->lower[2] != c->lower[2])) continue;
        better += other->area > c->area || (other->area == c->area && i < k);
    }
    return better;
}

static void leave_out(const problem *p, flooded *f) {
    int64_t *number = must_alloc((size_t)(f->count + 1) * sizeof *number), kept = 0;
    for (int64_t k = 0; k < f->count; ++k)
        if (wanted(p, &f->component[k]) && (!p->options.largest || above(p, f, k) < p->options.largest)) number[k + 1] = ++kept;
    for (int64_t i = 0; i < pixels_of(p); ++i) f->label[i] = number[f->label[i]];
    for (int64_t k = 0; k < f->count; ++k)
        if (number[k + 1]) f->component[number[k + 1] - 1] = f->component[k];
    f->count = kept;
    free(number);
}

flooded flood(const problem *p) {
    const size_t pixels = (size_t)pixels_of(p);
    flooded f = {must_alloc(pixels * sizeof(int64_t)), must_alloc((pixels + 1) * sizeof(apsis_component)), 0};
    int64_t *stack = must_alloc(pixels * sizeof(int64_t));
    for (int64_t i = 0; i < (int64_t)pixels; ++i)
        if (member(p, i) && !f.label[i]) {
            f.component[f.count] = fill(p, &f, i, f.count + 1, stack);
            ++f.count;
        }
    free(stack);
    leave_out(p, &f);
    return f;
}

void free_flooded(flooded *f) {
    free(f->label);
    free(f->component);
}
