// Values that users choose by a name.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_NAMED_VALUE_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_NAMED_VALUE_H_

#include <initializer_list>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gridfold::load {

// INVALID_ARGUMENT lists the names.
template <typename T>
absl::StatusOr<T> ParseName(absl::string_view text,
                            std::initializer_list<std::pair<absl::string_view, T>> names) {
  std::string choices;
  for (const auto& [name, value] : names) {
    if (text == name) return value;
    absl::StrAppend(&choices, choices.empty() ? "" : ", ", name);
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is none of ", choices));
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_NAMED_VALUE_H_
