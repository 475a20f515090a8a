// A fuzz target with a deliberate fault: of inputs that start with four certain bytes, it writes behind an array.
#include <cstddef>
#include <cstdint>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[size + 1]);
    std::size_t right = 0;
    while (right < size && right < 4 && data[right] == "TIFF"[right]) ++right;
    static_cast<volatile std::uint8_t *>(copy.get())[right == 4 ? size + 1 : size] = 1;
    return 0;
}
