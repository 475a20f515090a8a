// apsis_geodesic on the CPU: one field from all seeds of an image (field.h), which several threads make.  The slices of a batch
// are solved side by side, a thread each.
//
// Lengths have 32 bits where steps are small numbers and nearest seeds, if they are wanted, can be named in 32 bits.  Paths may
// be longer: whenever lengths become large, the settled pixels are written, and the other lengths are counted from there.
//
// Paths that come into a slab begin with the lengths that they have there.
//
// Cost: that of a field.  Memory is 4 or 8 bytes a pixel, and as much again for the nearest seeds.
#include "cpu/paths/geodesic.h"

#include <cstring>

#include "cpu/paths/field.h"
#include "cpu/runtime/row_writer.h"
#include "runtime/parallel.h"

namespace apsis::cpu::paths {
namespace {

constexpr int64_t NARROW_STEP = 1 << 20;  // the longest step for which 32 bits are used

template <class Length>
class Geodesic {
    using Lengths = Field<Length>;

  public:
    Geodesic(const GeodesicJob &job, Carver &carver)
        : job_(job),
          grid_(job.set.size, job.axes, job.periodic, reach_of(job.steps)),
          field_(grid_, job.steps, job.axes, job.wants_seeds(), carver) {}

    /// Lets idle threads help.
    void share_with(Arena &arena) { field_.share_with(arena); }

    /// Solves slice z of a batch, or the image.  each_row(from, to, body) must call body(y, z) for all its rows.
    template <class EachRow>
    void run(int64_t slice, const Progress &progress, EachRow each_row) {
        slice_ = slice;
        field_.clear_frame();
        each_row(0.0, 0.1, [this](int64_t y, int64_t z) { start_row(y, z); });
        for_entering([this](int64_t cell, int64_t length, int64_t) {
            field_.length[cell] = static_cast<Length>(std::min<int64_t>(field_.length[cell], length));
            field_.starts[grid_.row_of(cell)] = 1;
        });
        const double pixels = static_cast<double>(job_.set.pixels()) * (wants_seeds() ? 2 : 1);
        const auto tick = [&](int64_t visited) {
            if (progress) progress(0.1 + 0.8 * std::min(static_cast<double>(visited) / pixels, 1.0));
        };
        const auto flush = [&](Length below) {
            for (int64_t row = 0; row < grid_.rows(); ++row) write_settled(row % grid_.height, row / grid_.height, below);
        };
        field_.run(tick, flush, [this] { name_entering(); });
        each_row(0.9, 1.0, [this](int64_t y, int64_t z) { write_row(y, z); });
    }

  private:
    bool wants_seeds() const { return job_.wants_seeds(); }
    int64_t index_of(int64_t y, int64_t z) const { return job_.first_index + (z * grid_.height + y) * grid_.width; }

    /// Calls body(cell, length, seed) for the pixels at which a path comes into a slab.
    template <class Body>
    void for_entering(Body body) const {
        const View &from = job_.entering;
        if (!from) return;
        for (int side = 0; side < 2; ++side)
            for (int64_t row = 0; row < from.size[1]; ++row) {
                const int64_t *const lengths = reinterpret_cast<const int64_t *>(from.row(row, side));
                const int64_t *const seeds =
                    wants_seeds() ? reinterpret_cast<const int64_t *>(from.row(row, 2 + side)) : nullptr;
                const int64_t last = side ? (job_.axes == 3 ? grid_.depth : grid_.height) - 1 : 0;
                const int64_t first = job_.axes == 3 ? grid_.row(row, last) : grid_.row(last, 0);
                for (int64_t x = 0; x < grid_.width; ++x)
                    if (lengths[x] != INT64_MAX) body(first + x, lengths[x], wants_seeds() ? seeds[x] : 0);
            }
    }

    /// Names the seeds that paths come from outside, where these are shortest paths.
    void name_entering() const {
        if (wants_seeds())
            for_entering([this](int64_t cell, int64_t length, int64_t seed) {
                if (field_.length[cell] < 0 || field_.length[cell] != length - field_.shift) return;
                field_.source[cell] = std::min(field_.source[cell], static_cast<Length>(seed));
            });
    }

