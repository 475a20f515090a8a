// Fuzzes the command's arguments: a word in each line.  The command runs in this process, in a folder of its own with three
// tiny images; a '/' becomes a '_', so that it cannot leave that folder.  What its help promises of exit codes and files must
// hold.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "layouts.h"
}

int apsis_main(int count, char **words);  // main.cpp's

namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr size_t kMostWords = 40;

void must(bool holds, const char *what) {
    if (holds) return;
    dprintf(STDERR_FILENO, "fuzz_args: %s\n", what);
    std::abort();
}

/// The folder, and where we were before.
struct Place {
    Place()
        : before(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          path((fs::temp_directory_path() / "apsis-fuzz-XXXXXX").string()) {
        must(before >= 0 && mkdtemp(path.data()), "no folder to work in");
        must(chdir(path.c_str()) == 0, "no folder to work in");
        make_all_samples(1, 5);
        write_tiff("in.tif", &kBits, 11, 7, 1);
        write_tiff("pages.tif", &kBits, 11, 7, 3);
        make_all_samples(8, 6);
        write_tiff("seeds.tif", &kBytes, 11, 7, 1);
        must(fchdir(before) == 0, "the first folder is gone");
    }
    ~Place() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }

    int before;
    std::string path;
};

Files files() {
    Files found;
    for (const fs::directory_entry &entry : fs::directory_iterator(".")) {
        std::ifstream file(entry.path(), std::ios::binary);
        found[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(file), {});
    }
    return found;
}

void restore(const Files &files, const Files &now) {
    for (const auto &[name, bytes] : now)
        if (!files.count(name)) fs::remove_all(name);
    for (const auto &[name, bytes] : files) {
        if (const auto same = now.find(name); same != now.end() && same->second == bytes) continue;
        std::ofstream file(name, std::ios::binary);
        must(static_cast<bool>(file << bytes << std::flush), "no room for the images");
    }
}

std::vector<std::string> words_of(const std::uint8_t *data, size_t size) {
    std::vector<std::string> words = {"apsis", ""};
    for (size_t i = 0; i < size && words.size() <= kMostWords; ++i) {
        if (data[i] == '\n')
            words.emplace_back();
        else if (data[i] == 0)
            break;
        else
            words.back() += data[i] == '/' ? '_' : static_cast<char>(data[i]);
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

/// Runs the command; what it prints goes to `said`.
int run(std::vector<std::string> words, std::string &said) {
    std::vector<char *> pointers;
    for (std::string &word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    FILE *const out = stdout, *const err = stderr;
    char *text = nullptr;
    size_t length = 0;
    stderr = open_memstream(&text, &length);
    stdout = std::fopen("/dev/null", "w");
    const int code = apsis_main(static_cast<int>(words.size()), pointers.data());
    std::fclose(stdout);
    std::fclose(stderr);
    stdout = out, stderr = err;
    said.assign(text, length);
    std::free(text);
    return code;
}

/// Whether a word, or what follows the '=' in it, is this file.
bool is_named(const std::string &file, const std::vector<std::string> &words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string &word) { return word.ends_with(file); });
}

bool is_documented(int code) {
    return (code >= 0 && code <= 2) || code == 11 || code == 12 || code == 13 || code == 14 || code == 16 || code == 20;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, size_t size) {
    static const Place place;
    must(chdir(place.path.c_str()) == 0, "the folder is gone");
    static const Files before = files();
    std::string said;
    const std::vector<std::string> words = words_of(data, size);
    const int code = run(words, said);
    const Files after = files();
    restore(before, after);
    must(fchdir(place.before) == 0, "the first folder is gone");

    must(is_documented(code), ("exit code " + std::to_string(code) + ": " + said).c_str());
    must(code == 0 || said.find("apsis") != said.npos, "it fails without a word");
    must(code == 0 || after == before, "it fails, and leaves files that are new or changed");
    for (const auto &[name, bytes] : after)
        must(before.count(name) || is_named(name, words), "a file is left that was not named");
    return 0;
}
