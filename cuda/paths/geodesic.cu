// apsis_geodesic on the device: one field from all seeds of an image or a batch (field.h), and then, if they are wanted, the
// names of the nearest seeds (field.cu).
//
// Lengths have 32 bits where steps are small numbers.  If a path is longer than that, a word on the device is set, and a second
// walk with 64 bits goes on where the first has ended.  It is queued in any case, so that nothing is read back and the host
// does not wait.
//
// Paths that come into a slab begin with the lengths that they have in its first and last row; so do their names.
//
// Cost: that of one field (field.h).  Memory: 8 bytes a pixel, or 4 where no path can be too long for 32 bits; and for names 4,
// or 8 if there are 2^30 pixels.
#include "cuda/paths/field_tasks.cuh"
#include "cuda/paths/plan.h"
#include "cuda/runtime/pixel_writer.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::paths {

namespace {

constexpr int GROUP = 4;  // cells of a thread, side by side

template <class Value>
__device__ const FourCells<Value> &four_cells(const Value *values, int64_t cell) {
    return *reinterpret_cast<const FourCells<Value> *>(values + cell);
}
template <class Value>
__device__ FourCells<Value> &four_cells(Value *values, int64_t cell) {
    return *reinterpret_cast<FourCells<Value> *>(values + cell);
}

/// Fills the field with walls, pixels of the set and seeds.
template <class Length>
__global__ void __launch_bounds__(BLOCK)
    start_image(FieldTasks<Length> tasks, Length *lengths, View set, View seeds, bool complement) {
    using Limits = Lengths<Length>;
    const FieldShape &shape = tasks.shape;
    for (int64_t cell = first_item() * GROUP; cell < shape.cells(); cell += item_step() * GROUP) {
        const FieldShape::Place at = shape.place_of(cell);
        const bool is_there = shape.holds(at);
        const uint8_t *const members = set.row(at.y, at.z), *const sources = seeds.row(at.y, at.z);
        bool is_any = false;
        FourCells<Length> cells;
#pragma unroll
        for (int k = 0; k < GROUP; ++k) {
            const bool is_member = is_there && at.x + k < shape.width && is_set(set, members, at.x + k) != complement;
            const bool is_seed = is_member && is_set(seeds, sources, at.x + k);
            cells.of[k] = is_seed ? 0 : is_member ? Limits::UNSEEN : Limits::WALL;
            is_any |= is_seed;
        }
        four_cells(lengths, cell) = cells;
        begin_at(tasks, cell, is_any);
    }
}

/// A pixel of the first and of the last row of a slab for each thread in turn, in 3-D plane: calls body(i, cell), where i
/// numbers the lengths in an array of such rows.
template <class Body>
__device__ void for_border(const FieldShape &shape, const View &rows, Body body) {
    const int64_t columns = rows.size[0] * rows.size[1];
    for (int64_t i = first_item(); i < 2 * columns; i += item_step()) {
        const int64_t side = i >= columns, column = i - side * columns;
        const int64_t x = column % rows.size[0], y = column / rows.size[0];
        body(i,
             shape.axes == 2 ? shape.cell_of(x, side * (shape.height - 1), 0) : shape.cell_of(x, y, side * (shape.depth - 1)));
    }
}

/// Begins the paths that come into a slab.
template <class Length>
__global__ void __launch_bounds__(BLOCK) enter_lengths(FieldTasks<Length> tasks, Length *lengths, View entering) {
    const int64_t *const rows = reinterpret_cast<const int64_t *>(entering.data);
    for_border(tasks.shape, entering, [&](int64_t i, int64_t cell) {
        if (rows[i] == INT64_MAX) return;
        const Length length = static_cast<Length>(rows[i]);
        if (length >= atomic_min(lengths + cell, length)) return;
        wake(tasks, 0, static_cast<uint32_t>(cell / tasks.shape.tile_cells()), length);
    });
}

/// Names the seeds of these paths, where they are shortest paths.
template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK)
    enter_names(FieldTasks<Name> tasks, Name *names, const Length *lengths, View entering, DeviceCondition condition) {
    if (!condition.holds()) return;
    const int64_t *const rows = reinterpret_cast<const int64_t *>(entering.data);
    const int64_t seeds = 2 * entering.size[0] * entering.size[1];  // where they begin
    for_border(tasks.shape, entering, [&](int64_t i, int64_t cell) {
        if (rows[i] != lengths[cell]) return;
        const Name name = static_cast<Name>(rows[seeds + i]);
        if (name >= atomic_min(names + cell, name)) return;
        wake(tasks, 0, static_cast<uint32_t>(cell / tasks.shape.tile_cells()), name);
    });
}

