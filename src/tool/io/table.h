// Writes tables of components for other programs: CSV or JSON, by the ending of the file's name.
#pragma once

#include <cstdint>
#include <string>

#include "apsis.h"
#include "tool/arguments.h"
#include "tool/io/file.h"

namespace tool {

/// An option for a table.  The file name's ending chooses CSV or JSON.
void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// A table that is written entry by entry, in the order of labels.  The caller commits the file.
class TableWriter {
  public:
    // The names of columns.
    static constexpr const char *kComponents = "label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n";
    static constexpr const char *kExtents = "label,first,diameter,end_1,end_2,radius,centre\n";

    TableWriter(OutputFile &file, const char *columns);
    /// Adds a line (CSV) or an object (JSON).
    void add(const apsis_component &component);
    void add(const apsis_extent &extent);
    /// Passes all data to the disk, or throws.
    void finish();

  private:
    template <class Entry>
    void add_entry(const Entry &entry);

    OutputFile &file_;
    bool csv_;
    std::string text_;  // not yet written
    std::int64_t label_ = 0;
};

}  // namespace tool
