// Reductions along the axes of matrices and over ragged segments.
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class ReductionGroupTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ReductionSpec& spec) {
    CheckReduction(array, spec, engine().Reduce(array, spec));
  }
};

bool HasEmptyGroup(const ArrayDescription& array, const GroupingSpec& grouping) {
  for (const GroupElements& group : GroupsOf(array, grouping)) {
    if (group.count == 0) return true;
  }
  return false;
}

ReductionSpec GroupedSpecOfAll(const ArrayDescription& array, const GroupingSpec& grouping) {
  ReductionSpec spec = SpecOfAll(array, HasEmptyGroup(array, grouping));
  spec.grouping = grouping;
  spec.overflow_policy = OverflowPolicy::kWrap;
  return spec;
}

TEST_P(ReductionGroupTest, EveryStatisticAlongBothAxes) {
  for (const ElementType type : kAllTypes) {
    for (const Shape& shape : MatrixShapes()) {
      const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
      const TestArray array = MakeData(description, DataKind::kWide, 71);
      for (const int axis : {0, 1}) Check(array, GroupedSpecOfAll(description, Axis(axis)));
      Check(array, GroupedSpecOfAll(description, {}));
    }
  }
}

TEST_P(ReductionGroupTest, NansAndInfinitiesStayInTheirGroup) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const auto description = ArrayDescription::Matrix(type, 70, 90);
    const TestArray array = MakeData(description, DataKind::kSpecial, 72);
    for (const int axis : {0, 1}) {
      for (const NanPolicy policy : NanPoliciesFor(type)) {
        ReductionSpec spec = GroupedSpecOfAll(description, Axis(axis));
        spec.nan_policy = policy;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ReductionGroupTest, EveryStatisticOverSegments) {
  for (const ElementType type : kAllTypes) {
    for (const std::vector<uint64_t>& offsets : SegmentOffsets()) {
      const TestArray array = MakeVector(type, offsets.back(), DataKind::kWide, 73);
      Check(array, GroupedSpecOfAll(array.description(), Segments(offsets)));
    }
  }
}

TEST_P(ReductionGroupTest, SegmentsOfAMisalignedArray) {
  const std::vector<uint64_t> offsets = OffsetsOf({1, 2, 3, 40, 5, 600, 7, 4100, 9});
  for (const ElementType type : kAllTypes) {
    for (const size_t misalignment : {1, 2, 5}) {
      const TestArray array = MakeVector(type, offsets.back(), DataKind::kWide, 74, misalignment);
      Check(array, GroupedSpecOfAll(array.description(), Segments(offsets)));
    }
  }
}

TEST_P(ReductionGroupTest, SeveralHundredThousandGroups) {
  for (const ElementType type : {ElementType::kInt16, ElementType::kFloat32}) {
    const TestArray tall =
        MakeData(ArrayDescription::Matrix(type, 300'000, 3), DataKind::kWide, 75);
    const TestArray wide =
        MakeData(ArrayDescription::Matrix(type, 3, 300'000), DataKind::kWide, 76);
    for (const TestArray* array : {&tall, &wide}) {
      for (const int axis : {0, 1}) {
        ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kMax, Statistic::kArgmin});
        spec.grouping = Axis(axis);
        Check(*array, spec);
      }
    }
  }
}

TEST_P(ReductionGroupTest, LargeMatrices) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray array =
        MakeData(ArrayDescription::Matrix(type, 1500, 1400), DataKind::kWide, 77);
    for (const int axis : {0, 1}) {
      Check(array, GroupedSpecOfAll(array.description(), Axis(axis)));
    }
  }
}

// Whether an overflow is an error is decided for each group by itself.
TEST_P(ReductionGroupTest, OverflowInOneGroupIsAnError) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    TestArray array(ArrayDescription::Matrix(type, 50, 40));
    array.Set(17 * 40 + 3, LargestElement(type));
    array.Set(17 * 40 + 8, 1);
    ReductionSpec spec = SpecOf({Statistic::kSum});
    for (const int axis : {0, 1}) {
      spec.grouping = Axis(axis);
      Check(array, spec);
    }
    spec.grouping = Axis(1);
    EXPECT_EQ(engine().Reduce(array, spec).status().code(), absl::StatusCode::kOutOfRange);
    spec.overflow_policy = OverflowPolicy::kWrap;
    Check(array, spec);
  }
}

TEST_P(ReductionGroupTest, ArgminOfAGroupOfIgnoredNansIsAnError) {
  TestArray array =
      MakeData(ArrayDescription::Matrix(ElementType::kFloat32, 4, 3), DataKind::kSmall, 78);
  for (uint64_t c = 0; c < 3; ++c) array.Set(2 * 3 + c, NAN);
  ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kArgmin});
  spec.nan_policy = NanPolicy::kIgnore;
  spec.grouping = Axis(1);
  EXPECT_EQ(engine().Reduce(array, spec).status().code(), absl::StatusCode::kInvalidArgument);
  spec.grouping = Axis(0);
  Check(array, spec);
  spec.grouping = Axis(1);
  spec.statistics = {Statistic::kMin, Statistic::kMean, Statistic::kCount};
  Check(array, spec);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ReductionGroupTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ReductionGroupTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
