// What a thread has found, by key: a hash table with open addressing, at most half full, that grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace apsis::cpu::labels {

/// Spreads a number over all bits (the finalizer of splitmix64).
inline uint64_t spread(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}
inline uint64_t hash_of(int64_t number) { return spread(static_cast<uint64_t>(number)); }

/// A key has ==, < and hash_of(); sums have add().
template <class Key, class Sums>
class Table {
  public:
    struct Entry {
        Key key;
        Sums sums;
    };

    /// The sums of a key, new ones if it has none.  Valid until the next call.
    Sums &at(const Key &key) { return entries_[place_of(key)].sums; }

    /// The place of its entry, which stays.
    size_t place_of(const Key &key) {
        size_t slot = 0;
        if (!slots_.empty()) {
            slot = find(key);
            if (slots_[slot]) return slots_[slot] - 1;
        }
        if (2 * entries_.size() >= slots_.size()) {
            grow();
            slot = find(key);
        }
        entries_.push_back({key, Sums()});
        slots_[slot] = entries_.size();
        return entries_.size() - 1;
    }
    Entry &operator[](size_t place) { return entries_[place]; }
    const Entry &operator[](size_t place) const { return entries_[place]; }
    template <class Body>
    void for_places(Body body) const {
        for (size_t place = 0; place < entries_.size(); ++place) body(place);
    }

    void add(const Table &other) {
        for (const Entry &each : other.entries_) at(each.key).add(each.sums);
    }

    /// The places of entries in the order of their keys, for sums that are too large to be moved by a sort.
    std::vector<size_t> order() const {
        std::vector<size_t> places(entries_.size());
        std::iota(places.begin(), places.end(), size_t(0));
        std::sort(places.begin(), places.end(), [&](size_t a, size_t b) { return entries_[a].key < entries_[b].key; });
        return places;
    }

    /// In the order of their keys.  The table is of no use after it.
    const std::vector<Entry> &in_order() {
        std::sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) { return a.key < b.key; });
        return entries_;
    }

  private:
    static constexpr size_t LEAST = 64;

    /// The slot that holds the key, or the free one where it would be.
    size_t find(const Key &key) const {
        const size_t mask = slots_.size() - 1;
        size_t slot = hash_of(key) & mask;
        while (slots_[slot] && !(entries_[slots_[slot] - 1].key == key)) slot = (slot + 1) & mask;
        return slot;
    }

    void grow() {
        slots_.assign(std::max(2 * slots_.size(), LEAST), 0);
        for (size_t i = 0; i < entries_.size(); ++i) slots_[find(entries_[i].key)] = i + 1;
    }

    std::vector<Entry> entries_;
    std::vector<size_t> slots_;  // 0, or 1 more than the place of an entry
};

}  // namespace apsis::cpu::labels
