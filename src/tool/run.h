// One run of a verb: its device, the set that it reads, the outputs that it writes, and how long each part takes.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "tool/device.h"
#include "tool/io/json.h"
#include "tool/io/picture.h"
#include "tool/io/raster.h"
#include "tool/outputs.h"
#include "tool/progress.h"
#include "tool/set.h"
#include "tool/settings.h"

namespace tool {

/// The settings of every verb that maps an image.
struct RunRequest {
    std::string input;
    InputSettings reading;
    OutputSettings writing;
    RunSettings running;
};

class Run {
  public:
    /// Makes the context and reads the set.
    Run(const RunRequest &request, Outputs &outputs, Progress &progress);

    const Shape &shape() const { return shape_; }
    Progress &progress() const { return progress_; }
    /// Reads another input, which must have the same size: the set of its non-zero samples.
    BinaryImage read_another(const std::string &path);

    /// The file of an output, or nullptr if it was not requested.
    OutputFile *file(std::string_view key) const { return outputs_.find(key); }
    /// A raster of indices.
    Raster indices(const char *what) const;

    /// Options of a call: which pixels are the set, and whether each page is an image of its own.
    apsis_options options() const;
    /// Calls body(device, set), which calls the library.  Then frees the set's memory.
    template <std::invocable<const Device &, BinaryImage &> Body>
    void transform(Body body) {
        progress_.phase("computing");
        body(std::as_const(device_), image_);
        image_.marks = Raster();
        end_of("transform");
    }

    /// Writes a raster, or draws a picture, if the output was requested.
    void write(std::string_view key, const Raster &raster);
    void draw(std::string_view key, const Picture &picture);
    /// The slice that a picture shows.
    std::int64_t slice() const { return request_.reading.volume ? shape_.depth / 2 : 0; }

    /// Adds the time since the end of the last part to this part.  A part may end several times.
    void end_of(const std::string &part);
    /// Ends the run: the last check for an interrupt, and the total time.
    void finish();

    // Members of a JSON object: the input; then the device, the times, the warnings and the outputs.
    void print_input(Json &json) const;
    void print_account(Json &json) const;
    /// Prints the line about the set.  device_and_time() is the end of the line about the result.
    void print_set() const;
    std::string device_and_time() const;

  private:
    const RunRequest &request_;
    Outputs &outputs_;
    Progress &progress_;
    Stopwatch total_, watch_;
    Device device_;
    BinaryImage image_;
    Shape shape_;
    std::vector<std::pair<std::string, double>> seconds_;
    std::vector<std::string> warnings_;
};

}  // namespace tool
