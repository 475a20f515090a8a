/*
 * apsis: exact transforms of binary images, on the CPU or on an NVIDIA GPU.
 *
 * A binary image is a set of pixels, the non-zero ones, in 2-D or 3-D.  Apsis
 * answers questions about that set:
 *
 *     apsis_distance       how far is each pixel from the set, and which member is nearest?
 *     apsis_voronoi        in whose cell is each pixel, where every member has one?
 *     apsis_components     which connected piece does each member belong to, and what is known of it?
 *     apsis_geodesic       how far is it, staying inside the set, from some seeds, and from which?
 *     apsis_eccentricity   how far is it, staying inside, to the farthest member, and which is that?
 *
 * and about label images, such as segmentations, whose values are sets of their own:
 *
 *     apsis_statistics     what is known of each value?
 *     apsis_contacts       which values touch, and how much?
 *
 * What follows from these, such as dilation, is in apsis_measures.h.
 *
 * There are three things to know.  A context says where the work runs.  An
 * image describes memory that you own.  Options say what is computed; NULL
 * means the defaults.
 *
 *     apsis_context *ctx = NULL;
 *     apsis_status   st  = apsis_create(APSIS_VERSION, APSIS_BEST, &ctx);
 *     if (st == APSIS_OK) {
 *         apsis_image set  = {.data = mask, .type = APSIS_U8,  .ndim = 2, .size = {w, h}};
 *         apsis_image dist = {.data = out,  .type = APSIS_F32, .ndim = 2, .size = {w, h}};
 *         st = apsis_distance(ctx, &set, &dist, NULL, NULL);
 *     }
 *     if (st != APSIS_OK)
 *         fprintf(stderr, "apsis: %s\n", apsis_message(ctx));
 *     apsis_destroy(ctx);
 *
 * Ownership.  Apsis never keeps a pointer you pass, except to a callback, its
 *   user pointer, a stream or a workspace, each until you replace it.  It
 *   never frees your memory, and never returns memory that you must free,
 *   except from apsis_create and apsis_alloc.
 * Threads.  Use a context from one thread at a time.  Different contexts are
 *   independent.  There is no global state, and no call changes the calling
 *   thread's current CUDA device or context.  A call on a CPU context takes at
 *   most 32 KiB of its thread's stack.  After fork a child may use CPU contexts,
 *   its parent's among them, on one thread once the parent has used several;
 *   once the parent has used CUDA, a device says no.
 * Errors.  A call that can fail returns an apsis_status.  After a failure the
 *   contents of the outputs are unspecified; the context is still good, save
 *   after APSIS_ERROR_DEVICE.  An argument error is found before anything is
 *   written.  No C++ exception leaves the library, and nothing is printed.
 * Results.  The bytes of every output are the same on every device, with any
 *   number of threads, in every run.
 * Binary compatibility.  Within one major version functions, enumerators and
 *   the last fields of apsis_options are added; nothing else changes.  The
 *   shared library is libapsis.so.<major> (apsis-<major>.dll on Windows).
 *   Major version 0 is still being built: each minor version may change it.
 */
#ifndef APSIS_H
#define APSIS_H

#include <stddef.h>
#include <stdint.h>

#define APSIS_VERSION_MAJOR 0
#define APSIS_VERSION_MINOR 5
#define APSIS_VERSION_PATCH 0
#define APSIS_VERSION \
    (APSIS_VERSION_MAJOR * 10000 + APSIS_VERSION_MINOR * 100 + APSIS_VERSION_PATCH)

#if defined(APSIS_STATIC)
#  define APSIS_API
#elif defined(_WIN32) && defined(APSIS_BUILD)
#  define APSIS_API __declspec(dllexport)
#elif defined(_WIN32)
#  define APSIS_API __declspec(dllimport)
#else
#  define APSIS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif


/* ---- Status ------------------------------------------------------------- */

/** What became of a call.  Values never change; new ones may appear. */
typedef enum apsis_status {
    APSIS_OK                = 0,
    APSIS_ERROR_ARGUMENT    = 1, /**< An argument breaks its documented rule. */
    APSIS_ERROR_UNSUPPORTED = 2, /**< Valid, but not in this version or build. */
    APSIS_ERROR_NO_DEVICE   = 3, /**< No such device, or no driver for it. */
    APSIS_ERROR_MEMORY      = 4, /**< Host or device memory ran out. */
    APSIS_ERROR_WORKSPACE   = 5, /**< The workspace you set is too small. */
    APSIS_ERROR_RANGE       = 6, /**< A result might not fit the output type. */
    APSIS_ERROR_CANCELLED   = 7, /**< Your progress callback asked to stop. */
    APSIS_ERROR_DEVICE      = 8, /**< The device failed; destroy the context. */
    APSIS_ERROR_INTERNAL    = 9, /**< A bug in apsis; please report it. */
    APSIS_ERROR_BUDGET      = 10, /**< options->budget has run out; the outputs are bounds. */
    APSIS_STATUS_FORCE_32   = 0x7fffffff
} apsis_status;

/** The name of a status, such as "APSIS_ERROR_RANGE".  Never NULL. */
APSIS_API const char *apsis_status_name(apsis_status status);


/* ---- Images ------------------------------------------------------------- */

/** The type of a pixel.  A set is of APSIS_BIT or an integer type; its members are the non-zero pixels. */
typedef enum apsis_type {
    APSIS_BIT = 1, /**< One bit per pixel, lowest bit first; sets only. */
    APSIS_U8  = 2, /**< Sets and label images only. */
    APSIS_I32 = 3,
    APSIS_I64 = 4,
    APSIS_F32 = 5,
    APSIS_F64 = 6,
    APSIS_U16 = 7, /**< Sets and label images only. */
    APSIS_TYPE_FORCE_32 = 0x7fffffff
} apsis_type;

/** Where pixels are. */
typedef enum apsis_memory {
    APSIS_HOST   = 0, /**< Memory that the CPU can read and write. */
    APSIS_DEVICE = 1, /**< Memory of the context's CUDA device. */
    APSIS_MEMORY_FORCE_32 = 0x7fffffff
} apsis_memory;

/**
 * A view of pixels in memory that you own.  Pixel (x, y, z) is at
 *
 *     data + x * stride[0] + y * stride[1] + z * stride[2]
 *
 * x, y and z are only names for axes 0, 1 and 2: a row-major array
 * a[depth][height][width] has size {width, height, depth}.  Strides are in
 * bytes, may be negative, and 0 means packed: stride[0] is the size of a
 * pixel, each other stride the extent of the axis before it.  A row of
 * APSIS_BIT pixels starts on a byte, and its stride[0] is 0.  data and strides
 * are multiples of the size of a pixel.  An extent is at most 2^30; an image
 * may have more than 2^31 pixels, or none at all, and then no data.  Inputs
 * are never written to, and of outputs only their pixels; the unused bits of a
 * row's last byte may change.
 *
 * This structure is final: it will not change within a major version.
 */
typedef struct apsis_image {
    void        *data;
    apsis_type   type;
    int32_t      ndim;      /**< 2 or 3. */
    int64_t      size[3];   /**< Pixels along x, y, z; size[2] counts if ndim is 3. */
    int64_t      stride[3]; /**< Bytes from a pixel to the next along x, y, z. */
    apsis_memory memory;
    int32_t      reserved;  /**< 0. */
} apsis_image;


