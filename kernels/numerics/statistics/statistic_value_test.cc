#include "kernels/numerics/statistics/statistic_value.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Computed {
  ValueOutcome outcome;
  uint64_t slot;

  double number() const { return std::bit_cast<double>(slot); }
};

template <uint32_t kParts, class T>
Computed ComputeWith(Statistic statistic, const std::vector<T>& elements, ValueRules rules) {
  ReductionState<T, kParts> state;
  for (size_t i = 0; i < elements.size(); ++i) state.Add(elements[i], i, rules.ignore_nan);
  Computed computed{ValueOutcome::kOk, 0xABAD1DEA};
  computed.outcome = StatisticValue(statistic, state, elements.size(), rules, &computed.slot);
  return computed;
}

// By the smallest set of parts, as engines do it; the full set must give the same.
template <class T>
Computed Compute(Statistic statistic, const std::vector<T>& elements, ValueRules rules = {}) {
  const uint32_t parts = PartsOf(statistic, FloatingElement<T>, rules.ignore_nan);
  const Computed computed = VisitPartSet<T>(parts, [&](auto set) {
    return ComputeWith<decltype(set)::value>(statistic, elements, rules);
  });
  const Computed full = ComputeWith<kFullPartSet<T>>(statistic, elements, rules);
  EXPECT_EQ(full.outcome, computed.outcome) << StatisticName(statistic);
  EXPECT_EQ(full.slot, computed.slot) << StatisticName(statistic);
  return computed;
}

TEST(StatisticValueTest, OfIntegers) {
  const std::vector<int16_t> x = {3, -7, 0, 3, 5};
  EXPECT_EQ(Compute(Statistic::kCount, x).slot, 5u);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kSum, x).slot), 4);
  EXPECT_EQ(Compute(Statistic::kProduct, x).slot, 0u);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kMin, x).slot), -7);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kMax, x).slot), 5);
  EXPECT_EQ(Compute(Statistic::kArgmin, x).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kArgmax, x).slot, 4u);
  EXPECT_EQ(Compute(Statistic::kMean, x).number(), 0.8);
  EXPECT_EQ(Compute(Statistic::kVariance, x).number(), 17.76);
  EXPECT_EQ(Compute(Statistic::kStandardDeviation, x).number(), std::sqrt(17.76));
  EXPECT_EQ(Compute(Statistic::kL1Norm, x).number(), 18);
  EXPECT_EQ(Compute(Statistic::kL2Norm, x).number(), std::sqrt(92.0));
  EXPECT_EQ(Compute(Statistic::kRange, x).slot, 12u);
  EXPECT_EQ(Compute(Statistic::kRootMeanSquare, x).number(), std::sqrt(92.0 / 5));
  // The square root of 444 / 125; of 17.76 / 5, which is rounded, it is 1.8846750383023596.
  EXPECT_EQ(Compute(Statistic::kStandardError, x).number(), 1.8846750383023594);
  EXPECT_EQ(Compute(Statistic::kNonzeroCount, x).slot, 4u);
  EXPECT_EQ(Compute(Statistic::kNanCount, x).slot, 0u);
  EXPECT_EQ(Compute(Statistic::kInfinityCount, x).slot, 0u);
  EXPECT_EQ(Compute(Statistic::kAll, x).slot, 0u);
  EXPECT_EQ(Compute(Statistic::kAny, x).slot, 1u);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kBitwiseAnd, x).slot), 0);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kBitwiseOr, x).slot), -1);
  EXPECT_EQ(static_cast<int64_t>(Compute(Statistic::kBitwiseXor, x).slot), 3 ^ -7 ^ 0 ^ 3 ^ 5);
}

