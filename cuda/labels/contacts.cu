// Contacts of a label image: stretches of faces between the same two values are items, whose key is the pair (collect.cuh).
//
// A warp compares a segment of a row with its neighbours before it, one direction after the other.  Two values are one key, of
// 16, 32 or 64 bits.  Values of APSIS_I64 are replaced by their ranks among those that occur, which the statistics find.
//
// Cost: a read of the image for each direction, mostly from a cache, and the sort of the stretches.
#include <tuple>

#include "cuda/labels/collect.cuh"
#include "cuda/transforms.h"

namespace apsis::cuda::labels {

namespace {

constexpr int KIND_BITS = 2, CORNER = 3;  // of a stretch: the axis that its faces are across, or corners; above, its length

struct NoShape {};

struct FaceSums {
    Number count[4];

    __device__ void clear() {
        for (Number &each : count) each = 0;
    }
    __device__ void add(NoShape, uint64_t stretch) { count[stretch & CORNER] += stretch >> KIND_BITS; }
    __device__ void add_to(FaceSums &to) const {
        for (int i = 0; i < 4; ++i)
            if (count[i]) atomicAdd(&to.count[i], count[i]);
    }
};

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
__global__ void __launch_bounds__(BLOCK)
    emit_faces(View image, bool is_volume, int connectivity, Values values, int bits, Segments segments, Items items) {
    for_segments(segments, image, [&](int64_t begin, int64_t end, int64_t y, int64_t z) {
        const uint8_t *const row = image.row(y, z);
        for (int n = 0; n < 13; ++n) {  // the directions before (0, 0, 0)
            const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, axes = (dx != 0) + (dy != 0) + (dz != 0);
            if (axes > connectivity || (dz && (!is_volume || z == 0)) || y + dy < 0 || y + dy >= image.size[1]) continue;
            const uint64_t kind = axes > 1 ? CORNER : dx ? 0 : dy ? 1 : 2;
            const uint8_t *const other = image.row(y + dy, z + dz);
            walk(
                begin, end,
                [&](int64_t x, uint64_t &key) {
                    if (x + dx < 0 || x + dx >= image.size[0]) return false;
                    const Pixel here = pixel_at<Pixel>(image, row, x), there = pixel_at<Pixel>(image, other, x + dx);
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

bool is_less(const apsis_contact &one, const apsis_contact &other) {
    return std::tie(one.a, one.b) < std::tie(other.a, other.b);
}

void add(apsis_contact &to, const apsis_contact &contact) {
    to.corners += contact.corners;
    for (int a = 0; a < 3; ++a) to.faces[a] += contact.faces[a];
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
        Carver faces;
        CollectScratch<FaceSums>(plan, faces);
        bytes = before + std::max(faces.used(), plan.has_ranks ? statistics_scratch(values_job(job, nullptr)) : 0);
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
    Carver carver(scratch.rest);
    collect<FaceSums>(
        plan, NoShape(), 2 * bits, CollectScratch<FaceSums>(plan, carver), stream, number, progress,
        [&](const Items &items, const Segments &segments) {
            with_pixel(job.set.type, [&](auto pixel) {
                launch(plan.emit, emit_faces<decltype(pixel)>, stream, job.set, job.axes == 3, job.connectivity, values, bits,
                       segments, items);
            });
        },
        [&](const std::vector<uint64_t> &keys, const std::vector<FaceSums> &sums) {
            std::vector<apsis_contact> found(keys.size());
            for (size_t i = 0; i < keys.size(); ++i) {
                apsis_contact &contact = found[i];
                contact.a = value_at(keys[i] >> bits), contact.b = value_at(keys[i] & ((uint64_t(1) << bits) - 1));
                for (int a = 0; a < 3; ++a) contact.faces[a] = static_cast<int64_t>(sums[i].count[a]);
                contact.corners = static_cast<int64_t>(sums[i].count[CORNER]);
            }
            merge_into(*job.found, found, is_less, add);
        });
}

}  // namespace apsis::cuda::labels
