// Copies pixels: between host and device if both views are packed, within the device with any strides, and there also between
// bits and bytes, and from wider pixels of a set to bits.
//
// Cost: every pixel is read once and written once.  Neighbouring lanes take neighbouring pixels of a row.
#include "cuda/runtime/copy.h"
#include "cuda/runtime/launch.h"
#include "runtime/packed.h"

namespace apsis::cuda {

namespace {

/// The bytes that hold a row of bits.
__host__ __device__ int64_t bit_bytes(int64_t width) { return (width + 7) / 8; }

/// One thread a pixel.  Bits become bytes of 0 and 1.
template <class Pixel>
__global__ void copy_pixels(View from, View to) {
    const int64_t width = to.size[0], height = to.size[1], total = to.pixels();
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const int64_t line = item / width, x = item % width, y = line % height, z = line / height;
        const uint8_t *const row = from.row(y, z);
        put(to, to.row(y, z), x,
            sizeof(Pixel) == 1 && from.type == APSIS_BIT ? Pixel(is_set(from, row, x))
                                                         : *reinterpret_cast<const Pixel *>(row + x * from.stride[0]));
    }
}

/// Bits or bytes to bits, one thread an output byte.  Bits beyond the row's end become 0.
__global__ void write_bits(View from, View to) {
    const int64_t width = to.size[0], height = to.size[1], bytes = bit_bytes(width);
    const int64_t total = bytes * height * to.size[2];
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const int64_t line = item / bytes, byte = item % bytes, y = line % height, z = line / height;
        const uint8_t *row = from.row(y, z);
        unsigned value = 0;
        for (int bit = 0; bit < 8; ++bit)
            if (byte * 8 + bit < width && is_set(from, row, byte * 8 + bit)) value |= 1u << bit;
        to.row(y, z)[byte] = static_cast<uint8_t>(value);
    }
}

/// Wider pixels of a set to bits, likewise.
template <class Pixel>
__global__ void write_bits_of(View from, View to) {
    const int64_t width = to.size[0], height = to.size[1], bytes = bit_bytes(width);
    const int64_t total = bytes * height * to.size[2];
    for (int64_t item = first_item(); item < total; item += item_step()) {
        const int64_t line = item / bytes, byte = item % bytes, y = line % height, z = line / height;
        const uint8_t *const pixels = from.row(y, z) + byte * 8 * from.stride[0];
        unsigned value = 0;
        for (int bit = 0; bit < 8; ++bit)
            if (byte * 8 + bit < width && *reinterpret_cast<const Pixel *>(pixels + bit * from.stride[0])) value |= 1u << bit;
        to.row(y, z)[byte] = static_cast<uint8_t>(value);
    }
}

void pack_on_device(const View &from, const View &to, cudaStream_t stream) {
    const int64_t blocks = ceil_div(bit_bytes(to.size[0]) * to.size[1] * to.size[2], BLOCK);
    switch (from.type) {
        case APSIS_U16: return launch("write_bits_of", write_bits_of<uint16_t>, blocks, BLOCK, stream, from, to);
        case APSIS_I32: return launch("write_bits_of", write_bits_of<uint32_t>, blocks, BLOCK, stream, from, to);
        case APSIS_I64: return launch("write_bits_of", write_bits_of<uint64_t>, blocks, BLOCK, stream, from, to);
        default: return launch("write_bits", write_bits, blocks, BLOCK, stream, from, to);
    }
}

void copy_on_device(const View &from, const View &to, cudaStream_t stream) {
    const bool expands = from.type == APSIS_BIT && to.type == APSIS_U8;
    if (to.type != APSIS_BIT && to.type != from.type && !expands)
        throw Error(APSIS_ERROR_INTERNAL, "a copy on the device makes bits of other pixels, and bytes of bits alone");
    const int64_t blocks = ceil_div(to.pixels(), BLOCK);
    if (to.type == APSIS_BIT)
        pack_on_device(from, to, stream);
    else if (pixel_bytes(to.type) == 8)
        launch("copy_pixels", copy_pixels<uint64_t>, blocks, BLOCK, stream, from, to);
    else if (pixel_bytes(to.type) == 4)
        launch("copy_pixels", copy_pixels<uint32_t>, blocks, BLOCK, stream, from, to);
    else if (pixel_bytes(to.type) == 2)
        launch("copy_pixels", copy_pixels<uint16_t>, blocks, BLOCK, stream, from, to);
    else
        launch("copy_pixels", copy_pixels<uint8_t>, blocks, BLOCK, stream, from, to);
}

/// Whether the device has memory of the host at the same address.
bool is_page_locked_at(const void *at) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, at) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost && attributes.devicePointer == at;
    cudaGetLastError();
    return false;
}

}  // namespace

/// Checks both ends: a program may have page-locked a part of its memory.
bool is_page_locked(const void *data, size_t bytes) {
    return is_page_locked_at(data) && is_page_locked_at(static_cast<const uint8_t *>(data) + bytes - 1);
}

int device_of(const void *array) {
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, array), "asking where an array is");
    return attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
}

cudaError_t probe_code() noexcept {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, write_bits);
}

void copy_views(const View &from, const View &to, cudaStream_t stream) {
    if (to.pixels() == 0) return;
    if (from.type == to.type && is_packed(from) && is_packed(to)) {
        const size_t bytes = static_cast<size_t>(packed_bytes(to));
        check(cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDefault, stream), "copying pixels");
    } else if (from.memory == APSIS_DEVICE && to.memory == APSIS_DEVICE) {
        copy_on_device(from, to, stream);
    } else {
        throw Error(APSIS_ERROR_INTERNAL, "a copy between host and device must be packed");
    }
}

}  // namespace apsis::cuda
