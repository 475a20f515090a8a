// apsis components: which connected piece each pixel of the set belongs to, and what is known of the pieces.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "arguments.h"
#include "device.h"
#include "failure.h"
#include "file.h"
#include "json.h"
#include "picture.h"
#include "progress.h"
#include "results.h"
#include "set.h"
#include "settings.h"
#include "table.h"
#include "verbs.h"

namespace tool {
namespace {

const std::vector<std::string> kNeighbours = {"4", "8", "6", "18", "26"};
const std::vector<std::string> kTypes = {"i32", "i64", "u8"};
const std::vector<std::string> kMethods = {"auto", "tile-fill"};
const std::vector<std::string> kSites = {"nonzero", "zero", "black", "white"};
constexpr apsis_type kTypeOf[] = {APSIS_I32, APSIS_I64, APSIS_U8};
constexpr apsis_method kMethodOf[] = {APSIS_AUTO, APSIS_TILE_FILL};
constexpr int kAxesOf[] = {1, 2, 1, 2, 3};  // along which neighbours may differ
constexpr std::uint8_t kInSet = 255;        // in a mask

/// What the user asked for.
struct Request {
    std::string input, output, table, picture;
    InputSettings reading;
    OutputSettings writing;
    RunSettings running;
    int neighbours = -1;  // a place in kNeighbours
    int type = -1;        // a place in kTypes
    int method = 0;       // a place in kMethods
    std::optional<std::int64_t> largest, min_area, max_area;
    bool fill_holes = false, clear_border = false;
};

Arguments arguments_of(Request &request) {
    Arguments arguments("components",
                        "Numbers the connected components of a set 1, 2, 3, ... by their lowest pixel, and writes for "
                        "every pixel the number of its component, 0 outside the set. With pages that are images of "
                        "their own the numbers go on from page to page.");
    arguments.positional(
        "IN.tif",
        "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits. Reduced "
        "copies and transparency masks inside the file are passed over.",
        request.input);
    arguments.positional("OUT.tif", "The numbers: TIFF with a page for every page of IN.tif.", request.output);
    request.reading.add_to(arguments);
    arguments.choice("--connectivity", kNeighbours,
                     "How many neighbours a pixel has: 4 or 8, with --volume 6, 18 or 26. Default: 4, or 6.",
                     request.neighbours);
    arguments.flag("--fill-holes",
                   "First add to the set what it encloses: the pixels outside it that no path of pixels outside it "
                   "joins to the border of the image.",
                   request.fill_holes);
    arguments.flag("--clear-border", "Leave out components that touch the border of the image.",
                   request.clear_border);
    arguments.integer("--min-area", "A", "Leave out components of fewer than A pixels. Default: none.", 1,
                      request.min_area);
    arguments.integer("--max-area", "A", "Leave out components of more than A pixels. Default: none.", 1,
                      request.max_area);
    arguments.integer("--largest", "K",
                      "Leave out all but the K largest components, of every page for itself; of equal ones those with "
                      "the lower numbers stay. Default: none.",
                      1, request.largest);
    arguments.text("--stats", "FILE.csv|.json",
                   "Also write a table of the components: label, index of the first pixel, area, box, mean x, y and z.",
                   request.table);
    arguments.choice("--type", kTypes,
                     "Type of the output: i32 or i64, numbers; u8, the set that is left: 255 in it, 0 outside. Default: "
                     "i32, or i64 where there might be more components than fit.",
                     request.type);
    arguments.choice("--method", kMethods,
                     "tile-fill: the published method of filling tiles and merging them; labels only, no volumes and "
                     "nothing left out. Default: auto.",
                     request.method);
    request.writing.add_to(arguments);
    arguments.text("--picture", "FILE.png|.tif",
                   "Also draw the components, each in a colour of its own, on black. Of several pages the first, of a "
                   "volume the middle slice.",
                   request.picture);
    request.running.add_to(arguments);
    arguments.epilogue(
        "Examples:\n"
        "  apsis components page.tif letters.tif --sites black --connectivity 8 --stats letters.csv\n"
        "  apsis components cells.tif clean.tif --type u8 --fill-holes --min-area 20 --clear-border\n"
        "  apsis components scan.tif organ.tif --volume --connectivity 26 --largest 1\n\n" +
        exit_codes());
    return arguments;
}

void check_request(Request &request) {
    const bool volume = request.reading.volume;
    if (request.neighbours < 0) request.neighbours = volume ? 2 : 0;
    if (volume != (request.neighbours >= 2))
        usage("--connectivity is " + kNeighbours[static_cast<size_t>(request.neighbours)] + ", but must be " +
              (volume ? "6, 18 or 26 with --volume" : "4 or 8 without --volume"));
    if (request.largest.value_or(0) > INT32_MAX)
        usage("--largest is " + std::to_string(*request.largest) + ", but must be at most 2147483647");
    if (request.min_area && request.max_area && *request.min_area > *request.max_area)
        usage("--min-area is " + std::to_string(*request.min_area) + ", more than --max-area, " +
              std::to_string(*request.max_area));
    if (!request.table.empty()) check_table_name("--stats", request.table);
    if (!request.picture.empty()) check_picture_name("--picture", request.picture);
}

/// The outputs, in the order of the command line; those that were not asked for are empty.
struct Outputs {
    std::optional<OutputFile> labels, table, picture;

