// Options: reads an older or newer apsis_options, and turns them into what a back end computes.
#pragma once

#include "core/measure.h"
#include "core/seam.h"
#include "core/steps.h"

namespace apsis {

/// The caller's options, with defaults for fields that their version of the struct lacks.  Throws if a field is out of its
/// documented range, or if a newer struct sets a field that this version lacks.
apsis_options read_options(const apsis_options *options);

/// Throws if APSIS_LABELS is set, for a function that takes sets alone.
void refuse_labels(const char *function, const apsis_options &options);

/// Throws if APSIS_COMPLEMENT is set beside APSIS_LABELS, for a function of sets.
void refuse_complement_of_labels(const apsis_options &options);

/// Throws if APSIS_BORDER is set, for a function that measures no distance.
void refuse_border(const char *function, const apsis_options &options);

/// "APSIS_RASTER_SCAN", and so on.
const char *name_of(apsis_method method);

/// Throws if delta is set, for a function that does not ask which values are connected.
void refuse_delta(const char *function, const apsis_options &options);

constexpr uint32_t PERIODIC_FLAGS = APSIS_PERIODIC_X | APSIS_PERIODIC_Y | APSIS_PERIODIC_Z;

/// The periodic axes of the image `name`.  Throws if one of them is too short for that, or there is no such axis.
Periodic read_periodic(const char *name, const apsis_options &options, const int64_t size[3], int ndim);

/// Makes options those of a slab of an image, which does not close on itself where the image is cut.
void open_cut(int ndim, apsis_options &options);

/// Throws if an axis is periodic, for what does not take it.
void refuse_periodic(const char *what, const apsis_options &options);

/// The measure of a distance over the first `axes` axes of an image of this size.  Along a periodic axis an image may stand
/// between two pixels whose cost is asked for, but none that are nearest are more than half of one apart.
Measure make_measure(const apsis_options &options, const int64_t size[3], int axes, const Periodic &periodic = {});

/// Limits a measure to distances that, in double precision, are at most this.
void limit_to(Measure &measure, double distance);

/// The steps of paths over the first `axes` axes of an image of this size.
Steps make_steps(const apsis_options &options, const int64_t size[3], int axes);

/// Throws unless every length in an image of so many pixels fits the type of an output, apart from the value for "none".
void check_lengths_fit(const char *name, apsis_type type, const apsis_options &options, const Steps &steps, int64_t pixels);

/// The number of axes along which neighbours may differ, from the options.  0 there means `fallback`.
int connectivity_of(const apsis_options &options, int axes, int fallback);

/// Throws APSIS_ERROR_RANGE unless every cost up to the limit fits an integer type, apart from the value for "none", or every
/// distance a float.
void check_fits(const char *name, apsis_type type, const apsis_options &options, const Measure &measure, int axes);

}  // namespace apsis
