// Small problems against brute force: oracle.h, flood.h and paths.h of tests/support/, which share nothing with the library.
#include <cmath>
#include <cstring>

#include "judge.h"

extern "C" {
#include "flood.h"
#include "paths.h"
#include "run_components.h"
#include "run_voronoi.h"
}

namespace soak {

namespace {

constexpr int64_t MOST_PIXELS = 2000, MOST_SOURCES = 500;

problem problem_of(const Problem &p) {
    problem q = new_problem(p.ndim, p.size[0], p.size[1], p.size[2], p.set.data());
    q.options = p.options;
    std::copy(p.ratio, p.ratio + 3, q.ratio);
    q.unit = p.unit;
    return q;
}

std::string at(int output, int64_t i) {
    return "output " + std::to_string(output + 1) + " of pixel " + std::to_string(i) + " is not what brute force finds";
}

int64_t index_at(const uint8_t *pixels, apsis_type type, int64_t i) {
    int32_t narrow;
    int64_t wide;
    if (is_mask(type)) return pixels[i];
    if (type == APSIS_I32)
        std::memcpy(&narrow, pixels + 4 * i, 4);
    else
        std::memcpy(&wide, pixels + 8 * i, 8);
    return type == APSIS_I32 ? narrow : wide;
}

std::string check_distances(const Problem &p, const problem &q, const answer &want, const std::vector<uint8_t> &got) {
    int exponent;
    const bool exact = std::frexp(q.unit, &exponent) == 0.5;
    const apsis_type type = p.type[FIRST];
    const size_t size = pixel_size(type);
    for (int64_t i = 0; type && i < p.pixels(); ++i) {
        const uint8_t *pixel = &got[static_cast<size_t>(i) * size];
        uint8_t expected[8];
        expected_pixel(&q, &want, i, type, expected);
        const bool same =
            exact || want.cost[i] <= 0 ? std::memcmp(pixel, expected, size) == 0 : is_close(&q, &want, i, type, pixel);
        if (!same) return at(0, i);
    }
    return "";
}

std::string check_indices(const Problem &p, int output, const std::vector<uint8_t> &got, const int64_t *want) {
    const apsis_type type = p.type[FIRST + output];
    for (int64_t i = 0; type && i < p.pixels(); ++i)
        if (index_at(got.data(), type, i) != want[i]) return at(output, i);
    return "";
}

std::string check_distance_map(const Problem &p, const Outcome &out) {
    const problem q = problem_of(p);
    answer want = solve_by_force(&q);
    std::string wrong;
    if (p.transform == APSIS_VORONOI) {
        int64_t count;
        uint8_t *exclaves = find_exclaves(&q, want.nearest, &count);
        if (p.options.flags & APSIS_CONNECTED) hide_exclaves(&q, want.nearest, exclaves);
        std::free(exclaves);
        wrong = check_indices(p, 0, out.output[0], want.nearest);
    } else {
        wrong = check_distances(p, q, want, out.output[0]);
        if (wrong.empty()) wrong = check_indices(p, 1, out.output[1], want.nearest);
    }
    free_answer(&want);
    return wrong;
}

/// The pixels as far as the radius from a set.
std::vector<uint8_t> grow(const Problem &p, const std::vector<uint8_t> &set, bool complement, bool border) {
    problem q = problem_of(p);
    q.mask = set.data();
    q.options.flags &= APSIS_SLICES;
    if (complement) q.options.flags |= APSIS_COMPLEMENT;
    if (border) q.options.flags |= APSIS_BORDER;
    answer found = solve_by_force(&q);
    const auto length_of = [&](int64_t cost) {
        return q.unit * (q.options.metric == APSIS_EUCLIDEAN ? exact_root(cost) : static_cast<double>(cost));
    };
    std::vector<uint8_t> near(set.size());
    for (size_t i = 0; i < near.size(); ++i) near[i] = found.cost[i] >= 0 && length_of(found.cost[i]) <= p.radius;
    free_answer(&found);
    return near;
}

/// What is not near the complement of a set, or near the set.
std::vector<uint8_t> change(const Problem &p, const std::vector<uint8_t> &set, bool erode, bool complement, bool border) {
    const bool of_zeros = erode != complement;
    std::vector<uint8_t> result = grow(p, set, of_zeros, of_zeros && border);
    for (uint8_t &each : result) each = each != erode;
    return result;
}

/// Where the library rounds a length once and the brute force twice, there is nothing to compare.
std::string check_morphology(const Problem &p, const Outcome &out) {
    int exponent;
    if (std::frexp(p.unit, &exponent) != 0.5) return "";
    const bool opens = p.operation == APSIS_OPEN, closes = p.operation == APSIS_CLOSE;
    std::vector<uint8_t> want = change(p, p.set, p.operation == APSIS_ERODE || opens, p.options.flags & APSIS_COMPLEMENT,
                                       p.options.flags & APSIS_BORDER);
    if (opens || closes) want = change(p, want, closes, 0, false);  // its sites never lie outside
    for (size_t i = 0; i < want.size(); ++i)
        if (want[i] != out.output[0][i]) return at(0, static_cast<int64_t>(i));
    return "";
}

std::string check_components(const Problem &p, const Outcome &out) {
    problem q = problem_of(p);
    std::vector<double> grey;
    for (uint8_t byte : p.set) grey.push_back(static_cast<double>(value_of_byte(p.type[SET], byte)));
    if (p.options.delta > 0) q.grey = grey.data();
    flooded want = flood(&q);
    for (int64_t k = 0; k < want.count && p.options.flags & APSIS_LABELS; ++k) {
        int64_t &value = want.component[k].value;
        value = p.type[SET] == APSIS_F32 ? 1 : value_of_byte(p.type[SET], static_cast<uint8_t>(value));
    }
    std::string wrong;
    if (is_mask(p.type[FIRST]))
        for (int64_t i = 0; i < p.pixels(); ++i)
            want.label[i] = (want.label[i] > 0) != ((p.options.flags & APSIS_COMPLEMENT) != 0);
    wrong = check_indices(p, 0, out.output[0], want.label);
    if (p.count && out.count != want.count) wrong = "count is not what flooding finds";
    const size_t known = static_cast<size_t>(std::max<int64_t>(0, std::min(p.capacity, want.count)));
    if (known > 0 && std::memcmp(out.records.data(), want.component, known * sizeof(apsis_component)) != 0)
        wrong = "a component is not what flooding finds";
    free_flooded(&want);
    return wrong;
}

bool is_near(double a, double b) { return a == b || std::fabs(a - b) <= std::fabs(b) * 3e-7; }

/// Where the library rounds lengths more than the brute force does, they may differ by that, and pixels of equal length.
std::string check_geodesic(const Problem &p, const Outcome &out) {
    const problem q = problem_of(p);
    const scale s = scale_of(&q);
    const double limit = p.options.max_distance;
    answer want = solve_paths(&q, p.seeds.data());
    std::string wrong;
    for (int64_t i = 0; i < p.pixels() && wrong.empty(); ++i) {
        int64_t cost = want.cost[i];
        const bool limited = limit > 0 && cost >= 0;
        if (limited && s.rounded && std::fabs(real_of(&s, cost) - limit) < limit * 1e-7) continue;
        if (limited && real_of(&s, cost) > limit) cost = -1;
        if (const apsis_type type = p.type[FIRST]) {
            const double nothing = type == APSIS_I32   ? INT32_MAX
                                   : type == APSIS_I64 ? static_cast<double>(INT64_MAX)
                                                       : INFINITY;
            const double wanted = !is_member(&q, i) ? -1 : cost < 0 ? nothing : shown(&s, type, cost);
            const double got = value_at(out.output[0].data(), type, i);
            if (s.rounded ? !is_near(got, wanted) : got != wanted) wrong = at(0, i);
        }
        if (p.type[SECOND] && !s.rounded &&
            index_at(out.output[1].data(), p.type[SECOND], i) != (cost < 0 ? -1 : want.nearest[i]))
            wrong = at(1, i);
    }
    free_answer(&want);
    return wrong;
}

std::string check_eccentricity(const Problem &p, const Outcome &out) {
    const problem q = problem_of(p);
    const scale s = scale_of(&q);
    extremes want = solve_extremes(&q);
    std::string wrong;
    for (int64_t i = 0; i < p.pixels() && p.type[FIRST] && wrong.empty(); ++i) {
        const double wanted = want.cost[i] < 0 ? -1 : shown(&s, p.type[FIRST], want.cost[i]);
        const double got = value_at(out.output[0].data(), p.type[FIRST], i);
        if (s.rounded ? !is_near(got, wanted) : got != wanted) wrong = at(0, i);
    }
    if (wrong.empty() && !s.rounded) wrong = check_indices(p, 1, out.output[1], want.farthest);
    if (p.count && out.count != want.count) wrong = "count is not what brute force finds";
    const size_t known = static_cast<size_t>(std::max<int64_t>(0, std::min(p.capacity, want.count)));
    if (known > 0 && !s.rounded && std::memcmp(out.records.data(), want.extent, known * sizeof(apsis_extent)) != 0)
        wrong = "an extent is not what brute force finds";
    free_extremes(&want);
    return wrong;
}

bool is_approximate(apsis_method method) { return method == APSIS_JUMP_FLOOD || method == APSIS_SEQUENTIAL_SCAN; }

}  // namespace

bool has_oracle(const Problem &p) {
    return p.unit != 0 && p.pixels() > 0 && p.pixels() <= (p.transform == APSIS_ECCENTRICITY ? MOST_SOURCES : MOST_PIXELS) &&
           !is_approximate(p.options.method) && !(p.options.flags & APSIS_MIXED);
}

std::string ask_oracle(const Problem &p, const Outcome &out) {
    switch (p.transform) {
        case APSIS_COMPONENTS: return check_components(p, out);
        case APSIS_MORPHOLOGY: return check_morphology(p, out);
        case APSIS_GEODESIC: return check_geodesic(p, out);
        case APSIS_ECCENTRICITY: return out.status == APSIS_ERROR_BUDGET ? "" : check_eccentricity(p, out);
        default: return check_distance_map(p, out);
    }
}

}  // namespace soak
