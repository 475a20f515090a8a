// Pair bounds: which pixels become sources next, and by how much what is not proved may be wrong.
//
// The pixel with the least lower bound of a piece, and others from all over it, name the pixels with the largest bounds: a
// block each, by branch and bound.  The walk from them down their witnesses' fields is a warp's each.
#include "cuda/paths/pair_steps.h"

namespace apsis::cuda::paths {

namespace {

__device__ void raise(int32_t *value, int32_t to) { atomicMax(value, to); }
__device__ void raise(int64_t *value, int64_t to) {
    atomicMax(reinterpret_cast<long long *>(value), static_cast<long long>(to));
}

/// The pixel with the largest bound of those that are no sources, the lowest of several, for warps that look at spans, each
/// at others.
template <class Length>
class FarthestByBound {
  public:
    /// `from` are the lengths from hubs to the pixel in question, `most` what is known of the bound; all warps share them.
    __device__ FarthestByBound(const Pairs<Length> &pairs, const Piece<Length> &piece, const Length *from, Length *most)
        : pairs_(pairs), piece_(piece), from_(from), most_(most) {}

    /// The large span with the largest bound, among a lane's: every step-th.
    __device__ Best<Length> most_promising(uint32_t first, uint32_t step) const {
        Best<Length> best;
        for (uint32_t i = first; i < piece_.spans(1); i += step)
            if (const Best<Length> one = {bound_of<1>(i), i}; one > best) best = one;
        return best;
    }

    /// Looks into those of 32 spans of a level that may hold the pixel.
    template <int LEVEL>
    __device__ void look(uint32_t first, uint32_t last) {
        const uint32_t i = first + threadIdx.x % WARP;
        const Length sum = i < last ? bound_of<LEVEL>(i) : -2;
        for (uint32_t rest = ALL_LANES;;) {
            const uint32_t open = rest & __ballot_sync(ALL_LANES, sum >= known());
            if (!open) return;
            const uint32_t next = __ffs(open) - 1, child = (first + next) * SPAN;
            rest = ~((2u << next) - 1);
            if constexpr (LEVEL > 0) {
                const uint32_t end = min(child + SPAN, piece_.spans(0));
                look<0>(child, end);
                look<0>(child + WARP, end);
            } else {
                look_into(first + next);
            }
        }
    }

    __device__ void look_into(uint32_t span) {
        const uint32_t begin = piece_.begin + span * SPAN, end = piece_.begin + min((span + 1) * SPAN, piece_.size);
        for (uint32_t q = begin + threadIdx.x % WARP; q < end; q += WARP) {
            if (pairs_.is_source[q]) continue;
            const Length bound = least_sum(from_, pairs_.hubs_of(q), piece_.hubs);
            if (bound < best.value) continue;
            if (const Best<Length> one = {bound, pairs_.ranks.pixel[q]}; one > best) best = one;
        }
        const Length top = greatest_of_lanes(best.value);
        if (threadIdx.x % WARP == 0 && top > known()) raise(most_, top);
        __syncwarp();
    }

    Best<Length> best;  // a lane's

  private:
    __device__ Length known() const { return *const_cast<const volatile Length *>(most_); }

    template <int LEVEL>
    __device__ Length bound_of(uint32_t span) const {
        return least_sum(from_, pairs_.tops_of(LEVEL, piece_.first[LEVEL] + span), piece_.hubs);
    }

    const Pairs<Length> &pairs_;
    const Piece<Length> &piece_;
    const Length *from_;
    Length *most_;
};

/// What the threads of a block share.
template <class Length>
struct Crew {
    static constexpr int WARPS = CREW / WARP;
    alignas(16) Length from[MOST_HUBS<Length>];
    Length most;
    Best<Length> best[WARPS];
    Rest<Length> rest[WARPS];

