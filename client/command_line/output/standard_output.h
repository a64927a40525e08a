// The end of what a program prints.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_STANDARD_OUTPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_STANDARD_OUTPUT_H_

#include <ostream>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/command_line/exit_code.h"

namespace gridfold::client {

// Writes what `out` still holds: a full disk may show only now. Returns `code`, with which
// `program` would have ended, or kInputOutput in place of kSuccess where something that was printed
// to `out` could not be written, which `error` is told; kReaderGone without a word where standard
// output is a pipe that nobody reads any more.
ExitCode FinishOutput(ExitCode code, absl::string_view program, std::ostream& out,
                      std::ostream& error);

// An error of usage where `path`, the value of `flag`, is "-" and standard output is a terminal,
// which would take the bytes of an array for letters and orders.
absl::Status CheckBinaryOutput(absl::string_view flag, absl::string_view path);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_STANDARD_OUTPUT_H_
