// The parent of the operations: takes the image, in one pass and in any format, and lets the operation compute.
#include "operation.h"

G_DEFINE_ABSTRACT_TYPE(ApsisOperation, apsis_operation, VIPS_TYPE_OPERATION)

static GType metric_type(void) {
    static const GEnumValue values[] = {
        {APSIS_EUCLIDEAN, "APSIS_EUCLIDEAN", "euclidean"},
        {APSIS_CITY_BLOCK, "APSIS_CITY_BLOCK", "city-block"},  // the first is the name that is shown
        {APSIS_CITY_BLOCK, "APSIS_CITYBLOCK", "cityblock"},
        {APSIS_CITY_BLOCK, "APSIS_TAXICAB", "taxicab"},
        {APSIS_CITY_BLOCK, "APSIS_MANHATTAN", "manhattan"},
        {APSIS_CHESSBOARD, "APSIS_CHESSBOARD", "chessboard"},
        {APSIS_CHESSBOARD + 1, "APSIS_METRIC_LAST", "last"},  // libvips names all but the last one
        {0, NULL, NULL},
    };
    static GType type;
    if (!type) type = g_enum_register_static("ApsisMetric", values);
    return type;
}

// Rows of bytes come in order, from the thread that libvips writes with.
static int pack(VipsRegion *region, VipsRect *area, void *user) {
    const apsis_image *set = user;
    const size_t row_bytes = ((size_t)set->size[0] + 7) / 8;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); ++y) {
        const VipsPel *from = VIPS_REGION_ADDR(region, 0, y);
        uint8_t *to = (uint8_t *)set->data + row_bytes * (size_t)y;
        memset(to, 0, row_bytes);
        for (int x = 0; x < area->width; ++x) to[x >> 3] |= (uint8_t)((from[x] != 0) << (x & 7));
    }
    return 0;
}

// A set in bits is an eighth of one in bytes, which counts when the image has billions of pixels.
static int read_set(ApsisOperation *operation) {
    VipsImage *in = operation->in, *bytes = NULL;
    VipsObjectClass *class = VIPS_OBJECT_GET_CLASS(operation);
    if (vips_check_uncoded(class->nickname, in) || vips_check_mono(class->nickname, in)) return -1;
    if (in->BandFmt == VIPS_FORMAT_UCHAR)
        g_object_ref(bytes = in);
    else if (vips_notequal_const1(in, &bytes, 0, NULL))
        return -1;
    operation->set = (apsis_image){.type = APSIS_BIT, .ndim = 2, .size = {in->Xsize, in->Ysize}};
    operation->set.data = g_try_malloc(((size_t)in->Xsize + 7) / 8 * (size_t)in->Ysize);
    int failed = !operation->set.data;
    if (failed)
        vips_error(class->nickname, "%s", "there is no memory for the set");
    else
        failed = vips_sink_disc(bytes, pack, &operation->set);
    g_object_unref(bytes);
    return failed ? -1 : 0;
}

static int stop_if_killed(void *user, double done) {
    (void)done;
    return vips_image_iskilled(user);
}

static apsis_status run(ApsisOperation *operation) {
    ApsisOperationClass *class = (ApsisOperationClass *)G_OBJECT_GET_CLASS(operation);
    apsis_status status = apsis_create(APSIS_VERSION, APSIS_BEST, &operation->context);
    if (status == APSIS_OK) status = apsis_set_threads(operation->context, vips_concurrency_get());
    if (status == APSIS_OK) status = apsis_set_progress(operation->context, stop_if_killed, operation->in);
    if (status == APSIS_OK) status = class->compute(operation);
    if (status != APSIS_OK)
        vips_error(VIPS_OBJECT_CLASS(class)->nickname, "%s: %s", apsis_status_name(status), apsis_message(operation->context));
    apsis_destroy(operation->context);
    operation->context = NULL;
    return status;
}

static int build(VipsObject *object) {
    ApsisOperation *operation = APSIS_OPERATION(object);
    if (VIPS_OBJECT_CLASS(apsis_operation_parent_class)->build(object)) return -1;
    operation->options.metric = operation->metric;
    if (operation->complement) operation->options.flags |= APSIS_COMPLEMENT;
    const int failed = read_set(operation) || run(operation) != APSIS_OK;
    g_free(operation->set.data);
    operation->set.data = NULL;
    return failed ? -1 : 0;
}

int apsis_operation_describe(ApsisOperation *operation, VipsImage *image, VipsBandFormat format) {
    const VipsImage *in = operation->in;
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_ANY, operation->in, NULL)) return -1;
    vips_image_init_fields(image, in->Xsize, in->Ysize, 1, format, VIPS_CODING_NONE, VIPS_INTERPRETATION_B_W, in->Xres,
                           in->Yres);
    return 0;
}

apsis_image apsis_operation_output(ApsisOperation *operation, const char *name, apsis_type type) {
    apsis_image view = operation->set;
    VipsImage *image = vips_image_new_memory();
    const VipsBandFormat format = type == APSIS_F32 ? VIPS_FORMAT_FLOAT : VIPS_FORMAT_INT;
    const int failed = apsis_operation_describe(operation, image, format) || vips_image_write_prepare(image);
    view.type = type;
    view.data = failed ? NULL : VIPS_IMAGE_ADDR(image, 0, 0);
    g_object_set(operation, name, image, NULL);  // which takes the reference
    return view;
}

void apsis_operation_name(gpointer class, const char *nickname, const char *description,
                          apsis_status (*compute)(ApsisOperation *)) {
    G_OBJECT_CLASS(class)->set_property = vips_object_set_property;  // GObject asks for it in every class with properties
    G_OBJECT_CLASS(class)->get_property = vips_object_get_property;
    VIPS_OBJECT_CLASS(class)->nickname = nickname;
    VIPS_OBJECT_CLASS(class)->description = description;
    ((ApsisOperationClass *)class)->compute = compute;
}

void apsis_operation_take_metric(gpointer class) {
    VIPS_ARG_ENUM(class, "metric", 11, "Metric", "How length is measured", VIPS_ARGUMENT_OPTIONAL_INPUT,
                  G_STRUCT_OFFSET(ApsisOperation, metric), metric_type(), APSIS_EUCLIDEAN);
}

static void apsis_operation_class_init(ApsisOperationClass *class) {
    apsis_operation_name(class, "apsis", "exact maps of binary images", NULL);
    VIPS_OBJECT_CLASS(class)->build = build;
    VIPS_OPERATION_CLASS(class)->flags = VIPS_OPERATION_SEQUENTIAL;  // the image is read once, from top to bottom
    VIPS_ARG_IMAGE(class, "in", 1, "Input", "Image of one band; the non-zero pixels are the set", VIPS_ARGUMENT_REQUIRED_INPUT,
                   G_STRUCT_OFFSET(ApsisOperation, in));
    VIPS_ARG_IMAGE(class, "out", 2, "Output", "Output image", VIPS_ARGUMENT_REQUIRED_OUTPUT,
                   G_STRUCT_OFFSET(ApsisOperation, out));
    VIPS_ARG_BOOL(class, "complement", 10, "Complement", "The zero pixels are the set", VIPS_ARGUMENT_OPTIONAL_INPUT,
                  G_STRUCT_OFFSET(ApsisOperation, complement), FALSE);
}

static void apsis_operation_init(ApsisOperation *operation) {
    operation->options = (apsis_options)APSIS_OPTIONS_INIT;
    operation->metric = APSIS_EUCLIDEAN;
}
