// The queue of tasks that all fields share, and the lists of far tiles.
//
// A block that passes a value to a neighbouring tile writes the cells first, then lowers the tile's `pending`.  A block that
// takes a task takes `pending` first, then reads the cells.  So nothing is missed.  A tile waits only once: the block that
// finds NONE in `pending`, or makes a far tile near, queues it.  A far tile stays in its list until the list is looked through.
//
// A field is `busy` as long as one of its tasks is in the queue or in work.  The block that ends its last task is alone with
// the field: it raises the threshold and queues the tiles that have become near.  If there are none, the field is done; when
// the last field is done, every block gets the task LEAVE.
#pragma once

#include "cuda/paths/field.h"

namespace apsis::cuda::paths {

constexpr int64_t MOST_RESIDENT = 1 << 13;  // blocks that take tasks: more than a device runs at once

/// Numbers that a place of the queue may hold instead of a task.
constexpr uint32_t NO_TASK = ~0u, LEAVE = ~0u - 1;

/// Four cells side by side in a row of a tile.
template <class Value>
struct alignas(16) FourCells {
    Value of[4];
};

__device__ inline int32_t atomic_min(int32_t *to, int32_t value) { return atomicMin(to, value); }
__device__ inline int64_t atomic_min(int64_t *to, int64_t value) {
    return static_cast<int64_t>(atomicMin(reinterpret_cast<long long *>(to), static_cast<long long>(value)));
}
__device__ inline int32_t atomic_exchange(int32_t *to, int32_t value) { return atomicExch(to, value); }
__device__ inline int64_t atomic_exchange(int64_t *to, int64_t value) {
    return static_cast<int64_t>(atomicExch(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value)));
}

/// A task is the number of its tile among all tiles of all fields.
template <class Value>
__device__ uint32_t field_of(const FieldTasks<Value> &tasks, uint32_t task) {
    return tasks.fields == 1 ? 0 : task / static_cast<uint32_t>(tasks.shape.tiles());
}

/// The threshold: tiles that wait with less are near.
template <class Value>
__device__ Value near_threshold(Value least, Value span) {
    constexpr Value NONE = Lengths<Value>::NONE;
    return least < NONE - span ? least + span : NONE;
}

/// Puts a task into the queue.  The place may still be full, while the block with its ticket is about to empty it.
template <class Value>
__device__ void put_in_queue(const FieldTasks<Value> &tasks, uint32_t task) {
    const uint32_t ticket = atomicAdd(&tasks.counters->tail, 1u);
    while (atomicCAS(tasks.queue + (ticket & (tasks.queue_size - 1)), NO_TASK, task) != NO_TASK) {
    }
}

/// Counts a task and puts it into the queue.  The caller has a task of the field itself or is alone with it; so the field does
/// not count as idle before the task is counted.
template <class Value>
__device__ void queue_task(const FieldTasks<Value> &tasks, uint32_t field, uint32_t task) {
    atomicAdd(&tasks.field[field].busy, 1u);
    put_in_queue(tasks, task);
}

/// Takes the next task; waits until there is one.
template <class Value>
__device__ uint32_t take_task(const FieldTasks<Value> &tasks) {
    constexpr unsigned PAUSE = 40;  // nanoseconds: some hundred waiting blocks do not keep memory busy
    volatile uint32_t *const place = tasks.queue + (atomicAdd(&tasks.counters->head, 1u) & (tasks.queue_size - 1));
    uint32_t task;
    while ((task = *place) == NO_TASK) __nanosleep(PAUSE);
    __threadfence();
    *place = NO_TASK;
    return task;
}

/// One of the two lists of a field.
template <class Value>
__device__ uint32_t *list_of(const FieldTasks<Value> &tasks, uint32_t field, uint32_t turn) {
    return tasks.far_tiles + (turn ? tasks.tasks() : 0) + int64_t(field) * tasks.shape.tiles();
}

/// Puts a waiting tile into its field's list, unless it is still there from before.
template <class Value>
__device__ void list_far(const FieldTasks<Value> &tasks, uint32_t field, uint32_t task) {
    const uint32_t bit = 1u << task % 32;
    if (atomicOr(tasks.is_listed + task / 32, bit) & bit) return;
    typename FieldTasks<Value>::Field &own = tasks.field[field];
    const uint32_t turn = __ldcg(&own.turn), place = atomicAdd(&own.list_size[turn], 1u);
    __stcg(list_of(tasks, field, turn) + place, task);
}

/// Something has changed at the rim of a tile, with values from `key` on.  The caller has written it and made a fence.  Returns
/// whether the caller has to queue the tile, or to work on it itself.
template <class Value>
__device__ bool wake(const FieldTasks<Value> &tasks, uint32_t field, uint32_t task, Value key) {
    constexpr Value NONE = Lengths<Value>::NONE;
    const Value before = atomic_min(tasks.pending + task, key), threshold = __ldcg(&tasks.field[field].threshold);
    if (key >= before) return false;
    if (key < threshold) return before == NONE || before >= threshold;
    if (before == NONE) list_far(tasks, field, task);
    return false;
}

