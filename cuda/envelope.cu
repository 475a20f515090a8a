// The lower envelope: rows of a 2-D Euclidean distance map where sites are far.
//
// A block takes a band of four rows, or a pair of such bands, and lays the distances of its strip's contenders in shared
// memory.  Of two contenders the right one is nearer from a breakpoint on (Maurer, Qi & Raghavan 2003; Felzenszwalb &
// Huttenlocher 2012).  Where breakpoints ascend, the contenders are the envelope; where they do not, somebody between is never
// nearest.  Nobody need be dropped: every contender asks its neighbours, and where they tell little a few others, from where to
// where it may be nearest.  The first one that is not known to be overtaken before a tile of 8 pixels and the last that may be
// nearest by its end bracket the nearest of its pixels, whomever they ask (band*.cuh).  A thread then holds the 32 pixels of a
// tile in registers and tries the candidates of the bracket on all of them, in whole numbers.  The bracket holds all equally
// near ones, of which row, then column, settles the nearest site.  Contenders that turn out to be nearest nowhere are dropped
// where that pays; and where brackets are long all in all, the others ask again.
//
// Cost: 6 bytes a contender and band through the second cache; some 200 instructions a contender and band, and for each
// of a tile's pixels 2 a candidate, a row of 8 pixels having from 2 to 9 of them.
#include "launch.h"
#include "rows.h"
#include "band_tiles.cuh"
#include "transforms.h"

namespace apsis {

namespace {

/// Whether all pixels of a band of a signed map, or of a pair, are sites of their side, which has nothing to write then.  In a
/// page of text half of the bands have no ink.
template <int HALVES>
__device__ bool are_full(const Rows &rows, int64_t image, int64_t y) {
    const uint32_t bands = ((1u << HALVES) - 1) << y % STRIP / BAND;
    return (rows.full_of(image, y / STRIP) & bands) == bands;
}

/// A block takes a band, or a pair of them; of single ones rows may begin ACROSS 16 bytes.
template <Form FORM, bool NEAREST, int HALVES, bool ACROSS>
__global__ void __launch_bounds__(THREADS, 2) search_bands(Rows rows, Quads quads) {
    extern __shared__ __align__(16) uint32_t shared[];
    const int32_t length = static_cast<int32_t>(rows.columns.count);
    constexpr int64_t PER_STRIP = STRIP / (BAND * HALVES);
    const int64_t line = rows.strip_at(blockIdx.x / PER_STRIP), image = line / rows.columns.strips();
    const int64_t y = line % rows.columns.strips() * STRIP + blockIdx.x % PER_STRIP * (BAND * HALVES), number = y / BAND;
    wait_for_kernel_before();  // not sooner: the divisions above take a while
    if (y >= rows.columns.length) return;
    const bool far = rows.is_far(image, y / STRIP);
    const int32_t patches = static_cast<int32_t>(rows.patches());
    const uint32_t *const marks = reinterpret_cast<const uint32_t *>(rows.marks_of(image, number, 0));
    const int32_t marked_patches = patches * static_cast<int32_t>(min(int64_t(HALVES), rows.bands() - number));
    if (!far) {
        if (!rows.has_marks(image, y / STRIP)) return;
        bool marked = false;
        for (int32_t p = threadIdx.x; p < marked_patches; p += blockDim.x) marked = marked || marks[p];
        if (!__syncthreads_or(marked)) return;
    }
    const bool listed = HALVES > 1 || rows.is_listed();  // pairs of bands always are
    constexpr bool MAY_BE_SIGNED = FORM == Form::OTHER || FORM == Form::SIGNED;
    if (MAY_BE_SIGNED && rows.output.is_signed && listed && are_full<HALVES>(rows, image, y)) return;
    RowBand<HALVES> band = shape_band<HALVES>(shared, length, listed ? *rows.counts_of(image, y / STRIP) : length);
    quads.limited = quads.limited || !listed || band.count == 0;  // there may be no site
    if (listed)
        load_band<HALVES>(band, rows, image, y);
    else
        load_columns<HALVES>(band, rows.columns, image, y);
    const uint8_t *const solid = listed ? rows.solid_of(image, y / STRIP) : nullptr;
    const uint8_t *const fulls = listed ? rows.fulls_of(image, y / STRIP) : nullptr;
    find_brackets(band);
    finish_tiles<FORM, NEAREST, false, ACROSS>(rows, quads, band, solid, fulls, image, y, [&](int32_t t, int half) {
        const int32_t p = t / PATCH_TILES + half * patches;
        return far ? ~0u : p < marked_patches ? marks[p] : 0;
    });
}

}  // namespace

bool are_cut(const Columns &columns) {
    const int64_t width = columns.count, length = columns.length;
    // A tile may end behind the row's end.
    if (width > WIDEST_ROW || length > LONGEST_COLUMN) return true;
    if ((width + TILE) * (width + TILE) + length * length + 128 >= int64_t(NOTHING)) return true;
    return band_bytes(width, 1) > most_shared();
}

bool rows_serve(const DistanceJob &job) {
    const Measure &measure = job.measure;
    if (job.axes != 2 || measure.metric != APSIS_EUCLIDEAN || measure.weight[0] != 1 || measure.weight[1] != 1) return false;
    const int64_t width = job.set.size[0], length = job.set.size[1], images = job.set.size[2] * (job.is_signed ? 2 : 1);
    const int64_t strips = parts(length, STRIP) * images;
    // Blocks are numbered in 31 bits, and indices of an image whose rows are not cut fit them.
    if (width > LONGEST || length > LONGEST || length * images > MOST_BLOCKS) return false;
    if (strips * (STRIP / BAND) * parts(width, SEGMENT) > MOST_BLOCKS) return false;
    return outward_bytes(static_cast<bool>(job.nearest)) <= most_shared();
}

void search_envelope(const Rows &rows, cudaStream_t stream) {
    const Quads quads(rows.output);
    const auto launch_bands = [&](auto halves, auto across) {
        int threads = 2 * WARP;
        const int each = rows.is_listed() ? TILES_EACH : 1;  // of narrow images' bands there are few
        while (threads < THREADS && threads * each * TILE < rows.columns.count) threads *= 2;
        const int64_t blocks = rows.count_strips() * (STRIP / (BAND * halves));
        with_form_or_signed(quads, rows.output, [&](auto form, auto with_nearest) {
            launch_large("search_bands", search_bands<form, with_nearest, halves, across && IS_PLAIN<form>>, blocks, threads,
                         band_bytes(rows.columns.count, halves), early(stream), rows, quads);
        });
    };
    // A pair's brackets are somewhat longer, but found once; a multiprocessor needs another block to work meanwhile.
    if (rows.is_listed() && 2 * band_bytes(rows.columns.count, 2) <= most_shared())
        launch_bands(std::integral_constant<int, 2>(), std::false_type());
    else if (quads.aligned)
        launch_bands(std::integral_constant<int, 1>(), std::false_type());
    else
        launch_bands(std::integral_constant<int, 1>(), std::true_type());
}

}  // namespace apsis
