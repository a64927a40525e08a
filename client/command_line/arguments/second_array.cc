#include "client/command_line/arguments/second_array.h"

#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/exit_code.h"

namespace gridfold::client {

void AddSecondArrayParts(CLI::App& command, const char* group, const SecondArrayName& name,
                         SecondArray& second) {
  command
      .add_option(name.flag + "-column", second.column,
                  absl::StrCat(name.whose, " column; of FILE where ", name.file, " is not given"))
      ->type_name("COLUMN")
      ->group(group);
  command
      .add_option(name.flag + "-member", second.member,
                  name.whose + " array in an archive (.npz), likewise")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option(second.reference_flag, second.reference,
                  absl::StrCat("In place of ", name.file, ": an array on the server"))
      ->type_name(kReferenceForm)
      ->group(group);
}

void AddSecondArrays(CLI::App& command, const char* group, SecondArray& y, SecondArray& weights) {
  command
      .add_option("--y", y.path,
                  "Second coordinate, of any type: makes the histogram two-dimensional")
      ->type_name("FILE")
      ->group(group);
  AddSecondArrayParts(command, group, {"--y", "--y", "Its"}, y);
  command.add_option("--weights", weights.path, "Sum these in each bin instead of counting")
      ->type_name("FILE")
      ->group(group);
  AddSecondArrayParts(command, group, {"--weights", "--weights", "Their"}, weights);
  command.add_option(weights.type_flag, weights.type, "Their type, where it is not --type's")
      ->type_name("TYPE")
      ->group(group);
}

absl::StatusOr<InputOptions> ToSecondOptions(const InputOptions& first, const SecondArray& second) {
  InputOptions options = first;
  options.resident.reset();
  if (!second.reference.empty()) {
    absl::StatusOr<ArrayReference> reference =
        ParseReference(second.reference_flag, second.reference);
    if (!reference.ok()) return WithExitCode(reference.status(), ExitCode::kUsage);
    options.resident = *std::move(reference);
  }
  if (!second.path.empty()) options.path = second.path;
  if (!second.column.empty()) options.csv.column = second.column;
  if (second.member) options.member = second.member;
  options.is_second = second.column.empty() && !second.member;
  if (!second.type.empty()) {
    const absl::StatusOr<ElementType> type = ParseTypeArgument(second.type_flag, second.type);
    if (!type.ok()) return WithExitCode(type.status(), ExitCode::kUsage);
    options.element_type = *type;
  }
  return options;
}

}  // namespace gridfold::client
