// Reads and writes PNG through libpng, which reports errors by longjmp: no C++ object lives across one here.
#include "tool/io/png.h"

#include "tool/failure.h"

#ifdef APSIS_TOOL_PNG
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <utility>
#include <vector>

namespace tool {
namespace {

constexpr std::int64_t kBytesAtOnce = 1 << 20;  // rows that are read before they are passed on
constexpr double kMostInflated = 1032;          // bytes that Deflate can make of one

struct Stream {
    int descriptor;
    off_t at;  // of what is read next
    char error[200];
};

void on_error(png_structp png, png_const_charp message) {
    auto *stream = static_cast<Stream *>(png_get_error_ptr(png));
    if (!stream->error[0]) std::snprintf(stream->error, sizeof stream->error, "%s", message);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void put(png_structp png, png_bytep data, size_t size) {
    auto *stream = static_cast<Stream *>(png_get_io_ptr(png));
    while (size > 0) {
        const ssize_t put_now = write(stream->descriptor, data, size);
        if (put_now < 0 && errno == EINTR) continue;
        if (put_now < 0) {
            std::snprintf(stream->error, sizeof stream->error, "%s", system_error(errno).c_str());
            png_error(png, "");
        }
        data += put_now;
        size -= static_cast<size_t>(put_now);
    }
}

void flush(png_structp) {}

void get(png_structp png, png_bytep data, size_t size) {
    auto *stream = static_cast<Stream *>(png_get_io_ptr(png));
    while (size > 0) {
        const ssize_t got = pread(stream->descriptor, data, size, stream->at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) std::snprintf(stream->error, sizeof stream->error, "%s", system_error(errno).c_str());
        if (got <= 0) png_error(png, "it ends too early");
        data += got, stream->at += got;
        size -= static_cast<size_t>(got);
    }
}

/// One step of libpng, whose errors come back as false.
template <class Step>
bool done(png_structp png, Step step) {
    if (setjmp(png_jmpbuf(png))) return false;
    step();
    return true;
}

struct Writer {
    Stream stream = {};
    png_structp png = nullptr;
    png_infop info = nullptr;

    ~Writer() { png_destroy_write_struct(&png, &info); }
};

struct Reader {
    Stream stream = {};
    png_structp png = nullptr;
    png_infop info = nullptr;

    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

class PngReader final : public PageReader {
  public:
    explicit PngReader(const std::string &path);

    std::int64_t rows_at_once(size_t) const override { return rows_; }
    std::int64_t reading_bytes(size_t) const override { return rows_ * row_bytes_; }
    void read(size_t, std::int64_t from, std::int64_t to, const BlockSink &sink, const RowsReport &report) override;

  private:
    [[noreturn]] void refuse(const std::string &why) const { fail("cannot read " + quoted(path_) + ": " + why); }
    void open(Reader &reader) const;
    std::unique_ptr<Reader> start();

    std::string path_;
    InputFile file_;
    std::int64_t row_bytes_ = 0, rows_ = 0;  // so many at once
    std::unique_ptr<Reader> reader_;         // has read the rows before next_, if it has not come to the end
    std::int64_t next_ = 0;
    int passes_ = 1;  // over all rows, if they are interlaced
};

PngReader::PngReader(const std::string &path) : path_(path), file_(path) {
    Reader reader;
    open(reader);
    const auto [png, info] = std::pair(reader.png, reader.info);
    TiffPage page = {};
    page.width = png_get_image_width(png, info);
    page.height = png_get_image_height(png, info);
    page.bits = png_get_bit_depth(png, info);
    page.samples = png_get_channels(png, info);
    page.format = SampleFormat::kUnsigned;
    const int colour = png_get_color_type(png, info);
    page.photometric = colour == PNG_COLOR_TYPE_PALETTE ? kPalette : colour & PNG_COLOR_MASK_COLOR ? kRgb : kMinIsBlack;
    pages_ = {page};
    row_bytes_ = static_cast<std::int64_t>(png_get_rowbytes(png, info));
    const bool interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    rows_ = interlaced ? page.height : std::clamp<std::int64_t>(kBytesAtOnce / row_bytes_, 1, page.height);
    // A damaged file may claim anything.
    const double bytes = static_cast<double>(row_bytes_) * static_cast<double>(page.height);
    if (bytes > static_cast<double>(file_.size()) * kMostInflated)
        refuse("it has only " + std::to_string(file_.size()) + " bytes for " + std::to_string(page.width) + " x " +
               std::to_string(page.height) + " pixels");
}

/// Reads what stands before the samples.
void PngReader::open(Reader &reader) const {
    reader.stream.descriptor = file_.descriptor();
    png_structp png = reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader.stream, on_error, on_warning);
    png_infop info = reader.info = png ? png_create_info_struct(png) : nullptr;
    if (!info) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory to read a PNG file"};
    const bool well = done(png, [&] {
        png_set_read_fn(png, &reader.stream, get);
        png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_read_info(png, info);
        if (std::endian::native == std::endian::little) png_set_swap(png);  // samples of 16 bits
    });
    if (!well) refuse(reader.stream.error);
}

/// A reader that is at the first row.
std::unique_ptr<Reader> PngReader::start() {
    auto reader = std::make_unique<Reader>();
    open(*reader);
    next_ = 0;
    png_structp png = reader->png;
    const bool well = done(png, [&] {
        passes_ = png_set_interlace_handling(png);
        png_start_read_image(png);
    });
    if (!well) refuse(reader->stream.error);
    return reader;
}

void PngReader::read(size_t, std::int64_t from, std::int64_t to, const BlockSink &sink, const RowsReport &report) {
    const TiffPage &page = pages_[0];
    const Memory memory = allocate(row_bytes_, rows_, "rows of " + quoted(path_));
    std::unique_ptr<Reader> reader = std::move(reader_);
    if (!reader || from < next_) reader = start();
    png_structp png = reader->png;
    const auto check = [&](bool well) {
        if (!well) refuse(reader->stream.error);
    };
    while (next_ < to) {
        const std::int64_t y = next_, rows = std::min(rows_, page.height - y);
        next_ += rows;
        check(done(png, [&] {
            for (int pass = 0; pass < passes_; ++pass)
                for (std::int64_t row = 0; row < rows; ++row) png_read_row(png, memory.get() + row * row_bytes_, nullptr);
        }));
        if (y + rows <= from) continue;
        sink({0, y, page.width, rows, memory.get(), row_bytes_});
        report(y + rows);
    }
    if (to < page.height)
        reader_ = std::move(reader);
    else
        check(done(png, [&] { png_read_end(png, nullptr); }));
    if (file_.changed()) refuse("it has changed meanwhile");
}

}  // namespace

bool has_png() { return true; }

std::unique_ptr<PageReader> open_png(const std::string &path) {
    const InputFile file(path);
    png_byte head[4];
    const bool is_png = pread(file.descriptor(), head, sizeof head, 0) == sizeof head && png_sig_cmp(head, 0, sizeof head) == 0;
    return is_png ? std::make_unique<PngReader>(path) : nullptr;
}

void write_png(const Picture &picture, OutputFile &file, const Report &report) {
    file.create();
    std::vector<std::uint8_t> row(static_cast<size_t>(3 * picture.width));
    Writer writer;
    writer.stream.descriptor = file.descriptor();
    png_structp png = writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.stream, on_error, on_warning);
    png_infop info = writer.info = png ? png_create_info_struct(png) : nullptr;
    if (!info) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory for a PNG file"};
    const auto check = [&](bool well) {
        if (!well) fail("cannot write " + quoted(file.path()) + ": " + writer.stream.error);
    };
    check(done(png, [&] {
        png_set_write_fn(png, &writer.stream, put, flush);
        png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height), 8,
                     PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
        png_write_info(png, info);
    }));
    for (std::int64_t y = 0; y < picture.height; ++y) {
        picture.rows(y, row.data());
        check(done(png, [&] { png_write_row(png, row.data()); }));
        report(static_cast<double>(y + 1) / static_cast<double>(picture.height));
    }
    check(done(png, [&] { png_write_end(png, info); }));
    file.sync();
}

}  // namespace tool

#else

namespace tool {

bool has_png() { return false; }
std::unique_ptr<PageReader> open_png(const std::string &) { return nullptr; }
void write_png(const Picture &, OutputFile &, const Report &) { fail("this build has no libpng"); }

}  // namespace tool
#endif
