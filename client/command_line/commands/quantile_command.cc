// gridfold quantile: exact quantiles of an array or of its groups.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/grouping_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/quantile_arguments.h"
#include "client/command_line/arguments/second_array.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/order_report.h"
#include "client/command_line/report/order_table.h"

namespace gridfold::client {
namespace {

constexpr char kQuantileFooter[] = R"(
Examples:
  gridfold quantile delay.npy                        the median
  gridfold quantile delay.npy -q 0.5,0.9,0.99 --json
  gridfold quantile flights.csv --column delay --missing NA --ignore-nan -q 0.25,0.5,0.75
  gridfold quantile matrix.npy --axis 0 -q 0.5       of each column
  gridfold quantile matrix.npy --axis 0 -q 0.5 --output medians.npy
  gridfold quantile delay.npy --method nearest       an element
  gridfold quantile delay.npy --rank 0,9             the smallest and the tenth element
  gridfold quantile --array samples -q 0.99          an array on the server
  gridfold quantile delay.npy --weights passengers.npy -q 0.5    half of the passengers
)";

class QuantileCommand : public Command {
 public:
  explicit QuantileCommand(CLI::App& program)
      : command_(*program.add_subcommand("quantile", "Compute exact quantiles of an array")),
        input_(command_, InputPlaces::kFileOrServer),
        grouping_(command_, /*can_overflow=*/false) {
    command_.footer(kQuantileFooter);
    const char* const group = "Quantiles";
    quantiles_.AddTo(command_,
                     "Which, from 0, the smallest element, to 1, the largest; 0.5, the median, "
                     "where no ranks are asked for either",
                     group);
    command_
        .add_option("--rank", ranks_,
                    "Elements by their place among the sorted ones; 0 is the smallest")
        ->type_name("N,...")
        ->group(group);
    command_
        .add_option("--weights", weights_.path,
                    "The weight of each element: a quantile is then the smallest element up to "
                    "which there is that part of the weights")
        ->type_name("FILE")
        ->group("Weights");
    AddSecondArrayParts(command_, "Weights", {"--weights", "--weights", "Their"}, weights_);
    command_
        .add_flag("--keep-dimensions", keep_dimensions_,
                  "Axes that the groups run along stay in the result's shape")
        ->group(group);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many groups; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<QuantileOptions> options = ToOptions();
    if (!options.ok()) return options.status();
    if (absl::Status status = output_.Check(/*answer_count=*/1); !status.ok()) return status;
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const absl::StatusOr<InputArray> array =
        weights_.IsGiven() ? OpenWithWeights(session, *input)
                           : OpenWhole(session, *input, OffsetBytes(options->grouping));
    if (!array.ok()) return array.status();
    if (weight_array_) options->weights = weight_array_->input();
    const absl::StatusOr<Answer<QuantileResult>> answer =
        session.Ask(*array, [&](Client& client, const CallOptions& call_options) {
          return client.ComputeQuantiles(array->input(), *options, call_options);
        });
    if (!answer.ok()) return answer.status();
    return output_.Print(session, {.text =
                                       [&](std::ostream& out) {
                                         PrintQuantiles(*answer, *options, rows_max_,
                                                        session.style(), out);
                                       },
                                   .json = [&] { return ToJson(*answer, *options); },
                                   .table = [&] { return ToTable(*answer, *options); },
                                   .array = [&] { return ToArray(answer->result); }});
  }

 private:
  // The elements; their weights, which lie where they do, become weight_array_.
  absl::StatusOr<InputArray> OpenWithWeights(const Session& session, const InputOptions& input) {
    const RequestShare share{.array_count = 2,
                             .goes_by_library = !input.resident && weights_.reference.empty()};
    absl::StatusOr<InputPassage> elements = OpenPassage(session, input, kChunkBytes, share);
    if (!elements.ok()) return elements.status();
    auto weights = OpenSecond(session, input, weights_, kChunkBytes, share);
    if (!weights.ok()) return weights.status();
    std::optional<ArrayPlace> place = PlaceOf(*weights);
    absl::StatusOr<InputArray> settled = Settle(session, *std::move(elements), place);
    if (!settled.ok()) return settled.status();
    auto settled_weights = Settle(session, *std::move(weights), place);
    if (!settled_weights.ok()) return settled_weights.status();
    weight_array_ = *std::move(settled_weights);
    return settled;
  }

  absl::StatusOr<QuantileOptions> ToOptions() const {
    QuantileOptions options;
    absl::StatusOr<std::vector<double>> quantiles = quantiles_.ToQuantiles();
    if (!quantiles.ok()) return quantiles.status();
    options.quantiles = *std::move(quantiles);
    if (!ranks_.empty()) {
      auto ranks = ParseNumberList<uint64_t>("--rank", ranks_);
      if (!ranks.ok()) return WithExitCode(ranks.status(), ExitCode::kUsage);
      options.ranks = *std::move(ranks);
    }
    if (!quantiles_.are_given() && ranks_.empty()) options.quantiles = {0.5};
    absl::StatusOr<Grouping> grouping = grouping_.ToGrouping();
    if (!grouping.ok()) return grouping.status();
    options.grouping = *std::move(grouping);
    options.method = quantiles_.method(weights_.IsGiven() ? QuantileMethod::kInvertedCdf
                                                          : QuantileMethod::kLinear);
    options.nan_policy = grouping_.nan_policy();
    options.keep_dimensions = keep_dimensions_;
    return options;
  }

  CLI::App& command_;
  InputArguments input_;
  GroupingArguments grouping_;
  QuantileArguments quantiles_;
  SecondArray weights_{.reference_flag = "--weights-array"};
  std::optional<InputArray> weight_array_;
  std::string ranks_;
  bool keep_dimensions_ = false;
  AnswerOutput output_;
  uint64_t rows_max_ = 20;
};

}  // namespace

std::unique_ptr<Command> MakeQuantileCommand(CLI::App& program) {
  return std::make_unique<QuantileCommand>(program);
}

}  // namespace gridfold::client