/* ---- Options ------------------------------------------------------------ */

/** How length is measured: that of an offset, and of each step of a path. */
typedef enum apsis_metric {
    APSIS_EUCLIDEAN  = 0, /**< The square root of dx^2 + dy^2 + dz^2. */
    APSIS_CITY_BLOCK = 1, /**< |dx| + |dy| + |dz|. */
    APSIS_CHESSBOARD = 2, /**< max(|dx|, |dy|, |dz|). */
    APSIS_CHAMFER    = 3, /**< Paths, and APSIS_SEQUENTIAL_SCAN: a step along one, two or three axes
                                is 3, 4 or 5 thirds long, or as options->weights say. */
    APSIS_METRIC_FORCE_32 = 0x7fffffff
} apsis_metric;

/**
 * The method to compute with.  The published ones are there for comparison, and
 * give what APSIS_AUTO gives, save those that are said to be approximate.
 *
 * Those of distance and Voronoi maps are for Euclidean maps in 2-D, with equal
 * spacing, no sign, and extents of at most 32768.
 */
typedef enum apsis_method {
    APSIS_AUTO            = 0, /**< The fastest exact method for this image and device. */
    APSIS_RASTER_SCAN     = 1, /**< Distance, Voronoi: raster scans in tiles side by side
                                    (Elizondo-Leal et al. 2020), then its few errors mended. */
    APSIS_SWEEP           = 2, /**< Distance, Voronoi: sweeps in four directions (Honda et al.
                                    2017), warp by warp. */
    APSIS_JUMP_FLOOD      = 3, /**< Distance, Voronoi: jump flooding (Rong, Tan 2006); approximate. */
    APSIS_TILE_FILL       = 4, /**< Components: tiles filled one by one, and merged; labels and count, 2-D. */
    APSIS_EVERY_SOURCE    = 5, /**< Eccentricity: a distance field from every pixel, by relaxation. */
    APSIS_SWEEP_BLOCKS    = 6, /**< As APSIS_SWEEP, each sweep by one block of threads. */
    APSIS_SWEEP_ROWS      = 7, /**< As APSIS_SWEEP, a kernel for each row. */
    APSIS_SEQUENTIAL_SCAN = 8, /**< Distance, on the CPU: two raster scans (Rosenfeld, Pfaltz 1968;
                                    Borgefors 1986; Danielsson 1980); of every metric, and
                                    approximate, but with nearest pixels, if that is Euclidean. */
    APSIS_METHOD_FORCE_32 = 0x7fffffff
} apsis_method;

enum {
    APSIS_COMPLEMENT = 1 << 0, /**< The set is the zero pixels instead. */
    APSIS_SIGNED     = 1 << 1, /**< apsis_distance: inside the set, minus the distance to its complement. */
    APSIS_CONNECTED  = 1 << 2, /**< apsis_voronoi: hide exclaves, so that every cell is connected. */
    APSIS_SLICES     = 1 << 3, /**< ndim is 3, but every z is a 2-D image of its own: a batch. */
    APSIS_NO_BORDER  = 1 << 4, /**< apsis_components: leave out those that touch the image's border. */
    APSIS_NO_INNER   = 1 << 5, /**< apsis_components: leave out those that do not touch it. */
    APSIS_MIXED      = 1 << 6, /**< apsis_voronoi by APSIS_SWEEP: as the sweeps leave it, with some
                                    exclaves hidden and others not. */
    APSIS_LABELS     = 1 << 7, /**< The set is a label image: every value other than 0 is a set of its
                                    own, negative ones too. */
    APSIS_BORDER     = 1 << 8, /**< apsis_distance: what lies outside the image is background, 0. */
    APSIS_DENSE      = 1 << 9, /**< apsis_statistics: components[i] is what is known of value i. */
    APSIS_PERIODIC_X = 1 << 10, /**< The image closes on itself along x, */
    APSIS_PERIODIC_Y = 1 << 11, /**< along y, */
    APSIS_PERIODIC_Z = 1 << 12  /**< along z, if that is no batch: see below. */
};

/*
 * Periodic axes.  Behind the last pixel along the axis follows the first one.  Along such an axis
 * the image has no border, and an index, and a coordinate, is that of the pixel in the image.
 * The axis has at least 2 pixels; where it has 2, they are neighbours twice, inside the image and
 * across the seam.  They are for
 *
 *     apsis_components    APSIS_AUTO
 *     apsis_contacts
 *     apsis_distance      APSIS_AUTO
 *     apsis_voronoi       APSIS_AUTO
 *     apsis_geodesic
 *     apsis_eccentricity
 *
 * and slabs of these.  If the axis that is cut is one of them, the first row of the image and the
 * last one face each other: see there.  Published methods take none: APSIS_ERROR_UNSUPPORTED.  In
 * apsis_statistics the flags are an error.
 */

/**
 * What to compute.  Zero in any field but the first means its default, and a
 * NULL pointer to options means all the defaults.
 *
 *     apsis_options options = APSIS_OPTIONS_INIT;
 *     options.metric = APSIS_CITY_BLOCK;
 */
typedef struct apsis_options {
    uint32_t     struct_size;  /**< sizeof(apsis_options); lets later versions add fields. */
    uint32_t     flags;        /**< APSIS_COMPLEMENT | APSIS_SLICES | ..., or 0. */
    double       spacing[3];   /**< Size of a pixel along x, y, z, in your unit, each from
                                    1e-270 to 1e270.  All zero, the default, is 1; one zero
                                    beside others is an error, but for z where no distance
                                    goes along z. */
    double       max_distance; /**< Stop looking beyond this distance.  Default: no limit. */
    apsis_metric metric;       /**< Default APSIS_EUCLIDEAN. */
    apsis_method method;       /**< Default APSIS_AUTO. */
    int32_t      connectivity; /**< Axes along which neighbours may differ: 1 (4 or 6
                                    neighbours), 2 (8 or 18), 3 (26).  Default 1; of paths that
                                    are not city-block, all: 2 in 2-D, 3 in 3-D. */
    int32_t      largest;      /**< apsis_components: leave out all but this many, those of
                                    the largest area; of equal ones, the lower.  Default: all. */
    int64_t      min_area;     /**< apsis_components: leave out those of fewer pixels, */
    int64_t      max_area;     /**< and those of more.  Default: no limit. */
    int64_t      budget;       /**< apsis_eccentricity: at most this many distance fields for a
                                    component.  Default: no limit. */
    double       delta;        /**< apsis_components with APSIS_LABELS: neighbours are connected where
                                    both are not 0 and their values differ by at most this.
                                    Default 0: where they are equal.  Other calls refuse it. */
    int32_t      weights[4];   /**< APSIS_CHAMFER: how long steps are: see below.  Default 3, 4, 5. */
} apsis_options;

#define APSIS_OPTIONS_INIT \
    { sizeof(apsis_options), 0, {0, 0, 0}, 0, APSIS_EUCLIDEAN, APSIS_AUTO, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0} }

