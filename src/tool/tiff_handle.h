// What reading and writing TIFF share: a libtiff handle that keeps its messages instead of printing them.
#pragma once

#include <tiffio.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "failure.h"

namespace tool {

/// The first messages of one file.  libtiff calls these from C, so they must not throw: they allocate nothing.
struct TiffMessages {
    char error[400] = "", warning[400] = "";
    int warnings = 0;
    int system = 0;  // errno at the first error
    bool sizes_guessed = false;  // the sizes of strips, since those in the file cannot be

    static int on_error(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        if (messages->error[0]) return 1;
        messages->system = errno;
        print(messages->error, format, values);
        return 1;
    }
    static int on_warning(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        // Codes of an older kind are as good as others.
        if (!std::strncmp(format, "Old-style LZW", 13)) return 1;
        if (std::strstr(format, "ignoring and calculating from imagelength")) messages->sizes_guessed = true;
        if (messages->warnings++ == 0) print(messages->warning, format, values);
        return 1;
    }
    /// A warning of our own.
    void warn(const char *sentence) {
        if (warnings++ == 0) std::snprintf(warning, sizeof warning, "%s", sentence);
    }

    void forget() { *this = {}; }

  private:
    template <size_t size>
    static void print(char (&line)[size], const char *format, va_list values) {
        std::vsnprintf(line, size, format, values);
        for (size_t end = std::strlen(line); end > 0 && (line[end - 1] == '.' || line[end - 1] == '\n'); --end)
            line[end - 1] = 0;
        // What comes out of a damaged file may hold anything: keep a terminal safe, and a sentence on its
        // line.
        for (char *letter = line; *letter; ++letter)
            if (*letter < ' ' || *letter > '~') *letter = '?';
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
