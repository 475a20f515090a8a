// The command's reader: see reader.h.
#include "reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "tool/failure.h"
#include "tool/io/raster.h"
#include "tool/set.h"

namespace {

using namespace tool;

/// More pixels than these are slow to read, and nothing else.
constexpr std::int64_t kMostPixels = 1 << 20, kMostPages = 64;

int descriptor() {
    static const int file = memfd_create("memory.tif", MFD_CLOEXEC);
    if (file < 0) std::abort();
    return file;
}

void check_sizes(const PageReader &reader) {
    const auto pages = static_cast<std::int64_t>(reader.pages().size());
    if (pages > kMostPages) fail("too many pages to fuzz");
    for (const TiffPage &page : reader.pages()) {
        std::int64_t pixels = 0;
        if (__builtin_mul_overflow(page.width, page.height, &pixels) || pixels > kMostPixels / pages)
            fail("too many pixels to fuzz");
    }
}

/// One page after the other, all rows together.
std::uint8_t *bytes_of(const Raster &raster) {
    const Shape &shape = raster.shape();
    auto *marks = static_cast<std::uint8_t *>(std::malloc(static_cast<size_t>(shape.pixels()) + 1));
    std::uint8_t *mark = marks;
    for (std::int64_t z = 0; z < shape.depth; ++z)
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x) *mark++ = raster.row(y, z)[x / 8] >> (x % 8) & 1;
    return marks;
}

/// What `read` makes of a file; `refused` says why that is nothing.
template <class Read>
void attempt(char *refused, size_t room, Read read) {
    limit_memory(std::int64_t{1} << 30);  // whatever this machine has
    try {
        read();
    } catch (const Failure &failure) {
        std::snprintf(refused, room, "%s", failure.sentence.c_str());
    } catch (const std::bad_alloc &) {
        std::snprintf(refused, room, "memory ran out");
    }
}

}  // namespace

const char *memory_file() {
    static const std::string path = "/proc/self/fd/" + std::to_string(descriptor());
    return path.c_str();
}

void fill_memory_file(const std::uint8_t *bytes, size_t size) {
    if (ftruncate(descriptor(), 0) != 0 || pwrite(descriptor(), bytes, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

ReadSet read_file(const char *path, const std::int64_t *threshold, bool tolerate) {
    ReadSet got = {};
    attempt(got.refused, sizeof got.refused, [&] {
        InputSettings settings;
        settings.tolerate = tolerate;
        if (threshold) settings.threshold = *threshold;
        Progress progress(ProgressMode::kNever, true);
        check_sizes(*open_pages(path, tolerate, 1));
        SetFile file(path, settings, 1);
        const BinaryImage image = file.read(progress);
        const Shape &shape = file.shape();
        got.width = shape.width, got.height = shape.height, got.pages = file.pages(), got.sites = image.sites;
        got.orientation = file.tags().orientation;
        got.marks = bytes_of(image.marks);
    });
    return got;
}

std::int64_t count_file(const char *path) {
    std::int64_t count = 0;
    char refused[400] = "";
    attempt(refused, sizeof refused, [&] {
        const std::unique_ptr<PageReader> reader = open_pages(path, false, 1);
        check_sizes(*reader);
        for (size_t page = 0; page < reader->pages().size(); ++page) {
            if (const std::string why = unusable(reader->pages()[page]); !why.empty()) fail(why);
            count += count_nonzero(*reader, page, [](double) {});
        }
    });
    return refused[0] ? -1 : count;
}