/*
 * Weights of APSIS_CHAMFER, from 1 to 2^20: a = weights[0] is that of a step along one axis,
 * b = weights[1] along two, and c = weights[2] in 3-D along three.  In 2-D c is that of a knight's
 * move, along one axis by 1 and along the other by 2; 0: there is none.  A path is as long as its
 * weights together, divided by a; integer types hold their sum, which is in thirds by default.
 * Such are 2, 3 and 5, 7, 11 in 2-D, and 3, 4, 5.
 *
 *     a <= b <= 2a
 *     in 3-D     b <= c <= 3b/2
 *     in 2-D     c is 0, or 2a <= c <= a + b and 3b/2 <= c
 *
 * Then no step is longer than a way round it, and none is left out for that way (Borgefors 1986).
 *
 * A knight's move is a straight step and a diagonal one at once, in either order: of the two
 * pixels between its ends at least one must be in the set.  So it leaps over no wall, as it does in
 * MorphoLibJ, and leads to no other component.  It takes neighbours across corners (connectivity 2),
 * but no slabs and no periodic axes.  On a CUDA context paths with it are the work of the host's
 * cores, on copies of images in APSIS_DEVICE memory; the call returns when it is done, and takes as
 * much host memory as scratch memory on a CPU context.
 */


/* ---- Contexts ----------------------------------------------------------- */

/** Where work runs: a device, a stream, scratch memory, callbacks, and the
 *  message of the last error. */
typedef struct apsis_context apsis_context;

enum {
    APSIS_CPU  = -1, /**< All cores of this machine. */
    APSIS_BEST = -2  /**< The first usable CUDA device, otherwise the CPU. */
};

/** The version of the library itself, to compare with APSIS_VERSION. */
APSIS_API int apsis_version(void);

/** One more than the highest number of a usable CUDA device: 0 without a
 *  driver, or in a build without CUDA.  Numbers are CUDA's own; among several
 *  devices an older one may not be usable, and apsis_create says so. */
APSIS_API int apsis_device_count(void);

/**
 * Makes a context.
 *
 * @param version  APSIS_VERSION: the header that you were compiled with.
 * @param device   APSIS_CPU, APSIS_BEST, or a CUDA device number.
 * @param context  Receives the context, or NULL on failure; then
 *                 apsis_message(NULL) says why.
 */
APSIS_API apsis_status apsis_create(int version, int device, apsis_context **context);

/**
 * Makes a context that spreads APSIS_HOST images over several CUDA devices.  The bytes
 * are the same.  apsis_distance, complete Voronoi maps, apsis_components, apsis_statistics and
 * apsis_contacts are cut into slabs, but for those with delta, and for components and contacts of
 * label images that close on themselves.  The distance fields of apsis_eccentricity are shared out,
 * where the devices can read each other's memory; each needs as much as one alone.  What is neither
 * runs on the first device, as do calls with APSIS_DEVICE images.  The stream, workspace and allocator
 * of the context are those of the first; the others have their own.  A message tells which device has
 * failed.
 *
 * @param devices  [count]: CUDA device numbers.  One that is listed twice has two slabs.
 */
APSIS_API apsis_status apsis_create_devices(int version, const int *devices, int count,
                                            apsis_context **context);

/** Waits for the context's work, and frees it.  NULL is allowed. */
APSIS_API void apsis_destroy(apsis_context *context);

/** The CUDA device number of a context, or APSIS_CPU. */
APSIS_API int apsis_device(const apsis_context *context);

/** What a context runs on, in words, such as "NVIDIA H200" or "CPU, AVX2".
 *  Never NULL, and valid as long as the context. */
APSIS_API const char *apsis_device_name(const apsis_context *context);

/**
 * Says in English why the last failed call on this context failed; "" if none
 * has.  The text is the context's, and valid until its next call.  With NULL
 * it tells of this thread's last failed apsis_create.
 */
APSIS_API const char *apsis_message(const apsis_context *context);


/* ---- Transforms --------------------------------------------------------- *
 *
 * Every image of a call has the same ndim and size.  Outputs overlap nothing.
 * Images without pixels are allowed, and nothing happens.  Integer types are
 * APSIS_U8, APSIS_U16, APSIS_I32 and APSIS_I64.  Wider pixels of a set than
 * APSIS_U8 are packed to bits first, in an eighth of a byte a pixel of scratch memory.
 *
 * A CPU context takes APSIS_HOST images.  A CUDA context takes both.  When all
 * its images are APSIS_DEVICE the call queues work on the context's stream and
 * may return before that work is done; otherwise it returns when it is done.
 * Devices of compute capability 7.5 have too little shared memory a block for
 * components and eccentricity of volumes: APSIS_ERROR_UNSUPPORTED.
 */

/**
 * The distance from every pixel to the nearest pixel of the set, 0 on the set,
 * and which pixel that is.  Either output may be NULL.  If the set is empty, or
 * lies beyond max_distance, the distance is +infinity, or the largest integer,
 * and the nearest pixel is -1.
 *
 * With APSIS_SIGNED a pixel of the set gets minus its distance to the nearest
 * pixel outside the set, and that pixel is its nearest one; if there is none,
 * -infinity, or minus the largest integer, and -1.
 *
 * With APSIS_LABELS a pixel of a value other than 0 gets its distance to the nearest
 * pixel of another value, of which 0 is one, and that pixel; a pixel of 0 gets 0, and
 * itself.  If all have one value but 0, it is +infinity, or the largest integer, and -1.
 * The metric is APSIS_EUCLIDEAN or APSIS_CITY_BLOCK.
 *
 * With APSIS_BORDER what lies outside the image counts as pixels of 0: another value,
 * with APSIS_LABELS, and outside the set, or with APSIS_COMPLEMENT in it.  Where no pixel
 * of the image is nearer than these, the nearest pixel is -1.
 *
 * Along a periodic axis the shorter way counts; still, of several pixels as near, the lowest
 * index is told.
 *
 * Integers decide, and a floating-point distance is the exact value, rounded
 * once.  That holds for spacings in the ratio of whole numbers up to 2^20, whose
 * squares must fit the image (up to 2^17 in one of 16384^2).  Decimal ones are among
 * them: a ratio that only the last bits of the spacings keep from being one is one.
 * Others are first rounded to 64-bit weights, which moves a distance by less than
 * 2^-25 of itself (2^-34 in images of 16384^2).  Left out, APSIS_ERROR_UNSUPPORTED,
 * are those too far apart for such weights: beyond 1 : 90000 in images of 16384^2;
 * beyond 1 : 180 in those of 1024^3, if a third one is no whole multiple of the least.
 * The chessboard metric takes a spacing that is the same along every axis.
 *
 * @param set       APSIS_BIT or an integer type.
 * @param distance  APSIS_F32 or APSIS_F64: the distance, in units of spacing.
 *                  APSIS_I32 or APSIS_I64: its square (Euclidean) or itself
 *                  (the others; chamfer as sums of weights), for spacing 1 only.  APSIS_ERROR_RANGE
 *                  if images of this size, with this max_distance, might have
 *                  one that does not fit; of APSIS_F32 one above FLT_MAX, or
 *                  below FLT_MIN and not 0.
 * @param nearest   APSIS_I32 or APSIS_I64: the index x + width * (y + height * z)
 *                  of the nearest pixel of the set; of several, the lowest.
 *                  With APSIS_SLICES too z counts.
 */
