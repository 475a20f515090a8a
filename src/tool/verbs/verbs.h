// The verbs of the command: one file each.  Each takes the words after its name, and returns an exit code or
// throws a Failure.
#pragma once

#include <string>
#include <vector>

namespace tool {

using Words = std::vector<std::string>;

int run_distance(const Words &words);
int run_voronoi(const Words &words);
int run_components(const Words &words);
int run_morphology(const Words &words);
int run_thickness(const Words &words);
int run_medial_axis(const Words &words);
int run_surface_distance(const Words &words);
int run_geodesic(const Words &words);
int run_eccentricity(const Words &words);
int run_paths(const Words &words);
int run_statistics(const Words &words);
int run_measures(const Words &words);
int run_contacts(const Words &words);
int run_info(const Words &words);
int run_devices(const Words &words);

}  // namespace tool
