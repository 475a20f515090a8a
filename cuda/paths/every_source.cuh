// A distance field from every pixel by relaxation, as in "The Eccentricity Transform on CUDA" (A. Varchola): a mask, a cost and
// an updating cost a pixel, and two kernels in turn until no cost changes.  Chosen by APSIS_EVERY_SOURCE.
//
//     k1   every pixel of the mask leaves it, and lowers the updating costs of its neighbours
//     k2   every pixel whose updating cost is below its cost takes it, and joins the mask
//
// Small images would leave most of a device idle; so some fields are made at once, and a field has a source of each component,
// as no step leads from one to another.  The host checks only now and then whether a cost has changed.  The article proposes to
// make fields only from the local maxima of a field; that is not exact, not even for a square, and is not done.
//
// Cost: as many fields as the largest component has pixels.
#pragma once

#include "core/label_values.h"
#include "cuda/paths/field_tasks.cuh"
#include "cuda/paths/plan.h"
#include "cuda/paths/ranks.h"
#include "cuda/runtime/progress.h"

namespace apsis::cuda::paths {

/// The numbers that the host reads.
struct Changes {
    uint32_t changed, too_long;
};

/// Fields side by side: pixel p of field f is at f * pixels + p.
template <class Length>
struct Relaxation {
    static constexpr Length UNSEEN = Lengths<Length>::NONE, FULL = Lengths<Length>::LONGEST;

    Ranks ranks;
    LabelValues values;
    bool by_value;  // whether steps go to equal values only
    Moves moves;
    int64_t fields, items;  // items: pixels of all fields
    Length *cost, *updating;
    uint8_t *mask;
    Changes *changes;

    Relaxation(const EccentricityJob &job, const Ranks &of_set, Carver &carver)
        : ranks(of_set),
          values(job.set),
          by_value(job.by_value),
          moves(job),
          fields(std::clamp<int64_t>(PIXELS_AT_ONCE / job.set.pixels(), 1, MOST_FIELDS)),
          items(fields * job.set.pixels()) {
        cost = carver.take<Length>(items);
        updating = carver.take<Length>(items);
        mask = carver.take<uint8_t>(items);
        changes = carver.take<Changes>(1);
    }

