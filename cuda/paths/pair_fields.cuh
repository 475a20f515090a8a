// Pair bounds: eccentricities, lower bounds and hubs from fields.
//
// The fields of a turn are read twice: first for the eccentricities of their sources, then to raise lower bounds, which needs
// the eccentricities.  Lengths from new hubs are kept by rank, and their maxima by span.
//
// Cost: in a turn, twice 4 bytes a pixel and a field and twice 8 bytes a pixel; for a new hub 4 more a pixel.
#pragma once

#include "cuda/paths/pair_state.cuh"

namespace apsis::cuda::paths {

template <class Length>
constexpr int FIELD_THREADS = WARP * BATCH<Length>;  // threads of a block with a warp for each field

/// Block: the largest values that the warps have found.
template <class Length>
struct LargestOfWarps {
    Largest<Length> best[BATCH<Length>][SPAN_THREADS / WARP];

    /// Warp: notes the largest value of its lanes in a field.
    __device__ void put(int made, const Largest<Length> &own) {
        const Largest<Length> all = own.of_warp();
        if (threadIdx.x % WARP == 0) best[made][threadIdx.x / WARP] = all;
    }
    /// Block: writes the largest values of its large span.
    __device__ void write(const Pairs<Length> &pairs, int count, uint32_t large) {
        __syncthreads();
        const int made = threadIdx.x;
        if (made >= count) return;
        Largest<Length> all = best[made][0];
        for (int i = 1; i < SPAN_THREADS / WARP; ++i) all.raise(best[made][i]);
        pairs.most[made * int64_t(pairs.spans[1]) + large] = all;
    }
};

/// Warp: the largest value in the large spans of a component.
template <class Length>
__device__ Largest<Length> largest_of_component(const Pairs<Length> &pairs, const ComponentState<Length> &component, int made) {
    Largest<Length> best;
    const Largest<Length> *const most = pairs.most + made * int64_t(pairs.spans[1]) + component.first[1];
    for (uint32_t i = threadIdx.x % WARP; i < component.spans(1); i += WARP) best.raise(most[i]);
    return best.of_warp();
}

/// Block: calls body(rank) for the ranks of a large span.
template <class Length, class Body>
__device__ void for_ranks(const ComponentState<Length> &component, uint32_t large, Body body) {
    for_spans(component, large, [&](uint32_t, uint32_t begin, uint32_t end) {
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) body(rank);
    });
}

// ---- The beginning ----

/// Opens the cells of a large span, sets up its bounds, and finds the lowest pixels of its spans.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) begin_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ uint32_t lows[SPAN_THREADS / WARP];
    const uint32_t large = first + blockIdx.x;
    const ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    uint32_t lowest = NO_PIXEL;
    for_spans(component, large, [&](uint32_t span, uint32_t begin, uint32_t end) {
        uint32_t lowest_here = NO_PIXEL;
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) {
            pairs.bounds.lower[rank] = -1;
            pairs.witness[rank] = component.begin;
            pairs.is_source[rank] = 0;
            const int64_t cell = pairs.cell_of(pairs.ranks.pixel[rank]);
            atomicOr(pairs.open_cells + cell / 32, 1u << cell % 32);
            lowest_here = min(lowest_here, pairs.ranks.pixel[rank]);
        }
        lowest_here = least_of_warp(lowest_here);
        if (threadIdx.x % WARP == 0) pairs.lowest_pixel[0][span] = lowest_here;
        lowest = min(lowest, lowest_here);
    });
    if (threadIdx.x % WARP == 0) lows[threadIdx.x / WARP] = lowest;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (uint32_t lowest_here : lows) lowest = min(lowest, lowest_here);
    pairs.lowest_pixel[1][large] = lowest;
}

/// Finds the lowest pixels of the largest spans of a component.
template <class Length>
__global__ void __launch_bounds__(WARP) begin_component(Pairs<Length> pairs) {
    ComponentState<Length> &component = pairs.component[blockIdx.x];
    uint32_t lowest = NO_PIXEL;
    for (uint32_t i = 0; i < component.spans(2); ++i) {
        uint32_t lowest_here = NO_PIXEL;
        for (uint32_t k = i * SPAN + threadIdx.x; k < min((i + 1) * SPAN, component.spans(1)); k += WARP)
            lowest_here = min(lowest_here, pairs.lowest_pixel[1][component.first[1] + k]);
        lowest_here = least_of_warp(lowest_here);
        if (threadIdx.x == 0) pairs.lowest_pixel[2][component.first[2] + i] = lowest_here;
        lowest = min(lowest, lowest_here);
    }
    if (threadIdx.x == 0) component.lowest = lowest;
}

