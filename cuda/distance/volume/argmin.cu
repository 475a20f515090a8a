// The monotone argmin along the lines of a volume, for patches that near search or windows have marked because sites are far;
// alone, for all voxels, where neither can hold the costs (plan.cu).
//
// The best candidate never moves left as the voxel moves right (Hirata 1996).  So the best ones of two voxels bracket those of
// all voxels between.  A block holds a bundle of lines that lie side by side, with the scores of their candidates in shared
// memory.  It works in two phases:
// 1. Pivots are every 16th voxel.  Their best candidates are found by halving: each pivot has the bracket of its two neighbours
//    of the level before.  The first few pivots have none; the cost of some candidates bounds how far they must search, as the
//    ends of a bracket do later.  While pivots are few, several threads share one.
// 2. An interval reaches from one pivot to the next.  A thread tries all candidates of the bracket on its 16 voxels: first on
//    one tile of 8, in registers, then on the other.
// Where a line crosses a gap between sites, a bracket is long and most of its candidates are dominated.  The least cost of each
// chunk of candidates tells which chunks can be skipped.
//
// For nearest sites pivots are 8 voxels apart.  Half a register holds a voxel's cost, counted from that of the bracket's first
// candidate, and the candidate's place in the bracket: 4 registers find the leftmost of equal candidates, 4 others the
// rightmost.  Where these differ, the sites of all between are compared, and the lowest site is taken: by z, then y, then x.
// Ties at pivots go to the left, which keeps all equal candidates of an interval in its bracket.  Intervals with long brackets
// or large weights are deferred to the end, when the block's threads share them, a thread a voxel; otherwise most lanes would
// wait for a few.
//
// Along y a bundle has lines of four planes, because one word of bits gives the costs of all.  The results along y are stored
// transposed, so that lines along x lie side by side too, and a thread's tile is a whole sector of memory.
//
// Cost, of each of the two searches: log2(n) + 2 evaluations a voxel at most; along y 6 bytes a voxel through the second cache
// and 4 out, along x 4 in and the outputs out.
#include <cstring>
#include <type_traits>

#include "cuda/distance/volume/argmin_bundle.cuh"
#include "cuda/distance/volume/argmin_interval.cuh"
#include "cuda/distance/volume/layout.h"
#include "cuda/runtime/launch.h"

namespace apsis::cuda::volume {

namespace {

constexpr int32_t NO_SITE_DISTANCE = 1 << 29;  // distances from here on are those of columns without a site
constexpr int64_t LONGEST_LINE = 65535;        // places along a line have 16 bits

/// Lines along y: their costs come from columns along z.  With NEAREST a cost is doubled, plus 1 where the site is below its
/// plane, because that site is higher than any above.
template <bool NEAREST>
struct AlongY {
    Layout layout;
    float inverse = 1.0f / layout.weight[2];  // of the weight along z

    __host__ __device__ int64_t length() const { return layout.height(); }
    __host__ __device__ int64_t lines() const { return layout.width(); }
    static constexpr int32_t COST_FACTOR = NEAREST ? 2 : 1;
    __device__ int32_t weight() const { return COST_FACTOR * layout.weight[1]; }
    __device__ bool wanted(int64_t z, int64_t x, int32_t tile) const { return layout.need(z, int64_t(tile) * TILE, x); }

    static constexpr int PERIOD = NEAREST ? TILE : TWO_TILES;
    static constexpr int PLANES = 4;                     // planes of a bundle, whose costs come from the same words
    static constexpr int LOADED_LINES = 1;               // lines that a thread loads together
    static constexpr int COSTS = PLANES * LOADED_LINES;  // that a thread finds together, side by side in a bundle
    static constexpr int LOADS_AHEAD = 4;                // candidates whose loads a thread has in flight, three words each
    /// Where a line's first candidate is stored, and how far apart candidates are.
    __device__ int64_t first(int64_t z, int64_t x) const { return layout.columns.at(0, z / STRIP, x); }
    __device__ uint32_t stride() const { return static_cast<uint32_t>(layout.columns.strips() * layout.columns.count); }

    /// [group]: whether the costs of a line's candidates are known; nullptr if all are.
    __device__ const uint8_t *known(int64_t, int64_t) const { return nullptr; }

