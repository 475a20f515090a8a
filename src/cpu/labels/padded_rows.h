// Rows of a label image with a pixel of 0 at both ends, and rows of 0 around it, as a thread goes from row to row.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/labels/differences.h"
#include "runtime/workspace.h"

namespace apsis::cpu::labels {

/// A row, of which the pixel at x is at x + 1.  Of bits, i stands for its i-th pixel.
struct PaddedRow {
    const void *pixels;
    const uint64_t *ends;     // where a pixel differs from the next one
    const uint64_t *changes;  // where it differs from that of the row before
    const uint64_t *edges;    // where it differs from one of its 4 neighbours

    template <class Pixel>
    const Pixel *as() const {
        return static_cast<const Pixel *>(pixels);
    }
};

/// The rows that are in use: so many of a plane, and in 3-D those of the plane before.
class PaddedRows {
  public:
    /// Both numbers are powers of two.
    PaddedRows(const View &image, int rows, int planes, Carver &carver)
        : image_(image),
          width_(image.size[0] + 2),
          words_((width_ + 63) / 64),
          rows_(rows),
          slots_(static_cast<size_t>(rows * planes)) {
        for (Slot &slot : slots_) {
            slot.pixels = carver.take<uint8_t>(width_ * pixel_bytes(image.type));
            for (uint64_t *&bits : slot.bits) bits = carver.take<uint64_t>(words_);
        }
    }

    /// How many words a row of bits has, and how many bits.
    int64_t words() const { return words_; }
    int64_t width() const { return width_; }

    /// The pixels of a row alone, or with ends, and so on.
    template <class Pixel>
    PaddedRow pixels(int64_t y, int64_t z) {
        Slot &slot = slot_of(y, z);
        if (slot.known == 0) {
            load<Pixel>(static_cast<Pixel *>(slot.pixels), y, z);
            slot.known = 1;
        }
        return known_of(slot);
    }
    template <class Pixel>
    PaddedRow ends(int64_t y, int64_t z) {
        const Pixel *const row = pixels<Pixel>(y, z).template as<Pixel>();
        return find(slot_of(y, z), ENDS, [&](uint64_t *bits) {
            bits[words_ - 1] = 0;
            mark_differences(row, row + 1, sizeof(Pixel), width_ - 1, bits);
        });
    }
    template <class Pixel>
    PaddedRow changes(int64_t y, int64_t z) {
        ends<Pixel>(y, z);
        const void *const before = pixels<Pixel>(y - 1, z).pixels;
        Slot &slot = slot_of(y, z);
        return find(slot, CHANGES, [&](uint64_t *bits) { mark_differences(slot.pixels, before, sizeof(Pixel), width_, bits); });
    }
    template <class Pixel>
    PaddedRow edges(int64_t y, int64_t z) {
        const uint64_t *const behind = changes<Pixel>(y + 1, z).changes;
        const PaddedRow row = changes<Pixel>(y, z);
        return find(slot_of(y, z), EDGES, [&](uint64_t *bits) {
            uint64_t carry = 0;
            for (int64_t i = 0; i < words_; ++i) {
                bits[i] = row.ends[i] | row.ends[i] << 1 | carry | row.changes[i] | behind[i];
                carry = row.ends[i] >> 63;
            }
        });
    }

  private:
    enum { ENDS, CHANGES, EDGES };

    struct Slot {
        int64_t y = INT64_MIN, z = INT64_MIN;
        int known = 0;  // bit 0: its pixels; bit 1 + i: bits[i]
        void *pixels;
        uint64_t *bits[3];
    };

    Slot &slot_of(int64_t y, int64_t z) {
        Slot &slot = slots_[static_cast<size_t>(z * rows_ + (y & (rows_ - 1))) & (slots_.size() - 1)];
        if (slot.y != y || slot.z != z) slot.y = y, slot.z = z, slot.known = 0;
        return slot;
    }
    static PaddedRow known_of(const Slot &slot) { return {slot.pixels, slot.bits[ENDS], slot.bits[CHANGES], slot.bits[EDGES]}; }

    template <class Make>
    static PaddedRow find(Slot &slot, int which, Make make) {
        if (!(slot.known & 2 << which)) make(slot.bits[which]);
        slot.known |= 2 << which;
        return known_of(slot);
    }

    template <class Pixel>
    void load(Pixel *to, int64_t y, int64_t z) const {
        const bool is_inside = y >= 0 && y < image_.size[1] && z >= 0 && z < image_.size[2];
        to[0] = to[width_ - 1] = 0;
        if (!is_inside) {
            std::fill(to + 1, to + width_ - 1, Pixel(0));
        } else if (const Pixel *const row = row_of<Pixel>(image_, y, z, to + 1); row != to + 1) {
            std::copy(row, row + image_.size[0], to + 1);
        }
    }

    View image_;
    int64_t width_, words_, rows_;
    std::vector<Slot> slots_;
};

}  // namespace apsis::cpu::labels
