// Small components, many at a time: a field from each of their pixels, in shared memory.  Chosen for components of up to
// MOST_SMALL pixels, if the budget of fields allows it (SizeClasses of eccentricity.cu).
//
// A warp has a component, and a lane a field from one of its pixels, 32 at a time.  All lanes go through the pixels in the
// order of the image, there and back, and shorten the length of each by those of its neighbours before it, until nothing
// changes (Rosenfeld and Pfaltz 1966): mostly twice, since few small shapes wind.
//
// Cost: shared memory of 32 lengths a pixel, and its neighbours.
#pragma once

#include <type_traits>

#include "cuda/paths/plan.h"
#include "cuda/paths/ranks.h"

namespace apsis::cuda::paths {

/// The largest small component: shared memory has room for its fields.
template <class Length>
constexpr uint32_t MOST_SMALL = SMALLEST_CLASS << (sizeof(Length) == 4 ? SIZE_CLASSES - 1 : SIZE_CLASSES - 2);

/// A component of up to `most` pixels in the order of the image, with 32 fields.  HALF: how many neighbours come before a
/// pixel.
template <class Length, int HALF>
struct SmallComponent {
    static constexpr int WORDS = (HALF + 3) / 4;  // of the neighbours before a pixel, or after it; a word has four places
    static constexpr Length UNSEEN = Length(1) << (8 * sizeof(Length) - 2);  // a step can be added to it

    Length *length;                   // [pixel][lane]
    uint32_t *pixel;                  // [pixel]
    uint32_t (*neighbour)[2][WORDS];  // [pixel][before, after]: the places of neighbours, or its own
    uint8_t *place, *order;           // [rank]: the place of its pixel; [place]: its rank

    static constexpr size_t bytes(uint32_t most) {
        return most * (WARP * sizeof(Length) + sizeof(uint32_t) * (1 + 2 * WORDS) + 2);
    }
    __device__ SmallComponent(uint8_t *memory, uint32_t most) {
        length = reinterpret_cast<Length *>(memory);
        pixel = reinterpret_cast<uint32_t *>(length + most * WARP);
        neighbour = reinterpret_cast<uint32_t(*)[2][WORDS]>(pixel + most);
        place = reinterpret_cast<uint8_t *>(neighbour + most);
        order = place + most;
    }

    /// Warp: loads the pixels by rank, and finds their places in the order of the image.
    __device__ void load(const Ranks &ranks, uint32_t begin, uint32_t size) const {
        const uint32_t *const from = ranks.pixel + begin;
        for (uint32_t i = threadIdx.x; i < size; i += WARP) {
            const uint32_t own = from[i];
            uint32_t before = 0;
            for (uint32_t k = 0; k < size; ++k) before += from[k] < own;
            pixel[before] = own;
            place[i] = static_cast<uint8_t>(before);
            order[before] = static_cast<uint8_t>(i);
        }
        __syncwarp();
    }

    /// Warp: finds the places of all neighbours.
    __device__ void find_neighbours(const Ranks &ranks, const Moves &moves, uint32_t begin, uint32_t size) const {
        for (uint32_t i = threadIdx.x; i < size; i += WARP) {
            const Raster::Place at = ranks.raster.place(pixel[i]);
            for (int on = 0; on < 2; ++on) {
                for (int w = 0; w < WORDS; ++w) neighbour[i][on][w] = i * 0x01010101u;
                for (int k = 0; k < HALF; ++k) {
                    const uint32_t to = moves.target(ranks.raster, at, on * HALF + k);
                    const uint32_t rank = to == NO_PIXEL ? NO_PIXEL : ranks.rank[to];
                    if (rank - begin >= size) continue;  // of another component, or none
                    const int bit = k % 4 * 8;
                    uint32_t &word = neighbour[i][on][k / 4];
                    word = (word & ~(255u << bit)) | static_cast<uint32_t>(place[rank - begin]) << bit;
                }
            }
        }
        __syncwarp();
    }

