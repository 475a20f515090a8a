// See parts.h.
#include "cpu/components/parts.h"

#include <cstring>
#include <numeric>

namespace apsis::cpu::components {
namespace {

/// Most runs are roots or next to one, and which of both they are cannot be foreseen: no branch asks.
uint32_t root_in(uint32_t *parent, uint32_t run) {
    uint32_t root = parent[run];
    while (parent[root] != root) root = parent[root] = parent[parent[root]];
    return parent[run] = root;
}

/// From trees to parts.  Which runs are roots cannot be foreseen: no branch asks.
uint32_t number_parts(const Bench &b, int64_t rows) {
    uint32_t parts = 0;
    for (int64_t j = 0; j < rows; ++j) {
        b.begin[j] = parts + 1;
        for (uint32_t run = b.run[j]; run < b.run[j + 1]; ++run) {
            const uint32_t up = b.parent[run];
            parts += up == run;
            b.part[run] = parts;  // if it is a root
            b.part[run] = b.part[up];
        }
    }
    b.begin[rows] = parts + 1;
    return parts;
}

}  // namespace

void Parts::pack_row(int64_t y, int64_t z) const {
    uint64_t *const word = bits_of(blocks_.row_at(y, z));
    const uint8_t *const pixels = job_.set.row(y, z);
    word[-1] = 0;
    if (job_.set.type == APSIS_BIT) return pack_bits(pixels, blocks_.width, job_.complement, word);
    if (job_.set.stride[0] == 1) return pack_bytes(pixels, blocks_.width, job_.complement, word);
    std::memset(word, 0, static_cast<size_t>(blocks_.words()) * sizeof *word);
    for (int64_t x = 0; x < blocks_.width; ++x)
        word[x >> 6] |= uint64_t(is_set(job_.set, pixels, x) != job_.complement) << (x & 63);
}

uint32_t Parts::find(const Bench &b, const Block &block) const {
    uint32_t runs = 0;
    for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
        const int64_t at = blocks_.row_at(y, z);
        const BitRow row = bit_row(b, j, at);
        const uint32_t found = count_row(b, j, at);
        b.run[j] = runs;
        b.run[j + 1] = runs + found;
        std::iota(b.parent + runs, b.parent + runs + found, runs);
        for (const Step *step = blocks_.step; found && step < blocks_.step + blocks_.steps; ++step) {
            const int64_t other_y = y + step->dy, other_z = z + step->dz;
            if (!block.holds(other_y, other_z)) continue;
            const int64_t other = block.at(other_y, other_z);
            join_runs(b, bit_row(b, other, blocks_.row_at(other_y, other_z)), b.run[other], row, runs, step->reach);
        }
        runs += found;
    });
    return number_parts(b, block.rows());
}

/// Makes one tree of those of runs that meet; the lowest run is its root.
void Parts::join_runs(const Bench &b, const BitRow &other, uint32_t first_other, const BitRow &row, uint32_t first,
                      int64_t reach) const {
    const int64_t meetings = find_meetings(other, row, blocks_.width, reach, b.met);
    for (int64_t i = 0; i < meetings; ++i) {
        const uint32_t one = root_in(b.parent, first_other + b.met[2 * i]);
        const uint32_t two = root_in(b.parent, first + b.met[2 * i + 1]);
        b.parent[std::max(one, two)] = std::min(one, two);  // itself, if they are one
    }
}

void Parts::measure(const Bench &b, const Block &block, uint32_t parts) const {
    std::fill_n(b.area, parts + 1, 0);
    for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
        const int64_t runs = find_runs(bits_of(blocks_.row_at(y, z)), blocks_.width, b.ends);
        const bool edge = blocks_.at_edge(y, z);
        for (int64_t i = 0; i < runs; ++i) {
            uint32_t &area = b.area[b.part[b.run[j] + i]];
            area += b.ends[2 * i + 1] - b.ends[2 * i];
            if (edge || b.ends[2 * i] == 0 || b.ends[2 * i + 1] == blocks_.width) area |= TOUCHES;
        }
    });
}

}  // namespace apsis::cpu::components
