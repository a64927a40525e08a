#include "client/command_line/input/binary_elements.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {
namespace {

// More than where the length of any version's header stands.
constexpr size_t kLengthBytes = 16;

// How much a matrix in Fortran order grows by, so that what a header promises costs no memory.
constexpr uint64_t kGrowthBytes = uint64_t{64} << 20;

constexpr size_t kElementBytesMax = 8;

void TurnRound(std::span<char> elements, size_t element_bytes) {
  for (size_t i = 0; i < elements.size(); i += element_bytes) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(i),
                 elements.begin() + static_cast<std::ptrdiff_t>(i + element_bytes));
  }
}

class RawElements : public ElementSource {
 public:
  RawElements(std::unique_ptr<PeekedSource> content, ElementType type)
      : content_(std::move(content)), type_(type), size_bytes_(content_->size_bytes()) {}

  ElementType element_type() const override { return type_; }

  std::optional<std::vector<uint64_t>> shape() const override {
    if (!size_bytes_) return std::nullopt;
    return std::vector<uint64_t>{*size_bytes_ / ElementSizeBytes(type_)};
  }

  std::shared_ptr<const FileMapping> Map() const override {
    std::shared_ptr<const FileMapping> mapping = content_->Map(0);
    return mapping && mapping->bytes().size() % ElementSizeBytes(type_) == 0 ? mapping : nullptr;
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t element_bytes = ElementSizeBytes(type_);
    absl::StatusOr<size_t> size =
        content_->Read(buffer.first(buffer.size() - buffer.size() % element_bytes));
    if (!size.ok()) return size;
    read_bytes_ += *size;
    if (read_bytes_ % element_bytes == 0) return size;
    return absl::InvalidArgumentError(absl::StrCat(read_bytes_, " bytes are not a whole number of ",
                                                   ElementTypeName(type_), " elements"));
  }

 private:
  const std::unique_ptr<PeekedSource> content_;
  const ElementType type_;
  const std::optional<uint64_t> size_bytes_;
  uint64_t read_bytes_ = 0;
};

class NpyElements : public ElementSource {
 public:
  NpyElements(std::unique_ptr<PeekedSource> content, NpyPreamble preamble, uint64_t size_bytes)
      : content_(std::move(content)), preamble_(std::move(preamble)), size_bytes_(size_bytes) {}

  ElementType element_type() const override { return preamble_.element_type; }
  std::optional<std::vector<uint64_t>> shape() const override { return preamble_.shape; }

  std::shared_ptr<const FileMapping> Map() const override {
    if (preamble_.is_big_endian) return nullptr;
    std::shared_ptr<const FileMapping> mapping = content_->Map(0);
    return mapping && mapping->bytes().size() == size_bytes_ ? mapping : nullptr;
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t element_bytes = ElementSizeBytes(preamble_.element_type);
    const size_t room = buffer.size() - buffer.size() % element_bytes;
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(room, size_bytes_ - read_bytes_));
    const absl::StatusOr<size_t> size = content_->Read(buffer.first(wanted));
    if (!size.ok()) return size;
    read_bytes_ += *size;
    if (*size < wanted) {
      return WrongNpyElements(preamble_, absl::StrCat(read_bytes_, " bytes follow"));
    }
    if (preamble_.is_big_endian) TurnRound(buffer.first(wanted), element_bytes);
    if (wanted < room) {
      const absl::StatusOr<absl::string_view> more = content_->Peek(1);
      if (!more.ok()) return more.status();
      if (!more->empty()) return WrongNpyElements(preamble_, "more bytes follow");
    }
    return size;
  }

 private:
  std::unique_ptr<PeekedSource> content_;
  NpyPreamble preamble_;
  uint64_t size_bytes_;
  uint64_t read_bytes_ = 0;
};

// A matrix whose columns lie one after the other, read row by row.
class ColumnMajorElements : public ElementSource {
 public:
  // `columns` has all columns' elements.
  ColumnMajorElements(std::string columns, ElementType type, uint64_t row_count,
                      uint64_t column_count)
      : columns_(std::move(columns)),
        type_(type),
        row_count_(row_count),
        column_count_(column_count) {}