TEST(StatisticValueTest, OfFloats) {
  const std::vector<float> x = {1.5f, -2.5f, 0.0f, 4.0f};
  EXPECT_EQ(Compute(Statistic::kSum, x).number(), 3);
  EXPECT_EQ(Compute(Statistic::kMin, x).number(), -2.5);
  EXPECT_EQ(Compute(Statistic::kMax, x).number(), 4);
  EXPECT_EQ(Compute(Statistic::kMean, x).number(), 0.75);
  EXPECT_EQ(Compute(Statistic::kVariance, x).number(), 24.5 / 4 - 0.75 * 0.75);
  EXPECT_EQ(Compute(Statistic::kL1Norm, x).number(), 8);
  EXPECT_EQ(Compute(Statistic::kL2Norm, x).number(), std::sqrt(24.5));
  EXPECT_EQ(Compute(Statistic::kNonzeroCount, x).slot, 3u);
  EXPECT_EQ(Compute(Statistic::kRange, x).number(), 6.5);
  EXPECT_EQ(Compute(Statistic::kRootMeanSquare, x).number(), std::sqrt(24.5 / 4));
  EXPECT_EQ(Compute(Statistic::kStandardError, x).number(),
            std::sqrt((24.5 / 4 - 0.75 * 0.75) / 4));
}

TEST(StatisticValueTest, RangesOfIntegersNeverOverflow) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Computed range = Compute(Statistic::kRange, std::vector<int64_t>{kMin, kMax});
  EXPECT_EQ(range.outcome, ValueOutcome::kOk);
  EXPECT_EQ(range.slot, ~uint64_t{0});
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<int8_t>{127, -128}).slot, 255u);
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<uint64_t>{~uint64_t{0}, 1}).slot,
            ~uint64_t{0} - 1);
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<int32_t>{-5}).slot, 0u);
}

TEST(StatisticValueTest, RangesOfFloatsAreRoundedOnce) {
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<float>{0x1p60f, -1}).number(), 0x1p60 + 1);
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<double>{0x1.8p1023, -0x1p1023}).number(),
            kInfinity);
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<double>{-kInfinity, 3}).number(), kInfinity);
  EXPECT_TRUE(std::isnan(Compute(Statistic::kRange, std::vector<double>{kInfinity}).number()));
  EXPECT_EQ(Compute(Statistic::kRange, std::vector<double>{-0.0, -0.0}).slot, 0u);
}

// Of which the square of the count does not fit 64 bits, nor with that of any count its cube.
TEST(StatisticValueTest, StandardErrorsOfManyElements) {
  for (const uint64_t count : {(uint64_t{1} << 20) + 3, (uint64_t{1} << 33) + 1, uint64_t{1} << 40,
                               (uint64_t{1} << 62) + 1}) {
    // Zeros, but for 1 and -1.
    ReductionState<double, kCorePartSet> state;
    state.Add(1, 0, false);
    state.Add(-1, 1, false);
    uint64_t slot = 0;
    StatisticValue(Statistic::kStandardError, state, count, {}, &slot);
    EXPECT_EQ(std::bit_cast<double>(slot),
              static_cast<double>(std::sqrt(2.0L) / static_cast<long double>(count)))
        << count;
    ReductionState<int32_t, kCorePartSet> integers;
    integers.Add(1, 0, false);
    integers.Add(-1, 1, false);
    uint64_t integer_slot = 0;
    StatisticValue(Statistic::kStandardError, integers, count, {}, &integer_slot);
    EXPECT_EQ(integer_slot, slot) << count;
  }
}

TEST(StatisticValueTest, OfNoElements) {
  const std::vector<float> none;
  EXPECT_EQ(Compute(Statistic::kCount, none).slot, 0u);
  EXPECT_EQ(Compute(Statistic::kSum, none).slot, std::bit_cast<uint64_t>(0.0));
  EXPECT_EQ(Compute(Statistic::kL1Norm, none).slot, std::bit_cast<uint64_t>(0.0));
  EXPECT_EQ(Compute(Statistic::kL2Norm, none).slot, std::bit_cast<uint64_t>(0.0));
  EXPECT_EQ(Compute(Statistic::kAll, none).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kAny, none).slot, 0u);
  const std::vector<uint8_t> no_bytes;
  EXPECT_EQ(Compute(Statistic::kProduct, no_bytes).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kBitwiseAnd, no_bytes).slot, 0xFFu);
  EXPECT_EQ(Compute(Statistic::kBitwiseOr, no_bytes).slot, 0u);
  EXPECT_EQ(Compute(Statistic::kBitwiseAnd, std::vector<int8_t>{}).slot, ~uint64_t{0});
}

