#include "client/command_line/input/element_conversion.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/output/number_format.h"
#include "gridfold/array_view.h"

namespace gridfold::client {
namespace {

// What is known of a type where two are compared.
struct TypeTraits {
  bool is_float;
  bool is_signed;
  size_t size_bytes;
};

TypeTraits TraitsOf(ElementType type) {
  return DispatchElementType(type, [](auto tag) {
    using T = typename decltype(tag)::Type;
    return TypeTraits{!std::integral<T>, std::signed_integral<T>, sizeof(T)};
  });
}

ElementType SignedType(size_t size_bytes) {
  switch (size_bytes) {
    case 1: return ElementType::kInt8;
    case 2: return ElementType::kInt16;
    case 4: return ElementType::kInt32;
    default: return ElementType::kInt64;
  }
}

ElementType CommonIntegerType(ElementType first, ElementType second) {
  // Every type has 0 and 1.
  if (first == ElementType::kBool) return second;
  if (second == ElementType::kBool) return first;
  const TypeTraits a = TraitsOf(first);
  const TypeTraits b = TraitsOf(second);
  if (a.is_signed == b.is_signed) return a.size_bytes >= b.size_bytes ? first : second;
  const size_t unsigned_bytes = a.is_signed ? b.size_bytes : a.size_bytes;
  const size_t signed_bytes = a.is_signed ? a.size_bytes : b.size_bytes;
  return SignedType(std::max(signed_bytes, 2 * unsigned_bytes));
}

// The value in a type that has all values of T.
template <Element T>
auto Widen(T value) {
  if constexpr (std::same_as<T, Float16> || std::same_as<T, Bfloat16>) {
    return static_cast<double>(ToFloat(value));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<int64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// The same number as a To; nothing where To does not have it.
template <typename To, typename Wide>
std::optional<To> Convert(Wide value) {
  if constexpr (std::integral<To> && std::integral<Wide>) {
    return std::in_range<To>(value) ? std::optional(static_cast<To>(value)) : std::nullopt;
  } else if constexpr (std::integral<To>) {
    // 2 to the power of the bits, which a double has where it does not have the largest To.
    const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const bool fits = value == std::trunc(value) && value < end &&
                      value >= static_cast<double>(std::numeric_limits<To>::min());
    return fits ? std::optional(static_cast<To>(value)) : std::nullopt;
  } else if constexpr (std::integral<Wide>) {
    // Compares in a type that has all of both.
    const To converted = static_cast<To>(value);
    const bool is_exact = static_cast<long double>(converted) == static_cast<long double>(value);
    return is_exact ? std::optional(converted) : std::nullopt;
  } else {
    const To converted = static_cast<To>(value);
    const bool is_exact = static_cast<double>(converted) == value || std::isnan(value);
    return is_exact ? std::optional(converted) : std::nullopt;
  }
}

absl::Status NotExact(const ArrayView& elements, uint64_t index, uint64_t first_index,
                      ElementType type) {
  return absl::InvalidArgumentError(absl::StrCat("element ", first_index + index, ", ",
                                                 FormatElement(elements, index),
                                                 ", is not exact as ", ElementTypeName(type)));
}

// Writes the elements, the first of which is number `first_index` of its array, to `converted`.
absl::Status ConvertAll(const ArrayView& elements, uint64_t first_index, ElementType type,
                        std::span<char> converted) {
  return DispatchElementType(elements.element_type(), [&](auto from_tag) {
    return DispatchElementType(type, [&](auto to_tag) -> absl::Status {
      using From = typename decltype(from_tag)::Type;
      using To = typename decltype(to_tag)::Type;
      if constexpr (std::is_arithmetic_v<To>) {
        for (uint64_t i = 0; i < elements.element_count(); ++i) {
          const std::optional<To> value = Convert<To>(Widen(ElementAt<From>(elements, i)));
          const bool is_exact = value && (type != ElementType::kBool || *value == 0 || *value == 1);
          if (!is_exact) return NotExact(elements, i, first_index, type);
          std::memcpy(converted.data() + i * sizeof(To), &*value, sizeof(To));
        }
        return absl::OkStatus();
      } else {
        return absl::InvalidArgumentError(absl::StrCat(ElementTypeName(elements.element_type()),
                                                       " is not made ", ElementTypeName(type)));
      }
    });
  });
}

class ConvertedElements : public ElementSource {
 public:
  ConvertedElements(ElementType type, std::unique_ptr<ElementSource> elements, std::string why)
      : type_(type), elements_(std::move(elements)), why_(std::move(why)) {}

  ElementType element_type() const override { return type_; }
  std::optional<std::vector<uint64_t>> shape() const override { return elements_->shape(); }
  uint64_t missing_count() const override { return elements_->missing_count(); }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t count_max = buffer.size() / ElementSizeBytes(type_);
    const size_t element_bytes = ElementSizeBytes(elements_->element_type());
    read_.resize(count_max * element_bytes);
    const absl::StatusOr<size_t> size = elements_->Read({read_.data(), read_.size()});
    if (!size.ok()) return size;
    const uint64_t count = *size / element_bytes;
    const ArrayView view(elements_->element_type(), read_.data(), count);
    if (absl::Status status = ConvertAll(view, read_count_, type_, buffer); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat(status.message(), ", ", why_));
    }
    read_count_ += count;
    return static_cast<size_t>(count) * ElementSizeBytes(type_);
  }

 private:
  const ElementType type_;
  const std::unique_ptr<ElementSource> elements_;
  const std::string why_;
  std::string read_;
  uint64_t read_count_ = 0;
};

}  // namespace

ElementType CommonType(ElementType first, ElementType second) {
  if (first == second) return first;
  const TypeTraits a = TraitsOf(first);
  const TypeTraits b = TraitsOf(second);
  if (!a.is_float && !b.is_float) return CommonIntegerType(first, second);
  // float32 has all integers of 16 bits, and float64 those of 32.
  const size_t needed_bytes = std::max(a.is_float ? a.size_bytes : 2 * a.size_bytes,
                                       b.is_float ? b.size_bytes : 2 * b.size_bytes);
  return needed_bytes <= sizeof(float) ? ElementType::kFloat32 : ElementType::kFloat64;
}

std::unique_ptr<ElementSource> ConvertedTo(ElementType type,
                                           std::unique_ptr<ElementSource> elements,
                                           std::string why) {
  if (elements->element_type() == type) return elements;
  return std::make_unique<ConvertedElements>(type, std::move(elements), std::move(why));
}

}  // namespace gridfold::client
