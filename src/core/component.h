// What is told of a component, or of a value: centroids in place of sums, and all else as it was counted.
#pragma once

#include "core/view.h"

namespace apsis {

APSIS_BOTH inline apsis_component component_of(const apsis_part &part) {
    apsis_component component = {};
    component.first = part.first;
    component.area = part.area;
    component.value = part.value;
    for (int a = 0; a < 3; ++a) {
        component.lower[a] = part.lower[a];
        component.upper[a] = part.upper[a];
        component.centroid[a] = static_cast<double>(part.sum[a]) / static_cast<double>(part.area);
    }
    return component;
}

}  // namespace apsis
