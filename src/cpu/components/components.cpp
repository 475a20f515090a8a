// apsis_components on the CPU, run by run (He, Chao and Suzuki 2008), in blocks of rows.
//
// A block is labelled by one thread, in cache.  What of a component lies in a block is a part of it; only parts that
// reach a row with neighbours in another block need to be known outside, and they are joined through the runs of those
// rows, their slots.  Of joined parts the one with the lowest pixel is the root, so that counting roots row by row gives
// the numbers in order (a scan over rows), whatever the threads did.  Then the blocks are written.
//
// What a block found is not kept, but where the labels are wanted: then the parts of a row's runs wait in that row of
// the output.  Otherwise (statistics, masks, selections) a block is labelled again from its bits, which takes less than
// writing it down.  Memory is 1/8 byte a pixel for the bits, the slots, and a block a thread.
#include "cpu/components/components.h"

#include <cstring>

#include "core/keys.h"
#include "cpu/components/label_rows.h"
#include "cpu/components/parts.h"
#include "cpu/components/slots.h"

namespace apsis::cpu::components {
namespace {

/// Blocks of rows, if the runs at their borders can be numbered.
Blocks checked(const Blocks &blocks) {
    if (Slots::fit(blocks)) return blocks;
    throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for its components on the CPU",
                static_cast<long long>(blocks.width), static_cast<long long>(blocks.height),
                static_cast<long long>(blocks.depth));
}

class Labelling {
  public:
    /// Numbers go on from `numbered`; the image's rows are those of slice z of a batch, and later ones.
    Labelling(const ComponentsJob &job, int threads, void *scratch, int64_t numbered = 0, int64_t z = 0)
        : job_(job), blocks_(checked(Blocks(job, threads))), threads_(threads), total_(numbered),
          selects_(job.selects()),
          keeps_(job.labels && !job.is_mask() && !selects_ && job.labels.stride[0] == pixel_size()), carver_(scratch),
          parts_(job_, blocks_, carver_), slots_(blocks_, selects_, carver_),
          selection_(job_, ORDINAL + bits_below(blocks_.rows())), statistics_(job_, blocks_, parts_, numbered, z) {
        base_ = carver_.take<int64_t>(blocks_.rows());
        begun_ = carver_.take<uint32_t>(blocks_.rows());
        Carver count;
        Bench(blocks_, count);
        bench_bytes_ = count.used();
        benches_ = carver_.take<uint8_t>(static_cast<int64_t>(bench_bytes_) * threads);
    }

    Labelling(const Labelling &) = delete;  // its members refer to each other

    size_t bytes() const { return carver_.used(); }

    /// Returns the last number that was given.
    int64_t run(Arena &arena, const Progress &progress) {
        arena_ = &arena;
        progress_ = &progress;
        slots_.give();
        for_blocks(0, 0.4, [this](const Bench &b, const Block &block) { find_parts(b, block); });
        for_blocks(0.4, 0.45, [this](const Bench &b, const Block &block) { join_parts(b, block); });
        if (selects_) for_blocks(0.45, 0.5, [this](const Bench &, const Block &block) { slots_.gather(block); });
        if (job_.largest < INT64_MAX) find_least_rank();
        for_blocks(0.5, 0.55, [this](const Bench &b, const Block &block) { count_roots(b, block); });
        sum_rows();
        if (!job_.labels && !job_.components) return total_;
        for_blocks(0.55, 0.6, [this](const Bench &b, const Block &block) { number_roots(b, block); });
        statistics_.begin(total_, arena);
        for_blocks(0.6, 1, [this](const Bench &b, const Block &block) { write(b, block); });
        statistics_.finish(arena);
        return total_;
    }

  private:
    int64_t pixel_size() const { return job_.labels.type == APSIS_I64 ? 8 : 4; }
    int64_t row_at(int64_t y, int64_t z) const { return blocks_.row_at(y, z); }

    Bench bench(int thread) const {
        Carver carver(benches_ + bench_bytes_ * static_cast<size_t>(thread));
        return Bench(blocks_, carver);
    }

    template <class Body>
    void for_blocks(double from, double to, Body body) {
        parallel_for(*arena_, blocks_.count(), *progress_, from, to, [&](int64_t i) {
            body(bench(Arena::thread()), blocks_.at(i));
        });
    }

    // ---- Parts, and those that are joined ----

