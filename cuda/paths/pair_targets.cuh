// Pair bounds: chooses the next sources and hubs, and finds gaps.
//
// The pixel with the least lower bound of a component, and others from all over it, name as sources the pixels with the largest
// bounds: a block searches for each by branch and bound.  A warp walks from each of these pixels down its witness's field, to
// where a new hub is wanted.
#pragma once

#include "cuda/paths/pair_state.cuh"

namespace apsis::cuda::paths {

__device__ inline void atomic_raise(int32_t *value, int32_t to) { atomicMax(value, to); }
__device__ inline void atomic_raise(int64_t *value, int64_t to) {
    atomicMax(reinterpret_cast<long long *>(value), static_cast<long long>(to));
}

/// Finds the pixel with the largest bound that is not a source, the lowest of several.  Each warp searches spans of its own.
template <class Length>
class FarthestByBound {
  public:
    /// `from` are the lengths from hubs to the given pixel, `most` the largest bound so far; all warps share both.
    __device__ FarthestByBound(const Pairs<Length> &pairs, const ComponentState<Length> &component, Length *from, Length *most)
        : pairs_(pairs),
          component_(component),
          from_(from, 0, 1),
          most_(most) {}

    /// The large span with the largest bound, of every step-th one: for a thread.
    __device__ Largest<Length> most_promising(uint32_t first, uint32_t step) const {
        Largest<Length> best;
        for (uint32_t i = first; i < component_.spans(1); i += step) best.raise({bound_of<1>(i), i});
        return best;
    }

    /// Warp: of a level's 32 spans from `first` on, those before `last`, searches the ones that may hold the pixel.
    template <int LEVEL>
    __device__ void search_level(uint32_t first, uint32_t last) {
        const uint32_t i = first + threadIdx.x % WARP;
        const Length sum = i < last ? bound_of<LEVEL>(i) : -2;
        for (uint32_t rest = ALL_LANES;;) {
            const uint32_t open = rest & __ballot_sync(ALL_LANES, sum >= bound_so_far());
            if (!open) return;
            const uint32_t next = __ffs(open) - 1, child = (first + next) * SPAN;
            rest = ~((2u << next) - 1);
            if constexpr (LEVEL > 0) {
                const uint32_t end = min(child + SPAN, component_.spans(0));
                search_level<0>(child, end);
                search_level<0>(child + WARP, end);
            } else {
                search_span(first + next);
            }
        }
    }

    /// Warp: searches the pixels of a span.
    __device__ void search_span(uint32_t span) {
        const uint32_t begin = component_.begin + span * SPAN, end = component_.begin + min((span + 1) * SPAN, component_.size);
        for (uint32_t q = begin + threadIdx.x % WARP; q < end; q += WARP) {
            if (pairs_.is_source[q]) continue;
            const Length bound = least_sum(from_, pairs_.hubs_of(q), component_.hubs);
            if (bound < best.value) continue;
            best.raise({bound, pairs_.ranks.pixel[q]});
        }
        const Length largest = greatest_of_warp(best.value);
        if (threadIdx.x % WARP == 0 && largest > bound_so_far()) atomic_raise(most_, largest);
        __syncwarp();
    }

    Largest<Length> best;  // of this lane

  private:
    __device__ Length bound_so_far() const { return *const_cast<const volatile Length *>(most_); }

    template <int LEVEL>
    __device__ Length bound_of(uint32_t span) const {
        return least_sum(from_, pairs_.hub_maxima_of(LEVEL, component_.first[LEVEL] + span), component_.hubs);
    }

    const Pairs<Length> &pairs_;
    const ComponentState<Length> &component_;
    HubLengths<Length> from_;
    Length *most_;
};

/// The shared memory of a block.
template <class Length>
struct BlockShared {
    static constexpr int WARPS = SPAN_THREADS / WARP;
    alignas(16) Length from[MOST_HUBS<Length>];
    Length most;
    Largest<Length> best[WARPS];
    OpenPixels<Length> open[WARPS];

