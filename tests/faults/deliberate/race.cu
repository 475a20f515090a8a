// A race in shared memory, which racecheck must report: a warp reads what another writes, with no barrier between.
#include <cstdio>

__global__ void reverse(int *out) {
    __shared__ int numbers[64];
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = numbers[63 - threadIdx.x];
}

int main() {
    int *out;
    if (cudaMalloc(&out, 64 * sizeof *out) != cudaSuccess) return 3;
    reverse<<<1, 64>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
    cudaFree(out);
    return error == cudaSuccess ? 0 : 3;
}
