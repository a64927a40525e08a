// Which column of a CSV file is meant, and whether the first row names the columns.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_HEADING_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_HEADING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

using CsvRow = std::vector<std::string>;

// What a field is, for whom it matters whether it is a value.
enum class FieldKind { kMissing, kNumber, kText };

// kMissing: empty, or one of `missing`. Neither white space around a field nor quotes matter.
FieldKind KindOf(absl::string_view field, const std::vector<std::string>& missing);

struct CsvLayout {
  size_t column = 0;  // Counted from 0.
  bool has_heading = false;
};

// `second` is empty where there is no second row. A column that is given by name means that there
// is a heading. Else, where the options leave it open, the fields tell: text where the column has
// numbers below, or beside other text, is a heading; a number is none. INVALID_ARGUMENT for an
// unknown or ambiguous name, and where the fields tell two things, naming --header.
absl::StatusOr<CsvLayout> FindLayout(const CsvRow& first, const CsvRow& second,
                                     const CsvOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_HEADING_H_
