// Parses a verb's command line, and writes its help, from the same table.
#include "tool/arguments.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "tool/failure.h"

namespace tool {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kHelpColumn = 26;

/// The whole of `word` as a number, or nothing.
template <class Number>
std::optional<Number> parsed(const std::string &word) {
    Number value{};
    const char *end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
    return value;
}

double parse_positive(const std::string &name, const std::string &word, const std::string &whole) {
    const std::optional<double> value = parsed<double>(word);
    if (!value || !std::isfinite(*value) || *value <= 0)
        usage(name + " is " + quoted(whole) + ", but must be " +
              (word == whole ? "a number above 0" : "numbers above 0, with commas between"));
    return *value;
}

}  // namespace

void Arguments::positional(std::string name, std::string help, std::function<void(const std::string &)> take) {
    positionals_.push_back({std::move(name), std::move(help), std::move(take)});
}

void Arguments::positional(std::string name, std::string help, std::string &target) {
    positional(std::move(name), std::move(help), [&target](const std::string &word) { target = word; });
}

void Arguments::custom(std::string name, std::string value, std::string help, std::function<void(const std::string &)> take) {
    options_.push_back({std::move(name), 0, std::move(value), std::move(help), std::move(take)});
}

void Arguments::flag(std::string name, std::string help, bool &target, char letter) {
    options_.push_back({std::move(name), letter, "", std::move(help), [&target](const std::string &) { target = true; }});
}

void Arguments::integer(std::string name, std::string value, std::string help, std::int64_t least,
                        std::optional<std::int64_t> &target) {
    const std::string label = name;
    custom(std::move(name), std::move(value), std::move(help), [=, &target](const std::string &word) {
        target = parsed<std::int64_t>(word);
        if (!target || *target < least)
            usage(label + " is " + quoted(word) + ", but must be a whole number" +
                  (least == std::numeric_limits<std::int64_t>::min() ? "" : ", at least " + std::to_string(least)));
    });
}

void Arguments::number(std::string name, std::string value, std::string help, std::optional<double> &target) {
    const std::string label = name;
    custom(std::move(name), std::move(value), std::move(help),
           [=, &target](const std::string &word) { target = parse_positive(label, word, word); });
}

void Arguments::number_from_0(std::string name, std::string value, std::string help, std::optional<double> &target) {
    const std::string label = name;
    custom(std::move(name), std::move(value), std::move(help), [=, &target](const std::string &word) {
        target = parsed<double>(word);
        if (!target || !std::isfinite(*target) || *target < 0)
            usage(label + " is " + quoted(word) + ", but must be a number, at least 0");
    });
}

void Arguments::numbers(std::string name, std::string value, std::string help, std::vector<double> &target) {
    const std::string label = name;
    custom(std::move(name), std::move(value), std::move(help), [=, &target](const std::string &word) {
        target.clear();
        size_t from = 0, comma;
        do {
            comma = word.find(',', from);
            target.push_back(parse_positive(label, word.substr(from, comma - from), word));
            from = comma + 1;
        } while (comma != std::string::npos);
    });
}

void Arguments::choose(const std::string &name, std::span<const char *const> choices, std::string help,
                       std::span<const Synonym> synonyms, std::function<void(int)> take) {
    const std::vector<std::string> words(choices.begin(), choices.end());
    std::string list;
    for (const std::string &word : words) list += (list.empty() ? "" : "|") + word;
    custom(name, list, std::move(help), [=](const std::string &word) {
        std::string_view wanted = word;
        for (const Synonym &other : synonyms)
            if (other.word == word) wanted = other.stands_for;
        for (size_t i = 0; i < words.size(); ++i)
            if (words[i] == wanted) return take(static_cast<int>(i));
        usage(name + " is " + quoted(word) + ", but must be one of " + list);
    });
}

const Option &Arguments::find(const std::string &word, const std::string &name) const {
    for (const Option &option : options_)
        if (name == option.name || (option.letter && name == std::string{'-', option.letter})) return option;
    usage("unknown option " + quoted(word));
}

void Arguments::take_option(const std::vector<std::string> &words, size_t &at) {
    const std::string &word = words[at];
    const size_t equals = word.compare(0, 2, "--") == 0 ? word.find('=') : std::string::npos;
    const Option &option = find(word, word.substr(0, equals));
    if (option.value.empty()) {
        if (equals != std::string::npos) usage(option.name + " takes no value, but got " + quoted(word));
        return option.take("");
    }
    if (equals != std::string::npos) return option.take(word.substr(equals + 1));
    if (at + 1 == words.size()) usage(option.name + " needs a value: " + option.value);
    option.take(words[++at]);
}

bool Arguments::parse(const std::vector<std::string> &words) {
    size_t count = 0;
    bool options_end = false;
    for (size_t at = 0; at < words.size(); ++at) {
        const std::string &word = words[at];
        if (!options_end && (word == "--help" || word == "-h")) return false;
        if (!options_end && word == "--") {
            options_end = true;
        } else if (!options_end && word.size() > 1 && word[0] == '-') {
            take_option(words, at);
        } else if (count == positionals_.size()) {
            usage("unexpected argument " + quoted(word));
        } else {
            if (word.empty()) usage(positionals_[count].name + " is empty, but must be a file name");
            positionals_[count++].take(word);
        }
    }
    if (count < positionals_.size()) usage(positionals_[count].name + " is missing");
    return true;
}

std::string wrapped(const std::string &text, size_t indent, size_t column) {
    std::istringstream words(text);
    std::string result, word;
    bool first = true;
    while (words >> word) {
        if (!first && column + 1 + word.size() > kWidth) {
            result.append(1, '\n').append(indent, ' ');
            column = indent;
        } else if (!first) {
            result += " ";
            ++column;
        }
        result += word;
        column += word.size();
        first = false;
    }
    return result + "\n";
}

std::string Arguments::help() const {
    std::string usage_line = "usage: " + command_;
    for (const Positional &positional : positionals_) usage_line += " " + positional.name;
    std::string text = usage_line + (options_.empty() ? "\n\n" : " [options]\n\n");
    std::istringstream paragraphs(description_);
    for (std::string line; std::getline(paragraphs, line);) text += wrapped(line, 0, 0);

    const auto entry = [&text](const std::string &left, const std::string &help) {
        text += "  " + left;
        size_t column = left.size() + 2;
        if (column + 2 > kHelpColumn) {
            text += "\n";
            column = 0;
        }
        text += std::string(kHelpColumn - column, ' ') + wrapped(help, kHelpColumn, kHelpColumn);
    };
    text += "\n";
    for (const Positional &positional : positionals_) entry(positional.name, positional.help);
    if (!positionals_.empty()) text += "\n";
    for (const Option &option : options_)
        entry((option.letter ? std::string{'-', option.letter, ',', ' '} : "") + option.name +
                  (option.value.empty() ? "" : " " + option.value),
              option.help);
    entry("-h, --help", "Show this help.");
    return text + (epilogue_.empty() ? "" : "\n" + epilogue_);
}

}  // namespace tool
