// The CPU engine's exact sums: the same states with any number of threads, on data over the whole
// range of exponents, and the right ones.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "kernels/conformance/exact_sum.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/lane/engine.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr uint64_t kMany = uint64_t{1} << 30;
constexpr uint64_t kColumns = 1100;
constexpr uint64_t kRows = 300;
constexpr uint64_t kElements = kRows * kColumns;

template <class F>
using Elements = std::vector<F>;

template <class F>
F AnyFinite(std::mt19937_64& random) {
  for (;;) {
    const F x = std::bit_cast<F>(static_cast<typename FloatFormat<F>::Bits>(random()));
    if (std::isfinite(x)) return x;
  }
}

template <class F>
Elements<F> WholeRange() {
  std::mt19937_64 random(1);
  Elements<F> elements(kElements);
  for (F& x : elements) x = AnyFinite<F>(random);
  return elements;
}

// Every number and its opposite somewhere, and one that is left over.
template <class F>
Elements<F> Cancelling() {
  std::mt19937_64 random(2);
  Elements<F> elements(kElements);
  for (uint64_t i = 0; i < kElements / 2; ++i) {
    elements[i] = AnyFinite<F>(random);
    elements[kElements - 1 - i] = -elements[i];
  }
  elements[7] = F{1};
  return elements;
}

template <class F>
Elements<F> Denormal() {
  std::mt19937_64 random(3);
  Elements<F> elements(kElements);
  for (F& x : elements) {
    x = std::numeric_limits<F>::denorm_min() * static_cast<F>(random() % 1000);
    if (random() % 2 == 0) x = -x;
  }
  return elements;
}

// Sums of some leave float64 and come back.
template <class F>
Elements<F> NearOverflow() {
  std::mt19937_64 random(4);
  Elements<F> elements(kElements);
  for (uint64_t i = 0; i < kElements; ++i) {
    const F scale = static_cast<F>(1 - static_cast<double>(random() % 1000) * 0x1p-12);
    elements[i] = std::numeric_limits<F>::max() * scale * (i / 50'000 % 2 == 0 ? F{1} : F{-1});
  }
  return elements;
}

struct GroupingCase {
  const char* name;
  GroupingKind kind;
  std::vector<uint64_t> offsets{};
};

std::vector<GroupingCase> Groupings() {
  return {{"whole", GroupingKind::kWhole},
          {"down the columns", GroupingKind::kAxis0},
          {"rows", GroupingKind::kAxis1},
          {"segments",
           GroupingKind::kSegments,
           {0, 1, 1, 20, 51, 83, 115, 1000, 200'000, 200'031, kElements}}};
}

template <class F>
class ExactReductionTest : public testing::Test {
 protected:
  using States = GroupStates<F>;

  States Reduce(int threads, const Elements<F>& elements, const GroupingCase& grouping) {
    constexpr ElementType kType = sizeof(F) == 4 ? ElementType::kFloat32 : ElementType::kFloat64;
    const auto array = grouping.kind == GroupingKind::kSegments
                           ? ArrayDescription::Vector(kType, kElements)
                           : ArrayDescription::Matrix(kType, kRows, kColumns);
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum, Statistic::kL1Norm, Statistic::kL2Norm, Statistic::kCount};
    spec.grouping = {grouping.kind, grouping.offsets};
    spec.return_states = true;
    const ReductionPlan plan = PlanReduction(array, spec).value();
    const auto engine = CreateCpuEngine(threads).value();
    const auto lane = engine->CreateLane({kMany, kMany, kMany, kMany}).value();
    RunStatistics run;
    const HostSpan input{reinterpret_cast<const std::byte*>(elements.data()),
                         elements.size() * sizeof(F)};
    return std::get<States>(lane->RunReduction(plan, input, {}, run).value().states);
  }

  // The groups' elements by brute force.
  static std::vector<Elements<F>> GroupsOf(const Elements<F>& elements,
                                           const GroupingCase& grouping) {
    std::vector<Elements<F>> groups;
    switch (grouping.kind) {
      case GroupingKind::kWhole: return {elements};
      case GroupingKind::kAxis0:
      case GroupingKind::kAxis1: {
        const bool down = grouping.kind == GroupingKind::kAxis0;
        groups.resize(down ? kColumns : kRows);
        for (uint64_t i = 0; i < kElements; ++i) {
          groups[down ? i % kColumns : i / kColumns].push_back(elements[i]);
        }
        return groups;
      }
      case GroupingKind::kSegments: break;
    }
    for (size_t g = 0; g + 1 < grouping.offsets.size(); ++g) {
      groups.emplace_back(elements.begin() + static_cast<int64_t>(grouping.offsets[g]),
                          elements.begin() + static_cast<int64_t>(grouping.offsets[g + 1]));
    }
    return groups;
  }

  static bool Same(const FullState<F>& a, const FullState<F>& b) {
    return a.template Part<kSumPart>().sum == b.template Part<kSumPart>().sum &&
           a.template Part<kSquaresPart>().sum == b.template Part<kSquaresPart>().sum &&
           a.template Part<kMagnitudesPart>().sum == b.template Part<kMagnitudesPart>().sum;
  }

  static void ExpectRight(const FullState<F>& state, const Elements<F>& group) {
    conformance::ExactSum sum;
    conformance::ExactSum squares;
    conformance::ExactSum magnitudes;
    for (const F x : group) {
      sum.Add(x);
      squares.AddSquare(x);
      magnitudes.Add(std::fabs(x));
    }
    // Adding +0.0 makes nothing of the sign of an empty sum, which the statistic does not have.
    EXPECT_EQ(state.template Part<kSumPart>().sum.Rounded() + 0.0, sum.Value().ToDouble());
    EXPECT_EQ(state.template Part<kSquaresPart>().sum.Rounded() + 0.0, squares.Value().ToDouble());
    EXPECT_EQ(state.template Part<kMagnitudesPart>().sum.Rounded() + 0.0,
              magnitudes.Value().ToDouble());
  }

  void Check(const Elements<F>& elements) {
    for (const GroupingCase& grouping : Groupings()) {
      SCOPED_TRACE(grouping.name);
      const States expected = this->Reduce(2, elements, grouping);
      const auto groups = GroupsOf(elements, grouping);
      ASSERT_EQ(expected.size(), groups.size());
      for (size_t g = 0; g < groups.size(); ++g) ExpectRight(expected[g], groups[g]);
      for (const int threads : {1, 7}) {
        const States states = this->Reduce(threads, elements, grouping);
        ASSERT_EQ(states.size(), expected.size());
        for (size_t g = 0; g < states.size(); ++g) {
          ASSERT_TRUE(Same(states[g], expected[g])) << threads << " threads, group " << g;
        }
      }
    }
  }
};

