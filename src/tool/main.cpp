// The apsis command: finds the verb, runs it, and turns what went wrong into a sentence and an exit code.
#include <cstdio>
#include <exception>
#include <new>

#include "apsis.h"
#include "arguments.h"
#include "failure.h"
#include "file.h"
#include "settings.h"
#include "verbs.h"

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
    {"geodesic", "how far is each pixel from some seeds, along paths inside the set?", run_geodesic},
    {"eccentricity", "how far is each pixel from the farthest one, along paths inside the set?", run_eccentricity},
    {"info", "what does a TIFF file hold, and which colour is a non-zero sample?", run_info},
    {"devices", "where can apsis run on this machine?", run_devices},
};

std::string version() {
    const int number = apsis_version();
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

void print_help() {
    std::printf(
        "usage: apsis VERB ...\n\nExact transforms of binary images, on the CPU or on an NVIDIA GPU.\n\n");
    for (const Verb &verb : kVerbs) std::printf("  %-12s  %s\n", verb.name, verb.summary);
    std::printf("  %-12s  %s\n\n", "help", "what does a verb take? the same as 'apsis VERB --help'");
    std::printf("  -h, --help  Show this help.\n  --version   Show the version of apsis.\n\n%s",
                exit_codes().c_str());
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
        words = {"--help"};
    }
    if (first == "help" || first == "--help" || first == "-h") {
        print_help();
        return kSuccess;
    }
    if (first == "--version") {
        std::printf("apsis %s\n", version().c_str());
        return kSuccess;
    }
    verb = &find(first);
    return verb->run(words);
}

/// What a caller gets that cannot be written is an error too.
int flushed(int code) {
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    fail("cannot write standard output");
}

}  // namespace

int main(int count, char **words) {
    const Verb *verb = nullptr;
    const auto complain = [&verb](int code, const std::string &sentence) {
        const std::string name = verb ? std::string("apsis ") + verb->name : "apsis";
        const std::string hint = code == kUsage ? "; see " + name + " --help" : "";
        std::fprintf(stderr, "%s: %s%s\n", name.c_str(), sentence.c_str(), hint.c_str());
        return code;
    };
    try {
        catch_signals();
        return flushed(run(Words(words + (count > 0), words + count), verb));
    } catch (const Failure &failure) {
        return complain(failure.code, failure.sentence);
    } catch (const Interrupted &interrupted) {
        complain(kSignal + interrupted.signal, "interrupted; nothing was written");
        end_by_signal(interrupted.signal);
    } catch (const std::bad_alloc &) {
        return complain(kStatus + APSIS_ERROR_MEMORY, "memory ran out");
    } catch (const std::exception &error) {
        return complain(kFailed, error.what());
    }
}
