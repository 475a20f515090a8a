// See parts.h.
#include "cpu/components/parts.h"

#include <cstring>
#include <numeric>

#include "runtime/packed.h"

namespace apsis::cpu::components {
namespace {

/// The root of a run.  Most runs are roots or children of roots.  Which of the two is hard to predict, so there is no branch.
uint32_t root_in(uint32_t *parent, uint32_t run) {
    uint32_t root = parent[run];
    while (parent[root] != root) root = parent[root] = parent[parent[root]];
    return parent[run] = root;
}

/// Numbers the trees; each tree is a part.  Which runs are roots is hard to predict, so there is no branch.
uint32_t number_parts(const ThreadScratch &scratch, int64_t rows) {
    uint32_t parts = 0;
    for (int64_t j = 0; j < rows; ++j) {
        scratch.begin[j] = parts + 1;
        for (uint32_t run = scratch.run[j]; run < scratch.run[j + 1]; ++run) {
            const uint32_t up = scratch.parent[run];
            parts += up == run;
            scratch.part[run] = parts;  // right for a root; the next line serves both cases
            scratch.part[run] = scratch.part[up];
        }
    }
    scratch.begin[rows] = parts + 1;
    return parts;
}

}  // namespace

void Parts::pack_row(const ThreadScratch &scratch, int64_t y, int64_t z) const {
    uint64_t *const word = bits_of(blocks_.row_at(y, z));
    const uint8_t *const pixels = job_.set.row(y, z);
    word[-1] = 0;
    if (job_.by_value) {
        const ValueRow values = values_of({y, z, {}}, scratch.line);
        uint64_t *const start = starts_of(blocks_.row_at(y, z));
        return job_.by_delta() ? mark_near_values(values, nearness(), blocks_.width, word, start)
                               : mark_values(values, blocks_.width, word, start);
    }
    if (job_.set.type == APSIS_BIT) return pack_bits(pixels, blocks_.width, job_.complement, word);
    if (job_.set.stride[0] == 1) return pack_bytes(pixels, blocks_.width, job_.complement, word);
    std::memset(word, 0, static_cast<size_t>(blocks_.words()) * sizeof *word);
    for (int64_t x = 0; x < blocks_.width; ++x)
        word[x >> 6] |= uint64_t(is_set(job_.set, pixels, x) != job_.complement) << (x & 63);
}

/// The pixels of a row, in the given memory if they are not side by side.
ValueRow Parts::values_of(const Row &row, uint8_t *memory) const {
    const uint8_t *const pixels = job_.set.row(row.y, row.z);
    const int64_t bytes = pixel_bytes(job_.set.type);
    if (job_.set.stride[0] == bytes) return {pixels, bytes};
    View from = job_.set;
    from.data = job_.set.row(row.y, row.z), from.size[1] = from.size[2] = 1;
    copy_pixels(from, packed_like(from, memory, APSIS_HOST));
    return {memory, bytes};
}

int64_t Parts::find_meetings_of_values(const ThreadScratch &scratch, const Row &one, const Row &other, int64_t diagonals,
                                       const KnownMeetings &of) const {
    const ValueRow values = values_of(one, scratch.line), other_values = values_of(other, scratch.values);
    const int64_t width = blocks_.width;
    return job_.by_delta()
               ? find_near_meetings(one.bits, values, other.bits, other_values, nearness(), width, diagonals, scratch.met)
               : find_value_meetings(one.bits, values, other.bits, other_values, width, diagonals, of, scratch.met);
}

uint32_t Parts::find(const ThreadScratch &scratch, const Block &block) const {
    uint32_t runs = 0;
    for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
        const int64_t at = blocks_.row_at(y, z);
        const BitRow row = bit_row(scratch, j, at);
        const uint32_t found = count_row(scratch, j, at);
        scratch.run[j] = runs;
        scratch.run[j + 1] = runs + found;
        std::iota(scratch.parent + runs, scratch.parent + runs + found, runs);
        if (job_.by_value) std::fill_n(scratch.known, 2 * blocks_.words(), 0);
        for (int64_t i = 0; found && i < blocks_.earlier_rows; ++i) {
            const int64_t other_y = y + blocks_.earlier[i].dy, other_z = z + blocks_.earlier[i].dz;
            if (!block.holds(other_y, other_z)) continue;
            const int64_t other = block.at(other_y, other_z);
            join_runs(scratch, {other_y, other_z, bit_row(scratch, other, blocks_.row_at(other_y, other_z))},
                      scratch.run[other], {y, z, row}, runs, i);
        }
        runs += found;
    });
    return number_parts(scratch, block.rows());
}

/// Which pixels of a row of labels need not be joined with an earlier row, and which to note for the rows after that.  The row
/// before in the plane is a neighbour of the row in the plane before, where pixels one column aside are neighbours only across
/// corners.  Both are neighbours of the row before in the plane before, and the latter of the next row there.  So a pixel that
/// equals one in these is joined with all of its neighbours in the later row.  Of near values nothing follows.
KnownMeetings Parts::known_meetings(const ThreadScratch &scratch, int64_t earlier) const {
    if (!job_.by_value || job_.by_delta() || blocks_.earlier_rows < 4) return {nullptr, nullptr};
    const int64_t words = blocks_.words();
    uint64_t *const in_row = scratch.known, *const in_plane = in_row + words;
    switch (earlier) {
        case 0: return {nullptr, in_row};
        case 1: return {blocks_.earlier[3].diagonals ? in_row : nullptr, in_plane};
        case 2:
            for (int64_t i = 0; i < words; ++i) in_row[i] |= in_plane[i];
            return {in_row, nullptr};
        default: return {in_plane, nullptr};
    }
}

/// Joins the runs of two rows that meet; the lowest run of a tree is its root.
void Parts::join_runs(const ThreadScratch &scratch, const Row &other, uint32_t first_other, const Row &row, uint32_t first,
                      int64_t earlier) const {
    const int64_t meetings =
        find_meetings_of(scratch, other, row, blocks_.earlier[earlier].diagonals, known_meetings(scratch, earlier));
    for (int64_t i = 0; i < meetings; ++i) {
        const uint32_t one = root_in(scratch.parent, first_other + scratch.met[2 * i]);
        const uint32_t two = root_in(scratch.parent, first + scratch.met[2 * i + 1]);
        scratch.parent[std::max(one, two)] = std::min(one, two);  // if both are the same, it stays a root
    }
}

void Parts::measure(const ThreadScratch &scratch, const Block &block, uint32_t parts) const {
    std::fill_n(scratch.area, parts + 1, 0);
    for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
        const int64_t runs = find_runs_of(blocks_.row_at(y, z), scratch.ends);
        const bool edge = blocks_.at_edge(y, z);
        for (int64_t i = 0; i < runs; ++i) {
            uint32_t &area = scratch.area[scratch.part[scratch.run[j] + i]];
            area += scratch.ends[2 * i + 1] - scratch.ends[2 * i];
            if (edge || scratch.ends[2 * i] == 0 || scratch.ends[2 * i + 1] == blocks_.width) area |= TOUCHES_BORDER;
        }
    });
}

}  // namespace apsis::cpu::components
