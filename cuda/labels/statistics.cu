// Statistics of a label image.
//
// Values of at most 16 bits have a table, to which tiles add (tiles.cuh).  Otherwise runs of equal pixels are items, whose key
// is their value (collect.cuh).
//
// Cost: one read of the image, and some atomic operations for each value in a tile; or what the sort of the runs takes, by 8
// bits of a value at a time.
#include "core/component.h"
#include "cuda/labels/collect.cuh"
#include "cuda/labels/tiles.cuh"
#include "cuda/runtime/positions.h"
#include "cuda/transforms.h"

namespace apsis::cuda::labels {

namespace {

constexpr int TILES_PER_SM = 4;  // as registers allow; with two of them noise took 1.8 times as long (H200, 16384^2)

constexpr int LENGTH_BITS = 11;
static_assert(SEGMENT < 1 << LENGTH_BITS);

/// A run: its first pixel's index above, its length below.
__device__ uint64_t pack_run(int64_t index, int64_t length) { return uint64_t(index) << LENGTH_BITS | uint64_t(length); }

struct Shape {
    Number width, height;
};

struct RunSums {
    Number first, area, lower[3], upper[3], sum[3];

    __device__ void clear() {
        first = ~Number(0), area = 0;
        for (int a = 0; a < 3; ++a) lower[a] = ~Number(0), upper[a] = 0, sum[a] = 0;
    }
    __device__ void add(const Shape &shape, uint64_t run) {
        const Number index = run >> LENGTH_BITS, length = run & ((1 << LENGTH_BITS) - 1), row = index / shape.width;
        const Number x = index - row * shape.width, z = row / shape.height, y = row - z * shape.height;
        const Number low[3] = {x, y, z}, high[3] = {x + length - 1, y, z};
        first = min(first, index);
        area += length;
        sum[0] += length * (2 * x + length - 1) / 2;
        sum[1] += length * y;
        sum[2] += length * z;
        for (int a = 0; a < 3; ++a) lower[a] = min(lower[a], low[a]), upper[a] = max(upper[a], high[a]);
    }
    __device__ void add(const RunSums &sums) {
        first = min(first, sums.first);
        area += sums.area;
        for (int a = 0; a < 3; ++a)
            lower[a] = min(lower[a], sums.lower[a]), upper[a] = max(upper[a], sums.upper[a]), sum[a] += sums.sum[a];
    }
    /// Reads before the atomics, as most sums do not make a box larger.
    __device__ void add_to(RunSums &to) const {
        const RunSums before = to;
        atomicAdd(&to.area, area);
        if (first < before.first) atomicMin(&to.first, first);
        for (int a = 0; a < 3; ++a) {
            if (lower[a] < before.lower[a]) atomicMin(&to.lower[a], lower[a]);
            if (upper[a] > before.upper[a]) atomicMax(&to.upper[a], upper[a]);
            if (sum[a]) atomicAdd(&to.sum[a], sum[a]);
        }
    }
};

template <class Pixel>
__global__ void __launch_bounds__(BLOCK) emit_runs(View image, Segments segments, Items items) {
    for_segments(segments, image, [&](int64_t begin, int64_t end, int64_t y, int64_t z) {
        const uint8_t *const row = image.row(y, z);
        const int64_t first = (z * image.size[1] + y) * image.size[0];
        walk(
            begin, end,
            [&](int64_t x, uint64_t &key) {
                key = biased(pixel_at<Pixel>(image, row, x));
                return true;
            },
            [&](bool has_item, uint64_t key, int64_t from, int64_t to) {
                emit(items, has_item, key, pack_run(first + from, to - from));
            });
    });
}

APSIS_BOTH inline apsis_part part_of(int64_t value, const RunSums &sums) {
    apsis_part part = {};
    part.first = static_cast<int64_t>(sums.first), part.area = static_cast<int64_t>(sums.area);
    for (int a = 0; a < 3; ++a) {
        part.lower[a] = static_cast<int64_t>(sums.lower[a]), part.upper[a] = static_cast<int64_t>(sums.upper[a]);
        part.sum[a] = static_cast<int64_t>(sums.sum[a]);
    }
    part.value = value;
    return part;
}

/// The pixels of a word that have a value, by their bits: where they are in the tile.
struct Bits {
    uint32_t bits, x, y, z;
};

/// The sums of the values of a tile.  All is counted from the tile's first pixel, which tells the least coordinate along the
/// last axis as well.
template <class Tile>
struct TileSums {
    static constexpr int SLOTS = TILE_SLOTS, AXES = Tile::PLANES > 1 ? 3 : 2;

    uint32_t key[SLOTS], first[SLOTS], area[SLOTS], lower[AXES - 1][SLOTS], upper[AXES][SLOTS], sum[AXES][SLOTS];

