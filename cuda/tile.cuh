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

    /// Joins the trees of two runs: the higher one gets the lower one for a parent, and whatever it had before is joined
    /// in its place, until there is nothing to do.
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
#pragma unroll
        for (int s = 0; s < Tile::STEPS; ++s) join_row(s);
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

    /// Joins what meets in a step; the first meetings with the row before are linked already.
    __device__ void join_row(int s) {
        Meetings meetings;
        const Step step = Tile::step(s);
        const int at = threadIdx.x, other = meet_row(step, meetings);
        constexpr bool REACH = Tile::step(0).reach;
        uint32_t rest = meetings.others;
        if (s == 0)
            rest &= ~joined_before(word[at], word_at(-1, 0), word_at(-2, 0), REACH);
        else
            rest = (rest | meetings.own) &
                   ~joined_beside(word_at(step.dy ? step.dy : -1, 0), word_at(step.dy ? 0 : -1, -1), step.dy, REACH);
        for (; rest; rest &= rest - 1) {
            const int x = __ffs(rest) - 1;
            join(run_at(at, x), run_at(other, x));
        }
    }
};

}  // namespace apsis
