// A failure on its way to the caller: a status and a sentence that names the argument and its value.
#pragma once

#include <apsis.h>

#include <cstdarg>
#include <cstdio>
#include <exception>
#include <string>

namespace apsis {

struct Error : std::exception {
    apsis_status status;
    std::string sentence;

    [[gnu::format(printf, 3, 4)]] Error(apsis_status code, const char *format, ...) : status(code) {
        char text[512];
        va_list values;
        va_start(values, format);
        std::vsnprintf(text, sizeof text, format, values);
        va_end(values);
        sentence = text;
    }
    const char *what() const noexcept override { return sentence.c_str(); }
};

}  // namespace apsis
