// See memory.h.  A container is a control group with a limit; so is every group that it is in.
#include "tool/io/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace tool {
namespace {

/// The number behind a word at the beginning of a line of a file, or -1.  Without a word, the one that the file begins with.
std::int64_t number_in(const std::string &path, const std::string &word) {
    long long number = -1;
    if (std::FILE *file = std::fopen(path.c_str(), "re")) {
        char line[256];
        while (number < 0 && std::fgets(line, sizeof line, file))
            if (std::strncmp(line, word.c_str(), word.size()) == 0) std::sscanf(line + word.size(), " %lld", &number);
        std::fclose(file);
    }
    return number;
}

/// What the files of control groups are called.
struct Names {
    const char *root, *limit, *used, *reclaimable;
};
constexpr Names kVersion1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                             "total_inactive_file"};
constexpr Names kVersion2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"};

/// Calls take(names, folder) for the control groups of this process, from the innermost to the outermost.  In a container
/// the folders may be other ones than the list of groups says; then only the root is there.
template <class Take>
void for_groups(Take take) {
    std::FILE *const list = std::fopen("/proc/self/cgroup", "re");
    if (!list) return;
    char line[4096];
    while (std::fgets(line, sizeof line, list)) {  // "0::/path" of version 2, "4:memory:/path" of version 1
        const std::string_view entry(line, std::strcspn(line, "\n"));
        const size_t first = entry.find(':'), second = entry.find(':', first + 1);
        if (second == entry.npos) continue;
        const std::string_view controllers = entry.substr(first + 1, second - first - 1);
        if (!controllers.empty() && controllers.find("memory") == controllers.npos) continue;
        const Names &names = controllers.empty() ? kVersion2 : kVersion1;
        for (std::string path(entry.substr(second + 1));; path.resize(path.rfind('/'))) {
            take(names, names.root + path);
            if (path.find('/') == path.npos) break;
        }
    }
    std::fclose(list);
}

}  // namespace

std::int64_t physical_memory() {
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    std::int64_t memory = pages > 0 && page > 0 ? pages * page : INT64_MAX;
    for_groups([&](const Names &names, const std::string &folder) {
        if (const std::int64_t limit = number_in(folder + names.limit, ""); limit >= 0) memory = std::min(memory, limit);
    });
    return memory;
}

std::int64_t free_memory() {
    const std::int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    std::int64_t memory = kilobytes < 0 ? physical_memory() / 2 : kilobytes * 1024;
    for_groups([&](const Names &names, const std::string &folder) {
        const std::int64_t limit = number_in(folder + names.limit, "");
        if (limit < 0) return;
        const std::int64_t used = std::max<std::int64_t>(number_in(folder + names.used, ""), 0);
        const std::int64_t files = std::max<std::int64_t>(number_in(folder + "/memory.stat", names.reclaimable), 0);
        memory = std::min(memory, std::max<std::int64_t>(limit - used + std::min(files, used), 0));
    });
    return memory;
}

std::int64_t peak_memory() {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
}

}  // namespace tool
