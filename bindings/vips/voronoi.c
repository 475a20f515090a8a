// vips apsis_voronoi: for every pixel, the nearest pixel of the set.
#include "operation.h"

typedef struct ApsisVoronoi {
    ApsisOperation parent;
    gboolean connected;
    double max_distance;
} ApsisVoronoi;

typedef ApsisOperationClass ApsisVoronoiClass;

G_DEFINE_TYPE(ApsisVoronoi, apsis_voronoi, apsis_operation_get_type())

static apsis_status compute(ApsisOperation *operation) {
    const ApsisVoronoi *self = (const ApsisVoronoi *)operation;
    if (self->connected) operation->options.flags |= APSIS_CONNECTED;
    operation->options.max_distance = self->max_distance;
    const apsis_image out = apsis_operation_output(operation, "out", APSIS_I32);
    return apsis_voronoi(operation->context, &operation->set, &out, &operation->options);
}

static void apsis_voronoi_class_init(ApsisVoronoiClass *class) {
    apsis_operation_name(class, "apsis_voronoi", "nearest pixel of a set, as x + width * y, or -1", compute);
    apsis_operation_take_metric(class);
    VIPS_ARG_BOOL(class, "connected", 20, "Connected", "Let no cell fall apart", VIPS_ARGUMENT_OPTIONAL_INPUT,
                  G_STRUCT_OFFSET(ApsisVoronoi, connected), FALSE);
    VIPS_ARG_DOUBLE(class, "max_distance", 21, "Max distance", "What is farther is in no cell; 0 is no limit",
                    VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisVoronoi, max_distance), 0, 1e30, 0);
}

static void apsis_voronoi_init(ApsisVoronoi *self) { (void)self; }
