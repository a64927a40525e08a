// Lists of numbers on the command line.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_LIST_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_LIST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {

// Parses "1,2,3". INVALID_ARGUMENT names `flag` and the part that is no T.
template <typename T>
absl::StatusOr<std::vector<T>> ParseNumberList(absl::string_view flag, absl::string_view text,
                                               char separator = ',') {
  std::vector<T> numbers;
  for (absl::string_view part : absl::StrSplit(text, separator)) {
    const std::optional<T> number = ParseNumber<T>(part);
    if (!number) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": '", part, "' is not a number that fits"));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_LIST_H_
