// Files that get their name only when they are complete, and the calls that only POSIX has.
#pragma once

#include <cstdint>
#include <string>

namespace tool {

/// A file under way.  Construction only checks that it can be made; until commit() nothing is seen under its
/// name, and without commit() nothing is left.
class OutputFile {
  public:
    OutputFile(std::string path, bool overwrite);
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    /// Opens it without a name, so that it goes with the program however that ends; where the file system has no such files,
    /// under a temporary name, beside where it will be.
    void create();
    /// Writes text where the last one ended.
    void write(const std::string &text);
    /// Writes what the system still holds back to the disk.
    void sync();
    /// Gives it its name.
    void commit();
    /// Takes the name away again, unless another file had it before.
    void withdraw();

    int descriptor() const { return descriptor_; }
    const std::string &path() const { return path_; }

  private:
    template <class Make>
    void make_temporary(Make make);
    bool link_to(const std::string &name) const;
    void close();

    std::string path_;       // as the user wrote it
    std::string target_;     // what it stands for, if it is a symbolic link
    std::string temporary_;  // empty where it has no name
    bool overwrite_, existed_ = false;
    int descriptor_ = -1;
};

/// Opens a regular file to read, or fails with the reason.
int open_input(const std::string &path);

/// Whether two names are of one file.
bool same_file(const std::string &one, const std::string &other);

/// Whether a name ends so, in capitals or not.
bool ends_with(const std::string &path, const std::string &ending);

/// The system's sentence for an errno.
std::string system_error(int number);

bool stderr_is_terminal();

/// Takes care that files are not opened in place of a standard stream that is closed: what is printed would go into them.
void keep_standard_streams();
/// printf, or a failure that says why not.  Where standard output is a pipe without a reader, that is SIGPIPE.
[[gnu::format(printf, 1, 2)]] void print_out(const char *format, ...);
/// Writes what has been printed and is held back, or fails in the same way.
void flush_out();

/// Bytes of memory that this machine has.
std::int64_t physical_memory();

/// Lets the signals that end a program be seen by pending_signal(); a second one of a kind ends it at once.
/// A file that grows beyond its limit, and a pipe without a reader, are errors, not the end.
void catch_signals();
/// The signal that has arrived, or 0.
int pending_signal();
/// Ends the program as the signal would have.
[[noreturn]] void end_by_signal(int signal);

}  // namespace tool
