// apsis eccentricity: how far every pixel of the set is from the farthest one of its component, along paths inside it.
#include <optional>
#include <string_view>

#include "tool/failure.h"
#include "tool/io/picture.h"
#include "tool/io/table.h"
#include "tool/parallel.h"
#include "tool/results.h"
#include "tool/verbs/paths.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

constexpr const char *kMethods[] = {"auto", "every-source"};
constexpr apsis_method kMethodOf[] = {APSIS_AUTO, APSIS_EVERY_SOURCE};

class Eccentricity final : public MapVerb {
  public:
    Eccentricity()
        : MapVerb("eccentricity",
                  "Writes for every pixel of a set the length of the shortest path inside the set to the farthest pixel of "
                  "its component, and -1 outside the set.",
                  whole_memory_help("up to 190 bytes"),
                  "  apsis eccentricity leaf.tif e.tif --components leaf.csv --picture e.png\n"
                  "  apsis eccentricity pores.tif e.tif --volume --connectivity 26 --farthest ends.tif\n"
                  "  apsis eccentricity cells.tif e.tif --labels --components cells.csv\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override;
    std::vector<OutputName> outputs() const override {
        return {{"eccentricity", output_}, {"farthest", farthest_}, {"components", table_}, {"picture", picture_}};
    }
    Maps maps(const Run &run) const override;
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override;

    std::string output_, farthest_, table_, picture_;
    PathSettings paths_;
    std::optional<std::int64_t> budget_;
    int method_ = 0;  // a place in kMethods
    std::int64_t components_ = 0;
    Statistics statistics_;
};

void Eccentricity::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The lengths: TIFF with a page for every page of IN.tif.", output_);
    add_raster_option(arguments, "--farthest",
                      "Also write which pixel is farthest: its index x + width * (y + height * page), the lowest of several, "
                      "or -1 outside the set; i32, or i64 beyond 2^31 pixels.",
                      farthest_);
    add_table(arguments, "--components",
              "Also write a table of the components: label, index of the first pixel, diameter, the indices of its two "
              "ends, radius, the index of the centre.",
              table_);
    add_labels(arguments, "Steps go to equal values only.");
    paths_.add_to(arguments);
    request_.reading.add_periodic(arguments);
    arguments.integer("--budget", "N",
                      "Make at most N distance fields for a component. If that is not enough to prove every pixel, nothing "
                      "is written, and the exit code is 20. Default: no limit.",
                      1, budget_);
    arguments.choice("--method", kMethods,
                     "every-source: the published method, a distance field from every pixel. Default: auto.", method_);
    add_picture(arguments, "--picture",
                "Also draw the lengths, dark at the centre and light far from it, black outside the set. Of several pages "
                "the first, of a volume the middle slice.",
                picture_);
}

void Eccentricity::check() {
    paths_.check(volume());
    if (method_ && budget_) usage("--budget is for --method auto, but --method is every-source");
}

/// Counts the components, to size the table of extents before the call that fills it.
std::int64_t count_components(const Device &device, const BinaryImage &image, const apsis_options &paths) {
    apsis_options options = APSIS_OPTIONS_INIT;
    std::int64_t count = 0;
    options.flags = paths.flags;
    options.connectivity = paths.connectivity;
    device.check(apsis_components(device.context(), image.marks.image(), nullptr, nullptr, 0, &count, &options));
    return count;
}

/// Shows the library's log lines on progress, such as "eccentricity: 12 fields, 3456 pixels left".
void note_fields(void *progress, const char *line) {
    const std::string_view kName = "eccentricity: ", kLeft = " pixels left", text = line;
    if (text.size() > kName.size() + kLeft.size() && text.substr(text.size() - kLeft.size()) == kLeft)
        static_cast<Progress *>(progress)->note(line + kName.size());
}

Maps Eccentricity::maps(const Run &run) const {
    Maps maps;
    maps.types = {{"eccentricity", paths_.pixel_type()}};
    if (run.file("farthest")) maps.types.push_back({"farthest", run.index_type()});
    maps.whole = "paths go through all of it";
    return maps;
}

void Eccentricity::compute(Run &run) {
    const Maps maps = this->maps(run);
    const Raster eccentricity = run.map(maps.types[0].second, "lengths");
    const Raster farthest = maps.types.size() > 1 ? run.map(maps.types[1].second, "farthest pixels") : Raster();
    apsis_options options = run.options();
    paths_.fill_in(options);
    options.budget = budget_.value_or(0);
    options.method = kMethodOf[method_];
    std::vector<apsis_extent> extents;
    run.transform([&](const Device &device, const BinaryImage &image) {
        device.check(apsis_set_log(device.context(), note_fields, &run.progress()));
        if (run.file("components")) extents.resize(static_cast<size_t>(count_components(device, image, options)));
        device.check(apsis_eccentricity(device.context(), image.marks.image(), eccentricity.image(), farthest.image(),
                                        extents.data(), static_cast<std::int64_t>(extents.size()), &components_, &options));
    });
    measure(eccentricity, run.shape().extent(), workers_of(run.threads()), statistics_, 0);
    run.end_of("measure");

    if (OutputFile *file = run.file("components")) {
        TableWriter table(file, TableOf::kExtents);
        for (const apsis_extent &extent : extents) table.add(extent);
        table.finish();
    }
    run.write("eccentricity", eccentricity);
    run.write("farthest", farthest);
    run.draw("picture", picture_of_lengths(eccentricity, statistics_, run.slice()));
}

void Eccentricity::print(Json &json) const {
    paths_.print(json, volume());
    json.member("method", kMethods[static_cast<size_t>(method_)]).member_or_null("budget", budget_);
    json.member("components", components_);
    print_statistics(json, "eccentricity", statistics_);
}

std::string Eccentricity::sentence() const {
    return std::to_string(components_) + (components_ == 1 ? " component, " : " components, ") +
           sentence_of("eccentricity", statistics_);
}

}  // namespace

int run_eccentricity(const Words &words) { return Eccentricity().run(words); }

}  // namespace tool
