// Masks: each kind is there because some method looks for something in it: runs of every length, gaps of every size, sites
// that many pixels are equally far from, long paths, many components, few sites far away.
#include "masks.h"

#include <algorithm>
#include <cmath>

namespace soak {

namespace {

struct Canvas {
    std::vector<uint8_t> &mask;
    const std::array<int64_t, 3> &size;
    Dice &dice;

    void set(int64_t x, int64_t y, int64_t z) {
        if (x >= 0 && x < size[0] && y >= 0 && y < size[1] && z >= 0 && z < size[2])
            mask[static_cast<size_t>(x + size[0] * (y + size[1] * z))] = 1;
    }

    /// Sets the pixels for which `is_in` is true.
    template <class F>
    void fill(F is_in) {
        size_t i = 0;
        for (int64_t z = 0; z < size[2]; ++z)
            for (int64_t y = 0; y < size[1]; ++y)
                for (int64_t x = 0; x < size[0]; ++x, ++i) mask[i] = is_in(x, y, z);
    }

    int64_t longest() const { return *std::max_element(size.begin(), size.end()); }
    int64_t any(int axis) { return dice.below(size[axis]); }
};

/// Densities of every magnitude, near 0 and near 1 too.
double draw_density(Dice &dice) {
    const double small = std::exp2(-14 * dice.real());
    return dice.one_in(4) ? 1 - small : dice.one_in(3) ? dice.real() : small;
}

void noise(Canvas &c) {
    const double density = draw_density(c.dice);
    c.fill([&](int64_t, int64_t, int64_t) { return c.dice.real() < density; });
}

/// Dense at one end, sparse at the other.
void gradient(Canvas &c) {
    const int axis = static_cast<int>(c.dice.below(2));
    const double steep = 1 + 11 * c.dice.real(), length = static_cast<double>(c.size[axis]);
    c.fill([&](int64_t x, int64_t y, int64_t) {
        return c.dice.real() < std::exp2(-steep * static_cast<double>(axis ? y : x) / length);
    });
}

void empty(Canvas &) {}

void full(Canvas &c) { std::fill(c.mask.begin(), c.mask.end(), uint8_t(1)); }

void few(Canvas &c) {
    for (int64_t n = c.dice.magnitude(1, 40); n > 0; --n) c.set(c.any(0), c.any(1), c.any(2));
}

void corners(Canvas &c) {
    for (int corner = 0; corner < 8; ++corner)
        if (c.dice.one_in(2))
            c.set(corner & 1 ? c.size[0] - 1 : 0, corner & 2 ? c.size[1] - 1 : 0, corner & 4 ? c.size[2] - 1 : 0);
}

/// A ball of the canvas's pixels; in a plane, a disc.
void dab(Canvas &c, int64_t x, int64_t y, int64_t z, int64_t radius) {
    const int64_t deep = c.size[2] > 1 ? radius : 0;
    for (int64_t dz = -deep; dz <= deep; ++dz)
        for (int64_t dy = -radius; dy <= radius; ++dy)
            for (int64_t dx = -radius; dx <= radius; ++dx)
                if (dx * dx + dy * dy + dz * dz <= radius * radius) c.set(x + dx, y + dy, z + dz);
}

/// Lissajous curves.
void curves(Canvas &c) {
    for (int64_t n = c.dice.between(1, 3); n > 0; --n) {
        const double fx = static_cast<double>(c.dice.between(1, 7)), fy = static_cast<double>(c.dice.between(1, 7));
        const double phase = 6.3 * c.dice.real();
        const int64_t points = std::min<int64_t>(4 * (c.size[0] + c.size[1]), 40000), z = c.any(2);
        for (int64_t i = 0; i < points; ++i) {
            const double t = 6.2831853 * static_cast<double>(i) / static_cast<double>(points);
            c.set(static_cast<int64_t>((0.5 + 0.5 * std::sin(fx * t + phase)) * static_cast<double>(c.size[0])),
                  static_cast<int64_t>((0.5 + 0.5 * std::sin(fy * t)) * static_cast<double>(c.size[1])), z);
        }
    }
}

/// Lines with a width: along an axis, or slanted.
void strokes(Canvas &c) {
    for (int64_t n = c.dice.magnitude(1, 24); n > 0; --n) {
        double at[3], by[3] = {};
        for (int a = 0; a < 3; ++a) at[a] = static_cast<double>(c.any(a));
        if (c.dice.one_in(2))
            by[c.dice.below(3)] = c.dice.one_in(2) ? 1 : -1;
        else
            for (double &each : by) each = 2 * c.dice.real() - 1;
        const int64_t length = c.dice.magnitude(1, std::min<int64_t>(c.longest(), 3000));
        const int64_t radius = c.dice.one_in(2) ? 0 : c.dice.magnitude(1, 4);
        for (int64_t i = 0; i < length; ++i) {
            dab(c, static_cast<int64_t>(at[0]), static_cast<int64_t>(at[1]), static_cast<int64_t>(at[2]), radius);
            for (int a = 0; a < 3; ++a) at[a] += by[a];
        }
    }
}

void discs(Canvas &c) {
    const int64_t largest = std::clamp<int64_t>(std::min(c.size[0], c.size[1]) / 3, 1, 40);
    for (int64_t n = c.dice.magnitude(1, 12); n > 0; --n) dab(c, c.any(0), c.any(1), c.any(2), c.dice.magnitude(1, largest));
}

/// Circles about one point: sites that are equally far.
void rings(Canvas &c) {
    const int64_t mx = c.any(0), my = c.any(1), mz = c.any(2), period = c.dice.magnitude(8, 4000);
    const int64_t thick = c.dice.between(1, period);
    c.fill([&](int64_t x, int64_t y, int64_t z) {
        const int64_t square = (x - mx) * (x - mx) + (y - my) * (y - my) + (z - mz) * (z - mz);
        return square % period < thick;
    });
}

/// Sierpinski's triangles and tetrahedra, from (0, 0, 0) or from elsewhere.
void sierpinski(Canvas &c) {
    const int64_t sx = c.any(0), sy = c.any(1), sz = c.any(2), zoom = c.dice.below(3);
    c.fill([&](int64_t x, int64_t y, int64_t z) { return (((x + sx) & (y + sy) & (z + sz)) >> zoom) == 0; });
}

/// Whether `i` has the digit 1 to the base 3.
bool in_cantor_gap(int64_t i) {
    for (; i > 0; i /= 3)
        if (i % 3 == 1) return true;
    return false;
}

/// Gaps of every size, along one axis or along all.
void cantor(Canvas &c) {
    const int64_t axes = c.dice.between(1, 7);
    const int64_t shift = c.dice.one_in(2) ? 0 : c.any(0);
    c.fill([&](int64_t x, int64_t y, int64_t z) {
        return !(axes & 1 && in_cantor_gap(x + shift)) && !(axes & 2 && in_cantor_gap(y)) && !(axes & 4 && in_cantor_gap(z));
    });
}

void lattice(Canvas &c) {
    int64_t period[3], start[3];
    for (int a = 0; a < 3; ++a) {
        period[a] = c.dice.magnitude(1, 70);
        start[a] = c.dice.below(period[a]);
    }
    const bool lines = c.dice.one_in(3);
    c.fill([&](int64_t x, int64_t y, int64_t z) {
        const bool on_x = (x + start[0]) % period[0] == 0, on_y = (y + start[1]) % period[1] == 0;
        return (lines ? on_x || on_y : on_x && on_y) && (z + start[2]) % period[2] == 0;
    });
}

void clusters(Canvas &c) {
    for (int64_t n = c.dice.magnitude(1, 10); n > 0; --n) {
        const int64_t at[3] = {c.any(0), c.any(1), c.any(2)}, reach = c.dice.magnitude(1, 60);
        for (int64_t k = c.dice.magnitude(1, 300); k > 0; --k) {
            int64_t off[3];
            for (int64_t &each : off) each = c.dice.between(-reach, reach) * c.dice.between(0, 4) / 4;
            c.set(at[0] + off[0], at[1] + off[1], at[2] + off[2]);
        }
    }
}

/// A small random tile, repeated.
void periodic(Canvas &c) {
    const int64_t w = c.dice.magnitude(1, 70), h = c.dice.magnitude(1, 12), d = c.dice.magnitude(1, 4);
    const double density = draw_density(c.dice);
    std::vector<uint8_t> tile(static_cast<size_t>(w * h * d));
    for (uint8_t &each : tile) each = c.dice.real() < density;
    c.fill([&](int64_t x, int64_t y, int64_t z) { return tile[static_cast<size_t>(x % w + w * (y % h + h * (z % d)))]; });
}

/// Lines of glyphs of 5 x 7 pixels, some of them blank.
void text(Canvas &c) {
    uint8_t glyph[16][35];
    for (auto &each : glyph)
        for (uint8_t &dot : each) dot = c.dice.one_in(2);
    std::fill(std::begin(glyph[0]), std::end(glyph[0]), uint8_t(0));
    const uint64_t words = c.dice.roll();
    const int64_t zoom = c.dice.between(1, 3);
    c.fill([&](int64_t x, int64_t y, int64_t z) {
        const int64_t u = x / zoom, v = y / zoom, gx = u % 6, gy = v % 10;
        if (gx > 4 || gy > 6) return false;
        Dice which(words + static_cast<uint64_t>(u / 6 + 4096 * (v / 10 + 4096 * z)));
        return glyph[which.below(16)][gx + 5 * gy] != 0;
    });
}

/// One long path, there and back: walls with a gap at alternate ends.
void serpentine(Canvas &c) {
    const int64_t pitch = c.dice.between(2, 9);
    c.fill([&](int64_t x, int64_t y, int64_t) { return y % pitch != 0 || x == (y / pitch % 2 ? 0 : c.size[0] - 1); });
}

/// Whole rows or columns, some of them.
void stripes(Canvas &c) {
    const int axis = static_cast<int>(c.dice.below(3));
    const double density = draw_density(c.dice);
    std::vector<uint8_t> in(static_cast<size_t>(c.size[axis]));
    for (uint8_t &each : in) each = c.dice.real() < density;
    c.fill([&](int64_t x, int64_t y, int64_t z) { return in[static_cast<size_t>(axis == 0 ? x : axis == 1 ? y : z)]; });
}

/// Nothing but at one side, so that most pixels are far from the set.
void one_side(Canvas &c) {
    const int axis = static_cast<int>(c.dice.below(2));
    const int64_t depth = c.dice.magnitude(1, std::max<int64_t>(1, c.size[axis] / 8));
    const double density = draw_density(c.dice);
    const bool far = c.dice.one_in(2);
    c.fill([&](int64_t x, int64_t y, int64_t) {
        const int64_t i = axis ? y : x;
        return (far ? c.size[axis] - 1 - i : i) < depth && c.dice.real() < density;
    });
}

const struct {
    const char *name;
    void (*paint)(Canvas &);
} KINDS[] = {{"noise", noise},
             {"gradient", gradient},
             {"empty", empty},
             {"full", full},
             {"few", few},
             {"corners", corners},
             {"curves", curves},
             {"strokes", strokes},
             {"discs", discs},
             {"rings", rings},
             {"sierpinski", sierpinski},
             {"cantor", cantor},
             {"lattice", lattice},
             {"clusters", clusters},
             {"periodic", periodic},
             {"text", text},
             {"serpentine", serpentine},
             {"stripes", stripes},
             {"one side", one_side}};

}  // namespace

std::string draw_mask(std::vector<uint8_t> &mask, const std::array<int64_t, 3> &size, Dice &dice) {
    mask.assign(static_cast<size_t>(size[0] * size[1] * size[2]), 0);
    if (mask.empty()) return "no pixels";
    Canvas canvas = {mask, size, dice};
    const auto &kind = dice.one_in(4) ? KINDS[0] : KINDS[dice.below(std::size(KINDS))];
    kind.paint(canvas);
    std::string name = kind.name;
    if (dice.one_in(6)) {
        const auto &second = KINDS[dice.below(std::size(KINDS))];
        std::vector<uint8_t> other(mask.size());
        Canvas above = {other, size, dice};
        second.paint(above);
        for (size_t i = 0; i < mask.size(); ++i) mask[i] ^= other[i];
        name += std::string(" ^ ") + second.name;
    }
    if (dice.one_in(6)) {
        for (uint8_t &each : mask) each ^= 1;
        name = "not " + name;
    }
    if (dice.one_in(4))  // any byte but 0 is in the set
        for (uint8_t &each : mask) each = static_cast<uint8_t>(each ? 1 + dice.below(255) : 0);
    return name;
}

}  // namespace soak
