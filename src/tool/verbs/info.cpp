// apsis info: what a TIFF file holds, and what its samples mean.
#include <optional>

#include "tool/arguments.h"
#include "tool/failure.h"
#include "tool/io/file.h"
#include "tool/io/json.h"
#include "tool/io/tiff.h"
#include "tool/progress.h"
#include "tool/set.h"
#include "tool/settings.h"
#include "tool/verbs/verbs.h"

namespace tool {
namespace {

const char *format_name(SampleFormat format) {
    switch (format) {
        case SampleFormat::kUnsigned: return "unsigned";
        case SampleFormat::kSigned: return "signed";
        case SampleFormat::kFloat: return "float";
        default: return "other";
    }
}

std::string photometric_name(const std::optional<int> &photometric) {
    static const char *const names[] = {"MinIsWhite", "MinIsBlack", "RGB", "palette", "mask", "separated", "YCbCr"};
    if (!photometric) return "not said";
    const size_t number = static_cast<size_t>(*photometric);
    return number < std::size(names) ? names[number] : "number " + std::to_string(*photometric);
}

const char *unit_name(int unit) { return unit == 2 ? "inch" : unit == 3 ? "centimetre" : "none"; }

/// A page, and the number of its samples that are not zero, or why it cannot be counted.
struct Page {
    TiffPage tags;
    std::optional<std::int64_t> nonzero;
    std::string why_not, warning;
};

Page examine(TiffReader &reader, size_t number, bool tolerate, Progress &progress) {
    Page page = {reader.pages()[number], {}, unusable(reader.pages()[number]), ""};
    if (page.why_not.empty() && !tolerate) page.why_not = page.tags.doubt;
    if (!page.why_not.empty()) return page;
    page.nonzero = count_nonzero(reader, number, [&progress](double done) { progress.update(done); });
    page.warning = reader.warning();
    return page;
}

void write_page(Json &json, const Page &page) {
    const TiffPage &tags = page.tags;
    const auto text_or_null = [&json](const char *key, const std::string &text) {
        json.key(key);
        text.empty() ? json.null() : json.value(text);
    };
    json.object().member("width", tags.width).member("height", tags.height);
    json.member("bits", tags.bits).member("samples", tags.samples).member("format", format_name(tags.format));
    json.member("photometric", photometric_name(tags.photometric));
    text_or_null("nonzero_is", nonzero_colour(tags));
    json.member("compression", tags.compression_name).member("layout", tags.tiled ? "tiles" : "strips");
    json.member("block_width", tags.block_width).member("block_height", tags.block_height);
    json.member("fill_order", tags.lowest_bit_first ? "lowest bit first" : "highest bit first");
    json.member("orientation", tags.tags.orientation).key("resolution");
    if (tags.tags.x_resolution > 0)
        json.object()
            .member("x", static_cast<double>(tags.tags.x_resolution))
            .member("y", static_cast<double>(tags.tags.y_resolution))
            .member("unit", unit_name(tags.tags.unit))
            .end_object();
    else
        json.null();
    json.key("nonzero");
    page.nonzero ? json.value(*page.nonzero) : json.null();
    text_or_null("unusable", page.why_not);
    text_or_null("warning", page.warning);
    json.end_object();
}

void print_json(const std::string &path, const TiffReader &reader, const std::vector<Page> &pages) {
    Json json;
    json.object().member("command", "info").member("input", path).member("bigtiff", reader.bigtiff());
    json.member("byte_order", reader.big_endian() ? "big endian" : "little endian");
    json.member("pages_left_out", reader.pages_left_out()).key("pages").array();
    for (const Page &page : pages) write_page(json, page);
    json.end_array().end_object();
    print_out("%s\n", json.text().c_str());
}

std::string layout(const TiffPage &page) {
    if (page.tiled)
        return "tiles of " + std::to_string(page.block_width) + " x " + std::to_string(page.block_height) + " pixels";
    return "strips of " + std::to_string(page.block_height) + (page.block_height == 1 ? " row" : " rows");
}

void print_page(const Page &page) {
    const TiffPage &tags = page.tags;
    const std::string colour = nonzero_colour(tags);
    print_out("  size         %lld x %lld pixels\n", static_cast<long long>(tags.width), static_cast<long long>(tags.height));
    print_out("  samples      %d a pixel, %d-bit, %s\n", tags.samples, tags.bits, format_name(tags.format));
    print_out("  photometric  %s%s\n", photometric_name(tags.photometric).c_str(),
              colour.empty() ? "" : (": a non-zero sample is " + colour).c_str());
    print_out("  stored as    %s, %s, %s bit first\n", tags.compression_name.c_str(), layout(tags).c_str(),
              tags.lowest_bit_first ? "lowest" : "highest");
    if (tags.tags.x_resolution > 0)
        print_out("  resolution   %g x %g pixels, unit %s\n", static_cast<double>(tags.tags.x_resolution),
                  static_cast<double>(tags.tags.y_resolution), unit_name(tags.tags.unit));
    if (tags.tags.orientation != 1) print_out("  orientation  %d\n", tags.tags.orientation);
    if (page.nonzero)
        print_out(
            "  non-zero     %lld of %lld samples (%.3g %%)\n", static_cast<long long>(*page.nonzero),
            static_cast<long long>(tags.width * tags.height),
            100 * static_cast<double>(*page.nonzero) / (static_cast<double>(tags.width) * static_cast<double>(tags.height)));
    else
        print_out("  not for apsis: it %s\n", page.why_not.c_str());
    if (!page.warning.empty()) print_out("  damaged      %s\n", page.warning.c_str());
}

void print_text(const std::string &path, const TiffReader &reader, const std::vector<Page> &pages) {
    print_out("%s: %s, %s endian, %zu %s\n", shown(path).c_str(), reader.bigtiff() ? "BigTIFF" : "TIFF",
              reader.big_endian() ? "big" : "little", pages.size(), pages.size() == 1 ? "page" : "pages");
    if (reader.pages_left_out() > 0) print_out("  passed over  %zu reduced copies or masks\n", reader.pages_left_out());
    for (size_t i = 0; i < pages.size(); ++i) {
        if (pages.size() > 1) print_out("page %zu\n", i + 1);
        print_page(pages[i]);
    }
}

}  // namespace

int run_info(const Words &words) {
    std::string path;
    bool json = false, tolerate = false;
    Arguments arguments("info",
                        "Tells what a TIFF file holds: its pages, their size, samples and colours, how they are "
                        "stored, and how many samples are not zero.");
    arguments.positional("IN.tif", "The file: TIFF or BigTIFF.", path);
    arguments.flag("--json", "Print a JSON object on standard output.", json);
    add_tolerate(arguments, tolerate);
    ProgressMode mode = ProgressMode::kAuto;
    arguments.choice("--progress", {"auto", "always", "never"},
                     "Show progress on standard error. auto, the default: if that is a terminal.", mode);
    arguments.epilogue(exit_codes());
    if (!arguments.parse(words)) {
        print_out("%s", arguments.help().c_str());
        return kSuccess;
    }
    Progress progress(mode, false);
    progress.phase("reading");
    TiffReader reader(path, tolerate);
    std::vector<Page> pages;
    for (size_t i = 0; i < reader.pages().size(); ++i) pages.push_back(examine(reader, i, tolerate, progress));
    progress.clear();
    json ? print_json(path, reader, pages) : print_text(path, reader, pages);
    return kSuccess;
}

}  // namespace tool
