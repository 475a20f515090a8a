// A failure on its way to the caller: a status and a sentence that names the argument and its value.
#pragma once

#include <apsis.h>

#include <cstdarg>
#include <exception>

#include "runtime/platform.h"

namespace apsis {

struct Error : std::exception {
    apsis_status status;
    char sentence[512];  // no std::string: a sentence is wanted above all when there is no memory

    [[gnu::format(printf, 3, 4)]] Error(apsis_status code, const char *format, ...) : status(code) {
        va_list values;
        va_start(values, format);
        print(sentence, sizeof sentence, format, values);
        va_end(values);
    }
    const char *what() const noexcept override { return sentence; }
};

/// What went wrong last, "name: sentence".  Of a fixed size for the same reason, and so that a thread's own has no destructor,
/// which glibc needs memory to register and aborts without.
struct Message {
    char text[sizeof(Error::sentence) + 32] = "";
};

}  // namespace apsis
