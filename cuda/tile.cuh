// Labels a tile in shared memory, run by run (He, Chao and Suzuki 2008; Komura 2015 for the union-find).
//
// A thread has a word of 32 pixels.  Runs are numbered in the order of the tile, and each becomes the child of the first run
// of the row before that it meets: one store, as nobody else has a say in it.  What else it meets is joined by a union-find
// without locks, in which the lowest run is the root.
#pragma once

#include <cub/block/block_scan.cuh>

#include "tiles.h"

namespace apsis {

template <class Tile>
struct Labelled {
    static constexpr int THREADS = Tile::THREADS;
    static constexpr int RUNS = THREADS * SLOTS;  // at most
    using Scan = cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

    uint32_t word[THREADS];
    uint32_t start[THREADS];   // the pixels at which runs begin
    uint32_t parents[RUNS];    // see up()
    uint16_t before[THREADS];  // runs that begin before the word
    typename Scan::TempStorage scan;

    /// Of a run, itself or a lower run of its part; labelled, the lowest.  Threads that walk the runs of their words, 8 or 16
    /// each, meet as many banks of memory as threads that take runs side by side.
    __device__ uint32_t &up(uint32_t run) { return parents[spread_banks(run)]; }
    __device__ uint32_t up(uint32_t run) const { return parents[spread_banks(run)]; }

    /// The run that holds a pixel of a word; beside a run, the last one before the pixel.
    __device__ uint32_t run_at(int at, int x) const { return before[at] + __popc(start[at] & up_to(x)) - 1; }

    __device__ uint32_t root_of_node(const Tiles &tiles, uint32_t node) const {
        const uint32_t first = tiles.first[node];
        return run_at(first / 32, first % 32);
    }

    __device__ uint32_t load(uint32_t run) const { return *const_cast<const volatile uint32_t *>(parents + spread_banks(run)); }
    __device__ void store(uint32_t run, uint32_t value) { *const_cast<volatile uint32_t *>(parents + spread_banks(run)) = value; }

    /// The root of a run, or what was one before others joined it.  Where nobody has flattened the links, halves the way.
    __device__ uint32_t root_of(uint32_t run) {
        uint32_t parent = load(run);
        if constexpr (!Tile::FLATTENS)
            for (uint32_t next; (next = load(parent)) != parent; parent = load(run = next)) store(run, next);
        return parent;
    }

    /// Joins the trees of two runs: the higher root gets the lower one for a parent; if it has got another one meanwhile,
    /// that is joined in its place, until there is nothing to do.
    __device__ void join(uint32_t one, uint32_t other) {
        one = root_of(one);
        other = root_of(other);
        while (one != other) {
            const uint32_t high = max(one, other), low = min(one, other);
            one = atomicMin(&up(high), low);
            if (one == high) return;
            other = low;
        }
    }

    /// Every run points at its root, if nobody joins any.
    __device__ void flatten(uint32_t runs) {
        for (uint32_t run = threadIdx.x; run < runs; run += THREADS) {
            uint32_t parent = load(run);
            for (uint32_t next; (next = load(parent)) != parent; parent = next) store(run, next);
        }
    }

    /// A word of the tile, some rows and planes from this thread's; 0 outside.
    __device__ uint32_t word_at(int dy, int dz) const {
        const int y = static_cast<int>(threadIdx.x) / Tile::WORDS % Tile::ROWS + dy;
        const int at = static_cast<int>(threadIdx.x) + (dy + dz * Tile::ROWS) * Tile::WORDS;
        return y >= 0 && y < Tile::ROWS && at >= 0 ? word[at] : 0;
    }

    /// Where the runs of this thread's word meet those of the row a step before.  Returns the other word's place.
    __device__ int meet_row(Step step, Meetings &meetings) const {
        const int at = threadIdx.x, column = at % Tile::WORDS, y = at / Tile::WORDS % Tile::ROWS + step.dy;
        const int other = at + (step.dy + step.dz * Tile::ROWS) * Tile::WORDS;
        meetings = {0, 0};
        if (y < 0 || y >= Tile::ROWS || other < 0) return at;
        const bool goes_on = step.reach && column > 0;
        meetings = meet(word[at], start[at], goes_on ? word[at - 1] >> 31 : 0, word[other], start[other],
                        goes_on ? word[other - 1] >> 31 : 0, step.reach);
        return other;
    }

    /// Finds the runs of the words that are there, for all threads to see.  Returns how many there are.
    __device__ uint32_t find_runs() {
        const int at = threadIdx.x;
        const uint32_t left = at % Tile::WORDS ? word[at - 1] >> 31 : 0;
        uint32_t first, runs;
        start[at] = word[at] & ~(word[at] << 1 | left);
        Scan(scan).ExclusiveSum(__popc(start[at]), first, runs);
        before[at] = static_cast<uint16_t>(first);
        __syncthreads();
        return runs;
    }

    /// Labels the runs, for all threads to see.
    __device__ void label(uint32_t runs) {
        if (runs == 0) return;
        link();
        __syncthreads();
        if (Tile::FLATTENS) {
            flatten(runs);
            __syncthreads();
        }
        join_rows();
        __syncthreads();
        flatten(runs);
        __syncthreads();
    }

