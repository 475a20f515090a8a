// How much of a label image is collected at once: chosen once a call, from the job alone (plan.cu).  No choice depends on the
// device.
#pragma once

#include "cuda/runtime/limits.h"
#include "runtime/backend.h"
#include "runtime/measures_job.h"

namespace apsis::cuda::labels {

constexpr int64_t SEGMENT = 1024;       // pixels of a row that a warp walks along: a longer run is several items
constexpr int64_t ITEMS_A_THREAD = 16;  // of one key, mostly: one atomic operation for all of them

// The tiles of planes and of volumes: words of a row, rows, planes.
constexpr int TILE_WORDS[] = {4, 1}, TILE_ROWS[] = {64, 16}, TILE_PLANES[] = {1, 16};

struct Plan {
    int64_t across = 0;         // segments of a row
    int64_t segments = 0;       // of the image
    int64_t most_segments = 0;  // that may be tried at once: their items can be counted in 32 bits
    int64_t capacity = 0;       // items at once: at least twice those of one segment
    int64_t kept = 0;           // keys that may be kept while there are more segments: they leave room for those of one
    bool has_ranks = false;     // contacts of APSIS_I64: pairs are of ranks, as two values do not fit a key
    int64_t table = 0;          // entries, of a value or of a pair, if sums are made by tiles
    bool is_volume = false;     // the kind of tile
    int64_t tile_count = 0;
    Launch tiles;           // that sums are made by
    int64_t values = 0;     // that there may be, if contacts may be found by the set of their pairs
    int64_t set_words = 0;  // of the set, 32 pairs in each
    int64_t chunk = 0;      // words, of which a block counts the pairs
    Launch count;
    Launch emit, begin, add;  // the largest: of a whole try, and of as many items as there may be
};

/// How measures are found (measures.cu).  A warp has squares of 32 x 32 pixels, which overlap by what windows and perimeters
/// look at around the pixels that count.
struct MeasuresPlan {
    bool serves = false;  // otherwise they are the work of the host
    int axes = 2;
    int margin = 0;            // of a square: 1 before, for windows; 2 all around, for perimeters
    int step = 0;              // from a square to the next one
    int length = 0;            // squares of a warp, one after the other
    int64_t across = 0;        // warps along x,
    int64_t down = 0;          // in 3-D along y,
    int64_t warps = 0;         // and in all
    bool has_carries = false;  // sums of products may have more than 64 bits
    bool is_direct = false;    // a record for each value that there can be, not a hash table
    int64_t records = 0;
    int width = 0;      // numbers of a record
    int64_t batch = 0;  // records that the host reads at once
    Launch sum, list, gather;
};

/// Pure arithmetic: no call of CUDA.
Plan plan_of(const StatisticsJob &job);
Plan plan_of(const ContactsJob &job);
MeasuresPlan plan_of(const MeasuresJob &job);

inline int bits_of(apsis_type type) { return type == APSIS_U8 ? 8 : type == APSIS_U16 ? 16 : type == APSIS_I32 ? 32 : 64; }

/// The directions from a pixel to the neighbours before it.
int directions(int axes, int connectivity);

}  // namespace apsis::cuda::labels
