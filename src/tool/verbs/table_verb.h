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
    /// `columns` says what the table has; `entry` and `entries` name what it lists.
    TableVerb(const char *name, const char *description, const char *examples, const char *columns, TableOf table,
              const char *entry, const char *entries);

    void add_to(Arguments &arguments) override;
    void check() override;
    void compute(Run &run) override;
    void print(Json &json) const override { json.member(entries_, count_); }

    std::uint32_t measures_ = 0;  // of a table of measures

    /// The options of the call.
    virtual apsis_options options(const Run &run) const = 0;
    /// Finds all entries, and adds them to the table.
    virtual void fill(Run &run, TableWriter &table) = 0;

    /// Calls the library, once more if there are more entries than there was room for, and adds them to the table.
    template <class Entry, class Call>
    void fill_by(Call call, Run &run, TableWriter &table) {
        const apsis_options options = this->options(run);
        std::int64_t room = std::min(kRoom, run.shape().pixels());
        Memory memory;
        const auto entries = [&memory] { return reinterpret_cast<Entry *>(memory.get()); };
        run.transform([&](const Device &device, const BinaryImage &image) {
            const auto find = [&] {
                memory.reset();
                memory = allocate(sizeof(Entry), room, entries_);
                device.check(call(device.context(), image.marks.image(), entries(), room, &count_, &options));
            };
            find();
            if (count_ <= room) return;
            room = count_;
            find();
        });
        for (std::int64_t i = 0; i < count_; ++i) table.add(entries()[i]);
    }

  private:
    static constexpr std::int64_t kRoom = 1 << 16;  // entries for which there is room at first

    void add_input(Arguments &arguments) override { request_.reading.add_file_to(arguments); }
    void add_output(Arguments &arguments) override { request_.writing.add_overwrite(arguments); }
    std::vector<OutputName> outputs() const override { return {{"table", output_}}; }
    Maps maps(const Run &) const override { return {{}, "tables of values have no slabs"}; }
    void print_summary(const Run &run) const override;
    std::string sentence() const override { return std::to_string(count_) + " " + (count_ == 1 ? entry_ : entries_); }

    const char *columns_, *entry_, *entries_;
    TableOf table_;
    std::string output_;
    std::int64_t count_ = 0;
};

}  // namespace tool
