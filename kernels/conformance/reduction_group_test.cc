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

// Sums alone, which engines may find in a shorter way where elements are of like magnitude.
TEST_P(ReductionGroupTest, SumsAndMeansAloneOfShortGroups) {
  const std::vector<uint64_t> ragged =
      OffsetsOf({0, 1, 2, 0, 3, 4, 5, 31, 0, 32, 33, 1000, 1023, 1024, 1025, 0, 64, 4096, 7, 1});
  const auto check = [&](const TestArray& array, GroupingSpec grouping) {
    for (const NanPolicy policy : NanPoliciesFor(array.description().element_type)) {
      const bool has_mean = !HasEmptyGroup(array.description(), grouping);
      ReductionSpec spec =
          has_mean ? SpecOf({Statistic::kMean, Statistic::kSum}) : SpecOf({Statistic::kSum});
      spec.grouping = grouping;
      spec.nan_policy = policy;
      Check(array, spec);
    }
  };
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const DataKind kind : {DataKind::kSmall, DataKind::kWide, DataKind::kSpecial}) {
      for (const size_t misalignment : {0, 1}) {
        check(MakeVector(type, ragged.back(), kind, 78, misalignment), Segments(ragged));
      }
      for (const uint64_t columns : {1, 2, 5, 32, 300, 1024}) {
        check(MakeData(ArrayDescription::Matrix(type, 70, columns), kind, 79), Axis(1));
      }
    }
  }
}

// Of an element's last bit and the greatest element, so far apart that a double just holds their
// sum, or just does not; and of zeros of either sign.
TEST_P(ReductionGroupTest, SumsOfShortGroupsAtTheEdgeOfADouble) {
  std::vector<uint64_t> lengths;
  std::vector<float> values;
  const auto add_group = [&](std::vector<float> group) {
    lengths.push_back(group.size());
    values.insert(values.end(), group.begin(), group.end());
  };
  for (int exponent = -40; exponent <= -20; ++exponent) {
    const float tiny = std::ldexp(1.0F + 0x1p-23F, exponent);
    add_group({1.0F + 0x1p-23F, tiny});
    add_group({tiny, -1.75F, tiny, 3.5F, -tiny});
    add_group({std::ldexp(1.0F, exponent - 100), std::ldexp(3.0F, -100)});
  }
  add_group({-0.0F, -0.0F});
  add_group({-0.0F, 0.0F});
  add_group({2.5F, -2.5F});
  add_group({0x1p-149F, 0x1p-149F, -0x1p-126F});
  add_group({0x1.fffffep127F, 0x1.fffffep127F, 0x1.fffffep127F});
  TestArray array(ArrayDescription::Vector(ElementType::kFloat32, values.size()));
  for (size_t i = 0; i < values.size(); ++i) array.Set(i, values[i]);
  ReductionSpec spec = SpecOf({Statistic::kSum, Statistic::kMean});
  spec.grouping = Segments(OffsetsOf(lengths));
  Check(array, spec);
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