    /// Block: the largest value of all threads.
    __device__ Largest<Length> best_of(Largest<Length> own) {
        own = own.of_warp();
        __syncthreads();
        if (threadIdx.x % WARP == 0) best[threadIdx.x / WARP] = own;
        __syncthreads();
        for (int i = 0; i < WARPS; ++i) own.raise(best[i]);
        return own;
    }
};

/// Block: the pixel with the largest bound from v, which is no source.
template <class Length>
__device__ Largest<Length> farthest_by_bound(const Pairs<Length> &pairs, const ComponentState<Length> &component, uint32_t v,
                                             BlockShared<Length> &shared) {
    if (static_cast<int>(threadIdx.x) < component.hubs) shared.from[threadIdx.x] = pairs.hubs_of(v)[threadIdx.x];
    if (threadIdx.x == 0) shared.most = -1;
    __syncthreads();
    FarthestByBound<Length> search(pairs, component, shared.from, &shared.most);
    const uint32_t start = shared.best_of(search.most_promising(threadIdx.x, SPAN_THREADS)).pixel, warp = threadIdx.x / WARP;
    for (uint32_t span = start * SPAN + warp; span < min((start + 1) * SPAN, component.spans(0)); span += SPAN_THREADS / WARP)
        search.search_span(span);
    __syncthreads();
    for (uint32_t i = warp * WARP; i < component.spans(1); i += SPAN_THREADS)
        search.template search_level<1>(i, component.spans(1));
    return shared.best_of(search.best);
}

/// Warp: the lane at which the sum of counts passes n; WARP if no lane passes it.  n becomes the rest of n at that lane.
__device__ inline int find_place(uint32_t count, uint32_t &n) {
    const uint32_t sum = sum_up_to(count);
    const uint32_t behind = __ballot_sync(ALL_LANES, sum > n);
    const int place = behind ? __ffs(behind) - 1 : WARP;
    n -= behind ? __shfl_sync(ALL_LANES, sum - count, place % WARP) : __shfl_sync(ALL_LANES, sum, WARP - 1);
    return place;
}

/// Warp: the n-th pixel that is not proved.
template <class Length>
__device__ uint32_t nth_unproved(const Pairs<Length> &pairs, const ComponentState<Length> &component, uint32_t n) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t large = 0;
    for (;; large += WARP) {
        const uint32_t i = large + lane;
        const int place = find_place(i < component.spans(1) ? pairs.open_count[component.first[1] + i] : 0, n);
        if (place == WARP) continue;
        large += place;
        break;
    }
    for (uint32_t half = 2 * large * SPAN;; half += WARP) {
        const uint32_t own = half + lane < 2 * component.spans(0) ? pairs.open_bits[2 * component.first[0] + half + lane] : 0;
        const int place = find_place(__popc(own), n);
        if (place == WARP) continue;
        uint32_t open = __shfl_sync(ALL_LANES, own, place);
        for (; n > 0; --n) open &= open - 1;
        return component.begin + (half + place) * WARP + __ffs(open) - 1;
    }
}

/// Block: the pixels of a component that are not proved; also counts them by large span.
template <class Length>
__device__ OpenPixels<Length> sum_open(const Pairs<Length> &pairs, const ComponentState<Length> &component,
                                       BlockShared<Length> &shared) {
    OpenPixels<Length> all;
    for (uint32_t i = component.first[1] + threadIdx.x; i < component.first[1] + component.spans(1); i += SPAN_THREADS) {
        const uint32_t before = all.open;
        for (int part = 0; part < PROOF_PARTS; ++part) all.add(pairs.open_pixels[i * PROOF_PARTS + part]);
        pairs.open_count[i] = all.open - before;
    }
    all = {all.weakest.of_warp(), sum_of_warp(all.open)};
    if (threadIdx.x % WARP == 0) shared.open[threadIdx.x / WARP] = all;
    __syncthreads();
    all = shared.open[0];
    for (int i = 1; i < BlockShared<Length>::WARPS; ++i) all.add(shared.open[i]);
    return all;
}

