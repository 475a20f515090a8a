// APSIS_TILE_FILL on the CPU: the image is cut into square tiles, each is flood-filled by one thread, and then tiles are
// merged along their borders through a map of colours ("Ultra fast image markup", habr.com/ru/post/120330, 2011).
//
// A tile's k-th fill takes the colour 1 + tile + k * tiles, so that no two tiles share a colour.  Only pixels at the borders of
// tiles are compared to find the colours of one component.  The article sweeps over a tile until nothing changes; here a stack
// of pixels visits each once.  Memory is a colour a pixel and two maps of colours.
#include <limits>

#include "cpu/published/published.h"
#include "runtime/parallel.h"
#include "runtime/workspace.h"

namespace apsis::cpu::published {
namespace {

constexpr int64_t SIDE = 32;  // of a tile, as in the article

template <class Colour>
class TileFill {
  public:
    TileFill(const ComponentsJob &job, void *scratch)
        : job_(job),
          width_(job.set.size[0]),
          height_(job.set.size[1]),
          depth_(job.set.size[2]),
          across_((width_ + SIDE - 1) / SIDE),
          down_((height_ + SIDE - 1) / SIDE),
          tiles_(across_ * down_ * depth_),
          colours_(tiles_ * ((std::min(width_, SIDE) * std::min(height_, SIDE) + 1) / 2)) {
        Carver carver(scratch);
        colour_ = carver.take<Colour>(job.set.pixels());
        parent_ = carver.take<Colour>(colours_ + 1);
        number_ = carver.take<Colour>(colours_ + 1);
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }
    static bool fits(const ComponentsJob &job) {
        const TileFill fill(job, nullptr);
        return fill.colours_ + fill.tiles_ < std::numeric_limits<Colour>::max();  // the colour after a tile's last one, too
    }

    int64_t run(Arena &arena, const Progress &progress) {
        parallel_for(arena, tiles_, progress, 0.0, 0.4, [this](int64_t tile) { fill_tile(tile); });
        for (int64_t z = 0; z < depth_; ++z)
            for (int64_t y = 0; y < height_; ++y) merge_row(y, z);
        const int64_t count = number_colours();
        if (progress) progress(0.8);
        if (!job_.labels) return count;
        parallel_for(arena, height_ * depth_, progress, 0.8, 1.0, [this](int64_t row) {
            const int64_t y = row % height_, z = row / height_;
            uint8_t *const to = job_.labels.row(y, z);
            for (int64_t x = 0; x < width_; ++x) {
                const Colour number = number_[parent_[*at(x, y, z)]];
                if (job_.labels.type == APSIS_I32)
                    put(job_.labels, to, x, static_cast<int32_t>(number));
                else
                    put(job_.labels, to, x, static_cast<int64_t>(number));
            }
        });
        return count;
    }

  private:
    Colour *at(int64_t x, int64_t y, int64_t z) const { return colour_ + (z * height_ + y) * width_ + x; }
    bool diagonal() const { return job_.connectivity > 1; }

    /// The colour of pixels of the set until they get one.  Pixels outside the set have 0.
    static constexpr Colour WAITS = std::numeric_limits<Colour>::max();

    void fill_tile(int64_t tile) const {
        const int64_t z = tile / (across_ * down_), x0 = tile % across_ * SIDE, y0 = tile / across_ % down_ * SIDE;
        const int64_t x1 = std::min(x0 + SIDE, width_), y1 = std::min(y0 + SIDE, height_);
        for (int64_t y = y0; y < y1; ++y)
            for (int64_t x = x0; x < x1; ++x)
                *at(x, y, z) = is_set(job_.set, job_.set.row(y, z), x) != job_.complement ? WAITS : 0;
        Colour next = static_cast<Colour>(1 + tile);
        for (int64_t y = y0; y < y1; ++y)
            for (int64_t x = x0; x < x1; ++x) {
                if (*at(x, y, z) != WAITS) continue;
                flood(next, x, y, z, x0, x1, y0, y1);
                parent_[next] = next;
                next += static_cast<Colour>(tiles_);
            }
        for (; next <= static_cast<Colour>(colours_); next += static_cast<Colour>(tiles_)) parent_[next] = next;
    }

