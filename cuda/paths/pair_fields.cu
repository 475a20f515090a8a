// Pair bounds: what fields tell.
//
// The fields of a turn are read twice: for the eccentricities of their sources, and then, since these raise lower bounds
// too, to raise those; lengths from new hubs are kept by rank, and their maxima by span.
//
// Cost: 4 bytes a pixel and a field, twice, and 8 bytes a pixel, twice in a turn; 4 more a pixel for a new hub.
#include "cuda/paths/pair_steps.h"

namespace apsis::cuda::paths {

namespace {

template <class Length>
constexpr int MAKERS = BATCH<Length> * WARP;  // threads of a block with a warp for each field

/// The best of what a block's warps have found; for the first warp.
template <class Length>
struct Bests {
    Best<Length> best[BATCH<Length>][CREW / WARP];

    __device__ void put(int made, const Best<Length> &own) {
        const Best<Length> all = best_of_lanes(own);
        if (threadIdx.x % WARP == 0) best[made][threadIdx.x / WARP] = all;
    }
    /// Writes them down for the block's large span.
    __device__ void write(const Pairs<Length> &pairs, int count, uint32_t large) {
        __syncthreads();
        const int made = threadIdx.x;
        if (made >= count) return;
        Best<Length> all = best[made][0];
        for (int i = 1; i < CREW / WARP; ++i)
            if (best[made][i] > all) all = best[made][i];
        pairs.most[made * int64_t(pairs.spans[1]) + large] = all;
    }
};

/// The best of a piece's large spans, for a warp.
template <class Length>
__device__ Best<Length> best_of_piece(const Pairs<Length> &pairs, const Piece<Length> &piece, int made) {
    Best<Length> best;
    const Best<Length> *const most = pairs.most + made * int64_t(pairs.spans[1]) + piece.first[1];
    for (uint32_t i = threadIdx.x % WARP; i < piece.spans(1); i += WARP)
        if (most[i] > best) best = most[i];
    return best_of_lanes(best);
}

/// Calls body(rank) for a lane's ranks of a block's large span.
template <class Length, class Body>
__device__ void for_ranks(const Piece<Length> &piece, uint32_t large, Body body) {
    for_spans(piece, large, [&](uint32_t, uint32_t begin, uint32_t end) {
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) body(rank);
    });
}

// ---- The beginning ----

template <class Length>
__global__ void __launch_bounds__(CREW) begin_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ uint32_t lows[CREW / WARP];
    const uint32_t large = first + blockIdx.x;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    uint32_t lowest = NONE;
    for_spans(piece, large, [&](uint32_t span, uint32_t begin, uint32_t end) {
        uint32_t low = NONE;
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) {
            pairs.known.lower[rank] = -1;
            pairs.witness[rank] = piece.begin;
            pairs.is_source[rank] = 0;
            low = min(low, pairs.ranks.pixel[rank]);
        }
        low = least_of_warp(low);
        if (threadIdx.x % WARP == 0) pairs.low[0][span] = low;
        lowest = min(lowest, low);
    });
    if (threadIdx.x % WARP == 0) lows[threadIdx.x / WARP] = lowest;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (uint32_t low : lows) lowest = min(lowest, low);
    pairs.low[1][large] = lowest;
}

/// Finds the lowest pixels of a piece's largest spans.
template <class Length>
__global__ void __launch_bounds__(WARP) begin_piece(Pairs<Length> pairs) {
    Piece<Length> &piece = pairs.piece[blockIdx.x];
    uint32_t lowest = NONE;
    for (uint32_t i = 0; i < piece.spans(2); ++i) {
        uint32_t low = NONE;
        for (uint32_t k = i * SPAN + threadIdx.x; k < min((i + 1) * SPAN, piece.spans(1)); k += WARP)
            low = min(low, pairs.low[1][piece.first[1] + k]);
        low = least_of_warp(low);
        if (threadIdx.x == 0) pairs.low[2][piece.first[2] + i] = low;
        lowest = min(lowest, low);
    }
    if (threadIdx.x == 0) piece.lowest = lowest;
}

// ---- Eccentricities ----

template <class Length>
__global__ void __launch_bounds__(CREW) measure_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ Bests<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    if (!piece.has_made()) return;
    Best<Length> best[BATCH<Length>];
    for_ranks(piece, large, [&](uint32_t rank) {
        const uint32_t pixel = pairs.ranks.pixel[rank];
        const int64_t cell = pairs.cell_of(pixel);
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) {
            if (piece.made[k].source == NONE) continue;
            if (const Best<Length> one = {pairs.field_of(k)[cell], pixel}; one > best[k]) best[k] = one;
        }
    });
#pragma unroll
    for (int k = 0; k < BATCH<Length>; ++k) bests.put(k, best[k]);
    bests.write(pairs, BATCH<Length>, large);
}

