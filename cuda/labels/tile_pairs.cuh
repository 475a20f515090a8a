// Contacts by tiles, for labels of at most 16 bits.
//
// A block counts the faces of each pair of values in its tile, and adds them to a hash table of all pairs in global memory; the
// pairs that are there are sorted.  Where the table has no room for all, the set of pairs says how many there are, and which
// are the first ones (pair_set.cuh).  Then the faces of these are counted, by ranges of pairs for which the table has room, as
// many as the caller wants.
//
// Cost: a read of the image for each range, and an atomic operation for each pair in a tile.
#pragma once

#include <numeric>

#include "cuda/labels/contact_sums.cuh"
#include "cuda/labels/pair_set.cuh"
#include "cuda/labels/tiles.cuh"
#include "cuda/runtime/host_number.h"
#include "cuda/runtime/scan_and_sort.h"
#include "runtime/workspace.h"

namespace apsis::cuda::labels {

/// The pairs that are looked for, by their keys: the lower value in the upper half.
struct PairRange {
    uint32_t first = 0, others = NO_KEY - 1;  // NO_KEY is in none

    __device__ bool has(uint32_t key) const { return key - first <= others; }
};

/// The pairs of an image: a hash table in global memory.
struct Pairs {
    static constexpr bool COUNTS = true;
    static constexpr int TILE_SLOTS = labels::TILE_SLOTS, TRIES = 64;

    uint32_t *key;  // [slot]
    FaceSums *sums;
    uint32_t *lost;  // whether there was no room for some
    uint32_t slots;

    __device__ bool is_full() const { return *const_cast<const volatile uint32_t *>(lost) != 0; }

    __device__ void add(uint32_t pair, int kind, uint32_t count) const;
};

/// Not inline, as it is long and seldom called: a tile has few pairs.
static __noinline__ __device__ void add_faces(Pairs pairs, uint32_t pair, int kind, uint32_t count) {
    if (pairs.is_full()) return;
    if (const int slot = slot_of(pairs.key, pairs.slots, pair, Pairs::TRIES); slot >= 0)
        atomicAdd(&pairs.sums[slot].count[kind], Number(count));
    else
        *pairs.lost = 1;
}

__device__ inline void Pairs::add(uint32_t pair, int kind, uint32_t count) const { add_faces(*this, pair, kind, count); }

constexpr int RESIDENT = 5;  // blocks on a multiprocessor: leaves a thread 48 registers

/// Finds the pairs in a tile, and adds them to those of the image.
template <class Pixel, class Tile, class Found>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
    find_in_tiles(View image, int64_t tiles, bool is_volume, int connectivity, PairRange range, Found found) {
    constexpr int AT_ONCE = 4, SLOTS = Found::TILE_SLOTS;
    static_assert(Tile::ROWS % AT_ONCE == 0);
    __shared__ uint32_t key[SLOTS], count[CORNER + 1][Found::COUNTS ? SLOTS : 1];
    for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        if (__syncthreads_or(found.is_full())) return;
        const Tile tile(image, i);
        for (int slot = threadIdx.x; slot < SLOTS; slot += BLOCK) {
            key[slot] = NO_KEY;
            if constexpr (Found::COUNTS)
                for (auto &of_kind : count) of_kind[slot] = 0;
        }
        __syncthreads();
        const uint8_t *const first = image.row(tile.origin[1], tile.origin[2]) + tile.origin[0] * image.stride[0];
        const auto touch = [&](uint32_t own, uint32_t other, int kind) {
            const bool touches = own && other && own != other;
            if (!__any_sync(ALL_LANES, touches)) return;
            const uint32_t pair = touches ? min(own, other) << 16 | max(own, other) : NO_KEY;
            const uint32_t alike = __match_any_sync(ALL_LANES, pair);
            if (!range.has(pair) || static_cast<int>(threadIdx.x) % WARP != __ffs(alike) - 1) return;
            const uint32_t faces = static_cast<uint32_t>(__popc(alike));
            if (const int slot = slot_of(key, SLOTS, pair, TILE_TRIES); slot < 0)
                found.add(pair, kind, faces);
            else if constexpr (Found::COUNTS)
                atomicAdd(&count[kind][slot], faces);
        };
        const auto find_in_words = [&](auto is_inner) {  // std::true_type: all pixels and their neighbours are inside the image
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
            find_in_words(std::true_type());
        else
            find_in_words(std::false_type());
        __syncthreads();
        for (int slot = threadIdx.x; slot < SLOTS; slot += BLOCK) {
            if (key[slot] == NO_KEY) continue;
            if constexpr (Found::COUNTS) {
                for (int kind = 0; kind <= CORNER; ++kind)
                    if (const uint32_t faces = count[kind][slot]) found.add(key[slot], kind, faces);
            } else {
                found.add(key[slot], 0, 1);
            }
        }
        __syncthreads();
    }
}

/// Finds the pairs across a seam.
template <class Pixel, class Found>
__global__ void __launch_bounds__(BLOCK) find_in_seam(View image, Seam seam, PairRange range, Found found) {
    const int64_t i = first_item();
    if (i >= seam.pixels()) return;
    seam.for_neighbours(i, [&](const int64_t(&at)[3], const int64_t(&to)[3], int axes) {
        const uint32_t own = pixel_at<Pixel>(image, image.row(at[1], at[2]), at[0]),
                       other = pixel_at<Pixel>(image, image.row(to[1], to[2]), to[0]);
        if (own == 0 || other == 0 || own == other) return;
        if (const uint32_t pair = min(own, other) << 16 | max(own, other); range.has(pair))
            found.add(pair, axes > 1 ? CORNER : seam.axis, 1);
    });
}

/// Lists the pairs that are there, in any order; more than there can be if some are lost.
static __global__ void __launch_bounds__(BLOCK) list_pairs(Pairs pairs, Items items) {
    const int64_t i = first_item();
    const uint32_t pair = i < pairs.slots ? pairs.key[i] : NO_KEY;
    emit(items, pair != NO_KEY, pair, static_cast<uint64_t>(i));
    if (i == 0 && *pairs.lost) atomicAdd(items.count, items.capacity + 1);
}

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

/// The scratch memory of pairs that tiles find.
struct PairScratch {
    Pairs pairs;
    uint64_t *key[2], *slot[2];  // to be sorted
    apsis_contact *contacts;
    uint32_t *number;
    PairSet set;
    uint32_t *in_chunk;  // [chunk of the set]: how many pairs it has
    uint8_t *cub;
    size_t cub_bytes;

