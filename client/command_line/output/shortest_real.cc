#include "client/command_line/output/shortest_real.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gridfold::client {
namespace {

// The numbers that are rounded to an element.
struct Rounded {
  double low = 0;
  double high = 0;
  bool has_ends = false;  // Ties are rounded to the element whose last bit is 0.

  bool Has(double number) const {
    return has_ends ? number >= low && number <= high : number > low && number < high;
  }
};

// What is rounded to a positive, finite element of 16 bits, whose neighbours' bits are next to its
// own. Exact: the type has far fewer bits than float64.
template <typename Half>
Rounded RoundedTo(Half element) {
  const auto neighbour = [element](int step) {
    return double{ToFloat(Half{static_cast<uint16_t>(element.bits + step)})};
  };
  const double value = neighbour(0);
  const double below = neighbour(-1);
  const double above = std::isinf(neighbour(1)) ? value + (value - below) : neighbour(1);
  return {(below + value) / 2, (value + above) / 2, element.bits % 2 == 0};
}

double ToDouble(int64_t digits, int exponent) {
  return std::strtod(absl::StrCat(digits, "e", exponent).c_str(), nullptr);
}

// The shortest of the numbers that are rounded to `value`, which is positive.
double ShortestOf(double value, const Rounded& rounded) {
  for (int digit_count = 1; digit_count < std::numeric_limits<float>::max_digits10; ++digit_count) {
    std::string text = absl::StrFormat("%.*e", digit_count - 1, value);
    const size_t exponent_at = text.find('e');
    const int exponent = std::atoi(text.c_str() + exponent_at + 1) - (digit_count - 1);
    text.resize(exponent_at);
    if (digit_count > 1) text.erase(1, 1);  // The point.
    const int64_t digits = std::strtoll(text.c_str(), nullptr, 10);
    // The nearest one; above a power of two there is more room than below.
    for (const int64_t candidate : {digits, digits + 1}) {
      const double number = ToDouble(candidate, exponent);
      if (rounded.Has(number)) return number;
    }
  }
  return value;
}

template <typename Half>
double ShortestHalf(Half element) {
  constexpr uint16_t kSign = 0x8000;
  const double value = ToFloat(element);
  if (value == 0 || !std::isfinite(value)) return value;
  const Half magnitude = {static_cast<uint16_t>(element.bits & ~kSign)};
  return std::copysign(ShortestOf(std::fabs(value), RoundedTo(magnitude)), value);
}

}  // namespace

double ShortestReal(Float16 element) { return ShortestHalf(element); }

double ShortestReal(Bfloat16 element) { return ShortestHalf(element); }

double ShortestReal(float element) {
  if (!std::isfinite(element)) return element;
  std::array<char, 32> text;
  // Without a format, a whole number has all its digits.
  const auto end = std::to_chars(text.begin(), text.end(), element, std::chars_format::scientific);
  double shortest = 0;
  std::from_chars(text.begin(), end.ptr, shortest);
  // Rounding twice might lead elsewhere.
  return static_cast<float>(shortest) == element ? shortest : element;
}

double ShortestReal(double element) { return element; }

}  // namespace gridfold::client
