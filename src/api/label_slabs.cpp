// What a slab of a label image is told, for its maps: see label_slabs.h.
//
// A slab tells of runs (slabs/runs.h).  Where distances lead from it is known once the label of the pixel beside the cut is
// compared with that of the slab's own row, which is summarised for that: then back ends are told rows alone.
#include "api/label_slabs.h"

namespace apsis {
namespace {

/// The nearest pixels of another value than a slab's own row has, beyond the slab.
std::vector<int64_t> others_beyond(apsis_context &context, const DistanceJob &job, const Edge &edge) {
    const int axis = job.axes - 1;
    SummaryJob own;
    own.axes = job.axes;
    own.labels = true;
    own.set = job.set;
    own.set.data += (edge.row - job.slab.start) * own.set.stride[axis];
    own.set.size[axis] = 1;
    own.slab.start = edge.row, own.slab.extent = job.slab.extent;
    std::vector<int64_t> told(static_cast<size_t>(own.told()));
    (edge.end == slabs::End::FIRST ? own.first : own.last) = told.data();
    run(context, own);
    return slabs::others_beyond(job.columns(), edge.end, told.data(), edge.told, edge.beside, job.slab.extent);
}

}  // namespace

std::vector<Edge> edges_of(const apsis_slab &slab, int64_t rows) {
    std::vector<Edge> edges;
    const int64_t end = slab.start + rows;
    if (slab.start > 0) edges.push_back({"above", slabs::End::LAST, slab.above, slab.start, slab.start - 1});
    if (end < slab.extent) edges.push_back({"below", slabs::End::FIRST, slab.below, end - 1, end});
    return edges;
}

BeyondLabels::BeyondLabels(apsis_context &context, const apsis_slab &slab, DistanceJob &job) {
    for (const Edge &edge : edges_of(slab, job.set.size[job.axes - 1])) {
        const bool is_above = edge.end == slabs::End::LAST;
        std::vector<int64_t> &rows = is_above ? above_ : below_;
        rows = others_beyond(context, job, edge);
        if (is_above && job.labels)
            for (int64_t &row : rows) row += row >= 0;  // the run begins behind it
        (is_above ? job.slab.above : job.slab.below)[0] = rows.data();
    }
}

void take_labels_beyond(const apsis_slab &slab, DistanceJob &job) {
    if (slab.above) job.slab.above_labels = slab.above + 2 * job.columns();
    if (slab.below) job.slab.below_labels = slab.below + 2 * job.columns();
}

}  // namespace apsis
