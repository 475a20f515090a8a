// The guard of every entry point: no exception passes the boundary, and each becomes a status and a sentence.
#pragma once

#include <cfenv>
#include <cstdio>
#include <new>

#include "runtime/context.h"

namespace apsis {

/// During a call, rounds to nearest and keeps subnormal numbers.  Then restores the caller's settings.
class UsualFloats {
  public:
    UsualFloats() noexcept {
        std::fegetenv(&callers_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~UsualFloats() { std::fesetenv(&callers_); }
    UsualFloats(const UsualFloats &) = delete;
    UsualFloats &operator=(const UsualFloats &) = delete;

  private:
    std::fenv_t callers_;
};

/// Runs the body of a call.  On failure `message` becomes "name: sentence".
template <class Body>
apsis_status guard(const char *name, Message &message, Body body) noexcept {
    const UsualFloats usual;
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