    explicit Outputs(const Request &request) {
        make_outputs({{request.output, labels}, {request.table, table}, {request.picture, picture}},
                     request.writing.overwrite);
    }

    void commit() {
        for (auto *file : {&labels, &table, &picture})
            if (*file) (*file)->commit();
    }
};

struct Seconds {
    double prepare = 0, read = 0, transform = 0, write = 0, picture = 0, total = 0;
};

/// What came of it.
struct Outcome {
    Shape shape;
    std::int64_t pages, sites, components;
    int type;
    std::string device, why;
    int device_number;
    Seconds seconds;
};

apsis_options options_of(const Request &request, const BinaryImage &image) {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (image.complement) options.flags |= APSIS_COMPLEMENT;
    if (image.pages > 1 && !request.reading.volume) options.flags |= APSIS_SLICES;
    if (request.clear_border) options.flags |= APSIS_NO_BORDER;
    options.connectivity = kAxesOf[request.neighbours];
    options.method = kMethodOf[request.method];
    options.largest = static_cast<std::int32_t>(request.largest.value_or(0));
    options.min_area = request.min_area.value_or(0);
    options.max_area = request.max_area.value_or(0);
    return options;
}

/// Replaces the set by one without holes.  What is not connected as the set is, is outside: with 4 or 6 neighbours in the
/// set there are 8 or 26 outside, and the other way round.
void fill_holes(const Request &request, const Device &device, BinaryImage &image) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_NO_INNER;
    if (!image.complement) options.flags |= APSIS_COMPLEMENT;
    if (image.pages > 1 && !request.reading.volume) options.flags |= APSIS_SLICES;
    const int all = request.reading.volume ? 3 : 2;
    options.connectivity = kAxesOf[request.neighbours] == 1 ? all : 1;
    Raster filled(image.marks.type(), image.marks.shape(), "a set without holes");
    device.check(apsis_components(device.context(), image.marks.image(), filled.image(), nullptr, 0, nullptr, &options));
    image.marks = std::move(filled);
}

/// The library's set, in which the zero pixels may be meant, as a mask.
void make_mask(const Raster &set, bool complement) {
    const Shape &shape = set.shape();
    for (std::int64_t z = 0; z < shape.depth; ++z)
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::uint8_t *at = set.row(y, z), *end = at + shape.width; at < end; ++at)
                *at = (*at != 0) != complement ? kInSet : 0;
}

