// Streams and graphs of CUDA's runtime, in a program that is linked with it; otherwise there are none.
#pragma once

#include <functional>

#include "bench.h"

namespace soak {

bool has_streams();

/// Waits for what is queued on a stream, NULL among them.
void wait_for(struct CUstream_st *stream);

/// The context's work goes to a stream of its own as long as this lives.
class Stream {
  public:
    explicit Stream(apsis_context *context);
    ~Stream();
    Stream(const Stream &) = delete;

    /// Captures the call into a graph, lets the pixels change, and launches the graph twice.
    apsis_status replay(const std::function<apsis_status()> &call, const std::function<void()> &change);

  private:
    [[maybe_unused]] apsis_context *context;
    [[maybe_unused]] struct CUstream_st *stream = nullptr;
};

}  // namespace soak
