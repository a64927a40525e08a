#include "client/command_line/arguments/array_reference.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/number_list.h"

namespace gridfold::client {

absl::StatusOr<ResidentArray> ParseReference(absl::string_view flag, absl::string_view text) {
  const size_t bracket = text.find('[');
  ResidentArray array{.name = std::string(text.substr(0, bracket))};
  if (array.name.empty()) return absl::InvalidArgumentError(absl::StrCat(flag, ": no name"));
  if (bracket == absl::string_view::npos) return array;
  absl::string_view slice = text.substr(bracket + 1);
  if (slice.empty() || slice.back() != ']') {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": '", text, "' does not end with ]"));
  }
  slice.remove_suffix(1);
  const absl::StatusOr<std::vector<uint64_t>> numbers = ParseNumberList<uint64_t>(flag, slice, ':');
  if (!numbers.ok()) return numbers.status();
  if (numbers->size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": two numbers are needed in brackets, [FIRST:COUNT]"));
  }
  array.slice = ArraySlice{(*numbers)[0], (*numbers)[1]};
  return array;
}

std::string FormatReference(const ResidentArray& array) {
  if (!array.slice) return array.name;
  return absl::StrCat(array.name, "[", array.slice->first, ":", array.slice->count, "]");
}

}  // namespace gridfold::client