APSIS_API apsis_status apsis_distance(apsis_context *context, const apsis_image *set,
                                      const apsis_image *distance,
                                      const apsis_image *nearest,
                                      const apsis_options *options);

/**
 * The Voronoi map: for every pixel, which pixel of the set is the site of the
 * cell that it is in.  The complete map, the default, is the map of nearest
 * pixels that apsis_distance gives.
 *
 * On a grid a cell may fall apart.  An exclave is a pixel of a cell from which no
 * path of neighbours (8 in 2-D, 26 in 3-D) leads within the cell to its site.
 * APSIS_CONNECTED hides them, round by round: all exclaves beside a pixel that is
 * none, or is hidden already, join the cell of such a neighbour, that one of them
 * whose site is nearest to them; of several, the lowest.  So every cell is
 * connected, and nothing but exclaves has changed.
 *
 * With APSIS_LABELS the map has the labels of sites in place of their indices, and 0
 * in place of -1: labels grow into the background, as far as max_distance.
 *
 * @param set    APSIS_BIT or an integer type.
 * @param cells  APSIS_I32 or APSIS_I64: the index of the site, as in
 *               apsis_distance; -1 if the set is empty, or lies beyond max_distance.
 *               Labels of APSIS_I64 take APSIS_I64: otherwise APSIS_ERROR_RANGE.
 */
APSIS_API apsis_status apsis_voronoi(apsis_context *context, const apsis_image *set,
                                     const apsis_image *cells,
                                     const apsis_options *options);

/** What is known of one component.  Coordinates are in pixels, x first. */
typedef struct apsis_component {
    int64_t first;       /**< The lowest index of a pixel of it. */
    int64_t area;        /**< Its number of pixels. */
    int64_t lower[3];    /**< The smallest x, y, z in it. */
    int64_t upper[3];    /**< The largest x, y, z in it. */
    double  centroid[3]; /**< The mean x, y, z. */
    int64_t value;       /**< With APSIS_LABELS, and of a value, the value of its pixels, with delta that
                              of the first one; otherwise, and of APSIS_F32, 1. */
} apsis_component;

/**
 * The connected components of the set: options->connectivity says which pixels
 * are neighbours.  They are numbered 1, 2, 3, ... by their lowest index.  Any
 * output may be NULL.
 *
 * Options leave components out: by area, at the border of the image, or all but
 * the largest.  What is left out has no number and does not count.  (Limits of
 * area and the border are looked at first, then the largest are taken.  The
 * border is that of the axes in which the image has neighbours, and that are
 * not periodic.)
 *
 * With APSIS_SLICES the numbers go on from slice to slice, and options->largest
 * is for each of them.
 *
 * With APSIS_LABELS neighbours are connected where their values are equal.  0 is
 * still no value, and there is no complement.
 *
 * With options->delta besides, the image is a grey one: neighbours are connected where
 * neither is 0 and their values differ by at most delta.  So a component may go from one
 * value to any other, step by step.  Differences do not wrap; those of APSIS_F32 are
 * rounded to double.  A NaN differs from everything, and is a component of its own; an
 * infinity differs from all but itself.  APSIS_F32 is taken with delta 0, too.  delta is
 * not for APSIS_I64, nor for slabs.
 *
 * @param set         APSIS_BIT or an integer type; with APSIS_LABELS also APSIS_F32.
 * @param labels      APSIS_I32 or APSIS_I64: the number of the component that a
 *                    pixel belongs to, or 0.  APSIS_ERROR_RANGE if images of
 *                    this size might have more components than fit.
 *                    APSIS_BIT or APSIS_U8: the set, 1 in it and 0 outside,
 *                    without what is left out.  With APSIS_COMPLEMENT the set
 *                    is the zero pixels here too: so APSIS_NO_INNER fills holes.
 * @param components  Receives what is known of components 1, 2, ..., the first
 *                    `capacity` of them, in host memory.
 * @param count       Receives how many components there are, in host memory.
 *                    With it, or components, the call returns when it is done.
 */
APSIS_API apsis_status apsis_components(apsis_context *context, const apsis_image *set,
                                        const apsis_image *labels,
                                        apsis_component *components, int64_t capacity,
                                        int64_t *count, const apsis_options *options);

/**
 * What is known of each value of a label image, wherever its pixels are: nothing is labelled.
 * The background, 0, is a value too.  In host memory; the call returns when it is done.
 *
 * By default of the values that occur, in ascending order, the first `capacity` of them.
 *
 * With APSIS_DENSE components[i] is what is known of value i, for every i below capacity: of one
 * that does not occur area is 0, first, lower and upper are -1, and the centroid is 0.  A value
 * that is negative, or not below capacity, is APSIS_ERROR_RANGE.
 *
 * On a CPU context it takes some 250 bytes of host memory for each value and thread beside
 * the workspace.  Other options but delta are not looked at; other flags than APSIS_LABELS are an error.
 *
 * @param labels      An integer type.
 * @param components  [capacity]: receives what is known, or NULL.
 * @param count       Receives how many values occur; with APSIS_DENSE one more than the
 *                    greatest.  May be NULL.
 */
APSIS_API apsis_status apsis_statistics(apsis_context *context, const apsis_image *labels,
                                        apsis_component *components, int64_t capacity,
                                        int64_t *count, const apsis_options *options);

/** How two values touch. */
typedef struct apsis_contact {
    int64_t a;        /**< The lower value, */
    int64_t b;        /**< and the greater one. */
    int64_t faces[3]; /**< Their common faces: pairs of pixels side by side along x, y, z. */
    int64_t corners;  /**< Pairs of pixels that are neighbours across an edge or a corner alone. */
    double  area;     /**< Of their common faces, in units of spacing; in 2-D their length. */
} apsis_contact;

/**
 * Which values of a label image touch: of every two that have neighbouring pixels, in ascending
 * order of a, then of b.  options->connectivity says which pixels are neighbours; 0, the
 * background, touches nothing.  In host memory; the call returns when it is done.
 *
 * An edge or a corner has no area: two values that touch across such alone are told, with
 * area 0.  A face across x is spacing[1] * spacing[2] large, in 2-D spacing[1], and so on.
 * With APSIS_SLICES pixels of different z are no neighbours.  Faces across the seam of a
 * periodic axis count too: along one of two pixels each pair has two.  Other flags than these
 * and APSIS_LABELS are an error.
 *
 * On a CPU context it takes some 150 bytes of host memory for each pair and thread beside the
 * workspace.
 *
 * @param labels    An integer type.
 * @param contacts  [capacity]: receives the first `capacity` of them, or NULL.
 * @param count     Receives how many pairs touch, or NULL.
 */
APSIS_API apsis_status apsis_contacts(apsis_context *context, const apsis_image *labels,
                                      apsis_contact *contacts, int64_t capacity,
                                      int64_t *count, const apsis_options *options);

