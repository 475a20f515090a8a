// apsis measures: of what shape is each value of a label image, and how bright.
#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/verbs/table_verb.h"

namespace tool {
namespace {

constexpr const char *kNames[] = {"moments", "perimeter", "surface", "euler", "filled", "hull", "feret"};  // as bits in order
constexpr std::uint32_t kIn2D = APSIS_PERIMETER | APSIS_HULL | APSIS_FERET;
constexpr std::uint32_t kShapes = (1u << std::size(kNames)) - 1;

class Measures final : public TableVerb {
  public:
    Measures()
        : TableVerb("measures",
                    "Measures each value of a label image but 0, the background, wherever its pixels are: its shape, and its "
                    "intensity in a grey image. The names and formulas are those of scikit-image's regionprops, where it has "
                    "them. Several pages are a volume, and need --volume.",
                    "An image that takes more is refused: its labels, each of 8, 16, 32 or 64 bits as in the file; some tiles "
                    "or strips of the file; and the table. What the library needs besides is not counted. Default: the memory "
                    "of this machine.",
                    "  apsis measures cells.tif --output cells.csv\n"
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
    Maps maps(const Run &) const override {
        Maps maps;
        maps.whole = "measures look at all of it";
        maps.entry = sizeof(apsis_measure);
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
        const BinaryImage grey = grey_.empty() ? BinaryImage() : run.read_grey(grey_, "intensities");
        const apsis_options options = this->options(run);
        const Device &device = run.device();
        const auto find = [&](int of, std::int64_t, const Raster &labels, apsis_measure *measured, std::int64_t room) {
            std::int64_t count = 0;
            const apsis_image *const intensities = grey_.empty() ? nullptr : grey.marks.image();
            device.check(
                apsis_measures(device.context(of), labels.image(), intensities, measures_, measured, room, &count, &options),
                of);
            return count;
        };
        const Memory found = collect<apsis_measure>(run, find, [](int, apsis_measure *, std::int64_t count) { return count; });
        for (std::int64_t i = 0; i < count(); ++i) table.add(reinterpret_cast<const apsis_measure *>(found.get())[i]);
    }
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

}  // namespace

int run_measures(const Words &words) { return Measures().run(words); }

}  // namespace tool
