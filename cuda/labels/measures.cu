// Measures of a label image, but for outlines: sums of coordinates and of their squares and products, boxes, faces, Euler
// numbers, perimeters and intensities of each value but 0.
//
// A warp goes along a row of squares of 32 x 32 pixels, down in a plane and from plane to plane in a volume.  It finds value
// after value of a square (squares.cuh), and adds it to the records that it keeps (records.cuh).  In the end records are sorted
// by value, and the host reads them in batches.  If there is not room for all values, the caller tries again with more.
//
// Cost: one read of the image, and of the intensities; what a square takes for each of its values, and the records of those
// that a warp meets in turn, in global memory.
#include "cuda/labels/squares.cuh"
#include "cuda/runtime/scan_and_sort.h"
#include "cuda/transforms.h"
#include "runtime/measures_job.h"

namespace apsis::cuda::labels {

namespace {

/// What a launch is to find.
struct Question {
    View image, grey;
    int connectivity;
    bool wants_moments, has_carries;
    int64_t across, down, warps;  // see MeasuresPlan
    int length, step;
};

/// Warp: the intensities of a value's pixels.
__device__ Number add_intensities(const View &grey, int64_t x, int64_t y, int64_t z, uint32_t column, uint32_t rows,
                                  OwnField &own) {
    if (grey.type == APSIS_F32) return add_real(grey, x, y, z, column, rows, own);
    if (grey.type == APSIS_U8)
        add_bright<uint8_t>(grey, x, y, z, column, rows, own);
    else
        add_bright<uint16_t>(grey, x, y, z, column, rows, own);
    return 0;
}

/// Adds the squares of an image to records.  MARGIN is how many pixels before those that count are looked at: 0; 1 for windows;
/// and 2, also behind them, for the perimeter.
template <class Pixel, int AXES, int MARGIN>
__global__ void __launch_bounds__(BLOCK, sizeof(Pixel) == 8 ? 1 : 2) sum_squares(Question q, Records records) {
    constexpr int PLANES = AXES == 3 && MARGIN ? 2 : 1;  // that windows have pixels of
    __shared__ Recent::Memory memory[WARPS];
    const int lane = threadIdx.x % WARP;
    const View &image = q.image;
    const uint32_t counting = (q.step == WARP ? ~0u : (1u << q.step) - 1) << MARGIN;
    const uint32_t counts = counting >> lane & 1 ? counting : 0;
    for (int64_t i = first_item() / WARP; i < q.warps; i += item_step() / WARP) {
        if (__any_sync(ALL_LANES, records.has_lost())) return;
        const int64_t row = i / q.across, column_of_squares = i % q.across, length = q.length;
        Origin origin = {{column_of_squares * q.step - MARGIN, -MARGIN, 0}, image.size[0], image.size[1], AXES == 3};
        if (AXES == 3)
            origin.at[1] += row % q.down * q.step, origin.at[2] = row / q.down * length;
        else
            origin.at[1] += row * length * q.step;
        Recent recent(memory[threadIdx.x / WARP], records, origin, q.wants_moments, q.has_carries);
        const int64_t x = origin.at[0] + lane;
        Pixel pixel[PLANES][WARP];
        if (PLANES == 2) load_square(image, x, origin.at[1], origin.at[2] - 1, pixel[PLANES - 1]);
        for (int n = 0; n < length; ++n) {
            const uint32_t dy = AXES == 3 ? 0 : n * q.step, dz = AXES == 3 ? n : 0;
            const int64_t y = origin.at[1] + dy, z = origin.at[2] + dz;
            load_square(image, x, y, z, pixel[0]);
            uint32_t rest[PLANES];  // pixels whose values are to come
            for (int plane = 0; plane < PLANES; ++plane) rest[plane] = ~column_of(pixel[plane], Pixel(0));
            while (true) {
                const uint32_t own_rest = rest[0] ? rest[0] : rest[PLANES - 1];
                const unsigned lanes = __ballot_sync(ALL_LANES, own_rest != 0);
                if (!lanes) break;
                Pixel value = 0;
                if (lane == __ffs(lanes) - 1)
                    value = pixel_at<Pixel>(image, image.row(y + __ffs(own_rest) - 1, rest[0] ? z : z - 1), x);
                value = __shfl_sync(ALL_LANES, value, __ffs(lanes) - 1);
                uint32_t column[PLANES];
                for (int plane = 0; plane < PLANES; ++plane)
                    column[plane] = column_of(pixel[plane], value), rest[plane] &= ~column[plane];
                OwnField own;
                Number real = 0;
                const uint32_t counted = column[0] & counts, rows = any_of_warp(counted);
                if (rows) {
                    add_pixels(counted, rows, dy, dz, origin, q.wants_moments, own);
                    if (q.grey) real = add_intensities(q.grey, x, y, z, counted, rows, own);
                }
                if (MARGIN) add_windows<AXES>(column[0], column[PLANES - 1], counts, q.connectivity, own);
                if (MARGIN == 2) add_perimeter(column[0], counts, own);
                if (__any_sync(ALL_LANES, own.number != 0))
                    recent.add(static_cast<uint64_t>(static_cast<int64_t>(value)), own.number, real);
            }
            if (PLANES == 2)
                for (int row = 0; row < WARP; ++row) pixel[PLANES - 1][row] = pixel[0][row];
        }
        recent.finish();
    }
}

/// Lists the records that are there, in any order.
template <class Pixel>
__global__ void __launch_bounds__(BLOCK) list_records(Records records, Items items) {
    const int64_t i = first_item();
    const uint64_t key = i < records.count ? records.key[i] : 0;
    emit(items, key != 0, biased(static_cast<Pixel>(key)), static_cast<uint64_t>(i));
}

/// Copies records, a warp each, to where they are to be.
static __global__ void __launch_bounds__(BLOCK)
    gather_records(Records records, const uint64_t *record, int64_t count, Number *to) {
    const int64_t i = first_item() / WARP, lane = threadIdx.x % WARP;
    if (i >= count) return;
    for (int64_t k = lane; k < records.width; k += WARP)
        to[i * records.width + k] = records.at(static_cast<int64_t>(record[i]))[k];
}

/// Scratch memory.
struct MeasuresScratch {
    Records records;
    uint64_t *key[2], *record[2];  // to be sorted
    Number *batch;                 // and the next one
    uint32_t *number;
    uint8_t *cub;
    size_t cub_bytes;

