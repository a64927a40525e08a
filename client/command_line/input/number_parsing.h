// Numbers from text.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_

#include <charconv>
#include <concepts>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

// The number that all of `text` stands for, but for white space around it and a plus sign before;
// rounded once where T is a floating-point type, which also takes "nan" and "inf". Nothing where
// `text` is something else or outside T's range.
template <typename T>
requires std::integral<T> || std::floating_point<T> std::optional<T> ParseNumber(
    absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value = {};
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_
