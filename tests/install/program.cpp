// A user's program in C++, built against an installed apsis: what apsis.hpp offers, called once each.
#include <apsis.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if __has_include(<span>)
#include <span>
#endif

namespace {

void expect(bool is_so, int line) {
    if (is_so) return;
    std::fprintf(stderr, "%s:%d is wrong\n", __FILE__, line);
    std::exit(1);
}
#define EXPECT(condition) expect(condition, __LINE__)

/// Whether the call throws an error with this status, and says this.
template <class Call>
bool fails(apsis_status status, const char *words, Call call) {
    try {
        call();
    } catch (const std::runtime_error &caught) {
        const auto *const error = dynamic_cast<const apsis::error *>(&caught);
        return error && error->status() == status && std::strstr(error->what(), words);
    }
    return false;
}

/// As std::mdspan is, of two axes, of which the last one is x.
template <class Element>
struct Matrix {
    Element *elements;
    std::size_t extents[2], strides[2];

    static constexpr std::size_t rank() { return 2; }
    Element *data_handle() const { return elements; }
    std::size_t extent(std::size_t axis) const { return extents[axis]; }
    std::size_t stride(std::size_t axis) const { return strides[axis]; }
};

constexpr std::size_t W = 6, H = 4;

void views(apsis::context &context) {
    const std::vector<std::uint8_t> mask = {0, 0, 0, 0, 0, 0,  //
                                            0, 1, 0, 0, 0, 0,  //
                                            0, 0, 0, 0, 0, 0,  //
                                            0, 0, 0, 0, 0, 0};
    std::vector<float> out(W * H);
    std::array<std::int64_t, W * H> nearest = {};
    context.distance({mask, {W, H}}, {out, {W, H}}, {nearest, {W, H}});
    EXPECT(out[0] == std::sqrt(2.0f) && out[23] == std::sqrt(20.0f) && nearest[23] == 7);

    double column[H];  // x = 5, by strides in bytes
    context.distance({mask.data() + 1, {1, H}, {1, W}}, {column, {1, H}});
    EXPECT(column[0] == 1 && column[3] == 2);

    std::vector<double> turned(W * H);  // out[y, x] in columns
    context.distance(Matrix<const std::uint8_t>{mask.data(), {H, W}, {W, 1}}, Matrix<double>{turned.data(), {H, W}, {1, H}});
    EXPECT(turned[3] == std::sqrt(5.0) && turned[W * H - 1] == std::sqrt(20.0));

    const std::uint8_t bits[H] = {0, 2, 0, 0};
    bool copy[W * H];
    context.copy(apsis::const_view::bits(bits, {W, H}), {copy, {W, H}});
    EXPECT(copy[7] && !copy[8]);
    std::uint8_t back[H] = {};
    context.copy({copy, {W, H}}, apsis::view::bits(back, {W, H}));
    EXPECT(back[1] == 2 && back[2] == 0);

#ifdef __cpp_lib_span
    context.distance({std::span(mask), {W, H}}, {std::span(out), {W, H}}, {});
    EXPECT(out[0] == std::sqrt(2.0f));
#endif
    EXPECT(fails(APSIS_ERROR_ARGUMENT, "range of 24", [&] { context.distance({mask, {W, H + 1}}, {out, {W, H}}); }));
    EXPECT(fails(APSIS_ERROR_ARGUMENT, "size", [&] { context.distance({mask, {W, H}}, {out, {W, H - 1}}); }));
    static_assert(!std::is_constructible_v<apsis::view, const std::vector<float> &, apsis::axes>);
    static_assert(!std::is_constructible_v<apsis::view, const float *, apsis::axes>);
    static_assert(!std::is_constructible_v<apsis::view, Matrix<const float>>);
    static_assert(!std::is_convertible_v<apsis::const_view, apsis::view>);
}

void every_verb(apsis::context &context) {
    const std::vector<std::uint8_t> mask = {1, 1, 1, 0, 1, 1,  //
                                            1, 0, 1, 0, 0, 1,  //
                                            1, 0, 1, 0, 1, 1,  //
                                            1, 0, 1, 0, 1, 0};
    const apsis::const_view set(mask, {W, H});
    std::vector<std::int32_t> labels(W * H), far(W * H);
    EXPECT(context.components(set, {labels, {W, H}}) == 2 && labels[0] == 1 && labels[4] == 2);
    const auto known = context.component_statistics(set);
    EXPECT(known.size() == 2 && known[0].area == 9 && known[1].first == 4);

    apsis::options options;
    options.metric = APSIS_CITY_BLOCK;
    std::vector<std::uint8_t> seeds(W * H);
    seeds[18] = 1;
    std::vector<double> out(W * H);
    context.geodesic(set, {seeds, {W, H}}, {out, {W, H}}, {}, options);
    EXPECT(out[20] == 8 && std::isinf(out[4]) && out[3] == -1);
    context.eccentricity(set, {out, {W, H}}, {far, {W, H}}, options);
    EXPECT(out[18] == 8 && far[18] == 20 && out[1] == 4);
    const auto extents = context.extents(set, {}, {}, options);
    EXPECT(extents.size() == 2 && extents[0].diameter == 8 && extents[0].gap == 0);
    options.budget = 1;
    EXPECT(fails(APSIS_ERROR_BUDGET, "budget", [&] { context.eccentricity(set, {out, {W, H}}, {}, options); }));
    EXPECT(context.extents(set, {}, {}, options).size() == 2);
    context.voronoi(set, {labels, {W, H}});
    EXPECT(labels[0] == 0 && labels[3] == 2);

    std::vector<std::uint8_t> checkers(300 * 100);  // more components than are expected
    for (std::size_t i = 0; i < checkers.size(); ++i) checkers[i] = (i % 300 + i / 300) % 2;
    const auto many = context.component_statistics({checkers, {300, 100}});
    EXPECT(many.size() == 15000 && many[14999].first == 29998);
}

void what_is_owned() {
    apsis::context first(APSIS_CPU), context = std::move(first);
    EXPECT(!first.get() && context.device() == APSIS_CPU && std::strstr(context.device_name(), "CPU"));
    apsis::image<std::uint8_t> set(context, {W, H});
    std::memset(set.data(), 1, W * H);
    apsis::image<float> out(context, {W, H}), other = std::move(out);
    EXPECT(!out.data() && other.data());
    out = std::move(other);
    context.distance(set, out);
    EXPECT(out.data()[W * H - 1] == 0);
    context.sync();
    context.call(apsis_set_threads, 1);
    EXPECT(fails(APSIS_ERROR_ARGUMENT, "threads", [&] { context.call(apsis_set_threads, -1); }));
    EXPECT(fails(APSIS_ERROR_NO_DEVICE, "4000", [] { apsis::context none(4000); }));
    EXPECT(fails(APSIS_ERROR_NO_DEVICE, "4001", [] { apsis::context none({4001, 4002}); }));
    EXPECT(fails(APSIS_ERROR_ARGUMENT, "devices[0] is -1", [] { apsis::context none({-1, 0}); }));
    static_assert(!std::is_copy_constructible_v<apsis::context> && !std::is_copy_constructible_v<apsis::image<float>>);
}

}  // namespace

int main() {
    apsis::context context(APSIS_CPU);
    views(context);
    every_verb(context);
    what_is_owned();
}
