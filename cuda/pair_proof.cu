// Pair bounds: which pixels are proved.
//
// A warp has 64 pixels.  Those whose witness is no longer one look for the next, all together: first where the largest span
// lies that may hold one, in the order of ranks, then the span within it, then the pixels.  What was looked at is closed for
// good, since lower bounds only rise.
#include "pair_steps.h"

namespace apsis {

namespace {

template <class Length, bool FARTHEST>
class Search {
  public:
    __device__ Search(const Pairs<Length> &pairs, const Piece<Length> &piece, uint32_t span, uint32_t begin, uint32_t end)
        : pairs_(pairs), piece_(piece), span_(span), begin_(begin) {
        for (int i = 0; i < EACH; ++i) {
            const uint32_t v = begin + i * WARP + threadIdx.x % WARP;
            witness_[i] = v < end ? pairs.witness[v] : PROVED;
            claim_[i] = {0, 0};
            bool searches = false;
            if (witness_[i] != PROVED) {
                claim_[i] = {pairs.known.lower[v], FARTHEST ? pairs.known.farthest[v] : 0};
                searches = !has_witness(i);
            }
            searching_[i] = __ballot_sync(ALL_LANES, searches);
        }
        weaken();
    }

    __device__ void run() {
        if (goes_on()) look<LEVELS - 1>(0, piece_.spans(LEVELS - 1));
    }

    /// Those that have found none are proved.  Returns how many others there are, and the weakest of them.
    __device__ uint32_t finish(Weakest<Length> &weakest) const {
        unsigned long long open = 0;
        Weakest<Length> own;
        for (int i = 0; i < EACH; ++i) {
            const uint32_t v = rank_of(i), lane = threadIdx.x % WARP;
            const bool is_open = witness_[i] != PROVED && !(searching_[i] >> lane & 1);
            if (witness_[i] != PROVED) pairs_.witness[v] = is_open ? witness_[i] : PROVED;
            if (is_open && Weakest<Length>{claim_[i].lower, v} < own) own = {claim_[i].lower, v};
            open |= static_cast<unsigned long long>(__ballot_sync(ALL_LANES, is_open)) << i * WARP;
        }
        own = weakest_of_lanes(own);
        if (own < weakest) weakest = own;
        if (threadIdx.x % WARP == 0) pairs_.open[span_] = open;
        return __popcll(open);
    }

  private:
    static constexpr int EACH = SPAN / WARP;  // pixels of a lane

    __device__ uint32_t rank_of(int i) const { return begin_ + i * WARP + threadIdx.x % WARP; }
    __device__ bool goes_on() const { return (searching_[0] | searching_[1]) != 0; }
    __device__ bool is_searching(int i) const { return searching_[i] >> threadIdx.x % WARP & 1; }

    __device__ Length bound_of(uint32_t one, uint32_t other) const {
        return least_sum(pairs_.hubs_of(one), pairs_.hub_step(), pairs_.hubs_of(other), pairs_.hub_step(), piece_.hubs);
    }

    /// Whether the pair that was open is so still.
    __device__ bool has_witness(int i) const {
        const uint32_t q = witness_[i];
        if (pairs_.is_source[q]) return false;
        return is_open<FARTHEST>(bound_of(rank_of(i), q), FARTHEST ? pairs_.ranks.pixel[q] : 0, claim_[i]);
    }

    /// The weakest claim of those that search, and the first rank that one of them has not looked at.
    __device__ void weaken() {
        Length lower = Lengths<Length>::NONE;
        uint32_t farthest = 0, closed = PROVED;
        for (int i = 0; i < EACH; ++i) {
            if (!is_searching(i)) continue;
            lower = min(lower, claim_[i].lower);
            farthest = max(farthest, claim_[i].farthest);
            closed = min(closed, witness_[i]);
        }
        weakest_ = {least_of_lanes(lower), FARTHEST ? greatest_of_lanes(farthest) : 0};
        closed_ = least_of_lanes(closed);
    }

    /// Looks at some spans of a level, in order.
    template <int LEVEL>
    __device__ void look(uint32_t from, uint32_t to) {
        from = max(from, (closed_ - piece_.begin) >> 6 * (LEVEL + 1));
        for (; from < to && goes_on(); from += WARP) {
            const uint32_t other = piece_.first[LEVEL] + from + threadIdx.x % WARP;
            Length sum = -1;
            uint32_t low = NONE;
            if (from + threadIdx.x % WARP < to) {
                sum = least_sum(pairs_.top[0] + span_, pairs_.spans[0], pairs_.top[LEVEL] + other, pairs_.spans[LEVEL],
                                piece_.hubs);
                low = FARTHEST ? pairs_.low[LEVEL][other] : 0;
            }
            for (uint32_t rest = ALL_LANES; goes_on();) {
                const uint32_t open = rest & __ballot_sync(ALL_LANES, is_open<FARTHEST>(sum, low, weakest_));
                if (!open) break;
                const uint32_t next = __ffs(open) - 1;
                rest = ~((2u << next) - 1);
                if constexpr (LEVEL > 0)
                    look<LEVEL - 1>((from + next) * SPAN, min((from + next + 1) * SPAN, piece_.spans(LEVEL - 1)));
                else
                    look_into(from + next);
            }
        }
    }

