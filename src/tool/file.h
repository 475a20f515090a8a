// Files that get their name only when they are complete, and the calls that only POSIX has.
#pragma once

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

    /// Opens it under a temporary name, beside where it will be.
    void create();
    /// Writes text where the last one ended.
    void write(const std::string &text);
    /// Writes what the system still holds back to the disk.
    void sync();
    /// Gives it its name.
    void commit();

    int descriptor() const { return descriptor_; }
    const std::string &path() const { return path_; }

  private:
    void close();

    std::string path_;    // as the user wrote it
    std::string target_;  // what it stands for, if it is a symbolic link
    std::string temporary_;
    bool overwrite_;
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

/// Lets SIGINT, SIGTERM and SIGHUP be seen by pending_signal(); a second one ends the program at once.
/// A file that grows beyond its limit is an error, not the end.
void catch_signals();
/// The signal that has arrived, or 0.
int pending_signal();
/// Ends the program as the signal would have.
[[noreturn]] void end_by_signal(int signal);

}  // namespace tool
