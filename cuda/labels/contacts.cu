// Contacts of a label image.
//
// Of values of at most 16 bits tiles count the faces of each pair (tile_pairs.cuh).  Otherwise, or if there are too many pairs,
// stretches of faces between the same two values are items, whose key is the pair (collect.cuh): a warp compares a segment of a
// row with its neighbours before it, one direction after the other.  Two values are one key, of 16, 32 or 64 bits.  Values of
// APSIS_I64 are replaced by their ranks among those that occur, which the statistics find.
//
// Cost: a read of the image for each direction, mostly from a cache, and the sort of the stretches.
#include "cuda/labels/collect.cuh"
#include "cuda/labels/tile_pairs.cuh"
#include "cuda/transforms.h"

namespace apsis::cuda::labels {

namespace {

/// The values that occur, in order, on the device.
struct Values {
    const int64_t *value;
    int64_t count;

    __device__ uint64_t rank_of(int64_t of) const {
        int64_t low = 0, high = count - 1;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (value[middle] < of)
                low = middle + 1;
            else
                high = middle;
        }
        return static_cast<uint64_t>(low);
    }
};

template <class Pixel>
__device__ uint64_t number_of(const Values &, Pixel value) {
    return biased(value);
}
__device__ inline uint64_t number_of(const Values &values, int64_t value) { return values.rank_of(value); }

template <class Pixel>
__global__ void __launch_bounds__(BLOCK) emit_faces(View image, bool is_volume, int connectivity, Periodic periodic,
                                                    Values values, int bits, Segments segments, Items items) {
    for_segments(segments, image, [&](int64_t begin, int64_t end, int64_t y, int64_t z) {
        const uint8_t *const row = image.row(y, z);
        for (int n = 0; n < 13; ++n) {  // the directions before (0, 0, 0)
            const Direction to(n);
            const int dx = to.dx;
            const int64_t other_y = periodic.wrap(1, y + to.dy, image.size[1]),
                          other_z = periodic.wrap(2, z + to.dz, image.size[2]);
            if (to.axes > connectivity || (to.dz && !is_volume) || other_y < 0 || other_z < 0) continue;
            const uint64_t kind = static_cast<uint64_t>(to.kind());
            const uint8_t *const other = image.row(other_y, other_z);
            walk(
                begin, end,
                [&](int64_t x, uint64_t &key) {
                    const int64_t other_x = periodic.wrap(0, x + dx, image.size[0]);
                    if (other_x < 0) return false;
                    const Pixel here = pixel_at<Pixel>(image, row, x), there = pixel_at<Pixel>(image, other, other_x);
                    if (here == there || here == 0 || there == 0) return false;
                    const Pixel least = here < there ? here : there, most = here < there ? there : here;
                    key = number_of(values, least) << bits | number_of(values, most);
                    return true;
                },
                [&](bool has_item, uint64_t key, int64_t from, int64_t to) {
                    emit(items, has_item, key, uint64_t(to - from) << KIND_BITS | kind);
                });
        }
    });
}

StatisticsJob values_job(const ContactsJob &job, std::vector<apsis_part> *found) {
    StatisticsJob values;
    values.set = job.set;
    values.found = found;
    return values;
}

/// The memory for values, if pairs are of ranks; then that of the statistics, and that of the faces in the same place.
struct Scratch {
    int64_t *values;
    void *rest;
    size_t bytes;

    Scratch(const ContactsJob &job, const Plan &plan, void *memory) {
        Carver carver(memory);
        values = carver.take<int64_t>(plan.has_ranks ? job.set.pixels() : 0);
        const size_t before = carver.used();
        rest = static_cast<uint8_t *>(memory) + before;
        Carver faces, pairs;
        CollectScratch<FaceSums>(plan, faces);
        if (plan.table) PairScratch(plan, pairs);
        bytes =
            before + std::max({faces.used(), pairs.used(), plan.has_ranks ? statistics_scratch(values_job(job, nullptr)) : 0});
    }
};

}  // namespace

size_t contacts_scratch(const ContactsJob &job) { return Scratch(job, plan_of(job), nullptr).bytes; }

void contacts(const ContactsJob &job, void *memory, cudaStream_t stream, const Progress &progress, HostNumber &number) {
    const Plan plan = plan_of(job);
    const Scratch scratch(job, plan, memory);
    std::vector<int64_t> value;
    if (plan.has_ranks) {
        std::vector<apsis_part> found;
        statistics(values_job(job, &found), scratch.rest, stream, {}, number);
        if (found.size() > UINT32_MAX)
            throw Error(APSIS_ERROR_UNSUPPORTED, "labels: %zu values occur, too many for their contacts on a CUDA device",
                        found.size());
        for (const apsis_part &part : found) value.push_back(part.value);
        check(cudaMemcpyAsync(scratch.values, value.data(), value.size() * sizeof(int64_t), cudaMemcpyHostToDevice, stream),
              "writing values");
    }
    const Values values = {scratch.values, static_cast<int64_t>(value.size())};
    const int bits = std::min(bits_of(job.set.type), 32);
    const auto value_at = [&](uint64_t number_in_key) {
        return plan.has_ranks ? value[number_in_key] : value_of(job.set.type, number_in_key);
    };
    const FaceAreas areas(job);
    size_t written = 0;
    const auto take = [&](const Found<FaceSums> &found) {
        if (!job.told) job.found->resize(written + found.keys.size());
        apsis_contact *const to = (job.told ? job.contacts : job.found->data()) + written;
        for (size_t i = 0; i < found.keys.size(); ++i) {
            const uint64_t key = found.keys[i];
            to[i] = contact_of(value_at(key >> bits), value_at(key & ((uint64_t(1) << bits) - 1)), found.sums[i]);
            for (int a = 0; a < 3; ++a) to[i].area += static_cast<double>(to[i].faces[a]) * areas.area[a];
        }
        written += found.keys.size();
    };
    if (plan.table) {
        Carver carver(scratch.rest);
        if (const PairScratch pairs(plan, carver); TilePairs(job, plan, pairs, stream, number).find()) {
            if (progress) progress(1);
            return;
        }
    }
    Carver carver(scratch.rest);
    const CollectScratch<FaceSums> faces(plan, carver);
    Collection<FaceSums, NoShape> collection(plan, NoShape(), 2 * bits, faces, stream, number);
    const int64_t count = collection.run(
        progress,
        [&](const Items &items, const Segments &segments) {
            with_label_type(job.set.type, [&](auto pixel) {
                launch(plan.emit, emit_faces<decltype(pixel)>, stream, job.set, job.axes == 3, job.connectivity, job.periodic,
                       values, bits, segments, items);
            });
        },
        take, job.told ? job.capacity : INT64_MAX);
    if (job.told) *job.told = count;
}

}  // namespace apsis::cuda::labels
