// apsis_components on the CPU, run by run (He, Chao and Suzuki 2008), in blocks of rows.  The back end chooses it for every
// call on components, unless the job names a published method.
//
// A block is labelled by one thread, in cache.  The pixels of a component in one block are a part.  Only parts that reach a
// border row, a row with neighbours in another block, are joined across blocks.  The runs of border rows, the slots (slots.h),
// join them.  The joined part with the lowest pixel becomes the root, in whatever order the threads work.  So counting roots
// row by row (a scan) gives the numbers in the order of the image.  Then the blocks are written.
//
// Where labels are wanted, the parts of a row's runs are kept in that row of the output.  Otherwise (statistics, masks,
// selections) a block is labelled again from its bits, which takes less time than keeping its parts.
//
// Of a slab whose parts have been found the bits are there already; its blocks are labelled again.
//
// Cost: 1 byte a pixel in and the output.  Memory is 1/8 byte a pixel for the bits, the slots, and a block a thread.
#include "cpu/components/components.h"

#include <hwy/cache_control.h>

#include <cstdlib>
#include <cstring>

#include "core/keys.h"
#include "cpu/components/label_rows.h"
#include "cpu/components/parts.h"
#include "cpu/components/seam.h"
#include "cpu/components/slots.h"

namespace apsis::cpu::components {
namespace {

/// Returns the blocks.  Throws if their rows, or the runs of border rows, are too many to be numbered.
Blocks checked(const Blocks &blocks) {
    if (Slots::fit(blocks)) return blocks;
    throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for its components on the CPU",
                static_cast<long long>(blocks.width), static_cast<long long>(blocks.height),
                static_cast<long long>(blocks.depth));
}

class Labelling {
  public:
    /// Numbers go on after `numbered`.  The first row of the image is the first row of slice z of a batch.
    Labelling(const ComponentsJob &job, int threads, void *scratch, int64_t numbered = 0, int64_t z = 0)
        : job_(job),
          blocks_(checked(Blocks(job, threads))),
          threads_(threads),
          total_(numbered),
          selects_(job.selects()),
          keeps_parts_(job.labels && !job.is_mask() && !selects_ && job.labels.stride[0] == pixel_size()),
          carver_(scratch),
          parts_(job_, blocks_, carver_),  // first, so that the bits of a slab stay where they are
          slots_(blocks_, selects_, carver_),
          selection_(job_, ORDINAL_BITS + bits_below(blocks_.rows())),
          statistics_(job_, blocks_, parts_, numbered, z) {
        numbers_before_ = carver_.take<int64_t>(blocks_.rows());
        parts_begun_ = carver_.take<uint32_t>(blocks_.rows());
        Carver count;
        ThreadScratch(blocks_, count);
        thread_scratch_bytes_ = count.used();
        thread_scratch_ = carver_.take<uint8_t>(static_cast<int64_t>(thread_scratch_bytes_) * threads);
    }

    Labelling(const Labelling &) = delete;  // its members refer to each other

    size_t bytes() const { return carver_.used(); }

    /// Returns the last number that was given.
    int64_t run(Arena &arena, const Progress &progress) {
        arena_ = &arena;
        progress_ = &progress;
        slots_.assign();
        for_blocks(0, 0.4, [this](const ThreadScratch &scratch, const Block &block) { find_parts(scratch, block); });
        for_blocks(0.4, 0.45, [this](const ThreadScratch &scratch, const Block &block) { join_parts(scratch, block); });
        if (job_.periodic.any())
            for_blocks(0.45, 0.45, [this](const ThreadScratch &scratch, const Block &block) { join_seam(scratch, block); });
        if (selects_) for_blocks(0.45, 0.5, [this](const ThreadScratch &, const Block &block) { slots_.gather(block); });
        if (job_.largest < INT64_MAX) find_least_rank();
        for_told([this](uint32_t root, int64_t) {
            elsewhere_ += !(slots_.key[root] & ELSEWHERE);
            slots_.key[root] |= ELSEWHERE;
        });
        for_blocks(0.5, 0.55, [this](const ThreadScratch &scratch, const Block &block) { count_roots(scratch, block); });
        sum_rows();
        if (!job_.labels && !job_.components && !job_.first && !job_.last) return total_;
        for_blocks(0.55, 0.6, [this](const ThreadScratch &scratch, const Block &block) { number_roots(scratch, block); });
        for_told([this](uint32_t root, int64_t number) { slots_.key[root] = -number; });
        statistics_.begin(total_, arena);
        for_blocks(0.6, 1, [this](const ThreadScratch &scratch, const Block &block) { write(scratch, block); });
        statistics_.finish(arena);
        return total_;
    }

