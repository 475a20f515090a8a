// The apsis-mpi command: maps an image of which every rank of MPI has some rows, which it reads from the file by itself, and
// writes its part of the map.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "apsis_mpi.h"
#include "tool/device.h"
#include "tool/geometry.h"
#include "tool/mpi/shared_tiff.h"
#include "tool/mpi/together.h"
#include "tool/results.h"
#include "tool/set.h"
#include "tool/verbs/metrics.h"

namespace {

using namespace tool;

constexpr const char *kIndexTypes[] = {"i32", "i64"};
constexpr apsis_type kIndexTypeOf[] = {APSIS_I32, APSIS_I64};

constexpr std::string_view kHelp =
    "usage: mpirun -n N apsis-mpi distance|voronoi|components IN.tif OUT.tif [OPTION ...]\n\n"
    "What the apsis command does for an image in one memory, for one that is spread over N processes.\n"
    "'apsis-mpi VERB --help' tells of a verb, 'apsis VERB --help' what it computes.\n";

enum class Verb { kDistance, kVoronoi, kComponents };

struct Request {
    Verb verb;
    std::string input, output;
    InputSettings reading;
    apsis_metric metric = APSIS_EUCLIDEAN;
    Spacing spacing;
    Connectivity connectivity;
    std::optional<double> max_distance;
    bool is_signed = false, has_border = false, overwrite = false, on_cpu = false, quiet = false;
    std::optional<std::int64_t> threads;
    int type = -1;  // a place among the words of --type
};

/// What a verb does with a label image.
std::string of_labels(Verb verb) {
    switch (verb) {
        case Verb::kDistance: return "a pixel of a label has its distance to the nearest pixel of another value.";
        case Verb::kVoronoi: return "the map has the label of the nearest pixel in place of its index, and 0 in place of -1.";
        default: return "neighbours are connected where their values are equal, and not 0.";
    }
}

Arguments arguments_of(Request &request, const std::string &verb) {
    Arguments arguments(verb,
                        "Reads a slab of the image on every rank of MPI, and writes the pixels of 'apsis " + verb +
                            "' as one uncompressed BigTIFF.",
                        "mpirun -n N apsis-mpi");
    arguments.positional("IN.tif", "The image. Each rank reads the tiles or strips of its rows, of a volume its planes.",
                         request.input);
    add_raster(arguments, "OUT.tif", "The map. Until it is complete it is OUT.tif.part.", request.output);
    request.reading.add_to(arguments);
    arguments.flag("--labels",
                   "IN.tif is a label image, of whole numbers of up to 64 bits: " + of_labels(request.verb) +
                       " Default: the pixels that --sites picks are one set.",
                   request.reading.labels);
    if (request.verb == Verb::kComponents) {
        request.connectivity.add_to(arguments, "Default: 4, or 6.");
    } else {
        add_metric(arguments, std::size(kMetrics) - 1, "How length is measured.", request.metric);
        request.spacing.add_to(arguments, "Chessboard takes the same for every axis.");
        arguments.number("--max-distance", "D", "Look no farther than D: beyond it, there is none. Default: no limit.",
                         request.max_distance);
    }
    if (request.verb == Verb::kDistance) {
        arguments.flag("--signed", "Inside the set, minus the distance to the nearest pixel outside. Default: 0 there.",
                       request.is_signed);
        arguments.flag("--border", "What lies outside the image counts as pixels of 0.", request.has_border);
        arguments.choice("--type", kDistanceTypeWords,
                         "Type of the distances. Default: f32. i32 and i64 hold squares of Euclidean ones.", request.type);
    } else {
        arguments.choice("--type", kIndexTypes,
                         "Type of the output. Default: i32, or i64 beyond 2^31 pixels, or for labels of 64 bits.",
                         request.type);
    }
    arguments.flag("--overwrite", "Replace OUT.tif if it exists. Default: refuse.", request.overwrite);
    arguments.flag("--cpu", "Compute on the CPU. Default: each rank on a CUDA device of its machine, if there are any.",
                   request.on_cpu);
    arguments.integer("--threads", "N",
                      "Use at most N threads on the CPU. Default: the cores of a machine, shared by its ranks.", 1,
                      request.threads);
    arguments.flag("--quiet", "Print no summary.", request.quiet, 'q');
    arguments.epilogue(exit_codes());
    return arguments;
}

apsis_options options_of(const Request &request, bool is_complement) {
    apsis_options options = APSIS_OPTIONS_INIT;
    if (is_complement) options.flags |= APSIS_COMPLEMENT;
    if (request.reading.labels) options.flags |= APSIS_LABELS;
    if (request.is_signed) options.flags |= APSIS_SIGNED;
    if (request.has_border) options.flags |= APSIS_BORDER;
    if (request.max_distance) options.max_distance = *request.max_distance;
    if (request.verb == Verb::kComponents) options.connectivity = request.connectivity.axes();
    options.metric = request.metric;
    request.spacing.fill_in(options);
    return options;
}

apsis_type type_of(const Request &request, const Shape &shape, apsis_type set) {
    if (request.type >= 0) return request.verb == Verb::kDistance ? kDistanceTypes[request.type] : kIndexTypeOf[request.type];
    if (request.verb == Verb::kDistance) return APSIS_F32;
    const bool has_wide_labels = request.verb == Verb::kVoronoi && set == APSIS_I64;
    return has_wide_labels || shape.pixels() > INT32_MAX ? APSIS_I64 : APSIS_I32;
}

/// A device of the rank's machine, or its share of the cores.
RunSettings place_of(const Request &request, const Ranks &ranks) {
    RunSettings settings;
    const int devices = request.on_cpu ? 0 : apsis_device_count();
    settings.device = devices > 0 ? ranks.local % devices : static_cast<int>(APSIS_CPU);
    settings.threads = request.threads.value_or(
        std::max<std::int64_t>(std::thread::hardware_concurrency() / static_cast<unsigned>(ranks.local_count), 1));
    return settings;
}

/// The status is the same on all ranks, and so is the sentence.
void check(apsis_status status) {
    if (status != APSIS_OK) throw Failure{kStatus + status, apsis_mpi_message()};
}

/// Returns the number of components.
std::int64_t map_rows(const Request &request, apsis_context *context, const apsis_image *set, const apsis_image *map,
                      const apsis_options &options) {
    std::int64_t count = 0;
    switch (request.verb) {
        case Verb::kDistance: check(apsis_mpi_distance(context, MPI_COMM_WORLD, set, map, nullptr, &options)); break;
        case Verb::kVoronoi: check(apsis_mpi_voronoi(context, MPI_COMM_WORLD, set, map, &options)); break;
        case Verb::kComponents: check(apsis_mpi_components(context, MPI_COMM_WORLD, set, map, nullptr, 0, &count, &options));
    }
    return count;
}

void run(Request &request, const Ranks &ranks) {
    std::unique_ptr<SetFile> file;
    std::unique_ptr<Device> device;
    Progress silent(ProgressMode::kNever, true);
    Raster set, map;
    std::int64_t start = 0, rows = 0;
    Stopwatch watch;
    const RunSettings place = place_of(request, ranks);
    together(ranks, [&] {
        file = std::make_unique<SetFile>(request.input, request.reading, *place.threads);
        if (file->pages() > 1 && !request.reading.volume)
            fail(quoted(request.input) + " has " + std::to_string(file->pages()) +
                 " pages, but must have one, or be a volume: --volume");
        device = std::make_unique<Device>(place, silent);
    });
    const Shape &shape = file->shape();
    const apsis_type type = type_of(request, shape, file->type());
    SharedTiff output(ranks, request.output, request.overwrite, type, shape);
    check(apsis_mpi_extent(MPI_COMM_WORLD, shape.extent(), &start, &rows));
    together(ranks, [&] {
        if (rows == 0) return;
        set = file->read_part(silent, start, rows).marks;
        map = Raster(type, shape.cut_to(rows), "a map");
    });
    // A rank without rows has images without pixels.
    apsis_image none = {};
    none.type = file->type();
    none.ndim = shape.dimensions;
    none.size[0] = shape.width, none.size[1] = shape.dimensions == 3 ? shape.height : 0;
    apsis_image none_mapped = none;
    none_mapped.type = type;
    const std::int64_t count = map_rows(request, device->context(), set ? set.image() : &none, map ? map.image() : &none_mapped,
                                        options_of(request, file->complement()));
    output.write(map, start);
    output.finish();
    if (ranks.rank > 0 || request.quiet) return;
    const std::string components = request.verb == Verb::kComponents ? "; " + std::to_string(count) + " components" : "";
    print_out("%s: %s%s; %d ranks, rank 0 on %s, %.3g s\n", shown(request.output).c_str(), shape.words().c_str(),
              components.c_str(), ranks.count, device->name().c_str(), watch.lap());
}

/// Every rank has the same words, and comes to the same end.
int run(std::vector<std::string> words, const Ranks &ranks) {
    constexpr std::string_view kVerbs[] = {"distance", "voronoi", "components"};
    if (words.empty()) usage("a verb is missing");
    const std::string first = words[0];
    words.erase(words.begin());
    if (first == "--help" || first == "-h") {
        if (ranks.rank == 0) print_out("%s", kHelp.data());
        return kSuccess;
    }
    const auto verb = std::find(std::begin(kVerbs), std::end(kVerbs), first);
    if (verb == std::end(kVerbs)) usage("unknown verb " + quoted(first));
    Request request;
    request.verb = static_cast<Verb>(verb - std::begin(kVerbs));
    Arguments arguments = arguments_of(request, first);
    if (!arguments.parse(words)) {
        if (ranks.rank == 0) print_out("%s", arguments.help().c_str());
        return kSuccess;
    }
    request.reading.check();
    request.spacing.check(request.reading.volume);
    if (request.verb == Verb::kComponents) request.connectivity.check(request.reading.volume, false);
    run(request, ranks);
    return kSuccess;
}

}  // namespace

int main(int count, char **words) {
    int level = 0, code = kSuccess;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &level);
    const Ranks ranks = ask_ranks();
    try {
        code = run({words + std::min(count, 1), words + count}, ranks);
        flush_out();
    } catch (const Failure &failure) {
        code = failure.code;
        if (ranks.rank == 0)
            std::fprintf(stderr, "apsis-mpi: %s%s\n", failure.sentence.c_str(), code == kUsage ? "; see apsis-mpi --help" : "");
    }
    MPI_Finalize();
    return code;
}
