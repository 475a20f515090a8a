// Joins parts of different blocks.  Every run of a border row is a slot and represents its part.  A lock-free union-find, which
// all threads share, joins slots.  The root of a component is a slot of the part with its lowest pixel, in whatever order the
// threads work.
#pragma once

#include "cpu/components/thread_scratch.h"

namespace apsis::cpu::components {

constexpr uint32_t NO_SLOT = UINT32_MAX;
constexpr int ORDINAL_BITS = 30;                 // bits of a key for a part's place among the parts that begin in its row
constexpr int64_t ELSEWHERE = int64_t(1) << 62;  // a flag in the key of a root: the component begins in another slab

class Slots {
  public:
    static int64_t count(const Blocks &blocks) { return blocks.borders() * blocks.runs(); }
    static bool fit(const Blocks &blocks) {
        return count(blocks) < NO_SLOT && blocks.rows() < int64_t(1) << (62 - ORDINAL_BITS);
    }

    /// With `measured`, each slot also has an area, and a flag for contact with the image's border.
    Slots(const Blocks &blocks, bool measured, Carver &carver) : blocks_(blocks) {
        const int64_t slots = count(blocks);
        first_ = carver.take<uint32_t>(blocks.rows());
        used_ = carver.take<uint32_t>(blocks.rows());
        parent = carver.take<uint32_t>(slots);
        key = carver.take<int64_t>(slots);
        area = carver.take<int64_t>(measured ? slots : 0);
        touches = carver.take<uint8_t>(measured ? slots : 0);
    }

    uint32_t *parent;  // [slot]
    int64_t *key;      // [slot]: for the first slot of a part, the row in which the part begins, and its ordinal there;
                       // -1 for other slots.  In the end, for a root, its number, or minus that if it begins elsewhere
    int64_t *area;     // [slot]
    uint8_t *touches;  // [slot]

    /// The first slot of a row, or NO_SLOT.
    uint32_t first_of(int64_t row) const { return first_[row]; }

    void assign() const {
        uint32_t next = 0;
        for (int64_t i = 0; i < blocks_.count(); ++i) {
            const Block block = blocks_.at(i);
            for_rows(block, [&](int64_t, int64_t y, int64_t z) {
                const bool is_border = blocks_.is_border(block, y, z);
                first_[blocks_.row_at(y, z)] = is_border ? next : NO_SLOT;
                if (is_border) next += static_cast<uint32_t>(blocks_.runs());
            });
        }
    }

    /// Says how many runs a row has.
    void clear(int64_t row, uint32_t runs) const {
        if (first_[row] == NO_SLOT) return;
        used_[row] = runs;
        std::fill_n(key + first_[row], runs, -1);
    }

    /// Calls body(slot) for the first slots of the parts of a block.
    template <class Body>
    void for_parts(const Block &block, Body body) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            const uint32_t first = first_[blocks_.row_at(y, z)];
            if (first == NO_SLOT) return;
            for (uint32_t i = 0; i < used_[blocks_.row_at(y, z)]; ++i)
                if (key[first + i] >= 0) body(first + i);
        });
    }

    /// Gives every part with slots the number -1 - (its first slot); calls visit(slot, first slot) for every slot.
    template <class Visit>
    void mark(const ThreadScratch &scratch, const Block &block, uint32_t parts, Visit visit) const {
        std::fill_n(scratch.number, parts + 1, 0);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const uint32_t first = first_[blocks_.row_at(y, z)], runs = scratch.run[j + 1] - scratch.run[j];
            for (uint32_t i = 0; first != NO_SLOT && i < runs; ++i) {
                int64_t &number = scratch.number[scratch.part[scratch.run[j] + i]];
                if (number == 0) number = -1 - int64_t(first + i);
                visit(first + i, static_cast<uint32_t>(-1 - number));
            }
        });
    }

    uint32_t root_of(uint32_t slot) const {
        const auto shared = [this](uint32_t of) { return std::atomic_ref<uint32_t>(parent[of]); };
        for (;;) {
            const uint32_t up = shared(slot).load(std::memory_order_relaxed);
            if (up == slot) return slot;
            const uint32_t next = shared(up).load(std::memory_order_relaxed);
            if (next != up) shared(slot).store(next, std::memory_order_relaxed);
            slot = next;
        }
    }

    /// Joins the components of two slots.  The root with the lower pixel stays a root, in whatever order the threads work.
    void join(uint32_t one, uint32_t other) const {
        for (;;) {
            one = root_of(one);
            other = root_of(other);
            if (one == other) return;
            if (key[one] < key[other]) std::swap(one, other);
            uint32_t expected = one;
            std::atomic_ref<uint32_t> root(parent[one]);
            if (root.compare_exchange_strong(expected, other, std::memory_order_relaxed)) return;
        }
    }

    /// Adds the areas and border flags of a block's parts to their roots.
    void gather(const Block &block) const {
        for_parts(block, [this](uint32_t slot) {
            const uint32_t root = root_of(slot);
            if (root == slot) return;
            add_shared(area[root], area[slot]);
            if (touches[slot]) std::atomic_ref<uint8_t>(touches[root]).store(1, std::memory_order_relaxed);
        });
    }

  private:
    const Blocks &blocks_;
    uint32_t *first_;  // [row]
    uint32_t *used_;   // [row]: how many slots its runs have
};

}  // namespace apsis::cpu::components
