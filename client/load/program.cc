#include "client/load/program.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/configuration.h"
#include "client/command_line/connection_options.h"
#include "client/command_line/input/file.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/output/standard_output.h"
#include "client/load/report/compare.h"
#include "client/load/report/html_report.h"
#include "client/load/report/json_report.h"
#include "client/load/report/live_view.h"
#include "client/load/report/text_report.h"
#include "client/load/report/thresholds.h"
#include "client/load/run/load_run.h"
#include "client/load/work/scenario_file.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using client::ExitCode;
using client::TextStyle;

constexpr uint64_t kScenarioBytesMax = uint64_t{1} << 20;
constexpr uint64_t kReportBytesMax = uint64_t{256} << 20;

constexpr char kFooter[] = R"(
A LEVEL is a number, a ramp such as 100:2000, or steps such as 100,200,400.

Exit codes:
  0  done
  1  an answer was wrong, or a threshold of --fail-if was not kept
  2  the command line or the scenario makes no sense
  3  no server was reached, or it fell silent
  4  a file could not be read or written

Examples:
  gridfold_load --concurrency 16 --elements 1024
  gridfold_load --rate 2000 --duration 30s --fail-if 'p99>5ms' --fail-if 'errors>0.1%'
  gridfold_load --find-rate 5ms --scenario mixed_tenants.json
  gridfold_load --rate 100:5000 --html report.html
  gridfold_load compare before.json after.json
)";

// What is asked for instead of a scenario file.
struct SingleRequest {
  std::string operation;
  std::string element_type;
  uint64_t elements = 0;
  std::string transport;
  std::vector<std::string> statistics;
};

struct ProgramOptions {
  client::ConnectionOptions connection;
  std::string scenario_path;
  SingleRequest single;
  LoadSettings settings;
  std::string json_path;
  std::string csv_path;
  std::string html_path;
  std::vector<std::string> fail_if;
  std::vector<std::string> compared_paths;
  std::vector<NamedText> given;  // All of these, as text, for the report.
};

void AddSingleRequestOptions(CLI::App& program, SingleRequest& single) {
  const std::string group = "One kind of request, in place of --scenario";
  program
      .add_option("--operation", single.operation,
                  "reduce (the default), scan, histogram, quantile, topk, group or relate")
      ->type_name("NAME")
      ->group(group);
  program.add_option("--type", single.element_type, "Of the elements (float32)")
      ->type_name("TYPE")
      ->group(group);
  client::AddNumberOption<uint64_t>(program, "--elements", single.elements, "Of each array (1024)",
                                    1)
      ->group(group);
  program
      .add_option("--transport", single.transport,
                  "How arrays get there: inline (the default), stream, resident or shared")
      ->type_name("NAME")
      ->group(group);
  program
      .add_option("--stat", single.statistics,
                  "Of reductions, also by key (sum), or of relations (correlation)")
      ->type_name("STATISTIC,...")
      ->delimiter(',')
      ->group(group);
}

void AddOptions(CLI::App& program, ProgramOptions& options) {
  client::AddConnectionOptions(program, options.connection);
  program
      .add_option("--scenario", options.scenario_path,
                  "What to send: a YAML or JSON file, - for input")
      ->type_name("FILE");
  AddSingleRequestOptions(program, options.single);
  for (const LoadSettingDescription& setting : AllLoadSettings()) {
    program
        .add_option_function<std::string>(
            absl::StrCat("--", setting.name),
            [&options, name = std::string(setting.name)](const std::string& text) {
              options.settings[name] = text;
            },
            setting.help)
        ->type_name(setting.type_name)
        ->group("Load");
  }
  program.add_option("--json", options.json_path, "Write the report as JSON, - for output")
      ->type_name("FILE")
      ->group("Reports");
  program.add_option("--csv", options.csv_path, "Write every second as CSV, - for output")
      ->type_name("FILE")
      ->group("Reports");
  program.add_option("--html", options.html_path, "Write the report as one page")
      ->type_name("FILE")
      ->group("Reports");
  program
      .add_option("--fail-if", options.fail_if,
                  "Ends with code 1 where it is so, such as 'p99>5ms', 'errors>0.1%', 'rate<1000', "
                  "'throughput<2GB/s', 'lateness>1ms'; may be repeated")
      ->type_name("FIGURE<>LIMIT")
      ->group("Reports");
}

CLI::App* AddCompareCommand(CLI::App& program, ProgramOptions& options) {
  CLI::App* const compare =
      program.add_subcommand("compare", "Puts two reports of --json side by side");
  compare->add_option("files", options.compared_paths, "The reports, the earlier one first")
      ->type_name("FILE")
      ->required()
      ->expected(2);
  return compare;
}

