// The options that verbs share, in the words of --help.
#include "tool/settings.h"

#include <charconv>
#include <string_view>

#include "tool/failure.h"
#include "tool/io/tiff_encoder.h"

namespace tool {
namespace {

constexpr const char *kSites[] = {"nonzero", "zero", "black", "white"};
constexpr const char *kCompressions[] = {"none", "deflate", "zstd", "lzw"};

/// 4G, 512M, 100000.
std::int64_t parse_size(const std::string &word) {
    std::int64_t size = 0;
    const char *end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, size);
    const std::string_view unit(result.ptr, static_cast<size_t>(end - result.ptr)), units = "KMGT";
    bool known = result.ec == std::errc() && size > 0 && unit.size() <= 1;
    if (known && !unit.empty()) {
        const size_t power = units.find(unit[0]);
        known = power != units.npos && !__builtin_mul_overflow(size, std::int64_t{1024} << 10 * power, &size);
    }
    if (!known) usage("--memory is " + quoted(word) + ", but must be a number of bytes, such as 500000000, 512M or 4G");
    return size;
}

constexpr std::string_view kAxes = "xyz";

/// x,y: flags of axes.
std::uint32_t parse_axes(const std::string &words) {
    std::uint32_t axes = 0;
    for (std::string_view rest = words;;) {
        const size_t comma = rest.find(','), axis = comma == 1 || rest.size() == 1 ? kAxes.find(rest[0]) : kAxes.npos;
        const std::uint32_t flag = axis == kAxes.npos ? 0 : std::uint32_t{APSIS_PERIODIC_X} << axis;
        if (flag == 0 || axes & flag)
            usage("--periodic is " + quoted(words) + ", but must be axes, each once, such as x or x,y");
        axes |= flag;
        if (comma == rest.npos) return axes;
        rest.remove_prefix(comma + 1);
    }
}

/// The number of a CUDA device, or -1.
int number_of_device(std::string_view word) {
    int device = -1;
    const char *end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, device);
    return result.ec == std::errc() && result.ptr == end && device >= 0 ? device : -1;
}

int parse_device(const std::string &word) {
    if (word == "auto") return APSIS_BEST;
    if (word == "cpu") return APSIS_CPU;
    const int device = number_of_device(word);
    if (device < 0) usage("--device is " + quoted(word) + ", but must be auto, cpu or the number of a CUDA device");
    return device;
}

