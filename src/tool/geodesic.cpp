// apsis geodesic: how far every pixel of the set is from some seeds, along paths inside it, and from which.
#include <cstdio>
#include <optional>

#include "file.h"
#include "paths.h"
#include "picture.h"
#include "results.h"
#include "verb.h"

namespace tool {
namespace {

/// What the user asked for.
struct Request {
    std::string input, seeds, output, nearest, picture, nearest_picture;
    InputSettings reading;
    PathSettings paths;
    OutputSettings writing;
    RunSettings running;
    std::optional<double> max_distance;
};

Arguments arguments_of(Request &request) {
    Arguments arguments("geodesic",
                        "Writes for every pixel of a set the length of the shortest path inside the set to the nearest "
                        "seed, infinity (or the largest integer) where no path leads, and -1 outside the set.");
    arguments.positional("IN.tif", "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits.",
                         request.input);
    arguments.positional("SEEDS.tif", "An image of the same size, whose non-zero samples are the seeds.", request.seeds);
    arguments.positional("OUT.tif", "The lengths: TIFF with a page for every page of IN.tif.", request.output);
    request.reading.add_to(arguments);
    arguments.text("--nearest", "OUT2.tif",
                   "Also write which seed is nearest: its index x + width * (y + height * page), the lowest of "
                   "several, or -1 if there is none; i32, or i64 beyond 2^31 pixels.",
                   request.nearest);
    request.paths.add_to(arguments);
    arguments.number("--max-distance", "D", "Look no farther than D: beyond it, there is no path. Default: no limit.",
                     request.max_distance);
    request.writing.add_to(arguments);
    arguments.text("--picture", "FILE.png|.tif",
                   "Also draw the lengths, dark near the seeds and light far from them, the seeds white, grey where no "
                   "path leads, black outside the set. Of several pages the first, of a volume the middle slice.",
                   request.picture);
    arguments.text("--picture-nearest", "FILE.png|.tif",
                   "Also draw the nearest seeds, each in a colour of its own, grey where there is none.",
                   request.nearest_picture);
    request.running.add_to(arguments);
    arguments.epilogue(
        "Examples:\n"
        "  apsis geodesic maze.tif door.tif steps.tif --sites white --picture steps.png\n"
        "  apsis geodesic pores.tif inlet.tif d.tif --volume --spacing 0.4,0.4,1.5 --nearest which.tif\n\n" +
        exit_codes());
    return arguments;
}

void check_request(Request &request) {
    request.paths.check(request.reading.volume);
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
    std::int64_t seeds;
    Statistics statistics;
};

/// The seeds, of the same size as the set.
BinaryImage read_seeds(const Request &request, const BinaryImage &image, Progress &progress) {
    InputSettings nonzero;
    nonzero.volume = request.reading.volume;
    BinaryImage seeds = read_set(request.seeds, nonzero, progress);
    const Shape &one = image.marks.shape(), &other = seeds.marks.shape();
    const auto size = [](const Shape &shape) {
        return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " pixels, " +
               std::to_string(shape.depth) + (shape.depth == 1 ? " page" : " pages");
    };
    if (size(one) != size(other))
        fail(quoted(request.seeds) + " has " + size(other) + ", but " + quoted(request.input) + " has " + size(one));
    return seeds;
}

/// From the inputs to the outputs, which have their names at the end.
Outcome compute(const Request &request, Outputs &outputs, Progress &progress) {
    Outcome outcome = {};
    Account &account = outcome.account;
    const Device device(request.running, progress);
    account.prepared(device);

    BinaryImage image = read_set(request.input, request.reading, progress);
    BinaryImage seeds = read_seeds(request, image, progress);
    account.read(image);
    const Shape shape = account.shape();
    outcome.seeds = seeds.sites;

    const Raster distance(request.paths.pixel_type(), shape, "lengths");
    Raster nearest;
    if (outputs.nearest || outputs.nearest_picture)
        nearest = Raster(shape.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32, shape, "nearest seeds");
    apsis_options options = request.paths.options(image, request.reading.volume);
    options.max_distance = request.max_distance.value_or(0);
    progress.phase("computing");
    device.check(apsis_geodesic(device.context(), image.marks.image(), seeds.marks.image(), distance.image(),
                                nearest.image(), &options));
    image.marks = Raster();  // not needed any more
    seeds.marks = Raster();
    outcome.statistics = measure_lengths(distance);
    account.end_of("transform");

    write_raster(distance, *outputs.distance, request.writing, image.tags, progress);
    if (outputs.nearest) write_raster(nearest, *outputs.nearest, request.writing, image.tags, progress);
    account.end_of("write");

    const std::int64_t slice = request.reading.volume ? shape.depth / 2 : 0;
    if (outputs.picture)
        write_picture(picture_of_lengths(distance, outcome.statistics, slice), *outputs.picture, image.tags, progress);
    if (outputs.nearest_picture)
        write_picture(picture_of_indices(nearest, slice), *outputs.nearest_picture, image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    account.end_of("picture");
    account.end();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Account &account = outcome.account;
    Json json;
    json.object().member("command", "geodesic").member("input", request.input).member("seeds", request.seeds);
    account.print_image(json, request.reading.volume);
    json.member("seed_pixels", outcome.seeds);
    request.paths.print(json, request.reading.volume);
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
    std::printf("%s: %s; %s, %.3g s\n", request.output.c_str(), sentence_of("length", outcome.statistics).c_str(),
                outcome.account.device().c_str(), outcome.account.total());
}

}  // namespace

int run_geodesic(const Words &words) {
    return run_verb(words, arguments_of, check_request, compute, print_json, print_summary);
}

}  // namespace tool
