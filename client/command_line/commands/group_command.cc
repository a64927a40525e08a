// gridfold group: statistics of the values of each key, or of each bin.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/bin_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/output_type_option.h"
#include "client/command_line/arguments/quantile_arguments.h"
#include "client/command_line/arguments/second_array.h"
#include "client/command_line/arguments/statistic_argument.h"
#include "client/command_line/commands/accumulator_output.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/report/group_report.h"
#include "client/command_line/report/group_table.h"
#include "client/command_line/report/json_report.h"

namespace gridfold::client {
namespace {

constexpr char kGroupFooter[] = R"(
FILE has the keys, VALUES the values; without VALUES both are in FILE, as columns or members.

Examples:
  gridfold group hour.npy delay.npy --op mean,max    of each hour that occurs
  gridfold group hour.npy delay.npy --op mean --key-range 0:24    of all, whether they occur or not
  gridfold group flights.csv --key hour --column delay --op count,mean
  gridfold group hour.npy delay.npy --op count,median
  gridfold group hour.npy delay.npy -q 0.5,0.9,0.99    exact quantiles of each hour
  gridfold group distance.npy delay.npy --op mean,std --bins 10 --range 0,3000
  gridfold group hour.npy delay.npy --op mean --output mean_by_hour.csv
  gridfold group --key-array hour --array delay --op sum    arrays on the server
)";

bool AreGiven(const BinArguments& bins) {
  return bins.bin_count || !bins.range.empty() || !bins.edges.empty() || bins.logarithmic ||
         !bins.first_value.empty() || !bins.layouts.empty();
}

class GroupCommand : public Command {
 public:
  explicit GroupCommand(CLI::App& program)
      : command_(*program.add_subcommand("group", "Compute statistics of values by their keys")),
        input_(command_, InputPlaces::kFileOrServer) {
    command_.footer(kGroupFooter);
    command_.add_option("VALUES", values_path_, "The values, where they are not in FILE")
        ->group("Input");
    AddKeyArguments("Keys");
    AddBinArguments(command_, bins_, /*takes_rules=*/false);
    command_.add_flag("--clamp", clamp_, "Take keys outside the bins as of the nearest bin")
        ->group("Keys");
    const char* const group = "Statistics";
    command_
        .add_option("--op,--stat", statistics_,
                    absl::StrCat("Which, of: median, ", DescribeStatisticNames(),
                                 ". Default: mean, where no quantiles are asked for either"))
        ->type_name("STATISTIC,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group(group);
    quantiles_.AddTo(command_,
                     "Exact quantiles, from 0, the smallest value of a group, to 1, its largest; "
                     "not in accumulators",
                     group);
    command_.add_flag("--ignore-nan", ignore_nan_, "Leave out values that are NaN")->group(group);
    command_.add_flag("--wrap", wrap_, "Let integer sums and products wrap around")->group(group);
    AddNumberOption<uint32_t>(command_, "--ddof", delta_degrees_of_freedom_,
                              "Divide the variance by the count less this; 1 for a sample")
        ->group(group);
    AddOutputTypeOption(command_, output_type_, kStatisticTypeHelp)->group(group);
    accumulator_.AddTo(command_, "--accumulator",
                       "Take the arrays as a part of a whole and write their accumulator, for "
                       "gridfold merge",
                       group);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many groups; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<KeyedReductionOptions> options = ToOptions();
    if (!options.ok()) return WithExitCode(options.status(), ExitCode::kUsage);
    if (absl::Status status = accumulator_.Check(); !status.ok()) return status;
    if (absl::Status status = output_.Check(/*answer_count=*/1); !status.ok()) return status;
    const absl::StatusOr<InputOptions> values = ValueOptions();
    if (!values.ok()) return WithExitCode(values.status(), ExitCode::kUsage);
    const absl::StatusOr<InputOptions> keys = KeyOptions();
    if (!keys.ok()) return WithExitCode(keys.status(), ExitCode::kUsage);
    const auto answer = Ask(session, *keys, *values, *options);
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<bool> prints = accumulator_.Store(answer->result.accumulator);
    if (!prints.ok()) return prints.status();
    if (!*prints) return absl::OkStatus();
    return output_.Print(session, {.text =
                                       [&](std::ostream& out) {
                                         PrintGroups(*answer, *options, rows_max_, session.style(),
                                                     out);
                                       },
                                   .json = [&] { return ToJson(*answer, *options); },
                                   .table = [&] { return ToTable(*answer, *options); },
                                   .array = [&] { return ToArray(answer->result); }});
  }

 private:
  void AddKeyArguments(const char* group) {
    command_.add_option("--key", key_.column, "Column of the keys")
        ->type_name("COLUMN")
        ->group(group);
    command_.add_option("--key-member", key_.member, "Their array in an archive (.npz)")
        ->type_name("NAME")
        ->group(group);
    command_
        .add_option(key_.type_flag, key_.type,
                    "Their element type in raw or CSV input; default, in CSV: int64")
        ->type_name("TYPE")
        ->group(group);
    command_
        .add_option(key_.reference_flag, key_.reference, "An array on the server in place of FILE")
        ->type_name(kReferenceForm)
        ->group(group);
    command_
        .add_option("--key-range", key_range_,
                    "Answer for each of so many integers, and take any other for an error; "
                    "default: for each that occurs")
        ->type_name("FIRST:COUNT")
        ->group(group);
  }

  absl::StatusOr<KeyedReductionOptions> ToOptions() const {
    KeyedReductionOptions options;
    if (absl::Status status = SetStatistics(options); !status.ok()) return status;
    if (ignore_nan_) options.nan_policy = NanPolicy::kIgnore;
    if (wrap_) options.overflow_policy = OverflowPolicy::kWrap;
    options.delta_degrees_of_freedom = delta_degrees_of_freedom_;
    options.return_accumulator = accumulator_.is_wanted();
    options.output_type = output_type_;
    if (!AreGiven(bins_)) {
      if (clamp_) return absl::InvalidArgumentError("--clamp: goes with bins");
      if (key_range_.empty()) return options;
      absl::Status status = SetRange(options);
      if (!status.ok()) return status;
      return options;
    }
    if (!key_range_.empty()) return absl::InvalidArgumentError("--key-range: not with bins");
    absl::StatusOr<std::vector<BinSpecification>> bins = ToBins(bins_);
    if (!bins.ok()) return bins.status();
    options.groups =
        KeyBins{.bins = *std::move(bins),
                .out_of_range_policy = clamp_ ? OutOfRangePolicy::kClamp : OutOfRangePolicy::kDrop};
    return options;
  }

  // A median is a quantile, of NumPy's method for it.
  absl::Status SetStatistics(KeyedReductionOptions& options) const {
    std::vector<std::string> names = statistics_;
    const bool asks_for_median = std::erase(names, "median") > 0;
    if (asks_for_median && quantiles_.are_given()) {
      return absl::InvalidArgumentError(
          "--op: median is --quantile 0.5 where others are asked for");
    }
    absl::StatusOr<std::vector<double>> quantiles = quantiles_.ToQuantiles();
    if (!quantiles.ok()) return quantiles.status();
    options.quantiles = *std::move(quantiles);
    options.quantile_method = quantiles_.method();
    if (asks_for_median) {
      options.quantiles = {0.5};
      options.quantile_method = QuantileMethod::kMean;
    }
    if (names.empty() && options.quantiles.empty()) names = {"mean"};
    absl::StatusOr<std::vector<Statistic>> statistics = ParseStatistics("--op", names);
    if (!statistics.ok()) return statistics.status();
    options.statistics = *std::move(statistics);
    return absl::OkStatus();
  }

  absl::Status SetRange(KeyedReductionOptions& options) const {
    const size_t colon = key_range_.find(':');
    const std::string first = key_range_.substr(0, colon);
    const auto count =
        ParseNumber<uint64_t>(colon == std::string::npos ? "" : key_range_.substr(colon + 1));
    const auto signed_first = ParseNumber<int64_t>(first);
    const auto unsigned_first = ParseNumber<uint64_t>(first);
    if (!count || (!signed_first && !unsigned_first)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--key-range: '", key_range_, "' is not FIRST:COUNT"));
    }
    options.groups = KeyRange{.first_key = signed_first.value_or(0),
                              .key_count = *count,
                              .first_unsigned_key = signed_first ? 0 : *unsigned_first};
    return absl::OkStatus();
  }

  // The values are what `--column`, `--member`, `--type` and `--array` are about.
  absl::StatusOr<InputOptions> ValueOptions() const {
    absl::StatusOr<InputOptions> options = input_.ToOptions();
    if (!options.ok() || options->resident) return options;
    if (!values_path_.empty()) {
      options->path = values_path_;
    } else if (key_.column.empty() && !key_.member && key_.reference.empty()) {
      return absl::InvalidArgumentError(
          "VALUES, --key, --key-member or --key-array is required: keys and values are two arrays");
    }
    options->is_second = !options->csv.column && !options->member;
    return options;
  }

  // The keys are in FILE.
  absl::StatusOr<InputOptions> KeyOptions() const {
    absl::StatusOr<InputOptions> options = input_.ToOptions();
    if (!options.ok()) return options;
    options->resident.reset();
    if (key_.reference.empty() && options->path.empty()) {
      return absl::InvalidArgumentError("--key-array or FILE is required");
    }
    options->csv.column.reset();
    options->member.reset();
    options->element_type.reset();
    if (!key_.column.empty() && !AreGiven(bins_)) options->element_type = ElementType::kInt64;
    options->can_ignore_nan = false;
    return ToSecondOptions(*options, key_);
  }

  // Opens both and asks; what no request carries is kept on the server, where the other one is.
  static absl::StatusOr<Answer<KeyedReductionResult>> Ask(const Session& session,
                                                          const InputOptions& keys,
                                                          const InputOptions& values,
                                                          const KeyedReductionOptions& options) {
    // Arrays of one request are best on one device, which is known of those that are there.
    RequestShare share{.array_count = 2, .goes_by_library = !keys.resident && !values.resident};
    absl::StatusOr<InputPassage> opened_keys = OpenPassage(session, keys, kChunkBytes, share);
    if (!opened_keys.ok()) return opened_keys.status();
    absl::StatusOr<InputPassage> opened_values = OpenPassage(session, values, kChunkBytes, share);
    if (!opened_values.ok()) return opened_values.status();
    // Where one of them is kept on the server, a request has to carry the other, or it is kept too.
    share.goes_by_library = false;
    for (const auto& [opened, other, options_of_it] :
         {std::tuple(&*opened_keys, &*opened_values, &keys),
          std::tuple(&*opened_values, &*opened_keys, &values)}) {
      const bool may_be_large = std::holds_alternative<InputArray>(*opened) &&
                                !options_of_it->resident && options_of_it->path != "-";
      if (!may_be_large || !std::holds_alternative<OutgoingArray>(*other)) continue;
      absl::StatusOr<InputPassage> again = OpenPassage(session, *options_of_it, kChunkBytes, share);
      if (!again.ok()) return again.status();
      *opened = *std::move(again);
    }
    std::optional<ArrayPlace> place = PlaceOf(*opened_values);
    if (!place) place = PlaceOf(*opened_keys);
    // Where nothing lies yet: on the first device, where the other array can follow.
    if (!place) place = ArrayPlace{};
    const absl::StatusOr<InputArray> key_array = Settle(session, *std::move(opened_keys), place);
    if (!key_array.ok()) return key_array.status();
    const absl::StatusOr<InputArray> value_array =
        Settle(session, *std::move(opened_values), place);
    if (!value_array.ok()) return value_array.status();
    return session.Ask(*value_array, [&](Client& client, const CallOptions& call_options) {
      return client.ReduceByKey(key_array->input(), value_array->input(), options, call_options);
    });
  }

  CLI::App& command_;
  InputArguments input_;
  std::string values_path_;
  SecondArray key_{.reference_flag = "--key-array", .type_flag = "--key-type"};
  std::string key_range_;
  BinArguments bins_;
  bool clamp_ = false;
  std::vector<std::string> statistics_;
  QuantileArguments quantiles_;
  bool ignore_nan_ = false;
  bool wrap_ = false;
  uint32_t delta_degrees_of_freedom_ = 0;
  std::optional<ElementType> output_type_;
  AccumulatorOutput accumulator_;
  AnswerOutput output_;
  uint64_t rows_max_ = 20;
};

}  // namespace

std::unique_ptr<Command> MakeGroupCommand(CLI::App& program) {
  return std::make_unique<GroupCommand>(program);
}

}  // namespace gridfold::client
