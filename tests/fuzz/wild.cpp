// Calls that may break any rule: see calls.h.  What an image says it has, it has, to the byte, so that a sanitizer sees every
// access beside it; one that says what cannot be has a byte.
#include <apsis_measures.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calls.h"

using namespace soak;

namespace {

constexpr int64_t MOST_BYTES = 1 << 16;

/// Numbers at which arithmetic goes wrong, and any others.
int64_t odd_number(Input &in) {
    const int64_t number = in.of<int64_t>({-1, 0, 1, 7, INT32_MAX, INT64_C(1) << 30, (INT64_C(1) << 30) + 1, INT64_C(1) << 31,
                                           INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX, INT64_MIN, INT32_MIN, -8, 3});
    return in.one_in(4) ? in.raw<int64_t>() : number;
}

double odd_real(Input &in) {
    const double number = in.of({-1.0, 0.0, -0.0, 1e-300, 1e300, 5e-324, HUGE_VAL, -HUGE_VAL, double(NAN), 1e-270, 1e270, 0.1});
    return in.one_in(4) ? in.raw<double>() : number;
}

template <class Enum>
Enum odd_enumerator(Input &in) {
    return static_cast<Enum>(in.of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, INT32_MAX}));
}

// ---- Images ----

/// From the lowest byte of an image to behind the highest, and where its data are in it.
struct Span {
    int64_t bytes, origin;
};

constexpr Span NOTHING = {1, 0}, TOO_MUCH = {0, 0};

/// NOTHING for an image that has no pixels or breaks a rule, so that nothing of it may be touched.
Span span_of(const apsis_image &image) {
    if (image.type < APSIS_BIT || image.type > APSIS_U16 || image.ndim < 2 || image.ndim > 3) return NOTHING;
    const bool bits = image.type == APSIS_BIT;
    __int128 low = 0, high = static_cast<__int128>(pixel_size(image.type)), extent = high;
    for (int a = 0; a < image.ndim; ++a)
        if (image.size[a] <= 0 || image.size[a] > INT64_C(1) << 30) return NOTHING;
    for (int a = 0; a < image.ndim; ++a) {
        const __int128 size = bits && a == 0 ? (__int128(image.size[a]) + 7) / 8 : image.size[a];
        const __int128 stride = bits && a == 0 ? 1 : image.stride[a] ? image.stride[a] : extent;
        extent = (stride < 0 ? -stride : stride) * size;
        (stride < 0 ? low : high) += (size - 1) * stride;
        if (high - low > MOST_BYTES) return TOO_MUCH;
    }
    return {static_cast<int64_t>(high - low), static_cast<int64_t>(-low)};
}

/// An image, as it may be or not, and its bytes.
class WildImage {
  public:
    WildImage(Input &in, int ndim, const int64_t size[3], std::initializer_list<apsis_type> types) {
        view = {.data = nullptr,
                .type = in.of(types),
                .ndim = ndim,
                .size = {size[0], size[1], size[2]},
                .stride = {},
                .memory = APSIS_HOST,
                .reserved = 0};
        if (in.below(2)) twist(in);
        const Span span = span_of(view);
        bytes.resize(static_cast<size_t>(span.bytes));
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = canary(i);
        sent = bytes;
        if (!bytes.empty() && !in.one_in(16)) view.data = bytes.data() + span.origin;
        if (view.data && bytes.size() > 1 && pixel_size(view.type) > 1 && in.one_in(16))
            view.data = static_cast<uint8_t *>(view.data) + 1;  // which is no multiple of its size
    }

    /// Over another's pixels.
    void lie_on(const WildImage &other) {
        const Span mine = span_of(view), its = span_of(other.view);
        if (mine.bytes && mine.bytes - mine.origin <= its.bytes - its.origin && mine.origin <= its.origin)
            view.data = other.view.data;
    }

    bool is_unchanged() const { return bytes == sent; }

    apsis_image view;