    /// The best of all threads, for all of them.
    __device__ Best<Length> best_of(Best<Length> own) {
        own = best_of_lanes(own);
        __syncthreads();
        if (threadIdx.x % WARP == 0) best[threadIdx.x / WARP] = own;
        __syncthreads();
        for (int i = 0; i < WARPS; ++i)
            if (best[i] > own) own = best[i];
        return own;
    }
};

template <class Length>
__device__ Best<Length> farthest_by_bound(const Pairs<Length> &pairs, const Piece<Length> &piece, uint32_t v,
                                          Crew<Length> &crew) {
    if (static_cast<int>(threadIdx.x) < piece.hubs)
        crew.from[threadIdx.x] = pairs.hubs_of(v)[threadIdx.x];
    if (threadIdx.x == 0) crew.most = -1;
    __syncthreads();
    FarthestByBound<Length> search(pairs, piece, crew.from, &crew.most);
    const uint32_t start = crew.best_of(search.most_promising(threadIdx.x, CREW)).pixel, warp = threadIdx.x / WARP;
    for (uint32_t span = start * SPAN + warp; span < min((start + 1) * SPAN, piece.spans(0)); span += CREW / WARP)
        search.look_into(span);
    __syncthreads();
    for (uint32_t i = warp * WARP; i < piece.spans(1); i += CREW) search.template look<1>(i, piece.spans(1));
    return crew.best_of(search.best);
}

/// The place among lanes where the sum of their counts passes n, which becomes what is left of it; WARP if it does not.
__device__ int pass(uint32_t count, uint32_t &n) {
    uint32_t sum = count;
    const int lane = threadIdx.x % WARP;
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t before = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane >= step) sum += before;
    }
    const uint32_t behind = __ballot_sync(ALL_LANES, sum > n);
    const int place = behind ? __ffs(behind) - 1 : WARP;
    n -= behind ? __shfl_sync(ALL_LANES, sum - count, place % WARP) : __shfl_sync(ALL_LANES, sum, WARP - 1);
    return place;
}

/// The n-th pixel that is not proved.  For a warp.
template <class Length>
__device__ uint32_t unproved(const Pairs<Length> &pairs, const Piece<Length> &piece, uint32_t n) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t large = 0;
    for (;; large += WARP) {
        const uint32_t i = large + lane;
        const int place = pass(i < piece.spans(1) ? pairs.count_open[piece.first[1] + i] : 0, n);
        if (place == WARP) continue;
        large += place;
        break;
    }
    for (uint32_t half = 2 * large * SPAN;; half += WARP) {
        const uint32_t own = half + lane < 2 * piece.spans(0) ? pairs.open[2 * piece.first[0] + half + lane] : 0;
        const int place = pass(__popc(own), n);
        if (place == WARP) continue;
        uint32_t open = __shfl_sync(ALL_LANES, own, place);
        for (; n > 0; --n) open &= open - 1;
        return piece.begin + (half + place) * WARP + __ffs(open) - 1;
    }
}

/// How many pixels are not proved, and the weakest of them, for all threads; and how many each large span has.
template <class Length>
__device__ Rest<Length> sum_rests(const Pairs<Length> &pairs, const Piece<Length> &piece, Crew<Length> &crew) {
    Rest<Length> all = {{}, 0};
    for (uint32_t i = piece.first[1] + threadIdx.x; i < piece.first[1] + piece.spans(1); i += CREW) {
        const uint32_t before = all.open;
        for (int part = 0; part < PARTS; ++part) all.add(pairs.rest[i * PARTS + part]);
        pairs.count_open[i] = all.open - before;
    }
    all = {weakest_of_lanes(all.weakest), sum_of_warp(all.open)};
    if (threadIdx.x % WARP == 0) crew.rest[threadIdx.x / WARP] = all;
    __syncthreads();
    all = crew.rest[0];
    for (int i = 1; i < Crew<Length>::WARPS; ++i) all.add(crew.rest[i]);
    return all;
}

/// Whether a piece goes on, and which of its pixels name sources: the one with the least lower bound, and others from all
/// over.  A warp finds each.
template <class Length>
__global__ void __launch_bounds__(CREW) choose_pixels(Pairs<Length> pairs) {
    __shared__ Crew<Length> crew;
    static_assert(BATCH<Length> <= Crew<Length>::WARPS);
    Piece<Length> &piece = pairs.piece[blockIdx.x];
    if (!piece.is_active()) return;
    const Rest<Length> rest = sum_rests(pairs, piece, crew);
    const int64_t left = pairs.budget - piece.fields, batch = batch_of<Length>(piece.size, piece.fields);
    const Stage stage = rest.open == 0 ? PROVEN : left <= 0 ? OUT_OF_BUDGET : SEARCHING;
    const int64_t most = min(min(batch, (left + 1) / 2), int64_t(rest.open));
    const uint32_t targets = stage == SEARCHING ? static_cast<uint32_t>(most) : 0;
    const uint32_t i = threadIdx.x / WARP;
    if (i < targets) {
        const uint32_t v =
            i == 0 ? rest.weakest.rank : unproved(pairs, piece, static_cast<uint32_t>(uint64_t(rest.open) * i / targets));
        if (threadIdx.x % WARP == 0) piece.target[i].from = v;
    }
    __syncthreads();  // what these read is written now
    if (threadIdx.x > 0) return;
    piece.stage = stage;
    piece.open = rest.open;
    piece.targets = targets;
}

