// What the benchmarks of one GPU share: its contexts, stream and images, the masks, and times of kernels alone (CUDA
// events, 3 warm-ups, median of 10).  Whatever fails ends the program.
#pragma once

#include <apsis.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

void check(cudaError_t status, const char *what);
void check(apsis_context *context, apsis_status status);

size_t pixel_bytes(apsis_type type);
size_t bytes_of(const apsis_image &packed);

struct Timer {
    cudaEvent_t begin, end;
    Timer();
    template <class Work>
    double median_ms(cudaStream_t stream, Work work) {
        constexpr int WARM_UPS = 3, RUNS = 10;
        std::vector<float> times;
        for (int i = 0; i < WARM_UPS + RUNS; ++i) {
            check(cudaEventRecord(begin, stream), "record");
            work();
            check(cudaEventRecord(end, stream), "record");
            check(cudaEventSynchronize(end), "synchronize");
            float ms;
            check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
            if (i >= WARM_UPS) times.push_back(ms);
        }
        std::sort(times.begin(), times.end());
        return times[RUNS / 2];
    }
};

/// What every case has.
struct Subject {
    std::string group, mask;
    int64_t size[3] = {1, 1, 1};
    int ndim = 2;
    apsis_type set = APSIS_U8;
    bool graph = false;
    apsis_options options = APSIS_OPTIONS_INIT;

    int64_t pixels() const { return size[0] * size[1] * size[2]; }
};

template <class Case>
Case plane_case(const char *group, const char *mask, int64_t width, int64_t height) {
    Case c;
    c.group = group;
    c.mask = mask;
    c.size[0] = width;
    c.size[1] = height;
    return c;
}

template <class Case>
Case volume_case(const char *group, const char *mask, int64_t width, int64_t height, int64_t depth) {
    Case c = plane_case<Case>(group, mask, width, height);
    c.size[2] = depth;
    c.ndim = 3;
    return c;
}

class Gpu {
  public:
    /// Prints the device and its copy ceiling; with `compare`, results are to be compared with the CPU back end's.
    explicit Gpu(bool compare);

    std::string only;  // this mask alone
    int64_t side = 0;  // this width alone
    bool failed = false;

  protected:
    bool is_left_out(const Subject &s) const { return (!only.empty() && s.mask != only) || (side && s.size[0] != side); }
    void load_mask(const Subject &s);

    static apsis_image image(const Subject &s, apsis_type type);
    /// Slab k of so many, of a packed 2-D image of whole bytes; `start` receives its first row.
    static apsis_image slab_of(apsis_image image, int k, int slabs, int64_t &start);
    bool has_memory(apsis_status status);
    bool allocate(apsis_image &image) { return has_memory(apsis_alloc(gpu_, APSIS_DEVICE, &image)); }
    static void say_no_memory(const Subject &s);

    template <class T>
    std::unique_ptr<T[]> download(const apsis_image &from) {
        auto pixels = std::make_unique_for_overwrite<T[]>(bytes_of(from) / sizeof(T));
        apsis_image copy = from;
        std::fill_n(copy.stride, 3, 0);
        copy.memory = APSIS_HOST;
        copy.data = pixels.get();
        check(gpu_, apsis_copy(gpu_, &from, &copy));
        return pixels;
    }

    /// The time of a call, or of one in a graph that is replayed.
    template <class Call>
    double call_ms(bool as_graph, Call call) {
        return as_graph ? graph_ms(call) : timer_.median_ms(stream_, call);
    }

    bool compare_;
    apsis_context *gpu_ = nullptr, *cpu_ = nullptr;
    cudaStream_t stream_ = nullptr;
    Timer timer_;
    double ceiling_ = 0;  // bytes a second, read and written
    std::vector<uint8_t> mask_;

  private:
    double copy_ceiling();

    template <class Call>
    double graph_ms(Call call) {
        constexpr int REPLAYS = 50;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
        call();
        check(cudaStreamEndCapture(stream_, &graph), "capture");
        check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
        const double ms = timer_.median_ms(stream_, [&] {
            for (int i = 0; i < REPLAYS; ++i) check(cudaGraphLaunch(exec, stream_), "launch");
        });
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        return ms / REPLAYS;
    }

    std::string loaded_;
};

struct Arguments {
    bool compare = false;
    std::string only;
    std::vector<std::string> groups;
};

/// [--check] [--only MASK] GROUP...; ends the program if there is no device to measure.
Arguments read_arguments(int argc, char **argv);

/// Runs the groups, of which GROUP@SIDE is one size alone.  Returns what main() does.
template <class Bench>
int run_groups(const Arguments &arguments, void (*run_group)(Bench &, const std::string &)) {
    Bench bench(arguments.compare);
    bench.only = arguments.only;
    for (const std::string &group : arguments.groups) {
        const size_t at = group.find('@');
        bench.side = at == std::string::npos ? 0 : std::atoll(group.c_str() + at + 1);
        run_group(bench, group.substr(0, at));
    }
    return bench.failed;
}
