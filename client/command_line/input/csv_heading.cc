#include "client/command_line/input/csv_heading.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

// The column called `name`; nothing where there is none.
absl::StatusOr<std::optional<size_t>> FindName(const CsvRow& heading, const std::string& name) {
  std::optional<size_t> found;
  for (size_t i = 0; i < heading.size(); ++i) {
    if (absl::StripAsciiWhitespace(heading[i]) != absl::StripAsciiWhitespace(name)) continue;
    if (found) {
      return absl::InvalidArgumentError(absl::StrCat("--column: columns ", *found + 1, " and ",
                                                     i + 1, " are both named '", name,
                                                     "'; give the number"));
    }
    found = i;
  }
  return found;
}

// What the fields of two rows say about the first.
struct Evidence {
  bool has_text = false;    // The first row has text.
  bool has_number = false;  // The first row has a number.
  bool has_change = false;  // Somewhere a number, or nothing, stands below text.
};

Evidence Compare(const CsvRow& first, const CsvRow& second, const CsvOptions& options) {
  Evidence evidence;
  for (size_t i = 0; i < first.size(); ++i) {
    const FieldKind kind = KindOf(first[i], options.missing);
    evidence.has_number |= kind == FieldKind::kNumber;
    if (kind != FieldKind::kText) continue;
    evidence.has_text = true;
    evidence.has_change |=
        i < second.size() && KindOf(second[i], options.missing) == FieldKind::kNumber;
  }
  return evidence;
}

absl::Status Unclear(const CsvRow& first, size_t column) {
  return absl::InvalidArgumentError(
      absl::StrCat("whether '", first[column],
                   "' in the first row is a value or names the column is not clear: give --header "
                   "yes or --header no"));
}

absl::StatusOr<bool> GuessHeading(const CsvRow& first, const CsvRow& second, size_t column,
                                  const CsvOptions& options) {
  const Evidence evidence = Compare(first, second, options);
  switch (KindOf(first[column], options.missing)) {
    case FieldKind::kText:
      // Among numbers, text may also be a missing value that --missing does not name.
      if (evidence.has_number) return Unclear(first, column);
      return true;
    case FieldKind::kNumber:
      if (evidence.has_change) return Unclear(first, column);
      return false;
    case FieldKind::kMissing: break;
  }
  if (!evidence.has_text) return false;
  if (evidence.has_change) {
    if (evidence.has_number) return Unclear(first, column);
    return true;
  }
  if (evidence.has_number) return false;
  return Unclear(first, column);
}

}  // namespace

FieldKind KindOf(absl::string_view field, const std::vector<std::string>& missing) {
  field = absl::StripAsciiWhitespace(field);
  if (field.empty() || std::find(missing.begin(), missing.end(), field) != missing.end()) {
    return FieldKind::kMissing;
  }
  return ParseRounded<double>(field) ? FieldKind::kNumber : FieldKind::kText;
}

absl::StatusOr<CsvLayout> FindLayout(const CsvRow& first, const CsvRow& second,
                                     const CsvOptions& options) {
  const std::string column = options.column.value_or("1");
  const std::optional<size_t> number = ParseNumber<size_t>(column);
  if (number == 0u) return absl::InvalidArgumentError("--column: columns are counted from 1");
  if (!number || *number > first.size()) {
    const absl::StatusOr<std::optional<size_t>> named = FindName(first, column);
    if (!named.ok()) return named.status();
    if (!*named) {
      return absl::InvalidArgumentError(
          number ? absl::StrCat("--column: there are ", first.size(), " columns, and no ", column)
                 : absl::StrCat("--column: no column is named '", column, "'"));
    }
    if (options.heading == Heading::kNo) {
      return absl::InvalidArgumentError(
          "--column: without a heading (--header no) a column has no name: give its number");
    }
    return CsvLayout{**named, true};
  }
  CsvLayout layout{.column = *number - 1, .has_heading = options.heading == Heading::kYes};
  if (options.heading == Heading::kAuto) {
    const absl::StatusOr<bool> guessed = GuessHeading(first, second, layout.column, options);
    if (!guessed.ok()) return guessed.status();
    layout.has_heading = *guessed;
  }
  return layout;
}

}  // namespace gridfold::client
