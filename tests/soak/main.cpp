// Soak: random problems through every back end, as long as it is let, and all answers alike.
//
//     soak [SECONDS [SEED]]    10 seconds, seed 1
//     soak --repeat SEED       one problem, by the seed that a failure has printed
//
// Several processes may run side by side with other seeds.  SIGINT and SIGTERM, such as `timeout` sends (twice), end it as if
// its time were over: it tells what it has done.  Exit status 1, and one line that repeats it, at the first answer that is
// wrong; the line is there too if the process crashes, or a problem takes too long.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "judge.h"

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace soak {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// ---- What is being run, for a crash ----

thread_local uint64_t this_seed = 0;

/// With what a signal handler may call.
void say_how_to_repeat(uint64_t seed) {
    char text[64] = "\n./run soak --repeat ", digits[24];
    size_t n = 0, end = std::strlen(text);
    do digits[n++] = static_cast<char>('0' + seed % 10);
    while (seed /= 10);
    while (n > 0) text[end++] = digits[--n];
    text[end++] = '\n';
    if (write(STDERR_FILENO, text, end) < 0) _exit(1);
}

void before_death() { say_how_to_repeat(this_seed); }

struct sigaction before[NSIG];

void on_crash(int number) {
    say_how_to_repeat(this_seed);
    sigaction(number, &before[number], nullptr);  // a sanitizer's, or the default: it happens again
    raise(number);
}

void watch_for_crashes() {
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(before_death);
        return;
    }
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, &before[number]);
}

// ---- An early end ----

volatile std::sig_atomic_t is_told_to_end = 0;

void on_end(int) { is_told_to_end = 1; }

// ---- Failures ----

std::mutex speaking;

[[noreturn]] void fail(const Machine &machine, const Problem &p, const Verdict &verdict) {
    const std::lock_guard<std::mutex> alone(speaking);
    std::fprintf(stderr, "\n./run soak --repeat %llu\n", static_cast<unsigned long long>(p.seed));
    std::fprintf(stderr, "%s\n%s\n", verdict.wrong.c_str(), describe(p).c_str());
    if (verdict.lost) {
        std::fprintf(stderr, "The device is lost to this process: not shrunk.\n");
        std::_Exit(1);
    }
    std::string wrong;
    const Problem small = shrink(machine, p, &wrong);
    if (wrong.empty())
        std::fprintf(stderr, "It did not fail again in contexts of its own.\n");
    else
        std::fprintf(stderr, "Shrunk: %s\n%s\n", wrong.c_str(), describe(small).c_str());
    std::_Exit(1);  // other threads are in the middle of a call
}

// ---- Workers: each has contexts of its own ----

constexpr double TOO_LONG = 180;  ///< Seconds for one problem.

struct Worker {
    std::thread thread;
    std::atomic<uint64_t> seed = 0;
    std::atomic<int64_t> started = 0;  ///< Of its problem, in milliseconds after the start.
    std::atomic<int64_t> images = 0, comparisons = 0;
};

struct Soak {
    Machine machine;
    Clock::time_point start = Clock::now();
    std::atomic<double> seconds = 0;
    std::vector<std::unique_ptr<Worker>> workers;

    void work(Worker &worker, uint64_t seed) {
        Dice dice(seed);
        Bench bench(machine);
        while (seconds_since(start) < seconds) {
            const uint64_t each = dice.roll();
            worker.seed = this_seed = each;
            worker.started = static_cast<int64_t>(1000 * seconds_since(start));
            const Problem p = draw(each, machine);
            const Verdict verdict = judge(bench, p);
            if (!verdict.wrong.empty()) fail(machine, p, verdict);
            ++worker.images;
            worker.comparisons += verdict.comparisons;
        }
        worker.seed = 0;
    }

    int64_t sum(std::atomic<int64_t> Worker::*field) const {
        int64_t all = 0;
        for (const auto &each : workers) all += (*each).*field;
        return all;
    }

