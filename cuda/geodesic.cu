// apsis_geodesic on the device: one field from all seeds of an image, or of a batch (field.h), and then, if they are wanted,
// the names of the seeds along its shortest paths.
//
// Lengths have 32 bits where steps are small numbers.  Paths may be longer than that: then a word on the device is set, and
// a second walk, with 64 bits, which is queued in any case, does what it otherwise passes over.  So nobody reads anything
// back, and the host waits for nothing.
//
// Memory: 8 bytes a pixel, 4 where no path can be too long for 32 bits; and 4 for names, or 8 if there are 2^30 pixels.
#include "field_tasks.cuh"
#include "transforms.h"

namespace apsis {

namespace {

__device__ int64_t first_item() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ int64_t item_step() { return int64_t(gridDim.x) * blockDim.x; }

/// Walls, pixels of the set and seeds.
template <class Length>
__global__ void __launch_bounds__(BLOCK) start_image(FieldTasks<Length> tasks, Length *lengths, View set, View seeds,
                                                     bool complement, OnlyIf condition) {
    using Limits = Lengths<Length>;
    if (!condition.holds()) return;
    const FieldShape &shape = tasks.shape;
    for (int64_t cell = first_item(); cell < shape.cells(); cell += item_step()) {
        const FieldShape::Place at = shape.place_of(cell);
        const bool is_member = shape.holds(at) && is_set(set, set.row(at.y, at.z), at.x) != complement;
        const bool is_seed = is_member && is_set(seeds, seeds.row(at.y, at.z), at.x);
        lengths[cell] = is_seed ? 0 : is_member ? Limits::UNSEEN : Limits::WALL;
        begin_at(tasks, cell, is_seed);
    }
}

/// The seeds' names, and who is to have one.
template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK) start_names(FieldTasks<Name> tasks, Name *names, const Length *lengths,
                                                     OnlyIf condition) {
    using Limits = Lengths<Name>;
    if (!condition.holds()) return;
    const FieldShape &shape = tasks.shape;
    for (int64_t cell = first_item(); cell < shape.cells(); cell += item_step()) {
        const Length length = lengths[cell];
        const bool is_reached = length >= 0 && length <= Lengths<Length>::LONGEST;
        names[cell] = length == 0  ? static_cast<Name>(shape.index_of(shape.place_of(cell)))
                      : is_reached ? Limits::UNSEEN
                                   : Limits::WALL;
        begin_at(tasks, cell, length == 0);
    }
}

template <class Length>
__device__ void write_length(const View &to, const Steps &steps, const FieldShape::Place &at, Length length) {
    uint8_t *const row = to.row(at.y, at.z);
    const auto write = [&](auto pixel) {
        using Pixel = decltype(pixel);
        const Pixel reached = length <= Lengths<Length>::LONGEST ? length_pixel<Pixel>(steps, length) : no_path<Pixel>();
        put(to, row, at.x, length < 0 ? static_cast<Pixel>(-1) : reached);
    };
    switch (to.type) {
        case APSIS_I32: return write(int32_t());
        case APSIS_I64: return write(int64_t());
        case APSIS_F32: return write(float());
        default: return write(double());
    }
}

template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK) write_image(FieldShape shape, const Length *lengths, const Name *names, View distance,
                                                     View nearest, Steps steps, OnlyIf condition) {
    if (!condition.holds()) return;
    for (int64_t cell = first_item(); cell < shape.cells(); cell += item_step()) {
        const FieldShape::Place at = shape.place_of(cell);
        if (!shape.holds(at)) continue;
        if (distance) write_length(distance, steps, at, lengths[cell]);
        if (!nearest) continue;
        const Name name = names[cell] >= 0 && names[cell] <= Lengths<Name>::LONGEST ? names[cell] : -1;
        if (nearest.type == APSIS_I32)
            put(nearest, nearest.row(at.y, at.z), at.x, static_cast<int32_t>(name));
        else
            put(nearest, nearest.row(at.y, at.z), at.x, static_cast<int64_t>(name));
    }
}

/// The scratch memory of a job.  One walk's tasks take the place of another's, and long lengths that of short ones.
template <class Name>
struct Scratch {
    FieldShape shape;
    bool may_be_short, may_be_long;  // lengths of 32 bits, and of 64
    uint32_t *too_long;
    void *lengths, *tasks;
    Name *names;
    size_t bytes;

