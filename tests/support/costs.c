#include "costs.h"

static int64_t cost_of(const cost_problem *c, int64_t i) { return c->cost ? c->cost[i] : 1; }

bool is_passable(const cost_problem *c, int64_t i) { return (!c->p.mask || is_member(&c->p, i)) && cost_of(c, i) > 0; }

static bool is_one_set(const cost_problem *c, int64_t i, int64_t j) {
    return !(c->p.options.flags & APSIS_LABELS) || c->p.mask[i] == c->p.mask[j];
}

/** Whether there is a pixel between those of a knight's move, which is in the set of both, and touches both. */
static bool is_over_one(const cost_problem *c, int64_t i, int64_t j) {
    const int64_t w = c->p.size[0], h = c->p.size[1];
    for (int64_t k = i / w / h * w * h; k < (i / w / h + 1) * w * h; ++k) {
        const int64_t x = k % w - i % w, y = k / w % h - i / w % h, u = k % w - j % w, v = k / w % h - j / w % h;
        if (x * x <= 1 && y * y <= 1 && u * u <= 1 && v * v <= 1 && is_passable(c, k) && is_one_set(c, i, k)) return true;
    }
    return false;
}

int64_t weight_between(const cost_problem *c, int64_t i, int64_t j) {
    const scale s = scale_of(&c->p);
    int64_t stride = 1, step[3];
    if (!is_one_set(c, i, j)) return 0;
    for (int a = 0; a < 3; stride *= c->p.size[a++]) step[a] = j / stride % c->p.size[a] - i / stride % c->p.size[a];
    const int64_t weight = weight_of(&s, step);
    const bool is_far = step[0] * step[0] + step[1] * step[1] == 5;
    return weight && is_far && !is_over_one(c, i, j) ? 0 : weight;
}

int64_t step_between(const cost_problem *c, int64_t i, int64_t j) {
    return (cost_of(c, i) + cost_of(c, j)) * weight_between(c, i, j);
}

/** Takes what a path over pixel i gives its neighbours.  Returns whether anything has changed. */
static bool pass_on(const cost_problem *c, answer *a, int64_t i) {
    const int64_t w = c->p.size[0], h = c->p.size[1], at[3] = {i % w, i / w % h, i / w / h};
    bool changed = false;
    for (int n = 0; n < 125; ++n) {
        const int d[3] = {n % 5 - 2, n / 5 % 5 - 2, n / 25 - 2};
        bool inside = true;
        for (int k = 0; k < 3; ++k) inside = inside && at[k] + d[k] >= 0 && at[k] + d[k] < c->p.size[k];
        const int64_t j = i + d[0] + w * (d[1] + h * d[2]);
        if (!inside || !is_passable(c, j) || !weight_between(c, i, j)) continue;
        const int64_t cost = a->cost[i] + step_between(c, i, j);
        if (a->cost[j] >= 0 && (cost > a->cost[j] || (cost == a->cost[j] && a->nearest[i] >= a->nearest[j]))) continue;
        a->cost[j] = cost;
        a->nearest[j] = a->nearest[i];
        changed = true;
    }
    return changed;
}

answer solve_costs(const cost_problem *c) {
    const int64_t pixels = pixels_of(&c->p);
    answer a = {must_alloc((size_t)pixels * 8), must_alloc((size_t)pixels * 8)};
    for (int64_t i = 0; i < pixels; ++i) {
        const bool is_seed = c->seeds[i] && is_passable(c, i);
        a.cost[i] = is_seed ? 0 : -1;
        a.nearest[i] = is_seed ? i : -1;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < pixels; ++i)
            if (a.cost[i] >= 0) changed |= pass_on(c, &a, i);
    }
    return a;
}

double real_cost(const cost_problem *c, int64_t doubled) {
    scale s = scale_of(&c->p);
    s.divisor *= 2;
    return real_of(&s, doubled);
}

int64_t seed_of(const cost_problem *c, const answer *a, int64_t i) {
    const double limit = c->p.options.max_distance;
    return a->cost[i] >= 0 && limit > 0 && real_cost(c, a->cost[i]) > limit ? -1 : a->nearest[i];
}