/**
 * The length of the shortest path from every pixel of the set to the nearest
 * seed, and which seed that is.  A path goes from neighbour to neighbour in the
 * set (options->connectivity), and is as long as its steps together.  Either
 * output may be NULL.
 *
 *                          distance                        nearest
 *     in reach             the length                      the seed
 *     no path leads there  +infinity, the largest integer  -1
 *     outside the set      -1                              -1
 *
 * A seed has distance 0, and those outside the set do not count.  What is farther
 * than max_distance counts as no path.  With APSIS_LABELS the seeds are a label image,
 * and nearest has the label of the seed, and 0 in place of -1.
 *
 * Lengths are whole numbers while they are compared: city-block, chessboard, chamfer
 * and connectivity 1 exactly, for spacings in the ratio of whole numbers up to 2^20.
 * Diagonal Euclidean steps are rounded: with equal spacings to 8119 where a
 * straight step is 5741, and where steps go along three axes to 190100 and 232824
 * where it is 134421; else to 26 bits, and straight ones too in no such ratio.  That
 * moves a length by less than 2^-26 of itself, which APSIS_F32 cannot tell.  The
 * chessboard and chamfer metrics take equal spacings, and one step may be 4096 times
 * as long as another.
 *
 * @param set       APSIS_BIT or an integer type.
 * @param seeds     APSIS_BIT or an integer type; the non-zero pixels, whatever the flags.
 * @param distance  APSIS_F32 or APSIS_F64: the length, in units of spacing.
 *                  APSIS_I32 or APSIS_I64, for spacing 1 and not Euclidean: the
 *                  length, of chamfer paths the sum of weights; APSIS_ERROR_RANGE if it
 *                  might not fit, as in apsis_distance.
 * @param nearest   APSIS_I32 or APSIS_I64: the index of the nearest seed, as in
 *                  apsis_distance; of several, the lowest.
 */
APSIS_API apsis_status apsis_geodesic(apsis_context *context, const apsis_image *set,
                                      const apsis_image *seeds,
                                      const apsis_image *distance,
                                      const apsis_image *nearest,
                                      const apsis_options *options);

/** How far a component reaches.  Pixels are indices, as in apsis_distance, and
 *  lengths are in units of spacing. */
typedef struct apsis_extent {
    int64_t first;    /**< The lowest pixel of it. */
    int64_t ends[2];  /**< The lowest pixel with the largest eccentricity, and its farthest. */
    int64_t centre;   /**< The pixel with the least one; of several, the lowest. */
    double  diameter; /**< The largest eccentricity: the length between the ends. */
    double  radius;   /**< The least one. */
    double  gap;      /**< By how much an eccentricity may be larger than the one given: 0,
                           but where the budget has run out. */
} apsis_extent;

/**
 * The length of the longest of the shortest paths from every pixel of the set
 * to the others of its component, and the pixel at its end; -1 and -1 outside
 * the set.  Paths are those of apsis_geodesic, and so are lengths.  Any output
 * may be NULL.
 *
 * The value of every pixel is proved before the call returns.  That takes some
 * dozens of distance fields for most components, however large, but for some many
 * more: a thin ring needs one for each pixel of its outline, a thin spherical
 * shell, or an image that closes on itself, nearly one for each pixel.  options->budget
 * limits them.  Where it runs
 * out the call goes on with the other components, writes all outputs and returns
 * APSIS_ERROR_BUDGET: then the eccentricities are lower bounds, and those of the
 * components whose gap is 0 may still be relied on, but for the farthest pixels.
 * The call always returns when it is done.
 *
 * With APSIS_LABELS steps go to equal values only: components are those of apsis_components
 * with APSIS_LABELS, and there is no complement.  A CUDA device solves large components
 * side by side, but those that touch one after the other.
 *
 * @param set           APSIS_BIT or an integer type.
 * @param eccentricity  APSIS_F32 or APSIS_F64; or APSIS_I32 or APSIS_I64, as for
 *                      apsis_geodesic.
 * @param farthest      APSIS_I32 or APSIS_I64: the index of the farthest pixel, as
 *                      in apsis_distance; of several, the lowest.
 * @param extents       Receives what is known of components 1, 2, ..., in the order
 *                      of apsis_components, the first `capacity` of them, in host
 *                      memory.
 * @param count         Receives how many components there are, in host memory.
 */
APSIS_API apsis_status apsis_eccentricity(apsis_context *context, const apsis_image *set,
                                          const apsis_image *eccentricity,
                                          const apsis_image *farthest,
                                          apsis_extent *extents, int64_t capacity,
                                          int64_t *count, const apsis_options *options);


/* ---- Slabs -------------------------------------------------------------- *
 *
 * An image too large for one memory, or spread over several, is cut across its last axis into
 * slabs: some of its rows, in 3-D some of its planes.  All that a slab must know of the others
 * is, in each column of pixels along that axis, the nearest pixel of the set before the slab,
 * and after it.  So a file is read twice and its map written once, and ranks pass on two
 * integers a column:
 *
 *     1. apsis_slab_summary    of each slab: the first and the last row in each column
 *     2. apsis_slab_merge      those of all slabs above one, and of all below it; or, of slabs at
 *                              one place, apsis_slab_gather
 *     3. apsis_slab_distance   of each slab
 *
 * A signed map needs 1 and 2 of the complement as well: once more, with APSIS_COMPLEMENT turned
 * on, or off if it is on.
 *
 * With APSIS_LABELS six integers a column are told, three of them each way, in arrays of
 * 3 * columns elements: first the rows, of the nearest pixel with a label; then the nearest rows
 * beyond the run of this label, of pixels of another value or outside of the image; then the
 * labels.  Step 2 is apsis_slab_merge_labels then, and 3 apsis_slab_distance, for distances to
 * another value, or apsis_slab_voronoi, for labels in place of indices.
 *
 * In 1 and 3 set may be NULL, if the call before on this context, but for apsis_slab_gather, was the
 * slab's apsis_slab_summary, in a workspace of the context's own: that of the same set or, in 1, of
 * its complement.  Then the set is not read again.  After 3 it must be given again; with
 * APSIS_LABELS, or APSIS_SIGNED and APSIS_BORDER, in 3 as well.
 *
 * The pixels are those of apsis_distance of the whole image, byte for byte, however it is cut;
 * a slab may have no rows.  Rows are counted in the whole image.  There is one column for each
 * x; in 3-D read "plane" for "row", and column x + width * y.  Arrays have an element for each
 * column, but for labels, are in host memory, and are not kept.  Those of a CUDA context may be in
 * device memory instead, its own or that of a device which it can read, such as one that NVLink
 * joins: then nothing goes through the host, and they are in use until the work is done.
 *
 * Contexts may differ from slab to slab, and a CUDA one takes APSIS_HOST images and
 * APSIS_DEVICE ones.  There apsis_slab_summary returns when it is done, and apsis_slab_distance
 * as apsis_distance does.  Neither can be captured into a CUDA graph.
 *
 * If the image closes on itself along the axis that is cut, the nearest pixel may lie around it:
 * where none lies before the slab, the last one of the image counts, and where none lies after
 * it, the first one, even if these are in the slab itself.  With APSIS_LABELS runs go on across
 * the seam, too: apsis_slab_close_labels.
 *
 * Slabs are for APSIS_AUTO without APSIS_SLICES, and those of APSIS_CHESSBOARD give no nearest
 * pixels: otherwise APSIS_ERROR_UNSUPPORTED.
 */

