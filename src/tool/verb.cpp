#include "verb.h"

namespace tool {

void Account::prepared(const Device &device) {
    device_ = device.name();
    why_ = device.why();
    device_number_ = device.number();
    end_of("prepare");
}

void Account::read(const BinaryImage &image) {
    shape_ = image.marks.shape();
    pages_ = image.pages;
    sites_ = image.sites;
    end_of("read");
}

void Account::print_image(Json &json, bool volume) const {
    json.member("width", shape_.width).member("height", shape_.height).member("pages", pages_);
    json.member("volume", volume).member("pixels", shape_.pixels()).member("sites", sites_);
}

void Account::print_device(Json &json, const RunSettings &settings) const {
    json.key("device").object().key("number");
    device_number_ == APSIS_CPU ? json.null() : json.value(device_number_);
    json.member("name", device_).member("why", why_).end_object();
    json.member("threads", settings.threads.value_or(0));
}

void Account::print_seconds(Json &json) const {
    json.key("seconds").object();
    for (const auto &[part, seconds] : seconds_) json.member(part, seconds);
    json.end_object();
}

}  // namespace tool
