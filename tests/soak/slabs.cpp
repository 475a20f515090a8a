// A distance map in slabs: a summary of each, merged, and the map of each, one behind the other.  Components in slabs: the
// faces of each, joined, and the labels of each.  Paths in slabs: again and again, until nothing changes.
#include <algorithm>
#include <cstring>

#include "bench.h"

namespace soak {

namespace {

/// Rows of the image, in 3-D planes, with what is known of the others.
struct Slab {
    int64_t start, rows;
    std::vector<int64_t> first[2], last[2];  // of the set, and of its complement
};

std::array<int64_t, 3> size_of(const Problem &p, const Slab &slab) {
    std::array<int64_t, 3> size = p.size;
    size[static_cast<size_t>(p.ndim - 1)] = slab.rows;
    return size;
}

int64_t columns_of(const Problem &p) { return p.ndim == 3 ? p.size[0] * p.size[1] : p.size[0]; }

/// The numbers that slabs of maps tell each way.
int64_t told_of(const Problem &p) { return columns_of(p) * (p.options.flags & APSIS_LABELS ? 3 : 1); }

Buffer set_of(apsis_context *context, const Problem &p, const Route &route, const Slab &slab, int image) {
    Buffer set(context, route.place, p.type[image], p.ndim, size_of(p, slab), p.layout[image]);
    set.put((image == SET ? p.set : p.seeds).data() + slab.start * columns_of(p));
    return set;
}

/// Whether the image closes on itself along the axis that is cut.
bool is_ring(const Problem &p) { return p.options.flags & uint32_t(APSIS_PERIODIC_X) << (p.ndim - 1); }

/// The outputs of a slab.
struct Maps {
    std::vector<Buffer> buffers;
    const apsis_image *images[2] = {};

    Maps(apsis_context *context, const Problem &p, const Route &route, const Slab &slab) {
        buffers.reserve(2);
        for (int i = FIRST; i <= SECOND; ++i) {
            if (!p.type[i]) continue;
            buffers.emplace_back(context, route.place, p.type[i], p.ndim, size_of(p, slab), p.layout[i]);
            images[i - FIRST] = buffers.back().image();
        }
    }
    /// Puts them behind those of the slabs before.
    void append_to(Outcome &out) {
        size_t at = 0;
        for (int i = 0; i < 2; ++i) {
            if (!images[i]) continue;
            const std::vector<uint8_t> pixels = buffers[at++].get();
            out.output[i].insert(out.output[i].end(), pixels.begin(), pixels.end());
        }
    }
};

std::vector<Slab> slabs_of(const Problem &p, const Route &route) {
    const int64_t extent = p.size[static_cast<size_t>(p.ndim - 1)];
    const size_t told = static_cast<size_t>(told_of(p));
    const std::vector<int64_t> no_row(told, INT64_MAX), none(told, -1);
    std::vector<Slab> slabs;
    int64_t start = 0;
    std::vector<int64_t> cuts = route.cuts;
    cuts.push_back(extent);
    for (int64_t cut : cuts) {
        const int64_t end = std::clamp(cut, start, extent);
        slabs.push_back({start, end - start, {no_row, no_row}, {none, none}});
        start = end;
    }
    return slabs;
}

/// What a slab of a map tells, or is told: where its images are or, of every other slab, in host memory.
class Rows {
  public:
    Rows(apsis_context *context, const Route &route, const Slab &slab, size_t numbers)
        : memory_(context, slab.start % 2 ? Place::HOST : route.place, static_cast<int64_t>(numbers * sizeof(int64_t))) {}
    Rows(apsis_context *context, const Route &route, const Slab &slab, const std::vector<int64_t> &numbers)
        : Rows(context, route, slab, numbers.size()) {
        if (!numbers.empty()) std::memcpy(memory_.bytes.data(), numbers.data(), memory_.bytes.size());
        memory_.upload();
    }
    int64_t *data() const { return reinterpret_cast<int64_t *>(memory_.data()); }
    void get(std::vector<int64_t> &numbers) {
        memory_.download();
        if (!numbers.empty()) std::memcpy(numbers.data(), memory_.bytes.data(), memory_.bytes.size());
    }

