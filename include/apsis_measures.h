/*
 * apsis_measures: what is asked for next, once there are the maps of apsis.h.
 *
 *     apsis_morphology         a set, or labels, dilated, eroded, opened or closed by a ball
 *     apsis_surface_distance   how far are the surfaces of two sets apart?
 *     apsis_thickness          how large is the largest ball in the set that covers a pixel?
 *     apsis_medial_axis        which balls make up the set?
 *     apsis_measures           of what shape is each value of a label image, and how bright?
 *     apsis_cost_distance      what does the way from the seeds to every pixel cost?
 *     apsis_paths              which way is it, pixel by pixel?
 *     apsis_longest_paths      the longest of the shortest paths in every component
 *
 *     apsis_image set     = {.data = mask, .type = APSIS_U8, .ndim = 2, .size = {w, h}};
 *     apsis_image smooth  = {.data = out,  .type = APSIS_U8, .ndim = 2, .size = {w, h}};
 *     apsis_status st = apsis_morphology(ctx, APSIS_OPEN, 12.5, &set, &smooth, NULL);
 *
 * The library is the one of apsis.h, and what is said there of contexts, images,
 * options, errors and results holds here too.
 */
#ifndef APSIS_MEASURES_H
#define APSIS_MEASURES_H

#include <apsis.h>