template <class Length>
__global__ void __launch_bounds__(CREW) name_witnesses(Pairs<Length> pairs) {
    __shared__ Crew<Length> crew;
    Piece<Length> &piece = pairs.piece[blockIdx.x / BATCH<Length>];
    const uint32_t i = blockIdx.x % BATCH<Length>;
    if (!piece.is_active() || i >= piece.targets) return;
    Target<Length> &target = piece.target[i];
    const Best<Length> best = farthest_by_bound(pairs, piece, target.from, crew);
    if (threadIdx.x == 0) target.witness = pairs.ranks.rank[best.pixel], target.bound = best.value;
}

template <class Length>
__device__ void tell(const Pairs<Length> &pairs, const Piece<Length> &piece) {
    Turn &turn = *pairs.turn;
    if (piece.stage == OUT_OF_BUDGET) turn.out_of_budget = 1;
    if (!piece.is_active()) return;
    atomicAdd(&turn.open, static_cast<unsigned long long>(piece.open));
    atomicAdd(&turn.active, 1u);
    atomicMax(&turn.targets, piece.targets);
    atomicMax(&turn.not_before, ~piece.first[1]);
    atomicMax(&turn.end, piece.first[1] + piece.spans(1));
}

/// Of targets that name the same witness the first one stays.
template <class Length>
__global__ void __launch_bounds__(BLOCK) settle_targets(Pairs<Length> pairs, uint32_t pieces) {
    const uint32_t number = blockIdx.x * BLOCK + threadIdx.x;
    if (number >= pieces) return;
    Piece<Length> &piece = pairs.piece[number];
    const uint32_t named = piece.targets;
    piece.targets = 0;
    for (uint32_t i = 0; piece.is_active() && i < named; ++i) {
        bool is_new = true;
        for (uint32_t k = 0; k < piece.targets; ++k) is_new = is_new && piece.target[k].witness != piece.target[i].witness;
        if (is_new) piece.target[piece.targets++] = piece.target[i];
    }
    for (uint32_t i = 0; i < BATCH<Length>; ++i) {
        piece.made[i].source = i < piece.targets ? piece.target[i].witness : NONE;
        pairs.plan(i, number, piece.made[i].source);
    }
    tell(pairs, piece);
}

/// The first sources are the first pixel, the farthest from it, the farthest from that, and the centre so far.
template <class Length>
__global__ void __launch_bounds__(BLOCK) choose_first(Pairs<Length> pairs, uint32_t pieces, int round) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= pieces) return;
    Piece<Length> &piece = pairs.piece[i];
    Made<Length> &made = piece.made[0];
    if (round == 0)
        made.source = piece.begin;
    else if (round == FIRST_HUBS - 1)
        made.source = pairs.ranks.rank[piece.centre.pixel];
    else if (made.source != NONE)
        made.source = pairs.ranks.rank[made.most.pixel];
    if (made.source != NONE && (piece.fields >= pairs.budget || pairs.is_source[made.source])) made.source = NONE;
    pairs.plan(0, i, made.source);
}

/// Goes from a pixel down a field, to where a hub is wanted.  For a warp.
template <class Length>
__device__ uint32_t walk(const Pairs<Length> &pairs, const Length *field, uint32_t pixel, Length length) {
    const Raster &raster = pairs.ranks.raster;
    const int lane = threadIdx.x % WARP;
    const Length weight = static_cast<Length>(lane < pairs.moves.count ? pairs.moves.weight[lane] : 0);
    const double until = along(pairs.moves.axes) * static_cast<double>(length);
    Raster::Place at = raster.place(pixel);
    while (static_cast<double>(length) > until) {
        const uint32_t to = lane < pairs.moves.count ? pairs.moves.target(raster, at, lane) : NONE;
        const uint32_t ways = __ballot_sync(ALL_LANES, to != NONE && field[pairs.cell_of(to)] == length - weight);
        const int way = __ffs(ways) - 1;
        length -= __shfl_sync(ALL_LANES, weight, way);
        pixel = __shfl_sync(ALL_LANES, to, way);
        at = raster.place(pixel);
    }
    return pixel;
}

