// Bit-packed columns with carries: the nearest site in a pixel's own column in O(1).
//
// The last axis of the transform (y in 2-D, z in 3-D) is cut into strips of 32 pixels, and the 32 pixels of one column in one
// strip are the bits of one word.  All columns of a strip lie side by side.  Each word has two carries, the last site before
// its strip and the first one after it.  So a strip needs nothing else from the rest of the image.
#pragma once

#include "core/view.h"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace apsis {

constexpr int STRIP = 32;                       // pixels of a column in a word
constexpr int32_t NO_SITE_BEFORE = -(1 << 30);  // 2^30 or more from every position, farther than an image is long;
constexpr int32_t NO_SITE_AFTER = INT32_MAX;    // and its difference to a position does not wrap

constexpr int64_t FAR_PITCH = 32;  // between counters: atomic adds to one line of a GPU's memory would be done one by one

/// Some strips of a batch, numbered image by image.
struct StripRange {
    int64_t first = 0, count = 0;

    APSIS_BOTH int64_t end() const { return first + count; }
};

struct Columns {
    uint32_t *words = nullptr;       // [batch][strip][column]
    int32_t *before = nullptr;       // the last site's position before the strip, or NO_SITE_BEFORE
    int32_t *after = nullptr;        // the first site's position after the strip, or NO_SITE_AFTER
    uint32_t *far_groups = nullptr;  // [far_at()]: how many groups of 32 adjacent columns have no site near the strip; nullptr
                                     // if not counted
    int64_t count = 0;               // columns in a strip: width in 2-D, width * height in 3-D
    int64_t length = 0;              // pixels of a column
    int64_t batch = 0;               // images: slices in a batch, else 1
    // Whether the second half of the images are the opposite sets of the first half.  Only the first half is stored, in a form
    // from which both can be read (only on the device: see cuda/columns/columns.h).
    bool is_mirrored = false;
    // Of a slab of an image, on the device: see cuda/columns/slab.cu.
    int64_t start = 0;                                          // the rows of the image before it
    int64_t *outside = nullptr;                                 // room for the caller's sites outside of it
    int32_t *first_carries = nullptr, *last_carries = nullptr;  // [image][column]: the carries of the first strip from above,
                                                                // and of the last one from below; nullptr: the image ends there

    APSIS_BOTH int64_t strips() const { return (length + STRIP - 1) / STRIP; }
    APSIS_BOTH int64_t total() const { return batch * strips() * count; }
    APSIS_BOTH int64_t images() const { return is_mirrored ? batch / 2 : batch; }
    APSIS_BOTH int64_t stored() const { return images() * strips() * count; }
    APSIS_BOTH StripRange all() const { return {0, batch * strips()}; }
    /// In 2-D: the rows of all images before a strip of a range.
    APSIS_BOTH int64_t rows_before(int64_t strip) const { return strip / strips() * length + strip % strips() * STRIP; }
    APSIS_BOTH int64_t at(int64_t image, int64_t strip, int64_t column) const {
        return (image * strips() + strip) * count + column;
    }
    /// Whether a pixel of a column is a site.
    APSIS_BOTH bool has(int64_t image, int64_t row, int64_t column) const {
        return words[at(image, row / STRIP, column)] >> row % STRIP & 1;
    }
    /// Where the far groups of a strip are counted, and how many counters there are.
    APSIS_BOTH int64_t far_at(int64_t image, int64_t strip) const { return (image * strips() + strip) * FAR_PITCH; }
    int64_t count_far() const { return batch * strips() * FAR_PITCH; }
    /// The bits of a strip that are pixels of the image: all but in the last strip.
    APSIS_BOTH uint32_t valid(int64_t strip) const {
        int64_t rest = length - strip * STRIP;
        return rest >= STRIP ? ~0u : (1u << rest) - 1;
    }
    /// The bits of a strip that tell of a pixel: in the last strip of a slab also those below the slab.
    APSIS_BOTH uint32_t filled(int64_t strip) const { return last_carries ? ~0u : valid(strip); }
};

APSIS_BOTH inline int lowest_bit(uint32_t word) {
#if defined(__CUDA_ARCH__)
    return __ffs(static_cast<int>(word)) - 1;
#elif defined(_MSC_VER)
    unsigned long bit;
    _BitScanForward(&bit, word);
    return static_cast<int>(bit);
#else
    return __builtin_ctz(word);
#endif
}

APSIS_BOTH inline int highest_bit(uint32_t word) {
#if defined(__CUDA_ARCH__)
    return 31 - __clz(static_cast<int>(word));
#elif defined(_MSC_VER)
    unsigned long bit;
    _BitScanReverse(&bit, word);
    return static_cast<int>(bit);
#else
    return 31 - __builtin_clz(word);
#endif
}

/// The position of a column's site nearest to position `at`, of two the first; NO_SITE_BEFORE if there is none.  `word`,
/// `before` and `after` belong to the strip that begins at `start` and contains `at`.
APSIS_BOTH inline int32_t nearest_in_column(uint32_t word, int32_t before, int32_t after, int32_t start, int32_t at) {
    const int bit = at - start;
    const uint32_t lower = word & (0xffffffffu >> (31 - bit));
    const uint32_t upper = word >> bit;
    const int32_t up = lower ? start + highest_bit(lower) : before;
    const int32_t down = upper ? at + lowest_bit(upper) : after;
    if (up == NO_SITE_BEFORE && down == NO_SITE_AFTER) return NO_SITE_BEFORE;
    return at - up <= down - at ? up : down;
}

/// The position of the pixel of another value that is nearest to position `at` of a column of a label image, of two the first;
/// NO_SITE_BEFORE if there is none.  `begins` has a bit for each pixel that differs from the one before it, the begin of a run
/// of equal ones, and `before` and `after` are the last begin before the strip and the first one after it.
APSIS_BOTH inline int32_t nearest_beyond_run(uint32_t begins, int32_t before, int32_t after, int32_t start, int32_t at) {
    const int bit = at - start;
    const uint32_t lower = begins & (0xffffffffu >> (31 - bit));
    const uint32_t upper = begins >> bit >> 1;
    const int32_t begin = lower ? start + highest_bit(lower) : before;
    const int32_t down = upper ? at + 1 + lowest_bit(upper) : after;
    if (begin == NO_SITE_BEFORE && down == NO_SITE_AFTER) return NO_SITE_BEFORE;
    return at - (begin - 1) <= down - at ? begin - 1 : down;
}

}  // namespace apsis
