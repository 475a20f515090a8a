// A distance map in slabs: a summary of each, merged, and the map of each, one behind the other.
#include <algorithm>

#include "bench.h"

namespace soak {

namespace {

/// Rows of the image, in 3-D planes, with what is known of the others.
struct Slab {
    int64_t start, rows;
    std::vector<int64_t> first, last;
};

std::array<int64_t, 3> size_of(const Problem &p, const Slab &slab) {
    std::array<int64_t, 3> size = p.size;
    size[static_cast<size_t>(p.ndim - 1)] = slab.rows;
    return size;
}

Buffer set_of(apsis_context *context, const Problem &p, const Slab &slab, int64_t columns) {
    Buffer set(context, Place::HOST, p.type[SET], p.ndim, size_of(p, slab), p.layout[SET]);
    set.put(p.set.data() + slab.start * columns);
    return set;
}

}  // namespace

void run_in_slabs(apsis_context *context, const Problem &p, const Route &route, Outcome &out) {
    const int64_t extent = p.size[static_cast<size_t>(p.ndim - 1)];
    const int64_t columns = p.ndim == 3 ? p.size[0] * p.size[1] : p.size[0];
    std::vector<Slab> slabs;
    int64_t start = 0;
    std::vector<int64_t> cuts = route.cuts;
    cuts.push_back(extent);
    for (int64_t cut : cuts) {
        const int64_t end = std::clamp(cut, start, extent);
        slabs.push_back({start, end - start, std::vector<int64_t>(static_cast<size_t>(columns), INT64_MAX),
                         std::vector<int64_t>(static_cast<size_t>(columns), -1)});
        start = end;
    }
    for (Slab &each : slabs) {
        Buffer set = set_of(context, p, each, columns);
        out.status = apsis_slab_summary(context, set.image(), each.start, each.first.data(), each.last.data(), &p.options);
        if (out.status != APSIS_OK) out.message = apsis_message(context);
        if (out.status != APSIS_OK) return;
        set.check_unchanged();
    }
    for (size_t k = 0; k < slabs.size(); ++k) {
        std::vector<int64_t> below(static_cast<size_t>(columns), INT64_MAX), above(static_cast<size_t>(columns), -1);
        for (size_t i = 0; i < slabs.size(); ++i) {
            if (i < k) apsis_slab_merge(columns, nullptr, slabs[i].last.data(), nullptr, above.data());
            if (i > k) apsis_slab_merge(columns, slabs[i].first.data(), nullptr, below.data(), nullptr);
        }
        const apsis_slab place = {slabs[k].start, extent, k > 0 ? above.data() : nullptr,
                                  k + 1 < slabs.size() ? below.data() : nullptr};
        Buffer set = set_of(context, p, slabs[k], columns);
        std::vector<Buffer> outputs;
        const apsis_image *images[2] = {};
        outputs.reserve(2);
        for (int i = FIRST; i <= SECOND; ++i) {
            if (!p.type[i]) continue;
            outputs.emplace_back(context, Place::HOST, p.type[i], p.ndim, size_of(p, slabs[k]), p.layout[i]);
            images[i - FIRST] = outputs.back().image();
        }
        out.status = apsis_slab_distance(context, set.image(), &place, images[0], images[1], &p.options);
        if (out.status != APSIS_OK) out.message = apsis_message(context);
        if (out.status != APSIS_OK) return;
        set.check_unchanged();
        size_t at = 0;
        for (int i = 0; i < 2; ++i) {
            if (!images[i]) continue;
            const std::vector<uint8_t> pixels = outputs[at++].get();
            out.output[i].insert(out.output[i].end(), pixels.begin(), pixels.end());
        }
    }
}

}  // namespace soak
