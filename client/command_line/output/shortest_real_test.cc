// Every element of 16 bits, with the digits that it takes found by trying all short decimals.
#include "client/command_line/output/shortest_real.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// The significant digits of the shortest text of a number.
size_t DigitsOf(double number) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof(text), std::fabs(number), std::chars_format::scientific);
  const std::string digits(text, end.ptr);
  const size_t exponent = digits.find('e');
  return exponent == 1 ? 1 : exponent - 1;
}

// The positive, finite elements of a type by their values.
template <typename Half>
std::map<double, Half> ElementsOf() {
  std::map<double, Half> elements;
  for (uint32_t bits = 1; bits < 0x8000; ++bits) {
    const Half element = {static_cast<uint16_t>(bits)};
    const double value = ToFloat(element);
    if (std::isfinite(value)) elements[value] = element;
  }
  return elements;
}

// The element that a positive number is rounded to, ties to even; one of bits 0 where it is rounded
// to 0 or an infinity.
template <typename Half>
Half Round(const std::map<double, Half>& elements, double number) {
  auto above = elements.lower_bound(number);
  const double last = elements.rbegin()->first;
  const double step = last - std::next(elements.rbegin())->first;
  const double high = above == elements.end() ? last + step : above->first;
  const double low = above == elements.begin() ? 0 : std::prev(above)->first;
  const bool low_is_even = above == elements.begin() || std::prev(above)->second.bits % 2 == 0;
  const double middle = (low + high) / 2;
  if (number < middle || (number == middle && low_is_even)) {
    return above == elements.begin() ? Half{0} : std::prev(above)->second;
  }
  return above == elements.end() ? Half{0} : above->second;
}

template <typename Half>
void ExpectShortest(int exponent_min, int exponent_max) {
  const std::map<double, Half> elements = ElementsOf<Half>();
  std::map<uint16_t, size_t> digits_needed;
  for (int digits = 9999; digits > 0; --digits) {
    const std::string text = absl::StrCat(digits);
    for (int exponent = exponent_min; exponent <= exponent_max; ++exponent) {
      const double number = std::stod(absl::StrCat(text, "e", exponent));
      const Half element = Round(elements, number);
      // Those with fewer digits come later.
      if (element.bits != 0) digits_needed[element.bits] = text.size();
    }
  }
  for (const auto& [value, element] : elements) {
    const double shortest = ShortestReal(element);
    EXPECT_EQ(Round(elements, shortest).bits, element.bits) << value << " as " << shortest;
    const auto needed = digits_needed.find(element.bits);
    EXPECT_LE(DigitsOf(shortest), needed == digits_needed.end() ? 5u : needed->second) << value;
    const Half negative = {static_cast<uint16_t>(element.bits | 0x8000)};
    EXPECT_EQ(ShortestReal(negative), -shortest);
  }
}

TEST(ShortestRealTest, EveryFloat16) { ExpectShortest<Float16>(-11, 4); }

TEST(ShortestRealTest, EveryBfloat16) { ExpectShortest<Bfloat16>(-45, 38); }

// As NumPy prints them.
TEST(ShortestRealTest, Float16AsNumPyHasThem) {
  EXPECT_EQ(ShortestReal(Float16{0x2E66}), 0.1);
  EXPECT_EQ(ShortestReal(Float16{0x3555}), 0.3333);
  EXPECT_EQ(ShortestReal(Float16{0x3C01}), 1.001);
  EXPECT_EQ(ShortestReal(Float16{0x0001}), 6e-8);
  EXPECT_EQ(ShortestReal(Float16{0x7BFF}), 65500);
}

TEST(ShortestRealTest, Float32) {
  EXPECT_EQ(ShortestReal(0.1F), 0.1);
  EXPECT_EQ(ShortestReal(1.0F / 3), 0.33333334);
  EXPECT_EQ(ShortestReal(-16777216.0F), -16777216.0);
  EXPECT_EQ(ShortestReal(std::numeric_limits<float>::max()), 3.4028235e38);
  EXPECT_EQ(ShortestReal(std::numeric_limits<float>::denorm_min()), 1e-45);
  for (uint64_t bits = 1; bits < 0x7F800000; bits += 99'991) {
    const auto element = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const double shortest = ShortestReal(element);
    EXPECT_EQ(static_cast<float>(shortest), element);
    EXPECT_LE(DigitsOf(shortest), 9u) << element;
  }
}

TEST(ShortestRealTest, OthersStayWhatTheyAre) {
  EXPECT_EQ(ShortestReal(0.1 + 0.2), 0.1 + 0.2);
  EXPECT_TRUE(std::isnan(ShortestReal(Float16{0x7E00})));
  EXPECT_TRUE(std::isnan(ShortestReal(std::nanf(""))));
  EXPECT_EQ(ShortestReal(Float16{0xFC00}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ShortestReal(Bfloat16{0x7F80}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(ShortestReal(Float16{0x8000})));
  EXPECT_EQ(ShortestReal(Float16{0x8000}), 0);
}

}  // namespace
}  // namespace gridfold::client
