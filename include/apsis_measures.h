/*
 * apsis_measures: what is asked for next, once there are the maps of apsis.h.
 *
 *     apsis_morphology     the set dilated, eroded, opened or closed by a ball of any radius
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

#ifdef __cplusplus
}
#endif

#endif /* APSIS_MEASURES_H */