#ifdef __cplusplus
extern "C" {
#endif


/* ---- Morphology --------------------------------------------------------- */

/** What becomes of a set.  Values never change; new ones may appear. */
typedef enum apsis_operation {
    APSIS_DILATE = 0, /**< The pixels with one of the set in the ball around them. */
    APSIS_ERODE  = 1, /**< The pixels with nothing but the set in the ball around them. */
    APSIS_OPEN   = 2, /**< Eroded, then dilated: what the balls that lie in the set cover. */
    APSIS_CLOSE  = 3, /**< Dilated, then eroded: what no ball outside the set covers. */
    APSIS_OPERATION_FORCE_32 = 0x7fffffff
} apsis_operation;

/**
 * The set, dilated, eroded, opened or closed by a ball: the pixels at a distance of
 * at most `radius` from its centre, as options->metric and options->spacing measure
 * it.  With APSIS_CITY_BLOCK that is a diamond, with APSIS_CHESSBOARD a square.
 *
 * Distances are those of apsis_distance, and so is what spacings and sizes are
 * supported.  A distance is compared as APSIS_F64 holds it, rounded once: a
 * radius of sqrt(2.0) has the diagonal neighbours in its ball.  In between whole
 * numbers decide.  The time does not grow with the radius.
 *
 * By default the image is all there is: what lies outside is neither in the set nor
 * in its complement, so that a set that touches the border is not eroded from there.
 * (So it is with scikit-image's isotropic_dilation, isotropic_erosion, isotropic_opening
 * and isotropic_closing.)  A set without complement in the image is eroded to itself.
 *
 * With APSIS_BORDER what lies outside counts as pixels of 0: outside the set, or with
 * APSIS_COMPLEMENT in it.  To close a set then, or to open a complement, takes pixels beyond
 * the border: APSIS_ERROR_UNSUPPORTED; give the image a margin as wide as the radius.
 *
 * With APSIS_LABELS the set is a label image, and so is the result:
 *   dilated   a pixel of 0 gets the nearest label in the ball around it, of equally near
 *             ones that at the lowest index, as from apsis_voronoi; no label gives way;
 *   eroded    a pixel keeps its label if it has no other value, nor 0, in its ball;
 *   opened    a pixel keeps its label if a ball that it is in has no other;
 *   closed    the set of all labels is closed, and its new pixels get the nearest label.
 * To close one label alone, close it as a set.  Set and result are in host memory both, or
 * both in device memory; scratch memory has 1 byte a pixel more.  Erosion and opening are not for APSIS_CHESSBOARD.
 *
 * Flags are APSIS_COMPLEMENT (the set is the zero pixels, and the result is 1 in what
 * has become of it), APSIS_SLICES, APSIS_BORDER and APSIS_LABELS.  max_distance is not
 * for this call.
 *
 * @param radius  In units of spacing, 0 or more; infinity is allowed.
 * @param set     APSIS_BIT or an integer type.
 * @param result  APSIS_BIT or APSIS_U8: 1 in the set that it has become, otherwise 0.
 *                With APSIS_LABELS APSIS_I32 or APSIS_I64, which must hold all labels.
 */
APSIS_API apsis_status apsis_morphology(apsis_context *context, apsis_operation operation,
                                        double radius, const apsis_image *set,
                                        const apsis_image *result, const apsis_options *options);


/* ---- Surface distances -------------------------------------------------- */

/**
 * What the surface of a set is: points, and how much each of them weighs.  What lies outside the
 * image is outside of the set.  Values never change; new ones may appear.
 */
typedef enum apsis_surface {
    /** The pixels of the set with one of their 4 (in 3-D 6) neighbours outside of it.  Each weighs 1. */
    APSIS_SURFACE_PIXELS = 0,
    /** All pixels of the set.  Each weighs 1. */
    APSIS_SURFACE_ALL = 1,
    /** The corners of pixels at which some of the 4 (in 3-D 8) pixels are in the set, and others
     *  are not.  One weighs the length of the contour of marching squares (in 3-D the area of the
     *  surface of marching cubes) between the centres of these pixels, in units of spacing. */
    APSIS_SURFACE_CORNERS = 2,
    APSIS_SURFACE_FORCE_32 = 0x7fffffff
} apsis_surface;

/**
 * How far the surfaces of two sets are apart.  Of two numbers the one at 0 is of the
 * points of the first surface and their distances to the second, the one at 1 of the
 * points of the second and their distances to the first.
 *
 * A distance to a surface without points is infinite.  What is said of the points of a
 * surface that has none, such as their mean, is not a number; of the two directions the
 * other counts then.  This structure is final.
 */
typedef struct apsis_surface_distances {
    int64_t value;         /**< With APSIS_LABELS, the value whose pixels are the sets; otherwise 1. */
    int64_t points[2];     /**< How many points each surface has, */
    double  area[2];       /**< what they weigh together, */
    double  within[2];     /**< and of that, those at a distance of at most the tolerance. */
    double  largest[2];    /**< The directed Hausdorff distances, */
    double  percentile[2]; /**< their percentiles, */
    double  mean[2];       /**< and the means, weighted. */
    double  hausdorff;            /**< The larger of `largest`. */
    double  hausdorff_percentile; /**< The larger of `percentile`, such as HD95. */
    double  average;       /**< The average symmetric surface distance: over the points of both, weighted. */
    double  dice;          /**< The surface Dice: the part of the area of both that `within` has. */
} apsis_surface_distances;

/**
 * Compares two sets, such as a segmentation and the truth, by their surfaces.  Distances are
 * those of apsis_distance, between points, as APSIS_F64 holds them, with options->metric and
 * options->spacing.  What spacings are supported the size of the image says.
 *
 *     apsis_surface_distances found;
 *     st = apsis_surface_distance(ctx, &result, &truth, APSIS_SURFACE_PIXELS, 95, 2.0,
 *                                 &found, 1, NULL, NULL);
 *
 * With APSIS_LABELS two label images are compared value by value: each value other than 0 that
 * occurs in one of them, or in both, is a pair of sets.  They are told in ascending order, the
 * first `capacity` of them.  With APSIS_DENSE besides, distances[i] is of value i, as in
 * apsis_statistics; of 0, and of a value that does not occur, it is what is said of sets without
 * pixels.  A value costs what the box costs that holds its pixels in both images.
 *
 * Where both sets have pixels, so it is with
 *
 *     MONAI             APSIS_SURFACE_PIXELS.  compute_hausdorff_distance is `hausdorff` and
 *                       `hausdorff_percentile`, compute_average_surface_distance `mean[0]` and with
 *                       symmetric=True `average`, compute_surface_dice `dice`; with
 *                       use_subvoxels=True that of APSIS_SURFACE_CORNERS.
 *     surface-distance  (DeepMind's) APSIS_SURFACE_CORNERS.  compute_average_surface_distance is
 *                       `mean`, compute_robust_hausdorff `hausdorff_percentile`,
 *                       compute_surface_overlap_at_tolerance `within` / `area`,
 *                       compute_surface_dice_at_tolerance `dice`.
 *     scikit-image      APSIS_SURFACE_ALL.  hausdorff_distance is `hausdorff`, with
 *                       method="modified" the larger of `mean`.
 *
 * Of points that weigh 1 a percentile is as numpy.percentile has it, between two distances in
 * proportion.  Of corners it is the least distance up to which that part of the area is.
 *
 * What is found is in host memory; the call returns when it is done.  Its workspace holds, for a
 * pixel of the largest box, 6 bytes, or 10 if the square of a distance might reach 2^30, and the
 * workspace of apsis_distance; on a CUDA device 20 more, but for no more than 2^24 pixels.  If
 * there is no such memory the CPU does it, in memory of its own, with copies of images of
 * APSIS_DEVICE memory.  Bits, and sets of wider pixels, become bytes on the host.
 * max_distance is not for this call.  Corners take spacings from 1e-60 to 1e60.
 *
 * @param first, second  APSIS_BIT or an integer type, of one size.
 * @param surface        What a surface is.
 * @param percentile     From 0 to 100.
 * @param tolerance      In units of spacing, 0 or more.  A distance that differs from it by
 *                       rounding alone, 2^-50 of it, counts as equal.
 * @param distances      [capacity]: receives what is found, or NULL.
 * @param count          Receives how many values there are, 1 without APSIS_LABELS; with
 *                       APSIS_DENSE one more than the greatest.  May be NULL.
 */
APSIS_API apsis_status apsis_surface_distance(apsis_context *context, const apsis_image *first,
                                              const apsis_image *second, apsis_surface surface,
                                              double percentile, double tolerance,
                                              apsis_surface_distances *distances, int64_t capacity,
                                              int64_t *count, const apsis_options *options);


/* ---- Thickness ---------------------------------------------------------- *
 *
 * The ball of a pixel of the set is that of the pixels nearer to it than the nearest one
 * outside of the set.  It lies in the set, and is the largest one around that pixel that does:
 * a pixel as far away as the nearest one outside is not in it.  Its radius is the distance
 * of apsis_distance to the complement: APSIS_F32 or APSIS_F64 in units of spacing, APSIS_I32
 * or APSIS_I64 its square, for spacing 1 only.
 *
 * Whole numbers decide.  The metric is APSIS_EUCLIDEAN, with any spacing.  Flags are
 * APSIS_COMPLEMENT (the set is the zero pixels), APSIS_SLICES and APSIS_BORDER; max_distance
 * is not for these calls.
 *
 * By default the image is all there is: a ball may reach beyond its border.  A set without
 * complement in the image has infinite balls: +infinity, or the largest integer, in every
 * pixel.  With APSIS_BORDER what lies outside counts as pixels of 0.  In a complement these
 * would be centres beyond the border: APSIS_ERROR_UNSUPPORTED; give the image a margin.
 *
 * On a CUDA context the distances are the device's, and the rest is the work of the host's cores.
 * The calls return when they are done.  Beside the workspace of apsis_distance they take 13 bytes
 * of host memory for a pixel, or 25 if the square of a distance might reach 2^30; 8 more for a
 * result in APSIS_DEVICE memory; and apsis_thickness some 60 for a pixel of the medial axis.
 */

/**
 * The local thickness: the radius of the largest ball in the set that covers the pixel, wherever
 * its centre is, and 0 outside of the set.
 *
 * So it is with PoreSpy's local_thickness, which by default has the whole numbers alone among the
 * radii, and with localthickness; BoneJ gives twice the radius.
 *
 * @param set        APSIS_BIT or an integer type.
 * @param thickness  APSIS_F32 or APSIS_F64, or APSIS_I32 or APSIS_I64: the radius.
 *                   APSIS_ERROR_RANGE as in apsis_distance.
 */
APSIS_API apsis_status apsis_thickness(apsis_context *context, const apsis_image *set,
                                       const apsis_image *thickness, const apsis_options *options);

/**
 * The medial axis, with radii: the pixels whose balls make up the set.  A pixel c whose ball has
 * the radius r is on the axis if r^2 - |p - c|^2 is greatest for it at some pixel p of the set;
 * of several as great the lowest counts.  The balls of the axis cover the set, and nothing else, and
 * none of them lies in another one, as balls of space.
 *
 * This is the reduced discrete medial axis of Coeurjolly and Montanvert.  It is no skeleton: it need not
 * be connected.
 *
 * @param set    APSIS_BIT or an integer type.
 * @param radii  As in apsis_thickness: the radius on the axis, 0 elsewhere.
 */
APSIS_API apsis_status apsis_medial_axis(apsis_context *context, const apsis_image *set,
                                         const apsis_image *radii, const apsis_options *options);


/* ---- Measures of values ------------------------------------------------- */

/** What apsis_measures is asked for: fields of apsis_measure. */
enum {
    APSIS_MOMENTS   = 1 << 0, /**< moments, axes, orientation, eccentricity */
    APSIS_PERIMETER = 1 << 1, /**< perimeter, crofton; in 2-D */
    APSIS_SURFACE   = 1 << 2, /**< faces, surface */
    APSIS_EULER     = 1 << 3, /**< euler */
    APSIS_FILLED    = 1 << 4, /**< filled */
    APSIS_HULL      = 1 << 5, /**< convex, convex_area; in 2-D */
    APSIS_FERET     = 1 << 6, /**< feret, feret_contour; in 2-D */
    APSIS_INTENSITY = 1 << 7  /**< intensity_sum, intensity_mean, intensity_min, intensity_max */
};

/**
 * What is known of a value.  Fields that were not asked for are 0.  All is counted in whole
 * numbers, and rounded in the end.
 *
 * This structure is final: what is measured in later versions gets a bit of its own to be
 * asked for, and a field of those that are reserved.
 */
typedef struct apsis_measure {
    apsis_component component;   /**< As apsis_statistics has it; always. */
    int64_t border;              /**< Whether it touches the border of the image, 1 or 0; always. */
    int64_t euler;               /**< Its pieces less its holes; in 3-D pieces and cavities less
                                      tunnels.  options->connectivity says what a piece is. */
    int64_t filled;              /**< Its pixels, and those of its holes, whatever is in them. */
    int64_t convex;              /**< The pixels whose centre is in the convex hull of the midpoints
                                      of its pixels' edges, or on it. */
    int64_t faces[3];            /**< The faces across x, y, z between its pixels and what is not of
                                      this value, or outside the image; in 2-D sides of pixels. */
    double  surface;             /**< The area of its faces; in 2-D the length of its sides. */
    double  moments[6];          /**< Second central moments: the sums over its pixels of xx, yy, zz,
                                      xy, xz, yz, each from the centroid. */
    double  axes[3];             /**< The axes of the ellipse, or ellipsoid, that has these moments
                                      for its area, the longest first; in 2-D two. */
    double  orientation;         /**< In 2-D: the angle from the y axis to the longest one, from
                                      -pi/2 to pi/2, positive towards x. */
    double  eccentricity;        /**< In 2-D: of that ellipse, from 0, a circle, to 1, a line. */
    double  perimeter;           /**< The length of the path through the centres of its pixels that
                                      have one of 4 neighbours outside of it. */
    double  crofton[2];          /**< Its perimeter by Crofton's formula, with 2 and with 4 directions. */
    double  convex_area;         /**< The area of the convex hull of its pixels, as squares. */
    double  feret[2];            /**< The least and the largest distance between two parallel lines
                                      with that hull between them. */
    double  feret_contour;       /**< The largest distance of two midpoints of edges of the pixels
                                      that `convex` counts. */
    double  intensity_sum;       /**< The sum of `grey` over its pixels, rounded once; its mean, */
    double  intensity_mean;
    double  intensity_min;       /**< the least value of a pixel, */
    double  intensity_max;       /**< and the largest one.  All are NaN where a pixel is. */
    double  reserved[8];         /**< 0. */
} apsis_measure;

/**
 * Measures each value of a label image but 0, the background, wherever its pixels are.  By
 * default of the values that occur, in ascending order, the first `capacity` of them.  With
 * APSIS_DENSE measures[i] is of value i, as in apsis_statistics; of 0, and of one that does
 * not occur, component is as there, and all else 0.  A set, of bits or of 0 and 1, is the value 1.
 *
 * For components, measure their numbers:
 *
 *     int64_t count;
 *     st = apsis_components(ctx, &set, &numbers, NULL, 0, &count, NULL);
 *     apsis_measure *found = malloc(count * sizeof *found);
 *     if (st == APSIS_OK)
 *         st = apsis_measures(ctx, &numbers, NULL, APSIS_MOMENTS, found, count, NULL, NULL);
 *
 * Formulas and conventions are those of scikit-image's regionprops, whose axes 0, 1 are y, x, in
 * 3-D z, y, x:
 *
 *     moments        moments_central, of order 2.  moments / area is a covariance, of which
 *                    l1 >= l2 (>= l3) are the eigenvalues.
 *     axes           axis_major_length, axis_minor_length: 4 sqrt(l), in 3-D sqrt(20 l)
 *     eccentricity   sqrt(1 - l2 / l1), and 0 where l1 is
 *     orientation    atan2(2 xy, yy - xx) / 2; where xx is yy, pi/4 if xy is positive, else -pi/4
 *     perimeter      perimeter with 4 neighbours (Benkrid, Crookes 2000): each pixel of the path
 *                    is 1 where it goes on along axes, sqrt(2) where across corners, or their mean
 *     crofton        perimeter_crofton with 2 and 4 directions
 *     euler          euler_number; regionprops has the connectivity 2, in 3-D 3
 *     filled         area_filled: the outside goes on across corners
 *     convex         area_convex
 *     feret_contour  feret_diameter_max
 *
 * Moments, axes, surfaces, areas of hulls and diameters are in units of options->spacing, from
 * 1e-60 to 1e60; areas, `filled` and `convex` count pixels.  A perimeter needs equal spacing, and
 * an Euler number in 3-D takes the connectivity 1 or 3.
 *
 * In host memory; the call returns when it is done.  What is not asked for is not computed.
 * Flags are APSIS_DENSE and APSIS_LABELS, which changes nothing.
 *
 * On a CUDA context the device finds the sums, from which the host makes the measures.  It is the
 * host's work, too, if APSIS_FILLED, APSIS_HULL or APSIS_FERET is asked for, or if there is not
 * enough device memory, or workspace: then images of APSIS_DEVICE are copied to the host.  A
 * device takes 300 bytes for each value, or 560 with intensities of APSIS_F32; of values of
 * APSIS_U8 and APSIS_U16 for each that there can be, of wider ones for as many as a power of two
 * that is more.  The host takes up to 420 bytes for each value and thread, with APSIS_DENSE some
 * 600 more for each value, and for APSIS_FILLED, APSIS_HULL and APSIS_FERET 40 for each run of
 * pixels of a value in a row; bits become bytes.
 *
 * @param labels    APSIS_BIT or an integer type.
 * @param grey      APSIS_U8, APSIS_U16 or APSIS_F32, of the same size; NULL without APSIS_INTENSITY.
 * @param wanted    APSIS_MOMENTS | APSIS_EULER | ..., or 0.
 * @param measures  [capacity]: receives what is known, or NULL.
 * @param count     Receives how many values occur; with APSIS_DENSE one more than the greatest.
 *                  May be NULL.
 */
APSIS_API apsis_status apsis_measures(apsis_context *context, const apsis_image *labels,
                                      const apsis_image *grey, uint32_t wanted,
                                      apsis_measure *measures, int64_t capacity, int64_t *count,
                                      const apsis_options *options);

/*
 * Measures of a label image that is cut into slabs, as apsis.h has it.  Each slab tells of its own values, and what they tell
 * is added up, in any order and grouping:
 *
 *     1. apsis_slab_sums         of each slab: what is counted of its values
 *     2. apsis_slab_merge_sums   of some slabs, or of all
 *     3. apsis_slab_measures     of the sums of the image: what apsis_measures says of it, byte for byte
 *
 * Slabs may be on different contexts.  APSIS_FILLED, APSIS_HULL and APSIS_FERET follow from all pixels of a value together:
 * they are APSIS_ERROR_UNSUPPORTED here, as is APSIS_DENSE.
 */

/** What is counted of a value in a slab: whole numbers, that files and messages can hold.  One of 128 bits is two: its lower
 *  64 bits, and its upper ones.  What was not asked for is 0.  This structure is final. */
typedef struct apsis_sums {
    apsis_part part;          /**< First pixel, area and box, as in the image. */
    int64_t wanted;           /**< APSIS_MOMENTS | ...: what was asked for. */
    int64_t products_low[6];  /**< The sums over its pixels of xx, yy, zz, xy, xz, yz. */
    int64_t products_high[6];
    int64_t faces[3];         /**< As in apsis_measure; these and what follows may be below 0 in a slab. */
    int64_t diagonals;        /**< In 2-D: pairs of pixels side by side across a corner, one of them of another value. */
    int64_t euler;            /**< As in apsis_measure. */
    int64_t steps[3];         /**< Pixels on the path of the perimeter: where it is straight, diagonal, or both. */
    int64_t intensity_low[8]; /**< The sum of intensities: number i times 2^(32 i - 149), together. */
    int64_t intensity_high[8];
    int64_t least;            /**< The least intensity: the bits of its APSIS_F32, so that they sort as it does; */
    int64_t largest;          /**< and the largest one. */
    int64_t special;          /**< Which are among the intensities: 1, NaN; 2, +infinity; 4, -infinity. */
    int64_t reserved[4];      /**< 0. */
} apsis_sums;

/**
 * Counts what apsis_measures needs of each value of a slab but 0, in ascending order of the values.
 *
 * A perimeter depends on the rows around a pixel.  `before` has the last rows of the image before the slab, in 3-D planes:
 * 4 of them if APSIS_PERIMETER is wanted, 1 for APSIS_SURFACE or APSIS_EULER, and fewer where the image begins.  It may have
 * more; its pixels are counted with the slab that has them.
 *
 * @param labels    As in apsis_measures: the slab; and so are grey and wanted.
 * @param before    Of the type of labels; NULL if none is needed.
 * @param start     The rows of the image before the slab.
 * @param sums      [capacity]: receives what is counted of the first `capacity` values, or NULL.
 * @param count     Receives how many values occur, or NULL.
 */
APSIS_API apsis_status apsis_slab_sums(apsis_context *context, const apsis_image *labels, const apsis_image *grey,
                                       const apsis_image *before, int64_t start, uint32_t wanted, apsis_sums *sums,
                                       int64_t capacity, int64_t *count, const apsis_options *options);

/** Adds up the sums of equal values of several slabs, in one array, which is then in ascending order of the values; of what
 *  all were asked for.  Returns how many there are.  Any thread. */
APSIS_API int64_t apsis_slab_merge_sums(int64_t count, apsis_sums *sums);

/**
 * Makes of the sums of an image what apsis_measures says of its values.  All must have been asked for the same.
 *
 * @param size      [ndim]: of the image.
 * @param sums      [count]: of all slabs, merged.
 * @param measures  [count]: receives what follows from them.
 */
APSIS_API apsis_status apsis_slab_measures(apsis_context *context, int32_t ndim, const int64_t *size,
                                           const apsis_sums *sums, int64_t count, apsis_measure *measures,
                                           const apsis_options *options);


/* ---- Paths -------------------------------------------------------------- *
 *
 * Neighbours, steps and lengths are those of apsis_geodesic: options->connectivity,
 * options->metric and options->spacing say what they are.
 *
 * In a cost image, such as one of friction or of slowness, a step costs the mean of the
 * costs of its two pixels, times its length (as with scikit-image's MCP_Geometric, and the
 * r.cost of GRASS).  It is APSIS_U8, APSIS_U16 or APSIS_F32.  Through a pixel of cost 0 leads
 * no path, nor through one that is negative, infinite or not a number.
 *
 * Whole numbers decide: the steps of apsis_geodesic, times costs.  A cost of APSIS_F32 counts
 * as it is if it is at least 2^-29 of the largest one in the set.  A smaller one is rounded to
 * a multiple of 2^-52 of the power of two below the largest, not to 0.
 *
 * Images are in APSIS_HOST memory.  The work is the host's, with a CUDA context too: one thread's
 * for an image, and for a batch with APSIS_SLICES all threads'.  It takes up to 40 bytes of host
 * memory for a pixel, beside a list of where paths have come to, and of the workspace only what
 * apsis_longest_paths needs for eccentricities.  Calls return when they are done.
 */

/**
 * The least cost of a path from a seed to every pixel, and the seed that it comes from.  Either
 * output may be NULL.  What they hold where no path leads, and outside the set, is as in
 * apsis_geodesic.  What costs more than max_distance counts as no path.
 *
 * Flags are APSIS_COMPLEMENT (of the set), APSIS_SLICES and APSIS_LABELS: with the last, the seeds
 * are a label image, and nearest has the label of the seed, and 0 in place of -1.
 *
 * @param set       APSIS_BIT or an integer type: where paths may go.  NULL: everywhere.
 *                  Pixels through which no path leads for their cost are outside of it.
 * @param costs     APSIS_U8, APSIS_U16 or APSIS_F32: for each unit of length.
 * @param seeds     APSIS_BIT or an integer type; the non-zero pixels in the set.
 * @param distance  APSIS_F32 or APSIS_F64: the cost.  APSIS_I32 or APSIS_I64, for costs of an
 *                  integer type, with spacing 1 and not Euclidean: twice the cost, of chamfer
 *                  paths in sums of weights, six times by default; APSIS_ERROR_RANGE if it might
 *                  not fit.  Above FLT_MAX, with costs of APSIS_F32, an APSIS_F32 is infinity.
 * @param nearest   APSIS_I32 or APSIS_I64: the index of the seed; of several, the lowest.
 */
APSIS_API apsis_status apsis_cost_distance(apsis_context *context, const apsis_image *set,
                                           const apsis_image *costs, const apsis_image *seeds,
                                           const apsis_image *distance, const apsis_image *nearest,
                                           const apsis_options *options);

/** A path.  Pixels are indices, as in apsis_distance.  This structure is final. */
typedef struct apsis_path {
    int64_t start;      /**< The pixel at which it begins. */
    int64_t seed;       /**< The nearest seed, at which it ends; -1: no path leads there. */
    int64_t first;      /**< Its pixels, from start to seed, are pixels[first], pixels[first + 1], ... */
    int64_t count;      /**< So many: 1 where the start is a seed, 0 where there is no path. */
    double  length;     /**< Of its steps together; +infinity where there is none. */
    double  cost;       /**< What it costs; without a cost image, its length. */
    double  straight;   /**< The Euclidean distance between its ends; not a number where there is none. */
    double  tortuosity; /**< length / straight, at least 1; 1 where the start is the seed. */
} apsis_path;

/**
 * The shortest paths from some pixels to their nearest seeds; with a cost image, those of least
 * cost.  They are what apsis_geodesic and apsis_cost_distance measure, and end at the seeds that
 * these tell.
 *
 * Of several shortest paths from a start to its seed the lowest is told: from the start on, of the
 * pixels that come next on one of them, that of the lowest index.
 *
 * Flags are APSIS_COMPLEMENT (of the set) and APSIS_SLICES.  A path that is longer, or costs more,
 * than max_distance is none.
 *
 * @param set          As in apsis_cost_distance.
 * @param costs        As there.  NULL: a path costs its length.
 * @param seeds        As there.
 * @param starts       [start_count]: the pixels to begin at, anywhere in the image.
 * @param paths        [start_count]: receives what is known of each path, or NULL.
 * @param pixels       Receives the pixels of all paths, path after path, the first
 *                     `capacity` of them, or NULL.
 * @param pixel_count  Receives how many pixels they have together, or NULL.
 */
APSIS_API apsis_status apsis_paths(apsis_context *context, const apsis_image *set,
                                   const apsis_image *costs, const apsis_image *seeds,
                                   const int64_t *starts, int64_t start_count, apsis_path *paths,
                                   int64_t *pixels, int64_t capacity, int64_t *pixel_count,
                                   const apsis_options *options);

/**
 * The longest of the shortest paths in each component, such as the length of a fibre: from the
 * pixel extents[i].ends[0] of apsis_eccentricity to extents[i].ends[1], which is its seed.  Of
 * several the lowest, as in apsis_paths.  Most of the time goes into the eccentricities, which are
 * the device's work.
 *
 * Flags are APSIS_COMPLEMENT, APSIS_SLICES and APSIS_LABELS: with the last, steps go to equal values
 * only, as in apsis_eccentricity.  Neither max_distance nor a budget is for this call.
 *
 * @param set            APSIS_BIT or an integer type.
 * @param paths          Receives the paths of components 1, 2, ..., in the order of
 *                       apsis_components, the first `path_capacity` of them, or NULL.
 * @param path_count     Receives how many components there are, or NULL.
 * @param pixels         Receives the pixels of all paths, path after path, the first
 *                       `pixel_capacity` of them, or NULL.
 * @param pixel_count    Receives how many pixels all paths have together, or NULL.
 */
APSIS_API apsis_status apsis_longest_paths(apsis_context *context, const apsis_image *set,
                                           apsis_path *paths, int64_t path_capacity,
                                           int64_t *path_count, int64_t *pixels,
                                           int64_t pixel_capacity, int64_t *pixel_count,
                                           const apsis_options *options);

#ifdef __cplusplus
}
#endif

#endif /* APSIS_MEASURES_H */
