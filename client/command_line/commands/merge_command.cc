// gridfold merge: the answer for a whole from the accumulators of its parts.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/commands/accumulator_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/report/histogram_report.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/reduction_report.h"

namespace gridfold::client {
namespace {

constexpr char kFooter[] = R"(
Examples:
  gridfold reduce january.npy --accumulator january.acc
  gridfold reduce february.npy --accumulator february.acc
  gridfold merge january.acc february.acc
  gridfold merge quarter*.acc --output year.acc --json
)";

class MergeCommand : public Command {
 public:
  explicit MergeCommand(CLI::App& program)
      : command_(*program.add_subcommand(
            "merge", "Fold accumulators of reduce or histogram into one answer")) {
    command_.footer(kFooter);
    command_.add_option("FILE", paths_, "Accumulators, in any order; - reads standard input")
        ->type_name("")
        ->required();
    const char* const group = "Merge";
    output_.AddTo(command_, "--output", "Write the merged accumulator", group);
    command_
        .add_flag("--partial", options_.partial,
                  "More parts will follow: leave out statistics that have no value yet")
        ->group(group);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many groups or bins; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    if (absl::Status status = output_.Check(); !status.ok()) return status;
    std::vector<std::string> accumulators;
    uint64_t size_bytes = 0;
    for (const std::string& path : paths_) {
      absl::StatusOr<std::string> accumulator = session.Read(path);
      if (!accumulator.ok()) return accumulator.status();
      size_bytes += accumulator->size();
      accumulators.push_back(*std::move(accumulator));
    }
    const auto answer =
        session.Ask({}, size_bytes, std::nullopt, [&](Client& client, const CallOptions&) {
          return client.MergeAccumulators(accumulators, options_);
        });
    if (!answer.ok()) return answer.status();
    return std::visit([&](const auto& merged) { return Report(session, *answer, merged); },
                      answer->result.answer);
  }

 private:
  InputDescription Describe(const MergeResult& merge) const {
    const bool one = paths_.size() == 1;
    return {.source = one ? paths_.front() : absl::StrCat(paths_.size(), " accumulators"),
            .element_type = merge.element_type,
            .shape = {merge.element_count}};
  }

  absl::Status Report(const Session& session, const Answer<MergeResult>& answer,
                      const ReductionResult& merged) const {
    const absl::StatusOr<bool> prints = output_.Store(merged.accumulator);
    if (!prints.ok()) return prints.status();
    if (!*prints) return absl::OkStatus();
    const Answer<ReductionResult> reduction = {Describe(answer.result), merged,
                                               answer.round_trip_time};
    if (session.options().json) {
      session.out() << ToJson(reduction);
    } else {
      PrintReduction(reduction, /*grouped=*/false, rows_max_, session.style(), session.out());
    }
    return absl::OkStatus();
  }

  absl::Status Report(const Session& session, const Answer<MergeResult>& answer,
                      const MergedHistogram& merged) const {
    const absl::StatusOr<bool> prints = output_.Store(merged.result.accumulator);
    if (!prints.ok()) return prints.status();
    if (!*prints) return absl::OkStatus();
    const Answer<HistogramResult> histogram = {Describe(answer.result), merged.result,
                                               answer.round_trip_time};
    if (session.options().json) {
      session.out() << ToJson(histogram, merged.options);
    } else {
      PrintHistogram(histogram, merged.options, rows_max_, session.style(), session.out());
    }
    return absl::OkStatus();
  }

  CLI::App& command_;
  std::vector<std::string> paths_;
  MergeOptions options_;
  AccumulatorOutput output_;
  uint64_t rows_max_ = 40;
};

}  // namespace

std::unique_ptr<Command> MakeMergeCommand(CLI::App& program) {
  return std::make_unique<MergeCommand>(program);
}

}  // namespace gridfold::client
