// Statistics of a label image: see statistics.h.
//
// Threads take pieces of whole rows.  A row falls into runs of equal pixels, and each run is added to the sums of its value in
// the thread's own table.  In the end tables are added up and sorted.  Sums are whole numbers, so their order does not matter.
//
// Cost: one read of the image, and a look into a table for each run.
#include "cpu/labels/statistics.h"

#include "cpu/labels/collect.h"
#include "cpu/labels/table.h"
#include "cpu/labels/value_sums.h"

namespace apsis::cpu::labels {

namespace {

using ValueTable = Table<int64_t, ValueParts>;

struct ThreadScratch {
    uint64_t *bits;  // where a row's runs end
    uint8_t *line;   // a row whose pixels are not side by side

    ThreadScratch(const View &image, Carver &carver) {
        bits = carver.take<uint64_t>((image.size[0] + 63) / 64);
        line = carver.take<uint8_t>(has_side_by_side(image) ? 0 : image.size[0] * pixel_bytes(image.type));
    }
};

template <class Pixel>
void add_row(const View &image, int64_t y, int64_t z, const ThreadScratch &scratch, ValueTable &table) {
    const Pixel *const row = row_of<Pixel>(image, y, z, scratch.line);
    const int64_t width = image.size[0], first = (z * image.size[1] + y) * width;
    int64_t begin = 0;
    const auto end_run = [&](int64_t last) {
        table.at(row[last]).add(first + begin, begin, last + 1, y, z);
        begin = last + 1;
    };
    mark_differences(row, row + 1, sizeof(Pixel), width - 1, scratch.bits);
    for_bits(scratch.bits, width - 1, end_run);
    end_run(width - 1);
}

}  // namespace

size_t statistics_scratch(const StatisticsJob &job, int threads) { return scratch_of_threads<ThreadScratch>(job.set, threads); }

void statistics(const StatisticsJob &job, void *scratch, Arena &arena, const Progress &progress) {
    ValueTable table = collect<ThreadScratch, ValueTable>(
        job.set, scratch, arena, progress, [&](auto pixel, int64_t y, int64_t z, const ThreadScratch &own, ValueTable &values) {
            add_row<decltype(pixel)>(job.set, y, z, own, values);
        });
    const auto &found = table.in_order();
    job.found->reserve(found.size());
    for (const ValueTable::Entry &each : found) job.found->push_back(each.sums.part_of(each.key));
}

}  // namespace apsis::cpu::labels
