// One run of a verb: the device that it works on, the set that it reads, the outputs that it writes, and how long each part
// of that took.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "json.h"
#include "outputs.h"
#include "picture.h"
#include "progress.h"
#include "raster.h"
#include "set.h"
#include "settings.h"

namespace tool {

/// What every verb that maps an image is asked.
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
    /// Another input of the same size: its non-zero samples.
    BinaryImage read_another(const std::string &path);

    /// The file of an output, or nullptr if it was not asked for.
    OutputFile *file(std::string_view key) const { return outputs_.find(key); }
    /// Room for an index in every pixel.
    Raster indices(const char *what) const;

    /// Options of a call: which pixels are the set, and whether pages are apart.
    apsis_options options() const;
    /// Calls the library, as `body` does, on the set, which is gone afterwards.
    template <std::invocable<const Device &, BinaryImage &> Body>
    void transform(Body body) {
        progress_.phase("computing");
        body(std::as_const(device_), image_);
        image_.marks = Raster();
        end_of("transform");
    }

    /// Writes a raster, or draws a picture, if that was asked for.
    void write(std::string_view key, const Raster &raster);
    void draw(std::string_view key, const Picture &picture);
    /// The slice that a picture shows.
    std::int64_t slice() const { return request_.reading.volume ? shape_.depth / 2 : 0; }

    /// What has happened since the last part was one of this name; a part may go on later.
    void end_of(const std::string &part);
    /// The last moment to stop; what is told of the run is complete.
    void finish();

    // Members of a JSON object: what was read; where it was mapped, how fast, and what was written.
    void print_input(Json &json) const;
    void print_account(Json &json) const;
    /// The line about the set; where it was mapped, and how fast, in words.
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