TEST(StatisticValueTest, NanPropagates) {
  const std::vector<double> x = {1, kNan, 3};
  for (const Statistic statistic :
       {Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kMean, Statistic::kVariance,
        Statistic::kStandardDeviation, Statistic::kL1Norm, Statistic::kL2Norm, Statistic::kRange,
        Statistic::kRootMeanSquare, Statistic::kStandardError}) {
    EXPECT_TRUE(std::isnan(Compute(statistic, x).number())) << StatisticName(statistic);
  }
  EXPECT_EQ(Compute(Statistic::kArgmin, x).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kArgmax, x).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kCount, x).slot, 3u);
  EXPECT_EQ(Compute(Statistic::kNonzeroCount, x).slot, 3u);
  EXPECT_EQ(Compute(Statistic::kNanCount, x).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kAll, x).slot, 1u);
}

TEST(StatisticValueTest, IgnoredNanTakesNoPart) {
  const std::vector<double> x = {kNan, 1, kNan, 4};
  const ValueRules rules{.ignore_nan = true};
  EXPECT_EQ(Compute(Statistic::kCount, x, rules).slot, 2u);
  EXPECT_EQ(Compute(Statistic::kSum, x, rules).number(), 5);
  EXPECT_EQ(Compute(Statistic::kMean, x, rules).number(), 2.5);
  EXPECT_EQ(Compute(Statistic::kVariance, x, rules).number(), 2.25);
  EXPECT_EQ(Compute(Statistic::kRange, x, rules).number(), 3);
  EXPECT_EQ(Compute(Statistic::kRootMeanSquare, x, rules).number(), std::sqrt(8.5));
  EXPECT_EQ(Compute(Statistic::kStandardError, x, rules).number(), std::sqrt(2.25 / 2));
  EXPECT_EQ(Compute(Statistic::kMin, x, rules).number(), 1);
  EXPECT_EQ(Compute(Statistic::kArgmin, x, rules).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kArgmax, x, rules).slot, 3u);
  EXPECT_EQ(Compute(Statistic::kNonzeroCount, x, rules).slot, 2u);
  EXPECT_EQ(Compute(Statistic::kNanCount, x, rules).slot, 2u);
  EXPECT_EQ(Compute(Statistic::kAll, x, rules).slot, 1u);
}

TEST(StatisticValueTest, NothingButIgnoredNans) {
  const std::vector<double> x = {kNan, kNan};
  const ValueRules rules{.ignore_nan = true};
  EXPECT_EQ(Compute(Statistic::kSum, x, rules).slot, std::bit_cast<uint64_t>(0.0));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kMin, x, rules).number()));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kMean, x, rules).number()));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kVariance, x, rules).number()));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kRange, x, rules).number()));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kRootMeanSquare, x, rules).number()));
  EXPECT_TRUE(std::isnan(Compute(Statistic::kStandardError, x, rules).number()));
  EXPECT_EQ(Compute(Statistic::kArgmin, x, rules).outcome, ValueOutcome::kNothing);
  EXPECT_EQ(Compute(Statistic::kArgmax, x, rules).outcome, ValueOutcome::kNothing);
  EXPECT_EQ(Compute(Statistic::kAll, x, rules).slot, 1u);
  EXPECT_EQ(Compute(Statistic::kAny, x, rules).slot, 0u);
}

