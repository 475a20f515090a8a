// Outlines: see outlines.h.
//
// Holes.  Between two runs of a row is a gap.  Gaps that touch across an edge or a corner are joined (union-find), and those
// that touch what is in no gap are joined with the outside: a row without runs, or what is before the first run of a row, or
// behind the last one.  The others are holes.  Cost: linear in the runs, but for a search in each row beside a gap.
//
// Hulls are of the first and the last pixel of each row (core/hull.h), in half pixels.
#include "cpu/labels/outlines.h"

#include <numeric>
#include <tuple>

namespace apsis::cpu::labels {

namespace {

/// Rows of pixels, as rows of the midpoints of their edges, or of their corners too, in half pixels.
void expand(const std::vector<HullRow> &pixels, bool with_corners, std::vector<HullRow> &points) {
    points.clear();
    const auto put = [&](int64_t y, int64_t first, int64_t last) {
        if (points.empty() || points.back().y != y)
            points.push_back({y, first, last});
        else
            points.back() = {y, std::min(points.back().first, first), std::max(points.back().last, last)};
    };
    for (const HullRow &row : pixels)
        for (int dy = -1; dy <= 1; ++dy) {
            const int wide = dy == 0 || with_corners;
            put(2 * row.y + dy, 2 * row.first - wide, 2 * row.last + wide);
        }
}

}  // namespace

int64_t OutlineScratch::root_of(int64_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
}

/// Joins the gap behind a run with those of a row beside it, if there is such a row.
void OutlineScratch::join_row(const Run *runs, const Row *row, int64_t gap) {
    const int64_t root = root_of(gap), outside = static_cast<int64_t>(parent_.size()) - 1;
    const int32_t begin = runs[gap].end - 1, end = runs[gap + 1].begin + 1;  // with the corners
    if (!row || begin < runs[row->first].begin || end > runs[row->last].end) {
        parent_[root] = root_of(outside);
        return;
    }
    // The last run that begins at or before it, and those behind that as long as their gaps begin before its end.
    const Run *run = std::upper_bound(runs + row->first, runs + row->last + 1, begin,
                                      [](int32_t x, const Run &other) { return x < other.begin; }) -
                     1;
    for (; run < runs + row->last && run->end < end; ++run)
        if (begin < run[1].begin) parent_[root_of(run - runs)] = root_of(gap);
}

int64_t OutlineScratch::filled(const MeasuresJob &job, const Run *runs, int64_t count, int64_t area) {
    rows_.clear();
    for (int64_t i = 0; i < count; ++i)
        if (i > 0 && runs[i].y == runs[i - 1].y && runs[i].z == runs[i - 1].z)
            rows_.back().last = i;
        else
            rows_.push_back({i, i});
    if (static_cast<int64_t>(rows_.size()) == count) return area;  // without gaps
    parent_.resize(static_cast<size_t>(count) + 1);
    std::iota(parent_.begin(), parent_.end(), 0);
    const auto row_at = [&](int32_t z, int32_t y) -> const Row * {
        const auto found = std::lower_bound(rows_.begin(), rows_.end(), std::tie(z, y), [&](const Row &row, const auto &place) {
            return std::tie(runs[row.first].z, runs[row.first].y) < place;
        });
        return found != rows_.end() && runs[found->first].z == z && runs[found->first].y == y ? &*found : nullptr;
    };
    for (const Row &row : rows_) {
        if (row.first == row.last) continue;
        const int depth = job.axes == 3;
        for (int dz = -depth; dz <= depth; ++dz)
            for (int dy = -1; dy <= 1; ++dy) {
                if (dy == 0 && dz == 0) continue;
                const Row *const beside = row_at(runs[row.first].z + dz, runs[row.first].y + dy);
                for (int64_t gap = row.first; gap < row.last; ++gap) join_row(runs, beside, gap);
            }
    }
    for (const Row &row : rows_)
        for (int64_t gap = row.first; gap < row.last; ++gap)
            if (root_of(gap) != root_of(count)) area += runs[gap + 1].begin - runs[gap].end;
    return area;
}

void OutlineScratch::hull(const MeasuresJob &job, const Run *runs, int64_t count, Outline &outline) {
    int32_t least_x = INT32_MAX;
    for (int64_t i = 0; i < count; ++i) least_x = std::min(least_x, runs[i].begin);
    pixels_.clear();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t y = runs[i].y - runs[0].y, first = runs[i].begin - least_x, last = runs[i].end - 1 - least_x;
        if (i > 0 && runs[i].y == runs[i - 1].y)
            pixels_.back().last = last;
        else
            pixels_.push_back({y, first, last});
    }
    const double x = job.spacing[0] / 2, y = job.spacing[1] / 2;
    expand(pixels_, true, points_);
    hull_.make(points_);
    outline.convex_area = static_cast<double>(hull_.twice_area()) / 2 * (x * y);
    if (job.wants(APSIS_FERET)) hull_.diameters(x, y, outline.feret[0], outline.feret[1]);
    expand(pixels_, false, points_);
    hull_.make(points_);
    pixels_.clear();
    hull_.for_even_rows([&](int64_t row, int64_t first, int64_t last) {
        outline.convex += (last - first) / 2 + 1;
        pixels_.push_back({row / 2, first / 2, last / 2});
    });
    if (!job.wants(APSIS_FERET)) return;
    expand(pixels_, false, points_);
    hull_.make(points_);
    double least;
    hull_.diameters(x, y, least, outline.feret_contour);
}

Outline OutlineScratch::outline_of(const MeasuresJob &job, Run *runs, int64_t count, int64_t area) {
    std::sort(runs, runs + count,
              [](const Run &a, const Run &b) { return std::tie(a.z, a.y, a.begin) < std::tie(b.z, b.y, b.begin); });
    Outline outline;
    if (job.wants(APSIS_FILLED)) outline.filled = filled(job, runs, count, area);
    if (job.wants(APSIS_HULL | APSIS_FERET)) hull(job, runs, count, outline);
    return outline;
}

}  // namespace apsis::cpu::labels
