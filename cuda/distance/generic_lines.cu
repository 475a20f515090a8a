// Euclidean and city-block distance: columns of bits, then a monotone search along lines (lines.cuh).  The back end takes it
// for every such job that the plans of cuda/distance/plane and cuda/distance/volume do not serve.
#include "cuda/distance/lines.cuh"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::distance {

namespace {

template <class K>
struct Scratch {
    Columns columns;
    int32_t *winners = nullptr;
    StoredLines<K> stored = {};

    Scratch(const DistanceJob &job, Carver &carver) : columns(shape_columns(job.set, job.axes - 1)) {
        carve_words(columns, carver);
        carve_carries(columns, job, carver);
        winners = carver.take<int32_t>(most_winners(job));
        if (job.axes == 3) stored = carve_stored<K>(job, carver);
    }
};

/// Computes one map.  Its progress goes from `begin` to `end`.
template <class K>
void run_once(const DistanceJob &job, bool inside, Scratch<K> &scratch, cudaStream_t stream, const Progress &progress,
              double begin, double end) {
    const auto tell = [&](double done) { report(progress, begin + (end - begin) * done, stream); };
    const Output output(job, inside);
    const bool deep = job.axes == 3;

    pack_columns(job.set, job.axes - 1, job.complement != inside, scratch.columns, stream);
    carry_columns(scratch.columns, job, inside, stream);
    tell(deep ? 0.1 : 0.2);

    const ColumnLines<K> lines = {scratch.columns, ruler_of<K>(job, job.axes - 1), deep, job.set.size[deep ? 1 : 0]};
    if (!deep) {
        finish<K>(lines, job, scratch.winners, true, output, stream);
    } else {
        search_planes<K>(lines, job, scratch.winners, scratch.stored, stream);
        tell(0.5);
        finish<K>(scratch.stored, job, scratch.winners, false, output, stream);
    }
    tell(1);
}

}  // namespace

size_t lines_scratch(const DistanceJob &job) {
    return with_kind(job, [&](auto kind) {
        Carver carver;
        Scratch<decltype(kind)>(job, carver);
        return carver.used();
    });
}

void distance_by_lines(const DistanceJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.set.pixels() == 0) return;
    with_kind(job, [&](auto kind) {
        Carver carver(memory);
        Scratch<decltype(kind)> scratch(job, carver);
        run_once(job, false, scratch, stream, progress, 0, job.is_signed ? 0.5 : 1);
        if (job.is_signed) run_once(job, true, scratch, stream, progress, 0.5, 1);
    });
}

}  // namespace apsis::cuda::distance
