// Streams and graphs.
#include "streams.h"

#ifdef SOAK_CUDA
#include <cuda_runtime_api.h>
#endif

namespace soak {

#ifdef SOAK_CUDA

namespace {

void need_cuda(cudaError_t error, const char *call) {
    if (error != cudaSuccess) throw Fault{std::string(call) + ": " + cudaGetErrorName(error)};
}

}  // namespace

bool has_streams() { return true; }

void wait_for(struct CUstream_st *stream) { need_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

Stream::Stream(apsis_context *owner) : context(owner) {
    need_cuda(cudaSetDevice(apsis_device(context)), "cudaSetDevice");
    need_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    need(context, apsis_set_stream(context, stream), "apsis_set_stream");
}

Stream::~Stream() {
    apsis_set_stream(context, nullptr);
    cudaStreamDestroy(stream);
}

apsis_status Stream::replay(const std::function<apsis_status()> &call, const std::function<void()> &change) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    need_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    const apsis_status status = call();
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (status != APSIS_OK) return status;
    need_cuda(ended, "cudaStreamEndCapture");
    need_cuda(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    change();
    for (int times = 0; times < 2; ++times) need_cuda(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
    need_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return status;
}

#else

bool has_streams() { return false; }
void wait_for(struct CUstream_st *) {}
Stream::Stream(apsis_context *owner) : context(owner) {}
Stream::~Stream() {}
apsis_status Stream::replay(const std::function<apsis_status()> &, const std::function<void()> &) { return APSIS_OK; }

#endif

}  // namespace soak
