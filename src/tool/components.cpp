// apsis components: which connected piece each pixel of the set belongs to, and what is known of the pieces.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "file.h"
#include "picture.h"
#include "results.h"
#include "table.h"
#include "verb.h"

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

/// What came of it.
struct Outcome {
    Account account;
    std::int64_t components;
    int type;
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
    Account &account = outcome.account;
    const Device device(request.running, progress);
    account.prepared(device);

    BinaryImage image = read_set(request.input, request.reading, progress);
    account.read(image);
    const Shape shape = account.shape();
    outcome.type = request.type >= 0 ? request.type : shape.pixels() > INT32_MAX ? 1 : 0;

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
    account.end_of("transform");

    write_raster(labels, *outputs.labels, request.writing, image.tags, progress);
    if (outputs.table) write_table(components, *outputs.table);
    account.end_of("write");

    if (outputs.picture)
        write_picture(picture_of_labels(labels, request.reading.volume ? shape.depth / 2 : 0), *outputs.picture,
                      image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    account.end_of("picture");
    account.end();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Account &account = outcome.account;
    Json json;
    json.object().member("command", "components").member("input", request.input);
    account.print_image(json, request.reading.volume);
    json.member("sites_are", kSites[static_cast<size_t>(request.reading.sites)]);
    json.member_or_null("threshold", request.reading.threshold);
    json.member("connectivity", std::stoi(kNeighbours[static_cast<size_t>(request.neighbours)]));
    json.member("method", kMethods[static_cast<size_t>(request.method)]);
    json.member("fill_holes", request.fill_holes).member("clear_border", request.clear_border);
    json.member_or_null("min_area", request.min_area);
    json.member_or_null("max_area", request.max_area);
    json.member_or_null("largest", request.largest);
    json.member("type", kTypes[static_cast<size_t>(outcome.type)]).member("components", outcome.components);
    account.print_device(json, request.running);
    account.print_seconds(json);
    json.key("outputs").object();
    json.file("components", request.output);
    json.file("stats", request.table);
    json.file("picture", request.picture);
    json.end_object().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_summary(const Request &request, const Outcome &outcome) {
    outcome.account.print_set(request.input, request.reading.volume);
    std::printf("%s: %lld component%s; %s, %.3g s\n", request.output.c_str(),
                static_cast<long long>(outcome.components), outcome.components == 1 ? "" : "s",
                outcome.account.device().c_str(), outcome.account.total());
}

}  // namespace

int run_components(const Words &words) {
    return run_verb(words, arguments_of, check_request, compute, print_json, print_summary);
}

}  // namespace tool
