/* What the surface of a set is, point by point: for corners the triangles of marching cubes in every cube, one by one. */
#ifndef SURFACE_ORACLE_H
#define SURFACE_ORACLE_H

#include <apsis_measures.h>

#include "oracle.h"

/** The problem whose pixels are the points of a surface: of corners one more along each axis. */
problem points_problem(const problem *p, apsis_surface surface);

/** The weight of each point of the surface, 0 of those that are not on it; weight[i] is of pixel i of points_problem. */
void weigh_points(const problem *p, apsis_surface surface, const uint8_t *mask, double *weight);

#endif