    void find_parts(const Bench &b, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            parts_.pack_row(y, z);
            const uint32_t first = slots_.first_of(row_at(y, z));
            if (first != NO_SLOT) std::fill_n(slots_.key + first, blocks_.runs(), -1);
        });
        const uint32_t parts = parts_.find(b, block);
        if (selects_) parts_.measure(b, block, parts);
        slots_.mark(b, block, parts, [this](uint32_t slot, uint32_t own) { slots_.parent[slot] = own; });
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            begun_[row] = b.begin[j + 1] - b.begin[j];
            for (uint32_t part = b.begin[j]; part < b.begin[j + 1]; ++part) {
                if (b.number[part] == 0) continue;
                const int64_t slot = -1 - b.number[part];
                slots_.key[slot] = row << ORDINAL | (part - b.begin[j]);
                if (!selects_) continue;
                slots_.area[slot] = b.area[part] & ~TOUCHES;
                slots_.touches[slot] = (b.area[part] & TOUCHES) != 0;
            }
            if (keeps_)
                std::memcpy(job_.labels.row(y, z), b.part + b.run[j], (b.run[j + 1] - b.run[j]) * sizeof *b.part);
        });
    }

    void join_parts(const Bench &b, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            if (slots_.first_of(row) == NO_SLOT || !parts_.count_row(b, 0, row)) return;
            for (const Step *step = blocks_.step; step < blocks_.step + blocks_.steps; ++step) {
                const int64_t other_y = y + step->dy, other_z = z + step->dz;
                const bool inside = other_y >= 0 && other_y < blocks_.height && other_z >= 0;
                if (!inside || block.holds(other_y, other_z)) continue;
                const int64_t other = row_at(other_y, other_z);
                if (!parts_.count_row(b, 1, other)) continue;
                const BitRow above = parts_.bit_row(b, 1, other), below = parts_.bit_row(b, 0, row);
                const int64_t meetings = find_meetings(above, below, blocks_.width, step->reach, b.met);
                for (int64_t i = 0; i < meetings; ++i)
                    slots_.join(slots_.first_of(row) + b.met[2 * i + 1], slots_.first_of(other) + b.met[2 * i]);
            }
        });
    }

    // ---- Selections ----

    /// Whether a slot stands for a component that is kept.
    bool is_root(uint32_t slot, int64_t key) const {
        if (slots_.root_of(slot) != slot) return false;
        return !selects_ || selection_.keeps(slots_.area[slot], slots_.touches[slot], key);
    }

    /// Calls body(key, part, slot) for the parts that begin in row j of a block, in order, where they have a slot (otherwise
    /// it is -1) or are kept.
    template <class Body>
    void for_parts(const Bench &b, int64_t j, int64_t row, Body body) const {
        const uint32_t first = b.begin[j], end = b.begin[j + 1];
        for (uint32_t part = first; part < end; ++part) {
            const int64_t key = row << ORDINAL | (part - first), slot = -1 - b.number[part];
            const uint32_t area = selects_ ? b.area[part] : 0;
            if (slot >= 0 || !selects_ || selection_.keeps(area & ~TOUCHES, area & TOUCHES, key)) body(key, part, slot);
        }
    }

    /// Tells again which parts begin in which row of a block and which have slots; for a selection, from its bits.
    void find_parts_again(const Bench &b, const Block &block) const {
        if (selects_) {
            const uint32_t parts = parts_.find(b, block);
            parts_.measure(b, block, parts);
            return slots_.mark(b, block, parts, [](uint32_t, uint32_t) {});
        }
        const uint32_t parts = recall_begins(b, block);
        std::fill_n(b.number, parts + 1, 0);
        slots_.for_parts(block, [&](uint32_t slot) {
            const int64_t key = slots_.key[slot], row = key >> ORDINAL, ordinal = key & ((int64_t(1) << ORDINAL) - 1);
            b.number[b.begin[block.at(row % blocks_.height, row / blocks_.height)] + ordinal] = -1 - int64_t(slot);
        });
    }

    uint32_t recall_begins(const Bench &b, const Block &block) const {
        uint32_t parts = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            b.begin[j] = parts + 1;
            parts += begun_[row_at(y, z)];
        });
        b.begin[block.rows()] = parts + 1;
        return parts;
    }

    void find_least_rank() {
        selection_.find_least_rank(bits_below(job_.set.pixels() + 1), [this](int shift) { count_digits(shift); },
                                   [this](int digit) { return bin(digit); });
    }

    void count_digits(int shift) {
        for (int thread = 0; thread < threads_; ++thread) std::fill_n(bench(thread).bins, Selection::BINS, 0);
        for_blocks(0.5, 0.5, [&](const Bench &b, const Block &block) {
            find_parts_again(b, block);
            for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
                for_parts(b, j, row_at(y, z), [&](int64_t key, uint32_t part, int64_t slot) {
                    if (slot >= 0 && !is_root(static_cast<uint32_t>(slot), key)) return;
                    const int64_t area = slot >= 0 ? slots_.area[slot] : b.area[part] & ~TOUCHES;
                    if (const int digit = selection_.digit_of(area, key, shift); digit >= 0) ++b.bins[digit];
                });
            });
        });
    }

    int64_t bin(int digit) const {
        int64_t count = 0;
        for (int thread = 0; thread < threads_; ++thread) count += bench(thread).bins[digit];
        return count;
    }

    // ---- Numbers ----

    void count_roots(const Bench &b, const Block &block) const {
        if (!selects_) {
            for_rows(block, [&](int64_t, int64_t y, int64_t z) { base_[row_at(y, z)] = begun_[row_at(y, z)]; });
            return slots_.for_parts(
                block, [this](uint32_t slot) { base_[slots_.key[slot] >> ORDINAL] -= slots_.root_of(slot) != slot; });
        }
        find_parts_again(b, block);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t roots = 0;
            for_parts(b, j, row_at(y, z), [&](int64_t key, uint32_t, int64_t slot) {
                roots += slot < 0 || is_root(static_cast<uint32_t>(slot), key);
            });
            base_[row_at(y, z)] = roots;
        });
    }

    /// From how many roots a row has to how many are before it.
    void sum_rows() {
        for (int64_t row = 0; row < blocks_.rows(); ++row) {
            const int64_t before = total_;
            total_ += base_[row];
            base_[row] = before;
        }
    }

    /// A root's key becomes its number, or 0 if it is left out.
    void number_roots(const Bench &b, const Block &block) const {
        find_parts_again(b, block);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t number = base_[row_at(y, z)];
            for_parts(b, j, row_at(y, z), [&](int64_t key, uint32_t, int64_t slot) {
                const bool counts = slot < 0 || is_root(static_cast<uint32_t>(slot), key);
                number += counts;
                if (slot >= 0) slots_.key[slot] = counts ? number : 0;
            });
        });
    }

    // ---- Writing ----

    /// The parts of a block's runs, from the rows of the output.
    uint32_t recall_parts(const Bench &b, const Block &block) const {
        uint32_t runs = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            b.run[j] = runs;
            const uint32_t found = parts_.count_row(b, 0, row_at(y, z));
            std::memcpy(b.part + runs, job_.labels.row(y, z), found * sizeof *b.part);
            b.run[j + 1] = runs += found;
        });
        return recall_begins(b, block);
    }

    void write(const Bench &b, const Block &block) const {
        const uint32_t parts = keeps_ ? recall_parts(b, block) : parts_.find(b, block);
        if (selects_) parts_.measure(b, block, parts);
        slots_.mark(b, block, parts, [](uint32_t, uint32_t) {});
        name_parts(b, block);
        if (job_.components) statistics_.add(b, block, parts);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            if (job_.labels) write_row(job_, b, parts_.bits_of(row_at(y, z)), b.part + b.run[j], y, z);
        });
        end_stream();
    }

    /// Gives every part the number of its component, or 0, and those with slots an area that tells their place among them.
    void name_parts(const Bench &b, const Block &block) const {
        uint32_t with_slots = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t number = base_[row_at(y, z)];
            for_parts(b, j, row_at(y, z), [&](int64_t, uint32_t part, int64_t slot) {
                if (slot < 0) {
                    b.number[part] = ++number;
                    if (job_.components) b.area[part] = 0;
                    return;
                }
                const uint32_t root = slots_.root_of(static_cast<uint32_t>(slot));
                b.number[part] = slots_.key[root];
                b.area[part] = ++with_slots;
                if (root == slot && slots_.key[root] > 0) ++number;
            });
        });
    }

    ComponentsJob job_;
    Blocks blocks_;
    int threads_;
    int64_t total_;  // the last number that was given
    bool selects_;
    bool keeps_;  // the parts of runs, in the rows of the output
    Carver carver_;
    Parts parts_;
    Slots slots_;
    Selection selection_;
    Statistics statistics_;
    int64_t *base_;    // [row]: how many components begin before it
    uint32_t *begun_;  // [row]: parts that begin in it
    uint8_t *benches_;
    size_t bench_bytes_;
    Arena *arena_ = nullptr;
    const Progress *progress_ = nullptr;
};

