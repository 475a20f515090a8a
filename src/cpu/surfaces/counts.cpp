// How many points of a surface there are of each cost and mark.  Most costs are small, so that there are few kinds of points.
// For each piece of the box a table keeps the kinds that were met last, each in the only place that it may have.  One that makes
// way for another is listed.  The lists of all pieces are sorted, and what is alike in them is added up.
//
// Cost: a pass over the marks; and, of costs as many as points, the sort of these.
#include <algorithm>
#include <cstring>

#include "cpu/surfaces/surfaces.h"

namespace apsis {

void join_alike(std::vector<AlikePoints> &points) {
    std::sort(points.begin(), points.end());
    size_t kept = 0;
    for (const AlikePoints &each : points) {
        if (kept > 0 && points[kept - 1].cost == each.cost && points[kept - 1].mark == each.mark)
            points[kept - 1].count += each.count;
        else
            points[kept++] = each;
    }
    points.resize(kept);
}

namespace cpu::surfaces {

namespace {

constexpr int64_t PIECE = 1 << 18;   // points that a thread looks at at a time: their marks fit its cache
constexpr uint64_t KINDS = 1 << 10;  // that a table keeps, in the first cache of a core

/// The kinds of points that were met last, and a list of those that made way.
class Kinds {
  public:
    explicit Kinds(std::vector<AlikePoints> &list) : list_(list), last_(KINDS) {}

    void add(int64_t cost, uint8_t mark) {
        AlikePoints &last = last_[(static_cast<uint64_t>(cost) + uint64_t(mark) * 37) % KINDS];  // marks are spread
        if (last.cost != cost || last.mark != mark) {
            put(last);
            last = {cost, mark, 0};
        }
        ++last.count;
    }
    void finish() {
        for (const AlikePoints &last : last_) put(last);
    }

  private:
    void put(const AlikePoints &points) {
        if (points.count > 0) list_.push_back(points);
    }

    std::vector<AlikePoints> &list_;
    std::vector<AlikePoints> last_;
};

/// Calls visit(i, mark) for each mark other than 0, from `begin` on.  Most are 0, and eight of them are passed over at once.
template <class Visit>
void each_marked(const uint8_t *marks, int64_t begin, int64_t end, Visit visit) {
    for (int64_t i = begin; i < end;) {
        uint64_t eight = 1;
        if (end - i >= 8) std::memcpy(&eight, marks + i, sizeof eight);
        for (const int64_t last = eight ? std::min(i + 8, end) : i; i < last; ++i)
            if (marks[i]) visit(i, marks[i]);
        if (!eight) i += 8;
    }
}

}  // namespace

void count_points(const SurfaceJob &job, Arena &arena) {
    const int64_t all = job.marks.pixels();
    std::vector<std::vector<AlikePoints>> found(static_cast<size_t>((all + PIECE - 1) / PIECE));
    parallel_for(arena, static_cast<int64_t>(found.size()), {}, 0, 0, [&](int64_t piece) {
        std::vector<AlikePoints> &own = found[static_cast<size_t>(piece)];
        Kinds kinds(own);
        each_marked(job.marks.data, piece * PIECE, std::min((piece + 1) * PIECE, all),
                    [&](int64_t i, uint8_t mark) { kinds.add(job.costs ? value_at(job.costs, job.costs.data, i) : 0, mark); });
        kinds.finish();
    });
    job.found->clear();
    for (const std::vector<AlikePoints> &own : found) job.found->insert(job.found->end(), own.begin(), own.end());
    join_alike(*job.found);
}

}  // namespace cpu::surfaces

}  // namespace apsis
