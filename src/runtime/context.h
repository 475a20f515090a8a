// A context: a back end, its scratch memory, the caller's callbacks, and the message of the last error.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/backend.h"

struct apsis_context {
    /// A slab that has been read.  The scratch memory, which is the context's own, still holds what was found.
    struct FoundSlab {
        apsis_image set;  // without data
        bool complement;
        size_t bytes;          // of scratch memory, from its beginning
        int connectivity = 0;  // of components, by apsis_slab_parts; 0: the set in words, by apsis_slab_summary
    };

    explicit apsis_context(std::unique_ptr<apsis::Backend> where) : backend(std::move(where)) {}
    ~apsis_context();
    apsis_context(const apsis_context &) = delete;
    apsis_context &operator=(const apsis_context &) = delete;

    /// Memory from the caller's pool, or from the back end.  Throws APSIS_ERROR_MEMORY.
    void *allocate(apsis_memory memory, size_t bytes);
    void release(apsis_memory memory, void *data, size_t bytes) noexcept;

    /// The kind of memory that the back end computes in.
    apsis_memory own_memory() const { return backend->device() == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE; }

    /// Scratch memory of at least this size: the caller's workspace, or the context's own, which grows and is kept.  What it
    /// holds is lost, but for its first `kept` bytes.
    void *scratch(size_t bytes, size_t kept = 0);
    /// The same, of which the first `kept` bytes stay as they are, or none where that takes too much.  NULL: there is not enough.
    void *find_scratch(size_t bytes, size_t &kept);
    /// Leaves so many bytes at the beginning of the scratch memory as they are: what scratch() returns follows them.
    void put_aside(size_t bytes) { aside_ = bytes; }
    void set_workspace(void *memory, size_t bytes);
    bool has_callers_workspace() const { return workspace_is_callers_; }
    void set_allocator(apsis_alloc_fn allocate_fn, apsis_free_fn release_fn, void *user);

    /// At least this much page-locked memory of the back end.  Host images that are not page-locked are copied through it.
    /// It is kept, but holds nothing between calls.
    void *staging(size_t bytes);

    /// At least this much memory of the back end, for faces of slabs while devices share a call.  It is kept likewise,
    /// and calls that use it are done when they return.
    void *faces(size_t bytes);

    /// Throws APSIS_ERROR_UNSUPPORTED if the stream is being captured.  `why` says what makes that impossible.
    void refuse_capture(const char *why) const;

    /// The caller's progress callback, in the form that back ends take.
    apsis::Progress progress() const;
    [[gnu::format(printf, 2, 3)]] void log(const char *format, ...) const;

    std::unique_ptr<apsis::Backend> backend;
    std::vector<std::unique_ptr<apsis_context>> others;  // of further devices, for what is computed by several
    std::optional<FoundSlab> found;                      // by the call before, if that was for what a slab tells
    apsis::Message message;
    apsis_progress_fn progress_fn = nullptr;
    void *progress_user = nullptr;
    int threads = 0;  // from apsis_set_threads; 0: one a core
    apsis_allreduce_fn allreduce_fn = nullptr;
    void *allreduce_user = nullptr;
    int rank = 0, ranks = 1;  // from apsis_set_allreduce
    apsis_log_fn log_fn = nullptr;
    void *log_user = nullptr;

  private:
    void drop_workspace() noexcept;
    void drop_spare() noexcept;
    void drop_staging() noexcept;
    void drop_faces() noexcept;

    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0, aside_ = 0;
    bool workspace_is_callers_ = false;
    void *spare_ = nullptr;  // what the workspace grows into, if that has failed
    size_t spare_bytes_ = 0;
    void *staging_ = nullptr;
    size_t staging_bytes_ = 0;
    void *faces_ = nullptr;
    size_t faces_bytes_ = 0;
    apsis_alloc_fn allocate_fn_ = nullptr;
    apsis_free_fn release_fn_ = nullptr;
    void *allocator_user_ = nullptr;
};
