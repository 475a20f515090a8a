/*
 * apsis for C++17 and later: apsis.h with contexts and images that free themselves,
 * views of memory, and exceptions.
 *
 *     std::vector<std::uint8_t> mask(w * h);
 *     std::vector<float> distance(w * h);
 *     apsis::context context;                                // the best device; ({0, 1}): several
 *     context.distance({mask, {w, h}}, {distance, {w, h}});
 *
 * Views own nothing.  A const_view is read, a view is written, and {} leaves one out.
 *   They are made from contiguous ranges, pointers and mdspans, with pixels of the type
 *   of the elements.  Sizes are along x, y, z; an mdspan is m[z, y, x].  Strides are bytes.
 * Options are those of apsis.h, set to their defaults:
 *
 *     apsis::options options;
 *     options.metric = APSIS_CITY_BLOCK;
 *     context.distance({mask, {w, h}}, {distance, {w, h}}, {}, options);
 *
 * Errors: a status other than APSIS_OK is thrown, as apsis::error.
 * What a context has no member for is called through it: context.call(apsis_set_threads, 2).
 */
#ifndef APSIS_HPP
#define APSIS_HPP

#include <apsis.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace apsis {

class error : public std::runtime_error {
  public:
    error(apsis_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    apsis_status status() const noexcept { return status_; }

  private:
    apsis_status status_;
};

struct options : apsis_options {
    options() noexcept : apsis_options APSIS_OPTIONS_INIT {}
    options(const apsis_options &other) noexcept : apsis_options(other) {}
};

/// Bytes and booleans, unsigned integers of 16 bits, signed ones of 32 and 64, float, double.
template <class Pixel>
constexpr apsis_type type_of() noexcept {
    constexpr bool is_long = sizeof(Pixel) == 8, is_real = std::is_floating_point_v<Pixel>;
    static_assert(std::is_arithmetic_v<Pixel>, "pixels are numbers");
    constexpr bool is_short = std::is_unsigned_v<Pixel> && sizeof(Pixel) == 2;
    static_assert(sizeof(Pixel) == 1 || is_short || ((sizeof(Pixel) == 4 || is_long) && std::is_signed_v<Pixel>),
                  "no pixel has this type");
    if (is_short) return APSIS_U16;
    return sizeof(Pixel) == 1 ? APSIS_U8 : is_real ? (is_long ? APSIS_F64 : APSIS_F32) : is_long ? APSIS_I64 : APSIS_I32;
}

/// Numbers along x and y, and perhaps z, of any integer types.
struct axes {
    std::int32_t count = 0;
    std::int64_t along[3] = {};
    axes() noexcept = default;
    template <class... Number, class = std::enable_if_t<(std::is_integral_v<Number> && ...)>>
    axes(Number... number) noexcept : count{sizeof...(number)}, along{static_cast<std::int64_t>(number)...} {}
};

namespace detail {
template <class Range>
using range_pointer = decltype(std::declval<Range &>().data());
template <class Mdspan>
using mdspan_pointer = decltype(std::declval<Mdspan>().data_handle());
template <class Pointer>
using if_writable = std::enable_if_t<!std::is_const_v<std::remove_pointer_t<Pointer>>>;
}  // namespace detail

/// Pixels that are read.
class const_view {
  public:
    const_view() noexcept = default;
    explicit const_view(const apsis_image &image) noexcept : image_(image) {}

    template <class Pixel>
    const_view(const Pixel *data, axes size, axes stride = {}, apsis_memory memory = APSIS_HOST) noexcept
        : const_view(data, type_of<Pixel>(), size, stride, memory) {}

    template <class Range, class = detail::range_pointer<const Range>>
    const_view(const Range &range, axes size) : const_view(std::data(range), size) {
        double pixels = 1;
        for (int a = 0; a < size.count; ++a) pixels *= static_cast<double>(size.along[a]);
        const auto room = std::size(range);
        if (pixels <= static_cast<double>(room)) return;
        throw error(APSIS_ERROR_ARGUMENT, "view: a range of " + std::to_string(room) + " elements is too small");
    }

    template <class Mdspan, class = detail::mdspan_pointer<Mdspan>>
    const_view(const Mdspan &span) : const_view(span.data_handle(), {0, 0}) {
        static_assert(Mdspan::rank() == 2 || Mdspan::rank() == 3, "an image has two axes, or three");
        image_.ndim = Mdspan::rank();
        for (std::size_t a = 0, from = Mdspan::rank(); from-- > 0; ++a) {
            image_.size[a] = static_cast<std::int64_t>(span.extent(from));
            image_.stride[a] = static_cast<std::int64_t>(span.stride(from)) * std::int64_t{sizeof *span.data_handle()};
        }
    }

    /// A set of one bit a pixel, lowest bit first.
    static const_view bits(const void *data, axes size, axes stride = {}, apsis_memory memory = APSIS_HOST) noexcept {
        return const_view(data, APSIS_BIT, size, stride, memory);
    }

    /// What apsis.h takes: NULL for a view that leaves an image out.
    const apsis_image *get() const noexcept { return image_.type ? &image_ : nullptr; }

  private:
    const_view(const void *data, apsis_type type, axes size, axes stride, apsis_memory memory) noexcept
        : image_{const_cast<void *>(data), type, size.count, {}, {}, memory, 0} {
        std::copy(size.along, size.along + 3, image_.size);
        std::copy(stride.along, stride.along + 3, image_.stride);
    }
    apsis_image image_ = {};
};

/// Pixels that are written.
class view : public const_view {
  public:
    view() noexcept = default;
    explicit view(const apsis_image &image) noexcept : const_view(image) {}

