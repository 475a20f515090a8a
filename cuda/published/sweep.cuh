// APSIS_SWEEP, APSIS_SWEEP_BLOCKS and APSIS_SWEEP_ROWS on CUDA: sweeps in four directions (Honda, Yamamoto, Honda, Nakano
// and Ito, "Simple and fast parallel algorithms for the Voronoi map and the Euclidean distance map", 2017, section IV).
//
// A sweep goes through a slice line by line.  A black pixel, which is a site, holds itself.  Another pixel takes the closest of
// the sites that its three neighbours in the line before hold.  Lines are rows in the sweeps down and up, and columns in the
// sweeps right and left; the code is the same.  Black and white pixels are bits of the library's own words (core/columns.h),
// which are the words of the paper, transposed.  The closest of a pixel's sites in the four maps makes the mixed map, and the
// conversion of site_map.cuh the complete one.  M_d and M_u are in row-major order, M_r and M_l in column-major order.
//
// A task is 32 pixels wide.  The three schedules:
// - single-block: a block takes a sweep of a slice.  A thread holds one pixel of each of its warp's tasks in registers, and
//   there is a barrier a line.
// - multiple-block: a kernel takes a line.
// - warp-wise: one kernel takes all.  A warp takes the next task by serial number, and waits for the three tasks before it,
//   which have lower numbers.  A warp that has a number is running, and the unfinished task with the lowest number waits for no
//   other.  So the kernel ends however few warps the device runs.  Each pixel that is waited for is its own mark: a number of
//   32 bits, read and written at once.  So no memory order is needed.
//
// A line of the warp-wise sweep costs the latency of memory from task to task, not work.  So a task is TASK_LINES deep here,
// while the paper's has one line.  A warp begins with half a task more of the line before on either side, and each line uses up
// a pixel of these margins.
//
// Cost: bytes a pixel 1 in, 1/8 for words out and in again; 16 out for the maps and in again, 4 out for the mixed map, 4 in and
// out and in for the complete one, and the outputs.  12 comparisons a pixel, warp-wise 24.  Memory: 16 1/8 bytes a pixel, as in
// the paper.
#pragma once

#include "cuda/columns/columns.h"
#include "cuda/published/site_map.cuh"

namespace apsis::cuda::published {

constexpr int TASK = WARP;  // pixels of a line
constexpr int MARGIN = TASK / 2;
constexpr int TASK_LINES = 16;  // as many as a margin allows; the paper has 1
static_assert(TASK_LINES <= MARGIN);
constexpr int SINGLE_BLOCK = 1024;  // threads of a block that takes a whole sweep
constexpr int MOST_HELD = 8;        // pixels of a line that each of these threads can hold in its 64 registers

/// A pixel holds this until its task is done.  It is neither a site nor NO_SITE.
constexpr Site NOT_YET = 0x80008000;

// ---- Sweeps ----

enum Direction : int { DOWN, UP, RIGHT, LEFT, DIRECTIONS };

/// One of the four sweeps through a slice.  A step goes to the next line, and places are pixels of a line.
struct Sweep {
    const uint32_t *words;  // of the slice
    Site *map;              // [line][place]
    int width;
    int lines, length;
    bool is_sideways, is_backward;  // right or left; up or left

    __device__ int line_at(int step) const { return is_backward ? lines - 1 - step : step; }
    __device__ bool holds(int place) const { return place >= 0 && place < length; }
    __device__ Site *at(int step, int place) const { return map + int64_t(line_at(step)) * length + place; }
    __device__ Site pixel(int step, int place) const {
        return is_sideways ? site_at(line_at(step), place) : site_at(place, line_at(step));
    }
    __device__ bool is_black(int step, int place) const {
        const Site at = pixel(step, place);
        return words[int64_t(y_of(at) / STRIP) * width + x_of(at)] >> y_of(at) % STRIP & 1;
    }
};

/// The sweeps through all slices.  The sites are M_d of all slices, then M_u, M_r and M_l.
struct Sweeps : SiteMaps {
    Columns columns;

