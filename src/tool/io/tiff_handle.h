// For reading and writing TIFF: a libtiff handle that keeps libtiff's messages instead of printing them.
#pragma once

#include <fcntl.h>
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
#include "tool/io/file.h"

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

/// A handle of libtiff on a file that is open.  Several may read one descriptor, also from several threads: each has a place of
/// its own in the file.
class TiffHandle {
  public:
    explicit TiffHandle(int file = -1) : descriptor(file) {}
    TiffHandle(const TiffHandle &) = delete;
    TiffHandle &operator=(const TiffHandle &) = delete;
    /// An unfinished file is closed as if it was opened to read.  Writing the rest could only fail again, and libtiff may crash
    /// then.
    virtual ~TiffHandle() {
        if (!tiff) return;
        TIFFSetMode(tiff, O_RDONLY);
        TIFFClose(tiff);
    }

    /// Opens it, and leaves the descriptor to the caller.  Returns false, and `tiff` is NULL, if that failed.
    bool open(const std::string &name, const char *mode, tmsize_t largest_allocation = 0) {
        TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
        if (!options) return false;
        TIFFOpenOptionsSetErrorHandlerExtR(options, TiffMessages::on_error, &messages);
        TIFFOpenOptionsSetWarningHandlerExtR(options, TiffMessages::on_warning, &messages);
        if (largest_allocation > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest_allocation);
        tiff = TIFFClientOpenExt(
            name.c_str(), mode, this,
            [](thandle_t file, void *to, tmsize_t bytes) { return of(file).move(&TiffHandle::get, to, bytes); },
            [](thandle_t file, void *from, tmsize_t bytes) { return of(file).move(&TiffHandle::put, from, bytes); },
            [](thandle_t file, toff_t offset, int from) { return of(file).go_to(static_cast<off_t>(offset), from); },
            [](thandle_t) { return 0; }, [](thandle_t file) { return static_cast<toff_t>(of(file).size()); }, nullptr, nullptr,
            options);
        TIFFOpenOptionsFree(options);
        return tiff != nullptr;
    }

    /// Throws if a call of libtiff failed or reported an error.
    void check(bool done, const std::string &path) const {
        if (done && !messages.error[0]) return;
        fail("cannot write " + quoted(path) + ": " +
             (messages.system     ? system_error(messages.system)
              : messages.error[0] ? messages.error
                                  : "no memory"));
    }

    TIFF *tiff = nullptr;
    TiffMessages messages;

  protected:
    virtual ssize_t get(void *to, size_t bytes, off_t from) { return pread(descriptor, to, bytes, from); }
    virtual ssize_t put(void *from, size_t bytes, off_t to) { return pwrite(descriptor, from, bytes, to); }
    virtual off_t size() {
        struct stat known;
        return fstat(descriptor, &known) < 0 ? 0 : known.st_size;
    }

    int descriptor;

  private:
    static TiffHandle &of(thandle_t file) { return *static_cast<TiffHandle *>(file); }

    /// As libtiff's own functions do, except that a failed read returns 0.  Where those return -1, libtiff 4.5 clears the byte
    /// before its buffer.
    tmsize_t move(ssize_t (TiffHandle::*call)(void *, size_t, off_t), void *memory, tmsize_t bytes) {
        tmsize_t done = 0;
        while (done < bytes) {
            const ssize_t some = (this->*call)(static_cast<char *>(memory) + done, static_cast<size_t>(bytes - done), place_);
            if (some <= 0) break;
            done += some;
            place_ += some;
        }
        return done;
    }
    toff_t go_to(off_t offset, int from) {
        place_ = offset + (from == SEEK_SET ? 0 : from == SEEK_CUR ? place_ : size());
        return static_cast<toff_t>(place_);
    }

    off_t place_ = 0;
};

}  // namespace tool
