// gridfold topk: the largest or smallest elements of an array or of its groups.
#include <cstdint>
#include <memory>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/grouping_arguments.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/commands/answer_output.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/order_report.h"
#include "client/command_line/report/order_table.h"

namespace gridfold::client {
namespace {

constexpr char kTopkFooter[] = R"(
Examples:
  gridfold topk delay.npy -k 10                      the ten largest, and where they stand
  gridfold topk delay.npy -k 10 --smallest --json
  gridfold topk matrix.npy -k 3 --axis 1             of each row
  gridfold topk flights.csv --column delay --missing NA --ignore-nan
)";

class TopkCommand : public Command {
 public:
  explicit TopkCommand(CLI::App& program)
      : command_(*program.add_subcommand("topk", "Find the largest or smallest elements")),
        input_(command_, InputPlaces::kFileOrServer),
        grouping_(command_, /*can_overflow=*/false) {
    command_.footer(kTopkFooter);
    const char* const group = "Elements";
    AddNumberOption<uint64_t>(command_, "-k,--count", options_.count, "How many of each group", 1)
        ->default_str(absl::StrCat(options_.count))
        ->group(group);
    command_
        .add_flag("--smallest", options_.smallest,
                  "The smallest ones, from the smallest up, and not the largest")
        ->group(group);
    output_.AddTo(command_, "Output", /*has_arrays=*/true);
    AddNumberOption<uint64_t>(command_, "--rows", rows_max_,
                              "Show at most so many elements; 0 shows all")
        ->default_str(absl::StrCat(rows_max_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    absl::StatusOr<Grouping> grouping = grouping_.ToGrouping();
    if (!grouping.ok()) return grouping.status();
    options_.grouping = *std::move(grouping);
    options_.nan_policy = grouping_.nan_policy();
    if (absl::Status status = output_.Check(/*answer_count=*/1); !status.ok()) return status;
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const absl::StatusOr<InputArray> array =
        OpenWhole(session, *input, OffsetBytes(options_.grouping));
    if (!array.ok()) return array.status();
    const absl::StatusOr<Answer<TopResult>> answer =
        session.Ask(*array, [&](Client& client, const CallOptions& call_options) {
          return client.SelectTop(array->input(), options_, call_options);
        });
    if (!answer.ok()) return answer.status();
    return output_.Print(session, {.text =
                                       [&](std::ostream& out) {
                                         PrintTop(*answer, options_, rows_max_, session.style(),
                                                  out);
                                       },
                                   .json = [&] { return ToJson(*answer); },
                                   .table = [&] { return ToTable(*answer); },
                                   .array = [&] { return ToArray(answer->result); }});
  }

 private:
  CLI::App& command_;
  InputArguments input_;
  GroupingArguments grouping_;
  TopOptions options_ = {.count = 10};
  AnswerOutput output_;
  uint64_t rows_max_ = 100;
};

}  // namespace

std::unique_ptr<Command> MakeTopkCommand(CLI::App& program) {
  return std::make_unique<TopkCommand>(program);
}

}  // namespace gridfold::client