/// From the input to the outputs, which have their names at the end.
Outcome compute(const Request &request, Outputs &outputs, Progress &progress) {
    Outcome outcome = {};
    Seconds &seconds = outcome.seconds;
    Stopwatch total, watch;
    const Device device(request.running, progress);
    outcome.device = device.name();
    outcome.why = device.why();
    outcome.device_number = device.number();
    seconds.prepare = watch.lap();

    BinaryImage image = read_set(request.input, request.reading, progress);
    const Shape shape = outcome.shape = image.marks.shape();
    outcome.pages = image.pages;
    outcome.sites = image.sites;
    outcome.type = request.type >= 0 ? request.type : shape.pixels() > INT32_MAX ? 1 : 0;
    seconds.read = watch.lap();

    progress.phase("computing");
    if (request.fill_holes) fill_holes(request, device, image);
    const Raster labels(kTypeOf[outcome.type], shape, "labels");
    const apsis_options options = options_of(request, image);
    std::vector<apsis_component> components;
    const auto run = [&](const apsis_image *to) {
        device.check(apsis_components(device.context(), image.marks.image(), to, components.data(),
                                      static_cast<std::int64_t>(components.size()), &outcome.components, &options));
    };
    if (outputs.table) {  // how many there are is known only afterwards
        run(nullptr);
        components.resize(static_cast<size_t>(outcome.components));
    }
    run(labels.image());
    if (labels.type() == APSIS_U8) make_mask(labels, image.complement);
    image.marks = Raster();  // not needed any more
    seconds.transform = watch.lap();

    write_raster(labels, *outputs.labels, request.writing, image.tags, progress);
    if (outputs.table) write_table(components, *outputs.table);
    seconds.write = watch.lap();

    if (outputs.picture)
        write_picture(picture_of_labels(labels, request.reading.volume ? shape.depth / 2 : 0), *outputs.picture,
                      image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    seconds.picture = watch.lap();
    seconds.total = total.lap();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Shape &shape = outcome.shape;
    Json json;
    const auto number_or_null = [&json](const char *key, const std::optional<std::int64_t> &number) {
        json.key(key);
        number ? json.value(*number) : json.null();
    };
    const auto name_or_null = [&json](const char *key, const std::string &name) {
        json.key(key);
        name.empty() ? json.null() : json.value(name);
    };
    json.object().member("command", "components").member("input", request.input);
    json.member("width", shape.width).member("height", shape.height).member("pages", outcome.pages);
    json.member("volume", request.reading.volume).member("pixels", shape.pixels()).member("sites", outcome.sites);
    json.member("sites_are", kSites[static_cast<size_t>(request.reading.sites)]);
    number_or_null("threshold", request.reading.threshold);
    json.member("connectivity", std::stoi(kNeighbours[static_cast<size_t>(request.neighbours)]));
    json.member("method", kMethods[static_cast<size_t>(request.method)]);
    json.member("fill_holes", request.fill_holes).member("clear_border", request.clear_border);
    number_or_null("min_area", request.min_area);
    number_or_null("max_area", request.max_area);
    number_or_null("largest", request.largest);
    json.member("type", kTypes[static_cast<size_t>(outcome.type)]).member("components", outcome.components);
    json.key("device").object().key("number");
    outcome.device_number == APSIS_CPU ? json.null() : json.value(outcome.device_number);
    json.member("name", outcome.device).member("why", outcome.why).end_object();
    json.member("threads", request.running.threads.value_or(0));
    const Seconds &seconds = outcome.seconds;
    json.key("seconds").object().member("prepare", seconds.prepare).member("read", seconds.read);
    json.member("transform", seconds.transform).member("write", seconds.write).member("picture", seconds.picture);
    json.member("total", seconds.total).end_object().key("outputs").object();
    name_or_null("components", request.output);
    name_or_null("stats", request.table);
    name_or_null("picture", request.picture);
    json.end_object().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_summary(const Request &request, const Outcome &outcome) {
    print_set(request.input, request.reading.volume, outcome.shape, outcome.pages, outcome.sites);
    std::printf("%s: %lld component%s; %s, %.3g s\n", request.output.c_str(),
                static_cast<long long>(outcome.components), outcome.components == 1 ? "" : "s",
                outcome.device.c_str(), outcome.seconds.total);
}

}  // namespace

int run_components(const Words &words) {
    Request request;
    Arguments arguments = arguments_of(request);
    if (!arguments.parse(words)) {
        std::fputs(arguments.help().c_str(), stdout);
        return kSuccess;
    }
    check_request(request);
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
