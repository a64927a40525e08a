#include "client/command_line/input/csv_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gridfold::client {

CsvRows::CsvRows(absl::string_view text, char delimiter) : rest_(text), delimiter_(delimiter) {
  absl::ConsumePrefix(&rest_, "\xEF\xBB\xBF");  // The byte order mark that spreadsheets write.
}

absl::StatusOr<bool> CsvRows::Next(std::vector<std::string>& fields) {
  while (!rest_.empty() && AtLineEnd()) SkipLineEnd();
  if (rest_.empty()) return false;
  line_ = next_line_;
  for (size_t count = 1;; ++count) {
    fields.resize(std::max(fields.size(), count));
    std::string& field = fields[count - 1];
    field.clear();
    if (!rest_.empty() && rest_[0] == '"') {
      if (absl::Status status = ReadQuoted(field); !status.ok()) return status;
    } else {
      ReadPlain(field);
    }
    if (!rest_.empty() && rest_[0] == delimiter_) {
      rest_.remove_prefix(1);
      continue;
    }
    fields.resize(count);
    SkipLineEnd();
    return true;
  }
}

absl::Status CsvRows::ReadQuoted(std::string& field) {
  rest_.remove_prefix(1);
  while (true) {
    const size_t quote = rest_.find('"');
    if (quote == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_, ": a quoted field does not end"));
    }
    const absl::string_view part = rest_.substr(0, quote);
    next_line_ += static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n'));
    absl::StrAppend(&field, part);
    rest_.remove_prefix(quote + 1);
    if (!absl::ConsumePrefix(&rest_, "\"")) break;
    field += '"';
  }
  if (!rest_.empty() && rest_[0] != delimiter_ && !AtLineEnd()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", line_, ": more follows a quoted field"));
  }
  return absl::OkStatus();
}

void CsvRows::ReadPlain(std::string& field) {
  size_t size = 0;
  while (size < rest_.size() && rest_[size] != delimiter_ && rest_[size] != '\n' &&
         rest_[size] != '\r') {
    ++size;
  }
  absl::StrAppend(&field, rest_.substr(0, size));
  rest_.remove_prefix(size);
}

bool CsvRows::AtLineEnd() const { return rest_[0] == '\n' || rest_[0] == '\r'; }

void CsvRows::SkipLineEnd() {
  absl::ConsumePrefix(&rest_, "\r");
  absl::ConsumePrefix(&rest_, "\n");
  ++next_line_;
}

}  // namespace gridfold::client