    /// How many components of a slab begin in another one.
    int64_t elsewhere() const { return elsewhere_; }

  private:
    int64_t pixel_size() const { return job_.labels.type == APSIS_I64 ? 8 : 4; }
    int64_t row_at(int64_t y, int64_t z) const { return blocks_.row_at(y, z); }

    ThreadScratch scratch_of(int thread) const {
        Carver carver(thread_scratch_ + thread_scratch_bytes_ * static_cast<size_t>(thread));
        return ThreadScratch(blocks_, carver);
    }

    template <class Body>
    void for_blocks(double from, double to, Body body) {
        parallel_for(*arena_, blocks_.count(), *progress_, from, to,
                     [&](int64_t i) { body(scratch_of(Arena::thread()), blocks_.at(i)); });
    }

    // ---- Parts, and how they are joined ----

    void find_parts(const ThreadScratch &scratch, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            if (!job_.is_found()) parts_.pack_row(scratch, y, z);
        });
        const uint32_t parts = parts_.find(scratch, block);
        for_rows(block,
                 [&](int64_t j, int64_t y, int64_t z) { slots_.clear(row_at(y, z), scratch.run[j + 1] - scratch.run[j]); });
        if (selects_) parts_.measure(scratch, block, parts);
        slots_.mark(scratch, block, parts, [this](uint32_t slot, uint32_t own) { slots_.parent[slot] = own; });
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            parts_begun_[row] = scratch.begin[j + 1] - scratch.begin[j];
            for (uint32_t part = scratch.begin[j]; part < scratch.begin[j + 1]; ++part) {
                if (scratch.number[part] == 0) continue;
                const int64_t slot = -1 - scratch.number[part];
                slots_.key[slot] = row << ORDINAL_BITS | (part - scratch.begin[j]);
                if (!selects_) continue;
                slots_.area[slot] = scratch.area[part] & ~TOUCHES_BORDER;
                slots_.touches[slot] = (scratch.area[part] & TOUCHES_BORDER) != 0;
            }
        });
        if (keeps_parts_)
            for_kept(scratch, block, [](uint8_t *kept, uint32_t *part, size_t bytes) { std::memcpy(kept, part, bytes); });
    }

    /// Calls body(kept, part, bytes) for the parts of a block's runs and the rows of the output in which they are kept: side by
    /// side, over several rows, where rows follow each other in memory.
    template <class Body>
    void for_kept(const ThreadScratch &scratch, const Block &block, Body body) const {
        const bool is_packed = job_.labels.stride[1] == blocks_.width * pixel_size();
        const int64_t rows = block.y1 - block.y0, step = is_packed ? rows : 1;
        for (int64_t j = 0; j < block.rows(); j += step) {
            const uint32_t from = scratch.run[j], end = scratch.run[j + step];
            body(job_.labels.row(block.y0 + j % rows, block.z0 + j / rows), scratch.part + from,
                 (end - from) * sizeof *scratch.part);
        }
    }

    void join_parts(const ThreadScratch &scratch, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            if (slots_.first_of(row) == NO_SLOT || !parts_.count_row(scratch, 0, row)) return;
            const uint32_t first = slots_.first_of(row);
            if (job_.by_value) {
                int64_t j = 0;
                const auto counted = [&](int64_t other_y, int64_t other_z) -> std::optional<Parts::Counted> {
                    const int64_t other = row_at(other_y, other_z);
                    if (block.holds(other_y, other_z) || !parts_.count_row(scratch, ++j, other)) return {};
                    return Parts::Counted{j, slots_.first_of(other)};
                };
                return join_slots(scratch, parts_.find_value_meetings_of(scratch, y, z, {0, first}, counted), 0, 0);
            }
            for (const EarlierRow *earlier = blocks_.earlier; earlier < blocks_.earlier + blocks_.earlier_rows; ++earlier) {
                const int64_t other_y = y + earlier->dy, other_z = z + earlier->dz, other = row_at(other_y, other_z);
                if (!blocks_.holds(other_y, other_z) || block.holds(other_y, other_z)) continue;
                if (!parts_.count_row(scratch, 1, other)) continue;
                const BitRow above = parts_.bit_row(scratch, 1, other), below = parts_.bit_row(scratch, 0, row);
                join_slots(scratch, parts_.find_meetings_of(scratch, above, below, earlier->diagonals), slots_.first_of(other),
                           first);
            }
        });
    }

    void join_seam(const ThreadScratch &scratch, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            if (blocks_.at_seam(y, z)) SeamRow(blocks_, parts_, slots_, scratch, y, z).join();
        });
    }

    void join_slots(const ThreadScratch &scratch, int64_t meetings, uint32_t first_other, uint32_t first) const {
        for (int64_t i = 0; i < meetings; ++i) slots_.join(first + scratch.met[2 * i + 1], first_other + scratch.met[2 * i]);
    }

    /// Calls body(root, number) for the runs in the faces of a slab whose components begin in another slab, as it was told.
    template <class Body>
    void for_told(Body body) const {
        const ThreadScratch scratch = scratch_of(0);
        const auto take = [&](const View &face, int64_t y, int64_t z) {
            if (!face) return;
            const int64_t row = row_at(y, z), runs = parts_.find_runs_of(row, scratch.ends);
            const auto *const told = reinterpret_cast<const int64_t *>(face.row(blocks_.volume ? y : 0, 0));
            for (int64_t i = 0; i < runs; ++i)
                if (const int64_t number = told[scratch.ends[2 * i]]; number < 0)
                    body(slots_.root_of(static_cast<uint32_t>(slots_.first_of(row) + i)), -number);
        };
        for (int64_t y = 0; y < (blocks_.volume ? blocks_.height : 1); ++y) {
            take(job_.told.first, y, 0);
            take(job_.told.last, blocks_.volume ? y : blocks_.height - 1, blocks_.depth - 1);
        }
    }

    // ---- Selections ----

    /// Whether a slot represents a component that is kept.
    bool is_root(uint32_t slot, int64_t key) const {
        if (slots_.root_of(slot) != slot || (slots_.key[slot] & ELSEWHERE)) return false;
        return !selects_ || selection_.keeps(slots_.area[slot], slots_.touches[slot], key);
    }

    /// Calls body(key, part, slot) for parts that begin in row j of a block, in order: for every part with a slot, and for each
    /// part without a slot (-1) that is kept.
    template <class Body>
    void for_parts(const ThreadScratch &scratch, int64_t j, int64_t row, Body body) const {
        const uint32_t first = scratch.begin[j], end = scratch.begin[j + 1];
        for (uint32_t part = first; part < end; ++part) {
            const int64_t key = row << ORDINAL_BITS | (part - first), slot = -1 - scratch.number[part];
            const uint32_t area = selects_ ? scratch.area[part] : 0;
            if (slot >= 0 || !selects_ || selection_.keeps(area & ~TOUCHES_BORDER, area & TOUCHES_BORDER, key))
                body(key, part, slot);
        }
    }

    /// Finds again which parts begin in which row of a block, and which have slots.  A selection also needs the areas of parts,
    /// so it labels the block again from its bits.
    void find_parts_again(const ThreadScratch &scratch, const Block &block) const {
        if (selects_) {
            const uint32_t parts = parts_.find(scratch, block);
            parts_.measure(scratch, block, parts);
            return slots_.mark(scratch, block, parts, [](uint32_t, uint32_t) {});
        }
        const uint32_t parts = recall_begins(scratch, block);
        std::fill_n(scratch.number, parts + 1, 0);
        slots_.for_parts(block, [&](uint32_t slot) {
            const int64_t key = slots_.key[slot] & ~ELSEWHERE, row = key >> ORDINAL_BITS,
                          ordinal = key & ((int64_t(1) << ORDINAL_BITS) - 1);
            scratch.number[scratch.begin[block.at(row % blocks_.height, row / blocks_.height)] + ordinal] = -1 - int64_t(slot);
        });
    }

    uint32_t recall_begins(const ThreadScratch &scratch, const Block &block) const {
        uint32_t parts = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            scratch.begin[j] = parts + 1;
            parts += parts_begun_[row_at(y, z)];
        });
        scratch.begin[block.rows()] = parts + 1;
        return parts;
    }

    void find_least_rank() {
        selection_.find_least_rank(
            bits_below(job_.set.pixels() + 1), [this](int shift) { count_digits(shift); },
            [this](int digit) { return bin(digit); });
    }

    void count_digits(int shift) {
        for (int thread = 0; thread < threads_; ++thread) std::fill_n(scratch_of(thread).bins, Selection::BINS, 0);
        for_blocks(0.5, 0.5, [&](const ThreadScratch &scratch, const Block &block) {
            find_parts_again(scratch, block);
            for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
                for_parts(scratch, j, row_at(y, z), [&](int64_t key, uint32_t part, int64_t slot) {
                    if (slot >= 0 && !is_root(static_cast<uint32_t>(slot), key)) return;
                    const int64_t area = slot >= 0 ? slots_.area[slot] : scratch.area[part] & ~TOUCHES_BORDER;
                    if (const int digit = selection_.digit_of(area, key, shift); digit >= 0) ++scratch.bins[digit];
                });
            });
        });
    }

    int64_t bin(int digit) const {
        int64_t count = 0;
        for (int thread = 0; thread < threads_; ++thread) count += scratch_of(thread).bins[digit];
        return count;
    }

    // ---- Numbers ----

    void count_roots(const ThreadScratch &scratch, const Block &block) const {
        if (!selects_) {
            for_rows(block, [&](int64_t, int64_t y, int64_t z) { numbers_before_[row_at(y, z)] = parts_begun_[row_at(y, z)]; });
            return slots_.for_parts(block, [this](uint32_t slot) {
                numbers_before_[(slots_.key[slot] & ~ELSEWHERE) >> ORDINAL_BITS] -= !is_root(slot, 0);
            });
        }
        find_parts_again(scratch, block);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t roots = 0;
            for_parts(scratch, j, row_at(y, z), [&](int64_t key, uint32_t, int64_t slot) {
                roots += slot < 0 || is_root(static_cast<uint32_t>(slot), key);
            });
            numbers_before_[row_at(y, z)] = roots;
        });
    }

    /// Replaces each row's count of roots by the count in the rows before it (an exclusive scan).
    void sum_rows() {
        for (int64_t row = 0; row < blocks_.rows(); ++row) {
            const int64_t before = total_;
            total_ += numbers_before_[row];
            numbers_before_[row] = before;
        }
    }

    /// Replaces the key of each root by its number, or by 0 if it is left out.
    void number_roots(const ThreadScratch &scratch, const Block &block) const {
        find_parts_again(scratch, block);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t number = numbers_before_[row_at(y, z)];
            for_parts(scratch, j, row_at(y, z), [&](int64_t key, uint32_t, int64_t slot) {
                const bool counts = slot < 0 || is_root(static_cast<uint32_t>(slot), key);
                number += counts;
                if (slot >= 0) slots_.key[slot] = counts ? number : 0;
            });
        });
    }

    // ---- Writing ----

    /// Loads the parts of a block's runs from the rows of the output.
    uint32_t recall_parts(const ThreadScratch &scratch, const Block &block) const {
        uint32_t runs = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            scratch.run[j] = runs;
            scratch.run[j + 1] = runs += parts_.count_row(scratch, 0, row_at(y, z));
        });
        for_kept(scratch, block, [](const uint8_t *kept, uint32_t *part, size_t bytes) { std::memcpy(part, kept, bytes); });
        return recall_begins(scratch, block);
    }

    /// Whether a row is in the first row or plane of the image, and in the last.
    bool is_first(int64_t y, int64_t z) const { return (blocks_.volume ? z : y) == 0; }
    bool is_last(int64_t y, int64_t z) const { return blocks_.volume ? z == blocks_.depth - 1 : y == blocks_.height - 1; }

    void write(const ThreadScratch &scratch, const Block &block) const {
        const bool at_end = is_first(block.y0, block.z0) || is_last(block.y1 - 1, block.z1 - 1);
        if (!job_.labels && !job_.components && !at_end) return;
        const uint32_t parts = keeps_parts_ ? recall_parts(scratch, block) : parts_.find(scratch, block);
        if (selects_) parts_.measure(scratch, block, parts);
        slots_.mark(scratch, block, parts, [](uint32_t, uint32_t) {});
        name_parts(scratch, block);
        if (job_.components) statistics_.add(scratch, block, parts);
        if (job_.told.numbers) renumber(scratch, parts);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const auto write_to = [&](const View &image, int64_t image_y, int64_t image_z) {
                if (!image) return;
                const int64_t runs = parts_.find_runs_of(row_at(y, z), scratch.ends);
                write_row(image, job_.complement, scratch, runs, scratch.part + scratch.run[j], image_y, image_z);
            };
            write_to(job_.labels, y, z);
            if (is_first(y, z)) write_to(job_.first, blocks_.volume ? y : 0, 0);
            if (is_last(y, z)) write_to(job_.last, blocks_.volume ? y : 0, 0);
        });
        hwy::FlushStream();
    }

    /// Gives every part the number of its component, or 0.  The areas are not needed any more.  The area of a part with a slot
    /// becomes its place among the parts with slots, from 1.  The area of any other part becomes 0.
    void name_parts(const ThreadScratch &scratch, const Block &block) const {
        uint32_t with_slots = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            int64_t number = numbers_before_[row_at(y, z)];
            for_parts(scratch, j, row_at(y, z), [&](int64_t, uint32_t part, int64_t slot) {
                if (slot < 0) {
                    scratch.number[part] = ++number;
                    if (job_.components) scratch.area[part] = 0;
                    return;
                }
                const uint32_t root = slots_.root_of(static_cast<uint32_t>(slot));
                scratch.number[part] = std::abs(slots_.key[root]);
                scratch.area[part] = ++with_slots;
                if (root == slot && slots_.key[root] > 0) ++number;
            });
        });
    }

    /// Replaces the numbers of parts by those of the job's table.
    void renumber(const ThreadScratch &scratch, uint32_t parts) const {
        const auto *const table = reinterpret_cast<const int64_t *>(job_.told.numbers.data);
        for (uint32_t part = 1; part <= parts; ++part) {
            int64_t &number = scratch.number[part];
            number = number > 0 && number <= job_.told.numbers.size[0] ? table[number - 1] : 0;
        }
    }

    ComponentsJob job_;
    Blocks blocks_;
    int threads_;
    int64_t total_;  // the last number that was given
    int64_t elsewhere_ = 0;
    bool selects_;
    bool keeps_parts_;  // the parts of runs are kept in the rows of the output
    Carver carver_;
    Parts parts_;
    Slots slots_;
    Selection selection_;
    Statistics statistics_;
    int64_t *numbers_before_;  // [row]: how many components begin before it
    uint32_t *parts_begun_;    // [row]: how many parts begin in it
    uint8_t *thread_scratch_;
    size_t thread_scratch_bytes_;
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

/// Whether the slices are labelled one after the other: the largest components of each slice are wanted.
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
        const int64_t before = job.told.numbers ? 0 : job.told.before;
        Labelling labelling(job, threads, scratch, before);
        count = labelling.run(arena, progress) - before + labelling.elsewhere();
    }
    if (job.count) *job.count = count;
    if (progress) progress(1);
}

}  // namespace apsis::cpu::components
