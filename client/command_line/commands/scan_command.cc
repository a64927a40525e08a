// gridfold scan: running aggregates of an array or of its groups.
#include <map>
#include <string>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/grouping_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/input/npy_format.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/scan_report.h"

namespace gridfold::client {
namespace {

constexpr char kFooter[] = R"(
Examples:
  gridfold scan delay.npy                           running sum, the first and last few shown
  gridfold scan delay.npy --op max --output running_max.npy
  gridfold scan matrix.npy --axis 1 --exclusive
  gridfold scan lengths.npy --exclusive --output - | gridfold reduce - --stat max
)";

const std::map<std::string, ScanOperation>& OperationNames() {
  static const auto* const names = new std::map<std::string, ScanOperation>{
      {"sum", ScanOperation::kSum},
      {"product", ScanOperation::kProduct},
      {"min", ScanOperation::kMin},
      {"max", ScanOperation::kMax},
  };
  return *names;
}

// Writes .npy where the name says so or there is none, else the bare elements.
absl::Status Write(const ScanResult& scan, const std::string& path) {
  std::string header;
  if (path == "-" || absl::EndsWith(path, ".npy")) {
    absl::StatusOr<std::string> npy_header = NpyHeader(scan.element_type, scan.shape);
    if (!npy_header.ok()) return npy_header.status();
    header = *std::move(npy_header);
  }
  return WriteFile(path, {header, scan.data});
}

class ScanCommand : public Command {
 public:
  explicit ScanCommand(CLI::App& program)
      : command_(*program.add_subcommand("scan", "Compute the running aggregate of an array")),
        input_(command_),
        grouping_(command_) {
    command_.footer(kFooter);
    const char* const group = "Scan";
    command_.add_option("--op", options_.operation, "sum (the default), product, min or max")
        ->transform(CLI::CheckedTransformer(OperationNames()).description(""))
        ->type_name("OPERATION")
        ->group(group);
    command_.add_flag("--exclusive", exclusive_, "Leave each element out of its own result")
        ->group(group);
    command_.add_flag("--reverse", reverse_, "From the last element to the first")->group(group);
    command_
        .add_flag("--exact", options_.exact,
                  "Sums of floating-point elements: each the exact sum, rounded once")
        ->group(group);
    command_
        .add_option("--output-type", output_type_,
                    "Type of the results: the input's, or int64, uint64 or float64 after its kind")
        ->type_name("TYPE")
        ->group(group);
    command_
        .add_option("--output", output_,
                    "Write the results: .npy where the name ends so, else bare elements; - writes "
                    ".npy to standard output, and nothing else there")
        ->type_name("FILE")
        ->group(group);
    command_.add_option("--rows", rows_max_, "Show at most so many results; 0 shows all")
        ->type_name("N")
        ->capture_default_str();
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<ScanOptions> options = ToOptions();
    if (!options.ok()) return options.status();
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const absl::StatusOr<HostArray> array = session.Load(*input);
    if (!array.ok()) return array.status();
    const auto answer = session.Ask(*array, input->path, [&](Client& client) {
      return client.ScanArray(array->view(), *options);
    });
    if (!answer.ok()) return answer.status();
    if (!output_.empty()) {
      const absl::Status status = Write(answer->result, output_);
      if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
      if (output_ == "-") return absl::OkStatus();
    }
    if (session.options().json) {
      session.out() << ToJson(*answer, output_);
    } else {
      PrintScan(*answer, output_, rows_max_, session.style(), session.out());
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<ScanOptions> ToOptions() const {
    ScanOptions options = options_;
    options.mode = exclusive_ ? ScanMode::kExclusive : ScanMode::kInclusive;
    options.direction = reverse_ ? ScanDirection::kReverse : ScanDirection::kForward;
    absl::StatusOr<Grouping> grouping = grouping_.ToGrouping();
    if (!grouping.ok()) return grouping.status();
    options.grouping = *std::move(grouping);
    options.nan_policy = grouping_.nan_policy();
    options.overflow_policy = grouping_.overflow_policy();
    if (!output_type_.empty()) {
      const absl::StatusOr<ElementType> type = ParseTypeArgument("--output-type", output_type_);
      if (!type.ok()) return WithExitCode(type.status(), ExitCode::kUsage);
      options.output_type = *type;
    }
    return options;
  }

  CLI::App& command_;
  InputArguments input_;
  GroupingArguments grouping_;
  ScanOptions options_;
  bool exclusive_ = false;
  bool reverse_ = false;
  std::string output_type_;
  std::string output_;
  uint64_t rows_max_ = 10;
};

}  // namespace

std::unique_ptr<Command> MakeScanCommand(CLI::App& program) {
  return std::make_unique<ScanCommand>(program);
}

}  // namespace gridfold::client
