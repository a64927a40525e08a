#include "client/command_line/input/csv_elements.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/csv_values.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

template <typename T>
class TypedCsv : public ElementSource {
 public:
  explicit TypedCsv(std::unique_ptr<CsvColumn> column) : column_(std::move(column)) {}

  ElementType element_type() const override { return ElementTypeOf<T>(); }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    size_t used = 0;
    while (buffer.size() - used >= sizeof(T)) {
      const absl::StatusOr<std::optional<absl::string_view>> field = column_->Next();
      if (!field.ok()) return field.status();
      if (!field->has_value()) break;
      const absl::StatusOr<T> value = Parse(**field);
      if (!value.ok()) return value.status();
      std::memcpy(buffer.data() + used, &*value, sizeof(T));
      used += sizeof(T);
    }
    return used;
  }

  uint64_t missing_count() const override { return missing_count_; }

 private:
  absl::StatusOr<T> Parse(absl::string_view field) {
    if (column_->IsMissing(field)) return ParseMissing();
    if constexpr (std::is_floating_point_v<T>) {
      if (const std::optional<T> value = ParseRounded<T>(field)) return *value;
    } else {
      if (const std::optional<T> value = ParseNumber<T>(field)) return *value;
      if (ParseRounded<double>(field)) {
        return column_->Wrong(absl::StrCat("'", field, "' is no number of type ",
                                           ElementTypeName(element_type()), " (--type)"));
      }
    }
    return column_->NotANumber(field);
  }

  absl::StatusOr<T> ParseMissing() {
    if constexpr (std::is_floating_point_v<T>) {
      ++missing_count_;
      return std::numeric_limits<T>::quiet_NaN();
    } else {
      return column_->Wrong(absl::StrCat("a value is missing, and ",
                                         ElementTypeName(element_type()),
                                         " has no NaN for it: give --type float64"));
    }
  }

  const std::unique_ptr<CsvColumn> column_;
  uint64_t missing_count_ = 0;
};

// Values that are all in memory.
class HeldValues : public ElementSource {
 public:
  HeldValues(CsvValues values, ElementType type) : values_(std::move(values)), type_(type) {}

  ElementType element_type() const override { return type_; }

  std::optional<std::vector<uint64_t>> shape() const override {
    return std::vector<uint64_t>{values_.bits().size()};
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t count =
        std::min(buffer.size() / sizeof(uint64_t), values_.bits().size() - read_count_);
    if (count > 0) {
      std::memcpy(buffer.data(), values_.bits().data() + read_count_, count * sizeof(uint64_t));
    }
    read_count_ += count;
    return count * sizeof(uint64_t);
  }

  uint64_t missing_count() const override { return values_.missing_count(); }

 private:
  const CsvValues values_;
  const ElementType type_;
  size_t read_count_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ElementSource>> ReadCsvAs(ElementType type,
                                                         std::unique_ptr<CsvColumn> column) {
  using Result = absl::StatusOr<std::unique_ptr<ElementSource>>;
  return DispatchElementType(type, [&](auto tag) -> Result {
    using T = typename decltype(tag)::Type;
    if constexpr (std::is_arithmetic_v<T>) {
      return std::make_unique<TypedCsv<T>>(std::move(column));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--type: CSV is not read as ", ElementTypeName(type), "; give float32"));
    }
  });
}

absl::StatusOr<std::unique_ptr<ElementSource>> ReadCsv(std::unique_ptr<CsvColumn> column,
                                                       const ReopenColumn& reopen,
                                                       uint64_t held_bytes_max) {
  CsvValues values;
  bool are_held = true;
  while (true) {
    const absl::StatusOr<std::optional<absl::string_view>> field = column->Next();
    if (!field.ok()) return field.status();
    if (!field->has_value()) break;
    if (absl::Status status = values.Add(*column, **field); !status.ok()) return status;
    if (are_held && values.size_bytes() <= held_bytes_max) continue;
    if (reopen == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", held_bytes_max / sizeof(uint64_t),
                       " values, whose type only the last one decides: give --type"));
    }
    are_held = false;
    values.Drop();
  }
  const absl::StatusOr<ElementType> type = values.Type();
  if (!type.ok()) return type.status();
  if (are_held) return std::make_unique<HeldValues>(std::move(values), *type);
  absl::StatusOr<std::unique_ptr<CsvColumn>> again = reopen();
  if (!again.ok()) return again.status();
  return ReadCsvAs(*type, *std::move(again));
}

}  // namespace gridfold::client
