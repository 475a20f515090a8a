// Shows the user how far the work is, and stops the work when the user interrupts it.
#pragma once

#include <chrono>
#include <string>

#include "tool/settings.h"

namespace tool {

/// One line on standard error, rewritten as the work goes on and cleared by the destructor.
class Progress {
  public:
    Progress(ProgressMode mode, bool quiet);
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /// Says that a slab begins; the phases that follow are its own.
    void slab(std::int64_t number, std::int64_t count);
    /// Starts a phase, such as "reading".
    void phase(const char *name);
    /// Shows that this part of the phase, from 0 to 1, is done.  Throws Interrupted if a signal has arrived.
    void update(double done);
    /// The same, but returns whether to stop; for callbacks that must not throw.
    bool stopped(double done);
    /// Appends words about the phase to the line.
    void note(const char *words);
    /// Takes the line away, so that something else can be printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    std::string left(double done) const;

    bool shown_;
    bool drawn_ = false;
    const char *phase_ = "";
    std::string note_;
    std::int64_t slab_ = 0, slabs_ = 1;
    Clock::time_point next_ = Clock::now(), start_ = next_;  // of the phase, or of the first slab
};

/// Seconds since its construction, or since the last lap.
class Stopwatch {
  public:
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - start_).count();
        start_ = now;
        return seconds;
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tool
