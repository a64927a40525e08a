#include "kernels/numerics/order/quantile.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();

QuantilePlace At(double quantile, uint64_t count, QuantileMethod method) {
  return PlaceOf({.quantile = quantile}, count, method);
}

template <class T>
double Between(T lower, T upper, double weight, QuantileMethod method = QuantileMethod::kLinear) {
  return std::bit_cast<double>(
      BetweenSlot<T>(ToOrderKey(lower), ToOrderKey(upper), weight, method));
}

TEST(QuantileTest, PlacesOfEveryMethod) {
  using enum QuantileMethod;
  struct Case {
    double quantile;
    uint64_t count;
    QuantileMethod method;
    uint64_t lower, upper;
    double weight;
  };
  const Case cases[] = {
      {0, 4, kLinear, 0, 0, 0},       {1, 4, kLinear, 3, 3, 0},    {0.5, 4, kLinear, 1, 2, 0.5},
      {0.25, 4, kLinear, 0, 1, 0.75}, {0.5, 5, kLinear, 2, 2, 0},  {0.5, 4, kLower, 1, 1, 0},
      {0.5, 4, kHigher, 2, 2, 0},     {0.5, 4, kNearest, 2, 2, 0}, {0.5, 2, kNearest, 0, 0, 0},
      {0.25, 4, kNearest, 1, 1, 0},   {0.1, 4, kNearest, 0, 0, 0}, {0.1, 4, kMidpoint, 0, 1, 0.5},
      {0.5, 5, kMidpoint, 2, 2, 0},   {0.1, 4, kMean, 0, 1, 0.5},  {0.5, 1, kLinear, 0, 0, 0},
      {0.999, 1, kHigher, 0, 0, 0},   {1, 3, kHigher, 2, 2, 0},
  };
  for (const Case& c : cases) {
    const QuantilePlace place = At(c.quantile, c.count, c.method);
    SCOPED_TRACE(testing::Message()
                 << c.quantile << " of " << c.count << ", method " << static_cast<int>(c.method));
    EXPECT_EQ(place.lower, c.lower);
    EXPECT_EQ(place.upper, c.upper);
    EXPECT_EQ(place.weight, c.weight);
  }
}

TEST(QuantileTest, RanksAreTheirOwnPlaces) {
  const QuantileTarget target{.is_rank = true, .rank = 7};
  EXPECT_TRUE(HasPlace(target, 8));
  EXPECT_FALSE(HasPlace(target, 7));
  EXPECT_EQ(PlaceOf(target, 8, QuantileMethod::kLinear).lower, 7u);
  EXPECT_FALSE(HasPlace({.quantile = 0}, 0));
}

TEST(QuantileTest, IntegersDoNotWrapAround) {
  EXPECT_EQ(Between<int8_t>(-128, 127, 0.5), -0.5);
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Between<int64_t>(low, high, 0.25), -0x1p63 + 0x1p64 * 0.25);
  EXPECT_EQ(Between<uint64_t>(0, ~uint64_t{0}, 0.5), 0x1p63);
  EXPECT_EQ(Between<int32_t>(7, 7, 0.3), 7);
}

TEST(QuantileTest, FarOnes) {
  EXPECT_EQ(Between(-kMax, kMax, 0.5), 0);
  EXPECT_EQ(Between(-kMax, kMax, 0.25), -kMax * 0.75 + kMax * 0.25);
  EXPECT_EQ(Between(1.0, kInfinity, 0.75), kInfinity);
  EXPECT_EQ(Between(-kInfinity, 1.0, 0.25), -kInfinity);
  EXPECT_EQ(Between(kInfinity, kInfinity, 0.25), kInfinity);
  EXPECT_EQ(BetweenSlot<double>(ToOrderKey(-kInfinity), ToOrderKey(kInfinity), 0.5,
                                QuantileMethod::kLinear),
            kNanSlot);
  EXPECT_EQ(Between(kMax, kMax / 2, 0.5, QuantileMethod::kMean), kMax / 2 + kMax / 4);
}

// The sum is rounded, and then halved; interpolated halfway it is the difference that is rounded.
TEST(QuantileTest, MeansAreThoseOfMedians) {
  const double lower = 1;
  const double upper = 0x1p53 + 2;
  EXPECT_EQ(Between(lower, upper, 0.5, QuantileMethod::kMean), (lower + upper) / 2);
  EXPECT_EQ(Between(lower, upper, 0.5, QuantileMethod::kMidpoint), upper - (upper - lower) * 0.5);
}

}  // namespace
}  // namespace gridfold::kernels
