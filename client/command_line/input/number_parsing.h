// Numbers from text.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
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

// The whole number that all of `text` is, in decimal digits and, where Integer has one, with a
// minus sign; nothing for a plus sign, blanks, anything else and numbers outside Integer's range.
// CLI11's own parser would let negative numbers wrap around.
template <std::integral Integer>
std::optional<Integer> ParseStrictly(absl::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

// ParseNumber, but for decimals outside T's range: they become infinite or 0, as strtod makes them.
template <std::floating_point T>
std::optional<T> ParseRounded(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value = {};
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc()) return value;
  // std::from_chars leaves the value alone.
  bool is_number = false;
  if constexpr (std::same_as<T, float>) {
    is_number = absl::SimpleAtof(text, &value);
  } else {
    is_number = absl::SimpleAtod(text, &value);
  }
  return is_number ? std::optional(value) : std::nullopt;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NUMBER_PARSING_H_
