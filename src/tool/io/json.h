// Writes one JSON value, piece by piece, into a string.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "tool/text.h"

namespace tool {

class Json {
  public:
    Json &object() { return open('{'); }
    Json &array() { return open('['); }
    Json &end_object() { return close('}'); }
    Json &end_array() { return close(']'); }

    Json &key(std::string_view name) {
        comma();
        quote(name);
        text_ += ": ";
        fresh_ = true;
        return *this;
    }

    Json &value(std::string_view text) {
        comma();
        quote(text);
        return *this;
    }
    Json &value(const char *text) { return value(std::string_view(text)); }
    Json &value(bool truth) { return raw(truth ? "true" : "false"); }
    Json &value(std::integral auto number) { return raw(std::to_string(number)); }
    /// The shortest digits that read back as the same number; null for infinity and NaN, which JSON does not have.
    Json &value(double number) {
        if (!std::isfinite(number)) return null();
        char digits[32];
        return raw({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
    }
    Json &null() { return raw("null"); }

    template <class Value>
    Json &member(std::string_view name, const Value &what) {
        return key(name).value(what);
    }

    template <class Value>
    Json &member_or_null(std::string_view name, const std::optional<Value> &what) {
        return what ? member(name, *what) : key(name).null();
    }
    /// The name of a file; null for none.
    Json &file(std::string_view name, const std::string &path) { return path.empty() ? key(name).null() : member(name, path); }

    const std::string &text() const { return text_; }

  private:
    void comma() {
        if (!fresh_) text_ += ", ";
        fresh_ = false;
    }
    Json &raw(std::string_view text) {
        comma();
        text_ += text;
        return *this;
    }
    Json &open(char bracket) {
        comma();
        text_ += bracket;
        fresh_ = true;
        return *this;
    }
    Json &close(char bracket) {
        text_ += bracket;
        fresh_ = false;
        return *this;
    }

    /// File names may hold any bytes, JSON only UTF-8: each other byte becomes the replacement character.
    void quote(std::string_view text) {
        text_ += '"';
        while (!text.empty()) {
            const size_t length = character(text);
            if (length == 0) {
                text_ += "\xEF\xBF\xBD";
            } else if (is_control(text)) {  // its code is the last byte of its one or two
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(text[length - 1]));
                text_ += escape;
            } else {
                if (text[0] == '"' || text[0] == '\\') text_ += '\\';
                text_ += text.substr(0, length);
            }
            text.remove_prefix(length ? length : 1);
        }
        text_ += '"';
    }

    std::string text_;
    bool fresh_ = true;
};

}  // namespace tool
