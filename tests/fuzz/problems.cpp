// Problems that follow the rules, from a fuzzer's bytes.
#include <algorithm>
#include <cmath>

#include "calls.h"

using namespace soak;

namespace {

constexpr int64_t MOST_PIXELS = 300, MOST_SOURCES = 80;

void draw_size(Problem &p, Input &in) {
    int64_t left = p.transform == APSIS_ECCENTRICITY ? MOST_SOURCES : MOST_PIXELS;
    p.ndim = in.of({2, 3});
    for (int a = 0; a < p.ndim; ++a) {
        p.size[a] = std::min(left, in.of<int64_t>({7, 1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130, 257, 0}));
        left /= std::max<int64_t>(p.size[a], 1);
    }
}

/// Some bits, again and again.
void draw_mask(std::vector<uint8_t> &mask, const Problem &p, Input &in) {
    uint8_t bits[16];
    const int64_t count = 1 + in.below(16);
    for (int64_t i = 0; i < count; ++i) bits[i] = in.raw<uint8_t>();
    const auto member = in.of<uint8_t>({1, 2, 128, 255});
    mask.resize(static_cast<size_t>(p.pixels()));
    for (int64_t i = 0; i < p.pixels(); ++i) mask[static_cast<size_t>(i)] = bits[i / 8 % count] >> i % 8 & 1 ? member : 0;
}

void draw_spacing(Problem &p, Input &in) {
    const bool equal = in.below(2) == 0;
    p.unit = in.of({1.0, 0.5, 0.09375, 1000.0});
    for (int64_t &each : p.ratio) each = 1 + in.below(9);
    if (equal) p.ratio[1] = p.ratio[2] = p.ratio[0];
    for (int a = 0; a < 3; ++a) p.options.spacing[a] = p.unit * static_cast<double>(p.ratio[a]);
    const int axes = p.ndim == 3 && !(p.options.flags & APSIS_SLICES) ? 3 : 2;
    if (std::all_of(p.options.spacing, p.options.spacing + axes, [](double each) { return each == 1; })) {
        std::fill(p.ratio, p.ratio + 3, 1);  // for which there are integers, in units of 1
        p.unit = 1;
    }
    if (!in.one_in(4)) return;
    p.unit = 0;  // not for the brute force
    for (double &each : p.options.spacing) each = in.of({1e-270, 1e270, 1e-40, 1e30, 0.1, M_PI, 1e10, 1e154});
    if (equal) p.options.spacing[1] = p.options.spacing[2] = p.options.spacing[0];
}

void draw_options(Problem &p, Input &in) {
    apsis_options &o = p.options;
    for (const unsigned flag : {APSIS_COMPLEMENT, APSIS_SIGNED, APSIS_CONNECTED, APSIS_SLICES, APSIS_NO_BORDER, APSIS_NO_INNER})
        if (in.one_in(3)) o.flags |= flag;
    if (in.one_in(4)) o.flags |= static_cast<uint32_t>(in.below(8)) * APSIS_PERIODIC_X;
    o.metric = in.of({APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD, APSIS_CHAMFER});
    if (in.one_in(4)) o.method = static_cast<apsis_method>(in.below(APSIS_SEQUENTIAL_SCAN + 1));
    o.connectivity = static_cast<int32_t>(in.below(4));
    if (in.one_in(3)) draw_spacing(p, in);
    if (in.one_in(3)) o.max_distance = in.of({1.0, 2.5, 10.0, 1e-3, 1e300});
    if (in.one_in(4)) o.largest = static_cast<int32_t>(in.below(9));
    if (in.one_in(4)) o.min_area = in.below(30);
    if (in.one_in(4)) o.max_area = in.below(100);
    if (in.one_in(4)) o.budget = in.below(20);
    if (o.metric == APSIS_CHAMFER && in.one_in(2))
        for (int i = 0; i < 3; ++i) o.weights[i] = static_cast<int32_t>(in.below(13));
}

/// Makes a label image of the set, or a grey one: some values, and how far near ones differ.
void draw_values(Problem &p, Input &in) {
    p.options.flags = (p.options.flags | APSIS_LABELS) & ~uint32_t(APSIS_COMPLEMENT);
    if (p.type[SET] == APSIS_BIT) p.type[SET] = APSIS_U8;
    const int64_t values = 1 + in.below(9);
    for (size_t i = 0; i < p.set.size(); ++i)
        if (p.set[i]) p.set[i] = static_cast<uint8_t>(1 + static_cast<int64_t>(i * i + p.set[i]) % values);
    if (in.below(2) == 0) return;
    p.type[SET] = in.of({APSIS_U8, APSIS_U16, APSIS_I32, APSIS_F32});
    p.options.delta = in.of({1.0, 0.5, 2.0, 256.0, 700.0, 16777216.0, 1e300});
}

void draw_types(Problem &p, Input &in) {
    const apsis_type none = apsis_type(0);
    p.type[SET] = in.of({APSIS_U8, APSIS_BIT, APSIS_U16, APSIS_I32, APSIS_I64});
    if (p.transform == APSIS_GEODESIC) p.type[SEEDS] = in.of({APSIS_U8, APSIS_BIT, APSIS_U16, APSIS_I32, APSIS_I64});
    switch (p.transform) {
        case APSIS_VORONOI: p.type[FIRST] = in.of({APSIS_I32, APSIS_I64}); return;
        case APSIS_COMPONENTS: p.type[FIRST] = in.of({APSIS_I32, APSIS_I64, APSIS_U8, APSIS_BIT, none}); break;
        default:
            p.type[FIRST] = in.of({APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64, none});
            p.type[SECOND] = in.of({APSIS_I32, APSIS_I64, none});
    }
    if (p.transform != APSIS_COMPONENTS && p.transform != APSIS_ECCENTRICITY) return;
    p.count = in.below(2) == 0;
    p.capacity = in.below(40) - 1;
}

Layout draw_layout(Input &in) {
    Layout l;
    if (in.below(2) == 0) return l;
    l.strides = true;
    l.swapped = in.one_in(3);
    l.flips = static_cast<unsigned>(in.below(8));
    l.step = static_cast<int>(1 + in.below(3));
    for (int &each : l.pad) each = static_cast<int>(in.below(9));
    return l;
}

}  // namespace

