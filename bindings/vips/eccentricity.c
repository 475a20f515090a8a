// vips apsis_eccentricity: how far it is from every pixel of the set, along paths inside it, to the farthest of its component.
#include "operation.h"

typedef struct ApsisEccentricity {
    ApsisOperation parent;
    VipsImage *farthest;
    int budget;
} ApsisEccentricity;

typedef ApsisOperationClass ApsisEccentricityClass;

G_DEFINE_TYPE(ApsisEccentricity, apsis_eccentricity, apsis_operation_get_type())

static apsis_status compute(ApsisOperation *operation) {
    operation->options.budget = ((const ApsisEccentricity *)operation)->budget;
    const apsis_image out = apsis_operation_output(operation, "out", APSIS_F32);
    const apsis_image farthest = apsis_operation_output(operation, "farthest", APSIS_I32);
    const apsis_status status =
        apsis_eccentricity(operation->context, &operation->set, &out, &farthest, NULL, 0, NULL, &operation->options);
    if (status != APSIS_ERROR_BUDGET) return status;
    g_warning("apsis_eccentricity: %s", apsis_message(operation->context));  // what there is are bounds
    return APSIS_OK;
}

static void apsis_eccentricity_class_init(ApsisEccentricityClass *class) {
    apsis_operation_name(class, "apsis_eccentricity", "length of the shortest path to the farthest pixel of a component",
                         compute);
    apsis_operation_take_metric(class);
    VIPS_ARG_INT(class, "budget", 20, "Budget", "Distance fields for a component, at most; 0 is no limit",
                 VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisEccentricity, budget), 0, G_MAXINT, 0);
    VIPS_ARG_IMAGE(class, "farthest", 21, "Farthest", "The farthest pixel, as x + width * y, or -1",
                   VIPS_ARGUMENT_OPTIONAL_OUTPUT, G_STRUCT_OFFSET(ApsisEccentricity, farthest));
}

static void apsis_eccentricity_init(ApsisEccentricity *self) { (void)self; }
