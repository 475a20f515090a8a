// The files that a verb writes: none gets its name before all are complete.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "file.h"
#include "json.h"

namespace tool {

/// An output as the command line has it: its key in the report, and its name, empty if it was not asked for.
struct OutputName {
    const char *key;
    std::string path;
};

class Outputs {
  public:
    /// Makes the files of those that were asked for, in their order; no two may be one.
    Outputs(std::vector<OutputName> names, bool overwrite);

    /// The file under way, or nullptr if it was not asked for.
    OutputFile *find(std::string_view key) const;
    /// Gives them their names: all, or none.
    void commit();
    /// A member of a JSON object.
    void print(Json &json) const;

  private:
    std::vector<OutputName> names_;
    std::vector<std::unique_ptr<OutputFile>> files_;
};

}  // namespace tool
