// See run.h.
#include "tool/run.h"

#include <cstdio>

#include "tool/failure.h"
#include "tool/io/file.h"
#include "tool/results.h"

namespace tool {
namespace {

std::string size_of(const Shape &shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " pixels, " + std::to_string(shape.depth) +
           (shape.depth == 1 ? " page" : " pages");
}

}  // namespace

Run::Run(const RunRequest &request, Outputs &outputs, Progress &progress)
    : request_(request),
      outputs_(outputs),
      progress_(progress),
      device_(request.running, progress) {
    limit_memory(request.running.max_memory.value_or(physical_memory()));
    end_of("prepare");
    image_ = read_set(request.input, request.reading, progress);
    shape_ = image_.marks.shape();
    warnings_ = image_.warnings;
    end_of("read");
}

BinaryImage Run::read_another(const std::string &path) {
    InputSettings nonzero;
    nonzero.volume = request_.reading.volume;
    nonzero.tolerate = request_.reading.tolerate;
    nonzero.max_pixels = request_.reading.max_pixels;
    BinaryImage other = read_set(path, nonzero, progress_);
    const std::string size = size_of(shape_), other_size = size_of(other.marks.shape());
    if (size != other_size) fail(quoted(path) + " has " + other_size + ", but " + quoted(request_.input) + " has " + size);
    warnings_.insert(warnings_.end(), other.warnings.begin(), other.warnings.end());
    end_of("read");
    return other;
}

Raster Run::indices(const char *what) const {
    return Raster(shape_.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32, shape_, what);
}

apsis_options Run::options() const {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (image_.complement) options.flags |= APSIS_COMPLEMENT;
    if (image_.pages > 1 && !request_.reading.volume) options.flags |= APSIS_SLICES;
    return options;
}

void Run::write(std::string_view key, const Raster &raster) {
    if (OutputFile *file = outputs_.find(key)) write_raster(raster, *file, request_.writing, image_.tags, progress_);
    end_of("write");
}

void Run::draw(std::string_view key, const Picture &picture) {
    if (OutputFile *file = outputs_.find(key)) write_picture(picture, *file, image_.tags, progress_);
    end_of("picture");
}

void Run::end_of(const std::string &part) {
    for (auto &[name, seconds] : seconds_)
        if (name == part) {
            seconds += watch_.lap();
            return;
        }
    seconds_.push_back({part, watch_.lap()});
}

void Run::finish() {
    progress_.update(1);
    seconds_.push_back({"total", total_.lap()});
}

void Run::print_input(Json &json) const {
    json.member("input", request_.input).member("width", shape_.width).member("height", shape_.height);
    json.member("pages", image_.pages).member("volume", request_.reading.volume).member("pixels", shape_.pixels());
    json.member("sites", image_.sites).member("sites_are", word_of(request_.reading.sites));
    json.member_or_null("threshold", request_.reading.threshold);
}

void Run::print_account(Json &json) const {
    json.key("device").object().key("number");
    device_.number() == APSIS_CPU ? json.null() : json.value(device_.number());
    json.member("name", device_.name()).member("why", device_.why()).end_object();
    json.member("threads", request_.running.threads.value_or(0));
    json.key("seconds").object();
    for (const auto &[part, seconds] : seconds_) json.member(part, seconds);
    json.end_object().key("warnings").array();
    for (const std::string &warning : warnings_) json.value(warning);
    json.end_array();
    outputs_.print(json);
}

void Run::print_set() const {
    const std::string pages = std::to_string(image_.pages);
    const std::string depth = request_.reading.volume ? " x " + pages + " pixels"
                              : image_.pages > 1      ? " pixels, " + pages + " pages"
                                                      : " pixels";
    print_out("%s: %lld x %lld%s; %lld in the set (%.3g %%)\n", shown(request_.input).c_str(),
              static_cast<long long>(shape_.width), static_cast<long long>(shape_.height), depth.c_str(),
              static_cast<long long>(image_.sites),
              100 * static_cast<double>(image_.sites) / static_cast<double>(shape_.pixels()));
}

std::string Run::device_and_time() const {
    char time[32];
    std::snprintf(time, sizeof time, "%.3g s", seconds_.back().second);
    return device_.name() + ", " + time;
}

}  // namespace tool
