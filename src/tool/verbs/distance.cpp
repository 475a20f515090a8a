// apsis distance: how far every pixel is from the set, and which of its pixels is nearest.
#include "tool/failure.h"
#include "tool/io/picture.h"
#include "tool/parallel.h"
#include "tool/results.h"
#include "tool/verbs/distances.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

class Distance final : public MapVerb {
  public:
    Distance()
        : MapVerb("distance",
                  "Writes the exact distance from every pixel to the nearest pixel of a set, 0 on the set, and infinity (or "
                  "the largest integer) where there is none.",
                  slab_memory_help("3/8 byte a pixel, 5/8 with --signed"),
                  "  apsis distance page.tif far.tif --sites black --picture far.png\n"
                  "  apsis distance scan.tif d.tif --volume --spacing 0.4,0.4,1.5 --signed\n"
                  "  apsis distance mask.tif d2.tif --squared --nearest which.tif --compress deflate\n"
                  "  apsis distance cells.tif depth.tif --labels --border\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void add_pictures(Arguments &arguments);
    void check() override;
    std::vector<OutputName> outputs() const override {
        return {{"distance", output_}, {"nearest", nearest_}, {"picture", picture_}, {"picture_nearest", nearest_picture_}};
    }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override {
        return sentence_of(squared_ ? "squared distance" : "distance", statistics_) + report_.clause();
    }

    bool is_whole() const { return type_ >= 2; }
    std::string type_word() const { return kDistanceTypeWords[static_cast<size_t>(type_)]; }

    std::string output_, nearest_, picture_, nearest_picture_;
    DistanceSettings settings_;
    bool signed_ = false, squared_ = false, border_ = false;
    int type_ = -1;  // a place in kDistanceTypes
    Statistics statistics_;
    MethodReport report_;
};

void Distance::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The distances: TIFF with a page for every page of IN.tif.", output_);
    add_raster_option(arguments, "--nearest",
                      "Also write which pixel of the set is nearest: its index x + width * (y + height * page), the lowest of "
                      "several, or -1 if there is none; i32, or i64 beyond 2^31 pixels.",
                      nearest_);
    settings_.add_to(arguments, "Chessboard and chamfer take the same for every axis, integer types only 1.", true);
    add_labels(arguments,
               "A pixel of a label has its distance to the nearest pixel of another value, of which 0 is one, and a pixel of 0 "
               "has 0.");
    request_.reading.add_periodic(arguments);
    arguments.flag("--border",
                   "What lies outside the image counts as pixels of 0: another value with --labels, outside the set with "
                   "--signed, in it with --sites zero. Where nothing is nearer, there is no nearest pixel.",
                   border_);
    arguments.flag("--signed", "Inside the set, minus the distance to the nearest pixel outside. Default: 0 there.", signed_);
    arguments.flag("--squared", "Write squared Euclidean distances, which are whole numbers: --type i32, or i64.", squared_);
    arguments.choice("--type", kDistanceTypeWords,
                     "Type of the distances. Default: f32. i32 and i64 are for --squared and for all metrics but "
                     "euclidean, and hold chamfer distances in thirds.",
                     type_);
    add_pictures(arguments);
    add_devices(arguments);
}

void Distance::add_pictures(Arguments &arguments) {
    add_picture(arguments, "--picture",
                "Also draw the distances, dark near the set and light far from it, the set white; signed ones red outside "
                "and blue inside, each up to its own extreme; grey where there is none. Of several pages the first, of a "
                "volume the middle slice.",
                picture_);
    add_picture(arguments, "--picture-nearest", "Also draw the nearest pixels, each in a colour of its own, the set black.",
                nearest_picture_);
}

void Distance::check() {
    const bool euclidean = settings_.metric == APSIS_EUCLIDEAN;
    if (squared_ && !euclidean) usage("--squared is for --metric euclidean, but --metric is " + settings_.metric_word());
    if (squared_ && type_ >= 0 && !is_whole())
        usage("--squared gives whole numbers, but --type is " + type_word() + ": use i32 or i64");
    if (!squared_ && euclidean && is_whole())
        usage("--type " + type_word() + " cannot hold Euclidean distances; add --squared for their squares");
    if (type_ < 0) type_ = squared_ ? 2 : 0;
    settings_.check(volume());
    if (labels() && signed_) usage("--signed is for a set, but --labels takes a label image: use one of them");
    if (labels() && settings_.metric == APSIS_CHESSBOARD)
        usage("--labels is for --metric euclidean or city-block, but --metric is chessboard");
    if (labels()) settings_.check_auto("--labels");
    if (border_) settings_.check_auto("--border");
    settings_.check_periodic(request_.reading);
    if (is_whole()) settings_.spacing.check_one("--type " + type_word());
}

Maps Distance::maps(const Run &run) const {
    Maps maps;
    maps.types = {{"distance", kDistanceTypes[type_]}};
    if (run.file("nearest") || run.file("picture_nearest")) maps.types.push_back({"nearest", run.index_type()});
    maps.options = run.options();
    settings_.fill_in(maps.options);
    if (signed_) maps.options.flags |= APSIS_SIGNED;
    if (border_) maps.options.flags |= APSIS_BORDER;
    if (border_ && !(maps.options.flags & (APSIS_LABELS | APSIS_SIGNED | APSIS_COMPLEMENT)))
        usage(
            "--border counts what lies outside as pixels of 0, but no distance leads to these: use --labels, --signed or "
            "--sites zero");
    maps.whole = run.file("picture")           ? "--picture shows all of it"
                 : run.file("picture_nearest") ? "--picture-nearest shows all of it"
                                               : settings_.why_whole(maps.options);
    return maps;
}

void Distance::compute(Run &run) {
    const Maps maps = this->maps(run);
    const std::vector<Raster> distance = run.slabs_of(maps.types[0].second, "distances");
    const std::vector<Raster> nearest = run.slabs_of(run.index_type(), "nearest pixels", maps.types.size() > 1);
    report_.listen_to(run.device());
    run.transform_slabs(
        maps.options, distance, nearest,
        [&](apsis_context *context, const apsis_image *set, const apsis_image *to, const apsis_image *which) {
            return apsis_distance(context, set, to, which, &maps.options);
        },
        [&](int device, std::int64_t slab) {
            const auto which = static_cast<size_t>(device);
            measure(distance[which], run.extent_of(slab), workers_of(run.threads()), statistics_);
            run.end_of("measure");
            run.write("distance", distance[which], run.extent_of(slab));
            run.write("nearest", nearest[which], run.extent_of(slab));
        });
    run.draw("picture", picture_of_distance(distance[0], statistics_, squared_, run.slice()));
    run.draw("picture_nearest", picture_of_indices(nearest[0], run.slice()));
}

void Distance::print(Json &json) const {
    settings_.print(json, volume());
    json.member("border", border_).member("signed", signed_).member("squared", squared_).member("type", type_word());
    report_.print(json);
    print_statistics(json, "distance", statistics_);
}

}  // namespace

int run_distance(const Words &words) { return Distance().run(words); }

}  // namespace tool
