// Measures of the values of slabs: what a slab tells, and what follows from the sums of all.
//
// What is counted around a pixel depends on at most 4 rows before a cut and 4 behind it.  A slab adds what is counted of all
// rows from the beginning of the image to its end, less what is counted of those before it.  So the slabs add up to the image,
// and none needs rows behind it.  The difference is what is counted of the slab as an image of its own, and of the rows beside
// the cut together less each side alone, which is the work of the host.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "api/arguments.h"
#include "api/cut.h"
#include "api/guard.h"
#include "api/value_measures.h"
#include "runtime/packed.h"
#include "runtime/staging.h"
#include "slabs/values.h"

using namespace apsis;

namespace {

constexpr int64_t PERIMETER_ROWS = 4;

/// How many rows beside a cut matter.
int64_t rows_at_cut(const MeasuresJob &job) {
    return job.wants(APSIS_PERIMETER) ? PERIMETER_ROWS : job.wants_windows() ? 1 : 0;
}

/// Throws if something is wanted that follows from all pixels of a value together.
void refuse_outlines(const MeasuresJob &job) {
    if (job.wants_outlines())
        throw Error(APSIS_ERROR_UNSUPPORTED,
                    "wanted has %s, which follows from all pixels of a value together: it is not for slabs",
                    job.wants(APSIS_FILLED) ? "APSIS_FILLED"
                    : job.wants(APSIS_HULL) ? "APSIS_HULL"
                                            : "APSIS_FERET");
}

void refuse_dense(const MeasuresJob &job) {
    if (job.is_dense) throw Error(APSIS_ERROR_UNSUPPORTED, "options: APSIS_DENSE is set, but slabs do not take it");
}

/// The rows before a slab that matter.  Without pixels: none.
View check_before(const apsis_context &context, const apsis_image *labels, const apsis_image *before, int64_t start,
                  const MeasuresJob &job) {
    const int64_t needed = std::min(start, rows_at_cut(job));
    if (!before && needed > 0)
        throw Error(APSIS_ERROR_ARGUMENT, "before is NULL, but the slab needs %lld of the rows before it",
                    static_cast<long long>(needed));
    if (!before) return {};
    const View rows = check_image("before", before, Role::SET);
    check_reach(context, "before", before);
    const int cut = job.axes - 1;
    const int64_t own = rows.size[cut];
    apsis_image slab = *labels;
    slab.size[cut] = own;
    check_same_size("labels", &slab, "before", before);
    if (before->type != labels->type)
        throw Error(APSIS_ERROR_ARGUMENT, "before: type is %s, but that of labels is %s", type_name(before->type),
                    type_name(labels->type));
    if (own < needed || own > start)
        throw Error(APSIS_ERROR_ARGUMENT, "before: size[%d] is %lld, but must be from %lld to %lld, since start is %lld", cut,
                    static_cast<long long>(own), static_cast<long long>(needed), static_cast<long long>(start),
                    static_cast<long long>(start));
    return part_of(rows, cut, own - needed, needed);
}

using Shapes = std::map<int64_t, ShapeSums>;

/// Adds what is counted in an image in host memory, or takes it away.
void add_shapes(MeasuresJob job, const View &image, int sign, Arena &arena, Shapes &shapes) {
    job.set = image, job.grey = {};
    job.wanted &= APSIS_PERIMETER | APSIS_SURFACE | APSIS_EULER;
    job.take = [&](int64_t count, const auto &of) {
        for (int64_t i = 0; i < count; ++i) {
            const ValueSums sums = of(i);
            shapes[sums.part.value].add(sums.shape, sign);
        }
    };
    measure_values(job, arena, {});
}

/// What is counted beside the cut before a slab, beyond what is counted of each side alone.
Shapes find_shapes_at_cut(apsis_context &context, const MeasuresJob &job, const View &before, Arena &arena) {
    Shapes shapes;
    if (before.pixels() == 0) return shapes;
    const int cut = job.axes - 1;
    View sides[2] = {before, part_of(job.set, cut, 0, std::min(job.set.size[cut], rows_at_cut(job)))};
    std::unique_ptr<uint8_t[]> copies[2];
    for (int i = 0; i < 2; ++i)
        copies[i] = bring_to_host(context, sides[i], sides[i].type == APSIS_BIT ? APSIS_U8 : sides[i].type);
    View both = sides[0];
    both.size[cut] += sides[1].size[cut];
    std::vector<uint8_t> pixels(static_cast<size_t>(packed_bytes(both)));
    both = packed_like(both, pixels.data(), APSIS_HOST);
    for (int i = 0; i < 2; ++i) {
        copy_pixels(sides[i], part_of(both, cut, i * sides[0].size[cut], sides[i].size[cut]));
        add_shapes(job, sides[i], -1, arena, shapes);
    }
    add_shapes(job, both, 1, arena, shapes);
    return shapes;
}

/// Whether sums can be those of a value of an image of the job's size.  Then nothing overflows.
bool can_be(const MeasuresJob &job, const ValueSums &sums) {
    constexpr __int128 MOST_PIECES = static_cast<__int128>(1) << 118;
    const apsis_part &part = sums.part;
    const __int128 area = part.area;
    bool fits = area >= 1 && area <= job.set.pixels();
    for (int a = 0; a < 3 && fits; ++a)
        fits = part.lower[a] >= 0 && part.upper[a] < job.set.size[a] && part.sum[a] >= part.lower[a] * area &&
               part.sum[a] <= part.upper[a] * area;
    for (int i = 0; i < 6 && fits && job.wants(APSIS_MOMENTS); ++i) {
        const auto [a, b] = MOMENT_AXES[i];
        fits = sums.shape.product[i] >= part.lower[a] * part.lower[b] * area &&
               sums.shape.product[i] <= part.upper[a] * part.upper[b] * area;
    }
    for (int i = 0; i < ExactSum::PARTS && fits && job.wants(APSIS_INTENSITY); ++i)
        fits = sums.intensity.sum.pieces(i) >= -MOST_PIECES && sums.intensity.sum.pieces(i) <= MOST_PIECES;
    return fits;
}

void check_record(const MeasuresJob &job, const apsis_sums *sums, int64_t i) {
    if (sums[i].wanted != int64_t(job.wanted))
        throw Error(APSIS_ERROR_ARGUMENT, "sums[%lld]: wanted is 0x%llx, but must be 0x%x in all of them",
                    static_cast<long long>(i), static_cast<unsigned long long>(sums[i].wanted), unsigned(job.wanted));
    if (!can_be(job, slabs::sums_of(sums[i])))
        throw Error(APSIS_ERROR_ARGUMENT, "sums[%lld] cannot be that of a value of an image of %lld x %lld x %lld pixels",
                    static_cast<long long>(i), static_cast<long long>(job.set.size[0]), static_cast<long long>(job.set.size[1]),
                    static_cast<long long>(job.set.size[2]));
}

}  // namespace

