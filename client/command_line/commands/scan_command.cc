// gridfold scan: running aggregates of an array or of its groups.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/command_line/arguments/choice.h"
#include "client/command_line/arguments/grouping_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/mask_argument.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/output_type_option.h"
#include "client/command_line/arguments/strategy_option.h"
#include "client/command_line/arguments/stream_arguments.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/commands/mask_feed.h"
#include "client/command_line/commands/outgoing_array.h"
#include "client/command_line/commands/plot_output.h"
#include "client/command_line/input/file.h"
#include "client/command_line/output/array_file.h"
#include "client/command_line/output/standard_output.h"
#include "client/command_line/report/answer_plot.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/scan_report.h"
#include "client/command_line/report/table_report.h"
#include "client/library/helper_thread.h"

namespace gridfold::client {
namespace {

constexpr char kScanFooter[] = R"(
Examples:
  gridfold scan delay.npy                           running sum, the first and last few shown
  gridfold scan delay.npy --op max --output running_max.npy
  gridfold scan matrix.npy --axis 1 --exclusive
  gridfold scan delay.npy --op mean --window 24     moving means of the last 24
  gridfold scan delay.npy --plot running_sum.svg
  gridfold scan --array samples --to-array sums     from and to arrays on the server
  gridfold scan lengths.npy --exclusive --output - | gridfold reduce - --stat max
  gridfold scan huge.npy --stream --output sums.npy      of any length, in little memory
)";

Choices<ScanOperation> Operations() {
  return {{"sum", ScanOperation::kSum},
          {"product", ScanOperation::kProduct},
          {"min", ScanOperation::kMin},
          {"max", ScanOperation::kMax},
          {"mean", ScanOperation::kMean}};
}

Choices<ScanOperation> OperationAliases() {
  return {{"prod", ScanOperation::kProduct},
          {"minimum", ScanOperation::kMin},
          {"maximum", ScanOperation::kMax}};
}

// The largest result: sums of integers have 64 bits.
constexpr uint64_t kResultBytesMax = 8;
// How long the server keeps results of a program that was killed.
constexpr absl::Duration kKeptTime = absl::Minutes(10);

class ScanCommand : public Command {
 public:
  explicit ScanCommand(CLI::App& program)
      : command_(*program.add_subcommand("scan", "Compute the running aggregate of an array")),
        input_(command_, InputPlaces::kFileOrServer),
        stream_(command_),
        grouping_(command_),
        mask_(command_, "Scan") {
    command_.footer(kScanFooter);
    const char* const group = "Scan";
    AddChoice(command_, "--op", options_.operation, Operations(),
              "What is carried along; default: sum", OperationAliases())
        ->group(group);
    command_.add_flag("--exclusive", exclusive_, "Leave each element out of its own result")
        ->group(group);
    command_.add_flag("--reverse", reverse_, "From the last element to the first")->group(group);
    command_
        .add_flag("--exact", options_.exact,
                  "Sums of floating-point elements: each the exact sum, rounded once")
        ->group(group);
    AddNumberOption<uint64_t>(command_, "--window", options_.window,
                              "Sums and means of the last N elements only, exact and rounded once")
        ->type_name("N")
        ->group(group);
    AddNumberOption<uint64_t>(command_, "--min-count", options_.min_count,
                              "NaN where fewer elements of a window count")
        ->type_name("N")
        ->group(group);
    AddOutputTypeOption(
        command_, options_.output_type,
        "Type of the results: the input's, or int64, uint64 or float64 after its kind")
        ->group(group);
    command_
        .add_option("--output", output_,
                    "Write the results: .npy, .csv, .md or .json where the name ends so, else bare "
                    "elements; json, csv, markdown and npy (or -) go to standard output, and "
                    "nothing else there. The file appears when it is complete")
        ->type_name("FORM|FILE")
        ->group(group);
    CLI::Option* const output = command_.get_option("--output");
    CLI::Option* const to_array =
        command_
            .add_option("--to-array", to_array_,
                        "Keep the results on the server, as a new array of this name")
            ->type_name("NAME")
            ->excludes(output)
            ->group(group);
    command_
        .add_flag("--in-place", in_place_,
                  "Of --array: replace the elements by the results, which are of their type")
        ->excludes(output)
        ->excludes(to_array)
        ->group(group);
    AddStrategyOption(command_, strategy_);
    plot_.AddTo(command_, "Scan")
        ->excludes("--to-array")
        ->excludes("--in-place")
        ->excludes("--stream");
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many results; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<ScanOptions> options = ToOptions();
    if (!options.ok()) return options.status();
    absl::StatusOr<std::optional<ArrayInput>> mask = mask_.Load(session);
    if (!mask.ok()) return mask.status();
    options->where = *std::move(mask);
    // Forms that are made of all results at once; others are written as the results come.
    const bool is_array = output_.empty() || FormOf(output_) == AnswerForm::kText ||
                          FormOf(output_) == AnswerForm::kNpy;
    if (is_array) array_path_ = output_ == "npy" ? "-" : output_;
    if (absl::Status status = CheckBinaryOutput("--output", array_path_); !status.ok()) {
      return status;
    }
    if (absl::Status status = plot_.Check(1); !status.ok()) return status;
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const ScanAnswer answer =
        stream_.is_given() ? AskStream(session, *input, *options) : Ask(session, *input, *options);
    if (!answer.ok()) return answer.status();
    if (absl::Status status = Plot(*answer, *options); !status.ok()) return status;
    if (array_path_ == "-") return absl::OkStatus();
    if (!is_array && answer->result.resident_array) {
      return WithExitCode(
          absl::InvalidArgumentError("--output: the results are on the server; see array get"),
          ExitCode::kUsage);
    }
    AnswerOutput output(is_array ? "" : output_);
    absl::Status status =
        output.Add(session, {.text =
                                 [&](std::ostream& out) {
                                   PrintScan(*answer, array_path_, rows_max_, session.style(), out);
                                 },
                             .json = [&] { return ToJson(*answer, array_path_); },
                             .table = [&] { return ToTable(*answer); },
                             .array = nullptr});
    return status.ok() ? output.Finish(session) : status;
  }