    Scratch(const GeodesicJob &job, void *memory) : shape(job.set.size, job.axes) {
        using Short = Lengths<int32_t>;
        const auto longest = static_cast<double>(job.steps.most) * static_cast<double>(job.set.pixels());
        may_be_short = job.steps.most <= Short::MOST_STEP;
        may_be_long = !may_be_short || (job.steps.limit > Short::LONGEST && longest > static_cast<double>(Short::LONGEST));
        Carver carver(memory), narrow, wide;
        FieldTasks<int32_t>(shape, 1, narrow);
        FieldTasks<int64_t>(shape, 1, wide);
        too_long = carver.take<uint32_t>(1);
        lengths = may_be_long ? static_cast<void *>(carver.take<int64_t>(shape.cells())) : carver.take<int32_t>(shape.cells());
        tasks = carver.take<uint8_t>(static_cast<int64_t>(std::max(narrow.used(), wide.used())));
        names = carver.take<Name>(job.nearest ? shape.cells() : 0);
        bytes = carver.used();
    }

    template <class Value>
    FieldTasks<Value> tasks_of() const {
        Carver carver(tasks);
        return FieldTasks<Value>(shape, 1, carver);
    }
    int64_t blocks() const { return parts(shape.cells(), BLOCK); }
    /// Lengths of 32 bits are those that count unless there are none, or one was too long.
    OnlyIf if_long(bool is_long) const { return {may_be_short && may_be_long ? too_long : nullptr, is_long}; }
};

template <class Length, class Name>
void find_lengths(const GeodesicJob &job, const Scratch<Name> &scratch, OnlyIf condition, cudaStream_t stream) {
    const FieldTasks<Length> tasks = scratch.template tasks_of<Length>();
    Length *const lengths = static_cast<Length *>(scratch.lengths);
    clear_tasks(tasks, condition, stream);
    launch("start_image", start_image<Length>, scratch.blocks(), BLOCK, stream, tasks, lengths, job.set, job.seeds,
           job.complement, condition);
    run_fields(tasks, lengths, job.steps, scratch.too_long, condition, stream);
}

template <class Length, class Name>
void find_names(const GeodesicJob &job, const Scratch<Name> &scratch, OnlyIf condition, cudaStream_t stream) {
    const FieldTasks<Name> tasks = scratch.template tasks_of<Name>();
    const Length *const lengths = static_cast<const Length *>(scratch.lengths);
    clear_tasks(tasks, condition, stream);
    launch("start_names", start_names<Name, Length>, scratch.blocks(), BLOCK, stream, tasks, scratch.names, lengths, condition);
    run_names(tasks, scratch.names, lengths, job.steps, condition, stream);
}

template <class Length, class Name>
void write_all(const GeodesicJob &job, const Scratch<Name> &scratch, OnlyIf condition, cudaStream_t stream) {
    launch("write_image", write_image<Name, Length>, scratch.blocks(), BLOCK, stream, scratch.shape,
           static_cast<const Length *>(scratch.lengths), scratch.names, job.distance, job.nearest, job.steps, condition);
}

template <class Name>
void run(const GeodesicJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    const Scratch<Name> scratch(job, memory);
    check(cudaMemsetAsync(scratch.too_long, 0, sizeof *scratch.too_long, stream), "clearing a word");
    report(progress, 0.1, stream);
    const auto each = [&](auto with_short, auto with_long) {
        if (scratch.may_be_short) with_short(scratch.if_long(false));
        if (scratch.may_be_long) with_long(scratch.if_long(true));
    };
    if (scratch.may_be_short) find_lengths<int32_t>(job, scratch, {}, stream);
    if (scratch.may_be_long) find_lengths<int64_t>(job, scratch, scratch.if_long(true), stream);
    report(progress, job.nearest ? 0.5 : 0.9, stream);
    if (job.nearest)
        each([&](OnlyIf condition) { find_names<int32_t>(job, scratch, condition, stream); },
             [&](OnlyIf condition) { find_names<int64_t>(job, scratch, condition, stream); });
    report(progress, 0.95, stream);
    each([&](OnlyIf condition) { write_all<int32_t>(job, scratch, condition, stream); },
         [&](OnlyIf condition) { write_all<int64_t>(job, scratch, condition, stream); });
    report(progress, 1, stream);
}

/// Calls body(name) with a type that holds the indices of all pixels.
template <class Body>
auto with_name(const GeodesicJob &job, Body body) {
    return job.set.pixels() <= Lengths<int32_t>::LONGEST ? body(int32_t()) : body(int64_t());
}

}  // namespace

size_t geodesic_scratch(const GeodesicJob &job) {
    return with_name(job, [&](auto name) { return Scratch<decltype(name)>(job, nullptr).bytes; });
}

void geodesic(const GeodesicJob &job, void *scratch, cudaStream_t stream, const Progress &progress) {
    with_name(job, [&](auto name) { run<decltype(name)>(job, scratch, stream, progress); });
}

}  // namespace apsis
