// Pair bounds: finds which pixels are proved, and witnesses for the others.
//
// A warp has 32 pixels, half a span.  Pixels whose witness is refuted search for the next one, all together, in the order of
// ranks: first for a largest span that may hold a witness, then for the spans within it, then for pixels.  Pairs that were
// searched are closed for good, since lower bounds only rise.
//
// Cost: a pixel goes through its pairs once in all turns; most pairs are closed by spans.
#pragma once

#include "cuda/paths/pair_state.cuh"

namespace apsis::cuda::paths {

/// The search of a warp for witnesses of its pixels.  All lanes call all functions together.
template <class Length, bool FARTHEST>
class Search {
  public:
    /// Warp: `begin` is the rank of its first pixel.
    __device__ Search(const Pairs<Length> &pairs, const ComponentState<Length> &component, uint32_t begin)
        : pairs_(pairs),
          component_(component),
          own_(begin + threadIdx.x % WARP) {
        span_ = component.first[0] + (begin - component.begin) / SPAN;
        if (own_ < component.begin + component.size) witness_ = pairs.witness[own_];
        bool searches = false;
        if (witness_ != PROVED) {
            claim_ = {pairs.bounds.lower[own_], FARTHEST ? pairs.bounds.farthest[own_] : 0};
            searches = !has_witness();
        }
        searching_ = __ballot_sync(ALL_LANES, searches);
        weaken();
    }

    __device__ void run() {
        if (searching_) search_level<LEVELS - 1>(0, component_.spans(LEVELS - 1));
    }

    /// Warp: marks pixels without a witness as proved.  Returns the others.
    __device__ OpenPixels<Length> finish() const {
        const bool is_open = witness_ != PROVED && !is_searching();
        if (witness_ != PROVED) pairs_.witness[own_] = is_open ? witness_ : PROVED;
        const uint32_t open = __ballot_sync(ALL_LANES, is_open);
        if (threadIdx.x % WARP == 0) pairs_.open_bits[2 * span_ + (own_ - component_.begin) / WARP % 2] = open;
        Largest<Length> own;
        if (is_open) own = {counted_down(claim_.lower), own_};
        return {own.of_warp(), static_cast<uint32_t>(__popc(open))};
    }

  private:
    __device__ bool is_searching() const { return searching_ >> threadIdx.x % WARP & 1; }

    __device__ Length bound_of(uint32_t one, uint32_t other) const {
        return least_sum(pairs_.hubs_of(one), pairs_.hubs_of(other), component_.hubs);
    }

    /// Whether the pair with the witness is still open.
    __device__ bool has_witness() const {
        if (pairs_.is_source[witness_]) return false;
        return is_open<FARTHEST>(bound_of(own_, witness_), FARTHEST ? pairs_.ranks.pixel[witness_] : 0, claim_);
    }

    /// Warp: finds the weakest claim of the lanes that search, and the first rank that one of them has not searched.
    __device__ void weaken() {
        const bool searches = is_searching();
        weakest_ = {least_of_warp(searches ? claim_.lower : Lengths<Length>::NONE),
                    FARTHEST ? greatest_of_warp(searches ? claim_.farthest : 0) : 0};
        closed_ = least_of_warp(searches ? witness_ : PROVED);
    }

    /// Warp: searches spans of a level, in order.
    template <int LEVEL>
    __device__ void search_level(uint32_t from, uint32_t to) {
        from = max(from, (closed_ - component_.begin) >> 6 * (LEVEL + 1));
        for (; from < to && searching_; from += WARP) {
            const uint32_t other = component_.first[LEVEL] + from + threadIdx.x % WARP;
            Length sum = -1;
            uint32_t lowest = NO_PIXEL;
            if (from + threadIdx.x % WARP < to) {
                sum = least_sum(pairs_.hub_maxima_of(0, span_), pairs_.hub_maxima_of(LEVEL, other), component_.hubs);
                lowest = FARTHEST ? pairs_.lowest_pixel[LEVEL][other] : 0;
            }
            for (uint32_t rest = ALL_LANES; searching_;) {
                const uint32_t open = rest & __ballot_sync(ALL_LANES, is_open<FARTHEST>(sum, lowest, weakest_));
                if (!open) break;
                const uint32_t next = __ffs(open) - 1;
                rest = ~((2u << next) - 1);
                if constexpr (LEVEL > 0)
                    search_level<LEVEL - 1>((from + next) * SPAN, min((from + next + 1) * SPAN, component_.spans(LEVEL - 1)));
                else
                    search_span(from + next);
            }
        }
    }

