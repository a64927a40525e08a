// Arrays on the server as they are written on the command line: NAME, or NAME[FIRST:COUNT].
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// INVALID_ARGUMENT names `flag` and what is wrong with the brackets. What is a name is left to the
// server.
absl::StatusOr<ResidentArray> ParseReference(absl::string_view flag, absl::string_view text);

// The text that is parsed to `array`.
std::string FormatReference(const ResidentArray& array);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_
