// The judges are judged first: exact arithmetic against the processor's, where that is exact too.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/conformance/float_trees.h"

namespace gridfold::kernels::conformance {
namespace {

double AnyFiniteDouble(std::mt19937_64& random) {
  double x = 0;
  do {
    x = std::bit_cast<double>(random());
  } while (!std::isfinite(x));
  return x;
}

TEST(DyadicTest, RoundsAsTheProcessorDoes) {
  std::mt19937_64 random(171);
  for (int i = 0; i < 100'000; ++i) {
    const double a = AnyFiniteDouble(random);
    // Half of the time near a in size, so that sums round and cancel.
    const double b = i % 2 == 0 ? AnyFiniteDouble(random)
                                : -a * (1 + std::ldexp(static_cast<double>(random() % 64), -50));
    if (!std::isfinite(b)) continue;
    const Dyadic x = Dyadic::FromDouble(a);
    const Dyadic y = Dyadic::FromDouble(b);
    ASSERT_EQ(x.ToDouble(), a);
    ASSERT_EQ(x.Plus(y).ToDouble(), a + b);
    ASSERT_EQ(x.Minus(y).ToDouble(), a - b);
    ASSERT_EQ(x.Times(y).ToDouble(), a * b);
    ASSERT_EQ(x.Minus(y).Sign(), (a > b) - (a < b));
  }
}

TEST(DyadicTest, RoundsToSmallerFormats) {
  std::mt19937_64 random(174);
  const FloatFormat single = FloatFormatOf(ElementType::kFloat32);
  for (int i = 0; i < 100'000; ++i) {
    const float a = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isfinite(a)) continue;
    // A float, and between two of them at, before and after the middle.
    const double x = a + std::ldexp(a, -24) * static_cast<double>(random() % 3) +
                     std::ldexp(a, -45) * static_cast<double>(random() % 3);
    ASSERT_EQ(Dyadic::FromDouble(x).RoundedTo(single), static_cast<float>(x)) << x;
    ASSERT_EQ(Dyadic::FromDouble(x).RoundedTo(FloatFormatOf(ElementType::kFloat16)),
              DecodeFloat(FloatFormatOf(ElementType::kFloat16),
                          EncodeFloat(FloatFormatOf(ElementType::kFloat16), x)));
  }
  // A tie of 24 bits that the smallest addend decides: float64 cannot hold it.
  const Dyadic tie = Dyadic::FromDouble(1 + 0x1p-24);
  EXPECT_EQ(tie.RoundedTo(single), 1);
  EXPECT_EQ(tie.Plus(Dyadic::FromDouble(0x1p-1074)).RoundedTo(single), 1 + 0x1p-23);
  EXPECT_EQ(tie.Plus(Dyadic::FromDouble(0x1p-1074)).ToDouble(), 1 + 0x1p-24);
}

TEST(DyadicTest, IntegersAndQuotients) {
  std::mt19937_64 random(172);
  for (int i = 0; i < 20'000; ++i) {
    const auto numerator = static_cast<int64_t>(random()) >> (random() % 64);
    const uint64_t denominator = 1 + (random() >> (random() % 64)) / 2;
    const Dyadic quotient = Dyadic::FromInteger(numerator).DividedBy(denominator);
    if (std::abs(numerator) < int64_t{1} << 53 && denominator < uint64_t{1} << 53) {
      ASSERT_EQ(quotient.ToDouble(),
                static_cast<double>(numerator) / static_cast<double>(denominator));
    }
    const long double wide =
        static_cast<long double>(numerator) / static_cast<long double>(denominator);
    ASSERT_LE(std::fabs(quotient.ToLongDouble() - wide), std::fabs(wide) * 0x1p-62L);
  }
}

TEST(ExactSumTest, IsTheSumTermByTerm) {
  std::mt19937_64 random(173);
  ExactSum sum;
  ExactSum squares;
  Dyadic sum_by_terms;
  Dyadic squares_by_terms;
  for (int i = 0; i < 500; ++i) {
    const double x = AnyFiniteDouble(random);
    const Dyadic exact = Dyadic::FromDouble(x);
    sum.Add(x);
    squares.AddSquare(x);
    sum_by_terms = sum_by_terms.Plus(exact);
    squares_by_terms = squares_by_terms.Plus(exact.Times(exact));
    ASSERT_EQ(sum.Value(), sum_by_terms);
    ASSERT_EQ(squares.Value(), squares_by_terms);
  }
}

TEST(ElementCodecTest, AgreesWithTheProcessorsOwnFormats) {
  std::mt19937_64 random(174);
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? AnyFiniteDouble(random)
                                : std::ldexp(static_cast<double>(random()),
                                             static_cast<int>(random() % 300) - 210);
    ASSERT_EQ(EncodeFloat({23, 8}, x), std::bit_cast<uint32_t>(static_cast<float>(x))) << x;
    ASSERT_EQ(EncodeFloat({52, 11}, x), std::bit_cast<uint64_t>(x));
    ASSERT_EQ(DecodeFloat({52, 11}, std::bit_cast<uint64_t>(x)), x);
    const auto bits = static_cast<uint32_t>(random());
    const auto expected = static_cast<double>(std::bit_cast<float>(bits));
    const double decoded = DecodeFloat({23, 8}, bits);
    ASSERT_TRUE(decoded == expected || (std::isnan(decoded) && std::isnan(expected)));
  }
}

TEST(ElementCodecTest, RangesOfTheTypes) {
  EXPECT_EQ(LargestElement(ElementType::kInt64), 9223372036854775807.0L);
  EXPECT_EQ(SmallestElement(ElementType::kInt64), -9223372036854775808.0L);
  EXPECT_EQ(LargestElement(ElementType::kUint64), 18446744073709551615.0L);
  EXPECT_EQ(SmallestElement(ElementType::kUint8), 0);
  EXPECT_EQ(LargestElement(ElementType::kFloat16), 65504);
  EXPECT_EQ(LargestElement(ElementType::kBfloat16), 0x1.FEp127L);
}

// Where nothing is rounded, every tree gives what a loop gives.
TEST(FloatTreesTest, ExactDataIsScannedAsInALoop) {
  std::mt19937_64 random(175);
  const FloatOperation sum{.is_product = false};
  std::vector<double> values(140'000);
  std::vector<bool> starts(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(random() % 100) - 50;
    starts[i] = i == 0 || random() % 5000 == 0;
  }
  for (const bool exclusive : {false, true}) {
    const std::vector<double> scanned = ScanByTree(values, starts, sum, exclusive);
    std::vector<std::vector<double>> columns;
    for (const size_t count : {1, 3, 40}) {
      columns.push_back(ScanColumnByTree(values, count, sum, exclusive));
    }
    double in_group = 0;
    double in_column = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (starts[i]) in_group = 0;
      const double group_before = in_group;
      const double column_before = in_column;
      in_group += values[i];
      in_column += values[i];
      ASSERT_EQ(scanned[i], exclusive ? group_before : in_group) << i;
      for (const std::vector<double>& column : columns) {
        ASSERT_EQ(column[i], exclusive ? column_before : in_column) << i;
      }
    }
  }
  EXPECT_EQ(ProductByTree(std::vector<double>(1001, -1.0)), -1.0);
  EXPECT_EQ(ProductByTree({}), 1.0);
}

}  // namespace
}  // namespace gridfold::kernels::conformance