Problem draw_problem(Input &in) {
    Problem p;
    p.transform = in.of({APSIS_DISTANCE, APSIS_VORONOI, APSIS_COMPONENTS, APSIS_GEODESIC, APSIS_ECCENTRICITY});
    p.mask = "fuzzed";
    draw_size(p, in);
    draw_options(p, in);
    draw_types(p, in);
    draw_mask(p.set, p, in);
    if (p.transform == APSIS_GEODESIC) draw_mask(p.seeds, p, in);
    if (p.transform == APSIS_COMPONENTS && p.options.method == APSIS_AUTO && in.one_in(3)) draw_values(p, in);
    for (Layout &each : p.layout) each = draw_layout(in);
    Route one, other;
    one.threads = 1;
    one.plain = true;
    other.threads = static_cast<int>(in.below(3));
    other.scratch = in.of({Scratch::OWN, Scratch::EXACT, Scratch::POOL});
    other.callbacks = in.below(2) == 1;
    p.routes = {one, other};
    const bool has_slabs =
        p.transform == APSIS_COMPONENTS || (p.transform == APSIS_DISTANCE && p.options.metric <= APSIS_CITY_BLOCK);
    if (has_slabs && p.options.method == APSIS_AUTO && !(p.options.flags & (APSIS_SIGNED | APSIS_SLICES | APSIS_LABELS))) {
        Route slabs;
        for (int64_t n = in.below(4); n > 0; --n) slabs.cuts.push_back(in.below(p.size[static_cast<size_t>(p.ndim - 1)] + 1));
        std::sort(slabs.cuts.begin(), slabs.cuts.end());
        if (!slabs.cuts.empty()) p.routes.push_back(slabs);
    }
    return p;
}
