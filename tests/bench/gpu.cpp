// See gpu.h.
#include "gpu.h"

#include <errno.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "masks.h"

void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, cudaGetErrorString(status));
    std::exit(1);
}

void check(apsis_context *context, apsis_status status) {
    if (status == APSIS_OK) return;
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, apsis_message(context));
    std::exit(1);
}

size_t pixel_bytes(apsis_type type) {
    if (type == APSIS_U16) return 2;
    return type <= APSIS_U8 ? 1 : type == APSIS_I32 || type == APSIS_F32 ? 4 : 8;
}

size_t bytes_of(const apsis_image &packed) {
    return static_cast<size_t>(packed.size[0] * packed.size[1] * packed.size[2]) * pixel_bytes(packed.type);
}

Timer::Timer() {
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
}

Gpu::Gpu(bool compare) : compare_(compare) {
    check(nullptr, apsis_create(APSIS_VERSION, 0, &gpu_));
    check(nullptr, apsis_create(APSIS_VERSION, APSIS_CPU, &cpu_));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(gpu_, apsis_set_stream(gpu_, reinterpret_cast<CUstream_st *>(stream_)));
    ceiling_ = copy_ceiling();
    std::printf("# %s, copy ceiling %.0f GB/s read and written\n", apsis_device_name(gpu_), ceiling_ / 1e9);
}

void Gpu::load_mask(const Subject &s) {
    std::string key = s.mask;
    for (const int64_t extent : s.size) key += "x" + std::to_string(extent);
    if (key == loaded_) return;
    mask_.resize(static_cast<size_t>(s.pixels()));
    if (!bench_mask(s.mask.c_str(), s.size[0], s.size[1], s.size[2], mask_.data())) {
        std::fprintf(stderr, "%s: there is no mask %s\n", program_invocation_short_name, s.mask.c_str());
        std::exit(1);
    }
    loaded_ = key;
}

apsis_image Gpu::slab_of(apsis_image image, int k, int slabs, int64_t &start) {
    start = image.size[1] * k / slabs;
    image.data = static_cast<uint8_t *>(image.data) + start * image.size[0] * int64_t(pixel_bytes(image.type));
    image.size[1] = image.size[1] * (k + 1) / slabs - start;
    return image;
}

apsis_image Gpu::image(const Subject &s, apsis_type type) {
    apsis_image result = {};
    result.type = type;
    result.ndim = s.ndim;
    std::copy_n(s.size, 3, result.size);
    return result;
}

bool Gpu::has_memory(apsis_status status) {
    if (status != APSIS_ERROR_MEMORY) check(gpu_, status);
    return status == APSIS_OK;
}

void Gpu::say_no_memory(const Subject &s) {
    std::printf("# no memory for %s %lld x %lld x %lld\n", s.mask.c_str(), (long long)s.size[0], (long long)s.size[1],
                (long long)s.size[2]);
}

double Gpu::copy_ceiling() {
    const size_t bytes = size_t(2) << 30;
    void *from, *to;
    check(cudaMalloc(&from, bytes), "memory");
    check(cudaMalloc(&to, bytes), "memory");
    const double ms =
        timer_.median_ms(stream_, [&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copy"); });
    cudaFree(from);
    cudaFree(to);
    return 2.0 * bytes / (1e-3 * ms);
}

Arguments read_arguments(int argc, char **argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i)
        if (!std::strcmp(argv[i], "--check"))
            arguments.compare = true;
        else if (!std::strcmp(argv[i], "--only") && i + 1 < argc)
            arguments.only = argv[++i];
        else
            arguments.groups.push_back(argv[i]);
    if (apsis_device_count() > 0) return arguments;
    std::fprintf(stderr, "%s: no CUDA device here, nothing is measured\n", program_invocation_short_name);
    std::exit(0);
}
