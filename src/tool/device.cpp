// Makes contexts, and records why the device was chosen.
#include "tool/device.h"

#include <algorithm>
#include <climits>

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {
namespace {

int report_progress(void *progress, double done) { return static_cast<Progress *>(progress)->stopped(done); }

/// For contexts that work at the same time: the line shows what is taken of them, in order.
int report_signal(void *, double) { return pending_signal() != 0; }

std::string reason(int wanted, int got) {
    if (wanted != APSIS_BEST) return "asked for";
    if (got != APSIS_CPU) return "the first usable CUDA device";
    return "no usable CUDA device: " + why_no_device();
}

}  // namespace

Device::Device(const RunSettings &settings, Progress &progress) {
    if (settings.all_devices) {
        for (int number = 0; number < apsis_device_count(); ++number) try {
                add(number);
            } catch (const Failure &) {  // an older one, which the library does not use
            }
        if (contexts_.empty()) throw Failure{kStatus + APSIS_ERROR_NO_DEVICE, why_no_device()};
    } else if (!settings.devices.empty()) {
        for (const int number : settings.devices) add(number);
    } else {
        add(settings.device);
    }
    const bool chosen = settings.all_devices || !settings.devices.empty();
    why_ = chosen ? "asked for" : reason(settings.device, number());
    for (int i = 0; i < count(); ++i) {
        if (settings.threads)
            check(apsis_set_threads(context(i), static_cast<int>(std::min<std::int64_t>(*settings.threads, INT_MAX))), i);
        check(apsis_set_progress(context(i), count() > 1 ? report_signal : report_progress, &progress), i);
    }
}

void Device::add(int number) {
    apsis_context *context = nullptr;
    const apsis_status status = apsis_create(APSIS_VERSION, number, &context);
    if (status != APSIS_OK) throw Failure{kStatus + status, apsis_message(nullptr)};
    contexts_.emplace_back(context);
}

void Device::check(apsis_status status, int device) const {
    if (status == APSIS_OK) return;
    if (status == APSIS_ERROR_CANCELLED && pending_signal()) throw Interrupted{pending_signal()};
    const std::string which = count() > 1 ? "device " + std::to_string(number(device)) + ": " : "";
    std::string sentence = which + apsis_message(context(device));
    if (status == APSIS_ERROR_MEMORY && number() != APSIS_CPU) sentence += "; --device cpu needs only host memory";
    throw Failure{kStatus + status, sentence};
}

std::string Device::names() const {
    std::string names = name();
    for (int i = 1; i < count(); ++i) names += " + " + name(i);
    return names;
}

void Device::print(Json &json) const {
    json.key("device").object().key("number");
    number() == APSIS_CPU ? json.null() : json.value(number());
    json.member("name", name()).member("why", why_).end_object();
    json.key("devices").array();
    for (int i = 0; i < count(); ++i)
        if (number(i) != APSIS_CPU) json.value(number(i));
    json.end_array();
}

std::string why_no_device() {
    apsis_context *context = nullptr;
    const bool usable = apsis_create(APSIS_VERSION, 0, &context) == APSIS_OK;
    const std::string sentence = usable ? "" : apsis_message(nullptr);
    apsis_destroy(context);
    return sentence;
}

}  // namespace tool
