// apsis distance: how far every pixel is from the set, and which of its pixels is nearest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "file.h"
#include "picture.h"
#include "results.h"
#include "verb.h"

namespace tool {
namespace {

const std::vector<std::string> kMetrics = {"euclidean", "city-block", "chessboard"};
const std::vector<std::string> kTypes = {"f32", "f64", "i32", "i64"};
const std::vector<std::string> kSites = {"nonzero", "zero", "black", "white"};
constexpr apsis_type kTypeOf[] = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64};

/// What the user asked for.
struct Request {
    std::string input, output, nearest, picture, nearest_picture;
    InputSettings reading;
    OutputSettings writing;
    RunSettings running;
    apsis_metric metric = APSIS_EUCLIDEAN;
    std::vector<double> spacing;
    std::optional<double> max_distance;
    bool is_signed = false, squared = false;
    int type = -1;  // a place in kTypes

    bool whole() const { return type >= 2; }
};

Arguments arguments_of(Request &request) {
    Arguments arguments(
        "distance",
        "Writes the exact distance from every pixel to the nearest pixel of a set, 0 on the set, "
        "and infinity (or the largest integer) where there is none.");
    arguments.positional(
        "IN.tif",
        "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits. Reduced "
        "copies and transparency masks inside the file are passed over.",
        request.input);
    arguments.positional("OUT.tif", "The distances: TIFF with a page for every page of IN.tif.",
                         request.output);
    request.reading.add_to(arguments);
    arguments.text(
        "--nearest", "OUT2.tif",
        "Also write which pixel of the set is nearest: its index x + width * (y + height * page), the "
        "lowest of several, or -1 if there is none; i32, or i64 beyond 2^31 pixels.",
        request.nearest);
    arguments.choice("--metric", kMetrics, "How length is measured. Default: euclidean.", request.metric);
    arguments.numbers(
        "--spacing", "x,y[,z]",
        "Size of a pixel along each axis, in your unit; one number is for every axis. Default: 1. "
        "Chessboard takes the same for every axis, integer types only 1.",
        request.spacing);
    arguments.flag("--signed",
                   "Inside the set, minus the distance to the nearest pixel outside. Default: 0 there.",
                   request.is_signed);
    arguments.number("--max-distance", "D",
                     "Look no farther than D: beyond it, there is none. Default: no limit.",
                     request.max_distance);
    arguments.flag("--squared",
                   "Write squared Euclidean distances, which are whole numbers: --type i32, or i64.",
                   request.squared);
    arguments.choice(
        "--type", kTypes,
        "Type of the distances. Default: f32. i32 and i64 are for --squared and for the city-block "
        "and chessboard metrics.",
        request.type);
    request.writing.add_to(arguments);
    arguments.text(
        "--picture", "FILE.png|.tif",
        "Also draw the distances, dark near the set and light far from it, the set white; signed ones "
        "red outside and blue inside, each up to its own extreme; grey where there is none. Of several pages "
        "the first, of a "
        "volume the middle slice.",
        request.picture);
    arguments.text("--picture-nearest", "FILE.png|.tif",
                   "Also draw the nearest pixels, each in a colour of its own, the set black.",
                   request.nearest_picture);
    request.running.add_to(arguments);
    arguments.epilogue(
        "Examples:\n"
        "  apsis distance page.tif far.tif --sites black --picture far.png\n"
        "  apsis distance scan.tif d.tif --volume --spacing 0.4,0.4,1.5 --signed\n"
        "  apsis distance mask.tif d2.tif --squared --nearest which.tif --compress deflate\n\n" +
        exit_codes());
    return arguments;
}

void check_type(Request &request) {
    if (request.squared && request.metric != APSIS_EUCLIDEAN)
        usage("--squared is for --metric euclidean, but --metric is " + kMetrics[request.metric]);
    if (request.squared && request.type >= 0 && !request.whole())
        usage("--squared gives whole numbers, but --type is " + kTypes[request.type] + ": use i32 or i64");
    if (!request.squared && request.metric == APSIS_EUCLIDEAN && request.whole())
        usage("--type " + kTypes[request.type] +
              " cannot hold Euclidean distances; add --squared for their squares");
    if (request.type < 0) request.type = request.squared ? 2 : 0;
}

void check_spacing(Request &request) {
    std::vector<double> &spacing = request.spacing;
    if (spacing.empty()) return;
    const size_t axes = request.reading.volume ? 3 : 2;
    if (spacing.size() == 1) spacing.resize(axes, spacing[0]);
    if (spacing.size() != axes)
        usage("--spacing has " + std::to_string(spacing.size()) + " numbers, but must have " +
              std::to_string(axes) + (axes == 3 ? " with --volume" : " without --volume"));
    const auto all = [&spacing](double size) {
        return std::all_of(spacing.begin(), spacing.end(), [size](double one) { return one == size; });
    };
    if (request.whole() && !all(1))
        usage("--spacing must be 1 for --type " + kTypes[request.type] + "; f32 and f64 take any");
    if (request.metric != APSIS_EUCLIDEAN && !all(spacing[0]))
        usage("--spacing must be the same for every axis with --metric " + kMetrics[request.metric]);
    spacing.resize(3, spacing[0]);  // pages are apart: any size will do along z
}

void check_request(Request &request) {
    check_type(request);
    check_spacing(request);
    if (!request.picture.empty()) check_picture_name("--picture", request.picture);
    if (!request.nearest_picture.empty()) check_picture_name("--picture-nearest", request.nearest_picture);
}

/// The outputs, in the order of the command line; those that were not asked for are empty.
struct Outputs {
    std::optional<OutputFile> distance, nearest, picture, nearest_picture;

