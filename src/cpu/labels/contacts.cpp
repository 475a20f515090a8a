// Contacts of a label image: see contacts.h.
//
// Threads take pieces of whole rows.  Each row is compared with itself and with the earlier rows that have neighbours of its
// pixels, once for each direction to a neighbour.  Where pixels differ, and neither is 0, the pair of their values gets one
// face more, or one corner, in the thread's own table.  In the end tables are added up and sorted.
//
// Cost: for each direction a comparison of the image with itself, 64 pixels at a time, and a look into a table for each face.
#include "cpu/labels/contacts.h"

#include <tuple>

#include "cpu/labels/collect.h"
#include "cpu/labels/table.h"

namespace apsis::cpu::labels {

namespace {

struct Pair {
    int64_t a, b;

    bool operator==(const Pair &other) const = default;
    bool operator<(const Pair &other) const { return std::tie(a, b) < std::tie(other.a, other.b); }
};
uint64_t hash_of(const Pair &pair) {
    return spread(static_cast<uint64_t>(pair.a) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(pair.b));
}

constexpr int CORNER = 3;

/// Faces across each axis, and corners.
struct Faces {
    int64_t count[4] = {};

    void add(const Faces &other) {
        for (int i = 0; i < 4; ++i) count[i] += other.count[i];
    }
};

/// A table behind a small one, in which the pairs around a row find their counts at once.  A pair that needs another's place
/// sends that to the table.  Without it contacts across corners take twice as long.
class PairTable {
  public:
    PairTable() : recent_(RECENT) {}

    int64_t *count_of(const Pair &pair) {
        Recent &recent = recent_[(static_cast<uint64_t>(pair.a) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(pair.b)) *
                                     0xbf58476d1ce4e5b9u >>
                                 (64 - RECENT_BITS)];
        if (!(recent.pair == pair)) {
            put(recent);
            recent = {pair, {}};
        }
        return recent.faces.count;
    }

    void add(PairTable &other) {
        for (Recent &each : other.recent_) other.put(each);
        table_.add(other.table_);
    }

    auto &in_order() {
        for (Recent &each : recent_) put(each);
        return table_.in_order();
    }

  private:
    static constexpr int RECENT_BITS = 8;
    static constexpr size_t RECENT = size_t(1) << RECENT_BITS;  // 12 KiB

    struct Recent {
        Pair pair = {0, 0};  // none
        Faces faces;
    };

    void put(const Recent &recent) {
        if (!(recent.pair == Pair{0, 0})) table_.at(recent.pair).add(recent.faces);
    }

    Table<Pair, Faces> table_;
    std::vector<Recent> recent_;
};

/// From a pixel to a neighbour before it.
struct Direction {
    int dx, dy, dz;

    int axes() const { return (dx != 0) + (dy != 0) + (dz != 0); }
    int kind() const { return axes() > 1 ? CORNER : dx ? 0 : dy ? 1 : 2; }
};

struct ThreadScratch {
    uint64_t *bits;         // where rows differ
    uint8_t *line, *other;  // rows whose pixels are not side by side

    ThreadScratch(const View &image, Carver &carver) {
        const int64_t bytes = has_side_by_side(image) ? 0 : image.size[0] * pixel_bytes(image.type);
        bits = carver.take<uint64_t>((image.size[0] + 63) / 64);
        line = carver.take<uint8_t>(bytes);
        other = carver.take<uint8_t>(bytes);
    }
};

/// Adds the contacts of a row with the pixels of another one, or of itself, in one direction.
template <class Pixel>
void add_contacts(const Pixel *row, const Pixel *other, int64_t width, bool is_periodic, Direction to, uint64_t *bits,
                  PairTable &table) {
    const int64_t begin = std::max(0, -to.dx), count = width - (to.dx != 0);
    const Pixel *const one = row + begin, *const two = other + begin + to.dx;
    const int kind = to.kind();
    const auto add = [&](int64_t here, int64_t there) {
        if (here == 0 || there == 0) return;
        ++table.count_of({std::min(here, there), std::max(here, there)})[kind];
    };
    mark_differences(one, two, sizeof(Pixel), count, bits);
    for_bits(bits, count, [&](int64_t x) { add(one[x], two[x]); });
    if (!is_periodic || to.dx == 0) return;
    const int64_t last = to.dx < 0 ? 0 : width - 1, across = width - 1 - last;
    if (row[last] != other[across]) add(row[last], other[across]);
}

template <class Pixel>
void add_row(const ContactsJob &job, int64_t y, int64_t z, const ThreadScratch &scratch, PairTable &table) {
    const View &image = job.set;
    const int64_t width = image.size[0];
    const Pixel *const row = row_of<Pixel>(image, y, z, scratch.line);
    const bool is_periodic = job.periodic.along[0];
    add_contacts(row, row, width, is_periodic, {-1, 0, 0}, scratch.bits, table);
    for (int dz = job.axes == 3 ? -1 : 0; dz <= 0; ++dz)
        for (int dy = -1; dy <= (dz ? 1 : -1); ++dy) {
            const int64_t other_y = job.periodic.wrap(1, y + dy, image.size[1]),
                          other_z = job.periodic.wrap(2, z + dz, image.size[2]);
            if (other_y < 0 || other_z < 0 || (dy != 0) + (dz != 0) > job.connectivity) continue;
            const Pixel *const other = row_of<Pixel>(image, other_y, other_z, scratch.other);
            for (int dx = -1; dx <= 1; ++dx)
                if (const Direction to{dx, dy, dz}; to.axes() <= job.connectivity)
                    add_contacts(row, other, width, is_periodic, to, scratch.bits, table);
        }
}

}  // namespace

size_t contacts_scratch(const ContactsJob &job, int threads) { return scratch_of_threads<ThreadScratch>(job.set, threads); }

void contacts(const ContactsJob &job, void *scratch, Arena &arena, const Progress &progress) {
    PairTable table = collect<ThreadScratch, PairTable>(
        job.set, scratch, arena, progress, [&](auto pixel, int64_t y, int64_t z, const ThreadScratch &own, PairTable &pairs) {
            add_row<decltype(pixel)>(job, y, z, own, pairs);
        });
    const auto &found = table.in_order();
    job.found->reserve(found.size());
    for (const auto &[pair, faces] : found)
        job.found->push_back({pair.a, pair.b, {faces.count[0], faces.count[1], faces.count[2]}, faces.count[CORNER], 0});
}

}  // namespace apsis::cpu::labels
