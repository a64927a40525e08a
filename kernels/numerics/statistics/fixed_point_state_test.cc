#include "kernels/numerics/statistics/fixed_point_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

using State = FixedPointState<float>;
using Exact = ReductionState<float, kCorePartSet>;

// Element by element, in units of 2^exponent.
State StateOf(const std::vector<float>& elements, int exponent) {
  State state;
  state.exponent = exponent;
  for (uint32_t i = 0; i < elements.size(); ++i) {
    const float x = elements[i];
    const int64_t units = static_cast<int64_t>(std::ldexp(static_cast<double>(x), -exponent));
    state.sum += units;
    state.squares += static_cast<Uint128>(Int128{units} * units);
    if (i == 0 || x < state.min) state.min = x, state.min_index = i;
    if (i == 0 || x > state.max) state.max = x, state.max_index = i;
    state.nonzero += x != 0 ? 1 : 0;
    state.sums_negative_zeros = state.sums_negative_zeros && x == 0 && std::signbit(x);
  }
  return state;
}

Exact ExactOf(const std::vector<float>& elements) {
  Exact state;
  for (size_t i = 0; i < elements.size(); ++i) state.Add(elements[i], i, false);
  return state;
}

// All that a state with these parts tells.
std::vector<Statistic> StatisticsOfCoreParts() {
  std::vector<Statistic> statistics;
  for (int i = 0; i < kStatisticCount; ++i) {
    const auto statistic = static_cast<Statistic>(i);
    const bool has_parts = (PartsOf(statistic, true, false) & ~kCorePartSet) == 0;
    if (has_parts && statistic != Statistic::kProduct) statistics.push_back(statistic);
  }
  return statistics;
}

void ExpectSameValues(const std::vector<float>& elements, int exponent) {
  const State state = StateOf(elements, exponent);
  const Exact exact = ExactOf(elements);
  const Exact expanded = state.Expanded();
  for (const uint32_t ddof : {0u, 1u}) {
    const ValueRules rules{.delta_degrees_of_freedom = ddof};
    for (const Statistic statistic : StatisticsOfCoreParts()) {
      uint64_t value = 0;
      uint64_t exact_value = 1;
      uint64_t expanded_value = 2;
      StatisticValue(statistic, state, elements.size(), rules, &value);
      StatisticValue(statistic, exact, elements.size(), rules, &exact_value);
      StatisticValue(statistic, expanded, elements.size(), rules, &expanded_value);
      EXPECT_EQ(value, exact_value) << StatisticName(statistic) << " of " << elements.size();
      EXPECT_EQ(expanded_value, exact_value) << StatisticName(statistic);
    }
  }
  EXPECT_EQ(expanded.Part<kSumPart>().sum, exact.Part<kSumPart>().sum);
  EXPECT_EQ(expanded.Part<kSquaresPart>().sum, exact.Part<kSquaresPart>().sum);
}

TEST(FixedPointStateTest, HasTheValuesOfExactStates) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.5f, 2);
  for (const size_t size : {1, 2, 3, 4, 5, 7, 8, 31, 64, 1000, 16384}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<float> elements(size);
      // Multiples of 2^-20, the more seldom rounded the larger the unit is.
      const float unit = std::ldexp(1.0f, round - 20);
      for (float& x : elements) x = std::round(normal(random) / unit) * unit;
      ExpectSameValues(elements, round - 20);
      ExpectSameValues(elements, -40);
    }
  }
}

// The cube of whose number is no float64.
TEST(FixedPointStateTest, HasTheStandardErrorsOfManyElements) {
  std::mt19937 random(8);
  std::uniform_int_distribution<int> integer(-1000, 1000);
  for (const size_t size : {208'065, 300'001}) {
    std::vector<float> elements(size);
    for (float& x : elements) x = static_cast<float>(integer(random)) * 0x1p-10f;
    ExpectSameValues(elements, -10);
  }
}

TEST(FixedPointStateTest, HoldsTheSmallestAndTheLargest) {
  const float least = std::ldexp(1.0f, -149);
  ExpectSameValues({least, -least, 3 * least}, -149);
  ExpectSameValues({least, least}, -149);
  const float greatest = std::ldexp(1 - std::ldexp(1.0f, -24), 128);
  ExpectSameValues({greatest, -greatest, greatest}, 104);
  ExpectSameValues({greatest, greatest, greatest}, 80);
}

TEST(FixedPointStateTest, KnowsZeros) {
  ExpectSameValues({}, 0);
  ExpectSameValues({0.0f}, 0);
  ExpectSameValues({-0.0f, -0.0f}, -10);
  ExpectSameValues({-0.0f, 0.0f}, -10);
  ExpectSameValues({0.0f, 1.0f, -1.0f}, -30);
}

TEST(FixedPointStateTest, RoundsTiesToEven) {
  // Deviations of 54 bits and more, by powers of two.
  for (uint32_t i = 0; i < 64; ++i) {
    ExpectSameValues({16777215.0f - static_cast<float>(i), static_cast<float>(2 * i + 1), 0.5f, 1},
                     -1);
    ExpectSameValues({8388607.0f, -static_cast<float>(i)}, -20);
  }
}

}  // namespace
}  // namespace gridfold::kernels
