// Labels one block: packs its pixels, finds their runs, and joins runs that meet into parts.  The pixels of a component in one
// block are a part.  Of a label image a run has one value, and runs meet where their values are equal; of a grey image, where
// they are near.
#pragma once

#include <optional>

#include "cpu/components/thread_scratch.h"
#include "cpu/components/values.h"
#include "runtime/packed.h"

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
    /// find_meetings() of two rows of a set.
    int64_t find_meetings_of(const ThreadScratch &scratch, const BitRow &one, const BitRow &other, int64_t diagonals) const {
        return find_meetings(one, other, blocks_.width, diagonals, scratch.met);
    }
    /// find_value_meetings() of a row and its earlier ones, or find_near_meetings().  counted(y, z) says where the counts of an
    /// earlier row are, unless it is left out.
    struct Counted {
        int64_t j;       // the row of the scratch memory
        uint32_t first;  // the number of its first run
    };
    template <class Earlier>
    int64_t find_value_meetings_of(const ThreadScratch &scratch, int64_t y, int64_t z, const Counted &own,
                                   Earlier counted) const {
        const ValueRow row = value_row(scratch, y, z, own, 0);
        std::fill_n(scratch.empty, blocks_.words() + 1, 0);
        ValueRow earlier[4];
        for (int i = 0; i < blocks_.earlier_rows; ++i) {
            const int64_t other_y = y + blocks_.earlier[i].dy, other_z = z + blocks_.earlier[i].dz;
            const std::optional<Counted> other = blocks_.holds(other_y, other_z) ? counted(other_y, other_z) : std::nullopt;
            earlier[i] = other ? value_row(scratch, other_y, other_z, *other, i + 1)
                               : ValueRow{{scratch.empty + 1, scratch.empty + 1, row.bits.before}, row.pixels, 0};
        }
        const Neighbourhood neighbourhood = {blocks_.volume, blocks_.connectivity};
        return blocks_.by_delta
                   ? find_near_meetings(row, earlier, neighbourhood, nearness(), blocks_.width, scratch.met)
                   : find_value_meetings(row, earlier, neighbourhood, pixel_bytes(job_.set.type), blocks_.width, scratch.met);
    }

    /// A row whose runs have been counted; of a set without pixels.  Its values are in row `memory` of the scratch memory where
    /// they are not side by side.
    ValueRow value_row(const ThreadScratch &scratch, int64_t y, int64_t z, const Counted &of, int64_t memory) const {
        const void *const values = job_.by_value ? values_of(y, z, scratch.values + memory * blocks_.width * 8) : nullptr;
        return {bit_row(scratch, of.j, blocks_.row_at(y, z)), values, of.first};
    }
    /// Whether two neighbours are connected.
    bool connects(const ValueRow &row, int64_t x, const ValueRow &other, int64_t other_x) const;

    void pack_row(const ThreadScratch &scratch, int64_t y, int64_t z) const;

    /// Finds the part of every run.  Returns how many parts there are; they are numbered from 1, by their lowest pixel.
    uint32_t find(const ThreadScratch &scratch, const Block &block) const;

    /// Finds the areas of parts, and whether each touches the image's border.
    void measure(const ThreadScratch &scratch, const Block &block, uint32_t parts) const;

  private:
    uint64_t *starts_of(int64_t row) const { return starts_ + row * pitch_ + 1; }
    Nearness nearness() const { return {job_.set.type, job_.delta, job_.whole_delta()}; }
    const void *values_of(int64_t y, int64_t z, uint8_t *memory) const;
    static void join_runs(const ThreadScratch &scratch, int64_t meetings, uint32_t first_other, uint32_t first);

    const ComponentsJob &job_;
    const Blocks &blocks_;
    int64_t pitch_;  // words of a row of bits
    uint64_t *bits_, *starts_;
};

}  // namespace apsis::cpu::components
