#include "client/command_line/input/load_array.h"

#include <concepts>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/input/csv_column.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {
namespace {

// The largest message of protocol buffers; an array is a little less.
constexpr uint64_t kFileBytesMax = (uint64_t{1} << 31) - 1;

absl::StatusOr<FileFormat> DetectFormat(const InputOptions& options, absl::string_view bytes) {
  if (options.format != FileFormat::kAuto) return options.format;
  if (IsNpy(bytes)) return FileFormat::kNpy;
  const bool csv_name = absl::EndsWithIgnoreCase(options.path, ".csv") ||
                        absl::EndsWithIgnoreCase(options.path, ".tsv");
  if (csv_name || options.column) return FileFormat::kCsv;
  if (absl::EndsWithIgnoreCase(options.path, ".npy")) return FileFormat::kNpy;
  if (options.element_type) return FileFormat::kRaw;
  return absl::InvalidArgumentError(
      "the format is not known: give --type for raw elements, or --format csv");
}

absl::StatusOr<HostArray> ParseRaw(std::string bytes, const InputOptions& options) {
  if (!options.element_type) {
    return absl::InvalidArgumentError("--type is needed for raw elements");
  }
  const size_t element_bytes = ElementSizeBytes(*options.element_type);
  if (bytes.size() % element_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes are not a whole number of ",
                     ElementTypeName(*options.element_type), " elements"));
  }
  return HostArray{*options.element_type, {bytes.size() / element_bytes}, std::move(bytes)};
}

absl::StatusOr<HostArray> Parse(std::string bytes, const InputOptions& options) {
  const absl::StatusOr<FileFormat> format = DetectFormat(options, bytes);
  if (!format.ok()) return format.status();
  if (*format == FileFormat::kRaw) return ParseRaw(std::move(bytes), options);
  if (*format == FileFormat::kNpy) {
    absl::StatusOr<HostArray> array = ParseNpy(std::move(bytes));
    if (array.ok() && options.element_type && *options.element_type != array->element_type) {
      return absl::InvalidArgumentError(absl::StrCat("the file holds ",
                                                     ElementTypeName(array->element_type), ", not ",
                                                     ElementTypeName(*options.element_type)));
    }
    return array;
  }
  const bool tabs = absl::EndsWithIgnoreCase(options.path, ".tsv");
  return ParseCsvColumn(bytes, {.column = options.column.value_or("1"),
                                .delimiter = options.delimiter.value_or(tabs ? '\t' : ','),
                                .element_type = options.element_type});
}

// Gives `array` the shape that was asked for.
absl::Status Reshape(const std::vector<uint64_t>& shape, HostArray& array) {
  if (shape.empty()) return absl::OkStatus();
  uint64_t count = 1;
  for (uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) count = ~uint64_t{0};
  }
  if (count != array.element_count()) {
    return absl::InvalidArgumentError(absl::StrCat("--shape ", absl::StrJoin(shape, ","),
                                                   " does not hold the file's ",
                                                   array.element_count(), " elements"));
  }
  array.shape = shape;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HostArray> LoadArray(const InputOptions& options, const ReadProgress& progress) {
  absl::StatusOr<std::string> bytes = ReadFile(options.path, kFileBytesMax, progress);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<HostArray> array = Parse(*std::move(bytes), options);
  if (!array.ok()) return NamingFile(options.path, array.status());
  if (absl::Status status = Reshape(options.shape, *array); !status.ok()) {
    return NamingFile(options.path, status);
  }
  return array;
}

absl::StatusOr<std::vector<uint64_t>> ToOffsets(const HostArray& array) {
  using Result = absl::StatusOr<std::vector<uint64_t>>;
  return DispatchElementType(array.element_type, [&](auto tag) -> Result {
    using T = typename decltype(tag)::Type;
    if constexpr (std::integral<T>) {
      std::vector<uint64_t> offsets(array.element_count());
      for (size_t i = 0; i < offsets.size(); ++i) {
        const T offset = ElementAt<T>(array.view(), i);
        if (offset < T{0}) return absl::InvalidArgumentError("segment offsets cannot be negative");
        offsets[i] = static_cast<uint64_t>(offset);
      }
      return offsets;
    } else {
      return absl::InvalidArgumentError("segment offsets must be integers");
    }
  });
}

}  // namespace gridfold::client