    /// What is stored of a candidate, `offset` words behind the first one of its line: no memory holds a line of 2^32 words.
    struct Stored {
        uint32_t word = 0;
        int32_t before = NO_SITE_BEFORE, after = NO_SITE_AFTER;
    };
    __device__ Stored load(int64_t begin, uint32_t offset) const {
        const Columns &columns = layout.columns;
        return {__ldg(columns.words + begin + offset), __ldg(columns.before + begin + offset),
                __ldg(columns.after + begin + offset)};
    }
    /// All planes lie in one strip: from each to the next a distance grows by 1, unless there is a site.
    __device__ void costs(const Stored &stored, int32_t z, int32_t, int32_t (&cost)[COSTS]) const {
        static_assert(LOADED_LINES == 1 && STRIP % PLANES == 0);
        const int bit = z % STRIP;
        const uint32_t lower = stored.word << (STRIP - 1 - bit), upper = stored.word >> bit >> (PLANES - 1);
        const uint32_t first = upper & ~(upper - 1);  // saves an instruction of a slow unit
        int32_t up[PLANES], down[PLANES];
        up[0] = lower ? STRIP - 1 - highest_bit(lower) : z - stored.before;
        down[PLANES - 1] = upper ? highest_bit(first) : stored.after - z - (PLANES - 1);
        const auto is_site = [&](int p) { return 0 < p && p < PLANES - 1 && stored.word >> bit >> p & 1; };
#pragma unroll
        for (int p = 1; p < PLANES; ++p) up[p] = is_site(p) ? 0 : up[p - 1] + 1;
#pragma unroll
        for (int p = PLANES - 2; p >= 0; --p) down[p] = is_site(p) ? 0 : down[p + 1] + 1;
#pragma unroll
        for (int p = 0; p < PLANES; ++p) cost[p] = cost_of(up[p], down[p]);
    }
    __device__ int32_t cost_of(int32_t up, int32_t down) const {
        const int32_t d = min(up, down), is_below = NEAREST && down < up;
        return d < NO_SITE_DISTANCE ? COST_FACTOR * layout.weight[2] * d * d + is_below : NO_COST<int32_t>;
    }
    /// The place in the image of a candidate's site, z above y in its halves; its distance along z follows from the cost.
    struct SitePlaces {
        int32_t z;
        float inverse;

        __device__ uint32_t operator()(int32_t y, int32_t cost) const {
            float distance;
            asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(distance) : "f"(static_cast<float>(cost >> 1) * inverse));
            const uint32_t way = static_cast<uint32_t>(distance + 0.5f) << 16, here = static_cast<uint32_t>(z) << 16 | y;
            return cost == NO_COST<int32_t> ? NO_SITE_PLACE : cost & 1 ? here + way : here - way;
        }
    };
    __device__ SitePlaces sites(int32_t z, int32_t) const { return {layout.plane_of(z), inverse}; }
    __device__ void write_voxel(int64_t z, int64_t x, int32_t y, const NearestSite &found) const {
        layout.y_results[stored_line(layout, z, x) + y] = found.site;
    }
    __device__ void write(int64_t z, int64_t x, int32_t y, const TileResult &tile) const {
        // Where no site is, a candidate elsewhere may have been taken.
        const auto value = [&](int k) { return NEAREST ? tile.site[k] : min(tile.cost[k], NO_COST<int32_t>); };
        uint4 *const to = reinterpret_cast<uint4 *>(layout.y_results + stored_line(layout, z, x) + y);
        to[0] = make_uint4(value(0), value(1), value(2), value(3));
        to[1] = make_uint4(value(4), value(5), value(6), value(7));
    }
};

/// Lines along x: the search along y has stored their costs, or their sites.
template <bool NEAREST>
struct AlongX {
    Layout layout;

    __host__ __device__ int64_t length() const { return layout.width(); }
    __host__ __device__ int64_t lines() const { return layout.height(); }
    __device__ int32_t weight() const { return layout.weight[0]; }
    __device__ bool wanted(int64_t z, int64_t y, int32_t tile) const { return layout.mark(z, y, tile); }

    static constexpr int PERIOD = NEAREST ? TILE : TWO_TILES, PLANES = 1, LOADS_AHEAD = 4;
    static constexpr int LOADED_LINES = 4, COSTS = PLANES * LOADED_LINES;  // a load of 16 bytes
    static_assert(TILE % LOADED_LINES == 0);                               // lines are stored by whole tiles
    __device__ int64_t first(int64_t z, int64_t y) const { return stored_line(layout, z, 0) + y; }
    __device__ uint32_t stride() const { return static_cast<uint32_t>(y_pitch(layout)); }

    static constexpr uint32_t NOTHING = NEAREST ? NO_SITE_PLACE : static_cast<uint32_t>(NO_COST<int32_t>);

    /// Costs are known where they are needed; all others are of no site, or too far from every marked tile to matter.
    __device__ const uint8_t *known(int64_t z, int64_t y) const { return &layout.need(z, y, 0); }

