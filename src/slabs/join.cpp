// Joins the components of slabs by the local numbers in the rows that face each other, in 3-D planes.
//
// Only a component with a pixel in such a row, a face, can go on in another slab.  Those are the nodes of a union-find.  Local
// numbers, slab after slab, are in the order of the image; so are nodes, and the lowest node of a tree is its root: it has the
// lowest pixel.  A walk over all local numbers in that order then counts roots and what is no node, without what is left out.
//
// Cost: stretches of faces are read by all threads three times, and the numbers in last rows sorted; memory for the nodes.
// Between two nodes the walk is one addition, and a copy of the numbers or parts that are asked for.  It looks at each part
// where components are left out.
#include "slabs/join.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/parallel_sort.h"

namespace apsis::slabs {
namespace {

/// Sums wrap where the caller's parts are not those of an image.
int64_t sum_of(int64_t one, int64_t other) {
    return static_cast<int64_t>(static_cast<uint64_t>(one) + static_cast<uint64_t>(other));
}

void add(apsis_part &to, const apsis_part &part) {
    to.first = std::min(to.first, part.first);
    to.area += part.area;
    for (int a = 0; a < 3; ++a) {
        to.lower[a] = std::min(to.lower[a], part.lower[a]);
        to.upper[a] = std::max(to.upper[a], part.upper[a]);
        to.sum[a] = sum_of(to.sum[a], part.sum[a]);
    }
}

class Join {
  public:
    Join(const JoinJob &job, Arena &arena) : job_(job), arena_(arena) {}

    int64_t run() {
        cut_faces();
        find_nodes();
        if (job_.by_value) find_values();
        join_slabs();
        if (job_.needs_parts()) gather_parts();
        if (job_.largest < INT64_MAX) find_least_area();
        number_components();
        return count_;
    }

  private:
    const apsis_slab_labels &slab(int64_t k) const { return job_.slabs[k]; }

    // ---- Nodes ----

    /// Some columns of a face.
    struct Stretch {
        int64_t slab;
        bool is_last;
        int64_t *numbers, count;
    };
    static constexpr int64_t COLUMNS_AT_ONCE = 1 << 12;

    /// A run of equal numbers in a stretch of a last row.
    struct Run {
        int64_t slab, local, place;  // among all runs
        auto operator<=>(const Run &) const = default;
    };

    void cut_faces() {
        for (int64_t k = 0; k < job_.slab_count; ++k)
            for (const bool is_last : {false, true}) {
                int64_t *const face = is_last ? slab(k).last : slab(k).first;
                for (int64_t c = 0; face && slab(k).rows > 0 && c < job_.columns(); c += COLUMNS_AT_ONCE)
                    stretches_.push_back({k, is_last, face + c, std::min(COLUMNS_AT_ONCE, job_.columns() - c)});
            }
    }

    /// Calls body(i) for stretch i, on all threads.
    template <class Body>
    void for_stretches(Body body) {
        parallel_for(arena_, static_cast<int64_t>(stretches_.size()), Progress(), 0, 1, body);
    }

    /// Calls body(local, begin, end) for the runs of equal numbers in a stretch.
    template <class Body>
    static void for_runs(const Stretch &in, Body body) {
        for (int64_t c = 0, end; c < in.count; c = end) {
            const int64_t local = std::abs(in.numbers[c]);
            for (end = c + 1; end < in.count && std::abs(in.numbers[end]) == local;) ++end;
            if (local > 0) body(local, in.numbers + c, in.numbers + end);
        }
    }

