// Files that get their name only when they are complete, and other calls of POSIX.
#pragma once

#include <cstdint>
#include <string>

namespace tool {

/// A file that is being written.  The constructor only checks that it can be made.  There is no new file under its name until
/// commit(), and without commit() nothing is left.
class OutputFile {
  public:
    OutputFile(std::string path, bool overwrite);
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    /// Opens it without a name, so that it vanishes with the process, however that ends.  Where the file system has no files
    /// without names, opens it under a temporary name in the same directory.
    void create();
    /// Appends text.
    void write(const std::string &text);
    /// Writes the system's buffers to the disk.
    void sync();
    /// Gives the file its name.
    void commit();
    /// Removes the file again, unless it has replaced another one.
    void withdraw();

    int descriptor() const { return descriptor_; }
    const std::string &path() const { return path_; }

  private:
    template <class Make>
    void make_temporary(Make make);
    bool link_to(const std::string &name) const;
    void close();

    std::string path_;       // as the user wrote it
    std::string target_;     // the file that it links to, if it is a symbolic link
    std::string temporary_;  // the temporary name; empty without one
    bool overwrite_, existed_ = false;
    int descriptor_ = -1;
};

/// A regular file, open to read; the constructor fails with the reason.
class InputFile {
  public:
    explicit InputFile(const std::string &path);
    ~InputFile();
    InputFile(const InputFile &) = delete;
    InputFile &operator=(const InputFile &) = delete;

    int descriptor() const { return descriptor_; }
    std::int64_t size() const { return size_; }
    /// Whether it has been written to since it was opened.
    bool changed() const;

  private:
    int descriptor_;
    std::int64_t size_ = 0, written_[2] = {};  // seconds and nanoseconds
};

/// Numbers that are kept on the disk, in a file that has no name and vanishes with the process.
class ScratchFile {
  public:
    /// In the folder of this file.
    explicit ScratchFile(const std::string &beside);
    void write(const std::uint8_t *bytes, std::int64_t count, std::int64_t at);
    void read(std::uint8_t *bytes, std::int64_t count, std::int64_t at) const;

  private:
    OutputFile file_;
};

/// Whether two names are the same file's.
bool same_file(const std::string &one, const std::string &other);

/// Whether a name has this ending, given in lower case; the name's may have capitals.
bool ends_with(const std::string &path, const std::string &ending);

/// The system's sentence for an errno.
std::string system_error(int number);

bool stderr_is_terminal();

/// Opens closed standard streams on /dev/null.  Otherwise a file could get the descriptor of one, and printed text with it.
void keep_standard_streams();
/// printf that throws a Failure with the reason if it fails, or Interrupted with SIGPIPE if the reader of a pipe is gone.
[[gnu::format(printf, 1, 2)]] void print_out(const char *format, ...);
/// Writes buffered text to standard output, or throws in the same way.
void flush_out();

/// Catches the signals that end a program, for pending_signal(); a second signal of the same kind ends it at once.  A file
/// that grows beyond its limit, and a pipe without a reader, become errors of the call that writes.
void catch_signals();
/// The signal that has arrived, or 0.
int pending_signal();
/// Ends the program as the signal would have.
[[noreturn]] void end_by_signal(int signal);

}  // namespace tool