std::vector<int> parse_devices(const std::string &words) {
    std::vector<int> devices;
    for (std::string_view rest = words;;) {
        const size_t comma = rest.find(',');
        devices.push_back(number_of_device(rest.substr(0, comma)));
        if (devices.back() < 0)
            usage("--devices is " + quoted(words) + ", but must be all, or numbers of CUDA devices, such as 0,1");
        if (comma == rest.npos) return devices;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace

void OutputSettings::check() const {
    if (compression == Compression::kNone || has_codec(compression)) return;
    usage(std::string("--compress is ") + kCompressions[static_cast<size_t>(compression)] +
          ", but this libtiff does not have it");
}

const char *word_of(Sites sites) { return kSites[static_cast<size_t>(sites)]; }

void InputSettings::add_to(Arguments &arguments) {
    arguments.choice("--sites", kSites,
                     "Which pixels are the set. nonzero, the default: those whose stored sample is not 0, "
                     "whatever colour the photometric tag gives them; zero: the others. black and white pick "
                     "by colour: in a MinIsWhite file (most scans and faxes) a non-zero sample is black, in a "
                     "MinIsBlack file white. 'apsis info' tells which a file is.",
                     sites);
    arguments.integer("--threshold", "N",
                      "A sample of at least N counts as non-zero, and any other as zero. Default: all but 0.",
                      std::numeric_limits<std::int64_t>::min(), threshold);
    add_file_to(arguments);
}

void InputSettings::add_file_to(Arguments &arguments) {
    arguments.flag("--volume",
                   "The pages of the file are the slices of one 3-D image. Default: every page is a 2-D "
                   "image of its own.",
                   volume);
    arguments.integer("--max-pixels", "N",
                      "Refuse a file of more than N pixels, all pages together. Default: no limit but --memory, and what "
                      "the data in the file can hold.",
                      1, max_pixels);
    add_tolerate(arguments, tolerate);
}

void InputSettings::add_periodic(Arguments &arguments) {
    arguments.custom(
        "--periodic", "x,y,z",
        "The image closes on itself along these axes, such as x or x,y: behind the last pixel follows the first "
        "one. An axis has at least 2 pixels; z is for --volume. Distances and cells have slabs unless the axis that "
        "is cut is one of them: y, or z of a volume. Default: none.",
        [this](const std::string &word) { periodic = parse_axes(word); });
}

std::string InputSettings::periodic_axes() const {
    std::string axes;
    for (size_t axis = 0; axis < kAxes.size(); ++axis) {
        if (!(periodic & std::uint32_t{APSIS_PERIODIC_X} << axis)) continue;
        if (!axes.empty()) axes += ',';
        axes += kAxes[axis];
    }
    return axes;
}

void InputSettings::check() {
    if (periodic & APSIS_PERIODIC_Z && !volume)
        usage("--periodic is " + quoted(periodic_axes()) + ", but z is an axis with --volume alone");
    labels = labels || delta;
    if (!labels) return;
    const std::string taken = std::string(labels_option()) + " takes samples as they are, but ";
    if (sites != Sites::kNonzero) usage(taken + "--sites is " + word_of(sites));
    if (threshold) usage(taken + "--threshold is " + std::to_string(*threshold));
}

void add_tolerate(Arguments &arguments, bool &tolerate) {
    arguments.flag("--tolerate",
                   "Go on, with a warning, where data is damaged or ends too early but can be decoded, and where tiles or "
                   "strips are missing; what is missing is 0. Default: refuse.",
                   tolerate);
}

void OutputSettings::add_to(Arguments &arguments) {
    arguments.flag("--tiled", "Write TIFF in tiles of 256 x 256 pixels. Default: in strips.", tiled);
    arguments.choice("--compress", kCompressions,
                     "Compression of the TIFF files written, with the predictor for their type. Default: none.", compression);
    arguments.flag("--bigtiff", "Write BigTIFF. Default: only when a file might exceed 4 GB.", bigtiff);
    add_overwrite(arguments);
}

void OutputSettings::add_overwrite(Arguments &arguments) {
    arguments.flag("--overwrite", "Replace output files that exist. Default: refuse.", overwrite);
}

void RunSettings::add_to(Arguments &arguments, const std::string &memory_help) {
    arguments.custom("--device", "auto|cpu|N",
                     "Where to compute: the first usable CUDA device, otherwise the CPU (auto, the default); "
                     "the CPU; or CUDA device N. 'apsis devices' lists them. The results are the same bytes.",
                     [this](const std::string &word) { device = parse_device(word); });
    arguments.integer("--threads", "N", "Use at most N threads on the CPU. Default 0: one per core.", 0, threads);
    arguments.custom("--memory", "SIZE", "Bytes of host memory, or with K, M, G or T times 1024 and so on. " + memory_help,
                     [this](const std::string &word) { memory = parse_size(word); });
    arguments.flag("--dry-run", "Say how it would be done, and what memory and disk it would take; write nothing.", dry);
    arguments.flag("--json", "Print a JSON object about the run on standard output, instead of the summary.", json);
    arguments.choice("--progress", {"auto", "always", "never"},
                     "Show progress on standard error. auto, the default: if that is a terminal.", progress);
    arguments.flag("--quiet", "Print no summary and no progress, only errors, warnings and --json.", quiet, 'q');
}

void RunSettings::add_devices(Arguments &arguments) {
    arguments.custom("--devices", "all|N,M",
                     "Compute on all CUDA devices, or on those with these numbers, such as 0,1: an image is cut into slabs, "
                     "and each device takes the next one. What has no slabs is computed by the first. The results are the same "
                     "bytes.",
                     [this](const std::string &word) {
                         all_devices = word == "all";
                         devices = all_devices ? std::vector<int>() : parse_devices(word);
                     });
}

void RunSettings::check() const {
    if (device != APSIS_BEST && (all_devices || !devices.empty()))
        usage("--device and --devices both say where to compute: use one of them");
}

std::string exit_codes() {
    return "Exit codes:\n"
           "  0    success\n"
           "  1    a file could not be read or written, or is not what apsis takes\n"
           "  2    the command line is wrong\n"
           "  11   the library refused an argument          (APSIS_ERROR_ARGUMENT)\n"
           "  12   not in this version or build             (APSIS_ERROR_UNSUPPORTED)\n"
           "  13   no such device, or no driver for it      (APSIS_ERROR_NO_DEVICE)\n"
           "  14   memory ran out, or over --memory         (APSIS_ERROR_MEMORY)\n"
           "  15   the workspace is too small               (APSIS_ERROR_WORKSPACE)\n"
           "  16   a result might not fit the output type   (APSIS_ERROR_RANGE)\n"
           "  17   cancelled                                (APSIS_ERROR_CANCELLED)\n"
           "  18   the device failed                        (APSIS_ERROR_DEVICE)\n"
           "  19   a bug in apsis; please report it         (APSIS_ERROR_INTERNAL)\n"
           "  20   the budget has run out                   (APSIS_ERROR_BUDGET)\n"
           "  129, 130, 141, 143   ended by SIGHUP, SIGINT, SIGPIPE or SIGTERM, as a shell\n"
           "       shows it; SIGPIPE: the reader of standard output went away\n"
           "After any but 0 there is no new file under an output's name. Only 0 says that\n"
           "there is: what is printed of a run is printed before its outputs get their names.\n";
}

}  // namespace tool
