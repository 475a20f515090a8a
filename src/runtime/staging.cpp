// Host images in a device context: see staging.h.
#include "runtime/staging.h"

#include "runtime/platform.h"

namespace apsis {
namespace {

using Bounce = std::unique_ptr<void, void (*)(void *)>;

/// A packed host copy of a view.
View bounce_like(const View &view, Bounce &bounce) {
    const size_t bytes = static_cast<size_t>(packed_bytes(view));
    bounce.reset(aligned_memory(Carver::SLOT, bytes));
    if (!bounce) throw Error(APSIS_ERROR_MEMORY, "no memory for a packed copy of %zu bytes", bytes);
    return packed_like(view, bounce.get(), APSIS_HOST);
}

/// Uploads to a packed view, of the same type or, for a set, of bits.
void to_device(Backend &backend, const View &host, const View &device) {
    if (is_packed(host) && host.type == device.type) return backend.copy(host, device);
    Bounce bounce(nullptr, free_aligned_memory);
    const View packed = bounce_like(device, bounce);
    copy_pixels(host, packed);
    backend.copy(packed, device);
    backend.sync();
}

void to_host(Backend &backend, const View &device, const View &host) {
    if (is_packed(host)) {
        backend.copy(device, host);
        return backend.sync();
    }
    Bounce bounce(nullptr, free_aligned_memory);
    const View packed = bounce_like(host, bounce);
    backend.copy(device, packed);
    backend.sync();
    copy_pixels(packed, host);
}

}  // namespace

View Staging::own(const View &view, bool is_output) {
    if (view.pixels() == 0 || view.memory == context_.own_memory()) return view;
    return copy_of(view, packed_like(view, nullptr, context_.own_memory()), is_output);
}

View Staging::set(const View &view) {
    if (view.pixels() == 0 || !is_wide(view.type)) return own(view, false);
    return copy_of(view, bits_like(view, nullptr, context_.own_memory()), false);
}

View Staging::values(const View &view) {
    if (view.pixels() == 0 || view.type != APSIS_BIT) return own(view, false);
    View bytes = view;
    bytes.type = APSIS_U8;
    return copy_of(view, packed_like(bytes, nullptr, context_.own_memory()), false);
}

View Staging::copy_of(const View &view, View inside, bool is_output) {
    inside.data = carver_.take<uint8_t>(packed_bytes(inside));
    copies_[count_++] = {view, inside, is_output};
    crosses_ |= view.memory != inside.memory;
    return inside;
}

void Staging::upload() {
    for (int i = 0; i < count_; ++i) {
        const Copy &each = copies_[i];
        if (each.is_output) continue;
        if (each.outside.memory == each.inside.memory)
            context_.backend->copy(each.outside, each.inside);
        else
            to_device(*context_.backend, each.outside, each.inside);
    }
}

void Staging::download() {
    for (int i = 0; i < count_; ++i) {
        if (!copies_[i].is_output) continue;
        if (is_packed(copies_[i].outside))
            context_.backend->copy(copies_[i].inside, copies_[i].outside);  // run() waits for all of them
        else
            to_host(*context_.backend, copies_[i].inside, copies_[i].outside);
    }
}

void Staging::settle() noexcept {
    try {
        context_.backend->sync();
    } catch (...) {  // the first failure is the one to report
    }
}

void copy_between(apsis_context &context, const View &from, const View &to) {
    Backend &backend = *context.backend;
    const apsis_memory own = context.own_memory();
    if (own == APSIS_HOST || (from.memory == own && to.memory == own)) return backend.copy(from, to);
    if (from.memory == APSIS_HOST && to.memory == APSIS_HOST) return copy_pixels(from, to);

    context.refuse_capture("an image is in host memory");
    // One side is on the host: cross over packed and in one type, and convert on the device.
    const View &device = from.memory == own ? from : to;
    const View &host = from.memory == own ? to : from;
    View crossing = packed_like(host, nullptr, own);
    const bool direct = is_packed(device) && device.type == host.type;
    if (direct) {
        crossing = device;
    } else {
        Carver count;
        count.take<uint8_t>(packed_bytes(host));
        crossing.data = static_cast<uint8_t *>(context.scratch(count.used()));
    }
    if (from.memory == own) {
        if (!direct) backend.copy(from, crossing);
        to_host(backend, crossing, to);
    } else {
        to_device(backend, from, crossing);
        if (!direct) backend.copy(crossing, to);
        backend.sync();
    }
}

std::unique_ptr<uint8_t[]> bring_to_host(apsis_context &context, View &image, apsis_type type) {
    if (image.pixels() == 0 || (image.memory == APSIS_HOST && image.type == type)) return nullptr;
    std::unique_ptr<uint8_t[]> as_it_is;  // a device does not change all types
    if (image.memory == APSIS_DEVICE && image.type != type) as_it_is = bring_to_host(context, image, image.type);
    View like = image;
    like.type = type;
    auto pixels = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(packed_bytes(like)));
    const View copy = packed_like(like, pixels.get(), APSIS_HOST);
    copy_between(context, image, copy);
    image = copy;
    return pixels;
}

}  // namespace apsis