/// Decides whether a component goes on, and which of its pixels name sources: the pixel with the least lower bound, and others
/// from all over it, a warp each.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) choose_targets(Pairs<Length> pairs) {
    __shared__ BlockShared<Length> shared;
    static_assert(BATCH<Length> <= BlockShared<Length>::WARPS);
    ComponentState<Length> &component = pairs.component[blockIdx.x];
    if (!component.is_active()) return;
    const OpenPixels<Length> unproved_pixels = sum_open(pairs, component, shared);
    const int64_t left = pairs.budget - component.fields, batch = batch_of<Length>(component.size, component.fields);
    const Stage stage = unproved_pixels.open == 0 ? PROVEN : left <= 0 ? OUT_OF_BUDGET : SEARCHING;
    const int64_t most = min(min(batch, (left + 1) / 2), int64_t(unproved_pixels.open));
    const uint32_t targets = stage == SEARCHING ? static_cast<uint32_t>(most) : 0;
    const uint32_t i = threadIdx.x / WARP;
    if (i < targets) {
        const uint32_t v =
            i == 0 ? unproved_pixels.weakest.pixel
                   : nth_unproved(pairs, component, static_cast<uint32_t>(uint64_t(unproved_pixels.open) * i / targets));
        if (threadIdx.x % WARP == 0) component.target[i].from = v;
    }
    __syncthreads();  // all threads have read the state that is written now
    if (threadIdx.x > 0) return;
    component.stage = stage;
    component.open = unproved_pixels.open;
    component.targets = targets;
}

/// Finds the witness of a target, a block each.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) find_witnesses(Pairs<Length> pairs) {
    __shared__ BlockShared<Length> shared;
    ComponentState<Length> &component = pairs.component[blockIdx.x / BATCH<Length>];
    const uint32_t i = blockIdx.x % BATCH<Length>;
    if (!component.is_active() || i >= component.targets) return;
    Target<Length> &target = component.target[i];
    const Largest<Length> best = farthest_by_bound(pairs, component, target.from, shared);
    if (threadIdx.x == 0) target.witness = pairs.ranks.rank[best.pixel], target.bound = best.value;
}

template <class Length>
__device__ void report_component(const Pairs<Length> &pairs, const ComponentState<Length> &component) {
    TurnReport &turn = *pairs.turn;
    if (component.stage == OUT_OF_BUDGET) turn.out_of_budget = 1;
    if (!component.is_active()) return;
    atomicAdd(&turn.open, static_cast<unsigned long long>(component.open));
    atomicAdd(&turn.active, 1u);
    atomicMax(&turn.targets, component.targets);
    atomicMax(&turn.not_before, ~component.first[1]);
    atomicMax(&turn.end, component.first[1] + component.spans(1));
}

/// Keeps the first of targets that name the same witness.
template <class Length>
__global__ void __launch_bounds__(BLOCK) merge_targets(Pairs<Length> pairs, uint32_t components) {
    const uint32_t number = blockIdx.x * BLOCK + threadIdx.x;
    if (number >= components) return;
    ComponentState<Length> &component = pairs.component[number];
    const uint32_t named = component.targets;
    component.targets = 0;
    for (uint32_t i = 0; component.is_active() && i < named; ++i) {
        bool is_new = true;
        for (uint32_t k = 0; k < component.targets; ++k)
            is_new = is_new && component.target[k].witness != component.target[i].witness;
        if (is_new) component.target[component.targets++] = component.target[i];
    }
    for (uint32_t i = 0; i < BATCH<Length>; ++i) {
        component.made[i].source = i < component.targets ? component.target[i].witness : NO_PIXEL;
        pairs.set_source(i, number, component.made[i].source);
    }
    report_component(pairs, component);
}

/// The first sources: the first pixel, the pixel farthest from it, the pixel farthest from that one, and the centre by the
/// bounds so far.
template <class Length>
__global__ void __launch_bounds__(BLOCK) choose_first(Pairs<Length> pairs, uint32_t components, int round) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= components) return;
    ComponentState<Length> &component = pairs.component[i];
    MadeField<Length> &made = component.made[0];
    if (round == 0)
        made.source = component.begin;
    else if (round == FIRST_HUBS - 1)
        made.source = pairs.ranks.rank[component.centre.pixel];
    else if (made.source != NO_PIXEL)
        made.source = pairs.ranks.rank[made.most.pixel];
    if (made.source != NO_PIXEL && (component.fields >= pairs.budget || pairs.is_source[made.source])) made.source = NO_PIXEL;
    pairs.set_source(0, i, made.source);
}