  private:
    void twist(Input &in) {
        for (int64_t n = 1 + in.below(2); n > 0; --n) {
            switch (in.below(8)) {
                case 0: view.type = odd_enumerator<apsis_type>(in); break;
                case 1: view.ndim = in.of({2, 3, 0, 1, 4, -1, INT32_MAX, INT32_MIN}); break;
                case 2: view.size[in.below(3)] = odd_number(in); break;
                case 3: view.stride[in.below(3)] = odd_number(in); break;
                case 4: view.memory = in.of({APSIS_DEVICE, apsis_memory(2), APSIS_MEMORY_FORCE_32}); break;
                case 5: view.reserved = static_cast<int32_t>(in.below(3)); break;
                default: view.stride[in.below(3)] = in.below(300) - 150;
            }
        }
    }

    std::vector<uint8_t> bytes, sent;
};

// ---- Options ----

/// Options of any length, in memory of that length.
class WildOptions {
  public:
    explicit WildOptions(Input &in) {
        apsis_options o = APSIS_OPTIONS_INIT;
        for (int64_t n = in.below(4); n > 0; --n) twist(o, in);
        bytes.resize(sizeof o);
        if (in.one_in(4)) bytes.resize(4 + static_cast<size_t>(in.below(200)));
        o.struct_size = static_cast<uint32_t>(bytes.size());
        std::memcpy(bytes.data(), &o, std::min(bytes.size(), sizeof o));
        if (in.one_in(8) && bytes.size() > sizeof o) bytes.back() = 1;
        is_given = !in.one_in(4);
    }

    const apsis_options *get() const { return is_given ? reinterpret_cast<const apsis_options *>(bytes.data()) : nullptr; }

  private:
    static void twist(apsis_options &o, Input &in) {
        switch (in.below(14)) {
            case 0: o.flags = static_cast<uint32_t>(in.below(1 << 13)); break;
            case 1: o.flags = in.raw<uint32_t>(); break;
            case 2: o.spacing[in.below(3)] = odd_real(in); break;
            case 3: o.max_distance = odd_real(in); break;
            case 4: o.metric = odd_enumerator<apsis_metric>(in); break;
            case 5: o.method = odd_enumerator<apsis_method>(in); break;
            case 6: o.connectivity = static_cast<int32_t>(odd_number(in)); break;
            case 7: o.largest = static_cast<int32_t>(odd_number(in)); break;
            case 8: o.min_area = odd_number(in); break;
            case 9: o.max_area = odd_number(in); break;
            case 10: o.budget = odd_number(in); break;
            case 11: o.delta = odd_real(in); break;
            case 12: o.weights[in.below(4)] = static_cast<int32_t>(odd_number(in)); break;
            default:
                for (double &each : o.spacing) each = odd_real(in);
        }
    }

    std::vector<uint8_t> bytes;
    bool is_given;
};

// ---- Calls ----

/// An array of the caller's that is as long as it says.
template <class T>
struct Records {
    explicit Records(Input &in) : capacity(in.one_in(6) ? odd_number(in) : in.below(6)) {
        if (capacity >= 0 && capacity < 100) array.resize(static_cast<size_t>(capacity));
    }
    T *data() { return array.empty() ? nullptr : array.data(); }
    std::vector<T> array;
    int64_t capacity, count = -1;
};

/// Of a slab; 0 if they are too many.
int64_t columns_of(const apsis_image &image) {
    const int64_t planes = image.ndim == 3 ? image.size[1] : 1;
    const bool few = image.size[0] > 0 && image.size[0] <= MOST_BYTES && planes > 0 && planes <= MOST_BYTES;
    return few && image.size[0] * planes <= MOST_BYTES ? image.size[0] * planes : 0;
}

int stop_at_third(void *user, double) { return --*static_cast<int *>(user) == 0; }

constexpr std::initializer_list<apsis_type> SETS = {APSIS_U8, APSIS_BIT, APSIS_U16, APSIS_I32, APSIS_I64},
                                            INDICES = {APSIS_I32, APSIS_I64},
                                            LENGTHS = {APSIS_F32, APSIS_F64, APSIS_I32, APSIS_I64},
                                            LABELS = {APSIS_I32, APSIS_I64, APSIS_U8, APSIS_BIT};

}  // namespace

