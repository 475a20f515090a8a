#include "oracle.h"

#include <float.h>
#include <math.h>

problem new_problem(int ndim, int64_t w, int64_t h, int64_t d, const uint8_t *mask) {
    return (problem){ndim, {w, h, d}, mask, APSIS_OPTIONS_INIT, {1, 1, 1}, 1, NULL, false};
}

int64_t pixels_of(const problem *p) { return p->size[0] * p->size[1] * p->size[2]; }
int64_t rows_of(const problem *p) { return p->size[p->ndim - 1]; }
int64_t columns_of(const problem *p) { return p->size[0] * (p->ndim == 3 ? p->size[1] : 1); }

bool is_periodic(const problem *p, int axis) { return p->options.flags & (uint32_t)APSIS_PERIODIC_X << axis; }

bool neighbour_at(const problem *p, int64_t i, const int64_t offset[3], int64_t *j) {
    const int64_t w = p->size[0], h = p->size[1], from[3] = {i % w, i / w % h, i / w / h};
    int64_t to[3];
    for (int a = 0; a < 3; ++a) {
        to[a] = from[a] + offset[a];
        if (is_periodic(p, a)) to[a] = (to[a] + p->size[a]) % p->size[a];
        if (to[a] < 0 || to[a] >= p->size[a]) return false;
    }
    *j = to[0] + w * (to[1] + h * to[2]);
    return true;
}

void draw_periodic(problem *p, chance *c) {
    const int axes = p->options.flags & APSIS_SLICES ? 2 : p->ndim;
    for (int a = 0; a < axes; ++a)
        if (p->size[a] > 1 && roll_below(c, 2)) p->options.flags |= (uint32_t)APSIS_PERIODIC_X << a;
}

void set_spacing(problem *p, int64_t x, int64_t y, int64_t z, double unit) {
    const int64_t ratio[3] = {x, y, z};
    memcpy(p->ratio, ratio, sizeof ratio);
    p->unit = unit;
    for (int a = 0; a < 3; ++a) p->options.spacing[a] = (double)ratio[a] * unit;
}

void describe(const problem *p, char *text, size_t bytes) {
    const apsis_options *o = &p->options;
    snprintf(text, bytes,
             "%lldx%lldx%lld (%d-D), metric %d, method %d,%s%s%s%s%s%s%s%s spacing {%g, %g, %g}, max_distance %.17g",
             (long long)p->size[0], (long long)p->size[1], (long long)p->size[2], p->ndim, (int)o->metric, (int)o->method,
             o->flags & APSIS_COMPLEMENT ? " complement," : "", o->flags & APSIS_SIGNED ? " signed," : "",
             o->flags & APSIS_SLICES ? " slices," : "", o->flags & APSIS_LABELS ? " labels," : "",
             o->flags & APSIS_BORDER ? " border," : "", is_periodic(p, 0) ? " periodic x," : "",
             is_periodic(p, 1) ? " periodic y," : "", is_periodic(p, 2) ? " periodic z," : "", o->spacing[0], o->spacing[1],
             o->spacing[2], o->max_distance);
}

/* ---- Costs ---- */

static bool euclidean(const problem *p) { return p->options.metric == APSIS_EUCLIDEAN; }

static int64_t axis_cost(const problem *p, int axis, int64_t offset) {
    if (euclidean(p)) return p->ratio[axis] * offset * p->ratio[axis] * offset;
    return p->ratio[axis] * (offset < 0 ? -offset : offset);
}

static int64_t add_cost(const problem *p, int64_t a, int64_t b) {
    return p->options.metric == APSIS_CHESSBOARD ? (a > b ? a : b) : a + b;
}

/** Of a periodic axis, to the nearest of three copies. */
static int64_t offset_cost(const problem *p, int axis, int64_t offset) {
    int64_t cost = axis_cost(p, axis, offset);
    for (int copy = -1; copy <= 1 && is_periodic(p, axis); copy += 2) {
        const int64_t other = axis_cost(p, axis, offset + copy * p->size[axis]);
        if (other < cost) cost = other;
    }
    return cost;
}

