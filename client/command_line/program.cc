#include "client/command_line/program.h"

#include <optional>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "client/command_line/arguments/field_option.h"
#include "client/command_line/arguments/usage.h"
#include "client/command_line/command_line.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/standard_output.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/session.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

void PrintError(const absl::Status& status, const CLI::App& command, const SessionOptions& options,
                const TextStyle& style, std::ostream& out, std::ostream& error) {
  if (ExitCodeOf(status) == ExitCode::kReaderGone) return;
  const std::string message = MessageWithOption(command, status);
  if (options.json) out << ToJson(status, message);
  error << style.Error("gridfold: ") << message << "\n";
  const std::optional<std::string> field = ViolatedField(status);
  if (field && !absl::StrContains(std::string(status.message()), *field)) {
    error << "  field: " << *field << "\n";
  }
  if (const std::optional<absl::Duration> delay = RetryDelay(status)) {
    error << "  try again in " << FormatDuration(*delay, style.unicode) << "\n";
  }
}

ExitCode Run(int argc, const char* const* argv, const TextStyle& out_style,
             const TextStyle& error_style, std::ostream& out, std::ostream& error) {
  CommandLine command_line;
  CLI::App& program = command_line.app();
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& parse_error) {
    // Help and the version come this way too.
    if (parse_error.get_exit_code() == 0) {
      program.exit(parse_error, out, error);
      return ExitCode::kSuccess;
    }
    error << error_style.Error("gridfold: ") << DescribeUsageError(program, parse_error);
    return ExitCode::kUsage;
  }
  const SessionOptions& options = command_line.options();
  const Session session(options, out_style, out, error);
  Command* const command = command_line.chosen();
  if (command == nullptr) return ExitCode::kUsage;
  const absl::Status status = command->Run(session);
  if (!status.ok()) PrintError(status, ChosenCommand(program), options, error_style, out, error);
  return ExitCodeOf(status);
}

}  // namespace

ExitCode RunProgram(int argc, const char* const* argv, const TextStyle& out_style,
                    const TextStyle& error_style, std::ostream& out, std::ostream& error) {
  const ExitCode code = Run(argc, argv, out_style, error_style, out, error);
  return FinishOutput(code, "gridfold", out, error);
}

}  // namespace gridfold::client
