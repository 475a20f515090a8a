// apsis statistics: what is known of each value of a label image.
#include "tool/verbs/table_verb.h"

namespace tool {
namespace {

class ValueStatistics final : public TableVerb {
  public:
    ValueStatistics()
        : TableVerb("statistics",
                    "Tells what is known of each value of a label image, wherever its pixels are: nothing is labelled. The "
                    "background, 0, is a value too. Pages are taken together, with --volume or without.",
                    once_memory_help(),
                    "  apsis statistics cells.tif\n"
                    "  apsis statistics organs.tif --volume --output organs.json\n",
                    "value, index of the first pixel, area, box, mean x, y and z, in ascending order of the values.",
                    TableOf::kValues, "value", "values") {}

  private:
    apsis_options options(const Run &) const override { return APSIS_OPTIONS_INIT; }
    Maps maps(const Run &run) const override {
        Maps maps;
        maps.options = options(run);
        maps.transform = APSIS_STATISTICS;
        maps.entry = sizeof(apsis_part);
        return maps;
    }
    void fill(Run &run, TableWriter &table) override {
        const apsis_options options = this->options(run);
        const Device &device = run.device();
        const auto find = [&](int of, std::int64_t start, const Raster &labels, apsis_part *parts, std::int64_t room) {
            std::int64_t count = 0;
            device.check(apsis_slab_statistics(device.context(of), labels.image(), start, parts, room, &count, &options), of);
            return count;
        };
        const Memory parts = collect<apsis_part>(
            run, find, [](int, apsis_part *all, std::int64_t count) { return apsis_slab_merge_parts(count, all); });
        for (std::int64_t i = 0; i < count(); ++i) {
            apsis_component component;
            apsis_slab_measure(1, reinterpret_cast<const apsis_part *>(parts.get()) + i, &component);
            table.add(component);
        }
    }
};

}  // namespace

int run_statistics(const Words &words) { return ValueStatistics().run(words); }

}  // namespace tool
