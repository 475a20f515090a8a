// Slabs of images: the sites outside of a slab, which its carries begin with; and what a slab tells of itself.
//
// The first site below a slab may lie in the rest of its last strip.  Then it becomes a bit of the word there, so that the rows
// of a strip find it as they find all others.  Of mirrored columns each of these bits is on a side: the rows go on with the
// side of the first one, up to the first site of the other side.  Which side the rows behind that are on is not known, nor does
// it matter to the rows of the slab.
//
// What a slab tells is found in its words.  They stay in scratch memory, and a map of the same slab begins with them.  Where
// it needs pixels, they become an image of bits.  Of a label image runs are told (slabs/runs.h tells what of them): a thread
// reads its column until it has passed the first one, or the last one.
//
// What slabs tell may stay in device memory: then devices merge it, and read it of each other.
//
// Cost: some 40 bytes a column; for what a slab tells that of packing, and 1/8 byte a pixel; of labels, the rows that are read.
#include <algorithm>

#include "cuda/columns/columns.h"
#include "cuda/columns/transpose.cuh"
#include "cuda/runtime/copy.h"
#include "cuda/runtime/host_number.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"

namespace apsis::cuda::columns {

namespace {

/// The caller's arrays, on the device, of either side; nullptr: there is no site.
struct Outside {
    const int64_t *above[2] = {}, *below[2] = {};
    int64_t width = 0, height = 1;

    /// Columns along z are numbered x * height + y, and by the caller x + width * y.  Others have height 1 here.
    __device__ int64_t place(int64_t column) const { return column % height * width + column / height; }
};

/// Bits of the word of a slab's last strip, from a row on, which may be the first one after the strip.
__device__ uint32_t bits_from(int64_t row, int64_t end) { return row < end ? ~0u << (row % STRIP) : 0; }

/// Turns the sites outside of a slab into carries of its first and last strips, and bits of the last one.  A thread takes a
/// column.
template <int SIDES>
__global__ void __launch_bounds__(BLOCK) begin_carries(Columns columns, Outside outside) {
    const int64_t column = first_item(), end = columns.strips() * STRIP;
    if (column >= columns.images() * columns.count) return;
    const int64_t place = outside.place(column);
    if (columns.first_carries) {
        int32_t site[SIDES];
        for (int s = 0; s < SIDES; ++s) {
            const int64_t row = outside.above[s] ? outside.above[s][place] : -1;
            site[s] = row < 0 ? NO_SITE_BEFORE : static_cast<int32_t>(row - columns.start);
        }
        const int32_t farther = min(site[0], site[SIDES - 1]);
        columns.first_carries[column] = SIDES == 1 ? farther : stored_carry(farther, site[0] > site[SIDES - 1]);
    }
    if (columns.last_carries) {
        int32_t site[SIDES];
        for (int s = 0; s < SIDES; ++s) {
            const int64_t row = outside.below[s] ? outside.below[s][place] : INT64_MAX;
            site[s] = row == INT64_MAX ? NO_SITE_AFTER : static_cast<int32_t>(row - columns.start);
        }
        const int32_t farther = max(site[0], site[SIDES - 1]);
        const bool is_in_strip = SIDES == 1 ? farther < end : farther <= end, is_site = site[0] < site[SIDES - 1];
        const int32_t carry = is_in_strip ? NO_SITE_AFTER : farther;
        const uint32_t here = bits_from(columns.length, end), behind = bits_from(farther, end);
        columns.last_carries[column] = SIDES == 1 ? carry : stored_carry(carry, is_site != is_in_strip);
        columns.words[columns.at(column / columns.count, columns.strips() - 1, column % columns.count)] |=
            SIDES == 1 ? behind & ~(behind << 1)
            : is_site  ? here & ~behind
                       : behind;
    }
}

/// A set's columns are numbered here as the caller's are.
View set_of(const DistanceJob &job) { return job.axes == 3 ? swap_y_z(job.set) : job.set; }

/// The columns of a summary, and of the map of the same slab, at the beginning of their scratch memory.
Columns carve_found(const DistanceJob &job, Carver &carver) {
    Columns columns = shape_columns(set_of(job), 1);
    carve_words(columns, carver);
    return columns;
}

/// Where a slab tells of each column the first and the last row with a pixel of the set, in the whole image.
struct ColumnEnds {
    int64_t *first;  // INT64_MAX: there is no such row
    int64_t *last;   // -1
    int64_t start;   // the rows of the image before the slab
};

/// Finds the ends of columns.  A block takes 32 of them, and each of its warps some strips: from the first one on until each
/// column has had a site, then from the last one back.
__global__ void __launch_bounds__(WARP *WARP) find_ends(Columns columns, ColumnEnds ends) {
    constexpr int AT_ONCE = 4;  // strips of a warp, so that their words are on their way together
    constexpr uint32_t NONE = UINT32_MAX;
    __shared__ uint32_t nearest[2][WARP];  // the rows before the first site, and behind the last one
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int64_t column = int64_t(blockIdx.x) * WARP + lane, image = column / columns.count, strips = columns.strips();
    const bool is_inside = image < columns.images();
    const uint32_t *const words = columns.words + columns.at(image, 0, column % columns.count);
    if (warp == 0) nearest[0][lane] = nearest[1][lane] = NONE;
    __syncthreads();
    bool may_have = is_inside;  // whether the column may have a site
#pragma unroll
    for (int end = 0; end < 2; ++end) {
        bool has_all = false;
        for (int64_t i = warp; i - warp < strips && !has_all; i += AT_ONCE * warps) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const int64_t before = i + k * warps, strip = end == 0 ? before : strips - 1 - before;
                const uint32_t word = may_have && before < strips ? words[strip * columns.count] : 0;
                if (!word) continue;
                const int bit = end == 0 ? lowest_bit(word) : STRIP - 1 - highest_bit(word);
                atomicMin(&nearest[end][lane], static_cast<uint32_t>(before * STRIP + bit));
            }
            __syncthreads();
            has_all = !__syncthreads_or(may_have && nearest[end][lane] == NONE);
        }
        may_have = nearest[0][lane] != NONE;
    }
    if (warp > 0 || !is_inside) return;
    if (ends.first) ends.first[column] = may_have ? ends.start + nearest[0][lane] : INT64_MAX;
    if (ends.last) ends.last[column] = may_have ? ends.start + strips * STRIP - 1 - nearest[1][lane] : -1;
}

