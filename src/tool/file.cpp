// Files that get their name only when they are complete; signals.  The only file that knows POSIX.
#include "file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "failure.h"

namespace tool {
namespace {

volatile sig_atomic_t arrived = 0;

void note_signal(int signal) { arrived = signal; }

std::string directory_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void cannot_write(const std::string &path, const std::string &why) {
    fail("cannot write " + quoted(path) + ": " + why);
}

/// Renames, but never over another file; true if done.  Sets errno otherwise.
bool rename_without_replacing(const std::string &from, const std::string &to) {
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
#endif
    // A file system that cannot do it in one step: a link never replaces either, but not every one has links.
    if (link(from.c_str(), to.c_str()) == 0) return unlink(from.c_str()) == 0;
    if (errno == EEXIST) return false;
    struct stat status;
    if (lstat(to.c_str(), &status) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

OutputFile::OutputFile(std::string path, bool overwrite)
    : path_(std::move(path)), target_(path_), overwrite_(overwrite) {
    struct stat status;
    if (lstat(path_.c_str(), &status) == 0) {
        if (!overwrite_) cannot_write(path_, "it exists; --overwrite replaces it");
        std::error_code error;
        if (S_ISLNK(status.st_mode)) target_ = std::filesystem::canonical(path_, error).string();
        if (error || stat(target_.c_str(), &status) != 0) cannot_write(path_, "it is a link to nothing");
        if (S_ISDIR(status.st_mode)) cannot_write(path_, "it is a directory");
        if (!S_ISREG(status.st_mode)) cannot_write(path_, "it is not a regular file");
        if (access(target_.c_str(), W_OK) != 0) cannot_write(path_, system_error(errno));
    } else if (errno != ENOENT || path_.back() == '/') {
        cannot_write(path_, errno == ENOENT ? "it names a directory" : system_error(errno));
    }
    const std::string directory = directory_of(target_);
    if (access(directory.c_str(), W_OK | X_OK) != 0)
        cannot_write(path_, "directory " + quoted(directory) + ": " + system_error(errno));
}

OutputFile::~OutputFile() {
    close();
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::create() {
    const std::string start = directory_of(target_) + "/.apsis-" + std::to_string(getpid()) + "-";
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        const std::string name = start + std::to_string(attempt) + ".tmp";
        descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0)
            temporary_ = name;
        else if (errno != EEXIST || attempt == 1000)
            cannot_write(path_, system_error(errno));
    }
    struct stat status;
    if (overwrite_ && stat(target_.c_str(), &status) == 0) (void)!fchmod(descriptor_, status.st_mode & 07777);
}

void OutputFile::write(const std::string &text) {
    for (size_t at = 0; at < text.size();) {
        const ssize_t put = ::write(descriptor_, text.data() + at, text.size() - at);
        if (put < 0 && errno != EINTR) cannot_write(path_, system_error(errno));
        if (put > 0) at += static_cast<size_t>(put);
    }
}

void OutputFile::sync() {
    // Not every file system can, and says so with EINVAL; then there is nothing to wait for.
    if (fsync(descriptor_) != 0 && errno != EINVAL) cannot_write(path_, system_error(errno));
}

void OutputFile::commit() {
    close();
    const bool done = overwrite_ ? rename(temporary_.c_str(), target_.c_str()) == 0
                                 : rename_without_replacing(temporary_, target_);
    if (!done && errno == EEXIST) cannot_write(path_, "it exists by now; --overwrite replaces it");
    if (!done) cannot_write(path_, system_error(errno));
    temporary_.clear();
    const int directory = open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);  // the file is complete either way; this only makes its name last
    ::close(directory);
}

void OutputFile::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

int open_input(const std::string &path) {
    // A FIFO without a writer would otherwise wait for one for ever.
    const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) fail("cannot read " + quoted(path) + ": " + system_error(errno));
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        const bool directory = S_ISDIR(status.st_mode);
        ::close(descriptor);
        fail("cannot read " + quoted(path) + ": it is " + (directory ? "a directory" : "not a regular file"));
    }
    return descriptor;
}

bool same_file(const std::string &one, const std::string &other) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto whole = [&error](const std::string &path) {
        return fs::weakly_canonical(fs::absolute(path, error), error);
    };
    const fs::path first = whole(one), second = whole(other);
    return one == other || (!error && first == second);
}

bool ends_with(const std::string &path, const std::string &ending) {
    if (path.size() <= ending.size()) return false;
    return std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                      [](char one, char other) { return one == std::tolower(static_cast<unsigned char>(other)); });
}

std::string system_error(int number) { return std::strerror(number); }

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

void catch_signals() {
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before;
        // What nohup and shells ignore stays ignored.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signal, &action, nullptr);
    }
    signal(SIGXFSZ, SIG_IGN);
}

int pending_signal() { return arrived; }

void end_by_signal(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _Exit(kSignal + number);
}

}  // namespace tool