    MeasuresScratch(const MeasuresPlan &plan, Carver &carver) {
        records.count = plan.records, records.width = plan.width, records.is_direct = plan.is_direct;
        records.number = carver.take<Number>(plan.records * plan.width);
        records.key = carver.take<uint64_t>(plan.records);
        records.lost = carver.take<uint32_t>(1), number = carver.take<uint32_t>(1);
        for (uint64_t *&each : key) each = carver.take<uint64_t>(plan.records);
        for (uint64_t *&each : record) each = carver.take<uint64_t>(plan.records);
        batch = carver.take<Number>(2 * plan.batch * plan.width);
        cub_bytes = sort_scratch<uint64_t>(plan.records, 64);
        cub = carver.take<uint8_t>(static_cast<int64_t>(cub_bytes));
    }

    void clear(cudaStream_t stream) const {
        const auto records_bytes = static_cast<size_t>(records.count * records.width) * sizeof *records.number;
        check(cudaMemsetAsync(records.number, 0, records_bytes, stream), "clearing records");
        check(cudaMemsetAsync(records.key, 0, static_cast<size_t>(records.count) * sizeof *records.key, stream),
              "clearing records");
        for (uint32_t *each : {records.lost, number})
            check(cudaMemsetAsync(each, 0, sizeof *each, stream), "clearing a number");
    }
};

template <class Pixel>
void launch_sums(const MeasuresPlan &plan, const Question &question, const Records &records, cudaStream_t stream) {
    const auto go = [&](auto kernel) { launch(plan.sum, kernel, stream, question, records); };
    if (plan.axes == 3)
        plan.margin ? go(sum_squares<Pixel, 3, 1>) : go(sum_squares<Pixel, 3, 0>);
    else
        plan.margin == 2   ? go(sum_squares<Pixel, 2, 2>)
        : plan.margin == 1 ? go(sum_squares<Pixel, 2, 1>)
                           : go(sum_squares<Pixel, 2, 0>);
}

IntensitySums intensities_of(const Number *number, bool is_real) {
    IntensitySums sums;
    const uint32_t least = ~static_cast<uint32_t>(number[LEAST]), largest = static_cast<uint32_t>(number[LARGEST]) - 1;
    if (!is_real) {
        sums.add_whole(static_cast<int64_t>(number[BRIGHT]), static_cast<int32_t>(least), static_cast<int32_t>(largest));
        return sums;
    }
    if (number[LARGEST]) {
        sums.least = static_cast<int32_t>(least ^ 1u << 31);
        sums.largest = static_cast<int32_t>(largest ^ 1u << 31);
    }
    const Number *const real = number + FIELDS;
    for (int part = 0; part < ExactSum::PARTS; ++part)
        sums.sum.add_pieces(part,
                            static_cast<__int128>(static_cast<int64_t>(real[UPPER_BITS + part])) * (int64_t(1) << PIECE_BITS) +
                                real[LOWER_BITS + part]);
    for (int i = 0; i < 3; ++i) sums.special |= real[SPECIAL + i] ? 1u << i : 0;
    return sums;
}

/// What a record tells of its value.
ValueSums sums_of(const MeasuresJob &job, int64_t value, const Number *number) {
    const auto whole = [&](int field) { return static_cast<int64_t>(number[field]); };
    ValueSums sums = {};
    apsis_part &part = sums.part;
    part.value = value;
    part.first = ~whole(FIRST), part.area = whole(AREA);
    for (int a = 0; a < 3; ++a) {
        part.lower[a] = a < 2 ? ~whole(LOWER + a) : part.first / (job.set.size[0] * job.set.size[1]);
        part.upper[a] = whole(UPPER + a) - 1;
        part.sum[a] = whole(SUM + a);
    }
    ShapeSums &shape = sums.shape;
    for (int i = 0; i < PRODUCTS; ++i)
        shape.product[i] = static_cast<__int128>(static_cast<unsigned __int128>(number[HIGH + i]) << 64 | number[PRODUCT + i]);
    for (int i = 0; i < 3; ++i) shape.faces[i] = whole(FACES + i), shape.steps[i] = whole(STEPS + i);
    if (job.axes == 2) std::swap(shape.diagonals, shape.faces[2]);
    shape.euler = whole(EULER);
    if (job.wants(APSIS_INTENSITY)) sums.intensity = intensities_of(number, job.grey.type == APSIS_F32);
    return sums;
}

/// Reads the records in the order of their values.
void read_records(const MeasuresJob &job, const MeasuresPlan &plan, const MeasuresScratch &scratch, cudaStream_t stream,
                  HostNumber &number) {
    const Items items = {scratch.key[0], scratch.record[0], scratch.number, static_cast<uint32_t>(plan.records)};
    with_label_type(job.set.type,
                    [&](auto pixel) { launch(plan.list, list_records<decltype(pixel)>, stream, scratch.records, items); });
    number.ask(scratch.number, stream);
    const int64_t count = number.wait();
    if (count == 0) return;
    SortBuffers<uint64_t> key{scratch.key[0], scratch.key[1]}, record{scratch.record[0], scratch.record[1]};
    sort_pairs(scratch.cub, scratch.cub_bytes, key, record, count, bits_of(job.set.type), "sorting values", stream);
    // While the host takes one batch, the next one is on its way.
    const int64_t numbers = plan.batch * plan.width, bytes_of_batch = (numbers + plan.batch) * int64_t(sizeof(Number));
    PageLocked &pages = *static_cast<PageLocked *>(job.page_locked);
    auto *const memory = static_cast<uint8_t *>(pages.at_least(static_cast<size_t>(2 * bytes_of_batch)));
    const Event arrived[2];
    const auto numbers_of = [&](int64_t i) { return reinterpret_cast<Number *>(memory + i % 2 * bytes_of_batch); };
    const auto ask = [&](int64_t i) {
        const int64_t first = i * plan.batch, now = std::min(count - first, plan.batch);
        Number *const batch = scratch.batch + i % 2 * numbers, *const to = numbers_of(i);
        launch(plan.gather.kernel, gather_records, ceil_div(now, WARPS), plan.gather.threads, stream, scratch.records,
               record.current + first, now, batch);
        check(cudaMemcpyAsync(to, batch, static_cast<size_t>(now * plan.width) * sizeof *to, cudaMemcpyDeviceToHost, stream),
              "reading sums");
        check(cudaMemcpyAsync(to + numbers, key.current + first, static_cast<size_t>(now) * sizeof *to, cudaMemcpyDeviceToHost,
                              stream),
              "reading values");
        check(cudaEventRecord(arrived[i % 2].handle, stream), "marking where sums are read");
        pages.is_read(stream);
    };
    ask(0);
    for (int64_t i = 0, first = 0; first < count; ++i, first += plan.batch) {
        if (first + plan.batch < count) ask(i + 1);
        check(cudaEventSynchronize(arrived[i % 2].handle), "reading sums");
        const Number *const own = numbers_of(i), *const keys = own + numbers;
        job.take(std::min(count - first, plan.batch),
                 [&](int64_t k) { return sums_of(job, value_of(job.set.type, keys[k]), own + k * plan.width); });
    }
}

}  // namespace

size_t measures_scratch(const MeasuresJob &job) {
    const MeasuresPlan plan = plan_of(job);
    if (!plan.serves) return 0;
    Carver carver;
    MeasuresScratch(plan, carver);
    return carver.used();
}

bool measures(const MeasuresJob &job, void *memory, cudaStream_t stream, const Progress &progress, HostNumber &number) {
    const MeasuresPlan plan = plan_of(job);
    Carver carver(memory);
    const MeasuresScratch scratch(plan, carver);
    scratch.clear(stream);
    const Question question = {job.set,          job.grey,    job.connectivity, job.wants(APSIS_MOMENTS),
                               plan.has_carries, plan.across, plan.down,        plan.warps,
                               plan.length,      plan.step};
    with_label_type(job.set.type, [&](auto pixel) { launch_sums<decltype(pixel)>(plan, question, scratch.records, stream); });
    number.ask(scratch.records.lost, stream);
    if (number.wait()) return false;
    read_records(job, plan, scratch, stream, number);
    if (progress) progress(1);
    return true;
}

}  // namespace apsis::cuda::labels
