#include "client/command_line/arguments/input_arguments.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/cleanup/cleanup.h"
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

constexpr char kCsvGroup[] = "CSV input";

void AddCsvArguments(CLI::App& command, CsvOptions& csv, std::string& delimiter,
                     std::string& comment) {
  const char* const group = kCsvGroup;
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

// The files that a name stands for: itself, or those that match it.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  if (path.find_first_of("*?[") == std::string::npos || access(path.c_str(), F_OK) == 0) {
    return std::vector<std::string>{path};
  }
  glob_t found = {};
  const absl::Cleanup free_found = [&found] { globfree(&found); };
  if (glob(path.c_str(), GLOB_ERR, nullptr, &found) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("FILE: nothing matches '", path, "'"));
  }
  return std::vector<std::string>(found.gl_pathv, found.gl_pathv + found.gl_pathc);
}

}  // namespace

InputArguments::InputArguments(CLI::App& command, InputPlaces places, InputCount count)
    : command_(command) {
  const char* const group = "Input";
  CLI::Option* const file = &AddFile(group, count);
  if (places == InputPlaces::kFile) {
    file->required();
  } else {
    command
        .add_option("--array", reference_,
                    "In place of FILE: an array on the server (gridfold array), or a part of it: "
                    "elements or rows, or what NumPy's slices choose, as 'NAME{::2, 0, 10:20}'")
        ->type_name(kReferenceForm)
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
  command
      .add_option("--member,--dataset", options_.member,
                  "Which array of an archive (.npz) or of an HDF5 file")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--shape", shape_, "Take the input as an array of these extents, up to eight")
      ->type_name("ROWS,COLUMNS,...")
      ->group(group);
  AddColumn(kCsvGroup, count);
  AddCsvArguments(command, options_.csv, delimiter_, comment_);
}

CLI::Option& InputArguments::AddFile(const char* group, InputCount count) {
  const std::string what =
      "a .npy, .npz, HDF5, CSV or raw file, also one compressed by gzip or zstd; - is standard "
      "input";
  CLI::Option* const option = count == InputCount::kOne
                                  ? command_.add_option("FILE", options_.path, "The array: " + what)
                                  : command_
                                        .add_option("FILE", paths_,
                                                    "The array: " + what +
                                                        ". Several are answered one by one, and so "
                                                        "are those that match 'part-*.npy'")
                                        ->type_name("");
  return *option->group(group);
}

CLI::Option& InputArguments::AddColumn(const char* group, InputCount count) {
  const std::string what = "A number from 1, or a name from the first row, which is then a heading";
  CLI::Option* const option =
      count == InputCount::kOne
          ? command_.add_option("--column", options_.csv.column, what)
          : command_.add_option("--column", columns_, what + "; may be repeated")
                ->allow_extra_args(false);
  return *option->type_name("COLUMN")->group(group);
}

absl::StatusOr<std::vector<InputOptions>> InputArguments::ToFiles() const {
  const absl::StatusOr<InputOptions> options = ToOptions();
  if (!options.ok()) return options.status();
  if (options->resident) return std::vector<InputOptions>{*options};
  std::vector<InputOptions> files;
  for (const std::string& path : paths_) {
    const absl::StatusOr<std::vector<std::string>> names = FilesOf(path);
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      files.push_back(*options);
      files.back().path = name;
    }
  }
  const auto is_standard_input = [](const InputOptions& file) { return file.path == "-"; };
  if (std::count_if(files.begin(), files.end(), is_standard_input) > 1) {
    return absl::InvalidArgumentError("-: standard input can be read once");
  }
  return files;
}

absl::StatusOr<std::vector<InputOptions>> InputArguments::ToList() const {
  absl::StatusOr<std::vector<InputOptions>> files = ToFiles();
  if (!files.ok() || columns_.empty()) return files;
  std::vector<InputOptions> list;
  for (const InputOptions& file : *files) {
    if (file.path == "-" && columns_.size() > 1) {
      return absl::InvalidArgumentError(
          "--column: standard input can be read once, for one column; save it in a file");
    }
    for (const std::string& column : columns_) {
      list.push_back(file);
      list.back().csv.column = column;
    }
  }
  return list;
}

absl::StatusOr<InputOptions> InputArguments::ToOptions() const {
  InputOptions options = options_;
  if (!reference_.empty()) {
    absl::StatusOr<ArrayReference> reference = ParseReference("--array", reference_);
    if (!reference.ok()) return reference.status();
    options.resident = *std::move(reference);
  } else if (options.path.empty() && paths_.empty()) {
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
                   "float16, bfloat16, float32, float64, bool"));
}

}  // namespace gridfold::client
