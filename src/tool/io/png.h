// Reads and writes PNG.  Only png.cpp uses libpng, and only in builds that have it.
#pragma once

#include <memory>
#include <string>

#include "tool/io/picture.h"
#include "tool/io/tiff.h"

namespace tool {

bool has_png();
void write_png(const Picture &picture, OutputFile &file, const Report &report);

/// A reader of its page, as if it were one of TIFF; nullptr if the file is no PNG, or the build has no libpng.
std::unique_ptr<PageReader> open_png(const std::string &path);

}  // namespace tool