 private:
  using ScanAnswer = absl::StatusOr<Answer<ScanResult>>;

  absl::Status Plot(const Answer<ScanResult>& answer, const ScanOptions& options) const {
    if (!plot_.is_wanted()) return absl::OkStatus();
    const absl::StatusOr<std::string> svg = PlotScan(answer.result, options.grouping);
    if (!svg.ok()) return WithExitCode(svg.status(), ExitCode::kUsage);
    return plot_.Write(answer.input, *svg);
  }

  ScanAnswer Ask(const Session& session, const InputOptions& input,
                 const ScanOptions& options) const {
    absl::StatusOr<InputPassage> opened =
        OpenPassage(session, input, stream_.chunk_bytes(),
                    {.other_bytes = OffsetBytes(options.grouping),
                     .result_bytes_per_element = IsInline(options) ? kResultBytesMax : 0,
                     // Results of any size are written as they come.
                     .goes_by_library = !IsInline(options)});
    if (!opened.ok()) return opened.status();
    if (auto* const array = std::get_if<InputArray>(&*opened)) {
      return Store(session.Ask(*array, [&](Client& client, const CallOptions& call_options) {
        return client.ScanArray(array->input(), options, call_options);
      }));
    }
    auto& large = std::get<OutgoingArray>(*opened);
    const bool is_bool = large.stream().element_type() == ElementType::kBool;
    const absl::StatusOr<bool> can_stream =
        is_bool ? absl::StatusOr<bool>(false) : CanStream(session, options);
    if (!can_stream.ok()) return can_stream.status();
    if (*can_stream) {
      // A header begins with the number of elements.
      absl::Status status = HasHeader(array_path_) ? large.LearnSize(session) : absl::OkStatus();
      if (!status.ok()) return status;
      return Send(session, large, options);
    }
    const absl::StatusOr<InputArray> kept = KeepOnServer(session, std::move(large));
    if (!kept.ok()) return kept.status();
    return Store(session.Ask(*kept, [&](Client& client, const CallOptions&) {
      return IsInline(options) ? ScanKept(client, kept->input(), options)
                               : client.ScanArray(kept->input(), options);
    }));
  }

