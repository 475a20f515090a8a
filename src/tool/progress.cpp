// Draws the progress line, at most ten times a second.
#include "tool/progress.h"

#include <cstdio>

#include "tool/failure.h"
#include "tool/io/file.h"

namespace tool {

Progress::Progress(ProgressMode mode, bool quiet)
    : shown_(!quiet && (mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && stderr_is_terminal()))) {}

Progress::~Progress() { clear(); }

void Progress::phase(const char *name) {
    phase_ = name;
    note_.clear();
    next_ = Clock::now();
    update(0);
}

void Progress::update(double done) {
    if (stopped(done)) throw Interrupted{pending_signal()};
}

bool Progress::stopped(double done) {
    if (shown_ && Clock::now() >= next_) {
        std::fprintf(stderr, "\rapsis: %s %3d %%%s\033[K", phase_, static_cast<int>(100 * done), note_.c_str());
        std::fflush(stderr);
        drawn_ = true;
        next_ = Clock::now() + std::chrono::milliseconds(100);
    }
    return pending_signal() != 0;
}

void Progress::note(const char *words) { note_ = std::string(", ") + words; }

void Progress::clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
}

}  // namespace tool
