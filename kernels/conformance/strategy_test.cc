// Requests may name the strategy that runs them: each that can take a request gives its bits and
// says that it ran, and any other name is refused with the list of those.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/strategy_error.h"

namespace gridfold::kernels::conformance {
namespace {

// What the refusal of a name that is none says.
std::vector<std::string> TakersIn(const absl::Status& refusal) {
  EXPECT_EQ(refusal.code(), absl::StatusCode::kInvalidArgument) << refusal;
  EXPECT_EQ(FieldOf(refusal), kStrategyField);
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(refusal.message()), "what can: ");
  if (parts.size() != 2) return {};
  return absl::StrSplit(parts[1], ", ");
}

class StrategyTest : public EngineTest {
 protected:
  // Runs it by the engine's choice, with a name that is none, and by each strategy that can take
  // it.
  template <class Spec, class Run, class Compare>
  void Check(Spec spec, Run run, Compare compare) {
    const auto expected = run(spec);
    const std::string chosen = engine().last_run().strategy;
    SCOPED_TRACE(absl::StrCat("chosen: ", chosen));
    spec.strategy = "none";
    const std::vector<std::string> takers = TakersIn(run(spec).status());
    EXPECT_NE(std::find(takers.begin(), takers.end(), chosen), takers.end());
    for (const std::string& taker : takers) {
      SCOPED_TRACE(taker);
      spec.strategy = taker;
      const auto result = run(spec);
      ASSERT_EQ(result.status(), expected.status());
      EXPECT_EQ(engine().last_run().strategy, taker);
      if (result.ok()) compare(*result, *expected);
    }
  }

  void CheckReduction(const TestArray& array, const ReductionSpec& spec) {
    SCOPED_TRACE(absl::StrCat(
        ElementTypeName(array.description().element_type), ", ", StatisticName(spec.statistics[0]),
        " and ", spec.statistics.size() - 1, " others of ", Describe(array.description())));
    Check(
        spec, [&](const ReductionSpec& with) { return engine().Reduce(array, with); },
        [&](const ReductionResult& result, const ReductionResult& expected) {
          for (size_t s = 0; s < spec.statistics.size(); ++s) {
            EXPECT_TRUE(SameSlots(result.columns[s], expected.columns[s]))
                << StatisticName(spec.statistics[s]);
          }
        });
  }

  // What kernels are made for, by itself, and everything.
  void CheckStatistics(const TestArray& array, const GroupingSpec& grouping) {
    const std::vector<Statistic> all = SpecOfAll(array.description()).statistics;
    const std::vector<std::vector<Statistic>> sets = {
        {Statistic::kSum},
        {Statistic::kMin, Statistic::kArgmax},
        {Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kVariance},
        {Statistic::kL1Norm},
        all};
    for (const std::vector<Statistic>& statistics : sets) {
      ReductionSpec spec = SpecOf(statistics);
      spec.grouping = grouping;
      spec.overflow_policy = OverflowPolicy::kWrap;
      CheckReduction(array, spec);
    }
  }
};

constexpr ElementType kSomeTypes[] = {ElementType::kInt8,    ElementType::kUint32,
                                      ElementType::kInt64,   ElementType::kFloat16,
                                      ElementType::kFloat32, ElementType::kFloat64};

TEST_P(StrategyTest, OfWholeArrays) {
  for (const ElementType type : kSomeTypes) {
    for (const uint64_t size : {1, 1000, 40'000}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        CheckStatistics(MakeVector(type, size, kind, 401), {});
      }
    }
  }
}

TEST_P(StrategyTest, OfRowsAndColumns) {
  for (const ElementType type : kSomeTypes) {
    for (const Shape& shape : {Shape{700, 2}, Shape{520, 4}, Shape{3, 500}, Shape{257, 16},
                               Shape{300, 33}, Shape{2, 40'000}, Shape{20, 2500}}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
        const TestArray array = MakeData(description, kind, 402);
        for (const int axis : {0, 1}) CheckStatistics(array, Axis(axis));
      }
    }
  }
}

// Of as many bytes as kernels want that take columns of ordinary data first.
TEST_P(StrategyTest, OfColumnsOfLargeMatrices) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const auto description = ArrayDescription::Matrix(type, 1500, 1408);
    const TestArray array = MakeData(description, DataKind::kSmall, 403);
    for (const auto& statistics :
         {std::vector{Statistic::kSum}, std::vector{Statistic::kMean, Statistic::kVariance}}) {
      ReductionSpec spec = SpecOf(statistics);
      spec.grouping = Axis(0);
      CheckReduction(array, spec);
    }
  }
}