  private:
    Memory memory_;
};

/// Whether a call has answered.
bool answered(apsis_context *context, apsis_status status, Outcome &out) {
    out.status = status;
    if (status != APSIS_OK) out.message = apsis_message(context);
    return status == APSIS_OK;
}

void run_distance(apsis_context *context, const Problem &p, const Route &route, Outcome &out) {
    const int64_t extent = p.size[static_cast<size_t>(p.ndim - 1)], columns = columns_of(p);
    const std::vector<int64_t> none_above(static_cast<size_t>(told_of(p)), -1),
        none_below(static_cast<size_t>(told_of(p)), INT64_MAX);
    const auto merge = p.options.flags & APSIS_LABELS ? apsis_slab_merge_labels : apsis_slab_merge;
    std::vector<Slab> slabs = slabs_of(p, route);
    const int sides = p.options.flags & APSIS_SIGNED ? 2 : 1;
    for (Slab &each : slabs) {
        Buffer set = set_of(context, p, route, each, SET);
        for (int side = 0; side < sides; ++side) {
            apsis_options options = p.options;
            if (side) options.flags ^= APSIS_COMPLEMENT;
            Rows first(context, route, each, each.first[side].size()), last(context, route, each, each.last[side].size());
            if (!answered(context, apsis_slab_summary(context, set.image(), each.start, first.data(), last.data(), &options),
                          out))
                return;
            first.get(each.first[side]);
            last.get(each.last[side]);
        }
        set.check_unchanged();
    }
    for (size_t k = 0; k < slabs.size(); ++k) {
        std::vector<int64_t> below[2] = {none_below, none_below}, above[2] = {none_above, none_above};
        for (int side = 0; side < sides; ++side)
            for (size_t i = 0; i < slabs.size(); ++i) {
                if (i < k) merge(columns, nullptr, slabs[i].last[side].data(), nullptr, above[side].data());
                if (i > k) merge(columns, slabs[i].first[side].data(), nullptr, below[side].data(), nullptr);
            }
        for (int side = 0; is_ring(p) && side < sides; ++side) {  // where there is none, the last one of all, or the first
            std::vector<int64_t> last = none_above, first = none_below;
            for (const Slab &each : slabs)
                merge(columns, each.first[side].data(), each.last[side].data(), first.data(), last.data());
            if (p.options.flags & APSIS_LABELS)
                apsis_slab_close_labels(columns, extent, first.data(), last.data(), below[0].data(), above[0].data());
            for (size_t c = 0; c < last.size() && !(p.options.flags & APSIS_LABELS); ++c) {
                if (above[side][c] < 0) above[side][c] = last[c];
                if (below[side][c] == INT64_MAX) below[side][c] = first[c];
            }
        }
        const Rows told[4] = {{context, route, slabs[k], above[0]},
                              {context, route, slabs[k], below[0]},
                              {context, route, slabs[k], above[1]},
                              {context, route, slabs[k], below[1]}};
        const auto given = [&](const Rows &rows, int side, bool any) { return any && side < sides ? rows.data() : nullptr; };
        const bool has_above = is_ring(p) || k > 0, has_below = is_ring(p) || k + 1 < slabs.size();
        const apsis_slab place = {slabs[k].start,
                                  extent,
                                  given(told[0], 0, has_above),
                                  given(told[1], 0, has_below),
                                  given(told[2], 1, has_above),
                                  given(told[3], 1, has_below)};
        Buffer set = set_of(context, p, route, slabs[k], SET);
        Maps maps(context, p, route, slabs[k]);
        if (!answered(context, apsis_slab_distance(context, set.image(), &place, maps.images[0], maps.images[1], &p.options),
                      out))
            return;
        set.check_unchanged();
        maps.append_to(out);
    }
}

void run_geodesic(apsis_context *context, const Problem &p, const Route &route, Outcome &out) {
    std::vector<Slab> slabs = slabs_of(p, route);
    for (Slab &each : slabs) each.last[0] = each.first[0], each.first[1] = each.last[1];  // lengths, and seeds
    const auto find_paths = [&](size_t k, Maps *maps, int64_t &changed) {
        const bool has_above = is_ring(p) || k > 0, has_below = is_ring(p) || k + 1 < slabs.size();
        const size_t above = (k + slabs.size() - 1) % slabs.size(), below = (k + 1) % slabs.size();
        const apsis_slab_paths place = {slabs[k].start,
                                        p.size[static_cast<size_t>(p.ndim - 1)],
                                        has_above ? slabs[above].last[0].data() : nullptr,
                                        has_below ? slabs[below].first[0].data() : nullptr,
                                        has_above ? slabs[above].last[1].data() : nullptr,
                                        has_below ? slabs[below].first[1].data() : nullptr,
                                        slabs[k].first[0].data(),
                                        slabs[k].last[0].data(),
                                        p.type[SECOND] ? slabs[k].first[1].data() : nullptr,
                                        p.type[SECOND] ? slabs[k].last[1].data() : nullptr};
        Buffer set = set_of(context, p, route, slabs[k], SET), seeds = set_of(context, p, route, slabs[k], SEEDS);
        int64_t found = 0;
        const apsis_status status =
            apsis_slab_geodesic(context, set.image(), seeds.image(), &place, maps ? maps->images[0] : nullptr,
                                maps ? maps->images[1] : nullptr, &found, &p.options);
        set.check_unchanged();
        seeds.check_unchanged();
        changed += found;
        return answered(context, status, out);
    };
    for (int64_t changed = 1; changed > 0;) {
        changed = 0;
        for (size_t k = 0; k < slabs.size(); ++k)
            if (!find_paths(k, nullptr, changed)) return;
    }
    int64_t changed = 0;
    for (size_t k = 0; k < slabs.size(); ++k) {
        Maps maps(context, p, route, slabs[k]);
        if (!find_paths(k, &maps, changed)) return;
        maps.append_to(out);
    }
    if (changed) out.fault = "paths of slabs have changed after all";
}

/// A slab's faces and arrays; `is` points to them.
struct Labels {
    Slab slab;
    std::vector<int64_t> first, last, numbers;
    std::vector<apsis_part> parts;
    apsis_slab_labels is = {};
};

void run_components(apsis_context *context, const Problem &p, const Route &route, Outcome &out) {
    const std::vector<Slab> slabs = slabs_of(p, route);
    const int64_t columns = columns_of(p);
    const apsis_options &o = p.options;
    const bool selects = o.flags & (APSIS_NO_BORDER | APSIS_NO_INNER) || o.largest || o.min_area || o.max_area;
    std::vector<Labels> all(slabs.size());
    std::vector<apsis_slab_labels> told;
    for (size_t k = 0; k < slabs.size(); ++k) {
        Labels &each = all[k];
        each.slab = slabs[k];
        each.first.resize(static_cast<size_t>(columns)), each.last.resize(static_cast<size_t>(columns));
        each.is.start = each.slab.start, each.is.first = each.first.data(), each.is.last = each.last.data();
        Buffer set = set_of(context, p, route, each.slab, SET);
        if (!answered(context, apsis_slab_parts(context, set.image(), &each.is, &o), out)) return;
        if (selects) each.numbers.resize(static_cast<size_t>(each.is.count)), each.is.numbers = each.numbers.data();
        each.parts.resize(static_cast<size_t>(each.is.count));
        apsis_slab_labels again = {};
        again.start = each.slab.start, again.parts = each.parts.data(), again.capacity = each.is.count;
        if (!answered(context, apsis_slab_parts(context, set.image(), &again, &o), out)) return;
        each.is.parts = each.parts.data(), each.is.capacity = each.is.count;
        set.check_unchanged();
        told.push_back(each.is);
    }
    const int64_t capacity = std::max<int64_t>(p.capacity, 0);
    std::vector<apsis_part> parts(static_cast<size_t>(capacity));
    int64_t count;
    if (!answered(context,
                  apsis_slab_join(context, p.ndim, p.size.data(), told.data(), static_cast<int64_t>(told.size()), parts.data(),
                                  capacity, &count, &o),
                  out))
        return;
    if (p.count) out.count = count;
    if (p.capacity >= 0) {
        std::vector<apsis_component> known(static_cast<size_t>(std::min(capacity, count)));
        apsis_slab_measure(static_cast<int64_t>(known.size()), parts.data(), known.data());
        out.records = untouched_records(p);
        if (!known.empty()) std::memcpy(out.records.data(), known.data(), known.size() * sizeof known[0]);
    }
    for (size_t k = 0; p.type[FIRST] && k < slabs.size(); ++k) {
        Buffer set = set_of(context, p, route, slabs[k], SET);
        Buffer labels(context, route.place, p.type[FIRST], p.ndim, size_of(p, slabs[k]), p.layout[FIRST]);
        if (!answered(context, apsis_slab_components(context, set.image(), &told[k], labels.image(), &o), out)) return;
        set.check_unchanged();
        const std::vector<uint8_t> pixels = labels.get();
        out.output[0].insert(out.output[0].end(), pixels.begin(), pixels.end());
    }
}

}  // namespace

void run_in_slabs(apsis_context *context, const Problem &p, const Route &route, Outcome &out) {
    if (p.transform == APSIS_GEODESIC) return run_geodesic(context, p, route, out);
    if (p.transform == APSIS_COMPONENTS) return run_components(context, p, route, out);
    run_distance(context, p, route, out);
}

}  // namespace soak
