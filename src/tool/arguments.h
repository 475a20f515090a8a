// The command line of a verb: one table of options, from which it is both parsed and explained.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// One option.  `value` is the word that --help shows for its value; empty if it takes none.
struct Option {
    std::string name;  // "--sites"
    char letter;       // 'q', or 0
    std::string value;
    std::string help;
    std::function<void(const std::string &)> take;
};

/// One argument without a dash, such as IN.tif.
struct Positional {
    std::string name;
    std::string help;
    std::function<void(const std::string &)> take;
};

/// A word that is taken for another one.
struct Synonym {
    std::string_view word, stands_for;
};

/// The arguments and options that a verb accepts.
class Arguments {
  public:
    Arguments(const std::string &verb, std::string description, const std::string &program = "apsis")
        : command_(program + " " + verb),
          description_(std::move(description)) {}

    /// With a rule of its own, or without.
    void positional(std::string name, std::string help, std::function<void(const std::string &)> take);
    void positional(std::string name, std::string help, std::string &target);
    void flag(std::string name, std::string help, bool &target, char letter = 0);
    void integer(std::string name, std::string value, std::string help, std::int64_t least,
                 std::optional<std::int64_t> &target);
    void number(std::string name, std::string value, std::string help, std::optional<double> &target);
    void number_from_0(std::string name, std::string value, std::string help, std::optional<double> &target);
    void numbers(std::string name, std::string value, std::string help, std::vector<double> &target);

    /// An option that takes one of these words, or a synonym of one; the target is set to the word's place among them.
    template <class Enum>
    void choice(const std::string &name, std::span<const char *const> words, std::string help, Enum &target,
                std::span<const Synonym> synonyms = {}) {
        choose(name, words, std::move(help), synonyms, [&target](int place) { target = static_cast<Enum>(place); });
    }
    template <size_t count, class Enum>
    void choice(const std::string &name, const char *const (&words)[count], std::string help, Enum &target) {
        choice(name, std::span<const char *const>(words), std::move(help), target);
    }
    /// An option with a rule of its own.
    void custom(std::string name, std::string value, std::string help, std::function<void(const std::string &)> take);

    /// A paragraph that --help shows after the options.
    void epilogue(std::string text) { epilogue_ = std::move(text); }

    /// Parses the words after the verb.  Returns false if one of them is --help or -h.
    bool parse(const std::vector<std::string> &words);

    std::string help() const;

  private:
    void choose(const std::string &name, std::span<const char *const> words, std::string help,
                std::span<const Synonym> synonyms, std::function<void(int)> take);
    void take_option(const std::vector<std::string> &words, size_t &at);
    const Option &find(const std::string &word, const std::string &name) const;

    std::string command_, description_, epilogue_;
    std::vector<Option> options_;
    std::vector<Positional> positionals_;
};

/// Text in lines of at most 80 columns; lines after the first start with `indent` spaces.
std::string wrapped(const std::string &text, size_t indent, size_t column);

}  // namespace tool
