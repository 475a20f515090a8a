// See label_rows.h.
#include "cpu/components/label_rows.h"

#include <cstring>

#include "cpu/components/runs.h"

namespace apsis::cpu::components {
namespace {

template <class Pixel>
void write_numbers(const View &labels, const ThreadScratch &scratch, int64_t runs, const uint32_t *part, uint8_t *row) {
    const int64_t width = labels.size[0];
    Pixel *const line = reinterpret_cast<Pixel *>(scratch.line);
    fill_runs(scratch.ends, part, runs, width, scratch.number, line);
    if (labels.stride[0] == sizeof(Pixel)) return stream_bytes(scratch.line, width * int64_t(sizeof(Pixel)), row);
    for (int64_t x = 0; x < width; ++x) put<Pixel>(labels, row, x, line[x]);
}

/// Writes the set without the components that have no number.  For a complement, the pixels are inverted back.
void write_set(const View &labels, bool complement, const ThreadScratch &scratch, int64_t runs, const uint32_t *part,
               uint8_t *row) {
    const int64_t width = labels.size[0];
    std::memset(scratch.line, complement, static_cast<size_t>(width));
    for (int64_t i = 0; i < runs; ++i)
        if (scratch.number[part[i]] > 0)
            std::memset(scratch.line + scratch.ends[2 * i], !complement, scratch.ends[2 * i + 1] - scratch.ends[2 * i]);
    if (labels.type == APSIS_BIT) {
        pack_bytes(scratch.line, width, false, scratch.mask);
        std::memcpy(row, scratch.mask, static_cast<size_t>((width + 7) / 8));
    } else if (labels.stride[0] == 1) {
        std::memcpy(row, scratch.line, static_cast<size_t>(width));
    } else {
        for (int64_t x = 0; x < width; ++x) put<uint8_t>(labels, row, x, scratch.line[x]);
    }
}

}  // namespace

void write_row(const View &labels, bool complement, const ThreadScratch &scratch, int64_t runs, const uint32_t *part, int64_t y,
               int64_t z) {
    uint8_t *const row = labels.row(y, z);
    if (labels.type == APSIS_I32)
        write_numbers<int32_t>(labels, scratch, runs, part, row);
    else if (labels.type == APSIS_I64)
        write_numbers<int64_t>(labels, scratch, runs, part, row);
    else
        write_set(labels, complement, scratch, runs, part, row);
}

}  // namespace apsis::cpu::components