    struct Stored {
        uint4 quad = {NOTHING, NOTHING, NOTHING, NOTHING};
    };
    __device__ Stored load(int64_t begin, uint32_t offset) const {
        return {__ldg(reinterpret_cast<const uint4 *>(layout.y_results + begin + offset))};
    }
    __device__ void costs(const Stored &stored, int32_t z, int32_t y, int32_t (&cost)[COSTS]) const {
        const uint32_t word[LOADED_LINES] = {stored.quad.x, stored.quad.y, stored.quad.z, stored.quad.w};
#pragma unroll
        for (int i = 0; i < LOADED_LINES; ++i)
            cost[i] = NEAREST ? cost_of(word[i], layout.plane_of(z), y + i) : static_cast<int32_t>(word[i]);
    }
    __device__ int32_t cost_of(uint32_t stored, int32_t z, int32_t y) const {
        const int32_t down = static_cast<int32_t>(stored >> 16) - z, along = static_cast<int32_t>(stored & 0xffff) - y;
        return stored == NO_SITE_PLACE ? NO_COST<int32_t> : layout.weight[2] * down * down + layout.weight[1] * along * along;
    }
    struct SitePlaces {
        const uint32_t *line;
        uint32_t stride;

        __device__ uint32_t operator()(int32_t x, int32_t) const { return __ldg(line + x * stride); }
    };
    __device__ SitePlaces sites(int32_t z, int32_t y) const {
        const uint32_t *line = layout.y_results + first(z, y);
        asm("" : "+l"(line));  // otherwise the compiler computes it again for every candidate
        return {line, stride()};
    }
    __device__ int64_t index(uint32_t place, int32_t x) const {
        return (int64_t(place >> 16) * layout.height() + (place & 0xffff)) * layout.width() + x;
    }
    __device__ float length(int32_t cost) const {
        const Measure &measure = layout.output.measure;
        return measure.unit == 1 ? root_of(cost) : length_of<float>(measure, cost);
    }
    __device__ void write(int64_t z, int64_t y, int32_t x, TileResult &tile) const {
        const auto index_of = [&](int k) { return index(tile.site[k], tile.at[k]); };
        if (layout.is_packed)
            write_packed<NEAREST>(layout, x, y, z, tile.cost, [&](int32_t cost) { return length(cost); }, OwnCost(), index_of);
        else
            write_voxels<NEAREST>(layout, x, y, z, tile.cost, index_of);
    }
    __device__ void write_voxel(int64_t z, int64_t y, int32_t x, const NearestSite &found) const {
        const Output &output = layout.output;
        if (x >= layout.width()) return;
        if (!layout.is_packed) return write_pixel(output, x, y, z, found.cost, true, index(found.site, found.at));
        const bool is_near = found.cost <= output.measure.limit;
        const int32_t nearest = static_cast<int32_t>(index(found.site, found.at));
        reinterpret_cast<int32_t *>(output.nearest.row(y, z))[x] = is_near ? nearest : -1;
        if (!output.distance) return;
        if (layout.has_squares)
            reinterpret_cast<int32_t *>(output.distance.row(y, z))[x] = is_near ? found.cost : INT32_MAX;
        else
            reinterpret_cast<float *>(output.distance.row(y, z))[x] = is_near ? length(found.cost) : INFINITY;
    }
};

/// Block: loads the scores of a bundle's lines into shared memory, by chunks, each with its least cost.
template <class Lines, int WIDTH, int PERIOD>
__device__ void load_lines(const Bundle<WIDTH, PERIOD> &bundle, const Lines &lines, const BundlePlace<Lines, WIDTH> &place) {
    constexpr int COSTS = Lines::COSTS, LOADS_AHEAD = Lines::LOADS_AHEAD;
    constexpr int CANDIDATE_THREADS = WIDTH / COSTS;                      // threads that load one candidate of all lines
    constexpr int BANK_ROW_CANDIDATES = WIDTH < WARP ? WARP / WIDTH : 1;  // candidates that fill a row of banks
    // Candidates that are loaded side by side, with LOADS_AHEAD left for each thread.
    constexpr int SIDES = BANK_ROW_CANDIDATES * LOADS_AHEAD < CHUNK ? BANK_ROW_CANDIDATES : CHUNK / LOADS_AHEAD;
    constexpr int CHUNK_THREADS = CANDIDATE_THREADS * SIDES;                      // threads that load a chunk
    constexpr int WARP_CHUNKS = CHUNK_THREADS < WARP ? WARP / CHUNK_THREADS : 1;  // chunks that a warp loads at once
    static_assert(CHUNK % (SIDES * LOADS_AHEAD) == 0);
    using Scores = std::conditional_t<COSTS == 2, int2, int4>;
    const int32_t lane = threadIdx.x % CANDIDATE_THREADS * COSTS, side = threadIdx.x / CANDIDATE_THREADS % SIDES,
                  z = place.plane;
    const int32_t last = (static_cast<int32_t>(lines.lines()) - 1) / Lines::LOADED_LINES * Lines::LOADED_LINES;
    const int32_t line = min(place.line(lane), last);
    const int32_t count = bundle.chunks(bundle.length);
    const uint8_t *const known = lines.known(z, line);
    const int64_t begin = lines.first(z, line);
    const uint32_t stride = lines.stride();
    for (int32_t s = threadIdx.x / CHUNK_THREADS; s / WARP_CHUNKS * WARP_CHUNKS < count; s += ARGMIN_THREADS / CHUNK_THREADS) {
        const bool is_known = s < count && (!known || __ldg(known + s * CHUNK / MARK_GROUP));
        int32_t least[COSTS], c = s * CHUNK + side;
        bool has_site = false;
#pragma unroll
        for (int i = 0; i < COSTS; ++i) least[i] = NO_COST<int32_t>;
#pragma unroll 1
        for (int k = 0; k < CHUNK / SIDES; k += LOADS_AHEAD) {
            typename Lines::Stored stored[LOADS_AHEAD];
            if (is_known)
#pragma unroll
                for (int j = 0; j < LOADS_AHEAD; ++j)  // no branch: with one, one load would wait for the other
                    stored[j] = lines.load(begin, min(c + j * SIDES, bundle.length - 1) * stride);
#pragma unroll
            for (int j = 0; j < LOADS_AHEAD; ++j, c += SIDES) {
                int32_t score[COSTS];
                lines.costs(stored[j], z, line, score);
                const int32_t square = bundle.square(c);
#pragma unroll
                for (int i = 0; i < COSTS; ++i) least[i] = min(least[i], score[i]), score[i] += square;
                Scores together;
                memcpy(&together, score, sizeof(together));
                if (c < bundle.length) *reinterpret_cast<Scores *>(bundle.score + c * WIDTH + lane) = together;
            }
        }
#pragma unroll
        for (int i = 0; i < COSTS; ++i) {
#pragma unroll
            for (int step = 1; step < SIDES; step *= 2)
                least[i] = min(least[i], __shfl_xor_sync(ALL_LANES, least[i], step * CANDIDATE_THREADS));
            if (side > 0 || s >= count) continue;
            bundle.keep_least(lane + i, s, least[i]);
            has_site = has_site || least[i] < NO_COST<int32_t>;
        }
        if (has_site) atomicMin(&bundle.range[0], s), atomicMax(&bundle.range[1], s);
    }
    for (int32_t i = bundle.length * WIDTH + threadIdx.x; i < bundle.padded(bundle.length) * WIDTH; i += ARGMIN_THREADS)
        bundle.score[i] = NO_COST<int32_t> + bundle.square(i / WIDTH);
    for (int32_t i = count * WIDTH + threadIdx.x; i < bundle.padded_chunks(bundle.length) * WIDTH; i += ARGMIN_THREADS)
        bundle.keep_least(i % WIDTH, i / WIDTH, NO_COST<int32_t>);
}

/// A block finds the best candidates of all wanted voxels of a bundle, in the two phases.
template <int WIDTH, class Lines>
__global__ void __launch_bounds__(ARGMIN_THREADS, ARGMIN_BLOCKS_PER_SM) search_bundles(Lines lines) {
    constexpr int PERIOD = Lines::PERIOD;
    if (!lines.layout.any_need()) return;
    extern __shared__ __align__(16) int32_t shared[];
    const Bundle<WIDTH, PERIOD> bundle(shared, static_cast<int32_t>(lines.length()), lines.weight());
    using Place = BundlePlace<Lines, WIDTH>;
    const int32_t count = static_cast<int32_t>(lines.lines());
    const uint32_t across = (count + Place::ACROSS - 1) / Place::ACROSS;
    const Place place = {static_cast<int32_t>(blockIdx.x % across * Place::ACROSS),
                         static_cast<int32_t>(blockIdx.x / across * Lines::PLANES)};
    const int32_t end = min(place.first + Place::ACROSS, count);
    const int32_t deep = min(place.plane + Lines::PLANES, static_cast<int32_t>(lines.layout.depth()));
    if (threadIdx.x == 0) *bundle.deferred_count = 0, bundle.range[0] = INT32_MAX, bundle.range[1] = -1;
    bool any = false, all = true;
    for (int32_t t = threadIdx.x; t < bundle.pivots; t += ARGMIN_THREADS) {
        uint8_t here = 0;
        for (int32_t z = place.plane; z < deep; ++z)
            for (int32_t line = place.first; line < end; line += MARK_GROUP) here |= wanted_tiles<PERIOD>(lines, z, line, t);
        bundle.wanted[t] = here;
        any = any || here, all = all && here;
    }
    if (!__syncthreads_or(any)) return;
    const bool all_wanted = !__syncthreads_or(!all);
    load_lines(bundle, lines, place);
    find_brackets(bundle, all_wanted);
    finish_intervals(bundle, lines, place);
}

/// Bytes of shared memory that a block may have if a multiprocessor is to run two.
size_t half_of(const Limits &limits) { return limits.shared / 2; }

/// How many lines a bundle has: many where four blocks of them have room.
template <int PERIOD>
int choose_lines(int64_t length, const Limits &limits) {
    const size_t room = half_of(limits);
    return Bundle<MANY_LINES, PERIOD>::bytes(length) <= room / 2 ? MANY_LINES
           : Bundle<SOME_LINES, PERIOD>::bytes(length) <= room   ? SOME_LINES
                                                                 : FEW_LINES;
}

/// Calls take(width), a constant, for a bundle of so many lines.
template <class Take>
auto with_width(int lines, Take take) {
    if (lines == MANY_LINES) return take(std::integral_constant<int, MANY_LINES>());
    if (lines == SOME_LINES) return take(std::integral_constant<int, SOME_LINES>());
    return take(std::integral_constant<int, FEW_LINES>());
}

template <class Lines>
Launch launch_of(const Lines &lines, int bundle_lines) {
    return with_width(bundle_lines, [&](auto width) -> Launch {
        const int64_t across = ceil_div(lines.lines(), BundlePlace<Lines, width>::ACROSS);
        return {"search_bundles", across * ceil_div(lines.layout.depth(), Lines::PLANES), ARGMIN_THREADS,
                Bundle<width, Lines::PERIOD>::bytes(lines.length())};
    });
}

template <class Lines>
void search(const Launch &plan, int bundle_lines, const Lines &lines, cudaStream_t stream) {
    with_width(bundle_lines, [&](auto width) { launch(plan, search_bundles<width, Lines>, stream, lines); });
}

template <bool NEAREST>
void plan_launches(Plan &plan, const Layout &layout, const Limits &limits) {
    constexpr int PERIOD = AlongX<NEAREST>::PERIOD;
    const int64_t length[] = {layout.width(), layout.height()};
    for (int axis = 0; axis < 2; ++axis) plan.argmin_lines[axis] = choose_lines<PERIOD>(length[axis], limits);
    plan.argmin_along[1] = launch_of(AlongY<NEAREST>{layout}, plan.argmin_lines[1]);
    plan.argmin_along[0] = launch_of(AlongX<NEAREST>{layout}, plan.argmin_lines[0]);
}

template <bool NEAREST>
void search_lines(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    search(plan.argmin_along[1], plan.argmin_lines[1], AlongY<NEAREST>{layout}, stream);
    search(plan.argmin_along[0], plan.argmin_lines[0], AlongX<NEAREST>{layout}, stream);
}

}  // namespace

