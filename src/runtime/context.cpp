// A context: see context.h.
#include "runtime/context.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <utility>

using apsis::Carver;
using apsis::Error;

namespace {

apsis::View bytes_at(void *memory, size_t bytes, apsis_memory kind) {
    const auto size = static_cast<int64_t>(bytes);
    return {static_cast<uint8_t *>(memory), APSIS_U8, kind, {size, 1, 1}, {1, size, size}};
}

}  // namespace

apsis_context::~apsis_context() {
    try {
        backend->sync();
    } catch (...) {  // the device has failed, but its memory can still be released
    }
    drop_workspace();
    drop_staging();
    drop_faces();
}

void *apsis_context::allocate(apsis_memory memory, size_t bytes) {
    if (!allocate_fn_) return backend->allocate(memory, bytes);
    void *data = allocate_fn_(allocator_user_, memory, bytes, memory == APSIS_DEVICE ? backend->stream() : nullptr);
    if (!data)
        throw Error(APSIS_ERROR_MEMORY, "your allocator returned NULL for %zu bytes of %s memory", bytes,
                    memory == APSIS_DEVICE ? "device" : "host");
    return data;
}

void apsis_context::release(apsis_memory memory, void *data, size_t bytes) noexcept {
    if (!data) return;
    if (release_fn_)
        release_fn_(allocator_user_, memory, data, bytes, memory == APSIS_DEVICE ? backend->stream() : nullptr);
    else
        backend->release(memory, data, bytes);
}

void apsis_context::drop_spare() noexcept { release(own_memory(), std::exchange(spare_, nullptr), spare_bytes_); }

void apsis_context::drop_workspace() noexcept {
    drop_spare();
    if (!workspace_is_callers_) release(own_memory(), workspace_, workspace_bytes_);
    workspace_ = nullptr;
    workspace_bytes_ = 0;
    workspace_is_callers_ = false;
    found.reset();
}

void *apsis_context::scratch(size_t bytes, size_t kept) {
    found.reset();
    bytes += aside_, kept += aside_;
    const auto rest = [&] { return static_cast<uint8_t *>(workspace_) + aside_; };
    if (bytes <= workspace_bytes_) return rest();
    if (workspace_is_callers_)
        throw Error(APSIS_ERROR_WORKSPACE, "the workspace has %zu bytes, but %zu are needed", workspace_bytes_, bytes);
    refuse_capture("the workspace must grow: call once before, or set one");
    backend->sync();  // queued work may still use the old one
    if (kept == 0) {
        drop_workspace();
        workspace_ = allocate(own_memory(), bytes);
    } else {
        drop_spare();
        spare_ = allocate(own_memory(), spare_bytes_ = bytes);  // a device that fails now may not free it until later
        backend->copy(bytes_at(workspace_, kept, own_memory()), bytes_at(spare_, kept, own_memory()));
        backend->sync();
        void *const grown = std::exchange(spare_, nullptr);
        drop_workspace();
        workspace_ = grown;
    }
    workspace_bytes_ = bytes;
    log("workspace: %zu bytes", bytes);
    return rest();
}

void apsis_context::refuse_capture(const char *why) const {
    if (backend->is_capturing()) throw Error(APSIS_ERROR_UNSUPPORTED, "the stream is being captured, but %s", why);
}

void *apsis_context::staging(size_t bytes) {
    if (bytes <= staging_bytes_) return staging_;
    drop_staging();
    staging_ = backend->allocate(APSIS_HOST, bytes);
    staging_bytes_ = bytes;
    log("staging: %zu bytes", bytes);
    return staging_;
}

void apsis_context::drop_staging() noexcept {
    if (staging_) backend->release(APSIS_HOST, staging_, staging_bytes_);
    staging_ = nullptr;
    staging_bytes_ = 0;
}

void *apsis_context::faces(size_t bytes) {
    if (bytes <= faces_bytes_) return faces_;
    drop_faces();
    faces_ = allocate(own_memory(), bytes);
    faces_bytes_ = bytes;
    log("faces: %zu bytes", bytes);
    return faces_;
}

void apsis_context::drop_faces() noexcept {
    release(own_memory(), std::exchange(faces_, nullptr), std::exchange(faces_bytes_, 0));
}

void *apsis_context::find_scratch(size_t bytes, size_t &kept) {
    while (true) try {
            return scratch(bytes, kept);
        } catch (const apsis::Error &error) {
            if (error.status != APSIS_ERROR_MEMORY && error.status != APSIS_ERROR_WORKSPACE) throw;
            if (kept == 0) return nullptr;
            kept = 0;
        }
}

void apsis_context::set_workspace(void *memory, size_t bytes) {
    if (reinterpret_cast<uintptr_t>(memory) % Carver::SLOT)
        throw Error(APSIS_ERROR_ARGUMENT, "memory is at %p, but must be aligned to %zu bytes", memory, Carver::SLOT);
    backend->sync();
    drop_workspace();
    if (!memory) return;
    workspace_ = memory;
    workspace_bytes_ = bytes;
    workspace_is_callers_ = true;
}

void apsis_context::set_allocator(apsis_alloc_fn allocate_fn, apsis_free_fn release_fn, void *user) {
    if (!allocate_fn != !release_fn)
        throw Error(APSIS_ERROR_ARGUMENT, "%s is NULL, but %s is not", allocate_fn ? "release" : "allocate",
                    allocate_fn ? "allocate" : "release");
    if (!workspace_is_callers_) {
        backend->sync();
        drop_workspace();
    }
    drop_faces();
    allocate_fn_ = allocate_fn;
    release_fn_ = release_fn;
    allocator_user_ = user;
}

// A callback may be slow: in Python it waits for the interpreter's lock.  So beyond an allowance it gets a sixteenth of the
// call's time.  Reports that come sooner are left out, but not the last one.
apsis::Progress apsis_context::progress() const {
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::duration ALLOWANCE = std::chrono::microseconds(50);
    static constexpr int SHARE = 16;
    if (!progress_fn) return {};
    return [this, start = Clock::now(), spent = Clock::duration::zero()](double done) mutable {
        const Clock::time_point now = Clock::now();
        if (done < 1 && (spent - ALLOWANCE) * SHARE > now - start) return;
        const bool stop = progress_fn(progress_user, done);
        spent += Clock::now() - now;
        if (stop) throw Error(APSIS_ERROR_CANCELLED, "the progress callback asked to stop");
    };
}

void apsis_context::log(const char *format, ...) const {
    if (!log_fn) return;
    char line[256];
    va_list values;
    va_start(values, format);
    apsis::print(line, sizeof line, format, values);
    va_end(values);
    log_fn(log_user, line);
}