    PairScratch(const Plan &plan, Carver &carver) {
        pairs.slots = static_cast<uint32_t>(plan.table);
        pairs.key = carver.take<uint32_t>(plan.table), pairs.sums = carver.take<FaceSums>(plan.table);
        for (uint64_t *&each : key) each = carver.take<uint64_t>(plan.table);
        for (uint64_t *&each : slot) each = carver.take<uint64_t>(plan.table);
        contacts = carver.take<apsis_contact>(plan.table);
        pairs.lost = carver.take<uint32_t>(1), number = carver.take<uint32_t>(1);
        set = {carver.take<uint32_t>(plan.set_words), plan.values};
        in_chunk = carver.take<uint32_t>(plan.count.blocks);
        cub_bytes = sort_scratch<uint64_t>(plan.table, 32);
        cub = carver.take<uint8_t>(static_cast<int64_t>(cub_bytes));
    }
};

/// The contacts of a job, by tiles.
class TilePairs {
  public:
    TilePairs(const ContactsJob &job, const Plan &plan, const PairScratch &scratch, cudaStream_t stream, HostNumber &number)
        : job_(job),
          plan_(plan),
          scratch_(scratch),
          stream_(stream),
          number_(number) {}

    /// Returns false if it does not serve: there are too many pairs, or too many whose slots are the same.
    bool find() {
        if (const int64_t count = count_range({}); count <= plan_.table) {
            write(count, 0, begin(count));
            return true;
        }
        if (plan_.set_words == 0) return false;
        const std::vector<uint32_t> in_chunk = find_set();
        const size_t chunks = in_chunk.size();
        const int64_t wanted = begin(std::accumulate(in_chunk.begin(), in_chunk.end(), int64_t(0)));
        int64_t written = 0;
        for (size_t chunk = 0; written < wanted && chunk < chunks;) {
            const size_t first = chunk;
            int64_t pairs = 0;
            do pairs += in_chunk[chunk++];
            while (chunk < chunks && written + pairs < wanted && pairs + in_chunk[chunk] <= plan_.table / 2);
            const int64_t count = count_range(range_of(first, chunk));
            if (count > plan_.table) return false;
            written += write(count, written, wanted);
        }
        return true;
    }

