// apsis eccentricity: how far every pixel of the set is from the farthest one of its component, along paths inside it.
#include <cstdio>
#include <optional>

#include "arguments.h"
#include "device.h"
#include "failure.h"
#include "file.h"
#include "json.h"
#include "paths.h"
#include "picture.h"
#include "progress.h"
#include "results.h"
#include "set.h"
#include "settings.h"
#include "table.h"
#include "verbs.h"

namespace tool {
namespace {

const std::vector<std::string> kMethods = {"auto", "every-source"};
constexpr apsis_method kMethodOf[] = {APSIS_AUTO, APSIS_EVERY_SOURCE};

/// What the user asked for.
struct Request {
    std::string input, output, farthest, table, picture;
    InputSettings reading;
    PathSettings paths;
    OutputSettings writing;
    RunSettings running;
    std::optional<std::int64_t> budget;
    int method = 0;  // a place in kMethods
};

Arguments arguments_of(Request &request) {
    Arguments arguments("eccentricity",
                        "Writes for every pixel of a set the length of the shortest path inside the set to the farthest "
                        "pixel of its component, and -1 outside the set.");
    arguments.positional("IN.tif", "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits.",
                         request.input);
    arguments.positional("OUT.tif", "The lengths: TIFF with a page for every page of IN.tif.", request.output);
    request.reading.add_to(arguments);
    arguments.text("--farthest", "OUT2.tif",
                   "Also write which pixel is farthest: its index x + width * (y + height * page), the lowest of "
                   "several, or -1 outside the set; i32, or i64 beyond 2^31 pixels.",
                   request.farthest);
    arguments.text("--components", "FILE.csv|.json",
                   "Also write a table of the components: label, index of the first pixel, diameter, the indices of its "
                   "two ends, radius, the index of the centre.",
                   request.table);
    request.paths.add_to(arguments);
    arguments.integer("--budget", "N",
                      "Make at most N distance fields for a component. If that is not enough to prove every pixel, "
                      "nothing is written, and the exit code is 20. Default: no limit.",
                      1, request.budget);
    arguments.choice("--method", kMethods,
                     "every-source: the published method, a distance field from every pixel. Default: auto.",
                     request.method);
    request.writing.add_to(arguments);
    arguments.text("--picture", "FILE.png|.tif",
                   "Also draw the lengths, dark at the centre and light far from it, black outside the set. Of several "
                   "pages the first, of a volume the middle slice.",
                   request.picture);
    request.running.add_to(arguments);
    arguments.epilogue(
        "Examples:\n"
        "  apsis eccentricity leaf.tif e.tif --components leaf.csv --picture e.png\n"
        "  apsis eccentricity pores.tif e.tif --volume --connectivity 26 --farthest ends.tif\n\n" +
        exit_codes());
    return arguments;
}

/// The outputs, in the order of the command line; those that were not asked for are empty.
struct Outputs {
    std::optional<OutputFile> eccentricity, farthest, table, picture;

    explicit Outputs(const Request &request) {
        make_outputs({{request.output, eccentricity},
                      {request.farthest, farthest},
                      {request.table, table},
                      {request.picture, picture}},
                     request.writing.overwrite);
    }

