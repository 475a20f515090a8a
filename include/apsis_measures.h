/*
 * apsis_measures: what is asked for next, once there are the maps of apsis.h.
 *
 *     apsis_morphology         the set dilated, eroded, opened or closed by a ball of any radius
 *     apsis_surface_distance   how far are the surfaces of two sets apart?
 *     apsis_thickness          how large is the largest ball in the set that covers a pixel?
 *     apsis_medial_axis        which balls make up the set?
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
 * Flags are APSIS_COMPLEMENT (the set is the zero pixels, and the result is 1 in what
 * has become of it), APSIS_SLICES and APSIS_BORDER.  max_distance is not for this call.
 * Labels grow by apsis_voronoi with APSIS_LABELS and max_distance.
 *
 * @param radius  In units of spacing, 0 or more; infinity is allowed.
 * @param set     APSIS_BIT or an integer type.
 * @param result  APSIS_BIT or APSIS_U8: 1 in the set that it has become, otherwise 0.
 */
APSIS_API apsis_status apsis_morphology(apsis_context *context, apsis_operation operation,
                                        double radius, const apsis_image *set,
                                        const apsis_image *result, const apsis_options *options);


/* ---- Surface distances -------------------------------------------------- */

/**
 * How far the surfaces of two sets are apart.  Of two numbers the one at 0 is of the
 * pixels of the first surface and their distances to the second, the one at 1 of the
 * pixels of the second and their distances to the first.
 *
 * A distance to a surface without pixels is infinite.  What is said of the pixels of a
 * surface that has none, such as their mean, is not a number; of the two directions the
 * other counts then.  This structure is final.
 */
typedef struct apsis_surface_distances {
    int64_t pixels[2];     /**< How many pixels each surface has, */
    int64_t within[2];     /**< and of these, how many at a distance of at most the tolerance. */
    double  largest[2];    /**< The directed Hausdorff distances, */
    double  percentile[2]; /**< their percentiles, between two distances in proportion, */
    double  mean[2];       /**< and the means. */
    double  hausdorff;            /**< The larger of `largest`. */
    double  hausdorff_percentile; /**< The larger of `percentile`, such as HD95. */
    double  average;       /**< The average symmetric surface distance: over the pixels of both. */
    double  dice;          /**< The surface Dice: the part of the pixels of both that `within` counts. */
} apsis_surface_distances;

/**
 * Compares two sets, such as a segmentation and the truth, by their surfaces.  The
 * surface of a set is its pixels that have one of their 4 (in 3-D 6) neighbours outside
 * of it, or outside of the image.  Distances are those of apsis_distance, between centres
 * of pixels, as APSIS_F64 holds them, with options->metric and options->spacing.
 *
 * So it is with MONAI: get_mask_edges has these surfaces, compute_hausdorff_distance gives
 * `hausdorff` and `hausdorff_percentile`, compute_average_surface_distance `mean[0]` and
 * with symmetric=True `average`, compute_surface_dice `dice`.  DeepMind's surface-distance
 * has other surfaces, between pixels, and weighs them by area.
 *
 * The call takes 10 bytes of host memory for a pixel, and 8 for a pixel of a surface, beside the
 * workspace of apsis_distance; images of APSIS_DEVICE memory are copied there first.  There are no
 * flags, and max_distance is not for this call.
 *
 * @param first, second  APSIS_BIT or an integer type, of one size.
 * @param percentile     From 0 to 100.
 * @param tolerance      In units of spacing, 0 or more.
 * @param distances      Receives what is found.
 */
APSIS_API apsis_status apsis_surface_distance(apsis_context *context, const apsis_image *first,
                                              const apsis_image *second, double percentile,
                                              double tolerance, apsis_surface_distances *distances,
                                              const apsis_options *options);


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

#ifdef __cplusplus
}
#endif

#endif /* APSIS_MEASURES_H */