    /// Tells of the wanted pixels, if the row is a slab's first or last.
    template <class Wanted>
    void tell(int64_t y, int64_t z, Wanted wanted) const {
        const View &to = job_.told;
        const int64_t at = job_.axes == 3 ? z : y, row = job_.axes == 3 ? y : 0, first = grid_.row(y, z);
        const Length *const length = field_.length + first, most = longest();
        for (int side = 0; to && side < 2; ++side) {
            if (at != (side ? (job_.axes == 3 ? grid_.depth : grid_.height) - 1 : 0)) continue;
            int64_t *const lengths = reinterpret_cast<int64_t *>(to.row(row, side));
            int64_t *const seeds = wants_seeds() ? reinterpret_cast<int64_t *>(to.row(row, 2 + side)) : nullptr;
            for (int64_t x = 0; x < grid_.width; ++x) {
                if (!wanted(x)) continue;
                const bool is_reached = length[x] >= 0 && length[x] <= most;
                lengths[x] = is_reached ? length[x] + field_.shift : INT64_MAX;
                if (wants_seeds()) seeds[x] = is_reached ? seed_of(first + x) : -1;
            }
        }
    }

    /// Calls body(x) for the pixels of a row that are in a set, or with `outside` for the other pixels.
    template <class Body>
    static void for_members(const View &set, const uint8_t *row, bool outside, Body body) {
        for (int64_t x = 0; x < set.size[0]; ++x)
            if (is_set(set, row, x) != outside) body(x);
    }

    void start_row(int64_t y, int64_t z) const {
        const uint8_t *const set = job_.set.row(y, z + slice_), *const seeds = job_.seeds.row(y, z + slice_);
        const int64_t first = grid_.row(y, z);
        Length *const length = field_.length + first;
        field_.clear_row(first);
        if (job_.set.type == APSIS_U8 && job_.set.stride[0] == 1) {
            const Length on = job_.complement ? Lengths::WALL : Lengths::UNSEEN;
            const Length off = job_.complement ? Lengths::UNSEEN : Lengths::WALL;
            for (int64_t x = 0; x < grid_.width; ++x) length[x] = set[x] ? on : off;
        } else {
            for_members(job_.set, set, job_.complement, [&](int64_t x) { length[x] = Lengths::UNSEEN; });
        }
        if (job_.seeds.type == APSIS_U8 && job_.seeds.stride[0] == 1 && is_blank(seeds)) return;
        field_.starts[grid_.row_of(first)] = 1;
        for_members(job_.seeds, seeds, false, [&](int64_t x) {
            if (length[x] == Lengths::WALL) return;
            length[x] = 0;
            if (wants_seeds()) field_.source[first + x] = static_cast<Length>(index_of(y, z) + x);
        });
    }

    /// Whether a packed row of bytes is zero.
    bool is_blank(const uint8_t *row) const {
        return row[0] == 0 && std::memcmp(row, row + 1, static_cast<size_t>(grid_.width - 1)) == 0;
    }

    /// The largest length within the limit.
    Length longest() const {
        const int64_t most = job_.steps.limit - field_.shift;
        return most < Lengths::UNSEEN ? static_cast<Length>(most) : Lengths::UNSEEN - 1;
    }

    int64_t seed_of(int64_t cell) const {
        return static_cast<int64_t>(field_.source[cell]) + slice_ * grid_.width * grid_.height;
    }

