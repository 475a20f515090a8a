// See parts.h.
#include "cpu/components/parts.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

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

template <class Pixel>
bool are_near(const ValueRow &row, int64_t x, const ValueRow &other, int64_t other_x, const Nearness &near) {
    const Pixel one = static_cast<const Pixel *>(row.pixels)[x], two = static_cast<const Pixel *>(other.pixels)[other_x];
    if (one == two) return true;
    if constexpr (std::is_same_v<Pixel, float>)
        return std::fabs(static_cast<double>(one) - static_cast<double>(two)) <= near.delta;
    else
        return static_cast<uint64_t>(std::max(one, two)) - static_cast<uint64_t>(std::min(one, two)) <= near.whole_delta;
}

}  // namespace

bool Parts::connects(const ValueRow &row, int64_t x, const ValueRow &other, int64_t other_x) const {
    const auto is_set = [](const ValueRow &in, int64_t at) { return in.bits.word[at >> 6] >> (at & 63) & 1; };
    if (!is_set(row, x) || !is_set(other, other_x)) return false;
    if (!job_.by_value) return true;
    switch (job_.set.type) {
        case APSIS_U8: return are_near<uint8_t>(row, x, other, other_x, nearness());
        case APSIS_U16: return are_near<uint16_t>(row, x, other, other_x, nearness());
        case APSIS_I32: return are_near<int32_t>(row, x, other, other_x, nearness());
        case APSIS_F32: return are_near<float>(row, x, other, other_x, nearness());
        default: return are_near<int64_t>(row, x, other, other_x, nearness());
    }
}

void Parts::pack_row(const ThreadScratch &scratch, int64_t y, int64_t z) const {
    uint64_t *const word = bits_of(blocks_.row_at(y, z));
    const uint8_t *const pixels = job_.set.row(y, z);
    word[-1] = 0;
    if (job_.by_value) {
        const void *const values = values_of(y, z, scratch.values);
        uint64_t *const start = starts_of(blocks_.row_at(y, z));
        return blocks_.by_delta ? mark_near_values(values, nearness(), blocks_.width, word, start)
                                : mark_values(values, pixel_bytes(job_.set.type), blocks_.width, word, start);
    }
    if (job_.set.type == APSIS_BIT) return pack_bits(pixels, blocks_.width, job_.complement, word);
    if (job_.set.stride[0] == 1) return pack_bytes(pixels, blocks_.width, job_.complement, word);
    std::memset(word, 0, static_cast<size_t>(blocks_.words()) * sizeof *word);
    for (int64_t x = 0; x < blocks_.width; ++x)
        word[x >> 6] |= uint64_t(is_set(job_.set, pixels, x) != job_.complement) << (x & 63);
}

/// The pixels of a row, in the given memory if they are not side by side.
const void *Parts::values_of(int64_t y, int64_t z, uint8_t *memory) const {
    const uint8_t *const pixels = job_.set.row(y, z);
    if (job_.set.stride[0] == pixel_bytes(job_.set.type)) return pixels;
    View from = job_.set;
    from.data = job_.set.row(y, z), from.size[1] = from.size[2] = 1;
    copy_pixels(from, packed_like(from, memory, APSIS_HOST));
    return memory;
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
        if (found && job_.by_value) {
            const int64_t meetings = find_value_meetings_of(
                scratch, y, z, {j, runs}, [&](int64_t other_y, int64_t other_z) -> std::optional<Counted> {
                    if (!block.holds(other_y, other_z)) return {};
                    return Counted{block.at(other_y, other_z), scratch.run[block.at(other_y, other_z)]};
                });
            join_runs(scratch, meetings, 0, 0);
        }
        for (int64_t i = 0; found && !job_.by_value && i < blocks_.earlier_rows; ++i) {
            const int64_t other_y = y + blocks_.earlier[i].dy, other_z = z + blocks_.earlier[i].dz;
            if (!block.holds(other_y, other_z)) continue;
            const int64_t other = block.at(other_y, other_z);
            const BitRow earlier = bit_row(scratch, other, blocks_.row_at(other_y, other_z));
            join_runs(scratch, find_meetings_of(scratch, earlier, row, blocks_.earlier[i].diagonals), scratch.run[other], runs);
        }
        runs += found;
    });
    return number_parts(scratch, block.rows());
}

/// Joins the runs of pairs of two rows; the lowest run of a tree is its root.
void Parts::join_runs(const ThreadScratch &scratch, int64_t meetings, uint32_t first_other, uint32_t first) {
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
            if (edge || blocks_.at_end(scratch.ends[2 * i], scratch.ends[2 * i + 1])) area |= TOUCHES_BORDER;
        }
    });
}

}  // namespace apsis::cpu::components