    __host__ __device__ int lines(int direction) const { return direction < RIGHT ? height : width; }
    __host__ __device__ int length(int direction) const { return direction < RIGHT ? width : height; }
    int longest() const { return std::max(width, height); }
    __device__ Sweep sweep(int direction, int64_t slice) const {
        return {columns.words + columns.at(slice, 0, 0),
                sites + (direction * slices + slice) * width * height,
                width,
                lines(direction),
                length(direction),
                direction >= RIGHT,
                direction == UP || direction == LEFT};
    }
};

__device__ inline Site closest(Site pixel, Site a, Site b, Site c) {
    const int x = x_of(pixel), y = y_of(pixel);
    return static_cast<Site>(min(nearness(x, y, a), min(nearness(x, y, b), nearness(x, y, c))));
}

/// Writes one pixel, from the line before in the map.
__device__ inline void sweep_pixel(const Sweep &sweep, int step, int place) {
    const auto before = [&](int at) { return step > 0 && sweep.holds(at) ? *sweep.at(step - 1, at) : Site(NO_SITE); };
    const Site pixel = sweep.pixel(step, place);
    *sweep.at(step, place) =
        sweep.is_black(step, place) ? pixel : closest(pixel, before(place - 1), before(place), before(place + 1));
}

/// Warp: goes to the next line.  Lanes hold a pixel of each of COUNT tasks side by side, and `black` has a bit for each.
/// `left` and `right` are the sites of the pixels beside the tasks.
template <int COUNT>
__device__ void take_step(const Sweep &sweep, int step, int first, uint32_t black, Site left, Site right, Site (&held)[COUNT]) {
    const int lane = threadIdx.x % WARP;
    Site ahead = __shfl_sync(ALL_LANES, held[0], lane + 1);
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const Site behind = __shfl_sync(ALL_LANES, held[k], lane + WARP - 1), follows = ahead;
        ahead = k + 1 < COUNT ? __shfl_sync(ALL_LANES, held[(k + 1) % COUNT], lane + 1) : right;
        const int place = first + k * TASK + lane;
        const Site pixel = sweep.pixel(step, place);
        const Site before = lane > 0 ? behind : left, after = lane < WARP - 1 ? follows : ahead;
        held[k] = !sweep.holds(place) ? NO_SITE : black >> k & 1 ? pixel : closest(pixel, before, held[k], after);
        left = behind;
    }
}

// ---- Single-block ----

/// A bit for each of a thread's pixels of a line that is black.
template <int COUNT>
__device__ uint32_t black_of_line(const Sweep &sweep, int step, int first) {
    uint32_t black = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const int place = first + k * TASK + static_cast<int>(threadIdx.x) % WARP;
        if (sweep.holds(place) && sweep.is_black(step, place)) black |= 1u << k;
    }
    return black;
}

/// The sites of the first and the last pixel of each warp, with an empty warp at either end of the block.
struct WarpEnds {
    Site first[SINGLE_BLOCK / WARP + 2], last[SINGLE_BLOCK / WARP + 2];
};

/// A block takes a sweep of a slice.
template <int COUNT>
__global__ void __launch_bounds__(SINGLE_BLOCK) sweep_alone(Sweeps sweeps) {
    __shared__ WarpEnds ends[2];  // of one line, and of the next
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, first = warp * TASK * COUNT;
    for (int end = threadIdx.x; end < 2 * (SINGLE_BLOCK / WARP + 2); end += blockDim.x)
        ends[end % 2].first[end / 2] = ends[end % 2].last[end / 2] = NO_SITE;
    for (int64_t item = blockIdx.x; item < DIRECTIONS * sweeps.slices; item += gridDim.x) {
        const Sweep sweep = sweeps.sweep(static_cast<int>(item % DIRECTIONS), item / DIRECTIONS);
        Site held[COUNT];
#pragma unroll
        for (Site &each : held) each = NO_SITE;
        __syncthreads();
        for (int step = 0; step < sweep.lines; ++step) {
            const uint32_t black = black_of_line<COUNT>(sweep, step, first);
            WarpEnds &shown = ends[step % 2];
            if (lane == 0) shown.first[warp + 1] = held[0];
            if (lane == WARP - 1) shown.last[warp + 1] = held[COUNT - 1];
            __syncthreads();
            take_step(sweep, step, first, black, shown.last[warp], shown.first[warp + 2], held);
#pragma unroll
            for (int k = 0; k < COUNT; ++k)
                if (sweep.holds(first + k * TASK + lane)) *sweep.at(step, first + k * TASK + lane) = held[k];
        }
    }
}

