// Each statistic by itself, and beside one other: engines keep less of the elements then, and have
// shorter ways for some statistics. The values are those that are found where every statistic is
// asked for, which other tests compare with the oracle.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

// What needs a part of the state of its own, and so may change what an engine keeps.
constexpr Statistic kCompanions[] = {Statistic::kCount, Statistic::kSum, Statistic::kMin,
                                     Statistic::kVariance};

class EachStatisticTest : public EngineTest {
 protected:
  // Groups have two elements or more.
  void Check(const TestArray& array, GroupingSpec grouping,
             NanPolicy policy = NanPolicy::kPropagate, bool has_companions = true) {
    SCOPED_TRACE(Describe(array.description()));
    ReductionSpec spec = SpecOfAll(array.description());
    spec.grouping = std::move(grouping);
    spec.nan_policy = policy;
    spec.overflow_policy = OverflowPolicy::kWrap;
    spec.delta_degrees_of_freedom = 1;
    if (policy == NanPolicy::kIgnore) RemoveIndices(spec);
    const auto all = engine().Reduce(array, spec);
    ASSERT_TRUE(all.ok()) << all.status();
    for (const StatisticColumn& column : all->columns) {
      spec.statistics = {column.statistic};
      CheckSome(array, spec, *all);
      for (const Statistic companion : kCompanions) {
        if (!has_companions || companion == column.statistic) continue;
        spec.statistics = {companion, column.statistic};
        CheckSome(array, spec, *all);
      }
    }
  }

 private:
  void CheckSome(const TestArray& array, const ReductionSpec& spec, const ReductionResult& all) {
    const auto some = engine().Reduce(array, spec);
    ASSERT_TRUE(some.ok()) << some.status();
    for (const StatisticColumn& column : some->columns) {
      const auto expected = std::find_if(
          all.columns.begin(), all.columns.end(),
          [&](const StatisticColumn& other) { return other.statistic == column.statistic; });
      ASSERT_NE(expected, all.columns.end());
      EXPECT_TRUE(SameSlots(column, *expected))
          << StatisticName(column.statistic) << " beside " << StatisticName(spec.statistics[0]);
    }
  }
};

TEST_P(EachStatisticTest, OfWholeArrays) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {2, 100, 5000, 300'000}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        Check(MakeVector(type, size, kind, 301), {}, NanPolicy::kPropagate, size <= 5000);
      }
    }
  }
}

// Rows of which a vector of 16 bytes has several, one, or a part; of a lane, a warp and a block.
TEST_P(EachStatisticTest, OfRows) {
  for (const ElementType type : kAllTypes) {
    for (const Shape& shape :
         {Shape{600, 2}, Shape{600, 4}, Shape{600, 8}, Shape{520, 17}, Shape{300, 33},
          Shape{280, 500}, Shape{20, 3000}, Shape{3, 50'000}}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
        Check(MakeData(description, kind, 302), Axis(1));
      }
    }
  }
}

TEST_P(EachStatisticTest, OfColumns) {
  for (const ElementType type : kAllTypes) {
    for (const Shape& shape : {Shape{2, 600}, Shape{300, 7}, Shape{1500, 64}}) {
      const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
      Check(MakeData(description, DataKind::kWide, 303), Axis(0));
    }
  }
}

// Of as many bytes as kernels want that take columns of ordinary data first.
TEST_P(EachStatisticTest, OfColumnsOfLargeMatrices) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const auto description = ArrayDescription::Matrix(type, 1500, 1408);
    Check(MakeData(description, DataKind::kSmall, 304), Axis(0), NanPolicy::kPropagate,
          /*has_companions=*/false);
  }
}

TEST_P(EachStatisticTest, OfSegments) {
  std::vector<uint64_t> lengths;
  for (uint64_t i = 0; i < 700; ++i) lengths.push_back(2 + i * i % 61);
  lengths.push_back(70'000);
  const std::vector<uint64_t> offsets = OffsetsOf(lengths);
  for (const ElementType type : kAllTypes) {
    for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
      Check(MakeVector(type, offsets.back(), kind, 305), Segments(offsets));
    }
  }
}

TEST_P(EachStatisticTest, OfNansAndInfinities) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const NanPolicy policy : NanPoliciesFor(type)) {
      const auto description = ArrayDescription::Matrix(type, 300, 40);
      const TestArray array = MakeData(description, DataKind::kSpecial, 306);
      for (const int axis : {0, 1}) Check(array, Axis(axis), policy);
      Check(array, {}, policy);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, EachStatisticTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, EachStatisticTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
