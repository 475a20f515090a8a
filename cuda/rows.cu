// Euclidean distance maps in the plane: columns of bits with carries, then every row by the way that suits it.
//
// Cost: 1 byte a pixel in (1/8 from bits) and the outputs out; in between 1/2 byte a pixel of words, carries and marks,
// most of it in the second cache.
#include "rows.h"

#include "columns.h"
#include "launch.h"
#include "transforms.h"

namespace apsis {

namespace {

struct Scratch {
    Columns columns;
    uint8_t *marks, *solid = nullptr;
    uint16_t *contenders = nullptr;
    uint32_t *insides = nullptr, *sights = nullptr, *counts = nullptr;

    Scratch(const DistanceJob &job, Carver &carver) : columns(shape_columns(job.set, 1)) {
        carve_words(columns, carver);
        carve_carries(columns, carver);
        columns.far_groups = carver.take<uint32_t>(columns.batch * columns.strips());
        const Rows shape = {columns, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, Output(job, false)};
        marks = carver.take<uint8_t>(shape.count_marks());
        if (!shape.is_listed()) return;
        solid = carver.take<uint8_t>(columns.batch * columns.strips() * shape.solid_bytes());
        contenders = carver.take<uint16_t>(columns.total());
        insides = carver.take<uint32_t>(columns.total());
        sights = carver.take<uint32_t>(columns.total());
        counts = carver.take<uint32_t>(columns.batch * columns.strips());
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

void distance_by_rows(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    Carver carver(memory);
    const Scratch scratch(job, carver);
    const uint32_t least_far = least_far_groups(scratch.columns, job.measure);
    const int sides = job.is_signed ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        const bool inside = side == 1;
        const Rows rows = {scratch.columns, scratch.marks, scratch.contenders, scratch.insides,    scratch.sights,
                           scratch.counts,  scratch.solid, least_far,          Output(job, inside)};
        const auto tell = [&](double done) { report(progress, (side + done) / sides, stream); };
        if (inside)
            flip_columns(rows.columns, stream);
        else
            pack_columns(job.set, 1, job.complement, rows.columns, stream);
        carry_columns(rows.columns, stream);
        tell(0.3);
        search_outward(rows, stream);
        tell(0.6);
        if (rows.is_listed()) list_contenders(rows, stream);
        search_envelope(rows, stream);
        tell(1);
    }
}

}  // namespace apsis
