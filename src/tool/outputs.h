// The files that a verb writes.  None gets its name before all are complete.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tool/io/file.h"
#include "tool/io/json.h"

namespace tool {

/// An output: its key in the JSON report, and its file name from the command line, empty if it was not requested.
struct OutputName {
    const char *key;
    std::string path;
};

class Outputs {
  public:
    /// Checks the files of the requested outputs, in their order.  No two may be the same file.
    Outputs(std::vector<OutputName> names, bool overwrite);

    /// The file of an output, or nullptr if it was not requested.
    OutputFile *find(std::string_view key) const;
    /// The name of the first one.
    const std::string &first() const { return names_[0].path; }
    /// Gives the files their names: all, or none.
    void commit();
    /// Writes the member "outputs" of a JSON object.
    void print(Json &json) const;

  private:
    std::vector<OutputName> names_;
    std::vector<std::unique_ptr<OutputFile>> files_;
};

}  // namespace tool