  private:
    template <class Found>
    void launch_tiles(const PairRange &range, const Found &found) {
        with_label_type(job_.set.type, [&](auto pixel) {
            using Pixel = decltype(pixel);
            if constexpr (sizeof(Pixel) <= 2) {
                launch(plan_.tiles,
                       plan_.is_volume ? find_in_tiles<Pixel, VolumeTile, Found> : find_in_tiles<Pixel, PlaneTile, Found>,
                       stream_, job_.set, plan_.tile_count, job_.axes == 3, job_.connectivity, range, found);
                for (int axis = 0; axis < 3; ++axis)
                    if (const Seam seam(job_, axis); job_.periodic.along[axis])
                        launch("find_in_seam", find_in_seam<Pixel, Found>, ceil_div(seam.pixels(), BLOCK), BLOCK, stream_,
                               job_.set, seam, range, found);
            }
        });
    }

    /// Counts the faces of pairs in a range.  Returns how many pairs there are; more than there are slots if some are lost.
    int64_t count_range(const PairRange &range) {
        const Pairs &pairs = scratch_.pairs;
        check(cudaMemsetAsync(pairs.key, 0xff, pairs.slots * sizeof *pairs.key, stream_), "clearing pairs");
        check(cudaMemsetAsync(pairs.sums, 0, pairs.slots * sizeof *pairs.sums, stream_), "clearing sums");
        for (uint32_t *each : {pairs.lost, scratch_.number})
            check(cudaMemsetAsync(each, 0, sizeof *each, stream_), "clearing a number");
        launch_tiles(range, pairs);
        const Items items = {scratch_.key[0], scratch_.slot[0], scratch_.number, pairs.slots};
        launch("list_pairs", list_pairs, ceil_div(pairs.slots, BLOCK), BLOCK, stream_, pairs, items);
        number_.ask(scratch_.number, stream_);
        return number_.wait();
    }

    /// Finds all pairs.  Returns how many each chunk of the set has.
    std::vector<uint32_t> find_set() {
        std::vector<uint32_t> in_chunk(static_cast<size_t>(plan_.count.blocks));
        const size_t bytes = in_chunk.size() * sizeof in_chunk[0];
        check(cudaMemsetAsync(scratch_.set.word, 0, static_cast<size_t>(plan_.set_words) * sizeof(uint32_t), stream_),
              "clearing the set of pairs");
        check(cudaMemsetAsync(scratch_.in_chunk, 0, bytes, stream_), "clearing counts");
        launch_tiles({}, scratch_.set);
        launch(plan_.count, count_pairs, stream_, scratch_.set, plan_.set_words, plan_.chunk, scratch_.in_chunk);
        check(cudaMemcpyAsync(in_chunk.data(), scratch_.in_chunk, bytes, cudaMemcpyDeviceToHost, stream_), "reading counts");
        check(cudaStreamSynchronize(stream_), "reading counts");
        return in_chunk;
    }

    /// The pairs of some chunks of the set.
    PairRange range_of(size_t first, size_t end) const {
        const PairSet &set = scratch_.set;
        const int64_t places = plan_.chunk * WARP;
        const uint32_t least = set.key_at(static_cast<int64_t>(first) * places);
        return {least, set.key_at(std::min(static_cast<int64_t>(end) * places, set.places()) - 1) - least};
    }

    /// Tells how many contacts there are.  Returns how many are wanted.
    int64_t begin(int64_t count) {
        if (job_.told) return *job_.told = count, std::min(count, job_.capacity);
        job_.found->resize(static_cast<size_t>(count));
        return count;
    }

    /// Writes the contacts of a range, behind those that are written.  Returns how many these are.
    int64_t write(int64_t count, int64_t written, int64_t wanted) {
        const int64_t now = std::min(count, wanted - written);
        if (now == 0) return 0;
        SortBuffers<uint64_t> key{scratch_.key[0], scratch_.key[1]}, slot{scratch_.slot[0], scratch_.slot[1]};
        sort_pairs(scratch_.cub, scratch_.cub_bytes, key, slot, count, 32, "sorting pairs", stream_);
        launch("gather_contacts", gather_contacts, ceil_div(now, BLOCK), BLOCK, stream_, scratch_.pairs, key.current,
               slot.current, now, FaceAreas(job_), scratch_.contacts);
        check(cudaMemcpyAsync((job_.told ? job_.contacts : job_.found->data()) + written, scratch_.contacts,
                              static_cast<size_t>(now) * sizeof *scratch_.contacts, cudaMemcpyDeviceToHost, stream_),
              "reading contacts");
        check(cudaStreamSynchronize(stream_), "reading contacts");
        return now;
    }

    const ContactsJob &job_;
    const Plan &plan_;
    const PairScratch &scratch_;
    const cudaStream_t stream_;
    HostNumber &number_;
};

}  // namespace apsis::cuda::labels