/**
 * Tells where in each column the set begins and ends.
 *
 * @param set      APSIS_BIT or an integer type: the slab.
 * @param start    The rows of the image before it.
 * @param first    Receives the first row with a pixel of the set, or INT64_MAX.
 * @param last     Receives the last one, or -1.  Either may be NULL.
 * @param options  Those of the map.  Of them APSIS_COMPLEMENT and APSIS_LABELS matter.  With the
 *                 latter both receive [3][column]: the row, the first one behind its run in
 *                 `first` and the last one before it in `last`, and the label; where there is
 *                 none, three times INT64_MAX, or -1.  If a run goes on to the end of the slab,
 *                 the row beyond it is that outside of the slab.
 */
APSIS_API apsis_status apsis_slab_summary(apsis_context *context, const apsis_image *set,
                                          int64_t start, int64_t *first, int64_t *last,
                                          const apsis_options *options);

/**
 * Merges what is known of two slabs, or more: all_first becomes the lower first row of each
 * column, and all_last the higher last one.  In any order and grouping the outcome is the same,
 * so that minima and maxima of MPI or NCCL do as well.  first and all_first, or last and
 * all_last, may be NULL.  Any thread.
 */
APSIS_API void apsis_slab_merge(int64_t columns, const int64_t *first, const int64_t *last,
                                int64_t *all_first, int64_t *all_last);

/**
 * The same with APSIS_LABELS, of slabs that follow each other: arrays are [3][column], and what is
 * merged must have no row between it and what has been merged before.  At first all rows of
 * all_first are INT64_MAX, and those of all_last are -1.  Any thread.
 */
APSIS_API void apsis_slab_merge_labels(int64_t columns, const int64_t *first, const int64_t *last,
                                       int64_t *all_first, int64_t *all_last);

/**
 * The same around an image that closes on itself along the axis that is cut, as the last step: adds
 * what lies behind the seam to what has been merged for a slab.  Any thread.
 *
 * @param extent     The rows of the image.
 * @param first      Merged of all slabs of the image, as is last.  Either may be NULL.
 * @param all_first  Merged of all slabs after the slab; where there is none, INT64_MAX.
 * @param all_last   Merged of all slabs before it; where there is none, -1.
 */
APSIS_API void apsis_slab_close_labels(int64_t columns, int64_t extent, const int64_t *first,
                                       const int64_t *last, int64_t *all_first, int64_t *all_last);

/**
 * Step 2 in one call, for one slab of several: merges the last rows of those before it, and the
 * first rows of those behind it.  Arrays of host memory are merged by all threads; if all are in
 * device memory, the device merges them, and this returns as apsis_distance does.  Not with
 * APSIS_LABELS, nor around an image that closes on itself.
 *
 * @param first  [slab_count]: what each slab tells; NULL if it has no rows.  Those behind the slab are
 *               read, and of `last`, likewise, those before it.
 * @param slab   Which one, from 0.
 * @param above  [columns]: receives what apsis_slab needs, as does below.  Either may be NULL.
 */
APSIS_API apsis_status apsis_slab_gather(apsis_context *context, int64_t columns,
                                         const int64_t *const *first, const int64_t *const *last,
                                         int64_t slab_count, int64_t slab,
                                         int64_t *above, int64_t *below);

/** Where a slab is, and what of the image is outside it.  This structure is final. */
typedef struct apsis_slab {
    int64_t        start;  /**< The rows of the image before it. */
    int64_t        extent; /**< The rows of the image, at most 2^30. */
    const int64_t *above;  /**< The last row of the set before the slab, or -1; NULL: there is none.
                                Around an image that closes on itself, of all rows. */
    const int64_t *below;  /**< The first one after it, or INT64_MAX; NULL: there is none.  Likewise. */
    const int64_t *complement_above; /**< The same of the complement, for APSIS_SIGNED alone. */
    const int64_t *complement_below;
    /* With APSIS_LABELS above and below are [3][column]: what is merged from `last` of all slabs
       before it, and from `first` of all after it; NULL: there is no label. */
} apsis_slab;

/**
 * The rows of a slab, of what apsis_distance gives for the whole image.  Options and outputs are
 * the same; nearest pixels are indices in the whole image, and so its complete Voronoi map;
 * whether a type is too small goes by its size.  The scratch memory of a CPU context is at most
 * twice that of apsis_distance for the slab alone (apsis_workspace_size); of a CUDA one,
 * APSIS_ERROR_WORKSPACE tells how much.
 *
 * @param set       APSIS_BIT or an integer type: the slab.
 * @param slab      Its place; above and below merged from all other slabs.
 * @param distance  Of the size of the set, as is nearest.  Either may be NULL.
 */
APSIS_API apsis_status apsis_slab_distance(apsis_context *context, const apsis_image *set,
                                           const apsis_slab *slab, const apsis_image *distance,
                                           const apsis_image *nearest, const apsis_options *options);

/**
 * The rows of a slab, of what apsis_voronoi gives for the whole image: indices of sites, or with
 * APSIS_LABELS their labels.  As apsis_slab_distance; the map is the complete one.
 *
 * @param cells  Of the size of the set: APSIS_I32 or APSIS_I64.
 */
APSIS_API apsis_status apsis_slab_voronoi(apsis_context *context, const apsis_image *set,
                                          const apsis_slab *slab, const apsis_image *cells,
                                          const apsis_options *options);

/** What is known of the shortest paths to the rows beside a slab, and to its own.  This structure is final. */
typedef struct apsis_slab_paths {
    int64_t        start;       /**< The rows of the image before it. */
    int64_t        extent;      /**< The rows of the image, at most 2^30. */
    const int64_t *above;       /**< `last` of the slab before it; NULL: no path leads there. */
    const int64_t *below;       /**< `first` of the slab behind it, likewise. */
    const int64_t *above_seeds; /**< Their seeds, needed with `above` and `below` where nearest seeds are wanted. */
    const int64_t *below_seeds;
    int64_t       *first;       /**< The lengths to its first row, as whole numbers; INT64_MAX: no path. */
    int64_t       *last;        /**< Those to its last row. */
    int64_t       *first_seeds; /**< The nearest seeds; -1: no path.  NULL, as each of the four: not wanted. */
    int64_t       *last_seeds;
} apsis_slab_paths;

/**
 * The rows of a slab, of what apsis_geodesic gives for the whole image, byte for byte, when calls for all slabs
 * have changed nothing.  Until then call it for them in any order, without outputs; one whose `above` and `below`
 * are as in its last call may be left out.  Contexts may differ; calls return when they are done, and
 * APSIS_ERROR_WORKSPACE tells how much scratch memory they need.  If the image closes on itself along the axis
 * that is cut, the last slab is the one before the first.
 *
 * @param slab     Its place, what it is told, and what it tells; the latter is at first INT64_MAX, and -1.
 * @param changed  Receives how many elements of what it tells have changed.
 */
APSIS_API apsis_status apsis_slab_geodesic(apsis_context *context, const apsis_image *set,
                                           const apsis_image *seeds, const apsis_slab_paths *slab,
                                           const apsis_image *distance, const apsis_image *nearest,
                                           int64_t *changed, const apsis_options *options);

