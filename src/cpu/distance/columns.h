// Bit columns on the CPU (core/columns.h), the first step of a distance map: of a set its pixels, of a label image the begins
// of its runs, each with carries.
#pragma once

#include <algorithm>

#include "core/columns.h"
#include "runtime/backend.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::distance {

constexpr int64_t CARRY_CHUNK = 512;  // columns that a thread carries at once: their carries stay in the L1 cache

/// The columns of a job, with room for their words.
Columns columns_of(const DistanceJob &job, Carver &carver);

/// Takes room for the carries of columns.
void take_carries(Columns &columns, Carver &carver);

/// The columns of a job's set, and of its complement: the same words, flipped, with carries of their own.
struct Sides {
    Columns columns[2];
    int count;

    Sides(const DistanceJob &job, Carver &carver);
    uint32_t flip(int side, int64_t strip) const { return side ? columns[0].valid(strip) : 0; }
};

/// Packs the pixels of a job into words.
void pack(const DistanceJob &job, const Columns &columns, Arena &arena, const Progress &progress, double to);

/// Carries the nearest sites of a side across the strips of some columns, up to CARRY_CHUNK.
void carry_chunk(const Slab &slab, const Columns &columns, int side, int64_t image, int64_t begin, int64_t end);

/// What a slab of a label image tells.
void find_runs(const SummaryJob &job, Arena &arena, const Progress &progress);

/// Calls body(chunk, begin, end) for chunks of columns, `sets` times.
template <class Body>
void for_chunks(const Columns &columns, int64_t sets, Arena &arena, const Progress &progress, double from, double to,
                Body body) {
    const int64_t chunks = (columns.count + CARRY_CHUNK - 1) / CARRY_CHUNK;
    parallel_for(arena, sets * chunks, progress, from, to, [&](int64_t i) {
        const int64_t begin = i % chunks * CARRY_CHUNK;
        body(i / chunks, begin, std::min(begin + CARRY_CHUNK, columns.count));
    });
}

}  // namespace apsis::cpu::distance