/// The same for longer lines, which threads read again.
static __global__ void __launch_bounds__(SINGLE_BLOCK) sweep_long_alone(Sweeps sweeps) {
    for (int64_t item = blockIdx.x; item < DIRECTIONS * sweeps.slices; item += gridDim.x) {
        const Sweep sweep = sweeps.sweep(static_cast<int>(item % DIRECTIONS), item / DIRECTIONS);
        for (int step = 0; step < sweep.lines; ++step) {
            for (int place = threadIdx.x; place < sweep.length; place += blockDim.x) sweep_pixel(sweep, step, place);
            __syncthreads();
        }
    }
}

template <int COUNT = 1>
void sweep_blocks(const Sweeps &sweeps, cudaStream_t stream) {
    const int64_t longest = sweeps.longest(), blocks = DIRECTIONS * sweeps.slices;
    if (longest <= COUNT * SINGLE_BLOCK) {
        launch("sweep_alone", sweep_alone<COUNT>, blocks, ceil_div(longest, COUNT * WARP) * WARP, stream, sweeps);
    } else if constexpr (COUNT < MOST_HELD) {
        sweep_blocks<2 * COUNT>(sweeps, stream);
    } else {
        launch("sweep_long_alone", sweep_long_alone, blocks, SINGLE_BLOCK, stream, sweeps);
    }
}

// ---- Multiple-block ----

/// A thread takes a pixel of a line of a sweep.
static __global__ void __launch_bounds__(BLOCK) sweep_line(Sweeps sweeps, int step) {
    const int longest = max(sweeps.width, sweeps.height);
    for (int64_t item = first_item(); item < DIRECTIONS * sweeps.slices * longest; item += item_step()) {
        const int64_t line = item / longest;
        const int place = static_cast<int>(item - line * longest);
        const Sweep sweep = sweeps.sweep(static_cast<int>(line % DIRECTIONS), line / DIRECTIONS);
        if (step < sweep.lines && sweep.holds(place)) sweep_pixel(sweep, step, place);
    }
}

inline void sweep_rows(const Sweeps &sweeps, cudaStream_t stream, const Progress &progress) {
    constexpr int TICKS = 16;
    const int lines = sweeps.longest(), tick = (lines + TICKS - 1) / TICKS;
    for (int step = 0; step < lines; ++step) {
        launch("sweep_line", sweep_line, ceil_div(DIRECTIONS * sweeps.slices * lines, BLOCK), BLOCK, stream, sweeps, step);
        if (step % tick == tick - 1) report(progress, 0.7 * step / lines, stream);
    }
}

// ---- Warp-wise ----

struct Task {
    int direction;
    int64_t slice;
    int line, number;  // the number of its TASK_LINES lines; of its TASK pixels in these
};

/// The tasks of all sweeps.  Serial numbers go line by line, in a line slice by slice, and in a slice through the sweeps down,
/// up, right and left.
struct Tasks {
    int rows, columns;      // lines of tasks in the sweeps down and up; in the sweeps right and left
    int in_row, in_column;  // tasks of a line
    int64_t slices;

    explicit Tasks(const Sweeps &sweeps)
        : rows(static_cast<int>(ceil_div(sweeps.height, TASK_LINES))),
          columns(static_cast<int>(ceil_div(sweeps.width, TASK_LINES))),
          in_row(static_cast<int>(ceil_div(sweeps.width, TASK))),
          in_column(static_cast<int>(ceil_div(sweeps.height, TASK))),
          slices(sweeps.slices) {}

    __host__ __device__ int64_t count() const { return 2 * slices * (int64_t(rows) * in_row + int64_t(columns) * in_column); }
    int64_t most_of_line() const { return 2 * slices * (in_row + in_column); }

