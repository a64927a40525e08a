#include "client/command_line/command_line.h"

#include <optional>
#include <string>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/arguments/choice.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/usage.h"
#include "client/command_line/configuration.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

constexpr char kProgramFooter[] = R"(
Exit codes:
  0  done
  1  the server refused the request or failed; info --health: it does not serve
  2  the command line makes no sense
  3  no server was reached, or it did not answer in time
  4  a file could not be read, makes no sense, or could not be written
  141  whoever read the output has closed the pipe, such as head

Examples:
  gridfold info
  gridfold watch
  gridfold describe flights.csv
  gridfold reduce delay.npy --stat sum,mean,max
  gridfold scan delay.npy --output running_sum.npy
  gridfold histogram delay.npy --bins 10 --range -60,140
  gridfold group hour.npy delay.npy --stat mean,max
  gridfold merge january.acc february.acc
  gridfold array put delay delay.npy
  gridfold help COMMAND has more.
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
      ->default_str("auto")
      ->take_last();
  AddNumberOption<int>(program, "--streams", options.stream_count,
                       "Over so many connections, at most 64; default: as many as pay", 1, 64)
      ->take_last();
  program.add_flag("--json", options.json, "Print one JSON object, also of an error");
}

}  // namespace

CommandLine::CommandLine()
    : app_("Reduces, scans and histograms arrays on a gridfold server.", "gridfold") {
  app_.set_version_flag("-V,--version", std::string("gridfold " GRIDFOLD_VERSION));
  UseHelpFormatter(app_);
  app_.get_formatter()->column_width(34);
  app_.footer(kProgramFooter);
  app_.require_subcommand(1);
  app_.fallthrough();
  AddSessionOptions(app_, options_);
  AddConfiguration(app_);
  commands_.push_back(MakeInfoCommand(app_));
  commands_.push_back(MakeWatchCommand(app_));
  commands_.push_back(MakeDescribeCommand(app_));
  commands_.push_back(MakeReduceCommand(app_));
  commands_.push_back(MakeScanCommand(app_));
  commands_.push_back(MakeHistogramCommand(app_));
  commands_.push_back(MakeGroupCommand(app_));
  commands_.push_back(MakeQuantileCommand(app_));
  commands_.push_back(MakeTopkCommand(app_));
  commands_.push_back(MakeRelateCommand(app_));
  commands_.push_back(MakeMergeCommand(app_));
  commands_.push_back(MakeArrayCommand(app_));
  commands_.push_back(MakeRegionCommand(app_));
  commands_.push_back(MakeHelpCommand(app_));

  // A tenant and a column may have no name.
  RefuseEmptyValues(app_, {"--tenant", "--column", "--y-column", "--weights-column", "--key"});
}

Command* CommandLine::chosen() const {
  for (const std::unique_ptr<Command>& command : commands_) {
    if (command->IsChosen()) return command.get();
  }
  return nullptr;
}

}  // namespace gridfold::client
