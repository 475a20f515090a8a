// Deliberate faults of kernels, which the emulated device must report: kernels FAULT.
//
// Each is one that a GPU may pass over in silence, or answers by hanging.  A fault that goes unreported ends with code 0.
#include <cuda_runtime.h>

#include <cstdio>
#include <string_view>

namespace {

constexpr unsigned ALL = ~0u;

/// Threads return before a barrier that the others come to.
void barrier_passed_by() {
    if (threadIdx.x >= 32) return;
    __syncthreads();
}

/// A shuffle reads from a lane that its mask leaves out.
void shuffle_from_missing_lane() {
    if (threadIdx.x >= 16) return;
    __shfl_sync(0xffff, threadIdx.x, 20);
}

/// An operation of a warp names a lane that has returned.
void lane_has_left() {
    if (threadIdx.x == 5) return;
    __syncwarp(ALL);
}

/// Half of a warp asks for one thing, half for another.
void different_operations() {
    if (threadIdx.x < 16)
        __ballot_sync(ALL, true);
    else
        __syncwarp(ALL);
}

/// Some lanes are at a barrier, and the first one wants them for a vote.
void barrier_and_vote() {
    if (threadIdx.x < 16)
        __ballot_sync(ALL, true);
    else
        __syncthreads();
}

/// A lane takes part in an operation that its own mask leaves out.
void not_in_its_mask() { __syncwarp(0xffff); }

/// The first lane of a warp is at a barrier, the others want it for a vote.
void waiting_for_each_other() {
    if (threadIdx.x == 0)
        __syncthreads();
    else if (threadIdx.x < 32)
        __ballot_sync(ALL, true);
}

}  // namespace

int main(int argc, char **argv) {
    const struct {
        std::string_view name;
        void (*run)();
    } faults[] = {{"barrier-passed-by", barrier_passed_by},
                  {"shuffle-from-missing-lane", shuffle_from_missing_lane},
                  {"lane-has-left", lane_has_left},
                  {"different-operations", different_operations},
                  {"barrier-and-vote", barrier_and_vote},
                  {"not-in-its-mask", not_in_its_mask},
                  {"waiting-for-each-other", waiting_for_each_other}};
    for (const auto &fault : faults)
        if (argc == 2 && fault.name == argv[1]) {
            emulator::launch(1, {64, 1, 1}, 0, fault.run);
            return 0;
        }
    return 2;
}