    __device__ void clear(int slot) {
        key[slot] = NO_KEY;
        first[slot] = NO_KEY, area[slot] = 0;
        for (auto &each : lower) each[slot] = NO_KEY;
        for (auto &each : upper) each[slot] = 0;
        for (auto &each : sum) each[slot] = 0;
    }
    __device__ static void lower_to(uint32_t &least, uint32_t value) {
        if (value < *const_cast<volatile uint32_t *>(&least)) atomicMin(&least, value);
    }
    __device__ static void raise_to(uint32_t &most, uint32_t value) {
        if (value > *const_cast<volatile uint32_t *>(&most)) atomicMax(&most, value);
    }
    __device__ void add(int slot, const Bits &at) {
        const uint32_t count = __popc(at.bits), x = at.x + __ffs(at.bits) - 1;
        atomicAdd(&area[slot], count);
        atomicAdd(&sum[0][slot], count * at.x + sum_of_positions(at.bits));
        atomicAdd(&sum[1][slot], count * at.y);
        lower_to(first[slot], (at.z * Tile::ROWS + at.y) * (Tile::WORDS * WARP) + x);
        lower_to(lower[0][slot], x);
        raise_to(upper[0][slot], at.x + 31 - __clz(static_cast<int>(at.bits)));
        raise_to(upper[1][slot], at.y);
        if constexpr (AXES == 3) {
            atomicAdd(&sum[2][slot], count * at.z);
            lower_to(lower[1][slot], at.y);
            raise_to(upper[2][slot], at.z);
        }
    }
    /// The same in the image.
    __device__ RunSums sums_of(int slot, const Tile &tile, const Shape &shape) const {
        constexpr int WIDTH = Tile::WORDS * WARP;
        const uint32_t x = first[slot] % WIDTH, y = first[slot] / WIDTH % Tile::ROWS, z = first[slot] / WIDTH / Tile::ROWS;
        const Number origin[3] = {static_cast<Number>(tile.origin[0]), static_cast<Number>(tile.origin[1]),
                                  static_cast<Number>(tile.origin[2])};
        RunSums sums;
        sums.first = ((origin[2] + z) * shape.height + origin[1] + y) * shape.width + origin[0] + x;
        sums.area = area[slot];
        for (int a = 0; a < 3; ++a) {
            sums.lower[a] = origin[a] + (a < AXES - 1 ? lower[a][slot] : a == 1 ? y : z);
            sums.upper[a] = origin[a] + (a < AXES ? upper[a][slot] : 0);
            sums.sum[a] = origin[a] * sums.area + (a < AXES ? sum[a][slot] : 0);
        }
        return sums;
    }
};

/// Adds the pixels of a word to a value of the table.
template <class Tile>
__device__ void add_bits(const Bits &at, const Tile &tile, const Shape &shape, RunSums &to) {
    RunSums sums;
    sums.clear();
    for (uint32_t rest = at.bits; rest; rest &= rest - 1) {
        const Number x = tile.origin[0] + at.x + __ffs(rest) - 1, y = tile.origin[1] + at.y, z = tile.origin[2] + at.z;
        sums.add(shape, pack_run(static_cast<int64_t>((z * shape.height + y) * shape.width + x), 1));
    }
    sums.add_to(to);
}

/// Marks the values that occur.
static __global__ void __launch_bounds__(BLOCK) mark_values(const RunSums *table, int64_t count, uint32_t *is_there) {
    if (const int64_t i = first_item(); i < count) is_there[i] = table[i].area > 0;
}

/// Moves the values that occur to where they are to be, as parts or as components, and counts them.  They need no sign.
static __global__ void __launch_bounds__(BLOCK) gather_values(const RunSums *table, int64_t count, const uint32_t *before,
                                                              apsis_part *parts, bool as_components, uint32_t *number) {
    static_assert(sizeof(apsis_component) == sizeof(apsis_part));
    const int64_t i = first_item();
    if (i >= count) return;
    const RunSums &sums = table[i];
    const bool is_there = sums.area > 0;
    if (is_there && as_components)
        reinterpret_cast<apsis_component *>(parts)[before[i]] = component_of(part_of(i, sums));
    else if (is_there)
        parts[before[i]] = part_of(i, sums);
    if (i == count - 1) *number = before[i] + is_there;
}

static __global__ void __launch_bounds__(BLOCK) clear_table(RunSums *table, int64_t count) {
    if (const int64_t i = first_item(); i < count) table[i].clear();
}

/// Adds the sums of each value in a tile to the table.
template <class Pixel, class Tile>
__global__ void __launch_bounds__(BLOCK, TILES_PER_SM) sum_tiles(View image, int64_t tiles, Shape shape, RunSums *table) {
    constexpr int AT_ONCE = 4;
    __shared__ TileSums<Tile> sums;
    for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        const Tile tile(image, i);
        for (int slot = threadIdx.x; slot < TILE_SLOTS; slot += BLOCK) sums.clear(slot);
        __syncthreads();
        uint32_t value[AT_ONCE];
        Tile::template for_words<AT_ONCE>(
            [&](int n, int dx, int dy, int dz) {
                const int64_t x = tile.origin[0] + dx, y = tile.origin[1] + dy, z = tile.origin[2] + dz;
                const bool is_inside = x < image.size[0] && y < image.size[1] && z < image.size[2];
                value[n] = is_inside ? pixel_at<Pixel>(image, image.row(y, z), x) : NO_KEY;
            },
            [&](int n, int dx, int dy, int dz) {
                const uint32_t alike = __match_any_sync(ALL_LANES, value[n]);
                const int lane = threadIdx.x % WARP;
                if (value[n] == NO_KEY || lane != __ffs(alike) - 1) return;
                const Bits bits = {alike, static_cast<uint32_t>(dx - lane), static_cast<uint32_t>(dy),
                                   static_cast<uint32_t>(dz)};
                if (const int slot = slot_of(sums.key, TILE_SLOTS, value[n], TILE_TRIES); slot >= 0)
                    sums.add(slot, bits);
                else
                    add_bits(bits, tile, shape, table[value[n]]);
            });
        __syncthreads();
        for (int slot = threadIdx.x; slot < TILE_SLOTS; slot += BLOCK)
            if (const uint32_t key = sums.key[slot]; key != NO_KEY) sums.sums_of(slot, tile, shape).add_to(table[key]);
        __syncthreads();
    }
}

/// The scratch memory of a table.
struct Table {
    RunSums *table;
    apsis_part *parts;
    uint32_t *before, *number;  // before: first, whether a value occurs
    uint8_t *cub;
    size_t cub_bytes;