  static bool IsInline(const ScanOptions& options) {
    return std::holds_alternative<InlineDestination>(options.destination);
  }

  static absl::StatusOr<bool> CanStream(const Session& session, const ScanOptions& options) {
    const bool has_far_mask =
        options.where && !std::holds_alternative<ArrayView>(options.where->source());
    if (has_far_mask || options.window || options.operation == ScanOperation::kMean ||
        !IsInline(options) || !std::holds_alternative<WholeArray>(options.grouping) ||
        options.direction != ScanDirection::kForward) {
      return false;
    }
    return TakesAnyStream(session);
  }

  // Of an array on the server, by way of another one there, since no answer carries the results.
  static absl::StatusOr<ScanResult> ScanKept(Client& client, const ArrayInput& input,
                                             ScanOptions options) {
    options.destination = ResidentDestination{.idle_expiry = kKeptTime};
    absl::StatusOr<ScanResult> result = client.ScanArray(input, options);
    if (!result.ok()) return result;
    if (!result->resident_array) return absl::InternalError("the server has kept no results");
    const std::string name = result->resident_array->name;
    absl::StatusOr<ArrayData> elements = client.ReadArray(ResidentArray{name});
    (void)client.DeleteArray(name);
    if (!elements.ok()) return elements.status();
    result->element_type = elements->element_type;
    result->shape = std::move(elements->shape);
    result->data = std::move(elements->data);
    result->resident_array.reset();
    return result;
  }

  // Writes the results where they are wanted in a file.
  ScanAnswer Store(ScanAnswer answer) const {
    if (!answer.ok() || array_path_.empty()) return answer;
    const absl::Status status = WriteArrayFile(array_path_, answer->result.element_type,
                                               answer->result.shape, answer->result.data);
    if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
    return answer;
  }

  ScanAnswer AskStream(const Session& session, const InputOptions& input,
                       const ScanOptions& options) const {
    if (array_path_.empty()) {
      return WithExitCode(
          absl::InvalidArgumentError("--stream: --output with a file of elements is needed"),
          ExitCode::kUsage);
    }
    if (AreSameFile(input.path, array_path_)) {
      return WithExitCode(absl::InvalidArgumentError(
                              "--output: is FILE, which --stream has not read when it begins "
                              "to write"),
                          ExitCode::kUsage);
    }
    absl::StatusOr<OutgoingArray> array = OutgoingArray::Open(input, stream_.chunk_bytes());
    if (!array.ok()) return array.status();
    return Send(session, *array, options);
  }

  ScanAnswer Send(const Session& session, OutgoingArray& array, const ScanOptions& options) const {
    std::optional<ArrayFileWriter> file;
    if (!array_path_.empty()) file.emplace(array_path_);
    return array.Ask(
        session, [&](Client& client, const CallOptions&) -> absl::StatusOr<ScanResult> {
          ScanOptions asked = options;
          absl::StatusOr<MaskFeed> mask = MaskFeed::Take(asked.where);
          if (!mask.ok()) return mask.status();
          const absl::StatusOr<std::unique_ptr<ScanStream>> stream = client.OpenScanStream(
              {.element_type = array.stream().element_type(), .has_mask = mask->is_given()}, asked);
          if (!stream.ok()) return stream.status();
          absl::StatusOr<ScanResult> result =
              Exchange(array, *mask, **stream, file ? &*file : nullptr);
          if (!result.ok()) return result;
          const absl::Status status = file ? file->Commit() : absl::OkStatus();
          if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
          result->shape = array.stream().shape();
          return result;
        });
  }

