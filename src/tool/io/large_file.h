// A file that is written from its start to its end, but for some places.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tool {

/// Gathers what is appended, and writes it in large pieces past the system's cache of files.  On a virtual disk that is ten
/// times as fast as to let the system write its cache back (1.4 GB/s, 0.14 GB/s), and the cache keeps the files of others.
/// Calls return -1 with errno, as pwrite does.
class LargeFile {
  public:
    /// Gathers nothing if the file is likely to be small.
    LargeFile(int descriptor, bool small);

    ssize_t write(const void *bytes, size_t count, off_t at);
    ssize_t read(void *bytes, size_t count, off_t at);
    off_t size() const;
    /// Writes what is gathered.
    bool flush();

  private:
    bool write_piece();

    struct Free {
        void operator()(std::uint8_t *memory) const { std::free(memory); }
    };
    int descriptor_;
    std::unique_ptr<std::uint8_t, Free> piece_;  // of the file, from start_ on
    off_t start_ = 0, used_ = 0;
    bool direct_ = true;
};

}  // namespace tool