    /// Finds the nodes: the local numbers of each slab in its faces, in order, each once.  Those of the first row are 1, 2,
    /// ..., as they begin there (check_face).  From here on faces hold 1 + node.
    void find_nodes() {
        std::vector<std::vector<Run>> runs(stretches_.size());  // in last rows
        std::vector<int64_t> most(stretches_.size());           // the greatest number, in first rows
        for_stretches([&](int64_t i) {
            const Stretch &in = stretches_[i];
            if (in.is_last)
                for_runs(in, [&](int64_t local, auto, auto) { runs[i].push_back({in.slab, local, 0}); });
            else
                for (int64_t c = 0; c < in.count; ++c) most[i] = std::max(most[i], std::abs(in.numbers[c]));
        });
        std::vector<int64_t> in_first(static_cast<size_t>(job_.slab_count));  // [slab]: how many numbers its first row has
        std::vector<int64_t> places(stretches_.size());                       // [stretch]: of its first run
        std::vector<Run> in_last;
        for (size_t i = 0; i < runs.size(); ++i) {
            int64_t &all = in_first[stretches_[i].slab];
            all = std::max(all, most[i]);
            places[i] = static_cast<int64_t>(in_last.size());
            for (Run &run : runs[i]) run.place = static_cast<int64_t>(in_last.size()), in_last.push_back(run);
        }
        parallel_sort(arena_, in_last.begin(), in_last.end());
        std::vector<int64_t> nodes(in_last.size());  // [place]
        auto next = in_last.begin();
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            begin_.push_back(static_cast<int64_t>(local_.size()));
            for (int64_t local = 1; local <= in_first[k]; ++local) local_.push_back(local);
            for (int64_t before = in_first[k]; next != in_last.end() && next->slab == k; ++next) {
                if (next->local > before) local_.push_back(before = next->local);
                const bool is_in_first = next->local <= in_first[k];
                nodes[next->place] = is_in_first ? begin_[k] + next->local - 1 : static_cast<int64_t>(local_.size()) - 1;
            }
        }
        begin_.push_back(static_cast<int64_t>(local_.size()));
        parent_.resize(local_.size());
        std::iota(parent_.begin(), parent_.end(), 0);
        for_stretches([&](int64_t i) {
            const Stretch &in = stretches_[i];
            const int64_t *of_run = nodes.data() + places[i];
            int64_t before = 0, node = 0;
            const auto take = [&](int64_t &number) {
                const int64_t local = std::abs(number);
                if (local != before && local > 0) node = in.is_last ? *of_run++ : begin_[in.slab] + local - 1;
                before = local;
                number = local > 0 ? 1 + node : 0;
            };
            std::for_each_n(in.numbers, in.count, take);
        });
    }

    void find_values() {
        for (int64_t k = 0; k < job_.slab_count; ++k)
            for (int64_t node = begin_[k]; node < begin_[k + 1]; ++node)
                value_.push_back(slab(k).parts[local_[node] - 1].value);
    }

    /// Threads may shorten and join trees meanwhile.
    int64_t root_of(int64_t node) {
        const auto up_of = [this](int64_t of) { return std::atomic_ref(parent_[of]); };
        for (int64_t up; (up = up_of(node).load(std::memory_order_relaxed)) != node;) {
            const int64_t next = up_of(up).load(std::memory_order_relaxed);
            if (next != up) up_of(node).store(next, std::memory_order_relaxed);
            node = next;
        }
        return node;
    }

    /// The lower root stays one, in whatever order threads work.
    void join_nodes(int64_t one, int64_t other) {
        for (;;) {
            one = root_of(one), other = root_of(other);
            if (one == other) return;
            if (one < other) std::swap(one, other);
            int64_t expected = one;
            if (std::atomic_ref(parent_[one]).compare_exchange_strong(expected, other, std::memory_order_relaxed)) return;
        }
    }

    /// Joins the components of slabs that face each other.  Neighbours across a cut differ along the last axis, and along one
    /// less of the others than the connectivity says.
    void join_slabs() {
        if (job_.columns() == 0) return;
        const int64_t height = job_.columns() / job_.set.size[0];
        const apsis_slab_labels *above = nullptr;
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            if (slab(k).rows == 0) continue;
            if (above) join_faces(above->last, slab(k).first, job_.set.size[0], height);
            above = &slab(k);
        }
        const auto has_rows = [](const apsis_slab_labels &one) { return one.rows > 0; };
        if (above && job_.is_ring())
            join_faces(above->last, std::find_if(job_.slabs, job_.slabs + job_.slab_count, has_rows)->first, job_.set.size[0],
                       height);
    }

