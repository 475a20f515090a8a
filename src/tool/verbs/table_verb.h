// The base class of verbs that tell of the values of a label image in a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
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

    /// Reads slab after slab, and finds the entries of each by find(start, labels, entries, room), which returns how many there
    /// are; once more if there was no room for all.  merge(labels, entries, count) adds up those that are alike, and returns
    /// how many are left.
    template <class Entry, class Find, class Merge>
    Memory collect(Run &run, Find find, Merge merge) {
        constexpr std::int64_t kEntry = sizeof(Entry);
        const Cut &cut = run.cut();
        std::int64_t room = first_room(run.shape().cut_to(cut.extent));
        const std::int64_t others = cut.memory - room * kEntry;
        Memory memory = allocate(kEntry, room, entries_);
        const auto entries = [&memory] { return reinterpret_cast<Entry *>(memory.get()); };
        run.each_read([&](std::int64_t start, const Raster &labels) {
            const auto find_here = [&] { return find(start, labels, entries() + count_, room - count_); };
            std::int64_t found = find_here();
            if (const std::int64_t all = count_ + found; all > room) {
                if (others + all * kEntry > cut.limit) refuse(run, start + labels.shape().extent(), all, kEntry, others);
                room = std::min(2 * all, (cut.limit - others) / kEntry);  // for those of slabs to come
                enlarge(memory, kEntry, room, entries_);
                found = find_here();
            }
            count_ = merge(labels, entries(), count_ + found);
        });
        return memory;
    }

    std::int64_t count() const { return count_; }
    /// What --memory limits for a verb that looks once at each slab.
    static std::string once_memory_help();

  private:
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