/// Sets a flag if some site is out of range.  A thread takes a column.
__global__ void __launch_bounds__(BLOCK) look_for_misfits(const int64_t *sites, SiteRange range, uint32_t *found) {
    const int64_t column = first_item();
    if (column < range.columns && !range.has(sites[column])) *found = 1;
}

/// What some slabs tell of their columns.
struct Several {
    static constexpr int MOST = 16;
    const int64_t *told[MOST];
    int count;
};

/// Merges it, with what has been merged before if there is some.  A thread takes a column.
__global__ void __launch_bounds__(BLOCK)
    merge_told(Several slabs, bool are_last, bool has_some, int64_t columns, int64_t *merged) {
    const int64_t column = first_item();
    if (column >= columns) return;
    int64_t row = has_some ? merged[column] : are_last ? -1 : INT64_MAX;
#pragma unroll
    for (int i = 0; i < Several::MOST; ++i)
        if (i < slabs.count) row = are_last ? max(row, slabs.told[i][column]) : min(row, slabs.told[i][column]);
    merged[column] = row;
}

/// Makes words those of the opposite set.  A thread takes a word.
__global__ void __launch_bounds__(BLOCK) turn_words(Columns columns) {
    const int64_t per_image = columns.strips() * columns.count, item = first_item();
    if (item >= columns.images() * per_image) return;
    const int64_t strip = item % per_image / columns.count;
    columns.words[columns.at(item / per_image, strip, item % columns.count)] ^= columns.valid(strip);
}

/// Writes what is in columns along y as an image of bits, whose rows are whole words.  A warp takes 32 columns of a strip.  It
/// reads a word a lane, and each lane writes a word of one row.
__global__ void __launch_bounds__(BLOCK) write_columns(Columns columns, View to) {
    const int64_t across = ceil_div(columns.count, WARP), strips = columns.strips(), total = across * strips * columns.images();
    const int lane = threadIdx.x % WARP;
    for (int64_t item = first_item() / WARP; item < total; item += item_step() / WARP) {
        const int64_t word = item % across, strip = item / across % strips, image = item / across / strips;
        const int64_t x = word * WARP + lane, y = strip * STRIP + lane;
        const uint32_t bits = transpose_bits(x < columns.count ? columns.words[columns.at(image, strip, x)] : 0);
        if (y < columns.length) reinterpret_cast<uint32_t *>(to.row(y, image))[word] = bits;
    }
}

