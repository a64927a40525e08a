// Reductions by bins of several dimensions, beside a search in every dimension.
#include <algorithm>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/keyed_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::conformance {
namespace {

EvenBinsSpec Even(uint64_t count, double lower, double upper) {
  return {.bin_count = count, .lower_bound = lower, .upper_bound = upper};
}

class KeyedAxesTest : public EngineTest {
 protected:
  absl::StatusOr<KeyedRun> Run(const std::vector<const TestArray*>& keys, const TestArray& values,
                               std::vector<BinSpec> bins, const ReductionSpec& spec,
                               OutOfRangePolicy policy = OutOfRangePolicy::kDrop) {
    KeyBinsSpec groups{.bins = std::move(bins), .out_of_range_policy = policy};
    std::vector<InputSpan> further;
    for (size_t axis = 1; axis < keys.size(); ++axis) {
      groups.further_types.push_back(keys[axis]->type());
      further.push_back(keys[axis]->span());
    }
    return ReduceByKey(engine(), *keys.front(), values, {std::move(groups), spec},
                       std::move(further));
  }

  void Check(const std::vector<const TestArray*>& keys, const TestArray& values,
             const std::vector<BinSpec>& bins, const ReductionSpec& spec,
             OutOfRangePolicy policy = OutOfRangePolicy::kDrop) {
    const auto run = Run(keys, values, bins, spec, policy);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(run->result.bins.size(), keys.size());
    BinnedAxes axes{.keys = keys, .edges = {}};
    uint64_t group_count = 1;
    for (const PlannedBins& of_axis : run->result.bins) {
      axes.edges.push_back(EdgesOfAny(of_axis));
      group_count *= of_axis.bin_count;
    }
    CheckKeyed(ElementsByBin(axes, policy == OutOfRangePolicy::kClamp), values, spec, group_count,
               0, run->answer);
    ExpectOutside(CountOutside(axes), run->result);
  }

  static std::vector<const TestArray*> PointersTo(const std::vector<TestArray>& arrays) {
    std::vector<const TestArray*> pointers;
    for (const TestArray& array : arrays) pointers.push_back(&array);
    return pointers;
  }

  // Of integer bins those that have the same samples.
  static std::vector<double> EdgesOfAny(const PlannedBins& bins) {
    if (bins.kind != BinKind::kInteger) return EdgesOf(bins);
    std::vector<double> edges;
    for (uint64_t i = 0; i <= bins.bin_count; ++i) {
      edges.push_back(static_cast<double>(bins.first_value) + static_cast<double>(i) - 0.5);
    }
    return edges;
  }

  void ExpectRefused(const KeyBinsSpec& bins, const std::string& field, const std::string& text) {
    const auto vector = ArrayDescription::Vector(ElementType::kFloat32, 4);
    const auto plan =
        OutlineKeyedReduction(vector, vector, {bins, SpecOf({Statistic::kSum})}, uint64_t{1} << 40);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << plan.status();
    EXPECT_EQ(FieldOf(plan.status()), field);
    EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr(text));
  }

  std::mt19937_64 random_{35};
  uint64_t Draw(uint64_t least, uint64_t most) { return least + random_() % (most - least + 1); }
};

TEST_P(KeyedAxesTest, RandomBinsOfUpToEightDimensions) {
  for (uint64_t round = 0; round < 40; ++round) {
    const size_t axis_count = 1 + round % kBinAxesMax;
    const uint64_t count = Draw(0, 900);
    std::vector<TestArray> keys;
    std::vector<BinSpec> bins;
    for (size_t axis = 0; axis < axis_count; ++axis) {
      const ElementType type = kAllTypes[Draw(0, std::size(kAllTypes) - 1)];
      const long double least = std::max(SmallestElement(type), -3.0L);
      keys.push_back(MakeUniform(type, count, least, 9, random_()));
      for (uint64_t i = Draw(0, 200); IsFloatingPoint(type) && i < count; i += 200) {
        keys.back().Set(i, std::nanl(""));
      }
      switch (Draw(0, IsFloatingPoint(type) ? 3 : 4)) {
        case 0: bins.push_back(Even(Draw(1, 4), 0, 8)); break;
        case 1: bins.push_back(EdgeBinsSpec{{-1, 0, 2.5, 7}}); break;
        case 2: bins.push_back(LogarithmicBinsSpec{Draw(1, 3), 0.5, 8}); break;
        case 3: bins.push_back(EvenBinsSpec{Draw(1, 3), {}, {}}); break;
        default: bins.push_back(IntegerBinsSpec{.first_value = 1, .bin_count = Draw(1, 5)});
      }
    }
    const TestArray values =
        MakeVector(kAllTypes[round % std::size(kAllTypes)], count, DataKind::kSmall, random_());
    ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kCount, Statistic::kMax,
                                 Statistic::kArgmin, Statistic::kVariance});
    spec.overflow_policy = OverflowPolicy::kWrap;
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << count << " elements");
    Check(PointersTo(keys), values, bins, spec,
          round % 3 == 0 ? OutOfRangePolicy::kClamp : OutOfRangePolicy::kDrop);
  }
}

