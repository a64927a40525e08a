#include "client/command_line/output/standard_output.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::client {
namespace {

// Whether `file` is a pipe or socket whose other end is closed.
bool HasNoReader(int file) {
  pollfd asked = {.fd = file, .events = 0, .revents = 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

ExitCode FinishOutput(ExitCode code, absl::string_view program, std::ostream& out,
                      std::ostream& error) {
  out.flush();
  if (out.good()) return code;
  if (&out == &std::cout && HasNoReader(STDOUT_FILENO)) return ExitCode::kReaderGone;
  error << program << ": standard output: cannot be written\n";
  return code == ExitCode::kSuccess ? ExitCode::kInputOutput : code;
}

absl::Status CheckBinaryOutput(absl::string_view flag, absl::string_view path) {
  if (path != "-" || !IsTerminal(STDOUT_FILENO)) return absl::OkStatus();
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat(
                          flag,
                          " -: standard output is a terminal, and what is written is binary; "
                          "redirect it, or name /dev/stdout to write it all the same")),
                      ExitCode::kUsage);
}

}  // namespace gridfold::client
