// The apsis command: finds the verb, runs it, and turns a failure into a sentence and an exit code.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "apsis.h"
#include "tool/arguments.h"
#include "tool/failure.h"
#include "tool/io/file.h"
#include "tool/settings.h"
#include "tool/verbs/verbs.h"

namespace {

using namespace tool;

struct Verb {
    const char *name;
    const char *summary;
    int (*run)(const Words &words);
};

constexpr Verb kVerbs[] = {
    {"distance", "how far is each pixel from the set, and which of its pixels is nearest?", run_distance},
    {"voronoi", "in whose cell is each pixel, where every pixel of the set has one?", run_voronoi},
    {"components", "which connected piece does each pixel of the set belong to?", run_components},
    {"morphology", "what is the set, dilated, eroded, opened or closed by a ball?", run_morphology},
    {"thickness", "how large is the largest ball in the set that covers each pixel?", run_thickness},
    {"medial-axis", "which balls make up the set?", run_medial_axis},
    {"surface-distance", "how far are the surfaces of two sets apart?", run_surface_distance},
    {"geodesic", "how far is each pixel from some seeds, along paths inside the set?", run_geodesic},
    {"eccentricity", "how far is each pixel from the farthest one, along paths inside the set?", run_eccentricity},
    {"paths", "what is the longest of the shortest paths in each component?", run_paths},
    {"statistics", "what is known of each value of a label image?", run_statistics},
    {"measures", "of what shape is each value of a label image, and how bright?", run_measures},
    {"contacts", "which values of a label image touch, and how much?", run_contacts},
    {"info", "what does a TIFF file hold, and which colour is a non-zero sample?", run_info},
    {"devices", "where can apsis run on this machine?", run_devices},
};

std::string version() {
    const int number = apsis_version();
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
}

void print_help() {
    print_out(
        "usage: apsis VERB ...\n\nExact transforms of binary images and label images, on the CPU or on an NVIDIA GPU.\n\n");
    for (const Verb &verb : kVerbs) print_out("  %-16s  %s\n", verb.name, verb.summary);
    print_out("  %-16s  %s\n\n", "help", "what does a verb take? the same as 'apsis VERB --help'");
    print_out("  -h, --help  Show this help.\n  --version   Show the version of apsis.\n\n%s", exit_codes().c_str());
}

const Verb &find(const std::string &name) {
    for (const Verb &verb : kVerbs)
        if (name == verb.name) return verb;
    if (!name.empty() && name[0] == '-') usage("unknown option " + quoted(name));
    usage("unknown verb " + quoted(name));
}

/// Runs the words of the command line; `verb` becomes the verb among them.
int run(Words words, const Verb *&verb) {
    if (words.empty()) usage("a verb is missing");
    std::string first = words[0];
    words.erase(words.begin());
    if (first == "help" && !words.empty()) {
        first = words[0];
        words[0] = "--help";
        find(first);
        if (words.size() > 1) usage("unexpected argument " + quoted(words[1]));
    }
    const bool help = first == "help" || first == "--help" || first == "-h", number = first == "--version";
    if ((help || number) && !words.empty()) usage("unexpected argument " + quoted(words[0]));
    if (help) {
        print_help();
        return kSuccess;
    }
    if (number) {
        print_out("apsis %s\n", version().c_str());
        return kSuccess;
    }
    verb = &find(first);
    return verb->run(words);
}

}  // namespace

int main(int count, char **words) {
    const Verb *verb = nullptr;
    // Allocates nothing, so that it can still report that memory ran out.
    const auto complain = [&verb](int code, const char *sentence) {
        const char *space = verb ? " " : "", *name = verb ? verb->name : "";
        std::fprintf(stderr, "apsis%s%s: %s", space, name, sentence);
        code == kUsage ? std::fprintf(stderr, "; see apsis%s%s --help\n", space, name) : std::fprintf(stderr, "\n");
        return code;
    };
    try {
        keep_standard_streams();
        catch_signals();
        const int code = run(Words(words + (count > 0), words + count), verb);
        flush_out();
        return code;
    } catch (const Failure &failure) {
        return complain(failure.code, failure.sentence.c_str());
    } catch (const Interrupted &interrupted) {
        if (interrupted.signal != SIGPIPE) complain(kSignal + interrupted.signal, "interrupted; nothing was written");
        end_by_signal(interrupted.signal);
    } catch (const std::bad_alloc &) {
        return complain(kStatus + APSIS_ERROR_MEMORY, "memory ran out");
    } catch (const std::exception &error) {
        return complain(kFailed, error.what());
    }
}
