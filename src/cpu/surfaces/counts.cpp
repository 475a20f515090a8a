// How many points of a surface there are of each cost and mark.  Most costs are small, so that there are few kinds of points.
// For each piece of the box a table keeps the kinds that were met last, each in the only place that it may have.  One that makes
// way for another is listed.  The lists of all pieces are sorted, and what is alike in them is added up.
//
// Surfaces that are compared are near each other, mostly.  So without costs the nearest point of the other surface is looked for
// around each point: row after row of points, the nearest rows first, eight points to either side at once.  What is found is
// nearest if all that was not looked at is farther away.  If any point is too far, a map tells of all.  (Balls of radius 120 in
// 256^3, 3 pixels apart, on one thread of an EPYC: 76 ms, and with two maps 320.)
//
// Cost: a pass over the marks; the rows that are near each point, some ten where surfaces are two pixels apart; and, of costs as
// many as points, the sort of these.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>

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

constexpr int64_t LEAST_PIECE = 1 << 14, MOST_PIECES = 64;  // so that small boxes have pieces, and large ones have few lists
constexpr uint64_t KINDS = 1 << 10;                         // that a table keeps, in the first cache of a core

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

/// Looks for the nearest point of the other surface around a point.
class Surroundings {
  public:
    explicit Surroundings(const SurfaceJob &job) : job_(job), far_(INT64_MAX) {
        const Measure &measure = job.measure;
        for (int a = 0; a < job.axes; ++a) far_ = std::min(far_, axis_cost(measure.metric, measure.weight[a], REACH));
        const int64_t over = job.axes == 3 ? REACH - 1 : 0;
        for (int64_t z = -over; z <= over; ++z)
            for (int64_t y = 1 - REACH; y < REACH; ++y) {
                const int64_t cost =
                    axis_cost(measure.metric, measure.weight[1], y) + (z ? axis_cost(measure.metric, measure.weight[2], z) : 0);
                if (cost < far_) rows_.push_back({cost, y, z});
            }
        std::sort(rows_.begin(), rows_.end(), [](const Row &a, const Row &b) { return a.cost < b.cost; });
    }

    /// Whether costs add up over the axes, and those of eight pixels are numbers of 64 bits.
    static bool serves(const SurfaceJob &job) {
        const Measure &measure = job.measure;
        const bool adds_up = measure.metric == APSIS_EUCLIDEAN || measure.metric == APSIS_CITY_BLOCK;
        return adds_up && *std::max_element(measure.weight, measure.weight + 3) < INT64_MAX / (3 * REACH * REACH);
    }

    /// The cost to the nearest point; negative: it is too far away.
    int64_t cost_of(int64_t point) const {
        const int64_t width = job_.marks.size[0], height = job_.marks.size[1], depth = job_.marks.size[2];
        const int64_t x = point % width, y = point / width % height, z = point / width / height;
        int64_t least = far_;
        for (const Row &row : rows_) {
            if (row.cost >= least) break;
            const int64_t to_y = y + row.y, to_z = z + row.z;
            if (to_y < 0 || to_y >= height || to_z < 0 || to_z >= depth) continue;
            const uint8_t *const marks = job_.others.data + (to_z * height + to_y) * width;
            const uint64_t from_x = eight_of(marks, x, width), before_x = eight_of(marks, x - REACH, width);
            const int64_t right = from_x ? std::countr_zero(from_x) / 8 : REACH,
                          left = before_x ? std::countl_zero(before_x) / 8 + 1 : REACH;
            if (const int64_t dx = std::min(left, right); dx < REACH)
                least = std::min(least, row.cost + axis_cost(job_.measure.metric, job_.measure.weight[0], dx));
        }
        return least < far_ ? least : -1;
    }

  private:
    static constexpr int64_t REACH = 8;  // bytes of a word

    struct Row {
        int64_t cost, y, z;
    };

    /// The marks of points x to x + 7 of a row, the lowest byte first; 0 beyond its ends.
    static uint64_t eight_of(const uint8_t *marks, int64_t x, int64_t width) {
        uint64_t eight = 0;
        if (x >= 0 && x + REACH <= width) {
            static_assert(std::endian::native == std::endian::little);
            std::memcpy(&eight, marks + x, sizeof eight);
            return eight;
        }
        for (int64_t k = 0; k < REACH; ++k)
            if (x + k >= 0 && x + k < width) eight |= uint64_t(marks[x + k]) << 8 * k;
        return eight;
    }

    const SurfaceJob &job_;
    int64_t far_;  // no point that is not looked at has a lower cost
    std::vector<Row> rows_;
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

bool count_points(const SurfaceJob &job, Arena &arena) {
    const bool searches = job.others && !job.costs;
    if (searches && !Surroundings::serves(job)) return false;
    std::optional<Surroundings> surroundings;
    if (searches) surroundings.emplace(job);
    std::atomic<bool> is_far = false;
    const int64_t all = job.marks.pixels(), size = std::max(LEAST_PIECE, all / MOST_PIECES + 1);
    std::vector<std::vector<AlikePoints>> found(static_cast<size_t>((all + size - 1) / size));
    parallel_for(arena, static_cast<int64_t>(found.size()), {}, 0, 0, [&](int64_t piece) {
        Kinds kinds(found[static_cast<size_t>(piece)]);
        each_marked(job.marks.data, piece * size, std::min((piece + 1) * size, all), [&](int64_t i, uint8_t mark) {
            if (is_far.load(std::memory_order_relaxed)) return;
            const int64_t cost = job.costs ? value_at(job.costs, job.costs.data, i) : searches ? surroundings->cost_of(i) : 0;
            if (cost < 0) is_far.store(true, std::memory_order_relaxed);
            kinds.add(cost, mark);
        });
        kinds.finish();
    });
    if (is_far) return false;
    job.found->clear();
    for (const std::vector<AlikePoints> &own : found) job.found->insert(job.found->end(), own.begin(), own.end());
    join_alike(*job.found);
    return true;
}

}  // namespace cpu::surfaces

}  // namespace apsis