/// Tells of the first and the last row of a slab.
template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK)
    tell_rows(FieldShape shape, const Length *lengths, const Name *names, View told, DeviceCondition condition) {
    if (!condition.holds()) return;
    int64_t *const rows = reinterpret_cast<int64_t *>(told.data);
    const int64_t seeds = 2 * told.size[0] * told.size[1];
    for_border(shape, told, [&](int64_t i, int64_t cell) {
        const bool is_reached = lengths[cell] >= 0 && lengths[cell] <= Lengths<Length>::LONGEST;
        rows[i] = is_reached ? int64_t(lengths[cell]) : INT64_MAX;
        if (told.size[2] > 2) rows[seeds + i] = is_reached ? int64_t(names[cell]) : -1;
    });
}

constexpr int LAST_WIDENED = 1024;  // cells that one block widens

/// A value of 32 bits as one of 64.
__device__ int64_t widen(int32_t length) {
    using Short = Lengths<int32_t>;
    using Long = Lengths<int64_t>;
    return length == Short::UNSEEN ? Long::UNSEEN : length < 0 ? Long::WALL : length;
}

/// Widens lengths in their own place: the second half of the lengths that are still short, so that no short one is overwritten
/// before it is read.  Lengths close to LONGEST begin the longer paths.
__global__ void __launch_bounds__(BLOCK)
    widen_half(FieldTasks<int64_t> tasks, void *lengths, int64_t from, int64_t to, int32_t most, DeviceCondition condition) {
    if (!condition.holds()) return;
    const int32_t key = Lengths<int32_t>::LONGEST - most + 1;
    for (int64_t cell = from + first_item(); cell < to; cell += item_step()) {
        const int32_t length = static_cast<const int32_t *>(lengths)[cell];
        static_cast<int64_t *>(lengths)[cell] = widen(length);
        begin_at(tasks, cell, length >= key && length <= Lengths<int32_t>::LONGEST, int64_t(key));
    }
}

/// Widens the first cells: all are read before any is written.
__global__ void __launch_bounds__(LAST_WIDENED)
    widen_rest(FieldTasks<int64_t> tasks, void *lengths, int64_t count, int32_t most, DeviceCondition condition) {
    if (!condition.holds()) return;
    const int32_t key = Lengths<int32_t>::LONGEST - most + 1;
    const int32_t length = threadIdx.x < count ? static_cast<const int32_t *>(lengths)[threadIdx.x] : -1;
    __syncthreads();
    if (threadIdx.x >= count) return;
    static_cast<int64_t *>(lengths)[threadIdx.x] = widen(length);
    begin_at(tasks, threadIdx.x, length >= key && length <= Lengths<int32_t>::LONGEST, int64_t(key));
}

/// Names the seeds, and makes walls of cells that no path leads to.
template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK)
    start_names(FieldTasks<Name> tasks, Name *names, const Length *lengths, int64_t first_index, DeviceCondition condition) {
    using Limits = Lengths<Name>;
    if (!condition.holds()) return;
    const FieldShape &shape = tasks.shape;
    for (int64_t cell = first_item() * GROUP; cell < shape.cells(); cell += item_step() * GROUP) {
        const FourCells<Length> length = four_cells(lengths, cell);
        const int64_t index = first_index + shape.index_of(shape.place_of(cell));
        bool is_any = false;
        FourCells<Name> name;
#pragma unroll
        for (int k = 0; k < GROUP; ++k) {
            const bool is_reached = length.of[k] >= 0 && length.of[k] <= Lengths<Length>::LONGEST;
            name.of[k] = length.of[k] == 0 ? static_cast<Name>(index + k) : is_reached ? Limits::UNSEEN : Limits::WALL;
            is_any |= length.of[k] == 0;
        }
        four_cells(names, cell) = name;
        begin_at(tasks, cell, is_any);
    }
}

/// Writes the pixels, of four, that lie in the image.
template <class Pixel, class Value, class PixelOf>
__device__ void write_cells(const View &to, const FieldShape::Place &at, const FourCells<Value> &values, PixelOf pixel_of) {
    uint8_t *const row = to.row(at.y, at.z);
    FourCells<Pixel> cells;
#pragma unroll
    for (int k = 0; k < GROUP; ++k) cells.of[k] = pixel_of(values.of[k]);
    if (to.stride[0] == sizeof(Pixel) && at.x + GROUP <= to.size[0] &&
        reinterpret_cast<uintptr_t>(row + at.x * sizeof(Pixel)) % alignof(FourCells<Pixel>) == 0) {
        *reinterpret_cast<FourCells<Pixel> *>(row + at.x * sizeof(Pixel)) = cells;
    } else {
#pragma unroll
        for (int k = 0; k < GROUP; ++k)
            if (at.x + k < to.size[0]) put(to, row, at.x + k, cells.of[k]);
    }
}

