// The rows of a CSV file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

// Splits RFC 4180 text into rows, one at a time: with either line end, quoted fields that may hold
// delimiters, line ends and doubled quotes, and empty lines passed over. `text` must outlive it.
class CsvRows {
 public:
  CsvRows(absl::string_view text, char delimiter);

  // Reads the next row into `fields`. False at the end of the text; INVALID_ARGUMENT where a quoted
  // field does not end, or more follows it.
  absl::StatusOr<bool> Next(std::vector<std::string>& fields);

  // The line that the last row began on, counted from 1.
  uint64_t line() const { return line_; }

 private:
  absl::Status ReadQuoted(std::string& field);
  void ReadPlain(std::string& field);
  bool AtLineEnd() const;
  void SkipLineEnd();

  absl::string_view rest_;
  const char delimiter_;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ROWS_H_
