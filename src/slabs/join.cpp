// Joins the components of slabs by the local numbers in the rows that face each other, in 3-D planes.
//
// Only a component with a pixel in such a row can go on in another slab.  Those are the nodes of a union-find.  Local numbers,
// slab after slab, are in the order of the image; so are nodes, and the lowest node of a tree is its root: it has the lowest
// pixel.  A walk over all local numbers in that order then counts roots and what is no node, without what is left out.
//
// Cost: a search for each run of equal numbers in a row, and memory for the nodes.  Between two nodes the walk is one addition,
// unless the numbers or the parts there are asked for.
#include "slabs/join.h"

#include <algorithm>
#include <functional>
#include <numeric>
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
    explicit Join(const JoinJob &job) : job_(job) {
        for (int64_t k = 0; k < job.slab_count; ++k)
            if (job.slabs[k].rows > 0 && job.columns() > 0) facing_.push_back(k);
    }

    int64_t run() {
        find_nodes();
        for (size_t i = 1; i < facing_.size(); ++i) join_slabs(facing_[i - 1], facing_[i]);
        if (job_.needs_parts()) gather_parts();
        if (job_.largest < INT64_MAX) find_least_area();
        number_components();
        return count_;
    }

  private:
    const apsis_slab_labels &slab(int64_t k) const { return job_.slabs[k]; }

    // ---- Nodes ----

    /// Finds the nodes: the local numbers of each slab in its rows that face others, in order, each once.
    void find_nodes() {
        begin_.assign(static_cast<size_t>(job_.slab_count) + 1, 0);
        for (int64_t k = 0, i = 0, faces = static_cast<int64_t>(facing_.size()); k < job_.slab_count; ++k) {
            std::vector<int64_t> found;
            if (i < faces && facing_[i] == k) {
                if (i > 0) take_numbers(slab(k).first, found);
                if (i + 1 < faces) take_numbers(slab(k).last, found);
                ++i;
            }
            std::sort(found.begin(), found.end());
            local_.insert(local_.end(), found.begin(), std::unique(found.begin(), found.end()));
            begin_[k + 1] = static_cast<int64_t>(local_.size());
        }
        parent_.resize(local_.size());
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    void take_numbers(const int64_t *row, std::vector<int64_t> &found) const {
        for (int64_t c = 0, before = 0; c < job_.columns(); before = row[c++])
            if (row[c] && row[c] != before) found.push_back(row[c]);
    }

    /// The nodes in a row of slab k; -1 outside the set.
    std::vector<int64_t> nodes_in(int64_t k, const int64_t *row) const {
        std::vector<int64_t> nodes(static_cast<size_t>(job_.columns()), -1);
        for (int64_t c = 0; c < job_.columns(); ++c) {
            if (!row[c]) continue;
            const auto first = local_.begin() + begin_[k], end = local_.begin() + begin_[k + 1];
            nodes[c] = c > 0 && row[c] == row[c - 1] ? nodes[c - 1] : std::lower_bound(first, end, row[c]) - local_.begin();
        }
        return nodes;
    }

    int64_t root_of(int64_t node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }

    /// Joins the components of two slabs.  Neighbours across the cut differ along the last axis, and along one less of the
    /// others than the connectivity says.
    void join_slabs(int64_t upper, int64_t lower) {
        const std::vector<int64_t> above = nodes_in(upper, slab(upper).last), below = nodes_in(lower, slab(lower).first);
        const int64_t width = job_.set.size[0], height = job_.columns() / width;
        for (int64_t y = 0; y < height; ++y)
            for (int64_t other_y = std::max<int64_t>(y - 1, 0); other_y <= std::min(y + 1, height - 1); ++other_y) {
                const int64_t reach = std::min(job_.connectivity - 1 - (other_y != y), 1);
                if (reach >= 0) join_rows(above.data() + other_y * width, below.data() + y * width, reach);
            }
    }

    void join_rows(const int64_t *above, const int64_t *below, int64_t reach) {
        const int64_t width = job_.set.size[0];
        int64_t joined_above = -1, joined_below = -1;  // most pixels are of the runs of those beside them
        for (int64_t x = 0; x < width; ++x) {
            if (below[x] < 0) continue;
            for (int64_t other = std::max<int64_t>(x - reach, 0); other <= std::min(x + reach, width - 1); ++other) {
                if (above[other] < 0 || (above[other] == joined_above && below[x] == joined_below)) continue;
                joined_above = above[other], joined_below = below[x];
                const int64_t one = root_of(joined_above), two = root_of(joined_below);
                parent_[std::max(one, two)] = std::min(one, two);
            }
        }
    }

    // ---- Selection ----

    /// Adds the parts of nodes at their roots.
    void gather_parts() {
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
        walk(
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

    /// Calls inner(slab, from, to) for stretches of local numbers that are no nodes, and on_node(slab, node), in order.
    template <class Inner, class OnNode>
    void walk(Inner inner, OnNode on_node) {
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            int64_t next = 1;
            for (int64_t node = begin_[k]; node < begin_[k + 1]; ++node) {
                inner(slab(k), next, local_[node]);
                on_node(slab(k), node);
                next = local_[node] + 1;
            }
            inner(slab(k), next, slab(k).count + 1);
        }
    }

    void number_components() {
        const bool needs_parts = job_.needs_parts();
        std::vector<int64_t> number(local_.size());
        walk(
            [&](const apsis_slab_labels &in, int64_t from, int64_t to) {
                if (!needs_parts && !in.numbers) return void(count_ += to - from);
                for (int64_t local = from; local < to; ++local) {
                    const int64_t given = number_of(needs_parts ? in.parts + (local - 1) : nullptr);
                    if (in.numbers) in.numbers[local - 1] = given;
                }
            },
            [&](const apsis_slab_labels &in, int64_t node) {
                const int64_t root = root_of(node);
                number[node] = root < node ? number[root] : number_of(needs_parts ? &part_[node] : nullptr);
                if (in.numbers) in.numbers[local_[node] - 1] = number[node];
            });
    }

    /// The number of the next component, or 0 if it is left out.
    int64_t number_of(const apsis_part *part) {
        if (part && !keeps(*part)) return 0;
        if (count_ < job_.capacity) parts()[count_] = *part;
        return ++count_;
    }

    apsis_part *parts() const { return reinterpret_cast<apsis_part *>(job_.components); }

    const JoinJob &job_;
    std::vector<int64_t> facing_;   // the slabs that have rows
    std::vector<int64_t> begin_;    // [slab]: its first node
    std::vector<int64_t> local_;    // [node]: its local number
    std::vector<int64_t> parent_;   // [node]: a lower node of its tree, or itself
    std::vector<apsis_part> part_;  // [node]: of a root, what is known of its component; empty if no parts are needed
    int64_t least_area_ = 0, of_least_area_ = INT64_MAX;  // of the largest components
    int64_t count_ = 0;
};

}  // namespace

int64_t join(const JoinJob &job) { return Join(job).run(); }

void move_parts(const ComponentsJob &job, int64_t start, apsis_part *parts, int64_t count) {
    const int last = job.axes - 1;
    for (apsis_part *part = parts; part < parts + count; ++part) {
        part->first += start * job.columns();
        part->lower[last] += start;
        part->upper[last] += start;
        part->sum[last] += start * part->area;
    }
}

}  // namespace apsis::slabs
