#include "client/command_line/exit_code.h"

#include <string>

#include "absl/strings/cord.h"

namespace gridfold::client {
namespace {

constexpr char kPayload[] = "gridfold/exit-code";

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kPayload, absl::Cord(std::string(1, static_cast<char>(code))));
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kSuccess;
  if (const auto payload = status.GetPayload(kPayload); payload.has_value()) {
    return static_cast<ExitCode>(std::string(*payload)[0]);
  }
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    return ExitCode::kUnreachable;
  }
  return ExitCode::kRequestFailed;
}

}  // namespace gridfold::client
