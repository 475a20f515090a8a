// apsis_components on the CPU, run by run (He, Chao and Suzuki 2008), in blocks of rows.
//
// A block is labelled by one thread, in cache.  What of a component lies in a block is a part of it; only parts that
// reach a row with neighbours in another block need to be known outside, and they are joined through the runs of those
// rows, their slots.  Of joined parts the one with the lowest pixel is the root, so that counting roots row by row gives
// the numbers in order (a scan over rows), whatever the threads did.  Then the blocks are written.
//
// What a block found is not kept, but where the labels are wanted: then the parts of a row's runs wait in that row of
// the output.  Otherwise (statistics, masks, selections) a block is labelled again from its bits, which takes less than
// writing it down.  Memory is 1/8 byte a pixel for the bits, the slots, and a block a thread.
#include "cpu/components.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>

#include "core/keys.h"
#include "cpu/blocks.h"
#include "cpu/parallel.h"
#include "cpu/runs.h"
#include "workspace.h"

namespace apsis::cpu {
namespace {

using Wide = unsigned __int128;

constexpr uint32_t NO_SLOT = UINT32_MAX;
constexpr uint32_t TOUCHES = uint32_t(1) << 31;  // beside the area of a part: it touches the image's border
constexpr int ORDINAL = 30;                      // bits of a part's number among those that begin in its row
constexpr int64_t CHUNK = 4096;                  // components that a thread initialises or finishes at once
constexpr int DIGIT = 11;                        // bits of a rank that one pass over the image settles

/// An apsis_component under way: sums where the centroid will be.
struct Sums {
    int64_t first, area, lower[3], upper[3], sum[3];

    void clear() { *this = {INT64_MAX, 0, {INT64_MAX, INT64_MAX, INT64_MAX}, {-1, -1, -1}, {0, 0, 0}}; }
    void add(int64_t index, int64_t begin, int64_t end, int64_t y, int64_t z) {
        const int64_t length = end - begin;
        const int64_t low[3] = {begin, y, z}, high[3] = {end - 1, y, z};
        first = std::min(first, index);
        area += length;
        sum[0] += length * (begin + end - 1) / 2;
        sum[1] += length * y;
        sum[2] += length * z;
        for (int a = 0; a < 3; ++a) {
            lower[a] = std::min(lower[a], low[a]);
            upper[a] = std::max(upper[a], high[a]);
        }
    }
};
static_assert(sizeof(Sums) == sizeof(apsis_component));

void add_shared(int64_t &to, int64_t value) {
    std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed);
}

template <class Better>
void choose_shared(int64_t &to, int64_t value, Better better) {
    std::atomic_ref<int64_t> shared(to);
    int64_t now = shared.load(std::memory_order_relaxed);
    while (better(value, now) && !shared.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
    }
}

void add_shared(Sums &to, const Sums &sums) {
    choose_shared(to.first, sums.first, std::less<int64_t>());
    add_shared(to.area, sums.area);
    for (int a = 0; a < 3; ++a) {
        choose_shared(to.lower[a], sums.lower[a], std::less<int64_t>());
        choose_shared(to.upper[a], sums.upper[a], std::greater<int64_t>());
        add_shared(to.sum[a], sums.sum[a]);
    }
}

/// What one thread works on: the runs of a block, its parts, and a row.
struct Bench {
    uint32_t *ends;     // of the runs of a row
    uint64_t *start;    // [row][word], see BitRow
    uint32_t *before;   // [row][word], likewise
    uint32_t *run;      // [row]: the number of its first run in `part`
    uint32_t *begin;    // [row]: the first part that begins in it, or in a later one
    uint32_t *part;     // [run]
    uint32_t *parent;   // [run]: a run of its tree that is not higher
    uint32_t *met;      // runs of two rows that meet
    uint32_t *area;     // [part], with TOUCHES
    int64_t *number;    // [part]: what it is called outside; before that, minus 1 minus its slot, or 0 if it has none
    uint8_t *line;      // a row of the output
    uint64_t *mask;     // a row of bits of the output
    Sums *sums;         // of parts with slots
    uint64_t *bins;     // of areas

