// Runs a fuzz target on files, and on all files of folders, where libFuzzer is not at hand: replay PATH ...
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, size_t size);
extern "C" int LLVMFuzzerInitialize(int *count, char ***words) __attribute__((weak));

namespace fs = std::filesystem;

static void replay(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    // A copy of just that size, so that a sanitizer sees what is read behind its end.
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[text.size()]);
    std::copy(text.begin(), text.end(), bytes.get());
    LLVMFuzzerTestOneInput(bytes.get(), text.size());
}

int main(int count, char **words) {
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &words);
    int files = 0;
    for (int i = 1; i < count; ++i) {
        if (fs::is_regular_file(words[i])) replay(words[i]), ++files;
        if (!fs::is_directory(words[i])) continue;
        for (const fs::directory_entry &entry : fs::directory_iterator(words[i]))
            if (entry.is_regular_file()) replay(entry.path()), ++files;
    }
    std::printf("%d files\n", files);
    return files > 0 ? 0 : 1;
}