/// Notes a field that is made: its source needs no more proof, and it may be kept as a hub.
template <class Length, bool FARTHEST>
__device__ void take(const Pairs<Length> &pairs, Piece<Length> &piece, Made<Length> &made, bool as_hub) {
    made.hub = -1;
    if (made.source == NONE) return;
    ++piece.fields;
    atomicAdd(&pairs.turn->fields, 1ull);
    pairs.is_source[made.source] = 1;
    pairs.witness[made.source] = PROVED;
    pairs.known.lower[made.source] = made.most.value;
    if (FARTHEST) pairs.known.farthest[made.source] = made.most.pixel;
    if (const Best<Length> one = {made.most.value, pairs.ranks.pixel[made.source]}; one > piece.widest)
        piece.widest = one, piece.opposite = made.most.pixel;
    if (!as_hub) return;
    if (piece.hubs < pairs.room)
        made.hub = piece.hubs++;
    else
        made.hub = FIRST_HUBS + static_cast<int32_t>(piece.replaced++ % static_cast<uint32_t>(pairs.room - FIRST_HUBS));
}

template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(MAKERS<Length>) take_fields(Pairs<Length> pairs, bool as_hubs) {
    Piece<Length> &piece = pairs.piece[blockIdx.x];
    if (!piece.is_active()) return;
    Made<Length> &made = piece.made[threadIdx.x / WARP];
    if (made.source != NONE) {
        const Best<Length> best = best_of_piece(pairs, piece, threadIdx.x / WARP);
        if (threadIdx.x % WARP == 0) made.most = best;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (Made<Length> &each : piece.made) {
        if (piece.stage == STARTING && each.source != NONE && each.most.value > Lengths<Length>::LONGEST / 2)
            pairs.turn->too_long = 1;  // sums of two lengths are to be lengths, too
        take<Length, FARTHEST>(pairs, piece, each, as_hubs);
    }
}

// ---- Lower bounds, and hubs ----

template <class Length, bool FARTHEST>
__device__ void raise(const Made<Length> &made, Length length, uint32_t source, Claim<Length> &claim) {
    if (!FARTHEST)
        claim.lower = max(claim.lower, max(length, static_cast<Length>(made.most.value - length)));
    else if (length > claim.lower || (length == claim.lower && source < claim.farthest))
        claim = {length, source};
}

template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(CREW) fold_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ Bests<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    if (!piece.has_made()) return;
    Best<Length> top[BATCH<Length>];
    for_spans(piece, large, [&](uint32_t span, uint32_t begin, uint32_t end) {
        Length most[BATCH<Length>];
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) most[k] = 0;
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) {
            const int64_t cell = pairs.cell_of(pairs.ranks.pixel[rank]);
            Claim<Length> claim = {pairs.known.lower[rank], FARTHEST ? pairs.known.farthest[rank] : 0};
#pragma unroll
            for (int k = 0; k < BATCH<Length>; ++k) {
                const Made<Length> &made = piece.made[k];
                if (made.source == NONE) continue;
                const Length length = pairs.field_of(k)[cell];
                raise<Length, FARTHEST>(made, length, FARTHEST ? pairs.ranks.pixel[made.source] : 0, claim);
                if (made.hub < 0) continue;
                pairs.hubs_of(rank)[made.hub] = length;
                most[k] = max(most[k], length);
            }
            pairs.known.lower[rank] = claim.lower;
            if (FARTHEST) pairs.known.farthest[rank] = claim.farthest;
        }
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) {
            if (piece.made[k].source == NONE || piece.made[k].hub < 0) continue;
            const Length all = greatest_of_lanes(most[k]);
            top[k].value = max(top[k].value, all);
            if (threadIdx.x % WARP == 0) pairs.tops_of(0, span)[piece.made[k].hub] = all;
        }
    });
#pragma unroll
    for (int k = 0; k < BATCH<Length>; ++k) bests.put(k, top[k]);
    bests.write(pairs, BATCH<Length>, large);
}

/// The maxima of new hubs over large spans, and over spans of those: a warp has a hub.
template <class Length>
__global__ void __launch_bounds__(MAKERS<Length>) lift_tops(Pairs<Length> pairs) {
    const Piece<Length> &piece = pairs.piece[blockIdx.x];
    const int k = threadIdx.x / WARP;
    if (!piece.is_active() || piece.made[k].source == NONE || piece.made[k].hub < 0) return;
    const Best<Length> *const most = pairs.most + k * int64_t(pairs.spans[1]) + piece.first[1];
    const int hub = piece.made[k].hub;
    for (uint32_t i = 0; i < piece.spans(2); ++i) {
        Length top = 0;
        for (uint32_t large = i * SPAN + threadIdx.x % WARP; large < min((i + 1) * SPAN, piece.spans(1)); large += WARP) {
            pairs.tops_of(1, piece.first[1] + large)[hub] = most[large].value;
            top = max(top, most[large].value);
        }
        top = greatest_of_lanes(top);
        if (threadIdx.x % WARP == 0) pairs.tops_of(2, piece.first[2] + i)[hub] = top;
    }
}

// ---- The end ----

