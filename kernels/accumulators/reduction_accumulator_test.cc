// Accumulators of reductions. States are made element by element here; the answers that merging
// must come to are those of an engine, in one call for the whole array.
#include "kernels/accumulators/reduction_accumulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

std::vector<Statistic> StatisticsOf(ElementType type) {
  std::vector<Statistic> statistics;
  for (int i = 0; i < kStatisticCount; ++i) {
    const auto statistic = static_cast<Statistic>(i);
    const bool of_integers = TraitsOf(statistic).needs_integers || statistic == Statistic::kProduct;
    if (!of_integers || !IsFloatingPoint(type)) statistics.push_back(statistic);
  }
  return statistics;
}

// Elements of any kind: small, large, tiny, special.
template <class T>
std::vector<T> MakeElements(size_t count, std::mt19937_64& random) {
  std::vector<T> elements(count);
  for (T& x : elements) {
    if constexpr (IntegerElement<T>) {
      x = random() % 4 == 0 ? static_cast<T>(random()) : static_cast<T>(random() % 5);
    } else {
      constexpr double kSpecial[] = {0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN, 65504.0};
      const double value = random() % 30 == 0
                               ? kSpecial[random() % std::size(kSpecial)]
                               : std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                                            -63 + static_cast<int>(random() % 30) - 15);
      if constexpr (HalfElement<T>) {
        x = T::FromDouble(value);
      } else {
        x = static_cast<T>(value);
      }
    }
  }
  return elements;
}

// The states of consecutive groups, added element by element. Indices count from `first_index`.
template <class T>
ReductionStates StatesOf(const std::vector<T>& elements, const std::vector<uint64_t>& offsets,
                         bool ignore_nan, uint64_t first_index) {
  using S = ComputeType<T>;
  GroupStates<S> groups(offsets.size() - 1);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (uint64_t i = offsets[g]; i < offsets[g + 1]; ++i) {
      groups[g].Add(ToCompute(elements[i]), first_index + i - offsets[g], ignore_nan);
    }
  }
  return groups;
}

template <class T>
ReductionPlan PlanFor(size_t element_count, const std::vector<uint64_t>& offsets, bool ignore_nan,
                      bool part = true) {
  ReductionSpec spec;
  spec.statistics = StatisticsOf(kElementTypeOf<T>);
  spec.grouping = {GroupingKind::kSegments, offsets};
  spec.nan_policy = ignore_nan ? NanPolicy::kIgnore : NanPolicy::kPropagate;
  spec.overflow_policy = OverflowPolicy::kWrap;
  spec.delta_degrees_of_freedom = 1;
  spec.return_states = part;
  const auto plan = PlanReduction(ArrayDescription::Vector(kElementTypeOf<T>, element_count), spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

template <class T>
std::string AccumulatorOf(const std::vector<T>& elements, const std::vector<uint64_t>& offsets,
                          bool ignore_nan, uint64_t first_index) {
  const auto accumulator =
      MakeReductionAccumulator(PlanFor<T>(elements.size(), offsets, ignore_nan),
                               StatesOf(elements, offsets, ignore_nan, first_index));
  EXPECT_TRUE(accumulator.ok()) << accumulator.status();
  return *accumulator;
}

std::unique_ptr<Engine> MakeEngine() {
  return *CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 1});
}

template <class T>
class ReductionAccumulatorTest : public testing::Test {
 protected:
  // What an engine answers in one call; nothing where that is an error.
  absl::StatusOr<ReductionResult> OneCall(const std::vector<T>& elements,
                                          const std::vector<uint64_t>& offsets, bool ignore_nan) {
    const ReductionPlan plan = PlanFor<T>(elements.size(), offsets, ignore_nan, /*part=*/false);
    RunStatistics statistics;
    return lane_->RunReduction(
        plan,
        HostSpan{reinterpret_cast<const std::byte*>(elements.data()), elements.size() * sizeof(T)},
        {}, statistics);
  }

  static void ExpectSame(const ReductionResult& actual, const ReductionResult& expected) {
    ASSERT_EQ(actual.columns.size(), expected.columns.size());
    for (size_t i = 0; i < expected.columns.size(); ++i) {
      SCOPED_TRACE(StatisticName(expected.columns[i].statistic));
      EXPECT_EQ(actual.columns[i].statistic, expected.columns[i].statistic);
      EXPECT_EQ(actual.columns[i].kind, expected.columns[i].kind);
      EXPECT_EQ(actual.columns[i].slots, expected.columns[i].slots);
    }
  }

  std::unique_ptr<Engine> engine_ = MakeEngine();
  std::unique_ptr<Lane> lane_ = *engine_->CreateLane({1 << 20, 1 << 20, 1 << 10, 1 << 10});
};

using ElementTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                    uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ReductionAccumulatorTest, ElementTypes);

TYPED_TEST(ReductionAccumulatorTest, OnePartIsTheWhole) {
  std::mt19937_64 random(1);
  for (const bool ignore_nan : {false, true}) {
    const auto elements = MakeElements<TypeParam>(300, random);
    const std::vector<uint64_t> offsets = {0, 2, 5, 100, 300};
    const std::string accumulator = AccumulatorOf(elements, offsets, ignore_nan, 0);
    const auto merged = MergeAll({accumulator});
    ASSERT_TRUE(merged.ok()) << merged.status();
    EXPECT_EQ(BytesOf(*merged), accumulator);
    const auto& reduction = std::get<ReductionMerge>(*merged);
    EXPECT_EQ(reduction.element_count, 300u);
    const auto expected = this->OneCall(elements, offsets, ignore_nan);
    ASSERT_TRUE(expected.ok()) << expected.status();
    this->ExpectSame(reduction.result, *expected);
  }
}

// Ten thousand in all: 840 for each of twelve types.
TYPED_TEST(ReductionAccumulatorTest, AnySplitOrderAndTreeGivesTheSameBytesAndAnswers) {
  std::mt19937_64 random(2);
  constexpr int kRounds = 12;
  constexpr int kTreesOfARound = 70;
  for (int round = 0; round < kRounds; ++round) {
    const bool ignore_nan = round % 2 == 1;
    const size_t count = 2 + random() % 60;
    const auto elements = MakeElements<TypeParam>(count, random);
    const std::string whole = AccumulatorOf(elements, {0, count}, ignore_nan, 0);
    const auto one_call = this->OneCall(elements, {0, count}, ignore_nan);
    for (int tree = 0; tree < kTreesOfARound; ++tree) {
      std::vector<uint64_t> cuts = {0, count};
      for (uint64_t i = random() % 6; i > 0; --i) cuts.push_back(random() % (count + 1));
      std::sort(cuts.begin(), cuts.end());
      std::vector<std::string> parts;
      for (size_t p = 0; p + 1 < cuts.size(); ++p) {
        const std::vector<TypeParam> part(elements.begin() + static_cast<ptrdiff_t>(cuts[p]),
                                          elements.begin() + static_cast<ptrdiff_t>(cuts[p + 1]));
        parts.push_back(AccumulatorOf(part, {0, part.size()}, ignore_nan, cuts[p]));
      }
      const std::string merged = MergeByRandomTree(parts, random);
      ASSERT_EQ(merged, whole);
      const auto answer = MergeAll({merged});
      ASSERT_EQ(answer.ok(), one_call.ok()) << answer.status() << one_call.status();
      if (answer.ok()) this->ExpectSame(std::get<ReductionMerge>(*answer).result, *one_call);
    }
  }
}

TYPED_TEST(ReductionAccumulatorTest, PartsAreFoldedGroupByGroup) {
  std::mt19937_64 random(3);
  const auto elements = MakeElements<TypeParam>(90, random);
  // Of rows 0 to 9 and 10 to 29 of a table of 3 columns, stored column by column.
  std::vector<TypeParam> upper;
  std::vector<TypeParam> lower;
  for (size_t column = 0; column < 3; ++column) {
    for (size_t row = 0; row < 30; ++row) {
      (row < 10 ? upper : lower).push_back(elements[column * 30 + row]);
    }
  }
  const auto merged = MergeAll({AccumulatorOf(lower, {0, 20, 40, 60}, false, 10),
                                AccumulatorOf(upper, {0, 10, 20, 30}, false, 0)});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(BytesOf(*merged), AccumulatorOf(elements, {0, 30, 60, 90}, false, 0));
  this->ExpectSame(std::get<ReductionMerge>(*merged).result,
                   *this->OneCall(elements, {0, 30, 60, 90}, false));
}

TYPED_TEST(ReductionAccumulatorTest, NoAccumulatorIsLargerThanItsBound) {
  std::mt19937_64 random(4);
  const auto elements = MakeElements<TypeParam>(2000, random);
  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i <= 2000; i += 20) offsets.push_back(i);
  const std::string accumulator = AccumulatorOf(elements, offsets, false, uint64_t{1} << 62);
  EXPECT_LE(accumulator.size(),
            ReductionAccumulatorBytesMax(PlanFor<TypeParam>(2000, offsets, false)));
}

