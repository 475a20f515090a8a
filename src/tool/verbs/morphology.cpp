// apsis morphology: a set, or labels, dilated, eroded, opened or closed by a ball.
#include <algorithm>
#include <optional>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/verbs/metrics.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr const char *kOperations[] = {"dilate", "erode", "open", "close"};  // in the order of apsis_operation
constexpr size_t kMorphologyMetrics = 3;                                     // of kMetrics: chamfer is for paths
constexpr std::uint8_t kInSet = 255;

class Morphology final : public MapVerb {
  public:
    Morphology()
        : MapVerb("morphology",
                  "Dilates, erodes, opens or closes a set by a ball of any radius, and writes the set that it has become: 255 "
                  "in it, 0 outside; or labels, and writes labels. The time does not grow with the radius.",
                  whole_memory_help("3/8 byte a pixel"),
                  "  apsis morphology page.tif bold.tif --sites black --operation dilate --radius 2.5\n"
                  "  apsis morphology mask.tif smooth.tif --operation open --radius 12 --compress deflate\n"
                  "  apsis morphology scan.tif core.tif --volume --spacing 0.4,0.4,1.5 --operation erode --radius 3\n"
                  "  apsis morphology cells.tif smooth.tif --labels --operation open --radius 4\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {{"morphology", output_}}; }
    Maps maps(const Run &run) const override { return {{{"morphology", type(run)}}, "a ball reaches beyond a slab"}; }
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override {
        return std::to_string(pixels_) + (pixels_ == 1 ? " pixel" : " pixels") +
               (labels() ? " of labels, which were " : " in the set, which was ") + kOperated[operation_];
    }
    apsis_type type(const Run &run) const { return labels() ? run.type_for(run.set_type()) : APSIS_U8; }

    static constexpr const char *kOperated[] = {"dilated", "eroded", "opened", "closed"};

    std::string output_;
    int operation_ = -1;  // a place in kOperations
    std::optional<double> radius_;
    apsis_metric metric_ = APSIS_EUCLIDEAN;
    Spacing spacing_;
    bool border_ = false;
    std::int64_t pixels_ = 0;
};

void Morphology::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The set, or the labels as i32 or i64: TIFF with a page for every page of IN.tif.",
               output_);
    arguments.choice("--operation", kOperations,
                     "dilate: every pixel with one of the set in the ball around it. erode: every pixel with nothing but the "
                     "set in it. open: eroded, then dilated. close: dilated, then eroded.",
                     operation_);
    arguments.number("--radius", "R", "The radius of the ball, of which pixels at a distance of R are still part.", radius_);
    add_metric(arguments, kMorphologyMetrics,
               "How length is measured: the ball of euclidean is a disc, that of city-block a diamond, that of chessboard a "
               "square.",
               metric_);
    spacing_.add_to(arguments, "Chessboard takes the same for every axis.");
    arguments.flag("--border",
                   "What lies outside the image counts as pixels of 0, so that a set is eroded from there, too. Default: the "
                   "image is all there is.",
                   border_);
    add_labels(
        arguments,
        "dilate: a pixel of 0 gets the nearest label in the ball around it. erode and open: every label as the set of its "
        "pixels. close: the set of all labels is closed, and its new pixels get the nearest label.");
    add_devices(arguments);
}

void Morphology::check() {
    if (operation_ < 0) usage("--operation is missing: dilate, erode, open or close");
    if (!radius_) usage("--radius is missing: a length, in units of --spacing");
    spacing_.check(volume());
    if (metric_ == APSIS_CHESSBOARD) spacing_.check_equal("--metric chessboard");
    if (metric_ == APSIS_CHESSBOARD && labels() && (operation_ == APSIS_ERODE || operation_ == APSIS_OPEN))
        usage("--labels are eroded and opened with --metric euclidean or city-block, but --metric is chessboard");
}

/// How many pixels of a map are of a label.
template <class Label>
std::int64_t count_labels(const Raster &map, std::int64_t pixels) {
    const Label *const label = reinterpret_cast<const Label *>(map.row(0, 0));
    return pixels - std::count(label, label + pixels, 0);
}

/// Makes 255 of 1, and returns how often.
std::int64_t spread_marks(const Raster &set, std::int64_t pixels) {
    std::uint8_t *const begin = set.row(0, 0);
    std::int64_t marked = 0;
    for (std::uint8_t *at = begin, *end = begin + pixels; at < end; ++at) {
        marked += *at;
        *at = *at ? kInSet : 0;
    }
    return marked;
}

void Morphology::compute(Run &run) {
    const Raster result = run.map(type(run), labels() ? "labels" : "a set");
    apsis_options options = run.options();
    spacing_.fill_in(options);
    options.metric = metric_;
    if (border_) options.flags |= APSIS_BORDER;
    run.transform([&](const Device &device, const BinaryImage &image) {
        device.check(apsis_morphology(device.context(), static_cast<apsis_operation>(operation_), *radius_, image.marks.image(),
                                      result.image(), &options));
    });
    const std::int64_t pixels = run.shape().pixels();
    pixels_ = !labels()                ? spread_marks(result, pixels)
              : type(run) == APSIS_I64 ? count_labels<std::int64_t>(result, pixels)
                                       : count_labels<std::int32_t>(result, pixels);
    run.end_of("measure");
    run.write("morphology", result);
}

void Morphology::print(Json &json) const {
    json.member("operation", kOperations[operation_]).member("radius", *radius_).member("metric", kMetrics[metric_]);
    spacing_.print(json, volume());
    json.member("border", border_).member("pixels", pixels_);
}

}  // namespace

int run_morphology(const Words &words) { return Morphology().run(words); }

}  // namespace tool
