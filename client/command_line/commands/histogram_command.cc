// gridfold histogram: counts of an array's elements by bins.
#include <algorithm>
#include <cstddef>
#include <iterator>
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
#include "client/command_line/arguments/bin_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/mask_argument.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/arguments/second_array.h"
#include "client/command_line/arguments/strategy_option.h"
#include "client/command_line/arguments/stream_arguments.h"
#include "client/command_line/commands/accumulator_output.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/commands/mask_feed.h"
#include "client/command_line/commands/outgoing_array.h"
#include "client/command_line/commands/plot_output.h"
#include "client/command_line/input/element_conversion.h"
#include "client/command_line/report/answer_plot.h"
#include "client/command_line/report/histogram_report.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/table_report.h"

namespace gridfold::client {
namespace {

constexpr char kHistogramFooter[] = R"(
Examples:
  gridfold histogram delay.npy --bins 10 --range -60,140
  gridfold histogram delay.npy --bins auto
  gridfold histogram delay.npy --edges -inf,0,15,60,inf --json
  gridfold histogram income.npy --log --bins 20 --range 1000,1e7
  gridfold histogram image.npy --integer 0 --bins 256 --channels 3
  gridfold histogram hour.npy --y delay.npy --layout even:24:0:24 --layout even:20:-60:140
  gridfold histogram flights.csv --column delay --weights-column distance
  gridfold histogram --array latency --weights-array bytes --bins 50
  gridfold histogram delay.npy --bins 50 --range -60,140 --plot delay.svg
  gridfold histogram flights.csv --column delay --column distance --bins 20 --output csv
  gridfold histogram latency.npy --bins 1000 --quantiles 0.5,0.9,0.99
  producer | gridfold histogram - --type float32 --bins 50 --range 0,1 --stream
)";

constexpr size_t kElementBytesMax = 8;

// What the edges of bins take in a request.
uint64_t EdgeBytes(const HistogramOptions& options) {
  uint64_t count = 0;
  for (const BinSpecification& bins : options.bins) {
    if (const auto* const edges = std::get_if<EdgeBins>(&bins)) count += edges->edges.size();
  }
  return count * sizeof(double);
}

// Stands for an array that was given, where its elements do not matter any more.
const ArrayView kGivenArray(ElementType::kInt8, nullptr, 0);

class HistogramCommand : public Command {
 public:
  explicit HistogramCommand(CLI::App& program)
      : command_(*program.add_subcommand("histogram", "Count an array's elements by bins")),
        input_(command_, InputPlaces::kFileOrServer, InputCount::kSeveral),
        stream_(command_),
        mask_(command_, "Histogram") {
    command_.footer(kHistogramFooter);
    AddBinArguments(command_, bins_, /*takes_rules=*/true);
    AddSecondArrays(command_, "Second arrays", y_, weights_);
    const char* const group = "Histogram";
    command_.add_flag("--clamp", clamp_, "Count what is out of range in the nearest bin as well")
        ->group(group);
    command_.add_flag("--sparse", sparse_, "Ask for the bins that are not empty only")
        ->group(group);
    AddNumberOption<uint32_t>(command_, "--channels", channel_count_,
                              "Interleaved channels, each counted by itself", 1)
        ->group(group);
    command_.add_option("--quantiles", quantiles_, "Quantiles to read off the counts, in [0, 1]")
        ->type_name("P,Q,...")
        ->group(group);
    accumulator_.AddTo(
        command_, "--accumulator",
        "Take the samples as a part of a whole and write its accumulator, for gridfold "
        "merge",
        group);
    AddStrategyOption(command_, strategy_);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
    plot_.AddTo(command_, "Output");
    AddNumberOption<uint64_t>(
        command_, "--rows", rows_max_,
        "Draw at most so many rows, by adding up neighbouring bins; 0 draws all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<HistogramOptions> options = ToOptions();
    if (!options.ok()) return WithExitCode(options.status(), ExitCode::kUsage);
    absl::StatusOr<std::optional<ArrayInput>> mask = mask_.Load(session);
    if (!mask.ok()) return mask.status();
    options->where = *std::move(mask);
    if (absl::Status status = accumulator_.Check(); !status.ok()) return status;
    const absl::StatusOr<std::vector<InputOptions>> inputs = input_.ToList();
    if (!inputs.ok()) return WithExitCode(inputs.status(), ExitCode::kUsage);
    if (absl::Status status = accumulator_.CheckCount(inputs->size()); !status.ok()) return status;
    if (absl::Status status = plot_.Check(inputs->size()); !status.ok()) return status;
    absl::Status status = output_.Check(inputs->size());
    for (const InputOptions& input : *inputs) {
      if (status.ok()) status = CheckStandardInput(input);
    }
    for (const InputOptions& input : *inputs) {
      if (status.ok()) status = AnswerOne(session, input, *options);
    }
    return status.ok() ? output_.Finish(session) : status;
  }

 private:
  using HistogramAnswer = absl::StatusOr<Answer<HistogramResult>>;

  absl::Status AnswerOne(const Session& session, const InputOptions& input,
                         HistogramOptions options) {
    const HistogramAnswer answer =
        stream_.is_given() ? AskStream(session, input, options) : Ask(session, input, options);
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<bool> prints = accumulator_.Store(answer->result.accumulator);
    if (!prints.ok()) return prints.status();
    if (plot_.is_wanted()) {
      absl::Status status = plot_.Write(answer->input, PlotHistogram(answer->result, options));
      if (!status.ok()) return status;
    }
    if (!*prints) return absl::OkStatus();
    return output_.Add(session, {.text =
                                     [&](std::ostream& out) {
                                       PrintHistogram(*answer, options, rows_max_, session.style(),
                                                      out);
                                     },
                                 .json = [&] { return ToJson(*answer, options); },
                                 .table = [&] { return ToTable(*answer, options); },
                                 .array = [&] { return ToArray(answer->result, options); }});
  }

  // Standard input can be read once, and a second array of FILE reads it again.
  absl::Status CheckStandardInput(const InputOptions& input) const {
    const auto reads_it = [&](const SecondArray& second) {
      if (!second.IsGiven() || !second.reference.empty()) return false;
      return (second.path.empty() ? input.path : second.path) == "-";
    };
    const int reader_count = int{input.path == "-"} + int{reads_it(y_)} + int{reads_it(weights_)};
    if (reader_count <= 1) return absl::OkStatus();
    return WithExitCode(
        absl::InvalidArgumentError("-: standard input can be read once, and more than one array is "
                                   "to come from it; save it in a file"),
        ExitCode::kUsage);
  }

  // Sets the second arrays of `options`, by which the answer is printed; they are empty afterwards.
  HistogramAnswer Ask(const Session& session, const InputOptions& input,
                      HistogramOptions& options) const {
    const RequestShare share = {
        .array_count = 1 + uint64_t{y_.IsGiven()} + uint64_t{weights_.IsGiven()},
        .other_bytes = EdgeBytes(options),
        // Arrays of one request are best on one device, which is known of those that are there.
        .goes_by_library = y_.reference.empty() && weights_.reference.empty()};
    absl::StatusOr<InputPassage> x = FindInput(session, input, stream_.chunk_bytes());
    if (!x.ok()) return x.status();
    absl::StatusOr<std::optional<InputPassage>> y = OpenSecond(session, input, y_);
    if (!y.ok()) return y.status();
    absl::StatusOr<std::optional<InputPassage>> weights = OpenSecond(session, input, weights_);
    if (!weights.ok()) return weights.status();
    if (y->has_value()) MakeAlike(*x, **y);
    x = ReadInput(session, *std::move(x), input.shared, share);
    if (!x.ok()) return x.status();
    for (auto* const second : {&*y, &*weights}) {
      if (!second->has_value()) continue;
      absl::StatusOr<InputPassage> read =
          ReadInput(session, *std::move(*second), /*shared=*/false, share);
      if (!read.ok()) return read.status();
      *second = *std::move(read);
    }
    if ((IsLarge(*x) || IsLarge(*y) || IsLarge(*weights)) && !IsBool(*x) && !IsBool(*weights) &&
        CanStream(options)) {
      if (share.array_count == 1) {
        return Send(session, std::get<OutgoingArray>(*x), nullptr, nullptr, options);
      }
      // They are opened again, to be sent in step from the beginning.
      if (CanBeReopened(input)) return AskStream(session, input, options);
    }
    return AskForKept(session, *std::move(x), *std::move(y), *std::move(weights), options);
  }

  static bool IsLarge(const InputPassage& input) {
    return std::holds_alternative<OutgoingArray>(input);
  }
  static bool IsLarge(const std::optional<InputPassage>& input) { return input && IsLarge(*input); }

  // Which no stream of samples takes.
  static bool IsBool(const InputPassage& input) { return TypeOf(input) == ElementType::kBool; }
  static bool IsBool(const std::optional<InputPassage>& input) { return input && IsBool(*input); }

  // A stream has gone by before the range of its samples, or what a rule looks at, is known.
  static bool CanStream(const HistogramOptions& options) {
    if (options.where) return false;
    return std::none_of(options.bins.begin(), options.bins.end(), [](const BinSpecification& bins) {
      const auto* const even = std::get_if<EvenBins>(&bins);
      return even != nullptr && (even->rule || !even->lower_bound);
    });
  }

  bool CanBeReopened(const InputOptions& input) const {
    return !input.resident && input.path != "-" && y_.reference.empty() && y_.path != "-" &&
           weights_.reference.empty() && weights_.path != "-";
  }

  static HistogramAnswer AskForKept(const Session& session, InputPassage opened_x,
                                    std::optional<InputPassage> opened_y,
                                    std::optional<InputPassage> opened_weights,
                                    HistogramOptions& options) {
    std::optional<ArrayPlace> place = PlaceOf(opened_y);
    if (!place) place = PlaceOf(opened_weights);
    absl::StatusOr<InputArray> x = Settle(session, std::move(opened_x), place);
    if (!x.ok()) return x.status();
    absl::StatusOr<std::optional<InputArray>> y = Settle(session, std::move(opened_y), place);
    if (!y.ok()) return y.status();
    absl::StatusOr<std::optional<InputArray>> weights =
        Settle(session, std::move(opened_weights), place);
    if (!weights.ok()) return weights.status();
    if (y->has_value()) options.y_array = (*y)->input();
    if (weights->has_value()) options.weights = (*weights)->input();
    auto answer = session.Ask(*x, [&](Client& client, const CallOptions& call_options) {
      return client.ComputeHistogram(x->input(), options, call_options);
    });
    // What they view ends here.
    if (options.y_array) options.y_array = kGivenArray;
    if (options.weights) options.weights = kGivenArray;
    return answer;
  }

  HistogramAnswer AskStream(const Session& session, const InputOptions& input,
                            HistogramOptions& options) const {
    absl::StatusOr<InputPassage> x = OpenPart(input);
    if (!x.ok()) return x.status();
    absl::StatusOr<std::optional<InputPassage>> y = OpenSecondPart(input, y_);
    if (!y.ok()) return y.status();
    absl::StatusOr<std::optional<InputPassage>> weights = OpenSecondPart(input, weights_);
    if (!weights.ok()) return weights.status();
    if (y->has_value()) MakeAlike(*x, **y);
    const auto file = [](std::optional<InputPassage>& second) {
      return second ? &std::get<OutgoingArray>(*second) : nullptr;
    };
    OutgoingArray& array = std::get<OutgoingArray>(*x);
    // Pieces of all arrays have as many elements, so that they can be computed on as they come.
    for (OutgoingArray* const sent : {&array, file(*y), file(*weights)}) {
      if (sent != nullptr) sent->SetChunkElements(stream_.chunk_bytes() / kElementBytesMax);
    }
    return Send(session, array, file(*y), file(*weights), options);
  }

  // Sends all arrays in step; `y` and `weights` may be nullptr.
  static HistogramAnswer Send(const Session& session, OutgoingArray& array, OutgoingArray* y,
                              OutgoingArray* weights, HistogramOptions& options) {
    StreamedCompanions companions{.y_array = y != nullptr};
    if (weights != nullptr) companions.weights = weights->stream().element_type();
    if (y != nullptr) options.y_array = kGivenArray;
    if (weights != nullptr) options.weights = kGivenArray;
    return array.Ask(
        session, [&](Client& client, const CallOptions&) -> absl::StatusOr<HistogramResult> {
          HistogramOptions asked = options;
          absl::StatusOr<MaskFeed> mask = MaskFeed::Take(asked.where);
          if (!mask.ok()) return mask.status();
          companions.mask = mask->is_given();
          const ElementType type = array.stream().element_type();
          const absl::StatusOr<std::unique_ptr<HistogramStream>> stream =
              client.OpenHistogramStream(type, asked, companions);
          if (!stream.ok()) return stream.status();
          while (true) {
            std::span<const std::byte> pieces[3];
            OutgoingArray* const arrays[] = {&array, y, weights};
            bool is_end = true;
            for (size_t i = 0; i < std::size(arrays); ++i) {
              if (arrays[i] == nullptr) continue;
              const absl::StatusOr<std::span<const std::byte>> piece = arrays[i]->Next();
              if (!piece.ok()) return piece.status();
              pieces[i] = *piece;
              is_end &= piece->empty();
            }
            const auto masked = is_end ? mask->rest() : mask->Next(pieces[0], type);
            absl::Status status = absl::OkStatus();
            if (!is_end || !masked.empty()) {
              status = (*stream)->Write(pieces[0], pieces[1], pieces[2], masked);
            }
            if (!status.ok()) return status;
            if (is_end) return (*stream)->Finish();
          }
        });
  }

  static ElementType TypeOf(const InputPassage& input) {
    const auto* const file = std::get_if<OutgoingArray>(&input);
    return file == nullptr ? std::get<InputArray>(input).description.element_type
                           : file->stream().element_type();
  }
  static std::string SourceOf(const InputPassage& input) {
    const auto* const file = std::get_if<OutgoingArray>(&input);
    return file == nullptr ? std::get<InputArray>(input).description.source
                           : file->Describe().source;
  }

  // Gives both coordinates one element type, as the server wants it: a common one, or that of the
  // array on the server if one of them is there. Two that are there are left to the server. Before
  // anything is read of them, so that it does not matter in which way they get to the server.
  static void MakeAlike(InputPassage& x, InputPassage& y) {
    auto* const x_file = std::get_if<OutgoingArray>(&x);
    auto* const y_file = std::get_if<OutgoingArray>(&y);
    ElementType type = x_file == nullptr ? TypeOf(x) : TypeOf(y);
    if (x_file != nullptr && y_file != nullptr) type = CommonType(TypeOf(x), TypeOf(y));
    const std::string why = absl::StrCat("and both coordinates must have one type: ", SourceOf(x),
                                         " has ", ElementTypeName(TypeOf(x)), ", ", SourceOf(y),
                                         " ", ElementTypeName(TypeOf(y)));
    for (OutgoingArray* const file : {x_file, y_file}) {
      if (file != nullptr) file->stream().ConvertTo(type, why);
    }
  }

  absl::StatusOr<InputPassage> OpenPart(const InputOptions& options) const {
    absl::StatusOr<OutgoingArray> array = OutgoingArray::Open(options, stream_.chunk_bytes());
    if (!array.ok()) return array.status();
    return InputPassage(*std::move(array));
  }

  absl::StatusOr<std::optional<InputPassage>> OpenSecondPart(const InputOptions& first,
                                                             const SecondArray& second) const {
    if (!second.IsGiven()) return std::nullopt;
    if (!second.reference.empty()) {
      return WithExitCode(
          absl::InvalidArgumentError("--stream: second arrays must be in files, not on the server"),
          ExitCode::kUsage);
    }
    const absl::StatusOr<InputOptions> options = ToSecondOptions(first, second);
    if (!options.ok()) return options.status();
    absl::StatusOr<InputPassage> array = OpenPart(*options);
    if (!array.ok()) return array.status();
    return std::optional<InputPassage>(*std::move(array));
  }

  absl::StatusOr<HistogramOptions> ToOptions() const {
    HistogramOptions options;
    absl::StatusOr<std::vector<BinSpecification>> bins = ToBins(bins_);
    if (!bins.ok()) return bins.status();
    options.bins = *std::move(bins);
    options.channel_count = channel_count_;
    options.strategy = strategy_;
    if (clamp_) options.out_of_range_policy = OutOfRangePolicy::kClamp;
    options.return_accumulator = accumulator_.is_wanted();
    if (sparse_) options.format = HistogramFormat::kSparse;
    if (!quantiles_.empty()) {
      absl::StatusOr<std::vector<double>> quantiles =
          ParseNumberList<double>("--quantiles", quantiles_);
      if (!quantiles.ok()) return quantiles.status();
      options.quantiles = *std::move(quantiles);
    }
    return options;
  }

  absl::StatusOr<std::optional<InputPassage>> OpenSecond(const Session& session,
                                                         const InputOptions& first,
                                                         const SecondArray& second) const {
    if (!second.IsGiven()) return std::nullopt;
    absl::StatusOr<InputOptions> options = ToSecondOptions(first, second);
    if (!options.ok()) return options.status();
    absl::StatusOr<InputPassage> array = FindInput(session, *options, stream_.chunk_bytes());
    if (!array.ok()) return array.status();
    return std::optional<InputPassage>(*std::move(array));
  }

  CLI::App& command_;
  InputArguments input_;
  StreamArguments stream_;
  MaskArgument mask_;
  BinArguments bins_;
  SecondArray y_{.reference_flag = "--y-array"};
  SecondArray weights_{.reference_flag = "--weights-array", .type_flag = "--weights-type"};
  bool clamp_ = false;
  bool sparse_ = false;
  uint32_t channel_count_ = 1;
  std::string quantiles_;
  AccumulatorOutput accumulator_;
  std::string strategy_;
  AnswerOutput output_;
  PlotOutput plot_;
  uint64_t rows_max_ = 40;
};

}  // namespace

std::unique_ptr<Command> MakeHistogramCommand(CLI::App& program) {
  return std::make_unique<HistogramCommand>(program);
}

}  // namespace gridfold::client
