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
                    "  apsis statistics cells.tif\n"
                    "  apsis statistics organs.tif --volume --output organs.json\n",
                    "value, index of the first pixel, area, box, mean x, y and z, in ascending order of the values.",
                    TableOf::kValues, "value", "values") {}

  private:
    apsis_options options(const Run &) const override { return APSIS_OPTIONS_INIT; }
    void fill(Run &run, TableWriter &table) override { fill_by<apsis_component>(apsis_statistics, run, table); }
};

}  // namespace

int run_statistics(const Words &words) { return ValueStatistics().run(words); }

}  // namespace tool
