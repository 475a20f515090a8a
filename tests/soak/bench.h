// Contexts that last over many problems, and what one route of a problem gives on them.
#pragma once

#include <functional>

#include "buffer.h"

namespace soak {

/// A context of the CPU and one of the device, each made when it is first wanted.
class Bench {
  public:
    explicit Bench(const Machine &where) : machine(where) {}
    ~Bench() { close(); }
    Bench(const Bench &) = delete;

    apsis_context *context(bool on_device);
    /// Another one of the same place, where the memory of pools comes from.
    apsis_context *source(bool on_device);
    void close();

    const Machine machine;

  private:
    apsis_context *contexts[2] = {}, *sources[2] = {};
};

/// All that a call gives.
struct Outcome {
    apsis_status status = APSIS_OK;
    std::string message;
    std::string fault;  ///< What must not happen, if it has.
    std::vector<uint8_t> output[2];
    std::vector<uint8_t> records;  ///< Components or extents, with canaries behind them.
    int64_t count = -1;

    /// Whether there are outputs: bounds are outputs, too.
    bool answered() const { return status == APSIS_OK || status == APSIS_ERROR_BUDGET; }
};

Outcome run(Bench &bench, const Problem &p, const Route &route);

/// What the records of a problem hold before the call: canaries.
std::vector<uint8_t> untouched_records(const Problem &p);

/// In slabs.
void run_in_slabs(apsis_context *context, const Problem &p, const Route &route, Outcome &out);

std::string describe(const Route &route);

}  // namespace soak