    Table(const Plan &plan, Carver &carver) {
        table = carver.take<RunSums>(plan.table), parts = carver.take<apsis_part>(plan.table);
        before = carver.take<uint32_t>(plan.table), number = carver.take<uint32_t>(1);
        cub_bytes = scan_scratch(plan.table);
        cub = carver.take<uint8_t>(static_cast<int64_t>(cub_bytes));
    }
};

void sum_by_tiles(const StatisticsJob &job, const Plan &plan, const Shape &shape, void *memory, cudaStream_t stream,
                  HostNumber &number) {
    Carver carver(memory);
    const Table table(plan, carver);
    const int64_t blocks = ceil_div(plan.table, BLOCK);
    launch("clear_table", clear_table, blocks, BLOCK, stream, table.table, plan.table);
    with_label_type(job.set.type, [&](auto pixel) {
        using Pixel = decltype(pixel);
        if constexpr (sizeof(Pixel) <= 2)
            launch(plan.tiles, plan.is_volume ? sum_tiles<Pixel, VolumeTile> : sum_tiles<Pixel, PlaneTile>, stream, job.set,
                   plan.tile_count, shape, table.table);
    });
    launch("mark_values", mark_values, blocks, BLOCK, stream, table.table, plan.table, table.before);
    scan(table.cub, table.cub_bytes, table.before, table.before, plan.table, "numbering values", stream);
    launch("gather_values", gather_values, blocks, BLOCK, stream, table.table, plan.table, table.before, table.parts,
           job.told != nullptr, table.number);
    number.ask(table.number, stream);
    const int64_t count = number.wait();
    const auto read = [&](void *to, int64_t some) {
        const size_t bytes = static_cast<size_t>(some) * sizeof *table.parts;
        if (bytes > 0) check(cudaMemcpyAsync(to, table.parts, bytes, cudaMemcpyDeviceToHost, stream), "reading sums");
        check(cudaStreamSynchronize(stream), "reading sums");
    };
    if (job.told) {
        read(job.components, std::min(count, job.capacity));
        *job.told = count;
        return;
    }
    job.found->resize(static_cast<size_t>(count));
    read(job.found->data(), count);
}

}  // namespace

size_t statistics_scratch(const StatisticsJob &job) {
    const Plan plan = plan_of(job);
    Carver carver;
    if (plan.table)
        Table(plan, carver);
    else
        CollectScratch<RunSums>(plan, carver);
    return carver.used();
}

void statistics(const StatisticsJob &job, void *memory, cudaStream_t stream, const Progress &progress, HostNumber &number) {
    const Plan plan = plan_of(job);
    const Shape shape = {static_cast<Number>(job.set.size[0]), static_cast<Number>(job.set.size[1])};
    if (plan.table) {
        sum_by_tiles(job, plan, shape, memory, stream, number);
        if (progress) progress(1);
        return;
    }
    Carver carver(memory);
    const CollectScratch<RunSums> scratch(plan, carver);
    Collection<RunSums, Shape>(plan, shape, bits_of(job.set.type), scratch, stream, number)
        .run(
            progress,
            [&](const Items &items, const Segments &segments) {
                with_label_type(job.set.type, [&](auto pixel) {
                    launch(plan.emit, emit_runs<decltype(pixel)>, stream, job.set, segments, items);
                });
            },
            [&](const Found<RunSums> &found) {
                const size_t before = job.found->size();
                job.found->resize(before + found.keys.size());
                for (size_t i = 0; i < found.keys.size(); ++i)
                    (*job.found)[before + i] = part_of(value_of(job.set.type, found.keys[i]), found.sums[i]);
            });
}

}  // namespace apsis::cuda::labels
