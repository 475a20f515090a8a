// See table_verb.h.
#include "tool/verbs/table_verb.h"

#include "tool/failure.h"

namespace tool {

TableVerb::TableVerb(const char *name, const char *description, const std::string &memory, const char *examples,
                     const char *columns, TableOf table, const char *entry, const char *entries)
    : MapVerb(name, description, memory, examples),
      columns_(columns),
      entry_(entry),
      entries_(entries),
      table_(table) {
    request_.reading.labels = true;
}

void TableVerb::add_to(Arguments &arguments) {
    add_table(arguments, "--output",
              std::string("Write the table to a file: ") + columns_ + " Default: print it as CSV in place of the summary.",
              output_);
    add_devices(arguments);
}

void TableVerb::check() {
    if (output_.empty() && request_.running.json && !request_.running.dry)
        usage("--json prints an object about the run where the table is printed; name a file for the table with --output");
}

std::string TableVerb::once_memory_help() {
    return "The image is read slab by slab, some of its rows, and the table is the same. It takes the labels of a slab, each "
           "of "
           "8, 16, 32 or 64 bits as in the file; some tiles or strips of the file; and the table. What the library needs to "
           "find "
           "it is not counted. Default: half of the memory that is free. A table that takes more than this is refused; by "
           "default, more than the memory of this machine.";
}

void TableVerb::refuse(const Run &run, std::int64_t rows, std::int64_t found, std::int64_t entry, std::int64_t others) const {
    const char *const kind = run.shape().dimensions == 2 ? " rows have " : " pages have ";
    refuse_memory(run.shape(), "at least " + std::to_string(others + found * entry), run.cut().limit,
                  ": its first " + std::to_string(rows) + kind + std::to_string(found) + " " + entries_ +
                      ", and a table needs " + std::to_string(entry) + " bytes for each");
}

void TableVerb::compute(Run &run) {
    run.progress().phase("computing");
    TableWriter table(run.file("table"), table_, measures_);
    fill(run, table);
    run.progress().clear();
    table.finish();
    run.end_of("write");
}

void TableVerb::print_summary(const Run &run) const {
    if (!output_.empty()) MapVerb::print_summary(run);
}

}  // namespace tool