  // Sends all elements while it takes the results, into `file` or, without one, into memory.
  absl::StatusOr<ScanResult> Exchange(OutgoingArray& array, MaskFeed& mask, ScanStream& stream,
                                      ArrayFileWriter* file) const {
    const std::optional<uint64_t> size_bytes = array.size_bytes();
    absl::Status sent;
    std::optional<std::thread> sender = TryStartThread([&] {
      const ElementType type = array.stream().element_type();
      sent = array.SendAll([&](std::span<const std::byte> piece) {
        return stream.Write(piece, mask.Next(piece, type));
      });
      if (sent.ok() && !mask.rest().empty()) sent = stream.Write({}, mask.rest());
      // Where the file is at fault, what came of it is of no use.
      if (sent.ok()) {
        stream.WritesDone();
      } else {
        stream.Cancel();
      }
    });
    if (!sender) {
      stream.Cancel();
      return absl::ResourceExhaustedError("there is no thread to send the elements");
    }
    absl::StatusOr<ScanResult> result =
        ReceiveAll(size_bytes ? std::optional(array.stream().ShapeOf(*size_bytes)) : std::nullopt,
                   stream, file);
    if (!result.ok()) stream.Cancel();
    sender->join();
    // Where the sender has cancelled, it says why; otherwise both have the stream's own error, or
    // the receiver has another one.
    if (!sent.ok() && (result.ok() || absl::IsCancelled(result.status()))) return sent;
    return result;
  }

  absl::StatusOr<ScanResult> ReceiveAll(const std::optional<std::vector<uint64_t>>& shape,
                                        ScanStream& stream, ArrayFileWriter* file) const {
    ScanResult result;
    while (true) {
      const absl::StatusOr<std::optional<ScanPiece>> piece = stream.Read();
      if (!piece.ok()) return piece.status();
      if (!piece->has_value()) break;
      result.element_type = (*piece)->element_type;
      if (file == nullptr || plot_.is_wanted()) result.data += (*piece)->data;
      if (file == nullptr) continue;
      const absl::Status status = file->Write((*piece)->element_type, shape, (*piece)->data);
      if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
    }
    result.execution = stream.execution();
    return result;
  }

  absl::StatusOr<ScanOptions> ToOptions() const {
    ScanOptions options = options_;
    options.mode = exclusive_ ? ScanMode::kExclusive : ScanMode::kInclusive;
    options.direction = reverse_ ? ScanDirection::kReverse : ScanDirection::kForward;
    absl::StatusOr<Grouping> grouping = grouping_.ToGrouping();
    if (!grouping.ok()) return grouping.status();
    options.grouping = *std::move(grouping);
    options.nan_policy = grouping_.nan_policy();
    options.overflow_policy = grouping_.overflow_policy();
    options.strategy = strategy_;
    if (!to_array_.empty()) options.destination = ResidentDestination{.name = to_array_};
    if (in_place_) options.destination = InPlaceDestination{};
    return options;
  }

  CLI::App& command_;
  InputArguments input_;
  StreamArguments stream_;
  GroupingArguments grouping_;
  MaskArgument mask_;
  ScanOptions options_;
  bool exclusive_ = false;
  bool reverse_ = false;
  std::string output_;
  std::string array_path_;  // Where the results are written as they come; empty: nowhere.
  PlotOutput plot_;
  std::string to_array_;
  bool in_place_ = false;
  std::string strategy_;
  uint64_t rows_max_ = 10;
};

}  // namespace

std::unique_ptr<Command> MakeScanCommand(CLI::App& program) {
  return std::make_unique<ScanCommand>(program);
}

}  // namespace gridfold::client