/// Writes the outputs, a thread four pixels.
template <class Name, class Length>
__global__ void __launch_bounds__(BLOCK) write_image(FieldShape shape, const Length *lengths, const Name *names, View distance,
                                                     View nearest, Steps steps, DeviceCondition condition) {
    if (!condition.holds()) return;
    for (int64_t cell = first_item() * GROUP; cell < shape.cells(); cell += item_step() * GROUP) {
        const FieldShape::Place at = shape.place_of(cell);
        if (!shape.holds(at)) continue;
        if (distance)
            with_pixel(distance.type, [&](auto pixel) {
                using Pixel = decltype(pixel);
                write_cells<Pixel>(distance, at, four_cells(lengths, cell), [&](Length length) {
                    const Pixel reached =
                        length <= Lengths<Length>::LONGEST ? length_pixel<Pixel>(steps, length) : no_path<Pixel>();
                    return length < 0 ? static_cast<Pixel>(-1) : reached;
                });
            });
        if (nearest)
            with_index(nearest.type, [&](auto pixel) {
                write_cells<decltype(pixel)>(nearest, at, four_cells(names, cell), [](Name name) {
                    return static_cast<decltype(pixel)>(name >= 0 && name <= Lengths<Name>::LONGEST ? name : -1);
                });
            });
    }
}

/// The scratch memory of a job.  The walks use the same memory for tasks, and long lengths lie where the short ones were.
template <class Name>
struct Scratch {
    GeodesicPlan plan;
    FieldShape shape;
    uint32_t *too_long;
    void *lengths, *tasks;
    Name *names;
    size_t bytes;

    Scratch(const GeodesicJob &job, const GeodesicPlan &plan_, void *memory) : plan(plan_), shape(job.set.size, job.axes) {
        Carver carver(memory), narrow, wide;
        FieldTasks<int32_t>(shape, 1, narrow);
        FieldTasks<int64_t>(shape, 1, wide);
        too_long = carver.take<uint32_t>(1);
        lengths =
            plan.may_be_long ? static_cast<void *>(carver.take<int64_t>(shape.cells())) : carver.take<int32_t>(shape.cells());
        tasks = carver.take<uint8_t>(static_cast<int64_t>(std::max(narrow.used(), wide.used())));
        names = carver.take<Name>(job.wants_seeds() ? shape.cells() : 0);
        bytes = carver.used();
    }

    template <class Value>
    FieldTasks<Value> tasks_of() const {
        Carver carver(tasks);
        return FieldTasks<Value>(shape, 1, carver);
    }
    int64_t blocks() const { return ceil_div(shape.cells(), BLOCK * GROUP); }
    static int64_t border_blocks(const View &rows) { return ceil_div(2 * rows.size[0] * rows.size[1], BLOCK); }
    /// Where both may be needed, work on 64-bit lengths runs only if a path was too long for 32, and other work only if none
    /// was.
    DeviceCondition if_long(bool is_long) const {
        return {plan.may_be_short && plan.may_be_long ? too_long : nullptr, is_long};
    }
};

template <class Length, class Name>
void find_lengths(const GeodesicJob &job, const Scratch<Name> &scratch, cudaStream_t stream) {
    const FieldTasks<Length> tasks = scratch.template tasks_of<Length>();
    Length *const lengths = static_cast<Length *>(scratch.lengths);
    clear_tasks(tasks, {}, stream);
    launch("start_image", start_image<Length>, scratch.blocks(), BLOCK, stream, tasks, lengths, job.set, job.seeds,
           job.complement);
    if (job.entering)
        launch("enter_lengths", enter_lengths<Length>, scratch.border_blocks(job.entering), BLOCK, stream, tasks, lengths,
               job.entering);
    run_fields(tasks, lengths, job.steps, job.periodic, scratch.too_long, {}, stream);
}