void call_wildly(apsis_context *context, Input &in) {
    int64_t size[3];
    for (int64_t &each : size) each = in.of<int64_t>({5, 1, 2, 3, 4, 7, 8, 9, 16, 0});
    const int ndim = in.of({2, 3});
    WildImage set(in, ndim, size, SETS), seeds(in, ndim, size, SETS);
    const int64_t call = in.below(20);
    WildImage first(in, ndim, size,
                    call == 1 || call == 9                  ? INDICES
                    : call == 2                             ? LABELS
                    : call == 8 || call == 11 || call == 12 ? SETS
                                                            : LENGTHS);
    WildImage second(in, ndim, size, INDICES);
    WildOptions options(in);
    Records<apsis_component> components(in);
    Records<apsis_extent> extents(in);
    if (in.one_in(16)) first.lie_on(set);
    if (in.one_in(16)) second.lie_on(first);
    const auto maybe = [&](const WildImage &image) { return in.one_in(8) ? nullptr : &image.view; };
    const apsis_image *const images[] = {maybe(set), call == 3 ? maybe(seeds) : maybe(first), maybe(second), maybe(first)};
    int64_t *const count = in.below(2) ? &components.count : nullptr;
    apsis_context *const used = in.one_in(32) ? nullptr : context;
    int countdown = 3;
    std::vector<uint8_t> workspace;
    const bool is_stopped = in.one_in(8);
    if (is_stopped) apsis_set_progress(context, stop_at_third, &countdown);
    if (in.one_in(8)) {
        workspace.resize(static_cast<size_t>(512 + in.below(5000)));
        const size_t start = (256 - reinterpret_cast<uintptr_t>(workspace.data()) % 256) % 256 + (in.one_in(4) ? 8 : 0);
        apsis_set_workspace(context, workspace.data() + start, workspace.size() - start);
    }
    apsis_status status = APSIS_OK;
    switch (call) {
        case 0: status = apsis_distance(used, images[0], images[1], images[2], options.get()); break;
        case 1: status = apsis_voronoi(used, images[0], images[1], options.get()); break;
        case 2:
            status = apsis_components(used, images[0], images[1], components.data(), components.capacity, count, options.get());
            break;
        case 3: status = apsis_geodesic(used, images[0], images[1], images[3], images[2], options.get()); break;
        case 4:
            status = apsis_eccentricity(used, images[0], images[1], images[2], extents.data(), extents.capacity, count,
                                        options.get());
            break;
        case 5: {
            size_t bytes = 0;
            status = apsis_workspace_size(used, odd_enumerator<apsis_transform>(in), images, static_cast<int>(in.below(5)),
                                          options.get(), in.one_in(8) ? nullptr : &bytes);
            break;
        }
        case 6: {
            // Without a set it may be that of a call before, of which no more is known.
            const int64_t columns = images[0] ? columns_of(set.view) : MOST_BYTES;
            std::vector<int64_t> rows[2];
            for (std::vector<int64_t> &each : rows) each.resize(static_cast<size_t>(3 * columns));  // as with APSIS_LABELS
            status = apsis_slab_summary(used, images[0], odd_number(in), columns ? rows[0].data() : nullptr,
                                        columns ? rows[1].data() : nullptr, options.get());
            break;
        }
        case 7: {
            const apsis_slab slab = {odd_number(in), odd_number(in), nullptr, nullptr, nullptr, nullptr};
            if (in.one_in(3))
                status = apsis_slab_voronoi(used, images[0], in.one_in(8) ? nullptr : &slab, images[1], options.get());
            else
                status =
                    apsis_slab_distance(used, images[0], in.one_in(8) ? nullptr : &slab, images[1], images[2], options.get());
            break;
        }
        case 8: status = apsis_copy(used, images[0], images[1]); break;
        case 9: status = apsis_copy(used, images[1], images[2]); break;
        case 10: status = apsis_set_threads(used, static_cast<int>(odd_number(in))); break;
        case 11:
            status = apsis_morphology(used, in.of({APSIS_DILATE, APSIS_ERODE, APSIS_OPEN, APSIS_CLOSE, apsis_operation(9)}),
                                      in.one_in(3) ? odd_real(in) : 2.5, images[0], images[1], options.get());
            break;
        case 12: {
            apsis_surface_distances found[3];
            const auto surface = static_cast<apsis_surface>(in.below(4));
            status = apsis_surface_distance(used, images[0], images[1], surface, in.one_in(3) ? odd_real(in) : 95,
                                            in.one_in(3) ? odd_real(in) : 2, in.one_in(8) ? nullptr : found,
                                            in.one_in(8) ? -1 : 3, count, options.get());
            break;
        }
        case 13: status = apsis_thickness(used, images[0], images[1], options.get()); break;
        case 14: status = apsis_medial_axis(used, images[0], images[1], options.get()); break;
        case 15: {
            apsis_measure found[3];
            const uint32_t wanted = in.one_in(8) ? 0xffff : static_cast<uint32_t>(in.below(256));
            if (in.one_in(3)) {
                apsis_sums sums[3];
                int64_t values = 0;
                status = apsis_slab_sums(used, images[0], images[in.below(3)], maybe(seeds),
                                         in.one_in(4) ? odd_number(in) : in.below(9), wanted, in.one_in(8) ? nullptr : sums, 3,
                                         &values, options.get());
                if (status != APSIS_OK || values > 3) break;
                if (in.one_in(4) && values > 0) sums[0].part.area = odd_number(in);
                status = apsis_slab_measures(used, ndim, size, sums, apsis_slab_merge_sums(values, sums), found, options.get());
                break;
            }
            status = apsis_measures(used, images[0], images[in.below(3)], wanted, in.one_in(8) ? nullptr : found,
                                    in.one_in(8) ? -1 : 3, count, options.get());
            break;
        }
        case 16:
            status = apsis_cost_distance(used, in.below(2) ? images[0] : nullptr, maybe(seeds), images[0], images[3], images[2],
                                         options.get());
            break;
        case 17: {
            const int64_t starts[2] = {in.below(9), in.one_in(4) ? odd_number(in) : 1},
                          starting = in.of<int64_t>({2, 1, 0, -1});
            Records<apsis_path> paths(in);
            int64_t pixels[8];
            status = apsis_paths(used, images[0], in.below(2) ? maybe(seeds) : nullptr, images[0],
                                 in.one_in(8) ? nullptr : starts, starting, paths.capacity >= starting ? paths.data() : nullptr,
                                 pixels, in.of<int64_t>({8, 3, 0, -1}), count, options.get());
            break;
        }
        case 18: {
            Records<apsis_path> paths(in);
            int64_t pixels[8];
            status = apsis_longest_paths(used, images[0], paths.data(), paths.capacity, count, pixels,
                                         in.of<int64_t>({8, 3, 0, -1}), nullptr, options.get());
            break;
        }
        default: {
            apsis_image made = set.view;
            if (in.below(2) && span_of(made).bytes) {
                status = apsis_alloc(used, in.of({APSIS_HOST, APSIS_DEVICE, apsis_memory(7)}), &made);
                if (status == APSIS_OK) apsis_free(used, &made);
            } else {
                status = apsis_set_stream(used, nullptr);
            }
        }
    }
    apsis_set_progress(context, nullptr, nullptr);
    apsis_set_workspace(context, nullptr, 0);
    must(status != APSIS_ERROR_INTERNAL && status != APSIS_ERROR_DEVICE, apsis_message(context));
    must(status != APSIS_ERROR_CANCELLED || is_stopped, "cancelled, but by no callback");
    must(status != APSIS_ERROR_WORKSPACE || !workspace.empty(), "a workspace that was not set is too small");
    must(status <= APSIS_ERROR_BUDGET, "a status that is none");
    must(set.is_unchanged() && (call != 9 || first.is_unchanged()), "an input has changed");
    if (status != APSIS_ERROR_ARGUMENT) return;
    must(!used || apsis_message(used)[0] != 0, "an argument is refused without a word");
    must(set.is_unchanged() && seeds.is_unchanged() && first.is_unchanged() && second.is_unchanged(),
         "an argument is refused when something is written already");
}