int64_t cost_between(const problem *p, int64_t i, int64_t j) {
    const int64_t w = p->size[0], h = p->size[1];
    const int64_t in_plane = add_cost(p, offset_cost(p, 0, j % w - i % w), offset_cost(p, 1, j / w % h - i / w % h));
    return add_cost(p, in_plane, offset_cost(p, 2, j / w / h - i / w / h));
}

static bool is_member(const problem *p, int64_t i) { return (p->mask[i] != 0) != ((p->options.flags & APSIS_COMPLEMENT) != 0); }

/** Inside the set of a signed map, the way out is looked for, and the sign is minus. */
static bool is_negative(const problem *p, int64_t i) { return p->options.flags & APSIS_SIGNED && is_member(p, i); }

static double length_of(const problem *p, int64_t cost) { return p->unit * (euclidean(p) ? exact_root(cost) : (double)cost); }

static void consider(answer *a, int64_t i, int64_t cost, int64_t site) {
    const bool better = a->cost[i] < 0 || cost < a->cost[i] || (cost == a->cost[i] && site < a->nearest[i]);
    if (!better) return;
    a->cost[i] = cost;
    a->nearest[i] = site;
}

static answer no_answer(const problem *p) {
    const size_t bytes = (size_t)pixels_of(p) * sizeof(int64_t);
    answer a = {must_alloc(bytes), must_alloc(bytes)};
    memset(a.cost, -1, bytes);
    memset(a.nearest, -1, bytes);
    return a;
}

static void forget_what_is_beyond(const problem *p, answer *a) {
    if (p->options.max_distance == 0) return;
    for (int64_t i = 0; i < pixels_of(p); ++i)
        if (a->cost[i] >= 0 && length_of(p, a->cost[i]) > p->options.max_distance) a->cost[i] = a->nearest[i] = -1;
}

void free_answer(answer *a) {
    free(a->cost);
    free(a->nearest);
}

/* ---- Every pixel against every target ---- */

static void solve_image(const problem *p, answer *a, int64_t first, int64_t pixels, int64_t *targets, bool member) {
    int64_t count = 0;
    for (int64_t j = first; j < first + pixels; ++j)
        if (is_member(p, j) == member) targets[count++] = j;
    for (int64_t i = first; i < first + pixels; ++i) {
        if (is_negative(p, i) == member) continue;
        for (int64_t t = 0; t < count; ++t) consider(a, i, cost_between(p, i, targets[t]), targets[t]);
    }
}

/** Of a label image: pixels of another value; the background is its own nearest. */
static void solve_labels(const problem *p, answer *a, int64_t first, int64_t pixels) {
    for (int64_t i = first; i < first + pixels; ++i)
        for (int64_t j = first; j < first + pixels; ++j)
            if (p->mask[i] == 0 ? i == j : p->mask[i] != p->mask[j]) consider(a, i, cost_between(p, i, j), j);
}

/** What lies outside the image is background, and is nearest at a place straight along an axis. */
static void consider_border(const problem *p, answer *a, int64_t i) {
    const int64_t at[3] = {i % p->size[0], i / p->size[0] % p->size[1], i / p->size[0] / p->size[1]};
    const int axes = p->options.flags & APSIS_SLICES ? 2 : p->ndim;
    for (int axis = 0; axis < axes; ++axis) {
        if (is_periodic(p, axis)) continue;
        consider(a, i, axis_cost(p, axis, at[axis] + 1), -1);
        consider(a, i, axis_cost(p, axis, p->size[axis] - at[axis]), -1);
    }
}

bool has_background(const problem *p) { return p->options.flags & (APSIS_LABELS | APSIS_BORDER); }

static bool any_periodic(const problem *p) { return is_periodic(p, 0) || is_periodic(p, 1) || is_periodic(p, 2); }

