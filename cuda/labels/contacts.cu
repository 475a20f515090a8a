// Contacts of a label image.
//
// Of values of at most 16 bits tiles count the faces of each pair (tiles.cuh), and add them to a hash table of all pairs; the
// pairs that are there are sorted.  Otherwise, or if there are too many pairs, stretches of faces between the same two values
// are items, whose key is the pair (collect.cuh): a warp compares a segment of a row with its neighbours before it, one
// direction after the other.  Two values are one key, of 16, 32 or 64 bits.  Values of APSIS_I64 are replaced by their ranks
// among those that occur, which the statistics find.
//
// Cost: a read of the image for each direction, mostly from a cache; and an atomic operation for each pair in a tile, or the
// sort of the stretches.
#include "cuda/labels/collect.cuh"
#include "cuda/labels/tiles.cuh"
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
    __device__ void add(const FaceSums &sums) {
        for (int i = 0; i < 4; ++i) count[i] += sums.count[i];
    }
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

/// A neighbour before a pixel, of 13, and the kind of their face.
struct Direction {
    int dx, dy, dz, axes;
    __device__ explicit Direction(int n)
        : dx(n % 3 - 1),
          dy(n / 3 % 3 - 1),
          dz(n / 9 - 1),
          axes((dx != 0) + (dy != 0) + (dz != 0)) {}
    __device__ int kind() const { return axes > 1 ? CORNER : dx ? 0 : dy ? 1 : 2; }
};

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

/// The pairs of an image: a hash table in global memory.
struct Pairs {
    static constexpr int TRIES = 64;

    uint32_t *key;  // [slot]: the lower value in the upper half
    FaceSums *sums;
    uint32_t *lost;  // whether there was no room for some
    uint32_t slots;
};

/// Adds faces of a pair.  Not inline, as it is long and seldom called: a tile has few pairs.
static __noinline__ __device__ void add_faces(Pairs pairs, uint32_t pair, int kind, uint32_t count) {
    if (const int slot = slot_of(pairs.key, pairs.slots, pair, Pairs::TRIES); slot >= 0)
        atomicAdd(&pairs.sums[slot].count[kind], Number(count));
    else
        *pairs.lost = 1;
}

/// Counts the faces of the pairs in a tile, and adds them to those of the image.
template <class Pixel, class Tile>
__global__ void __launch_bounds__(BLOCK) count_tiles(View image, int64_t tiles, bool is_volume, int connectivity, Pairs pairs) {
    constexpr int AT_ONCE = 4;
    static_assert(Tile::ROWS % AT_ONCE == 0);
    __shared__ uint32_t key[TILE_SLOTS], count[CORNER + 1][TILE_SLOTS];
    for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        if (__syncthreads_or(*const_cast<const volatile uint32_t *>(pairs.lost) != 0)) return;
        const Tile tile(image, i);
        for (int slot = threadIdx.x; slot < TILE_SLOTS; slot += BLOCK) {
            key[slot] = NO_KEY;
            for (auto &of_kind : count) of_kind[slot] = 0;
        }
        __syncthreads();
        const uint8_t *const first = image.row(tile.origin[1], tile.origin[2]) + tile.origin[0] * image.stride[0];
        const auto touch = [&](uint32_t own, uint32_t other, int kind) {
            const bool touches = own && other && own != other;
            if (!__any_sync(ALL_LANES, touches)) return;
            const uint32_t pair = touches ? min(own, other) << 16 | max(own, other) : NO_KEY;
            const uint32_t alike = __match_any_sync(ALL_LANES, pair);
            if (!touches || static_cast<int>(threadIdx.x) % WARP != __ffs(alike) - 1) return;
            if (const int slot = slot_of(key, TILE_SLOTS, pair, TILE_TRIES); slot >= 0)
                atomicAdd(&count[kind][slot], static_cast<uint32_t>(__popc(alike)));
            else
                add_faces(pairs, pair, kind, static_cast<uint32_t>(__popc(alike)));
        };
        const auto count_words = [&](auto is_inner) {  // std::true_type: all pixels and their neighbours are inside the image
            const auto value_at = [&](int dx, int dy, int dz) -> uint32_t {  // from the tile's first pixel
                const int64_t x = tile.origin[0] + dx, y = tile.origin[1] + dy, z = tile.origin[2] + dz;
                if (!decltype(is_inner)::value &&
                    (x < 0 || y < 0 || z < 0 || x >= image.size[0] || y >= image.size[1] || z >= image.size[2]))
                    return 0;
                const uint8_t *const pixel = first + dx * image.stride[0] + dy * image.stride[1] + dz * image.stride[2];
                return *reinterpret_cast<const Pixel *>(pixel);
            };
            const bool is_first = threadIdx.x % WARP == 0;
            uint32_t own[AT_ONCE], left[AT_ONCE], behind[AT_ONCE];  // left: of the first lane
            uint32_t above = 0;
            Tile::template for_words<AT_ONCE>(
                [&](int n, int dx, int dy, int dz) {
                    own[n] = value_at(dx, dy, dz);
                    left[n] = is_first ? value_at(dx - 1, dy, dz) : 0;
                    behind[n] = is_volume ? value_at(dx, dy, dz - 1) : 0;
                    if (n == 0) above = value_at(dx, dy - 1, dz);
                },
                [&](int n, int dx, int dy, int dz) {
                    const uint32_t beside = __shfl_up_sync(ALL_LANES, own[n], 1);
                    touch(own[n], is_first ? left[n] : beside, 0);
                    touch(own[n], above, 1);
                    if (is_volume) touch(own[n], behind[n], 2);
                    above = own[n];
                    if (connectivity == 1) return;
#pragma unroll 1
                    for (int d = is_volume ? 0 : 9; d < 13; ++d)
                        if (const Direction to(d); to.axes > 1 && to.axes <= connectivity)
                            touch(own[n], value_at(dx + to.dx, dy + to.dy, dz + to.dz), CORNER);
                });
        };
        if (tile.is_inside(image, 1, 1, is_volume))
            count_words(std::true_type());
        else
            count_words(std::false_type());
        __syncthreads();
        for (int slot = threadIdx.x; slot < TILE_SLOTS; slot += BLOCK) {
            if (key[slot] == NO_KEY) continue;
            for (int kind = 0; kind <= CORNER; ++kind)
                if (const uint32_t faces = count[kind][slot]) add_faces(pairs, key[slot], kind, faces);
        }
        __syncthreads();
    }
}

