// An image in a buffer of its own, laid out as a Layout says, in host memory or on a device, with canaries wherever the
// buffer has no pixel.  Like tests/support/frame.h, but what is wrong is thrown, in any thread, and not given to CMocka.
#pragma once

#include <memory>

#include "problem.h"

namespace soak {

/// Something that must not happen, in words.
struct Fault {
    std::string what;
};

/// Throws what a call that serves the soak alone has answered, unless it is APSIS_OK.
void need(apsis_context *context, apsis_status status, const char *call);

/// Bytes in a place, all of them canaries at first.
class Memory {
  public:
    Memory(apsis_context *context, Place place, int64_t bytes);
    ~Memory();
    Memory(const Memory &) = delete;

    uint8_t *data() const { return static_cast<uint8_t *>(there.data); }
    apsis_memory kind() const { return there.memory; }
    void upload() { copy(here, there); }
    void download() { copy(there, here); }

    std::vector<uint8_t> bytes;  ///< The host's copy; in plain host memory, the bytes themselves.

  private:
    void copy(const apsis_image &from, const apsis_image &to);

    apsis_context *context;
    apsis_image here = {}, there = {};
};

uint8_t canary(size_t i);

class Buffer {
  public:
    Buffer(apsis_context *context, Place place, apsis_type type, int ndim, const std::array<int64_t, 3> &size,
           const Layout &layout);

    const apsis_image *image() const { return &view; }

    /// Writes a set, packed, a byte a pixel: of a wide type its value_of_byte().
    void put(const uint8_t *mask);

    /// Throws if any byte has changed since the last put.
    void check_unchanged();

    /// The pixels, packed, bits as bytes; throws if a byte that is no pixel has changed.
    std::vector<uint8_t> get();

  private:
    template <class F>
    void each(F visit);
    int64_t lay_out(const Layout &layout);

    apsis_image view = {};
    int64_t origin = 0, stride[3] = {};
    std::unique_ptr<Memory> memory;
    std::vector<uint8_t> sent;
};

}  // namespace soak
