// apsis measures: of what shape is each value of a label image, and how bright.  What is counted of slabs is added up; each of
// them is told the rows before it.
#include <cstring>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/verbs/table_verb.h"

namespace tool {
namespace {

constexpr const char *kNames[] = {"moments", "perimeter", "surface", "euler", "filled", "hull", "feret"};  // as bits in order
constexpr std::uint32_t kIn2D = APSIS_PERIMETER | APSIS_HULL | APSIS_FERET;
constexpr std::uint32_t kShapes = (1u << std::size(kNames)) - 1;
constexpr std::uint32_t kWhole = APSIS_FILLED | APSIS_HULL | APSIS_FERET;  // follow from all pixels of a value together
constexpr std::int64_t kChunk = 512;                                       // values that are measured at once

/// The last rows of the slabs before, in 3-D planes, for the slab of each device.
class RowsBefore {
  public:
    /// Slabs are told so many, and fewer where the image begins.
    RowsBefore(const Run &run, std::int64_t most) : most_(most) {
        if (most == 0) return;
        for (int i = 0; i <= run.devices(); ++i)
            rows_.push_back({Raster(run.set_type(), run.shape().cut_to(most), "the rows before a slab")});
    }

    /// To be called for slabs in order, before they are looked at.
    void take(int device, const Raster &labels) {
        if (most_ == 0) return;
        Rows &last = rows_.back(), &mine = rows_[static_cast<size_t>(device)];
        const auto bytes = [&](std::int64_t rows) { return static_cast<size_t>(labels.bytes_of(rows)); };
        std::memcpy(mine.raster.row(0, 0), last.raster.row(0, 0), bytes(last.count));
        mine.count = last.count;
        const std::int64_t extent = labels.shape().extent(), come = std::min(most_, extent);
        const std::int64_t stay = std::min(last.count, most_ - come);
        std::uint8_t *const to = last.raster.row(0, 0);
        std::memmove(to, to + bytes(last.count - stay), bytes(stay));
        std::memcpy(to + bytes(stay), labels.row(0, 0) + bytes(extent - come), bytes(come));
        last.count = stay + come;
    }

    /// Those before the slab of a device.
    std::optional<apsis_image> of(int device) const {
        if (most_ == 0 || rows_[static_cast<size_t>(device)].count == 0) return {};
        return rows_[static_cast<size_t>(device)].raster.part(0, rows_[static_cast<size_t>(device)].count);
    }

  private:
    struct Rows {
        Raster raster;
        std::int64_t count = 0;
    };
    std::int64_t most_;
    std::vector<Rows> rows_;  // [device], and the last ones that were read
};

class Measures final : public TableVerb {
  public:
    Measures()
        : TableVerb("measures",
                    "Measures each value of a label image but 0, the background, wherever its pixels are: its shape, and its "
                    "intensity in a grey image. The names and formulas are those of scikit-image's regionprops, where it has "
                    "them. Several pages are a volume, and need --volume.",
                    once_memory_help() +
                        " With --grey, its pixels are read slab by slab, too. If --measure has filled, hull or "
                        "feret, as by default, the image is read at once, and refused if it takes more.",
                    "  apsis measures cells.tif --output cells.csv\n"
                    "  apsis measures large.tif --measure moments,perimeter --memory 1G --output cells.csv\n"
                    "  apsis measures cells.tif --measure perimeter,feret --spacing 0.4,0.4\n"
                    "  apsis measures cells.tif --measure euler --grey stain.tif --output cells.json\n",
                    "value, index of the first pixel, area, box, mean x, y and z, whether it touches the border, and what "
                    "--measure and --grey ask for, in ascending order of the values.",
                    TableOf::kMeasures, "value", "values") {}

