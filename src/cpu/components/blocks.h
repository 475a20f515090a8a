// Cuts an image into blocks of whole rows, each small enough for a thread's cache, and finds the rows with neighbours
// in other blocks.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend.h"

namespace apsis::cpu::components {

struct Block {
    int64_t y0, y1, z0, z1;

    int64_t rows() const { return (y1 - y0) * (z1 - z0); }
    bool holds(int64_t y, int64_t z) const { return y0 <= y && y < y1 && z0 <= z && z < z1; }
    /// The number of a row in the block, in the order of the image.
    int64_t at(int64_t y, int64_t z) const { return (z - z0) * (y1 - y0) + y - y0; }
};

/// Calls body(j, y, z) for the rows of a block, in order; j counts them.
template <class Body>
void for_rows(const Block &block, Body body) {
    int64_t j = 0;
    for (int64_t z = block.z0; z < block.z1; ++z)
        for (int64_t y = block.y0; y < block.y1; ++y) body(j++, y, z);
}

/// The offset from a row to an earlier row whose pixels may be neighbours.  With diagonals (1, else 0) a run reaches one
/// column more.
struct EarlierRow {
    int64_t dy, dz, diagonals;
};

struct Blocks {
    int64_t width, height, depth;
    bool volume;  // rows of different z can be neighbours
    int64_t connectivity;
    bool by_value;  // pixels are labels, or grey
    bool by_delta;  // they are grey: near values are connected
    Periodic periodic;
    bool goes_on_y, goes_on_z;  // components go on before the first row or plane, and after the last one: in another slab, or
                                // across the seam of a periodic axis
    int64_t block_height, block_depth;  // extents of a block
    EarlierRow earlier[4];
    int earlier_rows;

    Blocks(const ComponentsJob &job, int threads)
        : width(job.set.size[0]),
          height(job.set.size[1]),
          depth(job.set.size[2]),
          volume(job.axes == 3),
          connectivity(job.connectivity),
          by_value(job.by_value),
          by_delta(job.by_delta()),
          periodic(job.periodic),
          goes_on_y(periodic.along[1] || (job.told.has_faces() && !volume)),
          goes_on_z(periodic.along[2] || (job.told.has_faces() && volume)) {
        // Pixels: LEAST is worth a task, `most` fits in the L2 cache.  Of a label image all rows between blocks have runs, and
        // to join them costs more than what a larger block has outside of that cache: 2^18 pixels take an eighth longer.
        constexpr int64_t LEAST = 1 << 14;
        const int64_t most = by_value ? 1 << 20 : 1 << 18, blocks_per_thread = by_value ? 8 : 16;
        const int64_t share = std::clamp(width * height * depth / (blocks_per_thread * threads), LEAST, most);
        const int64_t rows = std::max<int64_t>(share / width, 1);
        const int64_t side = static_cast<int64_t>(std::sqrt(static_cast<double>(rows)));
        block_height = std::min(height, volume && depth > 1 ? std::max(side, rows / depth) : rows);
        block_depth = std::clamp<int64_t>(rows / block_height, 1, depth);
        const int64_t diagonal = connectivity > 1, corner = connectivity > 2;
        const EarlierRow all[4] = {{-1, 0, diagonal}, {0, -1, diagonal}, {-1, -1, corner}, {1, -1, corner}};
        earlier_rows = !volume ? 1 : diagonal ? 4 : 2;
        std::copy_n(all, 4, earlier);
    }

    int64_t rows() const { return height * depth; }
    bool holds(int64_t y, int64_t z) const { return y >= 0 && y < height && z >= 0; }  // of an earlier row
    int64_t row_at(int64_t y, int64_t z) const { return z * height + y; }
    int64_t words() const { return (width + 63) / 64; }
    int64_t runs() const { return by_value ? width : (width + 1) / 2; }  // of a row, at most
    /// Pairs of runs that meet: of two rows of a set, or of a row of values and its earlier ones, at most.
    int64_t meetings() const { return (by_delta ? 3 : 2) * runs() * (by_value ? earlier_rows : 1); }
    int64_t across() const { return (height + block_height - 1) / block_height; }
    int64_t count() const { return across() * ((depth + block_depth - 1) / block_depth); }

    Block at(int64_t i) const {
        const int64_t y = i % across() * block_height, z = i / across() * block_depth;
        return {y, std::min(y + block_height, height), z, std::min(z + block_depth, depth)};
    }
    /// Whether a row has neighbours in another block, outside of a slab, or across a seam: a border row.
    bool is_border(const Block &block, int64_t y, int64_t z) const {
        return periodic.along[0] || (y == block.y0 && (goes_on_y || y > 0)) ||
               (y == block.y1 - 1 && (goes_on_y || block.y1 < height)) ||
               (volume && ((z == block.z0 && (goes_on_z || z > 0)) || (z == block.z1 - 1 && (goes_on_z || block.z1 < depth))));
    }
    /// How many border rows a block has, at most.
    int64_t borders_of_block() const {
        const int64_t inner =
            std::max<int64_t>(block_height - 2, 0) * (volume ? std::max<int64_t>(block_depth - 2, 0) : block_depth);
        if (periodic.along[0]) return block_height * block_depth;
        return block_height * block_depth - inner;
    }
    /// How many border rows the image has.
    int64_t borders() const {
        const auto inner = [](int64_t length, int64_t extent, bool is_cut) {
            const int64_t blocks = (length + extent - 1) / extent, rest = length - (blocks - 1) * extent;
            if (is_cut) return (blocks - 1) * std::max<int64_t>(extent - 2, 0) + std::max<int64_t>(rest - 2, 0);
            if (blocks < 2) return length;  // the first and the last have 1 border row, others 2
            return extent - 1 + (blocks - 2) * std::max<int64_t>(extent - 2, 0) + rest - 1;
        };
        if (periodic.along[0]) return rows();
        return rows() - inner(height, block_height, goes_on_y) * (volume ? inner(depth, block_depth, goes_on_z) : depth);
    }
    /// Whether a row lies at the border of its image, which has none along a periodic axis.
    bool at_edge(int64_t y, int64_t z) const {
        return (!periodic.along[1] && (y == 0 || y == height - 1)) ||
               (volume && !periodic.along[2] && (z == 0 || z == depth - 1));
    }
    /// Whether the pixels from x = begin to end do so, along x.
    bool at_end(int64_t begin, int64_t end) const { return !periodic.along[0] && (begin == 0 || end == width); }
    /// Whether a row has neighbours across a seam.
    bool at_seam(int64_t y, int64_t z) const {
        return periodic.along[0] || (periodic.along[1] && y == 0) || (periodic.along[2] && z == 0);
    }
};

}  // namespace apsis::cpu::components
