// Writes tables of components.
#include "tool/io/table.h"

#include <charconv>

#include "tool/failure.h"
#include "tool/io/json.h"

namespace tool {
namespace {

constexpr size_t kBuffer = 1 << 16;

/// The shortest digits that read back as the same number.
std::string digits(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

std::string csv_line(size_t label, const apsis_component &component) {
    std::string line = std::to_string(label) + ',' + std::to_string(component.first) + ',' + std::to_string(component.area);
    for (const std::int64_t lower : component.lower) line += ',' + std::to_string(lower);
    for (const std::int64_t upper : component.upper) line += ',' + std::to_string(upper);
    for (const double mean : component.centroid) line += ',' + digits(mean);
    return line + '\n';
}

std::string json_object(size_t label, const apsis_component &component) {
    Json json;
    json.object().member("label", label).member("first", component.first).member("area", component.area);
    json.key("lower").array();
    for (const std::int64_t lower : component.lower) json.value(lower);
    json.end_array().key("upper").array();
    for (const std::int64_t upper : component.upper) json.value(upper);
    json.end_array().key("centroid").array();
    for (const double mean : component.centroid) json.value(mean);
    json.end_array().end_object();
    return json.text();
}

std::string csv_line(size_t label, const apsis_extent &extent) {
    return std::to_string(label) + ',' + std::to_string(extent.first) + ',' + digits(extent.diameter) + ',' +
           std::to_string(extent.ends[0]) + ',' + std::to_string(extent.ends[1]) + ',' + digits(extent.radius) + ',' +
           std::to_string(extent.centre) + '\n';
}

std::string json_object(size_t label, const apsis_extent &extent) {
    Json json;
    json.object().member("label", label).member("first", extent.first).member("diameter", extent.diameter);
    json.key("ends").array().value(extent.ends[0]).value(extent.ends[1]).end_array();
    json.member("radius", extent.radius).member("centre", extent.centre).end_object();
    return json.text();
}

/// Writes one line (CSV) or object (JSON) for each entry.
template <class Entry>
void write_entries(const char *names, const std::vector<Entry> &entries, OutputFile &file) {
    const bool csv = ends_with(file.path(), ".csv");
    file.create();
    std::string text = csv ? names : "[";
    for (size_t i = 0; i < entries.size(); ++i) {
        text += csv ? csv_line(i + 1, entries[i]) : (i ? ",\n " : "\n ") + json_object(i + 1, entries[i]);
        if (text.size() < kBuffer) continue;
        file.write(text);
        text.clear();
    }
    file.write(text + (csv ? "" : "\n]\n"));
    file.sync();
}

}  // namespace

void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.custom(name, "FILE.csv|.json", help, [name, &target](const std::string &path) {
        if (!ends_with(path, ".csv") && !ends_with(path, ".json"))
            usage(name + " is " + quoted(path) + ", but must end in .csv or .json");
        target = path;
    });
}

void write_table(const std::vector<apsis_component> &components, OutputFile &file) {
    write_entries("label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n", components, file);
}

void write_table(const std::vector<apsis_extent> &extents, OutputFile &file) {
    write_entries("label,first,diameter,end_1,end_2,radius,centre\n", extents, file);
}

}  // namespace tool