bool IsGiven(const SingleRequest& single) {
  return !single.operation.empty() || !single.element_type.empty() || single.elements > 0 ||
         !single.transport.empty() || !single.statistics.empty();
}

// As a scenario says it, so that both are read in one place.
std::string ToScenarioText(const SingleRequest& single) {
  nlohmann::json request = nlohmann::json::object();
  if (!single.operation.empty()) request["operation"] = single.operation;
  if (!single.element_type.empty()) request["element_type"] = single.element_type;
  if (single.elements > 0) request["elements"] = single.elements;
  if (!single.transport.empty()) request["transport"] = single.transport;
  if (!single.statistics.empty()) request["statistics"] = single.statistics;
  return nlohmann::json({{"requests", {request}}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<std::string> Read(const std::string& path, uint64_t bytes_max) {
  absl::StatusOr<std::string> text = client::ReadFile(path, bytes_max, nullptr);
  if (!text.ok()) return client::WithExitCode(text.status(), ExitCode::kInputOutput);
  return text;
}

absl::StatusOr<ScenarioFile> LoadScenario(const ProgramOptions& options) {
  absl::StatusOr<std::string> text = ToScenarioText(options.single);
  if (!options.scenario_path.empty()) {
    if (IsGiven(options.single)) {
      return client::WithExitCode(
          absl::InvalidArgumentError("--scenario says what to send: leave out --operation, --type, "
                                     "--elements, --transport and --stat"),
          ExitCode::kUsage);
    }
    text = Read(options.scenario_path, kScenarioBytesMax);
    if (!text.ok()) return text.status();
  }
  absl::StatusOr<ScenarioFile> file = ParseScenario(*text);
  if (!file.ok()) {
    const std::string& path = options.scenario_path;
    return client::WithExitCode(
        path.empty() ? file.status() : client::NamingFile(path, file.status()), ExitCode::kUsage);
  }
  return file;
}

// The command line's settings go before the scenario's; an open and a closed loop exclude each
// other.
LoadSettings Together(const LoadSettings& scenario, const LoadSettings& command_line) {
  LoadSettings settings = command_line;
  const bool has_loop = settings.contains("rate") || settings.contains("concurrency") ||
                        settings.contains("find-rate");
  for (const auto& [name, text] : scenario) {
    const bool is_loop = name == "rate" || name == "concurrency" || name == "find-rate";
    if (!(is_loop && has_loop)) settings.insert({name, text});
  }
  return settings;
}

absl::Status WriteReports(const LoadResult& result, const ProgramOptions& options) {
  const std::vector<std::pair<std::string, std::function<std::string(const LoadResult&)>>> reports =
      {{options.json_path, ToJson}, {options.csv_path, ToCsv}, {options.html_path, ToHtml}};
  for (const auto& [path, write] : reports) {
    if (path.empty()) continue;
    absl::Status status = client::WriteFile(path, {write(result)});
    if (!status.ok()) return client::WithExitCode(status, ExitCode::kInputOutput);
  }
  return absl::OkStatus();
}

// What makes a run that has taken place no success: the first of its kinds is the exit code.
absl::Status ToStatus(const LoadResult& result) {
  for (const LevelResult& level : result.levels) {
    if (level.end_reason == EndReason::kSilent) {
      return client::WithExitCode(
          absl::UnavailableError(
              "the server could not be reached, or did not answer, for too long: "
              "the run was ended"),
          ExitCode::kUnreachable);
    }
    if (level.recording.wrong > 0) {
      return client::WithExitCode(absl::DataLossError("the server gave wrong answers"),
                                  ExitCode::kRequestFailed);
    }
  }
  if (result.verdict.is_passed()) return absl::OkStatus();
  return client::WithExitCode(absl::FailedPreconditionError("a threshold was not kept"),
                              ExitCode::kRequestFailed);
}

// Options that were given, on the command line or by the environment, but for settings of
// the load, which the plan tells together with its defaults.
std::vector<NamedText> GivenOptions(const CLI::App& program) {
  std::set<std::string> settings;
  for (const LoadSettingDescription& setting : AllLoadSettings()) settings.insert(setting.name);
  std::vector<NamedText> given;
  for (const CLI::Option* const option : program.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    if (option->count() == 0 || names.empty() || settings.contains(names.front())) continue;
    given.emplace_back(names.front(), absl::StrJoin(option->results(), ", "));
  }
  return given;
}

absl::StatusOr<std::vector<Threshold>> ParseThresholds(const std::vector<std::string>& texts) {
  std::vector<Threshold> thresholds;
  for (const std::string& text : texts) {
    absl::StatusOr<Threshold> threshold = ParseThreshold(text);
    if (!threshold.ok()) return client::WithExitCode(threshold.status(), ExitCode::kUsage);
    thresholds.push_back(*std::move(threshold));
  }
  return thresholds;
}

struct Outputs {
  const std::function<void(const std::string&)>& show;
  const TextStyle& style;
  const TextStyle& error_style;
  std::ostream& out;
  std::ostream& error;
};

absl::Status RunLoad(const ProgramOptions& options, const std::atomic<bool>& is_interrupted,
                     const Outputs& outputs) {
  const absl::StatusOr<std::vector<Threshold>> thresholds = ParseThresholds(options.fail_if);
  if (!thresholds.ok()) return thresholds.status();
  const absl::StatusOr<ScenarioFile> file = LoadScenario(options);
  if (!file.ok()) return file.status();
  const LoadSettings settings = Together(file->load, options.settings);
  if (const auto plan = MakeLoadPlan(settings); !plan.ok()) {
    return client::WithExitCode(plan.status(), ExitCode::kUsage);
  }
  const absl::StatusOr<client::ClientOptions> server = client::ToClientOptions(options.connection);
  if (!server.ok()) return server.status();
  absl::StatusOr<LoadResult> result = absl::InternalError("");
  {
    LiveView view(outputs.error_style, outputs.show);
    result = RunLoadTest(
        *server, file->scenario, settings, is_interrupted,
        [&](const LoadResult& so_far, const LevelResult& level) { view.Update(so_far, level); });
  }
  if (!result.ok()) return result.status();
  result->options.insert(result->options.begin(), options.given.begin(), options.given.end());
  result->verdict = Judge(*thresholds, *result);
  // Standard output belongs to a report that is written there.
  if (options.json_path != "-" && options.csv_path != "-") {
    PrintReport(*result, outputs.style, outputs.out);
  }
  const absl::Status written = WriteReports(*result, options);
  for (const std::string& failure : result->verdict.failures()) {
    outputs.error << outputs.error_style.Error("failed: ") << failure << "\n";
  }
  const absl::Status judged = ToStatus(*result);
  return written.ok() ? judged : written;
}

absl::Status Compare(const ProgramOptions& options, const Outputs& outputs) {
  const absl::StatusOr<std::string> before = Read(options.compared_paths[0], kReportBytesMax);
  if (!before.ok()) return before.status();
  const absl::StatusOr<std::string> after = Read(options.compared_paths[1], kReportBytesMax);
  if (!after.ok()) return after.status();
  const absl::Status status = CompareReports(*before, *after, outputs.style, outputs.out);
  return status.ok() ? status : client::WithExitCode(status, ExitCode::kInputOutput);
}

// The command line that the program takes, and what parsing has set.
struct CommandLine {
  CommandLine() {
    app.set_version_flag("-V,--version", std::string("gridfold_load " GRIDFOLD_VERSION));
    app.get_formatter()->column_width(34);
    app.footer(kFooter);
    AddOptions(app, options);
    compare = AddCompareCommand(app, options);
    client::RefuseEmptyValues(app, {});
  }

  CLI::App app{"Loads a gridfold server, and tells what its callers see.", "gridfold_load"};
  ProgramOptions options;
  const CLI::App* compare = nullptr;
};

ExitCode Run(int argc, const char* const* argv, const std::atomic<bool>& is_interrupted,
             const Outputs& outputs) {
  CommandLine command_line;
  CLI::App& program = command_line.app;
  ProgramOptions& options = command_line.options;
  try {
    program.parse(argc, argv);
    client::CheckVariables(program);
  } catch (const CLI::ParseError& parse_error) {
    // Help and the version come this way too.
    return program.exit(parse_error, outputs.out, outputs.error) == 0 ? ExitCode::kSuccess
                                                                      : ExitCode::kUsage;
  }
  options.given = GivenOptions(program);
  const absl::Status status = command_line.compare->parsed()
                                  ? Compare(options, outputs)
                                  : RunLoad(options, is_interrupted, outputs);
  if (!status.ok()) {
    outputs.error << outputs.error_style.Error("gridfold_load: ") << status.message() << "\n";
  }
  return client::ExitCodeOf(status);
}

}  // namespace

void VisitCommandLine(const std::function<void(const CLI::App&)>& visit) {
  const CommandLine command_line;
  visit(command_line.app);
}

ExitCode RunProgram(int argc, const char* const* argv, const std::atomic<bool>& is_interrupted,
                    const std::function<void(const std::string&)>& show, const TextStyle& out_style,
                    const TextStyle& error_style, std::ostream& out, std::ostream& error) {
  const Outputs outputs{show, out_style, error_style, out, error};
  const ExitCode code = Run(argc, argv, is_interrupted, outputs);
  return client::FinishOutput(code, "gridfold_load", out, error);
}

}  // namespace gridfold::load
