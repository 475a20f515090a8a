// One random problem: everything that a call of a transform depends on, as values, so that it can be run in several ways,
// changed bit by bit until little is left of it, and drawn again from its seed.
#pragma once

#include <apsis_measures.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace soak {

/// Chance, the same on every machine: splitmix64.
class Dice {
  public:
    explicit Dice(uint64_t seed) : state(seed) {}
    uint64_t roll();
    int64_t below(int64_t bound) { return static_cast<int64_t>(roll() % static_cast<uint64_t>(bound)); }
    int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
    double real() { return static_cast<double>(roll() >> 11) / 9007199254740992.0; }
    bool one_in(int64_t n) { return below(n) == 0; }
    /// From low to high, and each power of two of the range is as likely as any other.
    int64_t magnitude(int64_t low, int64_t high);
    template <class T>
    T of(std::initializer_list<T> list) {
        return list.begin()[below(static_cast<int64_t>(list.size()))];
    }

  private:
    uint64_t state;
};

/// How an image lies in memory.  The default is packed, in a buffer of just its size.
struct Layout {
    bool strides = false;  ///< Strides are given; otherwise they are 0, which means packed.
    bool swapped = false;  ///< The last axis comes first; of bits, y and z change places.
    unsigned flips = 0;    ///< Bit a: axis a runs backwards.
    int step = 1;          ///< Pixels from one to the next along the first axis.
    int pad[3] = {};       ///< Pixels between rows, planes, and behind them; of bits, bytes.
    int guard = 0;         ///< Pixels before and behind the image, which nothing may touch.
};

enum { SET, SEEDS, FIRST, SECOND, IMAGES };

/// Where images are; page-locked and device memory are the context's.
enum class Place { HOST, PAGE_LOCKED, DEVICE };

/// Where scratch memory comes from: the context, a workspace of just the size that it asks for, or an allocator.
enum class Scratch { OWN, EXACT, POOL };

/// One way to run a problem.
struct Route {
    bool on_device = false;
    int threads = 0;
    Place place = Place::HOST;
    bool plain = false;  ///< All images packed, whatever the problem's layouts.
    Scratch scratch = Scratch::OWN;
    bool stream = false, graph = false;
    bool callbacks = false;
    std::vector<int64_t> cuts;  ///< Where the last axis is cut into slabs; without cuts the image is whole.
    bool automatic = false;     ///< By APSIS_AUTO, which gives what the problem's method gives.
};

struct Problem {
    uint64_t seed = 0;
    apsis_transform transform = APSIS_DISTANCE;
    std::string mask;  ///< The name of the kind of mask.
    int ndim = 2;
    std::array<int64_t, 3> size = {1, 1, 1};
    std::vector<uint8_t> set, seeds;  ///< Packed, a byte a pixel.
    apsis_options options = APSIS_OPTIONS_INIT;
    int64_t ratio[3] = {1, 1, 1};  ///< The spacing is ratio * unit, if unit is not 0.
    double unit = 1;
    apsis_operation operation = APSIS_DILATE;  ///< Of morphology, and by what radius.
    double radius = 0;
    apsis_type type[IMAGES] = {};  ///< 0 leaves an output out.
    Layout layout[IMAGES];
    int64_t capacity = -1;  ///< Of components or extents; -1 leaves them out.
    bool count = false;
    std::vector<Route> routes;  ///< The first is what the others are compared with.

    int64_t pixels() const { return size[0] * size[1] * size[2]; }
};

/// What there is to run on, and how large a problem may be there.
struct Machine {
    int device = APSIS_CPU;  ///< A device number, or APSIS_CPU where there is none.
    bool slow = false;       ///< The device is emulated, or sanitizers are at work.
};

Problem draw(uint64_t seed, const Machine &machine);

/// In words, with the pixels if they are few.
std::string describe(const Problem &p);

bool is_mask(apsis_type type);
size_t pixel_size(apsis_type type);

}  // namespace soak