// ---- Eccentricities ----

/// Finds the largest length of each field in a large span.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) measure_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ LargestOfWarps<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    if (!component.has_fields()) return;
    Largest<Length> best[BATCH<Length>];
    for_ranks(component, large, [&](uint32_t rank) {
        const uint32_t pixel = pairs.ranks.pixel[rank];
        const int64_t cell = pairs.cell_of(pixel);
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) {
            if (component.made[k].source == NO_PIXEL) continue;
            best[k].raise({pairs.field_of(k)[cell], pixel});
        }
    });
#pragma unroll
    for (int k = 0; k < BATCH<Length>; ++k) bests.put(k, best[k]);
    bests.write(pairs, BATCH<Length>, large);
}

/// Records a field: its source needs no proof any more, and may become a hub.
template <class Length, bool FARTHEST>
__device__ void record_field(const Pairs<Length> &pairs, ComponentState<Length> &component, MadeField<Length> &made,
                             bool as_hub) {
    made.hub = -1;
    if (made.source == NO_PIXEL) return;
    ++component.fields;
    atomicAdd(&pairs.turn->fields, 1ull);
    pairs.is_source[made.source] = 1;
    pairs.witness[made.source] = PROVED;
    pairs.bounds.lower[made.source] = made.most.value;
    if (FARTHEST) pairs.bounds.farthest[made.source] = made.most.pixel;
    if (const Largest<Length> one = {made.most.value, pairs.ranks.pixel[made.source]}; one > component.widest)
        component.widest = one, component.opposite = made.most.pixel;
    if (!as_hub) return;
    if (component.hubs < pairs.room)
        made.hub = component.hubs++;
    else
        made.hub = FIRST_HUBS + static_cast<int32_t>(component.replaced++ % static_cast<uint32_t>(pairs.room - FIRST_HUBS));
}

/// Finds the largest length of each field of a component, a warp a field, and records the fields.
template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(FIELD_THREADS<Length>) record_fields(Pairs<Length> pairs, bool as_hubs) {
    ComponentState<Length> &component = pairs.component[blockIdx.x];
    if (!component.is_active()) return;
    MadeField<Length> &made = component.made[threadIdx.x / WARP];
    if (made.source != NO_PIXEL) {
        const Largest<Length> best = largest_of_component(pairs, component, threadIdx.x / WARP);
        if (threadIdx.x % WARP == 0) made.most = best;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (MadeField<Length> &each : component.made) {
        if (component.stage == STARTING && each.source != NO_PIXEL && each.most.value > Lengths<Length>::LONGEST / 2)
            pairs.turn->too_long = 1;  // the sum of two lengths must be a length too
        record_field<Length, FARTHEST>(pairs, component, each, as_hubs);
    }
}

// ---- Lower bounds, and hubs ----

template <class Length, bool FARTHEST>
__device__ void raise_claim(const MadeField<Length> &made, Length length, uint32_t source, Claim<Length> &claim) {
    if (!FARTHEST)
        claim.lower = max(claim.lower, max(length, static_cast<Length>(made.most.value - length)));
    else if (length > claim.lower || (length == claim.lower && source < claim.farthest))
        claim = {length, source};
}

/// Raises the lower bounds of a large span, and keeps lengths from new hubs and their maxima.
template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(SPAN_THREADS) raise_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ LargestOfWarps<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    if (!component.has_fields()) return;
    Largest<Length> largest[BATCH<Length>];
    for_spans(component, large, [&](uint32_t span, uint32_t begin, uint32_t end) {
        Length most[BATCH<Length>];
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) most[k] = 0;
        for (uint32_t rank = begin + threadIdx.x % WARP; rank < end; rank += WARP) {
            const int64_t cell = pairs.cell_of(pairs.ranks.pixel[rank]);
            Claim<Length> claim = {pairs.bounds.lower[rank], FARTHEST ? pairs.bounds.farthest[rank] : 0};
#pragma unroll
            for (int k = 0; k < BATCH<Length>; ++k) {
                const MadeField<Length> &made = component.made[k];
                if (made.source == NO_PIXEL) continue;
                const Length length = pairs.field_of(k)[cell];
                raise_claim<Length, FARTHEST>(made, length, FARTHEST ? pairs.ranks.pixel[made.source] : 0, claim);
                if (made.hub < 0) continue;
                pairs.hubs_of(rank)[made.hub] = length;
                most[k] = max(most[k], length);
            }
            pairs.bounds.lower[rank] = claim.lower;
            if (FARTHEST) pairs.bounds.farthest[rank] = claim.farthest;
        }
#pragma unroll
        for (int k = 0; k < BATCH<Length>; ++k) {
            if (component.made[k].source == NO_PIXEL || component.made[k].hub < 0) continue;
            const Length all = greatest_of_warp(most[k]);
            largest[k].value = max(largest[k].value, all);
            if (threadIdx.x % WARP == 0) pairs.hub_maxima_of(0, span)[component.made[k].hub] = all;
        }
    });
