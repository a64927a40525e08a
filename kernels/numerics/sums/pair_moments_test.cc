#include "kernels/numerics/sums/pair_moments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

enum class Data {
  kNormal,
  kUniform,
  kIntegers,
  kFarIntegers,
  kConstant,
  kFar,
  kSpread,
  kAnyBits,
  kSubnormal,
  kZeros,
  kTiny,
};
constexpr Data kAllData[] = {Data::kNormal,    Data::kUniform, Data::kIntegers, Data::kFarIntegers,
                             Data::kConstant,  Data::kFar,     Data::kSpread,   Data::kAnyBits,
                             Data::kSubnormal, Data::kZeros,   Data::kTiny};

double Value(Data data, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double x = normal(random);
  const uint64_t bits = random();
  switch (data) {
    case Data::kNormal: return x;
    case Data::kUniform: return static_cast<double>(bits >> 11) * 0x1p-53;
    case Data::kIntegers: return static_cast<double>(static_cast<int32_t>(bits));
    case Data::kFarIntegers: return 0x1p40 + static_cast<double>(bits % 100);
    case Data::kConstant: return 0.1;
    case Data::kFar: return 1e9 + x;
    case Data::kSpread: return std::ldexp(x, static_cast<int>(bits % 120) - 60);
    case Data::kAnyBits: {
      const double any = std::bit_cast<double>(bits);
      return std::isfinite(any) ? any : 1;
    }
    case Data::kSubnormal: return std::ldexp(static_cast<double>(bits % 9), -1074);
    case Data::kZeros: return bits % 3 == 0 ? x : std::copysign(0.0, x);
    case Data::kTiny: return bits % 4 == 0 ? std::ldexp(x, -600) : static_cast<double>(bits % 8);
  }
  return 0;
}

struct Moments {
  CheckedPair sum;
  SquaresPair squares;
  DeviationPairs deviations;
  uint32_t chain = 0;
  bool are_zeros = true;
};

// As the lanes of a warp do.
Moments MomentsOf(const std::vector<double>& values, size_t lanes) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::fabs(x));
  const auto frame = DeviationFrame::Of(*std::min_element(values.begin(), values.end()), largest);
  std::vector<Moments> of_lanes(lanes);
  for (size_t i = 0; i < values.size(); ++i) {
    Moments& moments = of_lanes[i % lanes];
    moments.sum.Add(values[i]);
    moments.squares.Add(values[i]);
    moments.deviations.Add(values[i], frame);
    moments.are_zeros = moments.are_zeros && values[i] == 0;
    ++moments.chain;
  }
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      of_lanes[i].sum.Merge(of_lanes[i + half].sum);
      of_lanes[i].squares.Merge(of_lanes[i + half].squares);
      of_lanes[i].deviations.Merge(of_lanes[i + half].deviations);
      of_lanes[i].are_zeros = of_lanes[i].are_zeros && of_lanes[i + half].are_zeros;
      ++of_lanes[i].chain;
    }
  }
  return of_lanes[0];
}

class PairMomentsTest : public testing::TestWithParam<Data> {};

TEST_P(PairMomentsTest, WhatIsCertainIsRoundedOnce) {
  const Data data = GetParam();
  std::mt19937_64 random(static_cast<uint64_t>(data) + 20261123);
  uint64_t groups = 0;
  uint64_t groups_of_one = 0;
  uint64_t groups_of_deviations = 0;
  uint64_t certain_norms = 0;
  uint64_t certain = 0;
  uint64_t certain_apart = 0;
  uint64_t certain_roots_apart = 0;
  for (const size_t count : {1, 2, 3, 4, 5, 7, 16, 64, 100, 1000}) {
    for (int repeat = 0; repeat < (count < 100 ? 400 : 40); ++repeat) {
      const uint32_t ddof = repeat % 2 == 0 ? 0 : 1;
      std::vector<double> values(count);
      for (double& x : values) x = Value(data, random);
      ReductionState<double, kCorePartSet> state;
      double largest = 0;
      for (size_t i = 0; i < count; ++i) {
        state.Add(values[i], i, false);
        largest = std::max(largest, std::fabs(values[i]));
      }
      const auto expected = [&](Statistic statistic) {
        uint64_t slot = 0;
        StatisticValue(statistic, state, count, {.delta_degrees_of_freedom = ddof}, &slot);
        return std::bit_cast<double>(slot);
      };
      const Moments moments = MomentsOf(values, count < 8 ? 1 : 8);
      const double n = static_cast<double>(count);
      const double divisor = n * (n - ddof);
      const BoundedNumber sum = BoundedSum(moments.sum);
      const BoundedNumber squares = moments.squares.Bounded(moments.chain, moments.are_zeros);
      const auto check = [&](Statistic statistic, const BoundedNumber& number, double unit = 1,
                             double second_unit = 1) {
        double rounded = 0;
        const bool is_certain =
            unit == 1 ? number.Round(rounded) : RoundScaled(number, unit, second_unit, rounded);
        if (is_certain) {
          EXPECT_EQ(std::bit_cast<uint64_t>(rounded), std::bit_cast<uint64_t>(expected(statistic)))
              << StatisticName(statistic) << " of " << count << " elements";
        }
        return is_certain ? 1u : 0u;
      };
      ++groups;
      check(Statistic::kSum, sum);
      check(Statistic::kMean, sum.DividedBy(n));
      certain_norms += check(Statistic::kL2Norm, squares.Root());
      if (count <= ddof) continue;
      ++groups_of_deviations;
      groups_of_one += count == 1 ? 1 : 0;
      const BoundedNumber variance = SquareDeviations(sum, squares, n).DividedBy(divisor);
      certain += check(Statistic::kVariance, variance);
      check(Statistic::kStandardDeviation, variance.Root());
      const auto frame =
          DeviationFrame::Of(*std::min_element(values.begin(), values.end()), largest);
      const BoundedNumber apart = moments.deviations.SquareDeviations(n).DividedBy(divisor);
      certain_apart += check(Statistic::kVariance, apart, frame.unit, frame.unit);
      certain_roots_apart += check(Statistic::kStandardDeviation, apart.Root(), frame.unit, 1);
    }
  }
  if (data == Data::kSubnormal) return;
  // Nearly all are certain: of few the values lie between two numbers, or are too small.
  EXPECT_GE(certain_apart, groups_of_deviations * 95 / 100);
  EXPECT_GE(certain_roots_apart, groups_of_deviations * 95 / 100);
  if (data == Data::kNormal || data == Data::kUniform || data == Data::kSpread) {
    EXPECT_EQ(certain_norms, groups);
    EXPECT_GE(certain, (groups_of_deviations - groups_of_one) * 95 / 100);
  }
}

INSTANTIATE_TEST_SUITE_P(AllData, PairMomentsTest, testing::ValuesIn(kAllData));

}  // namespace
}  // namespace gridfold::kernels