/// Warp: goes from a pixel down a field, to where a hub is wanted.
template <class Length>
__device__ uint32_t walk_to_hub(const Pairs<Length> &pairs, const Length *field, uint32_t pixel, Length length) {
    const Raster &raster = pairs.ranks.raster;
    const int lane = threadIdx.x % WARP;
    const bool has_move = lane < pairs.moves.count;
    const Raster::Place move = pairs.moves.move(has_move ? lane : 0);
    const Length weight = static_cast<Length>(has_move ? pairs.moves.weight[lane] : 0);
    const double until = along(pairs.moves.axes) * static_cast<double>(length);
    Raster::Place at = raster.place(pixel);
    while (static_cast<double>(length) > until) {
        const Raster::Place to = pairs.moves.place(raster, at, move);
        const bool is_way = has_move && raster.holds(to) && field[pairs.shape.cell_of(to.x, to.y, to.z)] == length - weight;
        const int way = __ffs(__ballot_sync(ALL_LANES, is_way)) - 1;
        length -= __shfl_sync(ALL_LANES, weight, way);
        at = {__shfl_sync(ALL_LANES, to.x, way), __shfl_sync(ALL_LANES, to.y, way), __shfl_sync(ALL_LANES, to.z, way)};
    }
    return raster.pixel(at);
}

/// Where a bound was loose, chooses a pixel on the way to the witness as a hub.
template <class Length>
__global__ void __launch_bounds__(BLOCK) choose_hub(Pairs<Length> pairs, uint32_t components) {
    const uint32_t warp = blockIdx.x * WARPS + threadIdx.x / WARP, number = warp / BATCH<Length>, i = warp % BATCH<Length>;
    if (number >= components) return;
    ComponentState<Length> &component = pairs.component[number];
    if (!component.is_active()) return;
    uint32_t hub = NO_PIXEL;
    if (i < component.targets && component.targets <= pairs.budget - component.fields) {
        const Target<Length> &target = component.target[i];
        const uint32_t pixel = pairs.ranks.pixel[target.from];
        const Length *const field = pairs.field_of(i);
        const Length length = field[pairs.cell_of(pixel)];
        if (length != target.bound) hub = pairs.ranks.rank[walk_to_hub(pairs, field, pixel, length)];
    }
    if (threadIdx.x % WARP > 0) return;
    component.made[i].source = hub;
    pairs.set_source(i, number, hub);
    if (hub != NO_PIXEL) pairs.turn->hubs = 1;
}

/// Finds the largest difference between the upper and the lower bound of an unproved pixel.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) find_gap(Pairs<Length> pairs, uint32_t first) {
    __shared__ __align__(16) Length from[SPAN_THREADS / WARP][MOST_HUBS<Length>];
    __shared__ Length most[SPAN_THREADS / WARP];
    const uint32_t large = first + blockIdx.x, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    if (component.stage != OUT_OF_BUDGET) return;
    for_spans(component, large, [&](uint32_t span, uint32_t begin, uint32_t) {
        const unsigned long long later = pairs.open_bits[2 * span + 1];
        for (unsigned long long open = pairs.open_bits[2 * span] | later << WARP; open; open &= open - 1) {
            const uint32_t v = begin + __ffsll(open) - 1;
            const Length lower = pairs.bounds.lower[v], enough = lower + *const_cast<volatile Length *>(&component.gap);
            __syncwarp();
            for (int h = lane; h < component.hubs; h += WARP) from[warp][h] = pairs.hubs_of(v)[h];
            if (lane == 0) most[warp] = enough;
            __syncwarp();
            FarthestByBound<Length> search(pairs, component, from[warp], &most[warp]);
            for (uint32_t i = 0; i < component.spans(1); i += WARP) search.template search_level<1>(i, component.spans(1));
            const Length bound = greatest_of_warp(search.best.value);
            if (lane == 0 && bound > enough) atomic_raise(&component.gap, bound - lower);
        }
    });
}

}  // namespace apsis::cuda::paths
