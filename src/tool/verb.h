// What the verbs that map an image share: the way from the words of the command line to the exit code, and what each tells
// of its run.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "device.h"
#include "failure.h"
#include "json.h"
#include "progress.h"
#include "set.h"
#include "settings.h"
#include "verbs.h"

namespace tool {

/// What was read, where it was mapped, and how long each part of the run took.
class Account {
  public:
    // Parts of the run that end now.
    void prepared(const Device &device);
    void read(const BinaryImage &image);
    void end_of(const char *part) { seconds_.push_back({part, watch_.lap()}); }
    void end() { seconds_.push_back({"total", total_.lap()}); }

    const Shape &shape() const { return shape_; }
    const std::string &device() const { return device_; }
    double total() const { return seconds_.back().second; }

    // Members of a JSON object.
    void print_image(Json &json, bool volume) const;
    void print_device(Json &json, const RunSettings &settings) const;
    void print_seconds(Json &json) const;

    /// The line about the set.
    void print_set(const std::string &path, bool volume) const { tool::print_set(path, volume, shape_, pages_, sites_); }

  private:
    Stopwatch total_, watch_;
    Shape shape_;
    std::int64_t pages_ = 0, sites_ = 0;
    std::string device_, why_;
    int device_number_ = APSIS_CPU;
    std::vector<std::pair<const char *, double>> seconds_;
};

/// Runs a verb.  Of these functions, arguments_of() says what words there are, check() refuses what does not go together,
/// compute() makes the outputs, and one of the others says what came of it.
template <class Request, class Outputs, class Outcome>
int run_verb(const Words &words, Arguments (*arguments_of)(Request &), void (*check)(Request &),
             Outcome (*compute)(const Request &, Outputs &, Progress &), void (*print_json)(const Request &, const Outcome &),
             void (*print_summary)(const Request &, const Outcome &)) {
    Request request;
    Arguments arguments = arguments_of(request);
    if (!arguments.parse(words)) {
        std::fputs(arguments.help().c_str(), stdout);
        return kSuccess;
    }
    check(request);
    Outputs outputs(request);
    Progress progress(request.running.progress, request.running.quiet);
    const Outcome outcome = compute(request, outputs, progress);
    progress.clear();
    if (request.running.json)
        print_json(request, outcome);
    else if (!request.running.quiet)
        print_summary(request, outcome);
    return kSuccess;
}

}  // namespace tool
