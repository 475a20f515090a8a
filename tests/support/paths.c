#include "paths.h"

#include <math.h>

static bool volume(const problem *p) { return p->ndim == 3 && !(p->options.flags & APSIS_SLICES); }

bool is_member(const problem *p, int64_t i) { return (p->mask[i] != 0) != ((p->options.flags & APSIS_COMPLEMENT) != 0); }

scale scale_of(const problem *p) {
    static const int64_t plane[4] = {0, 5741, 8119, 9944}, space[4] = {0, 134421, 190100, 232824};
    const int axes = volume(p) ? 3 : 2;
    const apsis_metric metric = p->options.metric;
    const int connectivity = p->options.connectivity ? p->options.connectivity : metric == APSIS_CITY_BLOCK ? 1 : axes;
    const bool deep = connectivity == 3 && p->size[0] > 1 && p->size[1] > 1 && p->size[2] > 1;
    bool equal = true;
    for (int a = 1; a < axes; ++a) equal = equal && p->ratio[a] == p->ratio[0];
    scale s = {.divisor = 1, .unit = p->unit};
    const bool roots = metric == APSIS_EUCLIDEAN && connectivity > 1;
    if (roots && equal) s.divisor = deep ? (double)space[1] : (double)plane[1], s.unit = p->unit * (double)p->ratio[0];
    if (roots && !equal) s.divisor = 1099511627776.0, s.rounded = true;
    const int32_t *const w = p->options.weights, chamfer[4] = {0, w[0] ? w[0] : 3, w[0] ? w[1] : 4, w[0] ? w[2] : 5};
    if (metric == APSIS_CHAMFER) s.divisor = chamfer[1], s.unit = p->unit * (double)p->ratio[0];
    if (metric == APSIS_CHAMFER && axes == 2) s.knight = w[2];
    for (int kind = 1; kind < 1 << axes; ++kind) {
        int64_t sum = 0, square = 0, count = 0;
        for (int a = 0; a < axes; ++a) {
            if (!(kind >> a & 1)) continue;
            ++count;
            sum += p->ratio[a];
            square += p->ratio[a] * p->ratio[a];
        }
        if (count > connectivity) continue;
        s.weight[kind] = metric == APSIS_CHESSBOARD ? p->ratio[0] : sum;
        if (metric == APSIS_CHAMFER) s.weight[kind] = chamfer[count];
        if (roots && equal) s.weight[kind] = deep ? space[count] : plane[count];
        if (roots && !equal) s.weight[kind] = llround(sqrt((double)square) * s.divisor);
    }
    return s;
}

int64_t weight_of(const scale *s, const int64_t step[3]) {
    int64_t kind = 0, sum = 0;
    for (int a = 0; a < 3; ++a) {
        const int64_t by = step[a] < 0 ? -step[a] : step[a];
        if (by > 2) return 0;
        kind |= by ? 1 << a : 0;
        sum += by;
    }
    const bool is_near = sum == (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1);
    return is_near ? s->weight[kind] : kind == 3 && sum == 3 ? s->knight : 0;
}

void draw_weights(problem *p, bool knights, chance *c) {
    static const int32_t plane[][3] = {{2, 3},       {5, 7, 11},         {5, 7, 11},      {1, 1},
                                       {1, 2},       {1, 1, 2},          {1, 2, 3},       {5, 7, 12},
                                       {12, 17, 27}, {1048575, 1048576}, {300, 424, 671}, {370000, 523000, 827000},
                                       {2, 2, 4},    {4, 5, 9}};
    static const int32_t space[][3] = {{3, 4, 5}, {2, 3, 4},  {1, 1, 1},    {1, 2, 3},
                                       {3, 4, 6}, {4, 6, 7},  {13, 17, 22}, {600000, 849000, 1040000},
                                       {9, 9, 9}, {5, 10, 12}};
    if (p->options.metric != APSIS_CHAMFER || !roll_below(c, 4)) return;
    const bool deep = volume(p);
    const int32_t *const weights = deep ? space[roll_below(c, COUNT(space))] : plane[roll_below(c, COUNT(plane))];
    memcpy(p->options.weights, weights, 3 * sizeof *weights);
    if (!deep && (!knights || p->options.connectivity == 1)) p->options.weights[2] = 0;
}

double real_of(const scale *s, int64_t length) { return (double)length / s->divisor * s->unit; }

double shown(const scale *s, apsis_type type, int64_t length) {
    if (type == APSIS_I32 || type == APSIS_I64) return (double)length;
    return type == APSIS_F32 ? (double)(float)real_of(s, length) : real_of(s, length);
}

double value_at(const void *pixels, apsis_type type, int64_t i) {
    switch (type) {
        case APSIS_I32: return ((const int32_t *)pixels)[i];
        case APSIS_I64: return (double)((const int64_t *)pixels)[i];
        case APSIS_F32: return (double)((const float *)pixels)[i];
        default: return ((const double *)pixels)[i];
    }
}

typedef struct queue {
    int64_t *pixel, first, count, size;
    uint8_t *waits;
} queue;

static void enqueue(queue *q, int64_t i) {
    if (q->waits[i]) return;
    q->waits[i] = 1;
    q->pixel[(q->first + q->count++) % q->size] = i;
}

static int64_t dequeue(queue *q) {
    const int64_t i = q->pixel[q->first];
    q->first = (q->first + 1) % q->size;
    --q->count;
    q->waits[i] = 0;
    return i;
}

/** Whether paths may go from pixel i to the one at a step from it. */
static bool is_within(const problem *p, int64_t i, const int64_t step[3], int64_t *j) {
    if (!neighbour_at(p, i, step, j) || !is_member(p, *j)) return false;
    return !(p->options.flags & APSIS_LABELS) || p->mask[i] == p->mask[*j];
}

