#include "client/command_line/input/array_list.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/command_line/input/csv_heading.h"
#include "client/command_line/input/csv_rows.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/file_signature.h"
#include "client/command_line/input/hdf5_input.h"
#include "client/command_line/input/open_input.h"
#include "client/command_line/input/zip_archive.h"

namespace gridfold::client {
namespace {

constexpr size_t kSampledRows = 1000;

using Kinds = std::vector<FieldKind>;

// The first rows of a CSV file.
struct CsvSample {
  CsvRow first;
  std::vector<Kinds> kinds;  // Of the fields of each row, also of the first one.
};

Kinds KindsOf(const std::vector<absl::string_view>& fields, const CsvOptions& options) {
  Kinds kinds;
  for (const absl::string_view field : fields) kinds.push_back(KindOf(field, options.missing));
  return kinds;
}

absl::StatusOr<CsvSample> ReadSample(OpenedInput opened, const CsvOptions& options) {
  CsvRows rows(std::move(opened.content), opened.delimiter, options.comment);
  CsvSample sample;
  std::vector<absl::string_view> fields;
  while (sample.kinds.size() < kSampledRows) {
    const absl::StatusOr<bool> is_row = rows.Next(fields);
    if (!is_row.ok()) return is_row.status();
    if (!*is_row) break;
    if (sample.kinds.empty()) sample.first = CsvRow(fields.begin(), fields.end());
    sample.kinds.push_back(KindsOf(fields, options));
  }
  if (sample.kinds.empty()) return absl::InvalidArgumentError("there is no row in it");
  return sample;
}

bool HasHeading(const CsvSample& sample, Heading heading) {
  if (heading != Heading::kAuto) return heading == Heading::kYes;
  // A number is no name.
  const Kinds& first = sample.kinds[0];
  return std::find(first.begin(), first.end(), FieldKind::kNumber) == first.end();
}

bool IsText(const CsvSample& sample, size_t column, bool has_heading) {
  return std::any_of(sample.kinds.begin() + (has_heading ? 1 : 0), sample.kinds.end(),
                     [column](const Kinds& kinds) {
                       return column < kinds.size() && kinds[column] == FieldKind::kText;
                     });
}

// Whether a column is one of those that were asked for, by its name or its number from 1.
bool IsNamed(const std::vector<std::string>& columns, absl::string_view name, size_t column) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& given) {
    return absl::StripAsciiWhitespace(given) == name || given == absl::StrCat(column + 1);
  });
}

absl::StatusOr<std::vector<ListedArray>> ListColumns(OpenedInput opened,
                                                     const InputOptions& options,
                                                     const std::vector<std::string>& columns) {
  if (!opened.can_reopen) {
    return absl::InvalidArgumentError("the columns of CSV are read one by one, so it takes a file");
  }
  const absl::StatusOr<CsvSample> sample = ReadSample(std::move(opened), options.csv);
  if (!sample.ok()) return sample.status();
  const bool has_heading = HasHeading(*sample, options.csv.heading);
  std::vector<ListedArray> arrays;
  for (size_t column = 0; column < sample->first.size(); ++column) {
    const absl::string_view name = absl::StripAsciiWhitespace(sample->first[column]);
    ListedArray array;
    array.name = has_heading ? std::string(name) : absl::StrCat(column + 1);
    if (!columns.empty() && !IsNamed(columns, array.name, column)) continue;
    array.input = options;
    array.input.format = FileFormat::kCsv;
    array.input.csv.column = absl::StrCat(column + 1);
    array.input.csv.heading = has_heading ? Heading::kYes : Heading::kNo;
    array.is_text = IsText(*sample, column, has_heading);
    arrays.push_back(std::move(array));
  }
  if (arrays.size() < std::max<size_t>(columns.size(), 1)) {
    return absl::InvalidArgumentError("--column: there is no column of one of these names");
  }
  return arrays;
}

// Whether the file may be CSV, whose columns are found by reading it once before.
bool MayBeCsv(const InputOptions& options, const std::vector<std::string>& columns) {
  const std::string name = absl::AsciiStrToLower(options.path);
  return options.format == FileFormat::kCsv || options.csv.is_given() || !columns.empty() ||
         absl::StrContains(name, ".csv") || absl::StrContains(name, ".tsv");
}

// Whether the file cannot be read a second time: a pipe, or standard input.
bool IsReadOnce(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return path == "-" ||
         (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
}

absl::StatusOr<std::vector<ListedArray>> ListDatasets(const InputOptions& options,
                                                      const File& file) {
  const absl::StatusOr<std::vector<std::string>> paths = ListHdf5(file);
  if (!paths.ok()) return paths.status();
  std::vector<ListedArray> arrays;
  for (const std::string& path : *paths) {
    arrays.push_back({.name = path, .input = options});
    arrays.back().input.member = path;
  }
  return arrays;
}

// The members of the archive that the file is; none where it is no archive.
absl::StatusOr<std::vector<ListedArray>> ListMembers(const InputOptions& options) {
  std::vector<ListedArray> arrays;
  if (options.path == "-" || options.member || options.format == FileFormat::kRaw) return arrays;
  absl::StatusOr<File> file = File::OpenToRead(options.path);
  if (!file.ok()) return file.status();
  if (!file->position()) return arrays;
  std::string beginning(kSignatureBytes, '\0');
  const absl::StatusOr<size_t> size = file->ReadAt(0, {beginning.data(), beginning.size()});
  if (!size.ok()) return size.status();
  beginning.resize(*size);
  const FileKind kind = RecognizeKind(beginning);
  if (kind == FileKind::kHdf5) return ListDatasets(options, *file);
  if (kind != FileKind::kZip) return arrays;
  const absl::StatusOr<ZipArchive> archive =
      ZipArchive::Open(std::make_shared<File>(*std::move(file)), 0);
  if (!archive.ok()) return archive.status();
  for (const ZipMember& member : archive->members()) {
    if (!absl::EndsWith(member.name, ".npy")) continue;
    ListedArray array = {.name = std::string(absl::StripSuffix(member.name, ".npy")),
                         .input = options};
    array.input.member = member.name;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace

absl::StatusOr<std::vector<ListedArray>> ListArrays(const InputOptions& options,
                                                    const std::vector<std::string>& columns) {
  if (IsReadOnce(options.path) && !MayBeCsv(options, columns)) {
    return std::vector<ListedArray>{{.name = "", .input = options}};
  }
  absl::StatusOr<std::vector<ListedArray>> members = ListMembers(options);
  if (!members.ok() || !members->empty()) return members;
  absl::StatusOr<OpenedInput> opened = OpenInput(options, nullptr);
  if (!opened.ok()) return opened.status();
  if (opened->format == FileFormat::kCsv) {
    return ListColumns(*std::move(opened), options, columns);
  }
  if (!columns.empty()) {
    return absl::InvalidArgumentError("--column is for CSV, and the file is none");
  }
  return std::vector<ListedArray>{{.name = "", .input = options}};
}

}  // namespace gridfold::client