    __device__ bool is_open(uint32_t from, uint32_t to) const {
        return ranks.rank[to] != NO_PIXEL && !(by_value && values.at(from) != values.at(to));
    }
};

template <class Length>
__global__ void __launch_bounds__(BLOCK) clear_fields(Relaxation<Length> relaxation) {
    const int64_t i = first_item();
    if (i >= relaxation.items) return;
    relaxation.cost[i] = relaxation.updating[i] = relaxation.UNSEEN;
    relaxation.mask[i] = 0;
}

/// Sets the sources of all fields: field f of a batch has the (first + f)-th pixel of each component.
template <class Length>
__global__ void __launch_bounds__(BLOCK) plant_sources(Relaxation<Length> relaxation, uint32_t components, uint32_t first) {
    const int64_t i = first_item();
    if (i >= components * relaxation.fields) return;
    const uint32_t component = static_cast<uint32_t>(i / relaxation.fields), *const start = relaxation.ranks.start + component;
    const int64_t field = i % relaxation.fields, rank = start[0] + first + field;
    if (rank >= start[1]) return;
    const int64_t at = field * relaxation.ranks.raster.pixels() + relaxation.ranks.pixel[rank];
    relaxation.cost[at] = relaxation.updating[at] = 0;
    relaxation.mask[at] = 1;
}

template <class Length>
__global__ void __launch_bounds__(BLOCK) k1(Relaxation<Length> relaxation) {
    const int64_t i = first_item(), pixels = relaxation.ranks.raster.pixels();
    if (i >= relaxation.items || !relaxation.mask[i]) return;
    relaxation.mask[i] = 0;
    const int64_t field = i / pixels;
    const uint32_t from = static_cast<uint32_t>(i - field * pixels);
    const Raster::Place at = relaxation.ranks.raster.place(from);
    for (int k = 0; k < relaxation.moves.count; ++k) {
        const uint32_t to = relaxation.moves.target(relaxation.ranks.raster, at, k);
        if (to == NO_PIXEL || !relaxation.is_open(from, to)) continue;
        const Length sum = relaxation.cost[i] + static_cast<Length>(relaxation.moves.weight[k]);
        if (sum > relaxation.FULL)
            relaxation.changes->too_long = 1;
        else
            atomic_min(relaxation.updating + field * pixels + to, sum);
    }
}

template <class Length>
__global__ void __launch_bounds__(BLOCK) k2(Relaxation<Length> relaxation) {
    const int64_t i = first_item();
    if (i >= relaxation.items || relaxation.updating[i] >= relaxation.cost[i]) return;
    relaxation.cost[i] = relaxation.updating[i];
    relaxation.mask[i] = 1;
    relaxation.changes->changed = 1;
}

/// The largest cost of each component in each field, and the lowest pixel that has it.  A warp has one component of one field.
template <class Length>
__global__ void __launch_bounds__(BLOCK)
    find_farthest(Relaxation<Length> relaxation, uint32_t components, uint32_t first, Length *longest, uint32_t *farthest) {
    const int64_t i = first_item() / WARP;
    if (i >= components * relaxation.fields) return;
    const uint32_t *const start = relaxation.ranks.start + i / relaxation.fields;
    const int64_t field = i % relaxation.fields, source = start[0] + first + field;
    if (source >= start[1]) return;
    Largest<Length> best;
    for (uint32_t rank = start[0] + threadIdx.x % WARP; rank < start[1]; rank += WARP) {
        const uint32_t own = relaxation.ranks.pixel[rank];
        best.raise({relaxation.cost[field * relaxation.ranks.raster.pixels() + own], own});
    }
    best = best.of_warp();
    if (threadIdx.x % WARP == 0) longest[source] = best.value, farthest[source] = best.pixel;
}

template <class Length>
void relax(const Relaxation<Length> &relaxation, cudaStream_t stream) {
    const int64_t blocks = ceil_div(relaxation.items, BLOCK);
    for (Changes changes = {1, 0}; changes.changed;) {
        check(cudaMemsetAsync(relaxation.changes, 0, sizeof changes, stream), "beginning to relax");
        for (int turn = 0; turn < ITERATIONS; ++turn) {
            launch("k1", k1<Length>, blocks, BLOCK, stream, relaxation);
            launch("k2", k2<Length>, blocks, BLOCK, stream, relaxation);
        }
        check(cudaMemcpyAsync(&changes, relaxation.changes, sizeof changes, cudaMemcpyDeviceToHost, stream), "reading changes");
        check(cudaStreamSynchronize(stream), "relaxing");
        if (changes.too_long) throw TooLong();
    }
}

template <class Length>
size_t every_source_bytes(const EccentricityJob &job) {
    Carver carver;
    Relaxation<Length>(job, {raster_of(job.set)}, carver);
    return carver.used();
}

/// Solves all components; the largest has so many pixels, and so many fields are made.  Throws TooLong.
template <class Length>
void solve_every_source(const EccentricityJob &job, const Ranks &ranks, uint32_t components, uint32_t largest,
                        const LowerBounds<Length> &found, void *memory, cudaStream_t stream, const Progress &progress) {
    Carver carver(memory);
    const Relaxation<Length> relaxation(job, ranks, carver);
    const uint32_t fields = static_cast<uint32_t>(relaxation.fields);
    const int64_t sources = components * relaxation.fields;
    for (uint32_t first = 0; first < largest; first += fields) {
        launch("clear_fields", clear_fields<Length>, ceil_div(relaxation.items, BLOCK), BLOCK, stream, relaxation);
        launch("plant_sources", plant_sources<Length>, ceil_div(sources, BLOCK), BLOCK, stream, relaxation, components, first);
        relax(relaxation, stream);
        launch("find_farthest", find_farthest<Length>, ceil_div(sources, WARPS), BLOCK, stream, relaxation, components, first,
               found.lower, found.farthest);
        report(progress, static_cast<double>(std::min(first + fields, largest)) / largest, stream);
    }
}

}  // namespace apsis::cuda::paths
