// The arrays that one file holds: columns of CSV, members of an archive, or one alone.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_LIST_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

struct ListedArray {
  std::string name;      // Of the column or member; empty where the file is one array.
  InputOptions input;    // That reads it.
  bool is_text = false;  // A column of text, which no array can be made of.
};

// Lists the arrays of the file that `options` describe, of which columns in `columns`, by name or
// number, where there are any. Whether a column is text is decided by its first 1,000 rows, and
// whether there is a heading by the first two rows of all columns together. What can be read once
// only, a pipe or standard input, is not looked at, and is one array. Errors: those of OpenInput
// and CsvRows; INVALID_ARGUMENT for CSV that cannot be read twice, and for a column that is none.
absl::StatusOr<std::vector<ListedArray>> ListArrays(const InputOptions& options,
                                                    const std::vector<std::string>& columns);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_LIST_H_
