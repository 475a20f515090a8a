// apsis contacts: which values of a label image touch, and how much.  Slabs are told the row before them; the first
// one the last row, if the image closes on itself there.
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
                    once_memory_help(),
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
    Maps maps(const Run &run) const override {
        Maps maps;
        maps.options = options(run);
        maps.transform = APSIS_CONTACTS;
        maps.entry = sizeof(apsis_contact);
        maps.before = sizeof(std::int64_t);
        return maps;
    }
    void fill(Run &run, TableWriter &table) override;
    void print(Json &json) const override {
        connectivity_.print(json);
        spacing_.print(json, volume());
        TableVerb::print(json);
    }

    Connectivity connectivity_;
    Spacing spacing_;
};

/// The labels of the last row of a slab, in 3-D plane.
void keep_last_row(const Raster &labels, std::int64_t *row) {
    const std::int64_t columns = labels.shape().columns();
    const std::uint8_t *const last = labels.row(0, 0) + labels.bytes_of(labels.shape().extent() - 1);
    const auto keep = [&](auto zero) { std::copy_n(reinterpret_cast<const decltype(zero) *>(last), columns, row); };
    switch (labels.type()) {
        case APSIS_U8: return keep(std::uint8_t{});
        case APSIS_U16: return keep(std::uint16_t{});
        case APSIS_I32: return keep(std::int32_t{});
        default: return keep(std::int64_t{});
    }
}

void Contacts::fill(Run &run, TableWriter &table) {
    apsis_options options = this->options(run), whole = options;
    const Device &device = run.device();
    const bool is_cut = run.cut().slabs > 1, separate = options.flags & APSIS_SLICES;
    const bool is_ring = options.flags & run.shape().cut_axis();
    // The row before the slab of each device, and the last one that was read.
    const std::int64_t columns = is_cut ? run.shape().columns() : 0;
    const Memory memory = allocate(sizeof(std::int64_t), (run.devices() + 1) * columns, "the row before a slab");
    auto *const rows = reinterpret_cast<std::int64_t *>(memory.get()), *const last = rows + run.devices() * columns;
    if (is_cut && is_ring) keep_last_row(run.read_last_row(), last);
    const auto read = [&](int of, const Raster &labels) {
        if (!is_cut) return;
        std::copy_n(last, columns, rows + of * columns);
        keep_last_row(labels, last);
    };
    const auto find = [&](int of, std::int64_t start, const Raster &labels, apsis_contact *contacts, std::int64_t room) {
        const std::int64_t *const before = start > 0 || is_ring ? rows + of * columns : nullptr;
        apsis_context *const context = device.context(of);
        std::int64_t count = 0;
        device.check(!is_cut || separate
                         ? apsis_contacts(context, labels.image(), contacts, room, &count, &options)
                         : apsis_slab_contacts(context, labels.image(), before, contacts, room, &count, &options),
                     of);
        return count;
    };
    if (separate) whole.flags &= ~std::uint32_t{APSIS_SLICES};
    const int dimensions = separate ? 2 : run.shape().dimensions;
    const auto merge = [&](int of, apsis_contact *contacts, std::int64_t count) {
        if (is_cut) device.check(apsis_slab_merge_contacts(device.context(of), dimensions, contacts, &count, &whole), of);
        return count;
    };
    const Memory found = collect<apsis_contact>(run, find, merge, read);
    for (std::int64_t i = 0; i < count(); ++i) table.add(reinterpret_cast<const apsis_contact *>(found.get())[i]);
}

}  // namespace

int run_contacts(const Words &words) { return Contacts().run(words); }

}  // namespace tool
