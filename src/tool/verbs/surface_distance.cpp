// apsis surface-distance: how far the surfaces of two sets are apart.
#include <cstdio>
#include <optional>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/io/file.h"
#include "tool/verbs/metrics.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr size_t kSurfaceMetrics = 3;  // of kMetrics: chamfer is for paths

class SurfaceDistance final : public MapVerb {
  public:
    SurfaceDistance()
        : MapVerb("surface-distance",
                  "Tells how far the surfaces of two sets are apart, such as a segmentation and the truth: Hausdorff distance "
                  "and a percentile of it, average symmetric surface distance and surface Dice, as MONAI defines them. The "
                  "sets are the non-zero samples; the surface of one is its pixels that have one of their 4 neighbours (with "
                  "--volume 6) outside of it or of the image.",
                  whole_memory_help("10 bytes"),
                  "  apsis surface-distance found.tif truth.tif --tolerance 2\n"
                  "  apsis surface-distance found.tif truth.tif --volume --spacing 0.4,0.4,1.5 --percentile 99 --json\n") {}

  private:
    void add_input(Arguments &arguments) override { request_.reading.add_file_to(arguments); }
    void add_output(Arguments &) override {}
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {}; }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    void print_summary(const Run &run) const override;
    std::string sentence() const override;

    std::string other_;
    apsis_metric metric_ = APSIS_EUCLIDEAN;
    Spacing spacing_;
    std::optional<double> percentile_, tolerance_;
    std::int64_t other_pixels_ = 0;
    apsis_surface_distances found_ = {};
};

void SurfaceDistance::add_to(Arguments &arguments) {
    arguments.positional("OTHER.tif", "An image of the same size, whose non-zero samples are the second set.", other_);
    arguments.number_from_0("--percentile", "P", "Which percentile of the distances to tell, up to 100. Default: 95.",
                            percentile_);
    arguments.number_from_0("--tolerance", "D",
                            "Up to which distance a pixel of a surface counts as within it, for the surface Dice, in units of "
                            "--spacing. Default: 0.",
                            tolerance_);
    add_metric(arguments, kSurfaceMetrics, "How length is measured, between the centres of pixels.", metric_);
    spacing_.add_to(arguments, "Chessboard takes the same for every axis.");
    add_devices(arguments);
}

void SurfaceDistance::check() {
    percentile_ = percentile_.value_or(95), tolerance_ = tolerance_.value_or(0);
    if (*percentile_ > 100) usage("--percentile is above 100");
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
    const BinaryImage other = run.read_another(other_, false);
    other_pixels_ = other.sites;
    apsis_options options = APSIS_OPTIONS_INIT;
    spacing_.fill_in(options);
    options.metric = metric_;
    run.transform([&](const Device &device, const BinaryImage &image) {
        device.check(apsis_surface_distance(device.context(), image.marks.image(), other.marks.image(), *percentile_,
                                            *tolerance_, &found_, &options));
    });
}

void SurfaceDistance::print(Json &json) const {
    json.member("other", other_).member("other_pixels", other_pixels_).member("metric", kMetrics[metric_]);
    spacing_.print(json, volume());
    json.member("percentile_of", *percentile_).member("tolerance", *tolerance_);
    json.member("hausdorff", found_.hausdorff).member("hausdorff_percentile", found_.hausdorff_percentile);
    json.member("average", found_.average).member("dice", found_.dice).key("surfaces").array();
    for (int k = 0; k < 2; ++k)
        json.object()
            .member("pixels", found_.pixels[k])
            .member("within", found_.within[k])
            .member("largest", found_.largest[k])
            .member("percentile", found_.percentile[k])
            .member("mean", found_.mean[k])
            .end_object();
    json.end_array();
}

std::string SurfaceDistance::sentence() const {
    char words[200];
    std::snprintf(words, sizeof words, "Hausdorff distance %.6g, at %g %% %.6g, average %.6g, surface Dice %.6g",
                  found_.hausdorff, *percentile_, found_.hausdorff_percentile, found_.average, found_.dice);
    return words;
}

void SurfaceDistance::print_summary(const Run &run) const {
    run.print_set();
    print_out("%s: %lld in the set\n%s; %s\n", shown(other_).c_str(), static_cast<long long>(other_pixels_), sentence().c_str(),
              run.device_and_time().c_str());
}

}  // namespace

int run_surface_distance(const Words &words) { return SurfaceDistance().run(words); }

}  // namespace tool
