#include "kernels/types/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

template <class T>
struct Format;
template <>
struct Format<Float16> {
  static constexpr int kSignificandBits = 10;
  static constexpr int kExponentBits = 5;
};
template <>
struct Format<Bfloat16> {
  static constexpr int kSignificandBits = 7;
  static constexpr int kExponentBits = 8;
};

// Value of a pattern by the definition of the format.
template <class T>
double ValueByDefinition(uint16_t bits) {
  constexpr int kBias = (1 << (Format<T>::kExponentBits - 1)) - 1;
  const int significand = bits & ((1 << Format<T>::kSignificandBits) - 1);
  const int exponent = (bits & 0x7FFF) >> Format<T>::kSignificandBits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << Format<T>::kExponentBits) - 1) {
    return significand == 0 ? sign * HUGE_VAL : std::nan("");
  }
  const double fraction = std::ldexp(significand, -Format<T>::kSignificandBits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - kBias);
  return sign * std::ldexp(1 + fraction, exponent - kBias);
}

template <class T>
constexpr uint16_t InfinityBits() {
  return ((1 << Format<T>::kExponentBits) - 1) << Format<T>::kSignificandBits;
}

// All finite magnitudes in increasing order, by pattern; behind them the number that would come
// next if exponents went on, which is where rounding to infinity is decided from.
template <class T>
std::vector<double> Magnitudes() {
  std::vector<double> values;
  for (uint32_t bits = 0; bits < InfinityBits<T>(); ++bits) {
    values.push_back(ValueByDefinition<T>(static_cast<uint16_t>(bits)));
  }
  values.push_back(std::ldexp(1.0, 1 << (Format<T>::kExponentBits - 1)));
  return values;
}

// Pattern of the number nearest to x, ties to the even pattern, by looking for x's two neighbours.
// All comparisons are of exact doubles: a midpoint needs one bit more than the format has.
template <class T>
uint16_t NearestBySearch(const std::vector<double>& magnitudes, double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (magnitude >= magnitudes.back()) return sign | InfinityBits<T>();
  const auto above = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  const auto low = static_cast<uint16_t>(above - magnitudes.begin() - 1);
  const double midpoint = (*above + magnitudes[low]) / 2;
  const bool up = magnitude > midpoint || (magnitude == midpoint && (low & 1) != 0);
  return sign | static_cast<uint16_t>(low + (up ? 1 : 0));
}

template <class T>
class HalfTest : public testing::Test {};
using HalfTypes = testing::Types<Float16, Bfloat16>;
TYPED_TEST_SUITE(HalfTest, HalfTypes);

TYPED_TEST(HalfTest, EveryPatternHasItsValueInFloatAndDouble) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam half{static_cast<uint16_t>(bits)};
    const double expected = ValueByDefinition<TypeParam>(half.bits);
    const auto as_float = static_cast<float>(half);
    const auto as_double = static_cast<double>(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(as_float)) << bits;
      EXPECT_TRUE(std::isnan(as_double)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<uint64_t>(as_double), std::bit_cast<uint64_t>(expected)) << bits;
      EXPECT_EQ(std::bit_cast<uint32_t>(as_float),
                std::bit_cast<uint32_t>(static_cast<float>(expected)))
          << bits;
    }
  }
}

TYPED_TEST(HalfTest, EveryPatternSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam half{static_cast<uint16_t>(bits)};
    const double value = static_cast<double>(half);
    const TypeParam back = TypeParam::FromDouble(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<double>(back))) << bits;
    } else {
      EXPECT_EQ(back.bits, half.bits);
    }
  }
}

TYPED_TEST(HalfTest, RoundsToTheNearestAtAndAroundEveryMidpoint) {
  const std::vector<double> magnitudes = Magnitudes<TypeParam>();
  for (size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    const double midpoint = (magnitudes[i] + magnitudes[i + 1]) / 2;
    for (const double x :
         {magnitudes[i], std::nextafter(magnitudes[i], HUGE_VAL), std::nextafter(midpoint, 0.0),
          midpoint, std::nextafter(midpoint, HUGE_VAL), std::nextafter(magnitudes[i + 1], 0.0)}) {
      ASSERT_EQ(TypeParam::FromDouble(x).bits, NearestBySearch<TypeParam>(magnitudes, x)) << x;
      ASSERT_EQ(TypeParam::FromDouble(-x).bits, NearestBySearch<TypeParam>(magnitudes, -x)) << -x;
    }
  }
}

TYPED_TEST(HalfTest, RoundsRandomDoublesToTheNearest) {
  const std::vector<double> magnitudes = Magnitudes<TypeParam>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 400'000; ++i) {
    // Any finite pattern, and patterns near the format's own range, which are few among the former.
    const double any = std::bit_cast<double>(random());
    const double near = std::ldexp(std::bit_cast<double>(random() >> 12 | 0x3FF0'0000'0000'0000u),
                                   static_cast<int>(random() % 300) - 150);
    for (const double x : {any, near}) {
      if (std::isnan(x)) continue;
      ASSERT_EQ(TypeParam::FromDouble(x).bits, NearestBySearch<TypeParam>(magnitudes, x)) << x;
    }
  }
}

TYPED_TEST(HalfTest, EndsOfTheRange) {
  using Limits = std::numeric_limits<double>;
  constexpr uint16_t kInfinity = InfinityBits<TypeParam>();
  EXPECT_EQ(TypeParam::FromDouble(0.0).bits, 0);
  EXPECT_EQ(TypeParam::FromDouble(-0.0).bits, 0x8000);
  EXPECT_EQ(TypeParam::FromDouble(Limits::denorm_min()).bits, 0);
  EXPECT_EQ(TypeParam::FromDouble(-Limits::denorm_min()).bits, 0x8000);
  EXPECT_EQ(TypeParam::FromDouble(Limits::max()).bits, kInfinity);
  EXPECT_EQ(TypeParam::FromDouble(Limits::lowest()).bits, 0x8000 | kInfinity);
  EXPECT_EQ(TypeParam::FromDouble(Limits::infinity()).bits, kInfinity);
  EXPECT_EQ(TypeParam::FromDouble(-Limits::infinity()).bits, 0x8000 | kInfinity);
}

TYPED_TEST(HalfTest, EveryKindOfNanStaysNan) {
  for (const uint64_t payload :
       {uint64_t{1}, uint64_t{1} << 41, uint64_t{1} << 51, (uint64_t{1} << 52) - 1}) {
    for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << 63}) {
      const double nan = std::bit_cast<double>(sign | 0x7FF0'0000'0000'0000u | payload);
      EXPECT_TRUE(std::isnan(static_cast<double>(TypeParam::FromDouble(nan)))) << payload;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels
