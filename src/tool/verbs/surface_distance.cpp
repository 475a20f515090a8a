// apsis surface-distance: how far the surfaces of two sets are apart, or those of each value of two label images.
#include <cstdio>
#include <optional>
#include <vector>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/io/file.h"
#include "tool/io/table.h"
#include "tool/verbs/metrics.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr size_t kSurfaceMetrics = 3;                              // of kMetrics: chamfer is for paths
constexpr const char *kSurfaces[] = {"pixels", "all", "corners"};  // in the order of apsis_surface

constexpr size_t kRoom = 4096;  // values for which there is room at first

class SurfaceDistance final : public MapVerb {
  public:
    SurfaceDistance()
        : MapVerb("surface-distance",
                  "Tells how far the surfaces of two sets are apart, such as a segmentation and the truth: Hausdorff distance "
                  "and a percentile of it, average symmetric surface distance and surface Dice, as MONAI, scikit-image and "
                  "DeepMind's surface-distance define them. The sets are the non-zero samples, or with --labels those of each "
                  "value.",
                  whole_memory_help("11 bytes"),
                  "  apsis surface-distance found.tif truth.tif --tolerance 2\n"
                  "  apsis surface-distance organs.tif truth.tif --volume --labels --surface corners --table organs.csv\n"
                  "  apsis surface-distance found.tif truth.tif --volume --spacing 0.4,0.4,1.5 --percentile 99 --json\n") {}

  private:
    void add_input(Arguments &arguments) override { request_.reading.add_file_to(arguments); }
    void add_output(Arguments &arguments) override { request_.writing.add_overwrite(arguments); }
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {{"table", table_}}; }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    void print_summary(const Run &run) const override;
    std::string sentence() const override;

    std::string other_, table_;
    apsis_surface surface_ = APSIS_SURFACE_PIXELS;
    apsis_metric metric_ = APSIS_EUCLIDEAN;
    Spacing spacing_;
    std::optional<double> percentile_, tolerance_;
    std::int64_t other_pixels_ = 0;
    std::vector<apsis_surface_distances> found_ = std::vector<apsis_surface_distances>(1);
};

void SurfaceDistance::add_to(Arguments &arguments) {
    arguments.positional("OTHER.tif", "An image of the same size, whose non-zero samples are the second set.", other_);
    add_labels(arguments, "So is OTHER.tif, and each value that occurs in one of them is compared.");
    add_table(arguments, "--table",
              "Write what is known of each value to a file: value, Hausdorff distance, its percentile, average, Dice; and in "
              "pairs, of IN.tif's surface and of OTHER.tif's, points, area, area within the tolerance, largest distance, "
              "percentile and mean. Default, with --labels: print it as CSV in place of the summary.",
              table_);
    arguments.choice(
        "--surface", kSurfaces,
        "What the surface of a set is. pixels: those that have one of their 4 neighbours (with --volume 6) outside "
        "of it or of the image, as MONAI has them. all: all its pixels, as in scikit-image's hausdorff_distance. "
        "corners: those of pixels, where some around are in the set and others are not, by the length of the "
        "contour of marching squares or the area of the surface of marching cubes, as in surface-distance. "
        "Default: pixels.",
        surface_);
    arguments.number_from_0("--percentile", "P", "Which percentile of the distances to tell, up to 100. Default: 95.",
                            percentile_);
    arguments.number_from_0("--tolerance", "D",
                            "Up to which distance a pixel of a surface counts as within it, for the surface Dice, in units of "
                            "--spacing. Default: 0.",
                            tolerance_);
    add_metric(arguments, kSurfaceMetrics, "How length is measured.", metric_);
    spacing_.add_to(arguments, "Chessboard takes the same for every axis.");
    add_devices(arguments);
}

void SurfaceDistance::check() {
    percentile_ = percentile_.value_or(95), tolerance_ = tolerance_.value_or(0);
    if (*percentile_ > 100) usage("--percentile is above 100");
    if (labels() && table_.empty() && request_.running.json && !request_.running.dry)
        usage("--json prints an object about the run where the table is printed; name a file for the table with --table");
    spacing_.check(volume());
    if (metric_ == APSIS_CHESSBOARD) spacing_.check_equal("--metric chessboard");
}

Maps SurfaceDistance::maps(const Run &run) const {
    if (run.shape().depth > 1 && !volume())
        fail(quoted(request_.input) + " has " + std::to_string(run.shape().depth) +
             " pages: take them as slices of one image with --volume");
    return {{}, "surfaces are compared at once"};
}

void SurfaceDistance::compute(Run &run) {
    const BinaryImage other = run.read_another(other_, labels());
    other_pixels_ = other.sites;
    apsis_options options = APSIS_OPTIONS_INIT;
    spacing_.fill_in(options);
    options.metric = metric_;
    if (labels()) options.flags |= APSIS_LABELS;
    run.transform([&](const Device &device, const BinaryImage &image) {
        std::int64_t count = 0;
        const auto find = [&] {
            device.check(apsis_surface_distance(device.context(), image.marks.image(), other.marks.image(), surface_,
                                                *percentile_, *tolerance_, found_.data(),
                                                static_cast<std::int64_t>(found_.size()), &count, &options));
        };
        if (labels()) found_.resize(kRoom);
        find();
        const bool fits = count <= static_cast<std::int64_t>(found_.size());
        found_.resize(static_cast<size_t>(count));
        if (!fits) find();
    });
    if (!labels() && table_.empty()) return;
    run.progress().clear();
    TableWriter table(run.file("table"), TableOf::kSurfaces);
    for (const apsis_surface_distances &each : found_) table.add(each);
    table.finish();
    run.end_of("write");
}

void SurfaceDistance::print(Json &json) const {
    json.member("other", other_).member("other_pixels", other_pixels_).member("metric", kMetrics[metric_]);
    spacing_.print(json, volume());
    json.member("percentile_of", *percentile_).member("tolerance", *tolerance_);
    json.member("surface", kSurfaces[surface_]);
    if (labels()) {
        json.member("values", static_cast<std::int64_t>(found_.size()));
        return;
    }
    const apsis_surface_distances &found = found_[0];
    json.member("hausdorff", found.hausdorff).member("hausdorff_percentile", found.hausdorff_percentile);
    json.member("average", found.average).member("dice", found.dice).key("surfaces").array();
    for (int k = 0; k < 2; ++k)
        json.object()
            .member("points", found.points[k])
            .member("area", found.area[k])
            .member("within", found.within[k])
            .member("largest", found.largest[k])
            .member("percentile", found.percentile[k])
            .member("mean", found.mean[k])
            .end_object();
    json.end_array();
}

std::string SurfaceDistance::sentence() const {
    if (labels()) return std::to_string(found_.size()) + (found_.size() == 1 ? " value" : " values");
    const apsis_surface_distances &found = found_[0];
    char words[200];
    std::snprintf(words, sizeof words, "Hausdorff distance %.6g, at %g %% %.6g, average %.6g, surface Dice %.6g",
                  found.hausdorff, *percentile_, found.hausdorff_percentile, found.average, found.dice);
    return words;
}

void SurfaceDistance::print_summary(const Run &run) const {
    if (labels() && table_.empty()) return;
    run.print_set();
    print_out("%s: %lld in the set\n%s; %s\n", shown(other_).c_str(), static_cast<long long>(other_pixels_), sentence().c_str(),
              run.device_and_time().c_str());
}

}  // namespace

int run_surface_distance(const Words &words) { return SurfaceDistance().run(words); }

}  // namespace tool
