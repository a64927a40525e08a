#include "client/command_line/program.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/choice.h"
#include "client/command_line/arguments/field_option.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/usage.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/input/number_parsing.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/standard_output.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/session.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

constexpr char kFooter[] = R"(
Exit codes:
  0  done
  1  the server refused the request or failed; info --health: it does not serve
  2  the command line makes no sense
  3  no server was reached, or it did not answer in time
  4  a file could not be read, makes no sense, or could not be written
  141  whoever read the output has closed the pipe, such as head

Examples:
  gridfold info
  gridfold reduce delay.npy --stat sum,mean,max
  gridfold scan delay.npy --output running_sum.npy
  gridfold histogram delay.npy --bins 10 --range -60,140
  gridfold merge january.acc february.acc
  gridfold array put delay delay.npy
  gridfold COMMAND --help has more.
)";

// What is wrong with it, or nothing. CLI11's own checks of ranges take NaN.
std::string CheckSeconds(const std::string& text) {
  const std::optional<double> seconds = ParseNumber<double>(text);
  return seconds && *seconds >= 0 ? "" : "must be a number of seconds, 0 or more";
}

void AddSessionOptions(CLI::App& program, SessionOptions& options) {
  AddConnectionOptions(program, options.connection);
  program.add_option("--tenant", options.tenant, "Whose arrays on the server are meant")
      ->envname("GRIDFOLD_TENANT")
      ->type_name("NAME")
      ->take_last();
  AddChoice<Priority>(
      program, "--priority", options.priority,
      {{"low", Priority::kLow}, {"normal", Priority::kNormal}, {"high", Priority::kHigh}},
      "How urgent this is among the tenant's own calls that wait")
      ->envname("GRIDFOLD_PRIORITY")
      ->type_name("low, normal or high")
      ->default_str("normal")
      ->take_last();
  program.add_option("--timeout", options.timeout_s, "Give up after so long; 0 waits for ever")
      ->type_name("SECONDS")
      ->check(CheckSeconds)
      ->capture_default_str();
  AddChoice<ArrayTransport>(program, "--transport", options.transport,
                            {{"auto", ArrayTransport::kAuto},
                             {"inline", ArrayTransport::kInline},
                             {"stream", ArrayTransport::kStream},
                             {"streams", ArrayTransport::kStreams},
                             {"region", ArrayTransport::kRegion},
                             {"resident", ArrayTransport::kResident}},
                            "How FILE's elements travel: auto is the fastest way there is; inline "
                            "in a request, stream in one call, streams in parts over several "
                            "connections, region in memory that a local server shares, resident "
                            "by way of an array there")
      ->type_name("WAY")
      ->default_str("auto")
      ->take_last();
  AddNumberOption<int>(program, "--streams", options.stream_count,
                       "Over so many connections, at most 64; default: as many as pay", 1, 64)
      ->take_last();
  program.add_flag("--json", options.json, "Print one JSON object, also of an error");
}

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
  CLI::App program("Reduces, scans and histograms arrays on a gridfold server.", "gridfold");
  program.set_version_flag("--version", std::string("gridfold " GRIDFOLD_VERSION));
  UseHelpFormatter(program);
  program.get_formatter()->column_width(34);
  program.footer(kFooter);
  program.require_subcommand(1);
  program.fallthrough();
  SessionOptions options;
  AddSessionOptions(program, options);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeInfoCommand(program));
  commands.push_back(MakeReduceCommand(program));
  commands.push_back(MakeScanCommand(program));
  commands.push_back(MakeHistogramCommand(program));
  commands.push_back(MakeMergeCommand(program));
  commands.push_back(MakeArrayCommand(program));
  commands.push_back(MakeRegionCommand(program));

  // A tenant and a column may have no name.
  RefuseEmptyValues(program, {"--tenant", "--column", "--y-column", "--weights-column"});

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
  const Session session(options, out_style, out, error);
  for (const std::unique_ptr<Command>& command : commands) {
    if (!command->IsChosen()) continue;
    const absl::Status status = command->Run(session);
    if (!status.ok()) PrintError(status, ChosenCommand(program), options, error_style, out, error);
    return ExitCodeOf(status);
  }
  return ExitCode::kUsage;
}

}  // namespace

ExitCode RunProgram(int argc, const char* const* argv, const TextStyle& out_style,
                    const TextStyle& error_style, std::ostream& out, std::ostream& error) {
  const ExitCode code = Run(argc, argv, out_style, error_style, out, error);
  return FinishOutput(code, "gridfold", out, error);
}

}  // namespace gridfold::client
