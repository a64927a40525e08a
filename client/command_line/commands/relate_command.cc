// gridfold relate: statistics of two arrays, or of the columns of one.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/second_array.h"
#include "client/command_line/arguments/suggestion.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/relation_report.h"

namespace gridfold::client {
namespace {

constexpr char kRelateFooter[] = R"(
FILE has x, Y the other array; without Y it may be another column or member of FILE. Without either,
the columns of a two-dimensional array are related, each with each.

Examples:
  gridfold relate x.npy y.npy --op dot,covariance,correlation
  gridfold relate flights.csv --column distance --y-column delay
  gridfold relate samples.npy --op correlation --output correlations.csv
  gridfold relate delay.npy --weights passengers.npy --op mean,variance
)";

std::vector<std::string> NamesOfRelations() {
  std::vector<std::string> names;
  for (const PairedStatistic statistic : kRelations) names.emplace_back(RelationName(statistic));
  return names;
}

absl::StatusOr<std::vector<PairedStatistic>> ParseRelations(const std::vector<std::string>& names) {
  std::vector<PairedStatistic> statistics;
  for (const std::string& name : names) {
    const std::optional<PairedStatistic> statistic = ParseRelation(name);
    if (!statistic) {
      const std::vector<std::string> known = NamesOfRelations();
      return absl::InvalidArgumentError(absl::StrCat("--op: ", NoneOf(name, known)));
    }
    statistics.push_back(*statistic);
  }
  return statistics;
}

class RelateCommand : public Command {
 public:
  explicit RelateCommand(CLI::App& program)
      : command_(*program.add_subcommand(
            "relate", "Compute dot products, covariances and correlations of arrays")),
        input_(command_, InputPlaces::kFileOrServer) {
    command_.footer(kRelateFooter);
    command_.add_option("Y", y_.path, "The other array, of the type and shape of the first")
        ->group("Input");
    AddSecondArrayParts(command_, "Second arrays", {"--y", "Y", "Its"}, y_);
    command_.add_option("--weights", weights_.path, "The weight of each observation")
        ->type_name("FILE")
        ->group("Second arrays");
    AddSecondArrayParts(command_, "Second arrays", {"--weights", "--weights", "Their"}, weights_);
    const char* const group = "Statistics";
    command_
        .add_option("--op,--stat", statistics_,
                    "Which, of: dot, covariance, correlation, mean, variance. Default: correlation")
        ->type_name("STATISTIC,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group(group);
    AddNumberOption<uint32_t>(command_, "--ddof", options_.delta_degrees_of_freedom,
                              "Divide by the sum of the weights less this; 1 for a sample")
        ->group(group);
    command_
        .add_flag("--reliability", is_reliability_,
                  "Weights say how much an observation counts, and not how often it was made")
        ->group(group);
    command_
        .add_flag("--ignore-nan", ignore_nan_, "Leave out observations of which anything is NaN")
        ->group(group);
    command_.add_flag("--wrap", wrap_, "Let dot products of integers wrap around")->group(group);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<std::vector<PairedStatistic>> statistics = ParseRelations(statistics_);
    if (!statistics.ok()) return WithExitCode(statistics.status(), ExitCode::kUsage);
    options_.statistics = *std::move(statistics);
    if (is_reliability_) options_.weight_kind = WeightKind::kReliability;
    if (ignore_nan_) options_.nan_policy = NanPolicy::kIgnore;
    if (wrap_) options_.overflow_policy = OverflowPolicy::kWrap;
    if (absl::Status status = output_.Check(/*answer_count=*/1); !status.ok()) return status;
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const absl::StatusOr<Answer<RelateResult>> answer = Ask(session, *input);
    if (!answer.ok()) return answer.status();
    return output_.Print(
        session, {.text = [&](std::ostream& out) { PrintRelations(*answer, session.style(), out); },
                  .json = [&] { return ToJson(*answer); },
                  .table = [&] { return ToTable(*answer); },
                  .array = [&] { return ToArray(answer->result); }});
  }

 private:
  absl::StatusOr<Answer<RelateResult>> Ask(const Session& session, const InputOptions& input) {
    const bool is_of_files = !input.resident && y_.reference.empty() && weights_.reference.empty();
    const RequestShare share{
        .array_count = 1 + uint64_t{y_.IsGiven()} + uint64_t{weights_.IsGiven()},
        .goes_by_library = is_of_files};
    absl::StatusOr<InputPassage> opened_x = OpenPassage(session, input, kChunkBytes, share);
    if (!opened_x.ok()) return opened_x.status();
    auto opened_y = OpenSecond(session, input, y_, kChunkBytes, share);
    if (!opened_y.ok()) return opened_y.status();
    auto opened_weights = OpenSecond(session, input, weights_, kChunkBytes, share);
    if (!opened_weights.ok()) return opened_weights.status();
    // Arrays of one request are best on one device, which is known of those that are there.
    std::optional<ArrayPlace> place = PlaceOf(*opened_y);
    if (!place) place = PlaceOf(*opened_weights);
    const absl::StatusOr<InputArray> x = Settle(session, *std::move(opened_x), place);
    if (!x.ok()) return x.status();
    const auto y = Settle(session, *std::move(opened_y), place);
    if (!y.ok()) return y.status();
    const auto weights = Settle(session, *std::move(opened_weights), place);
    if (!weights.ok()) return weights.status();
    if (*y) options_.y = (*y)->input();
    if (*weights) options_.weights = (*weights)->input();
    return session.Ask(*x, [&](Client& client, const CallOptions& call_options) {
      return client.RelateArrays(x->input(), options_, call_options);
    });
  }

  CLI::App& command_;
  InputArguments input_;
  SecondArray y_{.reference_flag = "--y-array"};
  SecondArray weights_{.reference_flag = "--weights-array"};
  std::vector<std::string> statistics_ = {"correlation"};
  bool is_reliability_ = false;
  bool ignore_nan_ = false;
  bool wrap_ = false;
  RelateOptions options_;
  AnswerOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeRelateCommand(CLI::App& program) {
  return std::make_unique<RelateCommand>(program);
}

}  // namespace gridfold::client