    void watch() {
        const bool terminal = isatty(STDERR_FILENO);
        for (int tick = 1; seconds_since(start) < seconds || is_busy(); ++tick) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (is_told_to_end) seconds = 0;
            if (terminal && tick % 30 == 0)
                std::fprintf(stderr, "\r%lld images, %lld comparisons, %.0f s ", static_cast<long long>(sum(&Worker::images)),
                             static_cast<long long>(sum(&Worker::comparisons)), seconds_since(start));
        }
        if (terminal) std::fprintf(stderr, "\n");
    }

    bool is_busy() {
        bool busy = false;
        for (const auto &each : workers) {
            const uint64_t seed = each->seed;
            busy |= seed != 0;
            if (seed == 0 || seconds_since(start) - 1e-3 * static_cast<double>(each->started) < TOO_LONG) continue;
            say_how_to_repeat(seed);
            std::fprintf(stderr, "No answer after %.0f seconds.\n", TOO_LONG);
            std::_Exit(1);
        }
        return busy;
    }

    void launch(uint64_t seed, int threads) {
        for (int i = 0; i < threads; ++i) {
            workers.push_back(std::make_unique<Worker>());
            Worker &worker = *workers.back();
            const uint64_t own_seed = seed + static_cast<uint64_t>(i) * 0x5851f42d4c957f2du;
            worker.thread = std::thread([this, &worker, own_seed] { work(worker, own_seed); });
        }
    }

    void join() {
        for (const auto &each : workers) each->thread.join();
    }
};

int threads_here() {
    const unsigned cores = std::thread::hardware_concurrency();
    return cores < 2 ? 1 : cores > 4 ? 4 : static_cast<int>(cores);
}

Machine machine_here() {
    Machine machine;
    if (apsis_device_count() > 0) machine.device = 0;
#ifdef SOAK_SLOW
    machine.slow = true;
#endif
    return machine;
}

std::string names_of(const Machine &machine) {
    Bench bench(machine);
    std::string names = apsis_device_name(bench.context(false));
    if (machine.device != APSIS_CPU) names += std::string(" and ") + apsis_device_name(bench.context(true));
    return names;
}

/// Alone in new contexts; and if it is right there, in one context while other threads are at other problems.
int repeat(const Machine &machine, uint64_t seed) {
    this_seed = seed;
    const Problem p = draw(seed, machine);
    std::printf("%s\n", describe(p).c_str());
    std::fflush(stdout);  // before a crash
    const auto try_it = [&](Bench &bench) {
        const Verdict verdict = judge(bench, p);
        if (!verdict.wrong.empty()) fail(machine, p, verdict);
    };
    for (int times = 0; times < 3; ++times) {
        Bench bench(machine);
        try_it(bench);
    }
    Bench bench(machine);
    Soak others;
    others.machine = machine;
    others.seconds = 1e9;
    others.launch(seed, threads_here());
    for (int times = 0; times < 10; ++times) try_it(bench);
    others.seconds = 0;
    others.join();
    std::printf("Right: three times alone, and ten times beside other problems.\n");
    return 0;
}

bool read(const char *text, uint64_t *number) {
    char *end;
    *number = std::strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == 0;
}

int main_of(int argc, char **argv) {
    uint64_t seconds = 10, seed = 1;
    const bool repeats = argc == 3 && std::strcmp(argv[1], "--repeat") == 0;
    const bool good = repeats ? read(argv[2], &seed)
                              : argc <= 3 && (argc < 2 || read(argv[1], &seconds)) && (argc < 3 || read(argv[2], &seed));
    if (!good) {
        std::fprintf(stderr, "usage: soak [SECONDS [SEED]]\n       soak --repeat SEED\n");
        return 2;
    }
    watch_for_crashes();
    const Machine machine = machine_here();
    if (repeats) return repeat(machine, seed);
    for (int number : {SIGINT, SIGTERM}) std::signal(number, on_end);
    const std::string names = names_of(machine);
    Soak soak;
    soak.machine = machine;
    soak.seconds = static_cast<double>(seconds);
    soak.launch(seed, threads_here());
    soak.watch();
    soak.join();
    std::printf("%lld images, %lld comparisons, %.0f seconds, seed %llu, %d threads: %s\n",
                static_cast<long long>(soak.sum(&Worker::images)), static_cast<long long>(soak.sum(&Worker::comparisons)),
                seconds_since(soak.start), static_cast<unsigned long long>(seed), threads_here(), names.c_str());
    return 0;
}

}  // namespace

}  // namespace soak

int main(int argc, char **argv) {
    try {
        return soak::main_of(argc, argv);
    } catch (soak::Fault &f) {
        std::fprintf(stderr, "soak: %s\n", f.what.c_str());
        return 1;
    }
}
