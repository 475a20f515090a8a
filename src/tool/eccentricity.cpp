// apsis eccentricity: how far every pixel of the set is from the farthest one of its component, along paths inside it.
#include <cstdio>
#include <optional>
#include <string_view>

#include "file.h"
#include "paths.h"
#include "picture.h"
#include "results.h"
#include "table.h"
#include "verb.h"

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

void check_request(Request &request) {
    request.paths.check(request.reading.volume);
    if (request.method && request.budget) usage("--budget is for --method auto, but --method is every-source");
    if (!request.table.empty()) check_table_name("--components", request.table);
    if (!request.picture.empty()) check_picture_name("--picture", request.picture);
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

/// What came of it.
struct Outcome {
    Account account;
    std::int64_t components;
    Statistics statistics;
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

/// Of the library's lines those that tell how far it is: "eccentricity: 12 fields, 3456 pixels left".
void note_fields(void *progress, const char *line) {
    const std::string_view kName = "eccentricity: ", kLeft = " pixels left", text = line;
    if (text.size() > kName.size() + kLeft.size() && text.substr(text.size() - kLeft.size()) == kLeft)
        static_cast<Progress *>(progress)->note(line + kName.size());
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

    const Raster eccentricity(request.paths.pixel_type(), shape, "lengths");
    Raster farthest;
    if (outputs.farthest)
        farthest = Raster(shape.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32, shape, "farthest pixels");
    apsis_options options = request.paths.options(image, request.reading.volume);
    options.budget = request.budget.value_or(0);
    options.method = kMethodOf[request.method];
    progress.phase("computing");
    device.check(apsis_set_log(device.context(), note_fields, &progress));
    std::vector<apsis_extent> extents;
    if (outputs.table) extents.resize(static_cast<size_t>(count_components(device, image, options)));
    device.check(apsis_eccentricity(device.context(), image.marks.image(), eccentricity.image(), farthest.image(),
                                    extents.data(), static_cast<std::int64_t>(extents.size()), &outcome.components,
                                    &options));
    image.marks = Raster();  // not needed any more
    outcome.statistics = measure_lengths(eccentricity);
    account.end_of("transform");

    write_raster(eccentricity, *outputs.eccentricity, request.writing, image.tags, progress);
    if (outputs.farthest) write_raster(farthest, *outputs.farthest, request.writing, image.tags, progress);
    if (outputs.table) write_table(extents, *outputs.table);
    account.end_of("write");

    if (outputs.picture)
        write_picture(picture_of_lengths(eccentricity, outcome.statistics, request.reading.volume ? shape.depth / 2 : 0),
                      *outputs.picture, image.tags, progress);
    progress.update(1);  // the last moment to stop
    outputs.commit();
    account.end_of("picture");
    account.end();
    return outcome;
}

void print_json(const Request &request, const Outcome &outcome) {
    const Account &account = outcome.account;
    Json json;
    json.object().member("command", "eccentricity").member("input", request.input);
    account.print_image(json, request.reading.volume);
    request.paths.print(json, request.reading.volume);
    json.member("method", kMethods[static_cast<size_t>(request.method)]);
    json.member_or_null("budget", request.budget);
    json.member("components", outcome.components);
    account.print_device(json, request.running);
    print_statistics(json, "eccentricity", outcome.statistics);
    account.print_seconds(json);
    json.key("outputs").object();
    json.file("eccentricity", request.output);
    json.file("farthest", request.farthest);
    json.file("components", request.table);
    json.file("picture", request.picture);
    json.end_object().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_summary(const Request &request, const Outcome &outcome) {
    outcome.account.print_set(request.input, request.reading.volume);
    std::printf("%s: %lld component%s, %s; %s, %.3g s\n", request.output.c_str(),
                static_cast<long long>(outcome.components), outcome.components == 1 ? "" : "s",
                sentence_of("eccentricity", outcome.statistics).c_str(), outcome.account.device().c_str(), outcome.account.total());
}

}  // namespace

int run_eccentricity(const Words &words) {
    return run_verb(words, arguments_of, check_request, compute, print_json, print_summary);
}

}  // namespace tool