TEST_P(StrategyTest, OfSegments) {
  std::vector<uint64_t> lengths;
  for (uint64_t i = 0; i < 500; ++i) lengths.push_back(1 + i * i % 61);
  const std::vector<uint64_t> alike = OffsetsOf(lengths);
  lengths.push_back(70'000);
  const std::vector<uint64_t> uneven = OffsetsOf(lengths);
  for (const ElementType type : kSomeTypes) {
    for (const std::vector<uint64_t>& offsets : {alike, uneven}) {
      CheckStatistics(MakeVector(type, offsets.back(), DataKind::kWide, 404), Segments(offsets));
    }
  }
}

// So many that every warp of a device has some.
TEST_P(StrategyTest, OfManySegments) {
  std::vector<uint64_t> lengths;
  for (uint64_t i = 0; i < 200'000; ++i) lengths.push_back(i % 5);
  const std::vector<uint64_t> offsets = OffsetsOf(lengths);
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat32}) {
    ReductionSpec spec = SpecOf({Statistic::kSum});
    spec.grouping = Segments(offsets);
    CheckReduction(MakeVector(type, offsets.back(), DataKind::kSmall, 409), spec);
  }
}

TEST_P(StrategyTest, OfStates) {
  for (const ElementType type : kSomeTypes) {
    const TestArray array =
        MakeData(ArrayDescription::Matrix(type, 300, 20), DataKind::kSmall, 405);
    for (const int axis : {0, 1}) {
      ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kMax});
      spec.grouping = Axis(axis);
      spec.return_states = true;
      CheckReduction(array, spec);
    }
  }
}

TEST_P(StrategyTest, OfFloatingProducts) {
  const TestArray array = MakeVector(ElementType::kFloat32, 5000, DataKind::kSmall, 406);
  CheckReduction(array, SpecOf({Statistic::kProduct}));
  CheckReduction(array, SpecOf({Statistic::kSum, Statistic::kProduct}));
}

TEST_P(StrategyTest, OfScans) {
  const TestArray array =
      MakeData(ArrayDescription::Matrix(ElementType::kFloat32, 40, 500), DataKind::kSmall, 407);
  for (const bool exact : {false, true}) {
    for (const GroupingKind kind :
         {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      ScanSpec spec;
      spec.grouping.kind = kind;
      spec.exact = exact;
      Check(
          spec, [&](const ScanSpec& with) { return engine().Scan(array, with); },
          [](const TestArray& result, const TestArray& expected) {
            ASSERT_EQ(result.size(), expected.size());
            EXPECT_EQ(std::memcmp(result.data(), expected.data(), result.span().size_bytes), 0);
          });
    }
  }
}

TEST_P(StrategyTest, OfHistograms) {
  const auto compare = [](const HistogramResult& result, const HistogramResult& expected) {
    ASSERT_EQ(result.channels.size(), expected.channels.size());
    for (size_t c = 0; c < expected.channels.size(); ++c) {
      EXPECT_EQ(result.channels[c].counts, expected.channels[c].counts);
      EXPECT_EQ(result.channels[c].weight_sums, expected.channels[c].weight_sums);
      EXPECT_EQ(result.channels[c].underflow_count, expected.channels[c].underflow_count);
      EXPECT_EQ(result.channels[c].overflow_count, expected.channels[c].overflow_count);
    }
  };
  for (const ElementType type :
       {ElementType::kUint8, ElementType::kInt32, ElementType::kFloat32, ElementType::kFloat64}) {
    for (const uint64_t size : {0, 1000, 100'000}) {
      const TestArray array = MakeVector(type, size, DataKind::kSmall, 408);
      for (const BinSpec& bins :
           {Even(10, 0, 8), Even(5000, -8, 8), UnevenEdges(300, -8, 8), AutomaticEven(64)}) {
        for (const bool weighted : {false, true}) {
          SCOPED_TRACE(absl::StrCat(ElementTypeName(type), " ", size, weighted ? " weighted" : ""));
          HistogramSpec spec = SpecOfBins(bins);
          if (weighted) spec.weight_type = type;
          Check(
              spec,
              [&](const HistogramSpec& with) {
                return engine().Histogram(array, with, nullptr, weighted ? &array : nullptr);
              },
              compare);
        }
      }
    }
  }
}

// Clusters grow with the bins that are dealt out over them.
TEST_P(StrategyTest, OfHistogramsInClusters) {
  if (GetParam().kind == EngineKind::kCpu) GTEST_SKIP() << "has no clusters";
  const TestArray array = MakeVector(ElementType::kFloat32, 20'000, DataKind::kSmall, 410);
  const std::pair<uint64_t, uint32_t> cluster_sizes[] = {{1000, 1},   {4097, 2},    {16'384, 4},
                                                         {30'000, 8}, {65'536, 16}, {200'000, 16}};
  for (const auto& [bins, cluster_size] : cluster_sizes) {
    HistogramSpec spec = SpecOfBins(Even(bins, -8, 8));
    const auto expected = engine().Histogram(array, spec);
    spec.strategy = "histogram/distributed";
    const auto result = engine().Histogram(array, spec);
    ASSERT_TRUE(expected.ok() && result.ok()) << result.status();
    EXPECT_EQ(result->channels[0].counts, expected->channels[0].counts) << bins;
    EXPECT_EQ(engine().last_run().strategy, "histogram/distributed");
    EXPECT_EQ(engine().last_run().cluster_size, cluster_size) << bins;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, StrategyTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, StrategyTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