/*
 * Components of an image that is cut in the same way.  A slab numbers its own 1, 2, 3, ... by
 * their lowest index.  It tells the numbers in its first row and in its last, its faces, and is
 * told what they are in the image; the others follow from that:
 *
 *     1. apsis_slab_parts        of each slab: how many it has, and its faces
 *     2. apsis_slab_join         of all slabs: numbers in the image, in the same faces
 *     3. apsis_slab_components   of each slab: its labels
 *
 * With the same options in all three the labels, statistics and count are those of
 * apsis_components of the whole image, byte for byte.  Slabs may be on different contexts, of
 * the CPU and of devices.  Calls return when they are done, and APSIS_ERROR_WORKSPACE tells how
 * much scratch memory they need: little more than apsis_components for the slab; of label
 * images on a CUDA device 4 bytes a pixel more.
 *
 * With CUDA contexts faces may be in device memory: that of the context's device, or of another
 * one that it can read.  If all faces of a join are, no parts are wanted or needed, and no
 * `numbers` given, the device joins them.  Otherwise the host does, with copies of faces on devices.
 */

/** What is known of a component, or of its pixels in a slab: whole numbers, that files and
 *  messages can hold.  Places are those in the image.  This structure is final. */
typedef struct apsis_part {
    int64_t first;    /**< The lowest index of a pixel of it. */
    int64_t area;     /**< Its number of pixels. */
    int64_t lower[3]; /**< The smallest x, y, z in it. */
    int64_t upper[3]; /**< The largest x, y, z in it. */
    int64_t sum[3];   /**< The sums of x, y, z over its pixels. */
    int64_t value;    /**< As in apsis_component. */
} apsis_part;

/** What a slab tells, and is told.  Arrays may be left out.  This structure is final. */
typedef struct apsis_slab_labels {
    int64_t     start;    /**< The rows of the image before it. */
    int64_t     rows;     /**< How many it has. */
    int64_t     count;    /**< Its own components. */
    int64_t     before;   /**< The components of the image that begin in rows before it. */
    int64_t    *first;    /**< [column]: numbers in its first row, 0 outside the set; needed if a slab is
                                above, or the image closes on itself there.  Joined: those of the
                                image, with a minus but for the number that has the component's
                                lowest pixel. */
    int64_t    *last;     /**< [column]: the same of its last row; needed if a slab is below, or the
                                image closes on itself there. */
    apsis_part *parts;    /**< [capacity]: of its own components; needed if parts are wanted, or options
                                leave some out, or with APSIS_LABELS, where they tell the values. */
    int64_t     capacity;
    int64_t    *numbers;  /**< [count]: those of the image, 0 of what is left out; needed if options do so. */
} apsis_slab_labels;

/** Numbers the components of a slab, APSIS_BIT or an integer type, from its start: receives rows, count
 *  and what first, last and parts point to.  Options leave none out here: the rest of a
 *  component may be in other slabs. */
APSIS_API apsis_status apsis_slab_parts(apsis_context *context, const apsis_image *set,
                                        apsis_slab_labels *slab, const apsis_options *options);

/**
 * Joins slabs, from the top, each of which begins where the one before it ends: receives
 * before, first, last and numbers.  The work is the host's, but for faces in device memory; what
 * the arrays hold is checked.
 *
 * Unless options leave components out, these may be some slabs of the image.  They are a slab
 * again, to be joined with others: of their rows, with the count and parts of this call, and
 * copies of the first row of the first one that has rows and the last row of the last one; the
 * minus there means nothing.  Then apsis_slab_renumber passes on what it was told.
 *
 * @param size   [ndim]: of the image.
 * @param parts  Receives what is known of components 1, 2, ..., the first `capacity` of them.
 *               May be those of the slabs, if they follow each other in one array.
 * @param count  Receives how many there are.
 */
APSIS_API apsis_status apsis_slab_join(apsis_context *context, int32_t ndim, const int64_t *size,
                                       apsis_slab_labels *slabs, int64_t slab_count, apsis_part *parts,
                                       int64_t capacity, int64_t *count, const apsis_options *options);

/** Gives slabs that became one, when they were joined, the numbers that this one has been told. */
APSIS_API apsis_status apsis_slab_renumber(apsis_context *context, int64_t columns,
                                           const apsis_slab_labels *joined, apsis_slab_labels *slabs,
                                           int64_t slab_count);

/** The rows of a slab that has been joined, of what apsis_components writes for the whole image.
 *  Its components are found again; if they are not `count`, APSIS_ERROR_ARGUMENT, though labels
 *  have been written.  APSIS_ERROR_RANGE if a number might not fit the type of labels.  What faces
 *  in device memory hold is not checked: if it is not what a join has written, labels are of no use.
 *
 *  set may be NULL, once, if the call before on this context was the slab's apsis_slab_parts, but
 *  for joins, with the same options, in a workspace of the context's own, and of a set, not a
 *  label image, without periodic axes that slabs hold whole.  Then the set is not read again, and on
 *  a device its components are not found again. */
APSIS_API apsis_status apsis_slab_components(apsis_context *context, const apsis_image *set,
                                             const apsis_slab_labels *slab, const apsis_image *labels,
                                             const apsis_options *options);

/** Makes of the parts of whole components what apsis_components says of them; both arrays may be
 *  the same memory.  Any thread. */
APSIS_API void apsis_slab_measure(int64_t count, const apsis_part *parts, apsis_component *components);

/*
 * Statistics and contacts of the values of a label image that is cut in the same way.  Each slab tells of its own, and these
 * are added up, however they are grouped; slabs may be on different contexts.  APSIS_SLICES and APSIS_DENSE are
 * APSIS_ERROR_UNSUPPORTED.
 */

/** What is known of each value of a slab: as apsis_statistics, but sums in place of centroids, and places in the image.
 *  apsis_slab_measure makes of the parts of all what apsis_statistics says.
 *
 *  @param start  The rows of the image before it. */
APSIS_API apsis_status apsis_slab_statistics(apsis_context *context, const apsis_image *labels, int64_t start,
                                             apsis_part *parts, int64_t capacity, int64_t *count,
                                             const apsis_options *options);

/** Adds up the parts of equal values of several slabs, in one array, which is then in ascending order of the values.
 *  Returns how many there are.  Any thread. */
APSIS_API int64_t apsis_slab_merge_parts(int64_t count, apsis_part *parts);

/** Which values touch, in a slab and across the cut before it: as apsis_contacts.
 *
 *  @param before  [column]: the values in the row before it; before the first slab, if the image
 *                 closes on itself along the axis that is cut, those in the last row.  NULL: there
 *                 is none. */
APSIS_API apsis_status apsis_slab_contacts(apsis_context *context, const apsis_image *labels, const int64_t *before,
                                           apsis_contact *contacts, int64_t capacity, int64_t *count,
                                           const apsis_options *options);

/** Adds up the contacts of equal pairs of several slabs, in one array, which is then as apsis_contacts gives those of the
 *  image.
 *
 *  @param count  How many there are; receives how many are left. */
APSIS_API apsis_status apsis_slab_merge_contacts(apsis_context *context, int32_t ndim, apsis_contact *contacts,
                                                 int64_t *count, const apsis_options *options);


/* ---- Memory ------------------------------------------------------------- *
 *
 * Enough to use the GPU without a line of CUDA: allocate, copy in, transform
 * as often as you like, copy out.
 */

