#include "kernels/numerics/statistics/pair_state.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

PairState StateOf(const std::vector<double>& elements) {
  PairState state{};
  for (uint32_t i = 0; i < elements.size(); ++i) {
    const double x = elements[i];
    if (std::isnan(x)) {
      ++state.nan;
      continue;
    }
    const bool is_first = i == state.nan;
    if (is_first || x < state.min) state.min = x, state.min_index = i;
    if (is_first || x > state.max) state.max = x, state.max_index = i;
    state.sum.Add(x);
    state.squares.Add(x);
    state.zeros += x == 0 ? 1 : 0;
    ++state.chain;
  }
  return state;
}

// What pairs with all parts tell.
std::vector<Statistic> StatisticsOfCoreParts() {
  std::vector<Statistic> statistics;
  for (int i = 0; i < kStatisticCount; ++i) {
    const auto statistic = static_cast<Statistic>(i);
    const bool has_parts = (PartsOf(statistic, true, true) & ~kCorePartSet) == 0;
    if (has_parts && statistic != Statistic::kProduct) statistics.push_back(statistic);
  }
  return statistics;
}

// Compares what is certain with exact states, statistic by statistic. Returns how many values were.
template <bool kHasDeviations>
int ExpectExactWhereCertain(const std::vector<double>& elements, uint32_t ddof) {
  const ValueRules rules{.ignore_nan = true, .delta_degrees_of_freedom = ddof};
  ReductionState<double, kCorePartSet> exact;
  for (size_t i = 0; i < elements.size(); ++i) exact.Add(elements[i], i, true);
  const PairState state = StateOf(elements);
  const auto count = static_cast<uint32_t>(elements.size()) - state.nan;
  DeviationPairs deviations;
  for (const double x : elements) {
    if (!std::isnan(x)) deviations.Add(x, state.Frame());
  }
  int certain = 0;
  for (const Statistic statistic : StatisticsOfCoreParts()) {
    const auto values = [&] {
      if constexpr (kHasDeviations) {
        return PairValues<true>(state, count, deviations);
      } else {
        return PairValues<false>(state, count);
      }
    }();
    uint64_t slot = 0;
    uint64_t expected = 1;
    StatisticValue(statistic, values, elements.size(), rules, &slot);
    StatisticValue(statistic, exact, elements.size(), rules, &expected);
    if (values.lack() != PairsLack::kNothing) continue;
    EXPECT_EQ(slot, expected) << StatisticName(statistic) << " of " << elements.size();
    ++certain;
  }
  return certain;
}

TEST(PairStateTest, HasTheValuesOfExactStates) {
  std::mt19937_64 random(20261126);
  std::normal_distribution<double> normal(0.3, 2);
  const int statistics = static_cast<int>(StatisticsOfCoreParts().size());
  int certain = 0;
  int all = 0;
  for (const size_t size : {2, 3, 5, 8, 31, 100, 1000, 8192}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<double> elements(size);
      for (double& x : elements) x = normal(random);
      if (round % 4 == 1) elements[size / 2] = std::nan("");
      for (const uint32_t ddof : {0u, 1u}) {
        certain += ExpectExactWhereCertain<false>(elements, ddof);
        certain += ExpectExactWhereCertain<true>(elements, ddof);
        all += 2 * statistics;
      }
    }
  }
  EXPECT_GE(certain, all * 99 / 100);
}

// Of elements far from 0 beside their distances, squares tell too little and deviations enough.
TEST(PairStateTest, DeviationsTellWhatIsLacking) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> elements(500);
  for (double& x : elements) x = 1e14 + normal(random);
  const PairState state = StateOf(elements);
  const PairValues<false> values(state, 500);
  uint64_t slot = 0;
  StatisticValue(Statistic::kRootMeanSquare, values, 500, {}, &slot);
  EXPECT_EQ(values.lack(), PairsLack::kNothing);
  StatisticValue(Statistic::kVariance, values, 500, {}, &slot);
  EXPECT_EQ(values.lack(), PairsLack::kDeviations);
  EXPECT_EQ(ExpectExactWhereCertain<true>(elements, 1),
            static_cast<int>(StatisticsOfCoreParts().size()));
}

TEST(PairStateTest, NothingIsCertainOfInfinities) {
  const std::vector<double> elements = {1, HUGE_VAL, 3};
  const PairState state = StateOf(elements);
  const PairValues<false> values(state, 3);
  EXPECT_EQ(values.lack(), PairsLack::kAll);
}

}  // namespace
}  // namespace gridfold::kernels