    __device__ Task operator[](int64_t serial) const {
        const int both = min(rows, columns);  // lines that all sweeps have
        const int64_t late = both * 2 * slices * (in_row + in_column);
        const bool is_late = serial >= late;
        const int down = is_late && rows < columns ? 0 : in_row, right = is_late && columns < rows ? 0 : in_column;
        const int of_slice = 2 * (down + right);
        if (is_late) serial -= late;
        const int64_t line = serial / (slices * of_slice), rest = serial - line * slices * of_slice, slice = rest / of_slice;
        const int number = static_cast<int>(rest - slice * of_slice), level = number - 2 * down;
        const int at = static_cast<int>(line) + (is_late ? both : 0);
        if (level < 0) return {DOWN + number / down, slice, at, number % down};
        return {RIGHT + level / right, slice, at, level % right};
    }
};

/// Sets the last line of each task, for which others wait, to NOT_YET.  A block takes a line.
static __global__ void __launch_bounds__(BLOCK) start_tasks(Sweeps sweeps, Tasks tasks, unsigned long long *counter) {
    if (first_item() == 0) *counter = 0;
    const int most = max(tasks.rows, tasks.columns);
    for (int64_t item = blockIdx.x; item < DIRECTIONS * sweeps.slices * most; item += gridDim.x) {
        const int64_t rest = item / DIRECTIONS;
        const int step = static_cast<int>(rest % most) * TASK_LINES + TASK_LINES - 1;
        const Sweep sweep = sweeps.sweep(static_cast<int>(item % DIRECTIONS), rest / most);
        if (step >= sweep.lines) continue;
        for (int place = threadIdx.x; place < sweep.length; place += BLOCK) *sweep.at(step, place) = NOT_YET;
    }
}

/// Warp: takes the next serial number.
__device__ inline int64_t next_serial(unsigned long long *counter) {
    unsigned long long serial = 0;
    if (threadIdx.x % WARP == 0) serial = atomicAdd(counter, 1ull);
    return static_cast<int64_t>(__shfl_sync(ALL_LANES, serial, 0));
}

/// Warp: waits for the line before a task, and reads its pixels from `first` on.
__device__ inline void wait_for_line(const Sweep &sweep, int step, int first, Site (&held)[2]) {
    constexpr unsigned PAUSE = 20;  // nanoseconds: less than the latency of memory
    const int lane = threadIdx.x % WARP;
    held[0] = held[1] = NO_SITE;
    if (step < 0) return;
    for (;;) {
        for (int k = 0; k < 2; ++k) {
            const int place = first + k * TASK + lane;
            if (sweep.holds(place)) held[k] = *static_cast<volatile Site *>(sweep.at(step, place));
        }
        if (__all_sync(ALL_LANES, held[0] != NOT_YET && held[1] != NOT_YET)) return;
        __nanosleep(PAUSE);
    }
}

/// A bit for each line of a task in which the lane's pixel is black.
__device__ inline uint32_t black_of_task(const Sweep &sweep, int step, int end, int place) {
    uint32_t black = 0;
    if (!sweep.holds(place)) return black;
#pragma unroll
    for (int k = 0; k < TASK_LINES; ++k)
        if (step + k < end && sweep.is_black(step + k, place)) black |= 1u << k;
    return black;
}

/// Warp: performs a task.
__device__ inline void perform(const Sweep &sweep, const Task &task) {
    const int lane = threadIdx.x % WARP, first = task.number * TASK - MARGIN;
    const int begin = task.line * TASK_LINES, end = min(begin + TASK_LINES, sweep.lines);
    const uint32_t black[2] = {black_of_task(sweep, begin, end, first + lane),
                               black_of_task(sweep, begin, end, first + TASK + lane)};
    const int own = lane < MARGIN ? 1 : 0, place = first + own * TASK + lane;
    Site held[2];
    wait_for_line(sweep, begin - 1, first, held);
    for (int step = begin; step < end; ++step) {
        const int k = step - begin;
        take_step(sweep, step, first, (black[0] >> k & 1) | (black[1] >> k & 1) << 1, NO_SITE, NO_SITE, held);
        if (sweep.holds(place)) *static_cast<volatile Site *>(sweep.at(step, place)) = own ? held[1] : held[0];
    }
}

/// A warp takes tasks until there are none.
static __global__ void __launch_bounds__(BLOCK) sweep_tasks(Sweeps sweeps, Tasks tasks, unsigned long long *counter) {
    const int64_t count = tasks.count();
    for (int64_t serial; (serial = next_serial(counter)) < count;) {
        const Task task = tasks[serial];
        perform(sweeps.sweep(task.direction, task.slice), task);
    }
}

