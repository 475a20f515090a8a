// An image that several devices map, on the host: its slabs, and what a slab is told, found without the library.
#pragma once

#include <apsis.h>
#include <errno.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "masks.h"

[[noreturn]] inline void die(const char *why) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    std::exit(1);
}

inline size_t pixel_bytes(apsis_type type) { return type == APSIS_U8 ? 1 : type == APSIS_I32 || type == APSIS_F32 ? 4 : 8; }

/// The image that is mapped, on the host, and how it is cut.
struct Whole {
    std::string mask;
    int ndim;
    int64_t size[3];
    std::vector<uint8_t> pixels;

    Whole(const std::string &name, int axes, int64_t side) : mask(name), ndim(axes), size{side, side, axes == 3 ? side : 1} {
        pixels.resize(static_cast<size_t>(size[0] * size[1] * size[2]));
        if (!bench_mask(name.c_str(), size[0], size[1], size[2], pixels.data())) die(("there is no mask " + name).c_str());
    }

    int64_t rows() const { return size[ndim - 1]; }
    int64_t columns() const { return static_cast<int64_t>(pixels.size()) / rows(); }
    int64_t start_of(size_t k, size_t slabs) const { return rows() * static_cast<int64_t>(k) / static_cast<int64_t>(slabs); }
    apsis_type index_type() const { return pixels.size() >= uint64_t(1) << 31 ? APSIS_I64 : APSIS_I32; }

    apsis_image rows_of(apsis_type type, int64_t rows) const {
        apsis_image image = {};
        image.type = type;
        image.ndim = ndim;
        std::copy_n(size, 3, image.size);
        image.size[ndim - 1] = rows;
        return image;
    }

    apsis_image host(int64_t start, int64_t rows) {
        apsis_image image = rows_of(APSIS_U8, rows);
        image.data = pixels.data() + start * columns();
        return image;
    }

    /// The last row of the set in each column before a row, or the first one from it on.
    std::vector<int64_t> nearest_rows(int64_t from, int step) const {
        const auto count = static_cast<size_t>(columns());
        std::vector<int64_t> found(count, step < 0 ? -1 : INT64_MAX);
        size_t missing = count;
        for (int64_t y = step < 0 ? from - 1 : from; missing > 0 && y >= 0 && y < rows(); y += step) {
            const uint8_t *const row = pixels.data() + y * columns();
            for (size_t x = 0; x < count; ++x)
                if (row[x] && (found[x] < 0 || found[x] == INT64_MAX)) found[x] = y, --missing;
        }
        return found;
    }
};
