// Euclidean distance maps in the plane: columns of bits with carries, then every row by the way that suits it.
//
// Sets and outputs may pass in parts: strips are packed one range after another, and once all are packed and carried,
// rows are written one range after another.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the outputs out; in between 1/2 byte a pixel of words, carries and marks,
// most of it in the second cache.
#include "rows.h"

#include "columns.h"
#include "launch.h"
#include "transforms.h"

namespace apsis {

namespace {

int count_sides(const DistanceJob &job) { return job.is_signed ? 2 : 1; }

struct Scratch {
    Columns sides[2];  // of the set and, for a signed map, of its complement
    uint8_t *marks, *solid = nullptr;
    uint16_t *contenders = nullptr;
    uint32_t *insides = nullptr, *sights = nullptr, *counts = nullptr;

    Scratch(const DistanceJob &job, Carver &carver) {
        for (int side = 0; side < count_sides(job); ++side) {
            Columns &columns = sides[side] = shape_columns(job.set, 1);
            carve_words(columns, carver);
            carve_carries(columns, carver);
            columns.far_groups = carver.take<uint32_t>(columns.all().count);
        }
        const Rows shape = {sides[0], {}, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, Output(job, false)};
        const Columns &columns = shape.columns;
        marks = carver.take<uint8_t>(shape.count_marks());
        if (!shape.is_listed()) return;
        solid = carver.take<uint8_t>(columns.all().count * shape.solid_bytes());
        contenders = carver.take<uint16_t>(columns.total());
        insides = carver.take<uint32_t>(columns.total());
        sights = carver.take<uint32_t>(columns.total());
        counts = carver.take<uint32_t>(columns.all().count);
    }
};

}  // namespace

uint32_t least_far_groups(const Columns &columns, const Measure &measure) {
    if (measure.limit < NEAR * NEAR) return UINT32_MAX;  // the search settles what is far, too
    return static_cast<uint32_t>(parts(parts(columns.count, GROUP), FAR_SHARE));
}

size_t rows_scratch(const DistanceJob &job) {
    Carver carver;
    Scratch(job, carver);
    return carver.used();
}

void take_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    const Scratch scratch(job, carver);
    pack_strips_of(job.set, range, job.complement, scratch.sides[0], stream);
    if (range.end() != scratch.sides[0].all().end()) return;
    for (int side = 0; side < count_sides(job); ++side) {
        if (side == 1) flip_columns(scratch.sides[0], scratch.sides[1], stream);
        carry_columns(scratch.sides[side], stream);
    }
}

void give_rows(const DistanceJob &job, const StripRange &range, void *memory, cudaStream_t stream) {
    Carver carver(memory);
    const Scratch scratch(job, carver);
    for (int side = 0; side < count_sides(job); ++side) {
        const Columns &columns = scratch.sides[side];
        const Rows rows = {columns, range, scratch.marks, scratch.contenders, scratch.insides, scratch.sights, scratch.counts,
                           scratch.solid, least_far_groups(columns, job.measure), Output(job, side == 1)};
        search_outward(rows, stream);
        if (rows.is_listed()) list_contenders(rows, stream);
        search_envelope(rows, stream);
    }
}

void distance_by_rows(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const StripRange all = shape_columns(job.set, 1).all();
    take_rows(job, all, memory, stream);
    report(progress, 0.3, stream);
    give_rows(job, all, memory, stream);
    report(progress, 1, stream);
}

}  // namespace apsis