    void flood(Colour colour, int64_t x, int64_t y, int64_t z, int64_t x0, int64_t x1, int64_t y0, int64_t y1) const {
        struct Place {
            int64_t x, y;
        } stack[SIDE * SIDE];
        int depth = 0;
        *at(x, y, z) = colour;
        stack[depth++] = {x, y};
        while (depth > 0) {
            const Place here = stack[--depth];
            for (int64_t v = std::max(here.y - 1, y0); v < std::min(here.y + 2, y1); ++v)
                for (int64_t u = std::max(here.x - 1, x0); u < std::min(here.x + 2, x1); ++u) {
                    if ((u != here.x && v != here.y && !diagonal()) || *at(u, v, z) != WAITS) continue;
                    *at(u, v, z) = colour;
                    stack[depth++] = {u, v};
                }
        }
    }

    Colour root_of(Colour colour) const {
        while (parent_[colour] != colour) colour = parent_[colour] = parent_[parent_[colour]];
        return colour;
    }

    /// Joins the components of two colours, unless one is 0.
    void merge(Colour one, Colour other) const {
        if (!one || !other) return;
        one = root_of(one);
        other = root_of(other);
        parent_[std::max(one, other)] = std::min(one, other);
    }

    /// Joins a row's pixels with their neighbours in the tiles to the left and above.
    void merge_row(int64_t y, int64_t z) const {
        for (int64_t x = SIDE; x < width_; x += SIDE) {
            merge(*at(x, y, z), *at(x - 1, y, z));
            if (y > 0 && diagonal()) merge(*at(x, y, z), *at(x - 1, y - 1, z));
            if (y > 0 && diagonal()) merge(*at(x - 1, y, z), *at(x, y - 1, z));
        }
        if (y == 0 || y % SIDE) return;
        for (int64_t x = 0; x < width_; ++x) {
            merge(*at(x, y, z), *at(x, y - 1, z));
            if (x > 0 && diagonal()) merge(*at(x, y, z), *at(x - 1, y - 1, z));
            if (x > 0 && diagonal()) merge(*at(x - 1, y, z), *at(x, y - 1, z));
        }
    }

    /// Makes every colour's parent its root, and numbers roots in the order of their first pixels.  Returns how many there are.
    int64_t number_colours() const {
        const Colour colours = static_cast<Colour>(colours_);
        parent_[0] = 0;
        for (Colour colour = 0; colour <= colours; ++colour) {
            parent_[colour] = root_of(colour);
            number_[colour] = 0;
        }
        Colour count = 0;
        for (int64_t i = 0; i < job_.set.pixels(); ++i)
            if (Colour &number = number_[parent_[colour_[i]]]; colour_[i] && !number) number = ++count;
        return static_cast<int64_t>(count);
    }

    ComponentsJob job_;
    int64_t width_, height_, depth_, across_, down_, tiles_;
    int64_t colours_;  // at most
    Colour *colour_;   // [pixel]
    Colour *parent_;   // [colour]: a lower colour of the same component, or itself
    Colour *number_;   // [root]
    size_t bytes_;
};

}  // namespace

size_t tile_fill_scratch(const ComponentsJob &job) {
    return TileFill<uint32_t>::fits(job) ? TileFill<uint32_t>(job, nullptr).bytes() : TileFill<uint64_t>(job, nullptr).bytes();
}

void tile_fill(const ComponentsJob &job, void *scratch, Arena &arena, const Progress &progress) {
    const int64_t count = TileFill<uint32_t>::fits(job) ? TileFill<uint32_t>(job, scratch).run(arena, progress)
                                                        : TileFill<uint64_t>(job, scratch).run(arena, progress);
    if (job.count) *job.count = count;
    if (progress) progress(1);
}

}  // namespace apsis::cpu::published
