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

std::string csv_line(std::int64_t label, const apsis_component &component) {
    std::string line = std::to_string(label) + ',' + std::to_string(component.first) + ',' + std::to_string(component.area);
    for (const std::int64_t lower : component.lower) line += ',' + std::to_string(lower);
    for (const std::int64_t upper : component.upper) line += ',' + std::to_string(upper);
    for (const double mean : component.centroid) line += ',' + digits(mean);
    return line + '\n';
}

std::string json_object(std::int64_t label, const apsis_component &component) {
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

std::string csv_line(std::int64_t label, const apsis_extent &extent) {
    return std::to_string(label) + ',' + std::to_string(extent.first) + ',' + digits(extent.diameter) + ',' +
           std::to_string(extent.ends[0]) + ',' + std::to_string(extent.ends[1]) + ',' + digits(extent.radius) + ',' +
           std::to_string(extent.centre) + '\n';
}

std::string json_object(std::int64_t label, const apsis_extent &extent) {
    Json json;
    json.object().member("label", label).member("first", extent.first).member("diameter", extent.diameter);
    json.key("ends").array().value(extent.ends[0]).value(extent.ends[1]).end_array();
    json.member("radius", extent.radius).member("centre", extent.centre).end_object();
    return json.text();
}

}  // namespace

void add_table(Arguments &arguments, const std::string &name, const std::string &help, std::string &target) {
    arguments.custom(name, "FILE.csv|.json", help, [name, &target](const std::string &path) {
        if (!ends_with(path, ".csv") && !ends_with(path, ".json"))
            usage(name + " is " + quoted(path) + ", but must end in .csv or .json");
        target = path;
    });
}

TableWriter::TableWriter(OutputFile &file, const char *columns)
    : file_(file),
      csv_(ends_with(file.path(), ".csv")),
      text_(csv_ ? columns : "[") {
    file.create();
}

template <class Entry>
void TableWriter::add_entry(const Entry &entry) {
    const bool first = ++label_ == 1;
    text_ += csv_ ? csv_line(label_, entry) : (first ? "\n " : ",\n ") + json_object(label_, entry);
    if (text_.size() < kBuffer) return;
    file_.write(text_);
    text_.clear();
}

void TableWriter::add(const apsis_component &component) { add_entry(component); }
void TableWriter::add(const apsis_extent &extent) { add_entry(extent); }

void TableWriter::finish() {
    file_.write(text_ + (csv_ ? "" : "\n]\n"));
    file_.sync();
}

}  // namespace tool
