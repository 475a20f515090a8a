// See text.h.
#include "tool/text.h"

#include <cstdio>

namespace tool {

size_t character(std::string_view text) {
    const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned lead = byte(0), next = byte(1);
    size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    const bool overlong = (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90);
    const bool no_character = (lead == 0xED && next > 0x9F) || (lead == 0xF4 && next > 0x8F);
    return overlong || no_character ? 0 : length;
}

bool is_control(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    return first < 0x20 || first == 0x7F || (first == 0xC2 && character(text) && static_cast<unsigned char>(text[1]) < 0xA0);
}

std::string shown(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const size_t length = character(text), taken = length ? length : 1;
        if (length && !is_control(text)) {
            result += text.substr(0, length);
        } else if (text[0] == '\n' || text[0] == '\t') {
            result += text[0] == '\n' ? "\\n" : "\\t";
        } else {
            for (const char one : text.substr(0, taken)) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(one));
                result += escape;
            }
        }
        text.remove_prefix(taken);
    }
    return result;
}

}  // namespace tool
