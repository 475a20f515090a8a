// apsis components: which connected component each pixel of the set belongs to, and a table of the components.
#include <optional>

#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/io/picture.h"
#include "tool/io/table.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr const char *kTypes[] = {"i32", "i64", "u8"};
constexpr const char *kMethods[] = {"auto", "tile-fill"};
constexpr apsis_type kTypeOf[] = {APSIS_I32, APSIS_I64, APSIS_U8};
constexpr apsis_method kMethodOf[] = {APSIS_AUTO, APSIS_TILE_FILL};
constexpr std::uint8_t kInSet = 255;  // in a mask

class Components final : public MapVerb {
  public:
    Components()
        : MapVerb("components",
                  "Numbers the connected components of a set 1, 2, 3, ... by their lowest pixel, and writes for every pixel "
                  "the number of its component, 0 outside the set. With pages that are images of their own the numbers go "
                  "on from page to page.",
                  whole_memory_help("up to 2 bytes"),
                  "  apsis components page.tif letters.tif --sites black --connectivity 8 --stats letters.csv\n"
                  "  apsis components cells.tif clean.tif --type u8 --fill-holes --min-area 20 --clear-border\n"
                  "  apsis components scan.tif organ.tif --volume --connectivity 26 --largest 1\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void add_selections(Arguments &arguments);
    void check() override;
    std::vector<OutputName> outputs() const override {
        return {{"components", output_}, {"stats", table_}, {"picture", picture_}};
    }
    apsis_options options(const Run &run) const;
    void fill_holes(const Device &device, BinaryImage &image, std::uint32_t slices) const;
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override;

    std::string output_, table_, picture_;
    Connectivity connectivity_;
    int type_ = -1;   // a place in kTypes
    int method_ = 0;  // a place in kMethods
    std::optional<std::int64_t> largest_, min_area_, max_area_;
    bool fills_holes_ = false, clears_border_ = false;
    std::int64_t components_ = 0;
};

void Components::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The numbers: TIFF with a page for every page of IN.tif.", output_);
    connectivity_.add_to(arguments, "Default: 4, or 6.");
    add_selections(arguments);
    add_table(arguments, "--stats",
              "Also write a table of the components: label, index of the first pixel, area, box, mean x, y and z.", table_);
    arguments.choice("--type", kTypes,
                     "Type of the output: i32 or i64, numbers; u8, the set that is left: 255 in it, 0 outside. Default: "
                     "i32, or i64 where there might be more components than fit.",
                     type_);
    arguments.choice("--method", kMethods,
                     "tile-fill: the published method of filling tiles and merging them; labels only, no volumes and "
                     "nothing left out. Default: auto.",
                     method_);
    add_picture(arguments, "--picture",
                "Also draw the components, each in a colour of its own, on black. Of several pages the first, of a volume "
                "the middle slice.",
                picture_);
}

void Components::add_selections(Arguments &arguments) {
    arguments.flag("--fill-holes",
                   "First add to the set what it encloses: the pixels outside it that no path of pixels outside it joins to "
                   "the border of the image.",
                   fills_holes_);
    arguments.flag("--clear-border", "Leave out components that touch the border of the image.", clears_border_);
    arguments.integer("--min-area", "A", "Leave out components of fewer than A pixels. Default: none.", 1, min_area_);
    arguments.integer("--max-area", "A", "Leave out components of more than A pixels. Default: none.", 1, max_area_);
    arguments.integer("--largest", "K",
                      "Leave out all but the K largest components, of every page for itself; of equal ones those with the "
                      "lower numbers stay. Default: none.",
                      1, largest_);
}

void Components::check() {
    connectivity_.check(volume(), false);
    if (largest_.value_or(0) > INT32_MAX)
        usage("--largest is " + std::to_string(*largest_) + ", but must be at most 2147483647");
    if (min_area_ && max_area_ && *min_area_ > *max_area_)
        usage("--min-area is " + std::to_string(*min_area_) + ", more than --max-area, " + std::to_string(*max_area_));
}

apsis_options Components::options(const Run &run) const {
    apsis_options options = run.options();
    if (clears_border_) options.flags |= APSIS_NO_BORDER;
    options.connectivity = connectivity_.axes();
    options.method = kMethodOf[method_];
    options.largest = static_cast<std::int32_t>(largest_.value_or(0));
    options.min_area = min_area_.value_or(0);
    options.max_area = max_area_.value_or(0);
    return options;
}

/// Replaces the set by one without holes.  The pixels outside have the opposite connectivity: with 4 or 6 neighbours in the
/// set there are 8 or 26 outside, and the other way round.
void Components::fill_holes(const Device &device, BinaryImage &image, std::uint32_t slices) const {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_NO_INNER | slices;
    if (!image.complement) options.flags |= APSIS_COMPLEMENT;
    const int all = volume() ? 3 : 2;
    options.connectivity = connectivity_.axes() == 1 ? all : 1;
    Raster filled(image.marks.type(), image.marks.shape(), "a set without holes");
    device.check(apsis_components(device.context(), image.marks.image(), filled.image(), nullptr, 0, nullptr, &options));
    image.marks = std::move(filled);
}

/// Turns the library's set, which with `complement` is its zero pixels, into a mask.
void make_mask(const Raster &set, bool complement) {
    const Shape &shape = set.shape();
    for (std::int64_t z = 0; z < shape.depth; ++z)
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::uint8_t *at = set.row(y, z), *end = at + shape.width; at < end; ++at)
                *at = (*at != 0) != complement ? kInSet : 0;
}

Maps Components::maps(const Run &run) const {
    Maps maps;
    maps.types = {{"components", type_ < 0 ? run.index_type() : kTypeOf[type_]}};
    maps.whole = "the command has no slabs of components yet";
    return maps;
}

void Components::compute(Run &run) {
    const Raster labels = run.map(maps(run).types[0].second, "labels");
    if (type_ < 0) type_ = labels.type() == APSIS_I64;
    const apsis_options options = this->options(run);
    std::vector<apsis_component> components;
    run.transform([&](const Device &device, BinaryImage &image) {
        if (fills_holes_) fill_holes(device, image, options.flags & APSIS_SLICES);
        const auto label = [&](const apsis_image *to) {
            device.check(apsis_components(device.context(), image.marks.image(), to, components.data(),
                                          static_cast<std::int64_t>(components.size()), &components_, &options));
        };
        if (run.file("stats")) {  // the number of components must be known before the table is made
            label(nullptr);
            components.resize(static_cast<size_t>(components_));
        }
        label(labels.image());
        if (labels.type() == APSIS_U8) make_mask(labels, image.complement);
    });

    if (OutputFile *table = run.file("stats")) write_table(components, *table);
    run.write("components", labels);
    run.draw("picture", picture_of_labels(labels, run.slice()));
}

void Components::print(Json &json) const {
    connectivity_.print(json);
    json.member("method", kMethods[static_cast<size_t>(method_)]);
    json.member("fill_holes", fills_holes_).member("clear_border", clears_border_);
    json.member_or_null("min_area", min_area_);
    json.member_or_null("max_area", max_area_);
    json.member_or_null("largest", largest_);
    json.member("type", kTypes[static_cast<size_t>(type_)]).member("components", components_);
}

std::string Components::sentence() const {
    return std::to_string(components_) + (components_ == 1 ? " component" : " components");
}

}  // namespace

int run_components(const Words &words) { return Components().run(words); }

}  // namespace tool
