#include "client/command_line/input/array_stream.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gridfold::client {
namespace {

// More than any header that NumPy writes.
constexpr size_t kPreambleBytesMax = size_t{64} << 10;

bool IsCsv(const InputOptions& options) {
  return options.format == FileFormat::kCsv || options.column.has_value() ||
         absl::EndsWithIgnoreCase(options.path, ".csv") ||
         absl::EndsWithIgnoreCase(options.path, ".tsv");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArrayStream>> ArrayStream::Open(const InputOptions& options) {
  if (IsCsv(options)) {
    return NamingFile(options.path, absl::InvalidArgumentError("CSV cannot be streamed"));
  }
  absl::StatusOr<File> file = File::OpenToRead(options.path);
  if (!file.ok()) return file.status();
  auto stream = absl::WrapUnique(new ArrayStream(*std::move(file), options));
  if (absl::Status status = stream->ReadBeginning(); !status.ok()) return status;
  if (absl::Status status = stream->Begin(); !status.ok()) {
    return NamingFile(options.path, status);
  }
  return stream;
}

absl::Status ArrayStream::ReadBeginning() {
  size_bytes_ = file_.size_bytes();
  begun_.resize(kPreambleBytesMax);
  const absl::StatusOr<size_t> begun_bytes = file_.Read({begun_.data(), begun_.size()});
  if (!begun_bytes.ok()) return begun_bytes.status();
  begun_.resize(*begun_bytes);
  return absl::OkStatus();
}

absl::Status ArrayStream::Begin() {
  const bool is_npy = options_.format == FileFormat::kNpy ||
                      (options_.format == FileFormat::kAuto &&
                       (IsNpy(begun_) || absl::EndsWithIgnoreCase(options_.path, ".npy")));
  return is_npy ? BeginNpy() : BeginRaw();
}

absl::Status ArrayStream::BeginNpy() {
  absl::StatusOr<NpyPreamble> preamble = ParseNpyPreamble(begun_);
  if (!preamble.ok()) return preamble.status();
  if (options_.element_type && *options_.element_type != preamble->element_type) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file holds ", ElementTypeName(preamble->element_type), ", not ",
                     ElementTypeName(*options_.element_type)));
  }
  begun_.erase(0, preamble->size_bytes);
  element_type_ = preamble->element_type;
  uint64_t size_bytes = ElementSizeBytes(element_type_);
  for (const uint64_t extent : preamble->shape) {
    if (__builtin_mul_overflow(size_bytes, extent, &size_bytes)) size_bytes = ~uint64_t{0};
  }
  size_bytes_ = size_bytes;
  if (preamble->shape.size() == 2) column_count_ = preamble->shape[1];
  if (!options_.shape.empty()) column_count_ = options_.shape[1];
  preamble_ = *std::move(preamble);
  return absl::OkStatus();
}

absl::Status ArrayStream::BeginRaw() {
  if (!options_.element_type) {
    return absl::InvalidArgumentError("--type is needed for raw elements");
  }
  element_type_ = *options_.element_type;
  if (!options_.shape.empty()) column_count_ = options_.shape[1];
  return absl::OkStatus();
}

std::vector<uint64_t> ArrayStream::ShapeOf(uint64_t size_bytes) const {
  const uint64_t count = size_bytes / ElementSizeBytes(element_type_);
  if (column_count_ == 0) return {count};
  return {count / column_count_, column_count_};
}

std::vector<uint64_t> ArrayStream::shape() const { return ShapeOf(read_bytes_); }

absl::StatusOr<std::span<const std::byte>> ArrayStream::Next(std::span<char> buffer) {
  const size_t begun_bytes = std::min(begun_.size(), buffer.size());
  std::copy_n(begun_.begin(), begun_bytes, buffer.begin());
  begun_.erase(0, begun_bytes);
  const absl::StatusOr<size_t> more_bytes = file_.Read(buffer.subspan(begun_bytes));
  if (!more_bytes.ok()) return more_bytes.status();
  const size_t next_bytes = begun_bytes + *more_bytes;
  read_bytes_ += next_bytes;
  if (next_bytes < buffer.size()) {
    if (absl::Status status = CheckEnd(); !status.ok()) return NamingFile(options_.path, status);
  }
  return std::as_bytes(buffer.first(next_bytes));
}

absl::Status ArrayStream::CheckEnd() const {
  if (preamble_) {
    if (absl::Status status = CheckNpyElements(*preamble_, read_bytes_); !status.ok()) {
      return status;
    }
  }
  const size_t element_bytes = ElementSizeBytes(element_type_);
  if (read_bytes_ % element_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(read_bytes_, " bytes are not a whole number of ",
                                                   ElementTypeName(element_type_), " elements"));
  }
  const uint64_t count = read_bytes_ / element_bytes;
  uint64_t expected = 0;
  if (options_.shape.empty() ||
      (!__builtin_mul_overflow(options_.shape[0], options_.shape[1], &expected) &&
       expected == count)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("--shape ", absl::StrJoin(options_.shape, ","),
                                                 " does not hold the file's ", count, " elements"));
}

}  // namespace gridfold::client
