// The lower envelope of many short rows: a warp takes a band, with no list made before and no other warp to wait for.
// All columns that have a site are its contenders; else it goes as in envelope.cu.
#include "launch.h"
#include "rows.h"
#include "band_tiles.cuh"

namespace apsis {

namespace {

constexpr int32_t WIDTH = static_cast<int32_t>(THIN);
constexpr int THIN_RESIDENT = 4;  // blocks on a multiprocessor: leaves a thread 64 registers
static_assert(STRIP / BAND == WARPS, "a block takes a strip");

/// What a warp keeps of its band.
struct ThinShared {
    uint32_t distances[WIDTH], tiles[2][WIDTH / TILE];
    uint16_t columns[WIDTH];
    uint8_t bests[WIDTH / WARP];
};

/// Lays a band's contenders in shared memory.
__device__ ThinBand load_thin(ThinShared &shared, bool &far, const Columns &columns, int64_t image, int64_t strip,
                              int bit) {
    const int64_t from = columns.at(image, strip, 0);
    const int32_t start = static_cast<int32_t>(strip * STRIP), count = static_cast<int32_t>(columns.count);
    const int lane = threadIdx.x % WARP;
    ThinBand band = {};
    band.length = count;
    band.tiles = (count + TILE - 1) / TILE;
    band.distances = shared.distances;
    band.columns = shared.columns;
    band.bests = shared.bests;
    band.lows = shared.tiles[0];
    band.highs = shared.tiles[1];
#pragma unroll 4
    for (int32_t turn = 0; turn < count; turn += WARP) {
        const int32_t x = turn + lane;
        const int64_t at = from + min(x, count - 1);
        const uint32_t word = columns.words[at];
        const Sight sight(columns, at, start, Outlook::NONE);
        const bool any = x < count && (word || min(sight.above, sight.below) < Outlook::NONE);
        const uint32_t all = __ballot_sync(ALL_LANES, any);
        if (any) {
            const uint32_t distances = measure_column(sight, word, bit);
            const int32_t place = band.count + __popc(all & ((1u << lane) - 1));
            band.distances[place] = distances;
            band.columns[place] = static_cast<uint16_t>(x);
            far = far || !is_near(unpack(distances, 0), WIDTH + TILE);
        }
        band.count += __popc(all);
    }
    return band;
}

template <Form FORM, bool NEAREST>
__global__ void __launch_bounds__(BLOCK, THIN_RESIDENT) search_thin(Rows rows, Quads quads) {
    __shared__ ThinShared shared[WARPS];
    const int64_t line = rows.strip_at(blockIdx.x), strips = rows.columns.strips(), image = line / strips,
                  strip = line % strips;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, bit = warp * BAND;
    const int64_t y = strip * STRIP + bit;
    const bool is_far = rows.is_far(image, strip);
    if ((!is_far && !rows.has_marks(image, strip)) || y >= rows.columns.length) return;
    const uint32_t *const marks = reinterpret_cast<const uint32_t *>(rows.marks_of(image, y / BAND, 0));
    const auto wanted = [&](int32_t t) { return is_far ? ~0u : marks[t / PATCH_TILES]; };
    static_assert(WIDTH / PATCH <= WARP, "a lane a patch");
    if (!is_far &&
        !__any_sync(ALL_LANES, lane < rows.patches() && marks[min(lane, static_cast<int>(rows.patches()) - 1)]))
        return;

    bool costs_far = false;
    ThinBand band = load_thin(shared[warp], costs_far, rows.columns, image, strip, bit);
    costs_far = __any_sync(ALL_LANES, costs_far || band.count == 0);
    find_brackets(band);
    for (int32_t t = lane; t < band.tiles; t += WARP) {
        if (!wanted(t)) continue;
        if (costs_far)
            finish_tile<FORM, NEAREST, true>(rows, quads, band, wanted(t), 0, image, y, t);
        else
            finish_tile<FORM, NEAREST, false>(rows, quads, band, wanted(t), 0, image, y, t);
    }
}

}  // namespace

void search_thin(const Rows &rows, cudaStream_t stream) {
    const Quads quads(rows.output);
    with_form(quads, rows.output, [&](auto form, auto with_nearest) {
        launch("search_thin", search_thin<form, with_nearest>, rows.count_strips(), BLOCK, stream, rows, quads);
    });
}

}  // namespace apsis
