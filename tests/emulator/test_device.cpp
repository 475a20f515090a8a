// The emulated device refuses what a GPU would: one launch at each side of each limit.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

void kernel() {}  // stands for one that declares 8 KiB and was compiled for at most 512 threads

int failures = 0;

void expect(bool launches, unsigned blocks, emulator::Index threads, size_t shared_bytes) {
    if (emulator::can_launch(reinterpret_cast<const void *>(kernel), blocks, threads, shared_bytes) == launches) return;
    ++failures;
    std::printf("%u blocks of %u x %u x %u threads with %zu bytes: %s\n", blocks, threads.x, threads.y, threads.z, shared_bytes,
                launches ? "refused" : "not refused");
}

bool allow(int bytes) {
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
           cudaSuccess;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const int most = std::atoi(argv[2]) << 10;  // bytes of a block on the device of the environment
    Dl_info program;
    dladdr(reinterpret_cast<void *>(kernel), &program);
    std::FILE *file = std::fopen(argv[1], "w");
    std::fprintf(file, "%zx 8192 512 kernel\n",
                 size_t(reinterpret_cast<char *>(kernel) - static_cast<char *>(program.dli_fbase)));
    std::fclose(file);
    setenv("APSIS_EMULATED_KERNELS", argv[1], 1);

    expect(true, 1, {512, 1, 1}, 0);
    expect(false, 1, {513, 1, 1}, 0);
    expect(true, 1, {128, 4, 1}, 0);
    expect(false, 1, {1, 1, 65}, 0);
    expect(false, 0, {32, 1, 1}, 0);
    expect(true, 0x7fffffff, {32, 1, 1}, 0);
    expect(true, 1, {32, 1, 1}, 40 << 10);
    expect(false, 1, {32, 1, 1}, (40 << 10) + 1);  // 48 KiB with what is declared, unless allowed more
    if (allow(most)) ++failures, std::printf("allowed %d bytes beside 8192 declared\n", most);
    if (!allow(most - 8192)) ++failures, std::printf("not allowed %d bytes\n", most - 8192);
    expect(true, 1, {32, 1, 1}, static_cast<size_t>(most - 8192));
    expect(false, 1, {32, 1, 1}, static_cast<size_t>(most - 8191));
    if (!allow(44 << 10)) ++failures;
    expect(false, 1, {32, 1, 1}, (44 << 10) + 1);  // lowered
    return failures != 0;
}
