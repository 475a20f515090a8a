// The options that verbs share: how an input is read, how outputs are written, where the work runs, and what is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tool/arguments.h"
#include "apsis.h"

namespace tool {

enum class Sites { kNonzero, kZero, kBlack, kWhite };
const char *word_of(Sites sites);

/// Which pixels are the set, how pages are combined, and which files are refused.
struct InputSettings {
    Sites sites = Sites::kNonzero;
    std::optional<std::int64_t> threshold;
    bool volume = false;
    bool labels = false;          // every value other than 0 is a set of its own
    std::optional<double> delta;  // how far they may differ: the image is a grey one, of floats too, up to 32 bits
    std::uint32_t periodic = 0;   // flags of the axes along which the image closes on itself
    bool tolerate = false;
    std::optional<std::int64_t> max_pixels;

    void add_to(Arguments &arguments);
    /// Those of them that do not say which pixels are the set.
    void add_file_to(Arguments &arguments);
    /// An option of verbs that take images that close on themselves.
    void add_periodic(Arguments &arguments);
    /// Those axes as in the option: "x,y"; "" if there are none.
    std::string periodic_axes() const;
    /// The option that asks for labels.
    const char *labels_option() const { return delta ? "--delta" : "--labels"; }
    /// Reads labels where there is a delta.  Fails with a usage error if options do not go with labels, or with pages.
    void check();
};

enum class Compression { kNone, kDeflate, kZstd, kLzw };

/// How TIFF files are laid out, and whether they may replace others.
struct OutputSettings {
    bool tiled = false;
    Compression compression = Compression::kNone;
    bool bigtiff = false;
    bool overwrite = false;

    void add_to(Arguments &arguments);
    /// The option that tables have, too.
    void add_overwrite(Arguments &arguments);
    /// Fails with a usage error if this libtiff cannot compress like that.
    void check() const;
};

enum class ProgressMode { kAuto, kAlways, kNever };

/// Where the work runs, what it may take, and what is printed about it.
struct RunSettings {
    int device = APSIS_BEST;
    std::vector<int> devices;  // in place of it, if there are any
    bool all_devices = false;
    std::optional<std::int64_t> threads, memory;
    bool dry = false, json = false;
    ProgressMode progress = ProgressMode::kAuto;
    bool quiet = false;

    /// `memory_help` says what --memory limits.
    void add_to(Arguments &arguments, const std::string &memory_help);
    /// An option of verbs that have slabs.
    void add_devices(Arguments &arguments);
    /// Fails with a usage error if devices are asked for in two ways.
    void check() const;
};

/// An option that every verb with an input file has.
void add_tolerate(Arguments &arguments, bool &tolerate);

/// The paragraph of --help that lists the exit codes.
std::string exit_codes();

}  // namespace tool
