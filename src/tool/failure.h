// How the command fails: an exit code and one sentence, thrown where the fault is found and printed by main.
#pragma once

#include <string>
#include <utility>

#include "tool/text.h"

namespace tool {

// The exit codes.
constexpr int kSuccess = 0;
constexpr int kFailed = 1;    // a file could not be read or written
constexpr int kUsage = 2;     // the command line is wrong
constexpr int kStatus = 10;   // plus the apsis_status that the library returned
constexpr int kSignal = 128;  // plus the signal that interrupted the command

struct Failure {
    int code;
    std::string sentence;
};

/// Thrown when the user interrupts; main cleans up, and ends the process by that signal.
struct Interrupted {
    int signal;
};

[[noreturn]] inline void fail(std::string sentence) { throw Failure{kFailed, std::move(sentence)}; }
[[noreturn]] inline void usage(std::string sentence) { throw Failure{kUsage, std::move(sentence)}; }

}  // namespace tool
