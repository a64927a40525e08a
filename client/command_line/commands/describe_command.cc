// gridfold describe: what is in a file, column by column.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/input/array_list.h"
#include "client/command_line/input/file.h"
#include "client/command_line/report/description_report.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/table_report.h"

namespace gridfold::client {
namespace {

constexpr char kDescribeFooter[] = R"(
Examples:
  gridfold describe flights.csv                      every column
  gridfold describe flights.csv --column delay --column distance --missing NA
  gridfold describe delay.npy
  gridfold describe results.npz --json               every array of the archive
  gridfold describe january.csv february.csv --output csv
)";

constexpr uint64_t kBinCount = 1024;

class DescribeCommand : public Command {
 public:
  explicit DescribeCommand(CLI::App& program)
      : command_(*program.add_subcommand("describe", "Tell what is in a file, column by column")),
        input_(command_, InputPlaces::kFile, InputCount::kSeveral) {
    command_.footer(kDescribeFooter);
    output_.AddTo(command_, "Output", /*has_arrays=*/false);
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::vector<InputOptions>> files = input_.ToFiles();
    if (!files.ok()) return WithExitCode(files.status(), ExitCode::kUsage);
    absl::Status status = output_.Check(files->size());
    for (const InputOptions& file : *files) {
      if (status.ok()) status = DescribeFile(session, file);
    }
    return status.ok() ? output_.Finish(session) : status;
  }

 private:
  absl::Status DescribeFile(const Session& session, const InputOptions& file) {
    const absl::StatusOr<std::vector<ListedArray>> listed = ListArrays(file, input_.columns());
    if (!listed.ok()) {
      return WithExitCode(NamingFile(file.path, listed.status()), ExitCode::kInputOutput);
    }
    std::vector<ArrayDescriptionReport> reports;
    for (const ListedArray& array : *listed) {
      absl::StatusOr<ArrayDescriptionReport> report = DescribeArray(session, array);
      if (!report.ok()) return report.status();
      reports.push_back(*std::move(report));
    }
    return output_.Add(session, {.text =
                                     [&](std::ostream& out) {
                                       PrintDescriptions(file.path, reports, session.style(), out);
                                     },
                                 .json = [&] { return ToJson(file.path, reports); },
                                 .table = [&] { return ToTable(file.path, reports); },
                                 .array = nullptr});
  }

  static absl::StatusOr<ArrayDescriptionReport> DescribeArray(const Session& session,
                                                              const ListedArray& listed) {
    ArrayDescriptionReport report = {.name = listed.name};
    if (listed.is_text) return report;
    const absl::StatusOr<InputArray> array = OpenWhole(session, listed.input);
    if (!array.ok()) return array.status();
    return Ask(session, *array, std::move(report));
  }

  static absl::StatusOr<ArrayDescriptionReport> Ask(const Session& session, const InputArray& array,
                                                    ArrayDescriptionReport report) {
    report.input = array.description;
    if (IsEmpty(array.description)) return report;
    absl::StatusOr<Answer<ReductionResult>> statistics =
        session.Ask(array, [&](Client& client, const CallOptions& call_options) {
          return client.ReduceArray(
              array.input(),
              {.statistics = {Statistic::kCount, Statistic::kNanCount, Statistic::kInfinityCount,
                              Statistic::kMin, Statistic::kMax, Statistic::kMean,
                              Statistic::kStandardDeviation},
               .nan_policy = NanPolicy::kIgnore},
              call_options);
        });
    if (!statistics.ok()) return statistics.status();
    report.statistics = std::move(statistics->result);
    if (CountOf(*report.statistics, Statistic::kCount) ==
        CountOf(*report.statistics, Statistic::kInfinityCount)) {
      return report;  // Nothing finite, so no range.
    }
    absl::StatusOr<Answer<HistogramResult>> histogram =
        session.Ask(array, [&](Client& client, const CallOptions& call_options) {
          return client.ComputeHistogram(
              array.input(),
              {.bins = {EvenBins{.bin_count = kBinCount}},
               .quantiles = {std::begin(kDescribedQuantiles), std::end(kDescribedQuantiles)}},
              call_options);
        });
    if (!histogram.ok()) return histogram.status();
    report.histogram = std::move(histogram->result);
    return report;
  }

  static bool IsEmpty(const InputDescription& input) {
    for (const uint64_t extent : input.shape) {
      if (extent == 0) return true;
    }
    return false;
  }

  static uint64_t CountOf(const ReductionResult& result, Statistic statistic) {
    return std::get<std::vector<uint64_t>>(*result.Find(statistic))[0];
  }

  CLI::App& command_;
  InputArguments input_;
  AnswerOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeDescribeCommand(CLI::App& program) {
  return std::make_unique<DescribeCommand>(program);
}

}  // namespace gridfold::client
