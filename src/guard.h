// What every entry point begins with: no exception passes the boundary, and each leaves a status and a sentence.
#pragma once

#include <new>

#include "context.h"

namespace apsis {

/// Runs the body of a call.  On failure `message` becomes "name: sentence".
template <class Body>
apsis_status guard(const char *name, Message &message, Body body) noexcept {
    auto fail = [&](apsis_status status, const char *sentence) noexcept {
        std::snprintf(message.text, sizeof message.text, "%s: %s", name, sentence);
        return status;
    };
    try {
        body();
        return APSIS_OK;
    } catch (const Error &error) {
        return fail(error.status, error.what());
    } catch (const std::bad_alloc &) {
        return fail(APSIS_ERROR_MEMORY, "host memory ran out");
    } catch (const std::exception &error) {
        return fail(APSIS_ERROR_INTERNAL, error.what());
    } catch (...) {
        return fail(APSIS_ERROR_INTERNAL, "an unknown exception");
    }
}

template <class Body>
apsis_status guard(const char *name, apsis_context *context, Body body) noexcept {
    if (!context) return APSIS_ERROR_ARGUMENT;  // nowhere to leave a sentence
    return guard(name, context->message, body);
}

}  // namespace apsis
