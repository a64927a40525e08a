#include "client/command_line/input/array_stream.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/input/binary_elements.h"
#include "client/command_line/input/csv_elements.h"
#include "client/command_line/input/element_conversion.h"
#include "client/command_line/input/open_input.h"

namespace gridfold::client {
namespace {

// What is held in memory at most, where elements cannot be handed on as they are read.
constexpr uint64_t kHeldBytesMax = uint64_t{512} << 20;
constexpr uint64_t kColumnMajorBytesMax = uint64_t{2} << 30;

absl::StatusOr<std::unique_ptr<CsvColumn>> OpenColumn(OpenedInput input,
                                                      const InputOptions& options) {
  return CsvColumn::Open(std::move(input.content), options.csv, input.delimiter);
}

absl::StatusOr<std::unique_ptr<ElementSource>> OpenCsv(OpenedInput input,
                                                       const InputOptions& options) {
  const bool can_reopen = input.can_reopen;
  absl::StatusOr<std::unique_ptr<CsvColumn>> column = OpenColumn(std::move(input), options);
  if (!column.ok()) return column.status();
  if (options.element_type) return ReadCsvAs(*options.element_type, *std::move(column));
  ReopenColumn reopen = nullptr;
  if (can_reopen) {
    reopen = [options]() -> absl::StatusOr<std::unique_ptr<CsvColumn>> {
      absl::StatusOr<OpenedInput> again = OpenInput(options, nullptr);
      if (!again.ok()) return again.status();
      return OpenColumn(*std::move(again), options);
    };
  }
  return ReadCsv(*std::move(column), reopen, kHeldBytesMax);
}

absl::StatusOr<std::unique_ptr<ElementSource>> OpenElements(OpenedInput input,
                                                            const InputOptions& options) {
  switch (input.format) {
    case FileFormat::kCsv: return OpenCsv(std::move(input), options);
    case FileFormat::kNpy:
      return ReadNpy(std::move(input.content), options.element_type, kColumnMajorBytesMax);
    case FileFormat::kRaw:
    case FileFormat::kAuto: break;
  }
  if (options.element_type) return ReadRaw(std::move(input.content), *options.element_type);
  return absl::InvalidArgumentError("--type is needed for raw elements");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArrayStream>> ArrayStream::Open(const InputOptions& options,
                                                               const ReadProgress& progress) {
  absl::StatusOr<OpenedInput> input = OpenInput(options, progress);
  if (!input.ok()) return NamingFile(options.path, input.status());
  absl::StatusOr<std::unique_ptr<ElementSource>> elements =
      OpenElements(*std::move(input), options);
  if (!elements.ok()) return NamingFile(options.path, elements.status());
  auto stream = absl::WrapUnique(new ArrayStream(options, *std::move(elements)));
  if (absl::Status status = stream->Begin(); !status.ok()) {
    return NamingFile(options.path, status);
  }
  return stream;
}

absl::Status ArrayStream::Begin() {
  matrix_shape_ = options_.shape;
  const std::optional<std::vector<uint64_t>> shape = elements_->shape();
  if (!shape) return absl::OkStatus();
  if (shape->size() > 2 && options_.shape.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the array has ", shape->size(), " dimensions, ", absl::StrJoin(*shape, " x "),
                     ", and gridfold takes one or two: say with --shape how to take it"));
  }
  uint64_t count = 1;  // Fits: the elements are there.
  for (const uint64_t extent : *shape) count *= extent;
  size_bytes_ = count * ElementSizeBytes(element_type());
  if (matrix_shape_.empty() && shape->size() == 2) matrix_shape_ = *shape;
  return CheckShape(count);
}

void ArrayStream::ConvertTo(ElementType type, std::string why) {
  if (size_bytes_) {
    size_bytes_ = *size_bytes_ / ElementSizeBytes(element_type()) * ElementSizeBytes(type);
  }
  elements_ = ConvertedTo(type, std::move(elements_), std::move(why));
}

std::vector<uint64_t> ArrayStream::ShapeOf(uint64_t size_bytes) const {
  const uint64_t count = size_bytes / ElementSizeBytes(element_type());
  if (matrix_shape_.empty()) return {count};
  if (count == 0) return matrix_shape_;
  return {count / column_count(), column_count()};
}

std::vector<uint64_t> ArrayStream::shape() const { return ShapeOf(read_bytes_); }

absl::StatusOr<std::span<const std::byte>> ArrayStream::Next(std::span<char> buffer) {
  const absl::StatusOr<size_t> size = elements_->Read(buffer);
  if (!size.ok()) return NamingFile(options_.path, size.status());
  read_bytes_ += *size;
  const size_t element_bytes = ElementSizeBytes(element_type());
  if (buffer.size() - *size >= element_bytes) {
    if (absl::Status status = CheckShape(read_bytes_ / element_bytes); !status.ok()) {
      return NamingFile(options_.path, status);
    }
  }
  return std::as_bytes(buffer.first(*size));
}

std::shared_ptr<const FileMapping> ArrayStream::Map() {
  std::shared_ptr<const FileMapping> mapping = size_bytes_ ? elements_->Map() : nullptr;
  if (mapping && mapping->bytes().size() != *size_bytes_) return nullptr;
  if (mapping) read_bytes_ = *size_bytes_;
  return mapping;
}

absl::Status ArrayStream::CheckShape(uint64_t element_count) const {
  uint64_t expected = 0;
  if (options_.shape.empty() ||
      (!__builtin_mul_overflow(options_.shape[0], options_.shape[1], &expected) &&
       expected == element_count)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("--shape ", absl::StrJoin(options_.shape, ","),
                                                 " does not hold the file's ", element_count,
                                                 " elements"));
}

}  // namespace gridfold::client
