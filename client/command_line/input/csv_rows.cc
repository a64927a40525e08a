#include "client/command_line/input/csv_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr size_t kWindowBytes = size_t{256} << 10;
constexpr size_t kRowBytesMax = size_t{16} << 20;

// The byte order mark that spreadsheets write.
constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvRows::CsvRows(std::unique_ptr<ByteSource> source, char delimiter, std::optional<char> comment)
    : source_(std::move(source)), delimiter_(delimiter), comment_(comment) {
  for (const char end : {delimiter, '\n', '\r', '\0'}) {
    ends_field_[static_cast<unsigned char>(end)] = true;
  }
}

absl::StatusOr<bool> CsvRows::Next(std::vector<absl::string_view>& fields) {
  while (true) {
    const absl::StatusOr<Scan> scan = ScanRow(fields);
    if (!scan.ok()) return scan.status();
    if (*scan == Scan::kEnd) return false;
    if (*scan == Scan::kRow) {
      row_ = at_;
      line_ = next_line_;
      next_line_ += inner_lines_;
      inner_lines_ = 0;
      return true;
    }
    if (absl::Status status = Refill(); !status.ok()) return status;
  }
}

// Drops the rows that were read, and reads more behind the rest.
absl::Status CsvRows::Refill() {
  const size_t held_bytes = window_bytes_ - row_;
  if (held_bytes > kRowBytesMax) {
    return Wrong("the row is longer than 16 MiB: a quoted field does not end, or this is no CSV");
  }
  std::memmove(window_.data(), window_.data() + row_, held_bytes);
  window_.resize(std::max({window_.size(), kWindowBytes, 2 * held_bytes}));
  const absl::StatusOr<size_t> size =
      source_->Read({window_.data() + held_bytes, window_.size() - held_bytes});
  if (!size.ok()) return size.status();
  is_source_at_end_ = *size < window_.size() - held_bytes;
  window_bytes_ = held_bytes + *size;
  row_ = 0;
  if (!std::exchange(is_begun_, true) &&
      absl::StartsWith(absl::string_view(window_).substr(0, window_bytes_), kByteOrderMark)) {
    row_ = kByteOrderMark.size();
  }
  return absl::OkStatus();
}

absl::StatusOr<CsvRows::Scan> CsvRows::ScanRow(std::vector<absl::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  at_ = row_;
  inner_lines_ = 0;
  if (!is_begun_) return Scan::kMore;
  if (const Scan scan = SkipLines(); scan != Scan::kRow) return scan;
  while (true) {
    const absl::StatusOr<Scan> scan = ScanField(fields);
    if (!scan.ok() || *scan == Scan::kMore) return scan;
    if (rest().empty()) return Scan::kRow;  // The text ends.
    if (rest()[0] != delimiter_) return SkipLineEnd();
    ++at_;
  }
}

// Passes over empty lines and comments.
CsvRows::Scan CsvRows::SkipLines() {
  while (true) {
    if (rest().empty()) return is_source_at_end_ ? Scan::kEnd : Scan::kMore;
    const char next = rest()[0];
    if (next == '\n' || next == '\r') {
      if (const Scan scan = SkipLineEnd(); scan != Scan::kRow) return scan;
    } else if (comment_ && next == *comment_) {
      if (const Scan scan = SkipComment(); scan != Scan::kRow) return scan;
    } else {
      return Scan::kRow;
    }
    row_ = at_;
    next_line_ += std::exchange(inner_lines_, 0);
  }
}

CsvRows::Scan CsvRows::SkipComment() {
  const size_t size = rest().find_first_of("\r\n");
  if (size != absl::string_view::npos) {
    at_ += size;
    return SkipLineEnd();
  }
  if (!is_source_at_end_) return Scan::kMore;
  at_ = window_bytes_;
  return Scan::kRow;
}

absl::StatusOr<CsvRows::Scan> CsvRows::ScanField(std::vector<absl::string_view>& fields) {
  const absl::string_view text = rest();
  if (!text.empty() && text[0] == '"') return ScanQuoted(fields);
  size_t size = 0;
  while (size < text.size() && !ends_field_[static_cast<unsigned char>(text[size])]) ++size;
  if (size == text.size() && !is_source_at_end_) return Scan::kMore;
  if (size < text.size() && text[size] == '\0' && delimiter_ != '\0') {
    return Wrong("a NUL byte; this is no text, or not in UTF-8");
  }
  fields.push_back(text.substr(0, size));
  at_ += size;
  return Scan::kRow;
}

absl::StatusOr<CsvRows::Scan> CsvRows::ScanQuoted(std::vector<absl::string_view>& fields) {
  ++at_;
  std::string* unquoted = nullptr;
  while (true) {
    const absl::string_view text = rest();
    const size_t quote = text.find('"');
    // What follows the quote tells whether the field ends there.
    if (quote == absl::string_view::npos || quote + 1 == text.size()) {
      if (!is_source_at_end_) return Scan::kMore;
      if (quote == absl::string_view::npos) return Wrong("a quoted field does not end");
    }
    const absl::string_view part = text.substr(0, quote);
    if (part.find('\0') != absl::string_view::npos) {
      return Wrong("a NUL byte; this is no text, or not in UTF-8");
    }
    inner_lines_ += static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n'));
    at_ += quote + 1;
    const bool is_doubled = !rest().empty() && rest()[0] == '"';
    if (unquoted == nullptr && !is_doubled) {
      fields.push_back(part);
      break;
    }
    if (unquoted == nullptr) unquoted = &unquoted_.emplace_back();
    absl::StrAppend(unquoted, part);
    if (!is_doubled) {
      fields.push_back(*unquoted);
      break;
    }
    unquoted->push_back('"');
    ++at_;
  }
  if (!rest().empty() && rest()[0] != delimiter_ && rest()[0] != '\n' && rest()[0] != '\r') {
    return Wrong("more follows a quoted field");
  }
  return Scan::kRow;
}

CsvRows::Scan CsvRows::SkipLineEnd() {
  // Whether a carriage return is all of the line end, the next byte tells.
  if (rest()[0] == '\r' && rest().size() == 1 && !is_source_at_end_) return Scan::kMore;
  at_ += absl::StartsWith(rest(), "\r\n") ? 2 : 1;
  ++inner_lines_;
  return Scan::kRow;
}

absl::Status CsvRows::Wrong(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("line ", next_line_, ": ", what));
}

}  // namespace gridfold::client
