// Labels a tile in shared memory, run by run (He, Chao and Suzuki 2008), with a union-find of atomic minima (Komura 2015).
//
// A thread has a word of 32 pixels.  Runs are numbered in the order of the tile.  Each becomes the child of the first earlier
// run that it meets: one store, as only this thread writes it.  Its other meetings are joined by a union-find without locks, in
// which the lowest run of a part is the root.
#pragma once

#include <cub/block/block_scan.cuh>

#include "cuda/components/tiles.h"

namespace apsis::cuda::components {

/// A run is identified by its entry among the parents: its number, with one entry left out after every 32.  A thread walks the
/// 8 or 16 runs of its word; with this gap the threads of a warp meet different banks of shared memory.
__device__ inline uint32_t entry_of(uint32_t number) { return number + number / 32; }

/// The runs of a word.
struct Runs {
    uint32_t start, runs_before;

    /// The run at the last of `columns`, which are all columns up to there; if no run has a pixel there, the last run before.
    __device__ uint32_t number_in(uint32_t columns) const { return runs_before + __popc(start & columns) - 1; }
    __device__ uint32_t run_in(uint32_t columns) const { return entry_of(number_in(columns)); }
    /// The run at a column.
    __device__ uint32_t run_at(int x) const { return run_in(up_to(x)); }
    /// The run that begins at a column, given as a bit.
    __device__ uint32_t run_from(uint32_t begin) const { return entry_of(runs_before + __popc(start & (begin - 1))); }
};

/// The union-find of the runs of a tile.  A run's parent is itself or a lower run of its part; once labelled, the lowest one.
template <int THREADS, uint32_t SIZE>
struct RunParents {
    uint32_t parents[SIZE];

    __device__ uint32_t &operator[](uint32_t run) { return parents[run]; }
    __device__ uint32_t operator[](uint32_t run) const { return parents[run]; }

    /// Access to parents that other threads may change.  Every value that a thread may read leads up to the same root, so the
    /// races of these two functions, and no others, are harmless by design.  racecheck reports them.
    __device__ uint32_t load(uint32_t run) const { return *const_cast<const volatile uint32_t *>(parents + run); }
    __device__ void store(uint32_t run, uint32_t value) { *const_cast<volatile uint32_t *>(parents + run) = value; }

    /// Block: points every run at its root, while no runs are joined.  All runs of a thread and all steps up the trees are one
    /// loop: so the lanes of a warp do not wait at every run for the longest path.
    __device__ void flatten(uint32_t runs) {
        uint32_t run = entry_of(threadIdx.x), parent = load(run);
        for (const uint32_t end = entry_of(runs); run < end;) {
            const uint32_t next = load(parent);
            const bool is_root = next == parent;
            if (!is_root) store(run, next);
            if (is_root) run += entry_of(THREADS);
            parent = next;
            if (is_root) parent = load(min(run, SIZE - 1));  // beyond the last run it is not used
        }
    }

    /// A step of Rem's algorithm (Dijkstra 1976; Patwary, Blair and Manne 2010) for two runs of one part, until both are the
    /// same.  The run with the higher parent gets the lower parent.  Its old parent is joined next, unless the run was a root.
    /// Nothing changes if the parents are the same.  Returns whether a root has got a parent.
    __device__ bool rem_step(uint32_t &one, uint32_t &two) {
        const uint32_t up_one = load(one), up_two = load(two), high = up_one > up_two ? one : two;
        two = min(up_one, up_two);
        const uint32_t was = atomicMin(&parents[high], two);
        one = was == high ? two : was;
        return was == high && two < high;
    }
};

/// The shared memory of a block that labels a tile.
template <class Tile>
struct LabelledTile {
    static constexpr int THREADS = Tile::THREADS;
    static constexpr int RUNS = THREADS * SLOTS_PER_WORD, ENTRIES = RUNS + RUNS / 32;  // at most
    using Scan = cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

    uint32_t word[THREADS];
    uint32_t start[THREADS];  // the pixels at which runs begin
    RunParents<THREADS, ENTRIES> parents;
    uint16_t runs_before[THREADS];  // runs that begin before the word
    typename Scan::TempStorage scan;

    /// Block: calls body(run) for each of `runs` runs, by one thread.
    template <class Body>
    __device__ static void for_runs(uint32_t runs, Body body) {
        for (uint32_t run = entry_of(threadIdx.x), end = entry_of(runs); run < end; run += entry_of(THREADS)) body(run);
    }

    __device__ Runs runs_of(int at) const { return {start[at], runs_before[at]}; }
    __device__ uint32_t run_at(int at, int x) const { return runs_of(at).run_at(x); }

    __device__ uint32_t root_of_node(const Tiles &tiles, uint32_t node) const {
        const uint32_t first = tiles.first[node];
        return run_at(first / 32, first % 32);
    }

    /// A word of the tile, some rows and planes from this thread's; 0 outside.
    __device__ uint32_t word_at(int dy, int dz) const {
        const int y = static_cast<int>(threadIdx.x) / Tile::WORDS % Tile::ROWS + dy;
        const int at = static_cast<int>(threadIdx.x) + (dy + dz * Tile::ROWS) * Tile::WORDS;
        return y >= 0 && y < Tile::ROWS && at >= 0 ? word[at] : 0;
    }

    /// Where the runs of this thread's word meet those of an earlier row.  Returns the index of the word there.
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

    /// Block: finds the runs of all words; all threads see them.  Returns how many there are.
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

