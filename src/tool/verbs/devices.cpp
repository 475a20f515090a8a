// apsis devices: where the library can run on this machine.
#include "tool/arguments.h"
#include "tool/device.h"
#include "tool/failure.h"
#include "tool/io/file.h"
#include "tool/io/json.h"
#include "tool/verbs/verbs.h"

namespace tool {
namespace {

/// The name of a device, or the library's sentence on why it cannot be used.
struct Found {
    int number;
    bool usable;
    std::string words;
};

Found find(int number) {
    apsis_context *context = nullptr;
    const bool usable = apsis_create(APSIS_VERSION, number, &context) == APSIS_OK;
    const Found found = {number, usable, usable ? apsis_device_name(context) : apsis_message(nullptr)};
    apsis_destroy(context);
    return found;
}

void print_json(const std::vector<Found> &devices, const std::string &why_none) {
    Json json;
    json.object().member("command", "devices").key("devices").array();
    for (const Found &device : devices) {
        json.object().member("device", device.number == APSIS_CPU ? "cpu" : std::to_string(device.number));
        json.member("usable", device.usable).member(device.usable ? "name" : "why", device.words).end_object();
    }
    json.end_array().key("why_no_cuda");
    why_none.empty() ? json.null() : json.value(why_none);
    print_out("%s\n", json.end_object().text().c_str());
}

void print_text(const std::vector<Found> &devices, const std::string &why_none) {
    for (const Found &device : devices) {
        const std::string name = device.number == APSIS_CPU ? "cpu" : std::to_string(device.number);
        print_out("%-4s %s%s\n", name.c_str(), device.usable ? "" : "not usable: ", device.words.c_str());
    }
    if (!why_none.empty()) print_out("No usable CUDA device: %s\n", why_none.c_str());
}

}  // namespace

int run_devices(const Words &words) {
    bool json = false;
    Arguments arguments("devices", "Lists the devices that --device takes: the CPU and the usable CUDA devices.");
    arguments.flag("--json", "Print a JSON object on standard output.", json);
    arguments.epilogue(exit_codes());
    if (!arguments.parse(words)) {
        print_out("%s", arguments.help().c_str());
        return kSuccess;
    }
    std::vector<Found> devices = {find(APSIS_CPU)};
    for (int number = 0; number < apsis_device_count(); ++number) devices.push_back(find(number));
    const std::string why_none = devices.size() > 1 ? "" : why_no_device();
    json ? print_json(devices, why_none) : print_text(devices, why_none);
    return kSuccess;
}

}  // namespace tool
