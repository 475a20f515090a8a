// What the operations share: an image of one band, of which the non-zero pixels are the set, and one that is made of it.
#ifndef APSIS_VIPS_OPERATION_H
#define APSIS_VIPS_OPERATION_H

#include <apsis.h>
#include <vips/vips.h>

typedef struct ApsisOperation {
    VipsOperation parent;
    VipsImage *in;
    VipsImage *out;
    gboolean complement;
    apsis_metric metric;

    apsis_context *context;
    apsis_image set;  // one bit a pixel
    apsis_options options;
} ApsisOperation;

typedef struct ApsisOperationClass {
    VipsOperationClass parent;
    // Makes `out`, when set, options and context are there.
    apsis_status (*compute)(ApsisOperation *operation);
} ApsisOperationClass;

GType apsis_operation_get_type(void);
#define APSIS_OPERATION(object) G_TYPE_CHECK_INSTANCE_CAST((object), apsis_operation_get_type(), ApsisOperation)

GType apsis_distance_get_type(void);
GType apsis_voronoi_get_type(void);
GType apsis_components_get_type(void);
GType apsis_eccentricity_get_type(void);

// Names an operation's class, and says how it computes.
void apsis_operation_name(gpointer class, const char *nickname, const char *description,
                          apsis_status (*compute)(ApsisOperation *));

// The option that says how length is measured.
void apsis_operation_take_metric(gpointer class);

// Makes an image without pixels yet one that follows from the input, of its size.
int apsis_operation_describe(ApsisOperation *operation, VipsImage *image, VipsBandFormat format);

// A new output in memory, given to the operation as `name`, and its pixels for the library; data is NULL if there is no memory.
apsis_image apsis_operation_output(ApsisOperation *operation, const char *name, apsis_type type);

#endif
