// Joins slabs on the device or on the host, as their faces are in the memory of one or the other.
#include <algorithm>
#include <vector>

#include "api/host_arrays.h"
#include "api/jobs.h"
#include "runtime/parallel.h"

namespace apsis {
namespace {

/// While it lives, the faces of some slabs are in host memory.
class HostFaces {
  public:
    HostFaces(apsis_context &context, int64_t columns, apsis_slab_labels *slabs, int64_t slab_count)
        : arrays_(*context.backend) {
        for (apsis_slab_labels *slab = slabs; slab < slabs + slab_count; ++slab)
            for (int64_t **const face : {&slab->first, &slab->last}) {
                if (!*face || slab->rows == 0) continue;
                callers_.emplace_back(face, *face);
                *face = arrays_.output(*face, columns);
            }
    }
    ~HostFaces() {
        for (const auto &[face, array] : callers_) *face = array;
    }
    HostFaces(const HostFaces &) = delete;
    HostFaces &operator=(const HostFaces &) = delete;

    /// Copies them back.
    void put_back() { arrays_.finish(); }

  private:
    HostArrays arrays_;
    std::vector<std::pair<int64_t **, int64_t *>> callers_;
};

/// Whether faces alone are read and written, and all are in the memory of devices.
bool is_for_device(const apsis_context &context, const JoinJob &job) {
    bool has_faces = false;
    if (job.needs_parts()) return false;
    for (const apsis_slab_labels *slab = job.slabs; slab < job.slabs + job.slab_count; ++slab) {
        if (slab->numbers) return false;
        for (const int64_t *const face : {slab->first, slab->last}) {
            const View view = slab->rows > 0 ? face_view(context, face, job.columns(), 1) : View();
            if (view && view.memory == APSIS_HOST) return false;
            has_faces = has_faces || view;
        }
    }
    return has_faces;
}

/// Joins slabs on the device, in scratch memory behind what the call before has found of a slab.  Returns nothing where that is
/// the work of the host.
std::optional<int64_t> join_on_device(apsis_context &context, const JoinJob &job) {
    const size_t bytes = context.backend->join_scratch(job);
    if (bytes == 0) return {};
    context.refuse_capture("what slabs are told is for the host");
    const std::optional<apsis_context::FoundSlab> found = context.found;
    const size_t kept = found ? found->bytes : 0;
    const auto carve = [&](void *memory) {
        Carver carver(memory);
        carver.take<uint8_t>(static_cast<int64_t>(kept));
        uint8_t *const scratch = carver.take<uint8_t>(static_cast<int64_t>(bytes));
        return std::pair(scratch, carver.used());
    };
    void *const memory = context.scratch(carve(nullptr).second, kept);
    context.found = found;
    context.log("slab join: %lld slabs on %s", static_cast<long long>(job.slab_count), context.backend->name());
    return context.backend->join(job, carve(memory).first);
}

}  // namespace

void clear_face(apsis_context &context, int64_t *face, int64_t columns) {
    if (!face) return;
    HostArrays arrays(*context.backend);
    std::fill_n(arrays.output(face, columns), columns, 0);
    arrays.finish();
}

int64_t run(apsis_context &context, const JoinJob &job) {
    if (is_for_device(context, job))
        if (const std::optional<int64_t> count = join_on_device(context, job)) return *count;
    Arena arena(Arena::threads_for(context.threads));
    HostFaces faces(context, job.columns(), job.slabs, job.slab_count);
    check_slab_arrays(job, arena);
    const int64_t count = slabs::join(job, arena);
    faces.put_back();
    return count;
}

void renumber(apsis_context &context, int64_t columns, const apsis_slab_labels *joined, apsis_slab_labels *slabs,
              int64_t slab_count) {
    check_slab_renumber(columns, joined, slabs, slab_count);
    apsis_slab_labels whole = *joined;
    const HostFaces told(context, columns, &whole, 1);
    HostFaces faces(context, columns, slabs, slab_count);
    check_told_arrays(columns, whole, slabs, slab_count);
    slabs::renumber(columns, whole, slabs, slab_count);
    faces.put_back();
}

}  // namespace apsis
