// APSIS_TILE_FILL on the CPU.
#include "cpu/components.h"
namespace apsis::cpu {
size_t tile_fill_scratch(const ComponentsJob &) { throw Error(APSIS_ERROR_UNSUPPORTED, "tile fill"); }
void tile_fill(const ComponentsJob &, void *, tbb::task_arena &, const Progress &) {}
}
