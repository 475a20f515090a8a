// Problems and routes in words.
#include "bench.h"

namespace soak {

namespace {

const char *const TRANSFORMS[] = {"distance",     "voronoi",    "components", "geodesic",
                                  "eccentricity", "statistics", "contacts",   "morphology"};
const char *const OPERATIONS[] = {"dilate", "erode", "open", "close"};
const char *const METRICS[] = {"Euclidean", "city-block", "chessboard", "chamfer"};

std::string name_of(apsis_type type) {
    static const char *const NAMES[] = {"none", "BIT", "U8", "I32", "I64", "F32", "F64", "U16"};
    return NAMES[type];
}

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string describe(const apsis_options &o) {
    static const char *const FLAGS[] = {"complement", "signed", "connected", "slices", "no border",
                                        "no inner",   "mixed",  "labels",    "border"};
    std::string text = std::string(", ") + METRICS[o.metric];
    for (size_t i = 0; i < std::size(FLAGS); ++i)
        if (o.flags >> i & 1) text += std::string(", ") + FLAGS[i];
    if (o.spacing[0] != 0)
        text += ", spacing " + number(o.spacing[0]) + " " + number(o.spacing[1]) + " " + number(o.spacing[2]);
    if (o.max_distance != 0) text += ", max_distance " + number(o.max_distance);
    if (o.method != APSIS_AUTO) text += ", method " + std::to_string(o.method);
    if (o.connectivity != 0) text += ", connectivity " + std::to_string(o.connectivity);
    if (o.largest != 0) text += ", largest " + std::to_string(o.largest);
    if (o.min_area != 0) text += ", min_area " + std::to_string(o.min_area);
    if (o.max_area != 0) text += ", max_area " + std::to_string(o.max_area);
    if (o.delta != 0) text += ", delta " + number(o.delta);
    for (int i = 0; i < 3 && o.weights[0] != 0; ++i) text += (i ? " " : ", weights ") + std::to_string(o.weights[i]);
    if (o.budget != 0) text += ", budget " + std::to_string(o.budget);
    return text;
}

std::string describe(const Layout &l) {
    std::string text;
    if (l.guard) text += " guard " + std::to_string(l.guard);
    if (!l.strides) return text;
    text += " pads " + std::to_string(l.pad[0]) + " " + std::to_string(l.pad[1]) + " " + std::to_string(l.pad[2]);
    if (l.step != 1) text += " step " + std::to_string(l.step);
    if (l.flips) text += " flips " + std::to_string(l.flips);
    if (l.swapped) text += " swapped";
    return text;
}

/// Rows of characters: '#' in the set, 'S' a seed.
std::string picture(const Problem &p) {
    std::string text;
    for (int64_t i = 0; i < p.pixels(); ++i) {
        const size_t at = static_cast<size_t>(i);
        const bool seed = !p.seeds.empty() && p.seeds[at];
        text += seed ? (p.set[at] ? 'S' : 's') : p.set[at] ? '#' : '.';
        if ((i + 1) % p.size[0] == 0) text += '\n';
        if (p.ndim == 3 && (i + 1) % (p.size[0] * p.size[1]) == 0) text += '\n';
    }
    return text;
}

}  // namespace

std::string describe(const Route &r) {
    std::string text = r.on_device ? "device" : "CPU";
    if (!r.on_device) text += r.threads == 0 ? ", all threads" : ", threads " + std::to_string(r.threads);
    if (r.place != Place::HOST) text += r.place == Place::DEVICE ? ", device images" : ", page-locked images";
    if (r.plain) text += ", packed";
    if (r.scratch != Scratch::OWN) text += r.scratch == Scratch::EXACT ? ", exact workspace" : ", allocator";
    if (r.stream) text += r.graph ? ", graph" : ", stream";
    if (r.callbacks) text += ", callbacks";
    if (r.automatic) text += ", by APSIS_AUTO";
    if (!r.cuts.empty()) text += ", slabs cut at";
    for (int64_t cut : r.cuts) text += " " + std::to_string(cut);
    return text;
}

std::string describe(const Problem &p) {
    static const char *const IMAGE_NAMES[] = {"set", "seeds", "output 1", "output 2"};
    std::string text = std::string(TRANSFORMS[p.transform]) + " of " + std::to_string(p.size[0]) + " x " +
                       std::to_string(p.size[1]) + (p.ndim == 3 ? " x " + std::to_string(p.size[2]) : "") + " (" + p.mask +
                       ")" + describe(p.options);
    if (p.transform == APSIS_MORPHOLOGY) text += std::string(", ") + OPERATIONS[p.operation] + " by " + number(p.radius);
    if (p.capacity >= 0) text += ", capacity " + std::to_string(p.capacity);
    if (p.count) text += ", count";
    for (int i = 0; i < IMAGES; ++i)
        if (p.type[i]) text += std::string("\n  ") + IMAGE_NAMES[i] + " " + name_of(p.type[i]) + describe(p.layout[i]);
    for (const Route &each : p.routes) text += "\n  " + describe(each);
    text += "\n";
    if (p.pixels() > 0 && p.size[0] <= 160 && p.pixels() <= 6000) text += picture(p);
    return text;
}

}  // namespace soak
