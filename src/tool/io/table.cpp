// See table.h.
#include "tool/io/table.h"

#include <charconv>

#include "tool/failure.h"
#include "tool/io/json.h"

namespace tool {
namespace {

constexpr size_t kBuffer = 1 << 16;

/// The columns of each measure.
constexpr struct {
    std::uint32_t measure;
    const char *columns;
} kMeasures[] = {{APSIS_MOMENTS, ",xx,yy,zz,xy,xz,yz,axis_1,axis_2,axis_3,orientation,eccentricity"},
                 {APSIS_PERIMETER, ",perimeter,crofton_2,crofton_4"},
                 {APSIS_SURFACE, ",x_faces,y_faces,z_faces,surface"},
                 {APSIS_EULER, ",euler"},
                 {APSIS_FILLED, ",filled"},
                 {APSIS_HULL, ",convex,convex_area"},
                 {APSIS_FERET, ",feret_min,feret_max,feret_contour"},
                 {APSIS_INTENSITY, ",intensity_sum,intensity_mean,intensity_min,intensity_max"}};

std::string columns_of_measures(std::uint32_t measures) {
    std::string columns = "value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean,border";
    for (const auto &each : kMeasures)
        if (measures & each.measure) columns += each.columns;
    return columns + "\n";
}

const char *columns_of(TableOf entries) {
    switch (entries) {
        case TableOf::kComponents: return "label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n";
        case TableOf::kLabelComponents:
            return "label,value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n";
        case TableOf::kValues: return "value,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n";
        case TableOf::kContacts: return "a,b,x_faces,y_faces,z_faces,corners,area\n";
        case TableOf::kPaths: return "label,start,end,pixels,length,straight,tortuosity\n";
        case TableOf::kSurfaces:
            return "value,hausdorff,hausdorff_percentile,average,dice,points_1,points_2,area_1,area_2,within_1,within_2,"
                   "largest_1,largest_2,percentile_1,percentile_2,mean_1,mean_2\n";
        default: return "label,first,diameter,end_1,end_2,radius,centre\n";
    }
}

}  // namespace

void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.custom(name, "FILE.csv|.json", help, [name, &target](const std::string &path) {
        if (!ends_with(path, ".csv") && !ends_with(path, ".json"))
            usage(name + " is " + quoted(path) + ", but must end in .csv or .json");
        target = path;
    });
}

/// An entry as a line and as an object.
class TableWriter::Row {
  public:
    explicit Row(bool csv) : csv_(csv) { json_.object(); }

    template <class Number>
    Row &number(const char *name, Number number) {
        csv_ ? append(number) : void(json_.member(name, number));
        return *this;
    }
    template <class Number, size_t count>
    Row &numbers(const char *name, const Number (&all)[count]) {
        if (!csv_) json_.key(name).array();
        for (const Number number : all) csv_ ? append(number) : void(json_.value(number));
        if (!csv_) json_.end_array();
        return *this;
    }
    std::string line() const { return line_ + '\n'; }
    std::string object() const { return Json(json_).end_object().text(); }

  private:
    /// The shortest digits that read back as the same number.
    template <class Number>
    void append(Number number) {
        char digits[32];
        if (!line_.empty()) line_ += ',';
        line_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    }

    bool csv_;
    std::string line_;
    Json json_;
};

TableWriter::TableWriter(OutputFile *file, TableOf entries, std::uint32_t measures)
    : file_(file),
      entries_(entries),
      measures_(measures),
      csv_(!file || ends_with(file->path(), ".csv")),
      text_(!csv_                           ? "["
            : entries == TableOf::kMeasures ? columns_of_measures(measures)
                                            : columns_of(entries)) {
    if (file_) file_->create();
}

void TableWriter::write(const std::string &text) { file_ ? file_->write(text) : print_out("%s", text.c_str()); }

void TableWriter::add(const Row &row) {
    text_ += csv_ ? row.line() : (count_ == 0 ? "\n " : ",\n ") + row.object();
    ++count_;
    if (text_.size() < kBuffer) return;
    write(text_);
    text_.clear();
}

void TableWriter::add(const apsis_component &component) {
    Row row(csv_);
    if (entries_ != TableOf::kValues) row.number("label", count_ + 1);
    if (entries_ != TableOf::kComponents) row.number("value", component.value);
    row.number("first", component.first).number("area", component.area).numbers("lower", component.lower);
    add(row.numbers("upper", component.upper).numbers("centroid", component.centroid));
}

void TableWriter::add(const apsis_contact &contact) {
    Row row(csv_);
    row.number("a", contact.a).number("b", contact.b).numbers("faces", contact.faces);
    add(row.number("corners", contact.corners).number("area", contact.area));
}

void TableWriter::add(const apsis_extent &extent) {
    Row row(csv_);
    row.number("label", count_ + 1).number("first", extent.first).number("diameter", extent.diameter);
    add(row.numbers("ends", extent.ends).number("radius", extent.radius).number("centre", extent.centre));
}

void TableWriter::add(const apsis_measure &measure) {
    Row row(csv_);
    const apsis_component &known = measure.component;
    row.number("value", known.value).number("first", known.first).number("area", known.area).numbers("lower", known.lower);
    row.numbers("upper", known.upper).numbers("centroid", known.centroid).number("border", measure.border);
    if (measures_ & APSIS_MOMENTS) {
        row.numbers("moments", measure.moments).numbers("axes", measure.axes).number("orientation", measure.orientation);
        row.number("eccentricity", measure.eccentricity);
    }
    if (measures_ & APSIS_PERIMETER) row.number("perimeter", measure.perimeter).numbers("crofton", measure.crofton);
    if (measures_ & APSIS_SURFACE) row.numbers("faces", measure.faces).number("surface", measure.surface);
    if (measures_ & APSIS_EULER) row.number("euler", measure.euler);
    if (measures_ & APSIS_FILLED) row.number("filled", measure.filled);
    if (measures_ & APSIS_HULL) row.number("convex", measure.convex).number("convex_area", measure.convex_area);
    if (measures_ & APSIS_FERET) row.numbers("feret", measure.feret).number("feret_contour", measure.feret_contour);
    if (measures_ & APSIS_INTENSITY) {
        row.number("intensity_sum", measure.intensity_sum).number("intensity_mean", measure.intensity_mean);
        row.number("intensity_min", measure.intensity_min).number("intensity_max", measure.intensity_max);
    }
    add(row);
}

void TableWriter::add(const apsis_path &path) {
    Row row(csv_);
    row.number("label", count_ + 1).number("start", path.start).number("end", path.seed).number("pixels", path.count);
    add(row.number("length", path.length).number("straight", path.straight).number("tortuosity", path.tortuosity));
}

void TableWriter::add(const apsis_surface_distances &found) {
    Row row(csv_);
    row.number("value", found.value).number("hausdorff", found.hausdorff);
    row.number("hausdorff_percentile", found.hausdorff_percentile).number("average", found.average).number("dice", found.dice);
    row.numbers("points", found.points).numbers("area", found.area).numbers("within", found.within);
    add(row.numbers("largest", found.largest).numbers("percentile", found.percentile).numbers("mean", found.mean));
}

void TableWriter::finish() {
    write(text_ + (csv_ ? "" : "\n]\n"));
    if (file_) file_->sync();
}

}  // namespace tool
