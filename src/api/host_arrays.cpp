// The caller's arrays of slabs in host memory: see host_arrays.h.
#include "api/host_arrays.h"

#include "runtime/packed.h"

namespace apsis {
namespace {

View view_of(int64_t *array, size_t count, apsis_memory memory) {
    View view;
    view.type = APSIS_I64;
    view.memory = memory;
    view.size[0] = static_cast<int64_t>(count), view.size[1] = view.size[2] = 1;
    return packed_like(view, array, memory);
}

}  // namespace

int64_t *HostArrays::bring(const int64_t *array, int64_t count, bool is_output) {
    int64_t *const caller = const_cast<int64_t *>(array);
    if (!array || count == 0 || !backend_->is_on_device(array)) return caller;
    backend_->sync();  // which a stream that is being captured refuses
    copies_.push_back({caller, std::vector<int64_t>(static_cast<size_t>(count)), is_output});
    std::vector<int64_t> &numbers = copies_.back().numbers;
    backend_->copy(view_of(caller, numbers.size(), APSIS_DEVICE), view_of(numbers.data(), numbers.size(), APSIS_HOST));
    backend_->sync();
    return numbers.data();
}

const int64_t *HostArrays::input(const int64_t *array, int64_t count) { return bring(array, count, false); }
int64_t *HostArrays::output(int64_t *array, int64_t count) { return bring(array, count, true); }

void HostArrays::finish() {
    for (Copy &copy : copies_)
        if (copy.is_output)
            backend_->copy(view_of(copy.numbers.data(), copy.numbers.size(), APSIS_HOST),
                           view_of(copy.array, copy.numbers.size(), APSIS_DEVICE));
    if (!copies_.empty()) backend_->sync();
}

}  // namespace apsis
