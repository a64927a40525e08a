// One column of a CSV file as an array.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/host_array.h"

namespace gridfold::client {

struct CsvOptions {
  // A number, counted from 1, or a name of the first row.
  std::string column = "1";
  char delimiter = ',';
  // Nothing: int64 where every value is one, else float64. float16 and bfloat16 are not possible.
  std::optional<ElementType> element_type = std::nullopt;
};

// The first row is a heading where its field is no number. An empty field is NaN, and an error
// where the type is an integer one. INVALID_ARGUMENT names the line.
absl::StatusOr<HostArray> ParseCsvColumn(absl::string_view text, const CsvOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_COLUMN_H_