#pragma unroll
    for (int k = 0; k < BATCH<Length>; ++k) bests.put(k, largest[k]);
    bests.write(pairs, BATCH<Length>, large);
}

/// Finds the maxima of new hubs over large spans, and over spans of these; a warp has a hub.
template <class Length>
__global__ void __launch_bounds__(FIELD_THREADS<Length>) find_large_maxima(Pairs<Length> pairs) {
    const ComponentState<Length> &component = pairs.component[blockIdx.x];
    const int k = threadIdx.x / WARP;
    if (!component.is_active() || component.made[k].source == NO_PIXEL || component.made[k].hub < 0) return;
    const Largest<Length> *const most = pairs.most + k * int64_t(pairs.spans[1]) + component.first[1];
    const int hub = component.made[k].hub;
    for (uint32_t i = 0; i < component.spans(2); ++i) {
        Length largest = 0;
        for (uint32_t large = i * SPAN + threadIdx.x % WARP; large < min((i + 1) * SPAN, component.spans(1)); large += WARP) {
            pairs.hub_maxima_of(1, component.first[1] + large)[hub] = most[large].value;
            largest = max(largest, most[large].value);
        }
        largest = greatest_of_warp(largest);
        if (threadIdx.x % WARP == 0) pairs.hub_maxima_of(2, component.first[2] + i)[hub] = largest;
    }
}

// ---- The end ----

/// Finds the largest and the least lower bound of a large span.
template <class Length>
__global__ void __launch_bounds__(SPAN_THREADS) measure_lower(Pairs<Length> pairs, uint32_t first) {
    __shared__ LargestOfWarps<Length> bests;
    const uint32_t large = first + blockIdx.x;
    const ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    Largest<Length> end, centre;
    for_ranks(component, large, [&](uint32_t rank) {
        const uint32_t pixel = pairs.ranks.pixel[rank];
        const Length lower = pairs.bounds.lower[rank];
        end.raise({lower, pixel});
        centre.raise({counted_down(lower), pixel});
    });
    bests.put(0, end);
    bests.put(1, centre);
    bests.write(pairs, 2, large);
}

/// Finds the end and the centre of a component, and the source of a field for the other end if it is not known.
template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(WARP) find_ends(Pairs<Length> pairs) {
    ComponentState<Length> &component = pairs.component[blockIdx.x];
    const Largest<Length> end = largest_of_component(pairs, component, 0), centre = largest_of_component(pairs, component, 1);
    if (threadIdx.x > 0) return;
    component.end = end;
    component.centre = {counted_down(centre.value), centre.pixel};
    const uint32_t rank = pairs.ranks.rank[end.pixel];
    if (FARTHEST) {
        component.other_end = pairs.bounds.farthest[rank];
        return;
    }
    const bool is_hidden = component.widest.pixel != end.pixel;
    component.other_end = is_hidden ? NO_PIXEL : component.opposite;
    component.made[0].source = is_hidden ? rank : NO_PIXEL;
    pairs.set_source(0, blockIdx.x, component.made[0].source);
    if (is_hidden) pairs.turn->has_hidden_ends = 1;
}

/// Finds the other end of a component from the largest lengths of its large spans.
template <class Length>
__global__ void __launch_bounds__(WARP) find_other_end(Pairs<Length> pairs) {
    ComponentState<Length> &component = pairs.component[blockIdx.x];
    if (component.other_end != NO_PIXEL) return;
    const Largest<Length> best = largest_of_component(pairs, component, 0);
    if (threadIdx.x == 0) component.other_end = best.pixel;
}

}  // namespace apsis::cuda::paths