/// Counts the faces of pairs across a seam.
template <class Pixel>
__global__ void __launch_bounds__(BLOCK) count_seam(View image, Seam seam, Pairs pairs) {
    const int64_t i = first_item();
    if (i >= seam.pixels()) return;
    seam.for_neighbours(i, [&](const int64_t(&at)[3], const int64_t(&to)[3], int axes) {
        const uint32_t own = pixel_at<Pixel>(image, image.row(at[1], at[2]), at[0]),
                       other = pixel_at<Pixel>(image, image.row(to[1], to[2]), to[0]);
        if (own && other && own != other)
            add_faces(pairs, min(own, other) << 16 | max(own, other), axes > 1 ? CORNER : seam.axis, 1);
    });
}

/// Lists the pairs that are there, in any order; more than there can be if some are lost.
static __global__ void __launch_bounds__(BLOCK) list_pairs(Pairs pairs, Items items) {
    const int64_t i = first_item();
    const uint32_t pair = i < pairs.slots ? pairs.key[i] : NO_KEY;
    emit(items, pair != NO_KEY, pair, static_cast<uint64_t>(i));
    if (i == 0 && *pairs.lost) atomicAdd(items.count, items.capacity + 1);
}

/// A contact without its area.
APSIS_BOTH apsis_contact contact_of(int64_t a, int64_t b, const FaceSums &sums) {
    apsis_contact contact = {};
    contact.a = a, contact.b = b;
    for (int axis = 0; axis < 3; ++axis) contact.faces[axis] = static_cast<int64_t>(sums.count[axis]);
    contact.corners = static_cast<int64_t>(sums.count[CORNER]);
    return contact;
}

/// The area of a face across each axis.
struct FaceAreas {
    double area[3];

    explicit FaceAreas(const ContactsJob &job) : area{} { std::copy_n(job.face, job.axes, area); }
};

/// Makes the contacts of pairs that are sorted by their keys.
static __global__ void __launch_bounds__(BLOCK) gather_contacts(Pairs pairs, const uint64_t *key, const uint64_t *slot,
                                                                int64_t count, FaceAreas faces, apsis_contact *contacts) {
    const int64_t i = first_item();
    if (i >= count) return;
    apsis_contact contact =
        contact_of(static_cast<int64_t>(key[i] >> 16), static_cast<int64_t>(key[i] & 0xffff), pairs.sums[slot[i]]);
    for (int a = 0; a < 3; ++a)  // rounded twice, as on the host
        contact.area = __dadd_rn(contact.area, __dmul_rn(static_cast<double>(contact.faces[a]), faces.area[a]));
    contacts[i] = contact;
}