template <class Length>
__global__ void __launch_bounds__(CREW) measure_lower(Pairs<Length> pairs, uint32_t first) {
    __shared__ Bests<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    Best<Length> end, centre;
    for_ranks(piece, large, [&](uint32_t rank) {
        const uint32_t pixel = pairs.ranks.pixel[rank];
        const Length lower = pairs.known.lower[rank];
        if (const Best<Length> one = {lower, pixel}; one > end) end = one;
        if (const Best<Length> one = {Lengths<Length>::LONGEST - lower, pixel}; one > centre) centre = one;
    });
    bests.put(0, end);
    bests.put(1, centre);
    bests.write(pairs, 2, large);
}

template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(WARP) find_ends(Pairs<Length> pairs) {
    Piece<Length> &piece = pairs.piece[blockIdx.x];
    const Best<Length> end = best_of_piece(pairs, piece, 0), centre = best_of_piece(pairs, piece, 1);
    if (threadIdx.x > 0) return;
    piece.end = end;
    piece.centre = {static_cast<Length>(Lengths<Length>::LONGEST - centre.value), centre.pixel};
    const uint32_t rank = pairs.ranks.rank[end.pixel];
    if (FARTHEST) {
        piece.other_end = pairs.known.farthest[rank];
        return;
    }
    const bool is_hidden = piece.widest.pixel != end.pixel;
    piece.other_end = is_hidden ? NONE : piece.opposite;
    pairs.plan(0, blockIdx.x, is_hidden ? rank : NONE);
    if (is_hidden) pairs.turn->has_hidden_ends = 1;
}

template <class Length>
__global__ void __launch_bounds__(CREW) measure_end(Pairs<Length> pairs, uint32_t first) {
    __shared__ Bests<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    if (piece.other_end != NONE) return;
    Best<Length> best;
    for_ranks(piece, large, [&](uint32_t rank) {
        const uint32_t pixel = pairs.ranks.pixel[rank];
        if (const Best<Length> one = {pairs.field[pairs.cell_of(pixel)], pixel}; one > best) best = one;
    });
    bests.put(0, best);
    bests.write(pairs, 1, large);
}

template <class Length>
__global__ void __launch_bounds__(WARP) find_other_end(Pairs<Length> pairs) {
    Piece<Length> &piece = pairs.piece[blockIdx.x];
    if (piece.other_end != NONE) return;
    const Best<Length> best = best_of_piece(pairs, piece, 0);
    if (threadIdx.x == 0) piece.other_end = best.pixel;
}

}  // namespace

template <class Length>
void begin_pieces(const Pairs<Length> &pairs, uint32_t pieces, const Range &spans, cudaStream_t stream) {
    launch("begin_span", begin_span<Length>, spans.count(), CREW, stream, pairs, spans.begin);
    launch("begin_piece", begin_piece<Length>, pieces, WARP, stream, pairs);
}

template <class Length, bool FARTHEST>
void measure(const Pairs<Length> &pairs, uint32_t pieces, const Range &spans, bool as_hubs, cudaStream_t stream) {
    launch("measure_span", measure_span<Length>, spans.count(), CREW, stream, pairs, spans.begin);
    launch("take_fields", take_fields<Length, FARTHEST>, pieces, MAKERS<Length>, stream, pairs, as_hubs);
}

template <class Length, bool FARTHEST>
void fold(const Pairs<Length> &pairs, uint32_t pieces, const Range &spans, cudaStream_t stream) {
    launch("fold_span", fold_span<Length, FARTHEST>, spans.count(), CREW, stream, pairs, spans.begin);
    launch("lift_tops", lift_tops<Length>, pieces, MAKERS<Length>, stream, pairs);
}

template <class Length, bool FARTHEST>
void find_extremes(const Pairs<Length> &pairs, uint32_t pieces, const Range &spans, cudaStream_t stream) {
    launch("measure_lower", measure_lower<Length>, spans.count(), CREW, stream, pairs, spans.begin);
    launch("find_ends", find_ends<Length, FARTHEST>, pieces, WARP, stream, pairs);
}

template <class Length>
void find_other_ends(const Pairs<Length> &pairs, uint32_t pieces, const Range &spans, cudaStream_t stream) {
    launch("measure_end", measure_end<Length>, spans.count(), CREW, stream, pairs, spans.begin);
    launch("find_other_end", find_other_end<Length>, pieces, WARP, stream, pairs);
}

#define APSIS_PAIRS(Length)                                                                                   \
    template void begin_pieces<Length>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t);         \
    template void measure<Length, false>(const Pairs<Length> &, uint32_t, const Range &, bool, cudaStream_t); \
    template void measure<Length, true>(const Pairs<Length> &, uint32_t, const Range &, bool, cudaStream_t);  \
    template void fold<Length, false>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t);          \
    template void fold<Length, true>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t);           \
    template void find_extremes<Length, false>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t); \
    template void find_extremes<Length, true>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t);  \
    template void find_other_ends<Length>(const Pairs<Length> &, uint32_t, const Range &, cudaStream_t);
APSIS_PAIRS(int32_t)
APSIS_PAIRS(int64_t)
#undef APSIS_PAIRS

}  // namespace apsis::cuda::paths
