// Labels one block: packs its pixels, finds their runs, and joins runs that meet into parts.  The pixels of a component in one
// block are a part.
#pragma once

#include "cpu/components/runs.h"
#include "cpu/components/thread_scratch.h"

namespace apsis::cpu::components {

class Parts {
  public:
    Parts(const ComponentsJob &job, const Blocks &blocks, Carver &carver)
        : job_(job),
          blocks_(blocks),
          pitch_(blocks.words() + 1) {
        bits_ = carver.take<uint64_t>(blocks.rows() * pitch_ + 1);
    }

    uint64_t *bits_of(int64_t row) const { return bits_ + row * pitch_ + 1; }

    /// A row of the image, whose counts are row j of the scratch memory.
    BitRow bit_row(const ThreadScratch &scratch, int64_t j, int64_t row) const {
        return {bits_of(row), scratch.start + j * blocks_.words(), scratch.before + j * blocks_.words()};
    }
    uint32_t count_row(const ThreadScratch &scratch, int64_t j, int64_t row) const {
        const int64_t at = j * blocks_.words();
        return static_cast<uint32_t>(count_runs(bits_of(row), blocks_.width, scratch.start + at, scratch.before + at));
    }

    void pack_row(int64_t y, int64_t z) const;

    /// Finds the part of every run.  Returns how many parts there are; they are numbered from 1, by their lowest pixel.
    uint32_t find(const ThreadScratch &scratch, const Block &block) const;

    /// Finds the areas of parts, and whether each touches the image's border.
    void measure(const ThreadScratch &scratch, const Block &block, uint32_t parts) const;

  private:
    void join_runs(const ThreadScratch &scratch, const BitRow &other, uint32_t first_other, const BitRow &row, uint32_t first,
                   int64_t diagonals) const;

    const ComponentsJob &job_;
    const Blocks &blocks_;
    int64_t pitch_;  // words of a row of bits
    uint64_t *bits_;
};

}  // namespace apsis::cpu::components
