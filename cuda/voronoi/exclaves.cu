// apsis_voronoi with APSIS_CONNECTED on CUDA: exclaves are found in the complete map and hidden in it.  core/cells.h has the
// method, three stages, and its paper.
//
// A stage has two kernels.  The first one searches the whole map for the pixels that the stage changes first: tips in stage
// CLOSE, then suspects.  For tips a warp walks down a strip, a lane a column.  It loads the cells of the strip at once, and
// finds the cells beside them in the first cache.  Further changes lie beside earlier ones.  In the second kernel one block
// finds them round by round, so that the host reads nothing back.
//
// Cost: the map is read once, 4 or 8 bytes a pixel, and bits take 3/8 byte to clear and 3/8 to search.  Memory: 20 bytes, or
// 28, for 32 pixels, as on the CPU.
#include "core/cells.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/progress.h"
#include "cuda/transforms.h"
#include "runtime/workspace.h"

namespace apsis::cuda::voronoi {

namespace {

constexpr int STRIP_ROWS = 16;       // the rows above and below a strip add an eighth to what is read
constexpr int ROUND_THREADS = 1024;  // of the block that works in rounds: the most that a block may have, since it runs alone

template <class Map>
using Index = typename Map::Index;

/// Adds bits of a word to a front.  Returns the bits that it did not have.
template <class Word>
__device__ uint32_t add(const Front<Word> &to, Word word, uint32_t bits) {
    const uint32_t before = atomicOr(&to.bits[word], bits);
    if (!before) to.list[atomicAdd(to.count, Word(1))] = word;
    return bits & ~before;
}

/// A warp takes a strip of 32 columns, and puts its tips into a front.
template <class Map>
__global__ void __launch_bounds__(BLOCK) find_tips(Map map, Front<Index<Map>> tips) {
    const int lane = threadIdx.x % WARP, width = static_cast<int>(map.width), height = static_cast<int>(map.height);
    const int64_t across = map.across, strips = ceil_div(height, STRIP_ROWS), total = across * strips * map.view.size[2];
    for (int64_t item = first_item() / WARP; item < total; item += item_step() / WARP) {
        const int64_t strip = item / across;
        Place p{static_cast<int>(item - strip * across) * WARP + lane, static_cast<int>(strip % strips) * STRIP_ROWS,
                static_cast<int>(strip / strips)};
        using Cell = typename Map::Cell;
        Cell cell[STRIP_ROWS];
#pragma unroll
        for (int k = 0; k < STRIP_ROWS; ++k) cell[k] = p.x < width && p.y + k < height ? map.at({p.x, p.y + k, p.z}) : Cell(-1);
#pragma unroll
        for (int k = 0; k < STRIP_ROWS; ++k, ++p.y) {
            const uint32_t bits = __ballot_sync(ALL_LANES, map.is_tip(p, cell[k]));
            if (bits && lane == 0) add(tips, map.word_of(p), bits);
        }
    }
}

/// Calls body(place) for the pixels of a word that have a bit.
template <class Map, class Body>
__device__ void for_places(const Map &map, Index<Map> word, uint32_t bits, Body body) {
    for (; bits; bits &= bits - 1) body(map.place_of(word, lowest_bit(bits)));
}

/// Puts a pixel into a front if the stage changes it and the front does not have it.
template <Stage STAGE, class Map>
__device__ void add_if_wanted(const Map &map, const Front<Index<Map>> &front, Place p) {
    if (map.template wants<STAGE>(p) && add(front, map.word_of(p), 1u << p.x % WARP) && STAGE == Stage::HIDE) map.hide(p);
}

/// Finds the suspects that a stage changes first.  A thread takes a word.  Nothing that it reads changes meanwhile.
template <Stage STAGE, class Map>
__global__ void __launch_bounds__(BLOCK) find_first(Map map, Front<Index<Map>> first) {
    for (int64_t word = first_item(); word < int64_t(map.words()); word += item_step())
        for_places(map, static_cast<Index<Map>>(word), map.suspects[word],
                   [&](Place p) { add_if_wanted<STAGE>(map, first, p); });
}

/// One block changes the pixels of the front, finds the pixels beside them that change next, and so on until there are none.
template <Stage STAGE, class Map>
__global__ void __launch_bounds__(ROUND_THREADS, 1) run_rounds(Map map, Front<Index<Map>> current, Front<Index<Map>> next) {
    for (;;) {
        const Index<Map> count = *current.count;
        if (count == 0) return;
        for (Index<Map> i = threadIdx.x; i < count; i += ROUND_THREADS)
            map.suspects[current.list[i]] ^= current.bits[current.list[i]];
        __syncthreads();
        for (Index<Map> i = threadIdx.x; i < count; i += ROUND_THREADS) {
            const Index<Map> word = current.list[i];
            for_places(map, word, current.bits[word],
                       [&](Place p) { map.any_beside(p, [&](Place q) { return add_if_wanted<STAGE>(map, next, q), false; }); });
            current.bits[word] = 0;
        }
        if (threadIdx.x == 0) *current.count = 0;
        __syncthreads();
        const Front<Index<Map>> done = current;
        current = next;
        next = done;
    }
}

/// Suspects that no round has reached belong to no cell.
template <class Map>
__global__ void __launch_bounds__(BLOCK) clear_unreached(Map map) {
    for (int64_t word = first_item(); word < int64_t(map.words()); word += item_step())
        for_places(map, static_cast<Index<Map>>(word), map.suspects[word], [&](Place p) { map.forget(p); });
}

template <class Map>
struct Scratch {
    Map map;
    Front<Index<Map>> current, next;
    size_t bits_bytes, bytes;

