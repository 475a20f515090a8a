// vips apsis_distance: the distance from every pixel to the nearest pixel of the set.
#include "strips.h"

enum {
    kWhole = 1 << 28,  // a map of more pixels than this, a gigabyte, is made by strips,
    kStrip = 1 << 24   // each of so many pixels: scratch memory and what the cache holds stay small beside the set
};

typedef struct ApsisDistance {
    ApsisOperation parent;
    gboolean sign;
    double max_distance;
    int strip_rows;
} ApsisDistance;

typedef ApsisOperationClass ApsisDistanceClass;

G_DEFINE_TYPE(ApsisDistance, apsis_distance, apsis_operation_get_type())

// The rows of a strip; 0 if the map is made as a whole.
static int rows_of_strips(const ApsisOperation *operation) {
    const int64_t width = operation->set.size[0], height = operation->set.size[1];
    const ApsisDistance *self = (const ApsisDistance *)operation;
    if (self->sign || operation->metric == APSIS_CHESSBOARD) return 0;  // there are no strips of these
    if (self->strip_rows) return self->strip_rows;
    return width * height > kWhole ? (int)MAX(kStrip / width, 1) : 0;
}

static apsis_status compute(ApsisOperation *operation) {
    const ApsisDistance *self = (const ApsisDistance *)operation;
    if (self->sign) operation->options.flags |= APSIS_SIGNED;
    operation->options.max_distance = self->max_distance;
    const int rows = rows_of_strips(operation);
    if (rows) return apsis_operation_output_by_strips(operation, rows);
    const apsis_image out = apsis_operation_output(operation, "out", APSIS_F32);
    return apsis_distance(operation->context, &operation->set, &out, NULL, &operation->options);
}

static void apsis_distance_class_init(ApsisDistanceClass *class) {
    apsis_operation_name(class, "apsis_distance", "exact distance to the nearest pixel of a set", compute);
    apsis_operation_take_metric(class);
    VIPS_ARG_BOOL(class, "signed", 20, "Signed", "Negative inside the set, where it is the distance to its border's other side",
                  VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisDistance, sign), FALSE);
    VIPS_ARG_DOUBLE(class, "max_distance", 21, "Max distance", "What is farther is infinitely far; 0 is no limit",
                    VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisDistance, max_distance), 0, 1e30, 0);
    VIPS_ARG_INT(class, "strip_rows", 22, "Strip rows",
                 "Make the map when it is asked for, so many rows at a time; 0 does so with large ones",
                 VIPS_ARGUMENT_OPTIONAL_INPUT, G_STRUCT_OFFSET(ApsisDistance, strip_rows), 0, VIPS_MAX_COORD, 0);
}

static void apsis_distance_init(ApsisDistance *self) { (void)self; }
