// Fuzzes the command's reader of TIFF and PNG files: any bytes are a set, or are refused with a sentence.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "reader.h"

namespace {

void must(bool holds, const char *what) {
    if (holds) return;
    dprintf(STDERR_FILENO, "fuzz_tiff: %s\n", what);
    std::abort();
}

/// What is printed while a file is read: warnings of the command alone, none of libtiff's own.
class Printed {
  public:
    Printed() : before_(stderr) { stderr = open_memstream(&text_, &size_); }
    Printed(const Printed &) = delete;
    Printed &operator=(const Printed &) = delete;
    ~Printed() {
        std::fclose(stderr);
        stderr = before_;
        for (const char *line = text_; *line; line = std::strchr(line, '\n') + 1)
            must(std::strncmp(line, "apsis: warning: ", 16) == 0 && std::strchr(line, '\n'), line);
        std::free(text_);
    }

  private:
    FILE *before_;
    char *text_ = nullptr;
    size_t size_ = 0;
};

void check(const ReadSet &got, std::int64_t count) {
    must((got.marks == nullptr) == (got.refused[0] != 0), "neither a set nor a reason");
    if (!got.marks) return;
    std::int64_t sites = 0;
    for (std::int64_t i = 0; i < got.width * got.height * got.pages; ++i) {
        must(got.marks[i] <= 1, "a mark is neither 0 nor 1");
        sites += got.marks[i];
    }
    must(sites == got.sites && sites == count, "the sites are miscounted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, size_t size) {
    static const std::int64_t least = INT64_MIN;
    fill_memory_file(data, size);
    const Printed printed;
    const ReadSet got = read_file(memory_file(), nullptr, false), all = read_file(memory_file(), &least, false);
    const ReadSet tolerated = read_file(memory_file(), nullptr, true);
    check(got, count_file(memory_file()));
    must((got.marks == nullptr) == (all.marks == nullptr), "a threshold decides what is refused");
    must(!all.marks || all.sites == all.width * all.height * all.pages, "a sample is below the least number");
    must(!got.marks || (tolerated.marks && tolerated.sites == got.sites), "what is not damaged is not tolerated");
    for (const ReadSet &each : {got, all, tolerated}) std::free(each.marks);
    return 0;
}
