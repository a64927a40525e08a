// Scans along the axes of matrices and over ragged segments.
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class ScanGroupTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ScanSpec& spec) {
    CheckScan(array, spec, engine().Scan(array, spec));
  }

  // Every scan of small data, and half of the scans of a large one.
  void CheckScansOf(const TestArray& array, const GroupingSpec& grouping) {
    size_t turn = 0;
    for (ScanSpec spec : ScansOf(array.type())) {
      if (array.size() > 20'000 && ++turn % 3 != 0) continue;
      spec.grouping = grouping;
      spec.overflow_policy = OverflowPolicy::kWrap;
      Check(array, spec);
    }
  }
};

TEST_P(ScanGroupTest, BothAxesOfEveryShape) {
  for (const ElementType type : kAllTypes) {
    for (const Shape& shape : MatrixShapes()) {
      const TestArray array =
          MakeData(ArrayDescription::Matrix(type, shape.rows, shape.columns), DataKind::kWide, 91);
      for (const int axis : {0, 1}) CheckScansOf(array, Axis(axis));
    }
  }
}

// Columns that are longer than some blocks of tiles, in tiles of every kind.
TEST_P(ScanGroupTest, LongColumns) {
  for (const ElementType type :
       {ElementType::kInt16, ElementType::kFloat32, ElementType::kFloat64}) {
    for (const Shape& shape : std::vector<Shape>{
             {600'000, 1}, {270'000, 2}, {140'001, 3}, {70'000, 5}, {33'000, 16}, {20'000, 17}}) {
      const TestArray array =
          MakeData(ArrayDescription::Matrix(type, shape.rows, shape.columns), DataKind::kWide, 96);
      ScanSpec spec;
      spec.grouping = Axis(0);
      spec.overflow_policy = OverflowPolicy::kWrap;
      Check(array, spec);
      spec.mode = ScanMode::kExclusive;
      spec.direction = ScanDirection::kReverse;
      Check(array, spec);
    }
  }
}

TEST_P(ScanGroupTest, MatricesAsAWhole) {
  for (const ElementType type : {ElementType::kInt16, ElementType::kFloat32}) {
    const TestArray array = MakeData(ArrayDescription::Matrix(type, 70, 90), DataKind::kWide, 92);
    CheckScansOf(array, {});
  }
}

TEST_P(ScanGroupTest, Segments) {
  for (const ElementType type : kAllTypes) {
    for (const std::vector<uint64_t>& offsets : SegmentOffsets()) {
      const TestArray array = MakeVector(type, offsets.back(), DataKind::kWide, 93);
      CheckScansOf(array, conformance::Segments(offsets));
    }
  }
}

TEST_P(ScanGroupTest, NansStayInTheirGroup) {
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat64}) {
    const TestArray array =
        MakeData(ArrayDescription::Matrix(type, 300, 33), DataKind::kSpecial, 94);
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      for (const int axis : {0, 1}) {
        for (ScanSpec spec : ScansOf(type)) {
          spec.grouping = Axis(axis);
          spec.nan_policy = policy;
          Check(array, spec);
        }
      }
    }
  }
}

TEST_P(ScanGroupTest, ExtremesBeforeTheFirstNumberOfEachGroup) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const auto check = [&](const ArrayDescription& description, const GroupingSpec& grouping) {
      TestArray array = MakeData(description, DataKind::kWide, 97);
      // Groups whose first numbers come late or never, and others that start with one.
      for (uint64_t i = 0; i < array.size(); ++i) {
        if (i * 0x9E37'79B9 % 11 < 9) array.Set(i, NAN);
      }
      for (ScanSpec spec : ScansOf(type)) {
        if (spec.operation == ScanOperation::kSum) continue;
        spec.grouping = grouping;
        spec.nan_policy = NanPolicy::kIgnore;
        Check(array, spec);
      }
    };
    for (const Shape& shape : std::vector<Shape>{{300, 2}, {40, 33}, {3, 900}, {1000, 70}}) {
      for (const int axis : {0, 1}) {
        check(ArrayDescription::Matrix(type, shape.rows, shape.columns), Axis(axis));
      }
    }
    const std::vector<uint64_t> offsets = OffsetsOf({0, 1, 2, 700, 0, 3, 3, 3, 17, 5000, 1});
    check(ArrayDescription::Vector(type, offsets.back()), conformance::Segments(offsets));
  }
}

TEST_P(ScanGroupTest, OverflowOfOneGroupIsAnError) {
  TestArray array(ArrayDescription::Matrix(ElementType::kInt8, 300, 20));
  array.Set(250 * 20 + 4, 100);
  array.Set(250 * 20 + 9, 100);
  for (const int axis : {0, 1}) {
    ScanSpec spec;
    spec.output_type = ElementType::kInt8;
    spec.grouping = Axis(axis);
    Check(array, spec);
    const absl::StatusCode expected =
        axis == 1 ? absl::StatusCode::kOutOfRange : absl::StatusCode::kOk;
    EXPECT_EQ(engine().Scan(array, spec).status().code(), expected);
  }
}

TEST_P(ScanGroupTest, LargeMatrices) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray array =
        MakeData(ArrayDescription::Matrix(type, 1100, 900), DataKind::kWide, 95);
    for (const int axis : {0, 1}) {
      ScanSpec spec;
      spec.grouping = Axis(axis);
      Check(array, spec);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ScanGroupTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ScanGroupTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
