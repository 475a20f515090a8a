// Paths of least cost: the work of the host on every context, beside the back ends.
#pragma once

#include <apsis_measures.h>

#include <cmath>
#include <vector>

#include "core/steps.h"
#include "runtime/backend.h"

namespace apsis {

/// apsis_cost_distance and apsis_paths, checked likewise.
struct CostJob {
    View set;       // where paths may go; without data: everywhere
    View costs;     // APSIS_U8, APSIS_U16 or APSIS_F32; without data: all are 1
    View seeds;     // without data: `sources`
    View values;    // as in a GeodesicJob
    View distance;  // without data: not wanted
    View nearest;   // without data: not wanted
    int64_t size[3] = {0, 0, 0};
    int axes = 2;
    bool complement = false;
    bool by_value = false;  // the set is a label image: steps go from value to equal value
    Steps steps;            // without a limit
    double max_distance = HUGE_VAL;
    const std::vector<int64_t> *sources = nullptr;  // the seeds, as indices, in ascending order
    const std::vector<int64_t> *starts = nullptr;   // of paths, as indices; nullptr: none is wanted
    std::vector<apsis_path> *paths = nullptr;       // [start]: their ends, pixels, lengths and costs
    std::vector<int64_t> *pixels = nullptr;         // of all paths
};

class Arena;

void find_costs(const CostJob &job, Arena &arena, const Progress &progress);

}  // namespace apsis