answer solve_by_force(const problem *p) {
    answer a = no_answer(p);
    const int64_t all = pixels_of(p);
    const int64_t pixels = p->options.flags & APSIS_SLICES ? p->size[0] * p->size[1] : all;
    int64_t *targets = must_alloc((size_t)pixels * sizeof(int64_t));
    for (int64_t first = 0; first < all; first += pixels) {
        if (p->options.flags & APSIS_LABELS)
            solve_labels(p, &a, first, pixels);
        else
            for (int member = 0; member < 2; ++member) solve_image(p, &a, first, pixels, targets, member);
    }
    free(targets);
    for (int64_t i = 0; p->options.flags & APSIS_BORDER && i < all; ++i)
        if (p->mask[i]) consider_border(p, &a, i);
    forget_what_is_beyond(p, &a);
    return a;
}

int64_t work_of_force(const problem *p) {
    const int64_t all = pixels_of(p);
    const int64_t pixels = p->options.flags & APSIS_SLICES ? p->size[0] * p->size[1] : all;
    int64_t members = 0;
    for (int64_t i = 0; i < all; ++i) members += is_member(p, i);
    if (!(p->options.flags & APSIS_SIGNED)) return members * pixels;
    return 2 * members * (all - members) / (all / pixels);
}

/* ---- Row by row, outward ---- */

typedef struct rows {
    int32_t *before[2], *after[2]; /* [is member]: of each pixel, the x of the nearest such pixel up to it, and from it */
} rows;

static rows scan_rows(const problem *p) {
    rows r;
    const int64_t w = p->size[0], all = pixels_of(p);
    for (int member = 0; member < 2; ++member) {
        r.before[member] = must_alloc((size_t)all * sizeof(int32_t));
        r.after[member] = must_alloc((size_t)all * sizeof(int32_t));
        for (int64_t i = 0; i < all; ++i)
            r.before[member][i] = is_member(p, i) == member ? (int32_t)(i % w) : i % w ? r.before[member][i - 1] : -1;
        for (int64_t i = all - 1; i >= 0; --i)
            r.after[member][i] = is_member(p, i) == member ? (int32_t)(i % w)
                                 : i % w < w - 1           ? r.after[member][i + 1]
                                                           : (int32_t)w;
    }
    return r;
}

/** The candidates of one row, which is `away` from pixel i. */
static void consider_row(const problem *p, const rows *r, answer *a, int64_t i, int64_t row, int64_t away, int target) {
    const int64_t w = p->size[0], x = i % w, left = r->before[target][row + x], right = r->after[target][row + x];
    if (left >= 0) consider(a, i, add_cost(p, away, axis_cost(p, 0, x - left)), row + left);
    if (right < w) consider(a, i, add_cost(p, away, axis_cost(p, 0, right - x)), row + right);
    if (p->options.metric != APSIS_CHESSBOARD || (left < 0 && right == w)) return;
    int64_t reach = left >= 0 ? x - left : right - x; /* all within it are equally far: the first one counts */
    if (right < w && right - x < reach) reach = right - x;
    if (away > reach) reach = away;
    const int64_t first = r->after[target][row + (x > reach ? x - reach : 0)];
    consider(a, i, reach, row + first);
}

static void search_plane(const problem *p, const rows *r, answer *a, int64_t i, int64_t z, int64_t away, int target) {
    const int64_t w = p->size[0], h = p->size[1], y = i / w % h;
    for (int64_t d = 0; d < h; ++d) {
        const int64_t cost = add_cost(p, away, axis_cost(p, 1, d));
        if (a->cost[i] >= 0 && cost > a->cost[i]) return;
        if (y >= d) consider_row(p, r, a, i, w * (y - d + h * z), cost, target);
        if (d > 0 && y + d < h) consider_row(p, r, a, i, w * (y + d + h * z), cost, target);
    }
}