inline void sweep_warps(const Sweeps &sweeps, unsigned long long *counter, cudaStream_t stream) {
    const Tasks tasks(sweeps);
    const int64_t lines = DIRECTIONS * sweeps.slices * std::max(tasks.rows, tasks.columns);
    launch("start_tasks", start_tasks, lines, BLOCK, stream, sweeps, tasks, counter);
    // Twice as many warps as a line has tasks, while the paper has as many: so the warps of the next line have tasks already.
    const int64_t warps = std::min(2 * tasks.most_of_line(), tasks.count());
    const int64_t blocks = std::min(ceil_div(warps, WARPS), resident_blocks(sweep_tasks, BLOCK));
    launch("sweep_tasks", sweep_tasks, blocks, BLOCK, stream, sweeps, tasks, counter);
}

// ---- Combining ----

/// Makes the mixed map from the closest sites of the four maps, in the place of M_d.  Maps in column-major order pass through
/// shared memory in the diagonal arrangement, so that a warp uses 32 banks both ways.
static __global__ void __launch_bounds__(BLOCK) combine(Sweeps sweeps) {
    __shared__ Site right[PATCH][PATCH], left[PATCH][PATCH];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for_patches(sweeps, [&](const Patch &patch) {
        const Sweep upright[2] = {sweeps.sweep(DOWN, patch.z), sweeps.sweep(UP, patch.z)};
        const Sweep level[2] = {sweeps.sweep(RIGHT, patch.z), sweeps.sweep(LEFT, patch.z)};
#pragma unroll
        for (int j = warp; j < PATCH; j += WARPS) {
            if (patch.left + j >= sweeps.width || patch.top + lane >= sweeps.height) continue;
            const int64_t at = int64_t(patch.left + j) * sweeps.height + patch.top + lane;
            right[lane][(lane + j) % PATCH] = level[0].map[at];
            left[lane][(lane + j) % PATCH] = level[1].map[at];
        }
        __syncthreads();
#pragma unroll
        for (int i = warp; i < PATCH; i += WARPS) {
            const int x = patch.left + lane, y = patch.top + i;
            if (x >= sweeps.width || y >= sweeps.height) continue;
            const int64_t at = int64_t(y) * sweeps.width + x;
            Site &mixed = upright[0].map[at];
            const Site aside = nearer(x, y, right[i][(i + lane) % PATCH], left[i][(i + lane) % PATCH]);
            mixed = closest(site_at(x, y), mixed, upright[1].map[at], aside);
        }
        __syncthreads();
    });
}

class FourSweeps {
  public:
    FourSweeps(const DistanceJob &job, Carver &carver)
        : job_(job),
          sweeps_{SiteMaps(job.set), columns::shape_columns(job.set, 1)} {
        columns::carve_words(sweeps_.columns, carver);
        sweeps_.sites = carver.take<Site>(DIRECTIONS * job.set.pixels());
        counter_ = carver.take<unsigned long long>(1);
    }

    SiteMaps run(cudaStream_t stream, const Progress &progress) {
        columns::pack_columns(job_.set, 1, job_.complement, sweeps_.columns, stream);
        if (job_.method == APSIS_SWEEP_BLOCKS)
            sweep_blocks(sweeps_, stream);
        else if (job_.method == APSIS_SWEEP_ROWS)
            sweep_rows(sweeps_, stream, progress);
        else
            sweep_warps(sweeps_, counter_, stream);
        report(progress, 0.7, stream);
        launch("combine", combine, count_patches(sweeps_), BLOCK, stream, sweeps_);
        const SiteMaps mixed = sweeps_;
        SiteMaps complete = mixed;
        if (!job_.mixed) {
            complete.sites += mixed.pixels();
            complete_map(mixed, complete, mixed.sites + 2 * mixed.pixels(), stream);  // M_r has been read
        }
        if (job_.report)
            *job_.report = {job_.method == APSIS_SWEEP_ROWS ? sweeps_.longest() : 1,
                            count_mended(mixed, complete, counter_, stream)};
        return complete;
    }

  private:
    const DistanceJob &job_;
    Sweeps sweeps_;
    unsigned long long *counter_;  // of tasks, and later of changed pixels
};

}  // namespace apsis::cuda::published