/**
 * Allocates packed pixels for image->type, ndim and size, not initialised, and
 * fills in data, stride and memory.  An image without pixels gets no data.
 *
 * @param memory  APSIS_DEVICE: memory of the context's CUDA device.  APSIS_HOST:
 *                memory of the CPU, page-locked if the context is a CUDA one.
 */
APSIS_API apsis_status apsis_alloc(apsis_context *context, apsis_memory memory,
                                   apsis_image *image);

/** Frees what apsis_alloc allocated with this context, and sets data to NULL.
 *  A NULL image or data is allowed. */
APSIS_API void apsis_free(apsis_context *context, apsis_image *image);

/** Copies pixels between two images of one size and type, on the host, on the
 *  device, or between them.  Strides may differ; so may APSIS_BIT and APSIS_U8,
 *  where APSIS_BIT becomes 0 and 1.  Returns as a transform does. */
APSIS_API apsis_status apsis_copy(apsis_context *context, const apsis_image *from,
                                  const apsis_image *to);


/* ---- For those who embed apsis ------------------------------------------ */

struct CUstream_st; /* what cudaStream_t and CUstream point to */

/** Queues later work on this stream of the context's device, behind what is queued
 *  already.  NULL, and the default, is CUDA's default stream.
 *
 *  A stream may be one that is captured into a CUDA graph.  Then nothing waits for
 *  what was queued before, nor that for the graph: launch it when the context has
 *  nothing else to do, and while its workspace is the same.  These calls can be
 *  captured, with APSIS_DEVICE images alone, a workspace that is large enough (call
 *  once before, or apsis_set_workspace), and no progress callback:
 *
 *      apsis_distance, apsis_voronoi   but by APSIS_RASTER_SCAN; by another
 *                                      published method without apsis_set_log
 *      apsis_components                labels alone, neither components nor count
 *      apsis_geodesic, apsis_morphology, apsis_copy
 *
 *  Others, and apsis_alloc, apsis_sync, apsis_set_workspace and
 *  apsis_set_allocator, return APSIS_ERROR_UNSUPPORTED and leave the capture as it
 *  is.  Free and destroy nothing of the context before its end. */
APSIS_API apsis_status apsis_set_stream(apsis_context *context, struct CUstream_st *stream);

/** Waits for the context's work, and reports an error in it. */
APSIS_API apsis_status apsis_sync(apsis_context *context);

/** Uses at most this many threads on the CPU, and no more than there are cores.
 *  0, the default, is one per core. */
APSIS_API apsis_status apsis_set_threads(apsis_context *context, int threads);

/** The transforms, by name. */
typedef enum apsis_transform {
    APSIS_DISTANCE     = 0,
    APSIS_VORONOI      = 1,
    APSIS_COMPONENTS   = 2,
    APSIS_GEODESIC     = 3,
    APSIS_ECCENTRICITY = 4,
    APSIS_STATISTICS   = 5,
    APSIS_CONTACTS     = 6,
    APSIS_MORPHOLOGY   = 7, /**< See apsis_measures.h. */
    APSIS_TRANSFORM_FORCE_32 = 0x7fffffff
} apsis_transform;

/**
 * The bytes of scratch memory that a transform needs for these images.  An
 * upper bound, within the same version of the library.
 *
 * @param images  The images of the call, inputs first, in its order; NULL for
 *                one that is left out.  Their data may be NULL.
 * @param count   How many: 3 for APSIS_DISTANCE, 2 for APSIS_VORONOI, 2 for
 *                APSIS_COMPONENTS, 4 for APSIS_GEODESIC, 3 for APSIS_ECCENTRICITY,
 *                1 for APSIS_STATISTICS, 1 for APSIS_CONTACTS, 2 for APSIS_MORPHOLOGY.
 */
APSIS_API apsis_status apsis_workspace_size(apsis_context *context, apsis_transform transform,
                                            const apsis_image *const *images, int count,
                                            const apsis_options *options, size_t *bytes);

/** Uses this scratch memory, aligned to 256 bytes and of the context's kind
 *  (the device's for a CUDA context), and allocates none.  With NULL, the
 *  default, the context allocates what it needs and keeps it for later calls.
 *  Host images that are not page-locked pass through some 96 MiB, at most, of
 *  page-locked memory, which a CUDA context has of its own in any case. */
APSIS_API apsis_status apsis_set_workspace(apsis_context *context, void *memory, size_t bytes);

/** Allocates memory of this kind, aligned to 256 bytes, for use on this stream
 *  (NULL for host memory), and returns NULL on failure; and frees it. */
typedef void *(*apsis_alloc_fn)(void *user, apsis_memory memory, size_t bytes,
                                struct CUstream_st *stream);
typedef void (*apsis_free_fn)(void *user, apsis_memory memory, void *data, size_t bytes,
                              struct CUstream_st *stream);

/** Takes the context's memory from your pool.  NULL, NULL restores the default.
 *  Frees the context's workspace first; images of apsis_alloc must be gone. */
APSIS_API apsis_status apsis_set_allocator(apsis_context *context, apsis_alloc_fn allocate,
                                           apsis_free_fn release, void *user);

/** Told how much is done, from 0 to 1; returns non-zero to stop.  Called now
 *  and then on the thread that called apsis, which waits for the device. */
typedef int (*apsis_progress_fn)(void *user, double done);
APSIS_API apsis_status apsis_set_progress(apsis_context *context, apsis_progress_fn progress,
                                          void *user);

/** Makes of each of `count` numbers, APSIS_I32 or APSIS_I64 in host memory, the largest that a
 *  rank has in its place.  All ranks call it in the same order, with the same type and count.
 *  Returns non-zero if that has failed; then it does so on all ranks. */
typedef int (*apsis_allreduce_fn)(void *user, apsis_type type, void *numbers, int64_t count);

/**
 * Shares the work of apsis_eccentricity out among several CPU contexts, wherever they are.
 * `allreduce` is for them what MPI_Allreduce with MPI_MAX is for the ranks of MPI.
 *
 * All make the same calls then, of the whole set, with the same options, and with farthest or
 * without; other outputs are for each as it asks.  The bytes are those of one context alone.  Each
 * takes the memory of a whole call, and makes all fields of components of up to 4096 pixels, and
 * of APSIS_EVERY_SOURCE.
 *
 * allreduce is called on the thread that called apsis.  If it fails, the call returns
 * APSIS_ERROR_CANCELLED.  If a call fails on one rank alone, the others come to their next
 * allreduce, which must fail.
 *
 * @param rank       Of this context, from 0 to ranks - 1.
 * @param ranks      How many there are.  1, the default, needs no allreduce, and is all that a CUDA
 *                   context takes: its fields take less time than their way through the host.
 */
APSIS_API apsis_status apsis_set_allreduce(apsis_context *context, int rank, int ranks,
                                           apsis_allreduce_fn allreduce, void *user);

/** Told what happens, one line at a time, without a newline. */
typedef void (*apsis_log_fn)(void *user, const char *line);
APSIS_API apsis_status apsis_set_log(apsis_context *context, apsis_log_fn log, void *user);

#ifdef __cplusplus
}
#endif

#endif /* APSIS_H */
