// The fake device's memory: see fake_memory.h.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace fake {
namespace {

constexpr size_t RESERVED = size_t(1) << 38;  // address space, not memory
constexpr size_t ALIGNMENT = 256;

struct Block {
    uintptr_t pages, data;
    size_t page_bytes, bytes;
    int opened = 0;
};

// Never destroyed: contexts may outlive static objects.
std::mutex &lock = *new std::mutex;
std::map<uintptr_t, Block> &blocks = *new std::map<uintptr_t, Block>;  // by first page
uintptr_t arena = 0, next_page = 0;

[[noreturn]] void die(const char *what, const void *data) {
    std::fprintf(stderr, "fake device: %s %p\n", what, data);
    std::abort();
}

/// What is still there when the program ends was leaked.
struct AtExit {
    ~AtExit() {
        if (blocks.empty()) return;
        std::fprintf(stderr, "fake device: %zu allocations were never released\n", blocks.size());
        std::_Exit(1);
    }
} at_exit;

size_t page_size() {
    static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

bool reserve_arena() {
    if (arena) return true;
    void *space = mmap(nullptr, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return false;
    arena = next_page = reinterpret_cast<uintptr_t>(space);
    return true;
}

void protect(const Block &block, int how) {
    if (mprotect(reinterpret_cast<void *>(block.pages), block.page_bytes, how) != 0)
        die("mprotect fails at", reinterpret_cast<void *>(block.pages));
}

/// The block around an address, or null.
Block *find(uintptr_t at) {
    auto after = blocks.upper_bound(at);
    if (after == blocks.begin()) return nullptr;
    Block &block = std::prev(after)->second;
    return at < block.pages + block.page_bytes ? &block : nullptr;
}

}  // namespace

void *allocate(size_t bytes) {
    std::lock_guard hold(lock);
    const size_t page = page_size();
    const size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > RESERVED / 2 || !reserve_arena()) return nullptr;
    Block block{};
    block.page_bytes = (rounded + page - 1) / page * page;
    if (block.page_bytes == 0) block.page_bytes = page;
    if (next_page + block.page_bytes + 2 * page > arena + RESERVED) return nullptr;
    block.pages = next_page + page;  // a guard page before; the one behind is the next block's
    next_page = block.pages + block.page_bytes;
    block.data = block.pages + block.page_bytes - rounded;  // as near to the guard page behind as alignment allows
    block.bytes = bytes;
    protect(block, PROT_READ | PROT_WRITE);
    std::memset(reinterpret_cast<void *>(block.pages), POISON, block.page_bytes);
    protect(block, PROT_NONE);
    blocks[block.pages] = block;
    return reinterpret_cast<void *>(block.data);
}

void release(void *data, size_t bytes) {
    std::lock_guard hold(lock);
    Block *block = find(reinterpret_cast<uintptr_t>(data));
    if (!block || block->data != reinterpret_cast<uintptr_t>(data)) die("released, but never allocated:", data);
    if (block->bytes != bytes) die("released with another size than allocated:", data);
    if (block->opened) die("released while in use:", data);
    protect(*block, PROT_READ);
    const uint8_t *page = reinterpret_cast<const uint8_t *>(block->pages);
    const size_t before = block->data - block->pages;
    for (size_t i = 0; i < block->page_bytes; ++i)
        if ((i < before || i >= before + bytes) && page[i] != POISON) die("written outside of", data);
    // The pages go back to the host; the addresses stay reserved, and fault.
    if (mmap(reinterpret_cast<void *>(block->pages), block->page_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        die("cannot give back", data);
    blocks.erase(block->pages);
}

bool owns(const void *data, size_t bytes) {
    std::lock_guard hold(lock);
    const uintptr_t at = reinterpret_cast<uintptr_t>(data);
    const Block *block = find(at);
    return block && at >= block->data && bytes <= block->data + block->bytes - at;
}

bool touches(const void *data, size_t bytes) {
    std::lock_guard hold(lock);
    const uintptr_t at = reinterpret_cast<uintptr_t>(data);
    return arena && at < arena + RESERVED && at + bytes > arena;
}

Opened::Opened(const void *data) : start_(0) {
    std::lock_guard hold(lock);
    Block *block = find(reinterpret_cast<uintptr_t>(data));
    if (!block) die("used after it was released:", data);
    if (block->opened++ == 0) protect(*block, PROT_READ | PROT_WRITE);
    start_ = block->pages;
}

Opened::~Opened() {
    if (!start_) return;
    std::lock_guard hold(lock);
    Block *block = find(start_);
    if (--block->opened == 0) protect(*block, PROT_NONE);
}

std::vector<Opened> opened_arrays(std::initializer_list<const int64_t *> arrays) {
    std::vector<Opened> open;
    for (const int64_t *array : arrays)
        if (array && touches(array, 1)) open.emplace_back(array);
    return open;
}

}  // namespace fake