TEST(StatisticValueTest, Infinities) {
  EXPECT_EQ(Compute(Statistic::kSum, std::vector<double>{1, kInfinity}).number(), kInfinity);
  EXPECT_EQ(Compute(Statistic::kMean, std::vector<double>{1, -kInfinity}).number(), -kInfinity);
  EXPECT_EQ(Compute(Statistic::kL1Norm, std::vector<double>{1, -kInfinity}).number(), kInfinity);
  EXPECT_EQ(Compute(Statistic::kL2Norm, std::vector<double>{1, -kInfinity}).number(), kInfinity);
  EXPECT_TRUE(
      std::isnan(Compute(Statistic::kVariance, std::vector<double>{1, kInfinity}).number()));
  const std::vector<double> both = {kInfinity, 1, -kInfinity};
  EXPECT_TRUE(std::isnan(Compute(Statistic::kSum, both).number()));
  EXPECT_EQ(Compute(Statistic::kInfinityCount, both).slot, 2u);
}

TEST(StatisticValueTest, DegreesOfFreedom) {
  const std::vector<double> x = {1, 2, 4};
  EXPECT_DOUBLE_EQ(Compute(Statistic::kVariance, x, {.delta_degrees_of_freedom = 1}).number(),
                   7.0 / 3);
  EXPECT_DOUBLE_EQ(Compute(Statistic::kVariance, x, {.delta_degrees_of_freedom = 2}).number(),
                   14.0 / 3);
  EXPECT_TRUE(
      std::isnan(Compute(Statistic::kVariance, x, {.delta_degrees_of_freedom = 3}).number()));
}

TEST(StatisticValueTest, VarianceFarFromZeroDoesNotCancel) {
  const std::vector<double> x = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4};
  EXPECT_EQ(Compute(Statistic::kVariance, x).number(), 1.25);
  EXPECT_EQ(Compute(Statistic::kVariance, std::vector<double>(10, 0.1)).number(), 0);
  const std::vector<int64_t> integers = {(int64_t{1} << 62) + 1, (int64_t{1} << 62) + 3};
  EXPECT_EQ(Compute(Statistic::kVariance, integers).number(), 1);
}

TEST(StatisticValueTest, OverflowIsAnErrorUnlessItWraps) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> too_much = {kMax, 1};
  EXPECT_EQ(Compute(Statistic::kSum, too_much).outcome, ValueOutcome::kOverflow);
  const Computed wrapped = Compute(Statistic::kSum, too_much, {.wrap = true});
  EXPECT_EQ(wrapped.outcome, ValueOutcome::kOk);
  EXPECT_EQ(static_cast<int64_t>(wrapped.slot), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Compute(Statistic::kSum, std::vector<int64_t>{kMax, 1, -1}).outcome, ValueOutcome::kOk);
  EXPECT_EQ(Compute(Statistic::kSum, std::vector<uint64_t>{~uint64_t{0}, 1}).outcome,
            ValueOutcome::kOverflow);
  EXPECT_EQ(Compute(Statistic::kProduct, std::vector<int64_t>{kMax, 2}).outcome,
            ValueOutcome::kOverflow);
  EXPECT_EQ(Compute(Statistic::kProduct, std::vector<int64_t>{kMax, 2, 0}).outcome,
            ValueOutcome::kOk);
  EXPECT_EQ(Compute(Statistic::kProduct, std::vector<int64_t>{kMax, 2}, {.wrap = true}).slot,
            static_cast<uint64_t>(kMax) * 2);
  // Means and norms have no range to leave.
  EXPECT_EQ(Compute(Statistic::kMean, too_much).number(), 0x1p62);
  EXPECT_EQ(Compute(Statistic::kL1Norm, too_much).number(), 0x1p63);
}

TEST(StatisticValueTest, SumOfNegativeZerosKeepsTheSign) {
  EXPECT_EQ(Compute(Statistic::kSum, std::vector<double>{-0.0, -0.0}).slot,
            std::bit_cast<uint64_t>(-0.0));
  EXPECT_EQ(Compute(Statistic::kSum, std::vector<double>{-0.0, 0.0}).slot,
            std::bit_cast<uint64_t>(0.0));
}

}  // namespace
}  // namespace gridfold::kernels
