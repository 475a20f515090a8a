// apsis voronoi: which site's cell every pixel is in, the pixels of the set being the sites.
#include <tuple>
#include <utility>

#include "tool/failure.h"
#include "tool/io/picture.h"
#include "tool/verbs/distances.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr const char *kTypes[] = {"i32", "i64"};

class Voronoi final : public MapVerb {
  public:
    Voronoi()
        : MapVerb("voronoi",
                  "Writes for every pixel the site whose cell it is in: of the pixels of a set the nearest, the lowest of "
                  "several, as its index x + width * (y + height * page); -1 where there is none.",
                  "3/8 byte (5/8 with --connected, 8 for chessboard)",
                  "  apsis voronoi cells.tif map.tif --picture map.png\n"
                  "  apsis voronoi cells.tif map.tif --connected --metric city-block\n"
                  "  apsis voronoi cells.tif map.tif --method sweep --mixed --json\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {{"cells", output_}, {"picture", picture_}}; }
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override;

    std::string output_, picture_;
    DistanceSettings settings_;
    bool connected_ = false, mixed_ = false;
    int type_ = -1;  // a place in kTypes
    std::int64_t cells_ = 0, in_none_ = 0;
    MethodReport report_;
};

void Voronoi::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The map: TIFF with a page for every page of IN.tif.", output_);
    arguments.flag("--connected",
                   "Hide exclaves, the pixels of a cell that no path in it joins to its site, so that every cell is "
                   "connected. Default: the complete map, which is that of nearest pixels.",
                   connected_);
    settings_.add_to(arguments, "Chessboard takes the same for every axis.", false);
    arguments.flag("--mixed", "With --method sweep: the map as the sweeps leave it, some exclaves hidden and others not.",
                   mixed_);
    arguments.choice("--type", kTypes, "Type of the output. Default: i32, or i64 beyond 2^31 pixels.", type_);
    add_picture(arguments, "--picture",
                "Also draw the cells, each in a colour of its own, the sites black, grey where there is no cell. Of several "
                "pages the first, of a volume the middle slice.",
                picture_);
}

void Voronoi::check() {
    settings_.check(volume());
    if (mixed_ && settings_.method_word().rfind("sweep", 0) != 0)
        usage("--mixed is for --method sweep, but --method is " + settings_.method_word());
    if (mixed_ && connected_) usage("--mixed leaves exclaves, but --connected hides them: use one of them");
}

/// The number of pixels that are their own sites, and the number of pixels without a site.
template <class Index>
std::pair<std::int64_t, std::int64_t> count_cells(const Raster &map) {
    const Shape &shape = map.shape();
    std::int64_t cells = 0, in_none = 0, index = 0;
    for (std::int64_t z = 0; z < shape.depth; ++z)
        for (std::int64_t y = 0; y < shape.height; ++y) {
            const auto *row = map.row_of<Index>(y, z);
            for (std::int64_t x = 0; x < shape.width; ++x, ++index) {
                cells += row[x] == index;
                in_none += row[x] < 0;
            }
        }
    return {cells, in_none};
}

void Voronoi::compute(Run &run) {
    const Raster map = type_ < 0 ? run.indices("cells") : Raster(type_ ? APSIS_I64 : APSIS_I32, run.shape(), "cells");
    apsis_options options = run.options();
    settings_.fill_in(options);
    if (connected_) options.flags |= APSIS_CONNECTED;
    if (mixed_) options.flags |= APSIS_MIXED;
    run.transform([&](const Device &device, const BinaryImage &image) {
        report_.listen_to(device);
        device.check(apsis_voronoi(device.context(), image.marks.image(), map.image(), &options));
    });
    type_ = map.type() == APSIS_I64;
    std::tie(cells_, in_none_) = type_ ? count_cells<std::int64_t>(map) : count_cells<std::int32_t>(map);
    run.end_of("measure");

    run.write("cells", map);
    run.draw("picture", picture_of_indices(map, run.slice()));
}

void Voronoi::print(Json &json) const {
    settings_.print(json, volume());
    json.member("connected", connected_).member("mixed", mixed_).member("type", kTypes[static_cast<size_t>(type_)]);
    report_.print(json);
    json.member("cells", cells_).member("pixels_in_none", in_none_);
}

std::string Voronoi::sentence() const {
    std::string text = std::to_string(cells_) + (cells_ == 1 ? " cell" : " cells");
    if (in_none_ > 0) text += ", " + std::to_string(in_none_) + " pixels in none";
    return text + report_.clause();
}

}  // namespace

int run_voronoi(const Words &words) { return Voronoi().run(words); }

}  // namespace tool
