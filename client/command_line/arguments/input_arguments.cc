#include "client/command_line/arguments/input_arguments.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/arguments/choice.h"
#include "client/command_line/arguments/number_list.h"
#include "gridfold/array_view.h"

namespace gridfold::client {
namespace {

Choices<FileFormat> Formats() {
  return {{"auto", FileFormat::kAuto},
          {"npy", FileFormat::kNpy},
          {"raw", FileFormat::kRaw},
          {"csv", FileFormat::kCsv}};
}

Choices<Heading> Headings() {
  return {{"auto", Heading::kAuto}, {"yes", Heading::kYes}, {"no", Heading::kNo}};
}

void AddCsvArguments(CLI::App& command, CsvOptions& csv, std::string& delimiter,
                     std::string& comment) {
  const char* const group = "CSV input";
  command
      .add_option("--column", csv.column,
                  "A number from 1, or a name from the first row, which is then a heading")
      ->type_name("COLUMN")
      ->group(group);
  AddChoice(command, "--header", csv.heading, Headings(),
            "Whether the first row is a heading; auto (the default) is an error where the fields "
            "do not tell")
      ->group(group);
  command
      .add_option("--missing", csv.missing,
                  "Fields that stand for no value, as empty ones do: such elements are NaN")
      ->type_name("NA,null,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--delimiter,--separator", delimiter,
                  "Between the columns: a character, or \\t for a tab; default: a comma, a tab in "
                  ".tsv")
      ->type_name("CHARACTER")
      ->group(group);
  command.add_option("--comment", comment, "Pass over lines that begin with this, for example #")
      ->type_name("CHARACTER")
      ->group(group);
}

// The one character that `text` is, which is neither a quote nor a line's end; "\\t" is a tab.
absl::StatusOr<char> ParseCharacter(absl::string_view flag, const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() == 1 && text != "\"" && text != "\n" && text != "\r") return text[0];
  return absl::InvalidArgumentError(absl::StrCat(
      flag, ": '", text, "' is not one character, or is one that has a meaning in CSV"));
}

}  // namespace

InputArguments::InputArguments(CLI::App& command, InputPlaces places) : command_(command) {
  const char* const group = "Input";
  CLI::Option* const file =
      command
          .add_option("FILE", options_.path,
                      "The array: a .npy, .npz, CSV or raw file, also one compressed by gzip or "
                      "zstd; - is standard input")
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
  AddChoice(command, "--format", options_.format, Formats(),
            "Of FILE: raw takes the bytes as they are, auto (the default) goes by the content")
      ->group(group);
  command.add_option("--type", type_, "Element type of raw or CSV input, for example float32")
      ->type_name("TYPE")
      ->group(group);
  command.add_option("--member", options_.member, "Which array of an archive (.npz)")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--shape", shape_, "Take the input as an array of these extents, up to eight")
      ->type_name("ROWS,COLUMNS,...")
      ->group(group);
  AddCsvArguments(command, options_.csv, delimiter_, comment_);
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
    if (shape->size() > kDimensionsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("--shape: ", shape->size(), " extents are more than ", kDimensionsMax));
    }
    options.shape = *shape;
  }
  if (absl::Status status = ApplyCsvArguments(options.csv); !status.ok()) return status;
  const CLI::Option* const ignore_nan = command_.get_option_no_throw("--ignore-nan");
  options.can_ignore_nan = ignore_nan != nullptr && ignore_nan->count() == 0;
  return options;
}

absl::Status InputArguments::ApplyCsvArguments(CsvOptions& csv) const {
  if (!delimiter_.empty()) {
    const absl::StatusOr<char> delimiter = ParseCharacter("--delimiter", delimiter_);
    if (!delimiter.ok()) return delimiter.status();
    csv.delimiter = *delimiter;
  }
  if (!comment_.empty()) {
    const absl::StatusOr<char> comment = ParseCharacter("--comment", comment_);
    if (!comment.ok()) return comment.status();
    csv.comment = *comment;
  }
  if (csv.comment && csv.comment == csv.delimiter) {
    return absl::InvalidArgumentError("--comment: is the character of --delimiter");
  }
  return absl::OkStatus();
}

absl::StatusOr<ElementType> ParseTypeArgument(absl::string_view flag, const std::string& name) {
  if (const std::optional<ElementType> type = ParseElementType(name)) return *type;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", name,
                   "' is none of int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
                   "float16, bfloat16, float32, float64"));
}

}  // namespace gridfold::client