apsis_status apsis_slab_sums(apsis_context *context, const apsis_image *labels, const apsis_image *grey,
                             const apsis_image *before, int64_t start, uint32_t wanted, apsis_sums *sums, int64_t capacity,
                             int64_t *count, const apsis_options *options) {
    return guard("slab_sums", context, [&] {
        MeasuresJob job = check_measures("apsis_slab_sums", *context, labels, grey, wanted, options);
        refuse_outlines(job);
        refuse_dense(job);
        const int axes = job.axes;
        check_place(start, LONGEST_AXIS, job.set.size[axes - 1]);
        check_capacity("sums", sums, capacity);
        int64_t size[3] = {job.set.size[0], job.set.size[1], job.set.size[2]};
        size[axes - 1] += start;
        check_sums("labels: with the rows before it the image", size);
        const View rows = check_before(*context, labels, before, start, job), set = job.set;
        int64_t values = 0;
        if (set.pixels() > 0 && (sums || count)) {
            Arena arena(Arena::threads_for(context->threads));
            Shapes at_cut;
            if (sums) at_cut = find_shapes_at_cut(*context, job, rows, arena);
            job.take = [&](int64_t some, const auto &of) {
                for (int64_t i = 0; i < some; ++i, ++values) {
                    if (values >= capacity) continue;
                    ValueSums found = of(i);
                    if (const auto more = at_cut.find(found.part.value); more != at_cut.end()) found.shape.add(more->second);
                    slabs::place_sums(set, axes, start, found);
                    sums[values] = slabs::record_of(wanted, found);
                }
            };
            run(*context, job, arena);
        }
        if (count) *count = values;
    });
}

int64_t apsis_slab_merge_sums(int64_t count, apsis_sums *sums) { return slabs::merge_sums(count, sums); }

apsis_status apsis_slab_measures(apsis_context *context, int32_t ndim, const int64_t *size, const apsis_sums *sums,
                                 int64_t count, apsis_measure *measures, const apsis_options *options) {
    return guard("slab_measures", context, [&] {
        if (!size) throw Error(APSIS_ERROR_ARGUMENT, "size is NULL, but that of the image is needed");
        apsis_image image = {nullptr, APSIS_U8, ndim, {1, 1, 1}, {}, APSIS_HOST, 0};
        std::copy_n(size, std::clamp(ndim, 0, 3), image.size);
        MeasuresJob job;
        job.set = check_image("the image", &image, Role::SET, false);
        job.axes = ndim;
        check_sums("size", job.set.size);
        if (count < 0)
            throw Error(APSIS_ERROR_ARGUMENT, "count is %lld, but cannot be negative", static_cast<long long>(count));
        check_capacity("sums", sums, count);
        check_capacity("measures", measures, count);
        if (count > 0) take_wanted(static_cast<uint32_t>(sums[0].wanted), job);
        refuse_outlines(job);
        take_options("apsis_slab_measures", options, job);
        refuse_dense(job);
        for (int64_t i = 0; i < count; ++i) check_record(job, sums, i);
        constexpr int64_t PIECE = 512;  // values that a thread takes at a time
        Arena arena(Arena::threads_for(context->threads));
        parallel_for(arena, (count + PIECE - 1) / PIECE, {}, 0, 1, [&](int64_t piece) {
            for (int64_t i = piece * PIECE; i < std::min((piece + 1) * PIECE, count); ++i)
                measures[i] = measure_of(job, slabs::sums_of(sums[i]));
        });
    });
}
