// See shared_tiff.h.
#include "tool/mpi/shared_tiff.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>

#include "tool/io/file.h"

namespace tool {
namespace {

constexpr std::int64_t kHeaderBytes = 16, kStripBytes = 1 << 20, kLargestWrite = 1 << 30;

// TIFF's names of types: of 2, 4 and 8 bytes.
enum FieldType : std::uint16_t { kShort = 3, kLong8 = 16 };

void append(std::vector<std::uint8_t> &bytes, std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i) {
        const int place = std::endian::native == std::endian::little ? i : size - 1 - i;
        bytes.push_back(static_cast<std::uint8_t>(number >> 8 * place));
    }
}

}  // namespace

SharedTiff::SharedTiff(const Ranks &ranks, std::string path, bool overwrite, apsis_type type, const Shape &shape)
    : ranks_(ranks),
      path_(std::move(path)),
      part_(path_ + ".part"),
      type_(type),
      shape_(shape) {
    together(ranks, [&] {
        if (ranks.rank == 0 && !overwrite && access(path_.c_str(), F_OK) == 0)
            fail(quoted(path_) + " exists; --overwrite replaces it");
    });
    const int code = MPI_File_open(MPI_COMM_WORLD, part_.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file_);
    together(ranks, [&] { check(code, "cannot be made"); });
    const int emptied = MPI_File_set_size(file_, 0);
    together(ranks, [&] { check(emptied, "cannot be written"); });
}

SharedTiff::~SharedTiff() {
    if (file_ == MPI_FILE_NULL) return;
    MPI_File_close(&file_);
    if (ranks_.rank == 0) unlink(part_.c_str());
}

void SharedTiff::check(int code, const char *what) const {
    char why[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, why, &length);
    fail(quoted(part_) + " " + what + ": " + why);
}

void SharedTiff::put(const void *bytes, std::int64_t count, std::int64_t at) const {
    const auto *next = static_cast<const std::uint8_t *>(bytes);
    for (std::int64_t some; count > 0; next += some, at += some, count -= some) {
        some = std::min(count, kLargestWrite);
        check(MPI_File_write_at(file_, at, next, static_cast<int>(some), MPI_BYTE, MPI_STATUS_IGNORE), "cannot be written");
    }
}

void SharedTiff::write(const Raster &rows, std::int64_t start) {
    together(ranks_, [&] {
        if (!rows) return;
        const std::int64_t pixel = bits_of(type_) / 8;
        put(rows.row(0, 0), rows.shape().pixels() * pixel, kHeaderBytes + start * shape_.columns() * pixel);
    });
}

std::vector<std::uint8_t> SharedTiff::directory(std::int64_t page, std::int64_t at, bool is_last) const {
    constexpr int kFields = 10, kFieldBytes = 20;
    const std::int64_t row = shape_.width * bits_of(type_) / 8, first = kHeaderBytes + page * shape_.height * row;
    const std::int64_t rows = std::clamp<std::int64_t>(kStripBytes / row, 1, shape_.height);
    const std::int64_t strips = (shape_.height + rows - 1) / rows, behind = at + 8 + kFields * kFieldBytes + 8;
    const auto bytes_of = [&](std::int64_t strip) { return std::min(rows, shape_.height - strip * rows) * row; };
    std::vector<std::uint8_t> bytes;
    const auto field = [&](int tag, FieldType type, std::int64_t count, std::int64_t value) {
        append(bytes, static_cast<std::uint64_t>(tag), 2);
        append(bytes, type, 2);
        append(bytes, static_cast<std::uint64_t>(count), 8);
        append(bytes, static_cast<std::uint64_t>(value), type == kShort ? 2 : 8);
        if (type == kShort) append(bytes, 0, 6);
    };
    append(bytes, kFields, 8);
    field(256, kLong8, 1, shape_.width);
    field(257, kLong8, 1, shape_.height);
    field(258, kShort, 1, bits_of(type_));
    field(259, kShort, 1, 1);  // no compression
    field(262, kShort, 1, 1);  // 0 is black
    field(273, kLong8, strips, strips == 1 ? first : behind);
    field(277, kShort, 1, 1);  // samples a pixel
    field(278, kLong8, 1, rows);
    field(279, kLong8, strips, strips == 1 ? bytes_of(0) : behind + 8 * strips);
    field(339, kShort, 1, type_ == APSIS_F32 || type_ == APSIS_F64 ? 3 : 2);  // the format of samples
    const std::int64_t arrays = strips == 1 ? 0 : 16 * strips;
    append(bytes, is_last ? 0 : static_cast<std::uint64_t>(behind + arrays), 8);
    for (std::int64_t i = 0; arrays > 0 && i < strips; ++i)
        append(bytes, static_cast<std::uint64_t>(first + i * rows * row), 8);
    for (std::int64_t i = 0; arrays > 0 && i < strips; ++i) append(bytes, static_cast<std::uint64_t>(bytes_of(i)), 8);
    return bytes;
}

void SharedTiff::finish() {
    together(ranks_, [&] {
        if (ranks_.rank > 0) return;
        std::int64_t at = (kHeaderBytes + shape_.pixels() * (bits_of(type_) / 8) + 7) / 8 * 8;
        const bool is_little = std::endian::native == std::endian::little;
        std::vector<std::uint8_t> header(2, is_little ? 'I' : 'M');
        append(header, 43, 2);
        append(header, 8, 2);
        append(header, 0, 2);
        append(header, static_cast<std::uint64_t>(at), 8);
        put(header.data(), kHeaderBytes, 0);
        for (std::int64_t page = 0; page < shape_.depth; ++page) {
            const std::vector<std::uint8_t> bytes = directory(page, at, page + 1 == shape_.depth);
            put(bytes.data(), static_cast<std::int64_t>(bytes.size()), at);
            at += static_cast<std::int64_t>(bytes.size());
        }
    });
    int code = MPI_File_sync(file_);
    together(ranks_, [&] { check(code, "cannot be written"); });
    code = MPI_File_close(&file_);
    together(ranks_, [&] {
        check(code, "cannot be closed");
        if (ranks_.rank == 0 && std::rename(part_.c_str(), path_.c_str()) < 0)
            fail(quoted(part_) + " cannot be renamed: " + system_error(errno));
    });
}

}  // namespace tool
