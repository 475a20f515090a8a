#include "cuts.h"

cut cut_of(unsigned cuts, int64_t rows) {
    cut at = {.slabs = 0};
    for (int64_t row = 1; row < rows; ++row)
        if (cuts >> (row - 1) & 1) at.start[++at.slabs] = row;
    at.start[++at.slabs] = rows;
    return at;
}

cut choose_cut(chance *c, int64_t rows) {
    cut at = {.slabs = 1 + (int)roll_below(c, MOST_SLABS)};
    for (int k = 1; k < at.slabs; ++k) at.start[k] = roll_below(c, rows + 1);
    for (int i = 1; i < at.slabs; ++i)
        for (int k = 1; k < at.slabs - 1; ++k)
            if (at.start[k] > at.start[k + 1]) {
                const int64_t larger = at.start[k];
                at.start[k] = at.start[k + 1];
                at.start[k + 1] = larger;
            }
    at.start[at.slabs] = rows;
    return at;
}

problem slab_of(const problem *p, const cut *at, int k) {
    problem slab = *p;
    slab.size[p->ndim - 1] = at->start[k + 1] - at->start[k];
    slab.mask = p->mask + at->start[k] * columns_of(p);
    return slab;
}

void fail_at(const cut *at, const char *what) {
    print_error("  cut at");
    for (int k = 1; k < at->slabs; ++k) print_error(" %lld", (long long)at->start[k]);
    print_error(": %s is not that of the whole image\n", what);
    fail();
}

bench open_cpu(void) {
    bench cpu = {.place = ON_CPU, .device = APSIS_CPU, .memory = APSIS_HOST};
    assert_ok(NULL, apsis_create(APSIS_VERSION, APSIS_CPU, &cpu.ctx));
    return cpu;
}

int mask_step(const bench *b, int masks, int on_device) {
    const int step = masks / effort(masks);
    return b->place != ON_CPU && step < on_device ? on_device : step;
}
