// What reading and writing TIFF share: a libtiff handle that keeps its messages instead of printing them.
#pragma once

#include <tiffio.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "failure.h"

namespace tool {

/// The messages of one file.  libtiff calls these from C, so they must not throw.
struct TiffMessages {
    std::string error, warning;
    int warnings = 0;
    int system = 0;  // errno at the first error

    static int on_error(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        if (!messages->error.empty()) return 1;
        messages->system = errno;
        messages->error = printed(format, values);
        return 1;
    }
    static int on_warning(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        if (messages->warnings++ == 0) messages->warning = printed(format, values);
        return 1;
    }

    void forget() { *this = {}; }

  private:
    static std::string printed(const char *format, va_list values) {
        char line[400];
        std::vsnprintf(line, sizeof line, format, values);
        std::string text = line;
        while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
        // What comes out of a damaged file may hold anything: keep a terminal safe, and a sentence on its
        // line.
        for (char &letter : text)
            if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
        return text;
    }
};

/// Opens a descriptor, which TIFFClose will close; NULL if that fails, and then it is still the caller's.
inline TIFF *open_tiff(int descriptor, const std::string &name, const char *mode, tmsize_t largest_allocation,
                       TiffMessages &messages) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return nullptr;
    TIFFOpenOptionsSetErrorHandlerExtR(options, TiffMessages::on_error, &messages);
    TIFFOpenOptionsSetWarningHandlerExtR(options, TiffMessages::on_warning, &messages);
    if (largest_allocation > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest_allocation);
    TIFF *tiff = TIFFFdOpenExt(descriptor, name.c_str(), mode, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

}  // namespace tool
