// Shared by the kernels of pair bounds: components, spans, bounds and claims (pair_bounds.cuh).
#pragma once

#include "core/pair_turns.h"
#include "cuda/paths/field.h"
#include "cuda/paths/ranks.h"
#include "cuda/paths/tuning.h"

namespace apsis::cuda::paths {

constexpr int LEVELS = 3;
constexpr uint32_t SPAN = 64, LARGE_SPAN = SPAN * SPAN;  // ranks of a span of the first level and of the second
constexpr uint32_t PROVED = UINT32_MAX;                  // instead of a witness
constexpr int PROOF_PARTS = LARGE_SPAN / PROOF_THREADS;

/// A field, after it is made.
template <class Length>
struct MadeField {
    uint32_t source;       // a rank, or NO_PIXEL if there is no field
    int32_t hub;           // the number of the hub that it has become, or -1
    Largest<Length> most;  // the eccentricity of the source, and its farthest pixel
};

/// A pixel that is not proved, and its witness, which becomes a source.
template <class Length>
struct Target {
    uint32_t from, witness;  // ranks
    Length bound;
};

enum Stage : uint32_t { STARTING, SEARCHING, PROVEN, OUT_OF_BUDGET };

/// The state of a component while it is solved.
template <class Length>
struct ComponentState {
    uint32_t begin, size;
    uint32_t first[LEVELS];  // its first span of each level
    Stage stage;
    uint32_t open, targets;  // pixels that are not proved; pixels among them that name sources
    int32_t hubs;
    uint32_t replaced;  // hubs that others have replaced
    int64_t fields;
    Target<Length> target[BATCH<Length>];
    MadeField<Length> made[BATCH<Length>];  // of the witnesses, and then of new hubs
    Length gap;
    Largest<Length> end, centre;           // the largest lower bound; the least lower bound
    Largest<Length> widest;                // the largest eccentricity of a source, and that source
    uint32_t lowest, other_end, opposite;  // the farthest pixels from `end` and from `widest`

    APSIS_BOTH uint32_t spans(int level) const { return static_cast<uint32_t>(ceil_div(size, int64_t(SPAN) << 6 * level)); }
    APSIS_BOTH bool is_active() const { return stage <= SEARCHING; }
    APSIS_BOTH bool has_fields() const {
        for (const MadeField<Length> &each : made)
            if (each.source != NO_PIXEL) return true;
        return false;
    }
};

/// The numbers that the host reads after each turn.  All fields begin at 0.
struct TurnReport {
    unsigned long long open;
    uint32_t active, targets;                // components, and the most targets of one
    uint32_t not_before, end;                // the large spans of active components: the complement of the first, and the last
    uint32_t too_long, out_of_budget, hubs;  // whether a path is too long, a component out of budget, a hub new
    uint32_t has_hidden_ends;                // whether the farthest pixel from some component's end is unknown
    unsigned long long fields;               // of all turns so far
};

/// Large spans that are dealt in turn, so many at once, to the members of a team: those of one of them.
struct DealtSpans {
    uint32_t first, each, step;  // of this member: the first; how many in a row; from one such row to the next

    APSIS_BOTH uint32_t at(uint32_t i) const { return first + i / each * step + i % each; }
};

/// A lower bound as a number that is the larger, the lower the bound is.
template <class Length>
__device__ Length counted_down(Length lower) {
    return Lengths<Length>::LONGEST - lower;
}

/// The pixels of a part of a large span that are not proved.
template <class Length>
struct OpenPixels {
    Largest<Length> weakest;  // the least lower bound, counted down, and the lowest rank that has it
    uint32_t open = 0;

    __device__ void add(const OpenPixels &other) {
        weakest.raise(other.weakest);
        open += other.open;
    }
};

/// Lengths from some hubs that are loaded at once.
template <class Length>
struct alignas(16) HubLine {
    Length of[16 / sizeof(Length)];
};

/// The lengths from all hubs to a pixel, or the largest ones to a span.  The first lines of all pixels lie side by side, then
/// their second ones, and so on: the lengths from a new hub then go to whole sectors of memory, which need not be read before.
template <class Length>
class HubLengths {
  public:
    static constexpr int EACH = 16 / static_cast<int>(sizeof(Length));  // of a line

    /// Those of number `at` among `count`.
    __device__ HubLengths(Length *all, uint32_t at, uint32_t count)
        : first_(all + int64_t(at) * EACH),
          step_(int64_t(count) * EACH) {}