/// Slice z of a batch.
ComponentsJob slice_of(const ComponentsJob &job, int64_t z) {
    ComponentsJob slice = job;
    for (View *view : {&slice.set, &slice.labels}) {
        view->size[2] = 1;
        if (*view) view->data += z * view->stride[2];
    }
    return slice;
}

/// The largest of each slice can only be found slice by slice.
bool goes_by_slices(const ComponentsJob &job) { return job.axes == 2 && job.set.size[2] > 1 && job.largest < INT64_MAX; }

}  // namespace

size_t components_scratch(const ComponentsJob &job, int threads) {
    return Labelling(goes_by_slices(job) ? slice_of(job, 0) : job, threads, nullptr).bytes();
}

void find_components(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress) {
    const int threads = arena.threads();
    int64_t count = 0;
    if (goes_by_slices(job)) {
        for (int64_t z = 0; z < job.set.size[2]; ++z) {
            ComponentsJob slice = slice_of(job, z);
            if (job.components) {
                slice.components = job.components + std::min(count, job.capacity);
                slice.capacity = job.capacity - std::min(count, job.capacity);
            }
            const double depth = static_cast<double>(job.set.size[2]);
            const Progress part = [&](double done) { progress((static_cast<double>(z) + done) / depth); };
            count = Labelling(slice, threads, scratch, count, z).run(arena, progress ? part : Progress());
        }
    } else {
        count = Labelling(job, threads, scratch).run(arena, progress);
    }
    if (job.count) *job.count = count;
    if (progress) progress(1);
}

}  // namespace apsis::cpu::components
