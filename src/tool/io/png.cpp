// Writes PNG through libpng, which reports errors by longjmp: no C++ object lives across one here.
#include "tool/io/png.h"

#include "tool/failure.h"

#ifdef APSIS_TOOL_PNG
#include <png.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <vector>

namespace tool {
namespace {

struct Sink {
    int descriptor;
    char error[200];
};

void on_error(png_structp png, png_const_charp message) {
    auto *sink = static_cast<Sink *>(png_get_error_ptr(png));
    if (!sink->error[0]) std::snprintf(sink->error, sizeof sink->error, "%s", message);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void put(png_structp png, png_bytep data, size_t size) {
    auto *sink = static_cast<Sink *>(png_get_io_ptr(png));
    while (size > 0) {
        const ssize_t put_now = write(sink->descriptor, data, size);
        if (put_now < 0 && errno == EINTR) continue;
        if (put_now < 0) {
            std::snprintf(sink->error, sizeof sink->error, "%s", system_error(errno).c_str());
            png_error(png, "");
        }
        data += put_now;
        size -= static_cast<size_t>(put_now);
    }
}

void flush(png_structp) {}

/// One step of libpng, whose errors come back as false.
template <class Step>
bool done(png_structp png, Step step) {
    if (setjmp(png_jmpbuf(png))) return false;
    step();
    return true;
}

struct Writer {
    Sink sink = {};
    png_structp png = nullptr;
    png_infop info = nullptr;

    ~Writer() { png_destroy_write_struct(&png, &info); }
};

}  // namespace

bool has_png() { return true; }

void write_png(const Picture &picture, OutputFile &file, const Report &report) {
    file.create();
    std::vector<std::uint8_t> row(static_cast<size_t>(3 * picture.width));
    Writer writer;
    writer.sink.descriptor = file.descriptor();
    png_structp png = writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.sink, on_error, on_warning);
    png_infop info = writer.info = png ? png_create_info_struct(png) : nullptr;
    if (!info) throw Failure{kStatus + APSIS_ERROR_MEMORY, "no memory for a PNG file"};
    const auto check = [&](bool well) {
        if (!well) fail("cannot write " + quoted(file.path()) + ": " + writer.sink.error);
    };
    check(done(png, [&] {
        png_set_write_fn(png, &writer.sink, put, flush);
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
void write_png(const Picture &, OutputFile &, const Report &) { fail("this build has no libpng"); }

}  // namespace tool
#endif