    void commit() {
        for (auto *file : {&eccentricity, &farthest, &table, &picture})
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
    Statistics statistics;
    std::string device, why;
    int device_number;
    Seconds seconds;
};

/// How many components there are, which is to be known before there is room for what is known of them.
std::int64_t count_components(const Device &device, const BinaryImage &image, const apsis_options &paths) {
    apsis_options options = APSIS_OPTIONS_INIT;
    std::int64_t count = 0;
    options.flags = paths.flags;
    options.connectivity = paths.connectivity;
    device.check(apsis_components(device.context(), image.marks.image(), nullptr, nullptr, 0, &count, &options));
    return count;
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
    seconds.read = watch.lap();

    const Raster eccentricity(request.paths.pixel_type(), shape, "lengths");
    Raster farthest;
    if (outputs.farthest)
        farthest = Raster(shape.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32, shape, "farthest pixels");
    apsis_options options = request.paths.options(image, request.reading.volume);
    options.budget = request.budget.value_or(0);
    options.method = kMethodOf[request.method];
    progress.phase("computing");
    std::vector<apsis_extent> extents;
    if (outputs.table) extents.resize(static_cast<size_t>(count_components(device, image, options)));
    device.check(apsis_eccentricity(device.context(), image.marks.image(), eccentricity.image(), farthest.image(),
                                    extents.data(), static_cast<std::int64_t>(extents.size()), &outcome.components,
                                    &options));
    image.marks = Raster();  // not needed any more
    outcome.statistics = measure_lengths(eccentricity);
    seconds.transform = watch.lap();

    write_raster(eccentricity, *outputs.eccentricity, request.writing, image.tags, progress);
    if (outputs.farthest) write_raster(farthest, *outputs.farthest, request.writing, image.tags, progress);
    if (outputs.table) write_table(extents, *outputs.table);
    seconds.write = watch.lap();

    if (outputs.picture)
        write_picture(picture_of_lengths(eccentricity, outcome.statistics, request.reading.volume ? shape.depth / 2 : 0),
                      *outputs.picture, image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    seconds.picture = watch.lap();
    seconds.total = total.lap();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Shape &shape = outcome.shape;
    Json json;
    const auto name_or_null = [&json](const char *key, const std::string &name) {
        json.key(key);
        name.empty() ? json.null() : json.value(name);
    };
    json.object().member("command", "eccentricity").member("input", request.input);
    json.member("width", shape.width).member("height", shape.height).member("pages", outcome.pages);
    json.member("volume", request.reading.volume).member("pixels", shape.pixels()).member("sites", outcome.sites);
    request.paths.print(json, request.reading.volume);
    json.member("method", kMethods[static_cast<size_t>(request.method)]).key("budget");
    request.budget ? json.value(*request.budget) : json.null();
    json.member("components", outcome.components);
    json.key("device").object().key("number");
    outcome.device_number == APSIS_CPU ? json.null() : json.value(outcome.device_number);
    json.member("name", outcome.device).member("why", outcome.why).end_object();
    json.member("threads", request.running.threads.value_or(0));
    print_lengths(json, "eccentricity", outcome.statistics);
    const Seconds &seconds = outcome.seconds;
    json.key("seconds").object().member("prepare", seconds.prepare).member("read", seconds.read);
    json.member("transform", seconds.transform).member("write", seconds.write).member("picture", seconds.picture);
    json.member("total", seconds.total).end_object().key("outputs").object();
    name_or_null("eccentricity", request.output);
    name_or_null("farthest", request.farthest);
    name_or_null("components", request.table);
    name_or_null("picture", request.picture);
    json.end_object().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_summary(const Request &request, const Outcome &outcome) {
    print_set(request.input, request.reading.volume, outcome.shape, outcome.pages, outcome.sites);
    std::printf("%s: %lld component%s, %s; %s, %.3g s\n", request.output.c_str(),
                static_cast<long long>(outcome.components), outcome.components == 1 ? "" : "s",
                sentence_of("eccentricity", outcome.statistics).c_str(), outcome.device.c_str(), outcome.seconds.total);
}

}  // namespace

int run_eccentricity(const Words &words) {
    Request request;
    Arguments arguments = arguments_of(request);
    if (!arguments.parse(words)) {
        std::fputs(arguments.help().c_str(), stdout);
        return kSuccess;
    }
    request.paths.check(request.reading.volume);
    if (request.method && request.budget) usage("--budget is for --method auto, but --method is every-source");
    if (!request.table.empty()) check_table_name("--components", request.table);
    if (!request.picture.empty()) check_picture_name("--picture", request.picture);
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
