// The base class of verbs that tell of the values of a label image in a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tool/io/table.h"
#include "tool/verbs/verb.h"

namespace tool {

class TableVerb : public MapVerb {
  protected:
    /// `memory` says what --memory limits, `columns` what the table has; `entry` and `entries` name what it lists.
    TableVerb(const char *name, const char *description, const std::string &memory, const char *examples, const char *columns,
              TableOf table, const char *entry, const char *entries);

    void add_to(Arguments &arguments) override;
    void check() override;
    void compute(Run &run) override;
    void print(Json &json) const override { json.member(entries_, count_); }

    std::uint32_t measures_ = 0;  // of a table of measures

    /// The options of the call.
    virtual apsis_options options(const Run &run) const = 0;
    /// Finds all entries, and adds them to the table.
    virtual void fill(Run &run, TableWriter &table) = 0;

    /// Reads slab after slab, and finds the entries of each by find(device, start, labels, entries, room), which returns how
    /// many there are; once more if there was no room for all.  merge(device, entries, count) adds up those that are alike, and
    /// returns how many are left.  read(device, labels) is called for slabs in order, before they are looked at.
    template <class Entry, class Find, class Merge, class Read>
    Memory collect(Run &run, Find find, Merge merge, Read read) {
        const std::int64_t room = first_room(run.shape().cut_to(run.cut().extent));
        const int devices = run.devices();
        Entries<Entry> all(*this, run, room);
        // Several devices find those of slabs apart, each in a table of its own; one alone, behind those of the slabs before.
        std::vector<Entries<Entry>> own;
        for (int device = 0; device < devices && devices > 1; ++device) own.emplace_back(*this, run, room);
        const std::int64_t others = run.cut().memory - (1 + std::ssize(own)) * room * std::int64_t{sizeof(Entry)};
        Rooms rooms{(1 + std::ssize(own)) * room};
        run.each_read([&](int device, std::int64_t, const Raster &labels) { read(device, labels); },
                      [&](int device, std::int64_t start, const Raster &labels) {
                          Entries<Entry> &table = own.empty() ? all : own[static_cast<size_t>(device)];
                          const std::int64_t before = own.empty() ? count_ : 0;
                          const auto find_here = [&] {
                              return find(device, start, labels, table.begin() + before, table.room - before);
                          };
                          table.count = before + find_here();
                          if (table.grow(table.count, rooms, others, start + labels.shape().extent())) find_here();
                      },
                      [&](int device, std::int64_t start, const Raster &labels) {
                          if (!own.empty()) {
                              const Entries<Entry> &found = own[static_cast<size_t>(device)];
                              all.count = count_ + found.count;
                              all.grow(all.count, rooms, others, start + labels.shape().extent());
                              std::copy_n(found.begin(), found.count, all.begin() + count_);
                          }
                          count_ = merge(device, all.begin(), all.count);
                      });
        return std::move(all.memory);
    }
    template <class Entry, class Find, class Merge>
    Memory collect(Run &run, Find find, Merge merge) {
        return collect<Entry>(run, find, merge, [](int, const Raster &) {});
    }

    std::int64_t count() const { return count_; }
    /// What --memory limits for a verb that looks once at each slab.
    static std::string once_memory_help();

  private:
    /// The room for entries of all tables.
    struct Rooms {
        std::int64_t all;
        std::mutex mutex = {};
    };
    /// A table, and how many entries it has.
    template <class Entry>
    struct Entries {
        const TableVerb &verb;
        const Run &run;
        std::int64_t room, count = 0;
        Memory memory;

        Entries(const TableVerb &of, const Run &in, std::int64_t first)
            : verb(of),
              run(in),
              room(first),
              memory(allocate(sizeof(Entry), first, of.entries_)) {}

        Entry *begin() const { return reinterpret_cast<Entry *>(memory.get()); }

        /// Makes room for so many, which the first `rows` have, if there is none; then returns true.  `rooms` is that of all
        /// tables, `others` the bytes that are not theirs.
        bool grow(std::int64_t most, Rooms &rooms, std::int64_t others, std::int64_t rows) {
            constexpr std::int64_t kEntry = sizeof(Entry);
            if (most <= room) return false;
            const std::lock_guard lock(rooms.mutex);
            const std::int64_t limit = run.cut().limit, besides = others + (rooms.all - room) * kEntry;
            if (besides + most * kEntry > limit) verb.refuse(run, rows, most, kEntry, besides);
            // One table alone takes room for those of slabs to come; of several none is to take that of another.
            const std::int64_t wanted = besides > others ? most : std::min(2 * most, (limit - besides) / kEntry);
            enlarge(memory, kEntry, wanted, verb.entries_);
            rooms.all += wanted - room;
            room = wanted;
            return true;
        }
    };

    /// Throws the Failure of a table that takes too much.
    [[noreturn]] void refuse(const Run &run, std::int64_t rows, std::int64_t found, std::int64_t entry,
                             std::int64_t others) const;
    void add_input(Arguments &arguments) override { request_.reading.add_file_to(arguments); }
    void add_output(Arguments &arguments) override { request_.writing.add_overwrite(arguments); }
    std::vector<OutputName> outputs() const override { return {{"table", output_}}; }
    void print_summary(const Run &run) const override;
    std::string sentence() const override { return std::to_string(count_) + " " + (count_ == 1 ? entry_ : entries_); }

    const char *columns_, *entry_, *entries_;
    TableOf table_;
    std::string output_;
    std::int64_t count_ = 0;
};

}  // namespace tool
