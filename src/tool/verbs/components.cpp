// apsis components: which connected component each pixel of the set belongs to, and a table of the components.
#include <optional>

#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/io/picture.h"
#include "tool/io/table.h"
#include "tool/slab_components.h"
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
                  slab_memory_help("up to 2 bytes a pixel") +
                      " Statistics, selections and labels take 96 bytes for each component of a slab besides, in memory.",
                  "  apsis components page.tif letters.tif --sites black --connectivity 8 --stats letters.csv\n"
                  "  apsis components ct.tif organs.tif --volume --delta 5 --min-area 1000\n"
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
    void fill_holes(Run &run) const;
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
    add_labels(arguments,
               "Neighbours are connected where their values are equal, and the table has the value of each component.");
    arguments.number_from_0(
        "--delta", "N",
        "IN.tif is a grey image, of whole numbers or floating-point ones of up to 32 bits: neighbours are connected where "
        "neither is 0 and their values differ by at most N. All of it is in memory, and the table has the value of the first "
        "pixel of each component, of floating-point ones 1. Default: the pixels that --sites picks are one set.",
        request_.reading.delta);
    connectivity_.add_to(arguments, "Default: 4, or 6.");
    request_.reading.add_periodic(arguments);
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
    add_devices(arguments);
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
    if (labels() && fills_holes_)
        usage(std::string("--fill-holes is for a set, but ") + request_.reading.labels_option() + " takes a " +
              (request_.reading.delta ? "grey" : "label") + " image: use one of them");
    const std::uint32_t closed = request_.reading.periodic;
    if (method_ && closed) usage("--periodic is for --method auto, but --method is tile-fill");
    if (fills_holes_ && closed & APSIS_PERIODIC_X && closed & APSIS_PERIODIC_Y && (closed & APSIS_PERIODIC_Z || !volume()))
        usage("--fill-holes goes by the border of the image, but with --periodic " + request_.reading.periodic_axes() +
              " it has none");
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
    options.delta = request_.reading.delta.value_or(0);
    options.largest = static_cast<std::int32_t>(largest_.value_or(0));
    options.min_area = min_area_.value_or(0);
    options.max_area = max_area_.value_or(0);
    return options;
}

/// Replaces the set by one without holes.  The pixels outside have the opposite connectivity: with 4 or 6 neighbours in the
/// set there are 8 or 26 outside, and the other way round.
void Components::fill_holes(Run &run) const {
    apsis_options options = run.options();
    options.flags = (options.flags ^ APSIS_COMPLEMENT) | APSIS_NO_INNER;
    const int all = volume() ? 3 : 2;
    options.connectivity = connectivity_.axes() == 1 ? all : 1;
    SlabComponents outside(run, options, nullptr);
    outside.join();
    const std::vector<Raster> filled = run.slabs_of(APSIS_BIT, "a set without holes");
    const auto set = [&](int device) -> const Raster & { return filled[static_cast<size_t>(device)]; };
    run.each_slab(
        "filling", [&](int device, std::int64_t slab) { outside.label(device, slab, set(device)); },
        [&](int device, std::int64_t slab) { run.image().replace(run.cut().start(slab), run.extent_of(slab), set(device)); });
    run.end_of("fill");
}

/// Turns some rows, in 3-D planes, of the library's set, which with `complement` is its zero pixels, into a mask.
void make_mask(const Raster &set, std::int64_t extent, bool complement) {
    std::uint8_t *const begin = set.row(0, 0);
    for (std::uint8_t *at = begin, *end = begin + set.bytes_of(extent); at < end; ++at)
        *at = (*at != 0) != complement ? kInSet : 0;
}

Maps Components::maps(const Run &run) const {
    Maps maps;
    const apsis_type type = type_ < 0 ? run.index_type() : kTypeOf[type_];
    maps.types = {{"components", type}};
    maps.transform = APSIS_COMPONENTS;
    maps.options = options(run);
    if (fills_holes_) maps.options.flags |= APSIS_NO_INNER;  // they are found by such a selection
    const bool separate = maps.options.flags & APSIS_SLICES;
    maps.whole = run.file("picture")                                              ? "--picture shows all of it"
                 : request_.reading.delta && !separate                            ? "--delta has no slabs"
                 : method_                                                        ? "--method tile-fill has no slabs"
                 : separate && type == APSIS_I32 && run.index_type() == APSIS_I64 ? "--type i32 might not hold it"
                                                                                  : "";
    return maps;
}

void Components::compute(Run &run) {
    const apsis_type type = maps(run).types[0].second;
    if (type_ < 0) type_ = type == APSIS_I64;
    if (fills_holes_) fill_holes(run);
    std::optional<TableWriter> table;
    if (OutputFile *file = run.file("stats")) table.emplace(file, labels() ? TableOf::kLabelComponents : TableOf::kComponents);
    const auto add = [&](const apsis_component &component) { table->add(component); };
    SlabComponents components(run, options(run), table ? SlabComponents::Take(add) : nullptr);
    components.join();
    const std::vector<Raster> rasters = run.slabs_of(type, "labels");
    const auto numbers = [&](int device) -> const Raster & { return rasters[static_cast<size_t>(device)]; };
    run.each_slab(
        "computing",
        [&](int device, std::int64_t slab) {
            components.label(device, slab, numbers(device));
            if (type == APSIS_U8) make_mask(numbers(device), run.extent_of(slab), run.image().complement);
        },
        [&](int device, std::int64_t slab) {
            components.go_on(device, slab, numbers(device));
            run.end_of("transform");
            run.write("components", numbers(device), run.extent_of(slab));
        });
    if (table) table->finish();
    run.end_of("write");
    components_ = components.count();
    run.draw("picture", picture_of_labels(numbers(0), run.slice()));
}

void Components::print(Json &json) const {
    connectivity_.print(json);
    json.member_or_null("delta", request_.reading.delta).member("method", kMethods[static_cast<size_t>(method_)]);
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