/// The first run of a label in each column, or UPWARD the last one, [3][column]: see slabs/runs.h.  A thread takes a column.
template <bool UPWARD>
__global__ void __launch_bounds__(BLOCK) find_runs(View labels, int axis, int64_t start, int64_t columns, int64_t *told) {
    const int64_t column = first_item(), rows = labels.size[axis], step = labels.stride[axis];
    if (column >= columns) return;
    const int64_t none = UPWARD ? -1 : INT64_MAX, x = column % labels.size[0], y = column / labels.size[0];
    const uint8_t *const pixels = labels.row(axis == 2 ? y : 0, 0);
    int64_t at = none, beyond = none, label = none;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t row = UPWARD ? rows - 1 - i : i, value = value_at(labels, pixels + row * step, x);
        if (at == none && value != 0) {
            at = start + row, label = value;
            beyond = UPWARD ? start - 1 : start + rows;
        } else if (at != none && value != label) {
            beyond = start + row;
            break;
        }
    }
    told[column] = at, told[columns + column] = beyond, told[2 * columns + column] = label;
}

/// What a slab of a label image tells.  Returns when it is told.
void tell_runs(const SummaryJob &job, cudaStream_t stream, const Progress &progress) {
    const int64_t columns = job.columns(), blocks = ceil_div(columns, BLOCK), told = job.told();
    auto &page_locked = *static_cast<PageLocked *>(job.slab.page_locked);
    auto *const room = static_cast<int64_t *>(page_locked.at_least(2 * static_cast<size_t>(told) * sizeof(int64_t)));
    const auto find = [&](const int64_t *to, auto kernel, int64_t *found) {
        if (to) launch("find_runs", kernel, blocks, BLOCK, stream, job.set, job.axes - 1, job.slab.start, columns, found);
    };
    find(job.first, find_runs<false>, room);
    find(job.last, find_runs<true>, room + told);
    check(cudaStreamSynchronize(stream), "waiting for what a slab tells");
    if (job.first) std::copy_n(room, told, job.first);
    if (job.last) std::copy_n(room + told, told, job.last);
    report(progress, 1, stream);
}

}  // namespace

void carve_outside(Columns &columns, const DistanceJob &job, Carver &carver) {
    const int64_t all = columns.images() * columns.count;
    columns.start = job.slab.start;
    columns.outside = carver.take<int64_t>(numbers_outside(job));
    if (job.slab.start > 0) columns.first_carries = carver.take<int32_t>(all);
    if (job.slab.start + columns.length < job.slab.extent) columns.last_carries = carver.take<int32_t>(all);
}

void take_outside(const Columns &columns, const DistanceJob &job, bool inside, cudaStream_t stream) {
    const int64_t all = columns.images() * columns.count;
    const Slab slab = outside_on_device(job, columns.outside, inside, stream);
    Outside outside;
    for (int s = 0; s < (columns.is_mirrored ? 2 : 1); ++s)
        outside.above[s] = slab.above[s + inside], outside.below[s] = slab.below[s + inside];
    if (job.axes == 3 && columns.count == all) outside.width = job.set.size[0], outside.height = job.set.size[1];
    launch("begin_carries", columns.is_mirrored ? begin_carries<2> : begin_carries<1>, ceil_div(all, BLOCK), BLOCK, stream,
           columns, outside);
}

int64_t numbers_outside(const DistanceJob &job) { return job.is_slab() ? (job.is_signed ? 4 : 2) * job.columns() : 0; }

Slab outside_on_device(const DistanceJob &job, int64_t *to, bool is_there, cudaStream_t stream) {
    Slab slab = job.slab;
    const int64_t **all[4] = {&slab.above[0], &slab.below[0], &slab.above[1], &slab.below[1]}, **arrays[4];
    const auto end = std::copy_if(all, all + (job.is_signed ? 4 : 2), arrays, [](auto a) { return *a && device_of(*a) < 0; });
    const auto count = end - arrays;
    const int64_t columns = job.columns(), total = columns * count;
    if (total == 0) return slab;
    // The caller's arrays are not kept: they are copied to page-locked memory at once, those of both sides together.
    auto &page_locked = *static_cast<PageLocked *>(job.slab.page_locked);
    const size_t bytes = static_cast<size_t>(total) * sizeof(int64_t);
    auto *room = is_there ? nullptr : static_cast<int64_t *>(page_locked.at_least(bytes));
    const int64_t *const from = room;
    int64_t *taken = to;
    for (int i = 0; i < count; ++i) {
        if (!is_there) room = std::copy_n(*arrays[i], columns, room);
        *arrays[i] = taken;
        taken += columns;
    }
    if (is_there) return slab;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying the sites outside of a slab");
    page_locked.is_read(stream);
    return slab;
}

size_t summary_scratch(const SummaryJob &job) {
    Carver carver;
    if (!job.labels) carve_found(job, carver);
    return carver.used();
}

