// Writes tables of components, values and contacts for other programs: CSV or JSON, by the ending of the file's name.
#pragma once

#include <cstdint>
#include <string>

#include "apsis_measures.h"
#include "tool/arguments.h"
#include "tool/io/file.h"

namespace tool {

/// An option for a table.  The file name's ending chooses CSV or JSON.
void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target);

/// What the entries of a table are: components, of a set or of a label image; the values of a label image; and so on.
enum class TableOf { kComponents, kLabelComponents, kValues, kContacts, kExtents, kMeasures, kPaths, kSurfaces };

/// A table that is written entry by entry; components in the order of their numbers.  The caller commits the file.
class TableWriter {
  public:
    /// Without a file it is printed as CSV.  `measures` says which those of values are.
    TableWriter(OutputFile *file, TableOf entries, std::uint32_t measures = 0);
    /// Adds a line (CSV) or an object (JSON).
    void add(const apsis_component &component);
    void add(const apsis_contact &contact);
    void add(const apsis_extent &extent);
    void add(const apsis_measure &measure);
    void add(const apsis_path &path);
    void add(const apsis_surface_distances &distances);
    /// Passes all data to the disk, or throws.
    void finish();

  private:
    class Row;
    void add(const Row &row);
    void write(const std::string &text);

    OutputFile *file_;
    TableOf entries_;
    std::uint32_t measures_;
    bool csv_;
    std::string text_;  // not yet written
    std::int64_t count_ = 0;
};

}  // namespace tool
