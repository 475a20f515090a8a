// The last pass of a 2-D Euclidean distance map on the device: rows, in two exact ways (see cpu/rows.h).
//
// The outward search takes every row first.  Where sites are near it writes the outputs; where they are not, it marks
// the patch, PATCH pixels of a row, and the monotone argmin takes it, among the columns of its strip that
// may be nearest at all.
#pragma once

#include <cuda_runtime.h>

#include "core/columns.h"
#include "output.h"

namespace apsis {

constexpr int PATCH = 128;  // pixels of a row that choose one way: those of a warp in the outward search
constexpr int GROUP = 32;   // columns whose contenders are counted together
constexpr uint32_t SITES_INSIDE = 0x8000;
constexpr uint32_t OUT_OF_SIGHT = 0xffff - 31;  // more than any way, and 32 rows more or less fit 16 bits
constexpr int64_t WIDEST_ROW = 32768;  // of which shared memory holds the costs, and 15 bits the columns

/// The rows of a map, their columns packed and carried.
struct Rows {
    Columns columns;
    uint8_t *marks;        // [image][row][patch]: not 0 where the outward search gave up
    uint16_t *contenders;  // [image][strip][i]: columns that may hold a nearest site, from left to right; SITES_INSIDE is set
                           // where the strip itself holds sites of the column
    uint32_t *sights;      // [image][strip][i]: how far from the strip's first row the sites before and after the strip are,
                           // in the lower and the upper half, OUT_OF_SIGHT if there is none
    uint16_t *counts;      // [image][strip]: how many contenders there are
    Output output;

    __host__ __device__ int64_t patches() const { return (columns.count + PATCH - 1) / PATCH; }
    __host__ __device__ int64_t count_marks() const { return columns.batch * columns.length * patches(); }
    __host__ __device__ uint8_t *marks_of(int64_t image, int64_t row) const {
        return marks + (image * columns.length + row) * patches();
    }

    __host__ __device__ uint16_t *contenders_of(int64_t image, int64_t strip) const {
        return contenders + columns.at(image, strip, 0);
    }
    __host__ __device__ uint32_t *sights_of(int64_t image, int64_t strip) const {
        return sights + columns.at(image, strip, 0);
    }
    __host__ __device__ uint16_t *count_of(int64_t image, int64_t strip) const {
        return counts + image * columns.strips() + strip;
    }

    /// Whether four pixels are one aligned store of plain numbers of 32 bits.
    bool plain_distances() const;
    bool plain_indices() const;
};

/// The shared memory that the outward search wants for a block.
size_t outward_bytes(bool nearest);

/// Writes what is near, and marks what is far.
void search_outward(const Rows &rows, cudaStream_t stream);

/// Lists the contenders of strips with marks.
void list_contenders(const Rows &rows, cudaStream_t stream);

/// Writes what is marked.
void search_marked(const Rows &rows, cudaStream_t stream);

}  // namespace apsis