StatisticsJob values_job(const ContactsJob &job, std::vector<apsis_part> *found) {
    StatisticsJob values;
    values.set = job.set;
    values.found = found;
    return values;
}

/// The scratch memory of pairs that tiles find.
struct PairScratch {
    Pairs pairs;
    uint64_t *key[2], *slot[2];  // to be sorted
    apsis_contact *contacts;
    uint32_t *number;
    uint8_t *cub;
    size_t cub_bytes;

    PairScratch(const Plan &plan, Carver &carver) {
        pairs.slots = static_cast<uint32_t>(plan.table);
        pairs.key = carver.take<uint32_t>(plan.table), pairs.sums = carver.take<FaceSums>(plan.table);
        for (uint64_t *&each : key) each = carver.take<uint64_t>(plan.table);
        for (uint64_t *&each : slot) each = carver.take<uint64_t>(plan.table);
        contacts = carver.take<apsis_contact>(plan.table);
        pairs.lost = carver.take<uint32_t>(1), number = carver.take<uint32_t>(1);
        cub_bytes = sort_scratch<uint64_t>(plan.table, 32);
        cub = carver.take<uint8_t>(static_cast<int64_t>(cub_bytes));
    }
};

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

/// Finds the contacts by tiles.  Returns false if there are too many.
bool count_by_tiles(const ContactsJob &job, const Plan &plan, void *memory, cudaStream_t stream, HostNumber &number) {
    Carver carver(memory);
    const PairScratch scratch(plan, carver);
    const Pairs &pairs = scratch.pairs;
    check(cudaMemsetAsync(pairs.key, 0xff, pairs.slots * sizeof *pairs.key, stream), "clearing pairs");
    check(cudaMemsetAsync(pairs.sums, 0, pairs.slots * sizeof *pairs.sums, stream), "clearing sums");
    for (uint32_t *each : {pairs.lost, scratch.number})
        check(cudaMemsetAsync(each, 0, sizeof *each, stream), "clearing a number");
    with_label_type(job.set.type, [&](auto pixel) {
        using Pixel = decltype(pixel);
        if constexpr (sizeof(Pixel) <= 2) {
            launch(plan.tiles, plan.is_volume ? count_tiles<Pixel, VolumeTile> : count_tiles<Pixel, PlaneTile>, stream, job.set,
                   plan.tile_count, job.axes == 3, job.connectivity, pairs);
            for (int axis = 0; axis < 3; ++axis)
                if (const Seam seam(job, axis); job.periodic.along[axis])
                    launch("count_seam", count_seam<Pixel>, ceil_div(seam.pixels(), BLOCK), BLOCK, stream, job.set, seam,
                           pairs);
        }
    });
    const Items items = {scratch.key[0], scratch.slot[0], scratch.number, pairs.slots};
    launch("list_pairs", list_pairs, ceil_div(pairs.slots, BLOCK), BLOCK, stream, pairs, items);
    number.ask(scratch.number, stream);
    const int64_t count = number.wait();
    if (count > pairs.slots) return false;
    if (job.told)
        *job.told = count;
    else
        job.found->resize(static_cast<size_t>(count));
    const int64_t wanted = job.told ? std::min(count, job.capacity) : count;
    if (wanted == 0) return true;
    SortBuffers<uint64_t> key{scratch.key[0], scratch.key[1]}, slot{scratch.slot[0], scratch.slot[1]};
    sort_pairs(scratch.cub, scratch.cub_bytes, key, slot, count, 32, "sorting pairs", stream);
    launch("gather_contacts", gather_contacts, ceil_div(wanted, BLOCK), BLOCK, stream, pairs, key.current, slot.current, wanted,
           FaceAreas(job), scratch.contacts);
    check(cudaMemcpyAsync(job.told ? job.contacts : job.found->data(), scratch.contacts,
                          static_cast<size_t>(wanted) * sizeof *scratch.contacts, cudaMemcpyDeviceToHost, stream),
          "reading contacts");
    check(cudaStreamSynchronize(stream), "reading contacts");
    return true;
}

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
    if (plan.table && count_by_tiles(job, plan, scratch.rest, stream, number)) {
        if (progress) progress(1);
        return;
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
