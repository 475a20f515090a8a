// Writes tables of components for other programs: CSV or JSON, by the ending of the file's name.
#pragma once

#include <string>
#include <vector>

#include "apsis.h"
#include "tool/arguments.h"
#include "tool/io/file.h"

namespace tool {

/// An option for a table.  The file name's ending chooses CSV or JSON.
void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// Writes one line or object for each component, in the order of labels.  The caller commits the file.
void write_table(const std::vector<apsis_component> &components, OutputFile &file);
void write_table(const std::vector<apsis_extent> &extents, OutputFile &file);

}  // namespace tool
