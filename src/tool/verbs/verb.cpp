// Runs a verb: parses its words, makes its outputs, and prints the summary or the JSON report.
#include "tool/verbs/verb.h"

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {

std::string whole_memory_help(const std::string &needs) {
    return "An image that takes more is refused: its pixels, 1 bit each; those of each output, 4 bytes, or 8 if f64 or i64, or "
           "1 if u8; and some tiles or strips of the file. What the library needs besides is not counted: " +
           needs + " a pixel, on the CPU. Default: the memory of this machine.";
}

std::string slab_memory_help(const std::string &needs) {
    return "A larger image is computed in slabs, some of its rows, and is the same. It takes 1 bit for each of its pixels, "
           "with "
           "--labels those of the file, kept in a file beside OUT.tif if there is no room; and for each pixel of a slab 4 "
           "bytes "
           "of each output, or 8 if f64 or i64, and what the library needs: " +
           needs +
           " on the CPU. Default: half of the memory that is free. What has no slabs, such as pictures, is refused if it takes "
           "more than this; by default, more than the memory of this machine.";
}

void MapVerb::add_labels(Arguments &arguments, const std::string &means) {
    arguments.flag(
        "--labels",
        "IN.tif is a label image, of whole numbers of up to 64 bits: every value other than 0 is a set of its own. " + means +
            " Default: the pixels that --sites picks are one set.",
        request_.reading.labels);
}

Arguments MapVerb::arguments() {
    Arguments arguments(name_, description_);
    arguments.positional(
        "IN.tif",
        "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits; or grey PNG. Reduced copies "
        "and transparency masks inside the file are passed over.",
        request_.input);
    add_input(arguments);
    add_to(arguments);
    add_output(arguments);
    request_.running.add_to(arguments, memory_);
    arguments.epilogue(std::string("Examples:\n") + examples_ + "\n" + exit_codes());
    return arguments;
}

int MapVerb::run(const Words &words) {
    Arguments arguments = this->arguments();
    if (!arguments.parse(words)) {
        print_out("%s", arguments.help().c_str());
        return kSuccess;
    }
    request_.reading.check();
    check();
    request_.writing.check();
    request_.running.check();
    Outputs files(outputs(), request_.writing.overwrite);
    Progress progress(request_.running.progress, request_.running.quiet);
    Run run(request_, files, progress);
    run.plan(maps(run));
    if (request_.running.dry) {
        print_plan(run);
        return kSuccess;
    }
    run.read();
    compute(run);
    run.finish();
    progress.clear();
    if (request_.running.json)
        print_report(run);
    else if (!request_.running.quiet)
        print_summary(run);
    flush_out();  // if this fails, no output gets its name
    files.commit();
    return kSuccess;
}

void MapVerb::print_plan(const Run &run) const {
    if (!request_.running.json) return run.print_plan();
    Json json;
    json.object().member("command", name_);
    run.print_input(json);
    run.print_plan(json);
    json.end_object();
    print_out("%s\n", json.text().c_str());
}

void MapVerb::print_report(const Run &run) const {
    Json json;
    json.object().member("command", name_);
    run.print_input(json);
    print(json);
    run.print_plan(json);
    run.print_account(json);
    json.end_object();
    print_out("%s\n", json.text().c_str());
}

void MapVerb::print_summary(const Run &run) const {
    run.print_set();
    print_out("%s: %s; %s\n", shown(outputs()[0].path).c_str(), sentence().c_str(), run.device_and_time().c_str());
}

}  // namespace tool
