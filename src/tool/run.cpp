// See run.h.
#include "tool/run.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "tool/failure.h"
#include "tool/io/file.h"
#include "tool/io/memory.h"
#include "tool/parallel.h"
#include "tool/results.h"
#include "tool/slab_components.h"

namespace tool {
namespace {

std::string size_of(const Shape &shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " pixels, " + std::to_string(shape.depth) +
           (shape.depth == 1 ? " page" : " pages");
}

/// 1.25 GB.
std::string bytes_in_words(std::int64_t bytes) {
    double number = static_cast<double>(bytes);
    const char *unit = "bytes";
    for (const char *larger : {"KB", "MB", "GB", "TB", "PB"})
        if (number >= 1000) number /= 1000, unit = larger;
    char words[40];
    std::snprintf(words, sizeof words, "%.4g %s", number, unit);
    return words;
}

}  // namespace

std::int64_t first_room(const Shape &slab) { return std::clamp<std::int64_t>(slab.pixels() / 256, 1, 1 << 16); }

Run::Run(const RunRequest &request, Outputs &outputs, Progress &progress)
    : request_(request),
      outputs_(outputs),
      progress_(progress),
      device_(request.running, progress),
      set_(request.input, request.reading, threads()) {
    limit_memory(request.running.memory.value_or(physical_memory()));
    end_of("prepare");
}

void Run::plan(Maps maps) {
    Demand demand;
    demand.shape = shape();
    demand.set = set_.type();
    demand.whole = maps.whole;
    demand.devices = device_.count();
    demand.step = request_.writing.tiled && shape().dimensions == 2 ? kTileSide : 1;
    demand.column = [&](std::int64_t slabs) {
        if (maps.entry > 0) return slabs > 1 ? maps.before * (1 + at_once(slabs)) : 0;  // the last ones, and those before slabs
        const auto numbers = maps.transform == APSIS_COMPONENTS ? SlabComponents::numbers : SlabMaps::numbers;
        return 8 * numbers(slabs, shape(), maps.options);
    };
    demand.looks_once = looks_once_ = maps.entry > 0;
    if (looks_once_) demand.step = set_.rows_at_once();
    demand.reading = set_.reading_bytes();
    if ((beside_ = maps.beside)) {
        check_size(*beside_);
        demand.beside = bits_of(beside_->type()) / 8;
        demand.reading = std::max(demand.reading, beside_->reading_bytes());
    }
    demand.spilling = set_.spilling_bytes();
    for (const auto &[key, type] : maps.types) {
        demand.outputs += bits_of(type) / 8;
        if (!file(key)) continue;
        demand.writing += TiffWriter::bytes_of(request_.writing, tiff_of(type), threads());
        // Slabs of whole rows of tiles, or of whole pages, leave nothing waiting.
        if (shape().dimensions == 2 && !request_.writing.tiled)
            demand.waiting += TiffWriter::waiting_bytes(request_.writing, tiff_of(type));
    }
    demand.scratch = [&](const Shape &slab) { return scratch(maps, slab); };
    maps_ = maps.types;
    // What is cut leaves some memory to others.
    const auto &given = request_.running.memory;
    cut_ = cut_to_fit(demand, given.value_or(free_memory() / 2), given.value_or(physical_memory()));
}

/// What the library needs in host memory for a slab, and what tables have at first.
std::int64_t Run::scratch(const Maps &maps, const Shape &slab) const {
    const std::int64_t devices = at_once((shape().extent() + slab.extent() - 1) / slab.extent());
    const std::int64_t tables = maps.entry * first_room(slab) * (devices > 1 ? 1 + devices : 1);
    if (!maps.whole.empty() || !maps.transform || device_.number() != APSIS_CPU) return tables;
    apsis_image images[3] = {};
    const apsis_image *call[3] = {};
    const auto describe = [&](size_t place, apsis_type type) {
        images[place] = {nullptr, type, slab.dimensions, {slab.width, slab.height, slab.depth}, {}, APSIS_HOST, 0};
        call[place] = &images[place];
    };
    describe(0, set_.type());
    for (const auto &[key, type] : maps.types) describe(std::string_view(key) == "nearest" ? 2 : 1, type);
    const bool distance = maps.transform == APSIS_DISTANCE, pages = maps.options.flags & APSIS_SLICES;
    if (distance && std::string_view(maps.types[0].first) == "cells") std::swap(call[1], call[2]);  // nearest pixels
    size_t bytes = 0;
    const int count = distance ? 3 : maps.entry > 0 ? 1 : 2;
    apsis_options options = maps.options;
    if (slab.extent() < shape().extent()) options.flags &= ~shape().cut_axis();
    device_.check(apsis_workspace_size(device_.context(), *maps.transform, call, count, &options, &bytes));
    if (maps.entry > 0) return static_cast<std::int64_t>(bytes) + tables;
    if (pages) return static_cast<std::int64_t>(bytes);
    // What the library says of slabs: of distances at most twice; of components little more, for the runs in two rows.
    return static_cast<std::int64_t>(bytes) * (distance ? 2 : 1) + (distance ? 0 : 16 * slab.columns());
}

void Run::read() {
    if (looks_once_) return;
    image_ = set_.read(progress_, cut_.spilled ? outputs_.first() : "", cut_.extent, devices());
    warnings_ = image_.warnings;
    end_of("read");
}

void Run::keep_warnings(const BinaryImage &of) { warnings_.insert(warnings_.end(), of.warnings.begin(), of.warnings.end()); }

BinaryImage Run::read_slab(int device, std::int64_t slab) {
    if (slab > 0) end_of("transform");
    progress_.slab(slab, cut_.slabs);
    progress_.phase("reading");
    BinaryImage part = set_.read_part(progress_, cut_.start(slab), extent_of(slab));
    image_.sites += part.sites;
    keep_warnings(part);
    if (beside_) {
        BinaryImage other = beside_->read_part(progress_, cut_.start(slab), extent_of(slab));
        keep_warnings(other);
        parts_beside_[static_cast<size_t>(device)] = std::move(other.marks);
    }
    end_of("read");
    progress_.phase("computing");
    return part;
}

void Run::each_read(const ReadBody &read, const ReadBody &make, const ReadBody &take) {
    constexpr std::int64_t kStopped = -1;
    std::vector<BinaryImage> parts(static_cast<size_t>(devices()));
    parts_beside_.resize(parts.size());
    std::atomic<std::int64_t> turn{0};  // the slab that is read next
    const auto read_in_turn = [&](int device, std::int64_t slab) {
        for (std::int64_t now; (now = turn) != slab; turn.wait(now))
            if (now == kStopped) throw Interrupted{0};  // what stopped the slab before is what is told
        BinaryImage &part = parts[static_cast<size_t>(device)];
        part = BinaryImage();
        parts_beside_[static_cast<size_t>(device)] = Raster();
        part = read_slab(device, slab);
        read(device, cut_.start(slab), part.marks);
    };
    const auto pass_on = [&turn](std::int64_t next) {
        turn = next;
        turn.notify_all();
    };
    make_and_take(
        devices(), cut_.slabs,
        [&](int device, std::int64_t slab) {
            try {
                read_in_turn(device, slab);
            } catch (...) {
                pass_on(kStopped);
                throw;
            }
            pass_on(slab + 1);
            make(device, cut_.start(slab), parts[static_cast<size_t>(device)].marks);
        },
        [&](int device, std::int64_t slab) { take(device, cut_.start(slab), parts[static_cast<size_t>(device)].marks); });
    parts_beside_.clear();
    end_of("transform");
}

Raster Run::read_last_row() {
    progress_.phase("reading");
    BinaryImage part = set_.read_part(progress_, shape().extent() - 1, 1);
    end_of("read");
    return std::move(part.marks);
}

InputSettings Run::settings_of_another(bool labels) const {
    InputSettings settings = request_.reading;
    settings.sites = Sites::kNonzero;
    settings.threshold.reset();
    settings.labels = labels;
    settings.delta.reset();
    return settings;
}

SetFile Run::open_another(const std::string &path, bool labels) const {
    return SetFile(path, settings_of_another(labels), threads());
}

void Run::check_size(const SetFile &file) const {
    const std::string size = size_of(shape()), other_size = size_of(file.shape());
    if (size != other_size)
        fail(quoted(file.path()) + " has " + other_size + ", but " + quoted(request_.input) + " has " + size);
}

BinaryImage Run::read_from(SetFile file) {
    check_size(file);
    BinaryImage other = file.read(progress_);
    keep_warnings(other);
    end_of("read");
    return other;
}

BinaryImage Run::read_another(const std::string &path, bool labels) { return read_from(open_another(path, labels)); }

BinaryImage Run::read_grey(const std::string &path, const std::string &samples) { return read_from(open_grey(path, samples)); }

SetFile Run::open_grey(const std::string &path, const std::string &samples) const {
    InputSettings settings = settings_of_another(true);
    settings.delta = 0;  // a grey image
    SetFile file(path, settings, threads());
    if (file.type() != APSIS_U8 && file.type() != APSIS_U16 && file.type() != APSIS_F32)
        fail(quoted(path) + " has signed samples, or whole ones of 32 bits, but " + samples +
             " are whole numbers of up to 16 bits without sign, or 32-bit floating-point ones");
    return file;
}

apsis_options Run::options() const {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (set_.complement()) options.flags |= APSIS_COMPLEMENT;
    if (request_.reading.labels) options.flags |= APSIS_LABELS;
    options.flags |= request_.reading.periodic;
    if (set_.pages() > 1 && !request_.reading.volume) options.flags |= APSIS_SLICES;
    return options;
}

std::vector<Raster> Run::slabs_of(apsis_type type, const char *what, bool is_wanted) const {
    std::vector<Raster> rasters(static_cast<size_t>(devices()));
    if (is_wanted)
        for (Raster &raster : rasters) raster = Raster(type, shape().cut_to(cut_.extent), what);
    return rasters;
}

void Run::each_slab(const char *phase, std::int64_t from, std::int64_t to, const SlabBody &make, const SlabBody &take) {
    const auto begin = [&](std::int64_t slab) {
        progress_.slab(slab, cut_.slabs);
        progress_.phase(phase);
    };
    const bool alone = devices() == 1;
    make_and_take(
        devices(), to - from,
        [&](int device, std::int64_t i) {
            if (alone) begin(from + i);
            make(device, from + i);
        },
        [&](int device, std::int64_t i) {
            if (!alone) begin(from + i);
            take(device, from + i);
        });
}

void Run::each_slab(const char *phase, const SlabBody &make, const SlabBody &take) {
    each_slab(phase, 0, cut_.slabs, make, take);
}

void Run::transform_slabs(const apsis_options &options, const std::vector<Raster> &distance, const std::vector<Raster> &nearest,
                          SlabMaps::Call whole, const SlabBody &finished) {
    SlabMaps maps(device_, image_, shape(), cut_, options, std::move(whole));
    const auto compute = [&](int device, std::int64_t slab) {
        maps.compute(device, slab, distance[static_cast<size_t>(device)], nearest[static_cast<size_t>(device)]);
    };
    const auto take = [&](int device, std::int64_t slab) {
        end_of("transform");
        finished(device, slab);
    };
    for (std::int64_t first = 0; first < cut_.slabs; first += maps.group()) {
        if (maps.gathers()) {
            progress_.slab(first, cut_.slabs);
            progress_.phase("gathering");
            maps.gather(first);
        }
        each_slab("computing", first, std::min(first + maps.group(), cut_.slabs), compute, take);
    }
}

TiffImage Run::tiff_of(apsis_type type) const { return image_of(type, shape(), set_.tags()); }

void Run::write(std::string_view key, const Raster &raster, std::int64_t extent) {
    OutputFile *const file = outputs_.find(key);
    if (!file) return;
    progress_.phase("writing");
    std::unique_ptr<TiffWriter> &writer = writers_[std::string(key)];
    if (!writer) writer = std::make_unique<TiffWriter>(*file, request_.writing, tiff_of(raster.type()), threads());
    const std::int64_t rows = extent * (shape().columns() / shape().width);
    writer->write(raster.row(0, 0), rows, [&](double done) { progress_.update(done); });
    if (writer->complete()) writer->finish();
    end_of("write");
}

void Run::draw(std::string_view key, const Picture &picture) {
    if (OutputFile *file = outputs_.find(key)) write_picture(picture, *file, set_.tags(), threads(), progress_);
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
    json.member("input", request_.input).member("width", shape().width).member("height", shape().height);
    json.member("pages", set_.pages()).member("volume", request_.reading.volume);
    json.member("periodic", request_.reading.periodic_axes()).member("pixels", shape().pixels());
    if (!request_.running.dry) json.member("sites", image_.sites);
    json.member("sites_are", word_of(request_.reading.sites));
    json.member_or_null("threshold", request_.reading.threshold).member("labels", request_.reading.labels);
}

void Run::print_plan(Json &json) const {
    json.key("plan").object().member("slabs", cut_.slabs).member("extent", cut_.extent);
    json.member("set_in_file", cut_.spilled).member("memory", cut_.memory);
    json.key("bytes").object();
    for (const auto &[key, type] : maps_)
        if (file(key)) json.member(key, shape().pixels() * (bits_of(type) / 8));
    json.end_object().end_object();
}

void Run::print_plan() const {
    const std::string rows = shape().dimensions == 2 ? "rows" : request_.reading.volume ? "planes" : "pages";
    print_out("%s: %s, read once", shown(request_.input).c_str(), shape().words().c_str());
    print_out("%s\n", cut_.spilled ? ("; the set is kept in a file of " + bytes_in_words(set_.set_bytes())).c_str() : "");
    if (cut_.slabs == 1)
        print_out("computed at once");
    else
        print_out("computed in %lld slabs of %lld %s", static_cast<long long>(cut_.slabs), static_cast<long long>(cut_.extent),
                  rows.c_str());
    print_out(", on %s; %s of memory\n", device_.names().c_str(), bytes_in_words(cut_.memory).c_str());
    for (const auto &[key, type] : maps_)
        if (const OutputFile *output = file(key))
            print_out("%s: %s before compression\n", shown(output->path()).c_str(),
                      bytes_in_words(shape().pixels() * (bits_of(type) / 8)).c_str());
}

void Run::print_account(Json &json) const {
    device_.print(json);
    json.member("threads", threads());
    json.key("seconds").object();
    for (const auto &[part, seconds] : seconds_) json.member(part, seconds);
    json.end_object().member("peak_memory", peak_memory()).key("warnings").array();
    for (const std::string &warning : warnings_) json.value(warning);
    json.end_array();
    outputs_.print(json);
}

void Run::print_set() const {
    const std::string pages = std::to_string(set_.pages());
    const std::string depth = request_.reading.volume ? " x " + pages + " pixels"
                              : set_.pages() > 1      ? " pixels, " + pages + " pages"
                                                      : " pixels";
    print_out("%s: %lld x %lld%s; %lld in %s (%.3g %%)\n", shown(request_.input).c_str(), static_cast<long long>(shape().width),
              static_cast<long long>(shape().height), depth.c_str(), static_cast<long long>(image_.sites),
              request_.reading.labels ? "labels" : "the set",
              100 * static_cast<double>(image_.sites) / static_cast<double>(shape().pixels()));
}

std::string Run::device_and_time() const {
    char time[32];
    std::snprintf(time, sizeof time, "%.3g s", seconds_.back().second);
    return device_.names() + ", " + time;
}

}  // namespace tool