TYPED_TEST(ReductionAccumulatorTest, EmptyPartsTakePartButHaveNoExtremes) {
  const std::vector<TypeParam> none;
  const std::string empty = AccumulatorOf(none, {0, 0}, false, 0);
  const auto partial = MergeAll({empty, empty}, /*partial=*/true);
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_EQ(BytesOf(*partial), empty);
  for (const StatisticColumn& column : std::get<ReductionMerge>(*partial).result.columns) {
    EXPECT_EQ(column.slots.empty(), TraitsOf(column.statistic).needs_elements)
        << StatisticName(column.statistic);
  }
  const absl::Status whole = MergeAll({empty, empty}).status();
  ExpectInvalid(whole, "accumulators");
  EXPECT_THAT(std::string(whole.message()), HasSubstr("min of no elements"));

  std::mt19937_64 random(5);
  const auto elements = MakeElements<TypeParam>(10, random);
  const std::string some = AccumulatorOf(elements, {0, 10}, false, 0);
  const auto merged = MergeAll({empty, some, empty});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(BytesOf(*merged), some);
}

std::string SumAccumulator(const std::vector<int64_t>& elements,
                           OverflowPolicy policy = OverflowPolicy::kError) {
  ReductionPlan plan = PlanFor<int64_t>(elements.size(), {0, elements.size()}, false);
  plan.statistics = {Statistic::kSum};
  plan.overflow_policy = policy;
  return *MakeReductionAccumulator(plan, StatesOf(elements, {0, elements.size()}, false, 0));
}

TEST(ReductionMergeTest, OverflowIsDecidedForTheWhole) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::string large = SumAccumulator({kMax});
  const std::string small = SumAccumulator({1});
  const std::string negative = SumAccumulator({-2});
  EXPECT_TRUE(absl::IsOutOfRange(MergeAll({large, small}).status()));
  const auto partial = MergeAll({large, small}, /*partial=*/true);
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_TRUE(std::get<ReductionMerge>(*partial).result.columns[0].slots.empty());
  const auto merged = MergeAll({BytesOf(*partial), negative});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(std::get<ReductionMerge>(*merged).result.columns[0].slots[0],
            static_cast<uint64_t>(kMax - 1));
}

TEST(ReductionMergeTest, IgnoredNansLeaveNoIndex) {
  const std::vector<float> nans(3, NAN);
  const std::string accumulator = AccumulatorOf(nans, {0, 3}, true, 0);
  ExpectInvalid(MergeAll({accumulator}).status(), "accumulators");
  const auto partial = MergeAll({accumulator}, /*partial=*/true);
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_EQ(BytesOf(*partial), accumulator);
}

// Without first indices, two parts may hold zeros of both signs at the same index.
TEST(ReductionMergeTest, ZerosAtOneIndexCommute) {
  const std::string plus = AccumulatorOf(std::vector<double>{0.0, 0.0}, {0, 2}, false, 0);
  const std::string minus = AccumulatorOf(std::vector<double>{-0.0, -0.0}, {0, 2}, false, 0);
  EXPECT_EQ(BytesOf(*MergeAll({plus, minus})), BytesOf(*MergeAll({minus, plus})));
}

TEST(ReductionMergeTest, IndicesAreShiftedOnce) {
  ReductionResult result;
  result.columns = {{Statistic::kArgmax, ValueKind::kUint64, {3, 5}},
                    {Statistic::kCount, ValueKind::kUint64, {3, 5}}};
  GroupStates<int32_t> groups(2);
  groups[0].Add(7, 3, false);
  result.states = groups;
  ShiftIndices(100, result);
  EXPECT_EQ(result.columns[0].slots, (std::vector<uint64_t>{103, 105}));
  EXPECT_EQ(result.columns[1].slots, (std::vector<uint64_t>{3, 5}));
  const auto& shifted = std::get<GroupStates<int32_t>>(result.states);
  EXPECT_EQ(shifted[0].Part<kExtremesPart>().min.index, 103u);
  EXPECT_EQ(shifted[0].Part<kExtremesPart>().max.index, 103u);
  EXPECT_EQ(shifted[1].Part<kExtremesPart>().max.index, kNoIndex);
}

TEST(ReductionMergeTest, StatesArePlannedWithoutWhatHasNoValue) {
  ReductionPlan plan = PlanFor<int32_t>(0, {0, 0}, false);
  plan.statistics = {Statistic::kArgmin, Statistic::kSum, Statistic::kMin};
  EXPECT_THAT(PlanStates(plan).statistics, testing::ElementsAre(Statistic::kMin, Statistic::kSum));
  EXPECT_TRUE(PlanStates(plan).return_states);
}

TEST(ReductionMergeTest, AnEngineWithoutStatesIsAnInternalError) {
  const ReductionPlan plan = PlanFor<int32_t>(0, {0, 0}, false);
  EXPECT_TRUE(absl::IsInternal(MakeReductionAccumulator(plan, {}).status()));
  EXPECT_TRUE(absl::IsInternal(MakeReductionAccumulator(plan, GroupStates<int32_t>(2)).status()));
}

}  // namespace
}  // namespace gridfold::kernels