    __device__ void link() {
        Meetings meetings;
        uint32_t run = before[threadIdx.x];
        const int other = meet_row(Tile::step(0), meetings);
        for (uint32_t rest = start[threadIdx.x]; rest; rest &= rest - 1, ++run) {
            const int x = __ffs(rest) - 1;
            up(run) = meetings.own >> x & 1 ? run_at(other, x) : run;
        }
    }

    /// Where a step's runs have to be joined.  The first meetings with the row before are linked already.
    __device__ uint32_t to_join(int s, int &other) const {
        constexpr bool REACH = Tile::step(0).reach;
        Meetings meetings;
        const Step step = Tile::step(s);
        other = meet_row(step, meetings);
        if (s == 0) return meetings.others & ~joined_before(word[threadIdx.x], word_at(-1, 0), word_at(-2, 0), REACH);
        return (meetings.own | meetings.others) &
               ~joined_beside(word[threadIdx.x] & word[other], word_at(step.dy ? step.dy : -1, 0),
                              word_at(step.dy ? 0 : -1, -1), step.dy, REACH);
    }

    /// Joins what meets, all steps in one loop: the lanes of a warp have more to do in one or in another.
    __device__ void join_rows() {
        uint32_t rest[Tile::STEPS];
        int other[Tile::STEPS];
#pragma unroll
        for (int s = 0; s < Tile::STEPS; ++s) rest[s] = to_join(s, other[s]);
        for (;;) {
            uint32_t now = 0;
            int there = 0;
#pragma unroll
            for (int s = Tile::STEPS - 1; s >= 0; --s)
                if (rest[s]) now = rest[s], there = other[s];
            if (!now) return;
            bool is_taken = false;
#pragma unroll
            for (int s = 0; s < Tile::STEPS; ++s)
                if (!is_taken && rest[s]) rest[s] &= rest[s] - 1, is_taken = true;
            const int x = __ffs(now) - 1;
            join(run_at(threadIdx.x, x), run_at(there, x));
        }
    }
};

/// The part of a run that lies in a word: its first pixel there, and how many.  The first of those in `rest`.
struct Segment {
    int x, length;
};

__device__ inline Segment next_segment(uint32_t word, uint32_t rest) {
    const int x = rest ? __ffs(rest) - 1 : 0;
    return {x, word >> x == ~0u ? 32 : __ffs(~(word >> x)) - 1};
}

/// Labels a tile that has been found, for all threads to see: the roots of its runs wait where its labels will be, or it is
/// labelled again from its bits.  Returns the number of runs.
template <class Tile>
__device__ uint32_t recall_tile(Labelled<Tile> &labelled, const Place &place, const Tiles &tiles) {
    const uint32_t at = threadIdx.x;
    labelled.word[at] = at < tiles.kept ? tiles.bits[int64_t(place.tile) * tiles.kept + at] : 0;
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    if (is_stored<Tile>(tiles, place)) {
        for_stored_roots<Tile>(tiles, place, runs, [&](uint32_t run, uint16_t root) { labelled.up(run) = root; });
        __syncthreads();
    } else {
        labelled.label(runs);
    }
    return runs;
}

/// Counts the first pixels of a row of a tile, by as many lanes as it has words.
template <class Tile>
__device__ void count_firsts(uint32_t firsts, const Place &place, const Tiles &tiles) {
    const int at = threadIdx.x, row = at / Tile::WORDS;
    int count = __popc(firsts);
#pragma unroll
    for (int step = Tile::WORDS / 2; step > 0; step /= 2) count += __shfl_xor_sync(ALL_LANES, count, step);
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (at % Tile::WORDS == 0 && y < tiles.height && z < tiles.depth)
        tiles.before[tiles.rank_at(y, z, place.tx)] = static_cast<uint32_t>(count);
}

/// The first pixels of components in a thread's word.
template <class Tile>
__device__ uint32_t firsts_of(const Place &place, const Tiles &tiles) {
    return threadIdx.x < tiles.kept ? tiles.firsts[int64_t(place.tile) * tiles.kept + threadIdx.x] : 0;
}

/// Points the roots of a labelled tile at RUNS more than the numbers of their components, 0 for what is left out, for all
/// threads to see.
template <class Tile>
__device__ void name_roots(Labelled<Tile> &labelled, uint32_t runs, const Place &place, const Tiles &tiles) {
    constexpr uint32_t RUNS = Labelled<Tile>::RUNS;
    if (runs == 0) return;
    const uint32_t at = threadIdx.x, row = at / Tile::WORDS, firsts = firsts_of<Tile>(place, tiles);
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    uint32_t number = y < tiles.height && z < tiles.depth ? tiles.before[tiles.rank_at(y, z, place.tx)] : 0;
#pragma unroll
    for (int i = 1; i < Tile::WORDS; ++i) {
        const uint32_t count = __shfl_sync(ALL_LANES, __popc(firsts), at % WARP / Tile::WORDS * Tile::WORDS + i - 1);
        if (at % Tile::WORDS >= i) number += count;
    }
    uint32_t run = labelled.before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++run)
        if (labelled.up(run) == run) labelled.up(run) = RUNS + (firsts & rest & -rest ? ++number : 0);
    __syncthreads();
    if (tiles.joined) {
        for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
            labelled.up(labelled.root_of_node(tiles, node)) = RUNS + tiles.parent[node];
        });
        __syncthreads();
    }
}

}  // namespace apsis
