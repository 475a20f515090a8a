// Makes a context, and records why its device was chosen.
#include "tool/device.h"

#include <algorithm>
#include <climits>

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {
namespace {

int report_progress(void *progress, double done) { return static_cast<Progress *>(progress)->stopped(done); }

std::string reason(int wanted, int got) {
    if (wanted != APSIS_BEST) return "asked for";
    if (got != APSIS_CPU) return "the first usable CUDA device";
    return "no usable CUDA device: " + why_no_device();
}

}  // namespace

Device::Device(const RunSettings &settings, Progress &progress) {
    const apsis_status status = apsis_create(APSIS_VERSION, settings.device, &context_);
    if (status != APSIS_OK) throw Failure{kStatus + status, apsis_message(nullptr)};
    why_ = reason(settings.device, number());
    try {
        if (settings.threads)
            check(apsis_set_threads(context_, static_cast<int>(std::min<std::int64_t>(*settings.threads, INT_MAX))));
        check(apsis_set_progress(context_, report_progress, &progress));
    } catch (...) {
        apsis_destroy(context_);
        throw;
    }
}

void Device::check(apsis_status status) const {
    if (status == APSIS_OK) return;
    if (status == APSIS_ERROR_CANCELLED && pending_signal()) throw Interrupted{pending_signal()};
    std::string sentence = apsis_message(context_);
    if (status == APSIS_ERROR_MEMORY && number() != APSIS_CPU) sentence += "; --device cpu needs only host memory";
    throw Failure{kStatus + status, sentence};
}

std::string why_no_device() {
    apsis_context *context = nullptr;
    const bool usable = apsis_create(APSIS_VERSION, 0, &context) == APSIS_OK;
    const std::string sentence = usable ? "" : apsis_message(nullptr);
    apsis_destroy(context);
    return sentence;
}

}  // namespace tool
