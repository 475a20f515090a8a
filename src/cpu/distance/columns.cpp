// Bit columns on the CPU: see columns.h.
#include "cpu/distance/columns.h"

#include <cstring>

#include "cpu/distance/distance.h"
#include "cpu/distance/label_lines.h"
#include "cpu/distance/lines.h"

namespace apsis::cpu::distance {
namespace {

/// Packs the pixels of one strip and one row of columns into words.
void pack_row(const DistanceJob &job, const Columns &columns, int64_t image, int64_t strip, int64_t row) {
    const int64_t width = job.set.size[0];
    uint32_t *const words = columns.words + columns.at(image, strip, row * width);
    std::memset(words, 0, static_cast<size_t>(width) * sizeof *words);
    const int64_t start = strip * STRIP, end = std::min<int64_t>(start + STRIP, columns.length);
    const auto row_at = [&](int64_t at) { return job.axes == 3 ? job.set.row(row, at) : job.set.row(at, image); };
    for (int64_t at = start; at < end; ++at) {
        const uint8_t *pixels = row_at(at);
        const int bit = static_cast<int>(at - start);
        if (job.labels) {
            if (at > 0) pack_begins(job.set, pixels, row_at(at - 1), bit, words);
        } else if (job.set.type == APSIS_U8 && job.set.stride[0] == 1) {
            pack_bytes(pixels, width, bit, words);
        } else if (job.set.type == APSIS_BIT) {
            pack_bits(pixels, width, bit, words);
        } else {
            for (int64_t x = 0; x < width; ++x) words[x] |= uint32_t(is_set(job.set, pixels, x)) << bit;
        }
    }
    if (job.complement)
        for (int64_t x = 0; x < width; ++x) words[x] ^= columns.valid(strip);
}

/// The sites outside a slab, as positions relative to `start`.  They fit in 32 bits: the longest axis has 2^30 pixels.
void carry_in(const int64_t *sites, int64_t none, int64_t start, int32_t no_site, int64_t begin, int64_t end,
              int32_t *carried) {
    for (int64_t c = begin; c < end; ++c)
        carried[c - begin] = sites && sites[c] != none ? static_cast<int32_t>(sites[c] - start) : no_site;
}

/// The first and the last site of a chunk of columns.
void summarize_chunk(const SummaryJob &job, const Columns &columns, int64_t begin, int64_t end) {
    const int64_t start = job.slab.start, strips = columns.strips();
    for (int64_t strip = 0; job.is_opposite && strip < strips; ++strip)
        for (int64_t c = begin; c < end; ++c) columns.words[columns.at(0, strip, c)] ^= columns.valid(strip);
    if (job.first) std::fill(job.first + begin, job.first + end, INT64_MAX);
    if (job.last) std::fill(job.last + begin, job.last + end, -1);
    for (int64_t strip = strips - 1; job.first && strip >= 0; --strip)
        for (int64_t c = begin; c < end; ++c)
            if (const uint32_t word = columns.words[columns.at(0, strip, c)])
                job.first[c] = start + strip * STRIP + lowest_bit(word);
    for (int64_t strip = 0; job.last && strip < strips; ++strip)
        for (int64_t c = begin; c < end; ++c)
            if (const uint32_t word = columns.words[columns.at(0, strip, c)])
                job.last[c] = start + strip * STRIP + highest_bit(word);
}

}  // namespace

Columns columns_of(const DistanceJob &job, Carver &carver) {
    Columns set;
    set.count = job.columns();
    set.length = job.set.size[job.axes - 1];
    set.batch = job.axes == 3 ? 1 : job.set.size[2];
    set.words = carver.take<uint32_t>(set.total() + LINE_PAD);
    return set;
}

void take_carries(Columns &columns, Carver &carver) {
    columns.before = carver.take<int32_t>(columns.total() + LINE_PAD);
    columns.after = carver.take<int32_t>(columns.total() + LINE_PAD);
}

Sides::Sides(const DistanceJob &job, Carver &carver) : count(job.is_signed ? 2 : 1) {
    columns[0] = columns[1] = columns_of(job, carver);
    for (int side = 0; side < count; ++side) take_carries(columns[side], carver);
}

void pack(const DistanceJob &job, const Columns &columns, Arena &arena, const Progress &progress, double to) {
    const int64_t rows = job.axes == 3 ? job.set.size[1] : 1;
    parallel_for(arena, columns.batch * columns.strips() * rows, progress, 0.0, to, [&](int64_t i) {
        pack_row(job, columns, i / rows / columns.strips(), i / rows % columns.strips(), i % rows);
    });
}

void carry_chunk(const Slab &slab, const Columns &columns, int side, int64_t image, int64_t begin, int64_t end) {
    const auto flip = [&](int64_t strip) { return side ? columns.valid(strip) : 0; };
    int32_t carried[CARRY_CHUNK];
    carry_in(slab.above[side], -1, slab.start, NO_SITE_BEFORE, begin, end, carried);
    for (int64_t strip = 0; strip < columns.strips(); ++strip)
        for (int64_t c = begin; c < end; ++c) {
            const int64_t at = columns.at(image, strip, c);
            const uint32_t word = columns.words[at] ^ flip(strip);
            columns.before[at] = carried[c - begin];
            if (word) carried[c - begin] = static_cast<int32_t>(strip * STRIP) + highest_bit(word);
        }
    carry_in(slab.below[side], INT64_MAX, slab.start, NO_SITE_AFTER, begin, end, carried);
    for (int64_t strip = columns.strips() - 1; strip >= 0; --strip)
        for (int64_t c = begin; c < end; ++c) {
            const int64_t at = columns.at(image, strip, c);
            const uint32_t word = columns.words[at] ^ flip(strip);
            columns.after[at] = carried[c - begin];
            if (word) carried[c - begin] = static_cast<int32_t>(strip * STRIP) + lowest_bit(word);
        }
}

size_t summary_scratch(const SummaryJob &job) {
    Carver count;
    if (!job.labels) columns_of(job, count);
    return count.used();
}

void summary(const SummaryJob &job, void *scratch, Arena &arena, const Progress &progress) {
    if (job.labels) return find_runs(job, arena, progress);
    Carver carver(scratch);
    const Columns columns = columns_of(job, carver);
    if (!job.is_found) pack(job, columns, arena, progress, 0.8);
    for_chunks(columns, 1, arena, progress, 0.8, 1.0,
               [&](int64_t, int64_t begin, int64_t end) { summarize_chunk(job, columns, begin, end); });
}

}  // namespace apsis::cpu::distance