void summary(const SummaryJob &job, void *memory, cudaStream_t stream, const Progress &progress) {
    if (job.labels) return tell_runs(job, stream, progress);
    Carver carver(memory);
    const Columns columns = carve_found(job, carver);
    if (!job.is_found) pack_columns(set_of(job), 1, job.complement, columns, stream);
    report(progress, 0.8, stream);
    // The device writes to the host's memory: there are few columns, and a copy would only begin later.  Into the caller's
    // arrays if these are page-locked: to copy 65536 numbers takes the host 0.1 ms.
    const int64_t all = job.columns();
    const size_t bytes = static_cast<size_t>(all) * sizeof(int64_t);
    int64_t *const told[2] = {job.first, job.last}, *written[2];
    for (int i = 0; i < 2; ++i) {
        written[i] = told[i];
        if (told[i] && device_of(told[i]) < 0 && !is_page_locked(told[i], bytes))
            written[i] = static_cast<int64_t *>(static_cast<PageLocked *>(job.slab.page_locked)->at_least(2 * bytes)) + i * all;
    }
    if (job.is_opposite) launch("turn_words", turn_words, ceil_div(all * columns.strips(), BLOCK), BLOCK, stream, columns);
    launch("find_ends", find_ends, ceil_div(all, WARP), std::min<int64_t>(columns.strips(), WARP) * WARP, stream, columns,
           ColumnEnds{written[0], written[1], job.slab.start});
    check(cudaStreamSynchronize(stream), "waiting for what a slab tells");
    for (int i = 0; i < 2; ++i)
        if (written[i] != told[i]) std::copy_n(written[i], all, told[i]);
    report(progress, 1, stream);
}

bool are_sites(const int64_t *sites, const SiteRange &range, PageLocked &page_locked, cudaStream_t stream) {
    auto *const misfit = static_cast<uint32_t *>(page_locked.at_least(sizeof(uint32_t)));
    *misfit = 0;
    launch("look_for_misfits", look_for_misfits, ceil_div(range.columns, BLOCK), BLOCK, stream, sites, range, misfit);
    check(cudaStreamSynchronize(stream), "waiting for a check of sites");
    return *misfit == 0;
}

void merge_sites(const MergeJob &job, cudaStream_t stream) {
    size_t done = 0;
    do {
        Several some = {};
        for (; some.count < Several::MOST && done + some.count < job.told.size(); ++some.count)
            some.told[some.count] = job.told[done + some.count];
        launch("merge_told", merge_told, ceil_div(job.columns, BLOCK), BLOCK, stream, some, job.are_last, done > 0, job.columns,
               job.merged);
        done += some.count;
    } while (done < job.told.size());
}

size_t labels_of_sites_bytes(const DistanceJob &job) {
    return job.values && job.is_slab() ? 3 * static_cast<size_t>(job.columns()) * sizeof(int64_t) : 0;
}

LabelValues labels_of_sites(const DistanceJob &job, void *scratch, cudaStream_t stream) {
    LabelValues labels = LabelValues::of_sites(job);
    const int64_t columns = job.columns();
    if (!labels.above && !labels.below) return labels;
    auto &page_locked = *static_cast<PageLocked *>(job.slab.page_locked);
    const size_t bytes = labels_of_sites_bytes(job);
    auto *const room = static_cast<int64_t *>(page_locked.at_least(bytes)), *to = static_cast<int64_t *>(scratch);
    std::fill_n(room, 3 * columns, 0);
    const auto take = [&](const int64_t *&array, int place) {
        if (array) std::copy_n(array, columns, room + place * columns), array = to + place * columns;
    };
    take(labels.rows_above, 0);
    take(labels.above, 1);
    take(labels.below, 2);
    check(cudaMemcpyAsync(to, room, bytes, cudaMemcpyHostToDevice, stream), "copying the labels outside of a slab");
    page_locked.is_read(stream);
    return labels;
}

size_t unpacked_bytes(const DistanceJob &job) {
    Carver carver;
    unpack(job, carver, nullptr);
    return carver.used();
}

DistanceJob unpack(const DistanceJob &job, Carver &carver, cudaStream_t stream) {
    const Columns columns = carve_found(job, carver);
    DistanceJob own = job;
    own.is_found = own.complement = false;
    View &set = own.set;
    const int64_t across = ceil_div(set.size[0], WARP);
    set.type = APSIS_BIT, set.memory = APSIS_DEVICE;
    set.stride[0] = 0, set.stride[1] = across * int64_t(sizeof(uint32_t)), set.stride[2] = set.stride[1] * set.size[1];
    set.data = carver.take<uint8_t>(set.stride[2] * set.size[2]);
    const int64_t warps = across * columns.strips() * columns.images();
    if (set) launch("write_columns", write_columns, ceil_div(warps, WARPS), BLOCK, stream, columns, set_of(own));
    return own;
}

}  // namespace apsis::cuda::columns
