// The fields of one column of a CSV file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/csv_heading.h"
#include "client/command_line/input/csv_rows.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

class CsvColumn {
 public:
  // Reads the beginning and finds the column. INVALID_ARGUMENT also where there is no row.
  static absl::StatusOr<std::unique_ptr<CsvColumn>> Open(std::unique_ptr<ByteSource> source,
                                                         const CsvOptions& options, char delimiter);

  // The next field of the column, without white space around it and valid until the next call;
  // nothing at the end. INVALID_ARGUMENT names the line of a row that is malformed or has another
  // number of fields than the first row.
  absl::StatusOr<std::optional<absl::string_view>> Next();

  // Whether `field` stands for no value.
  bool IsMissing(absl::string_view field) const;

  // The line of the last field's row, counted from 1.
  uint64_t line() const { return line_; }

  bool has_heading() const { return layout_.has_heading; }

  // An error of the last field's line.
  absl::Status Wrong(absl::string_view what) const;
  // That the last field is no number at all.
  absl::Status NotANumber(absl::string_view field) const;

 private:
  struct HeldField {
    std::string text;
    uint64_t line;
  };

  CsvColumn(std::unique_ptr<ByteSource> source, const CsvOptions& options, char delimiter)
      : rows_(std::move(source), delimiter, options.comment), options_(options) {}

  absl::Status Begin();
  absl::Status CheckFieldCount();

  CsvRows rows_;
  const CsvOptions options_;
  CsvLayout layout_;
  size_t field_count_ = 0;  // Of each row.
  uint64_t first_line_ = 0;
  std::vector<absl::string_view> fields_;
  std::deque<HeldField> held_;  // Of the first rows, which were read to find the layout.
  std::string current_;         // The one that was given out last.
  uint64_t line_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_
