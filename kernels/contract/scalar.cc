#include "kernels/contract/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

namespace {

// The scalar as an integer; nothing where it is none of that type.
template <class Integer>
std::optional<Integer> IntegerOf(const Scalar& scalar) {
  return std::visit(
      [](auto x) -> std::optional<Integer> {
        if constexpr (std::is_same_v<decltype(x), bool>) {
          return static_cast<Integer>(x ? 1 : 0);
        } else if constexpr (std::is_integral_v<decltype(x)>) {
          if (std::in_range<Integer>(x)) return static_cast<Integer>(x);
          return std::nullopt;
        } else {
          // Both are powers of two or 0, so that they are exact.
          const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
          const double begin = std::is_signed_v<Integer> ? -end : 0.0;
          if (!(x >= begin && x < end) || x != std::floor(x)) return std::nullopt;
          return static_cast<Integer>(x);
        }
      },
      scalar);
}

double DoubleOf(const Scalar& scalar) {
  return std::visit([](auto x) { return static_cast<double>(x); }, scalar);
}

// Whether the conversion to float64 loses nothing.
bool IsDouble(const Scalar& scalar) {
  const Scalar rounded = DoubleOf(scalar);
  if (const auto* const x = std::get_if<int64_t>(&scalar)) return IntegerOf<int64_t>(rounded) == *x;
  if (const auto* const x = std::get_if<uint64_t>(&scalar)) {
    return IntegerOf<uint64_t>(rounded) == *x;
  }
  return true;
}

}  // namespace

std::optional<uint64_t> SlotOf(const Scalar& scalar, ValueKind kind) {
  const auto slot = [](const auto& integer) -> std::optional<uint64_t> {
    if (!integer.has_value()) return std::nullopt;
    return Slot(*integer);
  };
  switch (kind) {
    case ValueKind::kInt64: return slot(IntegerOf<int64_t>(scalar));
    case ValueKind::kUint64: return slot(IntegerOf<uint64_t>(scalar));
    case ValueKind::kDouble:
      if (!IsDouble(scalar)) return std::nullopt;
      return Slot(DoubleOf(scalar));
    case ValueKind::kBool: {
      const std::optional<uint8_t> truth = IntegerOf<uint8_t>(scalar);
      return truth && *truth <= 1 ? slot(truth) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::array<std::byte, 8>> ElementOf(const Scalar& scalar, ElementType type) {
  std::array<std::byte, 8> bytes{};
  const bool fits = VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T element{};
    if constexpr (std::is_integral_v<T>) {
      const std::optional<T> integer = IntegerOf<T>(scalar);
      if (!integer) return false;
      element = *integer;
    } else {
      const double x = DoubleOf(scalar);
      element = RoundTo<T>(x);
      if (std::isfinite(x) && !std::isfinite(static_cast<double>(element))) return false;
    }
    std::memcpy(bytes.data(), &element, sizeof(T));
    return true;
  });
  if (!fits) return std::nullopt;
  return bytes;
}

}  // namespace gridfold::kernels
