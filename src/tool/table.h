// What is known of components, as a table for other programs: CSV or JSON, as the file's name says.
#pragma once

#include <string>
#include <vector>

#include "apsis.h"
#include "file.h"

namespace tool {

/// Fails with a usage error unless the name says which kind of table it is to be.
void check_table_name(const std::string &option, const std::string &path);

/// One line, or object, a component, in the order of their labels; the file still waits for its name.
void write_table(const std::vector<apsis_component> &components, OutputFile &file);
void write_table(const std::vector<apsis_extent> &extents, OutputFile &file);

}  // namespace tool
