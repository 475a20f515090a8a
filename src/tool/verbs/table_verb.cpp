// See table_verb.h.
#include "tool/verbs/table_verb.h"

#include "tool/failure.h"

namespace tool {

TableVerb::TableVerb(const char *name, const char *description, const char *examples, const char *columns, TableOf table,
                     const char *entry, const char *entries)
    : MapVerb(
          name, description,
          "An image that takes more is refused: its labels, each of 8, 16, 32 or 64 bits as in the file; some tiles or strips "
          "of the file; and the table. What the library needs besides is not counted. Default: the memory of this machine.",
          examples),
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
}

void TableVerb::check() {
    if (output_.empty() && request_.running.json && !request_.running.dry)
        usage("--json prints an object about the run where the table is printed; name a file for the table with --output");
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
