// Runs a problem by all its routes and compares the outcomes.
#include "judge.h"

#include <cstring>

namespace soak {

namespace {

std::string place_of(const Problem &p, size_t i) {
    const long long at = static_cast<long long>(i), w = p.size[0], h = p.size[1];
    char text[80];
    std::snprintf(text, sizeof text, "(%lld, %lld, %lld)", at % w, at / w % h, at / w / h);
    return text;
}

template <class T>
std::string value_of(const uint8_t *pixel) {
    T value;
    std::memcpy(&value, pixel, sizeof value);
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value));
    return text;
}

std::string value_of(apsis_type type, const uint8_t *pixel) {
    switch (type) {
        case APSIS_I32: return value_of<int32_t>(pixel);
        case APSIS_I64: return value_of<int64_t>(pixel);
        case APSIS_F32: return value_of<float>(pixel);
        case APSIS_F64: return value_of<double>(pixel);
        default: return value_of<uint8_t>(pixel);
    }
}

/// How two outcomes differ; empty if they do not.
std::string differ(const Problem &p, const Outcome &want, const Outcome &got) {
    if (want.status != got.status)
        return std::string(apsis_status_name(got.status)) + " (" + got.message + "), not " + apsis_status_name(want.status) +
               " (" + want.message + ")";
    if (!want.answered()) return "";
    for (int k = 0; k < 2; ++k) {
        const std::vector<uint8_t> &a = want.output[k], &b = got.output[k];
        if (a == b) continue;
        const apsis_type type = p.type[FIRST + k];
        const size_t size = pixel_size(type);
        size_t i = 0, wrong = 0;
        while (std::memcmp(&a[i * size], &b[i * size], size) == 0) ++i;
        for (size_t j = i; j * size < a.size(); ++j) wrong += std::memcmp(&a[j * size], &b[j * size], size) != 0;
        return "output " + std::to_string(k + 1) + " at " + place_of(p, i) + " is " + value_of(type, &b[i * size]) + ", not " +
               value_of(type, &a[i * size]) + ", and " + std::to_string(wrong - 1) + " more pixels differ";
    }
    if (want.count != got.count) return "count is " + std::to_string(got.count) + ", not " + std::to_string(want.count);
    if (want.records != got.records) {
        size_t i = 0;
        while (want.records[i] == got.records[i]) ++i;
        const size_t size = p.transform == APSIS_COMPONENTS ? sizeof(apsis_component) : sizeof(apsis_extent);
        return "record " + std::to_string(i / size) + " differs at its byte " + std::to_string(i % size);
    }
    return "";
}

/// Whether the device answers nothing any more, not even the distance of one pixel.
bool is_lost(const Machine &machine) {
    if (machine.device == APSIS_CPU) return false;
    Problem pixel;
    pixel.set = {1};
    pixel.type[SET] = APSIS_U8;
    pixel.type[FIRST] = APSIS_F32;
    Route route;
    route.on_device = true;
    Bench bench(machine);
    const Outcome out = run(bench, pixel, route);
    return out.status != APSIS_OK || !out.fault.empty();
}

}  // namespace

Verdict judge(Bench &bench, const Problem &p) {
    Verdict verdict;
    Outcome first;
    for (size_t k = 0; k < p.routes.size(); ++k) {
        if (p.routes[k].automatic && !first.answered()) continue;  // a published method may refuse what the others take
        Outcome out = run(bench, p, p.routes[k]);
        std::string wrong = out.fault;
        if (wrong.empty() && k > 0) {
            wrong = differ(p, first, out);
            ++verdict.comparisons;
        } else if (wrong.empty() && out.answered() && has_oracle(p)) {
            wrong = ask_oracle(p, out);
            ++verdict.comparisons;
        }
        if (!wrong.empty()) {
            verdict.wrong = describe(p.routes[k]) + ": " + wrong;
            verdict.lost = is_lost(bench.machine);
            return verdict;
        }
        if (k == 0) first = std::move(out);
    }
    return verdict;
}

}  // namespace soak