    /// Block: labels the runs; all threads see the result.
    __device__ void label(uint32_t runs) {
        if (runs == 0) return;
        link();
        __syncthreads();
        parents.flatten(runs);
        __syncthreads();
        join_rows();
        __syncthreads();
        parents.flatten(runs);
        __syncthreads();
    }

    /// Makes each run of a thread's word the child of the first run that it meets in the row before, or else in the plane
    /// before.
    __device__ void link() {
        Meetings row, plane = {0, 0};
        const int above = meet_row(Tile::earlier_row(0), row),
                  behind = Tile::EARLIER_ROWS > 1 ? meet_row(Tile::earlier_row(1), plane) : above;
        const Runs runs_above = runs_of(above), runs_behind = runs_of(behind);
        uint32_t number = runs_before[threadIdx.x];
        for (uint32_t rest = start[threadIdx.x]; rest; rest &= rest - 1, ++number) {
            const int x = __ffs(rest) - 1;
            const uint32_t run = entry_of(number);
            parents[run] = row.own >> x & 1 ? runs_above.run_at(x) : plane.own >> x & 1 ? runs_behind.run_at(x) : run;
        }
    }

    /// The meetings of this thread's word with an earlier row that need a union: not linked, and not implied by other joins.
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

    /// The meetings that a thread still has to join.
    struct PendingMeetings {
        uint32_t rest[Tile::EARLIER_ROWS];
        int other[Tile::EARLIER_ROWS];
        Runs own, first_other;  // of this word, and of the word in the first earlier row
    };

    /// Takes a meeting, and finds its two runs.  Returns false if there is none left.
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

    /// Joins the runs that meet.  All meetings of a thread and all steps up the trees are one loop, so that the lanes of a warp
    /// do not wait at every meeting for the longest path.
    __device__ void join_rows() {
        PendingMeetings meeting;
        uint32_t one = 0, two = 0;
#pragma unroll
        for (int s = 0; s < Tile::EARLIER_ROWS; ++s) meeting.rest[s] = to_join(s, meeting.other[s]);
        meeting.own = runs_of(threadIdx.x);
        meeting.first_other = runs_of(meeting.other[0]);
        while (one != two || next_meeting(meeting, one, two)) parents.rem_step(one, two);
    }
};

/// The first stretch of a run within a word, of those that begin in `rest`: its first pixel and its length.
struct Segment {
    int x, length;
};

__device__ inline Segment next_segment(uint32_t word, uint32_t rest) {
    const int x = rest ? __ffs(rest) - 1 : 0;
    return {x, word >> x == ~0u ? 32 : __ffs(~(word >> x)) - 1};
}

/// Block: labels a tile once more; all threads see it.  The roots of its runs are loaded from where its labels will be, or
/// found again from its bits.  Returns the number of runs.
template <class Tile>
__device__ uint32_t recall_tile(LabelledTile<Tile> &labelled, const TilePlace &place, const Tiles &tiles) {
    const uint32_t at = threadIdx.x;
    labelled.word[at] = at < tiles.kept_words ? tiles.bits[int64_t(place.tile) * tiles.kept_words + at] : 0;
    __syncthreads();
    const uint32_t runs = labelled.find_runs();
    if (stores_roots<Tile>(tiles, place)) {
        for_stored_roots<Tile>(tiles, place, runs,
                               [&](uint32_t run, uint16_t root) { labelled.parents[entry_of(run)] = root; });
        __syncthreads();
    } else {
        labelled.label(runs);
    }
    return runs;
}

/// Warp: counts the first pixels of rows of a tile; as many lanes as a row has words count one row.
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

/// Block: points the roots of a labelled tile at ENTRIES plus the numbers of their components, or plus 0 where those are left
/// out; all threads see it.
template <class Tile>
__device__ void number_roots(LabelledTile<Tile> &labelled, uint32_t runs, const TilePlace &place, const Tiles &tiles,
                             const uint32_t *elsewhere = nullptr) {
    constexpr uint32_t ENTRIES = LabelledTile<Tile>::ENTRIES;
    if (runs == 0) return;
    const uint32_t at = threadIdx.x, row = at / Tile::WORDS, firsts = firsts_of<Tile>(place, tiles);
    const int64_t y = place.y + row % Tile::ROWS, z = place.z + row / Tile::ROWS;
    uint32_t number = y < tiles.height && z < tiles.depth ? tiles.firsts_before[tiles.tile_row_at(y, z, place.tx)] : 0;
    if (tiles.has_nodes) {  // while what is above is loaded
        for_nodes<Tile>(tiles, place.tile, [&](uint32_t node) {
            labelled.parents[labelled.root_of_node(tiles, node)] = ENTRIES + number_of_node<Tile>(tiles, node, elsewhere);
        });
        __syncthreads();
    }
#pragma unroll
    for (int i = 1; i < Tile::WORDS; ++i) {
        const uint32_t count = __shfl_sync(ALL_LANES, __popc(firsts), at % WARP / Tile::WORDS * Tile::WORDS + i - 1);
        if (at % Tile::WORDS >= i) number += count;
    }
    uint32_t before = labelled.runs_before[at];
    for (uint32_t rest = labelled.start[at]; rest; rest &= rest - 1, ++before) {
        const bool is_first = firsts & rest & -rest;
        number += is_first;
        if (const uint32_t run = entry_of(before); labelled.parents[run] == run)
            labelled.parents[run] = ENTRIES + (is_first ? number : 0);
    }
    __syncthreads();
}

}  // namespace apsis::cuda::components
