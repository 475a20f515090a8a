// apsis_voronoi with APSIS_CONNECTED on the CPU: exclaves are found in the complete map and hidden in it.  core/cells.h has the
// method, three stages, and its paper.
//
// All threads search for the pixels that a stage changes first: pixel by pixel for tips, then word by word for suspects.
// Further changes lie beside earlier ones and are few, so that one thread makes them.  A word is 32 pixels of a row, and takes
// 20 bytes, or 28 if cells have 64 bits: 5/8 or 7/8 byte a pixel where rows are whole words.  That is enough even if all pixels
// are exclaves.
#include "cpu/voronoi/exclaves.h"

#include <algorithm>
#include <utility>

#include "core/cells.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::voronoi {
namespace {

constexpr int64_t SPAN = 1 << 14;  // words, or pixels in whole rows, of a task

template <class Map>
class Exclaves {
    using Index = typename Map::Index;

  public:
    Exclaves(const VoronoiJob &job, Carver &carver) : map_(job.nearest, job.measure, job.axes, job.periodic) {
        const int64_t words = static_cast<int64_t>(map_.words());
        map_.suspects = carver.take<uint32_t>(words);
        for (Front<Index> *front : {&current_, &next_})
            *front = {carver.take<uint32_t>(words), carver.take<Index>(words), carver.take<Index>(1)};
    }

    void run(Arena &arena, const Progress &progress) {
        *current_.count = *next_.count = 0;
        find_tips(arena, progress);
        run_rounds<Stage::CLOSE>();
        find_first<Stage::RESCUE>(arena);
        run_rounds<Stage::RESCUE>();
        find_first<Stage::HIDE>(arena);
        run_rounds<Stage::HIDE>();
        for_suspects(arena, [this](Index word, uint32_t bits) { for_places(word, bits, [this](Place p) { map_.forget(p); }); });
    }

  private:
    /// Adds bits of a word to a front.  At the same time other threads may add other words, but not this one.
    static void add(const Front<Index> &to, Index word, uint32_t bits) {
        if (!to.bits[word]) to.list[std::atomic_ref<Index>(*to.count).fetch_add(1, std::memory_order_relaxed)] = word;
        to.bits[word] |= bits;
    }

    /// Calls body(place) for those pixels of a word that have a bit.
    template <class Body>
    void for_places(Index word, uint32_t bits, Body body) const {
        for (; bits; bits &= bits - 1) body(map_.place_of(word, lowest_bit(bits)));
    }

    /// Calls body(word, bits) for the words of a front.
    template <class Body>
    static void for_words(const Front<Index> &front, Body body) {
        for (Index i = 0; i < *front.count; ++i) body(front.list[i], front.bits[front.list[i]]);
    }

    /// Calls body(word, bits) for the words with suspects, each by one thread.
    template <class Body>
    void for_suspects(Arena &arena, Body body) const {
        const int64_t words = static_cast<int64_t>(map_.words());
        parallel_for(arena, (words + SPAN - 1) / SPAN, {}, 0, 1, [&](int64_t span) {
            for (int64_t word = span * SPAN; word < std::min(span * SPAN + SPAN, words); ++word)
                if (map_.suspects[word]) body(static_cast<Index>(word), map_.suspects[word]);
        });
    }

    void find_tips(Arena &arena, const Progress &progress) {
        const int64_t rows = static_cast<int64_t>(map_.rows()), each = std::max<int64_t>(SPAN / map_.view.size[0], 1);
        parallel_for(arena, (rows + each - 1) / each, progress, 0.8, 1, [&](int64_t part) {
            for (int64_t row = part * each; row < std::min(part * each + each, rows); ++row)
                find_tips_of_row(static_cast<Index>(row));
        });
    }

    void find_tips_of_row(Index row) const {
        const Index first = row * map_.across, end = first + map_.across;
        for (Index word = first; word < end; ++word) {
            Place p = map_.place_of(word, 0);
            const int stop = static_cast<int>(std::min<int64_t>(p.x + Map::WORD, map_.view.size[0]));
            uint32_t tips = 0;
            for (uint32_t bit = 1; p.x < stop; ++p.x, bit <<= 1)
                if (map_.is_tip(p, map_.at(p))) tips |= bit;
            map_.suspects[word] = current_.bits[word] = next_.bits[word] = 0;
            if (tips) add(current_, word, tips);
        }
    }

    /// Finds the suspects that a stage changes first.  Nothing that it reads changes meanwhile.
    template <Stage STAGE>
    void find_first(Arena &arena) {
        for_suspects(arena, [this](Index word, uint32_t bits) {
            for_places(word, bits, [&](Place p) { add_if_wanted<STAGE>(current_, p); });
        });
    }

    /// Puts a pixel into a front if the stage changes it and the front does not have it.
    template <Stage STAGE>
    void add_if_wanted(const Front<Index> &front, Place p) const {
        const Index word = map_.word_of(p);
        const uint32_t bit = uint32_t(1) << p.x % Map::WORD;
        if (front.bits[word] & bit || !map_.template wants<STAGE>(p)) return;
        add(front, word, bit);
        if (STAGE == Stage::HIDE) map_.hide(p);
    }

    /// Changes the pixels of the front, finds those beside them that change next, and so on until there are none.
    template <Stage STAGE>
    void run_rounds() {
        for (; *current_.count; std::swap(current_, next_)) {
            for_words(current_, [this](Index word, uint32_t bits) { map_.suspects[word] ^= bits; });
            for_words(current_, [this](Index word, uint32_t bits) {
                for_places(word, bits, [this](Place p) {
                    map_.any_beside(p, [this](Place q) { return add_if_wanted<STAGE>(next_, q), false; });
                });
                current_.bits[word] = 0;
            });
            *current_.count = 0;
        }
    }

    Map map_;
    Front<Index> current_, next_;
};

}  // namespace

size_t exclaves_scratch(const VoronoiJob &job) {
    return with_cells(job.nearest.type, job.periodic.any(), [&](auto *map) {
        Carver count;
        Exclaves<std::remove_pointer_t<decltype(map)>>(job, count);
        return count.used();
    });
}

void hide_exclaves(const VoronoiJob &job, void *scratch, Arena &arena, const Progress &progress) {
    with_cells(job.nearest.type, job.periodic.any(), [&](auto *map) {
        Carver carver(scratch);
        Exclaves<std::remove_pointer_t<decltype(map)>>(job, carver).run(arena, progress);
    });
}

}  // namespace apsis::cpu::voronoi
