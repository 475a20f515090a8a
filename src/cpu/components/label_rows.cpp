// See label_rows.h.
#include "cpu/components/label_rows.h"

#include <cstring>

#include "cpu/components/runs.h"

namespace apsis::cpu::components {
namespace {

template <class Pixel>
void write_numbers(const View &labels, const Bench &b, int64_t runs, const uint32_t *part, uint8_t *row) {
    const int64_t width = labels.size[0];
    Pixel *const line = reinterpret_cast<Pixel *>(b.line);
    fill_runs(b.ends, part, runs, width, b.number, line);
    if (labels.stride[0] == sizeof(Pixel)) return stream_bytes(b.line, width * int64_t(sizeof(Pixel)), row);
    for (int64_t x = 0; x < width; ++x) put<Pixel>(labels, row, x, line[x]);
}

/// The pixels of components that have a number are in the set, or, of the complement, all others.
void write_set(const ComponentsJob &job, const Bench &b, int64_t runs, const uint32_t *part, uint8_t *row) {
    const int64_t width = job.labels.size[0];
    std::memset(b.line, job.complement, static_cast<size_t>(width));
    for (int64_t i = 0; i < runs; ++i)
        if (b.number[part[i]] > 0)
            std::memset(b.line + b.ends[2 * i], !job.complement, b.ends[2 * i + 1] - b.ends[2 * i]);
    if (job.labels.type == APSIS_BIT) {
        pack_bytes(b.line, width, false, b.mask);
        std::memcpy(row, b.mask, static_cast<size_t>((width + 7) / 8));
    } else if (job.labels.stride[0] == 1) {
        std::memcpy(row, b.line, static_cast<size_t>(width));
    } else {
        for (int64_t x = 0; x < width; ++x) put<uint8_t>(job.labels, row, x, b.line[x]);
    }
}

}  // namespace

void write_row(const ComponentsJob &job, const Bench &b, const uint64_t *bits, const uint32_t *part, int64_t y,
               int64_t z) {
    const int64_t runs = find_runs(bits, job.labels.size[0], b.ends);
    uint8_t *const row = job.labels.row(y, z);
    if (job.labels.type == APSIS_I32)
        write_numbers<int32_t>(job.labels, b, runs, part, row);
    else if (job.labels.type == APSIS_I64)
        write_numbers<int64_t>(job.labels, b, runs, part, row);
    else
        write_set(job, b, runs, part, row);
}

}  // namespace apsis::cpu::components