    Bench(const Blocks &blocks, Carver &carver) {
        const int64_t rows = blocks.tall * blocks.deep, runs = rows * blocks.runs();
        ends = carver.take<uint32_t>(blocks.width + 64);
        start = carver.take<uint64_t>(std::max<int64_t>(rows, 2) * blocks.words());
        before = carver.take<uint32_t>(std::max<int64_t>(rows, 2) * blocks.words());
        run = carver.take<uint32_t>(rows + 1);
        begin = carver.take<uint32_t>(rows + 1);
        part = carver.take<uint32_t>(runs + 1);
        parent = carver.take<uint32_t>(runs);
        met = carver.take<uint32_t>(4 * blocks.runs() + 8);
        area = carver.take<uint32_t>(runs + 1);
        number = carver.take<int64_t>(runs + 1);
        line = carver.take<uint8_t>(blocks.width * 8 + 64);
        mask = carver.take<uint64_t>(blocks.words());
        sums = carver.take<Sums>(blocks.borders_of_block() * blocks.runs());
        bins = carver.take<uint64_t>(int64_t(1) << DIGIT);
    }
};

class Labelling {
  public:
    /// Numbers go on from `numbered`; the image's rows are those of slice z of a batch, and later ones.
    Labelling(const ComponentsJob &job, int threads, void *scratch, int64_t numbered = 0, int64_t z = 0)
        : job_(job), blocks_(job, threads), threads_(threads), numbered_(numbered), total_(numbered), origin_(z),
          selects_(job.selects()), keeps_(job.labels && !job.is_mask() && !selects_ && job.labels.stride[0] == pixel_size()) {
        Carver carver(scratch);
        const int64_t rows = blocks_.rows(), slots = blocks_.borders() * blocks_.runs();
        if (slots >= NO_SLOT || rows >= int64_t(1) << (63 - ORDINAL))
            throw Error(APSIS_ERROR_UNSUPPORTED, "set: size is %lld x %lld x %lld, too large for its components on the CPU",
                        static_cast<long long>(blocks_.width), static_cast<long long>(blocks_.height),
                        static_cast<long long>(blocks_.depth));
        pitch_ = blocks_.words() + 1;
        bits_ = carver.take<uint64_t>(rows * pitch_ + 1);
        base_ = carver.take<int64_t>(rows);
        begun_ = carver.take<uint32_t>(rows);
        slot_ = carver.take<uint32_t>(rows);
        parent_ = carver.take<uint32_t>(slots);
        key_ = carver.take<int64_t>(slots);
        area_ = carver.take<int64_t>(selects_ ? slots : 0);
        touches_ = carver.take<uint8_t>(selects_ ? slots : 0);
        Carver count;
        Bench(blocks_, count);
        bench_bytes_ = count.used();
        benches_ = carver.take<uint8_t>(static_cast<int64_t>(bench_bytes_) * threads);
        bytes_ = carver.used();
    }

    size_t bytes() const { return bytes_; }

    /// Returns the last number that was given.
    int64_t run(tbb::task_arena &arena, const Progress &progress) {
        arena_ = &arena;
        progress_ = &progress;
        give_slots();
        for_blocks(0, 0.4, [this](const Bench &b, const Block &block) { find_parts(b, block); });
        for_blocks(0.4, 0.45, [this](const Bench &b, const Block &block) { join_parts(b, block); });
        if (selects_) for_blocks(0.45, 0.5, [this](const Bench &b, const Block &block) { gather_parts(b, block); });
        if (job_.largest < INT64_MAX) find_least_rank();
        for_blocks(0.5, 0.55, [this](const Bench &b, const Block &block) { count_roots(b, block); });
        sum_rows();
        if (!job_.labels && !job_.components) return total_;
        for_blocks(0.55, 0.6, [this](const Bench &b, const Block &block) { number_roots(b, block); });
        clear_components();
        for_blocks(0.6, 1, [this](const Bench &b, const Block &block) { write(b, block); });
        finish_components();
        return total_;
    }

  private:
    int64_t pixel_size() const { return job_.labels.type == APSIS_I64 ? 8 : 4; }
    int64_t row_at(int64_t y, int64_t z) const { return z * blocks_.height + y; }
    uint64_t *bits_of(int64_t row) const { return bits_ + row * pitch_ + 1; }