answer solve_by_rows(const problem *p) {
    answer a = no_answer(p);
    rows r = scan_rows(p);
    const int64_t slice = p->size[0] * p->size[1];
    const int64_t depth = p->options.flags & APSIS_SLICES ? 1 : p->size[2];
    for (int64_t i = 0; i < pixels_of(p); ++i) {
        const int target = !is_negative(p, i);
        const int64_t z = i / slice;
        for (int64_t d = 0; d < depth; ++d) {
            const int64_t cost = axis_cost(p, 2, d);
            if (a.cost[i] >= 0 && cost > a.cost[i]) break;
            if (z >= d) search_plane(p, &r, &a, i, z - d, cost, target);
            if (d > 0 && z + d < p->size[2]) search_plane(p, &r, &a, i, z + d, cost, target);
        }
    }
    for (int member = 0; member < 2; ++member) {
        free(r.before[member]);
        free(r.after[member]);
    }
    forget_what_is_beyond(p, &a);
    return a;
}

/* ---- The lower envelope of a row (Meijster, Roerdink and Hesselink 2000; Felzenszwalb and Huttenlocher 2012) ---- */

typedef struct column {
    int64_t x, y, cost; /* the column's nearest target in its own column, and what it costs there */
    int64_t from;       /* the first pixel of the row that it wins */
} column;

bool has_envelope(const problem *p) { return euclidean(p) && (p->size[2] == 1 || p->options.flags & APSIS_SLICES); }

/** Of each pixel of an image, the row of the nearest such pixel of its column, the upper one of two; -1 if none. */
static void scan_columns(const problem *p, int64_t first, int member, int64_t *row) {
    const int64_t w = p->size[0], h = p->size[1];
    for (int64_t i = 0; i < w * h; ++i) row[i] = is_member(p, first + i) == member ? i / w : i < w ? -1 : row[i - w];
    for (int64_t i = w * (h - 1) - 1; i >= 0; --i) {
        const int64_t y = i / w, below = row[i + w];
        if (below > y && (row[i] < 0 || below - y < y - row[i])) row[i] = below;
    }
}

/** The last x where column a still wins against column b, which is to its right. */
static int64_t last_win(const problem *p, const column *a, const column *b) {
    const int64_t weight = axis_cost(p, 0, 1), step = 2 * weight * (b->x - a->x);
    const int64_t reach = b->cost - a->cost + weight * (b->x * b->x - a->x * a->x);
    const int64_t last = reach / step - (reach % step < 0);
    const bool tie = last * step == reach, b_is_lower = b->y < a->y;
    return tie && b_is_lower ? last - 1 : last;
}

/** The columns that win somewhere in row y, from left to right. */
static int64_t find_winners(const problem *p, const int64_t *row, int64_t y, column *winners) {
    int64_t count = 0;
    for (int64_t x = 0; x < p->size[0]; ++x) {
        if (row[x] < 0) continue;
        column next = {x, row[x], axis_cost(p, 1, row[x] - y), 0};
        while (count > 0 && (next.from = last_win(p, &winners[count - 1], &next) + 1) <= winners[count - 1].from) --count;
        if (count == 0) next.from = 0;
        if (next.from < p->size[0]) winners[count++] = next;
    }
    return count;
}

/** The pixels of a row, the first of which is i, that look for this target; their image begins at `first`. */
static void consider_winners(const problem *p, answer *a, int64_t first, int64_t i, const column *winner, int64_t count,
                             int target) {
    const int64_t w = p->size[0];
    for (int64_t x = 0; count > 0 && x < w; ++x, ++i) {
        for (; count > 1 && winner[1].from <= x; --count) ++winner;
        const int64_t cost = winner->cost + axis_cost(p, 0, x - winner->x);
        if (is_negative(p, i) != target) consider(a, i, cost, first + winner->y * w + winner->x);
    }
}

