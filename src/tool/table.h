// What is known of components, as a table for other programs: CSV or JSON, as the file's name says.
#pragma once

#include <string>
#include <vector>

#include "apsis.h"
#include "arguments.h"
#include "file.h"

namespace tool {

/// An option for such a table; its name must say which kind it is to be.
void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// One line, or object, a component, in the order of their labels; the file still waits for its name.
void write_table(const std::vector<apsis_component> &components, OutputFile &file);
void write_table(const std::vector<apsis_extent> &extents, OutputFile &file);

}  // namespace tool
