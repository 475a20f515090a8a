// What a slab of a label image is told, for its maps: see label_slabs.h.
//
// A slab tells of runs (slabs/runs.h).  Where distances lead from it is known once the label of the pixel beside the cut is
// compared with that of the slab's own row, which is summarised for that: then back ends are told rows alone.
#include "api/label_slabs.h"

namespace apsis {

std::vector<int64_t> runs_of_row(apsis_context &context, const View &set, int axes, int64_t row, slabs::End end) {
    SummaryJob job;
    job.axes = axes;
    job.labels = true;
    job.set = set;
    job.set.data += row * set.stride[axes - 1];
    job.set.size[axes - 1] = 1;
    std::vector<int64_t> told(static_cast<size_t>(job.told()));
    (end == slabs::End::FIRST ? job.first : job.last) = told.data();
    run(context, job);
    return told;
}

std::vector<Edge> edges_of(const apsis_slab &slab, const DistanceJob &job) {
    std::vector<Edge> edges;
    const int64_t start = slab.start, end = start + job.set.size[job.axes - 1], extent = slab.extent;
    const bool is_ring = job.periodic.along[job.axes - 1] && job.is_slab();
    if (start > 0 || is_ring) edges.push_back({"above", slabs::End::LAST, slab.above, start, (start > 0 ? start : extent) - 1});
    if (end < extent || is_ring) edges.push_back({"below", slabs::End::FIRST, slab.below, end - 1, end < extent ? end : 0});
    return edges;
}

BeyondLabels::BeyondLabels(apsis_context &context, const apsis_slab &slab, DistanceJob &job) {
    for (const Edge &edge : edges_of(slab, job)) {
        const bool is_above = edge.end == slabs::End::LAST;
        std::vector<int64_t> &rows = is_above ? above_ : below_;
        const std::vector<int64_t> own = runs_of_row(context, job.set, job.axes, edge.row - job.slab.start, edge.end);
        rows = slabs::others_beyond(job.columns(), edge.end, own.data(), edge.told, edge.beside, job.slab.extent);
        if (is_above && job.labels)
            for (int64_t &row : rows) row += row >= 0;  // the run begins behind it
        (is_above ? job.slab.above : job.slab.below)[0] = rows.data();
    }
}

void take_labels_beyond(const apsis_slab &slab, DistanceJob &job) {
    if (job.slab.above[0]) job.slab.above_labels = slab.above + 2 * job.columns();
    if (job.slab.below[0]) job.slab.below_labels = slab.below + 2 * job.columns();
}

}  // namespace apsis
