// apsis paths: the longest of the shortest paths in each component.
#include <algorithm>

#include "apsis_measures.h"
#include "tool/io/table.h"
#include "tool/verbs/paths.h"
#include "tool/verbs/verb.h"

namespace tool {
namespace {

class LongestPaths final : public MapVerb {
  public:
    LongestPaths()
        : MapVerb("paths",
                  "Writes the longest of the shortest paths in each component, such as the length of a fibre: the label of the "
                  "component on its pixels, and 0 elsewhere.",
                  whole_memory_help("up to 190 bytes"),
                  "  apsis paths roots.tif longest.tif --table roots.csv\n"
                  "  apsis paths pores.tif longest.tif --volume --connectivity 26 --spacing 0.4,0.4,1.5\n") {}

  private:
    void add_to(Arguments &arguments) override;
    void check() override { paths_.check(volume()); }
    std::vector<OutputName> outputs() const override { return {{"paths", output_}, {"table", table_}}; }
    Maps maps(const Run &run) const override { return {{{"paths", run.index_type()}}, "paths go through all of it"}; }
    void compute(Run &run) override;
    void print(Json &json) const override;
    std::string sentence() const override { return std::to_string(count_) + (count_ == 1 ? " path" : " paths"); }

    std::string output_, table_;
    PathSettings paths_;
    std::int64_t count_ = 0, pixels_ = 0;
};

void LongestPaths::add_to(Arguments &arguments) {
    add_raster(arguments, "OUT.tif", "The labels: TIFF with a page for every page of IN.tif; i32, or i64 beyond 2^31 pixels.",
               output_);
    add_table(arguments, "--table",
              "Also write a table of the paths: label, the indices of their ends, how many pixels they have, length, distance "
              "between the ends, tortuosity (length / distance).",
              table_);
    add_labels(arguments, "Steps go to equal values only, and components are of one value.");
    paths_.add_steps_to(arguments);
}

void LongestPaths::compute(Run &run) {
    const Raster labels = run.map(run.index_type(), "labels");
    apsis_options options = run.options();
    paths_.fill_in(options);
    // Paths of different components have no pixel in common.
    const std::int64_t room = run.shape().pixels(), most = room / 2 + room % 2;
    const Memory paths = allocate(sizeof(apsis_path), most, "paths"), pixels = allocate(8, room, "their pixels");
    auto *const path = reinterpret_cast<apsis_path *>(paths.get());
    auto *const pixel = reinterpret_cast<std::int64_t *>(pixels.get());
    run.transform([&](const Device &device, const BinaryImage &image) {
        device.check(
            apsis_longest_paths(device.context(), image.marks.image(), path, most, &count_, pixel, room, &pixels_, &options));
    });
    with_type(labels.type(), [&](auto zero) {
        auto *const to = labels.row_of<decltype(zero)>(0, 0);
        for (std::int64_t i = 0; i < count_; ++i)
            for (std::int64_t k = 0; k < path[i].count; ++k) to[pixel[path[i].first + k]] = static_cast<decltype(zero)>(i + 1);
    });
    run.end_of("measure");
    if (OutputFile *file = run.file("table")) {
        TableWriter table(file, TableOf::kPaths);
        for (std::int64_t i = 0; i < count_; ++i) table.add(path[i]);
        table.finish();
    }
    run.write("paths", labels);
}

void LongestPaths::print(Json &json) const {
    paths_.print(json, volume());
    json.member("paths", count_).member("path_pixels", pixels_);
}

}  // namespace

int run_paths(const Words &words) { return LongestPaths().run(words); }

}  // namespace tool