bool plan_argmin(Plan &plan, const Layout &layout, int64_t extent, const Limits &limits) {
    const bool nearest = static_cast<bool>(layout.output.nearest);
    const int64_t factor = nearest ? AlongY<true>::COST_FACTOR : AlongY<false>::COST_FACTOR;
    const auto fits = [&](int64_t weight, int64_t length) {
        // Candidates and voxels a little beyond the end of a line are computed too: no product may overflow.
        const int64_t way = length + TWO_TILES + QUAD;
        return length <= LONGEST_LINE && weight * way * way < NO_COST<int32_t> &&
               Bundle<FEW_LINES, TILE>::bytes(length) <= half_of(limits);
    };
    if (extent > LONGEST_LINE || !fits(layout.weight[0], layout.width()) || !fits(factor * layout.weight[1], layout.height()) ||
        factor * layout.output.measure.largest >= NO_COST<int32_t>)
        return false;
    nearest ? plan_launches<true>(plan, layout, limits) : plan_launches<false>(plan, layout, limits);
    return true;
}

void search_marked(const Plan &plan, const Layout &layout, cudaStream_t stream) {
    layout.output.nearest ? search_lines<true>(plan, layout, stream) : search_lines<false>(plan, layout, stream);
}

}  // namespace apsis::cuda::volume
