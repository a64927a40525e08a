#include "client/command_line/arguments/grouping_arguments.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/load_array.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

absl::StatusOr<std::vector<uint64_t>> LoadOffsets(const std::string& argument) {
  if (argument.find_first_not_of("0123456789, ") == std::string::npos) {
    const auto offsets = ParseNumberList<uint64_t>("--segments", argument);
    if (!offsets.ok()) return WithExitCode(offsets.status(), ExitCode::kUsage);
    return *offsets;
  }
  // Without a type, text is CSV here: offsets one on each line.
  const InputOptions options = {.path = argument, .csv = {.column = "1"}, .is_second = true};
  const absl::StatusOr<HostArray> array = LoadArray(options, nullptr);
  if (!array.ok()) return WithExitCode(array.status(), ExitCode::kInputOutput);
  absl::StatusOr<std::vector<uint64_t>> offsets = ToOffsets(*array);
  if (offsets.ok()) return offsets;
  return WithExitCode(
      absl::InvalidArgumentError(absl::StrCat(argument, ": ", offsets.status().message())),
      ExitCode::kInputOutput);
}

absl::StatusOr<Grouping> ParseAxes(absl::string_view text) {
  Axes axes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::optional<int32_t> axis = ParseStrictly<int32_t>(part);
    if (!axis) {
      return WithExitCode(absl::InvalidArgumentError(
                              absl::StrCat("--axis: '", part, "' is not the number of an axis")),
                          ExitCode::kUsage);
    }
    axes.axes.push_back(*axis);
  }
  // As servers know it that take matrices only.
  if (axes.axes.size() == 1 && axes.axes[0] >= 0) return Axis{static_cast<uint32_t>(axes.axes[0])};
  return axes;
}

}  // namespace

uint64_t OffsetBytes(const Grouping& grouping) {
  constexpr uint64_t kOffsetBytesMax = 10;
  const auto* const segments = std::get_if<Segments>(&grouping);
  return segments == nullptr ? 0 : segments->offsets.size() * kOffsetBytesMax;
}

GroupingArguments::GroupingArguments(CLI::App& command, bool can_overflow) {
  const char* const group = "Groups and numbers";
  axis_option_ =
      command
          .add_option(
              "--axis", axes_,
              "The axes, as in NumPy: of a matrix 0 makes a group of each column, 1 of each "
              "row; -1 is the last")
          ->type_name("N,...")
          ->group(group);
  command
      .add_option("--segments", segments_,
                  "Ragged groups: their offsets, first 0 and last the number of elements; a list, "
                  "or a .npy or text file")
      ->type_name("A,B,...|FILE")
      ->excludes(axis_option_)
      ->group(group);
  command.add_flag("--ignore-nan", ignore_nan_, "Leave NaNs out")->group(group);
  if (!can_overflow) return;
  command.add_flag("--wrap", wrap_, "Let integer results wrap around instead of failing")
      ->group(group);
}

absl::StatusOr<Grouping> GroupingArguments::ToGrouping() const {
  if (axis_option_->count() > 0) {
    return ParseAxes(axes_);
  }
  if (segments_.empty()) return WholeArray{};
  absl::StatusOr<std::vector<uint64_t>> offsets = LoadOffsets(segments_);
  if (!offsets.ok()) return offsets.status();
  return Segments{*std::move(offsets)};
}

}  // namespace gridfold::client