/// Warp, with cells side by side in a tile, before a field begins: if a lane's cell is a source, the tile waits.
template <class Value>
__device__ void begin_at(const FieldTasks<Value> &tasks, int64_t cell, bool is_source, Value key = 0) {
    const unsigned here = __activemask();
    if (!__any_sync(here, is_source) || __ffs(here) - 1 != threadIdx.x % WARP) return;
    const uint32_t task = static_cast<uint32_t>(cell / tasks.shape.tile_cells());
    wake(tasks, field_of(tasks, task), task, key);
}

/// Block: makes the far tiles near that lie within `span` of the nearest one.  Queues all of them except the first, which it
/// returns; NO_TASK if nothing waits.  The block is alone with the field until it queues a tile.
template <class Value, int THREADS>
__device__ uint32_t queue_near_tiles(const FieldTasks<Value> &tasks, uint32_t field, Value span) {
    __shared__ Value least;
    __shared__ uint32_t near, kept;
    constexpr Value NONE = Lengths<Value>::NONE;
    typename FieldTasks<Value>::Field &own = tasks.field[field];
    const uint32_t turn = __ldcg(&own.turn), count = __ldcg(&own.list_size[turn]);
    uint32_t *const list = list_of(tasks, field, turn), *const other = list_of(tasks, field, !turn);
    if (threadIdx.x == 0) least = NONE, near = kept = 0;
    __syncthreads();
    uint32_t task = 0;
    Value key = NONE, own_least = NONE;
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        task = __ldcg(list + i);
        key = __ldcg(tasks.pending + task);
        own_least = min(own_least, key);
    }
    if (own_least < NONE) atomic_min(&least, own_least);
    __syncthreads();
    if (least == NONE) return NO_TASK;
    const Value threshold = near_threshold(least, span);
    for (uint32_t start = 0; start < count; start += THREADS) {
        const uint32_t i = start + threadIdx.x;
        if (count > THREADS) {  // otherwise each thread still has its tile
            task = i < count ? __ldcg(list + i) : 0;
            key = i < count ? __ldcg(tasks.pending + task) : NONE;
            __syncthreads();  // the list has been read; near tiles go to its front
        }
        if (i < count && (key == NONE || key < threshold)) atomicAnd(tasks.is_listed + task / 32, ~(1u << task % 32));
        if (key < threshold)
            __stcg(list + atomicAdd(&near, 1u), task);
        else if (key < NONE)
            __stcg(other + atomicAdd(&kept, 1u), task);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __stcg(&own.threshold, threshold);
        __stcg(&own.turn, uint32_t(!turn));
        __stcg(&own.list_size[turn], 0u);
        __stcg(&own.list_size[!turn], kept);
    }
    __syncthreads();
    __threadfence();
    for (uint32_t i = 1 + threadIdx.x; i < near; i += THREADS) queue_task(tasks, field, __ldcg(list + i));
    return __ldcg(list);
}

/// For a caller whose task is the field's only one, and that goes on with values from `least` on.  If no tile waits in a list
/// either, raises the threshold.  Returns the threshold.
template <class Value>
__device__ Value continue_alone(const FieldTasks<Value> &tasks, uint32_t field, Value least, Value span) {
    typename FieldTasks<Value>::Field &own = tasks.field[field];
    __threadfence();  // other blocks have listed their tiles before they left
    Value threshold = __ldcg(&own.threshold);
    if ((__ldcg(&own.list_size[0]) | __ldcg(&own.list_size[1])) == 0)
        __stcg(&own.threshold, threshold = near_threshold(least, span));
    return threshold;
}

/// Block: has no more work in a field, or begins it.  Returns a task of the field for this block, or NO_TASK.
template <class Value, int THREADS>
__device__ uint32_t leave_field(const FieldTasks<Value> &tasks, uint32_t field, Value span) {
    __shared__ bool is_last, is_end;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicSub(&tasks.field[field].busy, 1u) == 1;
        if (is_last) __stcg(&tasks.field[field].busy, 1u);
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return NO_TASK;
    const uint32_t task = queue_near_tiles<Value, THREADS>(tasks, field, span);
    if (task != NO_TASK) return task;
    if (threadIdx.x == 0) is_end = atomicSub(&tasks.counters->fields_left, 1u) == 1;
    __syncthreads();
    for (uint32_t i = threadIdx.x; is_end && i < gridDim.x; i += THREADS) put_in_queue(tasks, LEAVE);
    return NO_TASK;
}

/// Block: its next task: first from fields that have not begun, then from the queue.
template <class Value, int THREADS>
__device__ uint32_t next_task(const FieldTasks<Value> &tasks, bool &all_begun, Value span) {
    __shared__ uint32_t next;
    while (!all_begun) {
        __syncthreads();
        if (threadIdx.x == 0) next = atomicAdd(&tasks.counters->fields_begun, 1u);
        __syncthreads();
        const uint32_t field = next;
        all_begun = field >= tasks.fields;
        const uint32_t task = all_begun ? NO_TASK : leave_field<Value, THREADS>(tasks, field, span);
        if (task != NO_TASK) return task;
    }
    __syncthreads();
    if (threadIdx.x == 0) next = take_task(tasks);
    __syncthreads();
    return next;
}

}  // namespace apsis::cuda::paths