    /// Those that find a witness in a span search no more.
    __device__ void look_into(uint32_t other) {
        const uint32_t begin = piece_.begin + other * SPAN, end = piece_.begin + min((other + 1) * SPAN, piece_.size);
        const uint32_t span = piece_.first[0] + other, low = FARTHEST ? pairs_.low[0][span] : 0;
        bool has_found = false;
        for (int i = 0; i < EACH; ++i) {
            bool tries = is_searching(i) && witness_[i] < end;
            if (tries) {
                const Length sum = least_sum(pairs_.hubs_of(rank_of(i)), pairs_.hub_step(), pairs_.top[0] + span,
                                             int64_t(pairs_.spans[0]), piece_.hubs);
                tries = is_open<FARTHEST>(sum, low, claim_[i]);
            }
            for (uint32_t rest = __ballot_sync(ALL_LANES, tries); rest; rest &= rest - 1) {
                const int lane = __ffs(rest) - 1;
                const uint32_t witness = find_witness(i, lane, begin, end);
                if (witness == NONE) continue;
                searching_[i] &= ~(1u << lane);
                if (static_cast<int>(threadIdx.x) % WARP == lane) witness_[i] = witness;
                has_found = true;
            }
        }
        if (has_found) weaken();
    }

    /// The first pixel of a span that is open to one of a lane's, and that it has not looked at.
    __device__ uint32_t find_witness(int i, int lane, uint32_t begin, uint32_t end) const {
        const uint32_t v = begin_ + i * WARP + lane, from = __shfl_sync(ALL_LANES, witness_[i], lane);
        const Claim<Length> claim = {__shfl_sync(ALL_LANES, claim_[i].lower, lane),
                                     FARTHEST ? __shfl_sync(ALL_LANES, claim_[i].farthest, lane) : 0};
        for (; begin < end; begin += WARP) {
            const uint32_t q = begin + threadIdx.x % WARP;
            const bool is = q < end && q >= from && !pairs_.is_source[q] &&
                            is_open<FARTHEST>(bound_of(v, q), FARTHEST ? pairs_.ranks.pixel[q] : 0, claim);
            if (const uint32_t found = __ballot_sync(ALL_LANES, is)) return begin + __ffs(found) - 1;
        }
        return NONE;
    }

    const Pairs<Length> &pairs_;
    const Piece<Length> &piece_;
    uint32_t span_, begin_;
    uint32_t searching_[EACH];
    uint32_t witness_[EACH];
    Claim<Length> claim_[EACH];
    Claim<Length> weakest_;
    uint32_t closed_;
};

template <class Length, bool FARTHEST>
__global__ void __launch_bounds__(CREW) prove_span(Pairs<Length> pairs, uint32_t first) {
    __shared__ Weakest<Length> weakest[CREW / WARP];
    __shared__ uint32_t open[CREW / WARP];
    const uint32_t large = first + blockIdx.x, warp = threadIdx.x / WARP;
    const Piece<Length> &piece = pairs.piece[pairs.piece_of[large]];
    if (!piece.is_active()) return;
    Weakest<Length> least;
    uint32_t count = 0;
    for_spans(piece, large, [&](uint32_t span, uint32_t begin, uint32_t end) {
        Search<Length, FARTHEST> search(pairs, piece, span, begin, end);
        search.run();
        count += search.finish(least);
    });
    if (threadIdx.x % WARP == 0) weakest[warp] = least, open[warp] = count;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < CREW / WARP; ++i) {
        if (weakest[i] < least) least = weakest[i];
        count += open[i];
    }
    pairs.count_open[large] = count;
    pairs.weakest[large] = least;
}

}  // namespace

template <class Length, bool FARTHEST>
void prove(const Pairs<Length> &pairs, const Range &spans, cudaStream_t stream) {
    launch("prove_span", prove_span<Length, FARTHEST>, spans.count(), CREW, stream, pairs, spans.begin);
}

template void prove<int32_t, false>(const Pairs<int32_t> &, const Range &, cudaStream_t);
template void prove<int32_t, true>(const Pairs<int32_t> &, const Range &, cudaStream_t);
template void prove<int64_t, false>(const Pairs<int64_t> &, const Range &, cudaStream_t);
template void prove<int64_t, true>(const Pairs<int64_t> &, const Range &, cudaStream_t);

}  // namespace apsis