/// Where a bound was loose, a pixel on the way to the witness becomes a hub.
template <class Length>
__global__ void __launch_bounds__(BLOCK) choose_hub(Pairs<Length> pairs, uint32_t pieces) {
    const uint32_t warp = blockIdx.x * WARPS + threadIdx.x / WARP, number = warp / BATCH<Length>, i = warp % BATCH<Length>;
    if (number >= pieces) return;
    Piece<Length> &piece = pairs.piece[number];
    if (!piece.is_active()) return;
    uint32_t hub = NONE;
    if (i < piece.targets && piece.targets <= pairs.budget - piece.fields) {
        const Target<Length> &target = piece.target[i];
        const uint32_t pixel = pairs.ranks.pixel[target.from];
        const Length *const field = pairs.field_of(i);
        const Length length = field[pairs.cell_of(pixel)];
        if (length != target.bound) hub = pairs.ranks.rank[walk(pairs, field, pixel, length)];
    }
    if (threadIdx.x % WARP > 0) return;
    piece.made[i].source = hub;
    pairs.plan(i, number, hub);
    if (hub != NONE) pairs.turn->hubs = 1;
}

/// The largest difference between the bounds of a pixel that is not proved.
template <class Length>
__global__ void __launch_bounds__(CREW) find_gap(Pairs<Length> pairs, uint32_t first) {
    __shared__ __align__(16) Length from[CREW / WARP][MOST_HUBS<Length>];
    __shared__ Length most[CREW / WARP];
    const uint32_t large = first + blockIdx.x, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    if (piece.stage != OUT_OF_BUDGET) return;
    for_spans(piece, large, [&](uint32_t span, uint32_t begin, uint32_t) {
        const unsigned long long later = pairs.open[2 * span + 1];
        for (unsigned long long open = pairs.open[2 * span] | later << WARP; open; open &= open - 1) {
            const uint32_t v = begin + __ffsll(open) - 1;
            const Length lower = pairs.known.lower[v], enough = lower + *const_cast<volatile Length *>(&piece.gap);
            __syncwarp();
            for (int h = lane; h < piece.hubs; h += WARP) from[warp][h] = pairs.hubs_of(v)[h];
            if (lane == 0) most[warp] = enough;
            __syncwarp();
            FarthestByBound<Length> search(pairs, piece, from[warp], &most[warp]);
            for (uint32_t i = 0; i < piece.spans(1); i += WARP) search.template look<1>(i, piece.spans(1));
            const Length bound = greatest_of_lanes(search.best.value);
            if (lane == 0 && bound > enough) raise(&piece.gap, bound - lower);
        }
    });
}

}  // namespace

template <class Length>
void choose_first_sources(const Pairs<Length> &pairs, uint32_t pieces, int round, cudaStream_t stream) {
    launch("choose_first", choose_first<Length>, ceil_div(pieces, BLOCK), BLOCK, stream, pairs, pieces, round);
}

template <class Length>
void choose_sources(const Pairs<Length> &pairs, uint32_t pieces, cudaStream_t stream) {
    check(cudaMemsetAsync(pairs.turn, 0, offsetof(Turn, fields), stream), "beginning a turn");
    launch("choose_pixels", choose_pixels<Length>, pieces, CREW, stream, pairs);
    launch("name_witnesses", name_witnesses<Length>, pieces * int64_t(BATCH<Length>), CREW, stream, pairs);
    launch("settle_targets", settle_targets<Length>, ceil_div(pieces, BLOCK), BLOCK, stream, pairs, pieces);
}

template <class Length>
void choose_hubs(const Pairs<Length> &pairs, uint32_t pieces, cudaStream_t stream) {
    launch("choose_hub", choose_hub<Length>, ceil_div(pieces * int64_t(BATCH<Length>), WARPS), BLOCK, stream, pairs, pieces);
}

template <class Length>
void find_gaps(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream) {
    launch("find_gap", find_gap<Length>, spans.count(), CREW, stream, pairs, spans.begin);
}

template void choose_first_sources<int32_t>(const Pairs<int32_t> &, uint32_t, int, cudaStream_t);
template void choose_first_sources<int64_t>(const Pairs<int64_t> &, uint32_t, int, cudaStream_t);
template void choose_sources<int32_t>(const Pairs<int32_t> &, uint32_t, cudaStream_t);
template void choose_sources<int64_t>(const Pairs<int64_t> &, uint32_t, cudaStream_t);
template void choose_hubs<int32_t>(const Pairs<int32_t> &, uint32_t, cudaStream_t);
template void choose_hubs<int64_t>(const Pairs<int64_t> &, uint32_t, cudaStream_t);
template void find_gaps<int32_t>(const Pairs<int32_t> &, const Range &, cudaStream_t);
template void find_gaps<int64_t>(const Pairs<int64_t> &, const Range &, cudaStream_t);

}  // namespace apsis::cuda::paths