  ElementType element_type() const override { return type_; }
  std::optional<std::vector<uint64_t>> shape() const override {
    return std::vector<uint64_t>{row_count_, column_count_};
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t element_bytes = ElementSizeBytes(type_);
    size_t used = 0;
    while (buffer.size() - used >= element_bytes && row_ < row_count_ && column_count_ > 0) {
      const size_t at = (column_ * row_count_ + row_) * element_bytes;
      std::copy_n(columns_.begin() + static_cast<std::ptrdiff_t>(at), element_bytes,
                  buffer.begin() + static_cast<std::ptrdiff_t>(used));
      used += element_bytes;
      if (++column_ == column_count_) {
        column_ = 0;
        ++row_;
      }
    }
    return used;
  }

 private:
  const std::string columns_;
  const ElementType type_;
  const uint64_t row_count_;
  const uint64_t column_count_;
  uint64_t row_ = 0;  // Of the next element.
  uint64_t column_ = 0;
};

absl::StatusOr<std::unique_ptr<ElementSource>> ToRowMajor(NpyElements elements,
                                                          const std::vector<uint64_t>& shape,
                                                          uint64_t size_bytes,
                                                          uint64_t held_bytes_max) {
  if (shape.size() > 2) {
    return absl::InvalidArgumentError(
        ".npy: more than two dimensions in Fortran order; save numpy.ascontiguousarray of it");
  }
  if (size_bytes > held_bytes_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        ".npy: ", size_bytes, " bytes in Fortran order are more than the ", held_bytes_max,
        " that are put in order in memory; save numpy.ascontiguousarray of it"));
  }
  std::string columns;
  while (true) {
    const size_t held_bytes = columns.size();
    columns.resize(held_bytes + std::min(size_bytes - held_bytes + kElementBytesMax, kGrowthBytes));
    const absl::StatusOr<size_t> size =
        elements.Read({columns.data() + held_bytes, columns.size() - held_bytes});
    if (!size.ok()) return size.status();
    columns.resize(held_bytes + *size);
    if (*size == 0) break;
  }
  return std::make_unique<ColumnMajorElements>(std::move(columns), elements.element_type(),
                                               shape[0], shape[1]);
}

}  // namespace

std::unique_ptr<ElementSource> ReadRaw(std::unique_ptr<PeekedSource> content, ElementType type) {
  return std::make_unique<RawElements>(std::move(content), type);
}

absl::StatusOr<std::unique_ptr<ElementSource>> ReadNpy(std::unique_ptr<PeekedSource> content,
                                                       std::optional<ElementType> wanted_type,
                                                       uint64_t held_bytes_max) {
  absl::StatusOr<absl::string_view> beginning = content->Peek(kLengthBytes);
  if (!beginning.ok()) return beginning.status();
  const absl::StatusOr<size_t> preamble_bytes = NpyPreambleBytes(*beginning);
  if (!preamble_bytes.ok()) return preamble_bytes.status();
  beginning = content->Peek(*preamble_bytes);
  if (!beginning.ok()) return beginning.status();
  const absl::StatusOr<NpyPreamble> preamble = ParseNpyPreamble(*beginning, wanted_type);
  if (!preamble.ok()) return preamble.status();
  if (wanted_type && *wanted_type != preamble->element_type) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file holds ", ElementTypeName(preamble->element_type), ", not ",
                     ElementTypeName(*wanted_type), " (--type)"));
  }
  std::string skipped(*preamble_bytes, '\0');
  absl::StatusOr<size_t> size = content->Read({skipped.data(), skipped.size()});
  if (!size.ok()) return size.status();
  const std::optional<uint64_t> size_bytes = NpyElementBytes(*preamble);
  const std::optional<uint64_t> rest_bytes = content->size_bytes();
  if (!size_bytes || (rest_bytes && *rest_bytes != *size_bytes)) {
    return WrongNpyElements(
        *preamble, rest_bytes ? absl::StrCat(*rest_bytes, " bytes follow") : "no file has so many");
  }
  NpyElements elements(std::move(content), *preamble, *size_bytes);
  if (!preamble->is_column_major) return std::make_unique<NpyElements>(std::move(elements));
  return ToRowMajor(std::move(elements), preamble->shape, *size_bytes, held_bytes_max);
}

}  // namespace gridfold::client