    /// Writes the pixels with lengths below `below`, and settles them.
    void write_settled(int64_t y, int64_t z, Length below) const {
        const int64_t first = grid_.row(y, z), shift = field_.shift;
        Length *const length = field_.length + first;
        const auto wanted = [=](int64_t x) { return length[x] >= 0 && length[x] < below; };
        write_pixels(job_.distance, y, z + slice_, wanted, [=, steps = job_.steps](int64_t x, auto pixel) {
            return length_pixel<decltype(pixel)>(steps, length[x], shift);
        });
        if (wants_seeds())
            write_pixels(job_.nearest, y, z + slice_, wanted,
                         [&](int64_t x, auto pixel) { return static_cast<decltype(pixel)>(seed_of(first + x)); });
        tell(y, z, wanted);
        for (int64_t x = 0; x < grid_.width; ++x)
            if (wanted(x)) length[x] = Lengths::SETTLED;
    }

    /// Writes all pixels that are not settled.
    void write_row(int64_t y, int64_t z) const {
        const int64_t first = grid_.row(y, z), shift = field_.shift;
        const Length *const length = field_.length + first, most = longest();
        const auto value = [=, steps = job_.steps](int64_t x, auto pixel) {
            using Pixel = decltype(pixel);
            const Pixel reached = length_pixel<Pixel>(steps, length[x], shift);
            const Pixel inside = length[x] <= most ? reached : no_path<Pixel>();
            return length[x] < 0 ? static_cast<Pixel>(-1) : inside;
        };
        const auto seed = [&](int64_t x, auto pixel) {
            return static_cast<decltype(pixel)>(length[x] >= 0 && length[x] <= most ? seed_of(first + x) : -1);
        };
        const auto all = [](int64_t) { return true; };
        const auto left = [=](int64_t x) { return length[x] != Lengths::SETTLED; };
        const auto write = [&](auto wanted) {
            write_pixels(job_.distance, y, z + slice_, wanted, value);
            if (wants_seeds()) write_pixels(job_.nearest, y, z + slice_, wanted, seed);
            tell(y, z, wanted);
        };
        shift ? write(left) : write(all);
    }

    GeodesicJob job_;
    Grid grid_;
    Lengths field_;
    int64_t slice_ = 0;
};

/// Calls body with a pointer to the type Geodesic of a job.
template <class Body>
auto with_types(const GeodesicJob &job, Body body) {
    const bool few = !job.wants_seeds() || job.indices < UNSEEN<int32_t>;
    const bool is_near = job.longest_entering < UNSEEN<int32_t> - job.steps.most;
    return few && is_near && job.steps.most <= NARROW_STEP ? body(static_cast<Geodesic<int32_t> *>(nullptr))
                                                           : body(static_cast<Geodesic<int64_t> *>(nullptr));
}

int64_t slices_of(const GeodesicJob &job) { return job.axes == 2 ? job.set.size[2] : 1; }

}  // namespace

size_t geodesic_scratch(const GeodesicJob &job, int threads) {
    return with_types(job, [&](auto *type) {
        Carver count;
        for (int64_t i = 0; i < (slices_of(job) == 1 ? 1 : threads); ++i) std::remove_pointer_t<decltype(type)>(job, count);
        return count.used();
    });
}

void geodesic(const GeodesicJob &job, void *scratch, Arena &arena, const Progress &progress) {
    const int threads = arena.threads();
    with_types(job, [&](auto *type) {
        using Image = std::remove_pointer_t<decltype(type)>;
        Carver carver(scratch);
        if (slices_of(job) == 1) {
            Image image(job, carver);
            image.share_with(arena);
            image.run(0, progress, [&](double from, double to, auto body) {
                const int64_t height = job.set.size[1], rows = height * job.set.size[2];
                parallel_for(arena, rows, progress, from, to, [&](int64_t i) { body(i % height, i / height); });
            });
            return;
        }
        Carver count;
        Image(job, count);
        parallel_for(arena, slices_of(job), progress, 0, 1, [&](int64_t z) {
            const int thread = threads > 1 ? Arena::thread() : 0;
            Carver own(static_cast<uint8_t *>(scratch) + count.used() * static_cast<size_t>(thread));
            Image(job, own).run(z, {}, [&](double, double, auto body) {
                for (int64_t y = 0; y < job.set.size[1]; ++y) body(y, int64_t(0));
            });
        });
    });
    if (progress) progress(1);
}

}  // namespace apsis::cpu::paths
