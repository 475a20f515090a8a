// libvips loads this from its folder of plug-ins, and from then on has four operations more.
#include <gmodule.h>

#include "operation.h"

G_MODULE_EXPORT const gchar *g_module_check_init(GModule *module) {
    g_module_make_resident(module);  // types stay
    apsis_distance_get_type();
    apsis_voronoi_get_type();
    apsis_components_get_type();
    apsis_eccentricity_get_type();
    return NULL;
}
