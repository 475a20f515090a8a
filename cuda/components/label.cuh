// Labels a tile in shared memory, run by run (He, Chao and Suzuki 2008; Komura 2015 for the union-find).
//
// A thread has a word of 32 pixels.  Runs are numbered in the order of the tile, and each becomes the child of the first run
// before that it meets: one store, as nobody else has a say in it.  What else it meets is joined by a union-find without
// locks, in which the lowest run is the root.
#pragma once

#include <cub/block/block_scan.cuh>

#include "cuda/components/tiles.h"

namespace apsis::cuda::components {

template <class Tile>
struct LabelledTile {
    static constexpr int THREADS = Tile::THREADS;
    static constexpr int RUNS = THREADS * SLOTS_PER_WORD, ENTRIES = RUNS + RUNS / 32;  // at most
    using Scan = cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

    uint32_t word[THREADS];
    uint32_t start[THREADS];        // the pixels at which runs begin
    uint32_t parents[ENTRIES];      // see up()
    uint16_t runs_before[THREADS];  // runs that begin before the word
    typename Scan::TempStorage scan;

    /// A run is known by its entry among the parents: its number, but that one entry is left out after 32.  So threads that
    /// walk the runs of their words, 8 or 16 each, meet as many banks of memory as threads that take runs side by side.
    __device__ static uint32_t entry(uint32_t number) { return number + number / 32; }

    /// Calls body(run) for a thread's share of the runs, of which there are so many.
    template <class Body>
    __device__ static void for_runs(uint32_t runs, Body body) {
        for (uint32_t run = entry(threadIdx.x), end = entry(runs); run < end; run += entry(THREADS)) body(run);
    }

    /// Of a run, itself or a lower run of its part; labelled, the lowest.
    __device__ uint32_t &parent_of(uint32_t run) { return parents[run]; }
    __device__ uint32_t parent_of(uint32_t run) const { return parents[run]; }

    /// The runs of a word.
    struct WordRuns {
        uint32_t start, runs_before;

        /// The one that holds a pixel; beside a run, the last one before the pixel.
        __device__ uint32_t run_at(int x) const { return entry(run_number_at(x)); }
        __device__ uint32_t run_number_at(int x) const { return runs_before + __popc(start & up_to(x)) - 1; }
    };
    __device__ WordRuns runs_of(int at) const { return {start[at], runs_before[at]}; }
    __device__ uint32_t run_at(int at, int x) const { return runs_of(at).run_at(x); }

    __device__ uint32_t root_of_node(const Tiles &tiles, uint32_t node) const {
        const uint32_t first = tiles.first[node];
        return run_at(first / 32, first % 32);
    }

    /// Parents while others may change them.  Whichever value a thread meets leads up to the same root, so these two, and no
    /// others, race by design; racecheck names them.
    __device__ uint32_t load(uint32_t run) const { return *const_cast<const volatile uint32_t *>(parents + run); }
    __device__ void store(uint32_t run, uint32_t value) { *const_cast<volatile uint32_t *>(parents + run) = value; }

    /// Every run points at its root, if nobody joins any.  All runs of a thread, and all steps up the trees, are one loop,
    /// so that the lanes of a warp do not wait at every run for the one with the longest way.
    __device__ void flatten(uint32_t runs) {
        uint32_t run = entry(threadIdx.x), end = entry(runs), parent = run < end ? load(run) : 0;
        while (run < end) {
            const uint32_t next = load(parent);
            if (next != parent)
                store(run, next);
            else
                run += entry(THREADS);
            parent = next != parent ? next : run < end ? load(run) : 0;
        }
    }

    /// A word of the tile, some rows and planes from this thread's; 0 outside.
    __device__ uint32_t word_at(int dy, int dz) const {
        const int y = static_cast<int>(threadIdx.x) / Tile::WORDS % Tile::ROWS + dy;
        const int at = static_cast<int>(threadIdx.x) + (dy + dz * Tile::ROWS) * Tile::WORDS;
        return y >= 0 && y < Tile::ROWS && at >= 0 ? word[at] : 0;
    }

