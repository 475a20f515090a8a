// A CUDA device that is the CPU, for tests: kernels run as they are, a fiber a thread, on every machine.
//
// The blocks of a kernel run one after another.  The threads of a block take turns in an order that is random, but the same
// in every run; they change where CUDA lets them meet or wait: operations of a warp and of a block, atomics, pauses.  An
// operation is done when all lanes of its mask have come to it.  Lanes that come to different ones, read from one that does
// not take part, or have left; barriers that some threads never reach; threads that wait for each other: all end the program
// with a message.  Memory that is allocated, and the shared memory of a block, is full of rubbish.  What is not here: speed,
// and races of blocks, or of threads that never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace emulator {

struct Index {
    unsigned x = 0, y = 0, z = 0;
};
extern thread_local Index thread, block, block_size, grid_size;  // of the thread that runs

/// Whether a device would launch a kernel so (device.cpp).
bool can_launch(const void *kernel, unsigned blocks, Index threads, size_t shared_bytes);

/// Whether launches are only asked for and nothing runs: so every size can be asked about in seconds.
bool only_asks();

/// Runs a kernel, body, in every thread of every block.
void launch(unsigned blocks, Index threads, size_t shared_bytes, const std::function<void()> &body);

/// The dynamic shared memory of the block that runs.
void *shared_memory();

/// Lets other threads run: always, or now and then.
void pause();
void may_pause();

enum class Meeting { SYNC, SHUFFLE, BALLOT, MATCH, LEAST, MOST, SUM, AND, OR };

/// An operation of the lanes in mask, each with a value, and for a shuffle the lane that it reads from.
uint64_t meet(Meeting kind, unsigned mask, uint64_t value, unsigned from = 0);

/// A barrier of the block: the sum of all values.
int barrier(int value = 0);

}  // namespace emulator
