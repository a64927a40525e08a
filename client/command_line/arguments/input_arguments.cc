#include "client/command_line/arguments/input_arguments.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/arguments/number_list.h"

namespace gridfold::client {
namespace {

const std::map<std::string, FileFormat>& FormatNames() {
  static const auto* const names = new std::map<std::string, FileFormat>{
      {"auto", FileFormat::kAuto},
      {"npy", FileFormat::kNpy},
      {"raw", FileFormat::kRaw},
      {"csv", FileFormat::kCsv},
  };
  return *names;
}

}  // namespace

InputArguments::InputArguments(CLI::App& command, InputPlaces places) {
  const char* const group = "Input";
  CLI::Option* const file =
      command
          .add_option("FILE", options_.path,
                      "The array: a .npy, raw or CSV file; - is standard input")
          ->group(group);
  if (places == InputPlaces::kFile) {
    file->required();
  } else {
    command
        .add_option("--array", reference_,
                    "In place of FILE: an array on the server (gridfold array), or a part of it")
        ->type_name("NAME[FIRST:COUNT]")
        ->excludes(file)
        ->group(group);
    command
        .add_flag("--shared", options_.shared,
                  "Pass FILE's elements through shared memory: to a server on this machine that "
                  "runs with --allow-regions")
        ->excludes("--array")
        ->group(group);
  }
  command.add_option("--format", options_.format, "auto (the default), npy, raw or csv")
      ->transform(CLI::CheckedTransformer(FormatNames()).description(""))
      ->type_name("FORMAT")
      ->group(group);
  command.add_option("--type", type_, "Element type of raw or CSV input, for example float32")
      ->type_name("TYPE")
      ->group(group);
  command.add_option("--shape", shape_, "Take the input as a matrix")
      ->type_name("ROWS,COLUMNS")
      ->group(group);
  command.add_option("--column", column_, "Column of CSV input: a number from 1, or a name")
      ->type_name("COLUMN")
      ->group(group);
  command.add_option("--delimiter", delimiter_, "Between the columns of CSV input; default comma")
      ->type_name("CHARACTER")
      ->group(group);
}

absl::StatusOr<InputOptions> InputArguments::ToOptions() const {
  InputOptions options = options_;
  if (!reference_.empty()) {
    absl::StatusOr<ResidentArray> resident = ParseReference("--array", reference_);
    if (!resident.ok()) return resident.status();
    options.resident = *std::move(resident);
  } else if (options.path.empty()) {
    return absl::InvalidArgumentError("FILE or --array is required");
  }
  if (!type_.empty()) {
    const absl::StatusOr<ElementType> type = ParseTypeArgument("--type", type_);
    if (!type.ok()) return type.status();
    options.element_type = *type;
  }
  if (!shape_.empty()) {
    absl::StatusOr<std::vector<uint64_t>> shape = ParseNumberList<uint64_t>("--shape", shape_);
    if (!shape.ok()) return shape.status();
    if (shape->size() != 2) {
      return absl::InvalidArgumentError("--shape: two numbers are needed, ROWS,COLUMNS");
    }
    options.shape = *shape;
  }
  if (!column_.empty()) options.column = column_;
  if (!delimiter_.empty()) {
    const std::string delimiter = delimiter_ == "\\t" ? "\t" : delimiter_;
    if (delimiter.size() != 1 || delimiter == "\"" || delimiter == "\n") {
      return absl::InvalidArgumentError("--delimiter: one character is needed");
    }
    options.delimiter = delimiter[0];
  }
  return options;
}

absl::StatusOr<ElementType> ParseTypeArgument(absl::string_view flag, const std::string& name) {
  if (const std::optional<ElementType> type = ParseElementType(name)) return *type;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", name,
                   "' is none of int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
                   "float16, bfloat16, float32, float64"));
}

}  // namespace gridfold::client