    explicit Outputs(const Request &request) {
        make_outputs({{request.output, distance},
                      {request.nearest, nearest},
                      {request.picture, picture},
                      {request.nearest_picture, nearest_picture}},
                     request.writing.overwrite);
    }

    void commit() {
        for (auto *file : {&distance, &nearest, &picture, &nearest_picture})
            if (*file) (*file)->commit();
    }
};

/// What came of it.
struct Outcome {
    Account account;
    Statistics statistics;
};

apsis_options options_of(const Request &request, const BinaryImage &image) {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (image.complement) options.flags |= APSIS_COMPLEMENT;
    if (request.is_signed) options.flags |= APSIS_SIGNED;
    if (image.pages > 1 && !request.reading.volume) options.flags |= APSIS_SLICES;
    std::copy(request.spacing.begin(), request.spacing.end(), options.spacing);
    options.max_distance = request.max_distance.value_or(0);
    options.metric = request.metric;
    return options;
}

void draw(const Request &request, Outputs &outputs, const Raster &distance, const Raster &nearest,
          const Statistics &statistics, const TiffTags &tags, Progress &progress) {
    const std::int64_t slice = request.reading.volume ? distance.shape().depth / 2 : 0;
    if (outputs.picture)
        write_picture(picture_of_distance(distance, statistics, request.squared, slice), *outputs.picture,
                      tags, progress);
    if (outputs.nearest_picture)
        write_picture(picture_of_indices(nearest, slice), *outputs.nearest_picture, tags, progress);
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

    const Raster distance(kTypeOf[request.type], shape, "distances");
    Raster nearest;
    if (outputs.nearest || outputs.nearest_picture)
        nearest = Raster(shape.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32, shape, "nearest pixels");
    const apsis_options options = options_of(request, image);
    progress.phase("computing");
    device.check(
        apsis_distance(device.context(), image.marks.image(), distance.image(), nearest.image(), &options));
    image.marks = Raster();  // not needed any more
    account.end_of("transform");

    outcome.statistics = measure(distance);
    account.end_of("measure");

    write_raster(distance, *outputs.distance, request.writing, image.tags, progress);
    if (outputs.nearest) write_raster(nearest, *outputs.nearest, request.writing, image.tags, progress);
    account.end_of("write");

    draw(request, outputs, distance, nearest, outcome.statistics, image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    account.end_of("picture");
    account.end();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Account &account = outcome.account;
    Json json;
    json.object().member("command", "distance").member("input", request.input);
    account.print_image(json, request.reading.volume);
    json.member("sites_are", kSites[static_cast<size_t>(request.reading.sites)]);
    json.member_or_null("threshold", request.reading.threshold);
    json.key("spacing").array();
    for (int axis = 0; axis < (request.reading.volume ? 3 : 2); ++axis)
        json.value(request.spacing.empty() ? 1.0 : request.spacing[static_cast<size_t>(axis)]);
    json.end_array().member("metric", kMetrics[request.metric]).member("signed", request.is_signed);
    json.member("squared", request.squared).member("type", kTypes[static_cast<size_t>(request.type)]);
    json.member_or_null("max_distance", request.max_distance);
    account.print_device(json, request.running);
    print_statistics(json, "distance", outcome.statistics);
    account.print_seconds(json);
    json.key("outputs").object();
    json.file("distance", request.output);
    json.file("nearest", request.nearest);
    json.file("picture", request.picture);
    json.file("picture_nearest", request.nearest_picture);
    json.end_object().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_summary(const Request &request, const Outcome &outcome) {
    outcome.account.print_set(request.input, request.reading.volume);
    const Statistics &statistics = outcome.statistics;
    const std::string what = request.squared ? "squared distance" : "distance";
    std::printf("%s: ", request.output.c_str());
    if (statistics.finite > 0)
        std::printf("%s %.6g to %.6g, mean %.6g", what.c_str(), statistics.minimum, statistics.maximum,
                    statistics.mean);
    if (statistics.infinite > 0)
        std::printf("%s%lld pixels without one", statistics.finite > 0 ? ", " : "no distances: ",
                    static_cast<long long>(statistics.infinite));
    std::printf("; %s, %.3g s\n", outcome.account.device().c_str(), outcome.account.total());
}

}  // namespace

int run_distance(const Words &words) {
    return run_verb(words, arguments_of, check_request, compute, print_json, print_summary);
}

}  // namespace tool
