// Writes PNG; the only file that knows libpng, where there is one.
#pragma once

#include "picture.h"

namespace tool {

bool has_png();
void write_png(const Picture &picture, OutputFile &file, const Report &report);

}  // namespace tool
