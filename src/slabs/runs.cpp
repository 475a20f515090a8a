// Runs of labels at the ends of slabs: see runs.h.
#include "slabs/runs.h"

namespace apsis::slabs {

void merge_runs(int64_t columns, End end, const int64_t *told, int64_t *all) {
    const bool first = end == End::FIRST;
    for (int64_t c = 0; c < columns; ++c) {
        const int64_t *const one = told + c;
        int64_t *const other = all + c;
        if (one[0] == no_row(end)) continue;
        if (other[0] == no_row(end)) {
            for (int i = 0; i < 3; ++i) other[i * columns] = one[i * columns];
            continue;
        }
        const bool is_nearer = first ? one[0] < other[0] : one[0] > other[0];
        const int64_t *const near = is_nearer ? one : other, *const far = is_nearer ? other : one;
        const bool goes_on = near[columns] == far[0] && near[2 * columns] == far[2 * columns];
        const int64_t row = near[0], beyond = goes_on ? far[columns] : near[columns], label = near[2 * columns];
        other[0] = row, other[columns] = beyond, other[2 * columns] = label;
    }
}

void close_runs(int64_t columns, End end, int64_t extent, const int64_t *around, int64_t *all) {
    const bool first = end == End::FIRST;
    const int64_t outside = first ? extent : -1, seam = first ? 0 : extent - 1;
    for (int64_t c = 0; c < columns; ++c) {
        const int64_t *const farther = around + c;
        int64_t *const run = all + c;
        if (run[0] == no_row(end))
            for (int i = 0; i < 3; ++i) run[i * columns] = farther[i * columns];
        if (run[0] == no_row(end) || run[columns] != outside) continue;
        // The run goes up to the seam.  If it goes on behind it, up to where it began, it has no end.
        const bool goes_on = farther[0] == seam && farther[2 * columns] == run[2 * columns];
        run[columns] = goes_on ? farther[columns] : seam;
    }
}

std::vector<int64_t> others_beyond(int64_t columns, End end, const int64_t *own, const int64_t *told, int64_t beside,
                                   int64_t extent) {
    std::vector<int64_t> rows(static_cast<size_t>(columns));
    for (int64_t c = 0; c < columns; ++c) {
        const int64_t label = own[c] == no_row(end) ? 0 : own[2 * columns + c];
        const bool is_beside = told && told[c] == beside;
        if ((is_beside ? told[2 * columns + c] : 0) != label)
            rows[c] = beside;
        else if (label == 0)
            rows[c] = told ? told[c] : no_row(end);
        else
            rows[c] = told[columns + c] < extent ? told[columns + c] : no_row(end);
    }
    return rows;
}

}  // namespace apsis::slabs
