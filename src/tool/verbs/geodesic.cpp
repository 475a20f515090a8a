// apsis geodesic: how far every pixel of the set is from some seeds, along paths inside it, and from which.
#include <optional>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/io/picture.h"
#include "tool/parallel.h"
#include "tool/results.h"
#include "tool/verbs/paths.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

class Geodesic final : public MapVerb {
  public:
    Geodesic()
        : MapVerb("geodesic",
                  "Writes for every pixel of a set the length of the shortest path inside the set to the nearest seed, "
                  "infinity (or the largest integer) where no path leads, and -1 outside the set.",
                  whole_memory_help("4 bytes, 8 with --nearest, or twice that with --spacing,"),
                  "  apsis geodesic maze.tif door.tif steps.tif --sites white --picture steps.png\n"
                  "  apsis geodesic pores.tif inlet.tif d.tif --volume --spacing 0.4,0.4,1.5 --nearest which.tif\n"
                  "  apsis geodesic land.tif towns.tif hours.tif --costs slowness.tif --spacing 30\n"
                  "  apsis geodesic tissue.tif nuclei.tif d.tif --labels --nearest cells.tif\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override {
        return {{"distance", output_}, {"nearest", nearest_}, {"picture", picture_}, {"picture_nearest", nearest_picture_}};
    }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override { return sentence_of(costs_.empty() ? "length" : "cost", statistics_); }

    std::string seeds_, costs_, output_, nearest_, picture_, nearest_picture_;
    PathSettings paths_;
    bool seed_labels_ = false;
    std::optional<double> max_distance_;
    std::int64_t seed_pixels_ = 0;
    Statistics statistics_;
};

void Geodesic::add_to(Arguments &arguments) {
    arguments.positional("SEEDS.tif", "An image of the same size, whose non-zero samples are the seeds.", seeds_);
    add_raster(arguments, "OUT.tif", "The lengths: TIFF with a page for every page of IN.tif.", output_);
    add_raster_option(arguments, "--nearest",
                      "Also write which seed is nearest: its index x + width * (y + height * page), the lowest of several, or "
                      "-1 if there is none; i32, or i64 beyond 2^31 pixels.",
                      nearest_);
    arguments.flag(
        "--labels",
        "SEEDS.tif is a label image, of whole numbers of up to 64 bits: --nearest has the label of the nearest seed in "
        "place of its index, and 0 in place of -1. IN.tif is a set.",
        seed_labels_);
    arguments.custom(
        "--costs", "COSTS.tif",
        "An image of the same size, of samples of 8 or 16 bits, or 32-bit floating-point ones: OUT.tif has the "
        "least cost of a path. A step costs the mean of its two samples, times its length; through one that is 0 or "
        "less, infinite or not a number leads no path. With --type i32 or i64 twice the cost.",
        [this](const std::string &path) { costs_ = path; });
    paths_.add_to(arguments);
    request_.reading.add_periodic(arguments);
    arguments.number("--max-distance", "D", "Look no farther than D: beyond it, there is no path. Default: no limit.",
                     max_distance_);
    add_picture(arguments, "--picture",
                "Also draw the lengths, dark near the seeds and light far from them, the seeds white, grey where no path "
                "leads, black outside the set. Of several pages the first, of a volume the middle slice.",
                picture_);
    add_picture(arguments, "--picture-nearest",
                "Also draw the nearest seeds, each in a colour of its own, grey where there is none.", nearest_picture_);
}

void Geodesic::check() {
    paths_.check(volume());
    if (seed_labels_ && nearest_.empty() && nearest_picture_.empty())
        usage("--labels is for --nearest or --picture-nearest, but neither is given");
}

Maps Geodesic::maps(const Run &run) const {
    Maps maps;
    maps.types = {{"distance", paths_.pixel_type()}};
    if (run.file("nearest") || run.file("picture_nearest")) {
        const apsis_type seeds = seed_labels_ ? run.open_another(seeds_, true).type() : APSIS_BIT;
        maps.types.push_back({"nearest", run.type_for(seeds)});
    }
    maps.whole = "paths go through all of it";
    return maps;
}

void Geodesic::compute(Run &run) {
    const BinaryImage seeds = run.read_another(seeds_, seed_labels_);
    seed_pixels_ = seeds.sites;
    const Maps maps = this->maps(run);
    const Raster distance = run.map(maps.types[0].second, "lengths");
    const Raster nearest = maps.types.size() > 1 ? run.map(maps.types[1].second, "nearest seeds") : Raster();
    apsis_options options = run.options();
    paths_.fill_in(options);
    if (seed_labels_) options.flags |= APSIS_LABELS;
    options.max_distance = max_distance_.value_or(0);
    const BinaryImage costs = costs_.empty() ? BinaryImage() : run.read_grey(costs_, "costs");
    run.transform([&](const Device &device, const BinaryImage &image) {
        if (costs.marks)
            return device.check(apsis_cost_distance(device.context(), image.marks.image(), costs.marks.image(),
                                                    seeds.marks.image(), distance.image(), nearest.image(), &options));
        device.check(apsis_geodesic(device.context(), image.marks.image(), seeds.marks.image(), distance.image(),
                                    nearest.image(), &options));
    });
    measure(distance, run.shape().extent(), workers_of(run.threads()), statistics_, 0);
    run.end_of("measure");

    run.write("distance", distance);
    run.write("nearest", nearest);
    run.draw("picture", picture_of_lengths(distance, statistics_, run.slice()));
    run.draw("picture_nearest",
             seed_labels_ ? picture_of_labels(nearest, run.slice()) : picture_of_indices(nearest, run.slice()));
}

void Geodesic::print(Json &json) const {
    json.member("seeds", seeds_).member("seed_pixels", seed_pixels_).member("seed_labels", seed_labels_);
    if (!costs_.empty()) json.member("costs", costs_);
    paths_.print(json, volume());
    json.member_or_null("max_distance", max_distance_);
    print_statistics(json, "distance", statistics_);
}

}  // namespace

int run_geodesic(const Words &words) { return Geodesic().run(words); }

}  // namespace tool
