// The base class of verbs that map an image, or make a table of it.  It goes from the words of the command line to the exit
// code; a derived class adds only its own options, checks, computation and report.
#pragma once

#include <string>
#include <vector>

#include "tool/arguments.h"
#include "tool/io/json.h"
#include "tool/run.h"
#include "tool/verbs/verbs.h"

namespace tool {

/// What --memory is, for a verb for which the library needs so much a pixel: of the whole image, or of a slab.
std::string whole_memory_help(const std::string &needs);
std::string slab_memory_help(const std::string &needs);

class MapVerb {
  public:
    virtual ~MapVerb() = default;
    /// Runs the verb; returns the exit code.
    int run(const Words &words);

  protected:
    /// `memory` says what --memory limits.
    MapVerb(const char *name, const char *description, const std::string &memory, const char *examples)
        : name_(name),
          description_(description),
          memory_(memory),
          examples_(examples) {}

    /// Adds the options of the file that is read, and of those that are written.
    virtual void add_input(Arguments &arguments) { request_.reading.add_to(arguments); }
    virtual void add_output(Arguments &arguments) { request_.writing.add_to(arguments); }
    /// Adds OUT.tif, further inputs, and all options that are not in RunRequest.
    virtual void add_to(Arguments &arguments) = 0;
    /// Fails with a usage error if options contradict each other.
    virtual void check() {}
    /// The outputs, in the order of the command line, OUT.tif first.
    virtual std::vector<OutputName> outputs() const = 0;
    /// The maps that compute() makes.  Those of a verb that has no slabs are for the dry run.
    virtual Maps maps(const Run &run) const = 0;
    /// Computes the outputs from the set, and writes them.
    virtual void compute(Run &run) = 0;
    /// Writes the verb's own members of the JSON object.
    virtual void print(Json &json) const = 0;
    /// The result in words, to follow "OUT.tif: ".
    virtual std::string sentence() const = 0;
    /// Prints the lines about the input and the result.
    virtual void print_summary(const Run &run) const;

    bool volume() const { return request_.reading.volume; }
    bool labels() const { return request_.reading.labels; }
    void add_devices(Arguments &arguments) { request_.running.add_devices(arguments); }
    /// An option of verbs that take label images; `means` is a sentence on what they make of one.
    void add_labels(Arguments &arguments, const std::string &means);

    RunRequest request_;

  private:
    Arguments arguments();
    void print_plan(const Run &run) const;
    void print_report(const Run &run) const;

    const char *name_, *description_;
    std::string memory_;
    const char *examples_;
};

}  // namespace tool