using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactReductionTest, Formats);

TYPED_TEST(ExactReductionTest, OfTheWholeRange) { this->Check(WholeRange<TypeParam>()); }
TYPED_TEST(ExactReductionTest, OfWhatCancels) { this->Check(Cancelling<TypeParam>()); }
TYPED_TEST(ExactReductionTest, OfDenormalNumbers) { this->Check(Denormal<TypeParam>()); }
TYPED_TEST(ExactReductionTest, OfNumbersNearOverflow) { this->Check(NearOverflow<TypeParam>()); }

// The states of an array's two halves, merged, are that of the array.
TYPED_TEST(ExactReductionTest, StatesOfPartsMergeToThatOfTheWhole) {
  const Elements<TypeParam> elements = WholeRange<TypeParam>();
  const auto whole = this->Reduce(2, elements, {"whole", GroupingKind::kWhole});
  for (const uint64_t cut : {uint64_t{1}, uint64_t{31}, uint64_t{100'001}, kElements}) {
    auto parts = this->Reduce(2, elements, {"parts", GroupingKind::kSegments, {0, cut, kElements}});
    parts[0].Merge(parts[1]);
    EXPECT_TRUE(this->Same(parts[0], whole[0])) << cut;
  }
}

// Of integers and of what only the states of other parts show.
TEST(ReductionStatesTest, HoldTheOtherPartsToo) {
  const std::vector<int32_t> elements = {5, -7, 0, 9, 9, -7};
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kArgmax, Statistic::kArgmin,
                     Statistic::kNonzeroCount};
  spec.grouping = {GroupingKind::kSegments, {0, 2, 6}};
  spec.return_states = true;
  const auto plan =
      PlanReduction(ArrayDescription::Vector(ElementType::kInt32, elements.size()), spec).value();
  const auto engine = CreateCpuEngine(1).value();
  const auto lane = engine->CreateLane({kMany, kMany, kMany, kMany}).value();
  RunStatistics run;
  const HostSpan input{reinterpret_cast<const std::byte*>(elements.data()),
                       elements.size() * sizeof(int32_t)};
  const auto result = lane->RunReduction(plan, input, {}, run).value();
  const auto& states = std::get<GroupStates<int32_t>>(result.states);
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(static_cast<int64_t>(states[0].Part<kSumPart>().sum), -2);
  EXPECT_EQ(static_cast<int64_t>(states[1].Part<kSumPart>().sum), 11);
  EXPECT_EQ(states[1].Part<kExtremesPart>().max.value, 9);
  EXPECT_EQ(states[1].Part<kExtremesPart>().max.index, 1u);
  EXPECT_EQ(states[1].Part<kExtremesPart>().min.index, 3u);
  EXPECT_EQ(states[0].Part<kTallyPart>().nonzero, 2u);
  EXPECT_EQ(states[1].Part<kTallyPart>().nonzero, 3u);
}

TEST(ReductionStatesTest, AreNotThereUnlessTheyAreAskedFor) {
  const float element = 1;
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum};
  const auto plan = PlanReduction(ArrayDescription::Vector(ElementType::kFloat32, 1), spec).value();
  const auto engine = CreateCpuEngine(1).value();
  const auto lane = engine->CreateLane({kMany, kMany, kMany, kMany}).value();
  RunStatistics run;
  const auto result =
      lane->RunReduction(plan, HostSpan{reinterpret_cast<const std::byte*>(&element), 4}, {}, run)
          .value();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(result.states));
}

}  // namespace
}  // namespace gridfold::kernels::cpu
