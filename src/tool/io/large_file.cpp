// See large_file.h.
#include "tool/io/large_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tool {
namespace {

constexpr off_t kPiece = 8 << 20;
constexpr size_t kAlignment = 4096;  // of what is written past the cache, in memory and in the file

/// As pwrite, but writes all or fails.
bool write_all(int descriptor, const std::uint8_t *bytes, off_t count, off_t at) {
    while (count > 0) {
        const ssize_t some = pwrite(descriptor, bytes, static_cast<size_t>(count), at);
        if (some <= 0) return false;
        bytes += some;
        count -= some;
        at += some;
    }
    return true;
}

}  // namespace

LargeFile::LargeFile(int descriptor, bool small) : descriptor_(descriptor) {
    if (!small) piece_.reset(static_cast<std::uint8_t *>(std::aligned_alloc(kAlignment, kPiece)));
}

/// Writes a full piece.  What cannot be written past the cache is written as usual.
bool LargeFile::write_piece() {
    off_t done = 0;
#ifdef O_DIRECT
    const int flags = fcntl(descriptor_, F_GETFL);
    if (direct_ && fcntl(descriptor_, F_SETFL, flags | O_DIRECT) == 0) {
        done = std::max<off_t>(pwrite(descriptor_, piece_.get(), kPiece, start_), 0);
        fcntl(descriptor_, F_SETFL, flags);
    }
    direct_ = done == kPiece;
#endif
    if (!write_all(descriptor_, piece_.get() + done, kPiece - done, start_ + done)) return false;
    start_ += kPiece;
    used_ = 0;
    return true;
}

ssize_t LargeFile::write(const void *bytes, size_t count, off_t at) {
    if (!piece_ || at < start_ || at > start_ + used_) return flush() ? pwrite(descriptor_, bytes, count, at) : -1;
    const off_t some = std::min(static_cast<off_t>(count), start_ + kPiece - at);
    std::memcpy(piece_.get() + (at - start_), bytes, static_cast<size_t>(some));
    used_ = std::max(used_, at - start_ + some);
    return used_ < kPiece || write_piece() ? some : -1;
}

ssize_t LargeFile::read(void *bytes, size_t count, off_t at) { return flush() ? pread(descriptor_, bytes, count, at) : -1; }

off_t LargeFile::size() const {
    struct stat known;
    return std::max(start_ + used_, fstat(descriptor_, &known) < 0 ? off_t{0} : known.st_size);
}

bool LargeFile::flush() { return !piece_ || write_all(descriptor_, piece_.get(), used_, start_); }

}  // namespace tool