  private:
    void add_to(Arguments &arguments) override {
        TableVerb::add_to(arguments);
        arguments.custom(
            "--measure", "NAME,...",
            "What to measure. moments: second central moments, the axes of the ellipse that has them, its "
            "orientation and eccentricity. perimeter: through the centres of pixels, and by Crofton's formula with "
            "2 and 4 directions. surface: its faces. euler: pieces less holes. filled: its pixels with those of "
            "its holes. hull: the convex hull. feret: the least and the largest diameter. Default: all, with "
            "--volume all but perimeter, hull and feret, which are for images in 2-D.",
            [this](const std::string &words) { take(words); });
        arguments.custom("--grey", "GREY.tif",
                         "Also measure the sum, mean, least and largest intensity in an image of the same size, of up to 16 "
                         "bits without sign or 32-bit floating-point samples.",
                         [this](const std::string &path) { grey_ = path; });
        connectivity_.add_to(arguments, "It is that of the Euler number. Default: 4, or 6.");
        spacing_.add_to(arguments, "It scales lengths and areas of the shape, but not numbers of pixels.");
    }
    void take(const std::string &words) {
        for (size_t begin = 0; begin <= words.size();) {
            const size_t end = std::min(words.find(',', begin), words.size());
            const std::string word = words.substr(begin, end - begin);
            const auto *const found = std::find(std::begin(kNames), std::end(kNames), word);
            if (found == std::end(kNames))
                usage("--measure has " + quoted(word) +
                      ", but must be some of moments, perimeter, surface, euler, filled, hull, "
                      "feret, with commas between");
            measures_ |= 1u << (found - std::begin(kNames));
            begin = end + 1;
        }
    }
    void check() override {
        TableVerb::check();
        if (volume() && measures_ & kIn2D)
            usage("--measure has perimeter, hull or feret, which are for images in 2-D, not --volume");
        if (measures_ == 0) measures_ = volume() ? kShapes & ~kIn2D : kShapes;
        connectivity_.check(volume(), false);
        spacing_.check(volume());
        if (measures_ & APSIS_PERIMETER) spacing_.check_equal("--measure perimeter");
        if (!grey_.empty()) measures_ |= APSIS_INTENSITY;
    }
    bool is_whole() const { return measures_ & kWhole; }
    /// How many rows before a slab matter.
    std::int64_t rows_before() const {
        return measures_ & APSIS_PERIMETER ? 4 : measures_ & (APSIS_SURFACE | APSIS_EULER) ? 1 : 0;
    }
    Maps maps(const Run &run) const override {
        Maps maps;
        if (is_whole()) maps.whole = "--measure filled, hull and feret look at all of it";
        maps.transform.reset();
        maps.entry = is_whole() ? sizeof(apsis_measure) : sizeof(apsis_sums);
        maps.before = rows_before() * bits_of(run.set_type()) / 8;
        if (!grey_.empty()) maps.beside = std::make_shared<SetFile>(run.open_grey(grey_, "intensities"));
        return maps;
    }
    apsis_options options(const Run &) const override {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.connectivity = connectivity_.axes();
        spacing_.fill_in(options);
        return options;
    }
    void fill(Run &run, TableWriter &table) override {
        if (run.shape().depth > 1 && !volume())
            fail("the image has " + std::to_string(run.shape().depth) +
                 " pages, and is measured as a volume alone: see --volume");
        is_whole() ? measure(run, table) : add_up(run, table);
    }
    void measure(Run &run, TableWriter &table);
    void add_up(Run &run, TableWriter &table);
    void print(Json &json) const override {
        json.key("measures").array();
        for (size_t i = 0; i < std::size(kNames); ++i)
            if (measures_ >> i & 1) json.value(kNames[i]);
        json.end_array().member_or_null("grey", grey_.empty() ? std::optional<std::string>() : grey_);
        connectivity_.print(json);
        spacing_.print(json, volume());
        TableVerb::print(json);
    }

    std::string grey_;
    Connectivity connectivity_;
    Spacing spacing_;
};

/// Measures the image at once.
void Measures::measure(Run &run, TableWriter &table) {
    const apsis_options options = this->options(run);
    const Device &device = run.device();
    const auto find = [&](int of, std::int64_t, const Raster &labels, apsis_measure *measured, std::int64_t room) {
        std::int64_t count = 0;
        device.check(apsis_measures(device.context(of), labels.image(), run.beside(of).image(), measures_, measured, room,
                                    &count, &options),
                     of);
        return count;
    };
    const Memory found = collect<apsis_measure>(run, find, [](int, apsis_measure *, std::int64_t count) { return count; });
    for (std::int64_t i = 0; i < count(); ++i) table.add(reinterpret_cast<const apsis_measure *>(found.get())[i]);
}

/// Adds up what is counted of slabs.
void Measures::add_up(Run &run, TableWriter &table) {
    const apsis_options options = this->options(run);
    const Device &device = run.device();
    RowsBefore before(run, run.cut().slabs > 1 ? rows_before() : 0);
    const auto read = [&](int of, const Raster &labels) { before.take(of, labels); };
    const auto find = [&](int of, std::int64_t start, const Raster &labels, apsis_sums *sums, std::int64_t room) {
        std::int64_t count = 0;
        const std::optional<apsis_image> rows = before.of(of);
        device.check(apsis_slab_sums(device.context(of), labels.image(), run.beside(of).image(), rows ? &*rows : nullptr, start,
                                     measures_, sums, room, &count, &options),
                     of);
        return count;
    };
    const auto merge = [](int, apsis_sums *all, std::int64_t count) { return apsis_slab_merge_sums(count, all); };
    const Memory found = collect<apsis_sums>(run, find, merge, read);
    const auto *const sums = reinterpret_cast<const apsis_sums *>(found.get());
    const Shape &shape = run.shape();
    const std::int64_t size[] = {shape.width, shape.height, shape.depth};
    apsis_measure measures[kChunk];
    for (std::int64_t i = 0; i < count(); i += kChunk) {
        const std::int64_t some = std::min(kChunk, count() - i);
        device.check(apsis_slab_measures(device.context(), shape.dimensions, size, sums + i, some, measures, &options));
        std::for_each_n(measures, some, [&](const apsis_measure &measure) { table.add(measure); });
    }
}

}  // namespace

int run_measures(const Words &words) { return Measures().run(words); }

}  // namespace tool
