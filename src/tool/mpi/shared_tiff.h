// An uncompressed BigTIFF file that all ranks write, each its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/io/raster.h"
#include "tool/mpi/together.h"

namespace tool {

/// The pixels follow the header in their order, so that a rank knows where its own are; behind them are the directories, which
/// rank 0 writes.  The file has another name until finish().  Every function is called by all ranks.
class SharedTiff {
  public:
    SharedTiff(const Ranks &ranks, std::string path, bool overwrite, apsis_type type, const Shape &shape);
    ~SharedTiff();
    SharedTiff(const SharedTiff &) = delete;
    SharedTiff &operator=(const SharedTiff &) = delete;

    /// Writes the rows of this rank, in 3-D planes, from `start` on.
    void write(const Raster &rows, std::int64_t start);
    /// Writes what is around the pixels, and gives the file its name.
    void finish();

  private:
    void put(const void *bytes, std::int64_t count, std::int64_t at) const;
    std::vector<std::uint8_t> directory(std::int64_t page, std::int64_t at, bool is_last) const;
    void check(int code, const char *what) const;

    const Ranks &ranks_;
    std::string path_, part_;
    apsis_type type_;
    Shape shape_;
    MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace tool