template <class Name>
void continue_with_64_bits(const GeodesicJob &job, const Scratch<Name> &scratch, DeviceCondition condition,
                           cudaStream_t stream) {
    const FieldTasks<int64_t> tasks = scratch.template tasks_of<int64_t>();
    const int32_t most = static_cast<int32_t>(job.steps.most);
    clear_tasks(tasks, condition, stream);
    int64_t end = scratch.shape.cells();
    for (int64_t from; end > LAST_WIDENED; end = from) {
        from = ceil_div(end, 2 * WARP) * WARP;  // the cells of a warp are in one tile
        launch("widen_half", widen_half, ceil_div(end - from, BLOCK), BLOCK, stream, tasks, scratch.lengths, from, end, most,
               condition);
    }
    launch("widen_rest", widen_rest, 1, LAST_WIDENED, stream, tasks, scratch.lengths, end, most, condition);
    run_fields(tasks, static_cast<int64_t *>(scratch.lengths), job.steps, job.periodic, scratch.too_long, condition, stream);
}

template <class Length, class Name>
void find_names(const GeodesicJob &job, const Scratch<Name> &scratch, DeviceCondition condition, cudaStream_t stream) {
    const FieldTasks<Name> tasks = scratch.template tasks_of<Name>();
    const Length *const lengths = static_cast<const Length *>(scratch.lengths);
    clear_tasks(tasks, condition, stream);
    launch("start_names", start_names<Name, Length>, scratch.blocks(), BLOCK, stream, tasks, scratch.names, lengths,
           job.first_index, condition);
    if (job.entering)
        launch("enter_names", enter_names<Name, Length>, scratch.border_blocks(job.entering), BLOCK, stream, tasks,
               scratch.names, lengths, job.entering, condition);
    run_names(tasks, scratch.names, lengths, job.steps, job.periodic, condition, stream);
}

template <class Length, class Name>
void write_all(const GeodesicJob &job, const Scratch<Name> &scratch, DeviceCondition condition, cudaStream_t stream) {
    const Length *const lengths = static_cast<const Length *>(scratch.lengths);
    if (job.told)
        launch("tell_rows", tell_rows<Name, Length>, scratch.border_blocks(job.told), BLOCK, stream, scratch.shape, lengths,
               scratch.names, job.told, condition);
    if (!job.distance && !job.nearest) return;
    launch("write_image", write_image<Name, Length>, scratch.blocks(), BLOCK, stream, scratch.shape, lengths, scratch.names,
           job.distance, job.nearest, job.steps, condition);
}

template <class Name>
void run(const GeodesicJob &job, const GeodesicPlan &plan, void *memory, cudaStream_t stream, const Progress &progress) {
    const Scratch<Name> scratch(job, plan, memory);
    check(cudaMemsetAsync(scratch.too_long, 0, sizeof *scratch.too_long, stream), "clearing a word");
    report(progress, 0.1, stream);
    const auto each = [&](auto with_short, auto with_long) {
        if (plan.may_be_short) with_short(scratch.if_long(false));
        if (plan.may_be_long) with_long(scratch.if_long(true));
    };
    if (plan.may_be_short) find_lengths<int32_t>(job, scratch, stream);
    if (plan.may_be_short && plan.may_be_long)
        continue_with_64_bits(job, scratch, scratch.if_long(true), stream);
    else if (plan.may_be_long)
        find_lengths<int64_t>(job, scratch, stream);
    report(progress, job.wants_seeds() ? 0.5 : 0.9, stream);
    if (job.wants_seeds())
        each([&](DeviceCondition condition) { find_names<int32_t>(job, scratch, condition, stream); },
             [&](DeviceCondition condition) { find_names<int64_t>(job, scratch, condition, stream); });
    report(progress, 0.95, stream);
    each([&](DeviceCondition condition) { write_all<int32_t>(job, scratch, condition, stream); },
         [&](DeviceCondition condition) { write_all<int64_t>(job, scratch, condition, stream); });
    report(progress, 1, stream);
}

/// Calls body(name) with a type that holds the indices of all pixels.
template <class Body>
auto with_name(const GeodesicPlan &plan, Body body) {
    return plan.has_long_names ? body(int64_t()) : body(int32_t());
}

}  // namespace

size_t geodesic_scratch(const GeodesicJob &job) {
    const GeodesicPlan plan = plan_of(job);
    return with_name(plan, [&](auto name) { return Scratch<decltype(name)>(job, plan, nullptr).bytes; });
}

void geodesic(const GeodesicJob &job, void *scratch, cudaStream_t stream, const Progress &progress) {
    const GeodesicPlan plan = plan_of(job);
    with_name(plan, [&](auto name) { run<decltype(name)>(job, plan, scratch, stream, progress); });
}

}  // namespace apsis::cuda::paths