    __device__ Length &operator[](int hub) const { return first_[hub / EACH * step_ + hub % EACH]; }
    __device__ HubLine<Length> line(int i) const { return *reinterpret_cast<const HubLine<Length> *>(first_ + i * step_); }

  private:
    Length *first_;
    int64_t step_;  // from a line to the next
};

/// The parameters of all kernels of pair bounds.
template <class Length>
struct Pairs {
    Ranks ranks;
    Moves moves;
    FieldShape shape;
    LowerBounds<Length> bounds;
    int64_t budget;
    uint32_t *witness;     // [rank]: all pairs with ranks below it, in the component, are closed; or PROVED
    uint8_t *is_source;    // [rank]
    uint32_t first;        // the first rank of a pixel of the set
    int room;              // hubs that there is room for
    uint32_t members;      // pixels of the set
    Length *hub;           // [line][rank][hub of the line]
    Length *field;         // [field of a turn][cell]
    uint32_t *open_cells;  // [cell]: a bit: whether it is a pixel of a component that is solved
    ComponentState<Length> *component;
    uint32_t components;              // at most
    uint32_t spans[LEVELS];           // at most
    uint32_t *component_of;           // [large span]
    Length *hub_maxima[LEVELS];       // [line][span][hub of the line]: the largest length from a hub
    uint32_t *lowest_pixel[LEVELS];   // [span]: the lowest pixel
    uint32_t *open_bits;              // [half a span]: the pixels that are not proved, as bits
    uint32_t *open_count;             // [large span]
    OpenPixels<Length> *open_pixels;  // [large span][part]
    Largest<Length> *most;            // [field of a turn][large span]
    FieldSource *source;              // [field of a turn][component]
    TurnReport *turn;

    APSIS_BOTH Length *field_of(int made) const { return field + made * shape.cells(); }

    __device__ int64_t cell_of(uint32_t pixel) const {
        const Raster::Place at = ranks.raster.place(pixel);
        return shape.cell_of(at.x, at.y, at.z);
    }
    __device__ HubLengths<Length> hubs_of(uint32_t rank) const { return {hub, rank - first, members}; }
    __device__ HubLengths<Length> hub_maxima_of(int level, uint32_t span) const {
        return {hub_maxima[level], span, spans[level]};
    }
    __device__ void set_source(int made, uint32_t of_component, uint32_t rank) const {
        source[made * int64_t(components) + of_component] = {rank == NO_PIXEL ? -1 : cell_of(ranks.pixel[rank]), made};
    }
};

/// The least sum over hubs of two lengths.  Both have whole lines.
template <class Length>
__device__ Length least_sum(const HubLengths<Length> &one, const HubLengths<Length> &other, int hubs) {
    constexpr int EACH = HubLengths<Length>::EACH;
    Length least = Lengths<Length>::NONE;
#pragma unroll 2  // with more, registers are spilt
    for (int line = 0; line * EACH < hubs; ++line) {
        const HubLine<Length> a = one.line(line), b = other.line(line);
#pragma unroll
        for (int k = 0; k < EACH; ++k)
            if (line * EACH + k < hubs) least = min(least, a.of[k] + b.of[k]);
    }
    return least;
}

/// The claim for a pixel: no other pixel is farther than its lower bound, which is the distance of `farthest`.
template <class Length>
struct Claim {
    Length lower;
    uint32_t farthest;
};

/// Whether a pixel at this distance or less, of this index or a higher one, might refute a claim.
template <bool FARTHEST, class Length>
__device__ bool is_open(Length bound, uint32_t pixel, const Claim<Length> &claim) {
    return bound > claim.lower || (FARTHEST && bound == claim.lower && pixel < claim.farthest);
}

/// Block: calls body(span, begin, end) for the spans of a large span, with their ranks; a warp has a span.
template <class Length, class Body>
__device__ void for_spans(const ComponentState<Length> &component, uint32_t large, Body body) {
    const uint32_t first = (large - component.first[1]) * SPAN, last = min(first + SPAN, component.spans(0));
    for (uint32_t i = first + threadIdx.x / WARP; i < last; i += blockDim.x / WARP)
        body(component.first[0] + i, component.begin + i * SPAN, component.begin + min((i + 1) * SPAN, component.size));
}

}  // namespace apsis::cuda::paths
