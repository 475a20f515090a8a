// Writes PNG.  Only png.cpp uses libpng, and only in builds that have it.
#pragma once

#include "tool/io/picture.h"

namespace tool {

bool has_png();
void write_png(const Picture &picture, OutputFile &file, const Report &report);

}  // namespace tool
