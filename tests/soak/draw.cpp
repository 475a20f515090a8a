// Drawing a problem from its seed: size, mask, options, types, layouts, and the routes by which it is run.
#include <algorithm>
#include <cmath>

#include "masks.h"

namespace soak {

uint64_t Dice::roll() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t Dice::magnitude(int64_t low, int64_t high) {
    const double span = std::log2(static_cast<double>(high + 1) / static_cast<double>(low));
    return std::clamp(static_cast<int64_t>(static_cast<double>(low) * std::exp2(span * real())), low, high);
}

bool is_mask(apsis_type type) { return type == APSIS_BIT || type == APSIS_U8; }

size_t pixel_size(apsis_type type) {
    return type == APSIS_I64 || type == APSIS_F64 ? 8 : type == APSIS_I32 || type == APSIS_F32 ? 4 : type == APSIS_U16 ? 2 : 1;
}

namespace {

constexpr int64_t WIDEST = 9000;

/// The most pixels of a problem: what takes a CPU some 100 ms, and an emulated device a second.
int64_t most_pixels(apsis_transform transform, bool slow) {
    switch (transform) {
        case APSIS_ECCENTRICITY: return slow ? 1500 : 20000;
        case APSIS_GEODESIC: return slow ? 5000 : 300000;
        case APSIS_VORONOI: return slow ? 6000 : 1000000;
        default: return slow ? 12000 : 3000000;
    }
}

bool is_prime(int64_t n) {
    for (int64_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return n > 1;
}

/// An extent of at most `most` pixels.
int64_t draw_extent(Dice &dice, int64_t most) {
    most = std::min(most, WIDEST);
    int64_t extent = 1;
    switch (dice.below(6)) {
        case 0: extent = dice.between(1, 4); break;
        case 1: extent = (int64_t(1) << dice.between(1, 13)) + dice.between(-1, 1); break;
        case 2: extent = dice.between(1, most); break;
        case 3: extent = dice.between(1, 130); break;
        case 4:
            for (extent = dice.magnitude(2, std::max<int64_t>(2, most)); !is_prime(extent); --extent) {
            }
            break;
        default: extent = dice.magnitude(1, most);
    }
    return std::clamp<int64_t>(extent, 1, most);
}

void draw_size(Problem &p, Dice &dice, bool slow) {
    const int64_t area = dice.magnitude(1, most_pixels(p.transform, slow));
    p.ndim = dice.one_in(3) ? 3 : 2;
    p.size = {1, 1, 1};
    p.size[0] = draw_extent(dice, area);
    p.size[1] = dice.one_in(2) ? draw_extent(dice, area / p.size[0]) : std::clamp<int64_t>(area / p.size[0], 1, WIDEST);
    if (p.ndim == 3) {
        const int64_t deep = std::max<int64_t>(1, static_cast<int64_t>(std::cbrt(static_cast<double>(area))));
        if (dice.one_in(2)) {  // a volume, and not a pile of wide planes
            p.size[0] = std::min(p.size[0], draw_extent(dice, 2 * deep));
            p.size[1] = std::min(p.size[1], draw_extent(dice, 2 * deep));
        }
        p.size[2] = draw_extent(dice, std::max<int64_t>(1, area / (p.size[0] * p.size[1])));
    }
    if (dice.one_in(3)) std::swap(p.size[0], p.size[1]);
    if (p.ndim == 3 && dice.one_in(4)) std::swap(p.size[dice.below(2)], p.size[2]);
    if (dice.one_in(80)) p.size[static_cast<size_t>(dice.below(2))] = 0;
}

/// Spacings in the ratio of whole numbers, which the brute force knows, and others.
void draw_spacing(Problem &p, Dice &dice, bool equal) {
    if (!dice.one_in(3)) return;
    p.unit = dice.one_in(3) ? 1 : dice.of({0.5, 0.09375, 3.75, 1000.0, 1e6});  // products with whole numbers are exact
    for (int64_t &each : p.ratio) each = dice.one_in(4) ? dice.magnitude(1, 1024) : dice.between(1, 9);
    if (equal || dice.one_in(4)) p.ratio[1] = p.ratio[2] = p.ratio[0];
    for (int a = 0; a < 3; ++a) p.options.spacing[a] = p.unit * static_cast<double>(p.ratio[a]);
    if (!equal && dice.one_in(3)) {
        p.unit = 0;
        for (double &each : p.options.spacing) each = std::exp2(8 * dice.real() - 4);
    }
}

bool has_spacing(const Problem &p) { return p.options.spacing[0] != 0; }

bool is_sweep(apsis_method method) {
    return method == APSIS_SWEEP || method == APSIS_SWEEP_BLOCKS || method == APSIS_SWEEP_ROWS;
}

/// A published method, and with it the options that it takes.
void draw_published(Problem &p, Dice &dice) {
    if (!dice.one_in(6)) return;
    apsis_options &o = p.options;
    o.method = dice.of({APSIS_RASTER_SCAN, APSIS_SWEEP, APSIS_SWEEP_BLOCKS, APSIS_SWEEP_ROWS, APSIS_JUMP_FLOOD});
    if (p.transform == APSIS_DISTANCE && dice.one_in(6)) o.method = APSIS_SEQUENTIAL_SCAN;
    if (dice.one_in(12)) return;  // what they refuse, they refuse everywhere
    o.metric = APSIS_EUCLIDEAN;
    o.flags &= ~uint32_t(APSIS_SIGNED);
    if (p.ndim == 3) o.flags |= APSIS_SLICES;
    for (double &each : o.spacing) each = 0;
    std::fill(p.ratio, p.ratio + 3, 1);
    p.unit = 1;
}

/// Makes a label image of the set: some values, in cells or at random.
void draw_labels(Problem &p, Dice &dice) {
    p.options.flags = (p.options.flags | APSIS_LABELS) & ~uint32_t(APSIS_COMPLEMENT);
    if (p.type[SET] == APSIS_BIT) p.type[SET] = APSIS_U8;
    const int64_t values = dice.magnitude(1, 255), grain = dice.magnitude(1, 64), w = p.size[0], h = p.size[1];
    const uint64_t seed = dice.roll();
    for (int64_t i = 0; i < p.pixels(); ++i) {
        const int64_t x = i % w / grain, y = i / w % h / grain, z = i / w / h / grain;
        const uint64_t cell = seed + static_cast<uint64_t>(x + 100003 * y + 10000000019 * z);
        uint8_t &pixel = p.set[static_cast<size_t>(i)];
        if (pixel) pixel = static_cast<uint8_t>(1 + Dice(cell).below(values));
    }
}

/// Makes a grey image of a label image, in which values are near that differ by some steps of the type.
void draw_delta(Problem &p, Dice &dice) {
    p.type[SET] = dice.of({APSIS_U8, APSIS_U16, APSIS_I32, APSIS_F32});
    const double step = p.type[SET] == APSIS_U16 ? 256 : p.type[SET] == APSIS_I32 ? 1 << 24 : 1;
    p.options.delta = dice.one_in(9) ? 1e300 : step * 8 * dice.real();
    if (dice.one_in(3)) p.options.delta = std::floor(p.options.delta / step) * step;
}

/// Periodic axes; published methods of distances and cells do not take them.
void draw_periodic(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    const bool is_path = p.transform == APSIS_GEODESIC || p.transform == APSIS_ECCENTRICITY;
    if (!is_path && o.method != APSIS_AUTO) return;
    if (!dice.one_in(5)) return;
    for (int a = 0; a < (o.flags & APSIS_SLICES ? 2 : p.ndim); ++a)
        if (p.size[static_cast<size_t>(a)] != 1 && dice.one_in(2)) o.flags |= uint32_t(APSIS_PERIODIC_X) << a;
}

void draw_distance(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    const bool cells = p.transform == APSIS_VORONOI;
    if (dice.one_in(2)) o.metric = dice.of({APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD});
    if (!cells && dice.one_in(4)) o.flags |= APSIS_SIGNED;
    if (dice.one_in(4)) o.max_distance = dice.one_in(2) ? static_cast<double>(dice.magnitude(1, 3000)) : 40 * dice.real();
    draw_spacing(p, dice, o.metric == APSIS_CHESSBOARD);
    draw_published(p, dice);
    if (cells) {
        p.type[FIRST] = dice.of({APSIS_I32, APSIS_I64});
        if (is_sweep(o.method) && dice.one_in(3))
            o.flags |= APSIS_MIXED;
        else if (dice.one_in(2))
            o.flags |= APSIS_CONNECTED;
        draw_periodic(p, dice);
        return;
    }
    p.type[FIRST] =
        has_spacing(p) ? dice.of({APSIS_F32, APSIS_F64}) : dice.of({APSIS_F32, APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64});
    p.type[SECOND] = dice.one_in(2) ? dice.of({APSIS_I32, APSIS_I32, APSIS_I64}) : apsis_type(0);
    if (p.type[SECOND] && dice.one_in(4)) p.type[FIRST] = apsis_type(0);
    if (o.method != APSIS_AUTO) return;
    if (o.metric != APSIS_CHESSBOARD && !(o.flags & APSIS_SIGNED) && dice.one_in(3)) draw_labels(p, dice);
    if (o.flags & (APSIS_LABELS | APSIS_COMPLEMENT | APSIS_SIGNED) && dice.one_in(4)) o.flags |= APSIS_BORDER;
    draw_periodic(p, dice);
}

apsis_type draw_set_type(Dice &dice) {
    return dice.one_in(3) ? dice.of({APSIS_U16, APSIS_I32, APSIS_I64}) : dice.of({APSIS_BIT, APSIS_U8});
}

/// What is known of each component: none, some, or room for all.
void draw_records(Problem &p, Dice &dice) {
    p.count = dice.one_in(2);
    if (dice.one_in(2)) p.capacity = dice.one_in(3) ? dice.below(5) : dice.magnitude(1, 40000);
}

/// Lengths that occur, and the numbers next to them, among the radii.
double draw_radius(const Problem &p, Dice &dice) {
    if (dice.one_in(12)) return INFINITY;
    const double unit = p.unit == 0 ? 1 : p.unit;
    if (dice.one_in(2)) return unit * 40 * dice.real();
    const double length = unit * std::sqrt(static_cast<double>(dice.one_in(3) ? dice.below(4) : dice.magnitude(1, 1000000)));
    return dice.one_in(3) ? length : std::nextafter(length, dice.one_in(2) ? 0 : INFINITY);
}

void draw_morphology(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    p.operation = dice.of({APSIS_DILATE, APSIS_ERODE, APSIS_OPEN, APSIS_CLOSE});
    if (dice.one_in(2)) o.metric = dice.of({APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD});
    draw_spacing(p, dice, o.metric == APSIS_CHESSBOARD);
    p.radius = draw_radius(p, dice);
    p.type[FIRST] = dice.of({APSIS_U8, APSIS_BIT});
    const bool refused = p.operation == (o.flags & APSIS_COMPLEMENT ? APSIS_OPEN : APSIS_CLOSE);
    if (dice.one_in(refused ? 12 : 2)) o.flags |= APSIS_BORDER;
}

void draw_components(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    o.connectivity = static_cast<int32_t>(dice.below(o.flags & APSIS_SLICES ? 3 : p.ndim + 1));
    p.type[FIRST] = dice.of({APSIS_I32, APSIS_I32, APSIS_I64, APSIS_U8, APSIS_BIT, apsis_type(0)});
    draw_records(p, dice);
    if (dice.one_in(6)) {
        o.method = APSIS_TILE_FILL;
        return;
    }
    if (dice.one_in(3)) draw_labels(p, dice);
    if (o.flags & APSIS_LABELS && dice.one_in(2)) draw_delta(p, dice);
    draw_periodic(p, dice);
    if (dice.one_in(5)) o.flags |= APSIS_NO_BORDER;
    if (dice.one_in(5)) o.flags |= APSIS_NO_INNER;
    if (dice.one_in(4)) o.largest = static_cast<int32_t>(dice.magnitude(1, 100));
    if (dice.one_in(4)) o.min_area = dice.magnitude(1, 1000);
    if (dice.one_in(4)) o.max_area = dice.magnitude(1, 1000000);
}

constexpr uint32_t PERIODIC = APSIS_PERIODIC_X | APSIS_PERIODIC_Y | APSIS_PERIODIC_Z;

/// Of chamfer steps; a knight's move where it is one, and is taken.
void draw_weights(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    if (o.metric != APSIS_CHAMFER || dice.one_in(3)) return;
    const bool deep = p.ndim == 3 && !(o.flags & APSIS_SLICES), takes_knight = o.connectivity != 1 && !(o.flags & PERIODIC);
    const int32_t a = static_cast<int32_t>(dice.magnitude(1, 300000)), b = a + static_cast<int32_t>(dice.below(a + 1));
    const int32_t least = deep ? b : std::max(2 * a, (3 * b + 1) / 2), most = deep ? 3 * b / 2 : a + b;
    o.weights[0] = a, o.weights[1] = b;
    if (deep || (takes_knight && dice.one_in(2))) o.weights[2] = least + static_cast<int32_t>(dice.below(most - least + 1));
}

bool has_knight(const Problem &p) { return p.options.weights[2] != 0 && !(p.ndim == 3 && !(p.options.flags & APSIS_SLICES)); }

void draw_paths(Problem &p, Dice &dice) {
    apsis_options &o = p.options;
    o.metric = dice.of({APSIS_EUCLIDEAN, APSIS_EUCLIDEAN, APSIS_CITY_BLOCK, APSIS_CHESSBOARD, APSIS_CHAMFER});
    if (o.metric != APSIS_CITY_BLOCK && dice.one_in(2))
        o.connectivity = static_cast<int32_t>(dice.below(o.flags & APSIS_SLICES ? 3 : p.ndim + 1));
    draw_spacing(p, dice, o.metric == APSIS_CHESSBOARD || o.metric == APSIS_CHAMFER);
    const bool reals = o.metric == APSIS_EUCLIDEAN || has_spacing(p);
    p.type[FIRST] = reals ? dice.of({APSIS_F32, APSIS_F64}) : dice.of({APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64});
    p.type[SECOND] = dice.one_in(2) ? dice.of({APSIS_I32, APSIS_I64}) : apsis_type(0);
    if (p.type[SECOND] && dice.one_in(4)) p.type[FIRST] = apsis_type(0);
    draw_periodic(p, dice);
    draw_weights(p, dice);
    if (p.transform == APSIS_GEODESIC) {
        if (dice.one_in(4)) o.max_distance = 300 * dice.real();
        return;
    }
    if (dice.one_in(3)) draw_labels(p, dice);
    draw_records(p, dice);
    if (dice.one_in(3))
        o.budget = dice.magnitude(1, 60);
    else if (p.pixels() < 600 && dice.one_in(5))
        o.method = APSIS_EVERY_SOURCE;
}

/// Seeds: few, or as many as some mask has.
void draw_seeds(Problem &p, Dice &dice) {
    if (p.transform != APSIS_GEODESIC) return;
    p.type[SEEDS] = draw_set_type(dice);
    draw_mask(p.seeds, p.size, dice);
    if (p.pixels() == 0 || dice.one_in(3)) return;
    std::fill(p.seeds.begin(), p.seeds.end(), uint8_t(0));
    for (int64_t n = dice.magnitude(1, 30); n > 0; --n) p.seeds[static_cast<size_t>(dice.below(p.pixels()))] = 1;
}

Layout draw_layout(Dice &dice) {
    Layout l;
    if (dice.one_in(3)) return l;
    l.guard = static_cast<int>(dice.between(1, 40));
    if (dice.one_in(3)) return l;
    l.strides = true;
    l.swapped = dice.one_in(5);
    l.flips = dice.one_in(2) ? static_cast<unsigned>(dice.below(8)) : 0;
    l.step = dice.one_in(3) ? static_cast<int>(dice.between(2, 4)) : 1;
    for (int &each : l.pad) each = dice.one_in(2) ? static_cast<int>(dice.magnitude(1, 70)) : 0;
    return l;
}

/// Slabs are for some options only; others would be refused for the slab's sake.
bool has_slabs(const Problem &p) {
    const apsis_options &o = p.options;
    if (o.method != APSIS_AUTO || o.flags & APSIS_SLICES) return false;
    if (o.flags & APSIS_LABELS && p.transform != APSIS_DISTANCE) return false;
    if (p.transform == APSIS_DISTANCE) return o.metric <= APSIS_CITY_BLOCK || (o.metric == APSIS_CHESSBOARD && !p.type[SECOND]);
    return (p.transform == APSIS_GEODESIC && !has_knight(p)) || p.transform == APSIS_COMPONENTS;
}

bool is_exact(apsis_method method) {
    return method != APSIS_AUTO && method != APSIS_JUMP_FLOOD && method != APSIS_SEQUENTIAL_SCAN;
}

/// Of the calls that wait for nothing, and so can be captured.
bool has_graph(const Problem &p) {
    if (p.transform == APSIS_ECCENTRICITY || p.options.method == APSIS_RASTER_SCAN || has_knight(p)) return false;
    if (p.transform == APSIS_VORONOI) return !(p.options.flags & APSIS_CONNECTED);
    return p.capacity < 0 && !p.count;
}

Scratch draw_scratch(Dice &dice) { return dice.of({Scratch::OWN, Scratch::OWN, Scratch::EXACT, Scratch::POOL}); }

void draw_routes(Problem &p, Dice &dice, const Machine &machine) {
    Route one;
    one.threads = 1;
    one.plain = true;
    Route all;
    all.scratch = draw_scratch(dice);
    all.callbacks = dice.one_in(4);
    all.threads = dice.one_in(3) ? static_cast<int>(dice.between(1, 4)) : 0;
    Route host = all, own = all;
    host.on_device = own.on_device = true;
    host.scratch = draw_scratch(dice);
    own.scratch = draw_scratch(dice);
    host.place = dice.one_in(3) ? Place::PAGE_LOCKED : Place::HOST;
    own.place = Place::DEVICE;
    own.plain = dice.one_in(4);
    own.stream = dice.one_in(2);
    own.graph = own.stream && has_graph(p) && dice.one_in(2);
    if (own.graph) own.callbacks = false;
    Route slabs = all;
    slabs.scratch = Scratch::OWN;
    slabs.on_device = machine.device != APSIS_CPU && dice.one_in(2);
    slabs.place = slabs.on_device && dice.one_in(2) ? Place::DEVICE : Place::HOST;
    for (int64_t n = dice.between(1, 5); n > 0; --n) slabs.cuts.push_back(dice.below(p.size[p.ndim - 1] + 1));
    std::sort(slabs.cuts.begin(), slabs.cuts.end());
    Route automatic = all;
    automatic.automatic = true;
    const bool one_place = machine.slow && dice.one_in(2), host_first = dice.one_in(2);
    p.routes = {one, all};
    if (machine.device != APSIS_CPU && p.options.method != APSIS_SEQUENTIAL_SCAN) {
        if (!one_place || host_first) p.routes.push_back(host);
        if (!one_place || !host_first) p.routes.push_back(own);
    }
    if (has_slabs(p) && dice.one_in(2)) p.routes.push_back(slabs);
    if (is_exact(p.options.method) && !(p.options.flags & APSIS_MIXED)) p.routes.push_back(automatic);
}

}  // namespace

Problem draw(uint64_t seed, const Machine &machine) {
    Dice dice(seed);
    Problem p;
    p.seed = seed;
    p.transform = dice.of({APSIS_DISTANCE, APSIS_DISTANCE, APSIS_DISTANCE, APSIS_VORONOI, APSIS_COMPONENTS, APSIS_COMPONENTS,
                           APSIS_GEODESIC, APSIS_ECCENTRICITY, APSIS_MORPHOLOGY});
    draw_size(p, dice, machine.slow);
    p.type[SET] = draw_set_type(dice);
    p.mask = draw_mask(p.set, p.size, dice);
    draw_seeds(p, dice);
    if (dice.one_in(4)) p.options.flags |= APSIS_COMPLEMENT;
    if (p.ndim == 3 && dice.one_in(2)) p.options.flags |= APSIS_SLICES;
    switch (p.transform) {
        case APSIS_DISTANCE:
        case APSIS_VORONOI: draw_distance(p, dice); break;
        case APSIS_MORPHOLOGY: draw_morphology(p, dice); break;
        case APSIS_COMPONENTS: draw_components(p, dice); break;
        default: draw_paths(p, dice);
    }
    for (Layout &each : p.layout) each = draw_layout(dice);
    draw_routes(p, dice, machine);
    return p;
}

}  // namespace soak
