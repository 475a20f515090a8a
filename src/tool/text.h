// Text from outside, such as file names.  It may hold any bytes, but printed text must be UTF-8 without control characters.
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// The length of the UTF-8 character that `text` starts with, or 0.
size_t character(std::string_view text);

/// Whether the text starts with a control character, which could change a terminal's state.
bool is_control(std::string_view text);

/// The same text in one line that is safe for a terminal: control characters, and bytes that are not UTF-8, become \n, \t or
/// a code such as \x1b.
std::string shown(std::string_view text);

/// A name as it appears in a sentence.
inline std::string quoted(const std::string &name) { return '\'' + shown(name) + '\''; }

}  // namespace tool
