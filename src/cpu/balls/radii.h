// Writes squares of radii as an output has them.
#pragma once

#include "cpu/runtime/row_writer.h"
#include "runtime/balls.h"

namespace apsis::cpu::balls {

/// The squares of a job, by the number of the pixel.
template <class Cost>
Cost *squares_of(const BallsJob &job) {
    return reinterpret_cast<Cost *>(job.squares.data);
}

/// Writes the radii of all pixels: that of the square which square_at(i) gives for pixel i.
template <class Cost, class SquareAt>
void write_radii(const BallsJob &job, Arena &arena, SquareAt square_at) {
    const int64_t width = job.out.size[0], height = job.out.size[1];
    parallel_for(arena, height * job.out.size[2], {}, 0, 0, [&](int64_t row) {
        write_pixels(
            job.out, row % height, row / height, [](int64_t) { return true; },
            [&](int64_t x, auto pixel) {
                const Cost square = square_at(row * width + x);
                return distance_pixel<decltype(pixel)>(job.measure, square, square != INFINITE<Cost>, false);
            });
    });
}

}  // namespace apsis::cpu::balls