    template <class Pixel, class = detail::if_writable<Pixel *>>
    view(Pixel *data, axes size, axes stride = {}, apsis_memory memory = APSIS_HOST) noexcept
        : const_view(data, size, stride, memory) {}
    template <class Range, class = detail::if_writable<detail::range_pointer<Range>>>
    view(Range &&range, axes size) : const_view(range, size) {}
    template <class Mdspan, class = detail::if_writable<detail::mdspan_pointer<Mdspan>>>
    view(const Mdspan &span) : const_view(span) {}

    static view bits(void *data, axes size, axes stride = {}, apsis_memory memory = APSIS_HOST) noexcept {
        return view(*const_view::bits(data, size, stride, memory).get());
    }
};

/// Where work runs.
class context {
  public:
    explicit context(int device = APSIS_BEST) { make(apsis_create, device); }
    explicit context(const std::vector<int> &devices) { make(apsis_create_devices, devices.data(), int(devices.size())); }

    apsis_context *get() const noexcept { return context_.get(); }
    int device() const noexcept { return apsis_device(get()); }
    const char *device_name() const noexcept { return apsis_device_name(get()); }

    void distance(const_view set, view distance, view nearest = {}, const options &options = {}) {
        call(apsis_distance, set.get(), distance.get(), nearest.get(), &options);
    }
    void voronoi(const_view set, view cells, const options &options = {}) {
        call(apsis_voronoi, set.get(), cells.get(), &options);
    }
    /// Returns how many there are.
    std::int64_t components(const_view set, view labels, const options &options = {}) {
        std::int64_t count = 0;
        call(apsis_components, set.get(), labels.get(), nullptr, 0, &count, &options);
        return count;
    }
    /// Returns what is known of each.
    std::vector<apsis_component> component_statistics(const_view set, view labels = {}, const options &options = {}) {
        return read_all<apsis_component>([&](auto known, auto room, auto count, bool again) {
            return apsis_components(get(), set.get(), again ? nullptr : labels.get(), known, room, count, &options);
        });
    }
    void geodesic(const_view set, const_view seeds, view distance, view nearest = {}, const options &options = {}) {
        call(apsis_geodesic, set.get(), seeds.get(), distance.get(), nearest.get(), &options);
    }
    void eccentricity(const_view set, view eccentricity, view farthest = {}, const options &options = {}) {
        call(apsis_eccentricity, set.get(), eccentricity.get(), farthest.get(), nullptr, 0, nullptr, &options);
    }
    /// Returns how far each component reaches.  If the budget runs out the gaps tell, and nothing is thrown.
    std::vector<apsis_extent> extents(const_view set, view lengths = {}, view farthest = {}, const options &options = {}) {
        return read_all<apsis_extent>([&](auto known, auto room, auto count, bool again) {
            const apsis_image *const outputs[] = {again ? nullptr : lengths.get(), again ? nullptr : farthest.get()};
            const auto status = apsis_eccentricity(get(), set.get(), outputs[0], outputs[1], known, room, count, &options);
            return status == APSIS_ERROR_BUDGET ? APSIS_OK : status;
        });
    }
    void copy(const_view from, view to) { call(apsis_copy, from.get(), to.get()); }
    void sync() { call(apsis_sync); }

    /// Calls a function of apsis.h that takes a context first, and returns a status.
    template <class... Formal, class... Actual>
    void call(apsis_status (*function)(apsis_context *, Formal...), Actual &&...actual) {
        check(function(get(), std::forward<Actual>(actual)...));
    }

  private:
    template <class Create, class... Arguments>
    void make(Create create, Arguments... arguments) {
        apsis_context *made = nullptr;
        check(create(APSIS_VERSION, arguments..., &made)), context_.reset(made);
    }
    void check(apsis_status status) const {
        if (status != APSIS_OK) throw error(status, apsis_message(get()));
    }
    /// Calls again if there are more entries than there was room for.
    template <class Entry, class Call>
    std::vector<Entry> read_all(Call call) {
        std::vector<Entry> known(256);
        std::int64_t count = 0, room = 256;
        check(call(known.data(), room, &count, false));
        known.resize(static_cast<std::size_t>(count));
        if (count > room) check(call(known.data(), count, &count, true));
        return known;
    }

    struct destroy {
        void operator()(apsis_context *context) const noexcept { apsis_destroy(context); }
    };
    std::unique_ptr<apsis_context, destroy> context_;
};

/// Pixels in memory of a context, not initialised.  The context must outlive it.
template <class Pixel>
class image {
  public:
    image(context &owner, axes size, apsis_memory memory = APSIS_HOST)
        : owner_(owner.get()), image_(*const_view(static_cast<const Pixel *>(nullptr), size).get()) {
        owner.call(apsis_alloc, memory, &image_);
    }
    image(image &&other) noexcept : owner_(other.owner_), image_(std::exchange(other.image_, {})) {}
    image &operator=(image other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(image_, other.image_);
        return *this;
    }
    ~image() { apsis_free(owner_, &image_); }

    Pixel *data() const noexcept { return static_cast<Pixel *>(image_.data); }
    operator view() const noexcept { return view(image_); }

  private:
    apsis_context *owner_;
    apsis_image image_;
};

}  // namespace apsis

#endif  // APSIS_HPP
