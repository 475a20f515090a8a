// A verb that maps an image: the way from the words of the command line to the exit code.  Each derives from it, and says
// only what is its own.
#pragma once

#include <string>
#include <vector>

#include "arguments.h"
#include "json.h"
#include "run.h"
#include "verbs.h"

namespace tool {

class MapVerb {
  public:
    virtual ~MapVerb() = default;
    /// Runs it; returns the exit code.
    int run(const Words &words);

  protected:
    MapVerb(const char *name, const char *description, const char *examples)
        : name_(name),
          description_(description),
          examples_(examples) {}

    /// Its inputs besides IN.tif, OUT.tif, and its options but for those of RunRequest.
    virtual void add_to(Arguments &arguments) = 0;
    /// Refuses what does not go together.
    virtual void check() {}
    /// Its outputs, in the order of the command line, OUT.tif first.
    virtual std::vector<OutputName> outputs() const = 0;
    /// From the set to the outputs.
    virtual void compute(Run &run) = 0;
    /// Its members of the JSON object.
    virtual void print(Json &json) const = 0;
    /// What came of it, after "OUT.tif: ".
    virtual std::string sentence() const = 0;

    bool volume() const { return request_.reading.volume; }

  private:
    Arguments arguments();
    void print_report(const Run &run) const;
    void print_summary(const Run &run) const;

    const char *name_, *description_, *examples_;
    RunRequest request_;
};

}  // namespace tool
