// The lower envelope: rows of a 2-D Euclidean distance map where sites are far.  It takes far strips and marked patches, unless
// images are small, or rows narrow or cut (plan.cu).
//
// A block takes a band of four rows, or a pair of such bands, and lays the distances of its strip's candidates in shared
// memory.  Of two candidates the right one is nearer from a breakpoint on (Maurer, Qi & Raghavan 2003; Felzenszwalb &
// Huttenlocher 2012).  Where breakpoints ascend, the candidates are the envelope.  Where two of them do not, the candidate
// between them is dominated.  A dominated candidate need not be dropped.  Every candidate is compared with its neighbours, and
// with a few others where the neighbours bound it little.  That gives an interval in which it may be nearest.  A tile is 8
// pixels of each row.  Its bracket goes from the first candidate whose interval does not end before the tile to the last one
// whose interval begins by the tile's end; the bracket is right whichever candidates were compared (envelope_*.cuh).  A thread
// then holds the 32 pixels of a tile in registers and tries the candidates of its bracket on all of them, in whole numbers.
// The bracket holds all equally near candidates; of their sites the lowest row, then the lowest column, is taken.  Dominated
// candidates are dropped where that pays.  Where brackets are long in total, the rest is compared once more.
//
// Cost: 6 bytes a candidate and band through the second cache; some 200 instructions a candidate and band; 2 instructions for
// each pixel of a tile and candidate of its bracket, which has from 2 to 9 of them.
#include "cuda/distance/plane/envelope_tiles.cuh"
#include "cuda/distance/plane/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::plane {

namespace {

constexpr uint32_t LATE = 16;  // blocks, the first ones, which take the last strips: some multiprocessors get two of them early

/// A strip of which a block takes bands, and its summary.
struct StripTask {
    int64_t image, strip;
    StripSummary summary;
};

/// The strip with number `line` in the batch, without its summary: this reads nothing that earlier kernels have written.
__device__ StripTask task_of(const Layout &layout, int64_t line) {
    const uint32_t strips = static_cast<uint32_t>(layout.columns.strips()), number = static_cast<uint32_t>(line);
    return {number / strips, number % strips};
}

/// Block: the n-th strip.
__device__ StripTask task_at(const Layout &layout, int64_t n) {
    StripTask task = task_of(layout, layout.strip_at(n));
    wait_for_kernel_before();  // not sooner: the division above takes a while
    task.summary = StripSummary(layout.summaries[task.image * layout.columns.strips() + task.strip]);
    return task;
}

constexpr int EACH = 4, RANKED = EACH * WARP;

/// Warp: finds the summary of a rank by load among RANKED ones, EACH of a lane; the heaviest has rank 0.  Leaves in `some` the
/// summaries of the same load, and returns the rank among them.
__device__ int rank_by_load(const StripSummary (&summaries)[EACH], uint32_t (&some)[EACH], int rank) {
#pragma unroll
    for (int bit = StripSummary::LOAD_BITS - 1; bit >= 0; --bit) {
        uint32_t heavy[EACH];
        int count = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            heavy[k] = some[k] & __ballot_sync(ALL_LANES, summaries[k].load() >> bit & 1);
            count += __popc(heavy[k]);
        }
        const bool is_heavy = rank < count;
        if (!is_heavy) rank -= count;
#pragma unroll
        for (int k = 0; k < EACH; ++k) some[k] = is_heavy ? heavy[k] : some[k] ^ heavy[k];
    }
    return rank;
}

