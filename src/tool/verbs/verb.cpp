// Runs a verb: parses its words, makes its outputs, and prints the summary or the JSON report.
#include "tool/verbs/verb.h"

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {

Arguments MapVerb::arguments() {
    Arguments arguments(name_, description_);
    arguments.positional("IN.tif",
                         "The image: TIFF or BigTIFF, one sample a pixel of 1, 2, 4, 8, 16, 32 or 64 bits. Reduced copies "
                         "and transparency masks inside the file are passed over.",
                         request_.input);
    request_.reading.add_to(arguments);
    add_to(arguments);
    request_.writing.add_to(arguments);
    request_.running.add_to(arguments, needs_);
    arguments.epilogue(std::string("Examples:\n") + examples_ + "\n" + exit_codes());
    return arguments;
}

int MapVerb::run(const Words &words) {
    Arguments arguments = this->arguments();
    if (!arguments.parse(words)) {
        print_out("%s", arguments.help().c_str());
        return kSuccess;
    }
    check();
    Outputs files(outputs(), request_.writing.overwrite);
    Progress progress(request_.running.progress, request_.running.quiet);
    Run run(request_, files, progress);
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

void MapVerb::print_report(const Run &run) const {
    Json json;
    json.object().member("command", name_);
    run.print_input(json);
    print(json);
    run.print_account(json);
    json.end_object();
    print_out("%s\n", json.text().c_str());
}

void MapVerb::print_summary(const Run &run) const {
    run.print_set();
    print_out("%s: %s; %s\n", shown(outputs()[0].path).c_str(), sentence().c_str(), run.device_and_time().c_str());
}

}  // namespace tool