TEST_P(KeyedAxesTest, OneEntryIsOfAllDimensions) {
  std::vector<TestArray> keys;
  for (uint64_t axis = 0; axis < 3; ++axis) {
    keys.push_back(MakeUniform(ElementType::kFloat64, 2000, -1, 6, 50 + axis));
  }
  const TestArray values = MakeVector(ElementType::kFloat64, 2000, DataKind::kWide, 53);
  Check(PointersTo(keys), values, {EdgeBinsSpec{{0, 1, 2.5, 5}}},
        SpecOf({Statistic::kSum, Statistic::kMean}));
  Check(PointersTo(keys), values, {EvenBinsSpec{3, {}, {}}}, SpecOf({Statistic::kSum}));
}

TEST_P(KeyedAxesTest, TheLastEdgeIsInTheLastBin) {
  const TestArray x = TestArray::Vector(ElementType::kFloat32, {0, 1, 2, 2, 2.5, -0.5});
  const TestArray y = TestArray::Vector(ElementType::kInt64, {10, 20, 20, 21, 10, 10});
  const TestArray z = TestArray::Vector(ElementType::kFloat16, {1, 1, 0, 1, 1, 1});
  const TestArray ones = TestArray::Vector(ElementType::kUint8, {1, 1, 1, 1, 1, 1});
  const auto run = Run({&x, &y, &z}, ones, {Even(2, 0, 2), Even(2, 0, 20), Even(1, 0, 1)},
                       SpecOf({Statistic::kCount}));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->answer.counts, testing::ElementsAre(0, 1, 0, 2));
  EXPECT_EQ(run->result.overflow_count, 2u);
  EXPECT_EQ(run->result.underflow_count, 1u);
}

TEST_P(KeyedAxesTest, AHistogramOfEachKey) {
  const TestArray key = MakeUniform(ElementType::kInt16, 3000, -2, 5, 61);
  const TestArray x = MakeUniform(ElementType::kFloat32, 3000, -1, 11, 62);
  const TestArray weights = MakeVector(ElementType::kFloat64, 3000, DataKind::kWide, 63);
  Check({&key, &x}, weights, {IntegerBinsSpec{.first_value = -2, .bin_count = 7}, Even(10, 0, 10)},
        SpecOf({Statistic::kSum, Statistic::kCount, Statistic::kVariance}));
}

// More than a lane has room for groups or bins, of which few have elements.
TEST_P(KeyedAxesTest, AsManyBinsAsThereMayBe) {
  constexpr uint64_t kCount = 3000;
  std::vector<TestArray> keys;
  KeyBinsSpec groups;
  for (uint64_t axis = 0; axis < 7; ++axis) {
    const ElementType type = axis % 2 == 0 ? ElementType::kFloat32 : ElementType::kInt16;
    keys.push_back(MakeUniform(type, kCount, axis % 2 == 0 ? -1 : 0, 16, 80 + axis));
    groups.bins.push_back(Even(16, 0, 15));
    if (axis > 0) groups.further_types.push_back(type);
  }
  keys.back().Set(0, 15);
  const TestArray values = MakeVector(ElementType::kInt32, kCount, DataKind::kSmall, 90);
  auto plan = OutlineKeyedReduction(keys[0].description(), values.description(),
                                    {groups, SpecOf({Statistic::kSum})}, kAxesBinsMax)
                  .value();
  ASSERT_TRUE(CompletePlan({}, plan).ok());
  ASSERT_EQ(plan.group_count_max, kAxesBinsMax);
  KeyedInput input{.keys = keys[0].span(), .values = values.span()};
  for (size_t axis = 1; axis < keys.size(); ++axis) {
    input.further_keys.emplace_back(keys[axis].span());
  }
  const auto room = RoomFor(engine(), plan);
  ASSERT_TRUE(room.ok()) << room.status();
  input.room = room->span();
  RunStatistics statistics;
  const auto result = engine().lane().RunKeyedReduction(plan, input, {}, statistics);
  ASSERT_TRUE(result.ok()) << result.status();
  BinnedAxes axes{.keys = PointersTo(keys), .edges = {}};
  for (const PlannedBins& bins : result->bins) axes.edges.push_back(EdgesOf(bins));
  const KeyedElements expected = ElementsByBin(axes, false);
  ASSERT_EQ(result->groups.size(), expected.size());
  uint64_t g = 0;
  for (const auto& [group, elements] : expected) {
    ASSERT_EQ(result->groups[g], static_cast<uint64_t>(group));
    int64_t sum = 0;
    for (const uint64_t i : elements) sum += static_cast<int64_t>(values[i]);
    ASSERT_EQ(static_cast<int64_t>(result->reduction.columns[0].slots[g]), sum);
    ASSERT_EQ(result->offsets[g + 1] - result->offsets[g], elements.size());
    ++g;
  }
  ExpectOutside(CountOutside(axes), *result);
}

