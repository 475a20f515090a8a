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
    uint32_t up[RUNS];         // [run]: itself, or a lower run of its part; labelled, the lowest
    uint16_t before[THREADS];  // runs that begin before the word
    typename Scan::TempStorage scan;

    /// The run that holds a pixel of a word; beside a run, the last one before the pixel.
    __device__ uint32_t run_at(int at, int x) const { return before[at] + __popc(start[at] & up_to(x)) - 1; }

    __device__ uint32_t load(uint32_t run) const { return *const_cast<const volatile uint32_t *>(up + run); }
    __device__ void store(uint32_t run, uint32_t value) { *const_cast<volatile uint32_t *>(up + run) = value; }

    /// Joins the trees of two runs: the higher root gets the lower one for a parent; if it has got another one meanwhile,
    /// that is joined in its place, until there is nothing to do.
    __device__ void join(uint32_t one, uint32_t other) {
        one = load(one);
        other = load(other);
        while (one != other) {
            const uint32_t high = max(one, other), low = min(one, other);
            one = atomicMin(&up[high], low);
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
        flatten(runs);
        __syncthreads();
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
            up[run] = meetings.own >> x & 1 ? run_at(other, x) : run;
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

}  // namespace apsis