    Bench bench(int thread) const {
        Carver carver(benches_ + bench_bytes_ * static_cast<size_t>(thread));
        return Bench(blocks_, carver);
    }

    template <class Body>
    void for_blocks(double from, double to, Body body) {
        parallel_for(*arena_, blocks_.count(), *progress_, from, to, [&](int64_t i) {
            body(bench(tbb::this_task_arena::current_thread_index()), blocks_.at(i));
        });
    }

    /// Calls body(j, y, z) for the rows of a block, in order; j counts them.
    template <class Body>
    static void for_rows(const Block &block, Body body) {
        int64_t j = 0;
        for (int64_t z = block.z0; z < block.z1; ++z)
            for (int64_t y = block.y0; y < block.y1; ++y) body(j++, y, z);
    }

    /// Calls body(slot) for the slots of a block that stand for a part.
    template <class Body>
    void for_slots(const Block &block, Body body) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            const uint32_t first = slot_[row_at(y, z)];
            for (int64_t i = 0; first != NO_SLOT && i < blocks_.runs(); ++i)
                if (key_[first + i] >= 0) body(static_cast<uint32_t>(first + i));
        });
    }

    void give_slots() {
        uint32_t next = 0;
        for (int64_t i = 0; i < blocks_.count(); ++i) {
            const Block block = blocks_.at(i);
            for_rows(block, [&](int64_t, int64_t y, int64_t z) {
                const bool is_border = blocks_.is_border(block, y, z);
                slot_[row_at(y, z)] = is_border ? next : NO_SLOT;
                if (is_border) next += static_cast<uint32_t>(blocks_.runs());
            });
        }
    }

    // ---- A block ----

    void pack_row(int64_t y, int64_t z) const {
        uint64_t *const word = bits_of(row_at(y, z));
        const uint8_t *const pixels = job_.set.row(y, z);
        word[-1] = 0;
        if (job_.set.type == APSIS_BIT) return pack_bits(pixels, blocks_.width, job_.complement, word);
        if (job_.set.stride[0] == 1) return pack_bytes(pixels, blocks_.width, job_.complement, word);
        std::memset(word, 0, static_cast<size_t>(blocks_.words()) * sizeof *word);
        for (int64_t x = 0; x < blocks_.width; ++x)
            word[x >> 6] |= uint64_t(is_set(job_.set, pixels, x) != job_.complement) << (x & 63);
    }

    /// Row j of the bench is this row of the image.
    BitRow bit_row(const Bench &b, int64_t j, int64_t row) const {
        return {bits_of(row), b.start + j * blocks_.words(), b.before + j * blocks_.words()};
    }

    /// Finds the part of every run.  Returns how many parts there are; they are numbered from 1, by their lowest pixel.
    uint32_t label(const Bench &b, const Block &block) const {
        uint32_t runs = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const BitRow row = bit_row(b, j, row_at(y, z));
            const uint32_t found = count_row(b, j, row_at(y, z));
            b.run[j] = runs;
            b.run[j + 1] = runs + found;
            std::iota(b.parent + runs, b.parent + runs + found, runs);
            for (const Step *step = blocks_.step; found && step < blocks_.step + blocks_.steps; ++step) {
                const int64_t other_y = y + step->dy, other_z = z + step->dz;
                if (!block.holds(other_y, other_z)) continue;
                const int64_t other = block.at(other_y, other_z);
                join_runs(b, bit_row(b, other, row_at(other_y, other_z)), b.run[other], row, runs, step->reach);
            }
            runs += found;
        });
        return number_parts(b, block.rows());
    }

    uint32_t count_row(const Bench &b, int64_t j, int64_t row) const {
        const int64_t at = j * blocks_.words();
        return static_cast<uint32_t>(count_runs(bits_of(row), blocks_.width, b.start + at, b.before + at));
    }

    /// Most runs are roots or next to one, and which of both they are cannot be foreseen: no branch asks.
    static uint32_t root_in(uint32_t *parent, uint32_t run) {
        uint32_t root = parent[run];
        while (parent[root] != root) root = parent[root] = parent[parent[root]];
        return parent[run] = root;
    }

    /// Makes one tree of those of runs that meet; the lowest run is its root.
    void join_runs(const Bench &b, const BitRow &other, uint32_t first_other, const BitRow &row, uint32_t first,
                   int64_t reach) const {
        const int64_t meetings = find_meetings(other, row, blocks_.width, reach, b.met);
        for (int64_t i = 0; i < meetings; ++i) {
            const uint32_t one = root_in(b.parent, first_other + b.met[2 * i]);
            const uint32_t two = root_in(b.parent, first + b.met[2 * i + 1]);
            b.parent[std::max(one, two)] = std::min(one, two);  // itself, if they are one
        }
    }

    /// From trees to parts.
    static uint32_t number_parts(const Bench &b, int64_t rows) {
        uint32_t parts = 0;
        for (int64_t j = 0; j < rows; ++j) {
            b.begin[j] = parts + 1;
            for (uint32_t run = b.run[j]; run < b.run[j + 1]; ++run) {
                const uint32_t up = b.parent[run], part = b.part[up];  // known, unless it is `run` itself
                parts += up == run;
                b.part[run] = up == run ? parts : part;
            }
        }
        b.begin[rows] = parts + 1;
        return parts;
    }

    /// The areas of parts, and whether they touch the image's border.
    void measure(const Bench &b, const Block &block, uint32_t parts) const {
        std::fill_n(b.area, parts + 1, 0);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const int64_t runs = find_runs(bits_of(row_at(y, z)), blocks_.width, b.ends);
            const bool edge = blocks_.at_edge(y, z);
            for (int64_t i = 0; i < runs; ++i) {
                uint32_t &area = b.area[b.part[b.run[j] + i]];
                area += b.ends[2 * i + 1] - b.ends[2 * i];
                if (edge || b.ends[2 * i] == 0 || b.ends[2 * i + 1] == blocks_.width) area |= TOUCHES;
            }
        });
    }

    /// The number of a part that has a slot becomes minus 1 minus the first of its slots; `visit` is told of every slot.
    template <class Visit>
    void mark_slots(const Bench &b, const Block &block, uint32_t parts, Visit visit) const {
        std::fill_n(b.number, parts + 1, 0);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const uint32_t first = slot_[row_at(y, z)], runs = b.run[j + 1] - b.run[j];
            for (uint32_t i = 0; first != NO_SLOT && i < runs; ++i) {
                int64_t &number = b.number[b.part[b.run[j] + i]];
                if (number == 0) number = -1 - int64_t(first + i);
                visit(first + i, static_cast<uint32_t>(-1 - number));
            }
        });
    }

    void find_parts(const Bench &b, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            pack_row(y, z);
            const uint32_t first = slot_[row_at(y, z)];
            if (first != NO_SLOT) std::fill_n(key_ + first, blocks_.runs(), -1);
        });
        const uint32_t parts = label(b, block);
        if (selects_) measure(b, block, parts);
        mark_slots(b, block, parts, [this](uint32_t slot, uint32_t own) { parent_[slot] = own; });
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            begun_[row] = b.begin[j + 1] - b.begin[j];
            for (uint32_t part = b.begin[j]; part < b.begin[j + 1]; ++part) {
                if (b.number[part] == 0) continue;
                const int64_t slot = -1 - b.number[part];
                key_[slot] = row << ORDINAL | (part - b.begin[j]);
                if (!selects_) continue;
                area_[slot] = b.area[part] & ~TOUCHES;
                touches_[slot] = (b.area[part] & TOUCHES) != 0;
            }
            if (keeps_)
                std::memcpy(job_.labels.row(y, z), b.part + b.run[j], (b.run[j + 1] - b.run[j]) * sizeof *b.part);
        });
    }

    // ---- Between blocks: union-find without locks, over slots ----

    uint32_t root_of(uint32_t slot) const {
        const auto parent = [this](uint32_t of) { return std::atomic_ref<uint32_t>(parent_[of]); };
        for (;;) {
            const uint32_t up = parent(slot).load(std::memory_order_relaxed);
            if (up == slot) return slot;
            const uint32_t next = parent(up).load(std::memory_order_relaxed);
            if (next != up) parent(slot).store(next, std::memory_order_relaxed);
            slot = next;
        }
    }

    /// The root with the lowest pixel stays one, whoever comes first.
    void join_slots(uint32_t one, uint32_t other) const {
        for (;;) {
            one = root_of(one);
            other = root_of(other);
            if (one == other) return;
            if (key_[one] < key_[other]) std::swap(one, other);
            uint32_t expected = one;
            if (std::atomic_ref<uint32_t>(parent_[one]).compare_exchange_strong(expected, other, std::memory_order_relaxed))
                return;
        }
    }

    void join_parts(const Bench &b, const Block &block) const {
        for_rows(block, [&](int64_t, int64_t y, int64_t z) {
            const int64_t row = row_at(y, z);
            if (slot_[row] == NO_SLOT || !count_row(b, 0, row)) return;
            for (const Step *step = blocks_.step; step < blocks_.step + blocks_.steps; ++step) {
                const int64_t other_y = y + step->dy, other_z = z + step->dz;
                const bool inside = other_y >= 0 && other_y < blocks_.height && other_z >= 0;
                if (!inside || block.holds(other_y, other_z)) continue;
                const int64_t other = row_at(other_y, other_z);
                if (!count_row(b, 1, other)) continue;
                const int64_t meetings = find_meetings(bit_row(b, 1, other), bit_row(b, 0, row), blocks_.width, step->reach, b.met);
                for (int64_t i = 0; i < meetings; ++i) join_slots(slot_[row] + b.met[2 * i + 1], slot_[other] + b.met[2 * i]);
            }
        });
    }

    /// A root's area becomes that of its component.
    void gather_parts(const Bench &, const Block &block) const {
        for_slots(block, [this](uint32_t slot) {
            const uint32_t root = root_of(slot);
            if (root == slot) return;
            add_shared(area_[root], area_[slot]);
            if (touches_[slot]) std::atomic_ref<uint8_t>(touches_[root]).store(1, std::memory_order_relaxed);
        });
    }

    // ---- Selections ----

    /// Whether a component is wanted, as far as that can be said of it alone.
    bool is_wanted(int64_t area, bool touches) const {
        return area >= job_.min_area && area <= job_.max_area && !(touches ? job_.no_border : job_.no_inner);
    }

    /// Larger components rank higher, and of equal ones those that come first.
    Wide rank_of(int64_t area, int64_t key) const {
        return Wide(static_cast<uint64_t>(area)) << key_bits() | static_cast<uint64_t>((int64_t(1) << key_bits()) - 1 - key);
    }
    int key_bits() const { return ORDINAL + bits_below(blocks_.rows()); }

    bool is_kept(int64_t area, bool touches, int64_t key) const {
        return is_wanted(area, touches) && (job_.largest == INT64_MAX || rank_of(area, key) >= least_rank_);
    }

    /// Whether a slot stands for a component that is kept.
    bool is_root(uint32_t slot, int64_t key) const {
        return root_of(slot) == slot && (!selects_ || is_kept(area_[slot], touches_[slot], key));
    }

    /// Calls body(key, part, slot) for the parts of a block in order, where they have a slot (otherwise it is -1) or are
    /// kept.
    template <class Body>
    void for_parts(const Bench &b, const Block &block, Body body) const {
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            for (uint32_t part = b.begin[j]; part < b.begin[j + 1]; ++part) {
                const int64_t key = row_at(y, z) << ORDINAL | (part - b.begin[j]), slot = -1 - b.number[part];
                const uint32_t area = selects_ ? b.area[part] : 0;
                if (slot >= 0 || !selects_ || is_kept(area & ~TOUCHES, area & TOUCHES, key)) body(key, part, slot);
            }
        });
    }

    /// Tells again which parts begin in which row of a block and which have slots; for a selection, from its bits.
    void find_parts_again(const Bench &b, const Block &block) const {
        if (selects_) {
            const uint32_t parts = label(b, block);
            measure(b, block, parts);
            return mark_slots(b, block, parts, [](uint32_t, uint32_t) {});
        }
        const uint32_t parts = recall_begins(b, block);
        std::fill_n(b.number, parts + 1, 0);
        for_slots(block, [&](uint32_t slot) {
            const int64_t row = key_[slot] >> ORDINAL, ordinal = key_[slot] & ((int64_t(1) << ORDINAL) - 1);
            b.number[b.begin[block.at(row % blocks_.height, row / blocks_.height)] + ordinal] = -1 - int64_t(slot);
        });
    }

    uint32_t recall_begins(const Bench &b, const Block &block) const {
        uint32_t parts = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            b.begin[j] = parts + 1;
            parts += begun_[row_at(y, z)];
        });
        b.begin[block.rows()] = parts + 1;
        return parts;
    }

    /// Finds the rank of the last component to be kept, digit by digit from the highest: each pass over the image counts
    /// the components that have the digits found so far, by the next one.
    void find_least_rank() {
        int64_t left = job_.largest;
        for (int shift = (key_bits() + bits_below(job_.set.pixels() + 1)) / DIGIT * DIGIT; shift >= 0; shift -= DIGIT) {
            count_digits(shift);
            int digit = (1 << DIGIT) - 1;
            for (; digit >= 0 && bin(digit) < left; --digit) left -= bin(digit);
            if (digit < 0) return;  // there are no more than are wanted
            least_rank_ |= Wide(static_cast<unsigned>(digit)) << shift;
            if (bin(digit) == left) return;
        }
    }

    void count_digits(int shift) {
        for (int thread = 0; thread < threads_; ++thread) std::fill_n(bench(thread).bins, 1 << DIGIT, 0);
        for_blocks(0.5, 0.5, [&](const Bench &b, const Block &block) {
            find_parts_again(b, block);
            for_parts(b, block, [&](int64_t key, uint32_t part, int64_t slot) {
                if (slot >= 0 && !is_root(static_cast<uint32_t>(slot), key)) return;
                const Wide rank = rank_of(slot >= 0 ? area_[slot] : b.area[part] & ~TOUCHES, key);
                if (rank >> shift >> DIGIT == least_rank_ >> shift >> DIGIT)
                    ++b.bins[static_cast<unsigned>(rank >> shift) & ((1u << DIGIT) - 1)];
            });
        });
    }

    int64_t bin(int digit) const {
        int64_t count = 0;
        for (int thread = 0; thread < threads_; ++thread) count += bench(thread).bins[digit];
        return count;
    }

    // ---- Numbers ----

    void count_roots(const Bench &b, const Block &block) const {
        if (!selects_) {
            for_rows(block, [&](int64_t, int64_t y, int64_t z) { base_[row_at(y, z)] = begun_[row_at(y, z)]; });
            return for_slots(block, [this](uint32_t slot) { base_[key_[slot] >> ORDINAL] -= root_of(slot) != slot; });
        }
        find_parts_again(b, block);
        for_rows(block, [&](int64_t, int64_t y, int64_t z) { base_[row_at(y, z)] = 0; });
        for_parts(b, block, [&](int64_t key, uint32_t, int64_t slot) {
            if (slot < 0 || is_root(static_cast<uint32_t>(slot), key)) ++base_[key >> ORDINAL];
        });
    }

    /// From how many roots a row has to how many are before it.
    void sum_rows() {
        for (int64_t row = 0; row < blocks_.rows(); ++row) {
            const int64_t before = total_;
            total_ += base_[row];
            base_[row] = before;
        }
    }

    /// A root's key becomes its number, or 0 if it is left out.
    void number_roots(const Bench &b, const Block &block) const {
        find_parts_again(b, block);
        int64_t row = -1, number = 0;
        for_parts(b, block, [&](int64_t key, uint32_t, int64_t slot) {
            if (key >> ORDINAL != row) number = base_[row = key >> ORDINAL];
            const bool counts = slot < 0 || is_root(static_cast<uint32_t>(slot), key);
            if (counts) ++number;
            if (slot >= 0) key_[slot] = counts ? number : 0;
        });
    }

    // ---- Writing ----

    /// The parts of a block's runs, from the rows of the output.
    uint32_t recall_parts(const Bench &b, const Block &block) const {
        uint32_t runs = 0;
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            b.run[j] = runs;
            const size_t found = static_cast<size_t>(count_runs(bits_of(row_at(y, z)), blocks_.width, b.start, b.before));
            std::memcpy(b.part + runs, job_.labels.row(y, z), found * sizeof *b.part);
            b.run[j + 1] = runs += static_cast<uint32_t>(found);
        });
        return recall_begins(b, block);
    }

    void write(const Bench &b, const Block &block) const {
        const uint32_t parts = keeps_ ? recall_parts(b, block) : label(b, block);
        if (selects_) measure(b, block, parts);
        mark_slots(b, block, parts, [](uint32_t, uint32_t) {});
        name_parts(b, block);
        if (job_.components) add_components(b, block, parts);
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            if (job_.labels) write_row(b, y, z, b.part + b.run[j]);
        });
        end_stream();
    }

    /// Gives every part the number of its component, or 0, and those with slots an area that tells their place among them.
    void name_parts(const Bench &b, const Block &block) const {
        int64_t row = -1, number = 0;
        uint32_t with_slots = 0;
        for_parts(b, block, [&](int64_t key, uint32_t part, int64_t slot) {
            if (key >> ORDINAL != row) number = base_[row = key >> ORDINAL];
            if (slot < 0) {
                b.number[part] = ++number;
                if (job_.components) b.area[part] = 0;
                return;
            }
            const uint32_t root = root_of(static_cast<uint32_t>(slot));
            b.number[part] = key_[root];
            b.area[part] = ++with_slots;
            if (root == slot && key_[root] > 0) ++number;
        });
    }

    void write_row(const Bench &b, int64_t y, int64_t z, const uint32_t *part) const {
        const int64_t runs = find_runs(bits_of(row_at(y, z)), blocks_.width, b.ends);
        if (job_.labels.type == APSIS_I32)
            write_labels(b, reinterpret_cast<int32_t *>(b.line), runs, part, job_.labels.row(y, z));
        else if (job_.labels.type == APSIS_I64)
            write_labels(b, reinterpret_cast<int64_t *>(b.line), runs, part, job_.labels.row(y, z));
        else
            write_mask(b, runs, part, job_.labels.row(y, z));
    }

    template <class Pixel>
    void write_labels(const Bench &b, Pixel *line, int64_t runs, const uint32_t *part, uint8_t *row) const {
        fill_runs(b.ends, part, runs, blocks_.width, b.number, line);
        if (job_.labels.stride[0] == sizeof(Pixel))
            return stream_bytes(b.line, blocks_.width * int64_t(sizeof(Pixel)), row);
        for (int64_t x = 0; x < blocks_.width; ++x) put<Pixel>(job_.labels, row, x, line[x]);
    }

    void write_mask(const Bench &b, int64_t runs, const uint32_t *part, uint8_t *row) const {
        const int64_t width = blocks_.width;
        std::memset(b.line, job_.complement, static_cast<size_t>(width));
        for (int64_t i = 0; i < runs; ++i)
            if (b.number[part[i]] > 0)
                std::memset(b.line + b.ends[2 * i], !job_.complement, b.ends[2 * i + 1] - b.ends[2 * i]);
        if (job_.labels.type == APSIS_BIT) {
            pack_bytes(b.line, width, false, b.mask);
            std::memcpy(row, b.mask, static_cast<size_t>((width + 7) / 8));
        } else if (job_.labels.stride[0] == 1) {
            std::memcpy(row, b.line, static_cast<size_t>(width));
        } else {
            for (int64_t x = 0; x < width; ++x) put<uint8_t>(job_.labels, row, x, b.line[x]);
        }
    }

    // ---- What is known of components ----

    Sums *sums() const { return reinterpret_cast<Sums *>(job_.components); }
    int64_t given() const { return job_.components ? std::min(total_ - numbered_, job_.capacity) : 0; }

    void clear_components() {
        const int64_t count = given();
        parallel_for(*arena_, (count + CHUNK - 1) / CHUNK, {}, 0, 0, [&](int64_t i) {
            for (int64_t k = i * CHUNK; k < std::min((i + 1) * CHUNK, count); ++k) sums()[k].clear();
        });
    }

    /// Adds the runs of a block: those of parts without slots where they belong, the others first by themselves, so that
    /// threads meet once a part.
    void add_components(const Bench &b, const Block &block, uint32_t parts) const {
        for (uint32_t part = 1; part <= parts; ++part)
            if (b.number[part] && b.area[part]) b.sums[b.area[part] - 1].clear();
        const int64_t count = given();
        for_rows(block, [&](int64_t j, int64_t y, int64_t z) {
            const int64_t runs = find_runs(bits_of(row_at(y, z)), blocks_.width, b.ends);
            const int64_t first = (row_at(y, z) + origin_ * blocks_.height) * blocks_.width;
            for (int64_t i = 0; i < runs; ++i) {
                const uint32_t part = b.part[b.run[j] + i];
                const int64_t at = b.number[part] - numbered_ - 1;
                if (at < 0 || at >= count) continue;
                Sums &to = b.area[part] ? b.sums[b.area[part] - 1] : sums()[at];
                to.add(first + b.ends[2 * i], b.ends[2 * i], b.ends[2 * i + 1], y, z + origin_);
            }
        });
        for (uint32_t part = 1; part <= parts; ++part) {
            const int64_t at = b.number[part] - numbered_ - 1;
            if (at >= 0 && at < count && b.area[part]) add_shared(sums()[at], b.sums[b.area[part] - 1]);
        }
    }

    void finish_components() {
        const int64_t count = given();
        parallel_for(*arena_, (count + CHUNK - 1) / CHUNK, {}, 0, 0, [&](int64_t i) {
            for (int64_t k = i * CHUNK; k < std::min((i + 1) * CHUNK, count); ++k) {
                const Sums of = sums()[k];
                for (int a = 0; a < 3; ++a)
                    job_.components[k].centroid[a] = static_cast<double>(of.sum[a]) / static_cast<double>(of.area);
            }
        });
    }

    ComponentsJob job_;
    Blocks blocks_;
    int threads_;
    int64_t numbered_, total_, origin_;
    bool selects_;
    bool keeps_;  // the parts of runs, in the rows of the output
    size_t bytes_, bench_bytes_;
    int64_t pitch_;       // words of a row of bits
    uint64_t *bits_;
    int64_t *base_;       // [row]: how many components begin before it
    uint32_t *begun_;     // [row]: parts that begin in it
    uint32_t *slot_;      // [row]: its first slot, or NO_SLOT
    uint32_t *parent_;    // [slot]
    int64_t *key_;        // [slot]: of the first slot of a part, the row that the part begins in and its ordinal there
    int64_t *area_;       // [slot]
    uint8_t *touches_;    // [slot]
    uint8_t *benches_;
    Wide least_rank_ = 0;
    tbb::task_arena *arena_ = nullptr;
    const Progress *progress_ = nullptr;
};