answer solve_by_envelope(const problem *p) {
    answer a = no_answer(p);
    const int64_t w = p->size[0], h = p->size[1], slice = w * h;
    int64_t *row = must_alloc((size_t)slice * sizeof *row);
    column *winners = must_alloc((size_t)w * sizeof *winners);
    for (int64_t first = 0; first < pixels_of(p); first += slice)
        for (int target = 0; target < 2; ++target) {
            scan_columns(p, first, target, row);
            for (int64_t y = 0; y < h; ++y) {
                const int64_t count = find_winners(p, row + y * w, y, winners);
                consider_winners(p, &a, first, first + y * w, winners, count, target);
            }
        }
    free(row);
    free(winners);
    forget_what_is_beyond(p, &a);
    return a;
}

answer solve(const problem *p) {
    if (has_background(p) || any_periodic(p)) return solve_by_force(p);
    if (work_of_force(p) <= (has_envelope(p) ? 2000000 : 20000000)) return solve_by_force(p);
    return has_envelope(p) ? solve_by_envelope(p) : solve_by_rows(p);
}

/* ---- Roots and pixels ---- */

/** floor(sqrt(cost) * 2^32), its last bit set if that is not exact: 57 bits or more of a large cost's root. */
static uint64_t sticky_root(int64_t cost) {
    const unsigned __int128 square = (unsigned __int128)(uint64_t)cost << 64;
    uint64_t root = 0;
    for (int bit = 62; bit >= 0; --bit) {
        const uint64_t next = root | (uint64_t)1 << bit;
        if ((unsigned __int128)next * next <= square) root = next;
    }
    return root | ((unsigned __int128)root * root != square);
}

/* Up to 2^50 the double root of an exact operand is rounded once by itself, and far enough from a midpoint of floats. */
double exact_root(int64_t cost) { return cost < (int64_t)1 << 50 ? sqrt((double)cost) : ldexp((double)sticky_root(cost), -32); }

float exact_root_float(int64_t cost) {
    return cost < (int64_t)1 << 50 ? (float)sqrt((double)cost) : ldexpf((float)sticky_root(cost), -32);
}

void expected_pixel(const problem *p, const answer *a, int64_t i, apsis_type type, void *pixel) {
    const int64_t cost = a->cost[i], sign = is_negative(p, i) ? -1 : 1;
    const bool found = cost >= 0;
    const int32_t i32 = (int32_t)sign * (found ? (int32_t)cost : INT32_MAX);
    const int64_t i64 = sign * (found ? cost : INT64_MAX);
    double f64 = HUGE_VAL;
    float f32 = HUGE_VALF;
    if (found) { /* exact where unit is a power of two; elsewhere see is_close */
        f64 = euclidean(p) ? (double)(p->unit * (long double)exact_root(cost)) : p->unit * (double)cost;
        f32 = euclidean(p) ? (float)(p->unit * (long double)exact_root_float(cost)) : (float)f64;
    }
    f64 *= (double)sign;
    f32 *= (float)sign;
    switch (type) {
        case APSIS_I32: memcpy(pixel, &i32, sizeof i32); break;
        case APSIS_I64: memcpy(pixel, &i64, sizeof i64); break;
        case APSIS_F32: memcpy(pixel, &f32, sizeof f32); break;
        default: memcpy(pixel, &f64, sizeof f64); break;
    }
}

bool is_close(const problem *p, const answer *a, int64_t i, apsis_type type, const void *got) {
    const long double root = euclidean(p) ? sqrtl((long double)a->cost[i]) : (long double)a->cost[i];
    const long double exact = (is_negative(p, i) ? -1 : 1) * (long double)p->unit * root;
    float f32;
    double f64;
    memcpy(type == APSIS_F32 ? (void *)&f32 : (void *)&f64, got, type == APSIS_F32 ? sizeof f32 : sizeof f64);
    const long double value = type == APSIS_F32 ? (long double)f32 : (long double)f64;
    int exponent;
    frexpl(exact, &exponent);
    const long double ulp = ldexpl(1, exponent - (type == APSIS_F32 ? FLT_MANT_DIG : DBL_MANT_DIG));
    return fabsl(value - exact) <= 0.501L * ulp;
}
