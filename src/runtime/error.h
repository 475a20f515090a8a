// A failure, reported to the caller as a status and a sentence that names the argument and its value.
#pragma once

#include <apsis.h>

#include <cstdarg>
#include <exception>

#include "runtime/platform.h"

namespace apsis {

struct Error : std::exception {
    apsis_status status;
    char sentence[512];  // no std::string, because a sentence must not need memory

    [[gnu::format(printf, 3, 4)]] Error(apsis_status code, const char *format, ...) : status(code) {
        va_list values;
        va_start(values, format);
        print(sentence, sizeof sentence, format, values);
        va_end(values);
    }
    const char *what() const noexcept override { return sentence; }
};

/// The last failure, "name: sentence".  Its size is fixed for the same reason, and so that the message of a thread has no
/// destructor.  glibc needs memory to register a destructor, and aborts without.
struct Message {
    char text[sizeof(Error::sentence) + 32] = "";
};

}  // namespace apsis
