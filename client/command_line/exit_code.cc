#include "client/command_line/exit_code.h"

#include <csignal>
#include <cstdlib>
#include <string>

#include "absl/strings/cord.h"

namespace gridfold::client {
namespace {

constexpr char kPayload[] = "gridfold/exit-code";

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  if (!status.GetPayload(kPayload).has_value()) {
    status.SetPayload(kPayload, absl::Cord(std::string(1, static_cast<char>(code))));
  }
  return status;
}

void ExitWith(ExitCode code) {
  if (code == ExitCode::kReaderGone) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  std::exit(static_cast<int>(code));
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kSuccess;
  if (const auto payload = status.GetPayload(kPayload); payload.has_value()) {
    return static_cast<ExitCode>(static_cast<unsigned char>(std::string(*payload)[0]));
  }
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    return ExitCode::kUnreachable;
  }
  return ExitCode::kRequestFailed;
}

}  // namespace gridfold::client
