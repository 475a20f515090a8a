// The first and the last run of a label in each column of a slab (slabs/runs.h tells what of it is told).
//
// A thread takes some columns, and goes from row to row until it has passed the runs of all.  So it reads few rows but where
// columns are background.
#include "cpu/distance/columns.h"

namespace apsis::cpu::distance {
namespace {

/// Finds the first run of some columns, or going up the last one.
void find_runs_of(const SummaryJob &job, bool upward, int64_t *told, int64_t begin, int64_t end) {
    const int64_t columns = job.columns(), rows = job.set.size[job.axes - 1], width = job.set.size[0];
    const int64_t none = upward ? -1 : INT64_MAX, outside = upward ? job.slab.start - 1 : job.slab.start + rows;
    int64_t *const at = told, *const beyond = told + columns, *const label = told + 2 * columns;
    for (int64_t *numbers : {at, beyond, label}) std::fill(numbers + begin, numbers + end, none);
    int64_t open = end - begin;  // columns whose run has not been passed
    for (int64_t i = 0; i < rows && open > 0; ++i) {
        const int64_t row = upward ? rows - 1 - i : i;
        for (int64_t c = begin; c < end; ++c) {
            const bool has_begun = at[c] != none;
            if (has_begun && beyond[c] != outside) continue;
            const uint8_t *const pixels = job.axes == 3 ? job.set.row(c / width, row) : job.set.row(row, 0);
            const int64_t value = value_at(job.set, pixels, c % width);
            if (!has_begun && value != 0)
                at[c] = job.slab.start + row, beyond[c] = outside, label[c] = value;
            else if (has_begun && value != label[c])
                beyond[c] = job.slab.start + row, --open;
        }
    }
}

}  // namespace

void find_runs(const SummaryJob &job, Arena &arena, const Progress &progress) {
    const int64_t columns = job.columns(), chunks = (columns + CARRY_CHUNK - 1) / CARRY_CHUNK;
    parallel_for(arena, 2 * chunks, progress, 0.0, 1.0, [&](int64_t i) {
        const bool upward = i >= chunks;
        int64_t *const told = upward ? job.last : job.first;
        const int64_t begin = i % chunks * CARRY_CHUNK;
        if (told) find_runs_of(job, upward, told, begin, std::min(begin + CARRY_CHUNK, columns));
    });
}

}  // namespace apsis::cpu::distance
