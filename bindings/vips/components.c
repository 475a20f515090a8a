// vips apsis_components: which connected component of the set a pixel belongs to.
#include "operation.h"

typedef struct ApsisComponents {
    ApsisOperation parent;
    int neighbours;
    int min_area;
    int max_area;
    int largest;
    int segments;
} ApsisComponents;

typedef ApsisOperationClass ApsisComponentsClass;

G_DEFINE_TYPE(ApsisComponents, apsis_components, apsis_operation_get_type())

static apsis_status compute(ApsisOperation *operation) {
    const ApsisComponents *self = (const ApsisComponents *)operation;
    apsis_options *options = &operation->options;
    options->connectivity = self->neighbours > 4 ? 2 : 1;
    options->min_area = self->min_area;
    options->max_area = self->max_area;
    options->largest = self->largest;
    int64_t count = 0;
    const apsis_image out = apsis_operation_output(operation, "out", APSIS_I32);
    const apsis_status status = apsis_components(operation->context, &operation->set, &out, NULL, 0, &count, options);
    g_object_set(operation, "segments", (int)count, NULL);
    return status;
}

static void apsis_components_class_init(ApsisComponentsClass *class) {
    apsis_operation_name(class, "apsis_components", "connected components of a set, numbered by their first pixel", compute);
    VIPS_ARG_INT(class, "neighbours", 20, "Neighbours", "Of a pixel: 4, or 8 with those at its corners",
                 VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisComponents, neighbours), 4, 8, 4);
    VIPS_ARG_INT(class, "min_area", 21, "Min area", "Leave out those of fewer pixels", VIPS_ARGUMENT_OPTIONAL_INPUT,
                 G_STRUCT_OFFSET(ApsisComponents, min_area), 0, G_MAXINT, 0);
    VIPS_ARG_INT(class, "max_area", 22, "Max area", "Leave out those of more pixels; 0 is no limit",
                 VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisComponents, max_area), 0, G_MAXINT, 0);
    VIPS_ARG_INT(class, "largest", 23, "Largest", "Leave out all but so many; 0 is no limit", VIPS_ARGUMENT_OPTIONAL_INPUT,
                 G_STRUCT_OFFSET(ApsisComponents, largest), 0, G_MAXINT, 0);
    VIPS_ARG_INT(class, "segments", 24, "Segments", "Number of components", VIPS_ARGUMENT_OPTIONAL_OUTPUT,
                 G_STRUCT_OFFSET(ApsisComponents, segments), 0, G_MAXINT, 0);
}

static void apsis_components_init(ApsisComponents *self) { self->neighbours = 4; }
