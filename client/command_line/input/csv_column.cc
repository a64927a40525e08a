#include "client/command_line/input/csv_column.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

// Of a field that an error quotes.
constexpr size_t kQuotedCharactersMax = 60;

std::string Quote(absl::string_view field) {
  if (field.size() <= kQuotedCharactersMax) return absl::StrCat("'", field, "'");
  return absl::StrCat("'", field.substr(0, kQuotedCharactersMax), "...'");
}

CsvRow ToRow(const std::vector<absl::string_view>& fields) {
  return CsvRow(fields.begin(), fields.end());
}

}  // namespace

absl::StatusOr<std::unique_ptr<CsvColumn>> CsvColumn::Open(std::unique_ptr<ByteSource> source,
                                                           const CsvOptions& options,
                                                           char delimiter) {
  std::unique_ptr<CsvColumn> column(new CsvColumn(std::move(source), options, delimiter));
  if (absl::Status status = column->Begin(); !status.ok()) return status;
  return column;
}

absl::Status CsvColumn::Begin() {
  const absl::StatusOr<bool> has_first = rows_.Next(fields_);
  if (!has_first.ok()) return has_first.status();
  if (!*has_first) return absl::InvalidArgumentError("there is no row in it");
  const CsvRow first = ToRow(fields_);
  field_count_ = first.size();
  first_line_ = rows_.line();
  const absl::StatusOr<bool> has_second = rows_.Next(fields_);
  if (!has_second.ok()) return has_second.status();
  const CsvRow second = *has_second ? ToRow(fields_) : CsvRow();
  const absl::StatusOr<CsvLayout> layout = FindLayout(first, second, options_);
  if (!layout.ok()) return layout.status();
  layout_ = *layout;
  if (!layout_.has_heading) held_.push_back({first[layout_.column], first_line_});
  if (!*has_second) return absl::OkStatus();
  if (absl::Status status = CheckFieldCount(); !status.ok()) return status;
  held_.push_back({second[layout_.column], rows_.line()});
  return absl::OkStatus();
}

absl::Status CsvColumn::CheckFieldCount() {
  if (fields_.size() == field_count_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", rows_.line(), " has ", fields_.size(), fields_.size() == 1 ? " field" : " fields",
      ", and line ", first_line_, " ", field_count_,
      field_count_ < fields_.size() ? "; a field that holds the delimiter "
                                      "must stand in quotes"
                                    : ""));
}

absl::StatusOr<std::optional<absl::string_view>> CsvColumn::Next() {
  if (!held_.empty()) {
    current_ = std::move(held_.front().text);
    line_ = held_.front().line;
    held_.pop_front();
    return absl::StripAsciiWhitespace(current_);
  }
  const absl::StatusOr<bool> more = rows_.Next(fields_);
  if (!more.ok()) return more.status();
  if (!*more) return std::nullopt;
  line_ = rows_.line();
  if (absl::Status status = CheckFieldCount(); !status.ok()) return status;
  return absl::StripAsciiWhitespace(fields_[layout_.column]);
}

bool CsvColumn::IsMissing(absl::string_view field) const {
  return field.empty() || std::find(options_.missing.begin(), options_.missing.end(), field) !=
                              options_.missing.end();
}

absl::Status CsvColumn::Wrong(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
}

absl::Status CsvColumn::NotANumber(absl::string_view field) const {
  if (field_count_ == 1 && field.find_first_of(";\t|") != absl::string_view::npos) {
    return Wrong(absl::StrCat(Quote(field),
                              " is not a number; if it is several fields, --delimiter says what "
                              "stands between them"));
  }
  return Wrong(absl::StrCat(Quote(field),
                            " is not a number; --missing takes such fields as missing values"));
}

}  // namespace gridfold::client