    void join_faces(const int64_t *above, const int64_t *below, int64_t width, int64_t height) {
        const int64_t pieces = (width + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
        parallel_for(arena_, pieces * height, Progress(), 0, 1, [&](int64_t i) {
            const int64_t y = i / pieces, begin = i % pieces * COLUMNS_AT_ONCE, end = std::min(begin + COLUMNS_AT_ONCE, width);
            for (int64_t dy = -1; dy <= 1; ++dy) {
                const int64_t other_y = job_.axes == 3 || dy == 0 ? job_.periodic.wrap(1, y + dy, height) : -1;
                const int64_t reach = std::min<int64_t>(job_.connectivity - 1 - (dy != 0), 1);
                if (other_y >= 0 && reach >= 0) join_rows(above + other_y * width, below + y * width, begin, end, reach);
            }
        });
    }

    void join_rows(const int64_t *above, const int64_t *below, int64_t begin, int64_t end, int64_t reach) {
        const int64_t width = job_.set.size[0];
        int64_t joined_above = 0, joined_below = 0;  // most pixels are of the runs of those beside them
        for (int64_t x = begin; x < end; ++x) {
            if (!below[x]) continue;
            for (int64_t step = -reach; step <= reach; ++step) {
                const int64_t other = job_.periodic.wrap(0, x + step, width);
                if (other < 0 || !above[other] || (above[other] == joined_above && below[x] == joined_below)) continue;
                if (job_.by_value && value_[above[other] - 1] != value_[below[x] - 1]) continue;
                joined_above = above[other], joined_below = below[x];
                join_nodes(joined_above - 1, joined_below - 1);
            }
        }
    }

    // ---- Selection ----

    /// Adds the parts of nodes at their roots.
    void gather_parts() {
        part_.reserve(local_.size());
        for (int64_t k = 0; k < job_.slab_count; ++k)
            for (int64_t node = begin_[k]; node < begin_[k + 1]; ++node) part_.push_back(slab(k).parts[local_[node] - 1]);
        for (int64_t node = 0; node < begin_.back(); ++node)
            if (const int64_t root = root_of(node); root != node) add(part_[root], part_[node]);
    }

    bool touches_border(const apsis_part &part) const {
        for (int a = 0; a < job_.axes; ++a)
            if (!job_.periodic.along[a] && (part.lower[a] == 0 || part.upper[a] == job_.set.size[a] - 1)) return true;
        return false;
    }

    bool accepts(const apsis_part &part) const {
        return part.area >= job_.min_area && part.area <= job_.max_area &&
               !(touches_border(part) ? job_.no_border : job_.no_inner);
    }

    /// Finds the area of the least of the largest components, and how many of that area are kept.
    void find_least_area() {
        std::vector<int64_t> areas;
        const auto take = [&](const apsis_part &part) {
            if (accepts(part)) areas.push_back(part.area);
        };
        walk([](apsis_slab_labels &) {},
             [&](const apsis_slab_labels &in, int64_t from, int64_t to) {
                 for (int64_t local = from; local < to; ++local) take(in.parts[local - 1]);
             },
             [&](const apsis_slab_labels &, int64_t node) {
                 if (parent_[node] == node) take(part_[node]);
             });
        if (static_cast<int64_t>(areas.size()) <= job_.largest) return;
        const auto last = areas.begin() + (job_.largest - 1);
        std::nth_element(areas.begin(), last, areas.end(), std::greater<int64_t>());
        least_area_ = *last;
        of_least_area_ = std::count(areas.begin(), last + 1, least_area_);
    }

    /// Whether a component is kept.  To be asked once for each, in order: of equal ones the lower are kept.
    bool keeps(const apsis_part &part) {
        if (!accepts(part) || part.area < least_area_) return false;
        return part.area > least_area_ || of_least_area_-- > 0;
    }

    // ---- Numbers ----

    /// Calls begin(slab), then inner(slab, from, to) for stretches of local numbers that are no nodes, and on_node(slab, node),
    /// in order.
    template <class Begin, class Inner, class OnNode>
    void walk(Begin begin, Inner inner, OnNode on_node) {
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            int64_t next = 1;
            begin(job_.slabs[k]);
            for (int64_t node = begin_[k]; node < begin_[k + 1]; ++node) {
                inner(slab(k), next, local_[node]);
                on_node(slab(k), node);
                next = local_[node] + 1;
            }
            inner(slab(k), next, slab(k).count + 1);
        }
    }

    /// Numbers all components, and writes what slabs are told.
    void number_components() {
        const bool selects = job_.selects(), needs_parts = job_.needs_parts();
        // Of 1 + node; minus that if the component begins at another node.  What is no node, 0, has none.
        std::vector<int64_t> number(1 + local_.size());
        walk([&](apsis_slab_labels &in) { in.before = count_; },
             [&](const apsis_slab_labels &in, int64_t from, int64_t to) {
                 if (!selects) return number_all(in, from, to);
                 for (int64_t local = from; local < to; ++local) {
                     const int64_t given = number_of(in.parts + (local - 1));
                     if (in.numbers) in.numbers[local - 1] = given;
                 }
             },
             [&](const apsis_slab_labels &in, int64_t node) {
                 const int64_t root = root_of(node);
                 number[1 + node] = root < node ? -number[1 + root] : number_of(needs_parts ? &part_[node] : nullptr);
                 if (in.numbers) in.numbers[local_[node] - 1] = std::abs(number[1 + node]);
             });
        for_stretches([&](int64_t i) {
            const Stretch &in = stretches_[i];
            std::for_each_n(in.numbers, in.count, [&](int64_t &node) { node = number[node]; });
        });
    }

    /// Numbers components none of which is left out.  Their parts may be in the same array, at the same place or behind.
    void number_all(const apsis_slab_labels &in, int64_t from, int64_t to) {
        if (in.numbers) std::iota(in.numbers + (from - 1), in.numbers + (to - 1), count_ + 1);
        const int64_t known = std::min(to - from, job_.capacity - count_);
        if (known > 0 && parts() + count_ != in.parts + (from - 1)) move_parts(in.parts + (from - 1), known);
        count_ += to - from;
    }

