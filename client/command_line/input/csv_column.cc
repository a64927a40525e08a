#include "client/command_line/input/csv_column.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/csv_rows.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

// The index of the column. `first_row` is where it may be named.
absl::StatusOr<size_t> FindColumn(const std::vector<std::string>& first_row,
                                  const std::string& column) {
  if (const std::optional<size_t> number = ParseNumber<size_t>(column)) {
    if (*number > 0) return *number - 1;
    return absl::InvalidArgumentError("columns are counted from 1");
  }
  for (size_t i = 0; i < first_row.size(); ++i) {
    if (absl::StripAsciiWhitespace(first_row[i]) == column) return i;
  }
  return absl::InvalidArgumentError(absl::StrCat("no column is named '", column, "'"));
}

// A field's value; nothing where it is no T. An empty field is NaN, which integers do not have.
template <typename T>
std::optional<T> ParseField(absl::string_view field) {
  if constexpr (std::is_floating_point_v<T>) {
    if (absl::StripAsciiWhitespace(field).empty()) return std::numeric_limits<T>::quiet_NaN();
  }
  return ParseNumber<T>(field);
}

// Whether the first row is a heading: its field is text, and not a missing value.
bool IsHeading(const std::vector<std::string>& first_row, size_t column) {
  return column < first_row.size() && !ParseField<double>(first_row[column]).has_value();
}

template <typename T>
HostArray ToArray(const std::vector<T>& values) {
  HostArray array{ElementTypeOf<T>(), {values.size()}, std::string(values.size() * sizeof(T), 0)};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

template <typename T>
absl::StatusOr<HostArray> ParseColumn(absl::string_view text, const CsvOptions& options) {
  CsvRows rows(text, options.delimiter);
  std::vector<std::string> fields;
  std::vector<T> values;
  size_t column = 0;
  bool first = true;
  while (true) {
    const absl::StatusOr<bool> more = rows.Next(fields);
    if (!more.ok()) return more.status();
    if (!*more) return ToArray(values);
    if (std::exchange(first, false)) {
      const absl::StatusOr<size_t> found = FindColumn(fields, options.column);
      if (!found.ok()) return found.status();
      column = *found;
      if (IsHeading(fields, column)) continue;
    }
    if (column >= fields.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", rows.line(), " has ", fields.size(), " columns, not ", column + 1));
    }
    const std::optional<T> value = ParseField<T>(fields[column]);
    if (!value) {
      return absl::InvalidArgumentError(absl::StrCat("line ", rows.line(), ": '", fields[column],
                                                     "' is not of type ",
                                                     ElementTypeName(ElementTypeOf<T>())));
    }
    values.push_back(*value);
  }
}

}  // namespace

absl::StatusOr<HostArray> ParseCsvColumn(absl::string_view text, const CsvOptions& options) {
  if (!options.element_type) {
    absl::StatusOr<HostArray> integers = ParseColumn<int64_t>(text, options);
    if (integers.ok()) return integers;
    return ParseColumn<double>(text, options);
  }
  return DispatchElementType(*options.element_type, [&](auto tag) -> absl::StatusOr<HostArray> {
    using T = typename decltype(tag)::Type;
    if constexpr (std::is_arithmetic_v<T>) {
      return ParseColumn<T>(text, options);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("CSV cannot be read as ", ElementTypeName(ElementTypeOf<T>())));
    }
  });
}

}  // namespace gridfold::client
