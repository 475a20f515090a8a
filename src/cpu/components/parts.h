// Labels one block: packs its pixels, finds their runs, and joins runs that meet into parts.  The pixels of a component in one
// block are a part.  Of a label image a run has one value, and runs meet where their values are equal; of a grey image, where
// they are near.
#pragma once

#include "cpu/components/thread_scratch.h"
#include "cpu/components/values.h"

namespace apsis::cpu::components {

class Parts {
  public:
    Parts(const ComponentsJob &job, const Blocks &blocks, Carver &carver)
        : job_(job),
          blocks_(blocks),
          pitch_(blocks.words() + 1) {
        const int64_t words = blocks.rows() * pitch_ + 1;
        bits_ = carver.take<uint64_t>(words);
        starts_ = carver.take<uint64_t>(job.by_value ? words : 0);
    }

    uint64_t *bits_of(int64_t row) const { return bits_ + row * pitch_ + 1; }

    /// A row of the image, whose counts are row j of the scratch memory.
    BitRow bit_row(const ThreadScratch &scratch, int64_t j, int64_t row) const {
        const int64_t at = j * blocks_.words();
        return {bits_of(row), job_.by_value ? starts_of(row) : scratch.start + at, scratch.before + at};
    }
    uint32_t count_row(const ThreadScratch &scratch, int64_t j, int64_t row) const {
        const int64_t at = j * blocks_.words();
        uint32_t *const before = scratch.before + at;
        return static_cast<uint32_t>(job_.by_value ? count_starts(starts_of(row), blocks_.width, before)
                                                   : count_runs(bits_of(row), blocks_.width, scratch.start + at, before));
    }
    /// find_runs() of a row.
    int64_t find_runs_of(int64_t row, uint32_t *ends) const {
        return job_.by_value ? find_value_runs(bits_of(row), starts_of(row), blocks_.width, ends)
                             : find_runs(bits_of(row), blocks_.width, ends);
    }
    /// find_meetings() of two rows whose counts are known.
    struct Row {
        int64_t y, z;
        BitRow bits;
    };
    int64_t find_meetings_of(const ThreadScratch &scratch, const Row &one, const Row &other, int64_t diagonals,
                             const KnownMeetings &of = {nullptr, nullptr}) const {
        return job_.by_value ? find_meetings_of_values(scratch, one, other, diagonals, of)
                             : find_meetings(one.bits, other.bits, blocks_.width, diagonals, scratch.met);
    }

    void pack_row(const ThreadScratch &scratch, int64_t y, int64_t z) const;

    /// Finds the part of every run.  Returns how many parts there are; they are numbered from 1, by their lowest pixel.
    uint32_t find(const ThreadScratch &scratch, const Block &block) const;

    /// Finds the areas of parts, and whether each touches the image's border.
    void measure(const ThreadScratch &scratch, const Block &block, uint32_t parts) const;

  private:
    uint64_t *starts_of(int64_t row) const { return starts_ + row * pitch_ + 1; }
    ValueRow values_of(const Row &row, uint8_t *memory) const;
    int64_t find_meetings_of_values(const ThreadScratch &scratch, const Row &one, const Row &other, int64_t diagonals,
                                    const KnownMeetings &of) const;
    Nearness nearness() const { return {job_.set.type, job_.delta, job_.whole_delta()}; }
    KnownMeetings known_meetings(const ThreadScratch &scratch, int64_t earlier) const;
    void join_runs(const ThreadScratch &scratch, const Row &other, uint32_t first_other, const Row &row, uint32_t first,
                   int64_t earlier) const;

    const ComponentsJob &job_;
    const Blocks &blocks_;
    int64_t pitch_;  // words of a row of bits
    uint64_t *bits_, *starts_;
};

}  // namespace apsis::cpu::components
