// Statistics of a label image: runs of equal pixels are items, whose key is their value (collect.cuh).
//
// Cost: one read of the image, and what the sort of its runs takes, by 8 bits of a value at a time.
#include "cuda/labels/collect.cuh"
#include "cuda/transforms.h"

namespace apsis::cuda::labels {

namespace {

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
    __device__ void add_to(RunSums &to) const {
        atomicMin(&to.first, first);
        atomicAdd(&to.area, area);
        for (int a = 0; a < 3; ++a) {
            atomicMin(&to.lower[a], lower[a]);
            atomicMax(&to.upper[a], upper[a]);
            atomicAdd(&to.sum[a], sum[a]);
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

apsis_part part_of(apsis_type type, uint64_t key, const RunSums &sums) {
    apsis_part part = {};
    part.first = static_cast<int64_t>(sums.first), part.area = static_cast<int64_t>(sums.area);
    for (int a = 0; a < 3; ++a) {
        part.lower[a] = static_cast<int64_t>(sums.lower[a]), part.upper[a] = static_cast<int64_t>(sums.upper[a]);
        part.sum[a] = static_cast<int64_t>(sums.sum[a]);
    }
    part.value = value_of(type, key);
    return part;
}

void add(apsis_part &to, const apsis_part &part) {
    to.first = std::min(to.first, part.first);
    to.area += part.area;
    for (int a = 0; a < 3; ++a) {
        to.lower[a] = std::min(to.lower[a], part.lower[a]);
        to.upper[a] = std::max(to.upper[a], part.upper[a]);
        to.sum[a] += part.sum[a];
    }
}

}  // namespace

size_t statistics_scratch(const StatisticsJob &job) {
    Carver carver;
    CollectScratch<RunSums>(plan_of(job), carver);
    return carver.used();
}

void statistics(const StatisticsJob &job, void *memory, cudaStream_t stream, const Progress &progress, HostNumber &number) {
    const Plan plan = plan_of(job);
    Carver carver(memory);
    const CollectScratch<RunSums> scratch(plan, carver);
    const Shape shape = {static_cast<Number>(job.set.size[0]), static_cast<Number>(job.set.size[1])};
    collect<RunSums>(
        plan, shape, bits_of(job.set.type), scratch, stream, number, progress,
        [&](const Items &items, const Segments &segments) {
            with_pixel(job.set.type,
                       [&](auto pixel) { launch(plan.emit, emit_runs<decltype(pixel)>, stream, job.set, segments, items); });
        },
        [&](const std::vector<uint64_t> &keys, const std::vector<RunSums> &sums) {
            std::vector<apsis_part> parts(keys.size());
            for (size_t i = 0; i < keys.size(); ++i) parts[i] = part_of(job.set.type, keys[i], sums[i]);
            merge_into(*job.found, parts, [](const apsis_part &a, const apsis_part &b) { return a.value < b.value; }, add);
        });
}

}  // namespace apsis::cuda::labels