    /// Shortens a pixel's length in this lane's field by those of its neighbours on one side.  Returns whether it has changed.
    __device__ bool shorten(const Moves &moves, uint32_t i, int on) const {
        Length &own = length[i * WARP + threadIdx.x];
        const Length before = own;
        Length least = before;
#pragma unroll
        for (int k = 0; k < HALF; ++k) {
            const uint32_t other = neighbour[i][on][k / 4] >> k % 4 * 8 & 255;
            least = min(least, length[other * WARP + threadIdx.x] + static_cast<Length>(moves.weight[on * HALF + k]));
        }
        own = least;
        return least < before;
    }

    /// Warp: finds the field of each lane, from the pixel at its `source`.
    __device__ void find_fields(const Moves &moves, uint32_t source, uint32_t size) const {
        for (uint32_t i = 0; i < size; ++i) length[i * WARP + threadIdx.x] = i == source ? 0 : UNSEEN;
        // Both orders have to find nothing where a neighbour before a pixel may come after it, across a seam.
        const int enough = moves.is_periodic ? 2 : 1;
        for (int turn = 0, still = 0; still < enough; ++turn) {
            bool changes = turn == 0;
            if (turn % 2 == 0)
                for (uint32_t i = 0; i < size; ++i) changes |= shorten(moves, i, 0);
            else
                for (uint32_t i = size; i-- > 0;) changes |= shorten(moves, i, 1);
            still = __any_sync(ALL_LANES, changes) ? 0 : still + 1;
        }
    }
};

/// Solves small components, a warp each.
template <class Length, int HALF>
__global__ void __launch_bounds__(WARP) solve_small_components(Ranks ranks, Moves moves, const uint32_t *list, uint32_t count,
                                                               uint32_t most, Length *longest, uint32_t *farthest) {
    extern __shared__ __align__(16) uint8_t memory[];
    const SmallComponent<Length, HALF> small(memory, most);
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
        const uint32_t begin = ranks.start[list[i]], size = ranks.start[list[i] + 1] - begin;
        __syncwarp();
        small.load(ranks, begin, size);
        small.find_neighbours(ranks, moves, begin, size);
        for (uint32_t first = 0; first < size; first += WARP) {
            const uint32_t source = first + threadIdx.x;
            small.find_fields(moves, source, size);
            Length best = -1;
            uint32_t far = 0;
            for (uint32_t k = 0; k < size; ++k)
                if (const Length length = small.length[k * WARP + threadIdx.x]; length > best) best = length, far = k;
            if (source >= size) continue;
            const uint32_t rank = begin + small.order[source];
            longest[rank] = best;
            farthest[rank] = small.pixel[far];
        }
    }
}

/// Calls body(half) with how many neighbours come before a pixel, a constant.
template <class Body>
auto with_half(int neighbours, Body body) {
    switch (neighbours) {
        case 4: return body(std::integral_constant<int, 2>());
        case 6: return body(std::integral_constant<int, 3>());
        case 8: return body(std::integral_constant<int, 4>());
        case 18: return body(std::integral_constant<int, 9>());
        default: return body(std::integral_constant<int, 13>());
    }
}

/// The launch for a class, of components of at most `most` pixels; empty if there is no such class.
template <class Length>
Launch plan_small(const EccentricityJob &job, uint32_t most) {
    if (most > MOST_SMALL<Length>) return {};
    return with_half(Moves(job).count, [&](auto half) -> Launch {
        return {"solve_small_components", 1, WARP, SmallComponent<Length, half>::bytes(most)};
    });
}

/// Finds the eccentricities of listed components of a class.
template <class Length>
void solve_small(const EccentricityJob &job, const Launch &plan, const Ranks &ranks, const uint32_t *list, uint32_t count,
                 uint32_t most, const LowerBounds<Length> &found, cudaStream_t stream) {
    const Moves moves(job);
    Launch all = plan;
    all.blocks = count;
    with_half(moves.count, [&](auto half) {
        launch(all, solve_small_components<Length, half>, stream, ranks, moves, list, count, most, found.lower, found.farthest);
    });
}

}  // namespace apsis::cuda::paths
