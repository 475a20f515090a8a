// Joins the components of slabs by the local numbers in the rows that face each other, in 3-D planes.
//
// Only a component with a pixel in such a row, a face, can go on in another slab.  Those are the nodes of a union-find.  Local
// numbers, slab after slab, are in the order of the image; so are nodes, and the lowest node of a tree is its root: it has the
// lowest pixel.  A walk over all local numbers in that order then counts roots and what is no node, without what is left out.
//
// Cost: the runs of equal numbers in each last row are sorted, a thread a row, and memory for the nodes.  Between two nodes
// the walk is one addition, and a copy of the numbers or parts that are asked for.  It looks at each part where components are
// left out.
#include "slabs/join.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

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

    /// Calls body(k) for each slab, on all threads.
    template <class Body>
    void for_slabs(Body body) {
        parallel_for(arena_, job_.slab_count, Progress(), 0, 1, body);
    }

    /// Calls body(number) for the numbers in a face of a slab, if it has one; body may replace them.
    template <class Body>
    void for_face(const apsis_slab_labels &in, int64_t *face, Body body) const {
        if (face && in.rows > 0) std::for_each_n(face, job_.columns(), body);
    }

    // ---- Nodes ----

    /// The runs of equal numbers in the last row of a slab that are not in its first row, too: each number, and its run's place
    /// among them.
    using Runs = std::vector<std::pair<int64_t, int64_t>>;

    /// Finds the nodes: the local numbers of each slab in its faces, in order, each once.  Those of the first row are 1, 2,
    /// ..., as they begin there (check_face).  From here on faces hold 1 + node.
    void find_nodes() {
        std::vector<Runs> runs(static_cast<size_t>(job_.slab_count));
        std::vector<int64_t> in_first(runs.size());  // [slab]: how many numbers its first row has
        for_slabs([&](int64_t k) {
            for_face(slab(k), slab(k).first, [&](int64_t number) { in_first[k] = std::max(in_first[k], std::abs(number)); });
            int64_t before = 0;
            for_face(slab(k), slab(k).last, [&](int64_t number) {
                const int64_t local = std::abs(number);
                if (local != before && local > in_first[k]) runs[k].emplace_back(local, static_cast<int64_t>(runs[k].size()));
                before = local;
            });
            std::sort(runs[k].begin(), runs[k].end());
        });
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            begin_.push_back(static_cast<int64_t>(local_.size()));
            for (int64_t local = 1; local <= in_first[k]; ++local) local_.push_back(local);
            for (int64_t before = 0; const auto &[local, place] : runs[k])
                if (local != before) local_.push_back(before = local);
        }
        begin_.push_back(static_cast<int64_t>(local_.size()));
        parent_.resize(local_.size());
        std::iota(parent_.begin(), parent_.end(), 0);
        for_slabs([&](int64_t k) { set_nodes(k, in_first[k], runs[k]); });
    }

    void set_nodes(int64_t k, int64_t in_first, const Runs &runs) {
        std::vector<int64_t> nodes(runs.size());  // [run], by place
        int64_t node = begin_[k] + in_first - 1, before = 0, run = 0;
        for (const auto &[local, place] : runs) {
            node += local != before;
            nodes[static_cast<size_t>(place)] = node;
            before = local;
        }
        before = 0;
        const auto take = [&](int64_t &number) {
            const int64_t local = std::abs(number);
            if (local != before) node = local <= in_first ? begin_[k] + local - 1 : nodes[static_cast<size_t>(run++)];
            before = local;
            number = local ? 1 + node : 0;
        };
        for_face(slab(k), slab(k).first, take);
        before = 0;
        for_face(slab(k), slab(k).last, take);
    }

    void find_values() {
        for (int64_t k = 0; k < job_.slab_count; ++k)
            for (int64_t node = begin_[k]; node < begin_[k + 1]; ++node)
                value_.push_back(slab(k).parts[local_[node] - 1].value);
    }

    int64_t root_of(int64_t node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }

    /// Joins the components of slabs that face each other.  Neighbours across a cut differ along the last axis, and along one
    /// less of the others than the connectivity says.
    void join_slabs() {
        if (job_.columns() == 0) return;
        const int64_t width = job_.set.size[0], height = job_.columns() / width;
        const int64_t *above = nullptr;
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            if (slab(k).rows == 0) continue;
            for (int64_t y = 0; above && y < height; ++y)
                for (int64_t other_y = std::max<int64_t>(y - 1, 0); other_y <= std::min(y + 1, height - 1); ++other_y) {
                    const int64_t reach = std::min(job_.connectivity - 1 - (other_y != y), 1);
                    if (reach >= 0) join_rows(above + other_y * width, slab(k).first + y * width, reach);
                }
            above = slab(k).last;
        }
    }

    void join_rows(const int64_t *above, const int64_t *below, int64_t reach) {
        const int64_t width = job_.set.size[0];
        int64_t joined_above = 0, joined_below = 0;  // most pixels are of the runs of those beside them
        for (int64_t x = 0; x < width; ++x) {
            if (!below[x]) continue;
            for (int64_t other = std::max<int64_t>(x - reach, 0); other <= std::min(x + reach, width - 1); ++other) {
                if (!above[other] || (above[other] == joined_above && below[x] == joined_below)) continue;
                if (job_.by_value && value_[above[other] - 1] != value_[below[x] - 1]) continue;
                joined_above = above[other], joined_below = below[x];
                const int64_t one = root_of(joined_above - 1), two = root_of(joined_below - 1);
                parent_[std::max(one, two)] = std::min(one, two);
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
            if (part.lower[a] == 0 || part.upper[a] == job_.set.size[a] - 1) return true;
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
        std::vector<int64_t> number(local_.size());  // of a node; minus that if the component begins at another node
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
                 number[node] = root < node ? -number[root] : number_of(needs_parts ? &part_[node] : nullptr);
                 if (in.numbers) in.numbers[local_[node] - 1] = std::abs(number[node]);
             });
        for_slabs([&](int64_t k) {
            for (int64_t *face : {slab(k).first, slab(k).last})
                for_face(slab(k), face, [&](int64_t &node) { node = node ? number[node - 1] : 0; });
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
