// apsis thickness and apsis medial-axis: the largest balls in a set.
#include <limits>

#include "apsis_measures.h"
#include "tool/failure.h"
#include "tool/geometry.h"
#include "tool/parallel.h"
#include "tool/results.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

class Balls : public MapVerb {
  protected:
    using Call = apsis_status (*)(apsis_context *, const apsis_image *, const apsis_image *, const apsis_options *);

    Balls(const char *name, const char *key, Call call, const char *description, const char *examples)
        : MapVerb(name, description, whole_memory_help("13 to 25 bytes"), examples),
          key_(key),
          call_(call) {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override { return {{key_, output_}}; }
    Maps maps(const Run &) const override { return {{{key_, type()}}, "a ball reaches beyond a slab"}; }
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override { return sentence_of(squared_ ? "squared radius" : "radius", statistics_); }

    bool is_whole() const { return type_ >= 2; }
    apsis_type type() const { return kDistanceTypes[type_]; }
    std::string type_word() const { return kDistanceTypeWords[static_cast<size_t>(type_)]; }

    const char *key_;
    Call call_;
    std::string output_;
    Spacing spacing_;
    bool border_ = false, squared_ = false;
    int type_ = -1;  // a place in kDistanceTypes
    Statistics statistics_;
};

void Balls::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The radii: TIFF with a page for every page of IN.tif.", output_);
    spacing_.add_to(arguments, "Integer types take only 1.");
    arguments.flag("--border",
                   "What lies outside the image counts as pixels of 0, which no ball in the set reaches. Default: the image is "
                   "all there is.",
                   border_);
    arguments.flag("--squared", "Write squares of radii, which are whole numbers: --type i32, or i64.", squared_);
    arguments.choice("--type", kDistanceTypeWords, "Type of the radii. Default: f32. i32 and i64 are for --squared.", type_);
    add_devices(arguments);
}

void Balls::check() {
    if (squared_ && type_ >= 0 && !is_whole())
        usage("--squared gives whole numbers, but --type is " + type_word() + ": use i32 or i64");
    if (!squared_ && is_whole()) usage("--type " + type_word() + " cannot hold radii; add --squared for their squares");
    if (type_ < 0) type_ = squared_ ? 2 : 0;
    spacing_.check(volume());
    if (is_whole()) spacing_.check_one("--type " + type_word());
}

void Balls::compute(Run &run) {
    const Raster radii = run.map(type(), "radii");
    apsis_options options = run.options();
    spacing_.fill_in(options);
    if (border_) options.flags |= APSIS_BORDER;
    run.transform([&](const Device &device, const BinaryImage &image) {
        device.check(call_(device.context(), image.marks.image(), radii.image(), &options));
    });
    const double above_0 = std::numeric_limits<float>::denorm_min();
    measure(radii, run.shape().extent(), workers_of(run.threads()), statistics_, above_0);
    run.end_of("measure");
    run.write(key_, radii);
}

void Balls::print(Json &json) const {
    spacing_.print(json, volume());
    json.member("border", border_).member("squared", squared_).member("type", type_word());
    print_statistics(json, "radius", statistics_);
}

class Thickness final : public Balls {
  public:
    Thickness()
        : Balls("thickness", "thickness", apsis_thickness,
                "Writes the local thickness: for every pixel of a set the radius of the largest ball in the set that covers "
                "it, and 0 outside. A ball holds the pixels nearer to its centre than the nearest one outside the set.",
                "  apsis thickness pores.tif radius.tif --volume --spacing 0.4,0.4,1.5\n"
                "  apsis thickness leaf.tif squares.tif --squared --sites black --compress deflate\n") {}
};

class MedialAxis final : public Balls {
  public:
    MedialAxis()
        : Balls("medial-axis", "medial_axis", apsis_medial_axis,
                "Writes the radii of the balls that make up a set, at their centres, and 0 elsewhere. It is no skeleton: the "
                "centres need not be connected.",
                "  apsis medial-axis leaf.tif axis.tif\n"
                "  apsis medial-axis scan.tif squares.tif --volume --squared --border\n") {}
};

}  // namespace

int run_thickness(const Words &words) { return Thickness().run(words); }
int run_medial_axis(const Words &words) { return MedialAxis().run(words); }

}  // namespace tool