    Scratch(const VoronoiJob &job, void *memory) : map(job.nearest, job.measure, job.axes, job.periodic) {
        const int64_t words = static_cast<int64_t>(map.words());
        Carver carver(memory);
        map.suspects = carver.take<uint32_t>(3 * words);
        bits_bytes = carver.used();
        current = {map.suspects + words, carver.take<Index<Map>>(words), carver.take<Index<Map>>(2)};
        next = {map.suspects + 2 * words, carver.take<Index<Map>>(words), current.count + 1};
        bytes = carver.used();
    }
};

template <Stage STAGE, class Map>
void run_stage(const Scratch<Map> &scratch, cudaStream_t stream) {
    const Map &map = scratch.map;
    if constexpr (STAGE == Stage::CLOSE)
        launch("find_tips", find_tips<Map>,
               ceil_div(int64_t(map.across) * ceil_div(map.height, STRIP_ROWS) * map.view.size[2], WARPS), BLOCK, stream, map,
               scratch.current);
    else
        launch("find_first", find_first<STAGE, Map>, ceil_div(map.words(), BLOCK), BLOCK, stream, map, scratch.current);
    launch("run_rounds", run_rounds<STAGE, Map>, 1, ROUND_THREADS, stream, map, scratch.current, scratch.next);
}

template <class Map>
void hide(const VoronoiJob &job, void *memory, cudaStream_t stream) {
    const Scratch<Map> scratch(job, memory);
    check(cudaMemsetAsync(scratch.map.suspects, 0, scratch.bits_bytes, stream), "clearing bits");
    check(cudaMemsetAsync(scratch.current.count, 0, 2 * sizeof *scratch.current.count, stream), "clearing counts");
    run_stage<Stage::CLOSE>(scratch, stream);
    run_stage<Stage::RESCUE>(scratch, stream);
    run_stage<Stage::HIDE>(scratch, stream);
    launch("clear_unreached", clear_unreached<Map>, ceil_div(scratch.map.words(), BLOCK), BLOCK, stream, scratch.map);
}

}  // namespace

size_t exclaves_scratch(const VoronoiJob &job) {
    return with_cells(job.nearest.type, job.periodic.any(),
                      [&](auto *map) { return Scratch<std::remove_pointer_t<decltype(map)>>(job, nullptr).bytes; });
}

void hide_exclaves(const VoronoiJob &job, void *scratch, cudaStream_t stream, const Progress &progress) {
    with_cells(job.nearest.type, job.periodic.any(),
               [&](auto *map) { hide<std::remove_pointer_t<decltype(map)>>(job, scratch, stream); });
    report(progress, 1, stream);
}

}  // namespace apsis::cuda::voronoi
