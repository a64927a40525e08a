// The rows of a CSV file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/byte_source.h"

namespace gridfold::client {

// Splits RFC 4180 text into rows, one at a time and in bounded memory: with any line end, quoted
// fields that may hold delimiters, line ends and doubled quotes, and empty lines passed over; lines
// that begin with `comment`, too. libcsv, which Debian has, would not do: it knows neither comments
// nor the line that an error is in, and takes text byte by byte.
class CsvRows {
 public:
  CsvRows(std::unique_ptr<ByteSource> source, char delimiter, std::optional<char> comment);

  // Reads the next row into `fields`, which are valid until the next call. False at the end of the
  // text; INVALID_ARGUMENT where a quoted field does not end, or more follows it, where there is a
  // NUL byte or a row is longer than 16 MiB.
  absl::StatusOr<bool> Next(std::vector<absl::string_view>& fields);

  // The line that the last row began on, counted from 1.
  uint64_t line() const { return line_; }

 private:
  enum class Scan { kRow, kMore, kEnd };  // kMore: the row may go on behind the window.

  absl::Status Refill();
  absl::StatusOr<Scan> ScanRow(std::vector<absl::string_view>& fields);
  Scan SkipLines();
  Scan SkipComment();
  absl::StatusOr<Scan> ScanField(std::vector<absl::string_view>& fields);
  absl::StatusOr<Scan> ScanQuoted(std::vector<absl::string_view>& fields);
  Scan SkipLineEnd();
  absl::Status Wrong(absl::string_view what) const;

  absl::string_view rest() const {
    return absl::string_view(window_).substr(at_, window_bytes_ - at_);
  }

  const std::unique_ptr<ByteSource> source_;
  const char delimiter_;
  const std::optional<char> comment_;
  std::array<bool, 256> ends_field_ = {};  // Bytes at which a plain field ends.

  std::string window_;       // The text from some row on.
  size_t window_bytes_ = 0;  // Of `window_` that are text.
  size_t row_ = 0;           // Where in the window the next row begins.
  size_t at_ = 0;            // How far that row has been scanned.
  bool is_source_at_end_ = false;
  bool is_begun_ = false;
  std::deque<std::string> unquoted_;  // Fields whose quotes are not doubled any more.
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;    // That `row_` begins on.
  uint64_t inner_lines_ = 0;  // Line ends between `row_` and `at_`.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_
