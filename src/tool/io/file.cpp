// Files that get their name only when they are complete; signals; standard streams.  Other calls of POSIX are in the files for
// PNG and TIFF.
#include "tool/io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tool/failure.h"

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

[[noreturn]] void cannot_print(int why) {
    if (why == EPIPE) throw Interrupted{SIGPIPE};
    fail("cannot write standard output: " + (why == EBADF ? "it is closed" : system_error(why)));
}

/// Renames, but never over another file.  Returns whether it did; otherwise sets errno.
bool rename_without_replacing(const std::string &from, const std::string &to) {
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
#endif
    // This file system cannot do it in one step.  A link does not replace a file either, but not every file system has links.
    if (link(from.c_str(), to.c_str()) == 0) return unlink(from.c_str()) == 0;
    if (errno == EEXIST) return false;
    struct stat status;
    if (lstat(to.c_str(), &status) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from.c_str(), to.c_str()) == 0;
}

/// Says what kind of file it is, if not a regular one.
std::string kind_of(const struct stat &status) {
    const char *kind = S_ISDIR(status.st_mode)    ? "a directory"
                       : S_ISFIFO(status.st_mode) ? "a pipe"
                       : S_ISSOCK(status.st_mode) ? "a socket"
                                                  : "a device";
    return std::string("it is ") + kind + (S_ISDIR(status.st_mode) ? "" : ", not a regular file");
}

}  // namespace

OutputFile::OutputFile(std::string path, bool overwrite) : path_(std::move(path)), target_(path_), overwrite_(overwrite) {
    struct stat status;
    if (path_ == "-") cannot_write(path_, "standard output takes no image; ./- is a file of that name");
    if (lstat(path_.c_str(), &status) == 0) {
        if (!overwrite_) cannot_write(path_, "it exists; --overwrite replaces it");
        existed_ = true;
        std::error_code error;
        if (S_ISLNK(status.st_mode)) target_ = std::filesystem::canonical(path_, error).string();
        if (error || stat(target_.c_str(), &status) != 0) cannot_write(path_, "it is a link to nothing");
        if (!S_ISREG(status.st_mode)) cannot_write(path_, kind_of(status));
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

/// Makes the file under an unused temporary name, in the same directory.
template <class Make>
void OutputFile::make_temporary(Make make) {
    const std::string start = directory_of(target_) + "/.apsis-" + std::to_string(getpid()) + "-";
    for (int attempt = 0;; ++attempt) {
        std::string name = start + std::to_string(attempt) + ".tmp";
        if (make(name)) {
            temporary_ = std::move(name);
            return;
        }
        if (errno != EEXIST || attempt == 1000) cannot_write(path_, system_error(errno));
    }
}

/// Gives the open file a name that no file has.  Returns whether it did; otherwise sets errno.
bool OutputFile::link_to(const std::string &name) const {
    const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
    return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

void OutputFile::create() {
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0)  // link_to() needs it
        descriptor_ = open(directory_of(target_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
#endif
    if (descriptor_ < 0)
        make_temporary([this](const std::string &name) {
            descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            return descriptor_ >= 0;
        });
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
    // A file system without fsync returns EINVAL; then there is nothing to wait for.
    if (fsync(descriptor_) != 0 && errno != EINVAL) cannot_write(path_, system_error(errno));
}

void OutputFile::commit() {
    const std::string folder = directory_of(target_);  // now, since nothing may fail once the file has its name
    const bool named = !temporary_.empty();
    // A link never replaces a file; only a rename does.
    if (!named && overwrite_) make_temporary([this](const std::string &name) { return link_to(name); });
    const bool done = overwrite_ ? rename(temporary_.c_str(), target_.c_str()) == 0
                      : named    ? rename_without_replacing(temporary_, target_)
                                 : link_to(target_);
    const int why_not = done ? 0 : errno;
    close();
    errno = why_not;
    if (!done && errno == EEXIST) cannot_write(path_, "it exists by now; --overwrite replaces it");
    if (!done) cannot_write(path_, system_error(errno));
    temporary_.clear();
    const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);  // the file is complete either way; this only makes its name last
    ::close(directory);
}

void OutputFile::withdraw() {
    if (!existed_) unlink(target_.c_str());
}

void OutputFile::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

InputFile::InputFile(const std::string &path) {
    if (path == "-") fail("cannot read '-': standard input is not read; ./- is a file of that name");
    // Otherwise open() would wait for ever on a FIFO without a writer.
    descriptor_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot read " + quoted(path) + ": " + system_error(errno));
    struct stat status;
    if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        fail("cannot read " + quoted(path) + ": " + kind_of(status));
    }
    size_ = status.st_size;
    written_[0] = status.st_mtim.tv_sec;
    written_[1] = status.st_mtim.tv_nsec;
}

InputFile::~InputFile() { ::close(descriptor_); }

bool InputFile::changed() const {
    struct stat now;
    return fstat(descriptor_, &now) != 0 || now.st_size != size_ || now.st_mtim.tv_sec != written_[0] ||
           now.st_mtim.tv_nsec != written_[1];
}

ScratchFile::ScratchFile(const std::string &beside) : file_(beside, true) { file_.create(); }

void ScratchFile::write(const std::uint8_t *bytes, std::int64_t count, std::int64_t at) {
    for (std::int64_t done = 0; done < count;) {
        const ssize_t some = pwrite(file_.descriptor(), bytes + done, static_cast<size_t>(count - done), at + done);
        if (some < 0) fail("cannot write a temporary file beside " + quoted(file_.path()) + ": " + system_error(errno));
        done += some;
    }
}

void ScratchFile::read(std::uint8_t *bytes, std::int64_t count, std::int64_t at) const {
    for (std::int64_t done = 0; done < count;) {
        const ssize_t some = pread(file_.descriptor(), bytes + done, static_cast<size_t>(count - done), at + done);
        if (some <= 0)
            fail("cannot read a temporary file beside " + quoted(file_.path()) + ": " + system_error(some ? errno : EIO));
        done += some;
    }
}

bool same_file(const std::string &one, const std::string &other) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto whole = [&error](const std::string &path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
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

void keep_standard_streams() {
    // Each is opened in the wrong direction, so that its use still fails.
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void print_out(const char *format, ...) {
    va_list values;
    va_start(values, format);
    const bool done = std::vprintf(format, values) >= 0;
    const int why_not = errno;
    va_end(values);
    if (!done) cannot_print(why_not);
}

void flush_out() {
    if (std::fflush(stdout) != 0) cannot_print(errno);
}

void catch_signals() {
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2}) {
        struct sigaction before;
        // Signals that nohup or a shell ignores stay ignored.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

int pending_signal() { return arrived; }

void end_by_signal(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _Exit(kSignal + number);
}

}  // namespace tool