/// Slice z of a batch.
ComponentsJob slice_of(const ComponentsJob &job, int64_t z) {
    ComponentsJob slice = job;
    for (View *view : {&slice.set, &slice.labels}) {
        view->size[2] = 1;
        if (*view) view->data += z * view->stride[2];
    }
    return slice;
}

/// The largest of each slice can only be found slice by slice.
bool goes_by_slices(const ComponentsJob &job) { return job.axes == 2 && job.set.size[2] > 1 && job.largest < INT64_MAX; }

}  // namespace

size_t components_scratch(const ComponentsJob &job, int threads) {
    if (job.method == APSIS_TILE_FILL) return tile_fill_scratch(job);
    return Labelling(goes_by_slices(job) ? slice_of(job, 0) : job, threads, nullptr).bytes();
}

void components(const ComponentsJob &job, void *scratch, tbb::task_arena &arena, const Progress &progress) {
    const int threads = arena.max_concurrency();
    int64_t count = 0;
    if (job.method == APSIS_TILE_FILL) {
        count = tile_fill(job, scratch, arena, progress);
    } else if (goes_by_slices(job)) {
        for (int64_t z = 0; z < job.set.size[2]; ++z) {
            ComponentsJob slice = slice_of(job, z);
            if (job.components) {
                slice.components = job.components + std::min(count, job.capacity);
                slice.capacity = job.capacity - std::min(count, job.capacity);
            }
            const double depth = static_cast<double>(job.set.size[2]);
            const Progress part = [&](double done) { progress((static_cast<double>(z) + done) / depth); };
            count = Labelling(slice, threads, scratch, count, z).run(arena, progress ? part : Progress());
        }
    } else {
        count = Labelling(job, threads, scratch).run(arena, progress);
    }
    if (job.count) *job.count = count;
    if (progress) progress(1);
}

}  // namespace apsis::cpu
