// One run of a verb: its device, the set that it reads, how it is cut, the outputs that it writes, and how long each part
// takes.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "tool/slabs.h"

namespace tool {

/// The settings of every verb that maps an image.
struct RunRequest {
    std::string input;
    InputSettings reading;
    OutputSettings writing;
    RunSettings running;
};

/// The maps of a verb, by the keys of their outputs.  Maps of no file are for pictures.
struct Maps {
    std::vector<std::pair<const char *, apsis_type>> types;
    std::string whole;                           // why they must be computed at once; "" if slab by slab will do
    apsis_options options = APSIS_OPTIONS_INIT;  // for slabs
    // Of its slabs; also for complete Voronoi maps.  None: it takes no workspace.
    std::optional<apsis_transform> transform = APSIS_DISTANCE;
    // Of a table: the bytes of an entry, if slabs are looked at once, from the first to the last; otherwise 0.
    std::int64_t entry = 0;
    std::int64_t before = 0;               // then bytes of a column in the rows before a slab, in 3-D planes, that it is told
    std::shared_ptr<SetFile> beside = {};  // and another image of the same size, if there is one, that is read with the set
};

/// Entries of a table for which there is room at first.
std::int64_t first_room(const Shape &slab);

class Run {
  public:
    /// Makes the context and opens the image.
    Run(const RunRequest &request, Outputs &outputs, Progress &progress);

    const Shape &shape() const { return set_.shape(); }
    /// APSIS_BIT, or the type of labels.
    apsis_type set_type() const { return set_.type(); }
    std::int64_t threads() const { return request_.running.threads.value_or(0); }
    Progress &progress() const { return progress_; }
    /// The type of indices of pixels.
    apsis_type index_type() const { return shape().pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32; }
    /// The type of a map of labels, which are of this type.
    apsis_type type_for(apsis_type labels) const { return labels == APSIS_I64 ? APSIS_I64 : index_type(); }
    /// The file of an output, or nullptr if it was not requested.
    OutputFile *file(std::string_view key) const { return outputs_.find(key); }
    /// Options of a call: which pixels are the set, or that there are labels, and whether each page is an image of its own.
    apsis_options options() const;

    /// Decides how the image is cut.
    void plan(Maps maps);
    /// Reads the set, unless its slabs are looked at once.
    void read();
    /// Reads them, and calls read(device, start, set) for each: from the first one to the last.  Meanwhile others are made and
    /// taken as each_slab() has it.
    using ReadBody = std::function<void(int device, std::int64_t start, const Raster &set)>;
    void each_read(const ReadBody &read, const ReadBody &make, const ReadBody &take);
    /// The slab of the image beside the set that a device has; without memory if there is no such image.
    const Raster &beside(int device) const { return parts_beside_[static_cast<size_t>(device)]; }
    /// Reads the last one of its rows, in 3-D planes, where that must be known before.
    Raster read_last_row();
    /// Opens another input, of the same pages: the set of its non-zero samples, or their labels.
    SetFile open_another(const std::string &path, bool labels) const;
    /// Reads it.  It must have the same size.
    BinaryImage read_another(const std::string &path, bool labels);
    /// Likewise, a grey image, APSIS_U8, APSIS_U16 or APSIS_F32; `samples` says what it has: "costs", "intensities".
    SetFile open_grey(const std::string &path, const std::string &samples) const;
    BinaryImage read_grey(const std::string &path, const std::string &samples);

    /// Calls body(device, set), which calls the library for the whole image.  Then frees the set's memory.
    template <std::invocable<const Device &, BinaryImage &> Body>
    void transform(Body body) {
        progress_.phase("computing");
        body(std::as_const(device_), image_);
        image_.marks = Raster();
        end_of("transform");
    }

    const Device &device() const { return device_; }
    const Cut &cut() const { return cut_; }
    BinaryImage &image() { return image_; }

    /// Calls make(device, slab) for each slab, for those of different devices at the same time, and take(device, slab) after
    /// it: from the first slab to the last, one at a time, and before that device makes another.
    using SlabBody = std::function<void(int device, std::int64_t slab)>;
    void each_slab(const char *phase, const SlabBody &make, const SlabBody &take);
    /// How many devices have slabs.
    int devices() const { return static_cast<int>(at_once(cut_.slabs)); }
    /// A raster of a map that has no slabs.
    Raster map(apsis_type type, const char *what) const { return Raster(type, shape(), what); }
    /// A raster of a map with room for a slab, for each device; without memory if the map is not wanted.
    std::vector<Raster> slabs_of(apsis_type type, const char *what, bool is_wanted = true) const;
    /// Computes distances and nearest pixels slab by slab, and calls finished(device, slab) for each.
    void transform_slabs(const apsis_options &options, const std::vector<Raster> &distance, const std::vector<Raster> &nearest,
                         SlabMaps::Call whole, const SlabBody &finished);
    std::int64_t extent_of(std::int64_t slab) const { return cut_.extent_of(slab, shape()); }

    /// Writes the next rows of an output, in 3-D planes, if it was requested; all of them without `extent`.
    void write(std::string_view key, const Raster &raster, std::int64_t extent);
    void write(std::string_view key, const Raster &raster) { write(key, raster, shape().extent()); }
    /// Draws a picture, if it was requested.
    void draw(std::string_view key, const Picture &picture);
    /// The slice that a picture shows.
    std::int64_t slice() const { return request_.reading.volume ? shape().depth / 2 : 0; }

    /// Adds the time since the end of the last part to this part.  A part may end several times.
    void end_of(const std::string &part);
    /// Ends the run: the last check for an interrupt, and the total time.
    void finish();

    // Members of a JSON object: the input; the plan; then the device, the times, the warnings and the outputs.
    void print_input(Json &json) const;
    void print_plan(Json &json) const;
    void print_account(Json &json) const;
    /// Prints the line about the set; what a dry run says.  device_and_time() is the end of the line about the result.
    void print_set() const;
    void print_plan() const;
    std::string device_and_time() const;

  private:
    void each_slab(const char *phase, std::int64_t from, std::int64_t to, const SlabBody &make, const SlabBody &take);
    std::int64_t at_once(std::int64_t slabs) const { return std::min<std::int64_t>(device_.count(), slabs); }
    std::int64_t scratch(const Maps &maps, const Shape &slab) const;
    BinaryImage read_slab(int device, std::int64_t slab);
    void keep_warnings(const BinaryImage &of);
    TiffImage tiff_of(apsis_type type) const;
    std::string size() const;
    InputSettings settings_of_another(bool labels) const;
    void check_size(const SetFile &file) const;
    BinaryImage read_from(SetFile file);

    const RunRequest &request_;
    Outputs &outputs_;
    Progress &progress_;
    Stopwatch total_, watch_;
    Device device_;
    SetFile set_;
    BinaryImage image_;
    Cut cut_;
    bool looks_once_ = false;
    std::shared_ptr<SetFile> beside_;
    std::vector<Raster> parts_beside_;
    std::vector<std::pair<const char *, apsis_type>> maps_;
    std::map<std::string, std::unique_ptr<TiffWriter>, std::less<>> writers_;
    std::vector<std::pair<std::string, double>> seconds_;
    std::vector<std::string> warnings_;
};

}  // namespace tool
