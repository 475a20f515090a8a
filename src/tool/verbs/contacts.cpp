// apsis contacts: which values of a label image touch, and how much.
#include "tool/geometry.h"
#include "tool/verbs/table_verb.h"

namespace tool {
namespace {

class Contacts final : public TableVerb {
  public:
    Contacts()
        : TableVerb("contacts",
                    "Tells of every two values of a label image that have neighbouring pixels how much they touch. 0, the "
                    "background, touches nothing, and neither do pixels of different pages that are images of their own.",
                    "  apsis contacts cells.tif --connectivity 8\n"
                    "  apsis contacts organs.tif --volume --spacing 0.4,0.4,1.5 --output touching.csv\n",
                    "the lower value and the greater one; their common faces, pairs of pixels side by side along x, y and z; "
                    "pairs of pixels that are neighbours across an edge or a corner alone; the area of the faces, in 2-D their "
                    "length.",
                    TableOf::kContacts, "contact", "contacts") {}

  private:
    void add_to(Arguments &arguments) override {
        TableVerb::add_to(arguments);
        connectivity_.add_to(arguments, "Default: 4, or 6.");
        spacing_.add_to(arguments, "It scales the area.");
        request_.reading.add_periodic(arguments);
    }
    void check() override {
        TableVerb::check();
        connectivity_.check(volume(), false);
        spacing_.check(volume());
    }
    apsis_options options(const Run &run) const override {
        apsis_options options = run.options();
        options.connectivity = connectivity_.axes();
        spacing_.fill_in(options);
        return options;
    }
    void fill(Run &run, TableWriter &table) override { fill_by<apsis_contact>(apsis_contacts, run, table); }
    void print(Json &json) const override {
        connectivity_.print(json);
        spacing_.print(json, volume());
        TableVerb::print(json);
    }

    Connectivity connectivity_;
    Spacing spacing_;
};

}  // namespace

int run_contacts(const Words &words) { return Contacts().run(words); }

}  // namespace tool