    /// Warp: searches a span for witnesses, for all lanes that search; lanes that find one stop.
    __device__ void search_span(uint32_t other) {
        const uint32_t begin = component_.begin + other * SPAN,
                       end = component_.begin + min((other + 1) * SPAN, component_.size);
        const uint32_t span = component_.first[0] + other, lowest = FARTHEST ? pairs_.lowest_pixel[0][span] : 0;
        bool tries = is_searching() && witness_ < end;
        if (tries) {
            const Length sum = least_sum(pairs_.hubs_of(own_), pairs_.hub_maxima_of(0, span), component_.hubs);
            tries = is_open<FARTHEST>(sum, lowest, claim_);
        }
        const uint32_t before = searching_;
        for (uint32_t rest = __ballot_sync(ALL_LANES, tries); rest; rest &= rest - 1) {
            const int lane = __ffs(rest) - 1;
            const uint32_t witness = find_witness(lane, begin, end);
            if (witness == NO_PIXEL) continue;
            searching_ &= ~(1u << lane);
            if (static_cast<int>(threadIdx.x) % WARP == lane) witness_ = witness;
        }
        if (searching_ != before) weaken();
    }

    /// Warp: the first pixel of a span that is open to a lane's pixel, and that has not been searched for it.
    __device__ uint32_t find_witness(int lane, uint32_t begin, uint32_t end) const {
        const uint32_t v = __shfl_sync(ALL_LANES, own_, lane), from = __shfl_sync(ALL_LANES, witness_, lane);
        const Claim<Length> claim = {__shfl_sync(ALL_LANES, claim_.lower, lane),
                                     FARTHEST ? __shfl_sync(ALL_LANES, claim_.farthest, lane) : 0};
        for (; begin < end; begin += WARP) {
            const uint32_t q = begin + threadIdx.x % WARP;
            const bool is = q < end && q >= from && !pairs_.is_source[q] &&
                            is_open<FARTHEST>(bound_of(v, q), FARTHEST ? pairs_.ranks.pixel[q] : 0, claim);
            if (const uint32_t found = __ballot_sync(ALL_LANES, is)) return begin + __ffs(found) - 1;
        }
        return NO_PIXEL;
    }

    const Pairs<Length> &pairs_;
    const ComponentState<Length> &component_;
    uint32_t own_, span_;        // the lane's rank, the warp's span
    uint32_t witness_ = PROVED;  // of the lane
    Claim<Length> claim_ = {0, 0};
    uint32_t searching_;     // lanes that search, as bits
    Claim<Length> weakest_;  // of the lanes that search
    uint32_t closed_;        // pairs with ranks below it are closed
};

/// A block has a part of a large span.
template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(PROOF_THREADS, PROOF_BLOCKS_PER_SM<Length>)
    prove_part(Pairs<Length> pairs, DealtSpans dealt) {
    __shared__ OpenPixels<Length> open_of_warps[PROOF_THREADS / WARP];
    const uint32_t large = dealt.at(blockIdx.x / PROOF_PARTS), part = blockIdx.x % PROOF_PARTS, warp = threadIdx.x / WARP;
    const ComponentState<Length> &component = pairs.component[pairs.component_of[large]];
    if (!component.is_active()) return;
    const uint32_t begin = component.begin + (large - component.first[1]) * LARGE_SPAN + part * PROOF_THREADS + warp * WARP;
    OpenPixels<Length> own;
    // Whole spans: both halves of a span write which of their pixels are open.
    if (begin < component.begin + ceil_div(component.size, SPAN) * SPAN) {
        Search<Length, FARTHEST> search(pairs, component, begin);
        search.run();
        own = search.finish();
    }
    if (threadIdx.x % WARP == 0) open_of_warps[warp] = own;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < PROOF_THREADS / WARP; ++i) own.add(open_of_warps[i]);
    pairs.open_pixels[large * PROOF_PARTS + part] = own;
}

}  // namespace apsis::cuda::paths
