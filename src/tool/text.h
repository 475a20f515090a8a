// Text from outside, such as names of files: it may hold any bytes, but what is printed must not.
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// The length of the UTF-8 character that `text` starts with, or 0.
size_t character(std::string_view text);

/// Whether it starts with a control character, which a terminal might obey.
bool is_control(std::string_view text);

/// The same text in one line that no terminal obeys: controls and what is not UTF-8 become \n, \t or \x1b.
std::string shown(std::string_view text);

/// A name as it appears in a sentence.
inline std::string quoted(const std::string &name) { return '\'' + shown(name) + '\''; }

}  // namespace tool
