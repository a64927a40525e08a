// gridfold reduce: statistics of an array or of its groups.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/grouping_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/mask_argument.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/output_type_option.h"
#include "client/command_line/arguments/scalar_text.h"
#include "client/command_line/arguments/statistic_argument.h"
#include "client/command_line/arguments/strategy_option.h"
#include "client/command_line/arguments/stream_arguments.h"
#include "client/command_line/commands/accumulator_output.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/commands/mask_feed.h"
#include "client/command_line/commands/outgoing_array.h"
#include "client/command_line/input/number_parsing.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/reduction_report.h"
#include "client/command_line/report/table_report.h"

namespace gridfold::client {
namespace {

constexpr char kReduceFooter[] = R"(
Examples:
  gridfold reduce delay.npy                          the usual statistics
  gridfold reduce delay.npy --stat sum,argmax --json
  gridfold reduce matrix.npy --axis 0 --stat mean    of each column
  gridfold reduce images.npy --axis 0,2,3 --stat mean,var    of each channel
  gridfold reduce flights.csv --column delay --ignore-nan
  gridfold reduce flights.csv.gz --column delay --missing NA --ignore-nan
  gridfold reduce flights.csv --column delay --column distance --output csv
  gridfold reduce 'part-*.npy' --stat sum,max
  gridfold reduce results.npz --member scores        one array of an archive
  gridfold reduce samples.bin --type float32 --segments 0,1000,5000
  gridfold reduce images.npy --axis 0 --stat mean --where valid.npy   of what valid.npy says counts
  gridfold reduce readings.npy --segments 0,0,7 --stat mean,max --empty null
  gridfold reduce matrix.npy --axis 0 --stat mean --output-type float32 --output means.npy
  gridfold reduce january.npy --accumulator january.acc
  gridfold reduce --array samples --stat sum         an array on the server; see gridfold array
  gridfold reduce --array 'samples[1000:50]'         50 of its elements, from number 1,000 on
  gridfold reduce --array 'images{::2, ..., 0}'      of NumPy's images[::2, ..., 0]
  gridfold reduce samples.npy --shared               through memory that a local server shares
  producer | gridfold reduce - --type uint16 --stat count,max
  producer | gridfold reduce - --type uint16 --stream         of any length, in little memory
)";

bool IsFloatingPoint(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

// Whether a stream takes no such options.
bool TakesNoStream(const ReductionOptions& options) {
  const double ddof = options.delta_degrees_of_freedom;
  return options.where || options.initial ||
         options.empty_group.policy != EmptyGroupPolicy::kError || ddof < 0 ||
         ddof != std::floor(ddof);
}

// Whether rows that arrive one after the other are enough: all axes before some, or after some, are
// reduced. What is no axis, the server refuses.
bool StreamsAlong(const std::vector<int32_t>& axes, size_t dimension_count) {
  std::vector<bool> is_reduced(dimension_count);
  for (const int64_t axis : axes) {
    const int64_t place = axis < 0 ? axis + static_cast<int64_t>(dimension_count) : axis;
    if (place < 0 || place >= static_cast<int64_t>(dimension_count)) return true;
    is_reduced[static_cast<size_t>(place)] = true;
  }
  int changes = 0;
  for (size_t d = 1; d < dimension_count; ++d) changes += is_reduced[d] != is_reduced[d - 1];
  return changes <= 1;
}

class ReduceCommand : public Command {
 public:
  explicit ReduceCommand(CLI::App& program)
      : command_(*program.add_subcommand("reduce", "Compute statistics of an array")),
        input_(command_, InputPlaces::kFileOrServer, InputCount::kSeveral),
        stream_(command_),
        grouping_(command_),
        mask_(command_, "Statistics") {
    command_.footer(kReduceFooter);
    const char* const group = "Statistics";
    command_
        .add_option("--stat", statistics_,
                    absl::StrCat("Which, of: ", DescribeStatisticNames(),
                                 ". Default: count,sum,min,max,mean,standard_deviation"))
        ->type_name("STATISTIC,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group(group);
    command_
        .add_flag("--keep-dimensions", keep_dimensions_,
                  "Axes that are reduced stay in the result's shape, with an extent of 1")
        ->group(group);
    command_
        .add_option_function<std::string>(
            "--ddof",
            [this](const std::string& text) {
              const std::optional<double> ddof = ParseNumber<double>(text);
              if (!ddof || !std::isfinite(*ddof)) {
                throw CLI::ValidationError("--ddof", absl::StrCat("'", text, "' is not a number"));
              }
              delta_degrees_of_freedom_ = *ddof;
            },
            "Divide the variance by the count less this; 1 for a sample")
        ->type_name("N")
        ->group(group);
    command_
        .add_option_function<std::string>(
            "--empty",
            [this](const std::string& text) {
              const std::optional<EmptyGroup> rule = ParseEmptyGroup(text);
              if (!rule) {
                throw CLI::ValidationError(
                    "--empty", absl::StrCat("'", text, "' is not error, nan, null or a number"));
              }
              empty_group_ = *rule;
            },
            "Statistics of groups that are too small for them: error (the default), nan, null, or "
            "a value in their place")
        ->type_name("error|nan|null|VALUE")
        ->group(group);
    command_
        .add_option_function<std::string>(
            "--initial",
            [this](const std::string& text) {
              initial_ = ParseScalar(text);
              if (!initial_) {
                throw CLI::ValidationError("--initial",
                                           absl::StrCat("'", text, "' is not a number"));
              }
            },
            "An element that each group has besides; of sum, product, min, max, all and any only")
        ->type_name("VALUE")
        ->group(group);
    AddOutputTypeOption(command_, output_type_, kStatisticTypeHelp)->group(group);
    accumulator_.AddTo(
        command_, "--accumulator",
        "Take the array as a part of a whole and write its accumulator, for gridfold "
        "merge",
        group);
    AddNumberOption<uint64_t>(
        command_, "--first-index", first_index_,
        "Index in that whole of the first element of each group, for argmin and argmax")
        ->group(group);
    AddStrategyOption(command_, strategy_);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many groups; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<ReductionOptions> options = ToOptions();
    if (!options.ok()) return options.status();
    absl::StatusOr<std::optional<ArrayInput>> mask = mask_.Load(session);
    if (!mask.ok()) return mask.status();
    options->where = *std::move(mask);
    if (absl::Status status = accumulator_.Check(); !status.ok()) return status;
    const absl::StatusOr<std::vector<InputOptions>> inputs = input_.ToList();
    if (!inputs.ok()) return WithExitCode(inputs.status(), ExitCode::kUsage);
    if (absl::Status status = accumulator_.CheckCount(inputs->size()); !status.ok()) return status;
    absl::Status status = output_.Check(inputs->size());
    for (const InputOptions& input : *inputs) {
      if (status.ok()) status = AnswerOne(session, input, *options);
    }
    return status.ok() ? output_.Finish(session) : status;
  }

 private:
  using ReductionAnswer = absl::StatusOr<Answer<ReductionResult>>;

  absl::Status AnswerOne(const Session& session, const InputOptions& input,
                         const ReductionOptions& options) {
    const ReductionAnswer answer =
        stream_.is_given() ? AskStream(session, input, options) : Ask(session, input, options);
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<bool> prints = accumulator_.Store(answer->result.accumulator);
    if (!prints.ok()) return prints.status();
    if (!*prints) return absl::OkStatus();
    const bool grouped = !std::holds_alternative<WholeArray>(options.grouping);
    return output_.Add(session, {.text =
                                     [&](std::ostream& out) {
                                       PrintReduction(*answer, grouped, rows_max_, session.style(),
                                                      out);
                                     },
                                 .json = [&] { return ToJson(*answer); },
                                 .table = [&] { return ToTable(*answer); },
                                 .array = [&] { return ToArray(answer->result); }});
  }

  ReductionAnswer Ask(const Session& session, const InputOptions& input,
                      const ReductionOptions& options) const {
    absl::StatusOr<InputPassage> opened = OpenPassage(
        session, input, stream_.chunk_bytes(), {.other_bytes = OffsetBytes(options.grouping)});
    if (!opened.ok()) return opened.status();
    if (auto* const array = std::get_if<InputArray>(&*opened)) {
      return Ask(session, *array, options);
    }
    auto& large = std::get<OutgoingArray>(*opened);
    const absl::StatusOr<bool> can_stream = CanStream(
        session, large.stream().element_type(), large.stream().row_shape().size() + 1, options);
    if (!can_stream.ok()) return can_stream.status();
    if (*can_stream) return Send(session, large, options);
    const absl::StatusOr<InputArray> kept = KeepOnServer(session, std::move(large));
    if (!kept.ok()) return kept.status();
    return Ask(session, *kept, options);
  }

  static ReductionAnswer Ask(const Session& session, const InputArray& array,
                             const ReductionOptions& options) {
    return session.Ask(array, [&](Client& client, const CallOptions& call_options) {
      return client.ReduceArray(array.input(), options, call_options);
    });
  }

  ReductionAnswer AskStream(const Session& session, const InputOptions& input,
                            const ReductionOptions& options) const {
    absl::StatusOr<OutgoingArray> array = OutgoingArray::Open(input, stream_.chunk_bytes());
    if (!array.ok()) return array.status();
    return Send(session, *array, options);
  }

  static absl::StatusOr<bool> CanStream(const Session& session, ElementType type,
                                        size_t dimension_count, const ReductionOptions& options) {
    if (TakesNoStream(options)) return false;
    const std::vector<Statistic>& statistics = options.statistics;
    // A product of floating-point elements depends on where in the array they stand.
    if (IsFloatingPoint(type) &&
        std::find(statistics.begin(), statistics.end(), Statistic::kProduct) != statistics.end()) {
      return false;
    }
    if (std::holds_alternative<Segments>(options.grouping)) return TakesAnyStream(session);
    if (const auto* const axes = std::get_if<Axes>(&options.grouping)) {
      return StreamsAlong(axes->axes, dimension_count);
    }
    const auto* const axis = std::get_if<Axis>(&options.grouping);
    return axis == nullptr || StreamsAlong({static_cast<int32_t>(axis->axis)}, dimension_count);
  }

  static ReductionAnswer Send(const Session& session, OutgoingArray& array,
                              const ReductionOptions& options) {
    const auto ask = [&](Client& client, const CallOptions&) -> absl::StatusOr<ReductionResult> {
      ReductionOptions asked = options;
      absl::StatusOr<MaskFeed> mask = MaskFeed::Take(asked.where);
      if (!mask.ok()) return mask.status();
      const ElementType type = array.stream().element_type();
      const absl::StatusOr<std::unique_ptr<ReductionStream>> stream =
          client.OpenReductionStream({.element_type = type,
                                      .row_shape = array.stream().row_shape(),
                                      .has_mask = mask->is_given()},
                                     asked);
      if (!stream.ok()) return stream.status();
      absl::Status sent = array.SendAll([&](std::span<const std::byte> piece) {
        return (*stream)->Write(piece, mask->Next(piece, type));
      });
      if (sent.ok() && !mask->rest().empty()) sent = (*stream)->Write({}, mask->rest());
      if (!sent.ok()) return sent;
      return (*stream)->Finish();
    };
    return array.Ask(session, ask);
  }

  absl::StatusOr<ReductionOptions> ToOptions() const {
    ReductionOptions options;
    absl::StatusOr<std::vector<Statistic>> statistics = ParseStatistics("--stat", statistics_);
    if (!statistics.ok()) return statistics.status();
    options.statistics = *std::move(statistics);
    absl::StatusOr<Grouping> grouping = grouping_.ToGrouping();
    if (!grouping.ok()) return grouping.status();
    options.grouping = *std::move(grouping);
    options.nan_policy = grouping_.nan_policy();
    options.overflow_policy = grouping_.overflow_policy();
    options.delta_degrees_of_freedom = delta_degrees_of_freedom_;
    options.empty_group = empty_group_;
    options.initial = initial_;
    options.return_accumulator = accumulator_.is_wanted();
    options.first_index = first_index_;
    options.keep_dimensions = keep_dimensions_;
    options.output_type = output_type_;
    options.strategy = strategy_;
    return options;
  }

  CLI::App& command_;
  InputArguments input_;
  StreamArguments stream_;
  GroupingArguments grouping_;
  MaskArgument mask_;
  std::vector<std::string> statistics_ = {"count", "sum",  "min",
                                          "max",   "mean", "standard_deviation"};
  double delta_degrees_of_freedom_ = 0;
  EmptyGroup empty_group_;
  std::optional<Scalar> initial_;
  AccumulatorOutput accumulator_;
  AnswerOutput output_;
  uint64_t first_index_ = 0;
  bool keep_dimensions_ = false;
  std::optional<ElementType> output_type_;
  std::string strategy_;
  uint64_t rows_max_ = 20;
};

}  // namespace

std::unique_ptr<Command> MakeReduceCommand(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace gridfold::client