TEST_P(KeyedAxesTest, BadBinsAreNamed) {
  const std::vector<ElementType> seven(kBinAxesMax - 1, ElementType::kInt32);
  const std::vector<ElementType> eight(kBinAxesMax, ElementType::kInt32);
  ExpectRefused({.bins = {Even(1, 0, 1)}, .further_types = eight}, "bins.further_keys",
                "9 dimensions");
  ExpectRefused({.bins = {Even(1, 0, 1), Even(1, 0, 1)}, .further_types = seven}, "bins.bins",
                "1 or 8");
  ExpectRefused({.bins = {}, .further_types = seven}, "bins.bins", "at least one");
  // 2^28 bins and no more.
  std::vector<BinSpec> halves(kBinAxesMax, Even(16, 0, 1));
  halves.back() = Even(2, 0, 1);
  ExpectRefused({.bins = halves, .further_types = seven}, "bins.bins[7].even.bin_count",
                "268435456");
  ExpectRefused({.bins = {Even(12, 0, 1)}, .further_types = seven}, "bins.bins[0].even.bin_count",
                "more than");
  ExpectRefused(
      {.bins = {Even(3, 0, 1), EdgeBinsSpec{{2, 1}}}, .further_types = {ElementType::kInt8}},
      "bins.bins[1].edges.edges[1]", "not greater");
  ExpectRefused(
      {.bins = {Even(3, 0, 1), IntegerBinsSpec{0, 3}}, .further_types = {ElementType::kFloat64}},
      "bins.bins[1].integer", "float64");
  halves.back() = Even(1, 0, 1);
  const auto vector = ArrayDescription::Vector(ElementType::kFloat32, 4);
  const auto most = OutlineKeyedReduction(
      vector, vector,
      {KeyBinsSpec{.bins = halves, .further_types = seven}, SpecOf({Statistic::kSum})},
      uint64_t{1} << 40);
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->group_count_max, kAxesBinsMax);
}

TEST_P(KeyedAxesTest, AnEdgeThatCannotBeIsNamedByItsDimension) {
  const auto vector = ArrayDescription::Vector(ElementType::kFloat32, 4);
  auto plan = OutlineKeyedReduction(
      vector, vector,
      {KeyBinsSpec{.bins = {Even(3, 0, 1), Even(9, 1, std::nextafter(1.0, 2.0))},
                   .further_types = {ElementType::kFloat32}},
       SpecOf({Statistic::kSum})},
      1000);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(FieldOf(CompletePlan({}, *plan)), "bins.bins[1].even.bin_count");
}

TEST_P(KeyedAxesTest, AStoppedJobIsCancelled) {
  const TestArray x = MakeUniform(ElementType::kFloat32, 1000, 0, 1, 71);
  auto plan = OutlineKeyedReduction(
                  x.description(), x.description(),
                  {KeyBinsSpec{.bins = {Even(3, 0, 1)},
                               .further_types = {ElementType::kFloat32, ElementType::kFloat32}},
                   SpecOf({Statistic::kSum})},
                  1000)
                  .value();
  std::stop_source source;
  source.request_stop();
  RunStatistics statistics;
  const auto room = RoomFor(engine(), plan);
  ASSERT_TRUE(room.ok()) << room.status();
  const auto result = engine().lane().RunKeyedReduction(plan,
                                                        {.keys = x.span(),
                                                         .further_keys = {x.span(), x.span()},
                                                         .values = x.span(),
                                                         .room = room->span()},
                                                        source.get_token(), statistics);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Cpu, KeyedAxesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, KeyedAxesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