/// Block: the n-th strip by load, the heaviest first, among RANKED that lie side by side.  A multiprocessor prefers its oldest
/// warps, so that a heavy strip that begins late ends late.
__device__ StripTask task_by_load(const Layout &layout, int64_t n, int64_t strips) {
    __shared__ StripTask task;
    wait_for_kernel_before();
    if (threadIdx.x < WARP) {
        const int lane = static_cast<int>(threadIdx.x);
        const int64_t first = n / RANKED * RANKED;
        StripSummary summaries[EACH];
        uint32_t some[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int64_t at = first + k * WARP + lane;
            summaries[k] = StripSummary(at < strips ? layout.summaries[layout.strip_at(at)] : 0), some[k] = ALL_LANES;
        }
        int rank = rank_by_load(summaries, some, static_cast<int>(n - first));
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            if ((some[k] >> lane & 1) && rank == __popc(some[k] & ((1u << lane) - 1)))
                task = task_of(layout, layout.strip_at(first + k * WARP + lane)), task.summary = summaries[k];
            rank -= __popc(some[k]);
        }
    }
    __syncthreads();
    return task;
}

/// A block takes a band, or a pair of them.
template <Form FORM, bool NEAREST, int HALVES, RowStart START>
__global__ void __launch_bounds__(THREADS, 2) search_bands(Layout layout, OutputFormat format) {
    extern __shared__ __align__(16) uint32_t shared[];
    const int32_t length = static_cast<int32_t>(layout.columns.count);
    constexpr uint32_t PER_STRIP = STRIP / (BAND * HALVES);
    const uint32_t block = HALVES == 1 ? blockIdx.x : blockIdx.x < LATE ? gridDim.x - 1 - blockIdx.x : blockIdx.x - LATE;
    const uint32_t n = block / PER_STRIP;
    const StripTask task = HALVES == 1 ? task_at(layout, n) : task_by_load(layout, n, gridDim.x / PER_STRIP);
    const int64_t image = task.image, strip = task.strip;
    const int64_t y = strip * STRIP + block % PER_STRIP * (BAND * HALVES), number = y / BAND;
    // In a page of text half of the bands have no ink: there the inside of a signed map has no pixel.
    if (!task.summary.is_any() || y >= layout.columns.length || task.summary.are_all_sites(y, HALVES)) return;
    const int32_t patches = static_cast<int32_t>(layout.patches());
    const uint32_t *const marks = reinterpret_cast<const uint32_t *>(layout.marks_of(image, number, 0));
    const int32_t marked_patches = patches * static_cast<int32_t>(min(int64_t(HALVES), layout.bands() - number));
    if (!task.summary.is_far()) {
        bool marked = false;
        for (int32_t p = threadIdx.x; p < marked_patches; p += blockDim.x) marked = marked || marks[p];
        if (!__syncthreads_or(marked)) return;
    }
    RowBand<HALVES> band = shape_band<HALVES>(shared, length, task.summary.count());
    format.limited = format.limited || band.count == 0;  // there may be no site
    load_band<HALVES>(band, layout, image, y);
    find_brackets(band);
    finish_tiles<FORM, NEAREST, START>(layout, format, band, layout.interior_of(image, strip),
                                       layout.all_site_bands_of(image, strip), image, y, [&](int32_t t, int half) {
                                           const int32_t p = t / PATCH_TILES + half * patches;
                                           return task.summary.is_far() ? ~0u : p < marked_patches ? marks[p] : 0;
                                       });
}

}  // namespace

void search_envelope(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    const OutputFormat format(layout.output);
    const auto launch_by = [&](auto halves, auto start) {
        if (format.is_mask)
            return launch(plan.rows, search_bands<Form::MASK, false, halves, RowStart::ANY>, early(stream), layout, format);
        with_form_or_signed(format, layout.output, [&](auto form, auto with_nearest) {
            launch(plan.rows, search_bands < SHARED_FORM<form, with_nearest, halves>, with_nearest, halves,
                   IS_PLAIN<form> ? start : RowStart::ANY >, early(stream), layout, format);
        });
    };
    const auto launch_bands = [&](auto halves) {
        if (format.aligned)
            launch_by(halves, std::integral_constant<RowStart, RowStart::ALIGNED>());
        else
            launch_by(halves, std::integral_constant<RowStart, RowStart::ACROSS>());
    };
    if (plan.halves == 2)
        launch_bands(std::integral_constant<int, 2>());
    else
        launch_bands(std::integral_constant<int, 1>());
}

}  // namespace apsis::cuda::plane
