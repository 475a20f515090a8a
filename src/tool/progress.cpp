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
    if (slabs_ == 1) start_ = next_;
    update(0);
}

void Progress::slab(std::int64_t number, std::int64_t count) {
    slab_ = number;
    slabs_ = count;
    if (number == 0) start_ = Clock::now();
}

/// The time that is left of the phase, or of all slabs, if the time that it took so far says anything.
std::string Progress::left(double done) const {
    const double share = slabs_ == 1 ? done : static_cast<double>(slab_) / static_cast<double>(slabs_);
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (seconds < 2 || share <= 0) return "";
    const double rest = seconds / share * (1 - share);
    char words[40];
    std::snprintf(words, sizeof words, rest < 90 ? ", %.0f s left" : ", %.0f min left", rest < 90 ? rest : rest / 60);
    return words;
}

void Progress::update(double done) {
    if (stopped(done)) throw Interrupted{pending_signal()};
}

bool Progress::stopped(double done) {
    if (shown_ && Clock::now() >= next_) {
        const std::string slab =
            slabs_ == 1 ? "" : "slab " + std::to_string(slab_ + 1) + " of " + std::to_string(slabs_) + ", ";
        std::fprintf(stderr, "\rapsis: %s%s %3d %%%s%s\033[K", slab.c_str(), phase_, static_cast<int>(100 * done),
                     note_.c_str(), left(done).c_str());
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
