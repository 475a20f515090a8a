// apsis voronoi: which site's cell every pixel is in, the pixels of the set being the sites.
#include <algorithm>

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
                  slab_memory_help("3/8 byte a pixel"),
                  "  apsis voronoi cells.tif map.tif --picture map.png\n"
                  "  apsis voronoi cells.tif map.tif --connected --metric city-block\n"
                  "  apsis voronoi cells.tif map.tif --method sweep --mixed --json\n"
                  "  apsis voronoi nuclei.tif cells.tif --labels --max-distance 20 --connected\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {{"cells", output_}, {"picture", picture_}}; }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override;

    std::string output_, picture_;
    DistanceSettings settings_;
    bool connected_ = false, mixed_ = false;
    int type_ = -1;                                     // a place in kTypes
    std::int64_t cells_ = 0, grown_ = 0, in_none_ = 0;  // cells of a set; pixels that labels have grown by
    MethodReport report_;
};

void Voronoi::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The map: TIFF with a page for every page of IN.tif.", output_);
    add_labels(arguments,
               "Labels grow into the background, as far as --max-distance: the map has the label of the nearest pixel in place "
               "of its index, and 0 in place of -1.");
    arguments.flag("--connected",
                   "Hide exclaves, the pixels of a cell that no path in it joins to its site, so that every cell is "
                   "connected. Default: the complete map, which is that of nearest pixels.",
                   connected_);
    settings_.add_to(arguments, "Chessboard takes the same for every axis.", false);
    request_.reading.add_periodic(arguments);
    arguments.flag("--mixed", "With --method sweep: the map as the sweeps leave it, some exclaves hidden and others not.",
                   mixed_);
    arguments.choice("--type", kTypes, "Type of the output. Default: i32, or i64 beyond 2^31 pixels, or for labels of 64 bits.",
                     type_);
    add_picture(arguments, "--picture",
                "Also draw the cells, each in a colour of its own, the sites black, grey where there is no cell. Of several "
                "pages the first, of a volume the middle slice.",
                picture_);
    add_devices(arguments);
}

void Voronoi::check() {
    settings_.check(volume());
    if (labels()) settings_.check_auto("--labels");
    settings_.check_periodic(request_.reading);
    if (mixed_ && settings_.method_word().rfind("sweep", 0) != 0)
        usage("--mixed is for --method sweep, but --method is " + settings_.method_word());
    if (mixed_ && connected_) usage("--mixed leaves exclaves, but --connected hides them: use one of them");
}

/// Adds the number of pixels that are their own sites, and the number of pixels without a site; of labels, the number of pixels
/// that have none.
template <class Index>
void count_cells(const Raster &map, bool labels, std::int64_t start, std::int64_t extent, std::int64_t &cells,
                 std::int64_t &in_none) {
    const std::int64_t columns = map.shape().columns();
    const auto *site = map.row_of<Index>(0, 0);
    if (labels) return void(in_none += std::count(site, site + extent * columns, 0));
    for (std::int64_t i = 0; i < extent * columns; ++i) {
        cells += site[i] == start * columns + i;
        in_none += site[i] < 0;
    }
}

Maps Voronoi::maps(const Run &run) const {
    Maps maps;
    const apsis_type least = run.type_for(run.set_type());
    if (labels() && type_ == 0 && run.set_type() == APSIS_I64) usage("--type i32 cannot hold labels of 64 bits; use i64");
    maps.types = {{"cells", type_ < 0 ? least : type_ ? APSIS_I64 : APSIS_I32}};
    maps.options = run.options();
    settings_.fill_in(maps.options);
    if (connected_) maps.options.flags |= APSIS_CONNECTED;
    if (mixed_) maps.options.flags |= APSIS_MIXED;
    const bool separate = maps.options.flags & APSIS_SLICES;
    if (separate) maps.transform = APSIS_VORONOI;
    maps.whole = run.file("picture")                       ? "--picture shows all of it"
                 : connected_ && !separate                 ? "--connected looks at all of it"
                 : maps.types[0].second < run.index_type() ? "--type i32 might not hold it"
                                                           : settings_.why_whole(maps.options);
    return maps;
}

void Voronoi::compute(Run &run) {
    const Maps maps = this->maps(run);
    type_ = maps.types[0].second == APSIS_I64;
    const std::vector<Raster> map = run.slabs_of(maps.types[0].second, "cells"),
                              none = run.slabs_of(APSIS_F32, "distances", false);
    report_.listen_to(run.device());
    run.transform_slabs(
        maps.options, none, map,
        [&](apsis_context *context, const apsis_image *set, const apsis_image *, const apsis_image *cells) {
            return apsis_voronoi(context, set, cells, &maps.options);
        },
        [&](int device, std::int64_t slab) {
            const Raster &cells = map[static_cast<size_t>(device)];
            const std::int64_t start = run.cut().start(slab), extent = run.extent_of(slab);
            (type_ ? count_cells<std::int64_t> : count_cells<std::int32_t>)(cells, labels(), start, extent, cells_, in_none_);
            run.end_of("measure");
            run.write("cells", cells, extent);
        });
    if (labels()) grown_ = run.shape().pixels() - run.image().sites - in_none_;
    run.draw("picture", labels() ? picture_of_labels(map[0], run.slice()) : picture_of_indices(map[0], run.slice()));
}

void Voronoi::print(Json &json) const {
    settings_.print(json, volume());
    json.member("connected", connected_).member("mixed", mixed_).member("type", kTypes[static_cast<size_t>(type_)]);
    report_.print(json);
    labels() ? json.member("pixels_grown", grown_) : json.member("cells", cells_);
    json.member("pixels_in_none", in_none_);
}

std::string Voronoi::sentence() const {
    std::string text = labels() ? "labels grown by " + std::to_string(grown_) + (grown_ == 1 ? " pixel" : " pixels")
                                : std::to_string(cells_) + (cells_ == 1 ? " cell" : " cells");
    if (in_none_ > 0) text += ", " + std::to_string(in_none_) + " pixels in none";
    return text + report_.clause();
}

}  // namespace

int run_voronoi(const Words &words) { return Voronoi().run(words); }

}  // namespace tool
