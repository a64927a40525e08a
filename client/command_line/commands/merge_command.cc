// gridfold merge: the answer for a whole from the accumulators of its parts, or for what remains of
// it without some of them.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/output_type_option.h"
#include "client/command_line/commands/accumulator_output.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/report/group_report.h"
#include "client/command_line/report/group_table.h"
#include "client/command_line/report/histogram_report.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/reduction_report.h"
#include "client/command_line/report/table_report.h"

namespace gridfold::client {
namespace {

constexpr char kMergeFooter[] = R"(
Examples:
  gridfold reduce january.npy --accumulator january.acc
  gridfold reduce february.npy --accumulator february.acc
  gridfold merge january.acc february.acc
  gridfold merge quarter*.acc --output year.acc --json
  gridfold merge quarter*.acc --output year.csv      the answer as a table
  gridfold merge week.acc monday.acc --subtract last_monday.acc --output week.acc
)";

class MergeCommand : public Command {
 public:
  explicit MergeCommand(CLI::App& program)
      : command_(*program.add_subcommand(
            "merge", "Fold accumulators of reduce, histogram or group into one answer")) {
    command_.footer(kMergeFooter);
    command_.add_option("FILE", paths_, "Accumulators, in any order; - reads standard input")
        ->type_name("")
        ->required();
    const char* const group = "Merge";
    command_
        .add_option("--output", output_,
                    "Write the answer, where the name ends in .json, .csv, .md or .npy; else the "
                    "merged accumulator. json, csv, markdown and npy, or - for the accumulator, go "
                    "to standard output, and nothing else there")
        ->type_name("FORM|FILE")
        ->group(group);
    command_
        .add_option("--subtract", subtracted_,
                    "Take out accumulators that were merged into one of the others; repeatable")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group(group);
    command_
        .add_flag("--partial", options_.partial,
                  "More parts will follow: leave out statistics that have no value yet")
        ->group(group);
    AddOutputTypeOption(command_, options_.output_type, kStatisticTypeHelp)->group(group);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many groups or bins; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const bool is_answer = FormOf(output_) != AnswerForm::kText;
    const AccumulatorOutput accumulator("--output", is_answer ? "" : output_);
    if (absl::Status status = accumulator.Check(); !status.ok()) return status;
    AnswerOutput output(is_answer ? output_ : "");
    if (absl::Status status = output.Check(/*answer_count=*/1); !status.ok()) return status;
    uint64_t size_bytes = 0;
    const auto accumulators = ReadAll(session, paths_, size_bytes);
    if (!accumulators.ok()) return accumulators.status();
    const auto subtracted = ReadAll(session, subtracted_, size_bytes);
    if (!subtracted.ok()) return subtracted.status();
    const auto answer =
        session.Ask({}, size_bytes, std::nullopt, [&](Client& client, const CallOptions&) {
          return Fold(client, *accumulators, *subtracted);
        });
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<bool> prints = accumulator.Store(AccumulatorOf(answer->result));
    if (!prints.ok()) return prints.status();
    if (!*prints) return absl::OkStatus();
    return std::visit(
        [&](const auto& merged) {
          return output.Print(session, FormsOf(session, *answer, merged));
        },
        answer->result.answer);
  }

 private:
  using Accumulators = std::vector<std::string>;

  static absl::StatusOr<Accumulators> ReadAll(const Session& session,
                                              const std::vector<std::string>& paths,
                                              uint64_t& size_bytes) {
    Accumulators accumulators;
    for (const std::string& path : paths) {
      absl::StatusOr<std::string> accumulator = session.Read(path);
      if (!accumulator.ok()) return accumulator.status();
      size_bytes += accumulator->size();
      accumulators.push_back(*std::move(accumulator));
    }
    return accumulators;
  }

  absl::StatusOr<MergeResult> Fold(Client& client, const Accumulators& accumulators,
                                   const Accumulators& subtracted) const {
    if (subtracted.empty()) return client.MergeAccumulators(accumulators, options_);
    const SubtractOptions options{.partial = options_.partial, .output_type = options_.output_type};
    if (accumulators.size() == 1) {
      return client.SubtractAccumulators(accumulators[0], subtracted, options);
    }
    const auto merged = client.MergeAccumulators(accumulators, {.partial = true});
    if (!merged.ok()) return merged.status();
    return client.SubtractAccumulators(AccumulatorOf(*merged), subtracted, options);
  }

  InputDescription Describe(const MergeResult& merge) const {
    const bool one = paths_.size() == 1;
    return {.source = one ? paths_.front() : absl::StrCat(paths_.size(), " accumulators"),
            .element_type = merge.element_type,
            .shape = {merge.element_count}};
  }

  static const std::string& AccumulatorOf(const MergeResult& merge) {
    if (const auto* const reduction = std::get_if<ReductionResult>(&merge.answer)) {
      return reduction->accumulator;
    }
    if (const auto* const groups = std::get_if<KeyedReductionResult>(&merge.answer)) {
      return groups->accumulator;
    }
    return std::get<MergedHistogram>(merge.answer).result.accumulator;
  }

  AnswerForms FormsOf(const Session& session, const Answer<MergeResult>& answer,
                      const ReductionResult& merged) const {
    const Answer<ReductionResult> reduction = {Describe(answer.result), merged,
                                               answer.round_trip_time};
    return {.text =
                [this, &session, reduction](std::ostream& out) {
                  PrintReduction(reduction, /*grouped=*/false, rows_max_, session.style(), out);
                },
            .json = [reduction] { return ToJson(reduction); },
            .table = [reduction] { return ToTable(reduction); },
            .array = [&merged] { return ToArray(merged); }};
  }

  AnswerForms FormsOf(const Session& session, const Answer<MergeResult>& answer,
                      const KeyedReductionResult& merged) const {
    const Answer<KeyedReductionResult> groups = {Describe(answer.result), merged,
                                                 answer.round_trip_time};
    const KeyedReductionOptions options{.groups = FoundKeys{}};
    return {.text =
                [this, &session, groups, options](std::ostream& out) {
                  PrintGroups(groups, options, rows_max_, session.style(), out);
                },
            .json = [groups, options] { return ToJson(groups, options); },
            .table = [groups, options] { return ToTable(groups, options); },
            .array = [&merged] { return ToArray(merged); }};
  }

  AnswerForms FormsOf(const Session& session, const Answer<MergeResult>& answer,
                      const MergedHistogram& merged) const {
    const Answer<HistogramResult> histogram = {Describe(answer.result), merged.result,
                                               answer.round_trip_time};
    return {.text =
                [this, &session, &merged, histogram](std::ostream& out) {
                  PrintHistogram(histogram, merged.options, rows_max_, session.style(), out);
                },
            .json = [&merged, histogram] { return ToJson(histogram, merged.options); },
            .table = [&merged, histogram] { return ToTable(histogram, merged.options); },
            .array = [&merged] { return ToArray(merged.result, merged.options); }};
  }

  CLI::App& command_;
  std::vector<std::string> paths_;
  std::vector<std::string> subtracted_;
  MergeOptions options_;
  std::string output_;
  uint64_t rows_max_ = 40;
};

}  // namespace

std::unique_ptr<Command> MakeMergeCommand(CLI::App& program) {
  return std::make_unique<MergeCommand>(program);
}

}  // namespace gridfold::client
