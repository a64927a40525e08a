// What the program's exit code says, and how an error carries it.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_EXIT_CODE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace gridfold::client {

enum class ExitCode {
  kSuccess = 0,
  kRequestFailed = 1,  // The server refused the request or failed; `info --health`: not serving.
  kUsage = 2,          // The command line makes no sense.
  kUnreachable = 3,    // No server, or no answer in time.
  kInputOutput = 4,    // A file cannot be read, makes no sense, or cannot be written.
  // Whoever read what the program writes has closed the pipe: the program says nothing, and ends by
  // SIGPIPE as others do, which a shell shows as 141.
  kReaderGone = 128 + 13,
};

// `status`, which must be an error, to end the program with `code` unless it has another code.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// Ends the process: by SIGPIPE for kReaderGone, else with `code`.
[[noreturn]] void ExitWith(ExitCode code);

// The code that `status` ends the program with: that of WithExitCode, else by the kind of error.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_EXIT_CODE_H_