    /// Where the runs of this thread's word meet those of the row a step before.  Returns the other word's place.
    __device__ int meet_row(EarlierRow earlier, Meetings &meetings) const {
        const int at = threadIdx.x, column = at % Tile::WORDS, y = at / Tile::WORDS % Tile::ROWS + earlier.dy;
        const int other = at + (earlier.dy + earlier.dz * Tile::ROWS) * Tile::WORDS;
        meetings = {0, 0};
        if (y < 0 || y >= Tile::ROWS || other < 0) return at;
        const bool goes_on = earlier.diagonals && column > 0;
        meetings = find_meetings(word[at], start[at], goes_on ? word[at - 1] >> 31 : 0, word[other], start[other],
                                 goes_on ? word[other - 1] >> 31 : 0, earlier.diagonals);
        return other;
    }

    /// Finds the runs of the words that are there, for all threads to see.  Returns how many there are.
    __device__ uint32_t find_runs() {
        const int at = threadIdx.x;
        const uint32_t left = at % Tile::WORDS ? word[at - 1] >> 31 : 0;
        uint32_t first, runs;
        start[at] = word[at] & ~(word[at] << 1 | left);
        Scan(scan).ExclusiveSum(__popc(start[at]), first, runs);
        runs_before[at] = static_cast<uint16_t>(first);
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

    /// A run is the child of the first one that it meets in the row before, or else of that in the plane before.
    __device__ void link() {
        Meetings row, plane = {0, 0};
        const int above = meet_row(Tile::earlier_row(0), row),
                  behind = Tile::EARLIER_ROWS > 1 ? meet_row(Tile::earlier_row(1), plane) : above;
        const WordRuns runs_above = runs_of(above), runs_behind = runs_of(behind);
        uint32_t number = runs_before[threadIdx.x];
        for (uint32_t rest = start[threadIdx.x]; rest; rest &= rest - 1, ++number) {
            const int x = __ffs(rest) - 1;
            const uint32_t run = entry(number);
            parent_of(run) = row.own >> x & 1 ? runs_above.run_at(x) : plane.own >> x & 1 ? runs_behind.run_at(x) : run;
        }
    }

    /// Where a step's runs have to be joined: where they meet, are not linked, and others do not join them.
    __device__ uint32_t to_join(int s, int &other) const {
        constexpr bool DIAGONALS = Tile::earlier_row(0).diagonals;
        Meetings row, meetings;
        const EarlierRow earlier = Tile::earlier_row(s);
        meet_row(Tile::earlier_row(0), row);
        other = meet_row(earlier, meetings);
        if (s == 0) return row.others & ~joined_before(word[threadIdx.x], word_at(-1, 0), word_at(-2, 0), DIAGONALS);
        const uint32_t linked = s == 1 ? meetings.own & ~row.own : 0;
        return (meetings.own | meetings.others) & ~linked &
               ~joined_beside(word[threadIdx.x] & word[other], word_at(earlier.dy ? earlier.dy : -1, 0),
                              word_at(earlier.dy ? 0 : -1, -1), earlier.dy, DIAGONALS);
    }

    /// What a thread has to join.
    struct PendingMeetings {
        uint32_t rest[Tile::EARLIER_ROWS];
        int other[Tile::EARLIER_ROWS];
        WordRuns own, first_other;  // of the word, and of the other one of the first step
    };

    /// The next two runs of them, if there are any.
    __device__ bool next_meeting(PendingMeetings &meeting, uint32_t &one, uint32_t &two) const {
        uint32_t now = 0;
        int there = 0;
#pragma unroll
        for (int s = 0; s < Tile::EARLIER_ROWS; ++s)
            if (uint32_t &rest = meeting.rest[s]; !now && rest) now = rest, there = meeting.other[s], rest &= rest - 1;
        if (!now) return false;
        const int x = __ffs(now) - 1;
        one = meeting.own.run_at(x);
        two = (Tile::EARLIER_ROWS == 1 ? meeting.first_other : runs_of(there)).run_at(x);
        return true;
    }

    /// Joins what meets.  All meetings of a thread, and all steps up the trees, are one loop, so that the lanes of a warp
    /// do not wait for the one with the longest way.
    __device__ void join_rows() {
        PendingMeetings meeting;
        uint32_t one = 0, two = 0;
#pragma unroll
        for (int s = 0; s < Tile::EARLIER_ROWS; ++s) meeting.rest[s] = to_join(s, meeting.other[s]);
        meeting.own = runs_of(threadIdx.x);
        meeting.first_other = runs_of(meeting.other[0]);
        while (one != two || next_meeting(meeting, one, two)) rem_step(one, two);
    }

    /// Goes a step up from two runs that are to be of one part, until both are the same: the run with the higher parent gets
    /// the lower one for its own, and what was its parent is left to be joined, if it was not the root itself (Rem's way,
    /// Dijkstra 1976; Patwary, Blair and Manne 2010).  Where the parents are the same, that changes nothing.
    __device__ void rem_step(uint32_t &one, uint32_t &two) {
        const uint32_t up_one = load(one), up_two = load(two), high = up_one > up_two ? one : two;
        two = min(up_one, up_two);
        const uint32_t was = atomicMin(&parent_of(high), two);
        one = was == high ? two : was;
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
__device__ uint32_t recall_tile(LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles) {
    const uint32_t at = threadIdx.x;
    labelled.word[at] = at < tiles.kept_words ? tiles.bits[int64_t(place.tile) * tiles.kept_words + at] : 0;
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    if (stores_roots<Tile>(tiles, place)) {
        for_stored_roots<Tile>(tiles, place, runs,
                               [&](uint32_t run, uint16_t root) { labelled.parent_of(labelled.entry(run)) = root; });
        __syncthreads();
    } else {
        labelled.label(runs);
    }
    return runs;
}

/// Counts the first pixels of a row of a tile, by as many lanes as it has words.
template <class Tile>
__device__ void count_firsts(uint32_t firsts, int at, const TilePlace &place, const Tiles &tiles) {
    const int row = at / Tile::WORDS;
    int count = __popc(firsts);
#pragma unroll
    for (int step = Tile::WORDS / 2; step > 0; step /= 2) count += __shfl_xor_sync(ALL_LANES, count, step);
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    if (at % Tile::WORDS == 0 && y < tiles.height && z < tiles.depth)
        tiles.firsts_before[tiles.tile_row_at(y, z, place.tx)] = static_cast<uint32_t>(count);
}

/// The first pixels of components in a thread's word.
template <class Tile>
__device__ uint32_t firsts_of(const TilePlace &place, const Tiles &tiles) {
    return threadIdx.x < tiles.kept_words ? tiles.firsts[int64_t(place.tile) * tiles.kept_words + threadIdx.x] : 0;
}

/// Points the roots of a labelled tile at ENTRIES more than the numbers of their components, 0 for what is left out, for all
/// threads to see.
template <class Tile>
__device__ void number_roots(LabelledTile<Tile> &labelled, uint32_t runs, const TilePlace &place, const Tiles &tiles) {
    constexpr uint32_t ENTRIES = LabelledTile<Tile>::ENTRIES;
    if (runs == 0) return;
    const uint32_t at = threadIdx.x, row = at / Tile::WORDS, firsts = firsts_of<Tile>(place, tiles);
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    uint32_t number = y < tiles.height && z < tiles.depth ? tiles.firsts_before[tiles.tile_row_at(y, z, place.tx)] : 0;
#pragma unroll
    for (int i = 1; i < Tile::WORDS; ++i) {
        const uint32_t count = __shfl_sync(ALL_LANES, __popc(firsts), at % WARP / Tile::WORDS * Tile::WORDS + i - 1);
        if (at % Tile::WORDS >= i) number += count;
    }
    uint32_t before = labelled.runs_before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++before)
        if (const uint32_t run = labelled.entry(before); labelled.parent_of(run) == run)
            labelled.parent_of(run) = ENTRIES + (firsts & rest & -rest ? ++number : 0);
    __syncthreads();
    if (tiles.has_nodes) {
        for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
            labelled.parent_of(labelled.root_of_node(tiles, node)) = ENTRIES + number_of_node<Tile>(tiles, node);
        });
        __syncthreads();
    }
}

}  // namespace apsis::cuda::components
