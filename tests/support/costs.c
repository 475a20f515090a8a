#include "costs.h"

static int64_t cost_of(const cost_problem *c, int64_t i) { return c->cost ? c->cost[i] : 1; }

bool is_passable(const cost_problem *c, int64_t i) { return (!c->p.mask || is_member(&c->p, i)) && cost_of(c, i) > 0; }

int64_t weight_between(const cost_problem *c, int64_t i, int64_t j) {
    const scale s = scale_of(&c->p);
    int64_t stride = 1;
    int kind = 0;
    if (c->p.options.flags & APSIS_LABELS && c->p.mask[i] != c->p.mask[j]) return 0;
    for (int a = 0; a < 3; stride *= c->p.size[a++]) {
        const int64_t d = j / stride % c->p.size[a] - i / stride % c->p.size[a];
        if (d < -1 || d > 1) return 0;
        kind |= d ? 1 << a : 0;
    }
    return s.weight[kind];
}

int64_t step_between(const cost_problem *c, int64_t i, int64_t j) {
    return (cost_of(c, i) + cost_of(c, j)) * weight_between(c, i, j);
}

/** Takes what a path over pixel i gives its neighbours.  Returns whether anything has changed. */
static bool pass_on(const cost_problem *c, answer *a, int64_t i) {
    const int64_t w = c->p.size[0], h = c->p.size[1], at[3] = {i % w, i / w % h, i / w / h};
    bool changed = false;
    for (int n = 0; n < 27; ++n) {
        const int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool inside = n != 13;
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