/** Whether a step leads from pixel i: one by 2 goes over a pixel that touches both of its ends. */
static bool leads(const problem *p, int64_t i, const int64_t step[3], int64_t *j) {
    bool over = true;
    if (step[0] * step[0] + step[1] * step[1] + step[2] * step[2] == 5) {
        over = false;
        for (int n = 9; n < 18; ++n) {
            const int64_t d[3] = {n % 3 - 1, n / 3 % 3 - 1, 0}, x = step[0] - d[0], y = step[1] - d[1];
            over = over || (x * x <= 1 && y * y <= 1 && is_within(p, i, d, j));
        }
    }
    return over && is_within(p, i, step, j);
}

/** The steps that have a weight: at most those to the 5 x 5 x 5 pixels around. */
typedef struct steps {
    int64_t by[125][3], weight[125];
    int count;
} steps;

static steps steps_of(const scale *s) {
    steps all = {.count = 0};
    for (int n = 0; n < 125; ++n) {
        const int64_t by[3] = {n % 5 - 2, n / 5 % 5 - 2, n / 25 - 2}, weight = weight_of(s, by);
        if (weight == 0) continue;
        memcpy(all.by[all.count], by, sizeof by);
        all.weight[all.count++] = weight;
    }
    return all;
}

static void relax(const problem *p, const steps *all, answer *a, queue *q, int64_t i) {
    for (int n = 0; n < all->count; ++n) {
        const int64_t length = a->cost[i] + all->weight[n];
        int64_t j;
        if (!leads(p, i, all->by[n], &j)) continue;
        const bool better = a->cost[j] < 0 || length < a->cost[j] || (length == a->cost[j] && a->nearest[i] < a->nearest[j]);
        if (!better) continue;
        a->cost[j] = length;
        a->nearest[j] = a->nearest[i];
        enqueue(q, j);
    }
}

answer solve_paths(const problem *p, const uint8_t *seeds) {
    const int64_t pixels = pixels_of(p);
    const scale s = scale_of(p);
    const steps all = steps_of(&s);
    answer a = {must_alloc((size_t)pixels * 8), must_alloc((size_t)pixels * 8)};
    queue q = {must_alloc((size_t)pixels * 8), 0, 0, pixels, must_alloc((size_t)pixels)};
    for (int64_t i = 0; i < pixels; ++i) {
        const bool seed = seeds[i] && is_member(p, i);
        a.cost[i] = seed ? 0 : -1;
        a.nearest[i] = seed ? i : -1;
        if (seed) enqueue(&q, i);
    }
    while (q.count > 0) relax(p, &all, &a, &q, dequeue(&q));
    free(q.pixel);
    free(q.waits);
    return a;
}

/* ---- The farthest ---- */

/** One field.  Lists the pixels that it has visited, and returns how many. */
static int64_t visit(const problem *p, const steps *all, answer *a, queue *q, int64_t source, int64_t *visited, uint8_t *seen) {
    int64_t count = 0;
    a->cost[source] = 0;
    enqueue(q, source);
    while (q->count > 0) {
        const int64_t i = dequeue(q);
        if (!seen[i]) visited[count++] = i;
        seen[i] = 1;
        relax(p, all, a, q, i);
    }
    for (int64_t k = 0; k < count; ++k) seen[visited[k]] = 0;
    return count;
}

extremes solve_extremes(const problem *p) {
    const int64_t pixels = pixels_of(p);
    const size_t bytes = (size_t)pixels * 8;
    const scale s = scale_of(p);
    const steps all = steps_of(&s);
    extremes e = {must_alloc(bytes), must_alloc(bytes), must_alloc((size_t)(pixels + 1) * sizeof(apsis_extent)), 0};
    uint8_t *seen = must_alloc((size_t)pixels);
    int64_t *visited = must_alloc(bytes), *component = must_alloc(bytes);
    answer a = {must_alloc(bytes), must_alloc(bytes)};
    queue q = {must_alloc(bytes), 0, 0, pixels, must_alloc((size_t)pixels)};
    memset(a.cost, -1, bytes);
    memset(e.cost, -1, bytes);
    memset(e.farthest, -1, bytes);
    for (int64_t i = 0; i < pixels; ++i) {
        if (!is_member(p, i)) continue;
        const int64_t count = visit(p, &all, &a, &q, i, visited, seen);
        if (!component[i]) e.extent[e.count++] = (apsis_extent){.first = i, .diameter = -1, .radius = 1e300};
        for (int64_t k = 0; k < count; ++k) {
            const int64_t v = visited[k];
            component[v] = e.count + (component[i] ? component[i] - e.count : 0);
            if (a.cost[v] > e.cost[i] || (a.cost[v] == e.cost[i] && v < e.farthest[i]))
                e.cost[i] = a.cost[v], e.farthest[i] = v;
        }
        for (int64_t k = 0; k < count; ++k) a.cost[visited[k]] = -1;
        apsis_extent *const x = &e.extent[component[i] - 1];
        const double real = real_of(&s, e.cost[i]);
        if (real > x->diameter) x->diameter = real, x->ends[0] = i, x->ends[1] = e.farthest[i];
        if (real < x->radius) x->radius = real, x->centre = i;
    }
    free(visited);
    free(seen);
    free(component);
    free_answer(&a);
    free(q.pixel);
    free(q.waits);
    return e;
}

void free_extremes(extremes *e) {
    free(e->cost);
    free(e->farthest);
    free(e->extent);
}
