// For reading and writing TIFF: a libtiff handle that keeps libtiff's messages instead of printing them.
#pragma once

#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tool/failure.h"

namespace tool {

/// The first messages of one file.  libtiff calls the handlers from C, so they must not throw: they allocate nothing.
struct TiffMessages {
    char error[400] = "", warning[400] = "";
    int warnings = 0;
    int system = 0;              // errno at the first error
    bool sizes_guessed = false;  // libtiff has guessed the sizes of strips, since the file's are impossible

    static int on_error(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        if (messages->error[0]) return 1;
        messages->system = errno;
        print(messages->error, format, values);
        return 1;
    }
    static int on_warning(TIFF *, void *user, const char *, const char *format, va_list values) {
        auto *messages = static_cast<TiffMessages *>(user);
        // Older codes are read as well as others.
        if (!std::strncmp(format, "Old-style LZW", 13)) return 1;
        if (std::strstr(format, "ignoring and calculating from imagelength")) messages->sizes_guessed = true;
        if (messages->warnings++ == 0) print(messages->warning, format, values);
        return 1;
    }
    /// Adds a warning that is not libtiff's.
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
        // Text from a damaged file may hold any bytes.  Only printable ones are safe for a terminal, and stay on one line.
        for (char *letter = line; *letter; ++letter)
            if (*letter < ' ' || *letter > '~') *letter = '?';
    }
};

// File functions for libtiff, like its own, except that a failed read returns 0.  Where libtiff's own return -1, libtiff 4.5
// clears the byte before its buffer.

inline int descriptor_of(thandle_t file) { return static_cast<int>(reinterpret_cast<intptr_t>(file)); }

inline tmsize_t transfer(ssize_t (*call)(int, char *, size_t), thandle_t file, void *bytes, tmsize_t size) {
    tmsize_t done = 0;
    while (done < size) {
        const ssize_t some = call(descriptor_of(file), static_cast<char *>(bytes) + done, static_cast<size_t>(size - done));
        if (some <= 0) break;
        done += some;
    }
    return done;
}

/// Opens a TIFF file on a descriptor, which TIFFClose closes.  Returns NULL on failure; then the caller must close it.
inline TIFF *open_tiff(int descriptor, const std::string &name, const char *mode, tmsize_t largest_allocation,
                       TiffMessages &messages) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return nullptr;
    TIFFOpenOptionsSetErrorHandlerExtR(options, TiffMessages::on_error, &messages);
    TIFFOpenOptionsSetWarningHandlerExtR(options, TiffMessages::on_warning, &messages);
    if (largest_allocation > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest_allocation);
    TIFF *tiff = TIFFClientOpenExt(
        name.c_str(), mode, reinterpret_cast<thandle_t>(intptr_t{descriptor}),
        [](thandle_t file, void *bytes, tmsize_t size) {
            return transfer([](int to, char *at, size_t most) { return read(to, at, most); }, file, bytes, size);
        },
        [](thandle_t file, void *bytes, tmsize_t size) {
            return transfer([](int to, char *at, size_t most) { return write(to, at, most); }, file, bytes, size);
        },
        [](thandle_t file, toff_t offset, int from) {
            return static_cast<toff_t>(lseek(descriptor_of(file), static_cast<off_t>(offset), from));
        },
        [](thandle_t file) { return close(descriptor_of(file)); },
        [](thandle_t file) {
            struct stat known;
            return fstat(descriptor_of(file), &known) < 0 ? toff_t{0} : static_cast<toff_t>(known.st_size);
        },
        nullptr, nullptr, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

}  // namespace tool
