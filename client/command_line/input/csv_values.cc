#include "client/command_line/input/csv_values.h"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr uint64_t kExactMax = uint64_t{1} << 53;  // float64 has every integer up to it.

bool IsExact(uint64_t bits, bool is_negative) {
  const uint64_t magnitude = is_negative ? uint64_t{0} - bits : bits;
  // A power of two times at most 53 bits.
  return magnitude <= kExactMax ||
         64 - std::countl_zero(magnitude) - std::countr_zero(magnitude) <= 53;
}

// Whether it is written as integers are: a sign and digits.
bool IsIntegerText(absl::string_view field) {
  if (!field.empty() && (field[0] == '-' || field[0] == '+')) field.remove_prefix(1);
  if (field.empty()) return false;
  for (const char c : field) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

}  // namespace

absl::Status CsvValues::Add(const CsvColumn& column, absl::string_view field) {
  if (column.IsMissing(field)) {
    ++missing_count_;
    AddFloat(std::numeric_limits<double>::quiet_NaN());
    return absl::OkStatus();
  }
  if (const std::optional<int64_t> value = ParseNumber<int64_t>(field)) {
    AddInteger(static_cast<uint64_t>(*value), *value < 0, column, field);
    return absl::OkStatus();
  }
  if (const std::optional<uint64_t> value = ParseNumber<uint64_t>(field)) {
    AddInteger(*value, false, column, field);
    return absl::OkStatus();
  }
  const std::optional<double> value = ParseRounded<double>(field);
  if (!value) return column.NotANumber(field);
  if (IsIntegerText(field)) {
    if (first_too_large_.text.empty()) first_too_large_ = {std::string(field), column.line()};
  } else if (std::isfinite(*value) ||
             field.find_first_of("0123456789") != absl::string_view::npos) {
    has_decimals_ = true;
  }
  AddFloat(*value);
  return absl::OkStatus();
}

void CsvValues::AddInteger(uint64_t bits, bool is_negative, const CsvColumn& column,
                           absl::string_view field) {
  if (!IsExact(bits, is_negative) && first_inexact_.text.empty()) {
    first_inexact_ = {std::string(field), column.line()};
  }
  const bool is_large = !is_negative && bits > kInt64Max;
  // The bits of negative integers would be misread as large ones.
  if ((is_large && has_negative_) || (is_negative && has_large_)) BecomeFloats();
  if (is_large && !has_large_) first_large_ = {std::string(field), column.line()};
  has_large_ |= is_large;
  has_negative_ |= is_negative;
  if (are_floats_) {
    AddFloat(is_negative ? static_cast<double>(static_cast<int64_t>(bits))
                         : static_cast<double>(bits));
  } else {
    values_.push_back(bits);
  }
}

void CsvValues::AddFloat(double value) {
  BecomeFloats();
  values_.push_back(std::bit_cast<uint64_t>(value));
}

void CsvValues::BecomeFloats() {
  if (are_floats_) return;
  are_floats_ = true;
  for (uint64_t& bits : values_) {
    // Negative and large ones are never in here together.
    const bool is_negative = has_negative_ && bits > kInt64Max;
    bits = std::bit_cast<uint64_t>(is_negative ? static_cast<double>(static_cast<int64_t>(bits))
                                               : static_cast<double>(bits));
  }
}

void CsvValues::Drop() { values_.clear(); }

absl::StatusOr<ElementType> CsvValues::Type() const {
  if (has_decimals_) return ElementType::kFloat64;
  const Integer& homeless = first_too_large_.text.empty() ? first_large_ : first_too_large_;
  if (!first_too_large_.text.empty() || (has_negative_ && has_large_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", homeless.line, ": no integer type holds ", homeless.text,
                     has_negative_ && first_too_large_.text.empty() ? " and negative numbers" : "",
                     ": give --type float64 to round it"));
  }
  if (!are_floats_) return has_large_ ? ElementType::kUint64 : ElementType::kInt64;
  if (first_inexact_.text.empty()) return ElementType::kFloat64;
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", first_inexact_.line, ": ", first_inexact_.text, " is not exact in float64, and ",
      missing_count_ > 0 ? absl::StrCat(missing_count_, " missing values (--missing)")
                         : "NaN or infinity",
      " leave no integer type: give --type float64 to round it"));
}

}  // namespace gridfold::client