    /// Copies many parts on all threads, if they do not overlap the place where they go.
    void move_parts(const apsis_part *from, int64_t count) {
        apsis_part *const to = parts() + count_;
        const bool overlap = std::less<>()(from, to + count) && std::less<>()(to, from + count);
        const int64_t each = overlap ? count : COPIED_AT_ONCE;
        parallel_for(arena_, (count + each - 1) / each, Progress(), 0, 1, [&](int64_t i) {
            const int64_t some = std::min(each, count - i * each);
            std::memmove(to + i * each, from + i * each, static_cast<size_t>(some) * sizeof *from);
        });
    }

    /// The number of the next component, or 0 if it is left out.
    int64_t number_of(const apsis_part *part) {
        if (part && !keeps(*part)) return 0;
        if (count_ < job_.capacity && parts() + count_ != part) parts()[count_] = *part;
        return ++count_;
    }

    apsis_part *parts() const { return reinterpret_cast<apsis_part *>(job_.components); }

    static constexpr int64_t COPIED_AT_ONCE = 1 << 14;  // parts

    const JoinJob &job_;
    Arena &arena_;
    std::vector<Stretch> stretches_;
    std::vector<int64_t> begin_;    // [slab]: its first node
    std::vector<int64_t> local_;    // [node]: its local number
    std::vector<int64_t> parent_;   // [node]: a lower node of its tree, or itself
    std::vector<int64_t> value_;    // [node]: of a label image; else empty
    std::vector<apsis_part> part_;  // [node]: of a root, what is known of its component; empty if no parts are needed
    int64_t least_area_ = 0, of_least_area_ = INT64_MAX;  // of the largest components
    int64_t count_ = 0;
};

/// What some slabs that became one have been told: the number in the image of each of its numbers.
class Told {
  public:
    /// `own` are its faces before it was told.
    Told(const apsis_slab_labels &slab, const int64_t *own_first, const int64_t *own_last, int64_t columns) : slab_(slab) {
        const auto take = [&](const int64_t *own, const int64_t *told) {
            for (int64_t c = 0; own && told && slab.rows > 0 && c < columns; ++c)
                if (told[c] < 0) elsewhere_.emplace_back(std::abs(own[c]), -told[c]);
        };
        take(own_first, slab.first);
        take(own_last, slab.last);
        std::sort(elsewhere_.begin(), elsewhere_.end());
        elsewhere_.erase(std::unique(elsewhere_.begin(), elsewhere_.end()), elsewhere_.end());
    }

    /// The number in the image; minus that if the component begins elsewhere.
    int64_t of(int64_t own) const {
        if (own == 0) return 0;
        const auto listed = at(own);
        if (listed != elsewhere_.end() && listed->first == own) return -listed->second;
        return slab_.numbers ? slab_.numbers[own - 1] : slab_.before + own - (listed - elsewhere_.begin());
    }

    /// How many components of the image begin before those with greater numbers than this one.
    int64_t up_to(int64_t own) const { return slab_.before + own - (at(own + 1) - elsewhere_.begin()); }

  private:
    using Listed = std::pair<int64_t, int64_t>;  // a number of the slab, and its number in the image

    std::vector<Listed>::const_iterator at(int64_t own) const {
        return std::lower_bound(elsewhere_.begin(), elsewhere_.end(), Listed(own, 0));
    }

    const apsis_slab_labels &slab_;
    std::vector<Listed> elsewhere_;  // those that begin elsewhere, in order
};

}  // namespace

int64_t join(const JoinJob &job, Arena &arena) { return Join(job, arena).run(); }

void renumber(int64_t columns, const apsis_slab_labels &joined, apsis_slab_labels *slabs, int64_t slab_count) {
    const int64_t *first = nullptr, *last = nullptr;
    for (int64_t k = slab_count - 1; k >= 0; --k)
        if (slabs[k].rows > 0) {
            if (!last) last = slabs[k].last;
            first = slabs[k].first;
        }
    const Told told(joined, first, last, columns);
    for (apsis_slab_labels *slab = slabs; slab < slabs + slab_count; ++slab) {
        slab->before = told.up_to(slab->before);
        for (int64_t *face : {slab->first, slab->last})
            for (int64_t c = 0; face && slab->rows > 0 && c < columns; ++c) {
                const int64_t number = told.of(std::abs(face[c]));
                face[c] = face[c] < 0 ? -std::abs(number) : number;
            }
        for (int64_t i = 0; slab->numbers && i < slab->count; ++i) slab->numbers[i] = std::abs(told.of(slab->numbers[i]));
    }
}

}  // namespace apsis::slabs
